"""When to stop labeling: successive models that no longer disagree, of labels that are not too few."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

_IN_A_ROW = 2
_ALPHA = 0.05
_LEAST_OF_A_CLASS = 5


@dataclass(frozen=True)
class Stopping:
    """Agreement of successive models.

    Parameters
    ----------
    n_labels : tuple of int
        Labels of each model but the first.
    agreement : tuple of float
        Share of a fixed random set of rows on which a model and the one before it agree.
    bound : tuple of float
        With 95 % confidence the accuracy of the two differs by no more than this, on all rows.
    stop : bool
        Whether the last two bounds are within the tolerance, and there are labels enough to trust them.
    text : str
        The same in words.
    """

    n_labels: tuple[int, ...]
    agreement: tuple[float, ...]
    bound: tuple[float, ...]
    stop: bool
    text: str


def stopping_rule(
    n_labels: Sequence[int], answers: Sequence[np.ndarray], *, counts: Mapping[Any, int], tolerance: float = 0.05
) -> Stopping:
    """Tell whether more labels still change the model.

    Parameters
    ----------
    n_labels : sequence of int
        Labels of each of the successive models.
    answers : sequence of ndarray
        Their answers for the same rows, drawn at random.
    counts : mapping of answer to int
        Labels of each class.
    tolerance : float, default=0.05
        Change of accuracy that does not matter.

    Returns
    -------
    Stopping
        Agreement, bound, and the advice.

    Notes
    -----
    Stopping by stabilized predictions (Bloodgood & Vijay-Shanker 2009). Where two models disagree on a share d of all
    rows, their accuracies differ by at most d. Where they disagree on k of m random rows, d is bounded by the exact
    binomial limit (Clopper & Pearson 1934), the 0.95 quantile of Beta(k + 1, m - k). Models that agree may be wrong
    together, on a kind of rows that no label has come from. Where such rows are as frequent as the tolerance, n random
    labels miss them with probability (1 - tolerance) ** n: below 59 labels (for a tolerance of 0.05) that is more than
    0.05, and there is no advice to stop; nor is there with fewer than five labels of a class, or where the last model
    never answers with one of the classes.

    Examples
    --------
    >>> same = np.repeat(["a", "b"], 1000)
    >>> stopping_rule([40, 80, 160], [same, same, same], counts={"a": 90, "b": 70}).stop
    True
    >>> stopping_rule([6, 12, 25], [same, same, same], counts={"a": 15, "b": 10}).stop
    False
    """
    from scipy.stats import beta

    agreement, bound = [], []
    for before, after in pairwise(answers):
        m = len(after)
        k = int((np.asarray(before) != np.asarray(after)).sum())
        agreement.append(1 - k / m)
        bound.append(1.0 if k == m else float(beta.ppf(1 - _ALPHA, k + 1, m - k)))
    steady = len(bound) >= _IN_A_ROW and all(value <= tolerance for value in bound[-_IN_A_ROW:])
    too_few = _too_few(n_labels[-1], answers[-1], counts, tolerance)
    stop = steady and not too_few
    if not bound:
        text = "There are too few labels for two models to be held against each other."
    elif stop:
        text = f"You may stop: the last models differ in accuracy by at most {max(bound[-_IN_A_ROW:]):.1%}."
    elif steady:
        text = f"Go on: the last models agree on {agreement[-1]:.0%} of the rows, but {too_few}."
    else:
        text = (
            f"Go on: the last two models agree on {agreement[-1]:.0%} of the rows, "
            f"so their accuracy may differ by up to {bound[-1]:.1%}."
        )
    return Stopping(tuple(n_labels[1:]), tuple(agreement), tuple(bound), stop, text)


def _too_few(n_labels: int, answers: np.ndarray, counts: Mapping[Any, int], tolerance: float) -> str:
    """Tell why models that agree are not to be trusted yet, if they are not."""
    unheard = [label for label in counts if not (np.asarray(answers) == label).any()]
    if unheard:
        return (
            f"none of these gets the label {unheard[0]!s}, which {counts[unheard[0]]:,} of the {n_labels:,} labels are"
        )
    least, rarest = math.ceil(math.log(_ALPHA) / math.log1p(-tolerance)), min(counts, key=lambda label: counts[label])
    if n_labels >= least and counts[rarest] >= _LEAST_OF_A_CLASS:
        return ""
    rare = f", {counts[rarest]:,} of them {rarest!s}," if counts[rarest] < _LEAST_OF_A_CLASS else ""
    return f"{n_labels:,} labels{rare} are too few to trust that: it takes {least:,}, and {_LEAST_OF_A_CLASS} of each class"
