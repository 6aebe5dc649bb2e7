"""Small classifiers of rows and texts: support vector machines, nearest means, naive Bayes, kernel ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.preprocessing import normalize

from handful.data.labels import Labels
from handful.errors import DataError
from handful.models.adapters import RowClassifier, dense_rows
from handful.params import Count, Positive, Share, check_params
from handful.persistence.schema import Array, Number, stored
from handful.registry import method

_FOLDS = 3
_SCALES = 2.0 ** np.arange(-4, 6)
_USUAL_SCALE = 2.0


class MarginClassifier(RowClassifier):
    """Base of classifiers whose probabilities are the softmax of margins times a cross-fitted scale.

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
        inputs = self._inputs(rows, None if words is None else words[labels.labeled])
        self.scale_ = self._choose_scale(inputs, codes)
        self._learn(inputs, codes)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        inputs = self._inputs(dense_rows(self._rows(X)), getattr(X, "words", None))
        return np.asarray(softmax(self.scale_ * self._margins(inputs), axis=1))

    def _inputs(self, rows: np.ndarray, words: Any) -> Any:
        return rows

    def _features(self, inputs: Any) -> Any:
        return inputs

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        raise NotImplementedError

    def _margins(self, inputs: Any) -> np.ndarray:
        return np.asarray(self._features(inputs) @ self.weights_ + self.intercept_)

    def _choose_scale(self, inputs: Any, codes: np.ndarray) -> float:
        """Return the scale under which held-out labels are most likely."""
        counts = np.bincount(codes, minlength=len(self.classes_))
        if len(self.classes_) < 2 or np.median(counts) < _FOLDS:
            return _USUAL_SCALE
        fold = np.empty(len(codes), dtype=np.int64)
        fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % _FOLDS
        loss = np.zeros(len(_SCALES))
        for part in range(_FOLDS):
            train, test = fold != part, fold == part
            self._learn(inputs[train], codes[train])
            margins = self._margins(inputs[test])
            at = np.arange(int(test.sum()))
            loss -= [log_softmax(scale * margins, axis=1)[at, codes[test]].sum() for scale in _SCALES]
        return float(_SCALES[int(loss.argmin())])


def _one_against_rest(estimator: Any, inputs: Any, codes: np.ndarray) -> Iterator[tuple[int, Any]]:
    """Yield each class that some but not all rows have, and the estimator fitted to tell it from the others."""
    for code in np.unique(codes).tolist():
        if (codes == code).sum() < len(codes):
            yield code, clone(estimator).fit(inputs, codes == code)


@method("svm-rbf", task="table", cost="instant", baseline=True, views=("lsa", "vectors"))
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

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        from sklearn.svm import SVC

        n_classes = len(self.classes_)
        spread = float(inputs.var()) * inputs.shape[1]
        self.gamma_ = 1.0 / spread if spread > 0 else 1.0
        self.rows_ = inputs
        self.weights_, self.intercept_ = np.zeros((len(inputs), n_classes)), np.full(n_classes, -1.0)

        svm = SVC(C=self.C, gamma=self.gamma_, class_weight="balanced")
        for code, fitted in _one_against_rest(svm, inputs, codes):
            self.weights_[fitted.support_, code] = fitted.dual_coef_[0]
            self.intercept_[code] = fitted.intercept_[0]

    def _features(self, inputs: Any) -> Any:
        from sklearn.metrics.pairwise import rbf_kernel

        return rbf_kernel(inputs, self.rows_, gamma=self.gamma_)


@method("linear-svm", task="table", cost="instant", baseline=True)
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

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        from sklearn.svm import LinearSVC

        n_classes = len(self.classes_)
        self.weights_, self.intercept_ = np.zeros((inputs.shape[1], n_classes)), np.full(n_classes, -1.0)

        svm = LinearSVC(C=self.C, class_weight="balanced", max_iter=20_000, random_state=0)
        for code, fitted in _one_against_rest(svm, inputs, codes):
            self.weights_[:, code] = fitted.coef_[0]
            self.intercept_[code] = fitted.intercept_[0]


@method("nearest-centroid", task="table", cost="instant", baseline=True)
class NearestMean(MarginClassifier):
    """Predict the class with the nearest mean.

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

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        sizes = members.sum(axis=0)
        means = (inputs.T @ members) / np.maximum(sizes, 1)
        spread = float(((inputs - means.T[codes]) ** 2).sum(axis=1).mean()) or 1.0
        self.weights_ = means / spread
        self.intercept_ = np.where(sizes > 0, -0.5 * (means**2).sum(axis=0) / spread, -1e9)


@method("complement-nb", task="table", cost="instant", baseline=True, views=("words",))
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
        return _counts(rows, words)

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        counts = np.asarray(inputs.T @ members)
        complement = counts.sum(axis=1, keepdims=True) - counts + self.smoothing
        logs = np.log(complement / complement.sum(axis=0))
        self.weights_ = logs / np.maximum(np.abs(logs).sum(axis=0), 1e-12) * -len(logs)
        self.intercept_ = np.where(members.sum(axis=0) > 0, 0.0, -1e9)

    def _margins(self, inputs: Any) -> np.ndarray:
        if inputs.shape[1] != len(self.weights_):
            raise DataError("ComplementBayes: rows must carry the words of their texts, as they did in training.")
        total = np.maximum(np.asarray(inputs.sum(axis=1)).ravel(), 1e-9)[:, None]
        return np.asarray(np.asarray(inputs @ self.weights_) / total + self.intercept_)


@method("naive-bayes-em", task="table", uses_unlabeled=True, cost="quick", views=("lsa",))
class NaiveBayesEM(RowClassifier):
    """Multinomial naive Bayes trained by EM on labeled and unlabeled texts.

    Parameters
    ----------
    unlabeled_weight : float, default=0.5
        Weight of the words of an unlabeled text.
    smoothing : float, default=0.03
        Added to every count.
    n_iter : int, default=10
        EM steps.

    Attributes
    ----------
    log_proba_ : ndarray of shape (n_words, n_classes)
        Log-probability of each word in each class.
    log_priors_ : ndarray of shape (n_classes,)
        Log-probability of each class.

    Notes
    -----
    EM starts from logistic regression on the LSA components, character n-grams and embeddings that rows of a table encoder
    carry. A text counts as at most 20 words, so that long ones are not too confident. Rows of a table encoder carry the words of
    their texts; of other rows positive and negative parts of the columns are taken for counts.

    References
    ----------
    Nigam, K., McCallum, A., Thrun, S., Mitchell, T. (2000). Text classification from labeled and unlabeled documents using
    EM. Machine Learning 39.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    >>> NaiveBayesEM().fit(X, ["pet", "sea", None, None]).predict(X).tolist()
    ['pet', 'sea', 'pet', 'pet']
    """

    STATE = stored(log_proba_=Array("f4", "words", "k"), log_priors_=Array("f8", "k"))

    def __init__(self, unlabeled_weight: Share = 0.5, smoothing: Positive = 0.03, n_iter: Count = 10) -> None:
        self.unlabeled_weight = unlabeled_weight
        self.smoothing = smoothing
        self.n_iter = n_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate word probabilities from labeled texts, then from all of them by EM.

        Parameters
        ----------
        X : array-like or `handful.preprocessing.table_encoder.Rows` of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        counts = _counts(self._rows(X, reset=True), getattr(X, "words", None))
        labels = self._labels(y, counts.shape[0])
        known, unknown = counts[labels.labeled], counts[labels.unlabeled]
        targets = np.eye(len(self.classes_))[labels.codes[labels.labeled]]
        proba = _linear_proba(X, labels)
        weight = 0.0 if proba is None else self.unlabeled_weight
        proba = np.zeros((unknown.shape[0], len(self.classes_))) if proba is None else proba
        for _ in range(self.n_iter + 1):
            totals = known.T @ targets + weight * (unknown.T @ proba) + self.smoothing
            self.log_proba_ = np.log(totals / totals.sum(axis=0)).astype(np.float32)
            sizes = targets.sum(axis=0) + 1 + weight * proba.sum(axis=0)
            self.log_priors_ = np.log(sizes / sizes.sum())
            weight, proba = self.unlabeled_weight, self._posterior(unknown)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        counts = _counts(self._rows(X), getattr(X, "words", None))
        if counts.shape[1] != len(self.log_proba_):
            raise DataError("NaiveBayesEM: rows must carry the words of their texts, as they did in training.")
        return self._posterior(counts)

    def _posterior(self, counts: Any) -> np.ndarray:
        length = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
        logs = np.asarray(counts @ self.log_proba_.astype(np.float64)) * np.minimum(1.0, 20 / np.maximum(length, 1.0))
        return np.asarray(softmax(logs + self.log_priors_, axis=1))


def _counts(rows: Any, words: Any) -> Any:
    """Return the counts of words that rows carry; of other rows the positive and negative parts of the columns."""
    if words is not None and words.shape[1]:
        return sparse.csr_matrix(words)
    rows = dense_rows(rows)
    return np.hstack([np.maximum(rows, 0.0), np.maximum(-rows, 0.0)])


def _linear_proba(X: Any, labels: Labels) -> np.ndarray | None:
    """Return class probabilities of unlabeled texts by logistic regression on each view of the texts; None without views."""
    from sklearn.linear_model import LogisticRegression

    spans = getattr(X, "spans", {})
    if not spans or len(labels.classes) < 2 or not len(labels.unlabeled):
        return None
    scores = np.zeros((len(labels.unlabeled), len(labels.classes)))
    for start, stop in spans.values():
        rows = normalize(np.asarray(X)[:, start:stop])
        model = LogisticRegression(C=10.0, max_iter=1000).fit(rows[labels.labeled], labels.codes[labels.labeled])
        scores += model.predict_log_proba(rows[labels.unlabeled])
    return np.asarray(softmax(scores, axis=1))


@method("kernel-ridge", task="table", cost="instant", baseline=True, views=("lsa", "vectors", "words"))
class KernelRidgeClassifier(RowClassifier):
    """Fit indicators of the classes by least squares on a Gaussian kernel between labeled rows.

    Parameters
    ----------
    ridge : float, default=0.1
        Penalty.
    scale : float, default=4.0
        Probabilities are the softmax of the fitted indicators times this.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    rows_ : ndarray of shape (n_labeled, n_columns)
        Labeled rows.
    weights_ : ndarray of shape (n_labeled, n_classes)
        Weight of each.
    gamma_ : float
        One by twice the total variance of all rows, unlabeled ones as well.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KernelRidgeClassifier().fit(X, ["low", None, None, "high"]).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(gamma_=Number(float, low=0), rows_=Array("f8", "n", "d"), weights_=Array("f8", "n", "k"))

    def __init__(self, ridge: Positive = 0.1, scale: Positive = 4.0) -> None:
        self.ridge = ridge
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        """Solve for the weights of the labeled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row, of which only the spread is used.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        spread = float(rows.var(axis=0).sum())
        self.gamma_ = 1.0 / (2.0 * spread) if spread > 0 else 1.0
        self.rows_ = rows[labels.labeled]
        targets = np.eye(len(self.classes_))[labels.codes[labels.labeled]] - 1 / len(self.classes_)
        kernel = self._kernel(self.rows_) + self.ridge * np.eye(len(self.rows_))
        self.weights_ = np.linalg.solve(kernel, targets)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        rows = dense_rows(self._rows(X))
        return np.asarray(softmax(self.scale * self._kernel(rows) @ self.weights_, axis=1))

    def _kernel(self, rows: np.ndarray) -> np.ndarray:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(rows, self.rows_, gamma=self.gamma_))
