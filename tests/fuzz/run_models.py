"""Fuzz model files in child processes: `python tests/fuzz/run_models.py 2000 [--jobs 2]` tries 2,000 of every model.

Prints what happened to the files of each model, and fails if a file broke a process, took too long, or ended in anything
but an answer or a clear sentence.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHILD = Path(__file__).with_name("fuzz_models.py")


def run(count: int, part: int = 0, parts: int = 1) -> list[dict]:
    """Fuzz a part of the models; a child that dies is started again behind the file that it died of."""
    found: list[dict] = []
    deaths: list[dict] = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "mark"
        name, first = "", 0
        while True:
            command = [sys.executable, str(CHILD), str(count), str(mark), name, str(first), str(part), str(parts)]
            child = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
            found += [json.loads(line) for line in child.stdout.splitlines()]
            if child.returncode == 0:
                break
            if child.returncode > 0:  # an error of the fuzzer itself, told on stderr
                raise SystemExit(f"fuzz: the child ended with {child.returncode}")
            last = json.loads(mark.read_text())
            deaths.append({**last, "died": child.returncode})
            name, first = last["name"], last["number"] + 1
    for death in deaths:  # what a child had found before it died
        mine = next(line for line in found if line["name"] == death["name"])
        mine["outcomes"] = Counter(mine["outcomes"]) + Counter(death["outcomes"]) + Counter({"died": 1})
        mine["unclean"] = {**death["unclean"], **mine["unclean"], f"died of {death['died']}": death["number"]}
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = list(pool.map(lambda part: run(options.count, part, options.jobs), range(options.jobs)))
    total: Counter[str] = Counter()
    for line in sorted((line for part in parts for line in part), key=lambda line: line["name"]):
        total.update(line["outcomes"])
        print(f"{line['name']:36} {json.dumps(line['outcomes'])} {line['seconds']} s")
        for what, number in line["unclean"].items():
            print(f"    file {number}: {what}")
    print(f"total: {json.dumps(total)}")
    return 1 if total["unclean"] or total["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
