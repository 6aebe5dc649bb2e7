"""Parts of speech with what raw text and other corpora know of words.

Needs HANDFUL_DATA (see `handful data`). Accuracy, of all words and of those unseen in training, on development sentences (WSJ
sample: sentences 3,101 to 3,500, after learning from those before; EWT: its dev part) or, with `--test`, on the test part (the last
414; test). "words" are the templates `pos`; "clusters" adds ready Brown clusters of Reuters (and of tweets, for EWT),
"lexicon" also the tags that words have in the Brown corpus, which is tagged in another way.

    python benchmarks/scale.py [--quick] [--json] [--test] [--only pos] [--corpora wsj ewt] [--systems words clusters lexicon]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from handful.core.errors import MissingDataError
from handful.core.records import Sentence
from handful.corpora import load
from handful.features import ambiguity_classes, lookup_templates, ready_set
from handful.tagging import CRF

Tagged = tuple[list[Sentence], list[list[str]]]
Rows = list[dict[str, Any]]
PREFIXES = (4, 6, 8, 10, 20)
# Chosen on the development sentences: which lookups, and the learner; clusters are of news for news, and of both kinds for the web.
CLUSTERS = {"wsj": ("rcv1-c1000",), "ewt": ("rcv1-c1000", "twitter-6m")}
LEARNER: dict[str, Any] = {"algorithm": "pa", "max_iter": 8}


def wsj(test: bool) -> tuple[Tagged, Tagged]:
    sentences = list(load("wsj-sample-pos"))
    words, tags = [Sentence(s.tokens) for s in sentences], [list(s["pos"]) for s in sentences]
    a, b = (3500, len(words)) if test else (3100, 3500)
    return (words[:a], tags[:a]), (words[a:b], tags[a:b])


def ewt(test: bool) -> tuple[Tagged, Tagged]:
    def part(name: str) -> Tagged:
        trees = list(load(f"en_ewt-ud-{name}"))
        return [Sentence(t.sentence.tokens) for t in trees], [list(t.sentence["xpos"]) for t in trees]

    return part("train"), part("test" if test else "dev")


CORPORA: dict[str, Callable[[bool], tuple[Tagged, Tagged]]] = {"wsj": wsj, "ewt": ewt}


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


def pos(corpora: list[str], systems: list[str], quick: bool, test: bool) -> Rows:
    rows: Rows = []
    for corpus in corpora:
        train, judged = CORPORA[corpus](test)
        if quick:
            train = train[0][:500], train[1][:500]
        known = {word for sentence in train[0] for word in sentence.tokens}
        unseen = np.array([word not in known for sentence in judged[0] for word in sentence.tokens])
        for system in systems:
            templates, lookups = observations(corpus, system)
            start = time.process_time()
            tagger = CRF(templates, lookups=lookups, **LEARNER).fit(*train)
            spent = time.process_time() - start
            found = tagger.predict(judged[0])
            right = np.array([a == b for x, y in zip(judged[1], found, strict=True) for a, b in zip(x, y, strict=True)])
            rows.append(
                {
                    "task": f"{corpus}, {'test' if test else 'development'}",
                    "system": system,
                    "accuracy": round(100 * float(right.mean()), 2),
                    "unseen words": round(100 * float(right[unseen].mean()), 2),
                    "unseen": round(100 * float(unseen.mean()), 1),
                    "training CPU s": round(spent, 1),
                    "weights": tagger.n_active_,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="500 training sentences")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--test", action="store_true", help="score the test parts")
    parser.add_argument("--only", nargs="+", choices=("pos",), default=("pos",))
    parser.add_argument("--corpora", nargs="+", choices=tuple(CORPORA), default=tuple(CORPORA))
    systems = ("words", "clusters", "lexicon")
    parser.add_argument("--systems", nargs="+", choices=systems, default=systems)
    options = parser.parse_args()
    rows: Rows = []
    try:
        if "pos" in options.only:
            rows += pos(list(options.corpora), list(options.systems), options.quick, options.test)
    except MissingDataError as error:
        print(f"not run: {error}")
        return
    for row in rows:
        row["quick"] = options.quick
    if options.json:
        json.dump({"rows": rows, "load": os.getloadavg()}, sys.stdout, indent=1)
        print()
        return
    for row in rows:
        print("  ".join(f"{key}: {value}" for key, value in row.items() if key != "quick"))
    print(f"load average {os.getloadavg()}" + (", reduced run (--quick)" if options.quick else ""))


if __name__ == "__main__":
    main()
