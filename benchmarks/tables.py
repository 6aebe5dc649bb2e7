"""What ``handful fit`` recommends, against fixed choices, on tables that come with scikit-learn or are generated.

Five labels per class, the same draws for all: ``python benchmarks/tables.py`` (``--draws``, ``--minutes``), ``--quick`` for
three tables, one draw and ten seconds each. Accuracy on the rows whose labels were hidden; handful is asked by its command,
with its defaults, and never sees them. ``--method team`` fits that method instead of a race, in this process, so that the
load does not matter, and prints how reliable its confidence is: the share of answers of 0.8 or more, and how many are right.
``--folder FOLDER`` takes the CSV files there instead of these tables (the column ``label``, or else the last one, is the
target; rows without a label are left out), with ``--only NAME:TARGET:COLUMN`` another target, and columns that are left out;
``--seed`` chooses other draws. ``--labels 40`` draws rows at random, whatever their class, and ``--metric "balanced accuracy"``
counts classes alike, next to two more fixed choices that do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

QUICK = ("iris", "wine", "clouds of 2")
SURE_ENOUGH = 0.8
_MOST_POOL = 3_000


def grown() -> tuple[np.ndarray, np.ndarray]:
    """Return five measures of animals of four kinds, which grow together: the kinds differ in their proportions alone."""
    rng = np.random.default_rng(0)
    kinds = np.arange(400) % 4
    proportions = np.array([[0, 0, 0, 0, 0], [0, 0.1, 0, 0.02, 0], [0.1, 0.04, 0, 0, 0.06], [0.1, 0.14, 0, 0.02, 0.06]])
    sizes = 0.2 * rng.normal(size=(400, 1))
    return np.exp(sizes + proportions[kinds] + 0.03 * rng.normal(size=(400, 5))), kinds


def tables() -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """Return the tables by name: four real ones, and generated ones of several shapes."""
    made: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "moons": lambda: datasets.make_moons(600, noise=0.25, random_state=0),
        "circles": lambda: datasets.make_circles(600, noise=0.15, factor=0.4, random_state=0),
        "measures that grow together": grown,
    }
    for n_classes in (2, 3, 5, 8):
        for n_columns, spread in ((4, 1.5), (15, 3.0)):
            settings = {"centers": n_classes, "n_features": n_columns, "cluster_std": spread, "random_state": n_classes}
            name = f"clouds of {n_classes}" + (", wide" if n_columns > 4 else "")
            made[name] = lambda settings=settings: datasets.make_blobs(800, **settings)
        for first in (0.5, 0.8):
            settings = {
                **{"n_samples": 800, "n_features": 20, "n_informative": 8, "n_redundant": 4, "n_classes": n_classes},
                **{"weights": [first] + [(1 - first) / (n_classes - 1)] * (n_classes - 1), "random_state": n_classes},
            }
            made[f"corners of {n_classes}, first {first:.0%}"] = lambda settings=settings: datasets.make_classification(
                **settings
            )
    return made


@dataclass(frozen=True)
class Benchmark:
    """A table whose labels are all known: what handful gets, what baselines get, and the labels."""

    frame: pl.DataFrame
    matrix: np.ndarray
    labels: np.ndarray


def generated(name: str) -> Benchmark:
    """Return one of the tables of scikit-learn."""
    X, y = tables()[name]()
    frame = pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})
    return Benchmark(frame, StandardScaler().fit_transform(X), np.array([f"class {label}" for label in y]))


def from_file(path: Path, target: str = "", left_out: Sequence[str] = ()) -> Benchmark:
    """Return the table of a file; plain tools get numbers scaled and names of at most 50 values as indicators."""
    with path.open() as lines:
        header = lines.readline()
    separator = max(",;\t", key=header.count)
    rows = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=True, separator=separator).drop(left_out)
    target = target or ("label" if "label" in rows.columns else rows.columns[-1])
    rows = rows.filter(~pl.col(target).fill_null("").str.strip_chars().is_in(["", "?", "NA"]))
    blocks = []
    for column in rows.drop(target):
        cells = column.str.strip_chars().replace({"": None, "?": None, "NA": None})
        numbers = cells.cast(pl.Float64, strict=False)
        if 0 < 0.9 * (len(cells) - cells.null_count()) <= len(cells) - numbers.null_count():
            blocks.append(StandardScaler().fit_transform(numbers.fill_null(numbers.median()).to_numpy()[:, None]))
        elif cells.n_unique() <= 50:
            blocks.append(cells.fill_null("-").to_dummies().to_numpy().astype(np.float64))
    frame = rows.drop(target)
    frame.columns = [f"c{j}" for j in range(frame.width)]  # a file without names has cells in their place
    return Benchmark(frame, np.hstack(blocks), rows[target].str.strip_chars().to_numpy().astype(str))


PLAIN: dict[str, Callable[[], Any]] = {
    "extra trees": lambda: ExtraTreesClassifier(300, random_state=0),
    "svm, C=10": lambda: SVC(C=10),
    "random forest": lambda: RandomForestClassifier(300, random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=1_000),
    "shrunk lda": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
}
BALANCED: dict[str, Callable[[], Any]] = {
    "logistic regression, balanced": lambda: LogisticRegression(max_iter=1_000, class_weight="balanced"),
    "random forest, balanced": lambda: RandomForestClassifier(300, class_weight="balanced", random_state=0),
}


Score = Callable[[np.ndarray, np.ndarray], float]


def fixed_choices(table: Benchmark, few: np.ndarray, rest: np.ndarray, score: Score) -> dict[str, float]:
    """Return the score of each fixed choice on the rows without a label."""
    rows, y = table.matrix, np.unique(table.labels, return_inverse=True)[1]
    choices = PLAIN | (BALANCED if score is not accuracy_score else {})
    scores = {name: score(y[rest], make().fit(rows[few], y[few]).predict(rows[rest])) for name, make in choices.items()}
    pool = np.random.default_rng(0).permutation(rest)[:_MOST_POOL]
    known = np.concatenate([y[few], np.full(len(pool), -1)])
    both = rows[np.concatenate([few, pool])]
    spreading = LabelSpreading(gamma=4 / rows.shape[1], max_iter=100).fit(both, known)
    scores["label spreading"] = score(y[pool], spreading.transduction_[len(few) :])
    training = SelfTrainingClassifier(LogisticRegression(max_iter=500)).fit(both, known)
    scores["self-training"] = score(y[pool], training.predict(rows[pool]))
    return {name: float(score) for name, score in scores.items()}


def recommended(
    table: Benchmark, few: np.ndarray, rest: np.ndarray, score: Score, minutes: float, metric: str
) -> dict[str, Any]:
    """Return the score of what ``handful fit`` saves, which method it was, and the time it took."""
    with tempfile.TemporaryDirectory() as folder:
        data, model, answers = (str(Path(folder) / name) for name in ("t.csv", "m.handful", "p.csv"))
        table.frame.with_columns(pl.Series("label", _only(table.labels, few), dtype=pl.String)).write_csv(data)
        start = time.perf_counter()
        asked = ("--minutes", minutes, "--metric", metric)
        summary = _handful("fit", data, "--target", "label", *asked, "--model", model, "--json")
        seconds = time.perf_counter() - start
        _handful("predict", model, data, "-o", answers)
        options = pl.read_csv(answers, infer_schema=False)["predicted"].to_numpy()
    return {
        "score": float(score(table.labels[rest], options[rest])),
        "method": json.loads(summary)["method"],
        "seconds": seconds,
    }


def fitted(
    table: Benchmark, few: np.ndarray, rest: np.ndarray, score: Score, method: str, balance: float
) -> dict[str, Any]:
    """Return the score of one method, and what its confidence holds."""
    from handful.comparison.fit import fit_method
    from handful.comparison.tables import labeled_table

    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "t.csv")
        table.frame.with_columns(pl.Series("label", _only(table.labels, few), dtype=pl.String)).write_csv(data)
        start = time.perf_counter()
        model = fit_method(labeled_table(data, "label"), method, params={"balance": balance} if balance else None)
        seconds = time.perf_counter() - start
    answers, confidence = model.predict_with_confidence(table.frame[rest])
    right, sure = answers.astype(str) == table.labels[rest], confidence >= SURE_ENOUGH
    return {
        "score": float(score(table.labels[rest], answers.astype(str))),
        "accuracy": float(right.mean()),
        "method": method,
        "seconds": seconds,
        "confidence": float(confidence.mean()),
        "answered": float(sure.mean()),
        "right": float(right[sure].sum()),
        "of": int(sure.sum()),
    }


def _only(labels: np.ndarray, few: np.ndarray) -> list[str | None]:
    kept: list[str | None] = [None] * len(labels)
    for row in few:
        kept[row] = str(labels[row])
    return kept


def _handful(*words: object) -> str:
    done = subprocess.run([sys.executable, "-m", "handful", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"handful {' '.join(map(str, words))}: {done.stderr.strip()[-300:]}")
    return done.stdout


def of_each_class(y: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return N rows of each class, and of a rare one no more than half."""
    of_class = [rng.permutation(np.flatnonzero(y == c)) for c in np.unique(y)]
    return np.concatenate([rows[: min(most, max(1, len(rows) // 2))] for rows in of_class])


def at_random(y: np.ndarray, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows that were drawn without a look at their class; again while they have one class."""
    while True:
        few = rng.permutation(len(y))[:n_labels]
        if len(np.unique(y[few])) > 1:
            return few


def of_the_best_elsewhere(fixed: list[dict[str, float]]) -> float:
    """Return the mean score of the fixed choice that was the best on the other draws: what a person could know at best."""
    scores = []
    for draw, results in enumerate(fixed):
        others = [one for i, one in enumerate(fixed) if i != draw] or fixed
        scores.append(results[max(results, key=lambda choice: sum(one[choice] for one in others))])
    return float(np.mean(scores))


def behind_the_best_elsewhere(ours: list[float], fixed: list[dict[str, float]]) -> float:
    """Return how far handful is above the fixed choice that was the best on the other draws of a table, on average.

    Which of seven is the best on a few draws is in part luck; which was the best on others is what one could know.
    """
    return float(np.mean(ours)) - of_the_best_elsewhere(fixed)


def mean_of(scores: dict[str, float]) -> float:
    """Return the mean of scores of tables, in points."""
    return round(100 * float(np.mean(list(scores.values()))), 2)


def times_far_below(theirs: dict[str, dict[str, float]], choice: str) -> int:
    """Return on how many tables a fixed choice is more than three points below the best of them."""
    return sum(scores[choice] < max(scores.values()) - 0.03 for scores in theirs.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--per-class", type=int, default=5)
    parser.add_argument("--labels", type=int, help="number of rows drawn at random, instead of --per-class")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--method")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--metric", choices=["auto", "accuracy", "balanced accuracy"], default="auto")
    parser.add_argument("--balance", type=float, default=0.0, help="of the team, with --method team")
    options = parser.parse_args()
    score: Score = balanced_accuracy_score if options.metric == "balanced accuracy" else accuracy_score
    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    draws, minutes = (1, 0.17) if options.quick else (options.draws, options.minutes)
    files = {path.stem: path for path in sorted(options.folder.glob("*.csv"))} if options.folder else {}
    names = options.only or (list(files) if files else QUICK if options.quick else list(tables()))
    ours: dict[str, float] = {}
    theirs: dict[str, dict[str, float]] = {}
    held: list[dict[str, Any]] = []
    fair: dict[str, float] = {}
    known: dict[str, float] = {}
    asked = dict(zip(names, (name.split(":") for name in names), strict=True))
    for name, (stem, *columns) in asked.items():
        table = from_file(files[stem], *columns[:1], left_out=columns[1:]) if files else generated(name)
        y = table.labels
        results, fixed = [], []
        for seed in range(options.seed, options.seed + draws):
            rng = np.random.default_rng(seed)
            few = at_random(y, options.labels, rng) if options.labels else of_each_class(y, options.per_class, rng)
            rest = np.setdiff1d(np.arange(len(y)), few)
            fixed.append(fixed_choices(table, few, rest, score))
            if options.method:
                results.append(fitted(table, few, rest, score, options.method, options.balance))
            else:
                results.append(recommended(table, few, rest, score, minutes, options.metric))
        ours[name] = float(np.mean([one["score"] for one in results]))
        theirs[name] = {choice: float(np.mean([one[choice] for one in fixed])) for choice in fixed[0]}
        fair[name] = 100 * behind_the_best_elsewhere([one["score"] for one in results], fixed)
        known[name] = of_the_best_elsewhere(fixed)
        best = max(theirs[name], key=theirs[name].__getitem__)
        summary = {
            "table": name,
            "handful": round(100 * ours[name], 1),
            "methods": sorted({one["method"] for one in results}),
            "seconds": round(float(np.mean([one["seconds"] for one in results])), 1),
            "best fixed choice": f"{best} {100 * theirs[name][best]:.1f}",
            "load": round(os.getloadavg()[0], 1),
        }
        if options.method:
            held.extend(results)
            summary["accuracy"] = round(100 * float(np.mean([one["accuracy"] for one in results])), 1)
            summary["mean confidence"] = round(100 * float(np.mean([one["confidence"] for one in results])), 1)
            summary["answered at 0.8"] = round(100 * float(np.mean([one["answered"] for one in results])), 1)
            summary["right of these"] = round(
                100 * sum(one["right"] for one in results) / max(sum(one["of"] for one in results), 1), 1
            )
        print(json.dumps(summary), flush=True)
    means = {choice: 100 * float(np.mean([theirs[name][choice] for name in names])) for choice in theirs[names[0]]}
    top = max(means, key=means.__getitem__)
    mean = mean_of(ours)
    print(json.dumps({"mean of handful": mean, **{k: round(v, 2) for k, v in means.items()}}))
    if held:
        rights = [one["right"] / one["of"] for one in held if one["of"]]
        sure = {
            "accuracy": round(100 * float(np.mean([one["accuracy"] for one in held])), 1),
            "mean confidence": round(100 * float(np.mean([one["confidence"] for one in held])), 1),
            "answered at 0.8": round(100 * float(np.mean([one["answered"] for one in held])), 1),
            "right of these": round(100 * float(np.mean(rights)), 1) if rights else None,
        }
        print(json.dumps(sure))
    below = {name: round(100 * (ours[name] - max(theirs[name].values())), 1) for name in names}
    far = {name: gap for name, gap in below.items() if gap < -3}
    print(json.dumps({"handful minus the best fixed choice": round(mean - means[top], 2), "which": top}))
    print(json.dumps({"tables more than 3 below the best of all": far, "of": len(names)}))
    print(json.dumps({"as many of each fixed choice": {choice: times_far_below(theirs, choice) for choice in means}}))
    lost = sum(known[name] < max(theirs[name].values()) - 0.03 for name in names)
    summary = {
        "as many of the choice that was the best on the other draws of a table": lost,
        "its mean": mean_of(known),
    }
    print(json.dumps(summary))
    far = {name: round(gap, 1) for name, gap in fair.items() if gap < -3}
    print(json.dumps({"tables more than 3 below the best of the other draws": far, "of": len(names)}))


if __name__ == "__main__":
    main()
