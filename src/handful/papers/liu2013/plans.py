"""Table IV, Figures 3 to 9 and the worked example of Liu et al. 2013, run again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from handful.compute import map_reduce
from handful.core.errors import MissingDataError
from handful.core.records import Table
from handful.corpora import load
from handful.neighbors import OrdinalKNN
from handful.papers.claims import Findings, Settings
from handful.papers.liu2013.diagnostic import insert_true_labels

TABLES = {"Vehicle": "vehicle", "Ionosphere": "ionosphere", "Parkinson": "parkinsons", "Wine": "wine"}
METHODS = ("method1", "method2", "method3", "method1-true-label", "method2-true-label")

# Worked example of the paper's Figures 2 and 3.
EXAMPLE_ROWS = np.array([[2, 3], [1, 2], [2, 1], [3, 2], [5, 4], [4, 3], [5, 2], [6, 3]], dtype=float)
EXAMPLE_CODES = np.repeat([0, 1], 4)
EXAMPLE_POINT = np.array([2.5, 4.0])


class Part(NamedTuple):
    """One unit of work: a table, a seed and a number of folds."""

    name: str
    seed: int
    n_folds: int


# (table, method, ratio of labeled rows) to one accuracy per seed
Accuracies = dict[tuple[str, str, float], list[float]]


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``seeds`` repetitions (10 by default, 2 in a quick run); ``quick`` also takes fewer fold numbers.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    seeds = settings.seeds or (2 if settings.quick else 10)
    folds = (2, 5, 10) if settings.quick else tuple(range(2, 11))
    tables, not_run = _tables()
    values = {
        f"worked-example-sigma-{sigma}": float(
            OrdinalKNN(sigma=sigma)
            .fit(np.vstack([EXAMPLE_ROWS, EXAMPLE_POINT]), [*EXAMPLE_CODES, -1])
            .distance_factor_[0]
        )
        for sigma in (0.5, 1.0, 5.0)
    }
    accuracies: Accuracies = {}
    for name in tables:
        parts = [Part(name, seed, k) for seed in range(seeds) for k in folds]
        measured = partial(_measure_all, tables, parts, settings)
        accuracies |= {
            (name, method, ratio): scores for method, ratio, scores in settings.kept(f"liu2013 {name}", measured)
        }
        values |= _table_four(name, accuracies)
    if settings.figures is not None:
        from handful.papers.liu2013.figures import draw_figures

        draw_figures(settings.figures, {name: curves(name, accuracies) for name in tables})
    return Findings(values, not_run)


def _tables() -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, str]]:
    tables: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    not_run: dict[str, str] = {}
    for name, corpus in TABLES.items():
        try:
            table = load(corpus)
        except MissingDataError as error:
            reason = str(error)
            ids = [f"table4-{name.lower()}-{m}{end}" for m in METHODS for end in ("", "-sd")]
            not_run |= dict.fromkeys([*ids, f"order-{name.lower()}"], reason)
            continue
        assert isinstance(table, Table)
        X = table.numeric()
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        tables[name] = X, np.unique(table.labels.astype(str), return_inverse=True)[1].astype(np.int64)
    return tables, not_run


def _measure_all(
    tables: dict[str, tuple[np.ndarray, np.ndarray]], parts: list[Part], settings: Settings
) -> list[tuple[str, float, list[float]]]:
    accuracies = map_reduce(partial(measure, tables), _join, parts, n_jobs=settings.n_jobs, progress=settings.progress)
    return [(method, ratio, scores) for (_, method, ratio), scores in accuracies.items()]


def measure(tables: dict[str, tuple[np.ndarray, np.ndarray]], part: Part) -> Accuracies:
    """Run all methods on one table with one fold number, in both directions.

    Parameters
    ----------
    tables : dict
        Name to z-scored features and codes.
    part : Part
        What to run.

    Returns
    -------
    dict
        Accuracy of each method and ratio, averaged over the rotations.
    """
    X, y = tables[part.name]
    rng = np.random.default_rng([part.seed, part.n_folds])
    fold = rng.permutation(np.arange(len(y)) % part.n_folds)
    accuracies: Accuracies = {}
    for ratio, masks in _directions(fold, part.n_folds):
        scores = [_score_all(X, y, labeled, rng) for labeled in masks]
        for method in METHODS:
            accuracies[part.name, method, ratio] = [float(np.mean([score[method] for score in scores]))]
    return accuracies


def _directions(fold: np.ndarray, n_folds: int) -> Iterator[tuple[float, list[np.ndarray]]]:
    yield 1 / n_folds, [fold == i for i in range(n_folds)]
    if n_folds > 2:  # with two folds both directions are the same
        yield (n_folds - 1) / n_folds, [fold != i for i in range(n_folds)]


def _score_all(X: np.ndarray, y: np.ndarray, labeled: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    few, rest = np.where(labeled, y, -1), ~labeled
    seed = int(rng.integers(2**31))
    ordinal = OrdinalKNN().fit(X, few).transduction_
    shuffled = OrdinalKNN(order="random", random_state=seed).fit(X, few).transduction_
    distances = ((X[rest][:, None] - X[labeled][None]) ** 2).sum(axis=2)
    plain = y[labeled][distances.argmin(axis=1)]
    guesses = {
        "method1": ordinal[rest],
        "method2": shuffled[rest],
        "method3": plain,
        "method1-true-label": insert_true_labels(X, few, y)[rest],
        "method2-true-label": insert_true_labels(X, few, y, order=rng.permutation(int(rest.sum())))[rest],
    }
    return {method: 100 * float(np.mean(guess == y[rest])) for method, guess in guesses.items()}


def _join(a: Accuracies, b: Accuracies) -> Accuracies:
    for key, scores in b.items():
        a.setdefault(key, []).extend(scores)
    return a


def curves(name: str, accuracies: Accuracies) -> dict[str, dict[float, float]]:
    """Return the mean accuracy over seeds by method and ratio, as in Figures 6 to 9."""
    return {
        method: {
            ratio: float(np.mean(scores))
            for (table, m, ratio), scores in sorted(accuracies.items())
            if table == name and m == method
        }
        for method in METHODS
    }


def _table_four(name: str, accuracies: Accuracies) -> dict[str, float]:
    """Mean and sd over the ratios of at most one half, computed for each seed, then averaged over seeds."""
    values = {}
    for method in METHODS:
        by_seed = np.array(
            [
                scores
                for (table, m, ratio), scores in accuracies.items()
                if table == name and m == method and ratio <= 0.5
            ]
        )
        values[f"table4-{name.lower()}-{method}"] = float(by_seed.mean())
        values[f"table4-{name.lower()}-{method}-sd"] = float(by_seed.std(axis=0, ddof=1).mean())
    first, second = (values[f"table4-{name.lower()}-method{m}"] for m in (1, 2))
    values[f"order-{name.lower()}"] = first - second
    return values
