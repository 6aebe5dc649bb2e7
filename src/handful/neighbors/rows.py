"""Tables of any kind (dense, CSR, data frame, with nominal columns) as the rows that the kernels take."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from handful.core.errors import DataError, ParameterError
from handful.kernels.distances import Rows, row_keys, same_rows

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
    who = type(model).__name__
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
    """Return a data frame as it is, anything else as an array that keeps numbers beside strings."""
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
