"""Time and memory of the main job: fit and predict on a large table, and a comparison under a time limit.

Run ``python benchmarks/compare.py`` for a table of a million rows, ``--quick`` for one of fifty thousand. With
``--stability`` it compares the methods on seven small tables with two seeds instead, and prints whether the best of one
seed is among the best of the other (the four tables of the UCI collection are read from ``$HANDFUL_DATA``). With ``--first``
it prints after how many seconds the first ranking is on the screen, and when a comparison of one minute ends: 10,000 rows of 20
columns, and 10,000 short texts; with ``--first --large`` 200,000 rows of 50 columns.
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


def write_rows(path: Path, n_rows: int, labels: int, n_columns: int = COLUMNS) -> None:
    """Write three overlapping clouds; `n_labeled` rows have a label."""
    rng = np.random.default_rng(0)
    labeled = set(rng.choice(n_rows, labels, replace=False).tolist())
    centers = rng.normal(0, 0.6, (3, n_columns))
    with path.open("w", encoding="ascii") as file:
        file.write(",".join(f"c{j}" for j in range(n_columns)) + ",label\n")
        for start in range(0, n_rows, 10_000):
            codes = rng.integers(0, 3, min(10_000, n_rows - start))
            rows = centers[codes] + rng.standard_normal((len(codes), n_columns))
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


def write_texts(path: Path, n_texts: int, labels: int) -> None:
    """Write short texts on four subjects: most words are common to all."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="ascii") as file:
        file.write("text,label\n")
        for number in range(n_texts):
            subject = int(rng.integers(0, 4))
            common = rng.zipf(1.3, 9) % 3_000
            own = rng.zipf(1.5, 3) % 400
            words = [*(f"w{word}" for word in common), *(f"s{subject}x{word}" for word in own)]
            file.write(" ".join(words) + f",{f'subject {subject}' if number < labels else ''}\n")


def first_ranking(data: Path, minutes: float) -> dict[str, float]:
    """Return the seconds of one fit, to the first ranking and to the end of a comparison, and the memory of its main process."""
    words = [sys.executable, "-m", "handful", "compare", str(data), "--target", "label", "--minutes", str(minutes)]
    start = time.perf_counter()
    subprocess.run([*words, "--trials", "1"], check=True, capture_output=True)
    dry = time.perf_counter() - start
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = next((time.perf_counter() - start for line in process.stderr if "may be the best: " in line), float("nan"))
    for _ in process.stderr:
        pass  # until it is done
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} failed")
    return {
        "dry run": round(dry, 1),
        "first ranking": round(first, 1),
        "end": round(time.perf_counter() - start, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def small_tables(folder: Path) -> dict[str, Path]:
    """Write the tables that come with scikit-learn; those of the data folder stay where they are."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    paths = {}
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer), ("digits", load_digits)):
        frame = load(as_frame=True).frame
        paths[name] = folder / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    if "HANDFUL_DATA" in os.environ:
        for name in ("vehicle", "ionosphere", "parkinsons", "wine"):
            paths[f"{name} (UCI)"] = Path(os.environ["HANDFUL_DATA"]) / f"{name}.csv"
    return paths


def stability(folder: Path, labels: str) -> list[dict[str, object]]:
    """Compare the methods on every small table with two seeds; is the best of each within the other's intervals?"""
    tables = []
    for name, path in small_tables(folder).items():
        results = []
        started = time.perf_counter()
        for seed in (0, 1):
            target = "label" if name.endswith("(UCI)") else "target"
            words = [sys.executable, "-m", "handful", "compare", path, "--target", target, "--labels", labels]
            done = subprocess.run(
                [*map(str, words), "--seed", str(seed), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            if done.returncode:
                raise SystemExit(f"{' '.join(map(str, words))} failed")
            results.append(json.loads(done.stdout))
        rows = [{row["name"]: row for row in result["rows"]} for result in results]
        best = [result["rows"][0]["name"] for result in results]
        tables.append(
            {
                "table": name,
                "best": [f"{n} {100 * r[n]['score']:.1f}" for n, r in zip(best, rows, strict=True)],
                "stable": all(
                    r[other]["low"] <= r[own]["score"] <= r[other]["high"]
                    for r, own, other in zip(rows, best, best[::-1], strict=True)
                ),
                "verdicts": [result["verdict"] for result in results],
                "seconds for both": round(time.perf_counter() - started),
                "load": round(os.getloadavg()[0], 1),
            }
        )
        print(json.dumps(tables[-1]), flush=True)
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--stability", action="store_true")
    parser.add_argument("--labels", default="5-per-class")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    n_rows = options.rows or (50_000 if options.quick else 1_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["HANDFUL_RUNS"] = str(folder / "runs")
        if options.stability:
            results = stability(folder, options.labels)
            print(f"stable: {sum(bool(row['stable']) for row in results)} of {len(results)} tables")
            return
        data, model = folder / "rows.csv", folder / "rows.handful"
        if options.first and options.large:
            write_rows(data, 200_000, 100, 50)
            seen = first_ranking(data, options.minutes)
            print(json.dumps({"200,000 rows of 50 columns": seen, "load": os.getloadavg()[0]}))
            return
        if options.first:
            texts = folder / "texts.csv"
            write_rows(data, 10_000, 100)
            write_texts(texts, 10_000, 100)
            for what, path in (("10,000 rows", data), ("10,000 texts", texts)):
                print(json.dumps({what: first_ranking(path, options.minutes), "load": os.getloadavg()[0]}), flush=True)
            return
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
        limit = ("--minutes", options.minutes, "--draws", 200)
        results[f"compare, at most {options.minutes:g} minutes"] = run("compare", data, "--target", "label", *limit)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
