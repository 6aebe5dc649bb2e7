"""Where a pseudo-label comes from, and what becomes of the rest without a seed label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.core.labels import encode_labels
from handful.core.schema import Array, Kind, Names, stored


@dataclass(frozen=True)
class Provenance:
    """The story of one label.

    Parameters
    ----------
    row : int
        The row.
    label : object
        Its label.
    step : int
        When it was labeled: 0 if the label was given, -1 if its prediction was not trusted and did not spread.
    confidence : float
        Confidence of the prediction; 1 for a given label.
    lineage : tuple of int
        The rows it descends from: its parent (the nearest voter for the label), the parent's parent, ... up to a row whose
        label was given. Empty for a given label.
    """

    row: int
    label: Any
    step: int
    confidence: float
    lineage: tuple[int, ...]


@dataclass(frozen=True)
class Withdrawal:
    """What changes when a given label is taken back.

    Parameters
    ----------
    model : estimator
        The same method fitted without the label.
    changed : list of (int, object, object)
        Every row whose label changed, with the label before and after.
    """

    model: Any
    changed: list[tuple[int, Any, Any]]


class Traceable:
    """Mixin of methods that label rows: tells where labels come from.

    Attributes
    ----------
    parent_ : ndarray of int64, shape (n_samples,)
        Row whose vote decided each label, -1 where the label was given.
    origin_ : ndarray of int64, shape (n_samples,)
        Row with a given label at the end of the line; the row itself where the label was given.
    """

    STATE: ClassVar[Mapping[str, Kind]] = stored(
        parent_=Array("i8", "n", low=-1, below="n"),
        origin_=Array("i8", "n", low=-1, below="n"),
        transduction_=Names("n"),
        labeled_iter_=Array("i8", "n", low=-1),
    )

    parent_: np.ndarray
    origin_: np.ndarray
    transduction_: np.ndarray
    labeled_iter_: np.ndarray
    _training: tuple[Any, Any]

    def provenance(self, row: int) -> Provenance:
        """Tell the story of a row's label.

        Parameters
        ----------
        row : int
            Row of the table of the fit.

        Returns
        -------
        Provenance
            Step, confidence and lineage.
        """
        check_is_fitted(self)
        row = self._row(row)
        lineage: list[int] = []
        parent = int(self.parent_[row])
        while parent >= 0 and len(lineage) < len(self.parent_):  # a file may bring a circle
            lineage.append(parent)
            parent = int(self.parent_[parent])
        return Provenance(
            row,
            self.transduction_[row : row + 1].tolist()[0],
            int(self.labeled_iter_[row]),
            float(self._confidence_of(row)),
            tuple(lineage),
        )

    def origin(self, row: int) -> int:
        """Return the row with a given label that a row's label descends from."""
        check_is_fitted(self)
        return int(self.origin_[self._row(row)])

    def descendants(self, row: int) -> np.ndarray:
        """Return the rows whose labels descend from a row, in row order.

        Parameters
        ----------
        row : int
            Row of the table of the fit.

        Returns
        -------
        ndarray of int64
            Row numbers; `row` is not among them.
        """
        check_is_fitted(self)
        row = self._row(row)
        rows = np.argsort(self._age(), kind="stable")  # a parent always comes before its children
        below = np.zeros(len(rows), dtype=bool)
        below[row] = True
        for i in rows:
            parent = self.parent_[i]
            if parent >= 0 and below[parent]:
                below[i] = True
        below[row] = False
        return np.flatnonzero(below)

    def withdraw(self, row: int) -> Withdrawal:
        """Fit again without a given label and tell which labels change.

        Parameters
        ----------
        row : int
            Row of the table of the fit, whose label was given. It becomes unlabeled.

        Returns
        -------
        Withdrawal
            The new model and the changed rows. This model stays as it is.
        """
        check_is_fitted(self)
        who, row = type(self).__name__, self._row(row)
        if self.labeled_iter_[row] != 0:
            raise DataError(
                f"{who}: only a given label can be withdrawn, got row {row}, whose label was predicted. "
                f"It descends from row {self.origin_[row]}."
            )
        if not hasattr(self, "_training"):
            raise DataError(f"{who}: withdraw needs the training table, which is not part of a saved model. Fit again.")
        X, y = self._training
        labels = encode_labels(y, who=who)
        without = np.full(len(labels.codes), None, dtype=object)
        without[labels.labeled] = labels.decode(labels.codes[labels.labeled])
        without[row] = None
        model = clone(self).fit(X, without)
        before, after = self.transduction_.tolist(), model.transduction_.tolist()
        changed = [(i, b, a) for i, (b, a) in enumerate(zip(before, after, strict=True)) if a != b]
        return Withdrawal(model, changed)

    def _trace(self, X: Any, y: Any) -> None:
        self._training = (X, y)
        self.origin_ = np.arange(len(self.parent_))
        for i in np.argsort(self._age(), kind="stable"):
            if self.parent_[i] >= 0:
                self.origin_[i] = self.origin_[self.parent_[i]]

    def _age(self) -> np.ndarray:
        """Return a number for every row that is smaller for a parent than for its children; here children are unlabeled."""
        return (self.parent_ >= 0).astype(np.int64)

    def _confidence_of(self, row: int) -> float:
        return float(self.confidence_[row])  # type: ignore[attr-defined]

    def _row(self, row: int) -> int:
        n = len(self.parent_)
        if not 0 <= row < n:
            raise DataError(f"{type(self).__name__}: row must be one of the {counted(n, 'row')} of the fit, got {row}.")
        return int(row)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}
