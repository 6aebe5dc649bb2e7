"""Scores of the compared methods by group of words: accuracy, paired tests, and the branches of the composite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handful.core.records import Occurrence
from handful.evaluation.significance import mcnemar
from handful.papers.su2004.senseval import Senseval
from handful.senses.comparing import MethodAnswers

Answers = Mapping[str, MethodAnswers]


def accuracies(answers: Answers, data: Senseval, words: Sequence[str]) -> dict[str, float]:
    """Return the accuracy in percent of each method on some words, as ``"fine-METHOD"`` and ``"coarse-METHOD"``.

    Parameters
    ----------
    answers : mapping of str to MethodAnswers
        What the methods answered.
    data : Senseval
        Holds the key and the map to coarse senses.
    words : sequence of str
        The words.

    Returns
    -------
    dict of str to float
        Correct answers among all test instances, in percent.
    """
    return {
        f"{kind}-{method}": 100 * one.score(data.test, words, sense_map).recall
        for kind, sense_map in (("fine", None), ("coarse", data.coarse))
        for method, one in answers.items()
    }


def paired_test(answers: Answers, data: Senseval, words: Sequence[str], first: str, second: str) -> float:
    """Return the p-value of McNemar's test between two methods, scored finely.

    Parameters
    ----------
    answers, data, words
        As in `accuracies`.
    first, second : str
        The methods.

    Returns
    -------
    float
        Two-sided, exact.
    """
    right = [np.array(list(answers[name].score(data.test, words).credits.values())) > 0 for name in (first, second)]
    return float(mcnemar(*right))


def branches(answers: Answers, data: Senseval, words: Sequence[str]) -> dict[str, float]:
    """Return the counterparts of Tables 5 and 6: both models where the supervised one is trusted, and where it is not.

    Parameters
    ----------
    answers, data, words
        As in `accuracies`; `answers` holds the composite and its two branches.

    Returns
    -------
    dict of str to float
        ``"fallbacks"`` is the share of test instances, in percent, that the semi-supervised branch answers; accuracies
        are named such as ``"doubted-fine-kernel-pca"`` and are missing where a part is empty; ``"changed"``,
        ``"better"`` and ``"worse"`` count the answers in which the composite differs from the supervised model.
    """
    sources = answers["composite-kernel-pca"].sources
    chosen = [o for o in data.test if o.word in set(words)]
    doubted = [o for o in chosen if sources.get(o.id) == "semi-supervised"]
    trusted = [o for o in chosen if sources.get(o.id) != "semi-supervised"]
    old, new = answers["kernel-pca"].answers, answers["composite-kernel-pca"].answers
    changed = [o for o in doubted if old[o.id] != new[o.id]]
    table: dict[str, float] = {
        "fallbacks": 100 * len(doubted) / len(chosen),
        "changed": len(changed),
        "better": sum(new[o.id] in o.senses for o in changed),
        "worse": sum(old[o.id] in o.senses for o in changed),
    }
    for where, part in (("trusted", trusted), ("doubted", doubted)):
        table |= _of_part(where, part, answers, data, words)
    return table


def _of_part(
    where: str, part: list[Occurrence], answers: Answers, data: Senseval, words: Sequence[str]
) -> dict[str, float]:
    """Return the accuracies of both models on a part of the test instances; none if it is empty."""
    if not part:
        return {}
    models = {name: answers[name] for name in ("kernel-pca", "semi-supervised-kernel-pca")}
    scores = accuracies(models, data._replace(test=part), words)
    return {f"{where}-{name}": value for name, value in scores.items()}
