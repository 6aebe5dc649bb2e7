"""Wall and CPU time of the first use of a method, with nothing compiled, and of the second: `python benchmarks/first_use.py`.

Each command runs on a tiny file that is made here, twice, in processes of their own; `NUMBA_CACHE_DIR` names a new folder for each.
`--kernels` lists instead what the first use compiles, with the CPU time that each signature takes by itself.
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

USES = {
    "ordinal-knn": "fit table.csv --target label --method ordinal-knn",
    "tagger": "fit tagger train.tsv",
    "prototypes": "fit prototypes list.tsv raw.txt",
    "parser": "fit parser trees.conllu",
}

# Runs one command and writes what numba compiled, with the time of the kernels that are compiled in between taken out.
LISTEN = """
import json, sys, time
from numba.core import event
open_, done = [], []
class Watch(event.Listener):
    def on_start(self, e): open_.append([time.process_time(), 0.0])
    def on_end(self, e):
        start, inner = open_.pop()
        spent = time.process_time() - start
        if open_: open_[-1][1] += spent
        kernel = e.data["dispatcher"].py_func
        name = f"{kernel.__module__}.{kernel.__qualname__}".removeprefix("handful.kernels.")
        done.append((spent - inner, name, str(e.data["args"])))
event.register("numba:compile", Watch())
from handful.cli import main
try: main()
finally: json.dump(done, open(sys.argv[0] + ".json", "w"))
"""


def write_files(folder: Path) -> None:
    """Write a tiny file for each use."""
    from sklearn.datasets import load_iris

    from handful.core.records import Sentence, Tree
    from handful.corpora.formats import write_conllu

    rows, labels = load_iris(return_X_y=True)
    lines = [",".join([*map(str, row), f"kind {label}"]) for row, label in zip(rows[::3], labels[::3], strict=True)]
    for number, line in enumerate(lines):
        if number % 3:
            lines[number] = line.rsplit(",", 1)[0] + ","
    (folder / "table.csv").write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    sentences = [
        f"{d}\tD\n{n}\tN\n{v}\tV\n" for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")
    ]
    (folder / "train.tsv").write_text("\n".join(sentences))
    (folder / "list.tsv").write_text("D\tthe\nN\tdog\nV\tsat\n")
    text = [" ".join(line.split("\t")[0] for line in sentence.splitlines()) for sentence in sentences * 4]
    (folder / "raw.txt").write_text("\n".join(text) + "\n")
    columns = {"upos": ("DET", "NOUN", "VERB", "PUNCT")}
    trees = [
        Tree(Sentence((d, n, "sat", "."), columns), (2, 3, 0, 3), ("det", "nsubj", "root", "punct"))
        for d in ("the", "a")
        for n in ("dog", "cat", "cow")
    ]
    write_conllu(folder / "trees.conllu", trees)


def run(words: str, folder: Path, cache: Path) -> dict[str, float]:
    """Run a command; return its wall and CPU time."""
    before, start = os.times(), time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "handful", *words.split()]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise SystemExit(f"first_use: handful {words} failed: {done.stderr.strip()[-300:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall": wall, "cpu": cpu}


def list_kernels(use: str, folder: Path, least: float) -> None:
    """Print what the first use of a command compiles."""
    script = folder / "listen.py"
    script.write_text(LISTEN)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / f"kernels-{use}")}
    command = [sys.executable, script, *USES[use].split()]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    compiled: list[tuple[float, str, str]] = json.loads(Path(f"{script}.json").read_text())
    ours = [seconds for seconds, name, _ in compiled if not name.startswith("numba.")]
    print(f"{use}: {len(compiled)} signatures, {sum(k[0] for k in compiled):.1f} CPU s;", end=" ")
    print(f"without numba's own {len(ours)}, {sum(ours):.1f} CPU s", flush=True)
    for seconds, name, types in sorted(compiled, reverse=True):
        if seconds >= least:
            print(f"    {seconds:6.2f}  {name}  {types[:120]}")


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description="First and second use of four commands.")
    parser.add_argument("--only", choices=USES, help="One of the uses.")
    parser.add_argument("--kernels", action="store_true", help="List what is compiled.")
    parser.add_argument("--least", type=float, default=0.1, help="Seconds from which on a signature is listed.")
    parser.add_argument("--quick", action="store_true", help="The ordinal neighbors alone.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    given = parser.parse_args()
    uses = {name: USES[name] for name in ([given.only] if given.only else ["ordinal-knn"] if given.quick else USES)}
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for use, words in uses.items():
            cache = folder / f"cache-{use}"
            if given.kernels:
                list_kernels(use, folder, given.least)
                continue
            figures[use] = {"first": run(words, folder, cache), "second": run(words, folder, cache)}
            if not given.json:
                told = [f"{which} {t['wall']:.1f} s ({t['cpu']:.1f} CPU)" for which, t in figures[use].items()]
                print(f"{', '.join(told):50} handful {words}", flush=True)
    if given.json:
        print(json.dumps({"load": os.getloadavg()[0], "uses": figures}, indent=2))


if __name__ == "__main__":
    main()
