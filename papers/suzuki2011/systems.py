"""The systems of the paper for named entities: base models, condensed features of them, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from handful.data.records import Sentence
from handful.errors import Progress, Step
from handful.preprocessing.templates import lookup_templates, ready_set
from handful.representations.condensed_features import CondensedFeatures
from handful.tagging.crf import CRF
from handful.tagging.evaluation import chunk_f1
from papers.suzuki2011.texts import Names

# Chosen on the development set where anything was tried; README.md says what.
BASES: dict[str, dict[str, Any]] = {
    "sup-l1": {"penalty": "l1", "strength": 0.05, "extra_l2": 0.05, "encoding": "iobes", "max_iter": 40},
    "icwr-l1": {"penalty": "l1", "strength": 0.05, "extra_l2": 0.05, "encoding": "iobes", "max_iter": 50},
    "sup-l2": {"penalty": "l2", "strength": 0.1, "encoding": "iobes", "max_iter": 40},
    "icwr-l2": {"penalty": "l2", "strength": 0.1, "encoding": "iobes", "max_iter": 50},
}
COUNTING: dict[str, Any] = {"vocabulary": "labeled", "count_labeled": True}
COARSE, FINE = 1.0, 10_000.0
# Of Figure 3, by penalty.
RESOLUTIONS = {"l1": (0.5, COARSE, 4.0, FINE), "l2": (COARSE, 4.0)}
# By penalty: the second training where bins are few, on sentences that nothing before has seen, and where they are many,
# on all sentences.
RETRAINING: dict[tuple[str, bool], dict[str, Any]] = {
    ("l1", False): {"discount": 0.2, "strength": 8.0, "start": "potency", "max_iter": 45},
    ("l1", True): {"discount": 1.0, "strength": 0.3, "start": "base", "max_iter": 24},
    ("l2", False): {"discount": 0.2, "strength": 5.0, "start": "potency", "max_iter": 30},
}
_MANY = 50.0
# Beyond the paper: the base model's weights are kept, and what bins add is learned from sentences that nothing before has seen.
KEEPING: dict[str, Any] = {"discount": 0.2, "resolution": 1.0, "base_step": 0.02}
LEARNING: dict[str, Any] = {"penalty": "l1", "strength": 4.0, "max_iter": 40}
# Share of the training sentences, the first ones, that the base model behind the weights of few bins has seen.
EARLY = 0.6
# The curve over the amount of unlabeled text: how many tokens (and all), and at which resolutions.
AMOUNTS = (100_000, 300_000, 1_000_000)
CURVE = {"sup-l1": (0.5, COARSE, 4.0)}
CURVE_EVERY = 2  # of the sentences one in so many is trained on again, to save time
PREFIXES = (4, 6, 10, 20)  # of the paths of clusters


@dataclass(frozen=True)
class Point:
    """One trained model: a point of Figure 3 or of the curve over unlabeled text."""

    base: str
    resolution: float | None
    n_tokens: int
    dev: float
    active: int
    test: float | None = None
    every: int = 1
    kept: bool = False


class Counted(NamedTuple):
    """Condensed features of a base model that saw all training sentences, and of one that saw the first."""

    whole: CondensedFeatures
    early: CondensedFeatures


@dataclass(frozen=True)
class Task:
    """The labeled data, and clusters for iCWR."""

    train: Names
    dev: Names
    test: Names
    clusters: dict[str, str]
    quick: bool = False
    n_jobs: int | None = None
    progress: Progress | None = None

    @property
    def n_early(self) -> int:
        """Number of the training sentences that come first, see `EARLY`."""
        return int(EARLY * len(self.train.sentences))

    def base(self, name: str, *, early: bool = False) -> CRF:
        """Train a base model, one of `BASES`, on all or on the first training sentences."""
        settings = BASES[name] | ({"max_iter": 15} if self.quick else {})
        # 46 of the 79 templates: those that read an observation with a label pair are left out, so that bins are finer
        # for the same number of them
        templates = [template.removeprefix("*:") for template in ready_set("ner")]
        if name.startswith("icwr"):
            templates += lookup_templates("brown", PREFIXES)
            settings = settings | {"lookups": {"brown": self.clusters}}
        stop = self.n_early if early else None
        sentences, tags = self.train.sentences[:stop], self.train.tags[:stop]
        named = self._named(f"train {name}")
        return CRF(templates, n_jobs=self.n_jobs, **settings).fit(sentences, tags, progress=named)

    def count(self, name: str, whole: CRF, news: Sequence[Sentence]) -> Counted:
        """Count the features of a base model, and of one that has seen the first sentences, over unlabeled text."""
        sentences, parts = self.train.sentences, []
        for model, labeled in ((whole, sentences), (self.base(name, early=True), sentences[: self.n_early])):
            features = CondensedFeatures(model, **COUNTING)
            parts.append(features.fit(news, labeled=labeled, progress=self._named(f"count {name}")))
        return Counted(*parts)

    def extend(self, counted: Counted, name: str, news: Sequence[Sentence]) -> None:
        """Count more unlabeled text."""
        for features in counted:
            features.extend(news, progress=self._named(f"count {name}"))

    def retrain(
        self, counted: Counted, name: str, resolution: float, n_tokens: int, *, test: bool = False, every: int = 1
    ) -> Point:
        """Bin at a resolution, train again on every N-th sentence, and score."""
        settings = retraining(name, resolution, every=every)
        if self.quick:
            settings["max_iter"] = 15
        bins = {"discount": settings.pop("discount"), "resolution": resolution}
        settings["progress"] = self._named(f"retrain {name} {resolution:g}")
        whole = counted.whole.rebin(**bins)
        if resolution >= _MANY:
            model = whole.retrain(*(part[::every] for part in self.train), **settings)
        else:
            early = counted.early.rebin(**bins)
            late = (part[self.n_early :: every] for part in self.train)
            model = whole.carry(early.retrain(*late, **settings), early)
        point = self.score(model, name, resolution, n_tokens, model.n_active_condensed_, test=test)
        return replace(point, every=every)

    def keep(self, counted: Counted, name: str, n_tokens: int) -> Point:
        """Keep the base model's weights, add what bins are worth by the last sentences, and score."""
        whole, early = (features.rebin(**KEEPING) for features in counted)
        settings = LEARNING | ({"max_iter": 15} if self.quick else {})
        late = (part[self.n_early :] for part in self.train)
        learned = early.retrain(*late, **settings, progress=self._named(f"retrain {name}"))
        model = whole.carry(learned, early)
        point = self.score(model, name, KEEPING["resolution"], n_tokens, model.n_active_condensed_, test=True)
        return replace(point, kept=True)

    def score(
        self, model: CRF, name: str, resolution: float | None, n_tokens: int, active: int, *, test: bool = False
    ) -> Point:
        """Measure a model on the development set and, if wanted, on the test set."""
        on_test = f1(model, self.test) if test else None
        return Point(name, resolution, n_tokens, f1(model, self.dev), active, on_test)

    def _named(self, stage: str) -> Progress | None:
        if self.progress is None:
            return None
        tell = self.progress
        return lambda step: tell(Step(stage, step.done, step.total, step.figures))


def retraining(name: str, resolution: float, *, every: int = 1) -> dict[str, Any]:
    """Return discount and settings of the second training of a base model's condensed features."""
    penalty = "l1" if name.endswith("l1") else "l2"
    settings = RETRAINING[penalty, resolution >= _MANY]
    # as strong for each sentence
    return {"penalty": penalty} | settings | {"strength": settings["strength"] / every}


def f1(model: CRF, names: Names) -> float:
    """Return F1 of chunks in percent."""
    return 100 * chunk_f1(names.tags, model.predict(names.sentences)).overall.f1
