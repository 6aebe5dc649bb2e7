"""Semi-supervised condensed nearest neighbors of Søgaard (2011)."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from handful.core.params import Count, Positive, Share, check_params
from handful.core.registry import method
from handful.core.schema import Array, stored
from handful.kernels.votes import TIED
from handful.neighbors.condensation import CondensedClassifier, condense_rows
from handful.neighbors.provenance import Traceable
from handful.neighbors.rows import Nominal, encode_rows, take, warn_if_unscaled
from handful.neighbors.votes import MetricName, Ties, Vote, ask


@method(
    "semi-supervised-condensed-nn",
    paper="sogaard2011",
    takes="table",
    learns_from=("labels", "unlabeled"),
    twin="condensed-nn",
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
    vote, ties, metric, p, nominal
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
    >>> model.origin(4)
    1
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
        metric: MetricName = "euclidean",
        shuffle: bool = False,
        random_state: Any = None,
        p: Positive = 2.0,
        nominal: Nominal = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_confidence = min_confidence
        self.pseudo_label_confidence = pseudo_label_confidence
        self.final_pass = final_pass
        self.vote = vote
        self.ties = ties
        self.metric = metric
        self.shuffle = shuffle
        self.random_state = random_state
        self.p = p
        self.nominal = nominal

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
        full = take(rows, T)
        k = self.n_neighbors_ = self._choose_k(full, codes[T], least=3)
        rule = self._rule()

        # Lines 3-7 of Fig. 4: C = WCNN(T)
        weak = condense_rows(rows, T, codes[T], k, rule, min_confidence=self.min_confidence)

        # Lines 8-12: unlabeled rows that T labels with confidence
        answer = ask(full, codes[T], len(labels.classes), take(rows, U), k, rule)
        codes[U] = answer.codes
        confidence = answer.shares[np.arange(len(U)), answer.codes]
        joins = confidence > self.pseudo_label_confidence * (1.0 + TIED)

        # Lines 13-17: C' = CNN(C)
        visits = np.concatenate([T[weak.kept], U[joins]])
        again = self.min_confidence if self.final_pass == "wcnn" else 0.0
        final = condense_rows(rows, visits, codes[visits], k, rule, min_confidence=again)

        self.kept_ = visits[final.kept]
        self.kept_labels_ = labels.decode(codes[self.kept_])
        self.reasons_ = final.reasons
        self._keep(take(rows, self.kept_), codes[self.kept_])
        self.transduction_ = labels.decode(codes)
        self.labeled_iter_ = np.zeros(len(codes), dtype=np.int64)
        self.labeled_iter_[U] = np.where(joins, 1, -1)
        self.confidence_ = np.ones(len(codes))
        self.confidence_[U] = confidence
        self.parent_ = np.full(len(codes), -1, dtype=np.int64)
        self.parent_[U] = T[answer.positions]
        self.n_iter_ = int(len(U) > 0)
        self.termination_condition_ = "all_labeled" if joins.all() else "max_iter"
        self._trace(X, y)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Condensed twice in one sweep each, a fully labeled table need not be predicted well by what is left.
        tags.classifier_tags.poor_score = True
        return tags
