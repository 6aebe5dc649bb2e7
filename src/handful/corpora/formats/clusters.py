"""Word clusters in the usual format: ``path TAB word TAB count``, where a path is a string of bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from handful.core.errors import FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, read_lines


class ClusterRow(NamedTuple):
    """A word with its place in the tree of clusters.

    Examples
    --------
    >>> ClusterRow("0110", "Rome", 12).path
    '0110'
    """

    path: str
    word: str
    frequency: int


def read_clusters(path: FilePath) -> Iterator[ClusterRow]:
    r"""Read words with their clusters, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.

    Yields
    ------
    ClusterRow
        Path, word and how often the word was seen.

    Raises
    ------
    FormatError
        If a line does not have the three columns, with bits in the first and a number in the last.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "clusters.txt"
    >>> _ = target.write_text("0110\tRome\t12\n")
    >>> list(read_clusters(target))
    [ClusterRow(path='0110', word='Rome', frequency=12)]
    """
    for number, line in read_lines(path):
        cells = line.split("\t")
        if len(cells) != 3:
            raise FormatError(
                path, number, f"expected 3 columns with tabs between (path, word, count), got {len(cells)}."
            )
        bits, word, frequency = cells
        if not bits or bits.strip("01"):
            raise FormatError(path, number, f"expected a path of 0 and 1, got {shown(bits)}.")
        if not (frequency.isascii() and frequency.isdigit()):
            raise FormatError(path, number, f"expected a count, got {shown(frequency)}.")
        yield ClusterRow(bits, word, int(frequency))


def is_clusters(head: Head) -> bool:
    """Tell whether every line has a path of bits, a word and a count."""
    rows = [line.split("\t") for line in head.lines]
    return bool(rows) and all(len(r) == 3 and r[0] and not r[0].strip("01") and r[2].isdigit() for r in rows)


FORMAT = Format("clusters", "clusters", is_clusters, read_clusters)
