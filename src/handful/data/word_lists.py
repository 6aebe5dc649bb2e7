"""Word lists: prototypes and word clusters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from handful.data.files import FilePath, bare_suffix, read_lines, read_whole, shown
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
    prototypes: dict[str, list[str]] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        label, tab, words = line.partition("\t")
        label = label.strip()
        if not tab:
            raise FormatError(path, number, f"expected a label, a tab and words, got no tab in {shown(line)}.")
        if not label:
            raise FormatError(path, number, "expected a label before the tab, got none.")
        if not words.strip():
            raise FormatError(path, number, f"expected words after the label {shown(label)}, got none.")
        listed = words.split()
        if _has_commas_between(listed):
            raise FormatError(
                path,
                number,
                f"expected words with spaces between them, got commas: {shown(words.strip())}. "
                "If they belong to the words, write the list as JSON.",
            )
        prototypes.setdefault(label, []).extend(listed)
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


def _checked(path: FilePath, content: Any) -> dict[str, list[str]]:
    if not isinstance(content, dict):
        raise FormatError(path, None, f"expected labels with lists of words, got {_kind(content)}.")
    if not content:
        raise FormatError(path, None, "expected labels with words, got none.")
    prototypes = {}
    for label, words in content.items():
        if not label.strip():
            raise FormatError(path, None, "expected a label for every list of words, got an empty one.")
        if not isinstance(words, list):
            raise FormatError(path, None, f"expected a list of words for {shown(label)}, got {_kind(words)}.")
        if not words:
            raise FormatError(path, None, f"expected words for {shown(label)}, got none.")
        for word in words:
            if not isinstance(word, str) or not word.strip():
                raise FormatError(path, None, f"expected filled words for {shown(label)}, got {shown(str(word))}.")
        prototypes[label] = list(dict.fromkeys(words))
    return prototypes


def _kind(content: Any) -> str:
    names = {dict: "a table", list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(content), "something else")


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
        If a label or a word is no string, is empty, or holds whitespace that the form cannot keep, or if the words are
        no list.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_prototypes(target, {"NN": ["year", "share"]})
    >>> target.read_text()
    'NN\tyear share\n'
    """
    from handful.data.files import refuse_mark, write_text_file

    lists = _as_lists(prototypes)
    form = bare_suffix(path)
    for label, words in lists.items():
        _check_filled(label, words)
        if form != ".json":
            _check_plain(label, words)
    with write_text_file(path) as file:
        if form == ".json":
            file.write(json.dumps(lists, ensure_ascii=False, indent=1) + "\n")
        else:
            refuse_mark("write_prototypes", next(iter(lists)))
            file.writelines(f"{label}\t{' '.join(words)}\n" for label, words in lists.items())


def _as_lists(prototypes: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    for label, words in prototypes.items():
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise DataError(f"write_prototypes: the words of {shown(label)} must be a list, got {shown(words)}.")
    if not prototypes:
        raise DataError("write_prototypes: there must be a label with words, got none.")
    return {label: list(words) for label, words in prototypes.items()}


def _check_filled(label: str, words: Sequence[str]) -> None:
    for text in (label, *words):
        if not isinstance(text, str):
            raise DataError(f"write_prototypes: labels and words must be strings, got {shown(text)}.")
    if not words or not all(text.strip() for text in (label, *words)):
        raise DataError(f"write_prototypes: labels and words must be filled, got {shown(label)}: {shown(words)}.")


def _check_plain(label: str, words: list[str]) -> None:
    """Refuse what a file of lines cannot keep."""
    if label != label.strip() or len(label.splitlines()) > 1 or "\t" in label:
        raise DataError(f"write_prototypes: a label must have no whitespace around it and no tab, got {shown(label)}.")
    if _has_commas_between(words):
        raise DataError(
            f"write_prototypes: words must not look like one list with commas, got {shown(' '.join(words))}. "
            "Name the file .json."
        )
    bad = next((word for word in words if word.split() != [word]), None)
    if bad is not None:
        raise DataError(f"write_prototypes: a word must hold no whitespace, got {shown(bad)}. Name the file .json.")


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
