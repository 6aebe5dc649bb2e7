"""Raw text as people write it: sentences run on, and punctuation stands at the words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.opening import FilePath, as_source, read_lines
from handful.corpora.raw_text import refuse_unspaced, sentences

_ATTACHED = re.compile(r"\w[,.;:!?](?=\s|$)")
_APART = re.compile(r"(?<=\s)[,.;:!?](?=\s|$)")
_ENOUGH = 5


def read_raw(path: FilePath) -> Iterator[Sentence]:
    r"""Read text that is not cut into tokens; a blank line ends a paragraph.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end``: places of each token in the whole text (line ends count as one character).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell. Why, nobody\nknows.\n")
    >>> [(s.tokens[0], s["start"][0]) for s in read_raw(target)]
    [('Rome', '0'), ('Why', '11')]
    """
    source = as_source(path)
    refuse_unspaced(str(source), Head.of(source).text)
    start = place = 0
    paragraph: list[str] = []
    for _, line in read_lines(source):
        if line.strip():
            if not paragraph:
                start = place
            paragraph.append(line)
        elif paragraph:
            yield from _sentences("\n".join(paragraph), start)
            paragraph = []
        place += len(line) + 1
    if paragraph:
        yield from _sentences("\n".join(paragraph), start)


def _sentences(text: str, start: int) -> Iterator[Sentence]:
    for part in sentences(text):
        columns = {
            "start": tuple(str(start + token.start) for token in part),
            "end": tuple(str(start + token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns)


def is_raw(head: Head) -> bool:
    """Tell text in which punctuation mostly stands at the words, from text with blanks between all tokens."""
    attached, apart = len(_ATTACHED.findall(head.text)), len(_APART.findall(head.text))
    return attached >= _ENOUGH and attached > 9 * apart


FORMAT = Format("raw", "text", is_raw, read_raw)
