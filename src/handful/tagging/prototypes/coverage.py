"""How far a prototype list reaches in a text, label by label, and where it is weak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.params import Count, check_value
from handful.features.columns import Tokens
from handful.tagging.prototypes.checks import check_given, check_lists
from handful.tagging.prototypes.features import link_words

_LIKE = 5  # words named as examples


@dataclass(frozen=True)
class LabelReach:
    """What a text has of one label.

    Parameters
    ----------
    label : str
        The label.
    prototypes : list of (str, int)
        Its words and how often each occurs.
    prototype_share : float
        Share of all tokens that are these words; a word of several labels counts for each.
    linked_share : float
        Share of all tokens that are no prototypes and most like one of these.
    like : list of str
        The most frequent of the words linked so.
    """

    label: str
    prototypes: list[tuple[str, int]]
    prototype_share: float
    linked_share: float
    like: list[str]


@dataclass(frozen=True)
class Unsure:
    """A word whose label a tagger is in doubt about.

    Parameters
    ----------
    word : str
        The word.
    count : int
        Its tokens.
    bits : float
        Mean entropy of its labels.
    labels : list of (str, float)
        Its most probable labels and their mean probability.
    """

    word: str
    count: int
    bits: float
    labels: list[tuple[str, float]]


@dataclass(frozen=True)
class Coverage:
    """How far a prototype list reaches; see `check_prototypes`.

    Parameters
    ----------
    n_tokens : int
        Tokens of the text.
    prototype_share : float
        Share of tokens that are prototypes.
    linked_share : float
        Share of tokens that are no prototypes but linked to one.
    labels : list of LabelReach
        The same by label, in the order of the list.
    missing : dict of str to list of str
        Prototypes that do not occur in the text, by label.
    ambiguous : dict of str to list of str
        Prototypes that stand under several labels, with these.
    uncovered : list of (str, int)
        Most frequent words that are neither prototypes nor linked: word, count.
    unsure : list of Unsure
        Words that a fitted tagger is least sure of. Empty without a tagger.
    disputed : list of (str, str, int, int)
        Prototypes that most often carry a label they are not listed under: word, that label, how often, of how many
        tokens. Empty without correct labels.
    """

    n_tokens: int
    prototype_share: float
    linked_share: float
    labels: list[LabelReach]
    missing: dict[str, list[str]]
    ambiguous: dict[str, list[str]]
    uncovered: list[tuple[str, int]]
    unsure: list[Unsure]
    disputed: list[tuple[str, str, int, int]]


def check_prototypes(
    sentences: Sequence[Tokens],
    prototypes: Mapping[str, Sequence[str]],
    similarity: Any = None,
    *,
    tagger: Any = None,
    gold: Sequence[Sequence[str | None] | None] | None = None,
    n_links: Count = 5,
    threshold: float = 0.35,
    n_words: Count = 10,
) -> Coverage:
    """Tell how much of a text a prototype list covers, and where it is weak.

    Parameters
    ----------
    sentences : list of lists of str
        The text.
    prototypes : mapping of str to sequence of str
        The list.
    similarity : ContextSimilarity, optional
        Fitted; without it only prototypes themselves are covered.
    tagger : PrototypeTagger, optional
        Fitted; tells which words it is unsure of.
    gold : list of lists of str, optional
        Correct labels, None where not known; tells which prototypes stand under the wrong label. Those of the tagger's
        ``boundary`` stand under none, since marks take the label of the field before them.
    n_links, threshold
        As for `PrototypeTagger`.
    n_words : int, default=10
        How many words to name.

    Returns
    -------
    Coverage
        The report. Words are ordered by what they cost: uncovered ones by count, unsure ones by count times entropy.

    Examples
    --------
    >>> report = check_prototypes([["the", "dog", "sat"]], {"D": ["the"], "V": ["ran"]})
    >>> round(report.prototype_share, 2), report.missing, report.uncovered
    (0.33, {'V': ['ran']}, [('dog', 1), ('sat', 1)])
    """
    check_value("check_prototypes", "n_words", Count, n_words)
    lists = check_lists(prototypes, "prototypes")
    counts = Counter(word for sentence in sentences for word in sentence)
    total = counts.total()
    if total == 0:
        raise DataError("check_prototypes: at least one token is needed, got none.")
    labels_of = _labels_of(lists)
    links: dict[str, list[str]] = {}
    if similarity is not None:
        links = link_words(similarity, list(labels_of), n_links, threshold, list(counts))
    linked = {word: near for word, near in links.items() if word not in labels_of}
    return Coverage(
        total,
        sum(map(counts.__getitem__, labels_of)) / total,
        sum(map(counts.__getitem__, linked)) / total,
        [_reach(label, words, linked, labels_of, counts) for label, words in lists.items()],
        _missing(lists, counts),
        under_several_labels(lists),
        _uncovered(counts, {*labels_of, *linked})[:n_words],
        _unsure(tagger, sentences, counts, n_words) if tagger is not None else [],
        _disputed(sentences, gold, labels_of, getattr(tagger, "boundary", None))[:n_words] if gold is not None else [],
    )


def under_several_labels(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the prototypes that stand under several labels, with these.

    Parameters
    ----------
    lists : mapping of str to sequence of str
        Prototypes of each label.

    Returns
    -------
    dict of str to list of str
        Words with their labels.

    Examples
    --------
    >>> under_several_labels({"N": ["dog", "run"], "V": ["run"]})
    {'run': ['N', 'V']}
    """
    return {word: labels for word, labels in _labels_of(lists).items() if len(labels) > 1}


def _labels_of(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the labels that each prototype stands under."""
    labels_of: dict[str, list[str]] = {}
    for label, words in lists.items():
        for word in words:
            labels_of.setdefault(word, []).append(label)
    return labels_of


def _missing(lists: Mapping[str, Sequence[str]], counts: Counter[str]) -> dict[str, list[str]]:
    missing = {label: [word for word in words if word not in counts] for label, words in lists.items()}
    return {label: words for label, words in missing.items() if words}


def _uncovered(counts: Counter[str], covered: set[str]) -> list[tuple[str, int]]:
    return [(word, count) for word, count in counts.most_common() if word not in covered]


def _reach(
    label: str,
    words: Sequence[str],
    linked: Mapping[str, Sequence[str]],
    labels_of: Mapping[str, Sequence[str]],
    counts: Counter[str],
) -> LabelReach:
    total = counts.total()
    like = [(-counts[word], word) for word, near in linked.items() if label in labels_of[near[0]]]
    return LabelReach(
        label,
        [(word, counts[word]) for word in words],
        sum(counts[word] for word in words) / total,
        -sum(count for count, _ in like) / total,
        [word for _, word in sorted(like)[:_LIKE]],
    )


def _unsure(tagger: Any, sentences: Sequence[Tokens], counts: Counter[str], n_words: int) -> list[Unsure]:
    bits: dict[str, float] = dict.fromkeys(counts, 0.0)
    shares: dict[str, np.ndarray] = {}
    for sentence, rows in zip(sentences, tagger.predict_proba(sentences), strict=True):
        entropy = -(rows * np.log2(np.maximum(rows, 1e-300))).sum(axis=1)
        for word, value, row in zip(sentence, entropy.tolist(), rows, strict=True):
            bits[word] += value
            shares[word] = shares.get(word, 0.0) + row
    costly = sorted((word for word, total in bits.items() if total > 0), key=lambda word: -bits[word])[:n_words]
    unsure = []
    for word in costly:
        mean = shares[word] / counts[word]
        best = [(str(tagger.classes_[code]), float(mean[code])) for code in np.argsort(-mean, kind="stable")[:3]]
        unsure.append(Unsure(word, counts[word], bits[word] / counts[word], best))
    return unsure


def _disputed(
    sentences: Sequence[Tokens],
    gold: Sequence[Sequence[str | None] | None],
    labels_of: Mapping[str, Sequence[str]],
    boundary: str | None,
) -> list[tuple[str, str, int, int]]:
    check_given(gold, np.cumsum([0, *map(len, sentences)]), "gold")
    seen: dict[str, Counter[str]] = {}
    for sentence, labels in zip(sentences, gold, strict=True):
        for word, label in zip(sentence, labels, strict=True) if labels is not None else ():
            if word in labels_of and label is not None:
                seen.setdefault(word, Counter())[label] += 1
    most = {word: labels.most_common(1)[0] for word, labels in seen.items()}
    wrong = [
        (word, *most[word], labels.total())
        for word, labels in seen.items()
        if most[word][0] not in labels_of[word] and boundary not in labels_of[word]
    ]
    return sorted(wrong, key=lambda entry: -entry[2])
