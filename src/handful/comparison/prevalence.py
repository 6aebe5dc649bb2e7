"""Prevalence: the share of each class among all rows, with an interval that holds.

Labels of random rows say how often a prediction of each class is right; predictions of all rows say how frequent each
prediction is. Together they give narrower intervals than the labels alone (prediction-powered inference, Angelopoulos and
others 2023). The interval is that of the chain rule estimate of Hofer and others (2024): for class c,

    share = W P(c | predicted c) + (1 - W) P(c | not predicted c),   W = P(predicted c),

with the mid-p confidence distribution of each P (Lancaster 1961). Unlike the interval of the normal approximation it also holds
for rare classes and few labels (``benchmarks/prevalence.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.labels import encode_labels
from handful.errors import DataError, ParameterError, Progress, Step, counted

if TYPE_CHECKING:
    from handful.data.table import Table

_N_DRAWS = 20_000  # Monte Carlo error of an end of the interval: about a hundredth of its width
FEWEST_LABELS = 10


@dataclass(frozen=True)
class ClassPrevalence:
    """The estimated share of one class, in one group of rows.

    Parameters
    ----------
    label : object
        The class.
    group : object
        The group, or None for all rows.
    value, low, high : float
        Estimate and ends of the interval.
    low_labels, high_labels : float
        Ends of the interval from the labels alone (mid-p).
    n_labeled, n_rows : int
        Labeled rows, and all rows.
    """

    label: Any
    group: Any
    value: float
    low: float
    high: float
    low_labels: float
    high_labels: float
    n_labeled: int
    n_rows: int

    @property
    def worth(self) -> float:
        """How many labels the labels alone would need for an interval as narrow."""
        return self.n_labeled * ((self.high_labels - self.low_labels) / max(self.high - self.low, 1e-12)) ** 2


def prevalence(
    y: Any,
    predictions: Any,
    *,
    groups: Sequence[Any] | None = None,
    is_random: Any = None,
    level: float = 0.95,
    random_state: int = 0,
) -> list[ClassPrevalence]:
    """Estimate how frequent each class is among all rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels; missing ones mark unlabeled rows. The labeled rows must be a random sample of all rows.
    predictions : array-like of shape (n,)
        A prediction for every row, made without its own label: cross-validated predictions of a model, or a column that
        somebody else has filled in.
    groups : sequence of length n, optional
        Estimate within each group as well; the level is corrected for the number of groups (Bonferroni).
    is_random : array-like of bool, optional
        Labeled rows that were drawn at random; the others (chosen because they are informative) are left out.
    level : float, default=0.95
        Coverage of the intervals.
    random_state : int, default=0
        Seed of the Monte Carlo integration.

    Returns
    -------
    list of ClassPrevalence
        By group, then by class; groups with fewer than ten random labels are left out. Shares of a group are scaled to sum to 1
        as far as their intervals allow.

    Notes
    -----
    The predictions of a class are used if they explain its labels, that is, if the adjusted R-squared is positive (Theil
    1961); otherwise the interval is that of the labels alone. With perfect predictions it is that of a census. Cost:
    O(n + classes x groups).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.where(rng.random(5000) < 0.3, "complaint", "other")
    >>> predictions = np.where(rng.random(5000) < 0.9, truth, "other")
    >>> y = np.where(np.arange(5000) < 200, truth, None)
    >>> complaint = prevalence(y, predictions)[0]
    >>> bool(complaint.low < 0.3 < complaint.high), bool(complaint.worth > 500)
    (True, True)
    """
    if not 0 < level < 1:
        raise ParameterError(f"prevalence: level must lie between 0 and 1, got {level!r}.")
    predictions = np.asarray(predictions, dtype=object)
    labels = encode_labels(y, who="prevalence")
    if len(predictions) != len(labels.codes):
        raise DataError(
            f"prevalence: {counted(len(labels.codes), 'label')} but {counted(len(predictions), 'prediction')}. "
            "Give one prediction for each row."
        )
    counts = np.zeros(len(labels.codes), dtype=bool)
    counts[labels.labeled] = True
    if is_random is not None:
        counts &= np.asarray(is_random, dtype=bool)
    rng = np.random.default_rng(random_state)
    parts: list[tuple[Any, np.ndarray]] = [(None, np.ones(len(counts), dtype=bool))]
    if groups is not None:
        group_of = np.asarray(groups, dtype=object)
        parts += [(name, group_of == name) for name in sorted(set(group_of.tolist()), key=str)]
    estimates: list[ClassPrevalence] = []
    for group, rows in parts:
        own_level = level if group is None else 1 - (1 - level) / (len(parts) - 1)
        n_labeled = int((rows & counts).sum())
        if n_labeled < FEWEST_LABELS and group is not None:
            continue
        if n_labeled < FEWEST_LABELS:
            raise DataError(
                f"prevalence: at least {FEWEST_LABELS} rows with a random label are needed, got {n_labeled}. "
                "Label more random rows."
            )
        start = len(estimates)
        for code, label in enumerate(labels.classes.tolist()):
            is_class = labels.codes[rows & counts] == code
            predicted = np.array([p == label or str(p) == str(label) for p in predictions[rows].tolist()])
            value, low, high = _share(is_class, predicted, counts[rows], own_level, rng)
            alone = _mid_p(int(is_class.sum()), len(is_class), own_level)
            estimates.append(ClassPrevalence(label, group, value, low, high, *alone, n_labeled, int(rows.sum())))
        total = sum(part.value for part in estimates[start:])
        estimates[start:] = [
            replace(part, value=min(max(part.value / total, part.low), part.high)) for part in estimates[start:]
        ]
    return estimates


def cross_predictions(
    table: Table, *, method: Any = "ensemble", n_folds: int = 5, random_state: int = 0, progress: Progress | None = None
) -> np.ndarray:
    """Return a prediction for every row of a table, made by a model that did not see the row's label.

    Parameters
    ----------
    table : Table
        Rows and labels.
    method : str or estimator, default="ensemble"
        Method of the models.
    n_folds : int, default=5
        Models, each trained without one part of the labels. An unlabeled row is predicted by one of them.
    random_state : int, default=0
        Seed of the parts.
    progress : callable, optional
        Receives a `Step` after each model.

    Returns
    -------
    ndarray of object
        Predicted labels.
    """
    from handful.data.labels import UNLABELED, Labels
    from handful.models.table_model import TableModel

    rng = np.random.default_rng(random_state)
    fold = rng.permutation(len(table)) % n_folds
    labeled = rng.permutation(table.labeled)
    fold[labeled[np.argsort(table.codes[labeled], kind="stable")]] = np.arange(len(labeled)) % n_folds  # stratified
    predictions = np.empty(len(table), dtype=object)
    for k in range(n_folds):
        codes = np.where(fold == k, UNLABELED, table.codes).astype(np.int32)
        rows = np.flatnonzero(fold == k)
        model = TableModel(method, random_state=random_state).fit(table, Labels(codes, table.classes))
        predictions[rows] = model.predict(table.cells[rows])
        if progress is not None:
            progress(Step("predict", k + 1, n_folds, {}))
    return predictions


def _share(
    is_class: np.ndarray, predicted: np.ndarray, labeled: np.ndarray, level: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the share of a class and its interval, with the predictions if they explain the labels.

    They do if the adjusted R-squared (Theil 1961) is positive. Taking the narrower of both intervals would cost coverage: an
    interval is narrow where its estimate is too low.
    """
    n, of_labeled = len(is_class), predicted[labeled]
    if is_class.std() and of_labeled.std() and np.corrcoef(is_class, of_labeled)[0, 1] ** 2 > 1 / (n - 1):
        return _chain_rule(is_class, predicted, labeled, level, rng)
    return (float(is_class.mean()), *_mid_p(int(is_class.sum()), n, level))


def _chain_rule(
    is_class: np.ndarray, predicted: np.ndarray, labeled: np.ndarray, level: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    n_predicted, n_rows = int(predicted.sum()), len(predicted)
    weight = rng.beta(n_predicted + 0.5, n_rows - n_predicted + 0.5, _N_DRAWS)
    draws, value = np.zeros(_N_DRAWS), 0.0
    for stratum, part in ((True, weight), (False, 1 - weight)):
        members = is_class[predicted[labeled] == stratum]
        hits, n = int(members.sum()), len(members)
        draws += part * _mid_p_draws(hits, n, rng)
        size = n_predicted if stratum else n_rows - n_predicted
        value += size / n_rows * (hits / n if n else 0.5)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(np.clip(value, low, high)), float(low), float(high)


def _mid_p_draws(hits: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from the mid-p confidence distribution of a share: half of both ends of Clopper and Pearson."""
    low = rng.beta(hits, n - hits + 1, _N_DRAWS) if hits else np.zeros(_N_DRAWS)
    high = rng.beta(hits + 1, n - hits, _N_DRAWS) if hits < n else np.ones(_N_DRAWS)
    return np.where(rng.random(_N_DRAWS) < 0.5, low, high)


def _mid_p(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return the mid-p interval of a share."""
    from scipy.optimize import brentq
    from scipy.special import betainc

    def below(p: float) -> float:
        low = betainc(hits, n - hits + 1, p) if hits else 1.0
        return float(low + (betainc(hits + 1, n - hits, p) if hits < n else 0.0)) / 2

    low = brentq(lambda p: below(p) - (1 - level) / 2, 0.0, 1.0) if hits else 0.0
    high = brentq(lambda p: below(p) - (1 + level) / 2, 0.0, 1.0) if hits < n else 1.0
    return float(low), float(high)
