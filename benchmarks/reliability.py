"""Memory and time of commands on large made files, each in a process of its own.

``python benchmarks/reliability.py`` makes 2 GB of CSV and 1 GB of text in a temporary folder; ``--quick`` a hundredth of it.
``--scale`` sets the share of the full size, ``--only`` the jobs. Every job runs at the full size and at a tenth of it, so
that growth of memory with size shows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

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
    """Write sentences of twelve words by Zipf's law until the file has so many bytes."""
    generator = np.random.default_rng(1)
    drawn = generator.zipf(1.3, size=5_000_000) % 20_000
    inside, last = (np.array([f"w{word}{end}" for word in range(20_000)], dtype=object) for end in " \n")
    with open(path, "w") as file:
        while file.tell() < size:
            words = drawn[generator.integers(len(drawn), size=(20_000, 12))]
            lines = np.concatenate([inside[words[:, :-1]], last[words[:, -1:]]], axis=1)
            file.write("".join(lines.ravel().tolist()))


def run(*words: object) -> tuple[float, float, int]:
    """Run a command; return its peak of memory in MB, its CPU seconds, and its exit code."""
    command = [*HANDFUL, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        print(f"{words[0]} ended with {code}: {told}", file=sys.stderr)
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, code


def report(
    name: str, make: Callable[[Path, int], None], size: int, words: Callable[[Path, Path], list[object]]
) -> None:
    """Print a line of the table in docs/reliability.md for the whole size and for a tenth of it."""
    for share in (1.0, 0.1):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            make(data, int(size * share))
            megabytes, n_lines = data.stat().st_size / 1e6, count_lines(data)
            peak, cpu, code = run(*words(data, Path(folder) / "out"))
            told = f"{megabytes:,.0f} MB, {n_lines:,} lines | {peak:,.0f} MB | {cpu:,.0f} | {code}"
            print(f"| {name} | {told} | {os.getloadavg()[0]:.0f} |", flush=True)


def count_lines(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", type=float)
    parser.add_argument("--only", default="", help="Jobs whose name begins so.")
    options = parser.parse_args()
    scale = options.scale or (0.01 if options.quick else 1.0)
    print(
        f"scale {scale:g}\n| command | data | peak of memory | CPU s | exit | load |\n|---|---|---|---|---|---|",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        small, model = home / "small.csv", home / "model.handful"
        table(small, 100_000)
        assert run("fit", small, "--target", "label", "--method", "logistic-regression", "--model", model)[2] == 0
        tags, tagger = home / "tags.tsv", home / "tagger.handful"
        tags.write_text("".join(f"w{i}\t{'NV'[i % 2]}\n" + ("\n" if i % 12 == 11 else "") for i in range(1, 1200)))
        assert run("fit", "tagger", tags, "--model", tagger, "--iterations", 10)[2] == 0
        race = ("--target", "label", "--labels", 50, "--minutes", 1, "--fresh")
        wide = sum(len(f"{number:.4f},") for number in np.random.default_rng(0).normal(size=1000)) / 1000 * 50
        jobs: list[tuple[str, Any, float, Any]] = [
            (
                "predict, table of 10 columns",
                table,
                2e9,
                lambda data, out: ["predict", model, data, "-o", f"{out}.csv"],
            ),
            ("clusters", text, 1e9, lambda data, out: ["clusters", data, "-o", out, "--n", 50, "--min-count", 5]),
            ("condense", text, 1e9, lambda data, out: ["condense", tagger, tags, data, "-o", out, "--iterations", 10]),
            ("predict, sentences", text, 4.7e7, lambda data, out: ["predict", tagger, data, "-o", out]),
            (
                "compare, 50 columns",
                partial(table, n_columns=50),
                200_000 * wide,
                lambda data, _: ["compare", data, *race],
            ),
        ]
        for name, make, size, words in jobs:
            if name.startswith(options.only):
                report(name, make, int(size * scale), words)


if __name__ == "__main__":
    main()
