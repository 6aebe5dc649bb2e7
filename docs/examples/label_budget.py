"""
What labels bring
=================

Accuracy with more and more labels, chosen at random and chosen by ``handful.active.query.suggest``: on handwritten digits a
few dozen well-chosen labels do the work of many more.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from handful.active.query import ActiveLearner

X, truth = load_digits(return_X_y=True)
X, truth = X[:900], truth[:900].astype(str)
sizes = [20, 30, 40, 60, 80]


def accuracy(rows):
    model = SVC(C=10).fit(X[rows], truth[rows])
    rest = np.setdiff1d(np.arange(len(X)), rows)
    return (model.predict(X[rest]) == truth[rest]).mean()


# %%
# The loop is asked for ten rows at a time and is told their labels.
loop, chosen, by_loop = ActiveLearner(X), [], []
while len(chosen) < max(sizes):
    for pick in loop.next(10):
        loop.label(pick.row, truth[pick.row])
        chosen.append(pick.row)
    if len(chosen) in sizes:
        by_loop.append(accuracy(chosen))

by_chance = []
for size in sizes:
    draws = [np.random.default_rng(seed).permutation(len(X))[:size] for seed in range(10)]
    by_chance.append(np.mean([accuracy(rows) for rows in draws]))

plt.figure(figsize=(6, 3.6))
plt.plot(sizes, by_loop, "o-", label="chosen by suggest")
plt.plot(sizes, by_chance, "o--", label="chosen at random, mean of ten draws")
plt.xlabel("labels")
plt.ylabel("accuracy of the same SVM on the rest")
plt.legend()
plt.tight_layout()
