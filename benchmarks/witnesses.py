"""What do simulated labels of a language model add to 50 reliable ones? Accuracy on rows that nobody saw.

    HANDFUL_DEVDATA=folder python benchmarks/witnesses.py [--seeds 3] [--first-seed 0] [--development] [--quick] [--json]

A simulated witness is right in 60, 80 or 95% of rows. Its errors are random; by class (some classes are confused with one
other); or those of a model of 200 other labels (errors where that model is unsure, with its second choice). "confusion" is the
difference between the learned and the true confusion: the mean over classes of half the absolute differences.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
import polars as pl

from handful.comparison.fit import fit_method, fit_with_witnesses
from handful.comparison.splits import few_labels
from handful.data.table import as_table

REPORT = (
    *("rt-polarity", "subj", "sentiment-amazon", "sentiment-imdb", "bbc-news", "r8-train", "cfpb-narratives"),
    "germeval2018-train",
)
DEVELOPMENT = ("sentiment-yelp", "10kgnad-test", "snips-intent-train")
KINDS, ACCURACIES = ("random", "by class", "like a model"), (0.6, 0.8, 0.95)
N_POOL, N_TEST, N_LABELS = 1_000, 800, 50


def simulate(y: np.ndarray, n_classes: int, accuracy: float, kind: str, proba: np.ndarray, seed: int) -> np.ndarray:
    """Return the labels of a witness."""
    rng = np.random.default_rng([seed, int(100 * accuracy)])
    if kind == "like a model":
        doubt = 1 - proba[np.arange(len(y)), y]
        doubt = doubt * rng.uniform(0.5, 1.5, len(y))
        wrong = np.argsort(-doubt)[: round((1 - accuracy) * len(y))]
        other = proba.copy()
        other[np.arange(len(y)), y] = -1
        said = y.copy()
        said[wrong] = other[wrong].argmax(axis=1)
        return said
    confusion = np.full((n_classes, n_classes), (1 - accuracy) / (n_classes - 1))
    np.fill_diagonal(confusion, accuracy)
    if kind == "by class":
        errors = rng.dirichlet(np.full(n_classes, 2.0)) * n_classes * (1 - accuracy)
        for k in range(n_classes):
            error = min(errors[k], 0.6)
            confusion[k] = error * 0.3 / (n_classes - 1)
            confusion[k, (k + 1 + rng.integers(n_classes - 1)) % n_classes] += error * 0.7
            confusion[k, k] += 1 - confusion[k].sum()
    return np.array([rng.choice(n_classes, p=confusion[k]) for k in y])


def trial(name: str, seed: int, kinds: tuple[str, ...], accuracies: tuple[float, ...]) -> list[dict[str, object]]:
    """Return a line for each kind of witness."""
    folder = Path(os.environ["HANDFUL_DEVDATA"]) / "text"
    frame = pl.read_csv(next(folder.glob(f"{name}.csv*")), infer_schema=False).fill_null("")
    frame = frame.filter(pl.len().over("label") >= 20).sample(fraction=1.0, shuffle=True, seed=seed)
    classes, y = np.unique(frame["label"].head(N_POOL + N_TEST + 200).to_numpy(), return_inverse=True)
    texts = frame["text"].head(len(y)).to_list()
    n = min(N_POOL, len(y) // 2)
    rng = np.random.default_rng(seed)
    few = few_labels(y[:n].astype(int), max(N_LABELS, len(classes)), rng)
    label = [classes[k] if row in set(few.tolist()) else None for row, k in enumerate(y[:n])]
    test, truth = texts[n + 200 : n + 200 + N_TEST], classes[y[n + 200 : n + 200 + N_TEST]]
    table = as_table({"text": texts[:n], "label": label}, "label", columns={"text": "text"})
    alone = fit_method(table, "ensemble", seed=seed)
    score = float((alone.predict(test) == truth).mean())
    other = as_table(
        {"text": texts[: n + 200], "label": [*[None] * n, *classes[y[n : n + 200]]]}, "label", columns={"text": "text"}
    )
    model = fit_method(other, "ensemble", seed=seed)
    proba = np.zeros((n, len(classes)))
    proba[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(texts[:n])
    rows = []
    for kind in kinds:
        for accuracy in accuracies:
            said = simulate(y[:n], len(classes), accuracy, kind, proba, seed)
            cells = {"text": texts[:n], "llm": classes[said].tolist(), "label": label}
            fitted, (witness,) = fit_with_witnesses(
                as_table(cells, "label", columns={"text": "text", "llm": "skip"}), ["llm"], random_state=seed
            )
            true = np.zeros((len(classes), len(classes)))
            np.add.at(true, (y[:n], said), 1)
            true /= true.sum(axis=1, keepdims=True)
            learned = np.zeros_like(true)
            learned[:, np.searchsorted(classes, witness.values)] = witness.confusion
            row = {"set": name, "errors": kind, "witness": accuracy, "seed": seed, "alone": score}
            row["with"] = float((fitted.predict(test) == truth).mean())
            row["used"], row["confusion"] = witness.is_used, float(np.abs(learned - true).sum(axis=1).mean() / 2)
            estimate = fitted.training_.get("estimate")
            row["estimate"] = None if estimate is None else estimate["value"]
            rows.append(row)
    return rows


def main() -> None:
    """Print a line for each set and kind of witness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--development", action="store_true", help="the sets that settings were chosen on")
    parser.add_argument("--quick", action="store_true", help="one set, one seed, one kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ("sentiment-yelp",) if options.quick else DEVELOPMENT if options.development else REPORT
    kinds, accuracies = (KINDS[:1], (0.8,)) if options.quick else (KINDS, ACCURACIES)
    for name in names:
        rows = [
            row
            for seed in range(options.first_seed, options.first_seed + (1 if options.quick else options.seeds))
            for row in trial(name, seed, kinds, accuracies)
        ]
        for kind in kinds:
            for accuracy in accuracies:
                part = [row for row in rows if (row["errors"], row["witness"]) == (kind, accuracy)]
                mean = {
                    key: float(np.mean([row[key] for row in part])) for key in ("alone", "with", "confusion", "used")
                }
                if options.json:
                    print(json.dumps({"set": name, "errors": kind, "witness": accuracy, **mean}), flush=True)
                else:
                    values = "  ".join(f"{key} {100 * value:.1f}" for key, value in mean.items())
                    print(f"{name:20} {kind:13} {100 * accuracy:.0f}%  {values}", flush=True)


if __name__ == "__main__":
    main()
