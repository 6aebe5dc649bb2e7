"""The working loop of a person without labels: take and suggest prototypes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.params import Count, Share, check_value
from handful.tagging.prototypes.checks import check_lists

_LEAST_COUNT, _ONE_IN = 5, 5_000  # a good prototype is frequent


def extract_prototypes(
    sentences: Iterable[Iterable[str]], tags: Iterable[Iterable[str]], n_words: Count = 3, *, min_share: Share = 0.5
) -> dict[str, list[str]]:
    """Take the most frequent words of each label from tagged sentences.

    Parameters
    ----------
    sentences : iterable of iterables of str
        The tokens.
    tags : iterable of iterables of str
        One label per token.
    n_words : int, default=3
        Most words of a label.
    min_share : float, default=0.5
        A word stands under a label only if at least this share of its tokens carry it, and no other label more often.

    Returns
    -------
    dict of str to list of str
        Words of each label, the most frequent first, labels in alphabetical order. A label without such a word is left out.

    Notes
    -----
    Among words of the same frequency the one that sorts first wins. A word that carries two labels equally often may
    stand under both.

    Examples
    --------
    >>> extract_prototypes([["the", "dog", "can"], ["the", "can"]], [["D", "N", "V"], ["D", "N"]], n_words=1)
    {'D': ['the'], 'N': ['can'], 'V': ['can']}
    """
    check_value("extract_prototypes", "n_words", Count, n_words)
    check_value("extract_prototypes", "min_share", Share, min_share)
    counts: Counter[tuple[str, str]] = Counter()
    for words, labels in zip(sentences, tags, strict=True):
        try:
            counts.update(zip(words, labels, strict=True))
        except ValueError:
            raise DataError("extract_prototypes: every token must have one tag.") from None
    totals: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for (word, _), count in counts.items():
        totals[word] += count
        most[word] = max(most[word], count)
    lists: dict[str, list[tuple[int, str]]] = {}
    for (word, label), count in counts.items():
        if count == most[word] and count >= min_share * totals[word]:
            lists.setdefault(label, []).append((-count, word))
    return {label: [word for _, word in sorted(lists[label])[:n_words]] for label in sorted(lists)}


@dataclass(frozen=True)
class Suggestions:
    """Words worth looking at; see `suggest_prototypes`.

    Parameters
    ----------
    near : dict of str to list of (str, float, int)
        For each label words like its prototypes: word, similarity, count.
    uncovered : list of (str, int)
        Frequent words that are no prototypes and like none: word, count.
    """

    near: dict[str, list[tuple[str, float, int]]]
    uncovered: list[tuple[str, int]]


def suggest_prototypes(
    sentences: Iterable[Iterable[str]],
    prototypes: Mapping[str, Sequence[str]],
    similarity: Any,
    *,
    n_words: Count = 10,
    threshold: float = 0.35,
    min_count: Count | None = None,
) -> Suggestions:
    """Suggest further prototypes from raw text.

    Parameters
    ----------
    sentences : iterable of iterables of str
        The text.
    prototypes : mapping of str to sequence of str
        The list so far; a label may have no words yet.
    similarity : ContextSimilarity
        Fitted.
    n_words : int, default=10
        How many words to suggest for each label, and of the uncovered ones.
    threshold : float, default=0.35
        Words less similar than this to every prototype are uncovered.
    min_count : int, optional
        Rarer words are not suggested; by default those that are not 1 in 5,000 tokens, or stand there less than 5 times.

    Returns
    -------
    Suggestions
        For each label the words nearest to one of its prototypes that are not nearer to another label's; and the most
        frequent words that no prototype covers.

    Examples
    --------
    >>> from handful.representations import ContextSimilarity
    >>> text = [s.split() for s in ["the dog sat", "the cat sat", "a dog ran", "a cat ran", "oh !"]]
    >>> similarity = ContextSimilarity(n_components=4).fit(text)
    >>> suggested = suggest_prototypes(text, {"N": ["dog"], "D": ["the"]}, similarity, min_count=1)
    >>> [word for word, _, _ in suggested.near["N"]], [word for word, _, _ in suggested.near["D"]]
    (['cat'], ['a'])
    """
    lists = check_lists(prototypes, "prototypes")
    counts = Counter(word for sentence in sentences for word in sentence)
    taken = set(chain.from_iterable(lists.values()))
    least = max(_LEAST_COUNT, counts.total() // _ONE_IN) if min_count is None else min_count
    words = [w for w, n in counts.most_common() if n >= least and w not in taken]
    known = [w for w in words if w in similarity.vocabulary_]
    near: dict[str, list[tuple[str, float, int]]] = {label: [] for label in lists}
    covered: set[str] = set()
    for label, like in _nearest(known, lists, similarity, threshold).items():
        near[label] = [(word, share, counts[word]) for word, share in like[:n_words]]
        covered.update(word for word, _ in like)
    uncovered = [(w, counts[w]) for w in words if w not in covered][:n_words]
    return Suggestions(near, uncovered)


def _nearest(
    words: Sequence[str], lists: Mapping[str, Sequence[str]], similarity: Any, threshold: float
) -> dict[str, list[tuple[str, float]]]:
    """Return for each label the words that are nearer to it than to others, and like one of its prototypes."""
    likeness = _likeness(words, lists, similarity)
    if not likeness:
        return {}
    best = np.column_stack(list(likeness.values())).argmax(axis=1)
    near = {}
    for number, (label, like) in enumerate(likeness.items()):
        chosen = np.flatnonzero((best == number) & (like > threshold))
        order = chosen[np.argsort(-like[chosen], kind="stable")]
        near[label] = [(words[i], float(like[i])) for i in order]
    return near


def _likeness(words: Sequence[str], lists: Mapping[str, Sequence[str]], similarity: Any) -> dict[str, np.ndarray]:
    """Return how like each word is to the nearest prototype of each label; labels without a known word are left out."""
    rows, vectors = similarity.vocabulary_, similarity.vectors_
    prototypes = {label: [rows[word] for word in listed if word in rows] for label, listed in lists.items()}
    if not words:
        return {}
    of_words = vectors[[rows[word] for word in words]]
    return {label: (of_words @ vectors[places].T).max(axis=1) for label, places in prototypes.items() if places}
