"""Classifiers that decide by margins: support vectors, centroids, and naive Bayes of the complement.

Margins are no shares. The one number that turns them into shares is chosen where it shows how sure one may be: on labeled
rows that were held out, by their likelihood.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax, softmax

from handful.core.errors import DataError
from handful.core.params import Positive, check_params
from handful.core.registry import method
from handful.core.schema import Array, Number, stored
from handful.methods.row_classifier import RowClassifier
from handful.methods.views import dense_rows

_FOLDS = 3
_SCALES = 2.0 ** np.arange(-4, 6)
_USUAL_SCALE = 2.0


class MarginClassifier(RowClassifier):
    """Base of classifiers whose shares are the softmax of margins times a scale learned by cross-fitting.

    A subclass sets `weights_` and `intercept_` in `_learn`, and says in `_features` what they are weights of.

    Attributes
    ----------
    scale_ : float
        What margins are multiplied with.
    """

    STATE = stored(scale_=Number(float), weights_=Array("f8", "d", "k"), intercept_=Array("f8", "k"))

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the labeled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row, which is left out.

        Returns
        -------
        self
        """
        check_params(self)
        words = getattr(X, "words", None)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        rows, codes = rows[labels.labeled], labels.codes[labels.labeled].astype(np.int64)
        given = self._inputs(rows, None if words is None else words[labels.labeled])
        self.scale_ = self._choose_scale(given, codes)
        self._learn(given, codes)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``."""
        given = self._inputs(dense_rows(self._rows(X)), getattr(X, "words", None))
        return np.asarray(softmax(self.scale_ * self._margins(given), axis=1))

    def _inputs(self, rows: np.ndarray, words: Any) -> Any:
        return rows

    def _features(self, given: Any) -> Any:
        return given

    def _learn(self, given: Any, codes: np.ndarray) -> None:
        raise NotImplementedError

    def _margins(self, given: Any) -> np.ndarray:
        return np.asarray(self._features(given) @ self.weights_ + self.intercept_)

    def _choose_scale(self, given: Any, codes: np.ndarray) -> float:
        """Return the scale under which held-out labels are most likely."""
        counts = np.bincount(codes, minlength=len(self.classes_))
        if len(self.classes_) < 2 or np.median(counts) < _FOLDS:
            return _USUAL_SCALE
        fold = np.empty(len(codes), dtype=np.int64)
        fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % _FOLDS
        loss = np.zeros(len(_SCALES))
        for part in range(_FOLDS):
            train, test = fold != part, fold == part
            self._learn(given[train], codes[train])
            margins = self._margins(given[test])
            at = np.arange(int(test.sum()))
            loss -= [log_softmax(scale * margins, axis=1)[at, codes[test]].sum() for scale in _SCALES]
        return float(_SCALES[int(loss.argmin())])


def _one_against_rest(make: Any, given: Any, codes: np.ndarray, n_classes: int) -> list[Any]:
    """Fit a machine of two classes for each class; None where a class has no rows, or all."""
    machines = []
    for code in range(n_classes):
        own = codes == code
        machines.append(make().fit(given, own) if 0 < own.sum() < len(own) else None)
    return machines


@method("svm-rbf", takes="table", cost="instant", baseline=True, views=("lsa", "vectors"))
class KernelSVM(MarginClassifier):
    """Support vector machines with a Gaussian kernel, one class against the others.

    Parameters
    ----------
    C : float, default=10.0
        Inverse strength of the penalty.

    Attributes
    ----------
    rows_ : ndarray
        Labeled rows.
    weights_ : ndarray of shape (n_labeled, n_classes)
        Weight of each row for each class; 0 where it supports nothing.
    gamma_ : float
        One by the number of columns times their variance.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KernelSVM().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    STATE = stored(gamma_=Number(float, low=0), rows_=Array("f8", "n", "d"), weights_=Array("f8", "n", "k"))

    def __init__(self, C: Positive = 10.0) -> None:
        self.C = C

    def _learn(self, given: Any, codes: np.ndarray) -> None:
        from sklearn.svm import SVC

        n_classes = len(self.classes_)
        spread = float(given.var()) * given.shape[1]
        self.gamma_ = 1.0 / spread if spread > 0 else 1.0
        self.rows_ = given
        self.weights_, self.intercept_ = np.zeros((len(given), n_classes)), np.full(n_classes, -1.0)

        def make() -> Any:
            return SVC(C=self.C, gamma=self.gamma_, class_weight="balanced")

        for code, machine in enumerate(_one_against_rest(make, given, codes, n_classes)):
            if machine is not None:
                self.weights_[machine.support_, code] = machine.dual_coef_[0]
                self.intercept_[code] = machine.intercept_[0]

    def _features(self, given: Any) -> Any:
        from sklearn.metrics.pairwise import rbf_kernel

        return rbf_kernel(given, self.rows_, gamma=self.gamma_)


@method("linear-svm", takes="table", cost="instant", baseline=True)
class LinearSVM(MarginClassifier):
    """Linear support vector machines, one class against the others.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.

    Attributes
    ----------
    weights_ : ndarray of shape (n_columns, n_classes)
        Weight of each column for each class.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> LinearSVM().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    def __init__(self, C: Positive = 1.0) -> None:
        self.C = C

    def _learn(self, given: Any, codes: np.ndarray) -> None:
        from sklearn.svm import LinearSVC

        n_classes = len(self.classes_)
        self.weights_, self.intercept_ = np.zeros((given.shape[1], n_classes)), np.full(n_classes, -1.0)

        def make() -> Any:
            return LinearSVC(C=self.C, class_weight="balanced", max_iter=20_000, random_state=0)

        for code, machine in enumerate(_one_against_rest(make, given, codes, n_classes)):
            if machine is not None:
                self.weights_[:, code] = machine.coef_[0]
                self.intercept_[code] = machine.intercept_[0]


@method("nearest-centroid", takes="table", cost="instant", baseline=True)
class NearestMean(MarginClassifier):
    """Answer the class whose mean is the nearest.

    Attributes
    ----------
    weights_ : ndarray of shape (n_columns, n_classes)
        Means of the classes, divided by the spread around them.

    Notes
    -----
    Margins are minus half the squared distances, in units of the mean variance within classes, up to what all classes
    have in common.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> NearestMean().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    def __init__(self) -> None:
        pass  # nothing to set

    def _learn(self, given: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        sizes = members.sum(axis=0)
        means = (given.T @ members) / np.maximum(sizes, 1)
        spread = float(((given - means.T[codes]) ** 2).sum(axis=1).mean()) or 1.0
        self.weights_ = means / spread
        self.intercept_ = np.where(sizes > 0, -0.5 * (means**2).sum(axis=0) / spread, -1e9)


@method("complement-nb", takes="table", cost="instant", baseline=True, views=("words",))
class ComplementBayes(MarginClassifier):
    """Naive Bayes that weighs words by how little they are used in the other classes (for texts).

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to every count.

    Attributes
    ----------
    weights_ : ndarray of shape (n_words, n_classes)
        Weight of each word for each class.

    Notes
    -----
    Rows of a table encoder carry the words of their texts; of other rows positive and negative parts of the columns are
    taken for counts. Weights are those of Rennie et al. (2003), normalized.

    References
    ----------
    Rennie, J., Shih, L., Teevan, J., Karger, D. (2003). Tackling the poor assumptions of naive Bayes text classifiers. ICML.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> ComplementBayes().fit(X, ["pet", "pet", "sea", "sea"]).predict([[2.0, 0.0]]).tolist()
    ['pet']
    """

    STATE = stored(weights_=Array("f8", "words", "k"))

    def __init__(self, smoothing: Positive = 1.0) -> None:
        self.smoothing = smoothing

    def _inputs(self, rows: np.ndarray, words: Any) -> Any:
        if words is not None and words.shape[1]:
            return words
        return np.hstack([np.maximum(rows, 0.0), np.maximum(-rows, 0.0)])

    def _learn(self, given: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        counts = np.asarray(given.T @ members)
        complement = counts.sum(axis=1, keepdims=True) - counts + self.smoothing
        logs = np.log(complement / complement.sum(axis=0))
        self.weights_ = logs / np.maximum(np.abs(logs).sum(axis=0), 1e-12) * -len(logs)
        self.intercept_ = np.where(members.sum(axis=0) > 0, 0.0, -1e9)

    def _margins(self, given: Any) -> np.ndarray:
        if given.shape[1] != len(self.weights_):
            raise DataError("ComplementBayes: rows must carry the words of their texts, as they did in training.")
        total = np.maximum(np.asarray(given.sum(axis=1)).ravel(), 1e-9)[:, None]
        return np.asarray(np.asarray(given @ self.weights_) / total + self.intercept_)
