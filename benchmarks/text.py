"""Taggers from few sentences: what `handful fit tagger` gives, against python-crfsuite with a feature function of 20 lines,
and spaCy's blank models (30 epochs) where spaCy is installed.

python benchmarks/text.py --folder FOLDER                    all corpora of FOLDER, 50, 200 and 1,000 sentences, three draws
python benchmarks/text.py --folder FOLDER --raw news.txt.gz  beside it, clusters of that text (read once)
python benchmarks/text.py --only ewt-xpos wsj-sample --sizes 0 --clusters FILE --algorithm pa   parts of speech, all sentences
python benchmarks/text.py --condense --raw news.txt.gz       file size, F1 and speed of what 'handful condense' makes of it,
                                                             beside the base and a tagger fitted with an L1 penalty
python benchmarks/text.py --quick                            50 and 200 sentences, one draw, 300 test sentences

FOLDER (by default that of HANDFUL_DEVDATA) holds pairs NAME-train.tsv.gz and NAME-test.tsv.gz: one token and its tag per line,
a blank line after each sentence; of a set in one file (NAME.tsv.gz, or NAME-devel.tsv.gz) every third sentence is for the test.
CoNLL-2003 takes part where `handful data` knows it, with its development part (testa) as the test, and so do the parts of
speech of UD English EWT (development part; --final takes the test part) and of the WSJ sample (the 15 percent after the first
60; --final takes the last 25 percent, and learns from all before). A size of 0 is all sentences.
Scores: F1 of spans, or the share of right tags where there are no spans, and of right tags of words not seen in training.
All learn from the same sentences.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pycrfsuite

from handful.core.errors import MissingDataError
from handful.corpora import load
from handful.corpora.formats import to_iob2
from handful.corpora.sentences import read_sentences
from handful.corpora.tagged import read_tagged
from handful.evaluation.chunks import score_tags
from handful.methods import load as load_model
from handful.representations import BrownClusters
from handful.tagging.crf.tuning import has_spans
from handful.tagging.recipes import TaggerSetup


def features(words, i):
    """Return what python-crfsuite observes at a token: the 20 lines that everybody starts with."""
    word = words[i]
    seen = [
        "bias",
        "lower=" + word.lower(),
        "word=" + word,
        "suffix3=" + word[-3:],
        "suffix2=" + word[-2:],
        "prefix3=" + word[:3],
        f"upper={word.isupper()}",
        f"title={word.istitle()}",
        f"digit={word.isdigit()}",
        f"hyphen={'-' in word}",
        "shape=" + "".join("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in word[:8]),
    ]
    for offset in (-2, -1, 1, 2):
        if 0 <= i + offset < len(words):
            near = words[i + offset]
            seen += [
                f"{offset}lower={near.lower()}",
                f"{offset}title={near.istitle()}",
                f"{offset}upper={near.isupper()}",
            ]
        else:
            seen.append(f"{offset}edge")
    return seen


def crfsuite(sentences, tags, test):
    """Train python-crfsuite (L1 0.1, L2 0.1, 100 iterations) and tag."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.1, "c2": 0.1, "max_iterations": 100})
    for words, row in zip(sentences, tags, strict=True):
        trainer.append([features(words, i) for i in range(len(words))], row)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        return [tagger.tag([features(words, i) for i in range(len(words))]) for words in test]


def spacy_blank(sentences, tags, test, spans, n_epochs=30):
    """Train a blank model of spaCy and tag; the tokens are given."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("ner" if spans else "tagger")
    rng = np.random.default_rng(0)

    def annotated(words, row):
        if spans:
            inner = to_iob2(row)
            return Doc(nlp.vocab, words=words, ents=list(inner))
        return Doc(nlp.vocab, words=words, tags=list(row))

    examples = [
        Example(Doc(nlp.vocab, words=words), annotated(words, row)) for words, row in zip(sentences, tags, strict=True)
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(n_epochs):
        for batch in minibatch([examples[i] for i in rng.permutation(len(examples))], size=32):
            nlp.update(batch, sgd=optimizer, drop=0.2)
    docs = nlp.pipe(Doc(nlp.vocab, words=words) for words in test)
    if not spans:
        return [[word.tag_ for word in doc] for doc in docs]
    return [[f"{word.ent_iob_}-{word.ent_type_}" if word.ent_type_ else "O" for word in doc] for doc in docs]


def condensing(sentences, tags, test, gold, spans, raw):
    """Return rows of the base, an L1 tagger and the condensed base: score, bytes of the file, microseconds per token."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            "".join(f"{w}\t{t}\n" for w, t in zip(words, row, strict=True))
            for words, row in zip(sentences, tags, strict=True)
        ]
        Path(f"{folder}/train.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        Path(f"{folder}/raw.txt").write_text("\n".join(map(" ".join, raw)) + "\n", encoding="utf-8")
        handful("fit", "tagger", "train.tsv", "--model", "base.handful", folder=folder)
        handful("fit", "tagger", "train.tsv", "--penalty", "l1", "--model", "l1.handful", folder=folder)
        facts = handful(
            "condense", "base.handful", "train.tsv", "raw.txt", "-o", "condensed.handful", "--json", folder=folder
        )
        for name in ("base", "l1", "condensed"):
            path = Path(folder) / f"{name}.handful"
            tagger = load_model(path)
            tagger.predict(test[:10])
            seconds = []
            for _ in range(3):
                start = time.process_time()
                found = tagger.predict(test)
                seconds.append(time.process_time() - start)
            score = score_tags(gold, found, spans)["f1" if spans else "accuracy"]
            rows[name] = (100 * score, path.stat().st_size, 1e6 * min(seconds) / sum(map(len, test)))
    return rows, json.loads(facts)["way"]


def handful(*words, folder):
    """Run a command as a person would, and return what it says."""
    command = [sys.executable, "-m", "handful", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def parts_of_speech(name, final):
    """Return training and test sentences of a corpus of parts of speech."""
    if name == "wsj-sample":
        whole = list(load("wsj-sample-pos"))
        a, b = len(whole) * 60 // 100, len(whole) * 75 // 100
        parts, column = (whole[:b], whole[b:]) if final else (whole[:a], whole[a:b]), "pos"
    else:
        column = name.removeprefix("ewt-")
        parts = [[t.sentence for t in load(f"en_ewt-ud-{part}")] for part in ("train", "test" if final else "dev")]
    return [SimpleNamespace(sentences=[s.tokens for s in part], tags=[s[column] for s in part]) for part in parts]


def corpora(folder, only, final):
    """Yield name, training and test sentences of every corpus at hand."""
    for name in ("ewt-xpos", "ewt-upos", "wsj-sample"):
        if only and name in only:
            yield name, *parts_of_speech(name, final)
    if not only or "conll2003" in only:
        try:
            parts = [list(load(f"conll2003-eng-{part}")) for part in ("train", "testa")]
            rows = [SimpleNamespace(sentences=[s.tokens for s in p], tags=[s["ner"] for s in p]) for p in parts]
            yield "conll2003", *rows
        except MissingDataError as error:
            print(f"conll2003 is left out: {error}", file=sys.stderr)
    for path in sorted(Path(folder).glob("*-train.tsv.gz")) if folder else ():
        name = path.name.removesuffix("-train.tsv.gz")
        other = path.with_name(f"{name}-test.tsv.gz")
        if other.exists() and (not only or name in only):
            yield name, read_tagged(path, ("token", "tag")), read_tagged(other, ("token", "tag"))
    for path in sorted(Path(folder).glob("*.tsv.gz")) if folder else ():
        name = path.name.removesuffix(".tsv.gz").removesuffix("-devel")
        if not name.endswith(("-train", "-test", "-dev")) and (not only or name in only):
            yield name, *thirds(read_tagged(path, ("token", "tag")))


def thirds(data):
    """Return two thirds of a set for training, and every third sentence for the test."""
    numbers = range(len(data.sentences))
    return [
        SimpleNamespace(sentences=[data.sentences[i] for i in part], tags=[data.tags[i] for i in part])
        for part in ([i for i in numbers if i % 3], [i for i in numbers if i % 3 == 0])
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = os.environ.get("HANDFUL_DEVDATA")
    parser.add_argument("--folder", default=usual and str(Path(usual) / "tagged"))
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--raw", help="raw text, one sentence per line")
    parser.add_argument("--raw-sentences", type=int, default=50_000, help="sentences of it that are read")
    parser.add_argument("--clusters", help="file of word clusters, in place of --raw")
    parser.add_argument("--algorithm", choices=("lbfgs", "pa"), default="lbfgs")
    parser.add_argument("--condense", action="store_true", help="size and score of condensed taggers, with --raw")
    parser.add_argument("--final", action="store_true", help="parts of speech: score the test part")
    parser.add_argument("--peers", nargs="*", default=["crfsuite", "spacy"], help="who else takes part")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sizes = given.sizes or ([50, 200] if given.quick else [50, 200, 1000])
    n_draws = given.draws or (1 if given.quick else 3)
    raw = []
    if given.raw:
        raw = [s for s, _ in zip(read_sentences(given.raw), range(given.raw_sentences), strict=False)]
    if given.condense and not raw:
        parser.error("--condense needs --raw")
    setup = TaggerSetup(n_jobs=-1, algorithm=given.algorithm)
    paths = {"brown": setup.clusters(raw).paths_} if raw and not given.condense else None
    if given.clusters:
        paths = {"brown": BrownClusters.load(given.clusters).paths_}
    peers = {name for name in given.peers if name != "spacy" or importlib.util.find_spec("spacy")}
    load_now = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load {load_now:.1f}; seconds are those of the processor", file=sys.stderr)
    rows = []
    for name, train, test in corpora(given.folder, given.only, given.final):
        limit = 300 if given.quick else None if name.startswith(("ewt", "wsj")) else 1500
        words, gold = [list(s) for s in test.sentences[:limit]], [list(t) for t in test.tags[:limit]]
        spans = has_spans(train.tags)
        for size in [n or len(train.sentences) for n in sizes if n <= len(train.sentences)]:
            scores, seconds, unseen = {}, {}, {}
            for draw in range(n_draws if size < len(train.sentences) else 1):
                chosen = np.random.default_rng(draw).permutation(len(train.sentences))[:size]
                chosen = np.sort(chosen) if size == len(train.sentences) else chosen
                sentences = [list(train.sentences[i]) for i in chosen]
                tags = [list(train.tags[i]) for i in chosen]
                contenders = {
                    "handful": lambda: setup.fit_crf(sentences, tags).predict(words),  # noqa: B023
                    "with raw text": lambda: setup.fit_crf(sentences, tags, paths).predict(words),  # noqa: B023
                    "crfsuite": lambda: crfsuite(sentences, tags, words),  # noqa: B023
                    "spacy": lambda: spacy_blank(sentences, tags, words, spans),  # noqa: B023
                }
                if given.condense:
                    made, way = condensing(sentences, tags, words, gold, spans, raw)
                    told = "  ".join(f"{k} {a:.2f} {b / 1e3:.0f} kB {c:.1f} us" for k, (a, b, c) in made.items())
                    print(f"{name:20} {size:5} draw {draw}: {told}  ({way})", flush=True)
                    continue
                known = {word for sentence in sentences for word in sentence}
                for contender, run in contenders.items():
                    if (contender == "with raw text" and not paths) or contender in {"crfsuite", "spacy"} - peers:
                        continue
                    start = time.process_time()
                    found = run()
                    score = score_tags(gold, found, spans)["f1" if spans else "accuracy"]
                    scores.setdefault(contender, []).append(100 * score)
                    seconds.setdefault(contender, []).append(time.process_time() - start)
                    new = [a == b for w, g, m in zip(words, gold, found, strict=True)
                           for word, a, b in zip(w, g, m, strict=True) if word not in known]  # fmt: skip
                    unseen.setdefault(contender, []).append(100 * np.mean(new) if new else np.nan)
            if given.condense:
                continue
            row = {"corpus": name, "sentences": size, "draws": len(scores["handful"])}
            row["metric"] = "F1" if spans else "accuracy"
            row |= {c: round(float(np.mean(v)), 2) for c, v in scores.items()}
            row |= {f"{c}, seconds": round(float(np.mean(v)), 1) for c, v in seconds.items()}
            row |= {} if spans else {f"{c}, unseen words": round(float(np.mean(v)), 1) for c, v in unseen.items()}
            rows.append(row)
            if not given.json:
                more = {c: "" if spans else f", unseen {row[f'{c}, unseen words']:.1f}" for c in scores}
                told = "  ".join(f"{c} {row[c]:.2f}{more[c]} ({row[f'{c}, seconds']:.0f} s)" for c in scores)
                print(f"{name:20} {size:5} {row['metric']:8} {told}", flush=True)
    if given.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
