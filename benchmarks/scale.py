"""Parts of speech with what raw text and other corpora know of words, and condensed features over more and more raw text.

Needs HANDFUL_DATA (see `handful data`).

`pos`: accuracy, of all words and of those unseen in training, on development sentences (WSJ sample: sentences 3,101 to 3,500, after
learning from those before; EWT: its dev part) or, with `--test`, on the test part (the last 414; test). "words" are the
templates `pos`; "clusters" adds ready Brown clusters of Reuters (and of tweets, for EWT), "lexicon" also the tags that words
have in the Brown corpus, which is tagged in another way.

`curve`: F1 on testa of CoNLL-2003 with 2,000 training sentences (words alone, no part-of-speech column), condensed by the raw text
in the file that `--raw` names: one sentence a line, tokens between blanks, packed or not. The labeled text is counted too, and
weights are learned from the last 40 % of the sentences with a base model of the first 60 %, as in `handful paper suzuki2011`.
Ways: "paper" (C = 0.2, resolution 1); "rate" (C grows with the text); "weighed" (raw text counts for four times the labeled
text, however long it is); "kept" and "kept, weighed" (base weights kept, rounded to 0.02). `--near` takes only the third of the
sentences whose words are likeliest in the labeled text as against the raw text.

    python benchmarks/scale.py [--quick] [--json] [--only pos curve] [--test] [--corpora wsj ewt] [--systems words clusters lexicon]
                               [--raw FILE] [--tokens 100000 1000000] [--ways paper kept] [--near]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from _shared import Rows, show_rows, usual_options

from handful.core.errors import MissingDataError
from handful.core.records import Sentence
from handful.corpora import load
from handful.corpora.opening import open_bytes
from handful.evaluation.chunks import chunk_f1
from handful.features import ambiguity_classes, lookup_templates, ready_set
from handful.papers.suzuki2011.systems import BASES, EARLY
from handful.representations import CondensedFeatures
from handful.representations.condensed.counts import count_features
from handful.representations.condensed.shards import Reading
from handful.representations.counting import Counting
from handful.tagging import CRF

Tagged = tuple[list[Sentence], list[list[str]]]
PREFIXES = (4, 6, 8, 10, 20)
# Chosen on the development sentences: which lookups, and the learner; clusters are of news for news, and of both kinds for the web.
CLUSTERS = {"wsj": ("rcv1-c1000",), "ewt": ("rcv1-c1000", "twitter-6m")}
LEARNER: dict[str, Any] = {"algorithm": "pa", "max_iter": 8}
AMOUNTS = (100_000, 300_000, 1_000_000, 2_400_000)
WAYS = ("paper", "rate", "weighed", "kept", "kept, weighed")
WEIGHT = 4.0  # of raw text, in labeled texts
LONGEST = 128


def wsj(test: bool) -> tuple[Tagged, dict[str, Tagged]]:
    sentences = list(load("wsj-sample-pos"))
    words, tags = [Sentence(s.tokens) for s in sentences], [list(s["pos"]) for s in sentences]
    a, b = (3500, len(words)) if test else (3100, 3500)
    return (words[:a], tags[:a]), {"test" if test else "development": (words[a:b], tags[a:b])}


def ewt(test: bool) -> tuple[Tagged, dict[str, Tagged]]:
    def part(name: str) -> Tagged:
        trees = list(load(f"en_ewt-ud-{name}"))
        return [Sentence(t.sentence.tokens) for t in trees], [list(t.sentence["xpos"]) for t in trees]

    return part("train"), {"development": part("dev")} | ({"test": part("test")} if test else {})


CORPORA: dict[str, Callable[[bool], tuple[Tagged, dict[str, Tagged]]]] = {"wsj": wsj, "ewt": ewt}


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
    """Return the tags of each word in the Brown corpus; marks of headlines, titles and contracted words are cut off."""
    text = list(load("brown-pos"))
    return ambiguity_classes(
        [s.tokens for s in text], [[tag.split("-")[0].split("+")[0] for tag in s["pos"]] for s in text]
    )


def observations(corpus: str, system: str) -> tuple[list[str], dict[str, Any]]:
    """Return templates and lookups of a system."""
    templates, lookups = ready_set("pos"), {}
    if system != "words":
        for number, name in enumerate(CLUSTERS[corpus]):
            lookups[f"cluster{number}"] = cluster_paths(name)
            templates += lookup_templates(f"cluster{number}", PREFIXES, offsets=(-1, 0, 1))
            templates += lookup_templates(f"cluster{number}", (6, 20), offsets=(-2, 2))
    if system == "lexicon":
        lookups["lexicon"] = brown_lexicon()
        templates += lookup_templates("lexicon", offsets=(-1, 0, 1))
        templates += ["lexicon[-1]|lexicon[0]", "lexicon[0]|lexicon[1]"]
    return templates, lookups


def accuracy(tagger: CRF, sentences: list[Sentence], gold: list[list[str]], known: set[str]) -> dict[str, float]:
    unseen = np.array([word not in known for sentence in sentences for word in sentence.tokens])
    found = tagger.predict(sentences)
    right = np.array([a == b for x, y in zip(gold, found, strict=True) for a, b in zip(x, y, strict=True)])
    shares = {"accuracy": right.mean(), "unseen words": right[unseen].mean(), "share of unseen": unseen.mean()}
    return {name: round(100 * float(share), 2) for name, share in shares.items()}


def pos(corpora: list[str], systems: list[str], quick: bool, test: bool) -> Rows:
    rows: Rows = []
    for corpus in corpora:
        train, judged = CORPORA[corpus](test)
        if quick:
            train = train[0][:500], train[1][:500]
        known = {word for sentence in train[0] for word in sentence.tokens}
        for system in systems:
            templates, lookups = observations(corpus, system)
            start = time.process_time()
            tagger = CRF(templates, lookups=lookups, **LEARNER).fit(*train)
            spent = round(time.process_time() - start, 1)
            for part, (sentences, gold) in judged.items():
                told = {"task": f"{corpus}, {part}", "system": system, **accuracy(tagger, sentences, gold, known)}
                rows.append(told | {"training CPU s": spent, "weights": tagger.n_active_})
    return rows


class Curve:
    """Condensed features of one base model over more and more raw text.

    Parameters
    ----------
    n_sentences : int
        Training sentences of CoNLL-2003.
    ways : sequence of str
        Among `WAYS`.
    """

    def __init__(self, n_sentences: int, ways: Sequence[str]) -> None:
        self.ways = ways
        self.train, self.dev = names("train", n_sentences), names("testa")
        cut = int(EARLY * n_sentences)
        self.late = self.train[0][cut:], self.train[1][cut:]
        parts = [self.train, (self.train[0][:cut], self.train[1][:cut])]
        templates = [t.removeprefix("*:") for t in ready_set("ner") if "pos[" not in t]
        self.models = [CRF(templates, **BASES["sup-l1"]).fit(*part) for part in parts]
        self.spaces = [model.feature_space(part[0]) for model, part in zip(self.models, parts, strict=True)]
        given = zip(self.spaces, parts, strict=True)
        self.labeled = [count_features(space, [part[0]], Reading(), Counting()) for space, part in given]
        self.raw: list[Any] = [None, None]
        # as strong for each sentence as in the paper's page, which has 5,616 of them
        self.strength = 8.0 * len(self.late[0]) / 5_616

    def count(self, sentences: list[list[str]]) -> None:
        for place, space in enumerate(self.spaces):
            self.raw[place] = count_features(space, [sentences], Reading(), Counting(), self.raw[place])

    def rows(self, n_tokens: int) -> Rows:
        even = [min(1.0, WEIGHT * mine.size / raw.size) for mine, raw in zip(self.labeled, self.raw, strict=True)]
        ways: dict[str, tuple[list[float], dict[str, Any]]] = {
            "paper": ([1.0, 1.0], {"discount": 0.2}),
            "rate": ([1.0, 1.0], {"discount": 0.2 * max(1.0, n_tokens / 130_000)}),
            "weighed": (even, {"discount": 0.2}),
            "kept": ([1.0, 1.0], {"discount": 0.2, "base_step": 0.02}),
            "kept, weighed": (even, {"discount": 0.2, "base_step": 0.02}),
        }
        return [self.row(way, n_tokens, *ways[way]) for way in self.ways]

    def row(self, way: str, n_tokens: int, weights: list[float], settings: dict[str, Any]) -> dict[str, Any]:
        whole, early = (
            CondensedFeatures(model, resolution=1.0, **settings).fit_counts([mine, raw.weighted(weight)])
            for model, mine, raw, weight in zip(self.models, self.labeled, self.raw, weights, strict=True)
        )
        learning: dict[str, Any] = {"penalty": "l1", "strength": self.strength, "max_iter": 45, "start": "potency"}
        if "base_step" in settings:
            learning |= {"strength": self.strength / 2, "max_iter": 40, "start": None}
        model = whole.carry(early.retrain(*self.late, **learning), early)
        score = 100 * chunk_f1(self.dev[1], model.predict(self.dev[0])).overall.f1
        return {
            "task": "curve",
            "tokens": n_tokens,
            "way": way,
            "F1": round(score, 2),
            "weights": model.n_active_condensed_,
        }

    def base(self) -> dict[str, Any]:
        score = 100 * chunk_f1(self.dev[1], self.models[0].predict(self.dev[0])).overall.f1
        return {"task": "curve", "tokens": 0, "way": "base", "F1": round(score, 2), "weights": self.models[0].n_active_}


def names(part: str, n_sentences: int | None = None) -> Tagged:
    sentences = list(load(f"conll2003-eng-{part}"))[:n_sentences]
    return [Sentence(s.tokens) for s in sentences], [list(s["ner"]) for s in sentences]


def raw_sentences(path: str) -> Iterator[list[str]]:
    with open_bytes(path) as file:
        for line in file:
            tokens = line.decode().split()
            if 0 < len(tokens) <= LONGEST:
                yield tokens


def nearest(labeled: list[Sentence], sentences: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the sentences whose words are likelier in the labeled text, by the limit of the nearest third of the first ones."""
    first = list(islice(sentences, 20_000))
    inside = Counter(word.lower() for sentence in labeled for word in sentence.tokens)
    outside = Counter(word.lower() for sentence in first for word in sentence)
    more = np.log((outside.total() + 1.0) / (inside.total() + 1.0))

    def nearness(sentence: list[str]) -> float:
        words = [word.lower() for word in sentence]
        return float(np.mean([np.log((inside[w] + 0.1) / (outside[w] + 0.1)) for w in words]) + more)

    least = np.quantile([nearness(sentence) for sentence in first], 2 / 3)
    yield from (sentence for sentence in chain(first, sentences) if nearness(sentence) >= least)


def curve(path: str, amounts: Sequence[int], ways: Sequence[str], near: bool, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each amount of text and way."""
    task = Curve(300 if quick else 2_000, ways)
    yield task.base()
    sentences = raw_sentences(path)
    if near:
        sentences = nearest(task.train[0], sentences)
    stops = sorted(amounts)
    done, waiting = 0, []
    for sentence in sentences:
        waiting.append(sentence)
        done += len(sentence)
        if len(waiting) == 8_192 or done >= stops[0]:
            task.count(waiting)
            waiting = []
        if done >= stops[0]:
            yield from task.rows(done)
            stops.pop(0)
        if not stops:
            return


def main() -> None:
    parser = usual_options(__doc__, "500 training sentences; for 'curve' 300, and 100,000 tokens")
    parser.add_argument("--test", action="store_true", help="score the test parts")
    parser.add_argument("--only", nargs="+", choices=("pos", "curve"), default=("pos",))
    parser.add_argument("--raw", help="raw text for 'curve'")
    parser.add_argument("--tokens", nargs="+", type=int, default=AMOUNTS, help="of raw text")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--near", action="store_true", help="only the third that is nearest to the labeled text")
    parser.add_argument("--corpora", nargs="+", choices=tuple(CORPORA), default=tuple(CORPORA))
    systems = ("words", "clusters", "lexicon")
    parser.add_argument("--systems", nargs="+", choices=systems, default=systems)
    options = parser.parse_args()
    rows: Rows = []
    try:
        if "pos" in options.only:
            rows += pos(list(options.corpora), list(options.systems), options.quick, options.test)
        if "curve" in options.only and options.raw is None:
            parser.error("'curve' needs --raw FILE.")
        if "curve" in options.only:
            amounts = (100_000,) if options.quick else options.tokens
            for row in curve(options.raw, amounts, options.ways, options.near, options.quick):
                rows.append(row)
                print(row, file=sys.stderr, flush=True)
    except MissingDataError as error:
        print(f"not run: {error}")
        return
    show_rows(rows, options)


if __name__ == "__main__":
    main()
