"""A team: the answers of several methods, put together."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self, cast, get_args

import numpy as np

from handful.core.catalogue import get_card
from handful.core.errors import DataError, ParameterError
from handful.core.labels import UNLABELED
from handful.core.params import Count, Share, check_params
from handful.core.registry import method
from handful.core.schema import Array, IfThere, ListOf, Maybe, Model, Text, check_member, stored
from handful.methods.class_shares import (
    agreed_shift,
    picked_by_class,
    scarce_classes,
    shares_by_answers,
    shares_by_distance,
    usual_shift,
)
from handful.methods.row_classifier import RowClassifier
from handful.methods.specialists import Group, label_folds, say_by_evidence
from handful.methods.text_team import TextTeam
from handful.methods.views import TableViews, ViewName, dense_rows

TABLE_TEAM = (
    "extra-trees",
    "extra-trees@rank",
    "random-forest",
    "logistic-regression@clip C=0.1 class_weight=null",
    "random-forest max_features=0.5",
    "random-forest max_features=null",
    "kernel-ridge@rank",
    "shrunk-bayes",
    "self-training@clip",
    "self-training@clip threshold=0.9",
    "self-training@rank",
    "label-spreading@clip",
    "label-spreading@rank",
)
"""Members for tables, chosen on tables with five labels per class; see docs/benchmarks.md."""

TREES = ("extra-trees", "random-forest", "random-forest max_features=0.5", "random-forest max_features=null")
"""Members that have a say of their own, besides that as members, where rows that they did not see speak for them."""

DECORRELATED = ("logistic-regression@white C=0.1 class_weight=null", "logistic-regression@white class_weight=null")
"""More such members, for tables whose columns are strongly correlated; they have no other say."""

_TRUST = {TREES: 0.3, DECORRELATED: 0.1}
_AGREED = 0.5  # how far answers follow shares of classes that two estimates agree about
_MOST_JUDGED = 300  # labeled rows
_FOLD_POOL = 600
_LEAST_SAY = 0.002
_FLOOR = 0.02  # added to every share before the logarithm, so that no member can veto a class
_MOST_POOL = 2_000
_DENSE_CELLS = 30_000_000
_COMPONENTS = 100
_LEAST_SEEN = 0.5  # labeled rows that are expected to have a value, for it to count


@dataclass(frozen=True)
class Member:
    """One member of a team: a method, the view of the rows that it gets, and its parameters.

    Examples
    --------
    >>> Member.parse("logistic-regression@clip C=0.1")
    Member(name='logistic-regression', view='clip', params={'C': 0.1})
    """

    name: str
    view: ViewName = "plain"
    params: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Member:
        """Read ``name@view parameter=value ...``; the view and parameters may be left out."""
        head, *settings = text.split()
        name, _, view = head.partition("@")
        params = {}
        for part in settings:
            key, equals, value = part.partition("=")
            if not equals:
                raise ParameterError(f"Team: settings of a member must be like C=0.1, got {part!r}.")
            params[key] = _value(value)
        if view and view not in get_args(ViewName):
            raise ParameterError(f"Team: a view must be one of {', '.join(get_args(ViewName))}, got {view!r}.")
        return cls(get_card(name, "table").name, cast(ViewName, view or "plain"), params)


@method("team", takes="table", learns_from=("labels", "unlabeled"), cost="fair")
class Team(RowClassifier):
    """Ask several methods on several views of the rows, and take the mean of their answers.

    Use it when labels are few: which single method is the best can hardly be told then, and a team is good on average. Where
    trees alone, or linear models of decorrelated columns, answer labeled rows that they did not see far better than the team
    does, they are listened to instead. Where labels were picked class by class, the shares of the classes among the
    unlabeled rows are estimated too.

    Parameters
    ----------
    members : sequence of str, optional
        Methods for tables by name, each with a view and parameters if wanted: ``"logistic-regression@clip C=0.1"``. None
        is a team that suits most tables.
    share_power : float, default=1.0
        How far estimated shares of the classes move the answers: 0 is not at all, 1 fully.
    n_trees : int, default=100
        Trees of each forest in the default team.
    class_names : sequence, optional
        What the classes are called, in their order, where labels are mere codes; by default labels that are words speak
        for themselves.
    random_state : int, default=0
        Seed of the members.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    members_ : list of str
        Members that could be fitted.
    estimators_ : list of estimators
        The fitted members, whose classes are positions in ``classes_``.
    weights_ : ndarray of shape (n_members,)
        How much say each of them has; the weights add up to 1.
    shift_ : ndarray of shape (n_classes,)
        What is added to the log-share of each class.
    views_ : dict
        What was learned about the columns.
    text_ : TextTeam or None
        Who reads the texts, where rows have any and `members` is None; the others then see the other columns.
    kept_columns_ : ndarray of int64
        Columns that the members see.

    Notes
    -----
    Shares are put together by the mean of their logarithms, each share raised by 0.02 before, so that a member that is
    sure and wrong does not outvote the others. In the default team all count alike, unless specialists do better on
    labeled rows in five folds: trees, and linear models that see columns decorrelated, where the columns move in less than
    half as many directions as there are columns (see `handful.methods.specialists`). Members that were named count alike.

    Where labels look picked class by class, the shares of the classes are estimated twice, from the answers to unlabeled
    rows and from the distances between rows. Answers are moved half as far as both agree (see
    `handful.methods.class_shares`). A class that got at most half as many labels as others is taken to be as much rarer
    again, and one that is called "no", "normal" or 0 to be more frequent than "yes" or 1.

    An indicator that is on in so few rows that not even half of one labeled row is expected to have it says nothing that
    could be learned: such values of names (tickets, companies, postal codes) are left out.

    A member that cannot be fitted (for want of labels, say) stays out. Cost: that of the members, and of five fits with half as
    many trees to at most 300 labeled and 600 unlabeled rows; forests take most.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> team = Team(["k-nn", "shrunk-bayes"]).fit(X, ["low", None, None, "high"])
    >>> team.predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(
        members_=IfThere(ListOf(Text(), "m")),
        estimators_=IfThere(ListOf(Model(can=("predict_proba",)), "m")),
        weights_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        shift_=IfThere(Array("f8", "k")),
        views_=IfThere(TableViews.STATE),
        text_=Maybe(Model("TextTeam")),
        kept_columns_=Array("i8", "c?", below="d"),
        projection_=IfThere(Array("f8", "c", "_")),
    )

    def __init__(
        self,
        members: Sequence[str] | None = None,
        *,
        share_power: Share = 1.0,
        n_trees: Count = 100,
        class_names: Sequence[Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.members = members
        self.share_power = share_power
        self.n_trees = n_trees
        self.class_names = class_names
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the members, and estimate how frequent the classes are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, labeled or not.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        given = self._rows(X, reset=True)
        labels = self._labels(y, given.shape[0])
        self.text_ = self._text_part(X, labels.codes)
        columns = np.arange(given.shape[1]) if self.text_ is None else _other_columns(X, given.shape[1])
        self.kept_columns_ = columns[_seen_often(given[:, columns], len(labels.labeled))]
        if not len(self.kept_columns_):
            return self
        given = given[:, self.kept_columns_]
        self.projection_ = _projection(given)
        rows = self._dense(given)
        self._views = TableViews.learn(rows)
        self.views_ = self._views.state
        codes = labels.codes.astype(np.int64)
        self._fit_members(rows, codes)
        self._keep_those_with_a_say(self._say(rows, codes))
        self.shift_ = np.zeros(len(self.classes_))
        if len(labels.unlabeled) and picked_by_class(codes[labels.labeled], len(self.classes_)):
            self.shift_ = self.share_power * self._share_shift(rows, codes)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        from scipy.special import softmax

        given = self._rows(X)
        odds = []
        if self.text_ is not None:
            odds.append(np.log(self.text_.predict_proba(X) + _FLOOR))
        if len(self.kept_columns_):
            odds.append(self._odds(self._dense(given[:, self.kept_columns_])) + self.shift_)
        return np.asarray(softmax(np.mean(odds, axis=0), axis=1))

    def _text_part(self, X: Any, codes: np.ndarray) -> TextTeam | None:
        if self.members is not None or not getattr(X, "spans", {}):
            return None  # members that were named see all columns, as they are
        return TextTeam().fit(X, codes.astype(np.int64))

    def _fit_members(self, rows: np.ndarray, codes: np.ndarray) -> None:
        self.members_: list[str] = []
        self.estimators_: list[Any] = []
        failures = []
        pool = self._pool(codes, _MOST_POOL)
        wanted = self.members
        if wanted is None:
            wanted = (*TABLE_TEAM, *DECORRELATED) if self._views.is_collinear(rows) else TABLE_TEAM
        for text in wanted:
            try:
                estimator = self._fitted(text, rows, codes, pool, self.n_trees)
            except ParameterError:
                raise
            except (ValueError, np.linalg.LinAlgError) as error:
                failures.append(f"{text}: {error}")
                continue
            self.members_.append(text)
            self.estimators_.append(estimator)
        if not self.members_:
            raise DataError(f"Team: at least one member must be able to learn from these rows ({failures[0]}).")

    def _fitted(self, text: str, rows: np.ndarray, codes: np.ndarray, pool: np.ndarray, n_trees: int) -> Any:
        """Return a member that learned from the rows of a pool, or from the labeled ones among them."""
        member = Member.parse(text)
        card = get_card(member.name, "table")
        params = dict(member.params)
        if self.members is None and member.name in ("extra-trees", "random-forest"):
            params["n_estimators"] = n_trees
        used = pool if card.uses_unlabeled else pool[codes[pool] >= 0]
        view = self._views.transform(rows[used], member.view)
        estimator = card.make(view.shape[1], self.random_state or 0, params)
        with warnings.catch_warnings():
            # What a single member complains of (no unlabeled rows, slow convergence) is no matter for a team.
            warnings.simplefilter("ignore")
            estimator.fit(view, codes[used]).predict_proba(view[:1])
        return estimator

    def _say(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the weights of the members."""
        n_members = len(self.members_)
        places = [[i for i, text in enumerate(self.members_) if text in group] for group in _TRUST]
        if self.members is not None or not any(places):
            return np.full(n_members, 1 / n_members)
        odds, judged = self._held_out(rows, codes)
        if not len(judged):
            return np.full(n_members, 1 / n_members)
        groups = [Group(group, trust) for group, trust in zip(places, _TRUST.values(), strict=True) if group]
        everyone = [i for i, text in enumerate(self.members_) if text not in DECORRELATED]
        groups.append(Group(everyone, 1 - sum(group.trust for group in groups)))
        return say_by_evidence(odds, judged, groups)

    def _keep_those_with_a_say(self, weights: np.ndarray) -> None:
        kept = np.flatnonzero(weights >= _LEAST_SAY)
        self.members_ = [self.members_[i] for i in kept]
        self.estimators_ = [self.estimators_[i] for i in kept]
        self.weights_ = weights[kept] / weights[kept].sum()

    def _held_out(self, rows: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the members' answers to labeled rows that they did not see, as logarithms, and the classes of these rows."""
        pool = self._pool(codes, _FOLD_POOL)
        answers, judged = [], []
        for fold in label_folds(codes, most=_MOST_JUDGED, seed=self.random_state or 0):
            hidden = codes.copy()
            hidden[fold] = UNLABELED
            if len(np.unique(hidden[hidden >= 0])) < 2:
                continue
            odds = []
            for text in self.members_:
                try:
                    estimator = self._fitted(text, rows, hidden, pool, max(self.n_trees // 2, 1))
                    shares = self._shares(estimator, self._views.transform(rows[fold], Member.parse(text).view))
                except (ValueError, np.linalg.LinAlgError):  # too few labels without those of the fold
                    shares = np.full((len(fold), len(self.classes_)), 1 / len(self.classes_))
                odds.append(np.log(shares + _FLOOR))
            answers.append(np.array(odds))
            judged.append(codes[fold])
        if not answers:
            return np.empty((len(self.members_), 0, len(self.classes_))), np.empty(0, dtype=np.int64)
        return np.concatenate(answers, axis=1), np.concatenate(judged)

    def _share_shift(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        given, spare = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        counts = np.bincount(codes[given], minlength=len(self.classes_))
        scarce = scarce_classes(counts)
        shift = np.where(scarce, np.log(counts / counts.max()), 0.0)
        full = np.flatnonzero(~scarce)
        known = given[~scarce[codes[given]]]
        prior = (counts[full] + 0.5) / (counts[full] + 0.5).sum()
        ranks = self._views.transform(rows, "rank")
        by_answers = shares_by_answers(self._odds(rows[spare])[:, full], prior)
        by_distance = shares_by_distance(ranks[known], np.searchsorted(full, codes[known]), ranks[spare], len(full))
        shift[full] = _AGREED * agreed_shift(by_answers, by_distance, prior)
        return np.asarray(shift + usual_shift(self._names()))

    def _names(self) -> Sequence[Any]:
        """Return what the classes are called; codes say nothing."""
        if self.class_names is not None and len(self.class_names) == len(self.classes_):
            return self.class_names
        return self.classes_.tolist() if self.classes_.dtype.kind in "OUb" else [""] * len(self.classes_)

    def _pool(self, codes: np.ndarray, most: int) -> np.ndarray:
        """Return all labeled rows, and so many unlabeled ones that no member takes too long."""
        spare = np.random.default_rng(self.random_state).permutation(np.flatnonzero(codes < 0))[:most]
        return np.sort(np.concatenate([np.flatnonzero(codes >= 0), spare]))

    def _odds(self, rows: np.ndarray) -> np.ndarray:
        """Return the weighted mean of the logarithms of the members' shares."""
        total = np.zeros((len(rows), len(self.classes_)))
        seen: dict[str, np.ndarray] = {}
        for text, estimator, weight in zip(self.members_, self.estimators_, self.weights_, strict=True):
            view = Member.parse(text).view
            if view not in seen:
                seen[view] = self._views.transform(rows, view)
            total += weight * np.log(self._shares(estimator, seen[view]) + _FLOOR)
        return total

    def _shares(self, estimator: Any, view: np.ndarray) -> np.ndarray:
        """Return a member's share of every class, 0 for one that it did not see."""
        shares = np.zeros((len(view), len(self.classes_)))
        shares[:, np.asarray(estimator.classes_).astype(np.int64)] = estimator.predict_proba(view)
        return shares

    def _dense(self, rows: Any) -> np.ndarray:
        return dense_rows(rows) if self.projection_ is None else np.asarray(rows @ self.projection_)

    def _check_state(self) -> None:
        n_classes = len(self.classes_)
        if self.text_ is not None:
            check_member("Team", self.text_, self.n_features_in_, n_classes)
            if len(self.text_.classes_) != n_classes:
                raise DataError("Team: the members must agree about the classes, but those of the file do not.")
        if not len(self.kept_columns_):
            if self.text_ is None:
                raise DataError("Team: there must be columns that somebody reads.")
            return
        self._views = TableViews(self.views_)
        if not hasattr(self, "weights_"):  # a file of an earlier version
            self.weights_ = np.full(len(self.members_), 1 / len(self.members_))
        n_columns = len(self.kept_columns_) if self.projection_ is None else self.projection_.shape[1]
        if not self._views.is_whole() or self.views_["width"] != n_columns or self.shift_ is None:
            raise DataError("Team: the members must agree about rows and classes, but those of the file do not.")
        for text, estimator in zip(self.members_, self.estimators_, strict=True):
            check_member("Team", estimator, self._views.width(Member.parse(text).view), n_classes)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _projection(rows: Any) -> np.ndarray | None:
    """Return leading directions of rows with too many columns to look at one by one; None for others."""
    if rows.shape[0] * rows.shape[1] <= _DENSE_CELLS or not hasattr(rows, "toarray"):
        return None
    from sklearn.utils.extmath import randomized_svd

    _, _, directions = randomized_svd(rows, min(_COMPONENTS, min(rows.shape) - 1), random_state=0)
    return np.ascontiguousarray(directions.T)


def _other_columns(X: Any, n_columns: int) -> np.ndarray:
    """Return the columns that hold no text."""
    text = np.zeros(n_columns, dtype=bool)
    for start, stop in getattr(X, "spans", {}).values():
        text[start:stop] = True
    return np.flatnonzero(~text)


def _seen_often(rows: Any, n_labels: int) -> np.ndarray:
    """Tell which columns are numbers, or indicators that at least half of one labeled row is expected to have."""
    n_rows, n_columns = rows.shape
    if not n_columns:
        return np.ones(0, dtype=bool)
    if hasattr(rows, "tocsc"):
        columns = rows.tocsc()
        low, high = columns.min(axis=0).toarray().ravel(), columns.max(axis=0).toarray().ravel()
        n_filled = np.diff(columns.indptr)
        even = np.array([len(np.unique(columns.data[a:b])) <= 1 for a, b in pairwise(columns.indptr)])
    else:
        low, high = rows.min(axis=0), rows.max(axis=0)
        n_filled = (rows != 0).sum(axis=0)
        even = ((rows == 0) | (rows == high)).all(axis=0)
    indicator = even & (low >= 0) & (high > 0)
    often = ~indicator | (n_filled * n_labels >= _LEAST_SEEN * n_rows)
    return np.asarray(often if often.any() else ~often)
