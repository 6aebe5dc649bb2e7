"""Sentences as columns of integers: each distinct string once, one number per token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.features.language import TOKEN_COLUMN

Tokens = Sequence[str] | Sentence
Lookup = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of many sentences.

    Parameters
    ----------
    values : list of str
        Distinct strings, in the order of first sight.
    ids : ndarray of int32
        For each token the index of its string.
    """

    values: list[str]
    ids: np.ndarray


def sentence_offsets(sentences: Sequence[Tokens], who: str) -> np.ndarray:
    """Check that sentences are sequences of tokens; return where each starts.

    Parameters
    ----------
    sentences : sequence of sequences of str, or of Sentence
        The sentences.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    ndarray of int64, shape (n + 1,)
        Offsets.

    Examples
    --------
    >>> sentence_offsets([["Rome", "fell"], ["Yes"]], "example").tolist()
    [0, 2, 3]
    >>> sentence_offsets(["Rome fell"], "example")
    Traceback (most recent call last):
    ...
    handful.core.errors.DataError: example: sentence 0 must be a list of tokens, got the string 'Rome fell'. Split it \
into tokens.
    """
    if isinstance(sentences, str | bytes | Mapping) or not isinstance(sentences, Iterable):
        raise DataError(f"{who}: sentences must be a list of lists of tokens, got {type(sentences).__name__}.")
    lengths = []
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str | bytes):
            raise DataError(
                f"{who}: sentence {number} must be a list of tokens, got the string {sentence[:40]!r}. "
                "Split it into tokens."
            )
        try:
            lengths.append(len(sentence))
        except TypeError:
            raise DataError(
                f"{who}: sentence {number} must be a list of tokens, got {type(sentence).__name__}."
            ) from None
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def runs_of_sentences(offsets: np.ndarray, n_tokens: int) -> Iterator[slice]:
    """Cut sentences into runs of at most so many tokens; a sentence that is longer is a run of its own.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each sentence starts.
    n_tokens : int
        Most tokens of a run.

    Yields
    ------
    slice
        The next sentences.

    Examples
    --------
    >>> [(run.start, run.stop) for run in runs_of_sentences(np.array([0, 2, 4, 9, 10]), 4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    start, n_sentences = 0, len(offsets) - 1
    while start < n_sentences:
        fitting = int(np.searchsorted(offsets, offsets[start] + n_tokens, side="right")) - 1
        stop = min(max(start + 1, fitting), n_sentences)
        yield slice(start, stop)
        start = stop


def read_column(sentences: Sequence[Tokens], name: str, who: str) -> Column:
    """Read one column of all sentences.

    Parameters
    ----------
    sentences : sequence of sequences of str, or of Sentence
        The sentences.
    name : str
        ``word`` for the tokens, else a column of `Sentence`.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    Column
        Strings and ids.

    Examples
    --------
    >>> column = read_column([["a", "b"], ["a"]], "word", "example")
    >>> column.values, column.ids.tolist()
    (['a', 'b'], [0, 1, 0])
    """
    rows = sentences if name == TOKEN_COLUMN else [_named(s, i, name, who) for i, s in enumerate(sentences)]
    flat: list[Any] = list(chain.from_iterable(rows))
    try:
        numbers = {value: number for number, value in enumerate(dict.fromkeys(flat))}
    except TypeError:
        numbers = _hashable(flat)
    _check_strings(numbers, name, who)
    ids = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
    return Column(list(numbers), ids)


def _hashable(values: Iterable[Any]) -> dict[Any, int]:
    """Return values that are none as they stand, and the type of the first that cannot be looked up behind them."""
    unhashable = [value for value in values if isinstance(value, list | dict | set)]
    others = [value for value in values if not isinstance(value, list | dict | set)]
    return dict.fromkeys([*others, type(unhashable[0])], 0)


def _check_strings(values: Iterable[Any], name: str, who: str) -> None:
    for value in values:
        if not isinstance(value, str):
            what = value.__name__ if isinstance(value, type) else f"{type(value).__name__} ({value!r})"
            raise DataError(f"{who}: tokens must be strings, got {what} in the column {name!r}.")


def _named(sentence: Tokens, number: int, name: str, who: str) -> tuple[str, ...]:
    if isinstance(sentence, Sentence) and name in sentence.columns:
        return sentence.columns[name]
    columns = list(sentence.columns) if isinstance(sentence, Sentence) else []
    what = f"{'columns' if len(columns) > 1 else 'the column'} {', '.join(columns)}" if columns else "tokens only"
    raise DataError(
        f"{who}: the templates read a column {name!r}, but sentence {number} has {what}. "
        "Give the sentences that column, or leave these templates out."
    )


def has_column(sentences: Sequence[Tokens], name: str) -> bool:
    """Tell whether all sentences have a column.

    Examples
    --------
    >>> has_column([["a"]], "word"), has_column([["a"]], "pos")
    (True, False)
    """
    return name == TOKEN_COLUMN or all(isinstance(s, Sentence) and name in s.columns for s in sentences)
