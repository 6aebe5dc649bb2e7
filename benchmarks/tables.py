"""Accuracy of the default model of ``handful fit`` against fixed choices of scikit-learn, on tables with few labels.

    python benchmarks/tables.py [--folder TABLES] [--labels 5-per-class 40 500] [--seeds 0 1 2] [--only NAME ...]

A folder holds CSV files whose column ``label`` is the class; without one, scikit-learn's own tables are used. Labels are drawn
per class or at random, all other rows are unlabeled and tested. handful reads the table by itself; the others get standardized
numbers and indicators. Semi-supervised choices learn from 3,000 unlabeled rows and are tested on these. Random labels are also
given to gradient boosting, and to CatBoost where it is installed; with 500 labels, only tables of 3,000 rows and more take part.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from handful.comparison.fit import fit_method
from handful.comparison.tables import labeled_table

MAX_UNLABELED = 3000
MANY_LABELS, LEAST_ROWS = 500, 3000
CONFIDENT = 0.8


def tables(folder: Path | None, only: list[str] | None = None) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield name, cells and codes of the classes of each table; digits are among them in any case."""
    for load in (datasets.load_digits, datasets.load_wine, datasets.load_breast_cancer, datasets.load_iris):
        name = load.__name__.removeprefix("load_")
        if (folder is None or name == "digits") and (not only or name in only):
            X, y = load(return_X_y=True)
            yield name, pd.DataFrame(X).rename(columns="f{}".format), y
    for path in sorted(folder.glob("*.csv")) if folder else []:
        if not only or path.stem in only:
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
            yield path.stem, frame.drop(columns="label"), np.unique(frame["label"], return_inverse=True)[1]


def encode(frame: pd.DataFrame) -> np.ndarray:
    """Standardize numbers (median for missing ones) and one-hot encode categories of at most 50 values."""
    parts = []
    for name in frame.columns:
        values = frame[name].replace({"": None, "?": None, "NA": None})
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.notna().any() and numbers.notna().sum() >= 0.9 * values.notna().sum():
            parts.append(StandardScaler().fit_transform(numbers.fillna(numbers.median()).to_numpy()[:, None]))
        elif values.nunique() <= 50:
            parts.append(OneHotEncoder(sparse_output=False).fit_transform(values.fillna("-").to_numpy()[:, None]))
    return np.hstack(parts)


def draw(y: np.ndarray, regime: str, rng: np.random.Generator) -> np.ndarray:
    """Return rows to label: a number per class, or at random with at least one of each class if possible."""
    by_class = [np.flatnonzero(y == c) for c in np.unique(y)]
    if regime.endswith("-per-class"):
        n = int(regime.split("-")[0])
        return np.concatenate([rng.choice(rows, min(n, max(1, len(rows) // 2)), replace=False) for rows in by_class])
    total = int(regime)
    first = np.array([rng.choice(rows) for rows in by_class]) if len(by_class) <= total // 2 else np.empty(0, int)
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), first))[: total - len(first)]
    return np.concatenate([first, rest]).astype(int)


def fixed_choices(n_columns: int, *, per_class: bool, many: bool) -> dict[str, Any]:
    """Return what a person could choose for all tables."""
    choices: dict[str, Any] = {
        "random forest": RandomForestClassifier(300, random_state=0),
        "extra trees": ExtraTreesClassifier(300, random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
        "SVM": SVC(C=10),
        "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    }
    if not many:
        choices |= {
            "label spreading": LabelSpreading("rbf", gamma=4 / n_columns, max_iter=100),
            "label spreading, k-NN": LabelSpreading("knn", max_iter=100),
            "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=500)),
        }
    if not per_class:
        choices["gradient boosting"] = HistGradientBoostingClassifier(random_state=0)
        if importlib.util.find_spec("catboost"):
            from catboost import CatBoostClassifier

            choices["CatBoost"] = CatBoostClassifier(
                verbose=0, random_seed=0, thread_count=1, allow_writing_files=False
            )
    return choices


def accuracies(
    X: np.ndarray, y: np.ndarray, labeled: np.ndarray, pool: np.ndarray, choices: dict[str, Any]
) -> dict[str, float]:
    """Return the accuracy of each fixed choice on the unlabeled rows; 0 where it fails."""
    rows, codes = np.r_[X[labeled], X[pool]], np.r_[y[labeled], np.full(len(pool), -1)]
    scores = {}
    for name, model in choices.items():
        try:
            if name.startswith("label spreading"):
                predicted = model.fit(rows, codes).transduction_[len(labeled) :]
            else:
                given = slice(None) if name == "self-training" else slice(len(labeled))
                predicted = np.ravel(model.fit(rows[given], codes[given]).predict(X[pool]))
            scores[name] = float((predicted == y[pool]).mean())
        except ValueError:
            scores[name] = 0.0
    return scores


def report(names: list[str], scores: dict[str, np.ndarray], ours: str, confident: np.ndarray, seconds: Any) -> None:
    """Print means over tables, differences with their standard errors, and how confidence holds."""
    full, others = scores[ours], {name: values for name, values in scores.items() if name != ours}
    print(f"  {ours:28} {full.mean():6.2f}  {np.mean(seconds):.1f} CPU s a fit (at most {max(seconds):.1f})")
    for name, values in sorted(others.items(), key=lambda pair: -pair[1].mean()):
        gap = full - values
        error = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else float("nan")
        print(f"  {name:28} {values.mean():6.2f}  ahead by {gap.mean():+.2f} ± {error:.2f}")
    gap = full - np.max(list(others.values()), axis=0)
    low = [f"{name} {g:.1f}" for name, g in zip(names, gap, strict=True) if g < -3]
    print(f"  more than 3 below the best on {len(low)} of {len(names)} tables: {', '.join(low) or 'none'}")
    coverage, accuracy = confident.T
    heard = coverage > 0.02
    print(
        f"  confidence of {CONFIDENT} or more: {100 * coverage.mean():.0f}% of rows, {100 * np.nanmean(accuracy[heard]):.0f}% "
        f"correct, below 80% in {int((accuracy[heard] < 0.8).sum())} of {len(coverage)} runs"
    )


def above(proba: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return the proportion of rows with confident predictions, and of these the proportion that is right."""
    sure = proba.max(axis=1) >= CONFIDENT
    return float(sure.mean()), float(right[sure].mean()) if sure.any() else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--labels", nargs="+", default=["5-per-class", "40", "500"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--method", default="ensemble")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for regime in options.labels:
        scores: dict[str, list[float]] = {}
        names, confident, seconds = [], [], []
        per_class = not regime.isdigit()
        many = not per_class and int(regime) >= MANY_LABELS
        for name, frame, y in tables(options.folder, options.only):
            if many and len(y) < LEAST_ROWS:
                continue
            names.append(name)
            rows = []
            X = encode(frame)
            for seed in options.seeds:
                rng = np.random.default_rng(seed)
                labeled = draw(y, regime, rng)
                rest = np.setdiff1d(np.arange(len(y)), labeled)
                given = np.full(len(y), None, dtype=object)
                given[labeled] = [f"class {code}" for code in y[labeled]]
                table, start = labeled_table(frame, given, seed=seed), time.process_time()
                model = fit_method(table, options.method, seed=seed)
                seconds.append(time.process_time() - start)
                proba = model.predict_proba(frame.iloc[rest])
                right = model.classes_[proba.argmax(axis=1)] == np.array([f"class {code}" for code in y[rest]])
                confident.append(above(proba, right))
                pool = rng.permutation(rest)[:MAX_UNLABELED]
                choices = fixed_choices(X.shape[1], per_class=per_class, many=many)
                rows.append({options.method: right.mean(), **accuracies(X, y, labeled, pool, choices)})
            for method in rows[0]:
                scores.setdefault(method, []).append(100 * float(np.mean([row[method] for row in rows])))
        print(f"\n{regime} labels, {len(names)} tables, seeds {options.seeds}")
        found = {method: np.array(values) for method, values in scores.items()}
        report(names, found, options.method, np.array(confident), seconds)


if __name__ == "__main__":
    main()
