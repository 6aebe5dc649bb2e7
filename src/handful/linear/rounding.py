"""Weights rounded, so that fewer are different from zero and files pack well."""

from __future__ import annotations

import numpy as np


def rounded(weights: np.ndarray, share: float) -> np.ndarray:
    """Round weights to multiples of a share of their root mean square (over those that are not 0).

    Examples
    --------
    >>> rounded(np.array([3.0, 0.1, 0.0, -3.0]), 0.5).round(2).tolist()
    [2.45, 0.0, 0.0, -2.45]
    """
    active = weights[weights != 0.0]
    if not share or not len(active):
        return weights
    step = share * float(np.sqrt((active**2).mean()))
    return np.asarray(np.round(weights / step) * step + 0.0)  # no zero with a minus
