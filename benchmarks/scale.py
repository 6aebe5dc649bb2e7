"""Parts of speech with what raw text and other corpora know of words, and condensed features over more and more raw text.

Needs HANDFUL_DATA (see `python -m papers data`).

`pos`: accuracy, of all words and of those unseen in training, on development sentences (WSJ sample: sentences 3,101 to 3,500, after
learning from those before; EWT: its dev part) or, with `--test`, on the test part (the last 414; test). "words" are the
templates `pos`; "clusters" adds ready Brown clusters of Reuters (and of tweets, for EWT), "lexicon" also the tags that words
have in the Brown corpus, which is tagged in another way; "affixes" adds affixes of five letters to the templates alone, and
"order2" lets a tag see two tags before it. "ewt-upos" has universal tags, "brown" every tenth sentence of the Brown corpus (tags
without suffixes of headlines, titles and contracted words; every tenth of these is for the test, there is no development part).

`curve`: F1 on testa of CoNLL-2003, condensed by the raw text in the file that `--raw` names: one sentence a line, tokens between
whitespace, compressed or not ("news" is that of the paper's page). The labeled text is counted too. Weights are learned from the
last
40% of the sentences with a base model of the first 60% as in `papers suzuki2011`. Ways: "paper" (C = 0.2); "rate" (C grows
with the text); "weighed" (raw text counts as a number of labeled texts, however long it is: `--weights`); "kept" and "kept,
weighed" (base weights kept, rounded: `--steps`); "rounded" (base weights alone, as `handful condense --way rounded`, with
`--drops`). `--near` takes the third of the sentences whose words are likelier in labeled text than in raw text, `--decisions
marginals` counts what the base model expects instead of its best outputs, `--vocabulary all` takes up observations that the
raw text has five times or more. `--drops` leaves out weights as `handful condense` does, and rows tell the size of the file;
`--again` then learns the others once more from all sentences, near to what they were, as `handful condense --drop` may do. Rows
also tell how far F1 is from that of the base model on the same sentences, with a standard error over these.
With four amounts or more a straight line over the logarithm predicts what 3,720M tokens would give. `--keep FOLDER` keeps base
models, counts and rows, so that a run can be stopped and go on.

    python benchmarks/scale.py [--quick] [--json] [--only pos curve] [--test] [--corpora wsj ewt ewt-upos brown]
                               [--systems words clusters lexicon affixes order2] [--slice 3]
                               [--raw FILE] [--tokens 100000 1000000] [--ways paper kept] [--weights 1 4] [--resolutions 0.5 1 4]
                               [--decisions marginals] [--vocabulary all] [--clusters] [--drops 0.1 0.2] [--again]
                               [--discounts 1 5] [--near] [--sentences 2000] [--every 1] [--words] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from _curve import WAYS, Curve, Setting, Tagged, extrapolated
from _raw_text import Text, nearest, raw_sentences
from _shared import Clock, Rows, show_rows, usual_options

from handful.data.records import Sentence
from handful.errors import MissingDataError
from handful.preprocessing.templates import lookup_templates, ready_set
from handful.preprocessing.word_tables import ambiguity_classes
from handful.tagging.crf import CRF
from papers.corpora import load

PREFIXES = (4, 6, 8, 10, 20)
# Chosen on the development sentences: which lookups, and the learner; clusters are of news for news, and of both kinds for the web.
CLUSTERS = {
    "wsj": ("rcv1-c1000",),
    "ewt": ("rcv1-c1000", "twitter-6m"),
    "ewt-upos": ("rcv1-c1000", "twitter-6m"),
    "brown": ("rcv1-c1000",),
}
LEARNER: dict[str, Any] = {"algorithm": "pa", "max_iter": 8}
AMOUNTS = (100_000, 300_000, 1_000_000, 2_400_000)


def wsj(test: bool) -> tuple[Tagged, dict[str, Tagged]]:
    sentences = list(load("wsj-sample-pos"))
    words, tags = [Sentence(s.tokens) for s in sentences], [list(s["pos"]) for s in sentences]
    a, b = (3500, len(words)) if test else (3100, 3500)
    return (words[:a], tags[:a]), {"test" if test else "development": (words[a:b], tags[a:b])}


def ewt(test: bool, column: str = "xpos") -> tuple[Tagged, dict[str, Tagged]]:
    def part(name: str) -> Tagged:
        trees = list(load(f"en_ewt-ud-{name}"))
        return [Sentence(t.sentence.tokens) for t in trees], [list(t.sentence[column]) for t in trees]

    return part("train"), {"development": part("dev")} | ({"test": part("test")} if test else {})


def brown(test: bool) -> tuple[Tagged, dict[str, Tagged]]:
    some = list(load("brown-pos"))[::10]
    words, tags = [Sentence(s.tokens) for s in some], [list(map(unmarked, s["pos"])) for s in some]
    others = [number for number in range(len(some)) if number % 10 != 9]
    train = [words[number] for number in others], [tags[number] for number in others]
    return train, {"test": (words[9::10], tags[9::10])} if test else {}


CORPORA: dict[str, Callable[[bool], tuple[Tagged, dict[str, Tagged]]]] = {
    "wsj": wsj,
    "ewt": ewt,
    "ewt-upos": partial(ewt, column="upos"),
    "brown": brown,
}


def unmarked(tag: str) -> str:
    """Cut the suffixes of headlines, titles and contracted words off a tag of the Brown corpus."""
    return tag.split("-")[0].split("+")[0] or tag


def cluster_paths(name: str) -> dict[str, str]:
    """Read clusters; a word that has none takes that of its most frequent other spelling, in capitals or in lower case."""
    rows = sorted(load(f"brown-clusters-{name}"), key=lambda row: -row.frequency)
    paths: dict[str, str] = {}
    for row in rows:
        paths.setdefault(row.word.upper(), row.path)
    lower: dict[str, str] = {}
    for row in rows:
        lower.setdefault(row.word.lower(), row.path)
    return paths | lower | {row.word: row.path for row in rows}


def brown_lexicon() -> dict[str, str]:
    """Return the tags of each word in the Brown corpus."""
    text = list(load("brown-pos"))
    return ambiguity_classes([s.tokens for s in text], [list(map(unmarked, s["pos"])) for s in text])


def observations(corpus: str, system: str) -> tuple[list[str], dict[str, Any]]:
    """Return templates and lookups of a system."""
    templates, lookups = ready_set("pos"), {}
    if system == "affixes":
        templates += ["word.prefix5[0]", "word.suffix5[0]", "word.suffix4[-1]", "word.suffix4[1]"]
    if system in ("clusters", "lexicon"):
        for number, name in enumerate(CLUSTERS[corpus]):
            lookups[f"cluster{number}"] = cluster_paths(name)
            templates += lookup_templates(f"cluster{number}", PREFIXES, offsets=(-1, 0, 1))
            templates += lookup_templates(f"cluster{number}", (6, 20), offsets=(-2, 2))
    if system == "lexicon":
        lookups["lexicon"] = brown_lexicon()
        templates += lookup_templates("lexicon", offsets=(-1, 0, 1))
        templates += ["lexicon[-1]|lexicon[0]", "lexicon[0]|lexicon[1]"]
    return templates, lookups


def accuracy(
    found: list[list[str]], sentences: list[Sentence], gold: list[list[str]], known: set[str]
) -> dict[str, float]:
    unseen = np.array([word not in known for sentence in sentences for word in sentence.tokens])
    right = np.array([a == b for x, y in zip(gold, found, strict=True) for a, b in zip(x, y, strict=True)])
    means = {"accuracy": right.mean(), "unseen words": right[unseen].mean(), "share of unseen": unseen.mean()}
    return {name: round(100 * float(value), 2) for name, value in means.items()}


def pos(corpus: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each tagger and part."""
    train, judged = CORPORA[corpus](options.test)
    if options.quick:
        train = train[0][:500], train[1][:500]
    train = train[0][:: options.slice], train[1][:: options.slice]
    known = {word for sentence in train[0] for word in sentence.tokens}
    everything = [sentence for sentences, _ in judged.values() for sentence in sentences]

    def rows(found: list[list[str]], told: dict[str, Any]) -> Iterator[dict[str, Any]]:
        rest = iter(found)
        for part, (sentences, gold) in judged.items():
            some = [next(rest) for _ in sentences]
            yield {"task": f"{corpus}, {part}", **told, **accuracy(some, sentences, gold, known)}

    for system in options.systems:
        if corpus == "brown" and system == "lexicon":  # it would be made of the answers
            continue
        templates, lookups = observations(corpus, system)
        with Clock() as clock:
            tagger = CRF(templates, lookups=lookups, order=2 if system == "order2" else 1, **LEARNER).fit(*train)
        yield from rows(
            tagger.predict(everything),
            {"system": system, "training CPU s": round(clock.cpu, 1), "weights": tagger.n_active_},
        )


def curve(options: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each amount of text and way."""
    n_sentences = 300 if options.quick else options.sentences
    task = Curve(
        n_sentences,
        every=options.every,
        tags=not options.words,
        decisions=options.decisions,
        clusters=options.clusters,
        folder=folder,
    )
    yield task.base(test=options.test)
    amounts = (100_000,) if options.quick else sorted(options.tokens)

    def read() -> Text:
        sentences = raw_sentences(options.raw)
        return Text(nearest(task.train[0], sentences) if options.near else sentences)

    text = read()
    name = f"{Path(options.raw).name}{'-near' * options.near}"
    if options.vocabulary == "all":
        task.widen(read().until(amounts[-1]))
        name += f"-all-{amounts[-1]}"
    rows: Rows = []
    settings = Setting.every(
        options.ways,
        options.resolutions,
        options.weights,
        options.steps,
        options.drops,
        options.discounts,
        again=options.again,
    )
    for amount in amounts:
        task.count(text.until(amount), f"{name}-{amount}")
        for setting in settings:
            rows.append({"task": "curve", "text": name} | task.row(setting, text.n_tokens, test=options.test))
            yield rows[-1]
    yield from extrapolated(rows)


def main() -> None:
    parser = usual_options(__doc__, "500 training sentences; for 'curve' 300, and 100,000 tokens")
    parser.add_argument("--test", action="store_true", help="score the test parts")
    parser.add_argument("--only", nargs="+", choices=("pos", "curve"), default=("pos",))
    parser.add_argument("--raw", help="raw text for 'curve'")
    parser.add_argument("--tokens", nargs="+", type=int, default=AMOUNTS, help="of raw text")
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS[:-1])
    parser.add_argument("--resolutions", nargs="+", type=float, default=(1.0,))
    parser.add_argument(
        "--weights", nargs="+", type=float, default=(4.0,), help="of weighed raw text, in labeled texts"
    )
    parser.add_argument("--steps", nargs="+", type=float, default=(0.02,), help="that kept base weights are rounded to")
    parser.add_argument("--drops", nargs="+", type=float, default=(None,), help="leave out weights nearer to 0")
    parser.add_argument("--again", action="store_true", help="learn the weights again that --drops leaves")
    parser.add_argument("--discounts", nargs="+", type=float, default=(None,), help="C; by default 0.2")
    parser.add_argument("--vocabulary", choices=("labeled", "all"), default="labeled")
    parser.add_argument("--clusters", action="store_true", help="a base model that reads ready clusters (iCWR)")
    parser.add_argument("--decisions", choices=("best", "marginals"), default="best", help="what is counted")
    parser.add_argument("--sentences", type=int, help="training sentences; all by default")
    parser.add_argument("--every", type=int, default=2, help="learn weights from every N-th held-out sentence")
    parser.add_argument("--words", action="store_true", help="a base model that reads no parts of speech")
    parser.add_argument("--keep", type=Path, help="folder for base models and counts, so that a run can go on")
    parser.add_argument("--near", action="store_true", help="only the third that is nearest to the labeled text")
    parser.add_argument("--corpora", nargs="+", choices=tuple(CORPORA), default=("wsj", "ewt"))
    parser.add_argument("--slice", type=int, default=1, help="for 'pos', learn from every N-th sentence")
    systems = ("words", "clusters", "lexicon")
    parser.add_argument("--systems", nargs="*", choices=(*systems, "affixes", "order2"), default=systems)
    options = parser.parse_args()
    if "curve" in options.only and options.raw is None:
        parser.error("'curve' needs --raw FILE.")
    if options.again and None in options.drops:
        parser.error("--again needs --drops.")
    rows: Rows = []
    try:
        if "pos" in options.only:
            for row in chain.from_iterable(pos(corpus, options) for corpus in options.corpora):
                rows.append(row)
                print(row, file=sys.stderr, flush=True)
        if "curve" in options.only:
            with tempfile.TemporaryDirectory() as folder:
                for row in curve(options, options.keep or Path(folder)):
                    rows.append(row)
                    print(row, file=sys.stderr, flush=True)
    except MissingDataError as error:
        print(f"not run: {error}")
        return
    show_rows(rows, options)


if __name__ == "__main__":
    main()
