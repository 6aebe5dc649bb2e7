"""What the classifiers that answer by stored rows have in common: checking, storing, predicting, loading."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from handful.core.errors import DataError
from handful.core.labels import Labels, encode_labels
from handful.core.schema import Array, ListOf, Names, Number, Symbol, Text, is_rising, stored
from handful.core.store import Storable
from handful.kernels.distances import Rows
from handful.neighbors.rows import Nominal, as_csr, dense_rows, encode_rows, sparse_rows
from handful.neighbors.votes import Answer, MetricName, Rule, Ties, Vote, ask, choose_k


def labels_of(y: Any, n: int, *, who: str) -> Labels:
    """Encode the labels of `n` rows; a column of labels is taken with scikit-learn's warning."""
    if y is None:
        raise DataError(f"{who}: fit requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected by {who}. Pass y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    labels = encode_labels(y, who=who)
    if len(labels.codes) != n:
        raise DataError(f"{who}: X and y must have the same number of rows, got {n} and {len(labels.codes)}.")
    return labels


class StoredRowsClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers whose fitted state is a list of stored rows with labels.

    A subclass fits, calls `_keep`, and has the parameters ``n_neighbors``, ``vote``, ``metric``, ``p`` and ``nominal``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_neighbors_ : int
        Number of neighbors that vote.
    stored_numbers_ : ndarray or csr_array
        Numeric columns of the stored rows.
    stored_symbols_ : ndarray of int32
        Nominal columns of the stored rows, as positions in ``nominal_values_``.
    stored_codes_ : ndarray of int32
        Labels of the stored rows, as positions in ``classes_``.
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        n_neighbors_=Number(int, low=1),
        nominal_columns_=Array("i8", "c?", below="d"),
        nominal_values_=ListOf(ListOf(Symbol()), "c?"),
        stored_numbers_=Array("f8 f4", "s", "_", sparse=True),
        stored_symbols_=Array("i4", "s", "c?", low=-2),
        stored_codes_=Array("i4", "s", below="k"),
        n_iter_=Number(int, low=0),
        termination_condition_=Text(),
    )

    n_neighbors: Any
    vote: Vote
    metric: MetricName
    p: float
    nominal: Nominal

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        codes = self._ask(X).codes
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes that each label gets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, in the order of ``classes_``; each row sums to 1. In a tied vote the predicted label's share is larger
            by one unit in the last place, so that the largest share is always that of the predicted label.
        """
        answer = self._ask(X)
        tied = np.flatnonzero(answer.shares.argmax(axis=1) != answer.codes)
        answer.shares[tied, answer.codes[tied]] = np.nextafter(answer.shares[tied].max(axis=1), 2.0)
        return answer.shares

    def _ties(self) -> Ties:
        return getattr(self, "ties", "first")

    def _rule(self) -> Rule:
        return Rule.of(self.metric, self.p, self.vote, self._ties())

    def _encode(self, X: Any) -> Rows:
        """Check new rows and give them the form, dense or sparse, of the stored ones."""
        check_is_fitted(self)
        rows = encode_rows(self, X, reset=False)
        sparse = len(rows.indptr) > 1
        if sparse and not sp.issparse(self.stored_numbers_):
            return dense_rows(as_csr(rows, self.n_features_in_).toarray())
        if not sparse and sp.issparse(self.stored_numbers_):
            return sparse_rows(sp.csr_array(rows.dense))
        return rows

    def _ask(self, X: Any) -> Answer:
        rows = self._encode(X)
        return ask(self._stored(), self.stored_codes_, len(self.classes_), rows, self.n_neighbors_, self._rule())

    def _keep(self, rows: Rows, codes: np.ndarray) -> None:
        sparse = len(rows.indptr) > 1
        self.stored_numbers_ = as_csr(rows, self.n_features_in_) if sparse else rows.dense
        self.stored_symbols_ = rows.nominal
        self.stored_codes_ = np.require(codes, dtype=np.int32, requirements=["C", "W"])

    def _stored(self) -> Rows:
        if sp.issparse(self.stored_numbers_):
            return sparse_rows(self.stored_numbers_)
        return dense_rows(self.stored_numbers_, self.stored_symbols_)

    def _labels(self, y: Any, n: int) -> Labels:
        labels = labels_of(y, n, who=type(self).__name__)
        self.classes_ = labels.classes
        return labels

    def _choose_k(self, rows: Rows, codes: np.ndarray, least: int = 1) -> int:
        if self.n_neighbors != "cv":
            return int(self.n_neighbors)
        return choose_k(rows, codes, len(self.classes_), self._rule(), least)

    def _check_state(self) -> None:
        # The kernels trust their arrays, so a file must not bring numbers that point outside.
        who = type(self).__name__
        codes, numbers = self.stored_codes_, self.stored_numbers_
        fine = numbers.shape == (len(codes), self.n_features_in_ - len(self.nominal_columns_)) and is_rising(
            self.nominal_columns_
        )
        if not fine:
            raise DataError(f"{who}: the stored rows must agree with each other, but those of the file do not.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
