"""Texts as vectors: LSA of words and character n-grams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from handful.errors import DataError

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


DIMENSIONS, LETTER_DIMENSIONS = 100, 50
_MOST_WORDS, _MOST_LETTERS = 20_000, 40_000
_MOST_CHARACTERS = 3_000_000
_SHORTEST, _TEXTS_LONGEST = 300, 3_000
_ROUNDS = 3


@dataclass(frozen=True)
class TextMatrices:
    """Texts in every form.

    Parameters
    ----------
    lsa : ndarray of shape (n_texts, n_dimensions)
        Words and letters, at length 1; zeros for a text without any.
    letters : ndarray of shape (n_texts, n_letter_dimensions)
        Letters alone, at length 1.
    words : csr_matrix of shape (n_texts, n_words)
        Counts of single words.
    """

    lsa: np.ndarray
    letters: np.ndarray
    words: Any


def learn_texts(texts: Sequence[str]) -> tuple[dict[str, Any], TextMatrices]:
    """Learn vocabulary, weights and directions.

    Parameters
    ----------
    texts : sequence of str
        All texts.

    Returns
    -------
    state : dict of str to value
        What `encode_texts` needs.
    matrices : TextMatrices
        What `encode_texts` would make of the same texts, without counting them again.
    """
    cut = int(np.clip(_MOST_CHARACTERS / max(len(texts), 1), _SHORTEST, _TEXTS_LONGEST))
    words, word_counts = _vocabulary(texts, _MOST_WORDS)
    short = [text[:cut] for text in texts]
    letters = choose_places(short, _MOST_LETTERS)
    letter_counts = count_places(short, letters)
    state: dict[str, Any] = {
        "cut": cut,
        "words": words,
        "letters": letters,
        "word_weights": _idf(word_counts),
        "letter_weights": _idf(letter_counts),
    }
    weighted_letters = _weighted(letter_counts, state["letter_weights"])
    both = sparse.csr_matrix(sparse.hstack([_weighted(word_counts, state["word_weights"]), weighted_letters]))
    for name, matrix, n in (
        ("directions", both, DIMENSIONS),
        ("letter_directions", weighted_letters, LETTER_DIMENSIONS),
    ):
        state[name], state[f"{name}_scale"] = _directions(matrix, n)
    return state, _matrices(state, word_counts, letter_counts)


def encode_texts(state: Mapping[str, Any], texts: Sequence[str]) -> TextMatrices:
    """Return texts in every form.

    Parameters
    ----------
    state : mapping
        What `learn_texts` returned.
    texts : sequence of str
        Texts.

    Returns
    -------
    TextMatrices
        The matrices.
    """
    short = [text[: state["cut"]] for text in texts]
    return _matrices(state, _counts(texts, state["words"]), count_places(short, state["letters"]))


def _matrices(state: Mapping[str, Any], word_counts: Any, letter_counts: Any) -> TextMatrices:
    letters = _weighted(letter_counts, state["letter_weights"])
    words = _weighted(word_counts, state["word_weights"])
    n_words = words.shape[1]
    directions = directions_of(state, "directions")
    lsa = words @ directions[:n_words] + letters @ directions[n_words:]
    alone = letters @ directions_of(state, "letter_directions")
    single = np.array([" " not in word for word in state["words"]], dtype=bool)
    return TextMatrices(_unit(lsa), _unit(alone), sparse.csr_matrix(word_counts[:, np.flatnonzero(single)]))


def directions_of(state: Mapping[str, Any], name: str) -> np.ndarray:
    """Return "directions" (of words, then letters) or "letter_directions"; files before 0.3 hold them unscaled."""
    directions = np.asarray(state[name], dtype=np.float32)
    scale = state.get(f"{name}_scale")
    return directions if scale is None else directions * scale[:, None]


def check_texts(state: Mapping[str, Any]) -> None:
    """Refuse what `learn_texts` could not have returned."""
    n_words, n_letters = len(state["words"]), len(state["letters"])
    fine = (
        state["word_weights"].shape == (n_words,)
        and state["letter_weights"].shape == (n_letters,)
        and state["directions"].shape[0] == n_words + n_letters
        and state["letter_directions"].shape[0] == n_letters
        and all(
            state[name].dtype != np.int8 or len(state.get(f"{name}_scale", ())) == len(state[name])
            for name in ("directions", "letter_directions")
        )
        and len(set(state["words"].tolist())) == n_words
        and bool((np.diff(state["letters"]) > 0).all())
        and (not n_letters or 0 <= state["letters"][0] <= state["letters"][-1] < N_PLACES)
    )
    if not fine:
        raise DataError("TableEncoder: the words of a text column must differ and have a weight each.")


def _vocabulary(texts: Sequence[str], most: int) -> tuple[np.ndarray, Any]:
    from sklearn.feature_extraction.text import CountVectorizer

    for least in (2, 1):
        counter = CountVectorizer(
            min_df=min(least, len(texts)), max_features=most, dtype=np.float32, ngram_range=(1, 2)
        )
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # nothing that is frequent enough, or nothing at all
            continue
        return np.array(counter.get_feature_names_out(), dtype=np.str_), counts
    return np.zeros(0, dtype=np.str_), sparse.csr_matrix((len(texts), 0), dtype=np.float32)


def _counts(texts: Sequence[str], vocabulary: np.ndarray) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    if not len(vocabulary):
        return sparse.csr_matrix((len(texts), 0), dtype=np.float32)
    return CountVectorizer(vocabulary=vocabulary.tolist(), dtype=np.float32, ngram_range=(1, 2)).transform(texts)


def _idf(counts: Any) -> np.ndarray:
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + frequency)) + 1.0, dtype=np.float32)


def _weighted(counts: Any, weights: np.ndarray) -> Any:
    """Return log counts times inverse document frequencies, at length 1."""
    from sklearn.preprocessing import normalize

    weighted = sparse.csr_matrix(counts, copy=True)
    weighted.data = (1.0 + np.log(weighted.data)) * weights[weighted.indices]
    return normalize(weighted, copy=False)


def _directions(matrix: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading right singular vectors as columns: bytes, which keep model files small, and a scale of each row."""
    from sklearn.utils.extmath import randomized_svd

    n = min(n, min(matrix.shape) - 1)
    if n < 1:
        return np.zeros((matrix.shape[1], 0), dtype=np.int8), np.zeros(matrix.shape[1], dtype=np.float32)
    _, _, directions = randomized_svd(matrix, n, n_iter=_ROUNDS, random_state=0)
    scale = np.abs(directions).max(axis=0) / np.iinfo(np.int8).max
    rounded = np.rint(directions / np.maximum(scale, np.finfo(np.float32).tiny))
    return np.ascontiguousarray(rounded.T, dtype=np.int8), scale.astype(np.float32)


def _unit(matrix: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(length, 1e-9), dtype=np.float64)
