"""Part-of-speech tagging with condensed nearest neighbors, after Søgaard 2011."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, Literal

import numpy as np

from handful.core.errors import MissingDataError
from handful.core.progress import Step
from handful.evaluation import error_reduction, mcnemar
from handful.neighbors import TriTraining
from handful.papers.claims import Findings, Settings
from handful.papers.sogaard2011 import texts
from handful.papers.sogaard2011.choosing import GRID, MAKERS, Options, answers, blocks, choose, fit, weigh
from handful.papers.sogaard2011.texts import Parts, Tagged, Words
from handful.representations import BrownClusters
from handful.tagging import CRF
from handful.tagging.stacked import token_rows

_PUBLISHED = ("cnn", "cnn-points", "scnn", "scnn-points", "scnn-error-reduction", "base", "tri",
              "figure5-lowest", "figure5-highest", "figure5-fewest", "figure5-most")  # fmt: skip
_ORDERINGS = ("scnn-over-cnn", "scnn-fewer", "scnn-log-p", "scnn-over-base", "fallback-over-base", "crossed-over-base")
_CURVE_WORDS = 5_000
_CURVE = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_200_000)
_CHOICE_WORDS = 30_000  # unlabeled words while options are chosen
_TRI_WORDS = 200_000
_TRI: dict[str, Literal["bounded", "agreed"]] = {"tri": "bounded", "tri-agreed": "agreed"}
_N_FOLDS = 3  # of the choice
_N_CROSSED = 4  # taggers that tag each other's sentences

# amount of unlabeled words, accuracy in percent, stored points
Curve = list[tuple[int, float, int]]


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``quick`` takes fewer sentences, less unlabeled text, fewer clusters and options, and only the WSJ sample;
        ``n_jobs`` is the number of threads of the tagger.

    Returns
    -------
    Findings
        Numbers by claim, and further ones by the same scheme.
    """
    values: dict[str, float] = {}
    quoted = "a system of others that the paper quotes; it is not part of this library"
    not_run = {"ptb-suzuki": quoted, "ptb-spoustova": quoted}
    unlabeled = cache(lambda: _unlabeled(settings))
    ids = {
        "wsj": [*_ORDERINGS, "figure5-rise", "figure5-shrink"],
        "ewt": _ORDERINGS,
        "ptb": [*_PUBLISHED, *_ORDERINGS],
    }
    loaders: dict[str, Callable[[], Parts]] = {
        "wsj": texts.wsj_sample,
        "ewt": texts.ewt,
        "ptb": texts.wsj_sections,
    }
    for name, loader in loaders.items():
        own_ids = [f"{name}-{end}" for end in ids[name]]
        if settings.quick and name != "wsj":
            not_run |= dict.fromkeys(own_ids, "left out of the quick run")
            continue
        try:
            values |= settings.kept(f"sogaard2011 {name}", partial(_measure, loader, unlabeled, settings))
        except MissingDataError as error:
            not_run |= dict.fromkeys(own_ids, str(error))
    return Findings(values, not_run)


def _measure(
    loader: Callable[[], Parts], unlabeled: Callable[[], tuple[Words, dict[str, str]]], settings: Settings
) -> dict[str, float]:
    parts = loader()
    return Experiment(parts.first(600) if settings.quick else parts, *unlabeled(), settings).values()


def _unlabeled(settings: Settings) -> tuple[Words, dict[str, str]]:
    brown = texts.brown_words()
    if settings.quick:
        brown = texts.first_words(brown, 100_000)
    return brown, cluster(brown, settings)


def cluster(brown: Words, settings: Settings) -> dict[str, str]:
    """Cluster the words of the unlabeled text, in the role of the paper's unsupervised tagger.

    Parameters
    ----------
    brown : list of lists of str
        The Brown corpus.
    settings : Settings
        A quick run clusters only that.

    Returns
    -------
    dict of str to str
        Cluster of each word.
    """
    if settings.quick:
        return BrownClusters(100, min_count=2).fit(brown).paths_
    return BrownClusters(320, min_count=3).fit(texts.clustering_text(brown), progress=settings.progress).paths_


class Experiment:
    """The experiment on one corpus.

    Parameters
    ----------
    parts : Parts
        The corpus.
    brown : list of lists of str
        Unlabeled sentences.
    clusters : mapping of str to str
        Cluster of each word.
    settings : Settings
        How to run it.
    """

    def __init__(self, parts: Parts, brown: Words, clusters: Mapping[str, str], settings: Settings) -> None:
        self.parts, self.clusters, self.settings = parts, clusters, settings
        self.grid: Sequence[Options] = (GRID[0], GRID[2], GRID[5]) if settings.quick else GRID
        tagger = self._train(parts.base, 20 if settings.quick else None)
        self.T, self.gold_T = self._rows(tagger, parts.labeled)
        self.test, self.gold = self._rows(tagger, parts.test)
        self.U, _ = self._rows(tagger, (brown, brown))

    def values(self) -> dict[str, float]:
        """Return accuracies in percent, stored points, and what follows from them, by claim."""
        scores: dict[str, float] = {}
        base = self.test[:, 0]
        right = {"base": base == self.gold}
        chosen = {}
        splits = list(blocks(len(self.T), 2 if self.settings.quick else _N_FOLDS))
        some = self.U[:_CHOICE_WORDS]
        for kind in MAKERS:
            self._tell(f"{self.parts.name}: {kind}")
            chosen[kind] = choose(kind, self.T, self.gold_T, some, splits, self.grid)
            options = chosen[kind].options
            model = fit(kind, options, self.T, self.gold_T, self.U)
            winners, shares = answers(model, options, self.test)
            right[kind] = winners == self.gold
            scores[f"{kind}-points"] = len(model.stored_codes_)
            if kind == "scnn":
                kept = np.where(shares < chosen[kind].min_share, base, winners)
                right["fallback"] = kept == self.gold
                scores["fallback-changed"] = int((kept != base).sum())
        self._tri_training(chosen["wcnn"].options, right, scores)
        right |= self._crossed(scores)
        scores |= {kind: 100 * float(verdicts.mean()) for kind, verdicts in right.items()}
        scores |= _comparisons(scores, right)
        scores |= self._figure_five(chosen["scnn"].options)
        return {f"{self.parts.name}-{end}": value for end, value in scores.items()}

    def _train(self, tagged: Tagged, n_iterations: int | None) -> CRF:
        """Train a tagger, without a number of iterations until its objective stops falling."""
        self._tell(f"{self.parts.name}: tagger")
        return CRF(max_iter=n_iterations, n_jobs=self.settings.n_jobs).fit(*tagged, progress=self.settings.progress)

    def _rows(self, tagger: CRF, tagged: Tagged) -> tuple[np.ndarray, np.ndarray]:
        words, tags = tagged
        gold = np.array([*chain.from_iterable(tags), None], dtype=object)[:-1]
        return token_rows(words, tagger.predict(words), self.clusters), gold

    def _tri_training(self, options: Options, right: dict[str, np.ndarray], scores: dict[str, float]) -> None:
        """Note answers, stored points, and the unlabeled rows that taught one of the three."""
        more = self.U[:_TRI_WORDS]
        rows = weigh(np.concatenate([self.T, more]), options.tag_weight)
        labels = np.concatenate([self.gold_T, np.full(len(more), None)])
        for kind, admit in _TRI.items():
            self._tell(f"{self.parts.name}: {kind}")
            model = TriTraining(MAKERS["wcnn"](options), random_state=0, admit=admit).fit(rows, labels)
            right[kind] = model.predict(weigh(self.test, options.tag_weight)) == self.gold
            scores[f"{kind}-points"] = sum(len(part.kept_) for part in model.estimators_)
            scores[f"{kind}-taken"] = int((model.labeled_iter_ > 0).sum())

    def _crossed(self, scores: dict[str, float]) -> dict[str, np.ndarray]:
        """Let the tagger's own training sentences teach the classifier too, tagged by taggers that did not see them."""
        words, tags = self.parts.base
        n, n_folds = len(words), 2 if self.settings.quick else _N_CROSSED
        rows, gold = [], []
        for f in range(n_folds):
            start, stop = n * f // n_folds, n * (f + 1) // n_folds
            others = [*words[:start], *words[stop:]], [*tags[:start], *tags[stop:]]
            tagger = self._train(others, 20 if self.settings.quick else None)
            X, y = self._rows(tagger, (words[start:stop], tags[start:stop]))
            rows.append(X)
            gold.append(y)
        X, y = np.concatenate([*rows, self.T]), np.concatenate([*gold, self.gold_T])
        n_crossed = len(X) - len(self.T)
        split = [(np.arange(n_crossed), np.arange(n_crossed, len(X)))]  # judged on T
        right = {}
        for kind in ("cnn", "wcnn", "scnn", "scnn-weak"):
            self._tell(f"{self.parts.name}: crossed {kind}")
            options = choose(kind, X, y, self.U[:_CHOICE_WORDS], split, self.grid).options
            model = fit(kind, options, X, y, self.U)
            right[f"crossed-{kind}"] = answers(model, options, self.test)[0] == self.gold
            scores[f"crossed-{kind}-points"] = len(model.stored_codes_)
        return right

    def _figure_five(self, options: Options) -> dict[str, float]:
        """Vary the amount of unlabeled text, with few labeled words."""
        curve: Curve = []
        judged, gold = self.test[:_CURVE_WORDS], self.gold[:_CURVE_WORDS]
        few = slice(0, _CURVE_WORDS)
        for amount in _CURVE:
            model = fit("scnn", options, self.T[few], self.gold_T[few], self.U[:amount])
            accuracy = 100 * float(np.mean(answers(model, options, judged)[0] == gold))
            curve.append((min(amount, len(self.U)), accuracy, len(model.stored_codes_)))
            if amount >= len(self.U):
                break
        if self.settings.figures is not None:
            from handful.papers.sogaard2011.figures import draw_curve

            draw_curve(self.settings.figures / f"figure5-{self.parts.name}.svg", curve)
        scores, points = [c[1] for c in curve], [c[2] for c in curve]
        return {
            "figure5-lowest": min(scores),
            "figure5-highest": max(scores),
            "figure5-fewest": min(points),
            "figure5-most": max(points),
            "figure5-rise": max(scores) - scores[0],
            "figure5-shrink": points[0] - min(points[1:]),
        }

    def _tell(self, stage: str) -> None:
        if self.settings.progress is not None:
            self.settings.progress(Step(stage, 0))


def _comparisons(scores: Mapping[str, float], right: Mapping[str, np.ndarray]) -> dict[str, float]:
    accuracy: dict[str, Any] = {kind: scores[kind] / 100 for kind in right}
    p_value = mcnemar(right["scnn"], right["cnn"])
    return {
        "scnn-over-cnn": scores["scnn"] - scores["cnn"],
        "scnn-fewer": scores["cnn-points"] - scores["scnn-points"],
        "scnn-error-reduction": 100 * error_reduction(accuracy["scnn"], accuracy["cnn"]),
        "scnn-base-error-reduction": 100 * error_reduction(accuracy["scnn"], accuracy["base"]),
        "scnn-log-p": -float(np.log10(max(p_value, 1e-300))),
        "scnn-over-base": scores["scnn"] - scores["base"],
        "scnn-base-p": mcnemar(right["scnn"], right["base"]),
        "fallback-over-base": scores["fallback"] - scores["base"],
        "crossed-over-base": scores["crossed-scnn-weak"] - scores["base"],
        "crossed-base-p": mcnemar(right["crossed-scnn-weak"], right["base"]),
    }
