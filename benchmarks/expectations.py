"""Is the score that ``handful fit`` expects the true one, does its 95% interval hold the truth, and is its model too sure?

    python benchmarks/expectations.py [--labels 45] [--draws 2] [--trials 40] [--first 0] [--only NAME ...]

Rows are drawn at random and keep their label; the truth is the score of the fitted model on all others, by the same metric.
What a model says of its answers to these (mean confidence) is held against how many are right.
Tables are those of scikit-learn and generated ones; with HANDFUL_DEVDATA also tables and texts (1,500 rows at most) from
there. ``--quick``: two tables, one draw.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _shared import show_rows, usual_options
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from tables import at_random, from_file, generated

from handful.comparison.compare import Comparison
from handful.comparison.fit import fit_selected
from handful.comparison.tables import labeled_table
from handful.comparison.trials import Limits

MADE = (
    "iris",
    "wine",
    "breast cancer",
    "digits",
    "moons",
    "clouds of 5",
    "corners of 2, first 80%",
    "corners of 3, first 50%",
)
TABLES = (
    *("balance-scale", "credit-a", "dermatology", "german-credit", "heart-cleveland", "phoneme", "pima-diabetes"),
    *("splice", "steel-plates", "vote", "wheat-seeds", "waveform"),
)
TEXTS = ("bbc-news", "r8-train", "snips-intent-train", "subj", "10kgnad-test", "sentiment-yelp")
MOST_ROWS = 1_500


def read(name: str) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the rows of a set and their labels, in an order of chance."""
    if name in MADE:
        table = generated(name)
        frame, labels = table.frame, table.labels
    elif name in TABLES:
        table = from_file(Path(os.environ["HANDFUL_DEVDATA"]) / "tables" / f"{name}.csv")
        frame, labels = table.frame, table.labels
    else:
        folder = Path(os.environ["HANDFUL_DEVDATA"]) / "text"
        rows = pl.read_csv(next(folder.glob(f"{name}.csv*")), infer_schema=False).fill_null("")
        frame, labels = rows.select("text"), rows["label"].to_numpy().astype(str)
    chosen = np.random.default_rng(0).permutation(len(labels))[:MOST_ROWS]
    return frame[chosen], labels[chosen]


def fitted(name: str, n_labels: int, seed: int, trials: int) -> tuple[Comparison, float, float, float]:
    """Return the comparison that selected a model from a few labels, its true score, its mean confidence and its accuracy."""
    frame, labels = read(name)
    few = at_random(labels, n_labels, np.random.default_rng([seed, n_labels]))
    rest = np.setdiff1d(np.arange(len(labels)), few)
    labels_left = np.where(np.isin(np.arange(len(labels)), few), labels.astype(object), None)
    problem = labeled_table(frame, labels_left, seed=seed)
    model, comparison = fit_selected(problem, limits=Limits(trials=trials, seed=seed))
    assert comparison is not None, name
    score = balanced_accuracy_score if comparison.experiment.metric == "balanced_accuracy" else accuracy_score
    answers, sure = model.predict_with_confidence(frame[rest])
    right = float(np.mean(answers.astype(str) == labels[rest]))
    return comparison, float(score(labels[rest], answers.astype(str))), float(sure.mean()), right


def told(name: str, seed: int, comparison: Comparison, truth: float, sure: float, right: float) -> dict[str, Any]:
    """Return a line on one fit."""
    best = comparison.selected
    return {
        "data": name,
        "draw": seed,
        "metric": comparison.experiment.metric,
        "expected": round(100 * best.mean, 1),
        "low": round(100 * best.low, 1),
        "high": round(100 * best.high, 1),
        "true": round(100 * truth, 1),
        "confidence": round(100 * sure, 1),
        "right": round(100 * right, 1),
    }


def summed_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how far expectations and confidence are off, and how often the intervals hold."""
    expected, low, high, true = (np.array([row[key] for row in rows]) for key in ("expected", "low", "high", "true"))
    off = expected - true
    too_sure = np.array([row["confidence"] - row["right"] for row in rows])
    return {
        "fits": len(rows),
        "mean of expected - true": f"{off.mean():+.1f}",
        "standard error": _standard_error(off),
        "mean distance": round(float(np.abs(off).mean()), 1),
        "interval holds the truth": f"{100 * np.mean((low <= true) & (true <= high)):.1f} %",
        "its mean width": round(float((high - low).mean()), 1),
        "estimate at an end of it": f"{100 * np.mean((expected <= low) | (expected >= high)):.1f} %",
        "mean of confidence - right": f"{too_sure.mean():+.1f}",
        "its standard error": _standard_error(too_sure),
    }


def _standard_error(values: np.ndarray) -> float | None:
    return round(float(values.std(ddof=1) / np.sqrt(len(values))), 1) if len(values) > 1 else None


def fits(names: list[str], n_labels: int, draws: range, trials: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each set and draw."""
    for seed in draws:
        for name in names:
            yield told(name, seed, *fitted(name, n_labels, seed, trials))


def main() -> None:
    parser = usual_options(__doc__, "two tables, one draw of labels, eight trials each")
    parser.add_argument("--labels", type=int, default=45)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--trials", type=int, default=40, help="trials of a race")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = options.only or [*MADE, *((*TABLES, *TEXTS) if os.environ.get("HANDFUL_DEVDATA") else ())]
    draws, trials = range(options.first, options.first + options.draws), options.trials
    if options.quick:
        names, draws, trials = ["iris", "wine"], range(1), 8
    rows = list(fits(names, options.labels, draws, trials))
    show_rows([*rows, summed_up(rows)], options)


if __name__ == "__main__":
    main()
