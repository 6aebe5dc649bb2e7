"""Condensed nearest neighbors: Hart's rule in one sweep, weakened, or to convergence."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from handful.core.params import Count, Positive, Share, check_params
from handful.core.registry import method
from handful.core.schema import Array, stored
from handful.neighbors.condensation import CondensedClassifier, condense_rows
from handful.neighbors.rows import Nominal, encode_rows, take, warn_if_unscaled
from handful.neighbors.votes import MetricName, Ties, Vote


@method("condensed-nn", paper="sogaard2011", takes="table", cost="quick")
class CondensedNN(CondensedClassifier):
    """Nearest-neighbor classifier that stores only the rows the others need.

    Use it when prediction time or model size matters and the classes are reasonably separated.

    Parameters
    ----------
    n_neighbors : int or "cv", default=1
        Number of neighbors that vote; "cv" chooses among 1, 3, 5, 7, 9, 11 and 15 by 5-fold cross-validation of plain
        nearest neighbors on the labeled rows.
    min_confidence : float, default=0.0
        Keep a correctly predicted row too when its label's share of the votes is below this: the weakened rule, which
        needs at least two neighbors. 0 is Hart's rule.
    max_passes : int or None, default=1
        Sweeps over the rows; None goes on until a sweep stores nothing.
    vote : {"uniform", "distance", "gaussian", "rank", "dudani", "literal", "exponential"}, default="uniform"
        Weight of a voter: 1; 1/d; ``exp(-d^2/s2)`` with ``s2 = d_k^2 / ln 1000``; ``exp(-(r+1)^2/s2)`` of the r-th of m
        voters with ``s2 = m^2 / ln 1000``; Dudani's ``(d_k - d) / (d_k - d_1)``; d itself, as the paper prints; or
        ``exp(-d)``.
    ties : {"first", "all"}, default="first"
        With "first" the k nearest rows vote, of equally near ones those stored first. With "all" every row at the k
        nearest distinct distances votes, which is right for nominal data.
    metric : {"euclidean", "manhattan", "chebyshev", "minkowski"}, default="euclidean"
        How distance is measured; a nominal column differs by 0 or 1.
    shuffle : bool, default=False
        Visit the rows in random order instead of their own.
    random_state : int, RandomState or None, default=None
        Seed of the order.
    p : float, default=2.0
        Exponent of the Minkowski metric.
    max_kept : int or None, default=None
        Stop when so many rows are stored.
    nominal : "auto" or list, default="auto"
        Names or numbers of nominal columns; "auto" takes columns of strings or categories.

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
    termination_condition_ : {"max_passes", "no_change", "max_kept"}
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
    >>> model.certify(X, y).consistent
    True
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
        metric: MetricName = "euclidean",
        shuffle: bool = False,
        random_state: Any = None,
        *,
        p: Positive = 2.0,
        max_kept: Count | None = None,
        nominal: Nominal = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_confidence = min_confidence
        self.max_passes = max_passes
        self.vote = vote
        self.ties = ties
        self.metric = metric
        self.shuffle = shuffle
        self.random_state = random_state
        self.p = p
        self.max_kept = max_kept
        self.nominal = nominal

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
        if self.n_neighbors == "cv":
            self.n_neighbors_ = self._choose_k(take(rows, labels.labeled), labels.codes[labels.labeled])
        else:
            self.n_neighbors_ = int(self.n_neighbors)
        condensed = condense_rows(
            rows,
            visits,
            codes,
            self.n_neighbors_,
            self._rule(),
            min_confidence=self.min_confidence,
            max_passes=self.max_passes,
            max_kept=self.max_kept,
        )
        self.kept_ = visits[condensed.kept]
        self.kept_labels_ = labels.decode(codes[condensed.kept])
        self.reasons_ = condensed.reasons
        self.passes_ = condensed.passes
        self.n_iter_ = condensed.n_passes
        self.termination_condition_ = self._ending(len(visits))
        self._keep(take(rows, self.kept_), codes[condensed.kept])
        return self

    def _ending(self, n_visits: int) -> str:
        if self.max_kept is not None and len(self.kept_) >= self.max_kept and self.max_kept < n_visits:
            return "max_kept"
        stored_all = len(self.kept_) == n_visits
        return "no_change" if stored_all or np.max(self.passes_) < self.n_iter_ else "max_passes"
