"""How much of what is open a label takes away, by the equations of a Gaussian process and nothing else."""

from __future__ import annotations

import numpy as np


def open_share(near: np.ndarray, weights: np.ndarray, labels: list[int], noise: float) -> float:
    """Return the weighted sum of variances that noisy labels of some points leave; a point may stand there twice."""
    total = 0.0
    if labels:
        inner = np.linalg.inv(near[np.ix_(labels, labels)] + noise * np.eye(len(labels)))
    for point in range(len(near)):
        variance = near[point, point]
        if labels:
            line = near[point, labels]
            variance -= line @ inner @ line
        total += weights[point] * variance
    return total
