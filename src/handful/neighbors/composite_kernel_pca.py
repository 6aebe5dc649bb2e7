"""Two kernel PCA models in one: the supervised answer, unless it is a doubtful vote for the most frequent class."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.core.errors import DataError
from handful.core.params import Count, Positive, check_params
from handful.core.registry import method
from handful.core.schema import Array, Model, Names, Number, Plain, check_member, stored
from handful.core.store import Storable
from handful.neighbors.kernel_functions import Input, KernelName
from handful.neighbors.kernel_map import Solver
from handful.neighbors.kernel_pca import KernelPCAClassifier, check_rows
from handful.neighbors.projected_votes import Metric, stratified_folds
from handful.neighbors.votes import Vote

# Share of the test instances that the paper says took the second branch.
PRINTED_FALLBACK = 0.06
_FOLDS = 5
_SOURCES = np.array(["supervised", "semi-supervised"])


@method(
    "composite-kernel-pca",
    paper="su2004",
    takes="table",
    learns_from=("labels", "unlabeled"),
    twin="kernel-pca",
    cost="slow",
)
class CompositeKernelPCA(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Supervised kernel PCA that asks its semi-supervised twin when it doubts a frequent answer.

    Use it when unlabeled rows are plentiful but would blur what the labeled ones already tell. A row is answered by the
    supervised model if it resembles a labeled row enough or if the answer is not the most frequent class, and by the
    semi-supervised model otherwise.

    Parameters
    ----------
    n_neighbors, kernel, degree, n_components, use_unlabeled
        As for `KernelPCAClassifier`; with ``use_unlabeled=False`` both branches are the same.
    margin : float or "calibrate", default=0.05
        The small constant of the threshold. ``"calibrate"`` sets the threshold so that 6 % of the labeled rows, the
        printed share, would reach the second branch if each were new.
    gamma, coef0, vote, metric, input, solver, n_landmarks, max_gram_rows, random_state
        As for `KernelPCAClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    most_frequent_ : label
        The most frequent class of the labeled rows; of equally frequent ones the first.
    threshold_ : float
        Similarity from which on the supervised model is trusted.
    eigenvalues_ : ndarray
        Of the semi-supervised model.
    supervised_, semi_supervised_ : KernelPCAClassifier
        The two models.

    Notes
    -----
    ======  ===================  ====================================================
    symbol  here                 meaning
    ======  ===================  ====================================================
    s_mf    ``most_frequent_``   most frequent sense in training
    t       ``threshold_``       1 - P(s_mf) + margin
    c       ``similarity(X)``    similarity to the most similar labeled row
    ======  ===================  ====================================================

    Deviations: the paper does not say what similarity is; here it is the cosine in the supervised space, clipped to
    between 0 and 1 so that it can be compared with the threshold. Its margin is unpublished.

    Cost: that of both models.

    References
    ----------
    Su, Carpuat, Wu: Semi-supervised training of a kernel PCA-based model for word sense disambiguation. COLING 2004.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1], [0.2, 0.9]])
    >>> model = CompositeKernelPCA().fit(X, ["a", None, "b", None, None])
    >>> model.predict(X).tolist(), model.threshold_
    (['a', 'a', 'b', 'b', 'a'], 0.55)
    >>> model.predict_source(X[:1]).tolist()
    ['supervised']
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        supervised_=Model("KernelPCAClassifier"),
        semi_supervised_=Model("KernelPCAClassifier"),
        eigenvalues_=Array("f8", "_"),
        most_frequent_=Plain(),
        threshold_=Number(float),
    )

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 1,
        kernel: KernelName = "poly",
        degree: Count = 2,
        n_components: Count | Literal["cv"] | None = None,
        use_unlabeled: bool = True,
        *,
        margin: float | Literal["calibrate"] = 0.05,
        gamma: Positive | None = None,
        coef0: float = 0.0,
        vote: Vote = "uniform",
        metric: Metric = "euclidean",
        input: Input = "raw",
        solver: Solver = "auto",
        n_landmarks: Count = 2_000,
        max_gram_rows: Count = 20_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.degree = degree
        self.n_components = n_components
        self.use_unlabeled = use_unlabeled
        self.margin = margin
        self.gamma = gamma
        self.coef0 = coef0
        self.vote = vote
        self.metric = metric
        self.input = input
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.max_gram_rows = max_gram_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both models and set the threshold.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Rows; for a precomputed kernel the square matrix of kernel values.
        y : array-like of shape (n_rows,)
            Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows.

        Returns
        -------
        self
        """
        check_params(self)
        X, labels = check_rows(self, X, y)
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "margin"}
        codes = labels.codes.astype(np.int64)  # scikit-learn's -1 is the mark of unlabeled rows among codes
        supervised = KernelPCAClassifier(**{**settings, "use_unlabeled": False}).fit(X, codes)
        twin = supervised
        if self.use_unlabeled and len(labels.unlabeled):
            twin = KernelPCAClassifier(**settings).fit(X, codes)
        self.classes_ = labels.classes
        self.supervised_ = supervised
        self.semi_supervised_ = twin
        self.eigenvalues_ = twin.eigenvalues_
        counts = np.bincount(supervised.codes_, minlength=len(self.classes_))
        top = int(counts.argmax())
        self.most_frequent_ = self.classes_[top]
        if self.margin == "calibrate":
            known = labels.labeled
            rows = X[known][:, known] if self.kernel == "precomputed" else X[known]
            self.threshold_ = self._calibrated(rows, codes[known], {**settings, "use_unlabeled": False}, top)
        else:
            # t = 1 - P(most frequent sense) + a small constant
            self.threshold_ = float(1.0 - counts[top] / counts.sum() + self.margin)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        second, first, X = self._sources(X)
        answers = first.copy()
        if second.any():
            answers[second] = self.semi_supervised_.predict(X[second])
        return np.asarray(self.classes_[answers])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes of each class in the model that answers each row."""
        second, _, X = self._sources(X)
        shares = self.supervised_.predict_proba(X)
        if second.any():
            shares[second] = self.semi_supervised_.predict_proba(X[second])
        return shares

    def predict_source(self, X: Any) -> np.ndarray:
        """Tell which branch answers each row: ``"supervised"`` or ``"semi-supervised"``."""
        return np.asarray(_SOURCES[self._sources(X)[0].astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _sources(self, X: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        first = self.supervised_.predict(X)
        doubtful = self.supervised_.similarity(X) < self.threshold_
        return doubtful & (self.classes_[first] == self.most_frequent_), first, X

    def _calibrated(self, X: Any, codes: np.ndarray, settings: dict[str, Any], top: int) -> float:
        """Return the threshold below which the printed share of labeled rows would fall, each seen as a new row."""
        n_folds = min(_FOLDS, len(codes))
        if n_folds < 2:
            return 1.0
        fold = stratified_folds(codes, n_folds, check_random_state(self.random_state))
        doubts = []
        for f in range(n_folds):
            train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            pairwise = self.kernel == "precomputed"
            model = KernelPCAClassifier(**settings).fit(X[train][:, train] if pairwise else X[train], codes[train])
            asked = X[test][:, train] if pairwise else X[test]
            doubts.append(model.similarity(asked)[model.predict(asked) == top])
        similarities = np.sort(np.concatenate(doubts))
        wanted = round(PRINTED_FALLBACK * len(codes))
        return float(similarities[wanted]) if wanted < len(similarities) else 1.0

    def _check_state(self) -> None:
        for model in (self.supervised_, self.semi_supervised_):
            check_member("CompositeKernelPCA", model, self.n_features_in_, len(self.classes_))
        if np.ndim(self.most_frequent_) or self.most_frequent_ not in self.classes_.tolist():
            raise DataError("CompositeKernelPCA: most_frequent_ must be one of the classes.")
