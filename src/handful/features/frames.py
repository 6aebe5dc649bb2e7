"""Rows of any kind as a polars frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_WIDEST_SPARSE = 5_000


def as_frame(X: Any) -> pl.DataFrame:
    """Return rows of any kind as a polars frame.

    Parameters
    ----------
    X : polars or pandas DataFrame, dict of columns, array of shape (n_rows, n_columns), sparse matrix, or list of texts
        Columns of an array are called ``x0``, ``x1`` and so on; that of a list of texts, ``text``.

    Returns
    -------
    polars.DataFrame
        The same rows.

    Examples
    --------
    >>> as_frame([[1.0, 2.0]]).columns, as_frame(["a good film"]).columns
    (['x0', 'x1'], ['text'])
    """
    import polars as pl

    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, pl.LazyFrame):
        return X.collect()
    if isinstance(X, Mapping):
        return pl.DataFrame(dict(X))
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        names = [str(name) for name in X.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"X: columns must have different names, got {twice!r} twice. Rename one.")
        return pl.DataFrame({str(name): _plain(X[name]) for name in X.columns})
    if hasattr(X, "tocsr"):
        return _array_frame(_dense(X))
    if isinstance(X, str):
        raise DataError("X: rows are needed, got one text. Give a list of texts: [text].")
    if are_texts(X):
        return pl.DataFrame({"text": [cell if isinstance(cell, str) else None for cell in X]})
    return _array_frame(np.asarray(X))


def _dense(X: Any) -> np.ndarray:
    if X.shape[1] > _WIDEST_SPARSE:
        raise DataError(
            f"X: a sparse matrix must have at most {_WIDEST_SPARSE:,} columns, got {X.shape[1]:,}. "
            "Give the texts themselves, or reduce it (TruncatedSVD)."
        )
    return np.asarray(X.toarray())


def _array_frame(values: np.ndarray) -> pl.DataFrame:
    import polars as pl

    if values.ndim != 2:
        raise DataError(f"X: rows must have two dimensions, got shape {values.shape}.")
    return pl.DataFrame({f"x{number}": _plain(values[:, number]) for number in range(values.shape[1])})


def are_texts(X: Any) -> bool:
    """Tell whether rows are a list (or array, or series) of texts, of which some may be missing.

    Examples
    --------
    >>> are_texts(["a good film", None]), are_texts([["a", "b"]])
    (True, False)
    """
    listed = isinstance(X, list | tuple) or (type(X).__name__ in ("ndarray", "Series") and X.ndim == 1)
    return listed and any(isinstance(cell, str) for cell in X) and all(map(_is_text_or_missing, X))


def _is_text_or_missing(cell: Any) -> bool:
    return isinstance(cell, str) or cell is None or (isinstance(cell, float) and cell != cell)


def frame_like(X: Any, columns: Collection[str]) -> pl.DataFrame:
    """Return rows as a frame, by their place where `columns` are those of an array, which has no names.

    Parameters
    ----------
    X : as for `as_frame`
        Rows.
    columns : collection of str
        Columns that a model was trained on.

    Returns
    -------
    polars.DataFrame
        The same rows.

    Raises
    ------
    DataError
        If the rows have no names of columns, but those that a model was trained on had.

    Examples
    --------
    >>> frame_like({"width": [1.0], "height": [2.0]}, ["x0", "x1"]).columns
    ['x0', 'x1']
    """
    frame = as_frame(X)
    places = [int(name[1:]) for name in columns if name[:1] == "x" and name[1:].isdecimal()]
    if set(columns) <= set(frame.columns):
        return frame
    if len(places) < len(columns) and not (hasattr(X, "columns") or isinstance(X, Mapping)):
        told = ", ".join(map(repr, list(columns)[:5])) + (", ..." if len(columns) > 5 else "")
        raise DataError(
            f"X: the rows must have the columns that the model was trained on ({told}), got rows without names of columns. "
            "Give a data frame, or a dict of columns."
        )
    if len(places) < len(columns) or frame.width != max(places) + 1:
        return frame
    return frame.rename({name: f"x{place}" for place, name in enumerate(frame.columns)})


def one_row(row: Any, columns: list[str]) -> pl.DataFrame:
    """Return one row, in whatever form it comes, as a frame; the values of a list are those of the columns, in their order.

    Examples
    --------
    >>> one_row({"size": 1.5}, ["size"]).shape, one_row([1.0, 2.0], ["x0", "x1"]).columns
    ((1, 1), ['x0', 'x1'])
    """
    if isinstance(row, str):
        row = [row]
    if hasattr(row, "index") and hasattr(row, "iloc") and not hasattr(row, "columns"):  # a row of a pandas frame
        row = dict(zip(map(str, row.index), row.tolist(), strict=True))
    if isinstance(row, Mapping):
        return as_frame({name: [cell] for name, cell in row.items()})
    if not hasattr(row, "columns") and not hasattr(row, "tocsr") and np.ndim(row) == 1:
        if len(row) != len(columns):
            raise DataError(
                f"explain: a row must have a value for each of the {counted(len(columns), 'column')} that the model was trained on "
                f"({', '.join(columns[:5])}{', ...' if len(columns) > 5 else ''}), got {len(row)}."
            )
        return as_frame({name: [cell] for name, cell in zip(columns, row, strict=True)})
    return as_frame(row)


def _plain(column: Any) -> Any:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    cells = column.tolist() if hasattr(column, "tolist") else list(column)
    return [None if cell is None or cell != cell or type(cell).__name__ == "NAType" else str(cell) for cell in cells]
