"""A team: the answers of several methods, put together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from handful.core.catalogue import get_card
from handful.core.errors import DataError, ParameterError
from handful.core.labels import UNLABELED
from handful.core.params import Count, Share, check_params
from handful.core.registry import method
from handful.core.schema import Array, IfThere, ListOf, Maybe, Model, Number, Text, check_member, stored
from handful.methods.class_shares import (
    agreed_shift,
    balancing_shift,
    keep_all_answered,
    picked_by_class,
    scarce_classes,
    shares_by_answers,
    shares_by_distance,
    usual_shift,
)
from handful.methods.row_classifier import RowClassifier
from handful.methods.specialists import Group, label_folds, lowered_voices, say_by_evidence
from handful.methods.team_columns import columns_without_text, leading_directions, seen_often
from handful.methods.team_member import Member
from handful.methods.text_team import TextTeam
from handful.methods.views import TableViews, dense_rows

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

LINES = (
    "logistic-regression@clip C=0.1 class_weight=null",
    "self-training@clip",
    "self-training@clip threshold=0.9",
    "self-training@rank",
)
"""More such members, which draw straight lines."""

_TRUST = {TREES: 0.2, LINES: 0.2, DECORRELATED: 0.1}
_AGREED = 0.5  # how far answers follow shares of classes that two estimates agree about
_MOST_JUDGED = 300  # labeled rows
_FOLD_POOL = 600
_MOST_HEARD = 600  # rows
_LEAST_SAY = 0.002
_EVEN = 0.5
_TEXTS_AND_OTHERS = (Group([0], 0.25), Group([1], 0.25), Group([0, 1], 0.5))
_FLOOR = 0.02  # added to every share before the logarithm, so that no member can veto a class
_MOST_POOL = 2_000


@method("team", takes="table", learns_from=("labels", "unlabeled"), cost="fair")
class Team(RowClassifier):
    """Ask several methods on several views of the rows, and take the mean of their answers.

    Use it when labels are few: which single method is the best can hardly be told then, and a team is good on average. Where
    trees alone, or linear models alone, answer labeled rows that they did not see far better than the team does, they are
    listened to instead. Where labels were picked class by class, the shares of the classes among the
    unlabeled rows are estimated too.

    Parameters
    ----------
    members : sequence of str, optional
        Methods for tables by name, each with a view and parameters if wanted: ``"logistic-regression@clip C=0.1"``. None
        is a team that suits most tables.
    share_power : float, default=1.0
        How far estimated shares of the classes move the answers: 0 is not at all, 1 fully.
    balance : float, default=0.0
        How far answers are moved toward classes with few labels: 0 answers as often right as can be, 1 counts all classes
        alike, however frequent they are. Above 0 no shares of classes are estimated.
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
    voices_ : ndarray of shape (n_members,)
        By how much the answers of each are weakened, since it is surer of them than most are.
    shift_ : ndarray of shape (n_classes,)
        What is added to the log-share of each class, since classes are more or less frequent than among the labels.
    balance_shift_ : ndarray of shape (n_classes,)
        What is added for `balance`.
    views_ : dict
        What was learned about the columns.
    text_ : TextTeam or None
        Who reads the texts, where rows have any and `members` is None; the others then see the other columns.
    text_say_ : float
        How much say the texts have beside the other columns.
    kept_columns_ : ndarray of int64
        Columns that the members see.

    Notes
    -----
    Shares are put together by the mean of their logarithms, each share raised by 0.02 before, so that a member that is
    sure and wrong does not outvote the others. In the default team members that are surer than most are toned down, and all
    count alike, unless specialists do better on labeled rows in five folds: trees; linear models; and linear models that see
    columns decorrelated, where the columns move in less than half as many directions as there are columns (see
    `handful.methods.specialists`). Members that were named count alike, as they are.

    Where labels look picked class by class, the shares of the classes are estimated twice, from the answers to unlabeled
    rows and from the distances between rows. Answers are moved half as far as both agree (see
    `handful.methods.class_shares`). A class that got at most half as many labels as others is taken to be as much rarer
    again, and one that is called "no", "normal" or 0 to be more frequent than "yes" or 1, though never so much that a class
    is left without answers.

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
        voices_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        text_say_=IfThere(Number(float, low=0.0, high=1.0)),
        shift_=IfThere(Array("f8", "k")),
        balance_shift_=IfThere(Array("f8", "k")),
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
        balance: Share = 0.0,
        n_trees: Count = 100,
        class_names: Sequence[Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.members = members
        self.share_power = share_power
        self.balance = balance
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
        counts = np.bincount(labels.codes[labels.labeled].astype(np.int64), minlength=len(self.classes_))
        self.balance_shift_ = balancing_shift(counts, self.balance)
        self.text_ = self._text_part(X, labels.codes)
        columns = np.arange(given.shape[1]) if self.text_ is None else columns_without_text(X, given.shape[1])
        self.kept_columns_ = columns[seen_often(given[:, columns], len(labels.labeled))]
        if not len(self.kept_columns_):
            return self
        given = given[:, self.kept_columns_]
        self.projection_ = leading_directions(given)
        rows = self._dense(given)
        self._views = TableViews.learn(rows)
        self.views_ = self._views.state
        codes = labels.codes.astype(np.int64)
        self._fit_members(rows, codes)
        self._weigh(X, rows, codes)
        self.shift_ = np.zeros(len(self.classes_))
        if not self.balance and len(labels.unlabeled) and picked_by_class(codes[labels.labeled], len(self.classes_)):
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
        odds = np.zeros((given.shape[0], len(self.classes_)))
        say = 0.0
        if self.text_ is not None:
            say = self.text_say_ if len(self.kept_columns_) else 1.0
            odds += say * np.log(self.text_.predict_proba(X) + _FLOOR)
        if say < 1:
            odds += (1 - say) * (self._odds(self._dense(given[:, self.kept_columns_])) + self.shift_)
        return np.asarray(softmax(odds + self.balance_shift_, axis=1))

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

    def _weigh(self, X: Any, rows: np.ndarray, codes: np.ndarray) -> None:
        """Settle how much say each member has, and the texts beside them; members that have hardly any are let go."""
        n_members = len(self.members_)
        weights, self.text_say_, self.voices_ = np.full(n_members, 1 / n_members), _EVEN, np.ones(n_members)
        groups = []
        if self.members is None:
            groups, self.voices_ = self._groups(), self._voices(rows, codes)
        folds = list(label_folds(codes, most=_MOST_JUDGED, seed=self.random_state or 0)) if groups else []
        folds = [fold for fold in folds if _n_classes_without(codes, fold) >= 2]
        if folds:
            judged = codes[np.concatenate(folds)]
            odds = self.voices_[:, None, None] * self._held_out(rows, codes, folds)
            weights = say_by_evidence(odds, judged, groups)
            if self.text_ is not None:
                both = np.array([self._held_out_texts(X, codes, folds), np.tensordot(weights, odds, axes=1)])
                self.text_say_ = float(say_by_evidence(both, judged, _TEXTS_AND_OTHERS)[0])
        kept = np.flatnonzero(weights >= _LEAST_SAY)
        self.members_ = [self.members_[i] for i in kept]
        self.estimators_ = [self.estimators_[i] for i in kept]
        self.weights_, self.voices_ = weights[kept] / weights[kept].sum(), self.voices_[kept]

    def _voices(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return by how much each member is to be weakened, from its answers to rows without a label (or to all)."""
        spare = np.flatnonzero(codes < 0) if (codes < 0).any() else np.arange(len(codes))
        heard = np.random.default_rng(self.random_state).permutation(spare)[:_MOST_HEARD]
        return lowered_voices(np.array(list(self._each_odds(rows[heard]))))

    def _groups(self) -> list[Group]:
        """Return the specialists that are here, and everyone."""
        groups = []
        for texts, trust in _TRUST.items():
            places = [i for i, text in enumerate(self.members_) if text in texts]
            groups += [Group(places, trust)] if places else []
        everyone = [i for i, text in enumerate(self.members_) if text not in DECORRELATED]
        return [*groups, Group(everyone, 1 - sum(group.trust for group in groups))] if everyone else groups

    def _held_out(self, rows: np.ndarray, codes: np.ndarray, folds: Sequence[np.ndarray]) -> np.ndarray:
        """Return the members' answers to labeled rows that they did not see, as logarithms."""
        pool = self._pool(codes, _FOLD_POOL)
        n_classes = len(self.classes_)
        answers = []
        for fold in folds:
            odds = []
            for text in self.members_:
                try:
                    estimator = self._fitted(text, rows, _hidden(codes, fold), pool, max(self.n_trees // 2, 1))
                    shares = self._shares(estimator, self._views.transform(rows[fold], Member.parse(text).view))
                except (ValueError, np.linalg.LinAlgError):  # too few labels without those of the fold
                    shares = np.full((len(fold), n_classes), 1 / n_classes)
                odds.append(np.log(shares + _FLOOR))
            answers.append(np.array(odds))
        return np.concatenate(answers, axis=1)

    def _held_out_texts(self, X: Any, codes: np.ndarray, folds: Sequence[np.ndarray]) -> np.ndarray:
        """Return what texts of labeled rows are answered with by those who did not see their labels, as logarithms."""
        pool = self._pool(codes, _FOLD_POOL)
        answers = []
        for fold in folds:
            reader = TextTeam().fit(X[pool], _hidden(codes, fold)[pool])
            answers.append(np.log(self._shares(reader, X[fold]) + _FLOOR))
        return np.concatenate(answers)

    def _share_shift(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        given, spare = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        counts = np.bincount(codes[given], minlength=len(self.classes_))
        scarce = scarce_classes(counts)
        shift = np.where(scarce, np.log(counts / counts.max()), 0.0)
        full = np.flatnonzero(~scarce)
        known = given[~scarce[codes[given]]]
        prior = (counts[full] + 0.5) / (counts[full] + 0.5).sum()
        ranks = self._views.transform(rows, "rank")
        odds = self._odds(rows[spare])
        by_answers = shares_by_answers(odds[:, full], prior)
        by_distance = shares_by_distance(ranks[known], np.searchsorted(full, codes[known]), ranks[spare], len(full))
        moved = usual_shift(self._names())
        moved[full] += _AGREED * agreed_shift(by_answers, by_distance, prior)
        return np.asarray(shift + keep_all_answered(odds + shift, moved))

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
        for weight, odds in zip(self.weights_ * self.voices_, self._each_odds(rows), strict=True):
            total += weight * odds
        return total

    def _each_odds(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the logarithms of each member's shares."""
        seen: dict[str, np.ndarray] = {}
        for text, estimator in zip(self.members_, self.estimators_, strict=True):
            view = Member.parse(text).view
            if view not in seen:
                seen[view] = self._views.transform(rows, view)
            yield np.log(self._shares(estimator, seen[view]) + _FLOOR)

    def _shares(self, estimator: Any, view: Any) -> np.ndarray:
        """Return a member's share of every class, 0 for one that it did not see."""
        shares = np.zeros((view.shape[0], len(self.classes_)))
        shares[:, np.asarray(estimator.classes_).astype(np.int64)] = estimator.predict_proba(view)
        return shares

    def _dense(self, rows: Any) -> np.ndarray:
        return dense_rows(rows) if self.projection_ is None else np.asarray(rows @ self.projection_)

    def _check_state(self) -> None:
        n_classes = len(self.classes_)
        if not hasattr(self, "balance_shift_"):  # a file of an earlier version
            self.balance_shift_ = np.zeros(n_classes)
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
            self.weights_, self.text_say_ = np.full(len(self.members_), 1 / len(self.members_)), _EVEN
        if not hasattr(self, "voices_"):
            self.voices_ = np.ones(len(self.members_))
        n_columns = len(self.kept_columns_) if self.projection_ is None else self.projection_.shape[1]
        if not self._views.is_whole() or self.views_["width"] != n_columns or self.shift_ is None:
            raise DataError("Team: the members must agree about rows and classes, but those of the file do not.")
        for text, estimator in zip(self.members_, self.estimators_, strict=True):
            check_member("Team", estimator, self._views.width(Member.parse(text).view), n_classes)


def _hidden(codes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return codes without those of a fold."""
    hidden = codes.copy()
    hidden[fold] = UNLABELED
    return hidden


def _n_classes_without(codes: np.ndarray, fold: np.ndarray) -> int:
    rest = _hidden(codes, fold)
    return len(np.unique(rest[rest >= 0]))
