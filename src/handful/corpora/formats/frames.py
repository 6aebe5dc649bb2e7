"""Limits of tables, and columns of plain values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from handful.core.errors import FormatError
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, open_bytes

if TYPE_CHECKING:
    import polars as pl

MAX_TABLE = 2**31
"""Characters (or bytes of a binary table) that are too much for a table, which is held in memory."""

MAX_CELLS = 2 * 10**8
"""Cells that are too many."""

BATCH = 2**15
"""Rows of a frame, about."""


def refuse_size(path: FilePath, number: int | None, limit: str) -> NoReturn:
    """Raise because a table is too large."""
    raise FormatError(path, number, f"expected a table of at most {limit}, got more.")


def read_bounded(path: FilePath) -> bytes:
    """Return the bytes of a file that must be held in memory as a whole."""
    with open_bytes(path) as file:
        data = file.read(MAX_TABLE + 1)
    if len(data) > MAX_TABLE:
        refuse_size(path, None, f"{MAX_TABLE:,} bytes")
    return data


def refuse_nested(path: FilePath, schema: Any) -> None:
    """Raise if a column of a typed table holds lists, structures or raw bytes."""
    import polars as pl

    for name, dtype in schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
            raise FormatError(path, None, f"expected plain values in column {shown(name)}, got {dtype}.")


def series_of(name: str, values: list[Any]) -> pl.Series:
    """Return values out of JSON as a column: truth values, integers, floats, or else strings.

    Examples
    --------
    >>> series_of("x", [1, None, 2.5]).to_list(), series_of("y", ["a", 3]).to_list()
    ([1.0, None, 2.5], ['a', '3'])
    """
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(map(_fits, values)):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, list(map(_as_float, values)), dtype=pl.Float64)
    return pl.Series(name, list(map(_as_text, values)), dtype=pl.String)


def _fits(value: int | None) -> bool:
    return value is None or abs(value) < 2**63


def _as_float(value: float | None) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
