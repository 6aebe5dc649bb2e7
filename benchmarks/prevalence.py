"""Do the intervals of `handful.comparison.prevalence` hold? Coverage and width by simulation, next to PPI++ and the labels alone.

    python benchmarks/prevalence.py [--runs 1000] [--draws 2000] [--seed 0] [--quick] [--json]

Rows are drawn from a population with a given share of the class; predictions have a sensitivity and a specificity. PPI++
(Angelopoulos, Duchi and Zrnic 2023) is computed here with its optimal weight and normal interval; where ppi_py is
installed, it computes its own.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from handful.comparison import prevalence as method
from handful.comparison.prevalence import _mid_p, _share

SHARES = (0.02, 0.1, 0.3, 0.5)
PREDICTIONS = {"good": (0.9, 0.98), "fair": (0.8, 0.9), "bad": (0.6, 0.7)}


def ppi(y: np.ndarray, f: np.ndarray, rest: np.ndarray) -> tuple[float, float]:
    """Return the 95% interval of PPI++."""
    n, size = len(y), len(rest)
    spread = np.var(np.r_[f, rest])
    weight = float(np.clip(np.cov(y, f)[0, 1] / ((1 + n / size) * spread), 0, 1)) if spread else 0.0
    center = weight * rest.mean() + (y - weight * f).mean()
    error = np.sqrt(weight**2 * rest.var() / size + (y - weight * f).var(ddof=1) / n)
    return center - 1.96 * error, center + 1.96 * error


try:
    from ppi_py import ppi_mean_ci
except ImportError:
    ppi_mean_ci = None


def simulate(
    n: int, rate: float, sensitivity: float, specificity: float, runs: int, size: int, seed: int
) -> dict[str, float]:
    """Return coverage and mean width of the intervals."""
    rng = np.random.default_rng([seed, n, round(rate * 100), round(sensitivity * 100)])
    held, width = np.zeros(4), np.zeros(4)
    for _ in range(runs):
        truth = rng.random(size + n) < rate
        guess = np.where(truth, rng.random(size + n) < sensitivity, rng.random(size + n) < 1 - specificity)
        labeled = np.arange(size + n) < n
        _, low, high = _share(truth[:n], guess, labeled, 0.95, rng)
        alone = _mid_p(int(truth[:n].sum()), n, 0.95)
        y, f, rest = truth[:n].astype(float), guess[:n].astype(float), guess[n:].astype(float)
        intervals = [(low, high), alone, ppi(y, f, rest)]
        intervals += (
            [] if ppi_mean_ci is None else [tuple(np.squeeze(end) for end in ppi_mean_ci(y, f, rest, alpha=0.05))]
        )
        for i, (start, stop) in enumerate(intervals):
            held[i] += start <= rate <= stop
            width[i] += stop - start
    names = ("handful", "labels alone", "PPI++", "ppi_py")[: 3 if ppi_mean_ci is None else 4]
    return {f"{name}: held": held[i] / runs for i, name in enumerate(names)} | {
        f"{name}: width": width[i] / runs for i, name in enumerate(names)
    }


def main() -> None:
    """Print a row for each number of labels, share and quality of predictions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000, help="of the Monte Carlo integration; handful takes 20,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    method._N_DRAWS = options.draws
    for n in (100,) if options.quick else (50, 100, 300, 1000):
        for rate in SHARES:
            for name, quality in PREDICTIONS.items():
                row = simulate(n, rate, *quality, 50 if options.quick else options.runs, 10_000, options.seed)
                if options.json:
                    print(json.dumps({"labels": n, "share": rate, "predictions": name, **row}), flush=True)
                else:
                    values = "  ".join(f"{key} {value:.3f}" for key, value in row.items())
                    print(f"n {n:5} share {rate:.2f} {name:5} {values}", flush=True)


if __name__ == "__main__":
    main()
