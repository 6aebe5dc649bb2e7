"""Names by condensed features of one base model, over more and more raw text: what `scale.py --only curve` measures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from _shared import Rows
from scipy import stats

from handful.data.records import Sentence
from handful.persistence.model_file import load as load_model
from handful.persistence.model_file import save
from handful.preprocessing.templates import lookup_templates, ready_set
from handful.representations.condensed_features import CondensedFeatures, widen
from handful.representations.counts import FeatureCounts, ShardReading, count_features
from handful.representations.text_stream import Counting
from handful.tagging.base import TagColumn
from handful.tagging.condensing import refitted, slimmed
from handful.tagging.crf import CRF
from handful.tagging.evaluation import chunk_f1, sentence_values
from papers.corpora import load
from papers.suzuki2011.systems import BASES, EARLY, PREFIXES
from papers.suzuki2011.texts import Names, read_clusters, train_tagger

Tagged = tuple[list[Sentence], list[list[str]]]
WAYS = ("paper", "rate", "weighed", "kept", "kept, weighed", "rounded")
PAPER_TOKENS = 3_720_000_000
_USUAL_DISCOUNT = 0.2
_OFTEN = 5  # observations of vocabulary "all"
_RATE_FROM = 130_000  # tokens; a discount that is a rate is the paper's at this size


class Setting(NamedTuple):
    """A way to condense.

    Its resolution, the weight of raw text in labeled texts, the step of base weights, the least weight, the discount, and
    whether the weights that are left are learned again.
    """

    way: str
    resolution: float | None
    weight: float | None
    step: float | None
    drop: float | None
    discount: float | None = None
    again: bool | None = None

    @classmethod
    def every(
        cls,
        ways: Sequence[str],
        resolutions: Sequence[float],
        weights: Sequence[float],
        steps: Sequence[float],
        drops: Sequence[float | None],
        discounts: Sequence[float | None] = (None,),
        *,
        again: bool = False,
    ) -> list[Setting]:
        """Return all that go together."""
        return [
            cls(way, resolution, weight, step, drop, discount, again or None)
            for way in ways
            for discount in (discounts if way != "rounded" else (None,))
            for resolution in (resolutions if way != "rounded" else (None,))
            for weight in (weights if "weighed" in way else (None,))
            for step in (steps if "kept" in way else (None,))
            for drop in (drops if way != "rounded" else [drop or 0.0 for drop in drops])
        ]

    def params(self) -> dict[str, Any]:
        """Return what is not left out."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Curve:
    """Condensed features of one base model over more and more raw text.

    Parameters
    ----------
    n_sentences : int or None
        Training sentences of CoNLL-2003; all by default.
    every : int
        Weights are learned from every n-th of the sentences that are held out for that.
    tags : bool
        Whether the base model reads a column of parts of speech, which a tagger adds to raw text.
    decisions : {"best", "marginals"}
        What is counted.
    clusters : bool
        Whether the base model reads the clusters of the paper's page (iCWR).
    folder : Path
        Where base models and counts are kept; what is there is not made again.
    """

    def __init__(
        self,
        n_sentences: int | None,
        *,
        every: int,
        tags: bool,
        decisions: Literal["best", "marginals"],
        clusters: bool,
        folder: Path,
    ) -> None:
        self.folder, self.decisions, self.every = folder / "clusters" if clusters else folder, decisions, every
        self.folder.mkdir(parents=True, exist_ok=True)
        self.train, self.dev, self.test = names("train", n_sentences), names("testa"), names("testb")
        cut = int(EARLY * len(self.train[0]))
        self.late = self.train[0][cut::every], self.train[1][cut::every]
        templates = [t.removeprefix("*:") for t in ready_set("ner") if tags or "pos[" not in t]
        settings = BASES["icwr-l1" if clusters else "sup-l1"]
        if clusters:
            templates += lookup_templates("brown", PREFIXES)
            settings = settings | {"lookups": {"brown": read_clusters(capitals=True)}}
        self._parts = {"whole": self.train, "early": (self.train[0][:cut], self.train[1][:cut])}
        self.models = {name: self._base(name, CRF(templates, **settings)) for name in self._parts}
        self.spaces = {
            name: model.feature_space(self._parts[name][0], marginals=decisions == "marginals")
            for name, model in self.models.items()
        }
        self.prepare = [TagColumn(self._tagger())] if tags else []
        self._count_labeled()
        self.raw: dict[str, FeatureCounts | None] = dict.fromkeys(self._parts)
        self._trained: tuple[Setting, CRF] | None = None
        self._answers: dict[str, list[list[str]]] = {}  # of the base model, by score
        # as strong for each sentence as in the paper's page, which has 5,616 of them
        self.strength = 8.0 * len(self.late[0]) / 5_616

    def _count_labeled(self) -> None:
        self.labeled = {
            name: count_features(space, [self._parts[name][0]], ShardReading(), Counting())
            for name, space in self.spaces.items()
        }

    def widen(self, shards: Iterable[list[Any]]) -> None:
        """Add the observations that raw text has often enough: vocabulary "all"."""
        text = [self._prepared(shard) for shard in shards]
        for name, space in self.spaces.items():
            self.spaces[name] = widen(space, lambda: text, ShardReading(), _OFTEN, Counting())
        self._count_labeled()

    def _prepared(self, sentences: list[Any]) -> list[Any]:
        for prepare in self.prepare:
            sentences = list(prepare(sentences))
        return sentences

    def count(self, shards: Iterable[list[Any]], name: str) -> None:
        """Count more text, or take the counts that an earlier run kept under this name."""
        self.name, self._trained = name, None
        paths = {which: self.folder / f"{name}-{self.decisions}-{which}.counts" for which in self.spaces}
        known = all(path.exists() for path in paths.values())
        for shard in shards:
            if known:
                continue
            sentences = self._prepared(shard)
            for which, space in self.spaces.items():
                self.raw[which] = count_features(space, [sentences], ShardReading(), Counting(), self.raw[which])
        for which, path in paths.items():
            if known:
                self.raw[which] = FeatureCounts.load(path)
            else:
                counts = self.raw[which]
                assert counts is not None
                counts.save(path)

    def row(self, setting: Setting, n_tokens: int, *, test: bool = False) -> dict[str, Any]:
        """Condense in one way what was counted, and score; keep the row."""
        params = setting.params() | ({} if self.decisions == "best" else {"decisions": self.decisions})
        settings = [f"{name}={value}" for name, value in params.items()]
        named = "-".join(map(str, [self.name, *settings, self.every, *["test"] * test]))
        kept = self.folder / f"{named}.json"
        if not kept.exists():
            kept.write_text(json.dumps({"tokens": n_tokens} | params | self._measured(setting, n_tokens, test)))
        row: dict[str, Any] = json.loads(kept.read_text())
        return row

    def _measured(self, setting: Setting, n_tokens: int, test: bool) -> dict[str, Any]:
        same = setting._replace(drop=None, again=None)
        if self._trained is None or self._trained[0] != same:
            self._trained = same, self._condensed(same, n_tokens)
        model = self._trained[1]
        if setting.drop is None:
            return self._scores(model, test) | {"weights": model.n_active_condensed_}
        model = slimmed(model, setting.drop)
        if setting.again:
            model = refitted(model, setting.drop, *self.train)
        weights = {"weights": model.n_active_condensed_, "weights by template": _by_template(model)}
        model = model.with_small_lookups()
        return self._scores(model, test) | weights | self._sizes(model)

    def _condensed(self, setting: Setting, n_tokens: int) -> CRF:
        if setting.way == "rounded":
            return self.models["whole"]
        bins: dict[str, Any] = {"discount": setting.discount or _USUAL_DISCOUNT, "resolution": setting.resolution}
        learning: dict[str, Any] = {"penalty": "l1", "strength": self.strength, "max_iter": 45, "start": "potency"}
        if setting.way == "rate":
            bins["discount"] *= max(1.0, n_tokens / _RATE_FROM)
        if setting.step is not None:
            bins["base_step"] = setting.step
            learning |= {"strength": self.strength / 2, "max_iter": 40, "start": None}
        whole, early = (
            CondensedFeatures(model, decisions=self.decisions, **bins).fit_counts(self._weighed(name, setting.weight))
            for name, model in self.models.items()
        )
        model: CRF = whole.carry(early.retrain(*self.late, **learning), early)
        for name in ("condensed_weights_", "tied_weights_"):  # folded into the weights, as by `handful condense`
            model.__dict__.pop(name, None)
        return model

    def base(self, *, test: bool = False) -> dict[str, Any]:
        """Score the base model."""
        model = self.models["whole"]
        scores = self._scores(model, test) | {"weights": model.n_active_}
        return {"task": "curve", "way": "base"} | scores | self._sizes(model)

    def _scores(self, model: CRF, test: bool) -> dict[str, float]:
        """Return F1 and, where it is not the base model's own, how far it is from that, give or take a standard error."""
        row: dict[str, float] = {}
        for name, (words, tags) in ({"F1": self.dev} | ({"test F1": self.test} if test else {})).items():
            predicted = model.predict(words)
            row[name] = round(100 * chunk_f1(tags, predicted).overall.f1, 2)
            if model is self.models["whole"]:
                self._answers[name] = predicted
            elif name in self._answers:
                base = self._answers[name]
                more = 100 * (sentence_values(tags, predicted, True) - sentence_values(tags, base, True))
                row[f"{name} above base"] = round(float(more.mean()), 3)
                row[f"{name} standard error"] = round(float(more.std() / np.sqrt(len(more))), 3)
                row[f"{name} sentences unlike base"] = sum(a != b for a, b in zip(predicted, base, strict=True))
        return row

    def _sizes(self, model: CRF) -> dict[str, float]:
        """Return features and megabytes of the file, as it is and compressed."""
        sizes: dict[str, float] = {"features": model.n_active_}
        for name, compressed in (("MB", False), ("MB compressed", True)):
            path = self.folder / "size.handful"
            save(model, path, compressed=compressed)
            sizes[name] = round(path.stat().st_size / 1e6, 3)
        return sizes

    def _weighed(self, name: str, weight: float | None) -> list[FeatureCounts]:
        own, raw = self.labeled[name], self.raw[name]
        assert raw is not None
        return [own, raw if weight is None else raw.weighted(weight * own.size / raw.size)]

    def _base(self, name: str, untrained: CRF) -> CRF:
        path = self.folder / f"base-{name}.handful"
        if not path.exists():
            save(untrained.fit(*self._parts[name]), path)
        model: CRF = load_model(path)
        return model

    def _tagger(self) -> Any:
        path = self.folder / "tagger.handful"
        if not path.exists():
            save(train_tagger(Names(*self.train)), path)
        return load_model(path)


def names(part: str, n_sentences: int | None = None) -> Tagged:
    sentences = list(load(f"conll2003-eng-{part}"))[:n_sentences]
    return sentences, [list(s["ner"]) for s in sentences]


def _by_template(model: CRF) -> int:
    """Count weights, each once for all features of a template that share it: condensed features, as the paper counts them."""
    space = model.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    ids = np.flatnonzero(weights)
    return len(np.unique(np.stack([space.types(ids), np.rint(weights[ids] * 1e6)]), axis=1).T)


def extrapolated(rows: Rows) -> Rows:
    """Return F1 at the paper's amount of text by a straight line over the logarithm, with the 95% band of a new point."""
    estimates: Rows = []
    for way in dict.fromkeys(_way(row) for row in rows):
        points = [(np.log10(row["tokens"]), row["F1"]) for row in rows if _way(row) == way]
        if len(points) < 4:
            continue
        x, y = np.array(points).T
        line = stats.linregress(x, y)
        far = np.log10(PAPER_TOKENS) - x.mean()
        spread = np.sqrt(((y - line.intercept - line.slope * x) ** 2).sum() / (len(x) - 2))
        band = stats.t.ppf(0.975, len(x) - 2) * spread * np.sqrt(1 + 1 / len(x) + far**2 / ((x - x.mean()) ** 2).sum())
        estimate = {"tokens": PAPER_TOKENS, "F1": line.intercept + line.slope * np.log10(PAPER_TOKENS)}
        estimates.append(dict(way) | estimate | {"give or take": band, "a tenfold": line.slope})
    return [{k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()} for row in estimates]


def _way(row: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return what distinguishes one curve from another."""
    return tuple((k, v) for k, v in row.items() if k in ("task", "text", *Setting._fields, "decisions"))
