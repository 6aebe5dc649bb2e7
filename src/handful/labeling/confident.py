"""Confident learning: which given labels cross-validated probabilities contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

_N_STEPS = 30
_LEAST = 1e-3  # probability of a label, at least
_SLACK = 1e-2


def class_thresholds(shares: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how sure the models usually are of a class, where it was given.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities of rows by models that did not see their labels.
    codes : ndarray of int
        The given labels.

    Returns
    -------
    ndarray of shape (n_classes,)
        Mean probability of each class over the rows that carry its label (Northcutt, Jiang & Chuang 2021, equation 2);
        infinite for a class that no row carries.

    Examples
    --------
    >>> class_thresholds(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array([0, 0, 1])).tolist()
    [0.7, 0.8]
    """
    counts = np.bincount(codes, minlength=shares.shape[1])
    totals = np.zeros(shares.shape[1])
    np.add.at(totals, codes, shares[np.arange(len(codes)), codes])
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.inf)


def confident_classes(shares: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the class that the models are confident of, or -1.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities.
    thresholds : ndarray of shape (n_classes,)
        From `class_thresholds`.

    Returns
    -------
    ndarray of int
        The most probable of the classes that reach their threshold (equation 1 of the same paper).

    Examples
    --------
    >>> confident_classes(np.array([[0.6, 0.4], [0.75, 0.25]]), np.array([0.7, 0.8])).tolist()
    [-1, 0]
    """
    reached = np.where(shares >= thresholds, shares, -1.0)
    best = reached.argmax(axis=1)
    return np.where(reached[np.arange(len(best)), best] >= 0, best, -1)


def mixture_weights(answers: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """Weigh models so that their weighted mean gives the labels that they did not see the highest likelihood.

    Parameters
    ----------
    answers : sequence of ndarray of shape (n, n_classes)
        Probabilities of each model.
    codes : ndarray of int
        The given labels.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights, which add up to 1.

    Notes
    -----
    Thirty steps of expectation maximization for the weights of a mixture whose parts are fixed.

    Examples
    --------
    >>> good, idle = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> mixture_weights([good, idle], np.array([0, 1])).round(2).tolist()
    [1.0, 0.0]
    """
    likely = np.array([answer[np.arange(len(codes)), codes] for answer in answers]) + _LEAST
    weights = np.full(len(likely), 1 / len(likely))
    for _ in range(_N_STEPS):
        parts = weights[:, None] * likely
        weights = (parts / parts.sum(axis=0)).mean(axis=1)
    return np.asarray(weights)


def label_odds(shares: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how many times likelier the given label is than the best other one, as a logarithm: below 0 is doubt.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities.
    codes : ndarray of int
        The given labels.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities count as a hundredth more, so that they do not differ by what is nearly nothing.

    Examples
    --------
    >>> label_odds(np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([1, 0])).round(2).tolist()
    [-1.35, 0.0]
    """
    rows = np.arange(len(codes))
    others = shares.copy()
    others[rows, codes] = -np.inf
    return np.asarray(np.log(shares[rows, codes] + _SLACK) - np.log(others.max(axis=1) + _SLACK))


def dealt_folds(codes: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Deal rows into folds, class by class, so that each class is in as many folds as it has rows, at most all.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    n_folds : int
        Number of folds.
    rng : numpy.random.Generator
        Chance.

    Returns
    -------
    ndarray of int
        Fold of each row.
    """
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def train_and_test(folds: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training and the held-out rows of every fold."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def cross_validated(
    ask: Callable[[np.ndarray, np.ndarray], np.ndarray], folds: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return probabilities for every row, from models trained without its fold.

    Parameters
    ----------
    ask : callable
        ``ask(train, test)`` fits on some rows and returns probabilities for others.
    folds : ndarray of int
        Fold of each row.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n, n_classes)
        In row order.
    """
    shares = np.zeros((len(folds), n_classes))
    for train, test in train_and_test(folds):
        shares[test] = ask(train, test)
    return shares
