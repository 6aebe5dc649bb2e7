"""What each part of `Ensemble` is worth, and how it compares with fixed choices of scikit-learn.

    python benchmarks/ablation.py [--folder TABLES] [--labels 5-per-class 40 500] [--seeds 0 1 2]

A folder holds CSV files whose column ``label`` is the class. Without one, scikit-learn's own tables are used. Prints the mean
accuracy over tables, and the difference of every variant from the full ensemble with its standard error over tables.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from handful.models import ensemble
from handful.models.ensemble import Ensemble, table_members

MAX_UNLABELED = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--labels", nargs="+", default=["5-per-class", "40", "500"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--full", action="store_true", help="the full ensemble and the fixed choices only")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for regime in options.labels:
        scores: dict[str, list[list[float]]] = {}
        confident: list[tuple[float, float]] = []
        seconds = []
        names = []
        for name, X, y in tables(options.folder):
            if regime == "500" and len(y) < 1900:
                continue
            names.append(name)
            for seed in options.seeds:
                labeled = draw(y, regime, np.random.default_rng(seed))
                row, sure, took = evaluate(X, y, labeled, np.random.default_rng(seed), full=options.full)
                confident.append(sure)
                seconds.append(took)
                for method, score in row.items():
                    scores.setdefault(method, []).append([len(names) - 1, score])
        report(regime, names, scores, confident, seconds)


def tables(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, encoded rows and codes of the classes of each table."""
    for load in (datasets.load_digits, datasets.load_wine, datasets.load_breast_cancer, datasets.load_iris):
        if folder is None or load is datasets.load_digits:
            X, y = load(return_X_y=True)
            yield load.__name__.removeprefix("load_"), StandardScaler().fit_transform(X), y
    for path in sorted(folder.glob("*.csv")) if folder else []:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        yield path.stem, encode(frame.drop(columns="label")), np.unique(frame["label"], return_inverse=True)[1]


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


def evaluate(
    X: np.ndarray, y: np.ndarray, labeled: np.ndarray, rng: np.random.Generator, *, full: bool
) -> tuple[dict[str, float], tuple[float, float], float]:
    """Return the accuracy of every variant and fixed choice, coverage and accuracy above 0.8, and CPU seconds."""
    pool = rng.permutation(np.setdiff1d(np.arange(len(y)), labeled))[:MAX_UNLABELED]
    rows, codes = X[np.r_[labeled, pool]], np.r_[y[labeled], np.full(len(pool), -1)]
    n, truth, scores = len(labeled), y[pool], {}
    for name, make in ({"ensemble": variants()["ensemble"]} if full else variants()).items():
        start = time.process_time()
        with make() as model:
            model.fit(rows, codes)
            proba = model.predict_proba(rows[n:])
        right = model.classes_[proba.argmax(axis=1)] == truth
        scores[name] = right.mean()
        if name == "ensemble":
            took, sure = time.process_time() - start, proba.max(axis=1) >= 0.8
            above = (float(sure.mean()), float(right[sure].mean()) if sure.any() else np.nan)
    for name, model in fixed_choices(X.shape[1], n).items():
        try:
            if name.startswith("label-spreading") or name == "self-training":
                model.fit(rows, codes)
            else:
                model.fit(rows[:n], codes[:n])
            predicted = (
                model.transduction_[n:]
                if hasattr(model, "transduction_") and "spreading" in name
                else model.predict(rows[n:])
            )
            scores[name] = (predicted == truth).mean()
        except ValueError:
            scores[name] = 0.0
    return scores, above, took


def variants() -> dict[str, Callable[[], Any]]:
    """Return the full ensemble, and it without each of its parts."""

    class Without:
        def __init__(self, members: Any = None, name: str = "", replacement: Any = None, **options: Any) -> None:
            self.model = Ensemble(members, **options)
            self.patch = mock.patch.object(ensemble, name, replacement) if name else None

        def __enter__(self) -> Ensemble:
            if self.patch:
                self.patch.start()
            return self.model

        def __exit__(self, *_: object) -> None:
            if self.patch:
                self.patch.stop()

    def equal(likelihoods: np.ndarray, *_: Any) -> np.ndarray:
        return np.full(len(likelihoods), 1.0 / len(likelihoods))

    members = [member.name for member in table_members()]
    variants: dict[str, Callable[[], Any]] = {"ensemble": Without}
    for left in members:
        kept = [name for name in members if name != left]
        variants[f"without {left}"] = lambda kept=kept: Without(kept)
    variants["without temperatures"] = lambda: Without(name="fit_temperature", replacement=lambda *_: 1.0)
    variants["equal weights"] = lambda: Without(name="fit_weights", replacement=equal)
    variants["class priors of the labels"] = lambda: Without(class_priors="labels")
    variants["quick"] = lambda: Without(quick=True)
    return variants


def fixed_choices(n_columns: int, n_labeled: int) -> dict[str, Any]:
    choices = {
        "random forest": RandomForestClassifier(300, random_state=0),
        "extra trees": ExtraTreesClassifier(300, random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
        "SVM": SVC(C=10),
        "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "label-spreading": LabelSpreading("rbf", gamma=4 / n_columns, max_iter=100),
        "label-spreading-knn": LabelSpreading("knn", max_iter=100),
        "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=500)),
    }
    return choices | ({"gradient boosting": HistGradientBoostingClassifier(random_state=0)} if n_labeled >= 150 else {})


def report(regime: str, names: list[str], scores: dict[str, Any], confident: list[Any], seconds: list[float]) -> None:
    by_table = {}
    for method, rows in scores.items():
        at, values = np.array(rows).T
        by_table[method] = np.array([100 * values[at == i].mean() for i in range(len(names))])
    full = by_table["ensemble"]
    fixed = [method for method in by_table if method in fixed_choices(1, 1000)]
    best = max(fixed, key=lambda method: by_table[method].mean())
    took = f"{np.mean(seconds):.1f} CPU s (at most {max(seconds):.1f})"
    print(f"\n{regime} labels, {len(names)} tables: ensemble {full.mean():.2f}, {took}")
    for method, values in by_table.items():
        gap = values - full
        print(f"  {method:30} {values.mean():6.2f}  {gap.mean():+5.2f} ± {gap.std() / max(len(gap) - 1, 1) ** 0.5:.2f}")
    gap = full - np.max([by_table[method] for method in fixed], axis=0)
    low = [f"{name} {g:.1f}" for name, g in zip(names, gap, strict=True) if g < -3]
    print(f"  best fixed choice: {best}; more than 3 below the best of each table: {len(low)} {low}")
    coverage, accuracy = np.array(confident).T
    heard = coverage > 0.02
    print(
        f"  confidence of 0.8 or more: {100 * coverage.mean():.0f}% of rows, {100 * np.nanmean(accuracy[heard]):.0f}% correct, "
        f"below 80% in {int((accuracy[heard] < 0.8).sum())} of {len(coverage)} runs"
    )
    if "digits" in names:
        at = names.index("digits")
        print(f"  digits: {full[at]:.1f}; " + ", ".join(f"{m} {by_table[m][at]:.1f}" for m in fixed))


if __name__ == "__main__":
    main()
