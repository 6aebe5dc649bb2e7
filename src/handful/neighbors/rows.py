"""What neighbor classifiers share: stored rows, votes, provenance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import Labels, encode_labels
from handful.errors import DataError, ParameterError, counted
from handful.kernels import distances
from handful.kernels import distances as votes
from handful.kernels.distances import TILE, Heap, Metric, Rows, make_heap, row_keys, same_rows, update_heaps, vote_all
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, Kind, ListOf, Names, Number, Symbol, Text, is_rising, stored

Nominal = Literal["auto"] | list[Any] | tuple[Any, ...]
_FLOATS = [np.float64, np.float32]
_WILD = 100.0  # ratio of column ranges from which a table counts as unscaled


class ScalingWarning(UserWarning):
    """Columns have so different ranges that the widest alone decides what is near."""


def encode_rows(model: Any, X: Any, *, reset: bool) -> Rows:
    """Check a table and encode it, remembering in the model what a later table must look like.

    Parameters
    ----------
    model : estimator
        Has a parameter ``nominal``; receives ``nominal_columns_``, ``nominal_values_``, ``n_features_in_`` and, for a
        data frame, ``feature_names_in_``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    reset : bool
        True in ``fit``, False afterwards.

    Returns
    -------
    Rows
        Numbers as float32 if they came so, else float64; nominal columns as codes, -1 for a value not seen in ``fit``.
    """
    rows = _encode(model, type(model).__name__, X, reset)
    _check_range(model, rows)
    return rows


def _check_range(model: Any, rows: Rows) -> None:
    """Refuse values whose distances overflow: infinite distances all look alike."""
    power = max(model.p, 2.0) if model.metric == "minkowski" else 2.0
    limit = 0.5 * (1e300 / max(model.n_features_in_, 1)) ** (1.0 / power)
    largest = max(float(np.abs(part).max(initial=0.0)) for part in (rows.dense, rows.data))
    if largest > limit:
        raise DataError(
            f"{type(model).__name__}: a value of {largest:.3g} is too large: distances overflow above {limit:.1g}. "
            "Scale the features first, for example with sklearn.preprocessing.StandardScaler."
        )


def _encode(model: Any, who: str, X: Any, reset: bool) -> Rows:
    if sp.issparse(X):
        return _encode_sparse(model, who, X, reset)
    X = _as_table(X)
    nominal_columns = _nominal_columns(model, who, X) if reset else model.nominal_columns_
    if len(nominal_columns) == 0:
        if reset:
            _remember(model, who, X, nominal_columns)
        return dense_rows(_checked(model, who, X, reset))
    try:
        validate_data(model, X, skip_check_array=True, reset=reset)
        dense = _numeric_part(model, X, set(nominal_columns.tolist()))
    except ValueError as error:
        raise DataError(f"{who}: {error}") from None
    if reset:
        _remember(model, who, X, nominal_columns)
    return dense_rows(dense, _nominal_part(model, X))


def _encode_sparse(model: Any, who: str, X: Any, reset: bool) -> Rows:
    if reset:
        _remember(model, who, X, np.empty(0, dtype=np.int64))
    elif len(model.nominal_columns_):
        raise DataError(
            f"{who}: X must be dense, because the model was fitted on nominal columns, got a sparse matrix."
        )
    return sparse_rows(_checked(model, who, X, reset))


def _numeric_part(model: Any, X: Any, nominal_columns: set[int]) -> np.ndarray:
    columns = [_column(X, j) for j in range(X.shape[1]) if j not in nominal_columns]
    if not columns:
        return np.empty((X.shape[0], 0))
    kind = np.float32 if all(np.asarray(c).dtype == np.float32 for c in columns) else np.float64
    dense = np.column_stack([np.asarray(c, dtype=kind) for c in columns])
    return np.asarray(check_array(dense, dtype=_FLOATS, estimator=model, input_name="X"))


def _nominal_part(model: Any, X: Any) -> np.ndarray:
    nominal = np.empty((X.shape[0], len(model.nominal_columns_)), dtype=np.int32)
    for q, (j, values) in enumerate(zip(model.nominal_columns_, model.nominal_values_, strict=True)):
        code = {value: c for c, value in enumerate(values)}
        nominal[:, q] = [code.get(symbol, -1) for symbol in _symbols(_column(X, j))]
    return nominal


def dense_rows(dense: np.ndarray, nominal: np.ndarray | None = None) -> Rows:
    """Return rows of dense numbers and nominal codes.

    Examples
    --------
    >>> dense_rows(np.zeros((2, 3))).nominal.shape
    (2, 0)
    """
    nominal = np.empty((len(dense), 0), dtype=np.int32) if nominal is None else nominal
    return Rows(
        np.require(dense, requirements=["C", "W"]),
        np.require(nominal, requirements=["C", "W"]),
        np.zeros(1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=dense.dtype),
    )


def n_rows(rows: Rows) -> int:
    """Return the number of rows.

    Examples
    --------
    >>> n_rows(dense_rows(np.zeros((2, 3))))
    2
    """
    return len(rows.dense)


def take(rows: Rows, ids: np.ndarray) -> Rows:
    """Return some of the rows, in the order asked for.

    Examples
    --------
    >>> take(dense_rows(np.arange(3.0)[:, None]), np.array([2, 0])).dense.ravel().tolist()
    [2.0, 0.0]
    """
    if len(rows.indptr) == 1:
        return dense_rows(rows.dense[ids], rows.nominal[ids])
    return sparse_rows(as_csr(rows, 1 + int(rows.indices.max(initial=0)))[ids])


def as_csr(rows: Rows, n_features: int) -> sp.csr_array:
    """Return sparse rows as a matrix."""
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(n_rows(rows), n_features))


def same_type(a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Return two tables with numbers of one type, float64 if they differ, so that one compiled kernel serves them."""
    if a.dense.dtype == b.dense.dtype:
        return a, b
    return _as_float64(a), _as_float64(b)


def distinct(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Find identical rows.

    Parameters
    ----------
    rows : Rows
        A table.

    Returns
    -------
    first : ndarray of int64
        One row number for each distinct row.
    which : ndarray of int64, shape (n_rows,)
        Position in `first` of each row.

    Examples
    --------
    >>> first, which = distinct(dense_rows(np.array([[1.0], [2.0], [1.0]])))
    >>> len(first), bool(which[0] == which[2])
    (2, True)
    """
    n = n_rows(rows)
    bits = np.uint32 if rows.dense.dtype == np.float32 else np.uint64
    # Adding 0 turns a negative zero into zero.
    keys = row_keys(
        n, (rows.dense + 0).view(bits), rows.nominal, rows.indptr, rows.indices, (rows.data + 0).view(bits)
    )  # fmt: skip
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == n or not same_rows(rows, first[which]):  # unequal rows with equal keys: leave all rows apart
        return np.arange(n), np.arange(n)
    return first, which


def warn_if_unscaled(model: Any, rows: Rows) -> None:
    """Warn where the ranges of numeric columns differ so much that the widest decides alone."""
    if n_rows(rows) < 2 or rows.dense.shape[1] == 0:
        return
    ranges = np.ptp(rows.dense, axis=0).astype(np.float64)
    ranges = ranges[ranges > 0]
    if rows.nominal.shape[1]:
        ranges = np.append(ranges, 1.0)
    if len(ranges) > 1 and ranges.max() > _WILD * ranges.min():
        who = type(model).__name__
        warnings.warn(
            f"{who}: ranges of columns should be alike, got {ranges.min():.3g} to {ranges.max():.3g}, so that the widest "
            f"columns alone decide what is near. Scale them: make_pipeline(StandardScaler(), {who}(...)).",
            ScalingWarning,
            stacklevel=3,
        )


def _remember(model: Any, who: str, X: Any, nominal: np.ndarray) -> None:
    if sp.issparse(X) and model.nominal != "auto" and len(model.nominal):
        raise DataError(f"{who}: nominal columns must be dense, got a sparse matrix. Pass an array or a data frame.")
    model.nominal_columns_ = nominal
    model.nominal_values_ = [list(dict.fromkeys(_symbols(_column(X, j)))) for j in nominal]


def _checked(model: Any, who: str, X: Any, reset: bool) -> Any:
    try:
        return validate_data(model, X, accept_sparse="csr", dtype=_FLOATS, order="C", reset=reset)
    except ValueError as error:
        raise DataError(f"{who}: {error}") from None


def _as_table(X: Any) -> Any:
    """Return a data frame as it is, anything else as an array that keeps numbers next to strings."""
    if hasattr(X, "columns") or hasattr(X, "__array_namespace__"):
        return X
    table = np.asarray(X)
    return np.array(X, dtype=object) if table.dtype.kind in "US" and not isinstance(X, np.ndarray) else table


def _column(X: Any, j: int) -> Any:
    return X[X.columns[j]] if hasattr(X, "columns") else X[:, j]


def _nominal_columns(model: Any, who: str, X: Any) -> np.ndarray:
    if getattr(X, "ndim", 2) != 2 or len(getattr(X, "shape", ())) != 2:
        return np.empty(0, dtype=np.int64)  # the check of the numbers will tell
    if model.nominal != "auto":
        names = list(X.columns) if hasattr(X, "columns") else list(range(X.shape[1]))
        return np.array(sorted(_position(who, names, name) for name in model.nominal), dtype=np.int64)
    if isinstance(X, np.ndarray) and X.dtype.kind not in "USO":
        return np.empty(0, dtype=np.int64)
    return np.array([j for j in range(X.shape[1]) if _is_nominal(_column(X, j))], dtype=np.int64)


def _position(who: str, names: Sequence[Any], name: Any) -> int:
    if name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ParameterError(f"{who}: nominal must name columns of X, got {name!r}. The columns are: {str(names)[:80]}.")


def _is_nominal(column: Any) -> bool:
    if str(getattr(column, "dtype", "")).lower().startswith(("categor", "enum")):
        return True
    values = np.asarray(column)
    if values.dtype.kind == "O":
        return any(isinstance(value, str) for value in values)
    return values.dtype.kind in "USTmM"


def _symbols(column: Any) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()
    return [value if type(value) is str else _symbol(value) for value in values]


def _symbol(value: Any) -> Any:
    """Return one value of a nominal column as a string or a number; everything that is missing is None."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float):
        return None if value != value else value
    return str(value)


def sparse_rows(matrix: Any) -> Rows:
    """Return the rows of a CSR matrix.

    Examples
    --------
    >>> sparse_rows(sp.csr_array([[0.0, 2.0]])).indices.tolist()
    [1]
    """
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    n = matrix.shape[0]
    return Rows(
        np.empty((n, 0), dtype=matrix.data.dtype),
        np.empty((n, 0), dtype=np.int32),
        np.require(matrix.indptr, dtype=np.int64, requirements=["C", "W"]),
        np.require(matrix.indices, dtype=np.int32, requirements=["C", "W"]),
        np.require(matrix.data, requirements=["C", "W"]),
    )


def _as_float64(rows: Rows) -> Rows:
    return rows._replace(dense=rows.dense.astype(np.float64), data=rows.data.astype(np.float64))


Vote = Literal["uniform", "distance", "gaussian", "rank", "dudani", "literal", "exponential"]
Ties = Literal["first", "all"]
MetricName = Literal["euclidean", "manhattan", "chebyshev", "minkowski"]

K_GRID = (1, 3, 5, 7, 9, 11, 15)
N_FOLDS = 5
_CHUNK = 4096
_CHUNK_CELLS = 1 << 24


@dataclass(frozen=True)
class Rule:
    """Who votes and with what weight, as the kernels take it.

    Examples
    --------
    >>> Rule.of("manhattan", 2.0, "rank", "all").all_ties
    True
    """

    metric: Metric
    vote: int
    all_ties: bool

    @classmethod
    def of(cls, metric: MetricName, p: float, vote: Vote, ties: Ties) -> Rule:
        """Build from the names of the options."""
        return cls(Metric(getattr(distances, metric.upper()), float(p)), getattr(votes, vote.upper()), ties == "all")


class Answer(NamedTuple):
    """What a store answers: for each row the winning code, its nearest voter's position, and all shares."""

    codes: np.ndarray
    positions: np.ndarray
    shares: np.ndarray


def look(stored: Rows, codes: np.ndarray, n_labels: int, rows: Rows, k: int, rule: Rule) -> Heap:
    """Find the `k` nearest stored rows (or distances) of every row."""
    n, n_stored = n_rows(rows), n_rows(stored)
    near = make_heap(n, min(k, n_stored), n_labels, rule.all_ties)
    n_tiles = (n + TILE - 1) // TILE
    dense = np.zeros((n_tiles, rows.dense.shape[1], TILE))
    nominal = np.zeros((n_tiles, rows.nominal.shape[1], TILE), dtype=np.int32)
    update_heaps(
        stored, np.arange(n_stored), codes, n_stored, rows, np.arange(n), np.zeros(n, dtype=np.int64), dense, nominal,
        near, rule.metric, rule.all_ties,
    )  # fmt: skip
    return near


def ask(stored: Rows, codes: np.ndarray, n_labels: int, rows: Rows, k: int, rule: Rule) -> Answer:
    """Let the stored rows vote on other rows.

    Parameters
    ----------
    stored : Rows
        The store, in the order of storing; not empty.
    codes : ndarray of int32
        Their codes.
    n_labels : int
        Number of labels.
    rows : Rows
        The rows in question; identical ones are asked once.
    k : int
        Number of neighbors, or of distinct distances.
    rule : Rule
        Who votes and how.

    Returns
    -------
    Answer
        One entry for each row.
    """
    stored, rows = same_type(stored, rows)
    first, which = distinct(rows)
    if len(first) < n_rows(rows):
        rows = take(rows, first)
    cells = min(k, n_rows(stored)) * (n_labels if rule.all_ties else 1)
    chunk = max(TILE, min(_CHUNK, _CHUNK_CELLS // cells))
    parts = []
    for start in range(0, len(first), chunk):
        part = take(rows, np.arange(start, min(start + chunk, len(first))))
        near = look(stored, codes, n_labels, part, k, rule)
        parts.append(vote_all(near, near.distance.shape[1], codes, n_labels, rule.vote, rule.all_ties))
    if not parts:
        return Answer(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, n_labels)))
    return Answer(*(np.concatenate(column)[which] for column in zip(*parts, strict=True)))


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


def choose_k(rows: Rows, codes: np.ndarray, n_labels: int, rule: Rule, least: int = 1) -> int:
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

    Notes
    -----
    Folds need no random numbers: rows sorted by label are dealt out in turn, so every fold has its share of each label.
    """
    grid = [k for k in K_GRID if k >= least]
    n_folds = min(N_FOLDS, len(codes))
    if n_folds < 2:
        return grid[0]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % n_folds
    correct = np.zeros(len(grid), dtype=np.int64)
    for f in range(n_folds):
        inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        kept_codes = codes[inside]
        stored = take(rows, inside)
        for start in range(0, len(outside), _CHUNK):
            asked = outside[start : start + _CHUNK]
            near = look(stored, kept_codes, n_labels, take(rows, asked), grid[-1], rule)
            for g, k in enumerate(grid):
                width = min(k, near.distance.shape[1])
                winners, _, _ = vote_all(near, width, kept_codes, n_labels, rule.vote, rule.all_ties)
                correct[g] += np.count_nonzero(winners == codes[asked])
    return grid[int(correct.argmax())]


def labels_of(y: Any, n: int, *, who: str) -> Labels:
    """Encode the labels of `n` rows; a column of labels is taken with scikit-learn's warning."""
    if y is None:
        raise DataError(f"{who}: fit requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected by {who}. Pass y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    labels = encode_labels(y, who=who)
    if len(labels.codes) != n:
        raise DataError(f"{who}: X and y must have the same number of rows, got {n} and {len(labels.codes)}.")
    return labels


class StoredRowsClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers whose fitted state is a list of stored rows with labels.

    A subclass fits, calls `_keep`, and has the parameters ``n_neighbors``, ``vote``, ``metric``, ``p`` and ``nominal``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.
    stored_numbers_ : ndarray or csr_array
        Numeric columns of the stored rows.
    stored_symbols_ : ndarray of int32
        Nominal columns of the stored rows, as positions in ``nominal_values_``.
    stored_codes_ : ndarray of int32
        Labels of the stored rows, as positions in ``classes_``.
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        n_neighbors_=Number(int, low=1),
        nominal_columns_=Array("i8", "c?", below="d"),
        nominal_values_=ListOf(ListOf(Symbol()), "c?"),
        stored_numbers_=Array("f8 f4", "s", "_", sparse=True),
        stored_symbols_=Array("i4", "s", "c?", low=-2),
        stored_codes_=Array("i4", "s", below="k"),
        n_iter_=Number(int, low=0),
        termination_condition_=Text(),
    )

    n_neighbors: Any
    vote: Vote
    metric: MetricName
    p: float
    nominal: Nominal

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
        codes = self._ask(X).codes
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes that each label gets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, in the order of ``classes_``; each row sums to 1. In a tied vote the predicted label's share is larger
            by one unit in the last place, so that the largest share is always that of the predicted label.
        """
        answer = self._ask(X)
        return favor_winners(answer.shares, answer.codes)

    def _ties(self) -> Ties:
        return getattr(self, "ties", "first")

    def _rule(self) -> Rule:
        return Rule.of(self.metric, self.p, self.vote, self._ties())

    def _encode(self, X: Any) -> Rows:
        """Check new rows and give them the form, dense or sparse, of the stored ones."""
        check_is_fitted(self)
        rows = encode_rows(self, X, reset=False)
        sparse = len(rows.indptr) > 1
        if sparse and not sp.issparse(self.stored_numbers_):
            return dense_rows(as_csr(rows, self.n_features_in_).toarray())
        if not sparse and sp.issparse(self.stored_numbers_):
            return sparse_rows(sp.csr_array(rows.dense))
        return rows

    def _ask(self, X: Any) -> Answer:
        rows = self._encode(X)
        return ask(self._stored(), self.stored_codes_, len(self.classes_), rows, self.n_neighbors_, self._rule())

    def _keep(self, rows: Rows, codes: np.ndarray) -> None:
        sparse = len(rows.indptr) > 1
        self.stored_numbers_ = as_csr(rows, self.n_features_in_) if sparse else rows.dense
        self.stored_symbols_ = rows.nominal
        self.stored_codes_ = np.require(codes, dtype=np.int32, requirements=["C", "W"])

    def _stored(self) -> Rows:
        if sp.issparse(self.stored_numbers_):
            return sparse_rows(self.stored_numbers_)
        return dense_rows(self.stored_numbers_, self.stored_symbols_)

    def _labels(self, y: Any, n: int) -> Labels:
        labels = labels_of(y, n, who=type(self).__name__)
        self.classes_ = labels.classes
        return labels

    def _choose_k(self, rows: Rows, codes: np.ndarray, least: int = 1) -> int:
        if self.n_neighbors != "cv":
            return int(self.n_neighbors)
        return choose_k(rows, codes, len(self.classes_), self._rule(), least)

    def _check_state(self) -> None:
        # The kernels trust their arrays, so a file must not bring numbers that point outside.
        who = type(self).__name__
        codes, numbers = self.stored_codes_, self.stored_numbers_
        fine = numbers.shape == (len(codes), self.n_features_in_ - len(self.nominal_columns_)) and is_rising(
            self.nominal_columns_
        )
        if not fine:
            raise DataError(f"{who}: the stored rows must agree with each other, but those of the file do not.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


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

    def _trace(self) -> None:
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
