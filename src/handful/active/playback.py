"""Labels spreading over a map: rows in a plane, and which of them get their labels when, and from whom."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from handful.active.query import ActiveLearner
from handful.data.labels import code_of
from handful.errors import ParameterError
from handful.neighbors.condensed import SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN

Play = Literal["spread", "condensed", "changed"]
_FEWEST_CURVED = 15  # rows from which a curved map makes sense
_N_ANCHORS = 3
_PERPLEXITY = 30.0
_CURVED_STEPS = 500


@dataclass(frozen=True)
class Playback:
    """A map of rows, and steps in which their labels change.

    At step t the first t rows of `steps` have their label of `after`, all others that of `start`.

    Parameters
    ----------
    rows : list of int
        Rows of the table. All that follows is about places in this list.
    x, y : list of float
        Where they are, between 0 and 1.
    classes : list of str
        Names of the codes below; -1 is no label.
    labeled : list of int
        Labels that a person gave.
    start, after : list of int
        Labels before the first and after the last step.
    steps : list of int
        Places in the order of the steps.
    reasons : list of str
        Why, for each step; empty where the order says all.
    parents : list of int
        Place whose label was taken over; -1 for a labeled one.
    sure : list of float
        Confidence of the label after the last step.
    """

    rows: list[int]
    x: list[float]
    y: list[float]
    classes: list[str]
    labeled: list[int]
    start: list[int]
    after: list[int]
    steps: list[int]
    reasons: list[str]
    parents: list[int]
    sure: list[float]


class RowMap:
    """A map of the rows of a label learner, drawn once, on which labels are played.

    Parameters
    ----------
    learner : ActiveLearner
        The table.
    n_rows : int, default=600
        Most rows on the map: of a longer table, rows chosen at random and all labeled ones.

    Notes
    -----
    Rows of two dimensions are drawn as they are, others by t-SNE (van der Maaten & Hinton 2008), which keeps near rows
    near. A labeled row that is not in the sample is put between its three nearest rows there. Methods see all dimensions,
    not the map.

    Examples
    --------
    >>> learner = ActiveLearner([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [8.0, 1.0]])
    >>> played = RowMap(learner).play({0: "a", 3: "b"})
    >>> played.steps, [played.classes[code] for code in played.after], played.parents
    ([1, 2], ['a', 'a', 'a', 'b'], [-1, 0, 1, -1])
    """

    def __init__(self, learner: ActiveLearner, n_rows: int = 600) -> None:
        self._learner = learner
        self._lock = threading.Lock()
        n_pool = len(learner.pool)
        self._sample = np.arange(n_pool)
        if n_pool > n_rows:
            self._sample = np.sort(np.random.default_rng(learner.seed).permutation(n_pool)[:n_rows])
        self._places: np.ndarray | None = None

    def play(self, labels: Mapping[int, Any] | None = None, kind: Play = "spread") -> Playback:
        """Play labels on the map.

        Parameters
        ----------
        labels : mapping of int to label, optional
            Labels by row; those of the learner by default.
        kind : {"spread", "condensed", "changed"}, default="spread"
            Labels that spread in the order of ordinal k-NN (`OrdinalKNN`); rows that a condensed set keeps, in the order of
            storing (`SemiSupervisedCondensedNN`); or rows whose label is another one than labeled rows alone would give.

        Returns
        -------
        Playback
            Without steps while there are fewer than two classes.
        """
        if kind not in get_args(Play):
            raise ParameterError(f"RowMap: kind must be one of {', '.join(get_args(Play))}, got {kind!r}.")
        learner = self._learner
        labels = learner.labels if labels is None else labels
        held = {learner.places[row]: str(label) for row, label in labels.items() if row in learner.places}
        at = np.union1d(self._sample, np.fromiter(held, dtype=np.int64, count=len(held)))
        classes = sorted(set(held.values()))
        codes_by_label = code_of(classes)
        labeled = np.array([codes_by_label[held[place]] if place in held else -1 for place in at.tolist()])
        played = _stand_still(labeled) if len(classes) < 2 else _PLAYS[kind](learner.points[at], labeled)
        places = self._plane(at)
        return Playback(
            rows=learner.pool[at].tolist(),
            x=places[:, 0].round(4).tolist(),
            y=places[:, 1].round(4).tolist(),
            classes=classes,
            labeled=labeled.tolist(),
            **{name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in played.items()},
        )

    def _plane(self, at: np.ndarray) -> np.ndarray:
        """Return where places of the pool are in the plane."""
        with self._lock:  # two pages may ask at once
            if self._places is None:
                self._places = _flat(self._learner.points[self._sample], self._learner.seed)
        nearest = np.searchsorted(self._sample, at).clip(max=len(self._sample) - 1)
        places: np.ndarray = self._places[nearest].copy()
        for number in np.flatnonzero(self._sample[nearest] != at):
            away = np.linalg.norm(self._learner.points[self._sample] - self._learner.points[at[number]], axis=1)
            near = np.argsort(away, kind="stable")[:_N_ANCHORS]
            places[number] = self._places[near].mean(axis=0)
        return places


def _flat(points: np.ndarray, seed: int) -> np.ndarray:
    """Return points in the unit square."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    n, width = points.shape
    if width == 1 or n < 2:
        plane = np.column_stack([points[:, 0], np.zeros(n)])
    elif width == 2:
        plane = points
    elif n < _FEWEST_CURVED:
        plane = PCA(2, random_state=seed).fit_transform(points)
    else:
        # Equal rows would be at distance 0 of each other, on which the method stumbles.
        apart = points + 1e-6 * np.random.default_rng(seed).standard_normal(points.shape)
        perplexity = min(_PERPLEXITY, (n - 1) / 3)
        plane = TSNE(
            perplexity=perplexity, init="pca", max_iter=_CURVED_STEPS, random_state=seed, n_jobs=1
        ).fit_transform(apart)
    low, high = plane.min(axis=0), plane.max(axis=0)
    return np.asarray((plane - low) / np.where(high > low, high - low, 1.0), dtype=np.float64)


def _stand_still(labeled: np.ndarray) -> dict[str, Any]:
    none: list[Any] = []
    alone = np.full(len(labeled), -1)
    return {
        "start": labeled,
        "after": labeled,
        "steps": none,
        "reasons": none,
        "parents": alone,
        "sure": (labeled >= 0) * 1.0,
    }


def _spread(points: np.ndarray, labeled: np.ndarray) -> dict[str, Any]:
    model = _fitted(OrdinalKNN(), points, labeled)
    sure = np.ones(len(labeled))
    sure[model.order_] = model.confidence_
    return {
        "start": labeled,
        "after": model.transduction_,
        "steps": model.order_,
        "reasons": [],
        "parents": model.parent_,
        "sure": sure.round(4),
    }


def _condensed(points: np.ndarray, labeled: np.ndarray) -> dict[str, Any]:
    model = _fitted(SemiSupervisedCondensedNN(), points, labeled)
    return {
        "start": np.full(len(labeled), -1),
        "after": model.transduction_,
        "steps": model.kept_,
        "reasons": model.reasons_,
        "parents": model.parent_,
        "sure": model.confidence_.round(4),
    }


def _changed(points: np.ndarray, labeled: np.ndarray) -> dict[str, Any]:
    played = _spread(points, labeled)
    known = labeled >= 0
    before = _fitted(OrdinalKNN(), points[known], labeled[known]).predict(points)
    other = before != played["after"]
    return {**played, "start": before, "steps": played["steps"][other[played["steps"]]]}


_PLAYS = {"spread": _spread, "condensed": _condensed, "changed": _changed}


def _fitted(model: Any, points: np.ndarray, codes: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unscaled columns: the points are meant to be as they are
        return model.fit(points, codes)
