"""Taggers from few sentences: what `handful fit tagger` gives, against python-crfsuite with a feature function of 20 lines,
and spaCy's blank models (30 epochs) where spaCy is installed.

python benchmarks/text.py --folder FOLDER                    all corpora of FOLDER, 50, 200 and 1,000 sentences, three draws
python benchmarks/text.py --folder FOLDER --raw news.txt.gz  with clusters of that text (read once) as a candidate
python benchmarks/text.py --own-text                         all training sentences, untagged, are the raw text
python benchmarks/text.py --condense                         file size, F1 and speed after 'handful condense', next to the base
                                                             and a tagger with an L1 penalty (not with an empty --peers)
python benchmarks/text.py --quick                            50 and 200 sentences, one draw, 300 test sentences

"with raw text", "with ready clusters" (extra `clusters`) and "with both" are what `fit tagger` does: cross-validation on training
sentences decides whether clusters are used. FOLDER (by default that of HANDFUL_DEVDATA) holds pairs NAME-train and NAME-test, or
else NAME-test (to learn from) and NAME-dev, as .tsv.gz, one token and its tag per line, a blank line after each sentence, or as
treebanks (.conllu.gz), whose parts of speech are the tags; of a set in one file every third sentence is for the test. Where
`papers data` knows them, there are also CoNLL-2003 (its development part, testa, is the test), CoNLL-2000 chunks, Wikigold, and
the parts of speech of UD English EWT (development part; --final takes the test part) and of the WSJ sample (the 15 percent after
the first 60; --final takes the last 25 percent, and learns from all before). A size of 0 is all sentences.
Scores: F1 of spans; where tags are no spans, F1 of runs of equal tags, and accuracy, also of words not seen in training.
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
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pycrfsuite

from handful.data.chunks import to_iob2
from handful.data.tagged import read_sentences, read_tagged
from handful.errors import MissingDataError
from handful.persistence.model_file import load as load_model
from handful.persistence.model_file import save
from handful.representations.condensing import Condensing
from handful.representations.potency import CondensingSettings
from handful.tagging.condensing import condense_tagger
from handful.tagging.evaluation import score_tags, sentence_values
from handful.tagging.ready_clusters import ready_clusters
from handful.tagging.recipes import ClusterCandidate, TaggerSetup
from handful.tagging.selection import has_spans
from papers.corpora import load

DROPS = (0.15, 0.2, 0.25, 0.28, 0.3, 0.35)  # weights below are left out, until the score is that of an L1 tagger
L1_DROP = 0.07
THIRD = CondensingSettings(held_out=3)


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
    """Train a blank model of spaCy and tag; the tokens are options."""
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


def condensing(sentences, tags, test, gold, spans, peers):
    """Return score, bytes of the file and microseconds per token of the base, an L1 tagger (its file also compressed as that of a
    condensed one is, and without weights below 0.07), the condensed base, and what is left of the base without lighter weights;
    then how far the condensed base is above the base, with the standard error over sentences, and what its command line."""
    rows, values = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            "".join(f"{w}\t{t}\n" for w, t in zip(words, row, strict=True))
            for words, row in zip(sentences, tags, strict=True)
        ]
        Path(f"{folder}/train.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        handful("fit", "tagger", "train.tsv", "--no-check", "--model", "base.handful", folder=folder)
        facts = handful("condense", "base.handful", "train.tsv", "-o", "condensed.handful", "--json", folder=folder)
        names = ["base", "condensed"]
        if peers:
            names += lighter(folder, sentences, tags)
        for name in names:
            path = Path(folder) / f"{name}.handful"
            tagger = load_model(path)
            tagger.predict(test[:10])
            seconds = []
            for _ in range(3):
                start = time.process_time()
                predicted = tagger.predict(test)
                seconds.append(time.process_time() - start)
            score = score_tags(gold, predicted, spans)["f1" if spans else "accuracy"]
            rows[name] = (100 * score, path.stat().st_size, 1e6 * min(seconds) / sum(map(len, test)))
            values[name] = 100 * sentence_values(gold, predicted, spans)
    above = values["condensed"] - values["base"]
    return rows, (above.mean(), above.std() / np.sqrt(len(above))), json.loads(facts)


def lighter(folder, sentences, tags):
    """Write an L1 tagger, as it is and compressed, and taggers without light weights; return the names of the files."""
    handful("fit", "tagger", "train.tsv", "--no-check", "--penalty", "l1", "--model", "l1.handful", folder=folder)
    save(load_model(Path(folder) / "l1.handful"), Path(folder) / "l1-packed.handful", compressed=True)
    drops = {f"drop-{drop}": ("base", drop) for drop in DROPS} | {f"l1-drop-{L1_DROP}": ("l1", L1_DROP)}
    halves = {
        source: Condensing(load_model(Path(folder) / f"{source}.handful"), sentences, tags, THIRD)
        for source in ("base", "l1")
    }
    for name, (source, drop) in drops.items():  # as 'condense --drop' does
        small = condense_tagger(halves[source], drop).model
        save(small, Path(folder) / f"{name}.handful", compressed=True)
    return ["l1", "l1-packed", *drops]


def handful(*words, folder):
    """Run a command as a person would, and return what it says."""
    command = [sys.executable, "-m", "handful", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def known_corpora(final):
    """Return the corpora that `python -m papers data` knows, by name: how their training and test sentences are read."""

    def parts(column, *names):
        return lambda: [part([s.tokens for s in load(n)], [s[column] for s in load(n)]) for n in names]

    def treebank(column):
        def read():
            both = [[t.sentence for t in load(f"en_ewt-ud-{p}")] for p in ("train", "test" if final else "dev")]
            return [part([s.tokens for s in half], [s[column] for s in half]) for half in both]

        return read

    def wsj():
        whole = list(load("wsj-sample-pos"))
        a, b = len(whole) * 60 // 100, len(whole) * 75 // 100
        halves = (whole[:b], whole[b:]) if final else (whole[:a], whole[a:b])
        return [part([s.tokens for s in half], [s["pos"] for s in half]) for half in halves]

    return {
        "conll2003": parts("ner", "conll2003-eng-train", "conll2003-eng-testa"),
        "chunks": parts("chunk", "conll2000-chunk-train", "conll2000-chunk-test"),
        "wikigold": lambda: thirds(*parts("ner", "wikigold")()),
        "ewt-upos": treebank("upos"),
        "ewt-xpos": treebank("xpos"),
        "wsj-sample": wsj,
    }


def corpora(folder, only, final):
    """Yield name, training and test sentences of every corpus that is installed."""
    for name, read in known_corpora(final).items():
        if only and name not in only:
            continue
        try:
            yield name, *read()
        except MissingDataError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    files = {
        p.name.removesuffix(".gz").removesuffix(".tsv").removesuffix(".conllu"): p for p in Path(folder).glob("*.gz")
    }
    for name, first, second in sorted(pairs_of_files(files)):
        if not only or name in only:
            halves = [
                read_tagged(files[n], () if ".conllu" in files[n].name else ("token", "tag"))
                for n in (first, second)
                if n
            ]
            yield name, *(halves if second else thirds(*halves))


def pairs_of_files(names):
    """Yield name of a set, what it learns from, and what it is tested on ('' if that must be cut off)."""
    for name in names:
        stem, _, kind = name.rpartition("-")
        if kind == "train":
            yield stem, name, f"{stem}-test"
        elif kind == "test" and f"{stem}-train" not in names:
            yield stem.removesuffix("-ud"), name, f"{stem}-dev" if f"{stem}-dev" in names else ""
        elif kind not in ("test", "dev"):
            yield name.removesuffix("-devel"), name, ""


def part(sentences, tags):
    """Return tagged sentences."""
    return SimpleNamespace(sentences=sentences, tags=tags)


def thirds(data):
    """Return two thirds of a set for training, and every third sentence for the test."""
    numbers = range(len(data.sentences))
    return [
        part([data.sentences[i] for i in chosen], [data.tags[i] for i in chosen])
        for chosen in ([i for i in numbers if i % 3], [i for i in numbers if i % 3 == 0])
    ]


def runs(tags):
    """Return the runs of equal tags as spans: (first, last + 1, tag)."""
    ends = [0, *(i for i in range(1, len(tags)) if tags[i] != tags[i - 1]), len(tags)]
    return {(a, b, tags[a]) for a, b in pairwise(ends) if b > a}


def scores_of(sentences, gold, predicted, spans, known):
    """Return F1 of spans, or of runs of equal tags, and, without spans, shares of right tags."""
    if spans:
        return {"F1": 100 * score_tags(gold, predicted, True)["f1"]}
    correct, tagged = [runs(row) for row in gold], [runs(row) for row in predicted]
    both = sum(len(a & b) for a, b in zip(correct, tagged, strict=True))
    equal = [a == b for g, f in zip(gold, predicted, strict=True) for a, b in zip(g, f, strict=True)]
    new = [word not in known for sentence in sentences for word in sentence]
    return {
        "F1": 200 * both / max(1, sum(map(len, correct)) + sum(map(len, tagged))),
        "accuracy": 100 * np.mean(equal),
        "accuracy, unseen words": 100 * np.mean(np.array(equal)[new]) if any(new) else np.nan,
    }


def contest(setup, train, test, size, draw, raw, peers):
    """Return the scores and processor seconds of all taggers on one draw."""
    n, spans = len(train.sentences), has_spans(train.tags)
    order = np.random.default_rng(draw).permutation(n)[:size] if size < n else np.arange(n)
    sentences, tags = [list(train.sentences[i]) for i in order], [list(train.tags[i]) for i in order]
    words = [list(s) for s in test.sentences]
    known = {word for sentence in sentences for word in sentence}

    def with_clusters(*candidates):
        chosen = setup.choose_clusters(sentences, tags, candidates)
        return setup.fit_crf(sentences, tags, chosen.lookups).predict(words)

    systems = {"handful": lambda: setup.fit_crf(sentences, tags).predict(words)}
    if raw:
        systems["with raw text"] = lambda: with_clusters(ClusterCandidate("raw text", raw, margin=0.5))
    if ready := ready_clusters(sentences):
        candidate = ClusterCandidate("ready", {"brown": ready.paths})
        systems["with ready clusters"] = lambda: with_clusters(candidate)
    if raw and ready:
        both = ClusterCandidate("both", {**raw, "ready": ready.paths})
        systems["with both"] = lambda: with_clusters(ClusterCandidate("raw text", raw, margin=0.5), candidate, both)
    if "crfsuite" in peers:
        systems["crfsuite"] = lambda: crfsuite(sentences, tags, words)
    if "spacy" in peers:
        systems["spacy"] = lambda: spacy_blank(sentences, tags, words, spans)
    result = {}
    for name, run in systems.items():
        start = time.process_time()
        predicted = run()
        seconds = time.process_time() - start
        result[name] = scores_of(words, test.tags, predicted, spans, known) | {"seconds": seconds}
    return result


def shortened(test, limit):
    """Return some of the test sentences, from all of its text."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(test.sentences))[:limit])
    return part([test.sentences[i] for i in chosen], [list(test.tags[i]) for i in chosen])


def arguments():
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = os.environ.get("HANDFUL_DEVDATA")
    parser.add_argument("--folder", default=usual and str(Path(usual) / "tagged"))
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--first-draw", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--raw", help="raw text, one sentence per line")
    parser.add_argument("--raw-sentences", type=int, default=50_000, help="sentences of it that are read")
    parser.add_argument("--own-text", action="store_true", help="all training sentences, untagged, are the raw text")
    parser.add_argument("--condense", action="store_true", help="size and score of condensed taggers")
    parser.add_argument("--final", action="store_true", help="parts of speech: score the test part")
    parser.add_argument("--peers", nargs="*", default=["crfsuite", "spacy"], help="who else takes part")
    parser.add_argument("--test-sentences", type=int, help="test sentences at most; 1,500, and all of parts of speech")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.sizes = options.sizes or ([50, 200] if options.quick else [50, 200, 1000])
    options.draws = options.draws or (1 if options.quick else 3)
    return options


def show_differences(rows, peers):
    """Print, for every size, how far the taggers stand above the best peer."""
    ours = [
        c for c in ("handful", "with raw text", "with ready clusters", "with both") if any(c in row for row in rows)
    ]
    for size in sorted({row["sentences"] for row in rows}) if peers else ():
        for contender in ours:
            here = [row for row in rows if row["sentences"] == size and contender in row]
            gaps = {row["corpus"]: row[contender] - max(row[peer] for peer in peers) for row in here}
            worst, mean = min(gaps, key=gaps.get), np.mean([*gaps.values()])
            line = f"mean {mean:+.2f}, worst {gaps[worst]:+.2f} ({worst})"
            print(f"{size} sentences, {contender} minus the best peer: {line}")


def main():
    options = arguments()
    raw = []
    if options.raw:
        raw = [s for s, _ in zip(read_sentences(options.raw), range(options.raw_sentences), strict=False)]
    setup = TaggerSetup(n_jobs=-1)
    paths = setup.lookups(raw) if raw and not options.condense else None
    peers = {name for name in options.peers if name != "spacy" or importlib.util.find_spec("spacy")}
    load_now = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load {load_now:.1f}; seconds are those of the processor", file=sys.stderr)
    rows = []
    for name, train, test in corpora(options.folder, options.only, options.final):
        most = 300 if options.quick else None if name.startswith(("ewt", "wsj")) else 1500
        test = shortened(test, options.test_sentences or most)
        spans = has_spans(train.tags)
        lookups = setup.lookups(train.sentences) if options.own_text else paths
        n_all = len(train.sentences)
        for size in [n or n_all for n in options.sizes if n <= n_all]:
            n_draws = options.draws if size < n_all else 1
            draws = range(options.first_draw, options.first_draw + n_draws)
            if options.condense:
                for draw in draws:
                    show_condensed(name, train, test, size, draw, peers)
                continue
            results = [contest(setup, train, test, size, draw, lookups, peers) for draw in draws]
            row = {
                "corpus": name,
                "sentences": size,
                "draws": n_draws,
                "units": "spans" if spans else "runs of equal tags",
            }
            for contender in [c for c in results[0] if all(c in r for r in results)]:
                means = {k: float(np.mean([r[contender][k] for r in results])) for k in results[0][contender]}
                row[contender] = round(means.pop("F1"), 2)
                row |= {f"{contender}, {k}": round(v, 2) for k, v in means.items()}
            rows.append(row)
            if not options.json:
                line = "  ".join(f"{c} {row[c]:.2f} ({row[f'{c}, seconds']:.0f} s)" for c in results[0] if c in row)
                if not spans:
                    line += "; right tags" + "".join(
                        f", {c} {row[f'{c}, accuracy']:.2f} ({row[f'{c}, accuracy, unseen words']:.1f} of unseen words)"
                        for c in results[0]
                        if c in row
                    )
                print(f"{name:20} {size:5} F1 of {row['units']}: {line}", flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
    elif rows:
        show_differences(rows, peers)


def show_condensed(name, train, test, size, draw, peers):
    """Print score, size and speed of the base, the condensed base and, with peers, an L1 tagger on one draw."""
    n = len(train.sentences)
    chosen = np.random.default_rng(draw).permutation(n)[:size] if size < n else np.arange(n)
    sentences, tags = [list(train.sentences[i]) for i in chosen], [list(train.tags[i]) for i in chosen]
    words = [list(s) for s in test.sentences]
    made, (above, error), facts = condensing(sentences, tags, words, test.tags, has_spans(train.tags), peers)
    line = "  ".join(f"{k} {a:.2f} {b / 1e3:.1f} kB {c:.1f} us" for k, (a, b, c) in made.items())
    how = (
        f"{facts['mode']}, drop {facts['dropped']['below']:g}, {above:+.2f} above the base, standard error {error:.2f}"
    )
    print(f"{name:20} {size:5} draw {draw}: {line}  ({how})", flush=True)


if __name__ == "__main__":
    main()
