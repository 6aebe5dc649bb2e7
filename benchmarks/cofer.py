"""Condensed features: speed of counting, workers, memory, and a text classifier of a few weights.

Needs HANDFUL_DATA (see `python -m papers data`). Counting is held against plain tagging by the same model on the same sentences in
the same run, CPU seconds and wall seconds, since only the former mean much on a busy machine. Workers count text files
and give the sentences their part-of-speech column on the way, as a user would do with raw text.

    python benchmarks/cofer.py [--quick] [--json] [--only counting workers sources]
                               [--raw FILE]     workers count this text, one sentence a line, instead of the news
                               [--tokens N]     so much of it, 4,000,000 by default; plain counting takes a half of that
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from _raw_text import Text, raw_sentences
from _shared import Clock, Rows, show_rows, usual_options

from handful.data.records import Sentence
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.counts import ShardReading, count_features, shards_of
from handful.representations.text_stream import Counting
from handful.tagging.base import TagColumn
from handful.tagging.crf import CRF
from papers.suzuki2011.systems import BASES
from papers.suzuki2011.texts import Names, measure_sources, read_names, read_news, read_sources, size, train_tagger


def counting(model: CRF, train: Names, news: list[Sentence]) -> Rows:
    """Tag and count the same sentences in turn, three times each, and take the best of each."""
    space = model.feature_space(train.sentences)
    count_features(space, [news[:200]], ShardReading(), Counting())
    model.predict(news[:200])
    tagging, potency = [], []
    for _ in range(3):
        with Clock() as clock:
            model.predict(news)
        tagging.append(clock)
        with Clock() as clock:
            count_features(space, shards_of(news, "benchmark"), ShardReading(), Counting())
        potency.append(clock)
    n_tokens = size(news)
    row: dict[str, Any] = {"task": "counting against tagging", "tokens": n_tokens}
    for name, clocks in (("tagging", tagging), ("potency", potency)):
        row[f"{name} tokens/s"] = round(n_tokens / min(c.wall for c in clocks))
        row[f"{name} tokens/CPU s"] = round(n_tokens / min(c.cpu for c in clocks))
    row["ratio (wall)"] = round(row["potency tokens/s"] / row["tagging tokens/s"], 2)
    row["ratio (CPU)"] = round(row["potency tokens/CPU s"] / row["tagging tokens/CPU s"], 2)
    return [row]


def workers(model: CRF, tagger: CRF, train: Names, text: Iterable[Sequence[str]]) -> Rows:
    """Count files of raw text with one and with two worker processes."""
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number:02}.txt" for number in range(16)]
        with ExitStack() as stack:
            files = cycle([stack.enter_context(path.open("w", encoding="utf-8")) for path in paths])
            for tokens, file in zip(text, files, strict=False):
                file.write(" ".join(tokens) + "\n")
        results = []
        for n_jobs in (1, 2):
            features = CondensedFeatures(model)
            with Clock() as clock:
                features.fit(paths, labeled=train.sentences, prepare=TagColumn(tagger), n_jobs=n_jobs)
            results.append(features)
            rows.append(
                {
                    "task": f"potency with part-of-speech tagging, {n_jobs} worker{'s' * (n_jobs > 1)}",
                    "tokens": features.counts_.size,
                    "wall": round(clock.wall, 1),
                    "tokens/s": round(features.counts_.size / clock.wall),
                    "times faster than 1": round(rows[0]["wall"] / clock.wall, 2) if rows else 1.0,
                }
            )
    one, two = (features.counts_ for features in results)
    rows[-1]["same counts"] = bool((one.chosen == two.chosen).all() and (one.basis == two.basis).all())
    rows[-1]["peak MB of a worker"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    return rows


def sources(quick: bool) -> Rows:
    """Tell who wrote a sentence: a base model of the labeled sentences, and a condensed one."""
    with Clock() as clock:
        results = measure_sources(read_sources(n_unlabeled=1_000, n_test=500) if quick else read_sources())
    shown = {name.removeprefix("sources-"): round(value, 2) for name, value in results.items()}
    return [{"task": "source of a sentence", "wall": round(clock.wall, 1)} | shown]


def main() -> None:
    parser = usual_options(__doc__, "2,000 training sentences, 100,000 tokens of news")
    tasks = ("counting", "workers", "sources")
    parser.add_argument("--only", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--raw", default="news")
    parser.add_argument("--tokens", type=int)
    options = parser.parse_args()
    if not os.environ.get("HANDFUL_DATA"):
        print("not run: HANDFUL_DATA must name the data folder.")
        return
    rows: Rows = []
    if {"counting", "workers"} & set(options.only):
        train = read_names("train", 2_000 if options.quick else None)
        tagger = train_tagger(train)
        # a few iterations give a model of the usual size, and this is about speed
        model = CRF("ner", **BASES["sup-l1"] | {"max_iter": 15}, n_jobs=2).fit(*train)
        model.set_params(n_jobs=None)
        n_tokens = options.tokens or (100_000 if options.quick else 4_000_000)
        if "counting" in options.only:
            rows += counting(model, train, read_news(tagger, n_tokens // 2))
        if "workers" in options.only:
            text = Text(raw_sentences(options.raw)).until(n_tokens)
            rows += workers(model, tagger, train, chain.from_iterable(text))
    if "sources" in options.only:
        rows += sources(options.quick)
    show_rows(rows, options)


if __name__ == "__main__":
    main()
