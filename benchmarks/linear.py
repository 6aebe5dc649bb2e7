"""Linear-chain taggers against python-crfsuite on the same data and features, and accuracy on the usual corpora.

Needs HANDFUL_DATA (see `python -m papers data`) and the extra `bench`. Times are wall seconds with CPU seconds next to them, since
only the latter mean much on a busy machine. Training counts from features in memory to final weights on both sides;
tagging counts from tokens to tags, features included.

    python benchmarks/linear.py [--quick] [--json] [--only speed l1 conll2003 brown conll2000 pos]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from _shared import Clock, Rows, show_rows, usual_options

from handful.data.records import Sentence
from handful.errors import Step
from handful.linear.batch import log_loss, minimize
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import build_layout
from handful.linear.recorder import Recorder
from handful.preprocessing.extractor import Extractor
from handful.preprocessing.templates import lookup_templates, parse_templates, ready_set
from handful.tagging.base import check_sentences, encode_tags
from handful.tagging.crf import CRF
from handful.tagging.evaluation import chunk_f1
from papers.corpora import load

TWENTY = [
    "b",
    *(f"word.lower[{k}]" for k in range(-2, 3)),
    "word[0]",
    *(f"pos[{k}]" for k in range(-1, 2)),
    *(f"word.{side}{n}[0]" for side in ("prefix", "suffix") for n in (2, 3)),
    *(f"word.shape[{k}]" for k in range(-1, 2)),
    "word.lower[-1]|word.lower[0]",
    "word.lower[0]|word.lower[1]",
    "pos[-1]|pos[0]",
]
# Penalties and encoding for named entities were chosen on testa, iterations on testa and Wikigold; the strength
# for chunks on the last 1,000 training sentences; the strength for parts of speech was not tuned.
NER = {"penalty": "l1", "strength": 0.05, "extra_l2": 0.05, "encoding": "iobes", "max_iter": 40}
CLUSTERS = NER | {"max_iter": 50}
CHUNK = {"strength": 1.0, "max_iter": 120}
POS = {"strength": 0.5, "max_iter": 120}
Tagged = tuple[list[Sentence], list[list[str]]]


def tagged(name: str, column: str) -> Tagged:
    sentences = list(load(name))
    return sentences, [list(s[column]) for s in sentences]


def treebank(name: str) -> Tagged:
    trees = list(load(name))
    return [Sentence(t.sentence.tokens) for t in trees], [list(t.sentence["xpos"]) for t in trees]


def cluster_paths() -> dict[str, str]:
    """Read clusters; a word in capitals that has none takes that of its most frequent other spelling."""
    rows = sorted(load("brown-clusters-rcv1-c1000"), key=lambda row: -row.frequency)
    capitals: dict[str, str] = {}
    for row in rows:
        capitals.setdefault(row.word.upper(), row.path)
    return capitals | {row.word: row.path for row in rows}


def shape(word: str) -> str:
    out: list[str] = []
    for char in word:
        kind = "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


def observe(sentence: Sentence) -> list[list[str]]:
    """Write the twenty templates out by hand, as a user of CRFsuite would."""
    words, tags, n = sentence.tokens, sentence["pos"], len(sentence)
    low = ["<s>", "<s>", *(w.lower() for w in words), "</s>", "</s>"]
    pos = ["<s>", *tags, "</s>"]
    shapes = ["<s>", *map(shape, words), "</s>"]
    rows = []
    for t in range(n):
        word = words[t]
        row = [
            "l-2=" + low[t],
            "l-1=" + low[t + 1],
            "l=" + low[t + 2],
            "l+1=" + low[t + 3],
            "l+2=" + low[t + 4],
            "w=" + word,
            "p-1=" + pos[t],
            "p=" + pos[t + 1],
            "p+1=" + pos[t + 2],
            "s-1=" + shapes[t],
            "s=" + shapes[t + 1],
            "s+1=" + shapes[t + 2],
            "ll=" + low[t + 1] + "|" + low[t + 2],
            "lr=" + low[t + 2] + "|" + low[t + 3],
            "pp=" + pos[t] + "|" + pos[t + 1],
        ]
        if len(word) >= 2:
            row += ["p2=" + word[:2], "s2=" + word[-2:]]
        if len(word) >= 3:
            row += ["p3=" + word[:3], "s3=" + word[-3:]]
        rows.append(row)
    return rows


def crfsuite_train(train: Tagged, parameters: dict[str, Any], path: str) -> tuple[Clock, float, int, int]:
    """Return time, objective, iterations and number of features."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, tags in zip(*train, strict=True):
        trainer.append(observe(sentence), tags)
    trainer.set_params(parameters)
    with Clock() as clock:
        trainer.train(path)
    log = trainer.logparser
    return clock, log.last_iteration["loss"], log.last_iteration["num"], int(log.featgen_num_features)


def crfsuite_tag(path: str, sentences: list[Sentence]) -> tuple[Clock, list[list[str]]]:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    with Clock() as clock:
        tagged = [tagger.tag(observe(s)) for s in sentences]
    return clock, tagged


def problem(train: Tagged, n_jobs: int) -> tuple[Clock, Callable[..., Any], int]:
    """Encode once; return how long that took, the objective, and the number of features."""
    with Clock() as clock:
        extractor = Extractor(TWENTY)
        sentences, offsets = check_sentences(train[0], "bench")
        codes, labels = encode_tags(offsets, train[1], "bench")
        observed = extractor.fit_transform(sentences)
        node = observed.only(extractor.predicates_with(pairs=False))
        edge = observed.only(extractor.predicates_with(pairs=True))
        layout = build_layout(extractor.n_predicates, len(labels), node, edge, codes)
        chain = ChainStructure(layout, node, edge, n_jobs=n_jobs)
        objective = log_loss(chain, codes)
    return clock, objective, chain.n_features


class ReachedError(Exception):
    """Training has come as far as it was to be measured."""


def train_to(value: float, objective: Callable[..., Any], size: int, max_iter: int, **penalty: Any) -> Step:
    """Train until the objective is not above a value; return the last step."""
    last: list[Step] = []

    def watch(step: Step) -> None:
        last[:] = [step]
        if step.figures["objective"] <= value:
            raise ReachedError

    with suppress(ReachedError):
        minimize(objective, np.zeros(size), tol=0.0, max_iter=max_iter, recorder=Recorder(watch), **penalty)
    return last[0]


def f1(gold: list[list[str]], tagged: list[list[str]]) -> float:
    return round(100 * chunk_f1(gold, tagged).overall.f1, 2)


def speed(train: Tagged, tests: dict[str, Tagged], path: str) -> Rows:
    warm = problem((train[0][:50], train[1][:50]), 2)
    minimize(warm[1], np.zeros(warm[2]), l2=1.0, max_iter=3)
    theirs, target, n_iter, n_features = crfsuite_train(train, {"c1": 0.0, "c2": 1.0}, path)
    n_tokens = sum(map(len, train[0]))
    rows: Rows = []

    def row(who: str, clock: Clock, value: float, n: int, size: int) -> None:
        rate = round(n_tokens * n / clock.cpu / 1e6, 3)
        rows.append(
            {
                "task": "train L2",
                "who": who,
                "wall": round(clock.wall, 2),
                "cpu": round(clock.cpu, 2),
                "objective": round(value, 2),
                "iterations": n,
                "features": size,
                "M token-iterations/CPU s": rate,
                "times faster (wall)": round(theirs.wall / clock.wall, 2),
            }
        )

    row("crfsuite", theirs, target, n_iter, n_features)
    for n_jobs in (1, 2):
        encode, objective, size = problem(train, n_jobs)
        with Clock() as clock:
            last = train_to(target * 1.0001, objective, size, max_iter=2 * n_iter, l2=1.0)
        row(f"handful, {n_jobs} thread{'s' * (n_jobs > 1)}", clock, last.figures["objective"], last.done, size)
        rows[-1]["encoding (wall)"] = round(encode.wall, 2)
    models = {n: CRF(TWENTY, strength=1.0, n_jobs=n) for n in (1, 2)}
    models[2].fit(*train)
    for name, (sentences, gold) in tests.items():
        clock, tagged = crfsuite_tag(path, sentences)
        base, n = clock.wall, sum(map(len, gold))
        rows.append({"task": f"tag {name}", "who": "crfsuite", "F1": f1(gold, tagged), "tokens/s": round(n / base)})
        for n_jobs in (1, 2):
            models[2].set_params(n_jobs=n_jobs)
            models[2].predict(sentences[:100])
            with Clock() as clock:
                tagged = models[2].predict(sentences)
            rows.append(
                {
                    "task": f"tag {name}",
                    "who": f"handful, {n_jobs} thread{'s' * (n_jobs > 1)}",
                    "F1": f1(gold, tagged),
                    "tokens/s": round(n / clock.wall),
                    "times faster (wall)": round(base / clock.wall, 2),
                }
            )
    return rows


def sparse(train: Tagged, path: str) -> Rows:
    theirs, value, n_iter, size = crfsuite_train(train, {"c1": 1.0, "c2": 0.0}, path)
    rows: Rows = [{"task": "train L1", "who": "crfsuite", "objective": round(value, 2), "iterations": n_iter}]
    rows[0] |= {"wall": round(theirs.wall, 2), "cpu": round(theirs.cpu, 2), "features": size}
    _, objective, size = problem(train, 2)
    with Clock() as clock:
        last = train_to(value, objective, size, max_iter=2 * n_iter, l1=1.0)
    rows.append(
        {
            "task": "train L1",
            "who": "handful, 2 threads",
            "objective": round(last.figures["objective"], 2),
            "iterations": last.done,
            "wall": round(clock.wall, 2),
            "cpu": round(clock.cpu, 2),
            "features": size,
            "active": int(last.figures["active"]),
            "times faster (wall)": round(theirs.wall / clock.wall, 2),
        }
    )
    return rows


def accuracy(task: str, model: CRF, train: Tagged, tests: dict[str, Tagged], chunks: bool) -> Rows:
    with Clock() as clock:
        model.fit(*train)
    known = {word for sentence in train[0] for word in sentence.tokens}
    row: dict[str, Any] = {"task": task, "wall": round(clock.wall, 1), "cpu": round(clock.cpu, 1)}
    row |= {"iterations": model.n_iter_, "active": model.n_active_}
    for name, (sentences, gold) in tests.items():
        tagged = model.predict(sentences)
        if chunks:
            row[f"F1 {name}"] = f1(gold, tagged)
            continue
        words = [w for s in sentences for w in s.tokens]
        right = [a == b for x, y in zip(gold, tagged, strict=True) for a, b in zip(x, y, strict=True)]
        unseen = [ok for word, ok in zip(words, right, strict=True) if word not in known]
        row[f"accuracy {name}"] = round(100 * float(np.mean(right)), 2)
        row[f"unseen words {name}"] = round(100 * float(np.mean(unseen)), 2)
    return [row]


def main() -> None:
    parser = usual_options(__doc__, "2,000 training sentences, 60 iterations")
    tasks = ("speed", "l1", "conll2003", "brown", "conll2000", "pos")
    parser.add_argument("--only", nargs="+", choices=tasks, default=tasks)
    options = parser.parse_args()
    if not os.environ.get("HANDFUL_DATA"):
        print("not run: HANDFUL_DATA must name the data folder.")
        return
    most = 2000 if options.quick else None

    def model(templates: str | list[str], setting: dict[str, Any], **more: Any) -> CRF:
        limit = {"max_iter": min(60, setting["max_iter"])} if options.quick else {}
        return CRF(templates, n_jobs=2, **setting | limit, **more)

    def some(data: Tagged) -> Tagged:
        return data[0][:most], data[1][:most]

    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        if {"speed", "l1", "conll2003", "brown"} & set(options.only):
            train = some(tagged("conll2003-eng-train", "ner"))
            tests = {part: tagged(f"conll2003-eng-{part}", "ner") for part in ("testa", "testb")}
        if "speed" in options.only:
            rows += speed(train, tests, path)
        if "l1" in options.only:
            rows += sparse(train, path)
    if "conll2003" in options.only:
        rows += accuracy("CoNLL-2003, 79 templates, L1", model("ner", NER), train, tests, True)
    if "brown" in options.only:
        templates = [t.removeprefix("*:") for t in ready_set("ner")] + lookup_templates("brown", (4, 6, 10, 20))
        paths = {"brown": cluster_paths()}
        task = f"CoNLL-2003, {len(parse_templates(templates))} templates with clusters, L1"
        rows += accuracy(task, model(templates, CLUSTERS, lookups=paths), train, tests, True)
    if "conll2000" in options.only:
        train = some(tagged("conll2000-chunk-train", "chunk"))
        tests = {"test": tagged("conll2000-chunk-test", "chunk")}
        rows += accuracy("CoNLL-2000 chunks, L2", model("chunk", CHUNK), train, tests, True)
    if "pos" in options.only:
        sample = tagged("wsj-sample-pos", "pos")
        train = some((sample[0][:3500], sample[1][:3500]))
        tests = {"last 414": (sample[0][3500:], sample[1][3500:])}
        rows += accuracy("WSJ sample tags, L2", model("pos", POS), train, tests, False)
        train = some(treebank("en_ewt-ud-train"))
        tests = {"dev": treebank("en_ewt-ud-dev"), "test": treebank("en_ewt-ud-test")}
        rows += accuracy("UD English EWT XPOS, L2", model("pos", POS), train, tests, False)
    show_rows(rows, options)


if __name__ == "__main__":
    main()
