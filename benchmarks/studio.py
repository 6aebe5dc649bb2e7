"""The studio measured: how long data takes to open, how long a label takes, and what a person gains by it.

``python benchmarks/studio.py PART`` with PART one of ``open`` (100,000 rows and 50,000 sentences, in a separate process, until
the first item is there), ``label`` (10,000 rows, from the key to the next row) and ``person`` (someone who knows the answers
labels 50 rows from nothing, by what the page chooses, and by chance). ``--sets`` names what the person labels: ``digits`` of
scikit-learn, or NAME, read from ``NAME.csv.gz`` in ``--texts FOLDER``, with the columns text and label. ``--quick`` makes
everything small.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from handful.active.estimates import estimate_accuracy
from handful.data.table import as_table
from handful.studio.annotations import AnnotationLog
from handful.studio.table_session import TableSession


def open_in_time(quick: bool) -> None:
    rng = np.random.default_rng(0)
    n_rows, n_sentences = (2_000, 1_000) if quick else (100_000, 50_000)
    with tempfile.TemporaryDirectory() as folder:
        table, text = Path(folder) / "table.csv", Path(folder) / "text.txt"
        group = rng.integers(0, 4, n_rows)
        numbers = {f"x{j}": (rng.standard_normal(n_rows) + group).round(3) for j in range(10)}
        notes = [f"note {i} about thing {rng.integers(0, 999)}" for i in range(n_rows)]
        city = [f"city {rng.integers(0, 50)}" for _ in range(n_rows)]
        pl.DataFrame({**numbers, "city": city, "note": notes, "class": [""] * n_rows}).write_csv(table)
        words = np.array([f"w{i}" for i in range(30_000)])
        lengths = rng.integers(5, 40, n_sentences)
        drawn = words[np.minimum(rng.zipf(1.3, int(lengths.sum())), len(words)) - 1]
        lines = [" ".join(one) for one in np.split(drawn, np.cumsum(lengths)[:-1])]
        text.write_text("\n".join(lines) + "\n")
        for what, options in (
            (f"{n_rows:,} rows", [table, "--target", "class"]),
            (f"{n_sentences:,} sentences", [text]),
        ):
            print(json.dumps({"open": what, **_opened(options)}))


def _opened(options: list[Any]) -> dict[str, float]:
    """Start a studio and ask for the page and the first item."""
    command = [sys.executable, "-m", "handful", "studio", *map(str, options), "--no-browser"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = re.search(r"http://\S+", process.stdout.readline())
        assert link is not None
        urllib.request.urlopen(link.group()).read()
        page = time.perf_counter() - start
        urllib.request.urlopen(f"{link.group()}ask/view").read()
        item = time.perf_counter() - start
        spent = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        assert peak is not None
        process.kill()
    processor = (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")
    return {
        "page": round(page, 2),
        "first item": round(item, 2),
        "processor seconds": round(processor, 2),
        "peak MB": int(peak.group(1)) // 1024,
    }


def label_in_time(quick: bool) -> None:
    from threadpoolctl import threadpool_limits

    n, n_labels = (1_000, 20) if quick else (10_000, 100)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, n)
    frame = pl.DataFrame({f"x{j}": rng.standard_normal(n) + truth for j in range(10)})
    with threadpool_limits(1):
        session = _session(frame)
        session.view()
        wall, processor = [], []
        for _ in range(n_labels):
            row = session.view()["item"]["row"]
            start, spent = time.perf_counter(), time.process_time()
            session.act({"do": "label", "items": [row], "label": "abcd"[truth[row]]})
            session.view()
            wall.append(time.perf_counter() - start)
            processor.append(time.process_time() - spent)
    summary = {"median": np.median(wall), "worst": max(wall), "processor, median": np.median(processor)}
    print(json.dumps({"label": f"{n:,} rows", **{name: round(float(value), 3) for name, value in summary.items()}}))


def person(sets: dict[str, tuple[pl.DataFrame, np.ndarray]], seeds: int, n_labels: int) -> None:
    for name, (frame, truth) in sets.items():
        lines: dict[str, list[tuple[float, float, float, float]]] = {"chosen by the page": [], "at random": []}
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(frame.height)
            for how, runs in lines.items():
                session = _session(frame[order], seed)
                answers = truth[order]
                chance = np.random.default_rng(seed + 1_000).permutation(frame.height)[:n_labels]
                for number in range(n_labels):
                    row = session.view()["item"]["row"] if how == "chosen by the page" else int(chance[number])
                    session.act({"do": "label", "items": [row], "label": str(answers[row])})
                audits = session.audits if how == "chosen by the page" else chance.tolist()
                audit = estimate_accuracy(session.loop, audits, session.labels)
                left = [row for row in range(frame.height) if row not in session.labels]
                right = float(np.mean([pick.suggestion == answers[pick.row] for pick in session.loop.suggest(left)]))
                estimate = (np.nan,) * 3 if audit is None else (audit.accuracy, audit.low, audit.high)
                runs.append((right, *estimate))
        for how, runs in lines.items():
            right, summary, low, high = np.array(runs).T
            facts = {
                "accuracy on all other rows": round(100 * float(right.mean()), 1),
                "worst and best seed": [round(100 * float(right.min()), 1), round(100 * float(right.max()), 1)],
                "the page's estimate": round(100 * float(np.nanmean(summary)), 1),
                "its interval, mean": [round(100 * float(np.nanmean(low)), 1), round(100 * float(np.nanmean(high)), 1)],
                "seeds in which it held the truth": f"{int(((low <= right) & (right <= high)).sum())} of {seeds}",
            }
            print(json.dumps({"person": name, "labels": n_labels, "rows": how, **facts}))


def _rows(name: str, texts: Path | None) -> tuple[pl.DataFrame, np.ndarray]:
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return pl.DataFrame({f"p{j}": X[:, j] for j in range(64)}), y.astype(str)
    assert texts is not None, "say where the texts are with --texts"
    frame = pl.read_csv(texts / f"{name}.csv.gz")
    return frame.select("text"), frame["label"].to_numpy()


def _session(frame: pl.DataFrame, seed: int = 0) -> TableSession:
    table = as_table(frame)
    folder = Path(tempfile.mkdtemp())
    log = AnnotationLog(folder / "log", "benchmark")
    return TableSession("table", table, "label", log, folder, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", default=["open", "label", "person"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--sets", nargs="*", default=["digits"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if "open" in options.part:
        open_in_time(options.quick)
    if "label" in options.part:
        label_in_time(options.quick)
    if "person" in options.part:
        sets = {name: _rows(name, options.texts) for name in options.sets}
        person(sets, 1 if options.quick else options.seeds, 12 if options.quick else 50)
    print(json.dumps({"load": [round(part, 1) for part in os.getloadavg()]}))


if __name__ == "__main__":
    main()
