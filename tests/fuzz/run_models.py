"""Fuzz model files in child processes: `python tests/fuzz/run_models.py 2000 [--jobs 2]` tries 2,000 of every class.

The files of a class are shared among the models of `subjects.py` that hold one. Prints what happened to the files of
each model and of each class, and fails if a file broke a process, took too long, or ended in anything but an answer or
a clear sentence. Files are numbered, and each number is always the same file: `--first 2000` goes on behind the first
2,000. With `--log FILE` runs add up in a file, and a count of 0 only prints the sum.
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

OUTCOMES = ("refused", "answered", "refused when asked", "unclean", "died", "cannot be written")
CHILD = Path(__file__).with_name("fuzz_models.py")


def run(count: int, part: int = 0, parts: int = 1, begin: int = 0) -> list[dict]:
    """Fuzz a part of the models; a child that dies is started again behind the file that it died of."""
    found: list[dict] = []
    deaths: list[dict] = []
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    environment = {**os.environ, **threads}
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "mark"
        name, first = "", begin
        while True:
            numbers = begin, begin + count, mark, name, first, part, parts
            command = [sys.executable, str(CHILD), *map(str, numbers)]
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    lines = []
    if options.count:
        with ThreadPoolExecutor(options.jobs) as pool:
            work = [pool.submit(run, options.count, part, options.jobs, options.first) for part in range(options.jobs)]
        lines = [line for part in work for line in part.result()]
    if options.log is not None:
        with options.log.open("a+") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.seek(0)
            lines = [json.loads(line) for line in file]
    return tell(lines)


def tell(lines: list[dict]) -> int:
    """Print what came of the files of each model, of each class and of all; return the exit code."""
    models: dict[str, Counter[str]] = {}
    classes: dict[str, Counter[str]] = {}
    for line in lines:
        models.setdefault(line["name"], Counter()).update(line["outcomes"])
        for name in line["classes"]:
            classes.setdefault(name, Counter()).update(line["outcomes"])
    for name, outcomes in sorted(models.items()):
        mine = [line for line in lines if line["name"] == name]
        print(f"{name:36} {json.dumps(outcomes)} {sum(line['seconds'] for line in mine):.1f} s")
        for what, number in {what: number for line in mine for what, number in line["unclean"].items()}.items():
            print(f"    file {number}: {what}")
    total = sum(models.values(), Counter())
    print("\n| class | files | " + " | ".join(OUTCOMES) + " |\n|---|" + "---|" * (1 + len(OUTCOMES)))
    for name, outcomes in [*sorted(classes.items()), ("all", total)]:
        print(f"| {name} | {outcomes.total():,} | " + " | ".join(f"{outcomes[key]:,}" for key in OUTCOMES) + " |")
    return 1 if total["unclean"] or total["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
