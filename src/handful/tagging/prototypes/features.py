"""What a prototype tagger observes of a word: its spelling, and the prototypes it is like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from handful.core.errors import DataError

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
    ...     vocabulary_ = {"said": 0, "told": 1, "year": 2}
    ...     vectors_ = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> link_words(Similarity(), ["said"], n_links=5, threshold=0.35)
    {'said': ['said'], 'told': ['said']}
    """
    rows, vectors = _rows_and_vectors(similarity)
    targets = list(dict.fromkeys(prototypes))
    links = {word: [word] for word in targets}
    known = [word for word in targets if word in rows]
    wanted = [word for word in (rows if words is None else words) if word in rows and word not in links]
    if not known or not wanted:
        return links
    target_vectors = np.asarray(vectors[[rows[word] for word in known]])
    for first in range(0, len(wanted), _AT_ONCE):
        chunk = wanted[first : first + _AT_ONCE]
        # rounded to what float32 holds, so that equal contexts are ties
        scores = np.round(vectors[[rows[word] for word in chunk]] @ target_vectors.T, 6)
        nearest = np.argsort(-scores, axis=1, kind="stable")[:, :n_links]
        near = [[known[j] for j in order if line[j] > threshold] for line, order in zip(scores, nearest, strict=True)]
        links |= {word: linked for word, linked in zip(chunk, near, strict=True) if linked}
    return links


def _rows_and_vectors(similarity: Any) -> tuple[Mapping[str, int], np.ndarray]:
    rows = getattr(similarity, "vocabulary_", None)
    vectors = getattr(similarity, "vectors_", None)
    if rows is None or vectors is None:
        raise DataError(
            f"PrototypeTagger: similarity must be a ContextSimilarity or have vocabulary_ and vectors_, "
            f"got {type(similarity).__name__}."
        )
    return rows, vectors
