"""How good the models of a label loop are: rows labeled by chance, answered without their labels; and rows alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.labeling.committee import committee_shares
from handful.labeling.loop import LabelLoop

_N_FOLDS = 5
_Z = 1.959964


@dataclass(frozen=True)
class Audit:
    """An estimate of accuracy; see `audit_accuracy`.

    Parameters
    ----------
    n_rows, n_right : int
        Rows that were asked for, and right answers.
    accuracy, low, high : float
        Share of right answers and its 95 % interval.
    """

    n_rows: int
    n_right: int
    accuracy: float
    low: float
    high: float


def audit_accuracy(loop: LabelLoop, rows: Iterable[int], labels: Mapping[int, Any] | None = None) -> Audit | None:
    """Estimate the accuracy of a loop's suggestions on rows that chance has chosen.

    Parameters
    ----------
    loop : LabelLoop
        The table.
    rows : iterable of int
        Rows with labels that were audits, so that they stand for all; others make the estimate too good or too bad.
    labels : mapping of int to label, optional
        Labels by row; those of the loop by default.

    Returns
    -------
    Audit or None
        None without two classes or such a row.

    Notes
    -----
    The rows are dealt into at most five folds, and each is answered by models without the labels of its fold. The
    interval is Wilson's (1927), which stays inside 0 and 1 and makes sense with few rows.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> loop = LabelLoop(X, ["a", "a", None, "b", "b", None])
    >>> audit = audit_accuracy(loop, [1, 4])
    >>> audit.n_right, audit.n_rows
    (2, 2)
    """
    held = dict(loop.labels if labels is None else labels)
    place = loop.places
    asked = sorted({int(row) for row in rows if row in held and row in place})
    classes = sorted(set(held.values()), key=str)
    if not asked or len(classes) < 2:
        return None
    codes = np.full(len(loop.points), -1)
    for row in held.keys() & place.keys():
        codes[place[row]] = classes.index(held[row])
    at = np.array([place[row] for row in asked])
    folds = np.array_split(np.random.default_rng(0).permutation(at), min(_N_FOLDS, len(at)))
    n_right = sum(_n_right(loop, codes, fold, len(classes)) for fold in folds)
    low, high = _wilson(n_right, len(at))
    return Audit(len(at), n_right, n_right / len(at), low, high)


def _n_right(loop: LabelLoop, codes: np.ndarray, fold: np.ndarray, n_classes: int) -> int:
    """Count the rows of a fold that models of the other labels are right on."""
    without = codes.copy()
    without[fold] = -1
    if (without < 0).all():
        return 0
    shares = committee_shares(loop.points, without, n_classes, loop.around, loop.seed)
    return int((shares[fold].argmax(axis=1) == codes[fold]).sum())


def _wilson(n_right: int, n: int) -> tuple[float, float]:
    share = n_right / n
    center = share + _Z**2 / (2 * n)
    width = _Z * float(np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)))
    return (center - width) / (1 + _Z**2 / n), (center + width) / (1 + _Z**2 / n)


def rows_alike(loop: LabelLoop, row: int, n: int = 50) -> list[int]:
    """Return the unlabeled rows that are nearest to a row and for which the models would say the same.

    Parameters
    ----------
    loop : LabelLoop
        The table.
    row : int
        Row of the table.
    n : int, default=50
        How many near rows to look at.

    Returns
    -------
    list of int
        The nearest first; none where the row is not among those of a long table that are considered.

    Examples
    --------
    >>> loop = LabelLoop([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], ["a", None, None, "b", None, None])
    >>> rows_alike(loop, 0)
    [1, 2]
    """
    place = loop.places
    if row not in place:
        return []
    away = np.linalg.norm(loop.points - loop.points[place[row]], axis=1)
    near = [int(loop.pool[at]) for at in np.argsort(away, kind="stable")[: n + 1]]
    near = [other for other in near if other != row and other not in loop.labels]
    own, *others = loop.suggest([row, *near])
    wanted = loop.labels.get(row, own.suggestion)
    return [pick.row for pick in others if pick.suggestion == wanted]
