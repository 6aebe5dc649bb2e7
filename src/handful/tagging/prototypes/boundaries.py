"""Marks between fields: after decoding, a mark takes the label of the token before it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


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
