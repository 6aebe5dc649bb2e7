"""Tables from words to strings that keep no word: hashes by which words are found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Self

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.params import Range, check_params
from handful.core.registry import method
from handful.core.schema import Array, DictOf, Flag, ListOf, Number, Text, stored
from handful.core.store import Storable
from handful.features.folded import FoldedTable, fold

Values = tuple[str, ...]
_NOTHING: Values = ()


@method("hashed-table", takes="model")
class HashedTable(Storable):
    """A table from words to strings in a quarter of its room or less, without the words.

    Parameters
    ----------
    n_bits : int, default=9
        Bits of a hash beyond those that number the words. A word that the table does not have gets the strings of another
        one by chance once in 2 to the power of this, or less often; twice more so in capitals, where `capitals_` is True.

    Attributes
    ----------
    values_ : list of list of str
        What words are found to have, each once; the most frequent first.
    hashes_ : ndarray of int64
        Hashes of the words, rising.
    numbers_ : ndarray of uint8, shape (2, n_hashes)
        For each the place of its strings in `values_`: the low bytes, then the high ones, since they pack better apart.
    hash_bits_ : int
        Bits of a hash.
    spelled_ : dict of str to int
        Words whose hash tells something else, with the place of their strings.
    capitals_ : bool
        Whether a word in capitals that is not found is asked for in lower case, then with one capital.
    folded_ : bool
        Whether words are asked for in lower case, digits as 0.

    Notes
    -----
    Words of the table get exactly what they have there: each is asked for when the table is made, and kept as it is spelled if
    it is not answered right. `capitals_` is True where that makes the table smaller.

    Examples
    --------
    >>> table = HashedTable().fit({"Rome": "0110", "rome": "0110", "fell": "10"})
    >>> table.find(["fell", "Rome", "stood"])
    [('10',), ('0110',), ()]
    """

    STATE = stored(
        values_=ListOf(ListOf(Text()), "v?"),
        hashes_=Array("i8", "n?", low=0, rising=True),
        numbers_=Array("u1", 2, "n?"),
        hash_bits_=Number(int, low=1, high=62),
        spelled_=DictOf(Number(int, below="v")),
        capitals_=Flag(),
        folded_=Flag(),
    )

    def __init__(self, n_bits: Annotated[int, Range(1, 32)] = 9) -> None:
        self.n_bits = n_bits

    def fit(self, table: Mapping[str, str | Sequence[str]]) -> Self:
        """Take over a table.

        Parameters
        ----------
        table : mapping of str to str or sequence of str
            The table.

        Returns
        -------
        HashedTable
            Itself.
        """
        check_params(self)
        self.folded_ = isinstance(table, FoldedTable)
        values = {word: (v,) if isinstance(v, str) else tuple(v) for word, v in table.items()}
        short = _without_capitals(values)
        self.capitals_ = len(short) < len(values)
        kept = short if self.capitals_ else values
        often: dict[Values, int] = dict.fromkeys(values.values(), 0)
        for found in kept.values():
            often[found] = often.get(found, 0) + 1
        self._values = sorted(often, key=lambda found: -often[found])
        if len(self._values) > 1 << 16:
            raise ParameterError(f"HashedTable: a table must have 65,536 different values at most, got {len(often):,}.")
        self.values_ = [list(found) for found in self._values]
        place = {found: number for number, found in enumerate(self._values)}
        self.hash_bits_ = max(1, int(np.ceil(np.log2(max(1, len(kept)))))) + self.n_bits
        numbers = np.array([place[found] for found in kept.values()], dtype=np.int64)
        self.hashes_, first = np.unique(self._hashed(kept), return_index=True)
        self.numbers_ = np.stack([numbers[first] & 255, numbers[first] >> 8]).astype(np.uint8)
        self.spelled_: dict[str, int] = {}
        answers = zip(values.items(), self._asked(list(values)), strict=True)
        self.spelled_ = {word: place[found] for (word, found), answer in answers if answer != found}
        return self

    def find(self, words: Sequence[str]) -> list[Values]:
        """Return the strings of words; none for a word that is not there.

        Parameters
        ----------
        words : sequence of str
            The words.

        Returns
        -------
        list of tuple of str
            For each its strings.
        """
        return self._asked([fold(word) for word in words] if self.folded_ else words)

    @property
    def width(self) -> int:
        """Most strings that a word has."""
        return max(map(len, self.values_), default=1) or 1

    def _asked(self, words: Sequence[str]) -> list[Values]:
        numbers = self._numbers(words)
        if self.capitals_:
            for change in (str.lower, str.capitalize):
                others = {i: change(words[i]) for i in np.flatnonzero(numbers < 0).tolist()}
                asked = {i: other for i, other in others.items() if other != words[i] == other.upper()}
                numbers[list(asked)] = self._numbers(list(asked.values()))
        for place in [i for i, word in enumerate(words) if word in self.spelled_]:
            numbers[place] = self.spelled_[words[place]]
        return [self._values[number] if number >= 0 else _NOTHING for number in numbers.tolist()]

    def _numbers(self, words: Sequence[str]) -> np.ndarray:
        """Return the place of the strings of each word by its hash, -1 for none."""
        if not len(self.hashes_):
            return np.full(len(words), -1, dtype=np.int64)
        asked = self._hashed(words)
        places = np.minimum(np.searchsorted(self.hashes_, asked), len(self.hashes_) - 1)
        low, high = self.numbers_[:, places].astype(np.int64)
        return np.where(self.hashes_[places] == asked, low | high << 8, -1)

    def _hashed(self, words: Iterable[str]) -> np.ndarray:
        unused = np.uint64(64 - self.hash_bits_)
        joined = b"".join(
            hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
        )
        return (np.frombuffer(joined, dtype="<u8") >> unused).astype(np.int64)

    def _check_state(self) -> None:
        self._values = [tuple(found) for found in self.values_]
        low, high = self.numbers_.astype(np.int64)
        if len(low) and (low | high << 8).max() >= len(self._values):
            raise DataError("HashedTable: the stored table is damaged.")


def _without_capitals(table: Mapping[str, Values]) -> dict[str, Values]:
    """Leave out words in capitals that are found by another spelling, and write down those that would be, but have nothing."""

    def otherwise(word: str) -> Values | None:
        """Return what a word in capitals would be taken for."""
        others = (other for other in (word.lower(), word.capitalize()) if other != word == other.upper())
        return next((table[other] for other in others if other in table), None)

    short = {word: found for word, found in table.items() if otherwise(word) != found}
    nothing = (word.upper() for word in table if word.upper() not in table)
    return short | {capitals: _NOTHING for capitals in nothing if otherwise(capitals) is not None}
