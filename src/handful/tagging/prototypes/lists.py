"""Prototype lists: checks, coverage and suggestions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from handful.data.labels import UNLABELED, code_of
from handful.errors import DataError
from handful.params import Count, Share, check_value
from handful.preprocessing.templates import Tokens
from handful.tagging.prototypes.features import link_words

Tags = Sequence[Sequence[str | None] | None]


def check_lists(lists: Any, name: str) -> dict[str, list[str]]:
    """Check lists of words by label; return them with each word once.

    Parameters
    ----------
    lists : mapping of str to sequence of str, or None
        Words of each label.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    dict of str to list of str
        The same, empty for None.

    Examples
    --------
    >>> check_lists({"N": ["dog", "cat", "dog"]}, "prototypes")
    {'N': ['dog', 'cat']}
    >>> check_lists({"N": "dog"}, "prototypes")
    Traceback (most recent call last):
    ...
    handful.errors.DataError: PrototypeTagger: prototypes must map each label to a list of words, got 'dog' for 'N'.
    """
    if lists is None:
        return {}
    if not isinstance(lists, Mapping):
        raise DataError(f"PrototypeTagger: {name} must map each label to a list of words, got {type(lists).__name__}.")
    for label, words in lists.items():
        _check_filled([label], f"the labels of {name}")
        if isinstance(words, str) or not hasattr(words, "__iter__"):
            raise DataError(
                f"PrototypeTagger: {name} must map each label to a list of words, got {words!r} for {label!r}."
            )
        _check_filled(words, f"the words of {name}", f" for {label!r}")
    return {label: list(dict.fromkeys(words)) for label, words in lists.items()}


def _check_filled(strings: Iterable[Any], name: str, where: str = "") -> None:
    for string in strings:
        if not isinstance(string, str) or not string:
            raise DataError(f"PrototypeTagger: {name} must be filled strings, got {string!r}{where}.")


def check_tags(tags: Any, offsets: np.ndarray, name: str) -> Tags | None:
    """Check labels that are known of some tokens.

    Parameters
    ----------
    tags : sequence of (sequence of (str or None) or None), or None
        One entry per sentence.
    offsets : ndarray of int64
        Where each sentence starts.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    sequence or None
        The same.

    Examples
    --------
    >>> check_tags([["D", None], None], np.array([0, 2, 3]), "tags")
    [['D', None], None]
    """
    if tags is None:
        return None
    if isinstance(tags, str) or not hasattr(tags, "__len__"):
        raise DataError(f"PrototypeTagger: {name} must be a list of lists of strings, got {type(tags).__name__}.")
    lengths = np.diff(offsets).tolist()
    if len(tags) != len(lengths):
        raise DataError(
            f"PrototypeTagger: {name} must have one entry per sentence, got {len(lengths)} sentences and {len(tags)} entries."
        )
    for number, (row, length) in enumerate(zip(tags, lengths, strict=True)):
        if row is not None:
            _check_row(row, length, f"{name} of sentence {number}")
    checked: Tags = tags
    return checked


def _check_row(row: Any, length: int, name: str) -> None:
    if isinstance(row, str) or not hasattr(row, "__len__"):
        raise DataError(f"PrototypeTagger: {name} must be a list or None, got {row!r}.")
    if len(row) != length:
        raise DataError(
            f"PrototypeTagger: {name} must have one entry per token, got {length} tokens and {len(row)} entries. "
            "Use None for a token without a label."
        )
    _check_filled((tag for tag in row if tag is not None), name)


def flat_codes(tags: Tags | None, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the code of every token's label, -1 where none is known.

    Examples
    --------
    >>> flat_codes([["D", None], None], np.array([0, 2, 3]), np.array(["D", "N"])).tolist()
    [0, -1, -1]
    """
    codes = np.full(int(offsets[-1]), UNLABELED, dtype=np.int32)
    numbers = code_of(classes) | {None: UNLABELED}
    for start, row in zip(offsets[:-1].tolist(), tags or (), strict=tags is not None):
        if row is not None:
            codes[start : start + len(row)] = [numbers[tag] for tag in row]
    return codes


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
        A word is listed under a label only if at least this part of its tokens has it, and no other label more often.

    Returns
    -------
    dict of str to list of str
        Words of each label, the most frequent first, labels in alphabetical order. A label without such a word is left out.

    Notes
    -----
    Among words of the same frequency the one that sorts first wins. A word that carries two labels equally often may
    be listed under both.

    Examples
    --------
    >>> extract_prototypes([["the", "dog", "can"], ["the", "can"]], [["D", "N", "V"], ["D", "N"]], n_words=1)
    {'D': ['the'], 'N': ['can'], 'V': ['can']}
    """
    check_value("extract_prototypes", "n_words", Count, n_words)
    check_value("extract_prototypes", "min_share", Share, min_share)
    labels_of: dict[str, Counter[str]] = {}
    for words, labels in zip(sentences, tags, strict=True):
        try:
            for word, label in zip(words, labels, strict=True):
                labels_of.setdefault(word, Counter())[label] += 1
        except ValueError:
            raise DataError("extract_prototypes: every token must have one tag.") from None
    lists: dict[str, list[tuple[int, str]]] = {}
    for word, counts in labels_of.items():
        least = max(*counts.values(), min_share * counts.total())
        for label, count in counts.items():
            if count >= least:
                lists.setdefault(label, []).append((-count, word))
    return {label: [word for _, word in sorted(lists[label])[:n_words]] for label in sorted(lists)}


@dataclass(frozen=True)
class Suggestions:
    """Suggested prototypes; see `suggest_prototypes`.

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
    threshold: float = 0.45,
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
        Fitted. Square roots of counts by position suggest best (see `learn_similarity`, place-roots).
    n_words : int, default=10
        Number of words to suggest for each label, and of uncovered ones.
    threshold : float, default=0.45
        Words less similar than this to every prototype are uncovered.
    min_count : int, optional
        Rarer words are not suggested; by default those that are not 1 in 5,000 tokens, or occur less than 5 times.

    Returns
    -------
    Suggestions
        For each label the words most similar to one of its prototypes, by the difference to the similarity with other
        labels' prototypes; and the most frequent words that no prototype covers.

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
    listed = set(chain.from_iterable(lists.values()))
    least = max(_LEAST_COUNT, counts.total() // _ONE_IN) if min_count is None else min_count
    words = [word for word, n in counts.most_common() if n >= least and word not in listed]
    known = [word for word in words if word in similarity.vocabulary_]
    similar = _similar_words(known, lists, similarity, threshold)
    near = {label: [(word, value, counts[word]) for word, value in similar.get(label, [])[:n_words]] for label in lists}
    covered = {word for several in similar.values() for word, _ in several}
    uncovered = [(word, counts[word]) for word in words if word not in covered]
    return Suggestions(near, uncovered[:n_words])


def _similar_words(
    words: Sequence[str], lists: Mapping[str, Sequence[str]], similarity: Any, threshold: float
) -> dict[str, list[tuple[str, float]]]:
    """Return for each label the words that are more similar to its prototypes than to others', clearest first."""
    rows, vectors = similarity.vocabulary_, similarity.vectors_
    prototypes = {label: [rows[word] for word in listed if word in rows] for label, listed in lists.items()}
    prototypes = {label: places for label, places in prototypes.items() if places}
    if not words or not prototypes:
        return {}
    own = vectors[[rows[word] for word in words]]
    values = np.column_stack([(own @ vectors[places].T).max(axis=1) for places in prototypes.values()])
    second = np.sort(values, axis=1)[:, -2] if len(prototypes) > 1 else np.zeros(len(words))
    similar = {}
    for column, label in enumerate(prototypes):
        value = values[:, column]
        chosen = np.flatnonzero((values.argmax(axis=1) == column) & (value > threshold))
        chosen = chosen[np.argsort(second[chosen] - value[chosen], kind="stable")]
        similar[label] = [(words[i], float(value[i])) for i in chosen.tolist()]
    return similar


_LIKE = 5  # words named as examples


@dataclass(frozen=True)
class LabelReach:
    """How much of a text one label covers.

    Parameters
    ----------
    label : str
        The label.
    prototypes : list of (str, int)
        Its words and how often each occurs.
    prototype_share : float
        Part of all tokens that are these words; a word of several labels counts for each.
    linked_share : float
        Part of all tokens that are no prototypes and most similar to one of these.
    like : list of str
        The most frequent of these similar words.
    """

    label: str
    prototypes: list[tuple[str, int]]
    prototype_share: float
    linked_share: float
    like: list[str]


@dataclass(frozen=True)
class Unsure:
    """A word whose label is uncertain.

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
    """How much of a text a prototype list covers; see `check_prototypes`.

    Parameters
    ----------
    n_tokens : int
        Tokens of the text.
    prototype_share : float
        Part of the tokens that are prototypes.
    linked_share : float
        Part of the tokens that are no prototypes but linked to one.
    labels : list of LabelReach
        The same by label, in the order of the list.
    missing : dict of str to list of str
        Prototypes that do not occur in the text, by label.
    ambiguous : dict of str to list of str
        Prototypes that are listed under several labels, with these.
    uncovered : list of (str, int)
        Most frequent words that are neither prototypes nor linked: word, count.
    unsure : list of Unsure
        Words with the most uncertain labels. Empty without a tagger.
    """

    n_tokens: int
    prototype_share: float
    linked_share: float
    labels: list[LabelReach]
    missing: dict[str, list[str]]
    ambiguous: dict[str, list[str]]
    uncovered: list[tuple[str, int]]
    unsure: list[Unsure]


def check_prototypes(
    sentences: Sequence[Tokens],
    prototypes: Mapping[str, Sequence[str]],
    similarity: Any = None,
    *,
    tagger: Any = None,
    n_links: Count = 5,
    threshold: float = 0.35,
    n_words: Count = 10,
) -> Coverage:
    """Measure how much of a text a prototype list covers, and where it is weak.

    Parameters
    ----------
    sentences : list of lists of str
        The text.
    prototypes : mapping of str to sequence of str
        The list.
    similarity : ContextSimilarity, optional
        Fitted; without it only prototypes themselves are covered.
    tagger : PrototypeTagger, optional
        Fitted; adds words with uncertain labels.
    n_links, threshold
        As for `PrototypeTagger`.
    n_words : int, default=10
        How many words to name.

    Returns
    -------
    Coverage
        The report. Uncovered words are ordered by count, uncertain ones by count times entropy.

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
    )


def under_several_labels(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the prototypes that are listed under several labels, with these.

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
    """Return the labels that each prototype is listed under."""
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
    """Return the words with the largest entropy of labels in sum over their tokens."""
    words, codes = np.unique([word for sentence in sentences for word in sentence], return_inverse=True)
    proba = np.concatenate(tagger.predict_proba(sentences))
    entropy = -(proba * np.log2(np.maximum(proba, 1e-300))).sum(axis=1)
    bits = np.bincount(codes, weights=entropy)
    unsure = []
    for number in np.argsort(-bits, kind="stable")[:n_words].tolist():
        if bits[number] > 0:
            word, mean = str(words[number]), proba[codes == number].mean(axis=0)
            best = [(str(tagger.classes_[code]), float(mean[code])) for code in np.argsort(-mean, kind="stable")[:3]]
            unsure.append(Unsure(word, counts[word], float(bits[number]) / counts[word], best))
    return unsure
