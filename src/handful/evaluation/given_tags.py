"""Scores against the tags that a file has already, where these are answers to the same question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from handful.evaluation.chunks import score_tags

_BLANKS = frozenset({"_", ""})
_MARKS = ("B-", "I-", "E-", "S-")  # of spans


def score_given(
    given: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], known: Collection[str]
) -> tuple[dict[str, float], int]:
    """Score tags against given ones of the same kind.

    Parameters
    ----------
    given, predicted : sequence of sequences of str
        Tags of each sentence.
    known : collection of str
        Tags that the tagger may give.

    Returns
    -------
    scores : dict of str to float
        Accuracy and, for spans, precision, recall and F1; empty where the given tags are all the same (a placeholder, such as
        O or _), or most of them are unknown to the tagger.
    n_sentences : int
        Sentences that were scored: those without a blank (``_``) among their given tags.

    Examples
    --------
    >>> score_given([["D", "N"], ["_", "_"]], [["D", "D"], ["D", "N"]], {"D", "N"})
    ({'accuracy': 0.5}, 1)
    >>> score_given([["O", "O"]], [["O", "B-PER"]], {"O", "B-PER"})
    ({}, 0)
    """
    blanks = _BLANKS.difference(known)
    rows = [(right, found) for right, found in zip(given, predicted, strict=True) if blanks.isdisjoint(right)]
    counts = Counter(tag for right, _ in rows for tag in right)
    types = set(map(_type, known))  # a tagger may write spans in another scheme than the file
    n_known = sum(n for tag, n in counts.items() if _type(tag) in types and tag != "O")
    if len(counts) < 2 or 2 * n_known < counts.total() - counts["O"]:
        return {}, 0
    kinds = {*counts, *known, *(tag for _, found in rows for tag in found)}
    with_spans = "O" in kinds and all(tag == "O" or tag[:2] in _MARKS for tag in kinds)
    return score_tags([right for right, _ in rows], [found for _, found in rows], with_spans), len(rows)


def _type(tag: str) -> str:
    return tag[2:] if tag[:2] in _MARKS else tag
