"""Spans by character offsets: from a text with labeled spans to tagged sentences, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.iob import from_spans, spans
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, Source
from handful.corpora.raw_text import Token, into_sentences, sentences

RECORD = "# record ="
"""How the comment of a sentence starts that tells from which object of its file it is, counted from 0."""

BESIDE = "# beside ="
"""How the comment starts that tells what stood beside its text in that object."""

_ANNOTATION = frozenset({"text", "tokens", "spans", "label", "labels", "entities", "relations", "answer"}) | frozenset(
    {"data", "annotations", "completions", "predictions"}
)
_SHORT = 500  # characters of a value; a longer one would come again with each sentence of its text


class Stretch(NamedTuple):
    """Characters ``start`` up to but not including ``end`` of a text, with a label."""

    start: int
    end: int
    label: str


def check_covered(path: FilePath, number: int | None, text: str, stretch: Stretch, covered: str) -> None:
    """Refuse a span whose words, as the file gives them, stand elsewhere in the text.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    number : int or None
        Line of the span.
    text : str
        The text.
    stretch : Stretch
        Where the span is said to be.
    covered : str
        What the file says of the text there.

    Examples
    --------
    >>> check_covered("a.ann", 1, "Rome fell.", Stretch(0, 4, "LOC"), "Rome")
    """
    there = text[stretch.start : stretch.end]
    if "".join(there.split()) != "".join(covered.split()):
        raise FormatError(
            path,
            number,
            f"expected {shown(covered)} at {stretch.start} to {stretch.end} of the text, got {shown(there)}. "
            "Is it another version of the text?",
        )


def tagged_sentences(
    path: FilePath,
    number: int | None,
    text: str,
    stretches: Iterable[Stretch],
    places: Iterable[tuple[int, int]] = (),
    *,
    record: int | None = None,
    row: Mapping[str, Any] | None = None,
) -> Iterator[Sentence]:
    """Cut a text into sentences and turn its spans into tags.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    number : int or None
        Line of the text.
    text : str
        The text.
    stretches : iterable of Stretch
        Labeled spans; of two that overlap the longer stays, which a note tells.
    places : iterable of (int, int)
        Where the tokens are, if the file tells.
    record : int or None
        Which text of its file it is, counted from 0; sentences then have it as a comment.
    row : mapping of str to value, optional
        What stands beside the text, such as an ``id``: sentences have what is short of it as a comment, too.

    Yields
    ------
    Sentence
        With the columns ``tag`` (IOB2), ``start`` and ``end`` (offsets in the text). Tokens are cut where spans start
        and end, so a span is always whole tokens.

    Examples
    --------
    >>> [s["tag"] for s in tagged_sentences("a.jsonl", 1, "Rome fell.", [Stretch(0, 4, "LOC")])]
    [('B-LOC', 'O', 'O')]
    """
    kept = _apart(path, number, text, stretches)
    cuts = [border for stretch in kept for border in stretch[:2]]
    parts = into_sentences(text, _given(path, number, text, places, cuts)) if places else sentences(text, cuts)
    comments = (() if record is None else (f"{RECORD} {record}",)) + _beside(row or {})
    # A span keeps its sentence together: a point inside it ends nothing.
    for part in _joined(list(parts), kept):
        columns = {
            "tag": tuple(from_spans(_whole_spans(part, kept), len(part))),
            "start": tuple(str(token.start) for token in part),
            "end": tuple(str(token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns, comments)


def _beside(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a comment with what an object tells beside its text and the annotation of it."""
    told = {name: value for name, value in row.items() if name not in _ANNOTATION and len(json.dumps(value)) <= _SHORT}
    return (f"{BESIDE} {json.dumps(told)}",) if told else ()


def _whole_spans(part: list[Token], kept: list[Stretch]) -> Iterator[tuple[int, int, str]]:
    for start, end, label in kept:
        inside = [place for place, token in enumerate(part) if start <= token.start and token.end <= end]
        if inside:
            yield inside[0], inside[-1] + 1, label


def _given(
    path: FilePath, number: int | None, text: str, places: Iterable[tuple[int, int]], cuts: Iterable[int]
) -> list[Token]:
    """Return the tokens that a file tells of, cut where spans start and end."""
    tokens: list[Token] = []
    for start, end in places:
        if not (tokens[-1].end if tokens else 0) <= start < end <= len(text) or text[start:end].isspace():
            raise FormatError(path, number, f"expected tokens one after another in the text, got {start} to {end}.")
        borders = [start, *sorted(cut for cut in set(cuts) if start < cut < end), end]
        tokens.extend(Token(text[a:b], a, b) for a, b in pairwise(borders))
    return tokens


def _joined(parts: list[list[Token]], kept: list[Stretch]) -> Iterator[list[Token]]:
    held: list[Token] = []
    for part in parts:
        held = [*held, *part]
        if not any(stretch.start < held[-1].end < stretch.end for stretch in kept):
            yield held
            held = []
    if held:
        yield held


def _apart(path: FilePath, number: int | None, text: str, stretches: Iterable[Stretch]) -> list[Stretch]:
    kept: list[Stretch] = []
    for stretch in sorted(stretches, key=lambda s: (s.start - s.end, s.start)):
        start, end, label = stretch
        if not 0 <= start < end <= len(text):
            raise FormatError(
                path,
                number,
                f"expected spans within the text (0 to {len(text)}), got {start} to {end} for {shown(label)}.",
            )
        # Offsets of people often take a blank along.
        start += len(text[start:end]) - len(text[start:end].lstrip())
        end = start + len(text[start:end].rstrip())
        if start == end:
            continue
        if isinstance(path, Source) and any(
            text[max(at - 1, 0) : at + 1].isalpha() for at in (start, end) if 0 < at < len(text)
        ):
            tell_once(path, "Spans that start or end inside a word cut it in two", number, stretch)
        if any(start < other.end and other.start < end for other in kept):
            if isinstance(path, Source):
                tell_once(path, "Spans that overlap a longer one are left out", number, stretch)
            continue
        kept.append(Stretch(start, end, label))
    return sorted(kept)


def tell_once(source: Source, what: str, number: int | None, stretch: Stretch) -> None:
    """Note something about a span, with the first one as the example."""
    if not any(note.startswith(what) for note in source.notes):
        line = f" of line {number}" if number is not None else ""
        source.notes.append(f"{what}, such as {stretch.label} at {stretch.start} to {stretch.end}{line}.")


def text_and_stretches(sentence: Sentence) -> tuple[str, list[Stretch]]:
    """Return a sentence as text, with its spans by offsets.

    Parameters
    ----------
    sentence : Sentence
        With a column ``tag`` and, if the text is to look as it was, ``start`` and ``end``; else blanks stand between
        tokens.

    Returns
    -------
    text : str
        The text; what stood between tokens are blanks.
    stretches : list of Stretch
        Its spans.

    Examples
    --------
    >>> text_and_stretches(Sentence(("New", "York", "!"), {"tag": ("B-LOC", "I-LOC", "O")}))
    ('New York !', [Stretch(start=0, end=8, label='LOC')])
    """
    places = places_of(sentence)
    first = places[0][0] if places else 0
    text = ""
    for token, (start, _) in zip(sentence.tokens, places, strict=True):
        text += " " * (start - first - len(text)) + token
    tags = sentence.columns.get("tag", ("O",) * len(sentence))
    return text, [
        Stretch(places[span.start][0] - first, places[span.end - 1][1] - first, span.type) for span in spans(tags)
    ]


def places_of(sentence: Sentence) -> list[tuple[int, int]]:
    """Return where each token starts and ends.

    Parameters
    ----------
    sentence : Sentence
        With the columns ``start`` and ``end``; without them, the tokens are thought to have one blank between them.

    Returns
    -------
    list of (int, int)
        Places in the text.

    Examples
    --------
    >>> places_of(Sentence(("New", "York")))
    [(0, 3), (4, 8)]
    """
    if "start" in sentence.columns and "end" in sentence.columns:
        return [(int(a), int(b)) for a, b in zip(sentence["start"], sentence["end"], strict=True)]
    places, start = [], 0
    for token in sentence.tokens:
        places.append((start, start + len(token)))
        start += len(token) + 1
    return places
