"""The working loop of a person without labels: take and suggest prototypes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.params import Count, Share, check_value
from handful.tagging.prototypes.checks import check_lists

_LEAST_COUNT, _ONE_IN = 3, 5_000  # a good prototype is frequent


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
    for words, mine in zip(sentences, tags, strict=True):
        try:
            counts.update(zip(words, mine, strict=True))
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
        Rarer words are not suggested; by default those that are not 1 in 5,000 tokens, or stand there less than 3 times.

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
    >>> found = suggest_prototypes(text, {"N": ["dog"], "D": ["the"]}, similarity, min_count=1)
    >>> [word for word, _, _ in found.near["N"]], [word for word, _, _ in found.near["D"]]
    (['cat'], ['a'])
    """
    lists = check_lists(prototypes, "prototypes")
    counts = Counter(word for sentence in sentences for word in sentence)
    rows, vectors = similarity.vocabulary_, similarity.vectors_
    taken = {word for mine in lists.values() for word in mine}
    least = max(_LEAST_COUNT, counts.total() // _ONE_IN) if min_count is None else min_count
    words = [w for w, n in counts.most_common() if n >= least and w not in taken]
    known = [w for w in words if w in rows]
    labels = [label for label, mine in lists.items() if any(w in rows for w in mine)]
    near: dict[str, list[tuple[str, float, int]]] = {label: [] for label in lists}
    covered: set[str] = set()
    if labels and known:
        mine = vectors[[rows[w] for w in known]]
        tops = np.column_stack(
            [(mine @ vectors[[rows[w] for w in lists[label] if w in rows]].T).max(axis=1) for label in labels]
        )
        covered = {w for w, top in zip(known, tops.max(axis=1), strict=True) if top > threshold}
        best = tops.argmax(axis=1)
        for number, label in enumerate(labels):
            chosen = np.flatnonzero((best == number) & (tops[:, number] > threshold))
            order = chosen[np.argsort(-tops[chosen, number], kind="stable")][:n_words]
            near[label] = [(known[i], float(tops[i, number]), counts[known[i]]) for i in order]
    uncovered = [(w, counts[w]) for w in words if w not in covered][:n_words]
    return Suggestions(near, uncovered)
