"""Tags of tokens as the page sees them: labels of single tokens, or of spans written as B-X, I-X and O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

OUTSIDE = "O"
Tag = TypeVar("Tag", str, "str | None")


def label_of(tag: str, spans: bool) -> str:
    """Return the label that a tag speaks of; an empty text outside all spans.

    Examples
    --------
    >>> label_of("B-PER", True), label_of("O", True), label_of("O", False)
    ('PER', '', 'O')
    """
    if not spans:
        return tag
    return "" if tag == OUTSIDE else tag.partition("-")[2] or tag


def span_tags(label: str | None, n: int, spans: bool) -> list[str | None]:
    """Return the tags of `n` tokens that get one label; without one they are outside, or open.

    Examples
    --------
    >>> span_tags("PER", 3, True), span_tags("N", 2, False), span_tags(None, 1, True)
    (['B-PER', 'I-PER', 'I-PER'], ['N', 'N'], ['O'])
    """
    if not spans:
        return [label] * n
    if label is None:
        return [OUTSIDE] * n
    return [f"B-{label}", *[f"I-{label}"] * (n - 1)]


def mended(tags: Sequence[Tag], spans: bool) -> list[Tag]:
    """Return tags in which every span begins with B: labels of single tokens become spans, and half a span a whole one.

    Examples
    --------
    >>> mended(["PER", "PER", "O", "I-LOC", "B-LOC", None], True)
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC', None]
    """
    if not spans:
        return list(tags)
    out: list[Tag] = []
    for tag in tags:
        if tag is None or tag == OUTSIDE or tag.startswith("B-"):
            out.append(tag)
            continue
        label = tag[2:] if tag.startswith("I-") else tag
        before = out[-1] if out else None
        inside = before is not None and before != OUTSIDE and label_of(before, True) == label
        out.append(f"{'I' if inside else 'B'}-{label}")
    return out
