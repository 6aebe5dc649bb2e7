"""What to tell about tagged sentences that look as if something went wrong."""

from __future__ import annotations

from collections.abc import Sequence

_LONG = 150


def notes_on_tags(tags: Sequence[Sequence[str]]) -> list[str]:
    """Return what a person should know about the tags of some sentences.

    Parameters
    ----------
    tags : sequence of sequences of str
        One tag a token.

    Returns
    -------
    list of str
        Sentences: on text without blank lines between sentences, and on spans that go on without having begun.

    Examples
    --------
    >>> print(*notes_on_tags([["B-LOC", "I-PER"], ["B-LOC", "O"], ["B-PER", "I-PER"]]))
    1 of 4 spans begins with I- (such as I-PER after B-LOC), not with B-; it is read as a span of its own.
    """
    return [*_on_length(tags), *_on_spans(tags)]


def _on_length(tags: Sequence[Sequence[str]]) -> list[str]:
    n_tokens = sum(map(len, tags))
    if n_tokens <= _LONG * len(tags):
        return []
    return [
        f"The {n_tokens:,} tokens are {len(tags):,} sentence{'s' * (len(tags) > 1)}, {n_tokens // len(tags):,} tokens each. "
        "Is a blank line missing after each sentence?"
    ]


def _on_spans(tags: Sequence[Sequence[str]]) -> list[str]:
    """Tell of spans that begin with I-, unless most do: then the file is written so (IOB1)."""
    begun, broken = 0, []
    for row in tags:
        for before, tag in zip(["O", *row], row, strict=False):
            if tag[:2] == "B-":
                begun += 1
            elif tag[:2] == "I-" and before[2:] != tag[2:]:
                broken.append((before, tag))
    if not broken or len(broken) >= begun:
        return []
    before, tag = broken[0]
    begin, read = (
        ("begins", "it is read as a span of its own") if len(broken) == 1 else ("begin", "each is read as one")
    )
    return [
        f"{len(broken):,} of {begun + len(broken):,} spans {begin} with I- (such as {tag} after {before}), not with B-; {read}."
    ]
