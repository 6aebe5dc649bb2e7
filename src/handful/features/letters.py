"""Counts of short runs of letters within words, by arithmetic on whole arrays of characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

_BITS = 22
N_PLACES = 2**_BITS
"""Runs fall into four million places; two that share one count as the same."""

_LONGEST = 5
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads its multiples evenly
_CHUNK = 2_000_000  # characters that are looked at together


def choose_places(texts: Sequence[str], most: int) -> np.ndarray:
    """Return the places of the most frequent runs that stand in at least two texts (in one, if there are no others).

    Parameters
    ----------
    texts : sequence of str
        Texts.
    most : int
        Places at most.

    Returns
    -------
    ndarray of int32
        Places, rising.
    """
    total = np.zeros(N_PLACES, dtype=np.int64)
    first = np.full(N_PLACES, -1, dtype=np.int32)  # a text that has the run
    several = np.zeros(N_PLACES, dtype=bool)
    for rows, places in _runs(texts):
        total += np.bincount(places, minlength=N_PLACES)
        fresh = first[places] < 0
        first[places[fresh]] = rows[fresh]
        several[places[first[places] != rows]] = True
    kept = np.flatnonzero(several) if several.any() else np.flatnonzero(total)
    ranked = kept[np.argsort(-total[kept], kind="stable")[:most]]
    return np.sort(ranked).astype(np.int32)


def count_places(texts: Sequence[str], places: np.ndarray) -> Any:
    """Count runs of letters.

    Parameters
    ----------
    texts : sequence of str
        Texts.
    places : ndarray of int32
        What `choose_places` returned.

    Returns
    -------
    csr_matrix of float32, shape (n_texts, n_places)
        How often the runs of each place stand in each text.

    Examples
    --------
    >>> texts = ["Cats", "cat nap", "nap"]
    >>> counts = count_places(texts, choose_places(texts, 100))
    >>> counts.sum(axis=1).ravel().tolist()
    [[6.0, 16.0, 10.0]]
    """
    column_of = np.full(N_PLACES, -1, dtype=np.int32)
    column_of[places] = np.arange(len(places), dtype=np.int32)
    shape = (len(texts), len(places))
    counts = sparse.csr_matrix(shape, dtype=np.float32)
    for rows, seen in _runs(texts):
        columns = column_of[seen]
        known = columns >= 0
        ones = np.ones(int(known.sum()), dtype=np.float32)
        counts = counts + sparse.csr_matrix((ones, (rows[known], columns[known])), shape=shape)
    return sparse.csr_matrix(counts, dtype=np.float32)


def _runs(texts: Sequence[str]) -> Any:
    """Yield the text and the place of every run of letters, some texts at a time."""
    start = 0
    while start < len(texts):
        stop, n_characters = start, 0
        while stop < len(texts) and (stop == start or n_characters + len(texts[stop]) <= _CHUNK):
            n_characters += len(texts[stop])
            stop += 1
        yield _runs_of(texts[start:stop], start)
        start = stop


def _runs_of(texts: Sequence[str], first: int) -> tuple[np.ndarray, np.ndarray]:
    # Each word stands between blanks, which neighbors share; a run has blanks at its ends at most.
    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in padded])
    row_of = np.repeat(np.arange(first, first + len(texts), dtype=np.int32), lengths)
    blank = letters == ord(" ")
    hashed, whole = letters + np.uint64(1), ~(blank[:-1] & blank[1:])
    rows, places = [], []
    for n in range(2, _LONGEST + 1):
        if len(letters) < n:
            break
        hashed = hashed[:-1] * _FACTOR + letters[n - 1 :] + np.uint64(1)
        if n > 2:
            whole = whole[:-1] & ~blank[n - 2 : len(letters) - 1]  # what was the last letter is now inside
        at = np.flatnonzero(whole & (row_of[: len(whole)] == row_of[n - 1 :]))
        mixed = hashed[at] ^ (hashed[at] >> np.uint64(29))
        places.append(((mixed * _FACTOR) >> np.uint64(64 - _BITS)).astype(np.int64))
        rows.append(row_of[at])
    if not rows:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    return np.concatenate(rows), np.concatenate(places)
