"""Marks between fields: after decoding, a mark takes the label of the token before it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np

_FREQUENT = 0.01  # of all tokens
_LIKE_WORDS = frozenset("#%&@*§†‡\\_")  # signs that belong to a word, or stand for one
_FEWEST_KNOWN = 5
_FOLLOW = 0.7  # of the marks whose label is known


def find_marks(sentences: Iterable[Sequence[str]], listed: Collection[str]) -> list[str]:
    """Return the marks of a text that may stand between its fields.

    Parameters
    ----------
    sentences : iterable of lists of str
        The text.
    listed : collection of str
        Words that have a label of their own.

    Returns
    -------
    list of str
        Commas, brackets and the like that are not listed and make up a hundredth of all tokens or more, the most frequent first.

    Examples
    --------
    >>> find_marks([["Rossi", ",", "A", ".", "vol", ".", "5"]], ["Rossi", "."])
    [',']
    """
    counts = Counter(token for sentence in sentences for token in sentence)
    least = _FREQUENT * counts.total()
    return [token for token, n in counts.most_common() if n >= least and token not in listed and _is_mark(token)]


def marks_follow(
    sentences: Iterable[Sequence[str]], given: Iterable[Sequence[str | None] | None], marks: Collection[str]
) -> bool:
    """Tell whether marks have the label of the token before them, as far as labels are known.

    Examples
    --------
    >>> marks_follow([["a", ","]] * 9, [["N", "N"]] * 9, [","]), marks_follow([["a", ","]] * 9, [["N", "O"]] * 9, [","])
    (True, False)
    """
    known = [
        labels[place] == labels[place - 1]
        for sentence, labels in zip(sentences, given, strict=True)
        if labels is not None
        for place in range(1, len(sentence))
        if sentence[place] in marks and labels[place] is not None and labels[place - 1] is not None
    ]
    return len(known) < _FEWEST_KNOWN or sum(known) >= _FOLLOW * len(known)


def _is_mark(token: str) -> bool:
    return all(unicodedata.category(sign).startswith("P") and sign not in _LIKE_WORDS for sign in token)


def fill_marks(is_mark: np.ndarray) -> np.ndarray:
    """Return for every token of a sentence whose label it takes: its own, or for a mark that of the token before.

    A mark at the start takes the label of the first token that is none; where there are only marks, each keeps its own.

    Examples
    --------
    >>> fill_marks(np.array([True, False, True, True, False])).tolist()
    [1, 1, 1, 1, 4]
    """
    places = np.arange(len(is_mark))
    others = np.flatnonzero(~is_mark)
    if not len(others):
        return places
    before = np.searchsorted(others, places, side="right") - 1
    taken: np.ndarray = others[np.maximum(before, 0)]
    return taken


def fill_sentences(codes: np.ndarray, offsets: np.ndarray, mark: int) -> np.ndarray:
    """Return the labels of all tokens with the marks of each sentence filled; see `fill_marks`.

    Parameters
    ----------
    codes : ndarray of int, shape (n_tokens,)
        Label of each token.
    offsets : ndarray of int64
        Where each sentence starts.
    mark : int
        The label of marks.

    Returns
    -------
    ndarray of int
        A copy.

    Examples
    --------
    >>> fill_sentences(np.array([1, 0, 0, 2]), np.array([0, 2, 4]), mark=0).tolist()
    [1, 1, 2, 2]
    """
    filled = codes.copy()
    for start, stop in pairwise(offsets.tolist()):
        sentence = codes[start:stop]
        filled[start:stop] = sentence[fill_marks(sentence == mark)]
    return filled
