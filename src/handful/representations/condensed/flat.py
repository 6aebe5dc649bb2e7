"""Linear classifiers of scikit-learn as base models of condensed features."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from handful.core.errors import DataError
from handful.core.labels import codes_among
from handful.linear import Flat, counts
from handful.linear.subset import Subset

_MOST_TYPES = 1_000_000
_BATCH_ROWS = 1 << 13
_INTERCEPT = "(intercept)"


class FlatSpace:
    """Columns of a matrix with the labels of a linear classifier; see `handful.representations.condensed.feature_space`.

    Feature ``column * n_labels + label`` has the value of the column where the label is chosen.

    Parameters
    ----------
    model : fitted classifier
        With ``coef_``, ``intercept_`` and ``classes_``.
    types : sequence of int, optional
        Type of each column; one type by default.
    names : sequence of str, optional
        Name of each column.
    marginals : bool
        Count each label by its probability (softmax of the scores), in place of the best label.

    Notes
    -----
    A classifier of two classes has one row of weights w; it is read as two, -w/2 and +w/2, which gives the same
    decisions. An intercept is the last column, always 1, of a type of its own.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> space = FlatSpace(model)
    >>> chosen, basis = np.zeros(space.n_features), np.zeros(space.n_basis)
    >>> space.count(np.array([[2.0, 0.0]]), chosen, basis)
    1
    >>> chosen.tolist(), space.type_names
    ([2.0, 0.0, 0.0, 0.0, 1.0, 0.0], ['columns', '(intercept)'])
    """

    def __init__(
        self,
        model: Any,
        types: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        marginals: bool = False,
    ) -> None:
        weights, intercept, self.classes = _outputs(model)
        self.model = model
        self.marginals = marginals
        self.has_intercept = bool(getattr(model, "fit_intercept", bool(intercept.any())))
        self.n_columns = weights.shape[0]
        self.n_labels = len(self.classes)
        if self.has_intercept:
            weights = np.concatenate([weights, intercept[None, :]])
        self._weights = np.ascontiguousarray(weights).ravel()
        self.n_basis = len(weights)
        self.n_features = len(self._weights)
        columns = np.zeros(self.n_columns, dtype=np.int64) if types is None else np.asarray(types, dtype=np.int64)
        if columns.shape != (self.n_columns,) or (
            len(columns) and not 0 <= columns.min() <= columns.max() < _MOST_TYPES
        ):
            raise DataError(
                f"CondensedFeatures: types must hold a number from 0 to {_MOST_TYPES - 1:,} for each of the "
                f"{self.n_columns} columns, got an array of shape {columns.shape}."
            )
        n_types = int(columns.max(initial=0)) + 1
        self.type_names = ["columns"] if n_types == 1 else [f"type {number}" for number in range(n_types)]
        if self.has_intercept:
            self.type_names.append(_INTERCEPT)
            columns = np.append(columns, n_types)
        self._types = columns
        self._names = None if names is None else [str(name) for name in names]
        described = self._weights.tobytes() + columns.tobytes() + repr(self.classes.tolist()).encode()
        self.fingerprint = hashlib.sha256(described).hexdigest() + " marginals" * marginals

    def state(self) -> dict[str, Any]:
        """Return what a model file needs beside the base model."""
        n = self.n_columns
        state: dict[str, Any] = {"types": self._types[:n].tolist(), "names": self._names}
        return state | ({"marginals": True} if self.marginals else {})

    def batches(self, part: Any) -> Iterator[Any]:
        """Cut rows."""
        for start in range(0, part.shape[0], _BATCH_ROWS):
            yield part[start : start + _BATCH_ROWS]

    def count(self, inputs: Any, chosen: np.ndarray, basis: np.ndarray) -> int:
        """Count columns with the label that the model gives each row."""
        rows = Flat(self._rows(inputs), self.n_labels)
        if self.marginals:
            chosen += rows.marginals(self._weights)[1]
        else:
            chosen += counts(rows, rows.best(self._weights))
        basis += np.bincount(rows.X.indices, weights=rows.X.data, minlength=self.n_basis)
        return int(rows.n_inputs)

    def even(self, basis: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return A: every label gets the same share of a column's sum."""
        return np.asarray(basis[np.arange(start, stop) // self.n_labels] / self.n_labels)

    def types(self, ids: np.ndarray) -> np.ndarray:
        """Return the type of each feature's column."""
        return np.asarray(self._types[ids // self.n_labels])

    def describe(self, ids: np.ndarray) -> list[tuple[str, tuple[str, ...]]]:
        """Return columns and labels in words."""
        columns, labels = np.divmod(ids, self.n_labels)
        return [(self._name(c), (str(self.classes[y]),)) for c, y in zip(columns.tolist(), labels, strict=True)]

    def seen(self, ids: np.ndarray, inputs: Any) -> np.ndarray:
        """Tell which columns are not empty."""
        filled = np.zeros(self.n_basis, dtype=bool)
        filled[self._rows(inputs).indices] = True
        return np.asarray(filled[ids // self.n_labels])

    def structure(self, ids: np.ndarray, inputs: Any) -> Subset:
        """Return the rows with some features alone."""
        return Subset(Flat(self._rows(inputs), self.n_labels), ids)

    def steps(self, ids: np.ndarray, inputs: Any) -> Subset:
        """Return the rows one at a time."""
        return self.structure(ids, inputs)

    def encode(self, inputs: Any, outputs: Any) -> np.ndarray:
        """Return labels as codes."""
        labels = np.asarray(outputs)
        codes = codes_among(labels, self.classes)
        if (codes < 0).any():
            odd = labels[codes < 0][0]
            raise DataError(f"CondensedFeatures: labels must be those of the base model, got {odd!r}.")
        return codes

    def base_weights(self, ids: np.ndarray) -> np.ndarray:
        """Return weights of the base model."""
        return np.asarray(self._weights[ids])

    def build(self, ids: np.ndarray, weights: np.ndarray) -> Any:
        """Return the base model with other weights."""
        folded = np.zeros(self.n_features)
        folded[ids] = weights
        table: np.ndarray = folded.reshape(self.n_basis, self.n_labels)
        model = copy.copy(self.model)
        if self.model.coef_.shape[0] == 1:
            table = table[:, 1:] - table[:, :1]
        model.coef_ = np.ascontiguousarray(table[: self.n_columns].T)
        model.intercept_ = table[-1].copy() if self.has_intercept else np.zeros(table.shape[1])
        return model

    def _name(self, column: int) -> str:
        if column == self.n_columns:
            return _INTERCEPT
        return f"column {column}" if self._names is None else self._names[column]

    def _rows(self, inputs: Any) -> Any:
        rows = sparse.csr_array(inputs, dtype=np.float64)
        if rows.shape[1] != self.n_columns:
            raise DataError(f"CondensedFeatures: rows must have {self.n_columns} columns, got {rows.shape[1]}.")
        if len(rows.data) and not rows.data.min() >= 0.0:
            raise DataError(
                "CondensedFeatures: values must not be negative or missing, because potency counts them. Split columns "
                "into a positive and a negative part, as CondensedFeatureClassifier does."
            )
        if self.has_intercept:
            rows = sparse.hstack([rows, sparse.csr_array(np.ones((rows.shape[0], 1)))], format="csr")
        return rows


def _outputs(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights (n_columns, n_labels), intercepts and labels of a linear classifier."""
    if not hasattr(model, "coef_") or not hasattr(model, "classes_"):
        raise DataError(
            f"CondensedFeatures: base_model must be a fitted CRF, DependencyParser or linear classifier with coef_ and "
            f"classes_, got {type(model).__name__}. Fit it first."
        )
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_, dtype=np.float64)
    classes = np.asarray(model.classes_)
    intercept = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64), (len(weights),))
    if len(classes) == 2 and len(weights) == 1:
        weights, intercept = np.concatenate([-weights, weights]) / 2, np.concatenate([-intercept, intercept]) / 2
    return weights.T, intercept, classes
