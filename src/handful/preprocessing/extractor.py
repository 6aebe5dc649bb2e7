"""Feature extraction: sentences to a matrix of feature numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from handful.errors import DataError, ParameterError
from handful.kernels.hashing import KeyTable, empty_table, find_keys, make_key_table, number_keys, shift_ids
from handful.persistence.schema import Array, DictOf, ListOf, Maybe, Number, Record, Text, check_state, stored
from handful.preprocessing.templates import (
    TOKEN_COLUMN,
    Atom,
    Column,
    Lookup,
    Template,
    Tokens,
    parse_templates,
    read_column,
    sentence_offsets,
    word_function,
)
from handful.preprocessing.word_tables import ClusterWords, FoldedTable, HashedTable, Values, as_asked

BEFORE, AFTER, N_PADS = 0, 1, 2
PAD_NAMES = ("<s>", "</s>")


@dataclass(eq=False)
class Batch:
    """Sentences as columns, with what has been computed for their distinct strings.

    Parameters
    ----------
    columns : dict of str to Column
        The columns that templates read.
    offsets : ndarray of int64
        Where each sentence starts.
    lookups : mapping of str to mapping or HashedTable
        Tables from a word to one or several strings.
    codes : dict
        Codes of values, filled by the extractor.
    """

    columns: dict[str, Column]
    offsets: np.ndarray
    lookups: Mapping[str, Lookup | HashedTable]
    codes: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)
    _strings: dict[str, list[list[str | None]]] = field(default_factory=dict)
    _places: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def column_of(self, atom: Atom) -> str:
        """Return the column of the sentences that an atom reads."""
        return TOKEN_COLUMN if atom.column in self.lookups else atom.column

    def strings(self, atom: Atom) -> list[list[str | None]]:
        """Return the value of an atom for each distinct string; several lists where a lookup gives several values."""
        cached = self._strings.get(atom.space)
        if cached is None:
            values = self.columns[self.column_of(atom)].values
            table = self.lookups.get(atom.column)
            rows = [list(values)] if table is None else _look_up(table, values)
            cached = self._strings[atom.space] = [applied(atom, row) for row in rows]
        return cached

    def hashes(self, atom: Atom, place: int) -> np.ndarray:
        """Return a hash of each distinct string and of both pads; 0 where there is no value."""
        rows = self.strings(atom)
        row = rows[place] if place < len(rows) else [None] * len(rows[0])
        pads: list[str | None] = list(PAD_NAMES) if atom.first == atom.last else [None, None]
        return np.array([0 if v is None else _hash(v) for v in row + pads], dtype=np.uint64)

    def at(self, name: str, offset: int) -> np.ndarray:
        """Return for each token the index of the string that stands `offset` away, with pads beyond the ends."""
        cached = self._places.get((name, offset))
        if cached is None:
            column = self.columns[name]
            cached = np.empty(len(self), dtype=np.int32)
            shift_ids(column.ids, self.offsets, offset, len(column.values) + BEFORE, len(column.values) + AFTER, cached)
            self._places[name, offset] = cached
        return cached


def applied(atom: Atom, strings: Sequence[str | None]) -> list[str | None]:
    """Return the functions of an atom, one after the other, of each string."""
    row = list(strings)
    for name in atom.functions:
        function = word_function(name)
        row = [None if v is None else function(v) for v in row]
    return row


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1


def _look_up(table: Lookup | HashedTable, words: list[str]) -> Sequence[Sequence[str | None]]:
    if isinstance(table, HashedTable):
        values = table.find(words)
    else:
        values = [(v,) if isinstance(v, str) else tuple(v) for v in (table.get(word, ()) for word in words)]
    width = max(map(len, values), default=1) or 1
    return [[row[place] if place < len(row) else None for row in values] for place in range(width)]


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates of the tokens of many sentences.

    Predicates that depend on one word at one distance always fire together; they are kept once for each such word (a
    row), and a token names its rows. Other predicates are named by the token itself.

    Parameters
    ----------
    rows : ndarray of int32, shape (n_tokens, n_groups)
        Rows of each token.
    row_offsets, row_ids : ndarray
        Row r stands for the predicates ``row_ids[row_offsets[r]:row_offsets[r + 1]]``.
    direct : ndarray of int32, shape (n_tokens, n_direct)
        Further predicates of each token; -1 for none.
    offsets : ndarray of int64, shape (n_sentences + 1,)
        Sentence i has the tokens from ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> rows, direct = np.array([[0], [1]], dtype=np.int32), np.array([[7], [-1]], dtype=np.int32)
    >>> found = Predicates(rows, np.array([0, 2, 3]), np.array([4, 5, 6], dtype=np.int32), direct, np.array([0, 2]))
    >>> found.ids.tolist()
    [[4, 5, 7], [6, -1, -1]]
    """

    rows: np.ndarray
    row_offsets: np.ndarray
    row_ids: np.ndarray
    direct: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, ids: np.ndarray, offsets: np.ndarray) -> Predicates:
        """Build from a plain matrix of predicates a token, -1 for none."""
        none = np.empty((len(ids), 0), dtype=np.int32)
        return cls(none, np.zeros(1, dtype=np.int64), none.ravel(), np.asarray(ids, dtype=np.int32), offsets)

    @property
    def ids(self) -> np.ndarray:
        """All predicates as a matrix, one line per token, filled up with -1."""
        counts = np.diff(self.row_offsets)
        parts = [self.direct]
        for column in self.rows.T[::-1]:
            widest = int(counts[column].max(initial=0))
            place = np.arange(widest)
            at = self.row_offsets[column][:, None] + place
            inside = place < counts[column][:, None]
            parts.insert(0, np.where(inside, np.append(self.row_ids, -1)[np.where(inside, at, -1)], -1))
        return np.concatenate(parts, axis=1).astype(np.int32)

    def only(self, wanted: np.ndarray) -> Predicates:
        """Return some predicates alone.

        Parameters
        ----------
        wanted : ndarray of bool, shape (n_predicates,)
            Which to keep.
        """
        flags = np.append(wanted, False)
        kept = flags[self.row_ids]
        row_offsets = np.concatenate([[0], np.cumsum(kept)])[self.row_offsets]
        filled = np.diff(row_offsets) > 0
        groups = [bool(filled[column].any()) for column in self.rows.T]
        direct = np.where(flags[self.direct], self.direct, np.int32(-1))
        used = (direct >= 0).any(axis=0)
        return Predicates(self.rows[:, groups], row_offsets, self.row_ids[kept], direct[:, used], self.offsets)


_FIRES = {"hyphen": "has a hyphen", "digit": "has a digit", "capital": "starts with a capital"}
_CAPITALS = {"I": "a capital first", "A": "capitals only", "M": "capitals inside", "-": ""}
_DIGITS = {"A": "digits only", "S": "some digits", "-": ""}
_MARKS = {"A": "punctuation only", "S": "some punctuation", "-": ""}


def in_words(
    slot: Sequence[Atom],
    values: Sequence[str],
    clusters: Mapping[str, ClusterWords] | None = None,
    without: Collection[str] = (),
) -> str:
    """Say what was observed.

    Parameters
    ----------
    slot : sequence of Atom
        What was looked at.
    values : sequence of str
        What was found there.
    clusters : mapping of str to ClusterWords, optional
        Words of clusters, by the name of the table that was looked into.
    without : collection of str
        Words that are no examples of a cluster, such as those of the sentence.

    Returns
    -------
    str
        A phrase.

    Examples
    --------
    >>> from handful.preprocessing import parse_templates
    >>> in_words(parse_templates(["word.lower[-1]|word.type[0]"])[0].atoms, ["in", "I--"])
    'the word before is "in", and the word has a capital first'
    >>> clusters = {"brown": ClusterWords({"monday": "1110", "friday": "1110"})}
    >>> in_words(parse_templates(["brown.prefix4[1]"])[0].atoms, ["1110"], clusters)
    'the word after is of a cluster with "monday", "friday" (brown 1110)'
    """
    phrases = [_phrase(atom, value, clusters or {}, without) for atom, value in zip(slot, values, strict=True)]
    return ", and ".join(phrases) or "the tag itself, whatever the words"


def _phrase(atom: Atom, value: str, clusters: Mapping[str, ClusterWords], without: Collection[str]) -> str:
    if value in PAD_NAMES and (atom.first or atom.last):
        return f"the sentence {'begins' if atom.last < 0 else 'ends'} {_distance(atom)} the word"
    place = _place(atom)
    subject = place if atom.column == "word" else f"{atom.column} of {place}"
    if atom.column in clusters and set(value) <= set("01"):
        shared = ", ".join(f'"{word}"' for word in clusters[atom.column].sharing(value, without))
        return (
            f"{place} is of {f'a cluster with {shared}' if shared else 'one cluster of words'} ({atom.column} {value})"
        )
    function = atom.functions[-1] if atom.functions else ""
    if function in _FIRES:
        return f"{subject} {_FIRES[function]}"
    if function == "type":
        present = [
            kind[letter] for kind, letter in zip((_CAPITALS, _DIGITS, _MARKS), value, strict=True) if kind[letter]
        ]
        return f"{subject} has {' and '.join(present) or 'small letters only'}"
    verb = "starts with" if function.startswith("prefix") else "ends in" if function.startswith("suffix") else "is"
    if function in ("shape", "pattern"):
        verb = "is written like"
    return f'{subject} {verb} "{value}"'


def _place(atom: Atom) -> str:
    if atom.first != atom.last:
        side = "before" if atom.last < 0 else "after" if atom.first > 0 else "around"
        return f"one of the {atom.last - atom.first + 1} words {side}"
    if atom.first == 0:
        return "the word"
    side = "before" if atom.first < 0 else "after"
    nth = {1: "word", 2: "second word"}.get(abs(atom.first), f"word {abs(atom.first)} places")
    return f"the {nth} {side}"


def _distance(atom: Atom) -> str:
    side = "before" if atom.first < 0 else "after"
    return f"right {side}" if abs(atom.first) == 1 else f"less than {abs(atom.first)} words {side}"


Slot = tuple[Atom, ...]


class Extractor:
    """Turn sentences into predicate numbers.

    Parameters
    ----------
    templates : iterable of str
        Templates; see `handful.preprocessing.templates`.
    min_count : int
        Drop predicates seen less often than this.
    hash_bits : int or None
        If given, keep no vocabulary: each template has 2 to the power of this many buckets.
    lookups : mapping of str to mapping or HashedTable, or None
        Tables from a word to a string or several strings; a template reads them by name.

    Attributes
    ----------
    templates : list of Template
        The compiled templates.
    slots : list of tuple of Atom
        Distinct observations; templates that differ only in ``u`` and ``b`` share one.
    n_predicates : int
        Predicates after `fit`.

    Notes
    -----
    Predicates are numbered slot by slot, in the order of first sight. Outside the sentence a single position reads
    ``<s>`` or ``</s>``; a window reads nothing there.

    Examples
    --------
    >>> extractor = Extractor(["word[0]", "word.lower[-1]"]).fit([["A", "b"], ["a"]])
    >>> extractor.names(range(extractor.n_predicates))
    ['word[0]=A', 'word[0]=b', 'word[0]=a', 'word.lower[-1]=<s>', 'word.lower[-1]=a']
    >>> extractor.transform([["b", "x"]]).ids.tolist()
    [[1, 3], [-1, -1]]
    """

    def __init__(
        self,
        templates: Iterable[str],
        *,
        min_count: int = 1,
        hash_bits: int | None = None,
        lookups: Mapping[str, Any] | None = None,
    ) -> None:
        self.templates: list[Template] = parse_templates(templates)
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.lookups = {name: _as_lookup(name, table) for name, table in (lookups or {}).items()}
        needed = [t.atoms for t in self.templates if t.atoms or not t.pairs]
        self.slots: list[Slot] = list(dict.fromkeys(needed))
        self._widths = {name: _most_values(table) for name, table in self.lookups.items()}
        self._strings: dict[str, list[str]] = {}
        self._codes: dict[str, dict[str, int]] = {}
        self._keys: list[np.ndarray] = []
        self._tables: list[KeyTable | np.ndarray] = []
        self.starts = np.zeros(len(self.slots) + 1, dtype=np.int64)

    @property
    def n_predicates(self) -> int:
        """Number of predicates."""
        return int(self.starts[-1])

    @property
    def columns(self) -> list[str]:
        """Columns of the sentences that the templates read; lookups read the words."""
        names = [TOKEN_COLUMN if a.column in self.lookups else a.column for slot in self.slots for a in slot]
        return list(dict.fromkeys([TOKEN_COLUMN, *names]))

    def predicates_with(self, *, pairs: bool) -> np.ndarray:
        """Tell which predicates go with labels, or with label pairs."""
        wanted = {t.atoms for t in self.templates if t.pairs == pairs and (t.atoms or not pairs)}
        return np.repeat([slot in wanted for slot in self.slots], np.diff(self.starts))

    def fit(self, sentences: Sequence[Tokens], *, who: str = "Extractor") -> Extractor:
        """Learn which predicates there are.

        Parameters
        ----------
        sentences : sequence of sequences of str, or of Sentence
            The text.
        who : str
            Name of the caller, for errors.

        Returns
        -------
        Extractor
            Itself.
        """
        self.fit_transform(sentences, who=who)
        return self

    def fit_transform(self, sentences: Sequence[Tokens], *, who: str = "Extractor") -> Predicates:
        """Learn which predicates there are and return those of the same sentences; see `fit` and `transform`."""
        batch = self._batch(sentences, who)
        if self.hash_bits is not None:
            self.starts = np.arange(len(self.slots) + 1, dtype=np.int64) << self.hash_bits
            return self._read(batch)
        self._strings, self._codes = {}, {}
        for atom in dict.fromkeys(atom for slot in self.slots for atom in slot):
            known: dict[str, None] = dict.fromkeys(self._strings.get(atom.space, ()))
            for values in batch.strings(atom):
                known.update(dict.fromkeys(value for value in values if value is not None))
            self._strings[atom.space] = list(known)
        self._index_spaces()
        for slot in self.slots:
            self._check_size(slot)
        self._set_keys([self._learn(batch, slot) for slot in self.slots])
        return self._read(batch)

    def transform(self, sentences: Sequence[Tokens], *, who: str = "Extractor") -> Predicates:
        """Return the predicates of sentences.

        Parameters
        ----------
        sentences : sequence of sequences of str, or of Sentence
            The text.
        who : str
            Name of the caller, for errors.

        Returns
        -------
        Predicates
            One row per token.
        """
        return self._read(self._batch(sentences, who))

    def keep(self, kept: np.ndarray) -> Extractor:
        """Return an extractor that knows only some predicates, numbered anew in the same order.

        Parameters
        ----------
        kept : ndarray of bool, shape (n_predicates,)
            Which to keep.
        """
        smaller = self._twin()
        if self.hash_bits is not None:
            smaller.starts = self.starts
            return smaller
        parts = [keys[kept[a:b]] for keys, a, b in zip(self._keys, self.starts, self.starts[1:], strict=False)]
        decoded = [self._split(slot, keys) for slot, keys in zip(self.slots, parts, strict=True)]
        renumber = {}
        for space, flags in self._used(decoded).items():
            renumber[space] = np.cumsum(flags) - 1
            smaller._strings[space] = [s for s, keep in zip(self._strings[space], flags[N_PADS:], strict=True) if keep]
        smaller._index_spaces()
        keys = [
            smaller._join(slot, [renumber[a.space][c] for a, c in zip(slot, codes, strict=True)], len(part))
            for slot, codes, part in zip(self.slots, decoded, parts, strict=True)
        ]
        smaller._set_keys(keys)
        return smaller

    def with_small_lookups(self) -> Extractor:
        """Return an extractor that says the same of every word that its tables have, with smaller tables.

        Returns
        -------
        Extractor
            With a `HashedTable` for each table: values in which no known predicate sees a difference are one there, and
            words of whose values none is known are left out.
        """
        small = {name: self._small(name, table) for name, table in self.lookups.items()}
        return Extractor.from_state(self.state(), small)

    def _small(self, name: str, table: Lookup | HashedTable) -> HashedTable:
        if isinstance(table, HashedTable):
            return table
        if self.hash_bits is not None:
            return HashedTable().fit(table)
        values = {word: (v,) if isinstance(v, str) else tuple(v) for word, v in table.items()}
        distinct = list(dict.fromkeys(values.values()))
        parts = list(dict.fromkeys(part for value in distinct for part in value))
        read: dict[str, tuple[int, ...]] = dict.fromkeys(parts, ())
        for atom in {atom.space: atom for slot in self.slots for atom in slot if atom.column == name}.values():
            known = self._codes[atom.space]
            for part, string in zip(parts, applied(atom, parts), strict=True):
                read[part] += (-1 if string is None else known.get(string, -1),)
        first: dict[tuple[tuple[int, ...], ...], Values] = {}
        same = {value: first.setdefault(tuple(read[part] for part in value), value) for value in distinct}
        dumb = {value for value in distinct if all(code < 0 for part in value for code in read[part])}
        kept = {word: same[value] for word, value in values.items() if value not in dumb}
        return HashedTable().fit(FoldedTable(kept) if isinstance(table, FoldedTable) else kept)

    def _used(self, decoded: Sequence[Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
        """Tell for each space which of its codes are used; those of pads always are."""
        used: dict[str, np.ndarray] = {
            space: np.zeros(len(s) + N_PADS, dtype=bool) for space, s in self._strings.items()
        }
        for slot, codes in zip(self.slots, decoded, strict=True):
            for atom, column in zip(slot, codes, strict=True):
                used[atom.space][column] = True
        for flags in used.values():
            flags[:N_PADS] = True
        return used

    def names(self, ids: Iterable[int]) -> list[str]:
        """Return predicates as templates have them, such as ``word[0]=Rome``."""
        return [
            f"{'|'.join(map(str, slot))}={'|'.join(values)}" if slot else "u" for slot, values in map(self._found, ids)
        ]

    def in_words(self, ids: Iterable[int], without: Collection[str] = ()) -> list[str]:
        """Return predicates in words, such as ``the word is "Rome"``; words of `without` are no examples of clusters."""
        if self.hash_bits is not None:
            return self.names(ids)
        return [in_words(slot, values, self._cluster_words, without) for slot, values in map(self._found, ids)]

    @cached_property
    def _cluster_words(self) -> dict[str, ClusterWords]:
        return {name: ClusterWords(table) for name, table in self.lookups.items()}

    def _found(self, number: int) -> tuple[tuple[Atom, ...], list[str]]:
        """Return what a predicate looks at and what it found there."""
        slot_number = int(np.searchsorted(self.starts, number, side="right")) - 1
        slot, inside = self.slots[slot_number], number - self.starts[slot_number]
        if not slot:
            return slot, []
        if self.hash_bits is not None:
            return slot, [f"#{inside}"]
        codes = self._split(slot, np.array([self._keys[slot_number][inside]]))
        return slot, [self._name(a.space, int(c[0])) for a, c in zip(slot, codes, strict=True)]

    STATE = Record(
        stored(
            templates=ListOf(Text(), "t"),
            min_count=Number(int, low=1),
            hash_bits=Maybe(Number(int, low=1, high=24)),
            strings=DictOf(ListOf(Text())),
            keys=ListOf(Array("i8", "_", low=0)),
        )
    )

    def state(self) -> dict[str, Any]:
        """Return everything but the lookups as plain lists and arrays, for a model file."""
        return {
            "templates": [str(t) for t in self.templates],
            "min_count": self.min_count,
            "hash_bits": self.hash_bits,
            "strings": self._strings,
            "keys": self._keys,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], lookups: Mapping[str, Any] | None = None) -> Extractor:
        """Rebuild an extractor from `state`, refusing what `state` cannot have written."""
        check_state("Extractor", cls.STATE.fields, state)
        bits = state["hash_bits"]
        new = cls(state["templates"], min_count=state["min_count"], hash_bits=bits, lookups=lookups)
        if bits is not None:
            new.starts = np.arange(len(new.slots) + 1, dtype=np.int64) << bits
            return new
        new._strings = {space: list(strings) for space, strings in state["strings"].items()}
        spaces = {atom.space for slot in new.slots for atom in slot}
        if set(new._strings) != spaces or len(state["keys"]) != len(new.slots):
            raise DataError("Extractor: the stored vocabulary does not fit the templates.")
        new._index_spaces()
        for slot, keys in zip(new.slots, state["keys"], strict=True):
            _check_keys(keys, new._check_size(slot))
        new._set_keys(list(state["keys"]))
        return new

    def _twin(self) -> Extractor:
        return Extractor(
            map(str, self.templates), min_count=self.min_count, hash_bits=self.hash_bits, lookups=self.lookups
        )

    def _batch(self, sentences: Sequence[Tokens], who: str) -> Batch:
        offsets = sentence_offsets(sentences, who)
        columns = {name: read_column(sentences, name, who) for name in self.columns}
        return Batch(columns, offsets, self.lookups)

    def _variants(self, slot: Slot) -> list[tuple[tuple[int, int], ...]]:
        """List what a slot reads: for each of its columns one (position, place among several values) an atom."""
        choices = []
        for atom in slot:
            places = range(self._widths.get(atom.column, 1))
            choices.append([(k, v) for k in range(atom.first, atom.last + 1) for v in places])
        return list(product(*choices))

    def _index_spaces(self) -> None:
        self._codes = {
            space: {s: i for i, s in enumerate(strings, start=N_PADS)} for space, strings in self._strings.items()
        }

    def _set_keys(self, keys: list[np.ndarray]) -> None:
        self._keys = keys
        np.cumsum([len(k) for k in keys], out=self.starts[1:])
        self._tables = []
        for slot, known in zip(self.slots, keys, strict=True):
            if len(slot) == 1:
                direct = np.full(self._size(slot[0]), -1, dtype=np.int32)
                direct[known] = np.arange(len(known))
                self._tables.append(direct)
            else:
                self._tables.append(make_key_table(known))

    def _learn(self, batch: Batch, slot: Slot) -> np.ndarray:
        n_most = min(len(batch) * len(self._variants(slot)), self._check_size(slot))
        table = empty_table(n_most)
        distinct, counts = np.zeros((2, n_most), dtype=np.int64)
        n_known = 0
        for variant in self._variants(slot):
            n_known = number_keys(self._slot_keys(batch, slot, variant), table, distinct, counts, n_known)
        return distinct[:n_known][counts[:n_known] >= self.min_count].copy()

    def _slot_keys(self, batch: Batch, slot: Slot, variant: tuple[tuple[int, int], ...]) -> np.ndarray:
        codes = [
            self._atom_codes(batch, a, place)[batch.at(batch.column_of(a), k)]
            for a, (k, place) in zip(slot, variant, strict=True)
        ]
        return self._join(slot, codes, len(batch))

    def _atom_codes(self, batch: Batch, atom: Atom, place: int) -> np.ndarray:
        """Return the code of an atom for each distinct string of its column, then for both pads."""
        cached = batch.codes.get((atom.space, place))
        if cached is None:
            values = batch.strings(atom)
            known = self._codes[atom.space]
            codes = [known.get(v, -1) if v is not None else -1 for v in values[place]] if place < len(values) else []
            filled = codes if codes else [-1] * len(values[0])
            cached = np.array([*filled, BEFORE, AFTER], dtype=np.int64)
            batch.codes[atom.space, place] = cached
        if atom.first == atom.last:
            return cached
        unpadded = cached.copy()
        unpadded[-N_PADS:] = -1
        return unpadded

    def _read(self, batch: Batch) -> Predicates:
        groups: dict[tuple[str, int], list[np.ndarray]] = {}
        direct = []
        for number, slot in enumerate(self.slots):
            for variant in self._variants(slot):
                if len(slot) == 1:
                    of_string = self._string_predicates(batch, number, variant[0][1])
                    groups.setdefault((batch.column_of(slot[0]), variant[0][0]), []).append(of_string)
                else:
                    direct.append(self._token_predicates(batch, number, variant))
        rows = np.empty((len(batch), len(groups)), dtype=np.int32)
        tables = []
        n_rows = 0
        for column, ((name, offset), of_strings) in enumerate(groups.items()):
            np.add(batch.at(name, offset), n_rows, out=rows[:, column], casting="unsafe")
            tables.append(np.stack(of_strings, axis=1))
            n_rows += len(of_strings[0])
        row_ids = np.concatenate([table[table >= 0] for table in tables]) if tables else np.empty(0, dtype=np.int32)
        counts = [(table >= 0).sum(axis=1) for table in tables]
        row_offsets = np.concatenate([[0], np.cumsum(np.concatenate([[0], *counts])[1:])]).astype(np.int64)
        named = np.stack(direct, axis=1) if direct else np.empty((len(batch), 0), dtype=np.int32)
        return Predicates(rows, row_offsets, row_ids, named, batch.offsets)

    def _string_predicates(self, batch: Batch, number: int, place: int) -> np.ndarray:
        """Return the predicate of each distinct string (and of both pads) for a slot of one atom."""
        atom, base = self.slots[number][0], int(self.starts[number])
        if self.hash_bits is not None:
            return self._hashed([batch.hashes(atom, place)], number)
        codes = self._atom_codes(batch, atom, place)
        numbers = np.where(codes >= 0, self._tables[number][codes], -1)
        return np.where(numbers >= 0, numbers + base, -1).astype(np.int32)

    def _token_predicates(self, batch: Batch, number: int, variant: tuple[tuple[int, int], ...]) -> np.ndarray:
        """Return the predicate of each token for a slot of no atom, or of several."""
        slot = self.slots[number]
        if self.hash_bits is not None and slot:
            places = zip(slot, variant, strict=True)
            return self._hashed([batch.hashes(a, v)[batch.at(batch.column_of(a), k)] for a, (k, v) in places], number)
        if not slot:
            return np.full(len(batch), self.starts[number], dtype=np.int32)
        predicates = np.empty(len(batch), dtype=np.int32)
        find_keys(self._slot_keys(batch, slot, variant), self._tables[number], int(self.starts[number]), predicates)
        return predicates

    def _hashed(self, parts: list[np.ndarray], number: int) -> np.ndarray:
        assert self.hash_bits is not None
        mixed = np.full(len(parts[0]), number + 1, dtype=np.uint64)
        silent = np.zeros(len(parts[0]), dtype=bool)
        for codes in parts:
            silent |= codes == 0
            mixed = (mixed ^ codes) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(31)
        bucket = (mixed >> np.uint64(64 - self.hash_bits)).astype(np.int64) + self.starts[number]
        return np.where(silent, -1, bucket).astype(np.int32)

    def _size(self, atom: Atom) -> int:
        return len(self._strings[atom.space]) + N_PADS

    def _check_size(self, slot: Slot) -> int:
        limit = math.prod(self._size(atom) for atom in slot)
        if limit >= 2**62:
            joined = "|".join(map(str, slot))
            raise ParameterError(f"templates: {joined!r} joins too many different values. Join fewer parts, or hash.")
        return limit

    def _join(self, slot: Slot, codes: Sequence[np.ndarray], n: int) -> np.ndarray:
        """Join the codes of a slot's atoms into one key; -1 where any is missing."""
        if not slot:
            return np.zeros(n, dtype=np.int64)
        keys = codes[0].astype(np.int64)
        missing = keys < 0
        for atom, more in zip(slot[1:], codes[1:], strict=True):
            missing |= more < 0
            keys = keys * self._size(atom) + more
        keys[missing] = -1
        return keys

    def _split(self, slot: Slot, keys: np.ndarray) -> list[np.ndarray]:
        codes = []
        for atom in reversed(slot):
            keys, code = np.divmod(keys, self._size(atom))
            codes.append(code)
        return codes[::-1]

    def _name(self, space: str, code: int) -> str:
        return PAD_NAMES[code] if code < N_PADS else self._strings[space][code - N_PADS]


def _as_lookup(name: str, table: Any) -> Lookup | HashedTable:
    if isinstance(table, HashedTable):
        return table
    paths = getattr(table, "paths_", table)
    if not isinstance(paths, Mapping):
        raise ParameterError(
            f"lookups: {name!r} must be a mapping from words to strings or fitted clusters, got {type(table).__name__}."
        )
    return as_asked(paths)


def _most_values(table: Lookup | HashedTable) -> int:
    if isinstance(table, HashedTable):
        return table.width
    return max((1 if isinstance(v, str) else len(v) for v in table.values()), default=1) or 1


def _check_keys(keys: np.ndarray, limit: int) -> None:
    if len(np.unique(keys)) != len(keys) or (len(keys) and keys.max() >= limit):
        raise DataError("Extractor: the stored vocabulary is damaged.")


def joined(extractors: Sequence[Extractor]) -> Extractor:
    """Return an extractor that knows what any of several knows.

    Parameters
    ----------
    extractors : sequence of Extractor
        With the same templates and lookups, and a vocabulary.

    Returns
    -------
    Extractor
        Predicates of the first in their order, then what the second adds, and so on, template by template.

    Examples
    --------
    >>> first, second = (Extractor(["word[0]"]).fit([words]) for words in (["a", "b"], ["c", "a"]))
    >>> joined([first, second]).names(range(3))
    ['word[0]=a', 'word[0]=b', 'word[0]=c']
    """
    states = [extractor.state() for extractor in extractors]
    first = extractors[0]
    strings: dict[str, list[str]] = {}
    for space in states[0]["strings"]:
        strings[space] = list(dict.fromkeys(s for state in states for s in state["strings"][space]))
    index = _index(strings)
    recoded = [_recoded(extractor, state, index) for extractor, state in zip(extractors, states, strict=True)]
    keys = []
    for several in zip(*recoded, strict=True):
        both = np.concatenate(several)
        _, at = np.unique(both, return_index=True)
        keys.append(both[np.sort(at)])
    return Extractor.from_state(states[0] | {"strings": strings, "keys": keys}, first.lookups)


def numbers_in(extractor: Extractor, other: Extractor) -> np.ndarray:
    """Find the predicates of one extractor in another one.

    Parameters
    ----------
    extractor : Extractor
        Whose predicates to find.
    other : Extractor
        Where to find them; with the same templates.

    Returns
    -------
    ndarray of int64, shape (extractor.n_predicates,)
        Number of each predicate in the other, -1 where it is not there.

    Examples
    --------
    >>> first, second = (Extractor(["word[0]"]).fit([words]) for words in (["a", "b"], ["c", "a"]))
    >>> numbers_in(first, second).tolist()
    [1, -1]
    """
    if extractor.hash_bits is not None:
        return np.arange(extractor.n_predicates)
    state = other.state()
    wanted = _recoded(extractor, extractor.state(), _index(state["strings"]))
    numbers = []
    for keys, known, start in zip(wanted, state["keys"], other.starts, strict=False):
        order = np.argsort(known)
        at = np.minimum(np.searchsorted(known[order], keys), max(len(known) - 1, 0))
        here = order[at] if len(known) else at
        hit = (known[here] == keys) if len(known) else np.zeros(len(keys), dtype=bool)
        numbers.append(np.where(hit, here + start, -1))
    return np.concatenate([np.empty(0, dtype=np.int64), *numbers])


def _index(strings: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    return {space: {s: i for i, s in enumerate(words, start=N_PADS)} for space, words in strings.items()}


def _recoded(extractor: Extractor, state: dict[str, Any], index: dict[str, dict[str, int]]) -> list[np.ndarray]:
    """Return the keys of an extractor's predicates as another numbering of strings writes them; -1 where it cannot."""
    codes = {
        space: np.array([*range(N_PADS), *(index[space].get(s, -1) for s in strings)], dtype=np.int64)
        for space, strings in state["strings"].items()
    }
    recoded = []
    for slot, keys in zip(extractor.slots, state["keys"], strict=True):
        rest, parts = keys, []
        for atom in reversed(slot):
            rest, code = np.divmod(rest, len(codes[atom.space]))
            parts.append(codes[atom.space][code])
        joint = np.zeros(len(keys), dtype=np.int64)
        known = np.ones(len(keys), dtype=bool)
        for atom, part in zip(slot, reversed(parts), strict=True):
            joint = joint * (len(index[atom.space]) + N_PADS) + part
            known &= part >= 0
        recoded.append(np.where(known, joint, -1))
    return recoded


def in_order(extractor: Extractor) -> tuple[Extractor, np.ndarray]:
    """Return an extractor with the same predicates, numbered by their strings and not by first sight.

    Parameters
    ----------
    extractor : Extractor
        With a vocabulary.

    Returns
    -------
    ordered : Extractor
        Template by template, predicates in alphabetical order.
    numbers : ndarray of int64
        New number of each old predicate.

    Examples
    --------
    >>> ordered, numbers = in_order(Extractor(["word[0]"]).fit([["b", "a"]]))
    >>> ordered.names(range(2)), numbers.tolist()
    (['word[0]=a', 'word[0]=b'], [1, 0])
    """
    state = extractor.state()
    strings = {space: sorted(values) for space, values in state["strings"].items()}
    keys = [np.sort(numbers) for numbers in _recoded(extractor, state, _index(strings))]
    ordered = Extractor.from_state(state | {"strings": strings, "keys": keys}, extractor.lookups)
    return ordered, numbers_in(extractor, ordered)
