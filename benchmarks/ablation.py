"""What each part of `Ensemble` is worth.

    python benchmarks/ablation.py [--folder TABLES] [--labels 5-per-class 40] [--seeds 0 1 2] [--only NAME ...]

Tables and labels are those of `tables.py`. Prints the mean accuracy over tables, and the difference of every variant from the
full ensemble with its standard error over tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from tables import MAX_UNLABELED, draw, encode, tables

from handful.models import ensemble
from handful.models.ensemble import Ensemble, table_members


@contextmanager
def variant(members: list[str] | None = None, patch: str = "", value: Any = None, **options: Any) -> Iterator[Ensemble]:
    """Give an ensemble of some members, or one with another function or constant in its module."""
    if not patch:
        yield Ensemble(members, **options)
        return
    with mock.patch.object(ensemble, patch, value):
        yield Ensemble(members, **options)


def equal(likelihoods: np.ndarray, *_: Any) -> np.ndarray:
    return np.full(len(likelihoods), 1.0 / len(likelihoods))


def variants() -> dict[str, Callable[[], Any]]:
    """Return the full ensemble, and it without each of its parts."""
    members = [member.name for member in table_members()]
    found: dict[str, Callable[[], Any]] = {"ensemble": variant}
    for left in members:
        kept = [name for name in members if name != left]
        found[f"without {left}"] = lambda kept=kept: variant(kept)
    return found | {
        "without temperatures": lambda: variant(patch="fit_temperature", value=lambda *_, **__: 1.0),
        "equal weights": lambda: variant(patch="fit_weights", value=equal),
        "without students": lambda: variant(patch="_MAX_PSEUDO_LABELS", value=0),
        "class priors of the labels": lambda: variant(class_priors="labels"),
        "quick": lambda: variant(quick=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--labels", nargs="+", default=["5-per-class", "40"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for regime in options.labels:
        scores: dict[str, list[float]] = {name: [] for name in variants()}
        for _, frame, y in tables(options.folder, options.only):
            X = encode(frame)
            for name, make in variants().items():
                scores[name].append(
                    100 * float(np.mean([accuracy(X, y, regime, seed, make) for seed in options.seeds]))
                )
        full = np.array(scores["ensemble"])
        print(f"\n{regime} labels, {len(full)} tables, seeds {options.seeds}")
        for name, values in scores.items():
            gap = np.array(values) - full
            print(
                f"  {name:34} {np.mean(values):6.2f}  {gap.mean():+.2f} ± {gap.std() / max(len(gap) - 1, 1) ** 0.5:.2f}"
            )


def accuracy(X: np.ndarray, y: np.ndarray, regime: str, seed: int, make: Callable[[], Any]) -> float:
    """Return the accuracy of a variant on the unlabeled rows."""
    rng = np.random.default_rng(seed)
    labeled = draw(y, regime, rng)
    pool = rng.permutation(np.setdiff1d(np.arange(len(y)), labeled))[:MAX_UNLABELED]
    with make() as model:
        model.fit(X[np.r_[labeled, pool]], np.r_[y[labeled], np.full(len(pool), -1)])
        return float((model.predict(X[pool]) == y[pool]).mean())


if __name__ == "__main__":
    main()
