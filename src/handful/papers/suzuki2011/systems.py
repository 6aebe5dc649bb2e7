"""The systems of the paper for named entities: base models, condensed features of them, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from handful.core.progress import Progress, Step
from handful.core.records import Sentence
from handful.evaluation.chunks import chunk_f1
from handful.features import lookup_templates, ready_set
from handful.papers.suzuki2011.texts import Names
from handful.representations.condensed import CondensedFeatures
from handful.tagging.crf import CRF

# Chosen on the development set where anything was tried; README.md says what.
BASES: dict[str, dict[str, Any]] = {
    "sup-l1": {"penalty": "l1", "strength": 0.05, "extra_l2": 0.05, "encoding": "iobes", "max_iter": 40},
    "icwr-l1": {"penalty": "l1", "strength": 0.05, "extra_l2": 0.05, "encoding": "iobes", "max_iter": 30},
    "sup-l2": {"penalty": "l2", "strength": 0.1, "encoding": "iobes", "max_iter": 40},
    "icwr-l2": {"penalty": "l2", "strength": 0.1, "encoding": "iobes", "max_iter": 30},
}
COUNTING: dict[str, Any] = {"vocabulary": "labeled", "count_labeled": True, "global_phi": False}
COARSE, FINE = 1.0, 10_000.0
RESOLUTIONS = (0.5, COARSE, 4.0, 16.0, 100.0, FINE)
# The second training, by penalty, where bins are few and where they are many. The strengths for L2 were not tuned.
RETRAINING: dict[tuple[str, bool], dict[str, Any]] = {
    ("l1", False): {"discount": 1.0, "strength": 5.0, "max_iter": 30},
    ("l1", True): {"discount": 1.0, "strength": 0.3, "max_iter": 45},
    ("l2", False): {"discount": 1.0, "strength": 1.0, "max_iter": 30},
    ("l2", True): {"discount": 1.0, "strength": 0.2, "max_iter": 45},
}
_MANY = 50.0
# The curve over the amount of unlabeled text: how many tokens (and all), and at which resolutions.
AMOUNTS = (100_000, 300_000, 1_000_000)
CURVE = {"sup-l1": (COARSE, FINE)}
CURVE_EVERY = 7  # of the training sentences one in so many is trained on again, to save time
_PREFIXES = (4, 6, 10, 20)


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

    def base(self, name: str) -> CRF:
        """Train a base model, one of `BASES`."""
        settings = BASES[name] | ({"max_iter": 15} if self.quick else {})
        templates: Any = "ner"
        if name.startswith("icwr"):
            templates = [*ready_set("ner"), *lookup_templates("brown", _PREFIXES)]
            settings = settings | {"lookups": {"brown": self.clusters}}
        return CRF(templates, n_jobs=self.n_jobs, **settings).fit(*self.train, progress=self._named(f"train {name}"))

    def count(
        self, model: CRF, news: Sequence[Sentence], name: str, before: CondensedFeatures | None = None
    ) -> CondensedFeatures:
        """Count the features of a base model over unlabeled text, after what was counted before."""
        named = self._named(f"count {name}")
        if before is not None:
            return before.extend(news, progress=named)
        features = CondensedFeatures(model, **COUNTING)
        return features.fit(news, labeled=self.train.sentences, progress=named)

    def retrain(
        self,
        features: CondensedFeatures,
        name: str,
        resolution: float,
        n_tokens: int,
        *,
        test: bool = False,
        every: int = 1,
    ) -> Point:
        """Bin at a resolution, train again on one in so many sentences, and score."""
        settings = retraining(name, resolution, every=every)
        if self.quick:
            settings["max_iter"] = 15
        binned = features.rebin(discount=settings.pop("discount"), resolution=resolution)
        named = self._named(f"retrain {name} {resolution:g}")
        model = binned.retrain(*(mine[::every] for mine in self.train), **settings, progress=named)
        point = self.score(model, name, resolution, n_tokens, model.n_active_condensed_, test=test)
        return replace(point, every=every)

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
