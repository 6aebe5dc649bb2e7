"""Condensed features as a table classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import labels_of
from handful.errors import DataError, ParameterError
from handful.params import AtLeast, Positive, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, Names, Number, stored
from handful.registry import method
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.potency import Discount, Resolution

_WHO = "CondensedFeatureClassifier"


@method(
    "condensed-feature-classifier",
    paper="suzuki2011",
    task="table",
    uses_unlabeled=True,
    supervised_control="logistic-regression",
    grid={"discount": (1.0, 0.2, 5.0), "resolution": (1.0, 4.0)},
)
class CondensedFeatureClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear classifier with a few shared weights, grouped by what a first model does on unlabeled rows.

    Use it for text as a bag of words or n-grams, with few labeled and many unlabeled rows, where the model should be
    small: words that the first model uses alike share one weight.

    Parameters
    ----------
    estimator : scikit-learn classifier with ``coef_``, default=None
        The first model, trained on the labeled rows; None is ``LogisticRegression(max_iter=1000)``.
    discount : float, default=1.0
        Features (a column with a label) whose sum over all rows differs from chance by no more than this are dropped.
    resolution : float, default=1.0
        Bins per unit of potency; more bins, more weights.
    penalty : {"l2", "l1"}, default="l2"
        Penalty of the second training.
    strength : float, default=0.5
        Its strength; the default is that of ``LogisticRegression(C=1)``.
    count_labeled : bool, default=True
        Whether potency is counted over the labeled rows as well.
    max_iter : int, default=1000
        Most iterations of the second training.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_active_ : int
        Shared weights other than 0.
    condensed_weights_ : ndarray of float64
        The shared weights; the last one is 0, for features that were dropped.
    member_of_ : ndarray of int32, shape (n_columns, n_classes)
        Which shared weight each column has with each label.
    n_iter_ : int
        Iterations of the second training.
    features_ : CondensedFeatures
        Potency and bins, for inspection; not part of a model file.

    Notes
    -----
    Potency counts amounts, so a column with negative values is taken apart into its positive part and, behind all
    columns, its negative part. The intercept is a column that is always 1, of a separate type.

    Where every feature is dropped, every row gets the label that comes first in ``classes_``; lower the discount then.
    With one class only, nothing is learned. Cost: that of the first model, one prediction of all rows, and the second
    training.

    References
    ----------
    Suzuki, J., Isozaki, H., Nagata, M. (2011). Learning condensed feature representations from large unsupervised data
    sets for supervised learning. ACL.

    Examples
    --------
    >>> X = np.array([[3.0, 0, 0], [0, 2, 0], [2, 0, 2], [4, 0, 3], [0, 3, 0], [0, 2, 0]])
    >>> model = CondensedFeatureClassifier().fit(X, ["sun", "rain", None, None, None, None])
    >>> model.predict([[0.0, 0, 5]]).tolist(), model.n_active_ < X.shape[1] * 2
    (['sun'], True)
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        split_=Array("i8", "s?", below="d"),
        condensed_weights_=Array("f8", "c"),
        member_of_=Array("i4", "m", "k", below="c"),
        n_active_=Number(int, low=0),
        n_iter_=Number(int, low=0),
    )

    def __init__(
        self,
        estimator: Any = None,
        discount: Discount = 1.0,
        resolution: Resolution = 1.0,
        *,
        penalty: Literal["l2", "l1"] = "l2",
        strength: Positive = 0.5,
        count_labeled: bool = True,
        max_iter: Annotated[int, AtLeast(1)] = 1000,
    ) -> None:
        self.estimator = estimator
        self.discount = discount
        self.resolution = resolution
        self.penalty = penalty
        self.strength = strength
        self.count_labeled = count_labeled
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labeled and unlabeled rows.

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
        rows = self._table(X, reset=True)
        labels = labels_of(y, rows.shape[0], model_name=_WHO)
        self.classes_ = labels.classes
        self.split_ = np.flatnonzero(_lowest(rows) < 0.0)
        rows = self._split(rows)
        n_labels = len(labels.classes)
        if n_labels == 1:
            self.condensed_weights_, self.member_of_ = np.zeros(1), np.zeros((rows.shape[1] + 1, 1), dtype=np.int32)
            self.n_active_ = self.n_iter_ = 0
            return self
        labeled = labels.labeled
        base = clone(LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator)
        base.fit(rows[labeled], labels.codes[labeled])
        if not hasattr(base, "coef_"):
            raise ParameterError(f"{_WHO}: estimator must be a linear classifier with coef_, got {base!r}.")
        counted = rows if self.count_labeled or len(labels.unlabeled) == 0 else rows[labels.unlabeled]
        features = CondensedFeatures(base, self.discount, self.resolution)
        self.features_ = features.fit(counted)
        settings: dict[str, Any] = {"penalty": self.penalty, "strength": self.strength, "max_iter": self.max_iter}
        model = self.features_.retrain(rows[labeled], labels.codes[labeled], **settings)
        self._keep(model)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; among equals the one that comes first in ``classes_``.
        """
        codes = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        scores = self._scores(X)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def _keep(self, model: Any) -> None:
        features = self.features_
        n_labels, n_rows = len(self.classes_), len(features.potency_) // len(self.classes_)
        group = np.full(n_rows * n_labels, features.n_condensed_, dtype=np.int32)
        group[features.kept_] = features.members_
        self.condensed_weights_ = np.append(model.condensed_weights_, 0.0)
        self.member_of_ = group.reshape(n_rows, n_labels)
        self.n_active_, self.n_iter_ = model.n_active_condensed_, model.n_iter_

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = self._split(self._table(X, reset=False))
        weights = self.condensed_weights_[self.member_of_]
        scores = np.asarray(rows @ weights[: rows.shape[1]])
        return scores + weights[-1] if len(weights) > rows.shape[1] else scores

    def _table(self, X: Any, *, reset: bool) -> Any:
        try:
            return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        except ValueError as error:
            raise DataError(f"{_WHO}: {error}") from None

    def _split(self, rows: Any) -> Any:
        if sparse.issparse(rows):
            rows = sparse.csr_array(rows)
            if len(self.split_) == 0:
                return rows.maximum(0.0) if len(rows.data) and rows.data.min() < 0 else rows
            return sparse.csr_array(sparse.hstack([rows.maximum(0.0), (-rows[:, self.split_]).maximum(0.0)]))
        return np.hstack([rows.clip(min=0.0), (-rows[:, self.split_]).clip(min=0.0)])

    def _state(self) -> dict[str, Any]:
        return {name: value for name, value in super()._state().items() if name != "features_"}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        # Parameters of earlier versions that matter for training alone.
        return super()._from_state({name: state[name] for name in state if name not in ("types", "decisions")})

    def _check_state(self) -> None:
        if len(self.member_of_) - self.n_features_in_ - len(self.split_) not in (0, 1):
            raise DataError(f"{_WHO}: the stored model is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _lowest(rows: Any) -> np.ndarray:
    if rows.shape[0] == 0:
        return np.zeros(rows.shape[1])
    lowest = rows.min(axis=0)
    return np.asarray(lowest.todense() if sparse.issparse(lowest) else lowest).ravel()
