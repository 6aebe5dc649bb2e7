"""What classifiers of rows in this room share: checking of rows and labels, answers from shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.core.errors import DataError
from handful.core.labels import Labels
from handful.core.schema import Names, Number, stored
from handful.core.store import Storable
from handful.neighbors.stored import labels_of


class RowClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers whose answer is the class of the largest share; a subclass has ``predict_proba``."""

    STATE = stored(n_features_in_=Number(int, size="d"), classes_=Names("k"))

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``."""
        raise NotImplementedError

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if not reset:
            check_is_fitted(self)
        try:
            return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        except ValueError as error:
            raise DataError(f"{type(self).__name__}: {error}") from None

    def _labels(self, y: Any, n_rows: int) -> Labels:
        labels = labels_of(y, n_rows, who=type(self).__name__)
        self.classes_ = labels.classes
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
