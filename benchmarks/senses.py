"""Word senses by kernel PCA: toy tables, Senseval-2, the eigensolver, and fifty thousand rows.

Usage: python benchmarks/senses.py [--quick] [--json] [--part NAME ...] [--tagger FILE] [--jobs N]

Senseval-2 needs the data folder (HANDFUL_DATA). Every choice (features, weights, window, degree, components, neighbors, vote,
margin, constants of the baselines) was made by cross-validation on the training part; the test key is only scored against.
``--part few`` learns from 20 and 100 contexts of each of 20 nouns (CoarseWSD-20, HANDFUL_DEVDATA), natural and balanced, two draws:
the method chosen by cross-validation, and single methods.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict

import numpy as np


def toy(args):
    from papers.su2004.plans import measure_toy
    from papers.toy import toy_table

    results = measure_toy()
    for degree in (1, 2):
        table = toy_table(degree, as_printed=False)
        results[f"degree {degree}, class as the text defines kernel PCA"] = table.answer
        results[f"degree {degree}, distances as the text defines it"] = table.distances[:4].round(4).tolist()
    return results


def senseval(args):
    from handful.senses.features import make_contexts
    from papers.claims import load_paper
    from papers.su2004.methods import compare_methods
    from papers.su2004.plans import branches, read_senseval, unlabeled_contexts

    data = read_senseval(quick=args.quick)
    seconds = {}
    start = time.perf_counter()
    tagger = ready_tagger(args)
    seconds["tagger"] = time.perf_counter() - start
    start = time.perf_counter()
    unlabeled = unlabeled_contexts(data, tagger, quick=args.quick)
    seconds["harvest"] = time.perf_counter() - start
    start = time.perf_counter()
    ready = [make_contexts(part, tagger.predict) for part in (data.train, data.test, unlabeled)]
    results = compare_methods(*ready, n_jobs=args.jobs)
    seconds["contexts, training and answers"] = time.perf_counter() - start
    plain = compare_methods(
        *(make_contexts(part) for part in (data.train, data.test)),
        methods=["naive-bayes", "maximum-entropy", "linear-svm", "kernel-pca"],
        n_jobs=args.jobs,
    )
    groups = {f"{len(words)} {name}": words for name, words in data.groups().items()}
    return {
        "words": len(data.words),
        "training instances": len(data.train),
        "test instances": len(data.test),
        "unlabeled contexts": len(unlabeled),
        "seconds": seconds,
        "seconds by method, one process": {name: one.seconds for name, one in results.items()},
        "accuracy": {name: rounded_accuracies(results, data, words) for name, words in groups.items()},
        "accuracy without tags and syntax": {
            name: rounded_accuracies(plain, data, words) for name, words in groups.items()
        },
        "printed": {claim.id: claim.paper for claim in load_paper("su2004").claims if claim.metric == "accuracy %"},
        "tests": significance(results, data, groups),
        "branches": {
            name: {what: round(value, 2) for what, value in branches(results, data, words).items()}
            for name, words in groups.items()
        },
        "errors": errors(results, data.train, data.test, data.coarse),
    }


def ready_tagger(args):
    from handful.persistence.model_file import load, save
    from handful.tagging.crf import CRF
    from papers.su2004.plans import train_tagger

    if args.tagger and os.path.exists(args.tagger):
        return load(args.tagger, {"crf": CRF}.get)
    tagger = train_tagger(quick=args.quick)
    if args.tagger:
        save(tagger, args.tagger)
    return tagger


def rounded_accuracies(results, data, words):
    from papers.su2004.plans import accuracies

    return {name: round(value, 2) for name, value in accuracies(results, data, words).items()}


def significance(results, data, groups):
    from papers.su2004.plans import paired_test

    pairs = [("kernel-pca", rival) for rival in ("naive-bayes", "maximum-entropy", "linear-svm")]
    pairs.append(("composite-kernel-pca", "kernel-pca"))
    return {
        f"{name}: {a} against {b}": paired_test(results, data, words, a, b)
        for name, words in groups.items()
        for a, b in pairs
    }


def errors(results, train, test, coarse):
    """Tell where supervised kernel PCA goes wrong."""
    known = {(o.word, sense) for o in train for sense in o.senses}
    counts = Counter((o.word, sense) for o in train for sense in o.senses)
    frequent = results["most-frequent"].answers
    answers = results["kernel-pca"].answers
    wrong = [o for o in test if answers[o.id] not in o.senses]
    unseen = [o for o in test if not any((o.word, sense) in known for sense in o.senses)]
    rare = [o for o in wrong if 0 < max(counts[o.word, sense] for sense in o.senses) < 5]
    near = [o for o in wrong if coarse.get(answers[o.id], answers[o.id]) in {coarse.get(s, s) for s in o.senses}]
    by_part = {}
    for part in "nva":
        chosen = [o for o in test if o.word.endswith(f".{part}")]
        if chosen:
            by_part[part] = round(100 * np.mean([answers[o.id] in o.senses for o in chosen]), 2)
    marks = {}
    for mark in ("U", "P"):
        chosen = [o for o in test if mark in o.senses]
        if chosen:
            marks[mark] = round(100 * np.mean([answers[o.id] in o.senses for o in chosen]), 1)
    any_right = [any(results[m].answers[o.id] in o.senses for m in results) for o in test]
    return {
        "errors": len(wrong),
        "of these, answered with the most frequent sense": sum(answers[o.id] == frequent[o.id] for o in wrong),
        "of these, right when scored coarsely": len(near),
        "of these, sense never seen in training": len([o for o in unseen if answers[o.id] not in o.senses]),
        "of these, sense seen less than 5 times": len(rare),
        "accuracy by part of speech": by_part,
        "accuracy on instances marked U and P": marks,
        "some method right": round(100 * float(np.mean(any_right)), 2),
    }


def eigen(args):
    """Compare one word's decomposition with scipy's on the same matrix, taking turns."""
    from scipy import linalg

    from handful.neighbors.kernel_pca import fit_projection

    n = 400 if args.quick else 1637
    rng = np.random.default_rng(0)
    X = (rng.random((n, 8000)) < 0.02 * rng.random(8000)).astype(float)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    gram = (X @ X.T) ** 2
    centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    ours, theirs = [], []
    for _ in range(3 if args.quick else 5):
        start = time.perf_counter()
        fit_projection(lambda a, b: gram[np.ix_(a, b)], np.arange(n), None, "auto", 1, n, np.random.RandomState(0))
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        linalg.eigh(centered)
        theirs.append(time.perf_counter() - start)
    return {
        "rows": n,
        "seconds with centring and scaling": min(ours),
        "seconds of scipy.linalg.eigh": min(theirs),
        "ratio": min(ours) / min(theirs),
    }


def large(args):
    """Fit and ask fifty thousand rows in a separate process to measure its peak memory."""
    environment = {**os.environ, "HANDFUL_LARGE_ROWS": "12000" if args.quick else "50000"}
    run = subprocess.run(
        [sys.executable, __file__, "--part", "large-inner", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {**json.loads(run.stdout)["large-inner"], **digits(args)}


def large_inner(args):
    from sklearn.datasets import load_digits

    from handful.neighbors.kernel_pca import KernelPCAClassifier

    n = int(os.environ["HANDFUL_LARGE_ROWS"])
    X, y = load_digits(return_X_y=True)
    X = X / 16
    rng = np.random.default_rng(0)
    pick = rng.integers(0, 1200, n)
    rows = X[pick] + rng.normal(scale=0.1, size=(n, X.shape[1]))
    labels = np.where(rng.random(n) < 0.02, y[pick], -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    model = KernelPCAClassifier(
        kernel="rbf", gamma=0.05, solver="nystrom", n_landmarks=1000, n_components=100, random_state=0
    ).fit(rows, labels)
    fitted = time.perf_counter()
    score = model.score(X[1200:], y[1200:])
    return {
        "rows": n,
        "labeled rows": int(np.count_nonzero(labels >= 0)),
        "solver": model.solver_,
        "seconds": fitted - start,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "MB before": before,
        "MB of the full Gram matrix": n * n * 8 / 2**20,
        "accuracy on held-out digits": 100 * score,
    }


def digits(args):
    from sklearn.datasets import load_digits

    from handful.neighbors.kernel_pca import KernelPCAClassifier

    X, y = load_digits(return_X_y=True)
    X = X / 16
    exact = KernelPCAClassifier(kernel="rbf", gamma=0.05).fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])
    rough = [
        KernelPCAClassifier(kernel="rbf", gamma=0.05, solver="nystrom", n_landmarks=300, random_state=seed)
        .fit(X[:1200], y[:1200])
        .score(X[1200:], y[1200:])
        for seed in range(5)
    ]
    return {"digits, exact": 100 * exact, "digits, 300 landmarks, 5 seeds": [round(100 * r, 2) for r in rough]}


def few(args):
    import pandas as pd

    from handful.data.records import Occurrence
    from handful.preprocessing.sentence_encoders import encoder_at_hand
    from handful.senses.classifier import SenseClassifier

    path = os.path.join(os.environ["HANDFUL_DEVDATA"], "senses", "coarsewsd20.tsv.gz")
    of_word = defaultdict(list)
    for number, row in enumerate(pd.read_csv(path, sep="\t", quoting=3).itertuples()):
        tokens = tuple(row.sentence.split(" "))
        of_word[row.word].append(Occurrence(f"{row.word}.n", str(number), tokens, row.target_index, (row.sense,)))
    methods = ["auto", "naive-bayes", "linear-svm", "kernel-pca", *(["embeddings"] if encoder_at_hand() else [])]
    results = {}
    for balanced in (False, True):
        for size in (20,) if args.quick else (20, 100):
            scores = defaultdict(list)
            for seed in range(args.first_draw, args.first_draw + (1 if args.quick else 2)):
                train, test = sample(of_word, size, balanced, seed)
                for method in methods:
                    start = time.process_time()
                    model = SenseClassifier(method).fit(train)
                    scores[f"{method}, CPU seconds"].append(time.process_time() - start)
                    scores[method].append(100 * model.score(test))
            name = f"{size} contexts of each of {len(of_word)} nouns, {'balanced' if balanced else 'natural'}"
            results[name] = {key: round(float(np.mean(values)), 1) for key, values in scores.items()}
    return results


def sample(of_word, size, balanced, seed):
    """Return contexts to train on, as they come or the same number of each sense, and contexts to test on, as they come."""
    rng = np.random.default_rng([seed, size, balanced])
    train, test = [], []
    for contexts in of_word.values():
        order = rng.permutation(len(contexts))
        n_test = min(80, len(contexts) // 3)
        test += [contexts[i] for i in order[:n_test]]
        rest = [contexts[i] for i in order[n_test:]]
        of_sense = defaultdict(list)
        for context in rest:
            of_sense[context.senses[0]].append(context)
        each = max(1, size // len(of_sense))
        train += [context for group in of_sense.values() for context in group[:each]] if balanced else rest[:size]
    return train, test


PARTS = {"few": few, "toy": toy, "eigen": eigen, "large": large, "senseval": senseval, "large-inner": large_inner}


def show(value, indent=0):
    for name, item in value.items():
        if isinstance(item, dict):
            print(f"{'  ' * indent}{name}")
            show(item, indent + 1)
        else:
            print(f"{'  ' * indent}{name}: {item:.4g}" if isinstance(item, float) else f"{'  ' * indent}{name}: {item}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few words and small matrices")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--part", action="append", choices=PARTS, help="run this part only (may be repeated)")
    parser.add_argument("--tagger", help="model file of the tagger: read if there, else written")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--first-draw", type=int, default=0, help="seed of the draws of --part few")
    args = parser.parse_args()
    chosen = args.part or ["toy", "eigen", "large", *(["senseval"] if os.environ.get("HANDFUL_DATA") else [])]
    results = {"quick": args.quick} | {name: PARTS[name](args) for name in chosen}
    if args.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    main()
