"""BRAT standoff: spans in an ``.ann`` file, the text in the ``.txt`` file of the same name beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.offsets import Stretch, check_covered, tagged_sentences, tell_once
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, Source, as_source, open_bytes, read_lines

_SPAN = re.compile(r"T[0-9]+\t(\S+) ([0-9]+) ([0-9;\s]*?)([0-9]+)(\t.*)?")
_LINE = re.compile(r"([TREAMN][0-9]+|#[0-9]+|\*)\t.*")


def read_brat(path: FilePath) -> Iterator[Sentence]:
    """Read an annotated text.

    Parameters
    ----------
    path : path-like
        The ``.ann`` file; relations, events and notes in it are passed over, and a span in several parts is taken as one.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Raises
    ------
    FormatError
        If the text does not lie beside it.
    """
    source = as_source(path)
    spans: list[tuple[int, Stretch, str]] = []
    for number, line in read_lines(source) if source.head else ():  # empty where a text has no spans
        if line.startswith("T"):
            match = _SPAN.fullmatch(line)
            if match is None:
                raise FormatError(source, number, f"expected a span such as 'T1 LOC 0 4 Rome', got {shown(line)}.")
            # Of a span in parts the words between them are not given.
            covered = "" if match[3].strip() else (match[5] or "").removeprefix("\t")
            spans.append((number, Stretch(int(match[2]), int(match[4]), match[1]), covered))
            if match[3].strip():
                tell_once(source, "Spans in several parts are taken as one", number, spans[-1][1])
    beside = Path(source).with_suffix(".txt")
    if not beside.exists():
        raise FormatError(source, None, f"expected the text in {beside.name} beside it, got none.")
    with open_bytes(beside) as file:
        text = file.read().decode("utf-8", errors="replace").replace("\r\n", "\n")
    for number, stretch, covered in spans:
        if covered:
            check_covered(source, number, text, stretch, covered)
    yield from tagged_sentences(source, None, text, [stretch for _, stretch, _ in spans])


def is_standoff_folder(path: FilePath) -> bool:
    """Tell whether a path is a folder with ``.ann`` files, as BRAT keeps its documents."""
    return not isinstance(path, Source) and Path(os.fsdecode(path)).is_dir() and bool(_standoff_files(path))


def read_standoff_folder(path: FilePath, notes: list[str]) -> Iterator[Sentence]:
    """Read all annotated texts of a folder, in the order of their names.

    Parameters
    ----------
    path : path-like
        The folder.
    notes : list of str
        Gets what there is to tell about the files, with the name of the file before it.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.
    """
    for file in _standoff_files(path):
        source = Source(file)
        yield from read_brat(source)
        notes += [f"{file.name}: {note}" for note in source.notes]


def _standoff_files(path: FilePath) -> list[Path]:
    return sorted(Path(os.fsdecode(path)).glob("*.ann"))


def is_brat(head: Head) -> bool:
    """Tell a standoff file by its name, or by lines that start with the number of an annotation."""
    return bool(head.filled) and head.suffix in ("", ".ann") and all(map(_LINE.fullmatch, head.filled))


FORMAT = Format("brat", "sentences", is_brat, read_brat)
