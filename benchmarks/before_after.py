"""CPU time of fits in two trees, in turns: `python benchmarks/before_after.py PAST_SRC [--rounds 3]`.

The other tree is a worktree of a past commit (``git worktree add /tmp/past COMMIT``); PAST_SRC is its ``src``. The fits run in
a process of their own, in both trees by turns, on data made here; what is compiled is compiled before. CPU time of the
process on one thread, so that other work on the machine disturbs little; the ratio is of the least times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

FITS = {
    "condensed-nn, 20,000 rows": ("X, y = rows(20000)", "CondensedNN().fit(X, y)"),
    "semi-supervised-condensed-nn, 4,000 rows": ("X, y = rows(4000, 400)", "SemiSupervisedCondensedNN().fit(X, y)"),
    "ordinal-knn, 800 rows": ("X, y = rows(800, 80)", "OrdinalKNN().fit(X, y)"),
    "kernel-pca, 400 rows": ("X, y = rows(400, 100)", "KernelPCAClassifier(kernel='rbf').fit(X, y)"),
    "Brown clusters, 1,500 sentences": ("S = sentences(1500)", "BrownClusters(50).fit([list(s.tokens) for s in S])"),
    "CRF, 300 sentences": (
        "S = sentences(300)",
        "CRF('pos', max_iter=30, n_jobs=1).fit(S, [list(s['pos']) for s in S])",
    ),
    "parser, 150 trees": ("T = trees(150)", "DependencyParser(max_iter=3).fit(T)"),
}
SETUP = """
import time, json, warnings
import numpy as np
warnings.simplefilter("ignore")
from handful.neighbors import CondensedNN, KernelPCAClassifier, OrdinalKNN, SemiSupervisedCondensedNN
from handful.representations import BrownClusters
from handful.tagging import CRF
from handful.parsing.parser import DependencyParser
from papers.generated_english import make_tagged_sentences
def rows(n, labeled=None):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 8)) + y[:, None]
    return X, (y if labeled is None else np.where(np.arange(n) < labeled, y, -1))
def trees(n): return make_tagged_sentences(n, random_state=0)
def sentences(n): return [t.sentence for t in trees(n)]
"""


def seconds(source: str) -> dict[str, float]:
    """Return the CPU time of every fit, each after a first one that compiles."""
    code = [SETUP, "times = {}"]
    for name, (data, fit) in FITS.items():
        code += [data, fit, "start = time.process_time()", fit, f"times[{name!r}] = time.process_time() - start"]
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-c", "\n".join([*code, "print(json.dumps(times))"])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"before_after: the fits in {source} failed: {done.stderr.strip()[-300:]}")
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description="CPU time of fits in two trees.")
    parser.add_argument("past", nargs="?", type=Path, help="Folder src of the other tree.")
    parser.add_argument("--rounds", type=int, default=3, help="Fits in each tree.")
    parser.add_argument("--quick", action="store_true", help="One round.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args()
    if options.past is None:
        print("before_after: name the src of another tree to compare with.")
        return
    trees = {"past": str(options.past.resolve()), "now": str(Path(__file__).resolve().parents[1] / "src")}
    rounds = 1 if options.quick else options.rounds
    times = {tree: [] for tree in trees}
    for _ in range(rounds):
        for tree, source in trees.items():
            times[tree].append(seconds(source))
    figures = {}
    for name in FITS:
        past, now = (min(each[name] for each in times[tree]) for tree in ("past", "now"))
        figures[name] = {"past": past, "now": now, "ratio": now / past}
        if not options.json:
            print(f"{name:45}{past:8.3f} s{now:8.3f} s{now / past:7.2f}")
    if options.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
