"""The chart of the README: accuracy on digits over the number of labels.

    python benchmarks/chart.py [--seeds 3] [--quick] [--json]

Three lines: `handful` with rows chosen by active learning, `handful` with random rows, and scikit-learn's random forest with the
same random rows. Accuracy is measured on all rows without a label. Writes docs/figures/labels.svg (needs matplotlib).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from handful.active import ActiveLearner
from handful.models.table_model import TableModel

SIZES = (10, 20, 30, 40, 50, 75, 100)
LINES = ("handful, rows chosen by `next`", "handful, random rows", "random forest, random rows")


def accuracy(X: np.ndarray, y: np.ndarray, rows: np.ndarray, *, forest: bool = False) -> float:
    """Return the accuracy on all other rows of a model of some labeled rows."""
    rest = np.setdiff1d(np.arange(len(y)), rows)
    if forest:
        model = RandomForestClassifier(300, random_state=0).fit(X[rows], y[rows])
        return float((model.predict(X[rest]) == y[rest]).mean())
    few = np.full(len(y), None, dtype=object)
    few[rows] = y[rows].astype(str)
    model = TableModel("ensemble").fit(X, few)
    return float((model.predict(X[rest]) == y[rest].astype(str)).mean())


def run(seed: int, sizes: tuple[int, ...]) -> list[list[float]]:
    """Return a row of accuracies for each size."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    learner = ActiveLearner(X, random_state=seed)
    rows: list[list[float]] = []
    labeled: list[int] = []
    for size in sizes:
        while len(labeled) < size:
            for pick in learner.next(min(5, size - len(labeled))):
                learner.label(pick.row, str(y[pick.row]))
                labeled.append(pick.row)
        random = order[:size]
        rows.append([accuracy(X, y, np.array(labeled)), accuracy(X, y, random), accuracy(X, y, random, forest=True)])
    return rows


def draw(means: np.ndarray, sizes: tuple[int, ...], path: Path) -> None:
    """Draw the three lines."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for line, color, style in zip(LINES, ("#1b6e8a", "#1b6e8a", "#b45f06"), ("-", "--", ":"), strict=True):
        values = 100 * means[:, LINES.index(line)]
        axes.plot(sizes, values, style, color=color, lw=2)
        axes.annotate(
            f"{line}: {values[-1]:.0f}%", (sizes[-1], values[-1]), (6, 0), textcoords="offset points", va="center"
        )
    axes.set(xlabel="labels", ylabel="accuracy, %", title="Digits: 1,797 rows, 10 classes", xlim=(sizes[0], sizes[-1]))
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
    means = scores.mean(axis=0)
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
