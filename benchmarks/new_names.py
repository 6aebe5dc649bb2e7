"""What ``handful fit tagger`` tells of names that it has not seen, held against other text.

    python benchmarks/new_names.py [--sentences 200] [--draws 3] [--first 0] [--only NAME ...]

A person's file is so many neighboring sentences of a corpus (of HANDFUL_DATA and HANDFUL_DEVDATA), or as many at random, or
neighbors in which every name is one of five of its type. The truth is the F1 of the fitted tagger on another part of the
corpus, with its own names, as a whole and of names that the file has not. ``--quick``: one draw of generated sentences.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _shared import show_rows, usual_options

from handful.core.records import Sentence
from handful.corpora.formats.iob import spans
from handful.corpora.tagged import read_tagged
from handful.evaluation.chunks import chunk_f1
from handful.experiment.tagger_check import check_tagger
from handful.tagging.recipes import TaggerSetup

FILES = {
    "conll2003": ("HANDFUL_DATA", "conll2003-eng-train.tsv.gz", "conll2003-eng-testa.tsv.gz"),
    "gmb-ner": ("HANDFUL_DEVDATA", "tagged/gmb-ner.tsv.gz", None),
    "ncbi-disease": ("HANDFUL_DEVDATA", "tagged/ncbi-disease-train.tsv.gz", "tagged/ncbi-disease-test.tsv.gz"),
    "germeval2014": ("HANDFUL_DEVDATA", "tagged/germeval2014-dev.tsv.gz", "tagged/germeval2014-test.tsv.gz"),
}
TESTED, PER_TYPE = 1_000, 5
Pairs = list[tuple[Sentence, tuple[str, ...]]]


def read(name: str) -> tuple[Pairs, Pairs]:
    """Return sentences to draw from, and others to be tested on."""
    variable, first, second = FILES[name]
    folder = Path(os.environ[variable])
    parts = [
        list(zip(d.sentences, d.tags, strict=True)) for d in (read_tagged(folder / f) for f in (first, second) if f)
    ]
    if len(parts) == 1:
        half = len(parts[0]) // 2
        parts = [parts[0][:half], parts[0][half:]]
    return parts[0], parts[1][:: max(len(parts[1]) // TESTED, 1)]


def generate() -> tuple[Pairs, Pairs]:
    """Return sentences with one name each."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 90, 800)
    made = [(Sentence(("in", f"Town{n}", "he", "slept"), {}), ("O", "B-LOC", "O", "O")) for n in numbers]
    return made[:400], made[400:]


def drawn(pairs: Pairs, kind: str, n: int, rng: np.random.Generator) -> Pairs:
    """Return a person's file."""
    if kind == "random":
        return [pairs[i] for i in np.sort(rng.permutation(len(pairs))[:n])]
    start = int(rng.integers(0, max(len(pairs) - n, 1)))
    near = pairs[start : start + n]
    return near if kind == "neighbors" else repeated(near, rng)


def repeated(pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Put one of five names of its type in the place of every name."""
    known: dict[str, list[tuple[str, ...]]] = {}
    for sentence, tags in pairs:
        for span in spans(tags):
            known.setdefault(span.type, []).append(sentence.tokens[span.start : span.end])
    few = {
        kind: [sorted(set(names))[i] for i in rng.permutation(len(set(names)))[:PER_TYPE]]
        for kind, names in known.items()
    }
    made: Pairs = []
    for sentence, tags in pairs:
        tokens: list[str] = []
        written: list[str] = []
        place = 0
        for span in spans(tags):
            name = few[span.type][int(rng.integers(len(few[span.type])))]
            tokens += [*sentence.tokens[place : span.start], *name]
            written += ["O"] * (span.start - place) + [f"B-{span.type}"] + [f"I-{span.type}"] * (len(name) - 1)
            place = span.end
        tokens += sentence.tokens[place:]
        written += ["O"] * (len(tokens) - len(written))
        made.append((Sentence(tuple(tokens), {}), tuple(written)))
    return made


def f1_of_new(pairs: Pairs, answers: Sequence[Sequence[str]], file: Pairs) -> float:
    """Return the F1 of spans whose words are no name of the file."""
    known = {name for sentence, tags in file for name in named(sentence, tags).values()}
    counts = np.zeros(3)
    for (sentence, tags), given in zip(pairs, answers, strict=True):
        right, found = ({s for s, n in named(sentence, t).items() if n not in known} for t in (tags, given))
        counts += len(right & found), len(right), len(found)
    return float(2 * counts[0] / max(counts[1] + counts[2], 1))


def named(sentence: Sentence, tags: Sequence[str]) -> dict[Any, str]:
    """Return the words of each span, in small letters."""
    return {span: " ".join(sentence.tokens[span.start : span.end]).lower() for span in spans(tags)}


def measure(name: str, kind: str, file: Pairs, others: Pairs) -> dict[str, Any]:
    """Return a line on one file."""
    start = time.process_time()
    columns = tuple(file[0][0].columns) if kind != "repeated" else ()
    tested = others if kind != "repeated" else [(Sentence(s.tokens, {}), t) for s, t in others]
    sentences, tags = [sentence for sentence, _ in file], [list(row) for _, row in file]
    tagger = TaggerSetup(columns=columns, n_jobs=1).fit_crf(sentences, tags)
    fitted = time.process_time()
    check = check_tagger(tagger, sentences, tags, with_spans=True)
    done = time.process_time()
    assert check is not None
    assert check.new_names is not None
    answers = tagger.predict([sentence for sentence, _ in tested])
    true = chunk_f1([row for _, row in tested], answers).overall.f1
    return {
        "corpus": name,
        "file": kind,
        "told": round(100 * check.scores["f1"], 1),
        "true": round(100 * true, 1),
        "known": round(100 * check.new_names.known),
        "told of new names": round(100 * check.new_names.f1, 1),
        "true of new names": round(100 * f1_of_new(tested, answers, file), 1),
        "check / fit, CPU": round((done - fitted) / max(fitted - start, 1e-9), 2),
    }


def summed_up(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the means over the files of each kind."""
    kinds = sorted({row["file"] for row in rows})
    numbers = [key for key, value in rows[0].items() if not isinstance(value, str)]
    means = []
    for kind in kinds:
        chosen = [row for row in rows if row["file"] == kind]
        means.append(
            {
                "corpus": "mean",
                "file": kind,
                **{key: round(float(np.mean([r[key] for r in chosen])), 2) for key in numbers},
            }
        )
    return means


def main() -> None:
    parser = usual_options(__doc__, "one draw of generated sentences")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--only", nargs="*", choices=FILES)
    given = parser.parse_args()
    there = [] if given.quick else [name for name in given.only or FILES if os.environ.get(FILES[name][0])]
    rows = []
    for name in there or ["generated"]:
        pairs, others = read(name) if there else generate()
        for kind in ("neighbors", "random", "repeated"):
            for seed in range(given.first, given.first + (given.draws if there else 1)):
                file = drawn(pairs, kind, given.sentences, np.random.default_rng([seed, 7]))
                rows.append(measure(name, kind, file, others))
    show_rows([*rows, *summed_up(rows)], given)


if __name__ == "__main__":
    main()
