"""Tables as they stand in files, for commands that hand them back with labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import say
from handful.cli.tables import refuse_skipped_target
from handful.core.errors import DataError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from handful.cli.options import Reading
    from handful.core.records import Kind, Table
    from handful.corpora.formats.delimited_writing import Manner

_DECIMAL_COMMA = r"^[+-]?[0-9][0-9.]*(,[0-9]+)?$"
_ENCODINGS = {"cp1252": "Windows-1252"}
_LONG_NUMBER = "^[+-]?[0-9]{16,}$"  # spreadsheets keep 15 digits


def read_cells(path: Path) -> pl.DataFrame:
    """Read a whole table as raw cells, so that it can be written again as it was."""
    import polars as pl

    from handful.corpora.tables import table_frames

    return pl.concat(list(table_frames(path)), how="diagonal_relaxed")


def with_target(path: Path, cells: pl.DataFrame, target: str) -> tuple[pl.DataFrame, bool]:
    """Return the cells with a label column, and whether it had to be added.

    A name near that of another column is taken for a slip of the pen.
    """
    import polars as pl

    from handful.corpora.tables import table_of

    if target in cells.columns:
        return cells, False
    if not target.strip():
        raise ParameterError("--target: must be the name of a column, got an empty one.")
    from difflib import get_close_matches

    if get_close_matches(target, cells.columns, n=1) or target.lower() in [name.lower() for name in cells.columns]:
        table_of(path, cells, target)  # says which column may have been meant
    return cells.with_columns(pl.lit(None, dtype=pl.String).alias(target)), True


def as_table(path: Path, cells: pl.DataFrame, target: str, reading: Reading) -> tuple[Table, dict[str, Kind]]:
    """Return the table that raw cells are, and the feature columns worth using; tell what was seen in it."""
    from handful.corpora.tables import left_out, none_tells, table_of
    from handful.labeling.space import telling_columns

    chosen = dict(reading.columns or {})
    refuse_skipped_target(chosen, target)
    unknown = next((name for name in chosen if name not in cells.columns), None)
    if unknown is not None:
        raise ParameterError(f"--columns: must name columns of {path}, got {unknown!r}.")
    kinds: Any = {name: kind for name, kind in chosen.items() if kind != "skip"}
    skipped = chosen.keys() - kinds.keys()
    marks = [] if reading.unlabeled_mark is None else [reading.unlabeled_mark]
    table = table_of(path, cells.drop(skipped), target, kinds, marks, keep_labels=reading.keep_label)
    telling = telling_columns(table, tuple(kinds))
    if not telling:
        raise DataError(f"{path}: {none_tells(target, left_out(table, tuple(kinds)))}")
    for note in table.notes:
        say(note, stderr=True)
    return table, telling


def check_table_name(output: Path) -> None:
    """Refuse a name that tells no kind of table."""
    from handful.corpora.opening import bare_suffix

    if bare_suffix(output) not in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx"):
        raise click.UsageError(f"{output}: the name of the output must end in .csv, .tsv, .jsonl, .parquet or .xlsx.")


def write_cells(output: Path, frames: Iterable[pl.DataFrame], like: Path | None = None) -> None:
    """Write a table, whole or not at all, in the manner of the file it is made from.

    A CSV file gets its separator, decimal commas, line ends, encoding and byte order mark; a workbook has numbers and dates
    where the file has them. Text that the encoding cannot hold makes it UTF-8, which a note tells.
    """
    import polars as pl

    from handful.corpora.formats.delimited_writing import write_like
    from handful.corpora.opening import bare_suffix
    from handful.corpora.tables import write_frames

    suffix = bare_suffix(output)
    # An empty cell stays empty, without quotes.
    cells = (frame.with_columns(pl.col(pl.String).replace({"": None})) for frame in frames)
    if suffix == ".xlsx":
        write_frames(output, [_typed(pl.concat(list(cells), how="vertical_relaxed"), like)])
    elif suffix not in (".csv", ".tsv"):
        write_frames(output, frames)
    else:
        manner = _manner(like)
        if suffix == ".tsv":
            manner = manner._replace(separator="\t")
        missing = write_like(output, cells, manner)
        if missing is not None:
            name = _ENCODINGS.get(manner.encoding, manner.encoding)
            say(
                f"{output}: is written in UTF-8 with a byte order mark, for {name}, in which {like} is written, has no "
                f"{missing!r}.",
                stderr=True,
                style="yellow",
            )


def _typed(frame: pl.DataFrame, like: Path | None) -> pl.DataFrame:
    """Turn texts into the numbers and dates that they are in a workbook, or look like in another file."""
    import polars as pl

    from handful.corpora.formats.excel import cell_types, retyped
    from handful.corpora.opening import bare_suffix
    from handful.corpora.tables.kinds import judge_columns

    texts = frame.select(pl.col(pl.String))
    if like is not None and bare_suffix(like) == ".xlsx":
        types = cell_types(like)
        return frame.with_columns(retyped(cells, types[cells.name]) for cells in texts if cells.name in types)
    typed = []
    for column in judge_columns("", texts, {}):
        cells = texts[column.cells.name]
        if column.form == "decimal comma" and cells.drop_nulls().str.contains(_DECIMAL_COMMA).all():
            plain = cells.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
            typed.append(plain.cast(pl.Float64))
        elif column.form == "date":
            typed.append(retyped(cells, pl.Datetime))
        elif column.cells.dtype.is_numeric() and not cells.str.contains(_LONG_NUMBER).any():
            typed.append(retyped(cells, column.cells.dtype))
    return frame.with_columns(typed)


def _manner(like: Path | None) -> Manner:
    from handful.corpora.formats.delimited_writing import Manner, manner_of
    from handful.corpora.opening import Source, bare_suffix

    if like is None or bare_suffix(like) not in (".csv", ".tsv") or not like.is_file():
        return Manner()
    return manner_of(Source(like))
