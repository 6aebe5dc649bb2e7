"""Part-of-speech rows of Søgaard (2011) at full size: condensation, then prediction next to scikit-learn and TiMBL.

python benchmarks/pos.py            the WSJ sample and all of the Brown corpus, 1.2 million rows
python benchmarks/pos.py --quick    a tenth of it, each row says so
python benchmarks/pos.py --json     the rows as JSON on stdout
python benchmarks/pos.py --amounts ewt
                                    instead of that, SCNN by more and more unlabeled words, as `papers sogaard2011` has it
                                    on EWT or the WSJ sample, by cross-validation on the labeled part
python benchmarks/pos.py --pairs ewt
                                    instead of that, the pairs of tag and cluster in which CNN has more test words right than SCNN

Needs the corpora wsj-sample-pos and brown-pos (see `python -m papers data`); TiMBL takes part where the program `timbl` is found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder

from handful.errors import MissingDataError
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.representations.brown import BrownClusters
from handful.tagging.crf import CRF
from handful.tagging.stacked import token_rows
from papers.claims import Settings
from papers.corpora import load
from papers.sogaard2011 import plans as texts
from papers.sogaard2011.plans import GRID, Experiment, answers, blocks, cluster, fit

OPTIONS = {"n_neighbors": 2, "vote": "gaussian", "ties": "all"}
LIMIT = 60.0
AMOUNTS = (0, 30_000, 100_000, 300_000, 2_000_000)


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def prepare(quick):
    """Return labeled, unlabeled and test rows of (tag, cluster), with the gold tags."""
    sentences = list(load("wsj-sample-pos"))
    words, tags = [s.tokens for s in sentences], [s["pos"] for s in sentences]
    brown = [s.tokens for s in load("brown-pos")]
    if quick:
        brown = brown[: len(brown) // 10]
    a, b = len(words) * 60 // 100, len(words) * 75 // 100
    tagger = CRF(max_iter=10 if quick else 40).fit(words[:a], tags[:a])
    clusters = BrownClusters(100 if quick else 320, min_count=3).fit(brown).paths_

    def rows(text):
        return token_rows(text, tagger.predict(text), clusters)

    gold = [np.array([*chain.from_iterable(part)], dtype=object) for part in (tags[a:b], tags[b:])]
    return rows(words[a:b]), gold[0], rows(brown), rows(words[b:]), gold[1]


def measure(quick):
    T, gold_T, U, test, gold = prepare(quick)
    yield row("input tagger on the test rows", "accuracy", np.mean(test[:, 0] == gold), None, "(told)", None)
    X = np.concatenate([T, U])
    y = np.concatenate([gold_T, np.full(len(U), None)])
    SemiSupervisedCondensedNN(**OPTIONS).fit(X[:100], y[:100])  # compile
    cnn = CondensedNN(**OPTIONS).fit(T, gold_T)
    yield row(f"CNN, {len(cnn.kept_):,} of {len(T):,} labeled rows stored", "accuracy", cnn.score(test, gold), None,
              "(told)", None)  # fmt: skip
    seconds, model = timed(lambda: SemiSupervisedCondensedNN(**OPTIONS).fit(X, y))
    yield row(f"SCNN, {len(X):,} rows condensed to {len(model.kept_):,}", "seconds", seconds, LIMIT, f"< {LIMIT:.0f}",
              seconds < LIMIT)  # fmt: skip
    model.predict(test[:100])
    seconds, predicted = timed(lambda: model.predict(test))
    ours = len(test) / seconds
    yield row("SCNN prediction", "rows/s", ours, None, "(told)", None)
    yield row("SCNN", "accuracy", np.mean(predicted == gold), None, "(told)", None)
    # The peers store all rows, the unlabeled ones with the labels that SCNN found for them.
    labels = model.transduction_.astype(str)
    yield from scikit_learn(X, labels, test, gold, ours, 100)
    yield from timbl(X, labels, test, gold, ours)


def experiment(corpus, quick):
    """Return the rows of `python -m papers sogaard2011` on EWT or the WSJ sample."""
    settings = Settings(quick=quick, n_jobs=1)
    parts, brown = {"wsj": texts.wsj_sample, "ewt": texts.ewt}[corpus](), texts.brown_words()
    if quick:
        parts, brown = parts.first(600), texts.first_words(brown, 100_000)
    return Experiment(parts, brown, cluster(brown, settings), settings)


def pairs(corpus, quick):
    """Yield the test words that CNN has right beyond SCNN, with the same options, by their pair of tag and cluster."""
    task, options = experiment(corpus, quick), GRID[-1]
    right = {}
    for kind in ("cnn", "scnn"):
        predicted, _ = answers(fit(kind, options, task.T, task.gold_T, task.U), options, task.test)
        right[kind] = predicted == task.gold
        yield row(f"{corpus}: {kind}", "accuracy", right[kind].mean(), None, "(told)", None)
    lost: Counter[tuple[str, ...]] = Counter()
    for pair, cnn, scnn in zip(map(tuple, task.test.tolist()), right["cnn"], right["scnn"], strict=True):
        lost[pair] += int(cnn) - int(scnn)
    yield row(f"{corpus}: words lost by SCNN", "words", lost.total(), None, "(told)", None)
    for pair, n in lost.most_common(5):
        yield row(f"{corpus}: of these with tag and cluster {' '.join(pair)}", "words", n, None, "(told)", None)


def amounts(corpus, quick):
    """Yield accuracy on held-out labeled rows with no unlabeled words (CNN) and with more and more (SCNN), for some options."""
    task = experiment(corpus, quick)
    yield row(f"{corpus}: input tagger on the labeled rows", "accuracy", np.mean(task.T[:, 0] == task.gold_T), None,
              "(told)", None)  # fmt: skip
    for options in (GRID[-1], GRID[3]):
        named = f"{options.n_neighbors} neighbors, {options.vote}, tag {options.tag_weight}"
        for amount in dict.fromkeys(min(n, len(task.U)) for n in AMOUNTS):
            right = 0
            for train, judge in blocks(len(task.T), 3):
                kind = "scnn" if amount else "cnn"
                model = fit(kind, options, task.T[train], task.gold_T[train], task.U[:amount])
                right += (answers(model, options, task.T[judge])[0] == task.gold_T[judge]).sum()
            yield row(f"{corpus}, {named}: {kind}, {amount:,} unlabeled words", "accuracy", right / len(task.T), None,
                      "(told)", None)  # fmt: skip


def scikit_learn(X, labels, test, gold, ours, n_asked):
    encoder = OneHotEncoder(handle_unknown="ignore").fit(X.astype(str))
    peer = KNeighborsClassifier(5, algorithm="brute").fit(encoder.transform(X.astype(str)), labels)
    asked = np.linspace(0, len(test) - 1, n_asked).astype(int)
    seconds, predicted = timed(lambda: peer.predict(encoder.transform(test[asked].astype(str))))
    yield row(f"  KNeighborsClassifier on all rows, one-hot ({n_asked} rows asked)", "rows/s", ours, n_asked / seconds,
              "(told)", None)  # fmt: skip
    yield row("  KNeighborsClassifier on all rows", "accuracy", None, np.mean(predicted == gold[asked]), "(told)", None)


def timbl(X, labels, test, gold, ours):
    program = shutil.which("timbl")
    if program is None:
        yield row("  TiMBL is not installed", "", None, None, "(told)", None)
        return
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / name for name in ("train", "test", "answers")]
        for path, rows, truth in zip(names, (X, test), (labels, gold), strict=False):
            lines = (f"{tag} {cluster} {label}\n" for (tag, cluster), label in zip(rows, truth, strict=True))
            path.write_text("".join(lines), encoding="utf-8")
        command = [program, "-F", "Columns", "-f", names[0], "-t", names[1], "-o", names[2]]
        seconds, run = timed(lambda: subprocess.run(command, capture_output=True, text=True, check=False))
        if run.returncode != 0 or not names[2].exists():
            yield row(f"  TiMBL failed: {run.stderr.strip()[:60]}", "", None, None, "(told)", None)
            return
        predicted = [line.split()[3] for line in names[2].read_text(encoding="utf-8").splitlines() if line.strip()]
    # TiMBL tells the time of the test phase alone; learning the tree is not in it.
    speeds = re.findall(r"Seconds taken: [\d.]+ \(([\d.]+) p/s\)", run.stdout + run.stderr)
    yield row("  TiMBL on all rows, learning and testing", "seconds", None, seconds, "(told)", None)
    yield row("  TiMBL on all rows", "rows/s", ours, float(speeds[-1]) if speeds else None, "(told)", None)
    yield row("  TiMBL on all rows", "accuracy", None, np.mean(np.array(predicted) == gold), "(told)", None)


def row(what, unit, ours, peer, target, holds):
    ratio = ours / peer if unit == "rows/s" and ours and peer else None
    return {"what": what, "unit": unit, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "holds": holds}


def shown(value):
    return "" if value is None else f"{value:,.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the text")
    parser.add_argument("--json", action="store_true", help="print JSON on stdout")
    parser.add_argument("--amounts", choices=("wsj", "ewt"), help="SCNN by more and more unlabeled words")
    parser.add_argument("--pairs", choices=("wsj", "ewt"), help="where SCNN is worse than CNN")
    options = parser.parse_args()
    out = sys.stderr if options.json else sys.stdout
    load_now = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load {load_now:.1f}{', quick' if options.quick else ''}", file=out)
    print(f"{'what':<66} {'unit':<9} {'ours':>10} {'peer':>10} {'ratio':>9}  target", file=out)
    rows = []
    try:
        if options.amounts or options.pairs:
            entries = (amounts if options.amounts else pairs)(options.amounts or options.pairs, options.quick)
        else:
            entries = measure(options.quick)
        for entry in entries:
            entry["quick"] = options.quick
            rows.append(entry)
            verdict = {True: "holds", False: "DOES NOT HOLD", None: ""}[entry["holds"]]
            print(f"{entry['what']:<66} {entry['unit']:<9} {shown(entry['ours']):>10} {shown(entry['peer']):>10} "
                  f"{shown(entry['ratio']):>9}  {entry['target']} {verdict}", file=out, flush=True)  # fmt: skip
    except MissingDataError as error:
        print(f"not run: {error}", file=out)
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "load": load_now, "rows": rows}, indent=1, default=float))
    return int(any(entry["holds"] is False for entry in rows))


if __name__ == "__main__":
    sys.exit(main())
