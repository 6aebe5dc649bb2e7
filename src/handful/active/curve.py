"""Learning curves, and how many more labels are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from handful.active.estimates import DEFAULT_METHOD, MIN_RANDOM, class_proba, encode_table, selected_at_random
from handful.data.table import Table, as_table
from handful.errors import DataError, ParameterError, Progress, Step, counted

_TEST_FRACTION = 0.25
_MAX_TEST = 2_000
_MIN_SPLITS = 2
_MIN_LABELS = 12
_MAX_UNLABELED = 2_000
_MAX_LABELED = 5_000

# Takes training rows, their codes, and rows to predict, and returns codes.
Predict = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def curve_sizes(n_train: int, n_classes: int) -> np.ndarray:
    """Return numbers of labels from two for each class on, growing by half, up to all of the training part.

    Examples
    --------
    >>> curve_sizes(40, 2).tolist()
    [12, 18, 27, 40]
    """
    sizes, size = [], float(n_train)
    while size >= max(2 * n_classes, 8):
        sizes.append(round(size))
        size /= 1.5
    return np.array(sizes[::-1], dtype=np.int64)


def nested_scores(
    codes: np.ndarray,
    predict: Predict,
    *,
    at_random: np.ndarray | None = None,
    n_splits: int = 10,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of labels, and the accuracy of a model with each in every split.

    Parameters
    ----------
    codes : ndarray of int
        Class of each labeled row.
    predict : callable
        ``predict(train, codes, test)`` for rows of `codes`.
    at_random : ndarray of bool, optional
        Which rows were chosen at random; only those are tested on. All by default.
    n_splits : int, default=10
        Splits; in each a quarter of the rows is held back, a fifth of the random ones if there are others, and smaller
        training sets lie inside larger ones. Held-out parts do not overlap until all rows were held out.
    random_state : int, default=0
        Seed of the splits.
    progress : callable, optional
        Called after each split.

    Returns
    -------
    sizes : ndarray of int
        Numbers of labels.
    scores : ndarray of shape (n_splits, n_sizes)
        Accuracy on the held-out rows. An interruption ends the run with the splits that are done, if there are two.
    """
    testable = np.arange(len(codes)) if at_random is None else np.flatnonzero(at_random)
    n_test = min(max(round(_TEST_FRACTION * len(codes)), 1), _MAX_TEST)
    n_test = n_test if len(testable) == len(codes) else min(n_test, max(len(testable) // 5, 1))
    n_folds = max(len(testable) // n_test, 1)
    sizes = curve_sizes(len(codes) - n_test, len(np.unique(codes)))
    scores, n_done = np.zeros((n_splits, len(sizes))), 0
    try:
        for split in range(n_splits):
            fold, rng = split % n_folds, np.random.default_rng([random_state, split])
            dealt = np.random.default_rng([random_state, split // n_folds, 1]).permutation(testable)
            test = dealt[fold * n_test : (fold + 1) * n_test]
            pool = rng.permutation(np.setdiff1d(np.arange(len(codes)), test))
            for at, size in enumerate(sizes):
                scores[split, at] = np.mean(predict(pool[:size], codes[pool[:size]], test) == codes[test])
            n_done = split + 1
            if progress is not None:
                progress(Step("learning curve", n_done, n_splits))
    except KeyboardInterrupt:
        if n_done < _MIN_SPLITS:
            raise
    return sizes, scores[:n_done]


_POWERS = np.linspace(0.05, 2.0, 40)
_N_REPLICATES = 500
_LEAST_SIZES = 4
_MOST_FALL = 0.02
_OF_ROWS = 1.5  # times their binomial variance: chance chose the rows to learn from and to score
_UNLIKELY = 0.33
FACTOR = 2.0  # how far beyond the present labels a forecast may look


class PowerLaw(NamedTuple):
    """Error against the number of labels, ``floor + scale * n ** -power``; several laws at once as arrays.

    Examples
    --------
    >>> round(PowerLaw(0.1, 1.0, 0.5).error(100.0), 3)
    0.2
    """

    floor: Any
    scale: Any
    power: Any

    def error(self, n: Any) -> Any:
        """Return the error with `n` labels."""
        return self.floor + self.scale * n**-self.power


def fit_power_law(sizes: np.ndarray, errors: np.ndarray) -> PowerLaw:
    """Fit a power law by least squares, with floor and scale not below 0.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of labels.
    errors : ndarray of shape (..., n_sizes)
        Mean error with each.

    Returns
    -------
    PowerLaw
        The best of forty powers between 0.05 and 2, for every line of errors.

    Examples
    --------
    >>> law = fit_power_law(np.array([10.0, 20.0, 40.0, 80.0]), 0.1 + 2 / np.array([10.0, 20.0, 40.0, 80.0]))
    >>> round(float(law.floor), 3), round(float(law.scale), 2), round(float(law.power), 2)
    (0.1, 2.0, 1.0)
    """
    best = np.full(errors.shape[:-1], np.inf)
    law = np.zeros((3, *best.shape))
    for power in _POWERS:
        x = sizes.astype(float) ** -power
        away = x - x.mean()
        scale = np.maximum((errors - errors.mean(axis=-1, keepdims=True)) @ away / (away**2).sum(), 0.0)
        floor = errors.mean(axis=-1) - scale * x.mean()
        scale = np.where(floor < 0, np.maximum(errors @ x / (x**2).sum(), 0.0), scale)
        floor = np.maximum(floor, 0.0)
        loss = ((errors - floor[..., None] - scale[..., None] * x) ** 2).sum(axis=-1)
        law = np.where(loss < best - 1e-15, [floor, scale, np.full_like(floor, power)], law)
        best = np.minimum(loss, best)
    return PowerLaw(*law)


@dataclass(frozen=True)
class Forecast:
    """Accuracy to expect with more labels.

    Parameters
    ----------
    n_labels : tuple of int
        Numbers of labels, from the present ones to twice as many.
    score, low, high : tuple of float
        Expected accuracy with each, and its 90% band.
    """

    n_labels: tuple[int, ...]
    score: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Goal:
    """Labels needed for an accuracy.

    Parameters
    ----------
    score : float
        The accuracy.
    low, high : int or None
        How many more labels it takes, as a 90% interval; None where that is beyond twice the present labels.
    text : str
        The same in words.
    chance : float
        Probability that twice the present labels are enough, over resampled curves.
    """

    score: float
    low: int | None
    high: int | None
    text: str
    chance: float


def refusal(sizes: np.ndarray, scores: np.ndarray) -> str | None:
    """Return why a learning curve allows no forecast, or None.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of labels.
    scores : ndarray of shape (n_splits, n_sizes)
        Score of each split with each.

    Returns
    -------
    str or None
        A sentence.

    Examples
    --------
    >>> refusal(np.array([5, 10]), np.ones((3, 2)))
    'No forecast: a curve needs at least 4 sizes, and there are labels for 2.'
    """
    if not len(sizes):
        return "No forecast: there are too few labels for a curve."
    if len(sizes) < _LEAST_SIZES:
        return f"No forecast: a curve needs at least {_LEAST_SIZES} sizes, and there are labels for {len(sizes)}."
    mean = scores.mean(axis=0)
    for first, second in combinations(range(len(sizes)), 2):
        fall = scores[:, first] - scores[:, second]
        if fall.mean() > max(2 * fall.std(ddof=1) / np.sqrt(len(fall)), _MOST_FALL):
            return (
                f"No forecast: accuracy falls from {mean[first]:.1%} with {counted(sizes[first], 'label')} to "
                f"{mean[second]:.1%} with {sizes[second]}, and a curve that does not rise allows none."
            )
    return None


def _replicates(sizes: np.ndarray, scores: np.ndarray, n_labels: int, ahead: np.ndarray, seed: int) -> np.ndarray:
    """Return scores with more labels, one line for each resample of the splits; see `forecast`."""
    rng = np.random.default_rng(seed)
    resampled = rng.integers(0, len(scores), (_N_REPLICATES, len(scores)))
    laws = fit_power_law(sizes, 1.0 - scores[resampled].mean(axis=1))
    errors = _errors(laws, sizes, ahead, rng.uniform(0.0, 1.0, (_N_REPLICATES, 1)))
    last = float(np.clip(1.0 - scores[:, -1].mean(), 0.5 / n_labels, 1 - 0.5 / n_labels))
    shift = rng.normal(0.0, np.sqrt(_OF_ROWS * last * (1 - last) / n_labels), _N_REPLICATES)
    return np.asarray(1.0 - np.clip(errors + shift[:, None], 0.0, 1.0))


def _errors(laws: PowerLaw, sizes: np.ndarray, ahead: np.ndarray, part: Any) -> np.ndarray:
    """Return the errors of laws ahead, if only part of their fall beyond the largest size comes true."""
    laws = PowerLaw(*(np.asarray(values)[..., None] for values in laws))
    now = laws.error(float(sizes[-1]))
    return np.asarray(now - part * (now - laws.error(ahead.astype(float))))


def forecast(sizes: np.ndarray, scores: np.ndarray, n_labels: int, seed: int = 0) -> Forecast:
    """Forecast the accuracy with more labels.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of labels of the learning curve.
    scores : ndarray of shape (n_splits, n_sizes)
        Accuracy of each split with each.
    n_labels : int
        Present labels.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Forecast
        For six numbers of labels up to twice the present ones.

    Notes
    -----
    The band holds the middle 90% of curves fitted to resampled splits. All splits share the labeled rows, which chance chose.
    So each replicate is also shifted by a normal error of one and a half times their binomial variance. A curve that
    chance bends up would be extrapolated upwards. So of the rise beyond the largest size, a random part comes true in each
    replicate, and half of it in the expected accuracy, which is at least that of the largest size.
    """
    ahead = np.unique(np.linspace(n_labels, FACTOR * n_labels, 6).astype(int))
    lines = _replicates(sizes, scores, n_labels, ahead, seed)
    low, high = np.quantile(lines, [0.05, 0.95], axis=0)
    mean = scores.mean(axis=0)
    expected = np.maximum(1.0 - _errors(fit_power_law(sizes, 1.0 - mean), sizes, ahead, 0.5), mean[-1])
    high = np.maximum(high, expected)
    return Forecast(tuple(ahead.tolist()), tuple(expected.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def labels_needed(sizes: np.ndarray, scores: np.ndarray, n_labels: int, goal: float, seed: int = 0) -> Goal:
    """Estimate how many more labels an accuracy takes.

    Parameters
    ----------
    sizes, scores, n_labels, seed
        As for `forecast`.
    goal : float
        The accuracy to reach.

    Returns
    -------
    Goal
        With the interval, in words too.
    """
    ahead = np.arange(n_labels, int(FACTOR * n_labels) + 1)
    reached = _replicates(sizes, scores, n_labels, ahead, seed) >= goal
    more = np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)
    low, high = np.quantile(more, [0.05, 0.95], method="higher")
    first, last = (None if np.isinf(value) else int(value) for value in (low, high))
    most, chance = int((FACTOR - 1) * n_labels), float(reached.any(axis=1).mean())
    return Goal(goal, first, last, _goal_text(f"{goal:.0%}", first, last, most, chance), chance)


def _goal_text(goal: str, first: int | None, last: int | None, most: int, chance: float) -> str:
    if first is None:
        return f"{goal} is unlikely with {counted(most, 'more label')}; the forecast goes no further."
    if last == 0:
        return f"{goal} is reached already."
    word = "unlikely" if chance < _UNLIKELY else "likely" if chance > 1 - _UNLIKELY else "open"
    likely = f"within {most} it is {word} ({chance:.0%})."
    if last is None and first == 0:
        return f"{goal} may be reached already, or take more than {counted(most, 'more label')}: {likely}"
    if last is None:
        return f"At least about {counted(first, 'more label')} for {goal}, perhaps more than {most}: {likely}"
    if first == 0:
        return f"At most about {counted(last, 'more label')} for {goal}, perhaps none."
    return f"About {first} to {counted(last, 'more label')} for {goal}."


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy by number of labels; see `learning_curve`.

    Parameters
    ----------
    n_labels, n_random : int
        Labels, and how many of them are of rows chosen at random.
    sizes : tuple of int
        Numbers of labels of the curve.
    mean, low, high : tuple of float
        Accuracy with each; `low` and `high` are two standard errors of the splits away.
    forecast : Forecast or None
        None where refused.
    refused : str or None
        Why there is no forecast.
    goal : Goal or None
        Labels for the accuracy that was asked for.
    n_splits : int
        Random splits that were scored; fewer than asked for after an interruption.
    """

    n_labels: int
    n_random: int
    sizes: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    forecast: Forecast | None
    refused: str | None
    goal: Goal | None
    n_splits: int


def learning_curve(
    X: Any,
    y: Any = None,
    *,
    goal: float | None = None,
    n_splits: int = 10,
    model: Any = None,
    columns: Mapping[str, Any] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LearningCurve:
    """Measure accuracy by number of labels, and forecast it.

    Rows that a query strategy chose are harder than others. Where the table has the column ``next_selection`` of
    `handful next`, only random rows are tested on, and below 20 of them there is no curve.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows.
    y : array-like or str
        Labels, or the name of their column in a data frame; unlabeled rows train methods that can use them.
    goal : float, optional
        Accuracy to reach, between 0 and 1.
    n_splits : int, default=10
        Random splits of the labels.
    model : str or classifier, optional
        Method; the ensemble by default.
    columns : mapping of str to kind, optional
        Kinds of columns.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Called after each split.

    Returns
    -------
    LearningCurve
        Curve, forecast with its band or a refusal, and labels for the goal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 60)
    >>> curve = learning_curve(rng.normal(0, 1, (60, 2)) + 2 * y[:, None], y, n_splits=2)
    >>> curve.n_labels, curve.sizes
    (60, (9, 13, 20, 30, 45))
    """
    if goal is not None and not 0 < goal <= 1:
        raise ParameterError(f"curve: the goal must be above 0 and at most 1, such as 0.9, got {goal:g}.")
    if n_splits < _MIN_SPLITS:
        raise ParameterError(f"curve: at least 2 splits are needed, got {n_splits}.")
    table = as_table(X, y, columns=columns)
    _check_labels(table)
    matrix, _ = encode_table(table, who="curve")
    rng = np.random.default_rng(random_state)
    labeled = rng.permutation(table.labeled)[:_MAX_LABELED]
    spare = rng.permutation(table.unlabeled)[:_MAX_UNLABELED]
    at_random = selected_at_random(table)
    tested = np.ones(len(labeled), dtype=bool) if at_random is None else at_random[labeled]
    codes = table.codes[labeled].astype(np.int64)
    matrix = matrix[np.concatenate([labeled, spare])]
    method, n_classes = DEFAULT_METHOD if model is None else model, len(table.classes)

    def predict(train: np.ndarray, known: np.ndarray, test: np.ndarray) -> np.ndarray:
        every = np.full(matrix.shape[0], -1)
        every[train] = known
        every[test[test < len(codes)]] = -1
        return np.asarray(class_proba(method, matrix, every, test, n_classes, random_state).argmax(axis=1))

    n_random = int(tested.sum())
    if at_random is not None and n_random < MIN_RANDOM:
        sizes, scores = np.zeros(0, dtype=np.int64), np.zeros((n_splits, 0))
        refused: str | None = f"Label {counted(MIN_RANDOM - n_random, 'more row')} chosen at random to know."
    else:
        sizes, scores = nested_scores(
            codes, predict, at_random=tested, n_splits=n_splits, random_state=random_state, progress=progress
        )
        refused = refusal(sizes, scores)
    mean = scores.mean(axis=0)
    error = 2 * scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    curve = (sizes, scores, len(labeled))
    return LearningCurve(
        n_labels=len(table.labeled),
        n_random=n_random,
        sizes=tuple(sizes.tolist()),
        mean=tuple(mean.tolist()),
        low=tuple(np.maximum(mean - error, 0).tolist()),
        high=tuple(np.minimum(mean + error, 1).tolist()),
        forecast=None if refused else forecast(*curve, random_state),
        refused=refused,
        goal=None if refused or goal is None else labels_needed(*curve, goal, random_state),
        n_splits=len(scores),
    )


def _check_labels(table: Table) -> None:
    n_labels, least = len(table.labeled), max(_MIN_LABELS, 3 * len(table.classes))
    if len(table.classes) < 2:
        raise DataError(f"curve: labels of at least 2 classes are needed, got {len(table.classes)}.")
    if n_labels < least:
        raise DataError(
            f"curve: at least {least} labels are needed, got {n_labels}. Label some first, with 'handful next'."
        )
