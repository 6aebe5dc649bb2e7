"""Chunk tags: spans of tokens written as IO, IOB1, IOB2, IOBES or BILOU, and conversion between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from handful.data.files import shown
from handful.errors import DataError, ParameterError, counted

Scheme: TypeAlias = Literal["IO", "IOB1", "IOB2", "IOBES", "BILOU"]

_MARKS = dict(zip("OBIESLU", "OBIESES", strict=True))  # last and unit of BILOU are end and single


class Span(NamedTuple):
    """Tokens ``start`` up to but not including ``end``, of one type.

    Examples
    --------
    >>> Span(0, 2, "PER")
    Span(start=0, end=2, type='PER')
    """

    start: int
    end: int
    type: str


def spans(tags: Sequence[str]) -> list[Span]:
    """Spans of a tag sequence, read as leniently as ``conlleval`` does.

    Parameters
    ----------
    tags : sequence of str
        ``O``, or ``B``, ``I``, ``E``, ``S``, ``L`` or ``U`` with a type after the first hyphen (no hyphen: the empty type).

    Returns
    -------
    list of Span
        From left to right.

    Raises
    ------
    DataError
        If a tag has another form.

    Notes
    -----
    A span starts at B and S, at I and E after O, after E or S, or where the type changes. It ends after E and S and
    before O, B, S or another type. L and U (BILOU) count as E and S. So every scheme is read right without being named,
    and a broken sequence (I after O in IOB2) still gives the spans that ``conlleval`` counts.

    Examples
    --------
    >>> spans(["I-PER", "I-PER", "B-PER", "O", "S-LOC"])
    [Span(start=0, end=2, type='PER'), Span(start=2, end=3, type='PER'), Span(start=4, end=5, type='LOC')]
    """
    read_spans: list[Span] = []
    start = -1
    previous, previous_type = "O", ""
    for index, tag in enumerate(tags):
        mark, kind = _parse(tag, index)
        starts = mark != "O" and (mark in "BS" or previous in "OES" or kind != previous_type)
        if start >= 0 and (starts or mark == "O"):
            read_spans.append(Span(start, index, previous_type))
            start = -1
        if starts:
            start = index
        previous, previous_type = mark, kind
    if start >= 0:
        read_spans.append(Span(start, len(tags), previous_type))
    return read_spans


def _parse(tag: str, index: int) -> tuple[str, str]:
    if tag == "O":
        return "O", ""
    if not isinstance(tag, str):
        raise DataError(f"chunk tags: tag {index} must be a string, got {shown(tag)}.")
    mark, _, kind = tag.partition("-")
    if mark not in _MARKS or mark == "O":
        raise DataError(f"chunk tags: tag {index} must be O or B-, I-, E-, S-, L- or U- with a type, got {shown(tag)}.")
    return _MARKS[mark], kind


def from_spans(items: Iterable[tuple[int, int, str]], length: int, scheme: Scheme = "IOB2") -> list[str]:
    """Tags of spans in a scheme.

    Parameters
    ----------
    items : iterable of Span or of (int, int, str)
        From left to right, without overlap.
    length : int
        Number of tokens.
    scheme : {"IO", "IOB1", "IOB2", "IOBES", "BILOU"}
        How to write them. ``IO`` cannot tell two adjacent spans of one type from one long span.

    Returns
    -------
    list of str
        One tag for each token.

    Examples
    --------
    >>> from_spans([Span(0, 2, "PER"), Span(2, 3, "PER")], 4, "IOB1")
    ['I-PER', 'I-PER', 'B-PER', 'O']
    >>> from_spans([Span(0, 2, "PER"), Span(2, 3, "PER")], 4, "IOBES")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    """
    if scheme not in get_args(Scheme):
        raise ParameterError(
            f"from_spans: the scheme must be one of {', '.join(get_args(Scheme))}, got {shown(scheme)}."
        )
    tags = ["O"] * length
    last = Span(0, 0, "")
    for item in items:
        span = Span(*item)
        start, end, kind = span
        if not last.end <= start < end <= length:
            raise DataError(
                f"from_spans: spans must be filled, in order, apart and within {counted(length, 'token')}, "
                f"got {tuple(span)} after {tuple(last)}."
            )
        suffix = f"-{kind}" if kind else ""
        tags[start:end] = [f"{mark}{suffix}" for mark in _marks(span, last, scheme)]
        last = span
    return tags


def _marks(span: Span, last: Span, scheme: Scheme) -> str:
    """Return the letters of the tags of a span, of which `last` is the one before."""
    length = span.end - span.start
    if scheme in ("IOBES", "BILOU"):
        single, end = ("S", "E") if scheme == "IOBES" else ("U", "L")
        return single if length == 1 else "B" + "I" * (length - 2) + end
    touches = span.start > 0 and last.end == span.start and last.type == span.type
    starts_with_b = scheme == "IOB2" or (scheme == "IOB1" and touches)
    return ("B" if starts_with_b else "I") + "I" * (length - 1)


def convert(tags: Sequence[str], source: Scheme, target: Scheme) -> list[str]:
    """Rewrite tags from one scheme to another; tags that break the source scheme are refused.

    Parameters
    ----------
    tags : sequence of str
        Tags of one sentence.
    source, target : {"IO", "IOB1", "IOB2", "IOBES", "BILOU"}
        The scheme that `tags` are in, and the one wanted. Going to ``IO`` joins adjacent spans of one type.

    Returns
    -------
    list of str
        As long as `tags`.

    Examples
    --------
    >>> convert(["I-PER", "I-PER", "O", "I-LOC"], "IOB1", "IOBES")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    read_spans = spans(tags)
    for index, (tag, clean) in enumerate(zip(tags, from_spans(read_spans, len(tags), source), strict=True)):
        if tag != clean:
            raise DataError(
                f"convert: tags must be {source}, which has {clean} for token {index}, got {tag}. "
                f"Name the right scheme (detect_scheme finds it), or repair the tags with to_iob2."
            )
    return from_spans(read_spans, len(tags), target)


def to_iob2(tags: Sequence[str]) -> list[str]:
    """Rewrite tags of any scheme as IOB2; broken sequences are repaired as ``conlleval`` reads them.

    Parameters
    ----------
    tags : sequence of str
        Tags of one sentence.

    Returns
    -------
    list of str
        As long as `tags`.

    Examples
    --------
    >>> to_iob2(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC']
    """
    return from_spans(spans(tags), len(tags), "IOB2")


def detect_scheme(sentences: Iterable[Sequence[str]]) -> Scheme:
    """Find the scheme that all tag sequences keep to.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Tags of each sentence.

    Returns
    -------
    {"IO", "IOB1", "IOB2", "IOBES", "BILOU"}
        The first that fits, in this order; tags without any B fit IO, which reads them in the same way as IOB1.

    Raises
    ------
    DataError
        If none fits; the message names the first sentence that rules out the last one.

    Examples
    --------
    >>> detect_scheme([["I-PER", "B-PER", "O"], ["I-LOC"]])
    'IOB1'
    """
    possible: list[Scheme] = list(get_args(Scheme))
    for number, tags in enumerate(sentences, start=1):
        read_spans = spans(tags)
        fitting = [scheme for scheme in possible if from_spans(read_spans, len(tags), scheme) == list(tags)]
        if not fitting:
            raise DataError(
                f"detect_scheme: tags must keep to one of {', '.join(get_args(Scheme))} throughout, "
                f"got sentence {number} that breaks {' and '.join(possible)}. Repair the tags with to_iob2."
            )
        possible = fitting
    return possible[0]
