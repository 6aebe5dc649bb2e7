"""How much of a model do 40 of its rows keep? Accuracy on rows that nobody saw, next to other choices of as many rows.

    python benchmarks/condensed_rows.py [--seeds 10] [--rows 40] [--development] [--quick] [--json]

Tables: three of scikit-learn, and CSV files of the folder that HANDFUL_DEVDATA names. 60 random labels train the ensemble; 30% of
the rows are for the test. The width of a margin and the power of the feature weights were chosen with --development.
CNN is Hart's rule on the labels and on the predictions of the model; k-medoids chooses the rows by class without the model's
boundaries. imbalanced-learn's CNN is added where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.metrics import pairwise_distances

from handful.comparison.splits import few_labels
from handful.data.labels import Labels
from handful.data.table import Table, as_table, read_table
from handful.models.condensed_rows import CondensedModel
from handful.models.table_model import TableModel
from handful.neighbors import CondensedNN
from handful.preprocessing.table_encoder import TableEncoder

REPORT = ("breast_cancer", "wine", "digits", "wheat-seeds", "pima-diabetes", "vote")
DEVELOPMENT = ("iris", "new-thyroid", "dermatology", "waveform", "credit-a", "balance-scale", "german-credit")
N_LABELS, MOST_ROWS = 60, 1_500


def read(name: str) -> Table:
    """Return a table of scikit-learn, or one of the folder, whose last column is the target."""
    if hasattr(datasets, f"load_{name}"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return as_table(X, y.astype(str))
    path = Path(os.environ["HANDFUL_DEVDATA"]) / "tables" / f"{name}.csv"
    names = read_table(path).cells.columns
    return read_table(path, "Class" if "Class" in names else names[-1])


def medoids(encoded: np.ndarray, codes: np.ndarray, n: int) -> np.ndarray:
    """Return rows of k-medoids (alternating) within each class, as many as the class is frequent."""
    rng = np.random.default_rng(0)
    chosen = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        distances = pairwise_distances(encoded[rows])
        k = min(max(1, round(n * len(rows) / len(codes))), len(rows))
        at = rng.choice(len(rows), k, replace=False)
        for _ in range(20):
            nearest = distances[:, at].argmin(axis=1)
            groups = [np.flatnonzero(nearest == j) for j in range(k)]
            at = np.array(
                [
                    g[distances[np.ix_(g, g)].sum(axis=1).argmin()] if len(g) else a
                    for g, a in zip(groups, at, strict=False)
                ]
            )
        chosen.append(rows[at])
    return np.concatenate(chosen)


def nearest(encoded: np.ndarray, kept: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the class of the nearest kept row."""
    return codes[kept][pairwise_distances(encoded[rows], encoded[kept]).argmin(axis=1)]


def trial(table: Table, seed: int, n_rows: int) -> dict[str, float]:
    """Return accuracies on the test rows of one split, and the fidelity of the condensed rows."""
    rng = np.random.default_rng(seed)
    table = table[rng.permutation(table.labeled)[:MOST_ROWS]]
    n_test = int(0.3 * len(table))
    test, pool = np.arange(n_test), np.arange(n_test, len(table))
    few = np.full(len(table), -1, dtype=np.int32)
    known = pool[few_labels(table.codes[pool].astype(int), min(N_LABELS, len(pool) // 2), rng)]
    few[known] = table.codes[known]
    train = table[pool].with_labels(Labels(few[pool], table.classes))
    model = TableModel("ensemble", random_state=seed).fit(train, train.labels)
    predictions = model.predict(table.cells)
    encoder = TableEncoder.learn(train.values(), train.columns, text="words")
    codes = np.searchsorted(table.classes, predictions)
    small = CondensedModel(n_rows, random_state=seed).fit_rows(train.cells, encoder, Labels(codes[pool], table.classes))
    condensed = small.predict(table.cells[test])
    encoded = encoder.transform(table.values())
    encoded = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded)
    from_labels = known[CondensedNN().fit(encoded[known], table.codes[known].astype(int)).kept_]
    hart = pool[CondensedNN().fit(encoded[pool], codes[pool]).kept_[:n_rows]]
    choices = {
        "CNN from labels": nearest(encoded, from_labels, table.codes, test),
        f"CNN from the model, {n_rows}": nearest(encoded, hart, codes, test),
        f"k-medoids by class, {n_rows}": nearest(
            encoded, pool[medoids(encoded[pool], codes[pool], n_rows)], codes, test
        ),
    }
    try:
        from imblearn.under_sampling import CondensedNearestNeighbour

        sampler = CondensedNearestNeighbour(random_state=seed, n_seeds_S=1).fit(encoded[pool], codes[pool])
        sampler.fit_resample(encoded[pool], codes[pool])
        kept = pool[sampler.sample_indices_]
        choices["imbalanced-learn's CNN"] = nearest(encoded, kept, codes, test)
        rows = len(kept)
    except ImportError:
        rows = 0
    truth = table.codes[test]
    scores = {"model": float((codes[test] == truth).mean())}
    scores["condensed"] = float((condensed == table.classes[truth]).mean())
    scores["fidelity"] = float((condensed == predictions[test]).mean())
    scores["imbalanced-learn's rows"] = rows / 100
    return scores | {name: float((guess == truth).mean()) for name, guess in choices.items()}


def main() -> None:
    """Print means over seeds for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--development", action="store_true", help="the tables that settings were chosen on")
    parser.add_argument("--quick", action="store_true", help="wine, one seed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ("wine",) if options.quick else DEVELOPMENT if options.development else REPORT
    means: dict[str, list[float]] = {}
    for name in names:
        table = read(name)
        trials = [trial(table, seed, options.rows) for seed in range(1 if options.quick else options.seeds)]
        row = {key: float(np.mean([scores[key] for scores in trials])) for key in trials[0]}
        for key, value in row.items():
            means.setdefault(key, []).append(value)
        if options.json:
            print(json.dumps({"table": name, **row}), flush=True)
        else:
            print(f"{name:14}", "  ".join(f"{key} {100 * value:.1f}" for key, value in row.items()), flush=True)
    print(f"{'mean':14}", "  ".join(f"{key} {100 * np.mean(values):.1f}" for key, values in means.items()))


if __name__ == "__main__":
    main()
