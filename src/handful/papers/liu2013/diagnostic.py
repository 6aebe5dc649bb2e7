"""What may explain the printed numbers: the loop of the paper with the answer inserted instead of the prediction."""

from __future__ import annotations

import numpy as np

from handful.kernels.nearest import no_neighbors
from handful.kernels.ranking import rank_and_label
from handful.neighbors.rows import dense_rows
from handful.neighbors.votes import Rule


def insert_true_labels(X: np.ndarray, few: np.ndarray, y: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Predict each unlabeled row, then insert it with its true label.

    This is no method: it uses the answers. It shows what the printed numbers of methods 1 and 2 look like.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    few : ndarray of int
        Codes, -1 where unlabeled.
    y : ndarray of int
        The true codes of all rows.
    order : ndarray, optional
        Positions among the unlabeled rows; by distance factor if not given.

    Returns
    -------
    ndarray of int
        `few`, with predictions where it had none.
    """
    labeled, waiting = np.flatnonzero(few != -1), np.flatnonzero(few == -1)
    n_classes = int(y.max()) + 1
    rule = Rule.of("euclidean", 2.0, "uniform", "first")
    taken, predicted, *_ = rank_and_label(
        dense_rows(X),
        labeled,
        few[labeled].astype(np.int32),
        waiting,
        np.empty(0, dtype=np.int64) if order is None else order,
        no_neighbors(len(waiting), 1, n_classes, False),
        n_classes,
        rule.metric,
        rule.vote,
        1.0,
        1.0,
        1,
        y[waiting].astype(np.int32),
    )
    guess = few.copy()
    guess[waiting[taken]] = predicted
    return guess
