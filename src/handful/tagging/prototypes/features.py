"""What prototype taggers observe: spelling, links to prototypes, and separators between fields."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse

from handful.errors import DataError
from handful.representations.similarity import ContextSimilarity

_CAPITAL = re.compile(r"^[A-Z]")
_DIGIT = re.compile(r"[0-9]")
_AT_ONCE = 8192  # words whose similarities are held at a time


def spelling_predicates(word: str, suffix_length: int = 3) -> list[str]:
    """Return the predicates of a word's spelling: suffixes, initial capital, hyphen, digit.

    Parameters
    ----------
    word : str
        The word.
    suffix_length : int
        Longest suffix; a suffix is always shorter than the word.

    Returns
    -------
    list of str
        Names of predicates.

    Examples
    --------
    >>> spelling_predicates("Re-ran")
    ['suffix=n', 'suffix=an', 'suffix=ran', 'capital', 'hyphen']
    """
    predicates = [f"suffix={word[-n:]}" for n in range(1, suffix_length + 1) if len(word) > n]
    if _CAPITAL.search(word):
        predicates.append("capital")
    if "-" in word:
        predicates.append("hyphen")
    if _DIGIT.search(word):
        predicates.append("digit")
    return predicates


def word_predicates(word: str, links: Sequence[str], spelling: bool, suffix_length: int) -> list[str]:
    """Return all predicates of a word.

    Parameters
    ----------
    word : str
        The word.
    links : sequence of str
        Prototypes it is linked to.
    spelling : bool
        Whether to look at the spelling.
    suffix_length : int
        Longest suffix.

    Returns
    -------
    list of str
        Names of predicates.

    Examples
    --------
    >>> word_predicates("reported", ["said", "had"], spelling=True, suffix_length=2)
    ['word=reported', 'suffix=d', 'suffix=ed', 'prototype=said', 'prototype=had']
    """
    predicates = [f"word={word}"]
    if spelling:
        predicates += spelling_predicates(word, suffix_length)
    return predicates + [f"prototype={link}" for link in links]


def feature_table(predicates: Sequence[Sequence[str]], columns: Mapping[str, int]) -> sparse.csr_array:
    """Return words by predicates as a sparse table of ones; predicates without a column are left out.

    Examples
    --------
    >>> feature_table([["a", "b"], ["b", "c"]], {"a": 0, "b": 1}).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    indices: list[int] = []
    ends = [0]
    for observed in predicates:
        indices += [columns[p] for p in observed if p in columns]
        ends.append(len(indices))
    data = np.ones(len(indices))
    shape = (len(predicates), len(columns))
    return sparse.csr_array((data, np.array(indices, dtype=np.int64), np.array(ends, dtype=np.int64)), shape=shape)


def link_words(
    similarity: Any, prototypes: Sequence[str], n_links: int, threshold: float, words: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """Link words to the prototypes they are most like.

    Parameters
    ----------
    similarity : ContextSimilarity
        Fitted; anything with ``vocabulary_`` (word to row) and ``vectors_`` (unit rows) will do.
    prototypes : sequence of str
        The prototypes.
    n_links : int
        Most links of a word.
    threshold : float
        A link must be above this.
    words : sequence of str, optional
        Words to link; by default all that have a vector.

    Returns
    -------
    dict of str to list of str
        Prototypes of each word, the most similar first; a prototype is linked to itself alone. Words without a link are
        left out.

    Notes
    -----
    Among equally similar prototypes the one listed first wins.

    Examples
    --------
    >>> class Similarity:
    ...     vocabulary_ = {"said": 0, "added": 1, "year": 2}
    ...     vectors_ = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> link_words(Similarity(), ["said"], n_links=5, threshold=0.35)
    {'said': ['said'], 'added': ['said']}
    """
    if not hasattr(similarity, "vocabulary_") or not hasattr(similarity, "vectors_"):
        raise DataError(
            "PrototypeTagger: similarity must be a ContextSimilarity or have vocabulary_ and vectors_, "
            f"got {type(similarity).__name__}."
        )
    rows, vectors = similarity.vocabulary_, similarity.vectors_
    links = {word: [word] for word in prototypes}
    known = list(filter(rows.__contains__, links))
    wanted = [word for word in (rows if words is None else words) if word in rows and word not in links]
    target_vectors = np.asarray(vectors[[rows[word] for word in known]])
    for first in range(0, len(wanted) if known else 0, _AT_ONCE):
        chunk = wanted[first : first + _AT_ONCE]
        # rounded to what float32 holds, so that equal contexts are ties
        scores = np.round(vectors[[rows[word] for word in chunk]] @ target_vectors.T, 6)
        links |= _links_above(chunk, known, scores, n_links, threshold)
    return links


def _links_above(
    words: Sequence[str], known: Sequence[str], scores: np.ndarray, n_links: int, threshold: float
) -> dict[str, list[str]]:
    """Return the most similar prototypes of words, as far as they are above a threshold."""
    nearest = np.argsort(-scores, axis=1, kind="stable")[:, :n_links]
    n_above = (np.take_along_axis(scores, nearest, axis=1) > threshold).sum(axis=1).tolist()
    rows = zip(words, nearest.tolist(), n_above, strict=True)
    return {word: [known[j] for j in order[:n]] for word, order, n in rows if n}


Kind = Literal["places", "place-roots", "nearby-roots", "nearby", "none"]
KINDS: tuple[Kind, ...] = ("places", "place-roots", "nearby-roots", "nearby", "none")
"""places: context words by distance and direction, decomposed, for parts of speech; nearby: whatever stands within three
words, decomposed, for fields (both after Haghighi and Klein 2006). The roots are the same contexts for less text: square
roots of counts, compared as they are."""

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


def learn_similarity(kind: Kind, text: Iterable[Any], n_tokens: int) -> ContextSimilarity | None:
    """Learn a kind of similarity from a text.

    Parameters
    ----------
    kind : str
        One of `KINDS`. For roots, words must occur once in every 6,000 tokens, from 5 to 20 times (once in a text of less
        than 2,000).
    text : iterable of sentences
        The text.
    n_tokens : int
        Its size.

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
        min_count = min(20, max(5, n_tokens // 6_000)) if n_tokens >= _SMALL else 1
        return ContextSimilarity(**contexts, n_components=None, power=0.5, min_count=min_count).fit(text)
    rank: dict[str, Any] = {"n_components": 50} if contexts else {}
    return ContextSimilarity(**contexts, **rank).fit(text)


def even_sample(sentences: Iterable[Any], max_tokens: int) -> tuple[list[Any], int]:
    """Return every n-th sentence, and n: the least power of two that leaves at most so many tokens.

    Examples
    --------
    >>> even_sample([["a"], ["b"], ["c"], ["d"], ["e"]], 3)
    ([['a'], ['c'], ['e']], 2)
    """
    kept: list[Any] = []
    n_tokens, step = 0, 1
    for number, sentence in enumerate(sentences):
        if number % step == 0:
            kept.append(sentence)
            n_tokens += len(sentence)
            if n_tokens > max_tokens:
                kept, step = kept[::2], 2 * step
                n_tokens = sum(map(len, kept))
    return kept, step


def sample_sentences(
    sentences: Sequence[Any], max_tokens: int, words: Collection[str], seed: int, chosen: Iterable[int] = ()
) -> list[int]:
    """Return the numbers of some sentences: those chosen already, a random sample, and one for each of some words.

    Examples
    --------
    >>> sample_sentences([["a"], ["b"], ["c"]], 1, {"a", "b"}, seed=0, chosen=[2])
    [0, 1, 2]
    """
    if sum(map(len, sentences)) <= max_tokens:
        return list(range(len(sentences)))
    numbers, missing = set(chosen), set(words)
    n_tokens = sum(len(sentences[i]) for i in numbers)
    for i in np.random.default_rng(seed).permutation(len(sentences)).tolist():
        if i not in numbers and (n_tokens < max_tokens or not missing.isdisjoint(sentences[i])):
            numbers.add(i)
            n_tokens += len(sentences[i])
            missing.difference_update(sentences[i])
    return sorted(numbers)


def frequent_words(sentences: Iterable[Sequence[str]], without: Collection[str], n_words: int) -> list[str]:
    """Return the most frequent words that are none of some others.

    Examples
    --------
    >>> frequent_words([["the", "dog"], ["the", "cat"]], {"dog"}, 1)
    ['the']
    """
    counts = Counter(chain.from_iterable(sentences))
    return list(islice((word for word, _ in counts.most_common() if word not in without), n_words))


_FREQUENT = 0.01  # of all tokens
_PARTS_OF_WORDS = frozenset("#%&@*§†‡\\_")  # signs that belong to a word, or replace one
_FEWEST_KNOWN = 5
_FOLLOW = 0.7  # of the separators whose label is known


def find_separators(sentences: Iterable[Sequence[str]], listed: Collection[str]) -> list[str]:
    """Return punctuation that may separate the fields of a text.

    Parameters
    ----------
    sentences : iterable of lists of str
        The text.
    listed : collection of str
        Words that have a label of their own.

    Returns
    -------
    list of str
        Commas, brackets and the like that are not listed and are 1% of all tokens or more, the most frequent first.

    Examples
    --------
    >>> find_separators([["Rossi", ",", "A", ".", "vol", ".", "5"]], ["Rossi", "."])
    [',']
    """
    counts = Counter(token for sentence in sentences for token in sentence)
    least = _FREQUENT * counts.total()
    frequent = [token for token, n in counts.most_common() if n >= least and token not in listed]
    return [token for token in frequent if all(map(_is_punctuation, token))]


def separators_follow(
    sentences: Iterable[Sequence[str]], tags: Iterable[Sequence[str | None] | None], separators: Collection[str]
) -> bool:
    """Return whether separators have the label of the token before them, as far as labels are known.

    Examples
    --------
    >>> separators_follow([["a", ","]] * 9, [["N", "N"]] * 9, [","])
    True
    >>> separators_follow([["a", ","]] * 9, [["N", "O"]] * 9, [","])
    False
    """
    same = []
    for sentence, labels in zip(sentences, tags, strict=True):
        for token, before, label in zip(sentence[1:], labels or (), (labels or ())[1:], strict=False):
            if token in separators and before is not None and label is not None:
                same.append(label == before)
    return len(same) < _FEWEST_KNOWN or sum(same) >= _FOLLOW * len(same)


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P") and sign not in _PARTS_OF_WORDS


def label_sources(is_separator: np.ndarray) -> np.ndarray:
    """Return for every token of a sentence whose label it takes: its own, or for a separator that of the token before.

    A separator at the start takes the label of the first token that is none; where there are only separators, each keeps
    its own.

    Examples
    --------
    >>> label_sources(np.array([True, False, True, True, False])).tolist()
    [1, 1, 1, 1, 4]
    """
    others = np.flatnonzero(~is_separator)
    if not len(others):
        return np.arange(len(is_separator))
    before = np.searchsorted(others, np.arange(len(is_separator)), side="right") - 1
    sources: np.ndarray = others[np.maximum(before, 0)]
    return sources


def fill_separators(codes: np.ndarray, offsets: np.ndarray, separator: int) -> np.ndarray:
    """Return the labels of all tokens, where separators take the label of the token before; see `label_sources`.

    Parameters
    ----------
    codes : ndarray of int, shape (n_tokens,)
        Label of each token.
    offsets : ndarray of int64
        Where each sentence starts.
    separator : int
        The label of separators.

    Returns
    -------
    ndarray of int
        A copy.

    Examples
    --------
    >>> fill_separators(np.array([1, 0, 0, 2]), np.array([0, 2, 4]), separator=0).tolist()
    [1, 1, 2, 2]
    """
    filled = codes.copy()
    for start, stop in pairwise(offsets.tolist()):
        sentence = codes[start:stop]
        filled[start:stop] = sentence[label_sources(sentence == separator)]
    return filled
