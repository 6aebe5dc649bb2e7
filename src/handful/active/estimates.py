"""Cross-validated probabilities, accuracy on random rows, and when to stop labeling."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from handful.active.query import ActiveLearner

DEFAULT_METHOD = "ensemble"
MIN_RANDOM = 20  # random rows: with fewer an interval is wider than 40 points
_N_FOLDS = 5
_MAX_UNLABELED = 300  # rows that a cross-validated model gets beside the labeled ones
_N_TREES = 50
_STEADY = 2  # successive models in a row
_ALPHA = 0.05
_MIN_PER_CLASS = 5


def class_proba(
    model: Any, rows: Any, codes: np.ndarray, test: np.ndarray, n_classes: int, seed: int, *, quick: bool = True
) -> np.ndarray:
    """Fit a model to the rows that have a code and return probabilities of others, for every class.

    Parameters
    ----------
    model : str or classifier
        Method for tables.
    rows : matrix
        Encoded rows.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    test : ndarray of int
        Rows to predict.
    n_classes : int
        Number of classes; those without a row have probability 0.
    seed : int
        Seed.
    quick : bool, default=True
        Fit fewer members of the ensemble to fewer unlabeled rows.

    Returns
    -------
    ndarray of shape (n_test, n_classes)
        Each row sums to 1.
    """
    from handful.models.table_model import spec_for

    present = np.unique(codes[codes >= 0])
    proba = np.zeros((len(test), n_classes))
    if len(present) < 2:
        proba[:, present] = 1.0
        return proba
    spec = spec_for(model)
    params = {"quick": True, "n_trees": _N_TREES} if quick and spec.name == "ensemble" else {}
    used = np.arange(len(codes))
    if quick:
        spare = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_MAX_UNLABELED]
        used = np.sort(np.concatenate([np.flatnonzero(codes >= 0), spare]))
    dense = np.where(codes[used] >= 0, np.searchsorted(present, codes[used]), -1)
    shown = slice(None) if spec.uses_unlabeled else dense >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with few labels there is nothing new in a warning that they are few
        fitted = spec.make_estimator(rows.shape[1], seed, params).fit(rows[used][shown], dense[shown])
        proba[:, present[np.asarray(fitted.classes_).astype(np.int64)]] = fitted.predict_proba(rows[test])
    return proba


def train_and_test(folds: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and the held-out rows of every fold."""
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]


@dataclass(frozen=True)
class AccuracyEstimate:
    """Accuracy on rows that were chosen at random.

    Parameters
    ----------
    n_rows, n_correct : int
        Rows, and correct predictions.
    accuracy, low, high : float
        Accuracy and its 90% interval (Wilson 1927).
    """

    n_rows: int
    n_correct: int
    accuracy: float
    low: float
    high: float


def wilson_interval(n_correct: float, n: float, df: float = math.inf) -> tuple[float, float]:
    """Return the 90% interval of a proportion (Wilson 1927), with quantiles of Student's t where `df` is finite.

    Examples
    --------
    >>> low, high = wilson_interval(18, 20)
    >>> round(low, 3), round(high, 3)
    (0.738, 0.966)
    """
    if math.isinf(df):  # threads of the studio call this at once, and scipy.stats takes long to import
        quantile = NormalDist().inv_cdf(0.95)
    else:
        from scipy.stats import t

        quantile = float(t.ppf(0.95, df))
    p, square = n_correct / n, quantile**2
    center = (p + square / (2 * n)) / (1 + square / n)
    half = math.sqrt(square * (p * (1 - p) / n + square / (4 * n * n))) / (1 + square / n)
    return max(center - half, 0.0), min(center + half, 1.0)


def estimate_accuracy(
    learner: ActiveLearner, rows: Iterable[int], labels: Mapping[int, Any] | None = None
) -> AccuracyEstimate | None:
    """Estimate the accuracy of a learner's model by cross-validation on rows that were chosen at random.

    Parameters
    ----------
    learner : ActiveLearner
        The table.
    rows : iterable of int
        Labeled rows that were chosen at random. Rows chosen by a strategy are harder than others: they train, and are
        never tested on.
    labels : mapping of int to label, optional
        Labels by row; those of the learner by default.

    Returns
    -------
    AccuracyEstimate or None
        None without two classes or such a row.

    Notes
    -----
    Each of at most five folds of the random rows is predicted by a model trained on all other labels.

    Examples
    --------
    >>> from handful.active.query import ActiveLearner
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> learner = ActiveLearner(X, ["a", "a", None, "b", "b", None])
    >>> estimate = estimate_accuracy(learner, [1, 4])
    >>> estimate.n_correct, estimate.n_rows
    (2, 2)
    """
    labels = dict(learner.labels if labels is None else labels)
    places = learner.places
    tested = sorted({int(row) for row in rows if row in labels and row in places})
    classes = sorted(set(labels.values()), key=str)
    if not tested or len(classes) < 2:
        return None
    by_label = {label: code for code, label in enumerate(classes)}
    codes = np.full(len(learner.pool), -1)
    for row in labels.keys() & places.keys():
        codes[places[row]] = by_label[labels[row]]
    at = np.array([places[row] for row in tested])
    n_correct = 0
    for fold in np.array_split(np.random.default_rng(0).permutation(at), min(_N_FOLDS, len(at))):
        known = codes.copy()
        known[fold] = -1
        if (known >= 0).any():
            proba = class_proba(learner.method, learner.rows, known, fold, len(classes), learner.seed)
            n_correct += int((proba.argmax(axis=1) == codes[fold]).sum())
    return AccuracyEstimate(len(at), n_correct, n_correct / len(at), *wilson_interval(n_correct, len(at)))


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
        With 95% confidence the accuracy of the two differs by no more than this, on all rows.
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
    n_labels: Sequence[int], predictions: Sequence[np.ndarray], *, counts: Mapping[Any, int], tolerance: float = 0.05
) -> Stopping:
    """Tell whether more labels still change the model.

    Parameters
    ----------
    n_labels : sequence of int
        Labels of each of the successive models.
    predictions : sequence of ndarray
        Their predictions for the same rows, drawn at random.
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
    never predictions with one of the classes.

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
    for before, after in pairwise(predictions):
        m = len(after)
        k = int((np.asarray(before) != np.asarray(after)).sum())
        agreement.append(1 - k / m)
        bound.append(1.0 if k == m else float(beta.ppf(1 - _ALPHA, k + 1, m - k)))
    steady = len(bound) >= _STEADY and all(value <= tolerance for value in bound[-_STEADY:])
    too_few = _too_few(n_labels[-1], predictions[-1], counts, tolerance)
    stop = steady and not too_few
    if not bound:
        text = "There are too few labels for two models to be held against each other."
    elif stop:
        text = f"You may stop: the last models differ in accuracy by at most {max(bound[-_STEADY:]):.1%}."
    elif steady:
        text = f"Go on: the last models agree on {agreement[-1]:.0%} of the rows, but {too_few}."
    else:
        text = (
            f"Go on: the last two models agree on {agreement[-1]:.0%} of the rows, "
            f"so their accuracy may differ by up to {bound[-1]:.1%}."
        )
    return Stopping(tuple(n_labels[1:]), tuple(agreement), tuple(bound), stop, text)


def _too_few(n_labels: int, predictions: np.ndarray, counts: Mapping[Any, int], tolerance: float) -> str:
    """Tell why models that agree are not to be trusted yet, if they are not."""
    missing = [label for label in counts if not (np.asarray(predictions) == label).any()]
    if missing:
        return (
            f"none of these gets the label {missing[0]!s}, which {counts[missing[0]]:,} of the {n_labels:,} labels are"
        )
    least, rarest = math.ceil(math.log(_ALPHA) / math.log1p(-tolerance)), min(counts, key=lambda label: counts[label])
    if n_labels >= least and counts[rarest] >= _MIN_PER_CLASS:
        return ""
    rare = f", {counts[rarest]:,} of them {rarest!s}," if counts[rarest] < _MIN_PER_CLASS else ""
    return (
        f"{n_labels:,} labels{rare} are too few to trust that: it takes {least:,}, and {_MIN_PER_CLASS} of each class"
    )
