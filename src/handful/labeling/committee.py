"""A few quick models that answer together: for suggestions, margins and doubts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from handful.labeling.space import Neighborhood

_N_TREES = 50
_SPREAD = 0.9  # share of a row's answer that its neighbors give
_N_STEPS = 15


def member_models(random_state: int) -> dict[str, Callable[[], Any]]:
    """Return the makers of the classifiers that learn from labels alone, by name.

    Parameters
    ----------
    random_state : int
        Seed of the trees.

    Returns
    -------
    dict of str to callable
        Each makes a new scikit-learn classifier with ``predict_proba``.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "logistic regression": lambda: LogisticRegression(max_iter=300),
        "extra trees": lambda: ExtraTreesClassifier(_N_TREES, random_state=random_state),
    }


def fitted(model: Any, rows: Any, codes: np.ndarray) -> Any:
    """Fit a classifier; with few labels there is nothing new in a warning that they are few, or not enough to converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, codes)


def shares(model: Any, points: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the probabilities of a fitted classifier whose classes are codes, with a column for every class."""
    full = np.zeros((points.shape[0], n_classes))
    full[:, np.asarray(model.classes_)] = model.predict_proba(points)
    return full


def spread_labels(around: Neighborhood, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Spread labels over the graph of nearest rows.

    Parameters
    ----------
    around : Neighborhood
        Of all rows.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares that sum to 1; equal ones where no label came by.

    Notes
    -----
    Zhou et al. (2004): ``F <- a S F + (1 - a) Y``, here with the row-normalized graph and a fixed number of steps.

    Examples
    --------
    >>> from handful.labeling.space import neighborhood
    >>> around = neighborhood(np.array([[0.0], [0.1], [5.0], [5.1]]), 1)
    >>> spread_labels(around, np.array([0, -1, 1, -1]), 2).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """
    from scipy import sparse

    n, k = around.near.shape
    given = np.zeros((n, n_classes))
    labeled = np.flatnonzero(codes >= 0)
    given[labeled, codes[labeled]] = 1.0
    if k == 0:
        return np.where(given.sum(axis=1, keepdims=True) > 0, given, 1.0 / n_classes)
    width = np.median(around.distances) + 1e-12
    weights = np.exp(-((around.distances / width) ** 2)) + 1e-6
    rows = np.repeat(np.arange(n), k)
    graph = sparse.csr_matrix((weights.ravel(), (rows, around.near.ravel())), shape=(n, n))
    graph = graph.maximum(graph.T)
    graph = sparse.diags(1.0 / np.asarray(graph.sum(axis=1)).ravel()) @ graph
    flow = given
    for _ in range(_N_STEPS):
        flow = _SPREAD * (graph @ flow) + (1 - _SPREAD) * given
    total = flow.sum(axis=1, keepdims=True)
    return np.where(total > 0, flow / np.where(total > 0, total, 1.0), 1.0 / n_classes)


def committee_shares(
    points: np.ndarray, codes: np.ndarray, n_classes: int, around: Neighborhood, random_state: int
) -> np.ndarray:
    """Return the mean probabilities of logistic regression, extra trees and spread labels, for every row.

    Parameters
    ----------
    points : ndarray
        Rows.
    codes : ndarray of int
        Class of each row, -1 where unlabeled; at least one row must have a label.
    n_classes : int
        Number of classes.
    around : Neighborhood
        Of the rows.
    random_state : int
        Seed of the trees.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares that sum to 1.
    """
    labeled = np.flatnonzero(codes >= 0)
    answers = [spread_labels(around, codes, n_classes)]
    if len(np.unique(codes[labeled])) > 1:
        for make in member_models(random_state).values():
            model = fitted(make(), points[labeled], codes[labeled])
            answers.append(shares(model, points, n_classes))
    return np.asarray(np.mean(answers, axis=0))
