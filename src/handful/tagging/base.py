"""What all taggers share: checks of tagged sentences, tags as codes, columns added to sentences, and scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.core.store import Storable
from handful.features.columns import Tokens, sentence_offsets


class Tagger(Storable, BaseEstimator):  # type: ignore[misc]
    """A model that gives every token of a sentence one tag; a tagger adds ``fit`` and `predict`."""

    classes_: np.ndarray

    @abstractmethod
    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, with the columns that training had; words that training did not see are welcome.

        Returns
        -------
        list of lists of str
            One tag per token.
        """

    def score(self, sentences: Sequence[Tokens], tags: Sequence[Sequence[str | None] | None]) -> float:
        """Return the share of tokens that are tagged correctly.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.
        tags : list of lists of str
            Correct tags; tokens with None do not count.

        Returns
        -------
        float
            Accuracy.
        """
        who = type(self).__name__
        predicted = self.predict(sentences)
        try:
            untagged = [[None] * len(row) for row in predicted]
            gold = [none if right is None else list(right) for none, right in zip(untagged, tags, strict=True)]
            rows = list(zip(predicted, gold, strict=True))
            pairs = [pair for row, right in rows for pair in zip(row, right, strict=True) if pair[1] is not None]
        except (TypeError, ValueError):
            raise DataError(f"{who}: every token must have one tag to be scored against.") from None
        if not pairs:
            raise DataError(f"{who}: at least one tagged token is needed to score, got none.")
        return sum(a == b for a, b in pairs) / len(pairs)


class Reading(Protocol):
    """Sentences whose features a tagger has read, so that what it says of them costs no second reading."""

    def tags(self) -> list[list[str]]:
        """Return one tag per token."""

    def shares(self) -> list[np.ndarray]:
        """Return the probability of every label at every token; columns are the classes of the tagger."""


class ProbabilisticTagger(Tagger):
    """A tagger that knows how probable each tag of a token is; one adds ``fit`` and `read`."""

    @abstractmethod
    def read(self, sentences: Sequence[Tokens]) -> Iterable[Reading]:
        """Read the features of sentences, some thousands of sentences at a time.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, with the columns that training had.

        Returns
        -------
        iterable of Reading
            The sentences in their order.
        """

    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, with the columns that training had; words that training did not see are welcome.

        Returns
        -------
        list of lists of str
            One tag per token.
        """
        return [row for reading in self.read(sentences) for row in reading.tags()]

    def predict_proba(self, sentences: Sequence[Tokens]) -> list[np.ndarray]:
        """Return the probability of every label at every token.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
            One array per sentence; columns are `classes_`.
        """
        return [rows for reading in self.read(sentences) for rows in reading.shares()]

    def predict_with_shares(self, sentences: Sequence[Tokens]) -> tuple[list[list[str]], list[np.ndarray]]:
        """Tag sentences and tell how probable each label is, reading their features once.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        tags : list of lists of str
            One tag per token.
        shares : list of ndarray of shape (n_tokens, n_labels)
            The probability of every label at every token.
        """
        tags: list[list[str]] = []
        shares: list[np.ndarray] = []
        for reading in self.read(sentences):
            tags += reading.tags()
            shares += reading.shares()
        return tags, shares

    def predict_marginals(self, sentences: Sequence[Tokens]) -> list[list[dict[str, float]]]:
        """Return the probability of every label at every token as dictionaries; see `predict_proba` for arrays.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        list of lists of dict
            For each token the probability of each tag.
        """
        shares = self.predict_proba(sentences)
        labels = self.classes_.tolist()
        return [[dict(zip(labels, row, strict=True)) for row in array.tolist()] for array in shares]


def add_columns(sentence: Tokens, columns: Mapping[str, Sequence[str]]) -> Sentence:
    """Return a sentence with further columns.

    Examples
    --------
    >>> dict(add_columns(["Rome"], {"pos": ["NNP"]}).columns)
    {'pos': ('NNP',)}
    """
    known = sentence if isinstance(sentence, Sentence) else Sentence(tuple(sentence))
    return Sentence(known.tokens, {**known.columns, **{name: tuple(cells) for name, cells in columns.items()}})


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
        One tag per token.
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
        raise DataError(
            f"{who}: there must be one list of tags per sentence, got {counted(n, 'sentence')} and {counted(len(tags), 'list')}."
        )
    for number, (row, length) in enumerate(zip(tags, np.diff(offsets), strict=True)):
        _check_row(number, row, length, who)
    flat: list[Any] = list(chain.from_iterable(tags))
    for tag in set(map(_hashable, flat)):
        _check_tag(tag, who)
    labels = sorted(set(flat))
    if len(labels) < 2:
        raise DataError(f"{who}: there must be at least two different tags, got only {labels[0]!r}.")
    numbers = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
    return codes, np.array(labels)


def _check_row(number: int, row: Any, length: int, who: str) -> None:
    if row is None:
        raise DataError(
            f"{who}: every sentence must be tagged, but sentence {number} has None. "
            "Leave it out; PrototypeTagger learns from untagged sentences."
        )
    if isinstance(row, str) or not hasattr(row, "__len__"):
        raise DataError(f"{who}: the tags of sentence {number} must be a list of strings, got {row!r}.")
    if len(row) != length:
        raise DataError(
            f"{who}: every token must have one tag, but sentence {number} has {counted(length, 'token')} "
            f"and {counted(len(row), 'tag')}."
        )


def _check_tag(tag: Any, who: str) -> None:
    if tag is None:
        raise DataError(
            f"{who}: every token must be tagged, but some tag is None. "
            "Leave such sentences out; PrototypeTagger learns from partly tagged ones."
        )
    if not isinstance(tag, str):
        raise DataError(f"{who}: tags must be strings, got {type(tag).__name__}. Turn them into strings.")


def _hashable(tag: Any) -> Any:
    try:
        hash(tag)
    except TypeError:
        return type(tag)
    return tag
