"""Columns that can teach nothing: empty ones, constants and identifiers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from typing import TYPE_CHECKING

from handful.core.records import Kind, Table

if TYPE_CHECKING:
    import polars as pl

_ID_NAME = re.compile(r"(.*[_\W])?(id|uid|uuid|guid)([_\W].*)?|.*[a-z0-9](ID|Id)|(.*[_\W])?(ID|Id)")
_NUMBER_NAME = re.compile(r"(.*[_\W])?(index|key|row|rownames|nr|no|number)|unnamed: 0")
_NEARLY_ALL = 0.95


def left_out(table: Table, chosen: Collection[str] = ()) -> dict[str, str]:
    """Return the columns that can teach nothing.

    Parameters
    ----------
    table : Table
        Rows with kinds.
    chosen : collection of str
        Columns whose kind the user gave; these stay, unless they are empty.

    Returns
    -------
    dict of str to str
        Names, each with the reason.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"x": [1, 2], "same": ["a", "a"], "empty": [None, None]})
    >>> left_out(Table(rows, {"x": "numeric", "same": "nominal", "empty": "numeric"}))
    {'same': 'it has the same value in all rows', 'empty': 'it is empty'}
    """
    reasons = {}
    for name, kind in table.kinds.items():
        cells = table.frame[name]
        n_filled = len(cells) - cells.null_count() - (int(cells.is_nan().sum()) if cells.dtype.is_float() else 0)
        if n_filled == 0:
            reasons[name] = "it is empty"
        elif name not in chosen:
            n_values = cells.drop_nulls().n_unique()
            if n_values == 1 and n_filled == len(cells):
                reasons[name] = "it has the same value in all rows"
            elif is_identifier(name, kind, cells, is_plain=name not in table.forms):
                reasons[name] = f"it looks like an identifier. Keep it with --columns {shlex.quote(f'{name}={kind}')}"
    return reasons


def is_identifier(name: str, kind: Kind, cells: pl.Series, *, is_plain: bool = True) -> bool:
    """Tell whether a column only names its rows.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "nominal", "text"}
        Its kind.
    cells : polars.Series
        Its cells.
    is_plain : bool
        Whether its numbers are written plainly; dates and amounts are no identifiers.

    Returns
    -------
    bool
        True for 20 or more filled cells that nearly all differ and are names, or whole numbers that run on in the order
        of the rows or whose column is called an id, a number or an index.

    Examples
    --------
    >>> import polars as pl
    >>> is_identifier("PassengerId", "numeric", pl.Series(range(1, 31))), is_identifier("x", "numeric", pl.Series([5] * 30))
    (True, False)
    """
    filled = cells.drop_nulls()
    n = len(filled)
    if kind == "text" or n < max(20, 0.9 * len(cells)) or not is_plain:
        return False
    n_values = filled.n_unique()
    is_called_id = _ID_NAME.fullmatch(name) is not None
    is_called_number = _NUMBER_NAME.fullmatch(name.lower()) is not None
    if kind == "nominal":
        return n_values >= _NEARLY_ALL * n
    if not filled.dtype.is_integer():
        return False
    if is_called_id or is_called_number:
        return n_values > (0.5 if is_called_id else _NEARLY_ALL) * n
    return n_values == n and bool((filled.diff().drop_nulls() == 1).all())
