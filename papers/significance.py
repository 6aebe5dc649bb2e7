"""Statistics that only the papers use."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest


def mcnemar(correct_a: np.ndarray, correct_b: np.ndarray) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    Parameters
    ----------
    correct_a, correct_b : array-like of bool
        Whether each method got each item right.

    Returns
    -------
    float
        Probability of a split at least this uneven among the items on which they differ, if both were equally good.

    Examples
    --------
    >>> round(mcnemar([True] * 8 + [False], [False] * 8 + [True]), 4)
    0.0391
    """
    a, b = np.asarray(correct_a, dtype=bool), np.asarray(correct_b, dtype=bool)
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def error_reduction(accuracy: float, baseline: float) -> float:
    """Return the share of the baseline's errors that are gone; accuracies between 0 and 1.

    Examples
    --------
    >>> round(error_reduction(0.975, 0.9579), 3)
    0.406
    """
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else 0.0
