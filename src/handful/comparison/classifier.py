"""A classifier in scikit-learn's style."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from handful.comparison.fit import fit_method, fit_selected
from handful.comparison.tables import labeled_table
from handful.comparison.trials import DEFAULT_METHOD, Limits
from handful.data.labels import encode_labels
from handful.data.table import are_texts


class HandfulClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier for few labels and many unlabeled rows, in scikit-learn's style.

    Parameters
    ----------
    method : str or classifier, default="auto"
        Name of a method, a scikit-learn classifier, or ``"auto"``; see `handful.fit`.
    metric : {"auto", "accuracy", "balanced_accuracy", "f1_macro"}, default="auto"
        What is estimated and aimed at.
    class_priors : mapping of label to float, optional
        True class frequencies, if known.
    estimate : bool, default=True
        Whether to estimate the score by cross-validation (and to search, with more than 100 labels); without, only one model
        is fitted.
    minutes : float, default=2.0
        Time limit of the search.
    n_jobs : int, default=1
        Worker processes.
    random_state : int or None, default=None
        Seed; None is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    model_ : TableModel
        The fitted model, which `handful.save` stores.
    estimate_ : dict or None
        Estimated score on new rows with its 95% interval.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    handful.fit : The same as a function, which also reads files.

    Notes
    -----
    In `fit`, ``None``, ``NaN`` or (among integers) -1 in `y` marks unlabeled rows, as in `sklearn.semi_supervised`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = HandfulClassifier("logistic-regression").fit(X, few)
    >>> bool(model.score(X, y) > 0.85), model.estimate_["metric"]
    (True, 'accuracy')
    """

    def __init__(
        self,
        method: Any = "auto",
        *,
        metric: str = "auto",
        class_priors: Mapping[Any, float] | None = None,
        estimate: bool = True,
        minutes: float = 2.0,
        n_jobs: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.metric = metric
        self.class_priors = class_priors
        self.estimate = estimate
        self.minutes = minutes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to labeled and unlabeled rows.

        Parameters
        ----------
        X : data frame, array of shape (n_rows, n_columns), sparse matrix, or list of texts
            Rows.
        y : array-like of shape (n_rows,)
            Labels; ``None``, ``NaN`` or -1 mark unlabeled rows.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        if y is None:
            raise ValueError("HandfulClassifier requires y to be passed, but the target y is None.")
        labels = encode_labels(column_or_1d(y, warn=True), who="y", min_classes=2)
        check_classification_targets(labels.classes)
        table, seed = labeled_table(X, labels), self.random_state or 0
        if self.estimate:
            limits = Limits(minutes=self.minutes, n_jobs=self.n_jobs, seed=seed)
            options: dict[str, Any] = {"metric": self.metric, "class_priors": self.class_priors, "limits": limits}
            self.model_, _ = fit_selected(table, self.method, **options)
        else:
            method = DEFAULT_METHOD if isinstance(self.method, str) and self.method == "auto" else self.method
            self.model_ = fit_method(table, method, class_priors=self.class_priors, seed=seed)
        self.classes_ = self.model_.classes_
        self.estimate_ = self.model_.training_.get("estimate")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row."""
        check_is_fitted(self)
        return self.model_.predict(self._checked(X, reset=False))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._checked(X, reset=False))

    def explain(self, row: Any) -> Any:
        """Explain the prediction of one row; see `handful.models.table_model.TableModel.explain`."""
        check_is_fitted(self)
        return self.model_.explain(row)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return rows as scikit-learn wants them checked; frames and texts as they are."""
        if are_texts(X) or (isinstance(X, Mapping) and not hasattr(X, "tocsr")):
            return X
        if hasattr(X, "columns"):
            if hasattr(X, "iloc"):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        array = X if hasattr(X, "dtype") or hasattr(X, "tocsr") else np.asarray(X)
        has_names = getattr(array, "dtype", None) is not None and array.dtype.kind in "OUS" and _any_text(array)
        kind = None if has_names else "numeric"
        finite: Any = False if has_names else "allow-nan"
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kind, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def _any_text(array: Any) -> bool:
    return array.dtype.kind in "US" or any(isinstance(cell, str) for cell in np.asarray(array, dtype=object).ravel())
