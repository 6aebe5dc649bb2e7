"""Rows of a table of any size: those with labels, and a sample of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from handful.core.records import Kind, Table
from handful.corpora.opening import FilePath, as_source
from handful.corpora.tables.labels import (
    BESIDE_EMPTY,
    COMPLETE,
    DOUBTFUL_MARKS,
    SURE_MARKS,
    classes_beside_empty,
    is_named,
    means_no_label,
    minus_ones,
    note_of_absent,
    note_of_classes,
    note_of_marks,
    refuse_both,
    unlabeled_marks,
    whole_numbers,
)
from handful.corpora.tables.reading import check_column, table_frames, table_of

if TYPE_CHECKING:
    import polars as pl

_ORDER = "\0order"


class Rows(NamedTuple):
    """A table with the rows that were kept, and how many there were."""

    table: Table
    n_rows_read: int


@dataclass
class _Sample:
    """Rows chosen at random from a stream, at most so many."""

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


def read_rows(
    path: FilePath,
    target: str,
    *,
    kinds: Mapping[str, Kind] | None = None,
    skip: Collection[str] = (),
    marks: Sequence[str] = (),
    keep_labels: Collection[str] = (),
    complete: bool = False,
    limits: tuple[int, int] = (50_000, 5_000),
    seed: int = 0,
) -> Rows:
    """Read a table in one pass and bounded memory: its labeled rows, and a sample of the unlabeled ones.

    Parameters
    ----------
    path : path-like
        As for `handful.corpora.tables.read_table`.
    target : str
        The label column.
    kinds : mapping of str to kind, optional
        Kinds of columns that override the rule.
    skip : collection of str
        Columns to leave out.
    marks, keep_labels
        Cells of the label column that are no labels, or are labels, whatever the rule of `judge_labels` says.
    complete : bool
        Whether every row is said to have a label: then ``none``, ``-`` and the like are classes where no cell is empty.
    limits : (int, int)
        Labeled and unlabeled rows that are kept at most, chosen at random.
    seed : int
        Seed of that choice.

    Returns
    -------
    Rows
        The table, in the order of the file, and the number of rows read.
    """
    import polars as pl

    refuse_both(marks, keep_labels)
    source = as_source(path)
    rng = np.random.default_rng(seed)
    # Whether a usual mark is a class is known only at the end of the file.
    samples = {
        "labeled": _Sample(limits[0], rng),
        "unlabeled": _Sample(limits[1], rng),
        "doubtful": _Sample(limits[0], rng),
    }
    usual: Counter[str] = Counter()
    absent = {cell for cell in (*marks, *keep_labels) if cell.strip()}
    order = 0
    frame = pl.DataFrame()
    for frame in table_frames(source):
        if frame.height:
            for name in (target, *(kinds or {}), *skip):
                check_column(source, frame, name)
        numbered = frame.with_columns(pl.int_range(order, order + frame.height).alias(_ORDER))
        order += frame.height
        cells = frame[target] if target in frame.columns else pl.Series([], dtype=pl.String)
        texts = cells.cast(pl.String).str.strip_chars()
        states = _states(texts, marks, keep_labels)
        for name, sample in samples.items():
            sample.add(numbered.filter(states == name))
        usual.update(texts.filter(states == "doubtful").to_list())
        if absent:
            absent -= _found(texts, keep_labels, absent)
    for sample in samples.values():
        sample.shrink()
    none, classes, in_doubt, why = _settle(samples, target, keep_labels, complete=complete)
    notes = _notes_of(samples)
    if none:
        notes.append(note_of_marks(target, {mark: usual[mark] for mark in none}))
    if in_doubt:
        notes.append(note_of_classes(target, {mark: usual[mark] for mark in in_doubt}, why))
    whole = _in_order(samples.values(), frame)
    table = table_of(source, whole.drop(skip), target, kinds, [*marks, *none], keep_labels={*keep_labels, *classes})
    if absent and table.frame.height:
        labels = table.frame[target].drop_nulls().cast(pl.String).unique().sort().to_list()
        for option, named in (("--unlabeled-mark", marks), ("--keep-label", keep_labels)):
            notes += [note_of_absent(target, cell, option, labels) for cell in named if cell in absent]
    return Rows(replace(table, notes=(*notes, *table.notes)), order)


def _notes_of(samples: Mapping[str, _Sample]) -> list[str]:
    return [
        f"{sample.limit:,} of {sample.seen:,} {kind} rows were taken at random."
        for kind, sample in samples.items()
        if sample.seen > sample.limit
    ]


def _in_order(samples: Iterable[_Sample], otherwise: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    parts = [part for sample in samples for part in sample.frames]
    return pl.concat(parts, how="diagonal_relaxed").sort(_ORDER).drop(_ORDER) if parts else otherwise


def _states(texts: pl.Series, marks: Sequence[str], keep: Collection[str]) -> pl.Series:
    import polars as pl

    lower = texts.str.to_lowercase()
    empty = texts.is_null() | lower.is_in(["", "nan"]) | is_named(texts, marks)
    usual = (lower.is_in(list(SURE_MARKS | DOUBTFUL_MARKS)) | is_named(texts, ["-1"])) & ~is_named(texts, keep)
    words = pl.select(
        pl.when(empty).then(pl.lit("unlabeled")).when(usual).then(pl.lit("doubtful")).otherwise(pl.lit("labeled"))
    )
    return words.to_series()


def _found(texts: pl.Series, keep: Collection[str], names: Collection[str]) -> set[str]:
    """Return the cells that there are; -1 and a number to keep are found with and without a tail (``-1.0``)."""
    cells = texts.drop_nulls().unique()
    whole = cells.str.replace(r"\.0+$", "")
    minus = minus_ones(names) if (whole == "-1").any() else []
    return {*cells, *whole.filter(whole.is_in(list(keep))), *minus}


def _settle(
    samples: dict[str, _Sample], target: str, keep: Collection[str], *, complete: bool
) -> tuple[list[str], list[str], list[str], str]:
    """Send rows with a usual mark to where they belong.

    Returned are the marks that are no labels, those that are, those of the latter that are to be told, and why they are labels.
    """
    import polars as pl

    doubtful = samples.pop("doubtful")
    if not doubtful.frames:
        return [], [], [], ""
    parts = [*samples["labeled"].frames, *doubtful.frames]
    cells = pl.concat([part[target].cast(pl.String).str.strip_chars() for part in parts])
    n_empty = samples["unlabeled"].seen
    none = unlabeled_marks(cells, keep, n_empty=n_empty)
    in_doubt, why = classes_beside_empty(cells, keep, n_empty=n_empty), BESIDE_EMPTY
    if complete and not n_empty:
        in_doubt, why = [mark for mark in none if mark.lower() in DOUBTFUL_MARKS], COMPLETE
        none = unlabeled_marks(cells, {*keep, *in_doubt})
    numbers = whole_numbers(cells)
    if means_no_label(numbers, keep, other_marks=bool(none) or n_empty > 0):
        none += sorted(minus_ones(cells.unique().to_list()))
    rows = doubtful.frames[0]
    texts = rows[target].cast(pl.String).str.strip_chars()
    is_none = texts.is_in(none)
    samples["unlabeled"].add(rows.filter(is_none))
    samples["labeled"].add(rows.filter(~is_none))
    for sample in samples.values():
        sample.shrink()
    classes = texts.filter(~is_none).unique().to_list()
    if numbers.dtype.is_integer():  # what -1 is will be told with the other labels
        classes = [cell for cell in classes if not minus_ones([cell])]
    return none, classes, in_doubt, why
