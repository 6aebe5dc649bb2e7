"""How many more labels: curve, forecast, the best method for each budget, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.labels import Labels, encode_labels
from handful.core.progress import Progress
from handful.labeling.curves import Answer, LearningCurves, answer_or_only, learning_curves, quick_answerers
from handful.labeling.forecast import Forecast, Goal, forecast, labels_needed, refusal
from handful.labeling.labeled_rows import rows_and_labels
from handful.labeling.space import as_matrix, as_points, neighborhood
from handful.labeling.stopping import Stopping, stopping_rule

_LEAST_LABELS = 12
_MOST_UNLABELED = 2_000
_MOST_LABELED = 5_000


@dataclass(frozen=True)
class BudgetLine:
    """Scores of one method; `low` and `high` are two standard errors of the draws away."""

    method: str
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Budget:
    """What labels are worth; see `label_budget`.

    Parameters
    ----------
    n_labels : int
        Labels at hand.
    sizes : tuple of int
        Numbers of labels of the curves.
    lines : tuple of BudgetLine
        The methods, the best with all labels first.
    winners : tuple of str
        The best method with each number of labels.
    forecast : Forecast or None
        Of the best method; None where refused.
    refused : str or None
        Why there is no forecast.
    goal : Goal or None
        Labels for the score that was asked for.
    stopping : Stopping
        Whether more labels still change the model.
    n_draws : int
        Random splits that were scored; fewer than asked for after an interruption.
    """

    n_labels: int
    sizes: tuple[int, ...]
    lines: tuple[BudgetLine, ...]
    winners: tuple[str, ...]
    forecast: Forecast | None
    refused: str | None
    goal: Goal | None
    stopping: Stopping
    n_draws: int


def label_budget(
    X: Any,
    y: Any,
    *,
    goal: float | None = None,
    n_draws: int = 10,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Budget:
    """Tell what labels have brought, what more would bring, and which method is best with how many.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows.
    y : array-like or str
        Labels, or the name of their column in a data frame; unlabeled rows teach methods that can use them, and tell whether
        models still change. Where there are none, a quarter of the labeled ones is held back to tell that.
    goal : float, optional
        Accuracy to reach, between 0 and 1.
    n_draws : int, default=10
        Random splits of the labels.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Told after each draw.

    Returns
    -------
    Budget
        Curves, winners, forecast with its band or a refusal, labels for the goal, and the stopping rule.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 60)
    >>> budget = label_budget(rng.normal(0, 1, (60, 2)) + 2 * y[:, None], y, n_draws=3)
    >>> budget.n_labels, budget.sizes
    (60, (9, 13, 20, 30, 45))
    """
    if goal is not None and not 0 < goal <= 1:
        raise ParameterError(f"budget: the goal must be a share above 0 and at most 1, such as 0.9, got {goal:g}.")
    if n_draws < 2:
        raise ParameterError(f"budget: at least 2 draws are needed, got {n_draws}.")
    X, y = rows_and_labels(X, y, who="budget")
    labels = encode_labels(y, who="budget", min_classes=2)
    matrix = as_matrix(X, who="budget", codes=labels.codes)
    _check_sizes(matrix.shape[0], labels)
    rng = np.random.default_rng(random_state)
    given = rng.permutation(labels.labeled)[:_MOST_LABELED]
    raw = rng.permutation(labels.unlabeled)[:_MOST_UNLABELED]
    codes = labels.codes[given].astype(np.int64)
    both = np.concatenate([given, raw])
    matrix = matrix[both]
    points = as_points(matrix, random_state)
    answerers = quick_answerers(matrix, points, neighborhood(points), len(labels.classes), random_state)
    curves = learning_curves(codes, answerers, n_draws=n_draws, random_state=random_state, progress=progress)
    why_not = "No forecast: there are too few labels for a curve." if not len(curves.sizes) else None
    why_not = why_not or refusal(curves.sizes, curves.scores[curves.best])
    scores = curves.scores[curves.best]
    ahead, needed = None, None
    if why_not is None:
        ahead = forecast(curves.sizes, scores, len(given), random_state)
        if goal is not None:
            needed = labels_needed(curves.sizes, scores, len(given), goal, random_state)
    return Budget(
        len(labels.labeled),
        tuple(curves.sizes.tolist()),
        _lines(curves),
        _winners(curves),
        ahead,
        why_not,
        needed,
        _stopping(answerers[curves.best], curves.sizes, codes, labels.classes, len(raw), random_state),
        len(scores),
    )


def _check_sizes(n_rows: int, labels: Labels) -> None:
    if n_rows != len(labels.codes):
        raise DataError(f"budget: X and y must be of one length, got {n_rows} and {len(labels.codes)}.")
    least = max(_LEAST_LABELS, 3 * len(labels.classes))
    if len(labels.labeled) < least:
        raise DataError(
            f"budget: at least {least} labels are needed to see a curve, "
            f"got {len(labels.labeled)}. Label some first, with the help of 'handful next'."
        )


def _lines(curves: LearningCurves) -> tuple[BudgetLine, ...]:
    lines = []
    for name, scores in curves.scores.items():
        mean = scores.mean(axis=0)
        error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        lines.append(
            BudgetLine(
                name,
                tuple(mean.tolist()),
                tuple(np.maximum(mean - 2 * error, 0).tolist()),
                tuple(np.minimum(mean + 2 * error, 1).tolist()),
            )
        )
    return tuple(sorted(lines, key=lambda line: (-line.mean[-1] if line.mean else 0.0, line.method)))


def _winners(curves: LearningCurves) -> tuple[str, ...]:
    means = {name: scores.mean(axis=0) for name, scores in curves.scores.items()}
    return tuple(max(means, key=lambda name: (means[name][at], name)) for at in range(len(curves.sizes)))


def _stopping(
    answer: Answer, sizes: np.ndarray, codes: np.ndarray, classes: np.ndarray, n_raw: int, seed: int
) -> Stopping:
    """Hold successive models on growing parts of the labels against each other.

    They are asked about rows that none of them has seen: the unlabeled ones or, where there are none, labeled ones that are
    held back.
    """
    order = np.random.default_rng([seed, 1]).permutation(len(codes))
    if n_raw:
        steps, asked = [*sizes[-3:].tolist(), len(codes)], np.arange(len(codes), len(codes) + n_raw)
    else:
        steps, asked = sizes[-4:].tolist(), order[sizes[-1] :]
    answers = [classes[answer_or_only(answer, order[:n], codes[order[:n]], asked)] for n in steps]
    counts = zip(classes.tolist(), np.bincount(codes[order[: steps[-1]]], minlength=len(classes)).tolist(), strict=True)
    told = stopping_rule(steps, answers, counts=dict(counts))
    if n_raw or not told.bound:
        return told
    held = f" There are no unlabeled rows: this is of {len(asked):,} labeled ones that were held back."
    return replace(told, text=told.text + held)
