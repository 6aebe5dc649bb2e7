"""Tables from files of any kind, with the kind of each column told by plain rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from handful.core.errors import DataError, FormatError, MissingColumnError, ParameterError
from handful.core.records import Kind, Table
from handful.corpora.formats import format_named, format_of
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, Source, as_source, bare_stem
from handful.corpora.tables.kinds import judge_columns
from handful.corpora.tables.labels import judge_labels

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 50_000
_WORKBOOKS = (".xlsx", ".xlsm")


def read_table(
    path: FilePath,
    target: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    unlabeled_marks: Sequence[str] = (),
    *,
    keep_labels: Collection[str] = (),
    as_they_stand: bool = False,
) -> Table:
    r"""Read a table of rows with named columns.

    Parameters
    ----------
    path : path-like
        Separated columns (commas, semicolons, tabs, bars), JSON lines, a JSON array, Parquet, Arrow or a workbook
        (.xlsx), told by content; gzip, bzip2 and xz are unpacked. ``-`` is the standard input.
    target : str or None
        Column of labels, see `handful.corpora.tables.judge_labels`.
    kinds : mapping of str to {"numeric", "nominal", "text"} or None
        Kinds of feature columns that override the rule below.
    unlabeled_marks : sequence of str
        Labels that mean unlabeled too, such as ``"todo"``.
    keep_labels : collection of str
        Labels that are such, though they look like marks for a missing label.
    as_they_stand : bool
        Whether ``?`` and the like are values and labels, and only plain numbers are numbers.

    Returns
    -------
    Table
        With one kind for each feature column, and notes.

    Raises
    ------
    FormatError
        If rows are ragged (``path:line:``), names come twice, the target is not there, or there are no rows.
    DataError
        If the labels are a quantity, see `judge_labels`.

    Notes
    -----
    A feature column is *numeric* if every cell is a number or missing (empty, ``?``, ``NA``, ``none`` and the like). A
    number may be an amount (``$1,250``), a percentage, have a decimal comma, be a range (``735-739``), a quantity with a
    unit (``36 months``, ``< 1 year``), a date or a time of day, if all cells of the column are of one form; such cells
    stay as they are, and `Table.forms` tells their form. Numbers with a leading zero are codes, which are names. Another
    column is *text* if its cells have three or more words on average and more than half of them differ; all else is
    *nominal*. There an empty cell, ``?``, ``NA``, ``N/A``, ``NaN`` and ``null`` are missing. Blanks around cells do
    not count. Infinite numbers stand in the table, count as missing wherever it is learned from, and are told in a note.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("size,color,share,label\n1.5,red,5%,1\n2,blue,7%,\n")
    >>> table = read_table(target, "label")
    >>> table.kinds, table.labels.tolist(), table.numeric().tolist()
    ({'size': 'numeric', 'color': 'nominal', 'share': 'numeric'}, [1, None], [[1.5, 5.0], [2.0, 7.0]])
    """
    import polars as pl

    source = as_source(path)
    frames = list(table_frames(source, bounded=True))
    frame = pl.concat(frames) if len(frames) > 1 else frames[0]
    return table_of(source, frame, target, kinds, unlabeled_marks, keep_labels=keep_labels, as_they_stand=as_they_stand)


def table_frames(path: FilePath, *, bounded: bool = False) -> Iterator[pl.DataFrame]:
    r"""Read a table piece by piece, as raw cells.

    Parameters
    ----------
    path : path-like
        As for `read_table`.
    bounded : bool
        Whether to refuse a table that is too large to be held in memory.

    Yields
    ------
    polars.DataFrame
        The next rows. Cells of text files are strings; others have types, which may differ between pieces of JSON lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("x,label\n1,a\n2,\n")
    >>> [frame.rows() for frame in table_frames(target)]
    [[('1', 'a'), ('2', '')]]
    """
    source = as_source(path)
    format = format_of(source) if source.head else format_named("delimited")
    if format.yields in ("sentences", "trees") and source.head.lstrip()[:1] in (b"{", b"["):
        raise FormatError(path, None, f"expected a table, got {format.yields} ({format.name}).")
    if source.suffix in _WORKBOOKS and format.name != "excel":
        raise FormatError(
            path, None, "expected a workbook, as its name says, got another kind of file. Save it again as one."
        )
    if format.yields != "table":
        # What is no table by its looks may be one by intent; reading it then tells the line of the trouble.
        format = format_named("delimited")
    frames: Iterator[pl.DataFrame] = format.read(source, bounded=bounded)
    return frames


def table_of(
    path: FilePath,
    frame: pl.DataFrame,
    target: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    unlabeled_marks: Sequence[str] = (),
    *,
    keep_labels: Collection[str] = (),
    as_they_stand: bool = False,
) -> Table:
    """Make a table of a frame of raw cells, by the rules of `read_table`.

    Parameters
    ----------
    path : path-like
        Where the cells came from, for errors and for the name of the table.
    frame : polars.DataFrame
        The cells.
    target, kinds, unlabeled_marks, keep_labels, as_they_stand
        As for `read_table`.

    Returns
    -------
    Table
        With one kind for each feature column.

    Examples
    --------
    >>> import polars as pl
    >>> table_of("a.csv", pl.DataFrame({"x": ["1", "?"], "label": ["a", ""]}), "label").kinds
    {'x': 'numeric'}
    """
    wanted = dict(kinds or {})
    _check_size(path, frame)
    _check_kinds(path, frame, target, wanted)
    features = frame.drop([] if target is None else target)
    judged = judge_columns(path, features, wanted, as_they_stand=as_they_stand)
    columns = [column.cells for column in judged]
    notes = [*(path.notes if isinstance(path, Source) else ()), *filter(None, (column.note for column in judged))]
    if target is not None:
        try:
            labels = judge_labels(frame[target], unlabeled_marks, keep_labels, as_they_stand=as_they_stand)
        except DataError as error:
            raise FormatError(path, None, str(error)) from None
        columns.append(labels.cells)
        notes.extend(labels.notes)
    return Table(
        frame.with_columns(columns),
        {column.cells.name: column.kind for column in judged},
        target,
        name=bare_stem(path),
        forms={column.cells.name: column.form for column in judged if column.form != "plain"},
        notes=tuple(notes),
    )


def _check_size(path: FilePath, frame: pl.DataFrame) -> None:
    if frame.width == 0:
        raise FormatError(path, None, "expected columns, got none.")
    if frame.width > _MOST_COLUMNS:  # each is looked at by itself
        told = f"expected at most {_MOST_COLUMNS:,} columns, got {frame.width:,}. Are rows and columns exchanged?"
        raise FormatError(path, None, told)
    if frame.height == 0:
        raise FormatError(path, None, "expected rows below the header, got none.")


def _check_kinds(path: FilePath, frame: pl.DataFrame, target: str | None, wanted: Mapping[str, Kind]) -> None:
    for name, kind in wanted.items():
        if kind not in get_args(Kind):
            raise ParameterError(
                f"columns: the kind of {shown(name)} must be one of {', '.join(get_args(Kind))}, or skip to leave it out, "
                f"got {shown(kind)}."
            )
        check_column(path, frame, name)
    if target is not None:
        check_column(path, frame, target)
        if target in wanted:
            raise ParameterError(f"read_table: kinds are for feature columns, got one for the target {shown(target)}.")


def check_column(path: FilePath, frame: pl.DataFrame, name: str) -> None:
    """Raise if a table has no such column, and say which one may have been meant.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    frame : polars.DataFrame
        Its rows.
    name : str
        The column.
    """
    if name in frame.columns:
        return
    close = get_close_matches(name, frame.columns, n=1) or [
        column for column in frame.columns if column.lower() == name.lower()
    ]
    names = ", ".join(map(shown, frame.columns[:10])) + (f" and {frame.width - 10:,} more" if frame.width > 10 else "")
    hint = f"Did you mean {shown(close[0])}? " if close else ""
    raise MissingColumnError(
        path, None, f"expected a column {shown(name)}, got none of that name. {hint}The columns are: {names}."
    )
