"""Lookup tables of words: hashed, case-folded, clusters, ambiguity classes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Annotated, Any, Self

import numpy as np

from handful.errors import DataError, ParameterError
from handful.params import Range, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, DictOf, Flag, ListOf, Number, Text, stored
from handful.preprocessing.templates import Lookup, digits, lower
from handful.registry import method


def fold(word: str) -> str:
    """Write a word in lower case, every digit as 0.

    Examples
    --------
    >>> fold("McLaren"), fold("1996-08-22")
    ('mclaren', '0000-00-00')
    """
    return digits(lower(word))


class FoldedTable(Mapping[str, "str | Sequence[str]"]):
    """A table of folded words, which finds a word however it is written.

    Parameters
    ----------
    table : mapping of str to str or sequence of str
        Its keys are folded words.

    Examples
    --------
    >>> FoldedTable({"rome": "01"}).get("Rome")
    '01'
    """

    def __init__(self, table: Lookup) -> None:
        self._table = table

    def __getitem__(self, word: str) -> str | Sequence[str]:
        return self._table[fold(word)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def as_asked(table: Lookup) -> Lookup:
    """Return a table that folds the words it is asked for, if all its words are folded; else the table itself.

    Examples
    --------
    >>> as_asked({"rome": "01"}).get("ROME"), as_asked({"rome": "01", "Bonn": "00"}).get("ROME")
    ('01', None)
    """
    if isinstance(table, FoldedTable) or any(word != fold(word) for word in table):
        return table
    return FoldedTable(table)


Values = tuple[str, ...]
_NOTHING: Values = ()


@method("hashed-table", task="model")
class HashedTable(Storable):
    """A table from words to strings in a quarter of the memory or less, without the words.

    Parameters
    ----------
    n_bits : int, default=9
        Bits of a hash beyond those that number the words. A word that the table does not have gets the strings of another
        one by chance once in 2 to the power of this, or less often.

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
        Words whose hash belongs to something else, with the place of their strings.
    capitals_ : bool
        Whether a word in capitals that is not found is asked for in lower case, then with one capital, as in tables of
        version 0.2.
    folded_ : bool
        Whether words are asked for in lower case, digits as 0.

    Notes
    -----
    Words of the table get exactly what they have there: each is asked for when the table is made, and kept as it is spelled if
    it is not answered right.

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
        self.capitals_ = False
        self._values = [strings for strings, _ in Counter(values.values()).most_common()]
        if len(self._values) > 1 << 16:
            raise ParameterError(
                f"HashedTable: a table must have 65,536 different values at most, got {len(self._values):,}."
            )
        self.values_ = [list(strings) for strings in self._values]
        place = {strings: number for number, strings in enumerate(self._values)}
        self.hash_bits_ = max(1, int(np.ceil(np.log2(max(1, len(values)))))) + self.n_bits
        numbers = np.array([place[strings] for strings in values.values()], dtype=np.int64)
        self.hashes_, first = np.unique(self._hashed(values), return_index=True)
        self.numbers_ = np.stack([numbers[first] & 255, numbers[first] >> 8]).astype(np.uint8)
        self.spelled_: dict[str, int] = {}
        answers = zip(values.items(), self._asked(list(values)), strict=True)
        self.spelled_ = {word: place[strings] for (word, strings), answer in answers if answer != strings}
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
        self._values = [tuple(strings) for strings in self.values_]
        low, high = self.numbers_.astype(np.int64)
        if len(low) and (low | high << 8).max() >= len(self._values):
            raise DataError("HashedTable: the stored table is damaged.")


_MOST_KEPT = 12  # words of each cluster, the first of the table, where the most frequent stand first
_MOST_TOLD = 4


class ClusterWords:
    """The first words of each cluster of a table.

    Parameters
    ----------
    table : mapping of str to str or sequence of str, or a table without words
        Words with their clusters, as bits from the root of a tree.

    Examples
    --------
    >>> words = ClusterWords({"monday": "1110", "friday": "1110", "rome": "0", "may": "1111"})
    >>> words.sharing("111"), words.sharing("1110", without=["monday"]), words.sharing("10")
    (['monday', 'may', 'friday'], ['friday'], [])
    """

    def __init__(self, table: Any) -> None:
        self._words: dict[str, list[str]] = {}
        for word, paths in table.items() if isinstance(table, Mapping) else ():
            for path in (paths,) if isinstance(paths, str) else paths:
                known = self._words.setdefault(path, [])
                if len(known) < _MOST_KEPT:
                    known.append(word)

    def sharing(self, bits: str, without: Collection[str] = ()) -> list[str]:
        """Return a few words whose clusters start with some bits.

        Parameters
        ----------
        bits : str
            The first bits of a cluster, or all.
        without : collection of str
            Words to leave out.

        Returns
        -------
        list of str
            The first words of each cluster before the second ones.
        """
        clusters = [words for path, words in self._words.items() if path.startswith(bits)]
        in_turn = chain.from_iterable(zip_longest(*clusters))
        return [word for word in in_turn if word is not None and word not in without][:_MOST_TOLD]
