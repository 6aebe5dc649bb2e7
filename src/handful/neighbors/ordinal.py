"""Ordinal semi-supervised k-NN of Liu, Zhao, Zou and Xu (2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from handful.errors import DataError
from handful.kernels.distances import RowArrays
from handful.kernels.ordinal import Ordinal, rank_and_label
from handful.neighbors.rows import (
    Categorical,
    StoredRowsClassifier,
    Traceable,
    Vote,
    as_csr,
    encode_rows,
    from_dense,
    take_rows,
    warn_if_unscaled,
)
from handful.params import Count, Positive, Share, check_params
from handful.persistence.schema import Array, stored
from handful.registry import method

_MOST_CELLS = 1 << 30


@method("ordinal-knn", paper="liu2013", task="table", uses_unlabeled=True)
class OrdinalKNN(Traceable, StoredRowsClassifier):
    """Nearest neighbors that label the clearest unlabeled row first and then use it as a neighbor.

    Use it for a table with few labels in clusters of any shape; every unlabeled row gets a label.

    Parameters
    ----------
    n_neighbors : int or "cv", default=1
        Number of neighbors that vote; "cv" chooses among 1, 3, 5, 7, 9, 11 and 15 by 5-fold cross-validation of plain
        nearest neighbors on the labeled rows.
    sigma : float, default=1.0
        Width of the kernel that weighs the members of a class; a large one makes M_j the plain class mean.
    min_confidence : float, default=1.0
        A row becomes a neighbor of the others if the confidence of its prediction reaches this. With one neighbor the
        confidence is always 1.
    order : {"distance_factor", "random"}, default="distance_factor"
        Which unlabeled row comes next: the one with the smallest distance factor, or a random one (the paper's method 2).
    random_state : int, RandomState or None, default=None
        Seed of the random order.
    vote : str, default="uniform"
        How neighbors are weighed; see `CondensedNN`. The paper uses the majority.
    categorical
        See `CondensedNN`. A categorical column stands for one indicator of each value, scaled so that two values are at
        distance 1.

    Attributes
    ----------
    order_ : ndarray of shape (n_unlabeled,)
        Unlabeled rows in the order of processing.
    confidence_ : ndarray of shape (n_unlabeled,)
        Confidence CF of each prediction, aligned with ``order_``.
    distance_factor_ : ndarray of shape (n_unlabeled,)
        Distance factor DF of each row when it was taken, aligned with ``order_``.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row.
    labeled_iter_ : ndarray of shape (n_samples,)
        0 for a given label, else the step (from 1) at which the row became a neighbor, -1 if it did not.
    parent_, origin_ : ndarray of shape (n_samples,)
        The row whose vote decided, and the row with a given label at the end of the line.
    n_iter_ : int
        Steps.
    termination_condition_ : {"all_labeled", "all_visited"}
        Whether every unlabeled row became a neighbor.
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.

    Notes
    -----
    ========  ======================  ============================================
    symbol    here                    meaning
    ========  ======================  ============================================
    U_l, U_u  labeled, waiting rows   the two parts of the table
    CF_min    ``min_confidence``      threshold of insertion
    CF, DF    ``confidence_`` ...     see below
    ========  ======================  ============================================

    ``DF(x) = min_j d(x, M_j(x)) / sum_j d(x, M_j(x))``, where M_j(x) is the mean of the labeled members of class j, weighted
    by ``exp(-d^2 / (2 sigma^2))`` in log space, so that raw features do not underflow. Classes without labeled members are
    skipped; DF is 0 where all distances are 0. Factors that differ by less than 1e-9 are tied and go by row number.
    ``CF(x)`` is the part of the k distances that belongs to agreeing neighbors, literally as printed (farther agreeing
    neighbors weigh more); where all k distances are 0 it is the fraction of agreeing neighbors. Among equally near
    neighbors the row labeled earlier comes first. New rows are predicted by the final labeled set.

    Deviations: none in the loop. The published figures of methods 1 and 2 need the true label to be inserted after each
    prediction; this class inserts its prediction.
    Cost: O(n_unlabeled * n_samples * n_features) time, O(n_unlabeled * n_classes * n_features) memory; sparse input is made
    dense, because class means are dense.

    References
    ----------
    Liu, Zhao, Zou, Xu (2013). Ordinal semi-supervised k-NN. Journal of Software 8(4), 768-775.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [10.0], [1.0], [8.0], [4.0]])
    >>> model = OrdinalKNN().fit(X, ["a", "b", None, None, None])
    >>> model.order_.tolist(), model.transduction_.tolist()
    ([2, 3, 4], ['a', 'b', 'a', 'b', 'a'])
    >>> model.lineage(4)
    (2, 0)
    """

    DROPPED: ClassVar[dict[str, Any]] = {**StoredRowsClassifier.DROPPED, "batch_size": 1}
    STATE = stored(
        order_=Array("i8", "u?", below="n"),
        confidence_=Array("f8", "u?", finite=False),
        distance_factor_=Array("f8", "u?", finite=False),
    )

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 1,
        sigma: Positive = 1.0,
        min_confidence: Share = 1.0,
        order: Literal["distance_factor", "random"] = "distance_factor",
        random_state: Any = None,
        *,
        vote: Vote = "uniform",
        categorical: Categorical = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.min_confidence = min_confidence
        self.order = order
        self.random_state = random_state
        self.vote = vote
        self.categorical = categorical

    def fit(self, X: Any, y: Any) -> Self:
        """Label every unlabeled row.

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
        labeled, waiting, codes = labels.labeled, labels.unlabeled, labels.codes.copy()
        k = self.n_neighbors_ = self._choose_k(take_rows(rows, labeled), codes[labeled])
        order = np.empty(0, dtype=np.int64)
        if self.order == "random":
            order = check_random_state(self.random_state).permutation(len(waiting))
        gamma = 0.5 / float(self.sigma) ** 2
        settings = Ordinal(k, self._rule(), gamma, float(self.min_confidence))
        space = self._space(rows, len(waiting))
        taken, predicted, confidence, factors, stored_at, parents = rank_and_label(
            space, labeled, codes[labeled], waiting, settings, order=order
        )
        self.order_ = waiting[taken]
        self.confidence_ = confidence
        self.distance_factor_ = factors
        codes[self.order_] = predicted
        self.transduction_ = labels.decode(codes)
        inserted = stored_at >= 0
        store = np.concatenate([labeled, self.order_[inserted]])
        self.labeled_iter_ = np.zeros(len(codes), dtype=np.int64)
        self.labeled_iter_[self.order_] = np.where(inserted, np.arange(1, len(taken) + 1), -1)
        self.parent_ = np.full(len(codes), -1, dtype=np.int64)
        self.parent_[self.order_] = store[parents]
        self.n_iter_ = len(taken)
        self.termination_condition_ = "all_labeled" if inserted.all() else "all_visited"
        self._keep(take_rows(rows, store), codes[store])
        self._trace()
        return self

    def _space(self, rows: RowArrays, n_waiting: int) -> RowArrays:
        """Return the rows as points in which class means make sense: dense, with indicators for categorical columns."""
        numbers = rows.dense
        n_features = self.n_features_in_ + sum(map(len, self.categorical_values_)) - len(self.categorical_columns_)
        cells = n_waiting * len(self.classes_) * n_features
        if cells > _MOST_CELLS:
            raise DataError(
                f"OrdinalKNN: unlabeled rows times classes times features must stay below {_MOST_CELLS:,}, got {cells:,}. "
                "Reduce the features first, for example with sklearn.decomposition.TruncatedSVD."
            )
        if len(rows.indptr) > 1:
            numbers = as_csr(rows, self.n_features_in_).toarray()
        indicators = [
            (rows.categorical[:, [q]] == np.arange(len(values))) * np.sqrt(0.5)
            for q, values in enumerate(self.categorical_values_)
        ]
        return from_dense(np.column_stack([numbers, *indicators]).astype(np.float64))

    def _age(self) -> np.ndarray:
        age = np.zeros(len(self.parent_), dtype=np.int64)
        age[self.order_] = np.arange(1, len(self.order_) + 1)
        return age
