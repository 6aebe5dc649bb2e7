"""Simulated labeling sessions: accuracy of chosen labels, bias of the estimate, precision of label errors.

python -m benchmarks.labeling --sessions 20
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from handful.active.estimates import estimate_accuracy
from handful.active.label_errors import find_label_errors
from handful.active.query import ActiveLearner

SIZES = (50, 100)
FLIPPED = 0.1


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return tables that come with scikit-learn."""
    from sklearn import datasets

    loaded = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("wine", "breast_cancer", "digits")}
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 1500)
    centers = np.array([[0, 0], [2.2, 0], [0, 2.2], [2.2, 2.2]])
    loaded["overlapping clouds"] = centers[codes] + rng.normal(size=(1500, 2)), codes
    return {name: (X, y.astype(str)) for name, (X, y) in loaded.items()}


def session(X: np.ndarray, y: np.ndarray, seed: int, strategy: str) -> Iterator[tuple[ActiveLearner, list[int]]]:
    """Yield the learner and its random rows whenever a number of `SIZES` is reached."""
    learner, at_random = ActiveLearner(X, random_state=seed), []
    for size in SIZES:
        while len(learner.labels) < size:
            picked = learner.next(10, strategy)
            learner.update({one.row: y[one.row] for one in picked})
            at_random += [one.row for one in picked if one.random]
        yield learner, at_random


def simulate(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, list[float]]:
    """Return what is measured in one session."""
    drawn = np.random.default_rng(seed).permutation(len(y))[:600]
    X, y = X[drawn], y[drawn]
    results: dict[str, list[float]] = {}
    for strategy in ("auto", "random"):
        for size, (learner, at_random) in zip(SIZES, session(X, y, seed, strategy), strict=False):
            rest = [row for row in range(len(y)) if row not in learner.labels]
            correct = np.array([one.suggestion == y[one.row] for one in learner.suggest(rest)])
            truth = correct.mean()
            results[f"accuracy, {size} {strategy}"] = [truth]
            estimate = estimate_accuracy(learner, at_random)
            if strategy == "auto" and estimate is not None:
                results[f"bias of the estimate at {size}"] = [estimate.accuracy - truth]
                results[f"90% interval holds at {size}"] = [float(estimate.low <= truth <= estimate.high)]
        rng = np.random.default_rng([seed, 1])
        labeled = np.array(sorted(learner.labels))
        wrong = rng.choice(labeled, int(FLIPPED * len(labeled)), replace=False)
        names, labels = np.unique(y), [learner.labels.get(row) for row in range(len(y))]
        listed = [error.row for error in find_label_errors(X, labels)]
        results[f"correct labels listed, {strategy}"] = [len(listed) / len(labeled)]
        for row in wrong:
            labels[row] = rng.choice(names[names != y[row]])
        listed = [error.row for error in find_label_errors(X, labels, n=len(wrong))]
        if listed:
            results[f"precision of label errors, {strategy}"] = [float(np.mean(np.isin(listed, wrong)))]
        results[f"recall of label errors, {strategy}"] = [float(np.mean(np.isin(wrong, listed)))]
    return results


def main() -> None:
    """Print means over sessions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20, help="sessions of each table")
    parser.add_argument("--tables", nargs="*", help="names of tables; all by default")
    options = parser.parse_args()
    for name, (X, y) in tables().items():
        if options.tables and name not in options.tables:
            continue
        means: dict[str, list[float]] = {}
        for seed in range(options.sessions):
            for key, values in simulate(X, y, seed).items():
                means.setdefault(key, []).extend(values)
        print(name)
        for key, values in means.items():
            error = 100 * np.std(values) / np.sqrt(len(values))
            print(f"  {key:36} {100 * np.mean(values):6.1f}%  ± {error:.1f}  (n = {len(values)})")


if __name__ == "__main__":
    main()
