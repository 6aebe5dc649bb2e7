"""Kinds of similarity that words may be linked to prototypes by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from handful.representations import ContextSimilarity

Kind = Literal["places", "place-roots", "nearby-roots", "nearby", "none"]
KINDS: tuple[Kind, ...] = ("places", "place-roots", "nearby-roots", "nearby", "none")
"""places: context words by distance and direction, decomposed, for parts of speech; nearby: whatever stands within three
words, decomposed, for fields (both after Haghighi and Klein 2006). The roots are the same contexts for less text: square
roots of counts, compared as they are."""

_TOKENS_A_COUNT, _LEAST_COUNT, _MOST_COUNT = 6_000, 5, 20
_SMALL = 2_000  # in a text of fewer tokens every word counts
_NEARBY: dict[str, Any] = {"window": 3, "directional": False}


def usual_threshold(kind: Kind) -> float:
    """Return how similar words must be to be linked; roots of counts are never negative, so more is asked of them.

    Examples
    --------
    >>> usual_threshold("places"), usual_threshold("nearby-roots")
    (0.35, 0.45)
    """
    return 0.45 if kind.endswith("roots") else 0.35


def learn_similarity(
    kind: Kind, text: Iterable[Any], n_tokens: int, min_count: int | None = None
) -> ContextSimilarity | None:
    """Learn a kind of similarity from a text.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    text : iterable of sentences
        The text.
    n_tokens : int
        Its size, which the count that a word needs depends on.
    min_count : int, optional
        That count; by default 1 for decomposed counts, and for roots one for every 6,000 tokens, from 5 to 20 (1 in a text
        of less than 2,000).

    Returns
    -------
    ContextSimilarity or None
        Fitted; None for the kind none.

    Examples
    --------
    >>> text = [s.split() for s in ["the dog sat", "the cat sat", "a dog ran", "a cat ran"]]
    >>> round(learn_similarity("place-roots", text, 12).similarity("dog", "cat"), 2)
    1.0
    """
    if kind == "none":
        return None
    contexts = _NEARBY if kind.startswith("nearby") else {}
    if kind.endswith("roots"):
        usual = min(_MOST_COUNT, max(_LEAST_COUNT, n_tokens // _TOKENS_A_COUNT)) if n_tokens >= _SMALL else 1
        least = min_count or usual
        return ContextSimilarity(**contexts, n_components=None, power=0.5, min_count=least).fit(text)
    rank: dict[str, Any] = {"n_components": 50} if contexts else {}
    return ContextSimilarity(**contexts, **rank, min_count=min_count or 1).fit(text)
