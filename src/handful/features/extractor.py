"""Templates compiled once, then sentences to a matrix of predicate numbers.

Every function of a template is computed once for each distinct string of a batch, not for each token; a position then
costs one or two table lookups a template.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.schema import Array, DictOf, ListOf, Maybe, Number, Record, Text, check_state, stored
from handful.features.batch import AFTER, BEFORE, N_PADS, PAD_NAMES, Batch, applied
from handful.features.cluster_words import ClusterWords
from handful.features.columns import Lookup, Tokens, read_column, sentence_offsets
from handful.features.folded import FoldedTable, as_asked, fold
from handful.features.hashed_table import HashedTable, Values
from handful.features.language import TOKEN_COLUMN, Atom, Template, parse_templates
from handful.features.predicates import Predicates
from handful.features.wording import in_words
from handful.kernels.templates import empty_table, find_keys, number_keys

Slot = tuple[Atom, ...]


class Extractor:
    """Turn sentences into predicate numbers.

    Parameters
    ----------
    templates : iterable of str
        Templates; see `handful.features.language`.
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
        self._tables: list[tuple[np.ndarray, np.ndarray]] = []
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
        """Return an extractor that says the same of every word that its tables have, with tables that take less room.

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
            for part, found in zip(parts, applied(atom, parts), strict=True):
                read[part] += (-1 if found is None else known.get(found, -1),)
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

    def in_words(self, ids: Iterable[int], sentence: Iterable[str] = ()) -> list[str]:
        """Return predicates in words, such as ``the word is "Rome"``; words of the sentence are no examples of clusters."""
        if self.hash_bits is not None:
            return self.names(ids)
        without = {form for word in sentence for form in (word, fold(word))}
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
                self._tables.append((direct, direct))
            else:
                table, numbers = empty_table(len(known))
                scratch = np.zeros((2, len(known)), dtype=np.int64)
                number_keys(known, table, numbers, scratch[0], scratch[1], 0)
                self._tables.append((table, numbers))

    def _learn(self, batch: Batch, slot: Slot) -> np.ndarray:
        n_most = min(len(batch) * len(self._variants(slot)), self._check_size(slot))
        table, numbers = empty_table(n_most)
        distinct, counts = np.zeros((2, n_most), dtype=np.int64)
        n_known = 0
        for variant in self._variants(slot):
            n_known = number_keys(self._slot_keys(batch, slot, variant), table, numbers, distinct, counts, n_known)
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
        numbers = np.where(codes >= 0, self._tables[number][0][codes], -1)
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
        table, numbers = self._tables[number]
        find_keys(self._slot_keys(batch, slot, variant), table, numbers, int(self.starts[number]), predicates)
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
