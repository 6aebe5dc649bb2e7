"""Condensed nearest neighbors, supervised and semi-supervised (Søgaard 2011)."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from handful.kernels.condense import CondensedSet, condense_distinct
from handful.kernels.distances import TIED, RowArrays, Rule
from handful.neighbors.rows import (
    Categorical,
    StoredRowsClassifier,
    Ties,
    Traceable,
    Vote,
    distinct,
    encode_rows,
    take_rows,
    vote_of_store,
    warn_if_unscaled,
)
from handful.params import Count, Share, check_params
from handful.persistence.schema import Array, Names, stored
from handful.registry import method

REASONS = np.array(["first", "wrong", "unsure"])


def condense_rows(
    rows: RowArrays,
    visits: np.ndarray,
    codes: np.ndarray,
    n_neighbors: int,
    rule: Rule,
    *,
    min_confidence: float = 0.0,
    max_passes: int | None = 1,
) -> CondensedSet:
    """Condense labeled rows; identical rows share one memory of their neighbors.

    Parameters
    ----------
    rows : RowArrays
        A table.
    visits : ndarray of int64
        Row numbers in the order of visiting.
    codes : ndarray of int32
        Label of each visit.
    n_neighbors, rule, min_confidence, max_passes
        See `handful.kernels.condense.condense_distinct`.

    Returns
    -------
    CondensedSet
        Stored visits.
    """
    first, which = distinct(rows)
    if len(first) < len(rows.dense):
        rows = take_rows(rows, first)
    row_of, codes = which[visits].astype(np.int64), codes.astype(np.int32)
    limit = float(min_confidence)
    return condense_distinct(rows, row_of, codes, n_neighbors, rule, min_confidence=limit, max_passes=max_passes)


class CondensedClassifier(StoredRowsClassifier):
    """Base of the classifiers whose stored rows are a condensed set.

    Attributes
    ----------
    kept_ : ndarray of int64
        Stored rows of the table of the fit, in the order of storing.
    kept_labels_ : ndarray
        Their labels.
    reasons_ : ndarray of str
        Why each was stored: ``first``, ``wrong`` or ``unsure``.
    """

    STATE = stored(kept_=Array("i8", "s", low=0), kept_labels_=Names("s"), reasons_=Names("s", only_text=True))

    kept_: np.ndarray
    kept_labels_: np.ndarray
    reasons_: np.ndarray


@method("condensed-nn", paper="sogaard2011", task="table", cost="quick")
class CondensedNN(CondensedClassifier):
    """Nearest-neighbor classifier that stores only the rows the others need.

    Use it when prediction time or model size matters and the classes are reasonably separated.

    Parameters
    ----------
    n_neighbors : int or "cv", default=1
        Number of neighbors that vote; "cv" chooses among 1, 3, 5, 7, 9, 11 and 15 (from 3 on where `min_confidence` is
        above 0) by 5-fold cross-validation of nearest neighbors on the labeled rows.
    min_confidence : float, default=0.0
        Keep a correctly predicted row too when its label's share of the votes is below this: the weakened rule, which
        needs at least two neighbors. 0 is Hart's rule.
    max_passes : int or None, default=1
        Sweeps over the rows; None goes on until a sweep stores nothing.
    vote : {"uniform", "distance", "gaussian", "rank", "dudani", "literal"}, default="uniform"
        Weight of a voter: 1; 1/d; ``exp(-d^2/s2)`` with ``s2 = d_k^2 / ln 1000``; ``exp(-(r+1)^2/s2)`` of the r-th of m
        voters with ``s2 = m^2 / ln 1000``; Dudani's ``(d_k - d) / (d_k - d_1)``; or d itself, as the paper prints.
    ties : {"first", "all"}, default="first"
        With "first" the k nearest rows vote, of equally near ones those stored first. With "all" every row at the k
        nearest distinct distances votes, which is right for categorical data.
    shuffle : bool, default=False
        Visit the rows in random order instead of their own.
    random_state : int, RandomState or None, default=None
        Seed of the order.
    categorical : "auto" or list, default="auto"
        Names or numbers of categorical columns; "auto" takes columns of strings or categories. Two values of such a column
        are at distance 1.

    Attributes
    ----------
    kept_ : ndarray of shape (n_kept,)
        Rows of the training set that were stored, in the order of storing.
    kept_labels_ : ndarray of shape (n_kept,)
        Their labels.
    reasons_ : ndarray of shape (n_kept,)
        Why each was stored: the store was empty ("first"), it was predicted "wrong", or it was "unsure".
    passes_ : ndarray of shape (n_kept,)
        The pass in which each was stored.
    n_iter_ : int
        Passes over the rows, the last one without a new row included.
    termination_condition_ : {"max_passes", "no_change"}
        Why the fit ended.
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.

    Notes
    -----
    ======  ==================  ============================================
    symbol  here                meaning
    ======  ==================  ============================================
    T       labeled rows        training set
    C       ``kept_``           condensed set
    P_C     ``predict_proba``   normalised mass of the votes
    0.55    ``min_confidence``  threshold of the weakened rule
    ======  ==================  ============================================

    Unlabeled rows (None, NaN or -1) are left out. While fewer than k rows are stored, all of them vote. With "distance",
    rows at distance 0 outvote all others. A tied vote goes to the nearest voter's label among the tied; masses that differ
    by less than 1e-12 of the larger, and shares as near to `min_confidence`, count as equal. With several passes, rows
    already stored are not visited again.

    Deviations: the paper prints neither k nor the vote; its printed vote is "literal".
    Cost: O(n_distinct * n_kept * n_features) time, O(n_samples) memory; identical rows are compared once. Numbers are
    compared in float64, so float32 and CSR input give what the same numbers give in a dense float64 array.

    References
    ----------
    Søgaard, A. (2011). Semi-supervised condensed nearest neighbor for part-of-speech tagging. ACL.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]]), ["low", "low", "low", "high", "high"]
    >>> model = CondensedNN().fit(X, y)
    >>> model.kept_.tolist(), model.reasons_.tolist()
    ([0, 3], ['first', 'wrong'])
    >>> model.predict([[3.0], [6.0]]).tolist()
    ['low', 'high']
    """

    STATE = stored(
        passes_=Array("i4", "s", low=0),
    )

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 1,
        min_confidence: Share = 0.0,
        max_passes: Count | None = 1,
        vote: Vote = "uniform",
        ties: Ties = "first",
        shuffle: bool = False,
        random_state: Any = None,
        *,
        categorical: Categorical = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_confidence = min_confidence
        self.max_passes = max_passes
        self.vote = vote
        self.ties = ties
        self.shuffle = shuffle
        self.random_state = random_state
        self.categorical = categorical

    def fit(self, X: Any, y: Any) -> Self:
        """Condense the labeled rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; None, NaN, or -1 among integers, for a row to leave out.

        Returns
        -------
        self
        """
        check_params(self)
        rows = encode_rows(self, X, reset=True)
        labels = self._labels(y, len(rows.dense))
        warn_if_unscaled(self, rows)
        visits = labels.labeled
        if self.shuffle:
            visits = check_random_state(self.random_state).permutation(visits)
        codes = labels.codes[visits]
        # With one neighbor its share of the votes is always 1, so the weakened rule needs more of them.
        least = 3 if self.min_confidence > 0 else 1
        self.n_neighbors_ = self._choose_k(take_rows(rows, labels.labeled), labels.codes[labels.labeled], least)
        condensed = condense_rows(
            rows,
            visits,
            codes,
            self.n_neighbors_,
            self._rule(),
            min_confidence=self.min_confidence,
            max_passes=self.max_passes,
        )
        self.kept_ = visits[condensed.visits]
        self.kept_labels_ = labels.decode(codes[condensed.visits])
        self.reasons_ = REASONS[condensed.reasons]
        self.passes_ = condensed.passes
        self.n_iter_ = condensed.n_passes
        no_change = len(self.kept_) == len(visits) or condensed.passes.max() < self.n_iter_
        self.termination_condition_ = "no_change" if no_change else "max_passes"
        self._keep(take_rows(rows, self.kept_), codes[condensed.visits])
        return self


@method(
    "semi-supervised-condensed-nn",
    paper="sogaard2011",
    task="table",
    uses_unlabeled=True,
    supervised_control="condensed-nn",
    cost="quick",
)
class SemiSupervisedCondensedNN(Traceable, CondensedClassifier):
    """Condensed nearest neighbors that also store unlabeled rows of which the labeled ones are sure.

    The labeled rows are condensed by the weakened rule; every unlabeled row on which all labeled rows together agree
    clearly enough joins with its predicted label; and the list of both is condensed again.

    Parameters
    ----------
    n_neighbors : int or "cv", default=3
        Number of neighbors that vote; "cv" chooses among 3, 5, 7, 9, 11 and 15 by 5-fold cross-validation of plain
        nearest neighbors on the labeled rows.
    min_confidence : float, default=0.55
        The weakened rule keeps a row too when its label's share of the votes is below this.
    pseudo_label_confidence : float, default=0.90
        An unlabeled row joins if the share of its predicted label is above this.
    final_pass : {"cnn", "wcnn"}, default="cnn"
        Whether the last condensation is plain, as the pseudo code has it, or weakened, as the prose has it.
    vote, ties, categorical
        See `CondensedNN`.
    shuffle : bool, default=False
        Visit labeled and unlabeled rows in random order instead of their own.
    random_state : int, RandomState or None, default=None
        Seed of the order.

    Attributes
    ----------
    kept_ : ndarray of shape (n_kept,)
        Stored rows, in the order of storing: labeled ones, then unlabeled ones that joined.
    kept_labels_ : ndarray of shape (n_kept,)
        Their labels, given or predicted.
    reasons_ : ndarray of shape (n_kept,)
        Why the last pass stored each: "first", "wrong" or "unsure".
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: the given one, or what all labeled rows together predict.
    labeled_iter_ : ndarray of shape (n_samples,)
        0 for a given label, 1 for an unlabeled row that joined, -1 for one that did not.
    confidence_ : ndarray of shape (n_samples,)
        Share of the votes behind each label of ``transduction_``; 1 for a given label.
    parent_, origin_ : ndarray of shape (n_samples,)
        The labeled row that decided: the nearest voter for the label; -1 for a given label's parent.
    n_iter_ : int
        Rounds of labeling: 1, or 0 if nothing was unlabeled.
    termination_condition_ : {"all_labeled", "max_iter"}
        Whether every unlabeled row joined in the one round there is.
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.

    Notes
    -----
    ======  =============================  ================================================
    symbol  here                           meaning
    ======  =============================  ================================================
    T, U    labeled, unlabeled rows        the two parts of the table
    C       rows that reach the last pass  condensed labeled rows, then rows that joined
    C'      ``kept_``                      the result
    0.55    ``min_confidence``             threshold of the weakened rule
    0.90    ``pseudo_label_confidence``    threshold of joining
    ======  =============================  ================================================

    Unlabeled rows are labeled by the full set T, not by C, and nothing is updated meanwhile. Ties: see `CondensedNN`;
    shares that differ from a threshold by less than 1e-12 of it count as equal to it.
    Cost: O((n_labeled + n_unlabeled) * n_labeled * n_features) time, O(n_samples) memory; identical rows are compared once.

    References
    ----------
    Søgaard, A. (2011). Semi-supervised condensed nearest neighbor for part-of-speech tagging. ACL.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [9.0], [2.0], [4.9], [8.0]])
    >>> model = SemiSupervisedCondensedNN(n_neighbors=1).fit(X, ["a", "a", "b", None, None, None])
    >>> model.kept_.tolist(), model.kept_labels_.tolist()
    ([0, 2, 4], ['a', 'b', 'a'])
    >>> model.lineage(4)
    (1,)
    """

    STATE = stored(
        confidence_=Array("f8", "n", finite=False),
    )

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 3,
        min_confidence: Share = 0.55,
        pseudo_label_confidence: Share = 0.90,
        final_pass: Literal["cnn", "wcnn"] = "cnn",
        vote: Vote = "uniform",
        ties: Ties = "first",
        *,
        shuffle: bool = False,
        random_state: Any = None,
        categorical: Categorical = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_confidence = min_confidence
        self.pseudo_label_confidence = pseudo_label_confidence
        self.final_pass = final_pass
        self.vote = vote
        self.ties = ties
        self.shuffle = shuffle
        self.random_state = random_state
        self.categorical = categorical

    def fit(self, X: Any, y: Any) -> Self:
        """Condense labeled and unlabeled rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        rows = encode_rows(self, X, reset=True)
        labels = self._labels(y, len(rows.dense))
        warn_if_unscaled(self, rows)
        T, U = labels.labeled, labels.unlabeled
        if self.shuffle:
            random = check_random_state(self.random_state)
            T, U = random.permutation(T), random.permutation(U)
        codes = labels.codes.copy()
        full = take_rows(rows, T)
        k = self.n_neighbors_ = self._choose_k(full, codes[T], least=3)
        rule = self._rule()

        # Lines 3-7 of Fig. 4: C = WCNN(T)
        weak = condense_rows(rows, T, codes[T], k, rule, min_confidence=self.min_confidence)

        # Lines 8-12: unlabeled rows that T labels with confidence
        votes = vote_of_store(full, codes[T], len(labels.classes), take_rows(rows, U), k, rule)
        codes[U] = votes.codes
        confidence = votes.proba[np.arange(len(U)), votes.codes]
        joins = confidence > self.pseudo_label_confidence * (1.0 + TIED)

        # Lines 13-17: C' = CNN(C)
        visits = np.concatenate([T[weak.visits], U[joins]])
        again = self.min_confidence if self.final_pass == "wcnn" else 0.0
        final = condense_rows(rows, visits, codes[visits], k, rule, min_confidence=again)

        self.kept_ = visits[final.visits]
        self.kept_labels_ = labels.decode(codes[self.kept_])
        self.reasons_ = REASONS[final.reasons]
        self._keep(take_rows(rows, self.kept_), codes[self.kept_])
        self.transduction_ = labels.decode(codes)
        self.labeled_iter_ = np.zeros(len(codes), dtype=np.int64)
        self.labeled_iter_[U] = np.where(joins, 1, -1)
        self.confidence_ = np.ones(len(codes))
        self.confidence_[U] = confidence
        self.parent_ = np.full(len(codes), -1, dtype=np.int64)
        self.parent_[U] = T[votes.positions]
        self.n_iter_ = int(len(U) > 0)
        self.termination_condition_ = "all_labeled" if joins.all() else "max_iter"
        self._trace()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Condensed twice in one sweep each, a fully labeled table need not be predicted well by what is left.
        tags.classifier_tags.poor_score = True
        return tags
