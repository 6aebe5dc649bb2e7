"""Scores of sense answers as the Senseval scorer counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handful.errors import DataError

Answer = str | Sequence[str] | Mapping[str, float]


@dataclass(frozen=True)
class SenseScore:
    """What an answer key says of answers.

    Parameters
    ----------
    precision : float
        Credit over answered instances.
    recall : float
        Credit over all instances of the key; with an answer for every instance, the accuracy.
    n_instances, n_answered : int
        Instances of the key, and how many of them were answered.
    credits : dict of str to float
        Credit of each instance of the key, between 0 and 1; for paired tests.
    """

    precision: float
    recall: float
    n_instances: int
    n_answered: int
    credits: dict[str, float]


def score_senses(
    key: Mapping[str, Sequence[str]], answers: Mapping[str, Answer], sense_map: Mapping[str, str] | None = None
) -> SenseScore:
    """Score answers against a key.

    Parameters
    ----------
    key : mapping of str to sequence of str
        Correct senses of each instance. More than one is correct where annotators left it open.
    answers : mapping of str to str, sequence of str, or mapping of str to float
        Answer to each instance: a sense, senses tied with equal weight, or senses with weights.
    sense_map : mapping of str to str or None
        From senses to coarse senses; a sense that is not in it stands for itself. None scores finely.

    Returns
    -------
    SenseScore
        Precision, recall, and the credit of every instance.

    Notes
    -----
    The credit of an instance is the share of the answer's weight that lies on correct senses, so a single answer counts
    fully if it is any of the correct ones. ``P`` (proper name) and ``U`` (unassignable) are answers like any other. Answers to
    instances that the key does not know are an error.

    Examples
    --------
    >>> key = {"1": ("a", "P"), "2": ("b",), "3": ("c",)}
    >>> s = score_senses(key, {"1": "P", "2": ["b", "c"]})
    >>> s.precision, s.recall
    (0.75, 0.5)
    >>> score_senses(key, {"1": "b", "2": "b", "3": "b"}, {"b": "a"}).precision == 2 / 3
    True
    """
    unknown = next((instance for instance in answers if instance not in key), None)
    if unknown is not None:
        raise DataError(f"score_senses: every answered instance must be in the key, got {unknown!r}.")
    if not key:
        raise DataError("score_senses: the key must hold at least one instance, got none.")
    coarse = sense_map or {}
    credits = {instance: _credit(senses, answers.get(instance), coarse) for instance, senses in key.items()}
    earned = sum(credits.values())
    return SenseScore(earned / len(answers) if answers else 0.0, earned / len(key), len(key), len(answers), credits)


def _credit(senses: Sequence[str], answer: Answer | None, coarse: Mapping[str, str]) -> float:
    """Return the share of an answer's weight that lies on correct senses."""
    right = {coarse.get(sense, sense) for sense in senses}
    weights = _weights(answer)
    total = sum(weights.values())
    hit = sum(weight for sense, weight in weights.items() if coarse.get(sense, sense) in right)
    return hit / total if total else 0.0


def _weights(answer: Answer | None) -> Mapping[str, float]:
    if answer is None:
        return {}
    if isinstance(answer, str):
        return {answer: 1.0}
    return answer if isinstance(answer, Mapping) else dict.fromkeys(answer, 1.0)
