"""Tables: rows with named columns and labels, from files and from memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from handful.data.checks import check_table, skip_uninformative
from handful.data.columns import ALIASES, MISSING, ColumnSpec, Kind, infer_columns, read_values
from handful.data.csv import refuse_width
from handful.data.files import FilePath, as_source, bare_stem, shown
from handful.data.formats import format_named, format_of
from handful.data.labels import MINUS_ONE, UNLABELED, Labels, encode_labels, merge_variants, read_labels, whole_numbers
from handful.errors import DataError, FormatError, MissingColumnError, Notice, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

MAX_LABELED = 50_000
"""Labeled rows that are kept where rows are sampled."""

_WORKBOOKS = (".xlsx", ".xlsm")
_ORDER, _KEY, _MINUS = "\0order", "\0key", "minus one"


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with named columns, and labels of some of them.

    Parameters
    ----------
    cells : polars.DataFrame
        All columns as in the file, the label column among them.
    columns : tuple of ColumnSpec
        How each feature column is read.
    labels : Labels, optional
        Labels of the rows.
    notices : tuple of Notice
        What a user should know about how the table was read.
    target : str, optional
        Name of the label column.
    name : str
        Name of the table.
    source : str
        The file it was read from.
    n_rows_read : int, optional
        Rows of the file, of which `cells` may hold a sample.

    Examples
    --------
    >>> import polars as pl
    >>> table = as_table(pl.DataFrame({"size": ["1.5", "2"], "kind": ["a", None]}), "kind")
    >>> table.values().rows(), table.labels.classes.tolist(), table.labels.codes.tolist()
    ([(1.5,), (2.0,)], ['a'], [0, -1])
    """

    cells: pl.DataFrame
    columns: tuple[ColumnSpec, ...]
    labels: Labels | None = None
    notices: tuple[Notice, ...] = ()
    target: str | None = None
    name: str = "table"
    source: str = ""
    n_rows_read: int | None = None

    def __len__(self) -> int:
        return self.cells.height

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each feature column that is used."""
        return {spec.name: spec.kind for spec in self.columns if spec.kind != "skip"}

    @property
    def codes(self) -> np.ndarray:
        """Class of each row, -1 where unlabeled."""
        return np.full(len(self), UNLABELED, dtype=np.int32) if self.labels is None else self.labels.codes

    @property
    def classes(self) -> np.ndarray:
        """The classes, sorted."""
        return np.zeros(0, dtype=str) if self.labels is None else self.labels.classes

    @property
    def labeled(self) -> np.ndarray:
        """Numbers of the rows that have a label."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def unlabeled(self) -> np.ndarray:
        """Numbers of the rows that have none."""
        return np.flatnonzero(self.codes < 0)

    @cached_property
    def _values(self) -> pl.DataFrame:
        return read_values(self.cells, self.columns)

    def values(self) -> pl.DataFrame:
        """Return the feature columns that are used as typed values; see `handful.data.columns.read_values`."""
        return self._values

    def numeric(self) -> np.ndarray:
        """Return the numeric columns as a float64 matrix; missing cells are NaN."""
        import polars.selectors as cs

        return self._values.select(cs.numeric().fill_null(float("nan"))).to_numpy()

    def with_labels(self, labels: Labels) -> Table:
        """Return the same rows with other labels."""
        return self._with(replace(self, labels=labels), None)

    def __getitem__(self, rows: Any) -> Table:
        """Return some rows, by their numbers."""
        rows = np.asarray(rows)
        rows = rows if rows.size else rows.astype(np.intp)  # an empty list is an array of floats
        labels = None if self.labels is None else Labels(self.labels.codes[rows], self.labels.classes)
        return self._with(replace(self, cells=self.cells[rows], labels=labels), rows)

    def _with(self, other: Table, rows: np.ndarray | None) -> Table:
        if "_values" in self.__dict__:  # typed once
            other.__dict__["_values"] = self._values if rows is None else self._values[rows]
        return other


def read_table(
    path: FilePath,
    target: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    missing_labels: Collection[str] = (),
    keep_labels: Collection[str] = (),
    max_unlabeled: int | None = None,
    seed: int = 0,
    decimal: str | None = None,
    dayfirst: bool | None = None,
) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path-like
        Separated columns (commas, semicolons, tabs, bars), JSON lines, a JSON array, Parquet or a workbook
        (.xlsx), recognized by content; gzip, bzip2 and xz are decompressed. ``-`` is the standard input.
    target : str, optional
        The label column, see `handful.data.labels.read_labels`.
    columns : mapping of str to {"numeric", "categorical", "datetime", "text", "skip"}, optional
        Kinds of columns; the others follow from their cells, see `handful.data.columns.infer_columns`.
    missing_labels, keep_labels : collection of str
        Cells of the label column that mean "no label", and cells that are labels although they look missing.
    max_unlabeled : int, optional
        Keep a random sample of that number of unlabeled rows (and of 50,000 labeled ones), in one pass and bounded memory.
    seed : int
        Seed of the sample.
    decimal : {".", ","}, optional
        Decimal sign of numbers.
    dayfirst : bool, optional
        Whether ``01/02/2020`` is the first of February.

    Returns
    -------
    Table
        Rows in the order of the file.

    Raises
    ------
    FormatError
        If rows differ in length (``path:line:``), names occur twice, or there are no rows.
    MissingColumnError
        If a column that is named is not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("size,color,share,label\n1.5,red,5%,1\n2,blue,7%,\n")
    >>> table = read_table(path, "label")
    >>> table.kinds, table.labels.codes.tolist(), table.numeric().tolist()
    ({'size': 'numeric', 'color': 'categorical', 'share': 'numeric'}, [0, -1], [[1.5, 5.0], [2.0, 7.0]])
    """
    import polars as pl

    source = as_source(path)
    source.names = frozenset([*(columns or {}), *([] if target is None else [target])])
    frames = _with_columns(source, table_frames(source, bounded=max_unlabeled is None), source.names)
    notices: list[Notice] = []
    if max_unlabeled is None or target is None:
        pieces = list(frames)
        cells = pl.concat(pieces, how="diagonal_relaxed") if len(pieces) > 1 else pieces[0]
        n_rows = cells.height
    else:
        missing = {*missing_labels, *MISSING} - {*keep_labels}
        missing |= MINUS_ONE if missing & MINUS_ONE else set()
        keeps_minus = bool(MINUS_ONE & {*keep_labels})
        cells, n_rows, notices = _sampled(frames, target, missing, keeps_minus, max_unlabeled, seed)
    notices += [Notice("file", note) for note in source.notes]
    try:
        labels = None
        if target is not None:
            labels, label_notices = read_labels(cells[target], missing_labels, keep_labels)
            notices += label_notices
        table = Table(cells, (), labels, tuple(notices), target, bare_stem(path), str(path), n_rows)
        return _complete(table, columns, path, decimal=decimal, dayfirst=dayfirst)
    except DataError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, None, str(error)) from None


def as_table(
    X: Any, y: Any = None, *, columns: Mapping[str, str] | None = None, max_unlabeled: int | None = None, seed: int = 0
) -> Table:
    """Return a table of whatever holds rows and labels; a table is returned unchanged.

    Parameters
    ----------
    X : Table, path, data frame, dict of columns, array, sparse matrix, or list of str
        Rows; strings are texts.
    y : array-like or str, optional
        Labels, or the name of the label column. ``None``, ``NaN`` and, among integers, -1 mark unlabeled rows.
    columns : mapping of str to {"numeric", "categorical", "datetime", "text", "skip"}, optional
        Kinds of columns.
    max_unlabeled, seed
        As for `read_table`, where `X` is a path.

    Returns
    -------
    Table
        The rows.

    Examples
    --------
    >>> table = as_table(["good film", "bad film", "dull film"], ["+", "-", None])
    >>> table.kinds, table.labels.codes.tolist()
    ({'text': 'text'}, [0, 1, -1])
    """
    if isinstance(X, Table):
        return X if y is None else X.with_labels(_labels_of(y, len(X)))
    if isinstance(X, str | os.PathLike):
        if y is not None and not isinstance(y, str):
            raise ParameterError("y: name the label column of the file.")
        return read_table(X, y, columns=columns, max_unlabeled=max_unlabeled, seed=seed)
    if columns is None and are_texts(X):
        columns = {"text": "text"}
    if hasattr(X, "__len__") and not hasattr(X, "tocsr") and not isinstance(X, Mapping) and not len(X):
        raise DataError("X: no rows. At least one row is needed.")
    try:
        cells = as_frame(X)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError | ParameterError):
            raise
        raise DataError(f"X: a table of plain values is needed, got an error ({error}).") from error
    if not cells.height:
        raise DataError("X: no rows. At least one row is needed.")
    labels: Labels | None
    if isinstance(y, str) or _is_column(y, cells):
        target = y if isinstance(y, str) else str(y.name)
        check_column("X", cells, target)
        labels, notices = read_labels(cells[target])
    else:
        target, notices, labels = None, [], None if y is None else _labels_of(y, cells.height)
    # Columns of an array were made, not found.
    is_named = isinstance(X, Mapping) or hasattr(X, "collect") or hasattr(X, "columns")
    return _complete(Table(cells, (), labels, tuple(notices), target, "X"), columns, "X", identifiers=is_named)


def _is_column(y: Any, cells: pl.DataFrame) -> bool:
    """Whether labels are a series that is a column of the rows."""
    name = getattr(y, "name", None)
    return isinstance(name, str) and name in cells.columns and list(map(str, y)) == list(map(str, cells[name]))


def _labels_of(y: Any, n_rows: int) -> Labels:
    labels = y if isinstance(y, Labels) else merge_variants(encode_labels(y, who="y", min_classes=0))[0]
    if len(labels.codes) != n_rows:
        raise DataError(f"X and y: must be of one length, got {n_rows:,} and {len(labels.codes):,}.")
    return labels


def _complete(
    table: Table,
    columns: Mapping[str, str] | None,
    path: FilePath,
    *,
    decimal: str | None = None,
    dayfirst: bool | None = None,
    identifiers: bool = True,
) -> Table:
    """Decide how the columns of a table are read, and skip those that hold no information."""
    features = table.cells.drop([] if table.target is None else [table.target])
    refuse_width(path, table.cells.width)
    if not table.cells.height:
        raise FormatError(path, None, "no rows below the header. Add rows.")
    _check_kinds(path, table, columns or {})
    if decimal not in (None, ".", ","):
        raise ParameterError(f"decimal: must be '.' or ',', got {decimal!r}.")
    specs, notices = infer_columns(features, columns, decimal=decimal, dayfirst=dayfirst)
    values = read_values(features, specs)
    specs, skipped = skip_uninformative(values, specs, table.labels, identifiers=identifiers)
    checks = [] if table.labels is None else check_table(values, specs, table.labels)
    table = replace(table, columns=specs, notices=(*table.notices, *notices, *skipped, *checks))
    table.__dict__["_values"] = values.select(spec.name for spec in specs if spec.kind != "skip")
    return table


def _check_kinds(path: FilePath, table: Table, columns: Mapping[str, str]) -> None:
    for name, kind in columns.items():
        if ALIASES.get(kind, kind) not in get_args(Kind):
            kinds = ", ".join(get_args(Kind))
            raise ParameterError(f"columns: {shown(name)} cannot be {shown(kind)}. Choose one of {kinds}.")
        check_column(path, table.cells, name)
        if name == table.target:
            raise ParameterError(
                f"columns: {shown(name)} is the label column, which has no kind. Leave it out of columns."
            )


def _with_columns(path: FilePath, frames: Any, names: Iterable[str]) -> Iterator[pl.DataFrame]:
    """Check that the first frame has some columns."""
    with closing(frames):
        for number, frame in enumerate(frames):
            for name in names if number == 0 else ():
                check_column(path, frame, name)
            yield frame


def check_column(path: FilePath, frame: pl.DataFrame, name: str) -> None:
    """Raise if a table has no such column, and say which one may be meant.

    Raises
    ------
    MissingColumnError
        If it is not there.
    FormatError
        If there is no column at all.
    """
    if name in frame.columns:
        return
    if not frame.width:
        raise FormatError(path, None, "the file is empty.")
    close = [column for column in frame.columns if column.lower() == name.lower()]
    close = close or get_close_matches(name, frame.columns, n=1)
    names = ", ".join(map(shown, frame.columns[:10])) + (f" and {frame.width - 10:,} more" if frame.width > 10 else "")
    hint = f"Did you mean {shown(close[0])}?" if close else f"The columns are {names}."
    raise MissingColumnError(path, None, f"no column {shown(name)}. {hint}")


def _sampled(
    frames: Iterable[pl.DataFrame], target: str, missing: set[str], keeps_minus: bool, max_unlabeled: int, seed: int
) -> tuple[pl.DataFrame, int, list[Notice]]:
    """Return labeled and unlabeled rows of a stream, each up to a limit and chosen at random, and the number of all rows."""
    import polars as pl

    rng = np.random.default_rng(seed)
    limits = {"labeled": MAX_LABELED, "unlabeled": max_unlabeled}
    most = {**limits, _MINUS: max(MAX_LABELED, max_unlabeled)}
    seen = dict.fromkeys(most, 0)
    parts: dict[str, list[pl.DataFrame]] = {state: [] for state in most}

    def shrink(state: str, limit: int) -> None:
        rows = pl.concat(parts[state], how="diagonal_relaxed") if parts[state] else None
        if rows is not None and rows.height > limit:
            parts[state] = [rows.bottom_k(limit, by=_KEY)]

    for frame in frames:
        empty = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
        texts = (frame[target] if target in frame.columns else empty).cast(pl.String).str.strip_chars()
        is_unlabeled = texts.is_null() | texts.is_in(sorted(missing))
        is_minus = texts.is_in(sorted(MINUS_ONE)) & ~is_unlabeled
        n_rows = sum(seen.values())
        order = pl.int_range(n_rows, n_rows + frame.height, eager=True).alias(_ORDER)
        rows = frame.with_columns(order, pl.Series(_KEY, rng.random(frame.height)))
        for state, mask in (("unlabeled", is_unlabeled), (_MINUS, is_minus), ("labeled", ~is_unlabeled & ~is_minus)):
            seen[state] += int(mask.sum())
            parts[state].append(rows.filter(mask))
            if sum(part.height for part in parts[state]) > 2 * most[state] + 50_000:
                shrink(state, most[state])
    # Whether -1 means "no label" depends on the labels of the whole file.
    labels = [
        part[target].cast(pl.String).str.strip_chars() for part in (*parts["labeled"], *parts[_MINUS]) if part.height
    ]
    is_class = keeps_minus or seen["unlabeled"] or not labels or whole_numbers(pl.concat(labels)) is None
    state = "labeled" if is_class else "unlabeled"
    parts[state] += parts.pop(_MINUS)
    seen[state] += seen.pop(_MINUS)
    for state, limit in limits.items():
        shrink(state, limit)
    rows = pl.concat([part for several in parts.values() for part in several], how="diagonal_relaxed")
    notices = [
        Notice("sampled-rows", f"{limit:,} of {seen[state]:,} {state} rows are used, chosen at random.")
        for state, limit in limits.items()
        if seen[state] > limit
    ]
    return rows.sort(_ORDER).drop(_ORDER, _KEY), sum(seen.values()), notices


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
        if X.shape[1] > _WIDEST_SPARSE:
            raise DataError(
                f"X: a sparse matrix must have at most {_WIDEST_SPARSE:,} columns, got {X.shape[1]:,}. "
                "Give the texts themselves, or reduce it (TruncatedSVD)."
            )
        return _array_frame(np.asarray(X.toarray()))
    if isinstance(X, str):
        raise DataError("X: rows are needed, got one text. Give a list of texts: [text].")
    if are_texts(X):
        return pl.DataFrame({"text": [cell if isinstance(cell, str) else None for cell in X]})
    return _array_frame(np.asarray(X))


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
    return (
        listed
        and any(isinstance(cell, str) for cell in X)
        and all(isinstance(cell, str) or cell is None or (isinstance(cell, float) and cell != cell) for cell in X)
    )


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
        named = ", ".join(map(repr, list(columns)[:5])) + (", ..." if len(columns) > 5 else "")
        raise DataError(
            f"X: the rows must have the columns that the model was trained on ({named}), got rows without names of columns. "
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
