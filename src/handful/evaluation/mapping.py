"""Labels that a model made up, held against correct ones: many-to-one mapping and confusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeVar

from handful.core.errors import DataError

_Label = TypeVar("_Label", str, str | None)


def many_to_one(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, str]:
    """Map each found label to the correct label it meets most often.

    Parameters
    ----------
    gold : sequence of sequences of str
        Correct labels.
    predicted : sequence of sequences of str
        Labels of a model, of the same shape; their names mean nothing.

    Returns
    -------
    dict of str to str
        Correct label for each found one. Several may share one.

    Notes
    -----
    Greedy, on the evaluated data itself, as Haghighi and Klein (2006) do for their unsupervised baseline. Among equally
    frequent labels the one that sorts first wins.

    Examples
    --------
    >>> many_to_one([["N", "V", "N"]], [["1", "2", "3"]])
    {'1': 'N', '2': 'V', '3': 'N'}
    """
    counts: dict[str, Counter[str]] = {}
    for true, answer in _pairs(gold, predicted):
        counts.setdefault(answer, Counter())[true] += 1
    return {answer: min(seen, key=lambda true: (-seen[true], true)) for answer, seen in sorted(counts.items())}


def mapped_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """Return the accuracy after `many_to_one`.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        See `many_to_one`.

    Returns
    -------
    float
        Share of tokens that are right.

    Examples
    --------
    >>> mapped_accuracy([["N", "V", "N", "N"]], [["1", "2", "1", "2"]])
    0.75
    """
    mapping = many_to_one(gold, predicted)
    pairs = _pairs(gold, predicted)
    return sum(true == mapping[answer] for true, answer in pairs) / len(pairs)


def confusions(
    gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]], top: int = 10
) -> list[tuple[str, str, int, float]]:
    """Return the most frequent mistakes.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Correct and found labels; tokens whose correct label is None do not count.
    top : int, default=10
        How many.

    Returns
    -------
    list of (str, str, int, float)
        Correct label, found label, count, and share of all mistakes.

    Examples
    --------
    >>> confusions([["N", "N", "V"]], [["V", "V", "N"]])
    [('N', 'V', 2, 0.6666666666666666), ('V', 'N', 1, 0.3333333333333333)]
    """
    pairs = _pairs(gold, predicted)
    wrong = Counter((true, answer) for true, answer in pairs if true is not None and true != answer)
    total = wrong.total()
    ranked = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return [(true, answer, count, count / total) for (true, answer), count in ranked[:top]]


def _pairs(gold: Iterable[Sequence[_Label]], predicted: Iterable[Sequence[str]]) -> list[tuple[_Label, str]]:
    gold, predicted = list(gold), list(predicted)
    if [len(s) for s in gold] != [len(s) for s in predicted]:
        raise DataError(
            "mapping: correct and found labels must have the same shape; the sentences differ in number or length."
        )
    pairs = list(zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True))
    if not pairs:
        raise DataError("mapping: at least one token is needed, got none.")
    return pairs
