"""
Condensed sets
==============

A nearest-neighbor classifier needs few of its rows: those near the boundaries between classes. Condensed nearest neighbors
keep a set that answers all training rows as the full set does.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from handful.neighbors.condensed import CondensedNN

X, y = make_blobs(600, centers=4, cluster_std=1.1, random_state=2)
model = CondensedNN().fit(X, y)
kept = model.kept_

plt.figure(figsize=(6, 4))
plt.scatter(*X.T, c=y, cmap="tab10", s=8, alpha=0.35)
plt.scatter(*X[kept].T, c=y[kept], cmap="tab10", s=60, edgecolor="black")
plt.title(
    f"{len(kept)} of {len(X)} rows are kept; {(model.predict(X) == y).mean():.1%} of all are answered right",
    fontsize=10,
)
plt.tight_layout()
