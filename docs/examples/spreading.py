"""
Labels that spread
==================

Ordinal k-NN labels the clearest unlabeled row first and then uses it as a neighbor, so that labels spread from a few rows
over whole shapes. The two moons of Liu et al. 2013, one label each.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

from handful.neighbors.ordinal import OrdinalKNN
from papers.generated import make_two_moons

X, y, truth = make_two_moons(random_state=0)

# %%
# The same vote of one neighbor, without and with the unlabeled rows.
given = y >= 0
supervised = KNeighborsClassifier(1).fit(X[given], y[given])
ordinal = OrdinalKNN(n_neighbors=1).fit(X, y)
answers = {"1-NN, two labels": supervised.predict(X)}
answers |= {"ordinal k-NN, two labels and 100 rows": ordinal.transduction_}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for axis, (name, answer) in zip(axes, answers.items()):
    axis.scatter(*X.T, c=answer, cmap="coolwarm", s=12)
    axis.scatter(*X[given].T, c=y[given], cmap="coolwarm", s=90, edgecolor="black")
    axis.set_title(f"{name}: {(answer == truth)[~given].mean():.0%} right", fontsize=10)
figure.tight_layout()
