"""Parameters chosen by cross-validation among labeled rows, where there are labels enough to tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from handful.core.labels import UNLABELED
from handful.core.registry import Card

_FOLDS = 3
_MOST_UNLABELED = 500
_LEAST_LABELS = 40
_LEAST_PER_CLASS = 8


def search(card: Card, train: Any, codes: np.ndarray, seed: int) -> dict[str, Any]:
    """Choose parameters by cross-validation among the labeled training rows.

    Parameters
    ----------
    card : Card
        Whose parameters.
    train : matrix
        Training rows.
    codes : ndarray of int64
        Their classes, -1 where unlabeled.
    seed : int
        Seed of the folds and the method.

    Returns
    -------
    dict of str to value
        One parameter settled after the other. Another value than the usual one is taken only where it is right more
        often by more than chance would have it (one standard deviation of the rows on which the two differ); with
        less than 40 labels, or 8 per class, nothing is searched for. At most 500 unlabeled rows take part, so
        that the search does not cost more than the fit.
    """
    best = card.usual
    labeled = np.flatnonzero(codes >= 0)
    n_classes = len(np.unique(codes[labeled]))
    if not best or len(labeled) < max(_LEAST_LABELS, _LEAST_PER_CLASS * n_classes):
        return best
    from handful.evaluation.draws import LabeledKFold

    spare = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_MOST_UNLABELED]
    rows = np.sort(np.concatenate([labeled, spare]))
    part, part_codes = train[rows], codes[rows]
    names = np.where(part_codes >= 0, part_codes, None)  # codes {-1, +1} could be read in two ways
    folds = list(LabeledKFold(_FOLDS, random_state=seed).split(part, names))

    def right(params: Mapping[str, Any]) -> np.ndarray:
        return np.concatenate([_right(card, params, part, part_codes, fold, seed) for fold in folds])

    usual = right(best)
    for name, values in card.grid.items():
        for value in values[1:]:
            other = right({**best, name: value})
            if int(other.sum()) - int(usual.sum()) > np.sqrt((other != usual).sum()):
                best, usual = {**best, name: value}, other
    return best


def _right(
    card: Card, params: Mapping[str, Any], rows: Any, codes: np.ndarray, fold: tuple[np.ndarray, np.ndarray], seed: int
) -> np.ndarray:
    train, test = fold
    wrong = np.zeros(len(test), dtype=bool)
    present = np.unique(codes[train][codes[train] >= 0])
    if len(present) < 2:
        return wrong
    # Classes that are missing from this fold would leave gaps; methods may expect codes without any.
    dense = np.where(codes[train] >= 0, np.searchsorted(present, codes[train]), UNLABELED)
    try:
        model = card.make(rows.shape[1], seed, params).fit(rows[train], dense)
        answers = np.asarray(model.predict(rows[test])).astype(np.int64)
    except ValueError:
        return wrong  # such as more neighbors than rows
    return np.asarray(present[answers] == codes[test])
