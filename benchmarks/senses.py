"""Word senses by kernel PCA: toy tables, Senseval-2, the eigensolver, and fifty thousand rows.

Usage: python benchmarks/senses.py [--quick] [--json] [--part NAME ...] [--tagger FILE] [--jobs N]

Senseval-2 needs the data folder (HANDFUL_DATA). Every choice (features, weights, window, degree, components, neighbors, vote,
margin, constants of the baselines) was made by cross-validation on the training part; the test key is only scored against.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from itertools import chain

import numpy as np

PRINTED = {
    1: [[-1.961, 0.2829, 0.2014], [1.675, -1.132, 0.1049], [-0.367, 1.697, -0.2391], [-1.675, -1.132, -0.1049]],
    2: [[0.2801, -1.005, -0.06861], [1.149, 0.02934, 0.322], [0.8209, 0.7722, -0.2015], [-1.774, -0.1216, 0.03258]],
}
PAPER = {  # table 4 of the paper (16 verbs) and the parent paper's table (73 words)
    "16 largest verbs fine": {"most-frequent": 41.4, "naive-bayes": 55.4, "maximum-entropy": 54.9, "kernel-pca": 57.0,
                      "composite-kernel-pca": 57.4},
    "16 largest verbs coarse": {"most-frequent": 51.7, "naive-bayes": 64.2, "maximum-entropy": 64.1, "kernel-pca": 66.6,
                        "composite-kernel-pca": 67.2},
    "73 words fine": {"naive-bayes": 63.3, "maximum-entropy": 63.8, "linear-svm": 65.2, "kernel-pca": 65.8},
}  # fmt: skip
QUICK_WORDS = ("art.n", "bar.n", "collaborate.v", "drift.v", "ferret.v", "natural.a", "spade.n", "wash.v")


def toy(args):
    from handful.senses import toy_table

    found = {}
    for degree, printed in PRINTED.items():
        table = toy_table(degree)
        rows = table.projected[:4]
        turned = rows * np.sign((rows * np.array(printed)).sum(axis=0))
        found[f"degree {degree}"] = {
            "values, and how many differ in four digits": [turned.size, differing(turned, np.array(printed))],
            "class of the new row": table.answer,
            "class as the text defines kernel PCA": toy_table(degree, as_printed=False).answer,
            "distances as the text defines it": toy_table(degree, as_printed=False).distances[:4].round(4).tolist(),
        }
    return found


def differing(found, printed):
    """Count values that are not the printed ones when rounded to four significant digits."""
    unit = 10.0 ** (np.floor(np.log10(np.abs(found))) - 3)
    return int(np.count_nonzero(np.abs(np.round(found / unit) * unit - printed) > 1e-9))


def senseval(args):
    from handful.corpora.loading import load
    from handful.senses import compare_methods, harvest, largest_words, make_contexts

    train, test = list(load("senseval2-train")), list(load("senseval2-test"))
    if args.quick:
        train, test = ([o for o in part if o.word in QUICK_WORDS] for part in (train, test))
    coarse = load("senseval2-sensemap")
    words = sorted({o.word for o in train})
    seconds = {}
    start = time.perf_counter()
    tagger = ready_tagger(args)
    seconds["tagger"] = time.perf_counter() - start
    start = time.perf_counter()
    text = chain(*(load(name) for name in text_names(args)))
    # Senseval contexts hold a few sentences before that of the word
    unlabeled = harvest(
        text, words, tagger=tagger.predict, exclude=[*train, *test], before=3, limit=200 if args.quick else 1500
    )
    seconds["harvest"] = time.perf_counter() - start
    start = time.perf_counter()
    ready = [make_contexts(part, tagger.predict) for part in (train, test, unlabeled)]
    found = compare_methods(*ready, n_jobs=args.jobs)
    seconds["contexts, training and answers"] = time.perf_counter() - start
    verbs = [word for word in words if word.endswith(".v")]
    largest = largest_words(train, "v", 16)
    groups = {f"{len(verbs)} verbs": verbs, f"{len(largest)} largest verbs": largest, f"{len(words)} words": words}
    plain = compare_methods(
        *(make_contexts(part) for part in (train, test)),
        methods=["naive-bayes", "maximum-entropy", "linear-svm", "kernel-pca"],
        n_jobs=args.jobs,
    )
    return {
        "words": len(words),
        "training instances": len(train),
        "test instances": len(test),
        "unlabeled contexts": len(unlabeled),
        "seconds": seconds,
        "seconds by method, one process": {name: one.seconds for name, one in found.items()},
        "accuracy": accuracies(found, test, groups, coarse),
        "accuracy without tags and syntax": accuracies(plain, test, groups, coarse),
        "printed": PAPER,
        "tests": significance(found, test, groups),
        "branches": branches(found, test, groups, coarse),
        "errors": errors(found, train, test, coarse),
    }


def text_names(args):
    if args.quick:
        return ["unlabeled-news-bbc"]
    return ["brown-pos", "unlabeled-news-bbc", "unlabeled-news-abc", "unlabeled-news-reuters21578"]


def ready_tagger(args):
    from handful.core.store import read_model, write_model
    from handful.corpora.loading import load
    from handful.tagging.crf import CRF

    if args.tagger and os.path.exists(args.tagger):
        return read_model(args.tagger, {"crf": CRF}.get)
    sentences = list(load("conll2000-chunk-train"))[: 2000 if args.quick else None]
    tagger = CRF(algorithm="pa", max_iter=8).fit([s.tokens for s in sentences], [s["pos"] for s in sentences])
    if args.tagger:
        write_model(tagger, args.tagger)
    return tagger


def accuracies(found, test, groups, coarse):
    table = {}
    for name, words in groups.items():
        for kind, sense_map in (("fine", None), ("coarse", coarse)):
            scores = {m: 100 * one.score(test, words, sense_map).recall for m, one in found.items()}
            table[f"{name} {kind}"] = {m: round(value, 2) for m, value in scores.items()}
    return table


def significance(found, test, groups):
    from handful.evaluation.significance import mcnemar

    table = {}
    for name, words in groups.items():
        right = {m: list(one.score(test, words).credits.values()) for m, one in found.items()}
        for a, b in (
            ("kernel-pca", "naive-bayes"),
            ("kernel-pca", "maximum-entropy"),
            ("kernel-pca", "linear-svm"),
            ("composite-kernel-pca", "kernel-pca"),
        ):
            table[f"{name}: {a} against {b}"] = float(mcnemar(np.array(right[a]) > 0, np.array(right[b]) > 0))
    return table


def branches(found, test, groups, coarse):
    """Return the counterparts of tables 5 and 6: both models where the supervised one is trusted, and where it is not."""
    table = {}
    sources = found["composite-kernel-pca"].sources
    for name, words in groups.items():
        chosen = [o for o in test if o.word in set(words)]
        second = [o for o in chosen if sources.get(o.id) == "semi-supervised"]
        first = [o for o in chosen if sources.get(o.id) != "semi-supervised"]
        table[name] = {"share of fallbacks": round(100 * len(second) / len(chosen), 1)}
        old, new = found["kernel-pca"].answers, found["composite-kernel-pca"].answers
        changed = [o for o in second if old[o.id] != new[o.id]]
        table[name]["answers changed, for the better, for the worse"] = [
            len(changed),
            sum(new[o.id] in o.senses for o in changed),
            sum(old[o.id] in o.senses for o in changed),
        ]
        for where, part in (("trusted", first), ("doubted", second)):
            for kind, sense_map in (("fine", None), ("coarse", coarse)):
                for method in ("kernel-pca", "semi-supervised-kernel-pca"):
                    if part:
                        score = 100 * found[method].score(part, words, sense_map).recall
                        table[name][f"{where} {kind} {method}"] = round(score, 2)
    return table


def errors(found, train, test, coarse):
    """Tell where supervised kernel PCA goes wrong."""
    known = {(o.word, sense) for o in train for sense in o.senses}
    counts = Counter((o.word, sense) for o in train for sense in o.senses)
    frequent = found["most-frequent"].answers
    answers = found["kernel-pca"].answers
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
    any_right = [any(found[m].answers[o.id] in o.senses for m in found) for o in test]
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

    from handful.neighbors.kernel_map import fit_projection

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
    """Fit and ask fifty thousand rows in a process of its own, so that its peak memory is its own."""
    environment = {**os.environ, "HANDFUL_LARGE_ROWS": "12000" if args.quick else "50000"}
    run = subprocess.run(
        [sys.executable, __file__, "--part", "large-inner", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {**json.loads(run.stdout)["large-inner"], **digits(args)}


def large_inner(args):
    from sklearn.datasets import load_digits

    from handful.neighbors import KernelPCAClassifier

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
        kernel="rbf", gamma=0.05, max_gram_rows=min(20_000, n - 1), n_landmarks=1000, n_components=100, random_state=0
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

    from handful.neighbors import KernelPCAClassifier

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


PARTS = {"toy": toy, "eigen": eigen, "large": large, "senseval": senseval, "large-inner": large_inner}


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
    args = parser.parse_args()
    chosen = args.part or ["toy", "eigen", "large", *(["senseval"] if os.environ.get("HANDFUL_DATA") else [])]
    found = {"quick": args.quick} | {name: PARTS[name](args) for name in chosen}
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)


if __name__ == "__main__":
    main()
