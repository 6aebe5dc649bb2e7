"""Merge new labels into a table or corpus."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
# The number of a row and its fingerprint: "row 70 (41efd366a834)"; in files of version 0.2 "69-41efd366a834", counted from 0.
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
    """The result of merging labels back; see `merge_labels`.

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
        Rows matched by number whose other cells came back changed; their cells in the data are kept.
    conflicts : list of Conflict
        Rows labeled differently, without a rule which label counts.
    unmatched : list of (str, int)
        Labeled rows that the data does not have: file, and row in it, counted from 0.
    new_labels : dict of str to str or None
        Labels that no row of the data had before, where some had one, and the known label with a similar spelling.
    replaced : list of (int, str, str)
        Rows whose label was replaced: the row, counted from 0, its label before, and the new one.
    """

    frame: pl.DataFrame
    n_new: int
    n_same: int
    n_empty: int
    n_changed: int
    conflicts: list[Conflict]
    unmatched: list[tuple[str, int]]
    new_labels: dict[str, str | None]
    replaced: list[tuple[int, str, str]]


def row_fingerprints(frame: pl.DataFrame, target: str) -> list[str]:
    """Return a short fingerprint of the contents of each row, whatever its label.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows.
    target : str
        The label column, which does not count.

    Returns
    -------
    list of str
        Equal for rows of equal cells. Whitespace around cells does not count, and numbers count by their value, since
        spreadsheets rewrite them.

    Examples
    --------
    >>> import polars as pl
    >>> one, two, three = row_fingerprints(pl.DataFrame({"x": ["1", "1.0", "2"], "y": ["a", "", ""]}), "y")
    >>> one == two, one == three
    (True, False)
    """
    columns = [frame[name].to_list() for name in sorted(frame.columns) if name != target and name not in ADDED]
    plain = cache(_plain)
    fingerprints = []
    for cells in zip(*columns, strict=True) if columns else [()] * frame.height:
        text = "\x1f".join(map(plain, cells))
        fingerprints.append(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest())
    return fingerprints


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
    X
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

    labels: list[str | None] = [None] * data.height
    if target in data.columns:
        labels = _labels_of(data, target)
    known = {label for label in labels if label is not None}
    places = _Places(row_fingerprints(data, target))
    arrived = []
    n_changed = 0
    for name, frame in files.items():
        rows, changed = _rows_of(name, frame, target, places)
        n_changed += changed
        selections = frame[SELECTION].cast(pl.String).to_list() if SELECTION in frame.columns else [None] * frame.height
        parts = zip(rows, _labels_of(frame, target), selections, strict=True)
        arrived += [_Arrived(name, number, *part) for number, part in enumerate(parts)]
    spelling = _Spelling(known, {one.label for one in arrived if one.label is not None})
    matched: dict[int, list[tuple[str, str]]] = {}
    for one in arrived:
        if one.row is not None and one.label is not None:
            matched.setdefault(one.row, []).append((one.file, spelling.of(one.label)))
    empty = {one.row if one.row is not None else (one.file, one.number) for one in arrived if one.label is None}
    n_new, n_same, conflicts, replaced = _settle(labels, matched, prefer_new, spelling)
    fresh = sorted(set(filter(None, labels)) - known) if known else []
    column = pl.Series(target, labels, dtype=pl.String)
    if target in data.columns:
        column = _cast_if_fitting(column, data.schema[target])
    return Merged(
        frame=data.with_columns(column, *_selections(data, arrived, matched)),
        n_new=n_new,
        n_same=n_same,
        n_empty=len(empty - matched.keys()),
        n_changed=n_changed,
        conflicts=conflicts,
        unmatched=[(one.file, one.number) for one in arrived if one.row is None and one.label is not None],
        new_labels={label: _like(label, known) for label in fresh},
        replaced=replaced,
    )


class _Arrived(NamedTuple):
    """A row of a file that came back: which row of the data it is, its label, and how it was chosen."""

    file: str
    number: int
    row: int | None
    label: str | None
    selection: str | None


def _selections(data: pl.DataFrame, arrived: Sequence[_Arrived], matched: Collection[int]) -> list[pl.Series]:
    """Return the column that keeps which rows were chosen by a strategy and which at random, if a file has it."""
    import polars as pl

    if not any(one.selection for one in arrived):
        return []
    kept = data[SELECTION].cast(pl.String).to_list() if SELECTION in data.columns else [None] * data.height
    for one in arrived:
        if one.row in matched and one.row is not None:
            kept[one.row] = kept[one.row] or one.selection
    return [pl.Series(SELECTION, kept, dtype=pl.String)]


class _Spelling:
    """How labels are spelled that are numbers: spreadsheets write the class 1 as 1.0, and 2.5 as 2,50.

    Where all labels are numbers, equal values are one label; otherwise only whole numbers with a tail of zeros are.
    """

    def __init__(self, known: Collection[str], arrived: Collection[str]) -> None:
        self._known = frozenset(known)
        self._all_numbers = all(_NUMBER.fullmatch(label) for label in (*known, *arrived))
        self._first: dict[float | str, str] = {}
        for group in (known, arrived):
            for label in sorted(group, key=lambda label: (len(label), label)):
                self._first.setdefault(self.meaning(label), label)

    def of(self, label: str) -> str:
        """Return a label as the data spells it, or as the shortest of the files does."""
        return label if label in self._known else self._first[self.meaning(label)]

    def meaning(self, label: str) -> float | str:
        """Return what is equal for labels that mean the same."""
        if self._all_numbers:
            return float(label.replace(",", "."))
        whole = _WHOLE.fullmatch(label)
        return label if whole is None else whole[1]


def _like(label: str, known: Collection[str]) -> str | None:
    """Return the known label that another one probably misspells; names that differ in numbers are different."""
    folded = {name.casefold(): name for name in sorted(known)}
    near = get_close_matches(label.casefold(), folded, n=1, cutoff=0.7)
    if not near or (label.casefold() != near[0] and _letters(label.casefold()) == _letters(near[0])):
        return None
    return folded[near[0]]


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdigit())


def _rows_of(name: str, frame: pl.DataFrame, target: str, places: _Places) -> tuple[list[int | None], int]:
    """Return which row of the data each row of a file is, and how many have changed."""
    if target not in frame.columns:
        names = ", ".join(map(repr, frame.columns[:10])) + (", ..." if frame.width > 10 else "")
        raise DataError(f"{name}: the file must have the column {target!r} of labels, got {names}.")
    rows, changed = places.rows_of(frame, target)
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
    labels: list[str | None], matched: Mapping[int, Sequence[tuple[str, str]]], prefer_new: bool, spelling: _Spelling
) -> tuple[int, int, list[Conflict], list[tuple[int, str, str]]]:
    """Fill in labels where all agree; return how many are new and the same, where they do not, and which were replaced."""
    n_new = n_same = 0
    conflicts, replaced = [], []
    for row in sorted(matched):
        sources, old = matched[row], labels[row]
        (_, new), meanings = sources[0], {spelling.meaning(label) for _, label in sources}
        same = old is not None and meanings == {spelling.meaning(old)}
        if same:
            n_same += 1
        elif len(meanings) > 1 or (old is not None and not prefer_new):
            before = [] if old is None else [("the data", old)]
            conflicts.append(Conflict(row, (*before, *sources), old))
        else:
            labels[row] = new
            n_new += old is None
            replaced += [] if old is None else [(row, old, new)]
    return n_new, n_same, conflicts, replaced


class _Places:
    """The rows of a table by number and by contents."""

    def __init__(self, fingerprints: list[str]) -> None:
        self.fingerprints = fingerprints
        self.by_fingerprint: dict[str, list[int]] = {}
        for row, fingerprint in enumerate(fingerprints):
            self.by_fingerprint.setdefault(fingerprint, []).append(row)

    def rows_of(self, frame: pl.DataFrame, target: str) -> tuple[list[int | None], int]:
        """Return the row of the table for each row of a file, and how many of these came back changed."""
        column = frame[ROW].to_list() if ROW in frame.columns else [""] * frame.height
        used: Counter[str] = Counter()
        rows: list[int | None] = []
        n_changed = 0
        for ticket, fingerprint in zip(column, row_fingerprints(frame, target), strict=True):
            row = self._by_ticket(str(ticket or ""))
            if row is None and fingerprint in self.by_fingerprint:
                same = self.by_fingerprint[fingerprint]
                row = same[min(used[fingerprint], len(same) - 1)]
                used[fingerprint] += 1
            elif row is not None:
                n_changed += self.fingerprints[row] != fingerprint
            rows.append(row)
        return rows, n_changed

    def _by_ticket(self, ticket: str) -> int | None:
        match = _TICKET.fullmatch(ticket.strip())
        if match is None or match[3] not in self.by_fingerprint:
            return None
        same, row = self.by_fingerprint[match[3]], int(match[1]) - 1 if match[1] else int(match[2])
        if row in same:
            return row
        return same[0] if len(same) == 1 else None


def tickets(frame: pl.DataFrame, target: str, rows: Sequence[int]) -> list[str]:
    """Return the column ``next_row``: the number of each row, counted from 1 as on the screen, and its fingerprint."""
    fingerprints = row_fingerprints(frame[list(rows)], target)
    return [f"row {row + 1} ({fingerprint})" for row, fingerprint in zip(rows, fingerprints, strict=True)]


def _labels_of(frame: pl.DataFrame, target: str) -> list[str | None]:
    import polars as pl

    cells = [(cell or "").strip() for cell in frame[target].cast(pl.String).to_list()]
    return [None if cell in ("", "NaN", "nan") else cell for cell in cells]


NO_TAG = "?"  # of a token that nobody has tagged yet


@dataclass(frozen=True)
class MergedSentences:
    """The result of merging sentences; see `merge_sentences`.

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
    versions = _versions((sentence for _, _, sentence in done), tag)
    merged = list(data)
    if prefer_new:
        agreed = {sentence.tokens: sentence for _, _, sentence in done if len(versions[sentence.tokens]) == 1}
        pairs = [(old, agreed.get(old.tokens, old)) for old in data]
        merged = [old if new[tag] == old[tag] else new for old, new in pairs]
    replaced = {new.tokens for old, new in zip(data, merged, strict=True) if new is not old}
    n_replaced = sum(new is not old for old, new in zip(data, merged, strict=True))
    there, conflicts, n_same = _versions(merged, tag), [], 0
    for name, number, sentence in done:
        known = there.get(sentence.tokens, set())
        if sentence[tag] in known:
            n_same += sentence.tokens not in replaced
        elif known or len(versions[sentence.tokens]) > 1:
            conflicts.append((name, number, sentence))
        else:
            there[sentence.tokens] = {sentence[tag]}
            merged.append(sentence)
    n_empty = len({sentence.tokens for _, _, sentence in came} - versions.keys())
    return MergedSentences(merged, len(merged) - len(data), n_same, conflicts, n_replaced, n_empty)


def _versions(sentences: Iterable[Sentence], tag: str) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return the ways in which sentences of the same tokens are tagged."""
    versions: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in sentences:
        versions.setdefault(sentence.tokens, set()).add(sentence[tag])
    return versions
