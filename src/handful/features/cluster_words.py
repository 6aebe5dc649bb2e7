"""Words of a cluster, to tell people by examples what its bits mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, zip_longest
from typing import Any

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
            Words that are not told.

        Returns
        -------
        list of str
            The first words of each cluster before the second ones.
        """
        clusters = [words for path, words in self._words.items() if path.startswith(bits)]
        in_turn = chain.from_iterable(zip_longest(*clusters))
        return [word for word in in_turn if word is not None and word not in without][:_MOST_TOLD]
