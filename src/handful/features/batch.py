"""A batch of sentences during extraction: every function of a word is computed once for each distinct string."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from handful.features.columns import Column, Lookup
from handful.features.hashed_table import HashedTable
from handful.features.language import TOKEN_COLUMN, Atom
from handful.features.word_functions import word_function
from handful.kernels.templates import shift_ids

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
