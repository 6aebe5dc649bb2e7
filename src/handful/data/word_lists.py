"""Word lists: prototypes and word clusters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from handful.data.files import FilePath, bare_suffix, read_lines, read_whole, refuse_mark, shown, write_text_file
from handful.data.formats import Format, Head
from handful.errors import DataError, FormatError


def read_prototypes(path: FilePath) -> dict[str, list[str]]:
    r"""Read a prototype list.

    Parameters
    ----------
    path : path-like
        ``.json``: an object of lists, ``{"NN": ["year", "share"]}``. Any other name:
        ``label TAB word word ...`` or ``label TAB word`` on each line; lines of one label add up.

    Returns
    -------
    dict of str to list of str
        Words of each label, in file order and each once; a word may have several labels.

    Raises
    ------
    FormatError
        If a label or a word is empty, a label has no words, or the file has another form.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("NN\tyear share\nDT\tthe\nNN\tmarket\n")
    >>> read_prototypes(target)
    {'NN': ['year', 'share', 'market'], 'DT': ['the']}
    """
    if bare_suffix(path) == ".json":
        from handful.data.json_records import parse_json

        return _checked(path, parse_json(path, None, read_whole(path)))
    return _from_lines(path, read_lines(path))


def _from_lines(path: FilePath, lines: Iterable[tuple[int, str]]) -> dict[str, list[str]]:
    prototypes: dict[str, list[str]] = {}
    for number, line in lines:
        if not line.strip():
            continue
        label, tab, words = line.partition("\t")
        if not tab:
            raise FormatError(path, number, f"expected a label, a tab and words, got no tab in {shown(line)}.")
        if not label.strip():
            raise FormatError(path, number, "expected a label before the tab, got none.")
        if not words.strip():
            raise FormatError(path, number, f"expected words after the label {shown(label.strip())}, got none.")
        if _has_commas_between(words.split()):
            message = f"expected words with spaces between them, got commas: {shown(words.strip())}. "
            raise FormatError(path, number, message + "If they belong to the words, write the list as JSON.")
        prototypes.setdefault(label.strip(), []).extend(words.split())
    return _checked(path, prototypes)


def _has_commas_between(words: list[str]) -> bool:
    """Detect a list with commas between its words, as opposed to tokens that contain commas.

    Examples
    --------
    >>> _has_commas_between(["year,", "share"]), _has_commas_between(["year,share"])
    (True, True)
    >>> _has_commas_between([",", ".", ";"]), _has_commas_between(["co,", "inc"]), _has_commas_between(["1,000"])
    (False, True, False)
    """
    if len(words) == 1:
        return bool(re.search(r"[^\W\d],[^\W\d]", words[0]))
    return all(len(word) > 1 and word.endswith(",") for word in words[:-1])


def _is_filled(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _checked(path: FilePath, content: Any) -> dict[str, list[str]]:
    if not isinstance(content, dict) or not content:
        raise FormatError(path, None, f"expected labels with lists of words, got {shown(content)}.")
    for label, words in content.items():
        if not _is_filled(label):
            raise FormatError(path, None, f"expected a label for every list of words, got {shown(label)}.")
        if not isinstance(words, list) or not words:
            raise FormatError(path, None, f"expected a list of words for {shown(label)}, got {shown(words)}.")
        for word in words:
            if not _is_filled(word):
                raise FormatError(path, None, f"expected filled words for {shown(label)}, got {shown(word)}.")
    return {label: list(dict.fromkeys(words)) for label, words in content.items()}


def write_prototypes(path: FilePath, prototypes: Mapping[str, Iterable[str]]) -> None:
    r"""Write a prototype list in the form that the name of the file asks for (see `read_prototypes`).

    Parameters
    ----------
    path : path-like
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    prototypes : mapping of str to iterable of str
        Words of each label.

    Raises
    ------
    DataError
        If a label or a word is empty, or holds whitespace or commas that the form cannot keep.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_prototypes(target, {"NN": ["year", "share"]})
    >>> target.read_text()
    'NN\tyear share\n'
    """
    listed = {label: words if isinstance(words, str) else list(words) for label, words in prototypes.items()}
    lists = _checked(path, listed)
    text = json.dumps(lists, ensure_ascii=False, indent=1) + "\n"
    if bare_suffix(path) != ".json":
        text = "".join(f"{label}\t{' '.join(words)}\n" for label, words in lists.items())
        refuse_mark("write_prototypes", text)
        try:
            is_kept = _from_lines(path, enumerate(text.split("\n"), 1)) == lists and "\r" not in text
        except FormatError:
            is_kept = False
        if not is_kept:
            raise DataError(
                "write_prototypes: lines keep no whitespace inside words and no commas. Name the file .json."
            )
    with write_text_file(path) as file:
        file.write(text)


def is_prototypes(head: Head) -> bool:
    """Detect a list of words for labels by a second cell with several words on every line."""
    cells = [line.split("\t") for line in head.filled]
    return bool(cells) and not head.has_blank_inside and all(len(c) == 2 and len(c[1].split()) > 2 for c in cells)


PROTOTYPES_FORMAT = Format(
    "prototypes", "prototypes", is_prototypes, read_prototypes, write_prototypes, (".tsv", ".txt", ".json")
)


class ClusterRow(NamedTuple):
    """A word with its path in the tree of clusters.

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
        The file; gzip, bzip2 and xz are decompressed.

    Yields
    ------
    ClusterRow
        Path, word and frequency.

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
    """Detect lines with a path of bits, a word and a count."""
    rows = [line.split("\t") for line in head.lines]
    return bool(rows) and all(len(r) == 3 and r[0] and not r[0].strip("01") and r[2].isdigit() for r in rows)


CLUSTERS_FORMAT = Format("clusters", "clusters", is_clusters, read_clusters)
