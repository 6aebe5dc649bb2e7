"""Views of the rows of a table, learned from labeled and unlabeled rows alike: clipped numbers, ranks, balanced names.

Few labels leave no room for learning how a column is best looked at, so that a team of methods looks in several ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful.core.schema import Array, IfThere, ListOf, Number, Record, stored

ViewName = Literal["plain", "clip", "rank", "white"]
_CLIP = 3.0
_LEAST_SCALE = 1e-30  # of stored moments
_LEAST_ROWS = 3
_MOST_KNOTS = 512
_LEAST_COLLINEAR, _MOST_WHITENED = 3, 200  # columns
_LEAST_VARIANCE = 1e-6  # of a direction, beside that of the largest
_RIDGE = 1e-3  # of the mean variance, added to that of every direction


@dataclass(frozen=True)
class Blocks:
    """Which columns of a matrix belong together.

    Parameters
    ----------
    numeric : ndarray of int64
        Columns of numbers.
    nominal : tuple of ndarray of int64
        For each nominal column of the table, its indicators.
    """

    numeric: np.ndarray
    nominal: tuple[np.ndarray, ...]


def find_blocks(X: np.ndarray) -> Blocks:
    """Tell numbers from indicators by their values.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Rows as `handful.features.tables.TableEncoder` makes them.

    Returns
    -------
    Blocks
        A column whose cells are 0 or one other, positive value is an indicator; neighboring indicators of which each row
        has at most one belong to one nominal column.

    Examples
    --------
    >>> X = np.array([[1.5, 1, 0, 1], [2.5, 0, 1, 1], [0.5, 0, 1, 0]])
    >>> blocks = find_blocks(X)
    >>> blocks.numeric.tolist(), [block.tolist() for block in blocks.nominal]
    ([0], [[1, 2], [3]])
    """
    top = X.max(axis=0, initial=0.0)
    indicator = (top > 0) & ((X == 0) | (top == X)).all(axis=0)
    nominal: list[list[int]] = []
    taken = np.zeros(len(X), dtype=bool)
    for column in np.flatnonzero(indicator):
        rows = X[:, column] > 0
        if nominal and nominal[-1][-1] == column - 1 and not (taken & rows).any():
            nominal[-1].append(int(column))
            taken |= rows
        else:
            nominal.append([int(column)])
            taken = rows
    return Blocks(np.flatnonzero(~indicator), tuple(np.array(block) for block in nominal))


class TableViews:
    """Views of rows, learned from all of them.

    ``plain`` has numbers as they are and indicators of height 1; ``clip`` has numbers clipped at three standard
    deviations, and every nominal column as a centered block of variance 1; ``rank`` has numbers as normal scores of their
    ranks, and the same blocks; ``white`` has clipped numbers turned and scaled so that they are uncorrelated among all rows,
    which brings to light what lies in directions of small variance (up to 200 numbers; more stay as they are in ``clip``).

    Parameters
    ----------
    state : dict
        What was learned, as `state` holds it.

    Examples
    --------
    >>> views = TableViews.learn(np.array([[1.0], [2.0], [4.0], [100.0]]))
    >>> views.transform(np.array([[2.0], [100.0]]), "rank").round(2).tolist()
    [[-0.38], [1.36]]
    """

    STATE = Record(
        stored(
            width=Number(int, size="w"),
            numeric=Array("i8", "n?", below="w"),
            nominal=ListOf(Array("i8", "_", below="w"), "m?"),
            clips=Array("f8", "n?", 4),
            directions=IfThere(Array("f8", "n?", "r?")),
            knots=ListOf(Array("f8", "_"), "n?"),
            scores=ListOf(Array("f8", "_"), "n?"),
            kept=ListOf(Array("i8", "_", below="w"), "m?"),
            means=ListOf(Array("f8", "_"), "m?"),
            spreads=Array("f8", "m?"),
        )
    )

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    @classmethod
    def learn(cls, X: np.ndarray) -> TableViews:
        """Learn from rows."""
        blocks = find_blocks(X)
        clips, knots, scores = [], [], []
        for column in X[:, blocks.numeric].T:
            center, scale = _moments(column)
            clipped = np.clip((column - center) / scale, -_CLIP, _CLIP)
            clips.append((center, scale, *_moments(clipped)))
            values, at = _normal_scores(column)
            knots.append(values)
            scores.append(at)
        kept, means, spreads = [], [], []
        for block in blocks.nominal:
            H = (X[:, block] > 0).astype(np.float64)
            frequent = H.sum(axis=0) >= _LEAST_ROWS
            kept.append(block[frequent])
            means.append(H[:, frequent].mean(axis=0))
            spreads.append(float(np.sqrt(max(H[:, frequent].var(axis=0).sum(), 1e-9))))
        return cls(
            {
                "width": int(X.shape[1]),
                "numeric": blocks.numeric.astype(np.int64),
                "nominal": [block.astype(np.int64) for block in blocks.nominal],
                "clips": (learned := np.array(clips).reshape(-1, 4)),
                "directions": _directions(_clipped(X[:, blocks.numeric], learned)),
                "knots": knots,
                "scores": scores,
                "kept": [block.astype(np.int64) for block in kept],
                "means": means,
                "spreads": np.array(spreads),
            }
        )

    def transform(self, X: np.ndarray, view: ViewName) -> np.ndarray:
        """Return rows in one view."""
        state = self.state
        numbers = X[:, state["numeric"]]
        if view == "plain":
            return np.hstack([numbers, *((X[:, block] > 0).astype(np.float64) for block in state["nominal"])])
        numbers = self.ranks(X) if view == "rank" else _clipped(numbers, state["clips"])
        if view == "white" and state.get("directions") is not None:
            numbers = numbers @ state["directions"]
        blocks = [
            ((X[:, block] > 0) - mean) / spread
            for block, mean, spread in zip(state["kept"], state["means"], state["spreads"], strict=True)
        ]
        return np.hstack([numbers, *blocks])

    def ranks(self, X: np.ndarray) -> np.ndarray:
        """Return the normal scores of the numbers."""
        numbers = X[:, self.state["numeric"]]
        columns = [
            np.interp(numbers[:, i], knots, scores)
            for i, (knots, scores) in enumerate(zip(self.state["knots"], self.state["scores"], strict=True))
        ]
        return np.array(columns).reshape(-1, len(X)).T

    def levels(self, X: np.ndarray) -> np.ndarray:
        """Return the place of each row's indicator in every nominal column; the last place is none of them."""
        columns = []
        for block in self.state["nominal"]:
            on = X[:, block] > 0
            columns.append(np.where(on.any(axis=1), on.argmax(axis=1), len(block)))
        return np.array(columns, dtype=np.int64).reshape(-1, len(X)).T

    def width(self, view: ViewName) -> int:
        """Return the number of columns of a view."""
        blocks = self.state["nominal" if view == "plain" else "kept"]
        turned = self.state.get("directions") if view == "white" else None
        return (len(self.state["numeric"]) if turned is None else turned.shape[1]) + sum(map(len, blocks))

    def is_collinear(self, X: np.ndarray) -> bool:
        """Tell whether the numbers of rows move in far fewer directions than there are columns: less than half as many."""
        numbers = _clipped(X[:, self.state["numeric"]], self.state["clips"])
        if not _LEAST_COLLINEAR <= numbers.shape[1] <= _MOST_WHITENED:
            return False
        shares = np.maximum(np.linalg.eigvalsh(np.cov(numbers.T)), 1e-12)
        shares /= shares.sum()
        return bool(np.exp(-shares @ np.log(shares)) < numbers.shape[1] / 2)  # the number that their entropy stands for

    def is_whole(self) -> bool:
        """Tell whether the state is one that `learn` could have left."""
        state = self.state
        columns = np.concatenate([state["numeric"], *state["nominal"]])
        return (
            len(columns) == state["width"]  # before a list is made of what may be any number
            and sorted(columns.tolist()) == list(range(state["width"]))
            and all(len(a) == len(b) > 0 for a, b in zip(state["knots"], state["scores"], strict=True))
            and all(set(k.tolist()) <= set(b.tolist()) for k, b in zip(state["kept"], state["nominal"], strict=True))
            and all(len(k) == len(m) for k, m in zip(state["kept"], state["means"], strict=True))
            and self._is_bounded()
        )

    def _is_bounded(self) -> bool:
        """Tell whether no view can have a number that is too large for members that compute in single precision."""
        _, scale, center_again, scale_again = self.state["clips"].T
        return bool(
            (scale > 0).all()
            and (np.abs(center_again) <= _CLIP).all()
            and (scale_again >= _LEAST_SCALE).all()
            and (self.state.get("directions") is None or (np.abs(self.state["directions"]) <= 1 / _LEAST_SCALE).all())
            and (self.state["spreads"] >= _LEAST_SCALE).all()
            and all((np.abs(scores) <= 1 / _LEAST_SCALE).all() for scores in self.state["scores"])
            and all((np.abs(means) <= 1).all() for means in self.state["means"])
        )


def _clipped(numbers: np.ndarray, clips: np.ndarray) -> np.ndarray:
    center, scale, center_again, scale_again = clips.T
    return np.asarray((np.clip((numbers - center) / scale, -_CLIP, _CLIP) - center_again) / scale_again)


def _directions(numbers: np.ndarray) -> np.ndarray | None:
    """Return the directions in which numbers are uncorrelated, divided by their spread; None for too many numbers."""
    n_rows, n_columns = numbers.shape
    if not 1 <= n_columns <= _MOST_WHITENED or n_rows < 2:
        return None
    variances, directions = np.linalg.eigh(np.cov(numbers.T).reshape(n_columns, n_columns))
    kept = variances > _LEAST_VARIANCE * max(variances[-1], _LEAST_SCALE)
    spread = np.sqrt(variances[kept] + _RIDGE * variances.mean())
    return np.ascontiguousarray(directions[:, kept] / spread)


def _moments(column: np.ndarray) -> tuple[float, float]:
    spread = float(column.std())
    return float(column.mean()), spread if spread > 0 else 1.0


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a column, rising, and the standardized normal scores of their mean ranks."""
    from scipy.stats import norm

    values, counts = np.unique(column, return_counts=True)
    ranks = np.cumsum(counts) - counts / 2  # the middle of the ranks that equal values share, counted from 0
    scores = norm.ppf(ranks / len(column))
    center = float(counts @ scores) / len(column)
    spread = float(np.sqrt(counts @ (scores - center) ** 2 / len(column)))
    scores = (scores - center) / (spread if spread > 0 else 1.0)
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_KNOTS)).round().astype(np.int64))
    return values[at], scores[at]


def dense_rows(X: Any) -> np.ndarray:
    """Return rows as a dense matrix of float64."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
