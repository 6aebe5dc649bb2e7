"""
A map by kernel PCA
===================

Kernel principal components, learned from all rows, labeled or not, lay out shapes that no straight line can part so that
near neighbors do. Two rings, four labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA

from handful.neighbors.kernel_pca import KernelPCAClassifier

X, truth = make_circles(400, factor=0.4, noise=0.05, random_state=0)
y = np.full(len(X), -1)
for label in (0, 1):
    y[np.flatnonzero(truth == label)[:2]] = label

model = KernelPCAClassifier(kernel="rbf", gamma=2.0, n_components=3, n_neighbors=1).fit(X, y)
answer = model.predict(X)
place = KernelPCA(3, kernel="rbf", gamma=2.0).fit_transform(X)[:, [0, 2]]

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
for axis, where, name in ((axes[0], X, "as they are"), (axes[1], place, "on the first and third component")):
    axis.scatter(*where.T, c=answer, cmap="coolwarm", s=10)
    axis.scatter(*where[y >= 0].T, c=y[y >= 0], cmap="coolwarm", s=90, edgecolor="black")
    axis.set_title(f"rows {name}", fontsize=10)
figure.suptitle(f"four labels, {(answer == truth)[y < 0].mean():.0%} of the others right", fontsize=10)
figure.tight_layout()
