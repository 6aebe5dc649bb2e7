"""Speed and exactness of `handful.neighbors` next to its peers: one run, ratios.

python benchmarks/neighbors.py            everything (imbalanced-learn alone takes minutes)
python benchmarks/neighbors.py --quick    smaller tables, each row says so
python benchmarks/neighbors.py --json     the rows as JSON on stdout
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import KNeighborsClassifier

from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


def timed(function, repeat=1):
    """Return the best time of some runs, and the last result."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def two_clouds(n, d, gap, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * y
    return X, y


def warm_up():
    """Compile, so that no measurement pays for it."""
    X, y = two_clouds(3000, 20, 2.0)
    CondensedNN().fit(X, y).predict(X)
    hidden = np.where(np.arange(200) < 10, y[:200], -1)
    OrdinalKNN().fit(X[:200], hidden)
    table = np.array([["a", "b"], ["b", "a"]], dtype=object)
    CondensedNN(3, ties="all").fit(table, ["x", "y"]).predict(table)


def exactness(quick):
    """Compare with the literal oracles on small problems full of ties."""
    from oracles.condense import condense, semi_supervised_condense
    from oracles.ordinal import transduce

    n_problems = 40 if quick else 200
    equal = dict.fromkeys(["CNN", "WCNN", "SCNN", "ordinal", "random order"], 0)
    total = 0
    for seed in range(n_problems):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 20))
        X = rng.integers(0, 4, size=(n, int(rng.integers(1, 4)))).astype(float)
        y = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, size=n)]
        hidden = y.copy()
        hidden[3:][rng.random(n - 3) < 0.5] = None
        rows = X.tolist()
        for k in (1, 3, 5):
            total += 1
            equal["CNN"] += CondensedNN(k).fit(X, y).kept_.tolist() == condense(rows, y, k)
            weak = CondensedNN(k, min_confidence=0.55).fit(X, y)
            equal["WCNN"] += weak.kept_.tolist() == condense(rows, y, k, 0.55)
            scnn = SemiSupervisedCondensedNN(k).fit(X, hidden)
            equal["SCNN"] += scnn.kept_.tolist() == semi_supervised_condense(rows, hidden, k)[2]
            for name, order in (("ordinal", "distance_factor"), ("random order", "random")):
                model = OrdinalKNN(k, order=order, random_state=seed).fit(X, hidden)
                steps, _ = transduce(rows, hidden, k, order=model.order_)
                literal = [(s.label, round(s.confidence, 9), round(s.distance_factor, 9)) for s in steps]
                ours = zip(
                    model.transduction_[model.order_].tolist(),
                    model.confidence_.round(9).tolist(),
                    model.distance_factor_.round(9).tolist(),
                    strict=True,
                )
                smallest = all(s.distance_factor <= min(s.factors.values()) + 1e-9 for s in steps)
                equal[name] += literal == list(ours) and (smallest or order == "random")
    for name, count in equal.items():
        yield row(f"{name} equals the literal oracle", "runs equal", count, total, count / total, "all", count == total)


def condensation(quick):
    n = 2_000 if quick else 10_000
    X, y = two_clouds(n, 20, 1.0)
    seconds, model = timed(lambda: CondensedNN().fit(X, y), 5)
    all_seconds, full = timed(lambda: CondensedNN(max_passes=None).fit(X, y), 3)
    try:
        from imblearn.under_sampling import CondensedNearestNeighbour
    except ImportError:
        yield row(f"CondensedNN, n={n}, d=20", "seconds", seconds, None, None, ">= 500 x imbalanced-learn", None)
    else:
        sampler = CondensedNearestNeighbour(random_state=0)
        peer_seconds, (peer_X, peer_y) = timed(lambda: sampler.fit_resample(X, y))
        ratio = peer_seconds / seconds
        yield row(f"CondensedNN one sweep, n={n}, d=20 / imbalanced-learn", "seconds", seconds, peer_seconds, ratio,
                  ">= 500", ratio >= 500)  # fmt: skip
        yield row(f"CondensedNN to convergence, n={n}, d=20 / imbalanced-learn", "seconds", all_seconds, peer_seconds,
                  peer_seconds / all_seconds, "(told)", None)  # fmt: skip
        peer = KNeighborsClassifier(1).fit(peer_X, peer_y).score(X, y)
        yield row("training consistency of imbalanced-learn's set", "accuracy", peer, None, None, "(told)", None)
    accuracy = full.score(X, y)
    yield row(f"max_passes=None is 1-NN consistent ({len(full.kept_)} of {n} kept)", "accuracy", accuracy,
              None, None, "1", accuracy == 1)  # fmt: skip
    literal_n = 400 if quick else 1_000
    literal_seconds, kept = timed(lambda: literal_condense(X[:literal_n], y[:literal_n]))
    seconds, model = timed(lambda: CondensedNN().fit(X[:literal_n], y[:literal_n]), 5)
    yield row(f"CondensedNN, n={literal_n}, d=20 / literal numpy loop", "seconds", seconds, literal_seconds,
              literal_seconds / seconds, "same set", model.kept_.tolist() == kept)  # fmt: skip
    big = 20_000 if quick else 200_000
    X, y = two_clouds(big, 20, 2.5, seed=1)
    tracemalloc.start()
    seconds, model = timed(lambda: CondensedNN().fit(X, y))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield row(f"CondensedNN, n={big}, d=20 ({len(model.kept_)} kept)", "seconds", seconds, None, None, "minutes",
              seconds < 600)  # fmt: skip
    per_row = peak / big
    yield row(
        f"its memory without the table, n={big}", "bytes a row", per_row, None, None, "O(n): < 1000", per_row < 1000
    )


def literal_condense(X, y):
    kept = []
    for i in range(len(X)):
        if kept:
            d = np.sqrt(((X[kept] - X[i]) ** 2).sum(axis=1))
            if y[kept[int(d.argmin())]] == y[i]:
                continue
        kept.append(i)
    return kept


def literal_ordinal(X, y, sigma=1.0):
    """Run the loop of the paper as printed, everything computed anew at every step, with numpy inside."""
    labels, classes = y.copy(), np.unique(y[y >= 0])
    waiting, order = np.flatnonzero(y < 0).tolist(), []
    while waiting:
        best, best_factor = -1, np.inf
        for i in waiting:
            distances = []
            for j in classes:
                members = X[labels == j]
                log_weight = -((members - X[i]) ** 2).sum(axis=1) / (2 * sigma**2)
                w = np.exp(log_weight - log_weight.max())
                distances.append(np.sqrt((((w / w.sum()) @ members - X[i]) ** 2).sum()))
            factor = min(distances) / sum(distances)
            if factor < best_factor:
                best, best_factor = i, factor
        known = np.flatnonzero(labels >= 0)
        labels[best] = labels[known[int(((X[known] - X[best]) ** 2).sum(axis=1).argmin())]]
        waiting.remove(best)
        order.append(best)
    return order, labels


def ordinal(quick):
    n = 100 if quick else 400
    rng = np.random.default_rng(0)
    truth = np.arange(n + 8) % 4
    X = rng.normal(size=(n + 8, 18)) + 2.0 * rng.normal(size=(4, 18))[truth]
    y = np.where(np.arange(n + 8) < 8, truth, -1)
    seconds, model = timed(lambda: OrdinalKNN().fit(X, y), 5)
    literal_seconds, (order, labels) = timed(lambda: literal_ordinal(X, y))
    same = model.order_.tolist() == order and model.transduction_.tolist() == labels.tolist()
    ratio = literal_seconds / seconds
    yield row(f"OrdinalKNN, {n} unlabeled, d=18 / literal loop", "seconds", seconds, literal_seconds, ratio, ">= 500",
              ratio >= 500)  # fmt: skip
    yield row("the two give the same order and labels", "", float(same), None, None, "1", same)
    n = 5_000 if quick else 20_000
    X, truth = two_clouds(n + 20, 20, 8.0)
    y = np.where(np.arange(n + 20) < 20, truth, -1)
    peer_seconds, _ = timed(lambda: [None for part in pairwise_distances_chunked(X)], 2)
    seconds, model = timed(lambda: OrdinalKNN().fit(X, y))
    ratio = seconds / peer_seconds
    yield row(f"OrdinalKNN, {n} unlabeled, d=20 / one pairwise pass of scikit-learn", "seconds", seconds, peer_seconds,
              ratio, "<= 4", ratio <= 4)  # fmt: skip


def part_of_speech_shape(quick):
    """Condense generated rows with the shape of the part-of-speech data: two categorical columns, a few thousand distinct."""
    n = 120_000 if quick else 1_200_000
    rng = np.random.default_rng(0)
    cluster = np.minimum(rng.zipf(1.3, size=2 * n), 500)[:n] - 1
    gold = (cluster * 7 + (rng.random(n) < 0.15) * rng.integers(0, 45, size=n)) % 45
    tagged = np.where(rng.random(n) < 0.04, rng.integers(0, 45, size=n), gold)
    table = np.column_stack([tagged, cluster]).astype(float)
    names = np.array([f"T{g}" for g in range(45)])[gold]
    test, rest = slice(0, n // 10), slice(n // 10, n)
    model = CondensedNN(1, ties="all", categorical=[0, 1])
    seconds, _ = timed(lambda: model.fit(table[rest], names[rest]))
    distinct = len(np.unique(table, axis=0))
    yield row(f"CondensedNN, generated part-of-speech shape, {n} rows, {distinct} distinct ({len(model.kept_)} kept)",
              "seconds", seconds, None, None, "< 60", seconds < 60)  # fmt: skip
    seconds, accuracy = timed(lambda: model.score(table[test], names[test]))
    peer_rows = 20_000 if quick else 100_000  # scikit-learn compares with every row: a part of the store must do
    asked = slice(0, 2_000)
    indicators = np.zeros((n, 45 + 500), dtype=np.float32)
    indicators[np.arange(n), tagged] = indicators[np.arange(n), 45 + cluster] = 1
    peer = KNeighborsClassifier(1, algorithm="brute").fit(indicators[rest][:peer_rows], names[rest][:peer_rows])
    peer_seconds, peer_accuracy = timed(lambda: peer.score(indicators[asked], names[asked]))
    speed, peer_speed = (n // 10) / seconds, 2_000 / peer_seconds
    yield row(f"prediction / KNeighborsClassifier on {peer_rows} rows", "rows/s", speed, peer_speed, speed / peer_speed,
              "(told)", None)  # fmt: skip
    yield row("accuracy / KNeighborsClassifier", "accuracy", accuracy, peer_accuracy, None, "(told)", None)


def row(what, unit, ours, peer, ratio, target, holds):
    return {"what": what, "unit": unit, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "holds": holds}


def shown(value):
    return "" if value is None else f"{value:,.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    parser.add_argument("--json", action="store_true", help="print JSON on stdout")
    options = parser.parse_args()
    warm_up()
    rows = []
    out = sys.stderr if options.json else sys.stdout
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load {load:.1f}{', quick' if options.quick else ''}", file=out)
    print(f"{'what':<88} {'unit':<12} {'ours':>10} {'peer':>10} {'ratio':>9}  target", file=out)
    for part in (exactness, condensation, ordinal, part_of_speech_shape):
        for entry in part(options.quick):
            entry["quick"] = options.quick
            rows.append(entry)
            verdict = {True: "holds", False: "DOES NOT HOLD", None: ""}[entry["holds"]]
            print(f"{entry['what']:<88} {entry['unit']:<12} {shown(entry['ours']):>10} {shown(entry['peer']):>10} "
                  f"{shown(entry['ratio']):>9}  {entry['target']} {verdict}", file=out, flush=True)  # fmt: skip
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "load": load, "rows": rows}, indent=1, default=float))
    return int(any(entry["holds"] is False for entry in rows))


if __name__ == "__main__":
    sys.exit(main())
