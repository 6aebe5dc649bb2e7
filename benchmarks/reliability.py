"""Memory and time of commands on large made files, each in a process of its own.

``python benchmarks/reliability.py`` makes 2 GB of CSV and 1 GB of text in a temporary folder; ``--quick`` a hundredth of it.
``--scale`` sets the share of the full size. Every job runs at the full size and at a quarter of it, so that growth of memory
with size shows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ONLY = ""
HANDFUL = [sys.executable, "-m", "handful"]


def table(path: Path, size: int, n_columns: int = 10) -> None:
    """Write rows until the file has so many bytes; after 50,000 of them the same ones come again."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(50_000, n_columns)).round(4)
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    lines = [",".join([*map(str, row.tolist()), label]) + "\n" for row, label in zip(rows, labels, strict=True)]
    with open(path, "w") as file:
        file.write(",".join([*(f"x{i}" for i in range(n_columns)), "label"]) + "\n")
        while file.tell() < size:
            left = (size - file.tell()) // len(lines[0]) + 1
            file.write("".join(lines[:left]))


def text(path: Path, size: int) -> None:
    """Write sentences of words by Zipf's law until the file has so many bytes."""
    generator = np.random.default_rng(1)
    names = np.array([f"w{word}" for word in range(20_000)], dtype=object)
    with open(path, "w") as file:
        while file.tell() < size:
            words = names[generator.zipf(1.3, size=(20_000, 12)) % len(names)]
            file.write("\n".join(map(" ".join, words.tolist())) + "\n")


def run(*words: object) -> tuple[float, float, int]:
    """Run a command; return its peak of memory in MB, its CPU seconds, and its exit code."""
    process = subprocess.Popen([*HANDFUL, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)


def report(
    name: str, make: Callable[[Path, int], None], size: int, words: Callable[[Path, Path], list[object]]
) -> None:
    """Print a line of the table in docs/reliability.md."""
    for share in (1.0, 0.25) if name.startswith(ONLY) else ():
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            make(data, int(size * share))
            start = time.monotonic()
            peak, cpu, code = run(*words(data, Path(folder) / "out"))
            wall = time.monotonic() - start
            megabytes = data.stat().st_size / 1e6
            print(f"| {name} | {megabytes:,.0f} MB | {peak:,.0f} MB | {cpu:,.0f} | {wall:,.0f} | {code} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", type=float)
    parser.add_argument("--only", default="", help="Jobs whose name begins so.")
    options = parser.parse_args()
    global ONLY
    ONLY = options.only
    scale = options.scale or (0.01 if options.quick else 1.0)
    print(
        f"load {os.getloadavg()[0]:.1f}, scale {scale:g}, limit of memory {resource.getrlimit(resource.RLIMIT_AS)[0]}"
    )
    print("| command | data | peak | CPU s | s | exit |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        small, model = home / "small.csv", home / "model.handful"
        table(small, 100_000)
        assert run("fit", small, "--target", "label", "--method", "logistic-regression", "--model", model)[2] == 0
        answer = lambda data, out: ["predict", model, data, "-o", out.with_suffix(".csv")]  # noqa: E731
        report("predict, table of 10 columns", lambda path, size: table(path, size), int(2e9 * scale), answer)
        clusters = lambda data, out: ["clusters", data, "-o", out, "--n", 50, "--min-count", 5]  # noqa: E731
        report("clusters, text", text, int(1e9 * scale), clusters)
        tags = home / "tags.tsv"
        tags.write_text("".join(f"w{i}\t{'NV'[i % 2]}\n" + ("\n" if i % 12 == 11 else "") for i in range(1, 1200)))
        tagger = home / "tagger.handful"
        assert run("fit", "tagger", tags, "--model", tagger, "--iterations", 10)[2] == 0
        condense = lambda data, out: ["condense", tagger, tags, data, "-o", out, "--iterations", 10]  # noqa: E731
        report("condense, text", text, int(1e9 * scale), condense)
        report("predict, sentences", text, int(7e7 * scale), lambda data, out: ["predict", tagger, data, "-o", out])
        race = lambda data, out: ["compare", data, "--target", "label", "--labels", 50, "--minutes", 1, "--fresh"]  # noqa: E731
        wide = int(200_000 * 50 * 8 * scale)
        report("compare, table of 50 columns", lambda path, size: table(path, size, 50), wide, race)


if __name__ == "__main__":
    main()
