"""Raw text as people write it: sentences run on, and punctuation stands at the words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.opening import FilePath, as_source, read_lines
from handful.corpora.raw_text import refuse_unspaced, sentences

# Other marks stand apart in French as it is written, so they tell only where there are no commas and points.
_TELLING = ("[,.]", "[;:!?]")
_ENDED = re.compile(r"[.!?:]['\")\u201d\u2019\u00bb]*\s*$")
_ENDED_WITHIN = re.compile(r"\w[.!?\u061f\u0964]['\")\u201d\u2019\u00bb]*\s")
_WIDEST_PAGE = 120


def read_raw(path: FilePath, abbreviations: Sequence[str] = ()) -> Iterator[Sentence]:
    r"""Read text that is not cut into tokens; a blank line ends a paragraph, and so does a line end in unbroken text.

    Parameters
    ----------
    path : path-like
        The file.
    abbreviations : sequence of str
        See `handful.corpora.raw_text.sentences`.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end``: places of each token in the whole text (line ends count as one character).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell. Why, nobody knows.\nSo what?\n")
    >>> [(s.tokens[0], s["start"][0]) for s in read_raw(target)]
    [('Rome', '0'), ('Why', '11'), ('So', '30')]
    """
    source = as_source(path)
    head = Head.of(source)
    refuse_unspaced(str(source), head.text)
    wrapped = is_wrapped(head)
    start = place = 0
    paragraph: list[str] = []
    for _, line in read_lines(source):
        if paragraph and (not wrapped or not line.strip()):
            yield from _sentences("\n".join(paragraph), start, abbreviations)
            paragraph = []
        if line.strip():
            if not paragraph:
                start = place
            paragraph.append(line)
        place += len(line) + 1
    if paragraph:
        yield from _sentences("\n".join(paragraph), start, abbreviations)


def _sentences(text: str, start: int, abbreviations: Sequence[str]) -> Iterator[Sentence]:
    for part in sentences(text, abbreviations=abbreviations):
        columns = {
            "start": tuple(str(start + token.start) for token in part),
            "end": tuple(str(start + token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns)


def is_wrapped(head: Head) -> bool:
    r"""Tell text whose lines are broken to fit a page, so that a line end does not end a sentence.

    Examples
    --------
    >>> page = "He left the town in which he was\nborn, as others had done before\nhim. Nobody asked why.\n"
    >>> is_wrapped(Head(page.encode())), is_wrapped(Head(b"Rome fell, they say\nSo what?\nNo.\n"))
    (True, False)
    """
    pairs = [(line, after) for line, after in pairwise(head.lines) if line.strip() and after.strip()]
    widest = max(map(len, head.lines), default=0)
    if not pairs or widest > _WIDEST_PAGE:
        return False
    # A line is broken where the first word of the next one did not fit.
    full = sum(len(line) + 1 + len(after.split()[0]) > 0.9 * widest for line, after in pairs)
    if full < 0.8 * len(pairs) or not any(not _ENDED.search(line) for line, _ in pairs):
        return False
    # Titles, one a line, may be as long as each other: their lines begin with capitals or digits, or nothing ever ends.
    first = [after.lstrip()[0] for _, after in pairs]
    cased = [sign for sign in first if sign.isupper() or sign.islower() or sign.isdecimal()]
    goes_on = not cased or sum(map(str.islower, cased)) >= 0.2 * len(cased)
    return goes_on and _ENDED_WITHIN.search(head.text) is not None


def is_raw(head: Head) -> bool:
    """Tell text in which punctuation mostly stands at the words, from text with blanks between all tokens.

    Examples
    --------
    >>> is_raw(Head("Rome fell.".encode())), is_raw(Head(b"Rome fell .")), is_raw(Head(b"Rome tomba. Pourquoi ? Qui sait !"))
    (True, False, True)
    """
    for marks in _TELLING:
        attached = len(re.findall(rf"(?<=\w\w\w){marks}(?=\s|$)", head.text))  # after fewer letters: an abbreviation
        apart = len(re.findall(rf"(?<=\s){marks}(?=\s|$)", head.text))
        if attached or apart:
            return attached > 9 * apart
    return False


FORMAT = Format("raw", "text", is_raw, read_raw)
