"""Time and memory of the main job: fit and predict on a large table, and a comparison under a time limit.

Run ``python benchmarks/compare.py`` for a table of a million rows, ``--quick`` for one of fifty thousand.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 20
LABELS = 500


def write_rows(path: Path, n_rows: int, labels: int) -> None:
    """Write two overlapping clouds in 20 columns; so many rows have a label."""
    rng = np.random.default_rng(0)
    labeled = set(rng.choice(n_rows, labels, replace=False).tolist())
    centers = rng.normal(0, 0.6, (3, COLUMNS))
    with path.open("w", encoding="ascii") as file:
        file.write(",".join(f"c{j}" for j in range(COLUMNS)) + ",label\n")
        for start in range(0, n_rows, 10_000):
            codes = rng.integers(0, 3, min(10_000, n_rows - start))
            rows = centers[codes] + rng.standard_normal((len(codes), COLUMNS))
            for i, (row, code) in enumerate(zip(rows, codes, strict=True)):
                label = f"k{code}" if start + i in labeled else ""
                file.write(",".join(f"{value:.5f}" for value in row) + f",{label}\n")


def run(*arguments: object) -> dict[str, float]:
    """Run a command of handful and return its time and the peak of its memory."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "handful.cli", *map(str, arguments)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} failed")
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args()
    n_rows = given.rows or (50_000 if given.quick else 1_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["HANDFUL_RUNS"] = str(folder / "runs")
        data, model = folder / "rows.csv", folder / "rows.handful"
        write_rows(data, n_rows, LABELS)
        results: dict[str, object] = {
            "rows": n_rows,
            "file_mb": round(data.stat().st_size / 2**20),
            "load": os.getloadavg()[0],
        }
        for method in ("ordinal-knn", "logistic-regression"):
            results[f"fit {method}"] = run("fit", data, "--target", "label", "--method", method, "--model", model)
            results[f"predict {method}"] = run("predict", model, data, "-o", folder / "out.csv")
        write_rows(data, min(n_rows, 100_000), LABELS)
        limit = ("--minutes", given.minutes, "--draws", 200)
        results[f"compare, at most {given.minutes:g} minutes"] = run("compare", data, "--target", "label", *limit)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
