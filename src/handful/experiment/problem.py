"""A table made ready for comparing and fitting: what each column is, which rows have labels, what was left out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.labels import encode_labels
from handful.core.records import Kind, Table
from handful.corpora.formats.streams import table_frames
from handful.corpora.formats.tables import table_of
from handful.corpora.opening import FilePath
from handful.methods.table_model import as_frame

if TYPE_CHECKING:
    import polars as pl

ColumnChoice = Literal["numeric", "nominal", "text", "skip"]
MAX_CLASSES = 1_000
_WIDEST_SPARSE = 5_000
MAX_LABELED = 50_000
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]|$)"
_ID_NAMES = ("id", "index", "key", "row", "uid", "uuid")


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with features and codes of their classes.

    Parameters
    ----------
    name : str
        Name of the table.
    frame : polars.DataFrame
        Feature columns.
    kinds : mapping of str to kind
        Kind of each feature column that is used.
    codes : ndarray of int32
        Class of each row, -1 where unlabeled.
    classes : ndarray
        Label of each code.
    n_rows_read : int
        Rows of the file, of which `frame` may hold a part.
    notes : tuple of str
        What was left out, and why.
    target : str
        Name of the label column.
    """

    name: str
    frame: pl.DataFrame
    kinds: Mapping[str, Kind]
    codes: np.ndarray
    classes: np.ndarray
    n_rows_read: int
    notes: tuple[str, ...] = ()
    target: str = "y"
    source: str = ""

    @property
    def labeled(self) -> np.ndarray:
        """Rows that have a label."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def unlabeled(self) -> np.ndarray:
        """Rows that have none."""
        return np.flatnonzero(self.codes < 0)

    @property
    def labels(self) -> np.ndarray:
        """Labels as an object array; None where a row is unlabeled."""
        found = np.full(len(self.codes), None, dtype=object)
        found[self.labeled] = self.classes[self.codes[self.labeled]].tolist()
        return found


@dataclass
class _Sample:
    """Rows chosen at random from a stream, at most so many of each kind."""

    limit: int
    rng: np.random.Generator
    frames: list[Any] = field(default_factory=list)
    keys: list[np.ndarray] = field(default_factory=list)
    seen: int = 0
    held: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        self.seen += frame.height
        if not frame.height:
            return
        self.frames.append(frame)
        self.keys.append(self.rng.random(frame.height))
        self.held += frame.height
        if self.held > 2 * self.limit + 50_000:
            self.shrink()

    def shrink(self) -> None:
        import polars as pl

        if not self.frames:
            return
        whole, keys = pl.concat(self.frames, how="diagonal_relaxed"), np.concatenate(self.keys)
        if len(keys) > self.limit:
            kept = np.sort(np.argpartition(keys, self.limit)[: self.limit])
            whole, keys = whole[kept], keys[kept]
        self.frames, self.keys, self.held = [whole], [keys], len(keys)


def read_problem(
    path: FilePath,
    target: str,
    *,
    columns: Mapping[str, str] | None = None,
    unlabeled_marks: Sequence[str] = (),
    max_unlabeled: int = 5_000,
    max_labeled: int = MAX_LABELED,
    seed: int = 0,
) -> Problem:
    """Read a table in one pass and bounded memory: its labeled rows, and a sample of the unlabeled ones.

    Parameters
    ----------
    path : path-like
        CSV, TSV, JSON lines or Parquet.
    target : str
        The label column. Empty cells, nulls, NaN, the marks below and, where labels are integers, -1 are no labels.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        Kinds that override the rule of `handful.corpora.formats.read_table`.
    unlabeled_marks : sequence of str
        Labels that mean unlabeled too.
    max_unlabeled, max_labeled : int
        Rows kept of each kind, chosen at random.
    seed : int
        Seed of that choice.

    Returns
    -------
    Problem
        The rows in the order of the file.
    """
    import polars as pl

    rng = np.random.default_rng(seed)
    labeled, unlabeled = _Sample(max_labeled, rng), _Sample(max_unlabeled, rng)
    order = 0
    for frame in table_frames(path):
        if target not in frame.columns and frame.height:
            table_of(path, frame, target)  # says which column may have been meant
        numbered = frame.with_columns(pl.int_range(order, order + frame.height).alias("\0order"))
        order += frame.height
        cells = frame[target].cast(pl.String) if target in frame.columns else pl.Series([], dtype=pl.String)
        empty = cells.is_null() | cells.is_in(["", "NaN", "-1", *unlabeled_marks])
        labeled.add(numbered.filter(~empty))
        unlabeled.add(numbered.filter(empty))
    labeled.shrink()
    unlabeled.shrink()
    notes = [
        f"{sample.limit:,} of {sample.seen:,} {kind} rows were taken at random."
        for sample, kind in ((labeled, "labeled"), (unlabeled, "unlabeled"))
        if sample.seen > sample.limit
    ]
    parts = [*labeled.frames, *unlabeled.frames]
    whole = pl.concat(parts, how="diagonal_relaxed").sort("\0order").drop("\0order") if parts else frame
    dropped = _skipped(path, whole, columns or {})
    chosen: dict[str, Kind] = {n: k for n, k in (columns or {}).items() if k != "skip"}  # type: ignore[misc]
    table = table_of(path, whole.drop(dropped), target, chosen, unlabeled_marks)
    return as_problem(table, n_rows_read=order, notes=notes, chosen=tuple(chosen), source=str(path))


def problem_of(
    X: Any, y: Any = None, *, columns: Mapping[str, str] | None = None, max_unlabeled: int = 5_000, seed: int = 0
) -> Problem:
    """Make a problem of whatever holds rows and labels.

    Parameters
    ----------
    X : path, data frame, array, sparse matrix, or list of texts
        Rows.
    y : array-like or str
        Labels, or the name of the label column.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        Kinds of columns.
    max_unlabeled : int
        Unlabeled rows of a file that are kept at most.
    seed : int
        Seed of that choice.

    Returns
    -------
    Problem
        The rows.

    Examples
    --------
    >>> problem_of(["good film", "bad film", "dull film"], ["+", "-", None]).kinds
    {'text': 'text'}
    """
    if isinstance(X, str | os.PathLike):
        if not isinstance(y, str):
            raise ParameterError("compare: y must name the label column of the file.")
        return read_problem(X, y, columns=columns, max_unlabeled=max_unlabeled, seed=seed)
    if isinstance(y, str):
        if not hasattr(X, "columns") or y not in X.columns:
            raise ParameterError(f"compare: X has no column {y!r}.")
        y, X = X[y], X[[name for name in X.columns if name != y]]
    if y is None:
        raise ParameterError("compare: y must hold labels, or name a column of X, got neither.")
    try:
        rows, kinds = _as_columns(X, columns)
        return array_problem(rows, y, kinds)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError | ParameterError):
            raise
        raise DataError(f"compare: X must be a table of plain values, got an error ({error}).") from error


def _as_columns(X: Any, columns: Mapping[str, str] | None) -> tuple[Any, Mapping[str, str] | None]:
    """Return texts as a column of texts, and a sparse matrix as a dense one."""
    if hasattr(X, "tocsr"):
        if X.shape[1] > _WIDEST_SPARSE:
            raise DataError(
                f"compare: a sparse X must have at most {_WIDEST_SPARSE:,} columns, got {X.shape[1]:,}. "
                "Give the texts themselves, or reduce it (TruncatedSVD)."
            )
        return X.toarray(), columns
    listed = list(X) if isinstance(X, list | tuple) or type(X).__name__ in ("ndarray", "Series") else []
    if listed and all(isinstance(cell, str) for cell in listed):
        return {"text": listed}, columns or {"text": "text"}
    return X, columns


def array_problem(X: Any, y: Any, columns: Mapping[str, str] | None = None, name: str = "X") -> Problem:
    """Make a problem of rows in memory.

    Parameters
    ----------
    X : data frame or array
        Rows.
    y : array-like
        Labels, with unlabeled rows marked in any way that `handful.core.labels` knows.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        Kinds of columns.
    name : str
        What to call it.

    Returns
    -------
    Problem
        The same rows.

    Examples
    --------
    >>> problem = array_problem([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", None])
    >>> problem.codes.tolist(), dict(problem.kinds)
    ([0, 1, 0, -1], {'x0': 'numeric'})
    """
    frame = as_frame(X)
    dropped = _skipped(name, frame, columns or {})
    chosen: dict[str, Kind] = {n: k for n, k in (columns or {}).items() if k != "skip"}  # type: ignore[misc]
    table = table_of(name, frame.drop(dropped), None, chosen)
    labels = encode_labels(y, who="compare")
    if len(labels.codes) != frame.height:
        raise DataError(f"compare: X and y must be of one length, got {frame.height} and {len(labels.codes)}.")
    return _checked(table, labels.codes, labels.classes, frame.height, [], tuple(chosen), "y", name)


def as_problem(
    table: Table, *, n_rows_read: int, notes: Sequence[str] = (), chosen: Sequence[str] = (), source: str = ""
) -> Problem:
    """Check a table and leave out the columns that can teach nothing."""
    labels = encode_labels(table.labels, who=f"column {table.target!r}")
    return _checked(table, labels.codes, labels.classes, n_rows_read, notes, chosen, str(table.target), source)


def _skipped(path: FilePath, frame: pl.DataFrame, columns: Mapping[str, str]) -> list[str]:
    from difflib import get_close_matches

    for name, kind in columns.items():
        if kind not in get_args(ColumnChoice):
            raise ParameterError(
                f"columns: the kind of {name!r} must be one of {', '.join(get_args(ColumnChoice))}, got {kind!r}."
            )
        if name not in frame.columns:
            near = get_close_matches(name, frame.columns, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ParameterError(f"{path}: there is no column {name!r}.{hint}")
    return [name for name, kind in columns.items() if kind == "skip"]


def _checked(
    table: Table,
    codes: np.ndarray,
    classes: np.ndarray,
    n_rows_read: int,
    notes: Sequence[str],
    chosen: Sequence[str],
    target: str,
    source: str,
) -> Problem:
    where = f"column {target!r}"
    if len(classes) < 2:
        raise DataError(f"{where}: labels must be of at least 2 classes, got only {classes[0]!s:.60}.")
    if len(classes) > MAX_CLASSES:
        raise DataError(
            f"{where}: labels must be of at most {MAX_CLASSES:,} classes, got {len(classes):,}. "
            "Is it an identifier, or a number that should be predicted as such?"
        )
    kinds, left_out = dict(table.kinds), list(notes)
    for name, kind in table.kinds.items():
        series = table.frame[name]
        if series.null_count() == len(series):
            raise DataError(
                f"column {name!r}: at least one cell must be filled, got {len(series):,} empty ones. "
                f"Leave it out with --columns {name}=skip."
            )
        if name in chosen:
            continue
        n_values = series.drop_nulls().n_unique()
        if n_values == 1 and series.null_count() == 0:
            left_out.append(f"Column {name!r} was left out: it has the same value in all rows.")
            del kinds[name]
        elif _is_identifier(name, kind, n_values, series):
            left_out.append(f"Column {name!r} was left out: it looks like an identifier. Keep it with {name}={kind}.")
            del kinds[name]
        elif kind == "nominal" and series.drop_nulls().cast(str).str.contains(_DATE).all():
            left_out.append(
                f"Column {name!r} holds dates, read as names. Write numbers, such as days, if time matters."
            )
    if not kinds:
        raise DataError(f"{table.name}: at least one column beside {target!r} must tell rows apart, got none.")
    return Problem(
        table.name, table.frame.select(list(kinds)), kinds, codes, classes, n_rows_read, tuple(left_out), target, source
    )


def _is_identifier(name: str, kind: Kind, n_values: int, series: pl.Series) -> bool:
    if kind == "text" or len(series) < 20 or n_values < len(series):
        return False
    if kind == "nominal":
        return True
    bare = name.lower().replace("-", "_")
    return series.dtype.is_integer() and (bare in _ID_NAMES or bare.endswith("_id"))
