"""Sections of the Wall Street Journal within one file, by the list of the treebank's files that it was made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from handful.core.errors import FormatError
from handful.corpora.folder import data_folder

T = TypeVar("T")
_LINE = re.compile(r"wsj_(\d\d)\d\d\S*\s+(\d+)")


def cut_sections(corpus: str, sentences: Sequence[T], wanted: range) -> list[T] | None:
    r"""Return the sentences of some sections, where a list beside the corpus tells which files they are from.

    Parameters
    ----------
    corpus : str
        Its name. The list is ``<corpus>.files.txt`` in the data folder: a line for each file of the treebank, in the order of
        the corpus, with its name and its number of sentences, such as ``wsj_1900 12``.
    sentences : sequence
        All sentences of the corpus.
    wanted : range
        The sections.

    Returns
    -------
    list or None
        None where there is no list.

    Raises
    ------
    FormatError
        If a line is not of this form, or the numbers do not add up to those of the corpus.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", HANDFUL_DATA=folder):
    ...     _ = (pathlib.Path(folder) / "mine.files.txt").write_text("wsj_1900 2\nwsj_2000 1\n")
    ...     cut_sections("mine", ["a", "b", "c"], range(19, 20))
    ['a', 'b']
    """
    path = data_folder() / f"{corpus}.files.txt"
    if not path.exists():
        return None
    section_of: list[int] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise FormatError(path, number, f"must be a file and its sentences, such as 'wsj_1900 12', got {line!r}.")
        section_of += [int(found[1])] * int(found[2])
    if len(section_of) != len(sentences):
        raise FormatError(
            path, None, f"must list the {len(sentences):,} sentences of {corpus}, got {len(section_of):,}."
        )
    return [sentence for sentence, section in zip(sentences, section_of, strict=True) if section in wanted]
