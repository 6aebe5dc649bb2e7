"""The dependency parser: accuracy, file and speed next to UDPipe 1, with predicted tags, with FEATS, and condensed.

    python benchmarks/parser.py ewt         orders 1 and 2 on UD English EWT, and UDPipe 1 (pip install ufal.udpipe)
    python benchmarks/parser.py tags        tested with predicted tags, after learning from correct and from jackknifed ones
    python benchmarks/parser.py condensed   heads and files after 'handful condense', development trees [--test: test trees]
    python benchmarks/parser.py feats --train A.conllu.gz --dev B.conllu.gz    with and without the column FEATS
    python benchmarks/parser.py --quick     300 trees of EWT, no UDPipe

All but feats need HANDFUL_DATA (see `python -m papers data`). Templates and the steps of the learners were chosen on development
trees of EWT and the WSJ sample. UDPipe is trained with its default options. Times are wall seconds and CPU seconds.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from _raw_text import Text, raw_sentences
from _shared import Clock, Rows, usual_options

from handful.data.conll import read_conllu, write_conllu
from handful.data.records import Sentence, Tree
from handful.errors import MissingDataError
from handful.linear.structure import rounded
from handful.parsing.parser import DependencyParser
from handful.parsing.scoring import score_trees
from handful.persistence.model_file import save
from handful.representations.condensing import Condensing
from handful.representations.potency import CondensingSettings
from handful.tagging.condensing import condense
from handful.tagging.crf import CRF
from papers.corpora import load
from papers.suzuki2011.parsing import Treebank, read_treebank, retagged, tagged_unseen
from papers.suzuki2011.texts import mixed

OPTIONS: dict[str, Any] = {"max_iter": 10, "strength": 1.0}
TASKS = ("ewt", "tags", "condensed", "feats")


def read_ewt() -> Treebank:
    return Treebank(*(list(load(f"en_ewt-ud-{part}")) for part in ("train", "dev", "test")))


TREEBANKS: dict[str, Callable[[], Treebank]] = {"wsj": read_treebank, "ewt": read_ewt}


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
        small = condense(condensing).model
        system = f"condensed by {condensing.n_counted:,} tokens"
        add(system, small, weights=small.n_active_condensed_, **{"counting cpu": clock.cpu})
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


def feats(train: list[Tree], dev: list[Tree], jobs: int) -> Rows:
    """Parse without morphological features and with those of the file."""
    ways = {"without FEATS": False, "with FEATS": True}
    rows = [ours("FEATS", 2, train, dev, jobs, feats=used) for used in ways.values()]
    return [row | {"system": name} for row, name in zip(rows, ways, strict=True)]


def measure(task: str, options: Any) -> Rows:
    """Return the rows of one task."""
    jobs = options.jobs
    if task == "feats":
        return feats(list(read_conllu(options.train)), list(read_conllu(options.dev)), jobs)
    treebank = TREEBANKS[options.treebank]()
    train = treebank.train[:300] if options.quick else treebank.train[:: options.every]
    if task == "tags":
        return tags(options.treebank, train, treebank.test, jobs)
    if task == "condensed":
        gold = treebank._replace(train=train)
        trees = tagged_unseen(gold) if options.jackknifed else gold
        parts = {"development": trees.dev} | ({"test": trees.test} if options.test else {})
        return condensed(options.treebank, trees.train, gold.train, parts, jobs, options.raw, options.tokens)
    rows = [ours(options.treebank, order, train, treebank.test, jobs) for order in (1, 2)]
    return rows if options.quick else [*rows, udpipe(options.treebank, train, treebank.test)]


def main() -> None:
    parser = usual_options(__doc__, "300 trees, without UDPipe")
    parser.add_argument("task", nargs="?", choices=TASKS, default="ewt")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--treebank", choices=tuple(TREEBANKS), default="ewt")
    parser.add_argument("--every", type=int, default=1, help="learn from every n-th training tree")
    parser.add_argument("--tokens", nargs="+", type=int, default=[200_000], help="unlabeled tokens for 'condensed'")
    parser.add_argument("--raw", nargs="+", default=["news"], help="raw text for 'condensed'")
    parser.add_argument("--test", action="store_true", help="score 'condensed' on the test trees, too")
    parser.add_argument("--jackknifed", action="store_true", help="'condensed' learns from predicted tags")
    parser.add_argument("--train", type=Path, help="treebank for 'feats'")
    parser.add_argument("--dev", type=Path, help="treebank for 'feats'")
    options = parser.parse_args()
    if options.task == "feats" and None in (options.train, options.dev):
        parser.error("feats needs --train and --dev")
    if options.task != "feats" and not os.environ.get("HANDFUL_DATA"):
        print("not run: HANDFUL_DATA must name the data folder.")
        return
    rows = measure(options.task, options)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(f"not run: {error}")
