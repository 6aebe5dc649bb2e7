"""Tokens with their tags after a slash (``Rome/NNP fell/VBD``), one sentence a line, as NLTK writes tagged corpora."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from handful.core.errors import DataError, FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, read_lines, write_text_file

_PAIR = re.compile(r"\S+/[^\s/]+")


def read_slashed(path: FilePath) -> Iterator[Sentence]:
    r"""Read tagged sentences, one a line.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    Sentence
        With the column ``tag``: what stands after the last slash of each token.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.pos"
    >>> _ = target.write_text("Rome/NNP fell/VBD ./.\n")
    >>> [(s.tokens, s["tag"]) for s in read_slashed(target)]
    [(('Rome', 'fell', '.'), ('NNP', 'VBD', '.'))]
    """
    share = Sharing()
    for number, line in read_lines(path):
        pairs = [pair for pair in line.replace("\t", " ").split(" ") if pair]
        bad = next((pair for pair in pairs if not _PAIR.fullmatch(pair)), None)
        if bad is not None:
            raise FormatError(path, number, f"expected a token, a slash and its tag, got {shown(bad)}.")
        if pairs:
            tokens, tags = zip(*(pair.rsplit("/", 1) for pair in pairs), strict=True)
            yield Sentence(share(tokens), {"tag": share(tags)})


def write_slashed(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences, one a line.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        With a column ``tag`` whose tags have no slash.
    """
    with write_text_file(path) as file:
        for sentence in sentences:
            pairs = [f"{token}/{tag}" for token, tag in zip(sentence.tokens, sentence["tag"], strict=True)]
            bad = next((pair for pair in pairs if not _PAIR.fullmatch(pair)), None)
            if bad is not None or any("/" in tag for tag in sentence["tag"]):
                raise DataError(f"write_slashed: tokens must hold no blank and tags no slash, got {shown(bad)}.")
            file.write(" ".join(pairs) + "\n")


def is_slashed(head: Head) -> bool:
    """Tell whether every token has a slash and a tag; lines of several tokens, or a small set of tags, speak for it."""
    pairs = [pair for line in head.filled for pair in line.split()]
    if len(pairs) < 2 or not all(map(_PAIR.fullmatch, pairs)):
        return False
    tags = {pair.rsplit("/", 1)[1] for pair in pairs}
    return len(tags) <= max(10, len(pairs) / 2)


FORMAT = Format("slashed", "sentences", is_slashed, read_slashed, write_slashed, (".pos",))
