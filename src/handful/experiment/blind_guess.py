"""What one would score who never looks at a row: the mark that every method must pass."""

from __future__ import annotations

import numpy as np

from handful.experiment.problem import Problem
from handful.experiment.trial import score_of
from handful.reports.content import BlindGuess


def blind_guess(problem: Problem, metric: str) -> BlindGuess:
    """Return the score of always giving the most frequent label.

    Parameters
    ----------
    problem : Problem
        Rows with labels.
    metric : {"accuracy", "balanced accuracy", "f1"}
        What is scored.

    Returns
    -------
    BlindGuess
        The label, how many of the labels it has, and its score on the labeled rows.

    Examples
    --------
    >>> from handful.experiment.problem import array_problem
    >>> problem = array_problem([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "a"])
    >>> blind_guess(problem, "accuracy").score, blind_guess(problem, "balanced accuracy").score
    (0.75, 0.5)
    """
    counts = np.bincount(problem.codes[problem.labeled], minlength=len(problem.classes))
    most = int(counts.argmax())
    answers = np.zeros((len(counts), len(counts)), dtype=np.int64)
    answers[:, most] = counts
    return BlindGuess(str(problem.classes[most]), int(counts[most]), int(counts.sum()), score_of(answers, metric))
