"""Taggers from few sentences: what `handful fit tagger` gives, against python-crfsuite with a feature function of 20 lines.

python benchmarks/text.py --folder FOLDER                    all corpora of FOLDER, 50, 200 and 1,000 sentences, three draws
python benchmarks/text.py --folder FOLDER --raw news.txt.gz  beside it, clusters of that text (read once)
python benchmarks/text.py --quick                            50 and 200 sentences, one draw, 300 test sentences

FOLDER (or HANDFUL_DEVDATA) holds pairs NAME-train.tsv.gz and NAME-test.tsv.gz: one token and its tag per line, a blank line
after each sentence. CoNLL-2003 takes part where `handful data` knows it; its development part (testa) is the test.
Scores: F1 of spans, or the share of right tags where there are no spans. Both learn from the same sentences.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pycrfsuite

from handful.core.errors import MissingDataError
from handful.corpora import load
from handful.corpora.sentences import read_sentences
from handful.corpora.tagged import read_tagged
from handful.evaluation.chunks import score_tags
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


def corpora(folder, only):
    """Yield name, training and test sentences of every corpus at hand."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.environ.get("HANDFUL_DEVDATA"))
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--raw", help="raw text, one sentence per line")
    parser.add_argument("--raw-sentences", type=int, default=50_000, help="sentences of it that are read")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sizes = given.sizes or ([50, 200] if given.quick else [50, 200, 1000])
    n_draws = given.draws or (1 if given.quick else 3)
    raw = []
    if given.raw:
        raw = [s for s, _ in zip(read_sentences(given.raw), range(given.raw_sentences), strict=False)]
    setup = TaggerSetup(n_jobs=-1)
    paths = {"brown": setup.clusters(raw).paths_} if raw else None
    rows = []
    for name, train, test in corpora(given.folder, given.only):
        limit = 300 if given.quick else 1500
        words, gold = [list(s) for s in test.sentences[:limit]], [list(t) for t in test.tags[:limit]]
        spans = has_spans(train.tags)
        for size in [n for n in sizes if n <= len(train.sentences)]:
            scores, seconds = {}, {}
            for draw in range(n_draws):
                chosen = np.random.default_rng(draw).permutation(len(train.sentences))[:size]
                sentences = [list(train.sentences[i]) for i in chosen]
                tags = [list(train.tags[i]) for i in chosen]
                contenders = {
                    "handful": lambda: setup.fit_crf(sentences, tags).predict(words),  # noqa: B023
                    "with raw text": lambda: setup.fit_crf(sentences, tags, paths).predict(words),  # noqa: B023
                    "crfsuite": lambda: crfsuite(sentences, tags, words),  # noqa: B023
                }
                for contender, run in contenders.items():
                    if contender == "with raw text" and paths is None:
                        continue
                    start = time.perf_counter()
                    score = score_tags(gold, run(), spans)["f1" if spans else "accuracy"]
                    scores.setdefault(contender, []).append(100 * score)
                    seconds.setdefault(contender, []).append(time.perf_counter() - start)
            row = {"corpus": name, "sentences": size, "draws": n_draws, "metric": "F1" if spans else "accuracy"}
            row |= {c: round(float(np.mean(v)), 1) for c, v in scores.items()}
            row |= {f"{c}, seconds": round(float(np.mean(v)), 1) for c, v in seconds.items()}
            rows.append(row)
            if not given.json:
                told = "  ".join(f"{c} {row[c]:.1f} ({row[f'{c}, seconds']:.0f} s)" for c in scores)
                print(f"{name:20} {size:5} {row['metric']:8} {told}", flush=True)
    if given.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
