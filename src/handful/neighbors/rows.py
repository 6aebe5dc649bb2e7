"""What neighbor classifiers share: stored rows, votes, provenance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import Labels, labels_of
from handful.errors import DataError, ParameterError, counted
from handful.kernels.distances import (
    TILE,
    Heap,
    RowArrays,
    Rule,
    Store,
    make_heap,
    make_queries,
    row_keys,
    update_heaps,
    vote_all,
)
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, Kind, ListOf, Names, Number, Symbol, Text, is_rising, stored

Vote = Literal["uniform", "distance", "gaussian", "rank", "dudani", "literal"]
Ties = Literal["first", "all"]
Categorical = Literal["auto"] | list[Any] | tuple[Any, ...]

K_GRID = (1, 3, 5, 7, 9, 11, 15)
N_FOLDS = 5
_CHUNK = 4096
_CHUNK_CELLS = 1 << 24
_FLOATS = [np.float64, np.float32]
_WILD = 100.0  # ratio of column ranges from which a table counts as unscaled


class ScalingWarning(UserWarning):
    """Columns have so different ranges that the widest alone decides what is near."""


def encode_rows(model: Any, X: Any, *, reset: bool) -> RowArrays:
    """Check a table and encode it, remembering in the model what a later table must look like.

    Parameters
    ----------
    model : estimator
        Has a parameter ``categorical``; receives ``categorical_columns_``, ``categorical_values_``, ``n_features_in_``
        and, for a data frame, ``feature_names_in_``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    reset : bool
        True in ``fit``, False afterwards.

    Returns
    -------
    RowArrays
        Numbers as float32 if they came so, else float64; categorical columns as codes, -1 for a value not seen in ``fit``.
    """
    name = type(model).__name__
    X = X if sp.issparse(X) else _as_table(X)
    if reset:
        model.categorical_columns_ = _categorical_columns(model, X)
    columns = model.categorical_columns_.tolist()
    if columns and sp.issparse(X):
        raise DataError(
            f"{name}: categorical columns must be dense, got a sparse matrix. Pass an array or a data frame."
        )
    try:
        if columns:
            validate_data(model, X, skip_check_array=True, reset=reset)
            checked = _numeric_part(model, X, columns)
        else:
            checked = validate_data(model, X, accept_sparse="csr", dtype=_FLOATS, order="C", reset=reset)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    symbols = [_symbols(_column(X, j)) for j in columns]
    if reset:
        model.categorical_values_ = [list(dict.fromkeys(column)) for column in symbols]
    rows = from_csr(checked) if sp.issparse(checked) else from_dense(checked, _codes(model, symbols, len(checked)))
    _check_range(model, rows)
    return rows


def _check_range(model: Any, rows: RowArrays) -> None:
    """Refuse values whose distances overflow: infinite distances all look alike."""
    limit = 0.5 * (1e300 / max(model.n_features_in_, 1)) ** 0.5
    largest = max(float(np.abs(part).max(initial=0.0)) for part in (rows.dense, rows.data))
    if largest > limit:
        raise DataError(
            f"{type(model).__name__}: a value of {largest:.3g} is too large: distances overflow above {limit:.1g}. "
            "Scale the features first, for example with sklearn.preprocessing.StandardScaler."
        )


def _numeric_part(model: Any, X: Any, categorical: list[int]) -> np.ndarray:
    columns = [np.asarray(_column(X, j)) for j in range(X.shape[1]) if j not in categorical]
    if not columns:
        return np.empty((X.shape[0], 0))
    kind = np.float32 if all(column.dtype == np.float32 for column in columns) else np.float64
    dense = np.column_stack([column.astype(kind) for column in columns])
    return np.asarray(check_array(dense, dtype=_FLOATS, estimator=model, input_name="X"))


def _codes(model: Any, symbols: list[list[Any]], n: int) -> np.ndarray:
    codes = np.empty((n, len(symbols)), dtype=np.int32)
    for q, (column, values) in enumerate(zip(symbols, model.categorical_values_, strict=True)):
        code_of = {value: code for code, value in enumerate(values)}
        codes[:, q] = [code_of.get(symbol, -1) for symbol in column]
    return codes


def _as_table(X: Any) -> Any:
    """Return a data frame as it is, anything else as an array that keeps numbers next to strings."""
    if hasattr(X, "columns") or hasattr(X, "__array_namespace__"):
        return X
    table = np.asarray(X)
    return np.array(X, dtype=object) if table.dtype.kind in "US" and not isinstance(X, np.ndarray) else table


def _column(X: Any, j: int) -> Any:
    return X[X.columns[j]] if hasattr(X, "columns") else X[:, j]


def _categorical_columns(model: Any, X: Any) -> np.ndarray:
    columns: list[int] = []
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and model.categorical != "auto":  # the check of the numbers refuses other shapes
        names = list(X.columns) if hasattr(X, "columns") else list(range(shape[1]))
        columns = sorted(_position(type(model).__name__, names, name) for name in model.categorical)
    elif len(shape) == 2 and not sp.issparse(X):
        columns = [j for j in range(shape[1]) if _is_categorical(_column(X, j))]
    return np.array(columns, dtype=np.int64)


def _position(model_name: str, names: list[Any], name: Any) -> int:
    if name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ParameterError(
        f"{model_name}: categorical must name columns of X, got {name!r}. The columns are: {str(names)[:80]}."
    )


def _is_categorical(column: Any) -> bool:
    if str(getattr(column, "dtype", "")).lower().startswith(("categor", "enum")):
        return True
    values = np.asarray(column)
    if values.dtype.kind == "O":
        return any(isinstance(value, str) for value in values)
    return values.dtype.kind in "USTmM"


def _symbols(column: Any) -> list[Any]:
    """Return the values of a categorical column as strings and numbers; everything that is missing is None."""
    values = column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()
    return [value if type(value) is str else _symbol(value) for value in values]


def _symbol(value: Any) -> Any:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float):
        return None if value != value else value
    return str(value)


def from_dense(dense: np.ndarray, categorical: np.ndarray | None = None) -> RowArrays:
    """Return rows of dense numbers and categorical codes.

    Examples
    --------
    >>> from_dense(np.zeros((2, 3))).categorical.shape
    (2, 0)
    """
    categorical = np.empty((len(dense), 0), dtype=np.int32) if categorical is None else categorical
    return RowArrays(
        np.require(dense, requirements=["C", "W"]),
        np.require(categorical, requirements=["C", "W"]),
        np.zeros(1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=dense.dtype),
    )


def from_csr(matrix: Any) -> RowArrays:
    """Return the rows of a CSR matrix.

    Examples
    --------
    >>> from_csr(sp.csr_array([[0.0, 2.0]])).indices.tolist()
    [1]
    """
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    n = matrix.shape[0]
    return RowArrays(
        np.empty((n, 0), dtype=matrix.data.dtype),
        np.empty((n, 0), dtype=np.int32),
        np.require(matrix.indptr, dtype=np.int64, requirements=["C", "W"]),
        np.require(matrix.indices, dtype=np.int32, requirements=["C", "W"]),
        np.require(matrix.data, requirements=["C", "W"]),
    )


def take_rows(rows: RowArrays, ids: np.ndarray) -> RowArrays:
    """Return some of the rows, in the order asked for.

    Examples
    --------
    >>> take_rows(from_dense(np.arange(3.0)[:, None]), np.array([2, 0])).dense.ravel().tolist()
    [2.0, 0.0]
    """
    if len(rows.indptr) == 1:
        return from_dense(rows.dense[ids], rows.categorical[ids])
    return from_csr(as_csr(rows, 1 + int(rows.indices.max(initial=0)))[ids])


def as_csr(rows: RowArrays, n_features: int) -> sp.csr_array:
    """Return sparse rows as a matrix."""
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows.dense), n_features))


def distinct(rows: RowArrays) -> tuple[np.ndarray, np.ndarray]:
    """Find identical rows.

    Parameters
    ----------
    rows : RowArrays
        A table.

    Returns
    -------
    first : ndarray of int64
        One row number for each distinct row.
    which : ndarray of int64, shape (n_rows,)
        Position in `first` of each row.

    Examples
    --------
    >>> first, which = distinct(from_dense(np.array([[1.0], [2.0], [1.0]])))
    >>> len(first), bool(which[0] == which[2])
    (2, True)
    """
    n = len(rows.dense)
    bits = np.uint32 if rows.dense.dtype == np.float32 else np.uint64
    keys = row_keys(rows, (rows.dense + 0).view(bits), (rows.data + 0).view(bits))  # + 0: a negative zero is a zero
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == n or not _equal(rows, take_rows(rows, first[which])):  # unequal rows with equal keys stay apart
        return np.arange(n), np.arange(n)
    return first, which


def _equal(a: RowArrays, b: RowArrays) -> bool:
    return all(np.array_equal(*pair) for pair in zip(a, b, strict=True))


def warn_if_unscaled(model: Any, rows: RowArrays) -> None:
    """Warn where the ranges of numeric columns differ so much that the widest decides alone."""
    if len(rows.dense) < 2 or rows.dense.shape[1] == 0:
        return
    ranges = np.ptp(rows.dense, axis=0).astype(np.float64)
    ranges = ranges[ranges > 0]
    if rows.categorical.shape[1]:
        ranges = np.append(ranges, 1.0)
    if len(ranges) > 1 and ranges.max() > _WILD * ranges.min():
        name = type(model).__name__
        warnings.warn(
            f"{name}: ranges of columns should be alike, got {ranges.min():.3g} to {ranges.max():.3g}, so that the widest "
            f"columns alone decide what is near. Scale them: make_pipeline(StandardScaler(), {name}(...)).",
            ScalingWarning,
            stacklevel=3,
        )


class Votes(NamedTuple):
    """For each row the winning code, its nearest voter's position in the store, and the part of the votes of each label."""

    codes: np.ndarray
    positions: np.ndarray
    proba: np.ndarray


def kneighbors(stored: RowArrays, codes: np.ndarray, n_labels: int, rows: RowArrays, k: int, rule: Rule) -> Heap:
    """Find the `k` nearest stored rows (or distances) of every row."""
    n, n_stored = len(rows.dense), len(stored.dense)
    near = make_heap(n, min(k, n_stored), n_labels, rule.all_ties)
    update_heaps(Store(stored, np.arange(n_stored), codes), n_stored, make_queries(rows, near, np.arange(n)), rule)
    return near


def vote_of_store(stored: RowArrays, codes: np.ndarray, n_labels: int, rows: RowArrays, k: int, rule: Rule) -> Votes:
    """Let the stored rows vote on other rows.

    Parameters
    ----------
    stored : RowArrays
        The store, in the order of storing; not empty.
    codes : ndarray of int32
        Their codes.
    n_labels : int
        Number of labels.
    rows : RowArrays
        The rows in question; identical ones are compared once.
    k : int
        Number of neighbors, or of distinct distances.
    rule : Rule
        Who votes and how.

    Returns
    -------
    Votes
        One entry for each row.
    """
    if stored.dense.dtype != rows.dense.dtype:  # float64, so that one compiled kernel serves both
        stored, rows = (r._replace(dense=r.dense.astype(float), data=r.data.astype(float)) for r in (stored, rows))
    first, which = distinct(rows)
    if len(first) < len(rows.dense):
        rows = take_rows(rows, first)
    cells = min(k, len(stored.dense)) * (n_labels if rule.all_ties else 1)
    chunk = max(TILE, min(_CHUNK, _CHUNK_CELLS // cells))
    parts = [vote_all(make_heap(0, 1, n_labels, rule.all_ties), 1, codes, n_labels, rule)]
    for start in range(0, len(first), chunk):
        part = take_rows(rows, np.arange(start, min(start + chunk, len(first))))
        near = kneighbors(stored, codes, n_labels, part, k, rule)
        parts.append(vote_all(near, near.distance.shape[1], codes, n_labels, rule))
    return Votes(*(np.concatenate(column)[which] for column in zip(*parts, strict=True)))


def favor_winners(proba: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Raise the winner of each tied vote by one unit in the last place, in place, so that it is the argmax.

    Examples
    --------
    >>> favor_winners(np.array([[0.5, 0.5]]), np.array([1])).argmax(axis=1).tolist()
    [1]
    """
    tied = np.flatnonzero(proba.argmax(axis=1) != codes)
    proba[tied, codes[tied]] = np.nextafter(proba[tied].max(axis=1), 2.0)
    return proba


def stratified_folds(codes: np.ndarray, n_folds: int, random: Any = None) -> np.ndarray:
    """Deal rows out to folds so that every class is spread evenly; a rare class needs no minimum.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    n_folds : int
        Number of folds.
    random : RandomState or Generator, optional
        Shuffles the rows first.

    Returns
    -------
    ndarray of int64
        Fold of each row.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    shuffled = np.arange(len(codes)) if random is None else random.permutation(len(codes))
    folds = np.empty(len(codes), dtype=np.int64)
    folds[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % n_folds
    return folds


def choose_k(rows: RowArrays, codes: np.ndarray, n_labels: int, rule: Rule, least: int = 1) -> int:
    """Choose the number of neighbors by 5-fold cross-validation of plain nearest neighbors on labeled rows.

    Parameters
    ----------
    rows, codes
        The labeled rows.
    n_labels : int
        Number of labels.
    rule : Rule
        Who votes and how.
    least : int
        The smallest number to try.

    Returns
    -------
    int
        The number with the most correct predictions; of equally good ones the smallest.
    """
    grid = [k for k in K_GRID if k >= least]
    n_folds = min(N_FOLDS, len(codes))
    if n_folds < 2:
        return grid[0]
    folds = stratified_folds(codes, n_folds)
    correct = np.zeros(len(grid), dtype=np.int64)
    for fold in range(n_folds):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        stored = take_rows(rows, inside)
        for start in range(0, len(outside), _CHUNK):
            held_out = outside[start : start + _CHUNK]
            near = kneighbors(stored, codes[inside], n_labels, take_rows(rows, held_out), grid[-1], rule)
            for g, k in enumerate(grid):
                winners, _, _ = vote_all(near, min(k, near.distance.shape[1]), codes[inside], n_labels, rule)
                correct[g] += np.count_nonzero(winners == codes[held_out])
    return grid[int(correct.argmax())]


class StoredRowsClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers whose fitted state is a list of stored rows with labels.

    A subclass fits, calls `_keep`, and has the parameters ``n_neighbors``, ``vote`` and ``categorical``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.
    stored_numbers_ : ndarray or csr_array
        Numeric columns of the stored rows.
    stored_symbols_ : ndarray of int32
        Categorical columns of the stored rows, as positions in ``categorical_values_``.
    stored_codes_ : ndarray of int32
        Labels of the stored rows, as positions in ``classes_``.
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        n_neighbors_=Number(int, low=1),
        categorical_columns_=Array("i8", "c?", below="d"),
        categorical_values_=ListOf(ListOf(Symbol()), "c?"),
        stored_numbers_=Array("f8 f4", "s", "_", sparse=True),
        stored_symbols_=Array("i4", "s", "c?", low=-2),
        stored_codes_=Array("i4", "s", below="k"),
        n_iter_=Number(int, low=0),
        termination_condition_=Text(),
    )
    RENAMED: ClassVar[dict[str, str]] = {
        "nominal": "categorical",
        "nominal_columns_": "categorical_columns_",
        "nominal_values_": "categorical_values_",
    }
    DROPPED: ClassVar[dict[str, Any]] = {"p": 2.0, "max_kept": None, "metric": "euclidean"}

    n_neighbors: Any
    vote: Vote
    categorical: Categorical

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        codes = self._votes(X).codes
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the part of the votes that each label gets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``. In a tied vote that of the predicted label is larger by one unit in
            the last place, so that the largest is always that of the predicted label.
        """
        votes = self._votes(X)
        return favor_winners(votes.proba, votes.codes)

    def _rule(self) -> Rule:
        return Rule.of(self.vote, getattr(self, "ties", "first"))

    def _votes(self, X: Any) -> Votes:
        check_is_fitted(self)
        rows = encode_rows(self, X, reset=False)
        sparse, stored_sparse = len(rows.indptr) > 1, sp.issparse(self.stored_numbers_)
        if sparse and not stored_sparse:
            rows = from_dense(as_csr(rows, self.n_features_in_).toarray())
        elif stored_sparse and not sparse:
            rows = from_csr(sp.csr_array(rows.dense))
        numbers = self.stored_numbers_
        stored = from_csr(numbers) if stored_sparse else from_dense(numbers, self.stored_symbols_)
        return vote_of_store(stored, self.stored_codes_, len(self.classes_), rows, self.n_neighbors_, self._rule())

    def _keep(self, rows: RowArrays, codes: np.ndarray) -> None:
        sparse = len(rows.indptr) > 1
        self.stored_numbers_ = as_csr(rows, self.n_features_in_) if sparse else rows.dense
        self.stored_symbols_ = rows.categorical
        self.stored_codes_ = np.require(codes, dtype=np.int32, requirements=["C", "W"])

    def _labels(self, y: Any, n: int) -> Labels:
        labels = labels_of(y, n, model_name=type(self).__name__)
        self.classes_ = labels.classes
        return labels

    def _choose_k(self, rows: RowArrays, codes: np.ndarray, least: int = 1) -> int:
        if self.n_neighbors != "cv":
            return int(self.n_neighbors)
        return choose_k(rows, codes, len(self.classes_), self._rule(), least)

    def _check_state(self) -> None:
        # The kernels trust their arrays, so a file must not bring numbers that point outside.
        expected = len(self.stored_codes_), self.n_features_in_ - len(self.categorical_columns_)
        if self.stored_numbers_.shape != expected or not is_rising(self.categorical_columns_):
            raise DataError(f"{type(self).__name__}: the stored rows of the file do not agree with each other.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class Traceable:
    """Mixin of methods that label rows: where each label comes from.

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

    def lineage(self, row: int) -> tuple[int, ...]:
        """Return the rows that a row's label descends from.

        Parameters
        ----------
        row : int
            Row of the table of the fit.

        Returns
        -------
        tuple of int
            Its parent (the nearest voter for the label), the parent's parent, ... up to a row whose label was given; empty
            for a given label.
        """
        check_is_fitted(self)
        n = len(self.parent_)
        if not 0 <= row < n:
            raise DataError(f"{type(self).__name__}: row must be one of the {counted(n, 'row')} of the fit, got {row}.")
        lineage: list[int] = []
        parent = int(self.parent_[row])
        while parent >= 0 and len(lineage) < n:  # a file may bring a circle
            lineage.append(parent)
            parent = int(self.parent_[parent])
        return tuple(lineage)

    def _trace(self) -> None:
        self.origin_ = np.arange(len(self.parent_))
        for i in np.argsort(self._age(), kind="stable"):
            if self.parent_[i] >= 0:
                self.origin_[i] = self.origin_[self.parent_[i]]

    def _age(self) -> np.ndarray:
        """Return a number for every row that is smaller for a parent than for its children; here children are unlabeled."""
        return (self.parent_ >= 0).astype(np.int64)
