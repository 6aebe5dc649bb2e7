"""The dependency parser against UDPipe 1 on the same trees, with its speed, and what a whole treebank would take.

Needs HANDFUL_DATA (see `python -m papers data`) and, for the comparison, `pip install ufal.udpipe`. The step of the
passive-aggressive learner and penalty and rate of FOBOS were chosen at order 1 on the last 300 training sentences of the
WSJ sample, with `--choose`; 10 passes were not varied, and EWT is parsed with the same options. Templates were chosen on the
development trees of EWT. UDPipe is trained with its default options. Times are wall seconds with CPU seconds next to them,
since only the latter mean much on a busy machine.

`--only clusters` compares parsers with and without clusters, and `--only cofer` the condensed ones of
`python -m papers suzuki2011` over some resolutions, both on the development trees and with 3,200 training sentences;
`--only pruned` parses the development trees of EWT at order 2 with all pairs and with those of likely arcs, and saves the
parser with weights rounded more and more, after learning from every third training tree.
`--only condensed` condenses a parser of order 2 that reads Penn tags, by one or more amounts of text (`--tokens`), and compares
heads and files on the development trees of the WSJ sample or EWT (`--treebanks`) and, with `--test`, on the test trees too;
`--drops` says how much is dropped, `--raw` which text is read ("news" and files, in equal parts).
`--only morphology` joins the morphological features of EWT to its Penn tags (order 1, every third training tree).
`--only curve` condenses order 1 by more and more text (`--tokens`) of each `--raw` FILE (one sentence a line; "news" is that of the
paper's page), on 900 trees after 2,600 others: as the paper does, with base weights kept, and with raw text that weighs as much
as four times the labeled text, however long it is. With four amounts a straight line over the logarithm estimates the result of
3,720M tokens.
`--only gold` makes the rows of `python -m papers suzuki2011` with gold tags instead of those of a tagger.
`--only kept` tries settings of condensed parsers that keep the base model's weights, on 900 training trees.
`--only tags` parses the WSJ sample or EWT (`--treebanks`) with the tags of a tagger, after learning from the tags of people and
from jackknifed ones (each tenth of the training trees tagged by a tagger of the others): the protocol for a parser of raw text.
`condensed` and `curve` do so with `--jackknifed`, and `python -m papers suzuki2011` always does. All else has the tags of people.

    python benchmarks/parser.py [--json] [--jobs 2] [--choose] [--treebanks wsj ewt] [--tokens 100000 300000] [--every 3]
                                [--only decode wsj tags ewt pruned morphology condensed clusters cofer gold
                                        kept curve scale ptb]
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from _curve import extrapolated
from _raw_text import Text, raw_sentences
from _shared import Clock, Rows, usual_options

from handful.data.conll import read_conllu, write_conllu
from handful.data.records import Sentence, Tree
from handful.errors import MissingDataError, Step
from handful.kernels.trees import best_tree, pair_starts
from handful.parsing.arc_labels import rounded
from handful.parsing.inputs import with_columns
from handful.parsing.parser import DependencyParser
from handful.parsing.part_features import SentenceFeatures
from handful.parsing.scoring import score_trees
from handful.persistence.model_file import save
from handful.representations.condensed_features import CondensedFeatures, widen
from handful.representations.condensing import Condensing
from handful.representations.counts import FeatureCounts, ShardReading, count_features
from handful.representations.potency import CondensingSettings
from handful.representations.text_stream import Counting
from handful.tagging.condensing import condense
from handful.tagging.crf import CRF
from papers.corpora import data_folder, load
from papers.suzuki2011.parsing import (
    BASES,
    COARSE,
    COUNTING,
    FINE,
    HELD_OUT,
    N_TOKENS,
    Task,
    Treebank,
    read_tagged_news,
    read_treebank,
    retagged,
    tagged_unseen,
)
from papers.suzuki2011.texts import mixed, read_clusters

OPTIONS: dict[str, Any] = {"max_iter": 10, "strength": 1.0}
GRID: list[dict[str, Any]] = [
    *({"algorithm": "pa", "strength": strength} for strength in (0.3, 1.0, 3.0)),
    *({"algorithm": "fobos", "strength": strength, "rate": 0.01} for strength in (0.1, 0.3, 1.0, 3.0)),
    {"algorithm": "fobos", "strength": 0.3, "rate": 0.1},
]
RESOLUTIONS = (10.0, COARSE, FINE)
WAYS = ("paper", "kept", "kept, weighed")
AMOUNTS = (100_000, 300_000, 1_000_000, 2_400_000)


def read_ewt() -> Treebank:
    return Treebank(*(list(load(f"en_ewt-ud-{part}")) for part in ("train", "dev", "test")))


TREEBANKS: dict[str, Callable[[], Treebank]] = {"wsj": read_treebank, "ewt": read_ewt}


def decoding(n_sentences: int = 5000, length: int = 24) -> Rows:
    """Decode random scores in one thread."""
    rows: Rows = []
    rng = np.random.default_rng(0)
    starts, n_pairs = pair_starts(length, True)
    arcs, pairs = rng.normal(size=(50, length + 1, length + 1)), rng.normal(size=(50, n_pairs))
    for order in (1, 2):
        best_tree(arcs[0], pairs[0], starts, order == 2, True)
        with Clock() as clock:
            for k in range(n_sentences):
                best_tree(arcs[k % 50], pairs[k % 50], starts, order == 2, True)
        rate = n_sentences / clock.cpu
        rows.append({"task": f"decoding, {length} words", "system": f"order {order}, 1 thread", "per cpu second": rate})
        rows[-1]["per second"] = n_sentences / clock.wall
    return rows


def figures(gold: list[Tree], heads: Any, labels: Any) -> dict[str, float]:
    return {name: round(100 * value, 2) for name, value in score_trees(gold, heads, labels).as_dict().items()}


def ours(task: str, order: int, train: list[Tree], test: list[Tree], jobs: int, **more: Any) -> dict[str, Any]:
    parser = DependencyParser(order=order, n_jobs=jobs, **OPTIONS | more)
    with Clock() as fitting:
        parser.fit(train)
    parser.predict(test[:2])
    with Clock() as parsing:
        heads, labels = parser.predict(test)
    passes = len(train) * parser.n_iter_
    return {
        "task": task,
        "system": f"order {order}" + (" with clusters" if more.get("clusters") else ""),
        **figures(test, heads, labels),
        "features": parser.n_active_,
        "MB": size_of(parser)["MB"],
        "train seconds": fitting.wall,
        "train cpu": fitting.cpu,
        "trained a cpu second": passes / fitting.cpu,
        "parsed a second": len(test) / parsing.wall,
        "parsed a cpu second": len(test) / parsing.cpu,
    }


def size_of(parser: DependencyParser) -> dict[str, float]:
    """Return the size of the model file, and that of a compressed one."""
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, compressed in (("MB", False), ("MB compressed", True)):
            save(parser, Path(folder) / name, compressed=compressed)
            sizes[name] = (Path(folder) / name).stat().st_size / 1e6
    return sizes


def pruned(train: list[Tree], dev: list[Tree]) -> Rows:
    """Compare parsing with all pairs and with pairs of likely arcs, and files of rounded weights."""
    parser = DependencyParser(order=2, labeled=False, rehang=False, rounding=0.0, **OPTIONS).fit(train)
    features = SentenceFeatures(parser.features, with_columns([t.sentence for t in dev], parser.columns_))
    structure = parser.structure(parser.features, features)
    gold = np.concatenate([tree.heads for tree in dev])
    ways: dict[str, Callable[[], Any]] = {
        "all pairs": partial(structure.best, parser.weights_),
        "pairs of likely arcs": lambda: structure.argmax_by(
            partial(features.scores, weights=parser.weights_, scale=0.3, least=0.003)
        ),
    }
    rows: Rows = []
    for name, parse in ways.items():
        parse()
        with Clock() as clock:
            heads = parse()
        accuracy = round(100 * float((heads == gold).mean()), 2)
        rows.append(
            {"task": "EWT dev, order 2", "system": name, "uas": accuracy, "parsed a cpu second": len(dev) / clock.cpu}
        )
    for level in (0.0, 0.25, 0.5, 1.0):
        weights = rounded(parser.weights_, level)
        small = parser.with_features(parser.features.keep(weights != 0), weights[weights != 0])
        facts = {"task": "EWT dev, order 2", "system": f"rounding {level}", "features": small.n_active_}
        rows.append(facts | size_of(small))
        rows[-1]["uas"] = figures(dev, *small.predict(dev))["uas"]
    return rows


def tagged_text(trees: list[Tree], raw: Sequence[str], n_tokens: int) -> list[Sentence]:
    """Read raw texts, mixed in equal parts, with tags of a tagger that was trained on the sentences of trees."""
    sources = [list(chain.from_iterable(Text(raw_sentences(path)).until(n_tokens // len(raw)))) for path in raw]
    words = list(mixed(sources))
    tagger = CRF(algorithm="pa", max_iter=8)
    tagger.fit([t.sentence.tokens for t in trees], [list(t.sentence["xpos"]) for t in trees])
    sentences: list[Sentence] = []
    for some in (words[k : k + 20_000] for k in range(0, len(words), 20_000)):
        for tokens, row in zip(some, tagger.predict(some), strict=True):
            # one string a word, not one a token: the text stays in memory
            sentences.append(Sentence(tuple(map(sys.intern, tokens)), {"xpos": tuple(map(sys.intern, row))}))
    return sentences


def condensed(
    task: str,
    train: list[Tree],
    gold: list[Tree],
    judged: dict[str, list[Tree]],
    jobs: int,
    raw: Sequence[str],
    amounts: list[int],
    drops: list[Any],
) -> Rows:
    """Condense a parser of order 2 as `handful condense` does, by more and more text, and compare heads and files.

    `gold` are the training trees with the tags of people, from which the tagger of the text learns.
    """
    rows: Rows = []

    def add(system: str, parser: DependencyParser, **more: Any) -> None:
        for part, trees in judged.items():
            parser.predict(trees[:2])
            with Clock() as clock:
                scores = figures(trees, *parser.predict(trees)) | {"features": parser.n_active_} | more
            speed = {"parsed a cpu second": len(trees) / clock.cpu}
            rows.append({"task": f"{task}, {part}, order 2", "system": system} | scores | size_of(parser) | speed)
            show(rows[-1:], sys.stderr)

    options = OPTIONS | {"order": 2, "labeled": False, "n_jobs": jobs, "tags": "xpos"}
    full = DependencyParser(rounding=0.0, **options).fit(train)
    add("full, weights as they were learned", full)
    weights = rounded(full.weights_, 0.5)
    add("full, weights rounded (default)", full.with_features(full.features.keep(weights != 0), weights[weights != 0]))
    condensing = Condensing(
        full, train, None, CondensingSettings(held_out=3, vocabulary="all", min_count=3, max_iter=6)
    )
    text = tagged_text(gold, raw, max(amounts))
    ends = np.cumsum([len(sentence) for sentence in text])
    for amount in sorted(amounts):
        condensing.features = [condensing.settings.features(features.base_model) for features in condensing.features]
        with Clock() as clock:
            condensing.count(text[: np.searchsorted(ends, amount) + 1])
        for drop in drops:
            condensing.settings = replace(condensing.settings, drop=drop)
            small = condense(condensing).model
            counted = f"condensed by {condensing.n_counted:,} tokens, drop {drop}"
            add(counted, small, weights=small.n_active_condensed_, **{"counting cpu": clock.cpu})
    return rows


def tags(task: str, train: list[Tree], test: list[Tree], jobs: int) -> Rows:
    """Parse what a tagger has tagged, trained on the tags of people, and on those of taggers that had not seen them."""
    unseen = tagged_unseen(Treebank(train, [], test))
    gold, right = ([list(t.sentence["xpos"]) for t in part] for part in (train, test))
    predicted = [list(t.sentence["xpos"]) for t in unseen.test]
    by_people = retagged(train, gold)
    rows = [
        ours(f"{task}, gold tags", 2, by_people, retagged(test, right), jobs),
        ours(f"{task}, learned from gold tags, tested with predicted tags", 2, by_people, unseen.test, jobs),
        ours(f"{task}, jackknifed tags, tested with predicted tags", 2, unseen.train, unseen.test, jobs),
    ]
    equal = sum(a == b for x, y in zip(right, predicted, strict=True) for a, b in zip(x, y, strict=True))
    accuracy = round(100 * equal / sum(map(len, right)), 2)
    return [row | {"test tags right": 100.0 if row is rows[0] else accuracy} for row in rows]


def morphology(train: list[Tree], dev: list[Tree], jobs: int) -> Rows:
    """Parse with morphological features of people joined to the Penn tags, and without."""

    def joined(trees: list[Tree]) -> list[Tree]:
        out = []
        for tree in trees:
            columns = dict(tree.sentence.columns)
            columns["xpos"] = tuple(map("|".join, zip(columns["xpos"], columns["feats"], strict=True)))
            out.append(Tree(Sentence(tree.sentence.tokens, columns), tree.heads, tree.labels))
        return out

    task = f"EWT dev, {len(train):,} trees"
    return [
        ours(f"{task}, tags", 1, train, dev, jobs),
        ours(f"{task}, tags and morphological features", 1, joined(train), joined(dev), jobs),
    ]


def with_universal(trees: list[Tree]) -> list[Tree]:
    """Copy Penn tags to where UDPipe's parser looks for tags, if nothing is there."""
    out = []
    for tree in trees:
        columns = dict(tree.sentence.columns)
        if set(columns["upos"]) == {"_"}:
            columns["upos"] = columns["xpos"]
        out.append(Tree(Sentence(tree.sentence.tokens, columns), tree.heads, tree.labels))
    return out


def udpipe(task: str, train: list[Tree], test: list[Tree]) -> dict[str, Any]:
    from ufal import udpipe as judge

    def read(path: Path) -> Any:
        reader, sentences = judge.InputFormat.newConlluInputFormat(), judge.Sentences()
        error = judge.ProcessingError()
        reader.setText(path.read_text())
        sentence = judge.Sentence()
        while reader.nextSentence(sentence, error):
            sentences.append(sentence)
            sentence = judge.Sentence()
        if error.occurred():
            raise RuntimeError(error.message)
        return sentences

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_conllu(place / "train.conllu", with_universal(train))
        write_conllu(place / "test.conllu", with_universal(test))
        known, new, error = read(place / "train.conllu"), read(place / "test.conllu"), judge.ProcessingError()
        with Clock() as fitting:
            trainer = judge.Trainer
            parts = trainer.NONE, trainer.NONE, trainer.DEFAULT
            data = trainer.train("morphodita_parsito", known, judge.Sentences(), *parts, error)
        if error.occurred():
            raise RuntimeError(error.message)
        (place / "model").write_bytes(data)
        model = judge.Model.load(str(place / "model"))
    heads, labels = [], []
    with Clock() as parsing:
        for sentence in new:  # a copy, so that it must be read before the next one comes
            sentence.unlinkAllNodes()
            if not model.parse(sentence, judge.Model.DEFAULT):
                raise RuntimeError("UDPipe did not parse a sentence")
            heads.append([word.head for word in sentence.words][1:])
            labels.append([word.deprel for word in sentence.words][1:])
    return {
        "task": task,
        "system": f"UDPipe 1, {len(train):,} trees",
        **figures(test, heads, labels),
        "MB": len(data) / 1e6,
        "train seconds": fitting.wall,
        "train cpu": fitting.cpu,
        "parsed a second": len(test) / parsing.wall,
        "parsed a cpu second": len(test) / parsing.cpu,
    }


def choose(task: str, train: list[Tree], dev: list[Tree], jobs: int) -> Rows:
    rows = []
    for settings in GRID:
        row = ours(task, 1, train, dev, jobs, labeled=False, **settings)
        rows.append(row | {"system": "order 1, " + ", ".join(f"{k} {v}" for k, v in settings.items())})
    return rows


def clusters(jobs: int) -> Rows:
    """Score parsers with and without clusters on development trees."""
    trees, paths = read_treebank(), read_clusters()
    rows = []
    for order in (1, 2):
        for clusters in (None, paths):
            rows.append(
                ours("development trees", order, trees.train, trees.dev, jobs, clusters=clusters, labeled=False)
            )
    return rows


def cofer(jobs: int, n_tokens: int | None) -> Rows:
    """Score condensed parsers on development trees, over resolutions."""
    trees = read_treebank()
    task = Task(trees, read_tagged_news(trees.train, n_tokens), read_clusters(), n_jobs=jobs)
    rows = []
    for name in BASES:
        with Clock() as clock:
            base = task.base(name)
        scores = figures(trees.dev, *base.predict(trees.dev))
        rows.append({"task": "development trees", "system": name, **scores, "features": base.n_active_})
        rows[-1]["train cpu"] = clock.cpu
        features = task.count(base, name)
        ways: dict[str, Callable[[], Any]] = {
            **{f"{name}, condensed at resolution {r:g}": partial(task.retrain, features, name, r) for r in RESOLUTIONS},
            f"{name}, condensed, base weights kept": partial(task.keep, features, task.early(name), name),
        }
        for system, train in ways.items():
            with Clock() as clock:
                parser = train()
            scores = figures(trees.dev, *parser.predict(trees.dev))
            active = parser.n_active_condensed_
            rows.append({"task": "development trees", "system": system, **scores, "features": active})
            rows[-1]["train cpu"] = clock.cpu
    return rows


def gold_table(jobs: int, n_tokens: int | None) -> Rows:
    """Make the rows of the paper's table with the tags of people, on development and test trees."""
    trees = read_treebank()
    task = Task(trees, read_tagged_news(trees.train, n_tokens or N_TOKENS), read_clusters(), n_jobs=jobs)
    return [
        {
            "task": "gold tags",
            "system": f"{row.base}, {row.way}",
            "dev": row.dev,
            "test": row.test,
            "features": row.active,
        }
        for row in task.rows()
    ]


def kept(jobs: int, n_tokens: int | None) -> Rows:
    """Score condensed parsers that keep the base model's weights on 900 trees, after 2,600 others, over their settings."""
    both = read_treebank()
    known = [*both.train, *both.dev]
    trees = Treebank(known[:2600], known[2600:3500], [])
    task = Task(trees, read_tagged_news(trees.train, n_tokens), {}, n_jobs=jobs)
    base = task.base("sup")
    features, early = task.count(base, "sup"), task.early("sup")
    changes: list[dict[str, Any]] = [
        {},
        {"discount": 1e9},  # so that nothing has potency
        *({"discount": discount} for discount in (0.5, 5.0)),
        *({"resolution": resolution} for resolution in (0.5, 2.0, 20.0)),
        *({"base_step": step} for step in (0.01, 0.03, 0.05)),
        *({"rate": rate} for rate in (0.001, 0.01)),
    ]
    ways: dict[str, Callable[[], Any]] = {
        "base": lambda: base,
        f"resolution {COARSE:g}, as in the paper": partial(task.retrain, features, "sup", COARSE),
    }
    for change in changes:
        change_text = (
            ", ".join(f"{name} {value:g}" for name, value in change.items()) or "the settings of the paper's page"
        )
        ways[f"base weights kept, {change_text}"] = partial(task.keep, features, early, "sup", **change)
    rows = []
    for system, train in ways.items():
        parser = train()
        scores = figures(trees.dev, *parser.predict(trees.dev))
        active = getattr(parser, "n_active_condensed_", parser.n_active_)
        rows.append({"task": "900 trees", "system": system, **scores, "features": active})
    return rows


def curve(
    jobs: int, raw: str, amounts: Sequence[int], ways: Sequence[str], jackknifed: bool
) -> Iterator[dict[str, Any]]:
    """Yield heads right on 900 trees, after 2,600 others, of order 1 condensed by more and more raw text."""
    both = read_treebank()
    known = [*both.train, *both.dev]
    gold = Treebank(known[:2600], known[2600:3500], [])
    trees = tagged_unseen(gold) if jackknifed else gold
    task = Task(trees, [], {}, n_jobs=jobs)
    learned_from = {"whole": trees.train, "early": [t for k, t in enumerate(trees.train) if k % HELD_OUT]}
    models = {name: task.base("sup", some) for name, some in learned_from.items()}
    text = tagged_text(gold.train, [raw], max(amounts))
    ends = np.cumsum([len(sentence) for sentence in text])
    cuts = [0, *(int(np.searchsorted(ends, amount)) + 1 for amount in sorted(amounts))]
    # what is known is the same for all amounts: features of the right trees, and of the first part of the text
    first, least = text[: cuts[1]], COUNTING["min_count"]
    spaces = {
        name: widen(model.feature_space(learned_from[name]), lambda: [first], ShardReading(), least, Counting())
        for name, model in models.items()
    }
    labeled = {
        name: count_features(space, [[t.sentence for t in learned_from[name]]], ShardReading(), Counting())
        for name, space in spaces.items()
    }
    counted: dict[str, FeatureCounts | None] = dict.fromkeys(spaces)
    named = {"task": "900 trees", "text": Path(raw).name}
    yield named | {"way": "base"} | figures(trees.dev, *models["whole"].predict(trees.dev))
    rows: Rows = []
    for start, stop in pairwise(cuts):
        for name, space in spaces.items():
            counted[name] = count_features(space, [text[start:stop]], ShardReading(), Counting(), counted[name])
        for way in ways:
            features = {}
            for name, model in models.items():
                gold_counts, more = labeled[name], counted[name]
                assert more is not None
                all_counts = (
                    [gold_counts, more.weighted(4.0 * gold_counts.size / more.size)] if "weighed" in way else [more]
                )
                features[name] = CondensedFeatures(model, **COUNTING).fit_counts(all_counts)
            if way == "paper":
                small = task.retrain(features["whole"], "sup", COARSE)
            else:
                small = task.keep(features["whole"], features["early"], "sup")
            row = named | {"way": way, "tokens": int(ends[stop - 1])}
            rows.append(row | figures(trees.dev, *small.predict(trees.dev)) | {"weights": small.n_active_condensed_})
            yield rows[-1]
    score = "uas without punctuation"
    for row in extrapolated([row | {"F1": row[score]} for row in rows]):
        yield {score if name == "F1" else name: value for name, value in row.items()}


def scale(trees: list[Tree], jobs: int, times: int = 11) -> Rows:
    """Learn from the WSJ sample several times over, as many sentences as the usual training sections, for one pass."""
    moments: list[tuple[float, float]] = []

    def progress(step: Step) -> None:
        if step.done:
            moments.append((time.perf_counter(), time.process_time()))

    parser = DependencyParser(order=2, n_jobs=jobs, **OPTIONS | {"max_iter": 1})
    with Clock() as clock:
        parser.fit(trees * times, progress=progress)
    wall, cpu = (after - before for before, after in zip(*moments, strict=True))
    return [
        {
            "task": f"{len(trees) * times:,} sentences",
            "system": f"order 2, {jobs} threads",
            "seconds a pass": wall,
            "cpu seconds a pass": cpu,
            "hours of 10 passes": (clock.wall + 9 * wall) / 3600,
            "cpu hours of 10 passes": (clock.cpu + 9 * cpu) / 3600,
            "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            "load": os.getloadavg()[0],
        }
    ]


def show(rows: Rows, file: TextIO = sys.stdout) -> None:
    for row in rows:
        parts = [
            f"{name} {value:,.2f}"
            if isinstance(value, float)
            else f"{name} {value}"
            if name == "text"
            else f"{name} {value:,}"
            for name, value in row.items()
            if name not in ("task", "system", "way")
        ]
        print(f"{row['task']}: {row['system']}: {', '.join(parts)}", file=file, flush=True)


def main() -> None:
    parser = usual_options(__doc__, "decoding, and 300 trees without UDPipe")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--choose", action="store_true", help="try options on development trees, test on nothing")
    parser.add_argument(
        "--tokens", nargs="+", type=int, help="unlabeled tokens; all by default, 200,000 for 'condensed'"
    )
    parser.add_argument(
        "--treebanks",
        nargs="+",
        choices=tuple(TREEBANKS),
        default=("wsj",),
        help="for 'tags' and 'condensed'",
    )
    parser.add_argument("--every", type=int, default=1, help="of the training trees, learn from every n-th")
    parser.add_argument("--offset", type=int, default=0, help="for 'condensed', begin with this one of them")
    parser.add_argument(
        "--raw", nargs="+", default=["news"], help="raw text for 'condensed' (mixed) and 'curve' (apart)"
    )
    tasks = (
        "decode",
        "wsj",
        "tags",
        "ewt",
        "pruned",
        "morphology",
        "condensed",
        "clusters",
        "cofer",
        "gold",
        "kept",
        "curve",
        "scale",
        "ptb",
    )
    parser.add_argument("--only", nargs="+", choices=tasks, default=("decode", "wsj", "ewt", "ptb"))
    parser.add_argument("--udpipe-every", type=int, default=1, help="the same for UDPipe, whose training takes long")
    parser.add_argument("--test", action="store_true", help="score 'condensed' on the test trees")
    parser.add_argument(
        "--jackknifed",
        action="store_true",
        help="tags of taggers that have not seen the trees, for 'condensed' and 'curve'",
    )
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS, help="for 'curve'")
    parser.add_argument("--drops", nargs="+", type=float, help="for 'condensed', instead of what held-out trees show")
    systems = ("order1", "order2", "udpipe")
    parser.add_argument("--systems", nargs="+", choices=systems, default=systems)
    options = parser.parse_args()
    if options.quick:
        options.only, options.systems = ("decode", "wsj"), ("order1", "order2")
    if not os.environ.get("HANDFUL_DATA"):
        print("not run: HANDFUL_DATA must name the data folder.")
        return
    results: Rows = []
    most = max(options.tokens) if options.tokens else None

    def add(rows: Rows) -> None:
        results.extend(rows)
        if not options.json:
            show(rows)

    def compare(task: str, train: list[Tree], dev: list[Tree], test: list[Tree]) -> None:
        train = train[:300] if options.quick else train[:: options.every]
        if options.choose:
            known = {id(t) for t in dev}
            add(choose(task, [t for t in train if id(t) not in known], dev, options.jobs))
            return
        for order in (1, 2):
            if f"order{order}" in options.systems:
                add([ours(task, order, train, test, options.jobs)])
        if "udpipe" in options.systems:
            add([udpipe(task, train[:: options.udpipe_every], test)])

    if "decode" in options.only:
        add(decoding())
    sample = list(load("wsj-sample-dep")) if {"wsj", "tags", "scale"} & set(options.only) else []
    if "wsj" in options.only:
        compare("WSJ sample", sample[:3500], sample[3200:3500], sample[-414:])
    for treebank in options.treebanks if "tags" in options.only else ():
        trees = read_ewt() if treebank == "ewt" else Treebank(sample[:3500], [], sample[-414:])
        add(tags(treebank.upper(), trees.train[:: options.every], trees.test, options.jobs))
    if "ewt" in options.only:
        compare("UD English EWT", *read_ewt())
    if "pruned" in options.only:
        add(pruned(list(load("en_ewt-ud-train"))[::3], list(load("en_ewt-ud-dev"))))
    if "morphology" in options.only:
        ewt = read_ewt()
        add(morphology(ewt.train[::3], ewt.dev, options.jobs))
    for treebank in options.treebanks if "condensed" in options.only else ():
        whole = TREEBANKS[treebank]()
        gold = whole._replace(train=whole.train[options.offset :: options.every])
        trees = tagged_unseen(gold) if options.jackknifed else gold
        judged = {"development": trees.dev} | ({"test": trees.test} if options.test else {})
        amounts = options.tokens or [200_000]
        add(
            condensed(
                f"{treebank.upper()}{', jackknifed tags' * options.jackknifed}",
                trees.train,
                gold.train,
                judged,
                options.jobs,
                options.raw,
                amounts,
                options.drops or ["auto"],
            )
        )
    if "clusters" in options.only:
        add(clusters(options.jobs))
    if "cofer" in options.only:
        add(cofer(options.jobs, most))
    if "gold" in options.only:
        add(gold_table(options.jobs, most))
    if "kept" in options.only:
        add(kept(options.jobs, most))
    for raw in options.raw if "curve" in options.only else ():
        for row in curve(options.jobs, raw, options.tokens or AMOUNTS, options.ways, options.jackknifed):
            add([row | {"system": row["way"]}])
    if "scale" in options.only:
        add(scale(sample[:3500], options.jobs))
    if "ptb" in options.only:
        paths = [data_folder() / f"ptb-wsj-dep-{part}.conllu.gz" for part in ("train", "dev", "test")]
        if all(path.exists() for path in paths):
            compare("Penn Treebank", *(list(read_conllu(path)) for path in paths))
        elif not options.json:
            print("Penn Treebank: not run, ptb-wsj-dep-{train,dev,test}.conllu.gz are not in the data folder.")
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(f"not run: {error}")
