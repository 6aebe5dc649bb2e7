"""Prototype ensembles: accuracy over seeds, of single settings, and with some tagged sentences.

    python benchmarks/prototype_ensembles.py [ads citations wsj chinese us-address recipe-ingredients company-names]
        [--seeds 3]      every set with this many seeds (from --first-seed 0 on): mean and spread of the accuracy
        [--members]      the accuracy of every tagger of the ensemble as well
        [--fields]       labels are fields, or with --no-fields parts of speech; by default the text decides
        [--raw-tokens N] no more raw text than this for the similarity of words
        [--no-boundary]  ads and citations without the list of separators, which the ensemble then finds
        [--labels 10 50] with tagged sentences: ensemble, CRF alone, prototypes alone, on the sentences without tags

Ads are generated; citations, wsj and chinese need HANDFUL_DATA, the others HANDFUL_DEVDATA. Prototypes are the three (citations
and field sets: five) most frequent words of each label in the labeled part. Accuracy is over all tokens with a correct label,
which is used for nothing else.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from handful.data.tagged import read_tagged
from handful.tagging.prototypes.ensemble import PrototypeEnsemble
from handful.tagging.prototypes.lists import extract_prototypes
from handful.tagging.recipes import TaggerSetup
from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads
from papers.haghighi2006 import plans as texts

Text = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Task:
    """A text with correct labels, its prototypes, and further raw text."""

    words: Text
    gold: Text
    prototypes: dict[str, list[str]]
    documents: bool
    more: Text = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        return sorted({tag for row in self.gold for tag in row})

    def accuracy(self, tagger: Any, first: int = 0) -> float:
        return 100 * tagger.score(list(self.words[first:]), list(self.gold[first:]))

    def fit(self, seed: int, tags: Any = None) -> PrototypeEnsemble:
        """Return an ensemble; no two seeds share a random state."""
        ensemble = PrototypeEnsemble(self.prototypes, labels=self.labels, random_state=100 * seed, **self.settings)
        if self.documents:  # raw documents are learned from, too
            return ensemble.fit([*self.words, *self.more], None if tags is None else [*tags, *[None] * len(self.more)])
        return ensemble.fit(list(self.words), tags, more_text=self.more)


def ads(seed: int) -> Task:
    made = make_apartment_ads(400, random_state=seed)
    words, gold = [ad.tokens for ad in made], [ad["field"] for ad in made]
    return Task(words, gold, APARTMENT_PROTOTYPES, True, (), {"boundary": "BOUNDARY"})


def citations(_: int) -> Task:
    (words, gold), train = texts.citations("test"), texts.citations("train")
    lists = {**extract_prototypes(*train, 5), "BOUNDARY": [".", ",", ";"]}
    return Task(words, gold, lists, True, texts.citations("unlabeled")[0], {"boundary": "BOUNDARY"})


def wsj(_: int) -> Task:
    words, gold = texts.wsj_sample()
    lists = extract_prototypes(words[:2000], gold[:2000])
    return Task(words[:2000], gold[:2000], lists, False, [*words[2000:], *texts.news()])


def chinese(_: int) -> Task:
    (words, gold), context = texts.chinese(60_000)
    return Task(words, gold, extract_prototypes(words, gold), False, context[len(words) :], {"suffix_length": 0})


def development(name: str) -> Callable[[int], Task]:
    def read(_: int) -> Task:
        folder = Path(os.environ["HANDFUL_DEVDATA"]) / "tagged"
        files = sorted(folder.glob(f"{name}*.tsv.gz"), reverse=True)  # the training part first
        parts = [read_tagged(path) for path in files]
        words = [sentence.tokens for part in parts for sentence in part.sentences]
        gold = [tuple(tags) for part in parts for tags in part.tags]
        n = len(parts[0].sentences)
        return Task(words, gold, extract_prototypes(words[:n], gold[:n], 5), True)

    return read


TASKS: dict[str, Callable[[int], Task]] = {
    "ads": ads,
    "citations": citations,
    "wsj": wsj,
    "chinese": chinese,
    **{name: development(name) for name in ("us-address", "recipe-ingredients", "company-names")},
}


def up_to(text: Text, n_tokens: int) -> Text:
    """Return the first sentences, as many as have that number of tokens."""
    return text[: int(np.searchsorted(np.cumsum([len(sentence) for sentence in text]), n_tokens))]


def measure_seeds(name: str, options: argparse.Namespace) -> None:
    """Fit an ensemble with each seed."""
    scores = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        task = TASKS[name](seed)
        task = replace(task, settings={**task.settings, "fields": options.fields})
        if not options.boundary:
            boundary = task.settings.get("boundary")
            lists = {label: words for label, words in task.prototypes.items() if label != boundary}
            task = replace(task, prototypes=lists, settings={**task.settings, "boundary": None})
        if options.raw_tokens is not None:
            task = replace(task, more=up_to(task.more, options.raw_tokens))
        start = time.process_time()
        ensemble = task.fit(seed)
        seconds = time.process_time() - start
        scores.append(task.accuracy(ensemble))
        print(
            f"{name} seed {seed}: {scores[-1]:.1f}%, {len(ensemble.members_)} taggers, {seconds:.0f} CPU s", flush=True
        )
        if options.members:
            for setting, member in zip(ensemble.settings_, ensemble.members_, strict=True):
                kind, sticky = setting["similarity"], setting["sticky"]
                print(f"  {kind}, sticky {sticky:g}: {task.accuracy(member):.1f}%", flush=True)
    if len(scores) > 1:
        print(f"{name}: mean {np.mean(scores):.1f}, standard deviation {np.std(scores, ddof=1):.1f}", flush=True)


def measure_labels(name: str, n_tagged: int) -> None:
    """Score prototypes alone, a CRF of some tagged sentences alone, and both, on the other sentences."""
    task = TASKS[name](0)
    order = np.random.default_rng(0).permutation(len(task.words)).tolist()
    task = replace(task, words=[task.words[i] for i in order], gold=[task.gold[i] for i in order])
    tags = [*map(list, task.gold[:n_tagged]), *[None] * (len(task.words) - n_tagged)]
    both = task.fit(0, tags)
    crf = TaggerSetup().fit_crf([list(words) for words in task.words[:n_tagged]], tags[:n_tagged])
    weight, scores = both.crf_weight_, {"both": task.accuracy(both, n_tagged), "CRF": task.accuracy(crf, n_tagged)}
    both.crf_weight_ = 0.0
    scores["prototypes"] = task.accuracy(both, n_tagged)
    values = ", ".join(f"{what} {value:.1f}%" for what, value in scores.items())
    print(f"{name}, {n_tagged} tagged sentences: {values}; weight of the CRF {weight:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--quick", action="store_true", help="generated ads, one seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--raw-tokens", type=int)
    parser.add_argument("--boundary", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--fields", action=argparse.BooleanOptionalAction)
    parser.add_argument("--members", action="store_true")
    parser.add_argument("--labels", type=int, nargs="*", default=[])
    options = parser.parse_args()
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser.error(f"unknown task {unknown[0]!r}")
    for name in options.tasks or ["ads"]:
        for n_tagged in options.labels:
            measure_labels(name, n_tagged)
        if not options.labels:
            measure_seeds(name, options)
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
