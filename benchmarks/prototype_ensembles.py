"""Prototype taggers that choose their own settings: accuracy over seeds, quality told without labels, labels besides.

    python benchmarks/prototype_ensembles.py [ads citations wsj chinese us-address recipe-ingredients company-names]
        [--seeds 3]      every set with so many seeds (from --first-seed 0 on): mean and spread of the accuracy
        [--settings]     single settings, each fitted alone: accuracy beside the quality told without labels, rank correlation
        [--order 1]      order of the taggers; order 2 is slow where there are many labels
        [--raw-tokens N] no more raw text than this for the similarity of words
        [--no-boundary]  ads and citations without the list of marks between fields, which the team then finds itself
        [--no-marks]     so that it does not
        [--labels 10 50] tagged sentences besides: team, CRF alone, prototypes alone, on the sentences without tags

Ads are generated; citations, wsj and chinese need HANDFUL_DATA, the others HANDFUL_DEVDATA. Prototypes are the three (citations
and field sets: five) most frequent words of each label in the labeled part. Accuracy is over all tokens with a correct label; the
correct labels are looked at for nothing else.
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
from scipy.stats import spearmanr

from handful.data.tagged import read_tagged
from handful.tagging.prototypes.ensemble import PrototypeEnsemble, recovered_shares
from handful.tagging.prototypes.features import KINDS, learn_similarity, usual_threshold
from handful.tagging.prototypes.lists import extract_prototypes
from handful.tagging.prototypes.tagger import PrototypeTagger
from handful.tagging.recipes import TaggerSetup
from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads
from papers.haghighi2006 import plans as texts

Text = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Task:
    """A text with correct labels, its prototypes, and raw text besides."""

    words: Text
    gold: Text
    prototypes: dict[str, list[str]]
    fields: bool
    more: Text = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        return sorted({tag for mine in self.gold for tag in mine})

    def accuracy(self, tagger: Any, first: int = 0) -> float:
        return 100 * tagger.score(list(self.words[first:]), list(self.gold[first:]))

    def team(self, seed: int) -> PrototypeEnsemble:
        own = 100 * seed  # the taggers of a team take the numbers that follow; no two teams share one
        return PrototypeEnsemble(self.prototypes, self.fields, labels=self.labels, random_state=own, **self.settings)

    def fit(self, team: PrototypeEnsemble, tags: Any = None) -> PrototypeEnsemble:
        if self.fields:  # raw documents are learned from, too
            return team.fit([*self.words, *self.more], None if tags is None else [*tags, *[None] * len(self.more)])
        return team.fit(list(self.words), tags, more_text=self.more)


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
    """Return the first sentences, as many as have so many tokens."""
    return text[: int(np.searchsorted(np.cumsum([len(sentence) for sentence in text]), n_tokens))]


def measure_seeds(name: str, seeds: range, raw_tokens: int | None, named: bool, **settings: Any) -> None:
    """Fit a team with each seed; `named` says whether a list names the marks between fields."""
    found = []
    for seed in seeds:
        task = TASKS[name](seed)
        if not named:
            boundary = task.settings.get("boundary")
            lists = {label: words for label, words in task.prototypes.items() if label != boundary}
            task = replace(task, prototypes=lists, settings={**task.settings, "boundary": None})
        more = task.more if raw_tokens is None else up_to(task.more, raw_tokens)
        task = replace(task, more=more, settings={**task.settings, **settings})
        start = time.process_time()
        team = task.fit(task.team(seed))
        seconds = time.process_time() - start
        found.append(task.accuracy(team))
        best = team.trials_[0]
        told = f"{best['similarity']}, spelling {best['spelling']}, sticky {best['sticky']:g}"
        told += f", {team.members_[0].n_iter_} iterations"
        print(
            f"{name} seed {seed}: {found[-1]:.1f} % ({told}, hidden {best['recovered']:.2f}), {seconds:.0f} CPU s",
            flush=True,
        )
    if len(seeds) > 1:
        print(f"{name}: mean {np.mean(found):.1f}, standard deviation {np.std(found, ddof=1):.1f}", flush=True)


def measure_settings(name: str) -> None:
    """Fit single settings alone, and compare the order by accuracy with the order by hidden prototypes."""
    task = TASKS[name](0)
    sentences = [*task.words, *(task.more if task.fields else ())]
    text = [*task.words, *task.more]
    rows = []
    for kind in KINDS:
        similarity = learn_similarity(kind, text, sum(map(len, text)))
        for spelling in (True, False):
            for sticky in (4.0, 0.0) if task.fields else (0.0,):
                tagger = PrototypeTagger(
                    task.prototypes,
                    1 if task.fields else 2,
                    similarity,
                    threshold=usual_threshold(kind),
                    spelling=spelling,
                    sticky=sticky,
                    labels=task.labels,
                    **task.settings,
                )
                hidden = recovered_shares(tagger, sentences)[60]
                rows.append((hidden, task.accuracy(tagger.fit(sentences))))
                setting = f"{kind}, spelling {spelling}, sticky {sticky:g}"
                print(f"{name} {setting}: {rows[-1][1]:.1f} %, hidden {hidden:.3f}", flush=True)
    hidden, right = zip(*rows, strict=True)
    print(
        f"{name}: rank correlation {spearmanr(hidden, right)[0]:.2f}, best single setting {max(right):.1f} %",
        flush=True,
    )


def measure_labels(name: str, n_tagged: int) -> None:
    """Tag the first sentences by hand, score on the others: prototypes alone, CRF alone, both."""
    task = TASKS[name](0)
    order = np.random.default_rng(0).permutation(len(task.words)).tolist()
    task = Task(
        [task.words[i] for i in order],
        [task.gold[i] for i in order],
        task.prototypes,
        task.fields,
        task.more,
        task.settings,
    )
    tags = [*map(list, task.gold[:n_tagged]), *[None] * (len(task.words) - n_tagged)]
    both = task.fit(task.team(0), tags)
    crf = TaggerSetup().fit_crf([list(words) for words in task.words[:n_tagged]], tags[:n_tagged])
    weight, scores = both.crf_weight_, {"both": task.accuracy(both, n_tagged), "CRF": task.accuracy(crf, n_tagged)}
    both.crf_weight_ = 0.0
    scores["prototypes"] = task.accuracy(both, n_tagged)
    told = ", ".join(f"{what} {value:.1f} %" for what, value in scores.items())
    print(f"{name}, {n_tagged} tagged sentences: {told}; weight of the CRF {weight:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--quick", action="store_true", help="generated ads, one seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--order", type=int, choices=(1, 2))
    parser.add_argument("--raw-tokens", type=int)
    parser.add_argument("--starts", type=int, default=3, help="taggers of a team")
    parser.add_argument("--boundary", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--marks", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--settings", action="store_true")
    parser.add_argument("--labels", type=int, nargs="*", default=[])
    options = parser.parse_args()
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser.error(f"unknown task {unknown[0]!r}")
    for name in options.tasks or ["ads"]:
        if options.settings:
            measure_settings(name)
        for n_tagged in options.labels:
            measure_labels(name, n_tagged)
        if not options.settings and not options.labels:
            seeds = range(options.first_seed, options.first_seed + options.seeds)
            settings = {"order": options.order, "n_starts": options.starts, "marks": options.marks}
            measure_seeds(name, seeds, options.raw_tokens, options.boundary, **settings)
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
