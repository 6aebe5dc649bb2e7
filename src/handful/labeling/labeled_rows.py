"""Rows and labels as they are given: apart, or with the labels as a column of a data frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from handful.core.errors import DataError, ParameterError
from handful.corpora.tables import as_integers
from handful.features.frames import as_frame


def rows_and_labels(X: Any, y: Any, *, who: str) -> tuple[Any, Any]:
    """Return rows without the column of their labels, and the labels.

    Parameters
    ----------
    X : data frame, dict of columns, array, sparse matrix, or list of str
        Rows.
    y : array-like, str or None
        Labels, or the name of the column of `X` that holds them. A series that is a column of `X` names it, too.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    rows, labels
        As they were given, but for the column; labels may be None.

    Raises
    ------
    ParameterError
        If there is no such column.
    DataError
        If there is no row.

    Examples
    --------
    >>> rows, labels = rows_and_labels({"width": [1.0, 2.0], "kind": ["a", "b"]}, "kind", who="next_rows")
    >>> rows.columns, labels.to_list()
    (['width'], ['a', 'b'])
    """
    if isinstance(X, Mapping) or hasattr(X, "collect"):  # the latter is a lazy frame
        X = as_frame(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if not n_rows:
        raise DataError(f"{who}: at least one row is needed, got none.")
    names = list(X.columns) if hasattr(X, "columns") else []
    if isinstance(y, str):
        if y not in names:
            raise ParameterError(f"{who}: y must name a column of X, got {y!r}.{_hint(y, names)}")
        return X[[name for name in names if name != y]], _column_labels(X, y)
    if names.count(getattr(y, "name", None)) == 1 and _cells(X[y.name]) == _cells(y):
        return X[[name for name in names if name != y.name]], y
    return X, y


def _hint(name: str, names: list[Any]) -> str:
    if not names:
        return " Only data frames have columns with names: give the labels themselves."
    texts = list(map(str, names))
    near = [text for text in texts if text.lower() == name.lower()] or get_close_matches(name, texts, n=1)
    return f" Did you mean {near[0]!r}?" if near else f" Its columns are {', '.join(texts[:10])}."


def _cells(column: Any) -> list[str]:
    return list(map(str, column.to_list() if hasattr(column, "to_list") else column))


def _column_labels(X: Any, name: str) -> Any:
    """Return the labels of a column of a data frame; -1 is a class where other cells are empty, as in a file."""
    import polars as pl

    cells = as_frame(X[[name]])[name]
    cells = as_integers(cells.fill_nan(None) if cells.dtype.is_float() else cells)
    if not (cells.dtype.is_integer() and cells.null_count() and (cells == -1).any()):
        return X[name]
    warnings.warn(
        f"column {name!r}: -1 counts as a class, since unlabeled cells are empty. Leave such cells empty too, if it means none.",
        UserWarning,
        stacklevel=4,
    )
    return cells.cast(pl.String).to_list()
