"""A table made ready for comparing and fitting: what each column is, which rows have labels, what was left out."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.labels import Labels, encode_labels
from handful.core.records import Kind, Table
from handful.corpora.opening import FilePath, as_source
from handful.corpora.tables import left_out, none_tells, perhaps_texts, read_rows, suspicions, table_of
from handful.features.frames import are_texts, as_frame
from handful.features.tables import warn_of_unreadable
from handful.labeling.labeled_rows import rows_and_labels

if TYPE_CHECKING:
    import polars as pl

ColumnChoice = Literal["numeric", "nominal", "text", "skip"]
MAX_CLASSES = 1_000
MAX_LABELED = 50_000
_MOST_NOTES = 3


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
    def encoded(self) -> Labels:
        """Codes and classes of the labels."""
        return Labels(self.codes, self.classes)


def read_problem(
    path: FilePath,
    target: str,
    *,
    columns: Mapping[str, str] | None = None,
    unlabeled_marks: Sequence[str] = (),
    keep_labels: Collection[str] = (),
    complete: bool = False,
    max_unlabeled: int = 5_000,
    max_labeled: int = MAX_LABELED,
    seed: int = 0,
) -> Problem:
    """Read a table in one pass and bounded memory: its labeled rows, and a sample of the unlabeled ones.

    Parameters
    ----------
    path : path-like
        A table of any kind, see `handful.corpora.tables.read_table`.
    target : str
        The label column; which of its cells are labels, `handful.corpora.tables.judge_labels` tells.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        Kinds that override the rule of `handful.corpora.tables.read_table`.
    unlabeled_marks, keep_labels : sequence of str
        Labels that mean unlabeled too, and labels that are such though they look like marks.
    complete : bool
        Whether every row is said to have a label: then ``none``, ``-`` and the like are classes where no cell is empty.
    max_unlabeled, max_labeled : int
        Rows kept of each kind, chosen at random.
    seed : int
        Seed of that choice.

    Returns
    -------
    Problem
        The rows in the order of the file.
    """
    chosen: dict[str, Kind] = {n: k for n, k in (columns or {}).items() if k != "skip"}  # type: ignore[misc]
    source = as_source(path)
    rows = read_rows(
        source,
        target,
        kinds=chosen,
        skip=[name for name, kind in (columns or {}).items() if kind == "skip"],
        marks=unlabeled_marks,
        keep_labels=keep_labels,
        complete=complete,
        limits=(max_labeled, max_unlabeled),
        seed=seed,
    )
    return as_problem(rows.table, n_rows_read=rows.n_rows_read, chosen=tuple(chosen), source=str(path))


def problem_of(
    X: Any,
    y: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    complete: bool = False,
    max_unlabeled: int = 5_000,
    seed: int = 0,
    who: str = "compare",
) -> Problem:
    """Make a problem of whatever holds rows and labels.

    Parameters
    ----------
    X : path, data frame, array, sparse matrix, or list of texts
        Rows.
    y : array-like or str
        Labels, or the name of the label column, which is no feature then.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        Kinds of columns.
    complete : bool
        Whether every row of a file is said to have a label; see `read_problem`.
    max_unlabeled : int
        Unlabeled rows of a file that are kept at most.
    seed : int
        Seed of that choice.
    who : str
        Name of the caller, for errors.

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
            raise ParameterError(f"{who}: y must name the label column of the file.")
        return read_problem(X, y, columns=columns, complete=complete, max_unlabeled=max_unlabeled, seed=seed)
    X, y = rows_and_labels(X, y, who=who)
    if y is None:
        raise ParameterError(f"{who}: y must hold labels, or name a column of X, got neither.")
    try:
        return array_problem(X, y, {"text": "text"} if are_texts(X) and columns is None else columns, who=who)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError | ParameterError):
            raise
        raise DataError(f"{who}: X must be a table of plain values, got an error ({error}).") from error


def array_problem(
    X: Any, y: Any, columns: Mapping[str, str] | None = None, name: str = "X", who: str = "compare"
) -> Problem:
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
    who : str
        Name of the caller, for errors.

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
    import polars as pl
    import polars.selectors as cs

    frame = as_frame(X)
    dropped = _skipped(name, frame, columns or {})
    chosen: dict[str, Kind] = {n: k for n, k in (columns or {}).items() if k != "skip"}  # type: ignore[misc]
    table = table_of(name, frame.drop(dropped), None, chosen)
    labels = encode_labels(y, who=who)
    if len(labels.codes) != frame.height:
        raise DataError(f"{who}: X and y must be of one length, got {frame.height} and {len(labels.codes)}.")
    endless = table.frame.select(cs.by_name(list(table.kinds)) & cs.float()).select(pl.all().is_infinite().sum())
    warn_of_unreadable({column.name: column[0] for column in endless if column[0]}, frame.height)
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
    reasons = left_out(table, chosen, codes)
    kinds = {name: kind for name, kind in table.kinds.items() if name not in reasons}
    told = [*notes, *table.notes, *_told_left_out(reasons)]
    if not kinds:
        raise DataError(f"{table.name}: {none_tells(target, reasons)}")
    told.extend(perhaps_texts(table.frame, kinds, chosen))
    told.extend(suspicions(table.frame, kinds, codes, classes, table.forms))
    return Problem(
        table.name, table.frame.select(list(kinds)), kinds, codes, classes, n_rows_read, tuple(told), target, source
    )


def _told_left_out(reasons: Mapping[str, str]) -> list[str]:
    """Return a line for each column that was left out; columns beyond a few share that of their reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(why, []).append(name)
    told = []
    for why, names in by_reason.items():
        if len(names) > _MOST_NOTES:
            shown = ", ".join(map(repr, names[:_MOST_NOTES]))
            told.append(f"{len(names):,} columns were left out ({shown} and so on), each for the same reason: {why}.")
        else:
            told += [f"Column {name!r} was left out: {why}." for name in names]
    return told
