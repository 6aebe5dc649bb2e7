"""Do the intervals of ``handful fit`` hold the true score, and is its confidence as high as its accuracy?

    python benchmarks/expectations.py [--fits 200] [--labels 45] [--method ensemble] [--trees 100] [--seed 0] [--folder TABLES]

Each fit draws labels at random from a sample of 1,500 rows of a table, in turn; the truth is the score of the fitted model on
all other rows, by the metric that `fit` chose.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from tables import draw, tables

from handful.comparison.fit import fit_selected
from handful.comparison.statistics import score_interval
from handful.comparison.tables import labeled_table
from handful.comparison.trials import Limits

MAX_ROWS = 1_500
LEVELS = (0.9, 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--labels", default="45")
    parser.add_argument("--method", default="ensemble")
    parser.add_argument("--trees", type=int, help="trees of each forest")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = list(tables(options.folder))
    rows = []
    for number in range(options.fits):
        _, frame, y = known[number % len(known)]
        rng = np.random.default_rng([options.seed, number])
        sample = rng.permutation(len(y))[:MAX_ROWS]
        frame, y = frame.iloc[sample], np.array([f"class {code}" for code in y[sample]])
        few = draw(y, options.labels, rng)
        rest = np.setdiff1d(np.arange(len(y)), few)
        given = np.full(len(y), None, dtype=object)
        given[few] = y[few]
        limits = Limits(minutes=None, seed=number)
        params = {"n_trees": options.trees} if options.trees else None
        table = labeled_table(frame, given, seed=number)
        model, comparison = fit_selected(table, options.method, params=params, limits=limits)
        assert comparison is not None
        predicted, confidence = model.predict_with_confidence(frame.iloc[rest])
        design, scores = comparison.experiment.design, np.array(list(comparison.selected.scores.values()))
        score = balanced_accuracy_score if comparison.experiment.metric == "balanced_accuracy" else accuracy_score
        truth = float(score(y[rest], predicted))
        bounds = [score_interval(scores, design, level) for level in LEVELS]
        rows.append(
            (scores.mean() - truth, confidence.mean() - (predicted == y[rest]).mean(), truth, *np.ravel(bounds))
        )
    off, too_confident, truth, *bounds = np.array(rows).T
    print(f"{len(rows)} fits of {options.method}, {options.labels} labels")
    for low, high, level in zip(bounds[::2], bounds[1::2], LEVELS, strict=True):
        held = (low <= truth) & (truth <= high)
        print(
            f"  {level:.0%} interval holds the truth in {held.mean():.1%}; mean width {100 * (high - low).mean():.1f}"
        )
    for name, values in (("estimate - truth", off), ("confidence - accuracy", too_confident)):
        error = values.std(ddof=1) / max(len(values), 2) ** 0.5
        print(f"  mean of {name}: {100 * values.mean():+.1f} ± {100 * error:.1f}")


if __name__ == "__main__":
    main()
