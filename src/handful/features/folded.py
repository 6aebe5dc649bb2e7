"""Words without capitals and digits, and tables that are asked for words in that form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handful.features.columns import Lookup
from handful.features.word_functions import digits, lower


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
    """Return a table that folds the words it is asked for, if all of its own are folded; else the table itself.

    Examples
    --------
    >>> as_asked({"rome": "01"}).get("ROME"), as_asked({"rome": "01", "Bonn": "00"}).get("ROME")
    ('01', None)
    """
    if isinstance(table, FoldedTable) or any(word != fold(word) for word in table):
        return table
    return FoldedTable(table)
