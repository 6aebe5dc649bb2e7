"""What one would score who never looks at a row: the mark that every method must pass."""

from __future__ import annotations

import numpy as np

from handful.experiment.trial import score_of
from handful.reports.content import BlindGuess


def blind_guess(codes: np.ndarray, classes: np.ndarray, metric: str) -> BlindGuess:
    """Return the score of always giving the most frequent label.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where it is not known.
    classes : ndarray
        The labels.
    metric : {"accuracy", "balanced accuracy", "f1"}
        What is scored.

    Returns
    -------
    BlindGuess
        The label, how many of the labels it has, and its score on the labeled rows.

    Examples
    --------
    >>> codes, classes = np.array([0, 1, 0, 0, -1]), np.array(["a", "b"])
    >>> [blind_guess(codes, classes, metric).score for metric in ("accuracy", "balanced accuracy")]
    [0.75, 0.5]
    """
    counts = np.bincount(codes[codes >= 0].astype(np.int64), minlength=len(classes))
    most = int(counts.argmax())
    answers = np.zeros((len(counts), len(counts)), dtype=np.int64)
    answers[:, most] = counts
    return BlindGuess(str(classes[most]), int(counts[most]), int(counts.sum()), score_of(answers, metric))
