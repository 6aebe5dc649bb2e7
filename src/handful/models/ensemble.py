"""An ensemble of a few diverse classifiers, each calibrated and weighted on out-of-fold predictions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from scipy.stats import norm
from sklearn.base import clone

from handful.errors import DataError, ParameterError
from handful.models.adapters import RowClassifier
from handful.models.classifiers import NaiveBayesEM
from handful.models.confidence import picked_by_class
from handful.models.label_graph import LabelSpreading
from handful.params import Count, Share, check_params
from handful.persistence.schema import Array, DictOf, ListOf, Model, Number, Record, Text, check_member, stored
from handful.preprocessing.table_encoder import count_alike
from handful.registry import method

_N_FOLDS = 5
_MAX_HELD_OUT = 1000  # labeled rows whose out-of-fold predictions calibrate the members
_MAX_UNLABELED = 20_000  # unlabeled rows from which the pool is taken
_MAX_POOL = 3000  # unlabeled rows in the graph and in the estimate of class priors
_MAX_TEXTS = (
    5000  # the same of texts: the graph of embeddings gains by more rows where classes are many (docs/results.md)
)
_MAX_CELLS = 30_000_000  # of the rows that are fitted to
_MAX_TREE_CELLS = 3_000_000  # trees x labeled rows x classes of a forest, which bounds the size of a model file
_WEIGHT_PRIOR = 10.0  # strength of the Dirichlet prior on the weights, in labeled rows
_EMBEDDING_GRAPH = {"n_neighbors": 10, "sharpness": 2.0}  # of seven pairs, on five to eight sets of texts, seeds 0, 1
_EMBEDDING_PRIOR = 2.0  # of 1, 2, 3 and 5; ten sets of texts with 50 labels, seeds 0 to 3
_CONFIDENT = 0.75  # probability of predictions that students learn from, as in scikit-learn's self-training
_MAX_PSEUDO_LABELS = 1000
_STUDENTS = ("extra-trees", "logistic-regression")
_STUDENT_TREES = 50
_MIN_WEIGHT = 0.01  # members below are left out
_CLIP = 3.0  # standard deviations
_LEAST_SCALE = 1e-12  # columns that spread less are not scaled
_N_KNOTS = 256
_TEXT = 8  # leading columns of a text view that tell rows apart


@dataclass(frozen=True)
class Member:
    """A classifier and the view of the rows that it gets.

    The view is "raw", "standard" or "rank" for the columns of a table, "words" for everything with counts of words, or the
    name of a span of text columns, whose rows are scaled to length 1.
    """

    name: str
    view: str
    estimator: Any
    uses_unlabeled: bool = False
    prior: float = 1.0  # of its weight, relative to other members


def table_members(n_trees: int = 100) -> list[Member]:
    """Return the members for tables; ``benchmarks/ablation.py`` shows what each is worth."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return [
        Member("extra-trees", "raw", ExtraTreesClassifier(n_trees, random_state=0)),
        Member(
            "random-forest", "raw", RandomForestClassifier(n_trees, max_features=0.5, oob_score=True, random_state=0)
        ),
        Member("logistic-regression", "standard", LogisticRegression(C=1.0, max_iter=1000)),
        Member("logistic-regression-rank", "rank", LogisticRegression(C=0.1, max_iter=1000)),
        Member("label-spreading", "standard", LabelSpreading(alpha=0.98), uses_unlabeled=True),
    ]


def text_members(spans: Sequence[str]) -> list[Member]:
    """Return the members for the views of texts that there are."""
    from sklearn.linear_model import LogisticRegression

    members = [Member("naive-bayes-em", "words", NaiveBayesEM(), uses_unlabeled=True)]
    for view in spans:
        prior = _EMBEDDING_PRIOR if view == "vectors" else 1.0
        linear = LogisticRegression(C=10.0, max_iter=1000, class_weight="balanced")
        members.append(Member(f"logistic-regression-{view}", view, linear, prior=prior))
        if view != "letters":
            near: dict[str, Any] = _EMBEDDING_GRAPH if view == "vectors" else {"n_neighbors": 15}
            graph = LabelSpreading(alpha=0.8, **near)
            members.append(Member(f"label-spreading-{view}", view, graph, uses_unlabeled=True, prior=prior))
    return members


QUICK = ("extra-trees", "logistic-regression", "logistic-regression-rank", "logistic-regression-lsa", "naive-bayes-em")
"""Members for active learning."""


class Views:
    """Views of the columns of a table: standardized and clipped numbers, and normal scores of their ranks.

    Columns of two values are scaled to a range of 1. Near-identical columns (absolute correlation above 0.995) count as one
    in both views, as in the table encoder, whose scale the standard deviation takes away here.
    """

    STATE = Record(
        stored(
            center=Array("f8", "c?"),
            scale=Array("f8", "c?", low=_LEAST_SCALE),
            center_2=Array("f8", "c?", low=-_CLIP, high=_CLIP),
            scale_2=Array("f8", "c?", low=_LEAST_SCALE),
            weight=Array("f8", "c?", low=0, high=1),
            numeric=Array("i8", "n?", below="c"),
            knots=ListOf(Array("f8", "_"), "n?"),
            scores=ListOf(Array("f8", "_", low=-1 / _LEAST_SCALE**2, high=1 / _LEAST_SCALE**2), "n?"),
        ),
    )

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    @classmethod
    def learn(cls, X: np.ndarray) -> Self:
        """Learn from labeled and unlabeled rows."""
        spread, width = X.std(axis=0), np.ptp(X, axis=0)
        binary = ((X.min(axis=0) == X) | (X.max(axis=0) == X)).all(axis=0)
        center, scale = X.mean(axis=0), _positive(np.where(binary, width, spread))
        clipped = np.clip((X - center) / scale, -_CLIP, _CLIP)
        numeric = np.flatnonzero(~binary)
        scores = [_normal_scores(X[:, j]) for j in numeric]
        return cls(
            {
                "center": center,
                "scale": scale,
                "center_2": clipped.mean(axis=0),
                "scale_2": _positive(np.where(binary, 1.0, clipped.std(axis=0))),
                "weight": count_alike(clipped) ** -0.5,
                "numeric": numeric,
                "knots": [at for at, _ in scores],
                "scores": [score for _, score in scores],
            }
        )

    def transform(self, X: np.ndarray, view: str) -> np.ndarray:
        """Return rows in a view."""
        if view == "raw":
            return X.astype(np.float32)
        s = self.state
        rows = (np.clip((X - s["center"]) / s["scale"], -_CLIP, _CLIP) - s["center_2"]) / s["scale_2"]
        if view == "rank":
            for j, knots, scores in zip(s["numeric"], s["knots"], s["scores"], strict=True):
                rows[:, j] = np.interp(X[:, j], knots, scores)
        return np.asarray(rows * s["weight"])


def _positive(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(values > _LEAST_SCALE, values, 1.0))


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(column, return_counts=True)
    scores = norm.ppf((np.cumsum(counts) - counts / 2) / len(column))
    scores -= np.average(scores, weights=counts)
    scores /= max(float(np.sqrt(np.average(scores**2, weights=counts))), _LEAST_SCALE)
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), _N_KNOTS)).round().astype(int))
    return values[at], scores[at]


@method("ensemble", task="table", uses_unlabeled=True, cost="quick", views=("lsa", "vectors"))
class Ensemble(RowClassifier):
    """A weighted mean of a few diverse classifiers, calibrated on out-of-fold predictions.

    Parameters
    ----------
    members : sequence of str, optional
        Names of the members, by default all of `table_members` and `text_members` that suit the columns.
    class_priors : {"auto", "labels"}, default="auto"
        Frequencies of the classes where the model is used: "auto" estimates them from unlabeled rows if labels look picked
        class by class, "labels" takes those of the labels.
    balance : float, default=0.0
        Power of the class priors that probabilities are divided by to decide: 0 is best for accuracy, 1 for balanced
        accuracy.
    quick : bool, default=False
        A plain mean of fewer members, without out-of-fold predictions; for active learning.
    n_trees : int, default=100
        Trees of each forest; fewer where there are many labels and classes.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    members_ : list of str
        Names of the members.
    weights_, temperatures_ : ndarray of shape (n_members,)
        Weight of each in the mean, and what its log-probabilities are multiplied by before.
    class_priors_ : ndarray of shape (n_classes,)
        Class priors in use.
    priors_estimated_ : bool
        Whether they were estimated from unlabeled rows.
    oof_rows_, oof_proba_ : ndarray
        Labeled rows that were held out, and their out-of-fold probabilities; not in model files.

    Notes
    -----
    Each member is calibrated by a temperature (Guo et al. 2017; log-normal prior around 1). The weights maximize the
    out-of-fold log-likelihood of the weighted mean, by EM, with a Dirichlet prior of ten rows that pulls them to equal
    weights, those of embeddings to twice as much: ten labels give nearly a plain mean. The temperature of the mean is one
    standard error below the most likely one.
    Class priors are estimated by EM on unlabeled rows (Saerens et al. 2002), with a Dirichlet prior of as many labeled rows.
    Where they are estimated, extra trees and logistic regression learn from confident predictions of unlabeled rows (Lee 2013)
    and get half of the weight; they make no row more confident.
    With n held-out rows no probability is above (n + 1) / (n + 2).

    Columns, rows and classes are put in an order that depends on their contents only, so that renaming classes and
    permuting rows or columns change nothing (of more than 20,000 unlabeled rows a random sample is used).

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [0.5], [8.0], [9.0], [8.5]])
    >>> Ensemble(n_trees=10).fit(X, ["low", "low", None, "high", "high", None]).predict(X).tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    STATE = stored(
        members_=ListOf(Text(), "m"),
        member_views_=ListOf(Text(), "m"),
        estimators_=ListOf(Model(can=("predict_proba",)), "m"),
        weights_=Array("f8", "m", low=0, high=1),
        temperatures_=Array("f8", "m", low=0),
        temperature_=Number(float, low=0),
        floor_=Number(float, low=0, high=1),
        n_held_out_=Number(int, low=0),
        class_order_=Array("i8", "k", below="k"),
        class_priors_=Array("f8", "k", low=0, high=1),
        prior_ratio_=Array("f8", "k", low=0),
        priors_estimated_=Number(int, low=0, high=1),
        kept_columns_=Array("i8", "c?", below="d"),
        spans_=DictOf(ListOf(Number(int, low=0), "2"), "spans?"),
        views_=Views.STATE,
        students_=ListOf(Model(can=("predict_proba",))),
    )

    def __init__(
        self,
        members: Sequence[str] | None = None,
        *,
        class_priors: Literal["auto", "labels"] = "auto",
        balance: Share = 0.0,
        quick: bool = False,
        n_trees: Count = 100,
        random_state: int | None = 0,
    ) -> None:
        self.members = members
        self.class_priors = class_priors
        self.balance = balance
        self.quick = quick
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the members, and what is learned about them.

        Parameters
        ----------
        X : array-like, sparse matrix or `handful.preprocessing.table_encoder.Rows` of shape (n_rows, n_columns)
            Rows; those of a table encoder carry views of texts and counts of words.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        checked = self._rows(X, reset=True)
        labels = self._labels(y, checked.shape[0])
        spare = np.random.default_rng(self.random_state).permutation(labels.unlabeled)[:_MAX_UNLABELED]
        used = np.concatenate([labels.labeled, np.sort(spare)])
        n, n_classes = len(labels.labeled), len(self.classes_)
        self.spans_ = {name: [int(a), int(b)] for name, (a, b) in getattr(X, "spans", {}).items()}
        self.kept_columns_ = _table_columns(checked, self.spans_, n)
        rows = checked[used]
        order, keys = content_order(_dense(rows[:, self._told_apart()]))
        inner = order[order < len(self.kept_columns_)]
        codes = labels.codes[labels.labeled].astype(np.int64)
        class_keys = _sums(codes, keys[:n], n_classes)
        self.class_order_ = np.argsort(class_keys)
        self.kept_columns_ = self.kept_columns_[inner]
        sorted_rows = np.lexsort((keys[:n], class_keys[codes]))
        _, first, counts = np.unique(keys[n:], return_index=True, return_counts=True)
        n_pool = _MAX_TEXTS if self.spans_ else _MAX_POOL
        chosen = np.concatenate([sorted_rows, n + first[:n_pool]])
        carried = X[used[chosen]] if self.spans_ else rows[chosen]
        self._fit_members(carried, np.argsort(self.class_order_)[codes[sorted_rows]])
        self._set_priors(carried, np.argsort(self.class_order_)[codes[sorted_rows]], counts[:n_pool])
        self.oof_rows_ = labels.labeled[sorted_rows][self._held_out]
        self.oof_proba_ = self._in_order(self._corrected(self._oof))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        rows = self._rows(X)
        if self.spans_ and getattr(X, "words", None) is None and "words" in self.member_views_:
            raise DataError("Ensemble: rows must carry the words of their texts, as they did in training.")
        X = X if self.spans_ else rows
        return self._in_order(self._with_students(self._corrected(self._mixture(X)), X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest probability, relative to a power of its prior."""
        return self.decide(self.predict_proba(X))

    def decide(self, proba: np.ndarray) -> np.ndarray:
        """Return the predictions that follow from probabilities."""
        return np.asarray(self.classes_[(proba / self.class_priors_**self.balance).argmax(axis=1)])

    def _told_apart(self) -> np.ndarray:
        """Return the columns whose contents tell rows apart: those of the table, and some of the first text view."""
        text = [np.arange(a, min(b, a + _TEXT)) for a, b in list(self.spans_.values())[:1]]
        return np.concatenate([self.kept_columns_, *text])

    def _members_for(self, n: int) -> list[Member]:
        n_trees = int(np.clip(_MAX_TREE_CELLS // (n * len(self.classes_)), min(25, self.n_trees), self.n_trees))
        members = table_members(n_trees) if len(self.kept_columns_) else []
        members += text_members(list(self.spans_)) if self.spans_ else []
        wanted = self.members if self.members is not None else QUICK if self.quick else [m.name for m in members]
        members = [member for member in members if member.name in wanted]
        if len(self.classes_) < 2:
            members = members[:1]  # others refuse a single class
        if not members:
            raise ParameterError("Ensemble: members must name at least one that suits the columns.")
        return members

    def _view(self, X: Any, view: str) -> Any:
        if view == "words":
            return X
        if view in self.spans_:
            start, stop = self.spans_[view]
            part = np.asarray(X)[:, start:stop]
            return part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9)
        return Views(self.views_).transform(_dense(X[:, self.kept_columns_]), view)

    def _fit_members(self, X: Any, codes: np.ndarray) -> None:
        """Fit views, members, temperatures and weights; rows are in content order, labeled ones first."""
        n, n_classes = len(codes), len(self.classes_)
        hidden = np.concatenate([codes, np.full(X.shape[0] - n, -1)])
        self.views_ = Views.learn(_dense(X[:, self.kept_columns_])).state
        members = self._members_for(n)
        self.members_, self.member_views_ = [m.name for m in members], [m.view for m in members]
        self.floor_ = 1.0 / ((n + 1) * n_classes)
        folds = [] if self.quick or n < 2 * n_classes or n_classes < 2 else _folds(n)
        self._held_out = np.concatenate([*folds, np.empty(0, dtype=np.int64)])
        self.n_held_out_ = len(self._held_out)
        truth, logs = codes[self._held_out], []
        views = {view: self._view(X, view) for view in self.member_views_}
        self.estimators_ = []
        for member in members:
            shown = slice(None) if member.uses_unlabeled else slice(n)
            view, known = views[member.view][shown], hidden[shown]
            self.estimators_.append(_fitted(member, view, known))
            parts = [self._held_out_proba(member, self.estimators_[-1], view, known, fold) for fold in folds]
            logs.append(np.log(np.concatenate([*parts, np.empty((0, n_classes))]) + self.floor_))
        self.temperatures_ = np.array([fit_temperature(log, truth) for log in logs])
        proba = softmax(self.temperatures_[:, None, None] * np.array(logs), axis=2)
        self.weights_ = fit_weights(proba[:, np.arange(len(truth)), truth], [member.prior for member in members])
        mixture = np.log(np.tensordot(self.weights_, proba, axes=1))
        kept = np.flatnonzero(self.weights_ >= _MIN_WEIGHT)
        self.members_, self.member_views_, self.estimators_ = (
            [part[i] for i in kept] for part in (self.members_, self.member_views_, self.estimators_)
        )
        self.temperatures_, self.weights_ = self.temperatures_[kept], self.weights_[kept] / self.weights_[kept].sum()
        self.temperature_ = fit_temperature(mixture, truth, n_errors=1.0)
        self._oof = softmax(self.temperature_ * mixture, axis=1)

    def _held_out_proba(
        self, member: Member, estimator: Any, view: Any, codes: np.ndarray, fold: np.ndarray
    ) -> np.ndarray:
        if hasattr(estimator, "oob_decision_function_"):  # of the trees that did not see a row; 0 / 0 where all did
            return self._all_classes(estimator, np.nan_to_num(estimator.oob_decision_function_[fold]))
        known = codes.copy()
        known[fold] = -1
        if len(np.unique(known[known >= 0])) < 2:
            return np.full((len(fold), len(self.classes_)), 1.0 / len(self.classes_))
        if isinstance(estimator, LabelSpreading):
            fitted = clone(member.estimator).fit(view, known, graph=estimator)
            return self._all_classes(fitted, fitted.shares_[fold])
        shown = np.ones(len(known), dtype=bool) if member.uses_unlabeled else known >= 0
        if "n_estimators" in (params := member.estimator.get_params()):  # a quarter of the trees does for calibration
            fewer = clone(member.estimator).set_params(n_estimators=max(params["n_estimators"] // 4, 1))
            member = replace(member, estimator=fewer)
        fitted = _fitted(member, view[shown], known[shown])
        return self._all_classes(fitted, fitted.predict_proba(view[fold]))

    def _all_classes(self, estimator: Any, proba: np.ndarray) -> np.ndarray:
        full = np.zeros((len(proba), len(self.classes_)))
        full[:, estimator.classes_] = proba
        return full

    def _mixture(self, X: Any) -> np.ndarray:
        """Return the calibrated weighted mean, with classes in content order."""
        views = {view: self._view(X, view) for view in dict.fromkeys(self.member_views_)}
        mixture = np.zeros((X.shape[0], len(self.classes_)))
        members = zip(self.estimators_, self.member_views_, self.weights_, self.temperatures_, strict=True)
        for estimator, view, weight, temperature in members:
            proba = self._all_classes(estimator, estimator.predict_proba(views[view]))
            mixture += weight * softmax(temperature * np.log(proba + self.floor_), axis=1)
        return np.asarray(softmax(self.temperature_ * np.log(mixture), axis=1))

    def _set_priors(self, X: Any, codes: np.ndarray, counts: np.ndarray) -> None:
        n_classes = len(self.classes_)
        frequencies = priors = np.bincount(codes, minlength=n_classes) / len(codes)
        estimate = self.class_priors == "auto" and len(counts) > 0 and picked_by_class(codes, n_classes)
        self.priors_estimated_ = int(estimate and not self.quick)
        if self.priors_estimated_:
            mixture = self._mixture(X[len(codes) :])
            priors = estimate_priors(mixture, frequencies, counts)
        self.prior_ratio_ = priors / frequencies
        self.class_priors_ = priors[np.argsort(self.class_order_)]
        self.students_: list[Any] = []
        if self.priors_estimated_ and not self.spans_:
            self._fit_students(X, codes, self._corrected(mixture))

    def _fit_students(self, X: Any, codes: np.ndarray, proba: np.ndarray) -> None:
        """Fit classifiers to the labeled rows and to confident predictions of unlabeled ones (Lee 2013)."""
        chosen = np.flatnonzero(proba.max(axis=1) >= _CONFIDENT)[:_MAX_PSEUDO_LABELS]
        if len(chosen) < len(codes):
            return
        shown = np.concatenate([np.arange(len(codes)), len(codes) + chosen])
        known = np.concatenate([codes, proba[chosen].argmax(axis=1)])
        for member in table_members(_STUDENT_TREES):
            if member.name in _STUDENTS:
                self.students_.append(_fitted(member, self._view(X[shown], member.view), known))

    def _with_students(self, proba: np.ndarray, X: Any) -> np.ndarray:
        """Average with the students, each of half the weight; no row gets more confident by it."""
        if not self.students_:
            return proba
        views = [member.view for member in table_members() if member.name in _STUDENTS]
        students = [
            self._all_classes(student, student.predict_proba(self._view(X, view)))
            for student, view in zip(self.students_, views, strict=True)
        ]
        uniform = 1.0 / proba.shape[1]
        mean = (proba + np.mean(students, axis=0)) / 2.0
        before, after = proba.max(axis=1) - uniform, mean.max(axis=1) - uniform
        scale = np.minimum(1.0, before / np.maximum(after, 1e-12))
        return np.asarray(uniform + scale[:, None] * (mean - uniform))

    def _corrected(self, proba: np.ndarray) -> np.ndarray:
        """Correct for class priors, and apply the rule of succession."""
        proba = proba * self.prior_ratio_
        proba /= proba.sum(axis=1, keepdims=True)
        n = max(self.n_held_out_, 1)
        return np.asarray((n * proba + 2.0 / proba.shape[1]) / (n + 2.0))

    def _in_order(self, proba: np.ndarray) -> np.ndarray:
        """Put classes in the order of ``classes_``."""
        return np.asarray(proba[:, np.argsort(self.class_order_)])

    def _state(self) -> dict[str, Any]:
        return {name: value for name, value in super()._state().items() if not name.startswith("oof_")}

    def _check_state(self) -> None:
        n_classes, width = len(self.classes_), len(self.kept_columns_)
        spans = {name: stop - start for name, (start, stop) in self.spans_.items()}
        fine = (
            sorted(self.class_order_.tolist()) == list(range(n_classes))
            and all(0 <= a < b <= self.n_features_in_ for a, b in self.spans_.values())
            and len(self.views_["center"]) == width
            and all(len(a) == len(b) > 0 for a, b in zip(self.views_["knots"], self.views_["scores"], strict=True))
            and set(self.member_views_) <= {"raw", "standard", "rank", "words", *spans}
            and abs(self.weights_.sum() - 1) < 1e-6
        )
        if not fine:
            raise DataError("Ensemble: the members must agree about rows and classes, but those of the file do not.")
        if self.students_ and len(self.students_) != len(_STUDENTS):
            raise DataError("Ensemble: there must be a student of each kind.")
        for student in self.students_:
            check_member("Ensemble", student, width, n_classes)
        for view, estimator in zip(self.member_views_, self.estimators_, strict=True):
            check_member(
                "Ensemble", estimator, self.n_features_in_ if view == "words" else spans.get(view, width), n_classes
            )


def fit_temperature(log_proba: np.ndarray, codes: np.ndarray, *, n_errors: float = 0.0) -> float:
    """Return the factor of log-probabilities that maximizes their likelihood, with a log-normal prior around 1.

    Parameters
    ----------
    log_proba : ndarray of shape (n_rows, n_classes)
        Log-probabilities.
    codes : ndarray of int64
        The classes.
    n_errors : float, default=0.0
        How many standard errors of its logarithm are subtracted from the factor, so that few rows do not make confident.
    """
    at = np.arange(len(codes))

    def loss(log_t: float) -> float:
        return float(0.5 * log_t**2 - log_softmax(np.exp(log_t) * log_proba, axis=1)[at, codes].sum())

    if not len(codes):
        return 1.0
    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded").x
    curvature = (loss(best + 0.05) + loss(best - 0.05) - 2 * loss(best)) / 0.05**2
    return float(np.exp(best - n_errors * max(curvature, 1.0) ** -0.5))


def fit_weights(
    likelihoods: np.ndarray, prior: Sequence[float] | None = None, *, strength: float = _WEIGHT_PRIOR
) -> np.ndarray:
    """Return weights that maximize the likelihood of a mixture with a Dirichlet prior, by EM.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_members, n_rows)
        Probability that each member gives to the class of each row.
    prior : sequence of float, optional
        Relative weights of the members in the prior, equal by default.
    strength : float
        Rows that the prior counts as.
    """
    relative = np.ones(len(likelihoods)) if prior is None else np.asarray(prior, dtype=np.float64)
    expected: np.ndarray = relative / relative.sum()
    weights = expected
    for _ in range(200):
        posterior = weights[:, None] * likelihoods
        posterior /= np.maximum(posterior.sum(axis=0), 1e-300)
        weights = posterior.sum(axis=1) + strength * expected
        weights /= weights.sum()
    return weights


def estimate_priors(proba: np.ndarray, frequencies: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return class priors of unlabeled rows by EM, with a Dirichlet prior: label frequencies count as much as the rows.

    References
    ----------
    Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori probabilities.
    Neural Computation 14.
    """
    priors = frequencies
    for _ in range(100):
        posterior = proba * (priors / frequencies)
        posterior /= posterior.sum(axis=1, keepdims=True)
        priors = (counts @ posterior / counts.sum() + frequencies) / 2.0
    return np.asarray(priors)


def content_order(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the columns and a key of each row that depend on the ranks in the table, not on any order.

    Notes
    -----
    Two rounds of color refinement (Weisfeiler and Leman 1968) on the distinct rows.
    """
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T]).astype(np.uint64)
    distinct, inverse = np.unique(ranks, axis=0, return_inverse=True)
    columns = _mix(distinct).sum(axis=0)
    for _ in range(2):
        rows = _mix(distinct + columns).sum(axis=1)
        columns = _mix(distinct + _mix(rows)[:, None]).sum(axis=0)
    return np.argsort(columns, kind="stable"), rows[inverse.ravel()]


def _mix(values: np.ndarray) -> np.ndarray:
    """Hash integers (SplitMix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


def _sums(codes: np.ndarray, keys: np.ndarray, n_classes: int) -> np.ndarray:
    sums = np.zeros(n_classes, dtype=np.uint64)
    np.add.at(sums, codes, _mix(keys))
    return sums


def _folds(n: int) -> list[np.ndarray]:
    """Return folds of rows that are sorted by class: as many as hold out the most rows allowed."""
    fold = np.arange(n) % _N_FOLDS
    n_used = max(1, min(_N_FOLDS, n, _N_FOLDS * _MAX_HELD_OUT // n))
    return [np.flatnonzero(fold == i) for i in range(n_used)]


def _fitted(member: Member, view: Any, codes: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow convergence of one member does not matter
        return clone(member.estimator).fit(view, codes)


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _table_columns(rows: Any, spans: Mapping[str, Sequence[int]], n_labeled: int) -> np.ndarray:
    """Return the columns that hold no text, without indicators that less than half a labeled row is expected to have."""
    no_text = np.ones(rows.shape[1], dtype=bool)
    for start, stop in spans.values():
        no_text[start:stop] = False
    columns = np.flatnonzero(no_text)
    if not len(columns):
        return columns
    part = rows[:, columns].tocsc() if hasattr(rows, "tocsc") else rows[:, columns]
    if hasattr(part, "tocsc"):
        n_filled = np.diff(part.indptr)
        single = np.array([len(np.unique(part.data[a:b])) <= 1 for a, b in pairwise(part.indptr)])
    else:
        n_filled = (part != 0).sum(axis=0)
        single = ((part == 0) | (part == part.max(axis=0))).all(axis=0)
    common = ~single | (n_filled * n_labeled >= 0.5 * rows.shape[0])
    columns, n_filled = (columns[common], n_filled[common]) if common.any() else (columns, n_filled)
    most = max(_MAX_CELLS // min(rows.shape[0], n_labeled + _MAX_UNLABELED), 1)
    return columns[np.sort(np.argsort(-n_filled, kind="stable")[:most])]
