"""Merge new labels into a table or corpus."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from handful.data.checks import SELECTION
from handful.data.records import Sentence
from handful.errors import DataError

if TYPE_CHECKING:
    import polars as pl

ROW, REASON, SUGGESTION, CONFIDENCE = "next_row", "next_reason", "next_suggestion", "next_confidence"
_DECIMAL_COMMA = re.compile(r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]+")
_WHOLE = re.compile(r"([+-]?[0-9]+)([.,]0+)?")  # spreadsheets write a whole number with a tail
_NUMBER = re.compile(
    r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+|,0+|,[0-9]{1,2})?"
)  # 01 is a code, 1,500 may be a thousand and more
# The number of a row and its mark: "row 70 (41efd366a834)"; in files of version 0.2 "69-41efd366a834", counted from 0.
_TICKET = re.compile(r"(?:row ([0-9]{1,18}) \(|([0-9]{1,18})-)([0-9a-f]+)\)?")
ADDED = (ROW, REASON, SUGGESTION, CONFIDENCE, SELECTION)


@dataclass(frozen=True)
class Conflict:
    """A row that two places label differently.

    Parameters
    ----------
    row : int
        Row of the data, counted from 0.
    labels : tuple of (str, str)
        Where each label comes from, and the label.
    kept : str or None
        The label that the row has now; None where it stays unlabeled.
    """

    row: int
    labels: tuple[tuple[str, str], ...]
    kept: str | None


@dataclass(frozen=True, eq=False)
class Merged:
    """What became of labels that came back; see `merge_labels`.

    Parameters
    ----------
    frame : polars.DataFrame
        The data with the labels filled in; all other cells as they were.
    n_new : int
        Rows that have a label now and had none.
    n_same : int
        Labels that came back and were there already.
    n_empty : int
        Rows that came back without a label.
    n_changed : int
        Rows found by their number whose other cells came back changed; their cells in the data are kept.
    conflicts : list of Conflict
        Rows labeled differently, where nobody said which label counts.
    strangers : list of (str, int)
        Rows with a label that the data does not have: file, and row in it, counted from 0.
    unheard : dict of str to str or None
        Labels that no row of the data had before, where some had one, and the known label that each is written like.
    replaced : list of (int, str, str)
        Rows whose label gave way to the one that came back: the row, counted from 0, its label before, and the new one.
    """

    frame: pl.DataFrame
    n_new: int
    n_same: int
    n_empty: int
    n_changed: int
    conflicts: list[Conflict]
    strangers: list[tuple[str, int]]
    unheard: dict[str, str | None] = field(default_factory=dict)
    replaced: list[tuple[int, str, str]] = field(default_factory=list)


def row_marks(frame: pl.DataFrame, target: str) -> list[str]:
    """Return a short mark of what each row holds, whatever its label.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows.
    target : str
        The label column, which does not count.

    Returns
    -------
    list of str
        Equal for rows of equal cells. Blanks around cells do not count, and numbers count by their value, since
        spreadsheets write them in their own way.

    Examples
    --------
    >>> import polars as pl
    >>> marks = row_marks(pl.DataFrame({"x": ["1", "1.0", "2"], "y": ["a", "", ""]}), "y")
    >>> marks[0] == marks[1], marks[0] == marks[2]
    (True, False)
    """
    columns = [frame[name].to_list() for name in sorted(frame.columns) if name != target and name not in ADDED]
    seen: dict[Any, str] = {}

    def plain(cell: Any) -> str:
        if cell not in seen:
            seen[cell] = _plain(cell)
        return seen[cell]

    marks = []
    for cells in zip(*columns, strict=True) if columns else [()] * frame.height:
        text = "\x1f".join(map(plain, cells))
        marks.append(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest())
    return marks


def _plain(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    text = str(cell).strip()
    written = text.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text
    try:
        return repr(float(written) + 0.0)
    except ValueError:
        return text


def merge_labels(
    data: pl.DataFrame, files: Mapping[str, pl.DataFrame], target: str, *, prefer_new: bool = False
) -> Merged:
    """Bring labels from other files into a table.

    Parameters
    ----------
    data : polars.DataFrame
        The table; its target column may be missing, which means that no row has a label.
    files : mapping of str to polars.DataFrame
        Rows of the table with their labels, by the name of the file. With the column ``next_row`` of `handful next` rows
        are found by number and content; without it by content alone, where rows of equal content are filled in order.
        The label ``1.0`` of a spreadsheet is the label ``1`` where the table has that one; where all labels are numbers,
        they are told by their value.
    target : str
        The label column.
    prefer_new : bool, default=False
        Whether a label that came back replaces a different one in the table. Files that disagree with each other are
        never decided here.

    Returns
    -------
    Merged
        The new table, and what could not be merged. Its column ``next_selection`` keeps which rows were chosen by a
        strategy and which at random.

    Raises
    ------
    DataError
        If a file lacks the target, or none of its rows is a row of the table.

    Examples
    --------
    >>> import polars as pl
    >>> data = pl.DataFrame({"x": ["1", "2"], "y": ["a", ""]})
    >>> done = merge_labels(data, {"todo.csv": pl.DataFrame({"x": ["2"], "y": ["b"]})}, "y")
    >>> done.frame["y"].to_list(), done.n_new
    (['a', 'b'], 1)
    """
    import polars as pl

    cells = data[target].cast(pl.String).to_list() if target in data.columns else [None] * data.height
    labels = [_label(cell) for cell in cells]
    place = _Places(row_marks(data, target))
    given: dict[int, list[tuple[str, str]]] = {}
    strangers: list[tuple[str, int]] = []
    empty: set[Any] = set()
    n_changed = 0
    found = {name: _rows_of(name, frame, target, place) for name, frame in files.items()}
    known = {label for label in labels if label is not None}
    written = {
        name: [_label(cell) for cell in frame[target].cast(pl.String).to_list()] for name, frame in files.items()
    }
    spelling = _Spelling(known, {label for column in written.values() for label in column if label is not None})
    for name, (rows, changed) in found.items():
        came = [None if label is None else spelling.of(label) for label in written[name]]
        n_changed += changed
        for number, (row, label) in enumerate(zip(rows, came, strict=True)):
            if label is None:
                empty.add((name, number) if row is None else row)
            elif row is None:
                strangers.append((name, number))
            else:
                given.setdefault(row, []).append((name, label))
    n_new, n_same, conflicts, replaced = _settle(labels, given, prefer_new, spelling)
    fresh = sorted({label for label in labels if label is not None} - known) if known else []
    kept = _selections(data, files, found, given)
    series = pl.Series(target, labels, dtype=pl.String)
    if target in data.columns:
        series = _cast_if_fitting(series, data.schema[target])
    return Merged(
        data.with_columns(series, *kept),
        n_new,
        n_same,
        len(empty - given.keys()),
        n_changed,
        conflicts,
        strangers,
        {label: _like(label, known) for label in fresh},
        replaced,
    )


def _selections(
    data: pl.DataFrame, files: Mapping[str, pl.DataFrame], found: Mapping[str, Any], labels: Mapping[int, Any]
) -> list[pl.Series]:
    """Return the column that keeps which rows were chosen by a strategy and which at random, if a file has it."""
    import polars as pl

    if not any(SELECTION in frame.columns for frame in files.values()):
        return []
    old = data[SELECTION].cast(pl.String).to_list() if SELECTION in data.columns else [None] * data.height
    for name, frame in files.items():
        if SELECTION in frame.columns:
            for row, selection in zip(found[name][0], frame[SELECTION].cast(pl.String).to_list(), strict=True):
                if row in labels and selection and not old[row]:
                    old[row] = selection
    return [pl.Series(SELECTION, old, dtype=pl.String)]


class _Spelling:
    """How labels are spelled that are numbers: spreadsheets write the class 1 as 1.0, and 2.5 as 2,50.

    Numbers are told by their value where all labels are numbers; beside names only whole ones with a tail are.
    """

    def __init__(self, known: Collection[str], came: Collection[str]) -> None:
        self._known = frozenset(known)
        self._all_numbers = all(_NUMBER.fullmatch(label) for label in (*known, *came))
        first: dict[float | str, str] = {}
        for label in (*sorted(known, key=_short_first), *sorted(came, key=_short_first)):
            first.setdefault(self.meaning(label), label)
        self._first = first

    def of(self, label: str) -> str:
        """Return a label as the data spells it, or as the shortest of the files does."""
        return label if label in self._known else self._first[self.meaning(label)]

    def meaning(self, label: str) -> float | str:
        """Return what is equal for labels that mean the same."""
        if self._all_numbers:
            return float(label.replace(",", "."))
        whole = _WHOLE.fullmatch(label)
        return label if whole is None else whole[1]


def _short_first(label: str) -> tuple[int, str]:
    return len(label), label


def _like(label: str, known: Collection[str]) -> str | None:
    """Return the known label that another is probably a slip of the pen for; numbers in names are names."""
    folded = {name.casefold(): name for name in sorted(known)}
    near = get_close_matches(label.casefold(), folded, n=1, cutoff=0.7)
    if not near or (label.casefold() != near[0] and _letters(label.casefold()) == _letters(near[0])):
        return None
    return folded[near[0]]


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdigit())


def _rows_of(name: str, frame: pl.DataFrame, target: str, place: _Places) -> tuple[list[int | None], int]:
    """Return which row of the data each row of a file is, and how many have changed."""
    if target not in frame.columns:
        raise DataError(f"{name}: the file must have the column {target!r} of labels, got {_names(frame)}.")
    rows, changed = place.rows_of(frame, target)
    if frame.height and all(row is None for row in rows):
        raise DataError(
            f"{name}: at least one row must be a row of the data, got {frame.height:,} others. "
            "Merge it with the table it was made from."
        )
    return rows, changed


def _cast_if_fitting(labels: pl.Series, dtype: Any) -> pl.Series:
    fitting = labels.cast(dtype, strict=False)
    return fitting if fitting.null_count() == labels.null_count() else labels


def _settle(
    labels: list[str | None], given: Mapping[int, Sequence[tuple[str, str]]], prefer_new: bool, spelling: _Spelling
) -> tuple[int, int, list[Conflict], list[tuple[int, str, str]]]:
    """Fill in labels where all agree; return how many are new and the same, where they do not, and which gave way."""
    n_new = n_same = 0
    conflicts, replaced = [], []
    for row in sorted(given):
        told, old = given[row], labels[row]
        if len({spelling.meaning(label) for _, label in told}) > 1:
            known = [("the data", old)] if old is not None else []
            conflicts.append(Conflict(row, (*known, *told), old))
        elif old is None:
            labels[row] = told[0][1]
            n_new += 1
        elif spelling.meaning(old) == spelling.meaning(told[0][1]):
            n_same += 1
        elif prefer_new:
            labels[row] = told[0][1]
            replaced.append((row, old, told[0][1]))
        else:
            conflicts.append(Conflict(row, (("the data", old), *told), old))
    return n_new, n_same, conflicts, replaced


class _Places:
    """Where rows stand in the table, by number and by what they hold."""

    def __init__(self, marks: list[str]) -> None:
        self.marks = marks
        self.by_mark: dict[str, list[int]] = {}
        for row, mark in enumerate(marks):
            self.by_mark.setdefault(mark, []).append(row)

    def rows_of(self, frame: pl.DataFrame, target: str) -> tuple[list[int | None], int]:
        """Return the row of the table for each row of a file, and how many of these came back changed."""
        came = row_marks(frame, target)
        tickets = [str(t or "") for t in frame[ROW].to_list()] if ROW in frame.columns else [""] * frame.height
        used: dict[str, int] = {}
        rows: list[int | None] = []
        n_changed = 0
        for ticket, mark in zip(tickets, came, strict=True):
            row = self._by_ticket(ticket)
            if row is None and mark in self.by_mark:
                same = self.by_mark[mark]
                row = same[min(used.get(mark, 0), len(same) - 1)]
                used[mark] = used.get(mark, 0) + 1
            elif row is not None and self.marks[row] != mark:
                n_changed += 1
            rows.append(row)
        return rows, n_changed

    def _by_ticket(self, ticket: str) -> int | None:
        found = _TICKET.fullmatch(ticket.strip())
        mark = found[3] if found else ""
        if found is None or mark not in self.by_mark:
            return None
        row = int(found[1]) - 1 if found[1] else int(found[2])
        if 0 <= row < len(self.marks) and self.marks[row] == mark:
            return row
        same = self.by_mark[mark]
        return same[0] if len(same) == 1 else None


def tickets(frame: pl.DataFrame, target: str, rows: Sequence[int]) -> list[str]:
    """Return what the column ``next_row`` holds: the number of each row, counted from 1 as on the screen, and its mark."""
    marks = row_marks(frame[list(rows)], target)
    return [f"row {row + 1} ({mark})" for row, mark in zip(rows, marks, strict=True)]


def _label(cell: str | None) -> str | None:
    text = (cell or "").strip()
    return None if text in ("", "NaN", "nan") else text


def _names(frame: pl.DataFrame) -> str:
    return ", ".join(map(repr, frame.columns[:10])) + (", ..." if frame.width > 10 else "")


NO_TAG = "?"  # of a token that nobody has tagged yet


@dataclass(frozen=True)
class MergedSentences:
    """What became of sentences that came back; see `merge_sentences`.

    Parameters
    ----------
    sentences : list of Sentence
        All sentences, the new ones behind the old ones.
    n_new, n_same, n_replaced, n_empty : int
        Sentences that were added, such that were there with the same tags, such that got the tags that came back, and
        such that came back with a token still without a tag, which were left out.
    conflicts : list of (str, int, Sentence)
        Sentences tagged differently elsewhere, which were not added: file, number in it from 0, and the sentence.
    """

    sentences: list[Sentence]
    n_new: int
    n_same: int
    conflicts: list[tuple[str, int, Sentence]]
    n_replaced: int = 0
    n_empty: int = 0


def merge_sentences(
    data: Sequence[Sentence], files: Mapping[str, Sequence[Sentence]], tag: str, *, prefer_new: bool = False
) -> MergedSentences:
    """Add tagged sentences to others.

    Parameters
    ----------
    data : sequence of Sentence
        Those that are there.
    files : mapping of str to sequence of Sentence
        Those that came back, by the name of the file.
    tag : str
        Column of tags.
    prefer_new : bool, default=False
        Whether tags that came back replace different ones in the data. Files that disagree are never decided here.

    Returns
    -------
    MergedSentences
        A sentence that the data has with other tags is not added; of files that disagree, neither version is.

    Examples
    --------
    >>> a, b = Sentence(("Rome",), {"tag": ("LOC",)}), Sentence(("Rome",), {"tag": ("O",)})
    >>> merge_sentences([], {"one": [a], "two": [b]}, "tag").n_new
    0
    """
    is_tag = any(NO_TAG in sentence[tag] for sentence in data)  # then it is one like others
    came = [(name, number, sentence) for name, part in files.items() for number, sentence in enumerate(part)]
    done = [one for one in came if is_tag or NO_TAG not in one[2][tag]]
    versions = _versions(map(itemgetter(2), done), tag)
    merged = list(data)
    if prefer_new:
        agreed = {sentence.tokens: sentence for _, _, sentence in done if len(versions[sentence.tokens]) == 1}
        merged = _renewed(data, agreed, tag)
    replaced = [new.tokens for old, new in zip(data, merged, strict=True) if new is not old]
    conflicts, n_same = _add(merged, done, versions, set(replaced), tag)
    n_new = len(merged) - len(data)
    n_empty = len({sentence.tokens for _, _, sentence in came} - versions.keys())
    return MergedSentences(merged, n_new, n_same, conflicts, len(replaced), n_empty)


def _add(
    merged: list[Sentence],
    done: Sequence[tuple[str, int, Sentence]],
    versions: Mapping[tuple[str, ...], set[tuple[str, ...]]],
    changed: set[tuple[str, ...]],
    tag: str,
) -> tuple[list[tuple[str, int, Sentence]], int]:
    """Add the sentences that are new; return those in conflict, and how many are there already."""
    there = _versions(merged, tag)
    conflicts, n_same = [], 0
    for name, number, sentence in done:
        known = there.get(sentence.tokens, set())
        if sentence[tag] in known:
            n_same += sentence.tokens not in changed
        elif known or len(versions[sentence.tokens]) > 1:
            conflicts.append((name, number, sentence))
        else:
            there[sentence.tokens] = {sentence[tag]}
            merged.append(sentence)
    return conflicts, n_same


def _versions(sentences: Iterable[Sentence], tag: str) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return the ways in which sentences of the same tokens are tagged."""
    versions: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in sentences:
        versions.setdefault(sentence.tokens, set()).add(sentence[tag])
    return versions


def _renewed(data: Sequence[Sentence], agreed: Mapping[tuple[str, ...], Sentence], tag: str) -> list[Sentence]:
    """Put sentences that came back in the place of those that are tagged differently."""
    pairs = [(old, agreed.get(old.tokens, old)) for old in data]
    return [old if new[tag] == old[tag] else new for old, new in pairs]
