"""Checks of tagged sentences, and tags as codes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.features.columns import Tokens, sentence_offsets


def check_sentences(sentences: Any, who: str) -> tuple[Sequence[Tokens], np.ndarray]:
    """Check a list of sentences; return it with the offsets of its tokens.

    Parameters
    ----------
    sentences : iterable of sequences of str, or of Sentence
        The sentences.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    sentences : sequence
        The same, as a list if they came from an iterator.
    offsets : ndarray of int64
        Where each sentence starts.

    Examples
    --------
    >>> check_sentences([["Rome", "fell"]], "example")[1].tolist()
    [0, 2]
    """
    if not isinstance(sentences, Sequence | np.ndarray) and hasattr(sentences, "__iter__"):
        sentences = list(sentences)
    return sentences, sentence_offsets(sentences, who)


def encode_tags(offsets: np.ndarray, tags: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Check that every token has a tag; return codes and labels.

    Parameters
    ----------
    offsets : ndarray of int64
        Where each sentence starts.
    tags : sequence of sequences of str
        One tag a token.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    codes : ndarray of int32, shape (n_tokens,)
        Index of each tag among the labels.
    labels : ndarray of str
        Distinct tags, sorted.

    Examples
    --------
    >>> codes, labels = encode_tags(np.array([0, 2]), [["NNP", "VBD"]], "example")
    >>> codes.tolist(), labels.tolist()
    ([0, 1], ['NNP', 'VBD'])
    """
    n = len(offsets) - 1
    if n == 0 or offsets[-1] == 0:
        raise DataError(f"{who}: at least one tagged sentence is needed, got none.")
    if isinstance(tags, str) or not hasattr(tags, "__len__"):
        raise DataError(f"{who}: tags must be a list of lists of strings, got {type(tags).__name__}.")
    if len(tags) != n:
        raise DataError(f"{who}: there must be one list of tags a sentence, got {n} sentences and {len(tags)} lists.")
    for number, (mine, length) in enumerate(zip(tags, np.diff(offsets), strict=True)):
        if mine is None:
            raise DataError(
                f"{who}: every sentence must be tagged, but sentence {number} has None. "
                "Leave it out; PrototypeTagger learns from untagged sentences."
            )
        if isinstance(mine, str) or not hasattr(mine, "__len__"):
            raise DataError(f"{who}: the tags of sentence {number} must be a list of strings, got {mine!r}.")
        if len(mine) != length:
            raise DataError(
                f"{who}: every token must have one tag, but sentence {number} has {length} tokens and {len(mine)} tags."
            )
    flat: list[Any] = list(chain.from_iterable(tags))
    for tag in set(map(_hashable, flat)):
        if tag is None:
            raise DataError(
                f"{who}: every token must be tagged, but some tag is None. "
                "Leave such sentences out; PrototypeTagger learns from partly tagged ones."
            )
        if not isinstance(tag, str):
            raise DataError(f"{who}: tags must be strings, got {type(tag).__name__}. Turn them into strings.")
    labels = sorted(set(flat))
    if len(labels) < 2:
        raise DataError(f"{who}: there must be at least two different tags, got only {labels[0]!r}.")
    numbers = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
    return codes, np.array(labels)


def _hashable(tag: Any) -> Any:
    try:
        hash(tag)
    except TypeError:
        return type(tag)
    return tag
