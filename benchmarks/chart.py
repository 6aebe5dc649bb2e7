"""The chart of the README: accuracy on digits over the number of labels.

    python benchmarks/chart.py [--seeds 3] [--quick] [--json]

Three lines: `handful` with rows chosen by active learning (ten at a time), `handful` with random rows, and the best of three
classifiers of scikit-learn with the same random rows (for each number of labels the best on average). Rows are chosen from 1,000;
accuracy is measured on the other 797. Writes docs/figures/labels.svg (needs matplotlib).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from handful import HandfulClassifier
from handful.active import ActiveLearner

SIZES = (10, 20, 30, 50, 70, 100)
POOL = 1_000
LINES = ("handful, rows chosen by `next`", "handful, random rows", "scikit-learn, best of three, random rows")


def baselines() -> list[Any]:
    """Return three usual classifiers with their defaults."""
    return [
        RandomForestClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        make_pipeline(StandardScaler(), SVC()),
    ]


def run(seed: int, sizes: tuple[int, ...]) -> list[list[float]]:
    """Return a row of accuracies for each size: `handful` with chosen and random rows, then each of scikit-learn's."""
    X, digits = load_digits(return_X_y=True)
    y = digits.astype(str)
    order = np.random.default_rng(seed).permutation(len(y))
    pool, test = order[:POOL], order[POOL:]
    learner = ActiveLearner(X[pool], random_state=seed)
    rows: list[list[float]] = []
    chosen: list[int] = []

    def accuracy(labeled: np.ndarray) -> float:
        few = np.full(POOL, None, dtype=object)
        few[labeled] = y[pool][labeled]
        model = HandfulClassifier("ensemble", estimate=False).fit(X[pool], few)
        return float((model.predict(X[test]) == y[test]).mean())

    for size in sizes:
        while len(chosen) < size:
            for pick in learner.next(10):
                learner.label(pick.row, y[pool][pick.row])
                chosen.append(pick.row)
        random = np.arange(size)
        others = [model.fit(X[pool[random]], y[pool[random]]).score(X[test], y[test]) for model in baselines()]
        rows.append([accuracy(np.array(chosen)), accuracy(random), *others])
    return rows


def draw(means: np.ndarray, sizes: tuple[int, ...], path: Path) -> None:
    """Draw the three lines."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    for values, line, color, style in zip(
        100 * means.T, LINES, ("#1b6e8a", "#1b6e8a", "#b45f06"), ("o-", "o--", "o:"), strict=True
    ):
        axes.plot(
            sizes, values, style, color=color, lw=2, ms=4, label=f"{line} (50 labels: {values[sizes.index(50)]:.0f}%)"
        )
    title = "Digits: 797 test images, 10 classes, mean of three splits"
    axes.set(xlabel="labels", ylabel="accuracy, %", title=title, xticks=sizes)
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    with plt.rc_context({"svg.hashsalt": "handful"}):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def main() -> None:
    """Run all seeds, print means and draw the chart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = SIZES[:2] if options.quick else SIZES
    scores = np.array([run(seed, sizes) for seed in range(1 if options.quick else options.seeds)])
    each = scores.mean(axis=0)
    means = np.column_stack([each[:, :2], each[:, 2:].max(axis=1)])
    for size, row in zip(sizes, means, strict=True):
        if options.json:
            print(json.dumps({"labels": size, **dict(zip(LINES, row.tolist(), strict=True))}))
        else:
            print(
                f"{size:4} labels  " + "  ".join(f"{name} {value:.1%}" for name, value in zip(LINES, row, strict=True))
            )
    if not options.quick:
        draw(means, sizes, Path(__file__).parents[1] / "docs" / "figures" / "labels.svg")


if __name__ == "__main__":
    main()
