"""Kernel PCA classifiers (Su, Carpuat and Wu 2004)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import Labels, labels_of
from handful.errors import DataError
from handful.kernels.distances import Heap, Rule, make_heap, nearest_columns, vote_all
from handful.neighbors.rows import Vote, favor_winners, stratified_folds
from handful.params import Count, Positive, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, Model, Names, Number, Plain, Text, check_member, stored
from handful.registry import method

KernelName = Literal["poly", "linear", "rbf", "cosine"]
Solver = Literal["auto", "dense", "nystrom"]

DENSE_ROWS = 4_000  # up to which "auto" solves exactly
# Components with a smaller part of the first eigenvalue are rounding noise.
THRESHOLD = 1e-10
_NOISE = 1e-13
_BLOCK_CELLS = 1 << 24

Block = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Projection:
    """The affine map from kernel values to principal components.

    Parameters
    ----------
    basis : ndarray of int64
        Row numbers of the training set whose kernel values are needed.
    coefficients : ndarray of shape (n_basis, n_components)
        One column per component.
    offset : ndarray of shape (n_components,)
        Projection of the mean.
    eigenvalues : ndarray of shape (n_components,)
        Of the centred Gram matrix, falling.
    solver : str
        Which way the eigenproblem was solved.
    """

    basis: np.ndarray
    coefficients: np.ndarray
    offset: np.ndarray
    eigenvalues: np.ndarray
    solver: str


def fit_projection(
    block: Block,
    rows: np.ndarray,
    n_components: int | None,
    solver: Solver,
    n_landmarks: int,
    random: np.random.RandomState,
) -> Projection:
    """Solve the eigenproblem of the centred Gram matrix of some rows.

    Parameters
    ----------
    block : callable
        Returns the kernel values between two sets of row numbers, as a new array.
    rows : ndarray of int64
        Rows that take part.
    n_components : int or None
        How many leading components; None keeps every eigenvalue above a 1e-10th of the first.
    solver : str
        ``"auto"`` decides by size.
    n_landmarks : int
        Rows that stand for all in the Nyström approximation.
    random : RandomState
        Draws landmarks.

    Returns
    -------
    Projection
        The map; it may have no component at all where every row is the same.
    """
    if solver == "nystrom" or (solver == "auto" and len(rows) > DENSE_ROWS):
        return _nystrom(block, rows, n_components, n_landmarks, random)
    gram = block(rows, rows)
    _check_finite(gram)
    size = float(np.abs(np.diagonal(gram)).sum())
    centerer = KernelCenterer().fit(gram)
    means, gram = centerer.K_fit_rows_, centerer.transform(gram, copy=False)
    # Divide and conquer is the fastest LAPACK driver when all eigenvectors are wanted.
    values, vectors = linalg.eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    values, vectors = _leading(values, vectors, n_components, size)
    coefficients = vectors / np.sqrt(values)  # lambda (alpha . alpha) = 1, section 2 of the paper
    return Projection(rows, coefficients, means @ coefficients, values, "dense")


def _check_finite(gram: np.ndarray) -> None:
    if not np.isfinite(gram).all():
        raise DataError(
            "kernel PCA: kernel values must be finite, got an overflow. Scale the rows or lower the degree."
        )


def _leading(
    values: np.ndarray, vectors: np.ndarray, n_components: int | None, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sort eigenpairs and drop those that are rounding noise compared with the first or with the uncentered matrix."""
    order = np.argsort(-values, kind="stable")
    values = values[order]
    first = values[0] if len(values) else 0.0
    keep = int(np.count_nonzero(values > THRESHOLD * first)) if first > _NOISE * size else 0
    keep = min(keep, n_components) if n_components is not None else keep
    vectors = vectors[:, order[:keep]]
    # An eigenvector is known up to its sign; the largest entry is made positive so that refits agree.
    largest = np.argmax(np.abs(vectors), axis=0) if keep else np.empty(0, dtype=np.int64)
    signs = np.sign(vectors[largest, np.arange(keep)])
    return values[:keep], vectors * signs


def _nystrom(
    block: Block, rows: np.ndarray, n_components: int | None, n_landmarks: int, random: np.random.RandomState
) -> Projection:
    """Run ordinary PCA over the features ``k(x, landmarks) @ root``, whose dot products approximate the kernel."""
    basis = np.sort(random.permutation(rows)[:n_landmarks])
    gram = block(basis, basis)
    _check_finite(gram)
    values, vectors = linalg.eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    keep = values > THRESHOLD * max(values[-1], 0.0)
    root = vectors[:, keep] / np.sqrt(values[keep])
    total = np.zeros(root.shape[1])
    scatter = np.zeros((root.shape[1], root.shape[1]))
    for part in _blocks(len(rows), len(basis)):
        features = block(rows[part], basis) @ root
        total += features.sum(axis=0)
        scatter += features.T @ features
    _check_finite(scatter)
    mean = total / len(rows)
    size = float(np.trace(scatter))
    scatter -= np.outer(mean, total)
    values, vectors = linalg.eigh(scatter, driver="evd", overwrite_a=True, check_finite=False)
    values, vectors = _leading(values, vectors, n_components, size)
    return Projection(basis, root @ vectors, mean @ vectors, values, "nystrom")


def _blocks(n_rows: int, width: int) -> list[slice]:
    """Cut rows into blocks that keep a matrix of that width at a moderate size."""
    return list(gen_batches(n_rows, max(1, _BLOCK_CELLS // max(width, 1)))) if n_rows else []


SpaceMetric = Literal["euclidean", "cosine"]

# Projections carry rounding errors; distances closer than this part of the squared radius are equal.
_SNAP = 1e-10


def neighbor_votes(
    projected: np.ndarray,
    stored: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    n_neighbors: int,
    vote: Vote,
    metric: SpaceMetric,
) -> tuple[np.ndarray, np.ndarray]:
    """Let the nearest stored rows vote.

    Parameters
    ----------
    projected, stored : ndarray
        Rows in the space of the components.
    codes : ndarray of int32
        Class of each stored row.
    n_classes, n_neighbors : int
        How many classes there are and how many rows vote.
    vote, metric : str
        See `KernelPCAClassifier`.

    Returns
    -------
    winners : ndarray of int32
        Class of each row.
    proba : ndarray of shape (n_rows, n_classes)
        Parts of the votes.

    Examples
    --------
    >>> stored, codes = np.array([[0.0], [1.0], [1.1]]), np.array([0, 1, 1], dtype=np.int32)
    >>> winners, proba = neighbor_votes(np.array([[0.9]]), stored, codes, 2, 3, "uniform", "euclidean")
    >>> winners.tolist(), proba.round(2).tolist()
    ([1], [[0.33, 0.67]])
    """
    if metric == "cosine":
        projected, stored = unit_rows(projected, stored), unit_rows(stored, stored)
    squares = row_norms(stored, squared=True)
    step = _SNAP * float(squares.max(initial=0.0))
    near = make_heap(len(projected), min(n_neighbors, len(stored)), n_classes, False)
    for rows in _blocks(len(projected), len(stored)):
        part = projected[rows]
        gaps = part @ stored.T
        if metric == "cosine":
            gaps = 1.0 - gaps
        else:
            gaps *= -2.0
            gaps += squares
            gaps += row_norms(part, squared=True)[:, None]
        if step > 0.0:
            np.rint(gaps / step, out=gaps)
            gaps *= step
        np.maximum(gaps, 0.0, out=gaps)
        nearest_columns(gaps if metric == "cosine" else np.sqrt(gaps), Heap(*(column[rows] for column in near)))
    winners, _, proba = vote_all(near, near.distance.shape[1], codes, n_classes, Rule.of(vote))
    return winners, favor_winners(proba, winners)


def unit_rows(projected: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Scale projected rows to length 1; a row that lies at the mean but for rounding becomes zero.

    Parameters
    ----------
    projected : ndarray
        Rows to scale.
    stored : ndarray
        Rows from which the size of the space is known.

    Returns
    -------
    ndarray
        The scaled rows.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 1e-15]]), np.array([[1.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    norms = row_norms(projected)
    norms[norms <= _SNAP * row_norms(stored).max(initial=0.0)] = np.inf
    return np.asarray(projected / norms[:, None])


_CV_NEIGHBORS = (1, 3, 5, 7, 9, 15, 25)
_CV_FOLDS = 5


@method("kernel-pca", paper="su2004", task="table", uses_unlabeled=True, cost="slow")
class KernelPCAClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest-neighbor classifier in the space of kernel principal components.

    Use it when combinations of features matter more than single ones, as with sparse indicators of a word's context.
    Unlabeled rows take part in the eigenproblem; neighbors are searched among labeled rows only.

    Parameters
    ----------
    n_neighbors : int or "cv", default=1
        Labeled rows that vote. ``"cv"`` chooses among 1, 3, 5, 7, 9, 15 and 25.
    kernel : {"poly", "linear", "rbf", "cosine"}, default="poly"
        ``"poly"`` is ``(gamma * x.y + coef0) ** degree``, ``"linear"`` its first degree, ``"rbf"``
        ``exp(-gamma * |x - y|**2)``, ``"cosine"`` the dot product of rows of length 1.
    degree : int, default=2
        Degree of the polynomial; 1 is linear PCA.
    n_components : int, "cv" or None, default=None
        Number of leading components. None keeps all whose eigenvalue is above a 1e-10th of the first; ``"cv"``
        chooses.
    use_unlabeled : bool, default=True
        Whether unlabeled rows take part in the eigenproblem. False is the supervised model.
    gamma : float or None, default=None
        Scale. None is 1 for ``"poly"`` and ``1 / (n_features * variance)`` for ``"rbf"``.
    coef0 : float, default=0.0
        Additive constant of the polynomial; the paper has none.
    vote : {"uniform", "distance", "gaussian", "rank", "dudani", "literal"}, default="uniform"
        How neighbors are weighted.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance in the projected space; ``"cosine"`` is one minus the cosine.
    solver : {"auto", "dense", "nystrom"}, default="auto"
        ``"dense"`` is exact; ``"nystrom"`` approximates all rows by `n_landmarks` of them. ``"auto"`` approximates
        above 4,000 rows.
    n_landmarks : int, default=2000
        Rows of the Nyström approximation.
    random_state : int, RandomState or None, default=None
        For landmarks and the folds of ``"cv"``.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred Gram matrix, falling.
    n_components_, n_neighbors_ : int
        As given, or as chosen.
    solver_ : str
        The solver that was used.
    basis_rows_ : ndarray
        Rows of the training set that the projection is spanned by.
    basis_ : ndarray or CSR matrix
        Those rows.
    coefficients_, offset_ : ndarray
        The projection is ``k(x, basis_) @ coefficients_ - offset_``.
    projected_ : ndarray of shape (n_labeled, n_components)
        The labeled rows in the new space, in row order; ``codes_`` are their classes.
    cv_scores_ : dict
        Accuracy of each ``(n_components, n_neighbors)`` that was tried; empty without ``"cv"``.

    Notes
    -----
    ===========  ===================  ==========================================
    symbol       here                 meaning
    ===========  ===================  ==========================================
    lambda-hat   ``eigenvalues_``     eigenvalues of the Gram matrix
    alpha-hat    ``coefficients_``    eigenvectors, lambda (alpha . alpha) = 1
    y(x)         `project`            projection of a row
    ===========  ===================  ==========================================

    The kernel is centred in training and evaluation. As every coefficient vector is orthogonal to the constant one, centring
    a new row comes down to subtracting ``offset_``.

    Deviations: the paper names neither the metric nor the number of neighbors, so both are parameters. Eigenvalues that
    are not positive are dropped. Distances that differ by rounding only are
    equal: the row that comes first wins, and of tied labels that of the nearest neighbor. ``"cv"`` compares in five
    stratified folds of the labeled rows, with the held-out rows left out of the eigenproblem; of equal scores the
    smaller number of components, then of neighbors, is taken.

    Cost: O(n_rows**3) time and O(n_rows**2) memory for the dense solver; O(n_rows * n_landmarks**2) time and
    O(n_landmarks**2) memory besides the rows for Nyström.

    References
    ----------
    Su, Carpuat, Wu: Semi-supervised training of a kernel PCA-based model for word sense disambiguation. COLING 2004.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1], [0.2, 0.9]])
    >>> model = KernelPCAClassifier().fit(X, ["a", None, "b", None, None])
    >>> model.predict(X).tolist(), model.solver_
    (['a', 'a', 'b', 'b', 'a'], 'dense')
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        gamma_=Number(float),
        cv_scores_=Plain(),
        n_neighbors_=Number(int, low=1),
        basis_rows_=Array("i8", "b", low=0),
        basis_=Array("f8", "b", "d", sparse=True),
        coefficients_=Array("f8", "b", "c?"),
        offset_=Array("f8", "c?"),
        eigenvalues_=Array("f8", "c?"),
        n_components_=Number(int, size="c?"),
        solver_=Text(),
        codes_=Array("i4", "n", below="k"),
        projected_=Array("f8", "n", "c?"),
    )
    DROPPED: ClassVar[dict[str, Any]] = {"input": "raw", "preset": None, "max_gram_rows": 20_000}

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 1,
        kernel: KernelName = "poly",
        degree: Count = 2,
        n_components: Count | Literal["cv"] | None = None,
        use_unlabeled: bool = True,
        *,
        gamma: Positive | None = None,
        coef0: float = 0.0,
        vote: Vote = "uniform",
        metric: SpaceMetric = "euclidean",
        solver: Solver = "auto",
        n_landmarks: Count = 2_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.degree = degree
        self.n_components = n_components
        self.use_unlabeled = use_unlabeled
        self.gamma = gamma
        self.coef0 = coef0
        self.vote = vote
        self.metric = metric
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Solve the eigenproblem and project the labeled rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows.

        Returns
        -------
        self
        """
        check_params(self)
        X, labels = check_rows(self, X, y)
        rows = np.arange(len(labels.codes)) if self.use_unlabeled else labels.labeled
        random = check_random_state(self.random_state)
        self.classes_ = labels.classes
        self.gamma_ = self._gamma(X)
        self.cv_scores_: dict[tuple[int, int], float] = {}
        n_components, self.n_neighbors_ = self._choose(X, labels.codes, rows, random)
        self._solve(X, rows, n_components, random)
        self.codes_ = labels.codes[labels.labeled]
        self.projected_ = self._project(X[labels.labeled])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        winners, _ = self._votes(X)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the part of the votes of each class, in the order of ``classes_``."""
        return self._votes(X)[1]

    def project(self, X: Any) -> np.ndarray:
        """Return the principal components of rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Projected rows.
        """
        check_is_fitted(self)
        return self._project(validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64))

    def similarity(self, X: Any) -> np.ndarray:
        """Return the cosine of each row to its most similar labeled row, clipped to between 0 and 1."""
        projected = unit_rows(self.project(X), self.projected_)
        stored = unit_rows(self.projected_, self.projected_).T
        parts = [(projected[rows] @ stored).max(axis=1) for rows in _blocks(len(projected), stored.shape[1])]
        return np.asarray(np.clip(np.concatenate(parts), 0.0, 1.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _gamma(self, X: Any) -> float:
        if self.gamma is not None:
            return float(self.gamma)
        if self.kernel != "rbf":
            return 1.0
        mean = X.mean()
        variance = float(row_norms(X, squared=True).sum() / (X.shape[0] * X.shape[1]) - mean**2)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _kernel(self, a: Any, b: Any) -> np.ndarray:
        """Return the kernel values between the rows of two dense or CSR matrices."""
        from sklearn.metrics.pairwise import pairwise_kernels  # imports scipy.stats

        settings = {"gamma": self.gamma_, "degree": int(self.degree), "coef0": float(self.coef0)}
        with np.errstate(over="ignore"):
            return np.asarray(pairwise_kernels(a, b, metric=self.kernel, filter_params=True, **settings))

    def _solve(self, X: Any, rows: np.ndarray, n_components: int | None, random: Any) -> None:
        def block(some: np.ndarray, others: np.ndarray) -> np.ndarray:
            return self._kernel(X[some], X[others])

        solution = fit_projection(block, rows, n_components, self.solver, self.n_landmarks, random)
        self.basis_rows_, self.basis_ = solution.basis, X[solution.basis]
        self.coefficients_, self.offset_ = solution.coefficients, solution.offset
        self.eigenvalues_, self.n_components_ = solution.eigenvalues, len(solution.eigenvalues)
        self.solver_ = solution.solver

    def _project(self, X: Any) -> np.ndarray:
        projected = np.empty((X.shape[0], self.n_components_))
        for rows in _blocks(X.shape[0], len(self.basis_rows_)):
            projected[rows] = self._kernel(X[rows], self.basis_) @ self.coefficients_
        projected -= self.offset_
        return projected

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        return neighbor_votes(
            self.project(X), self.projected_, self.codes_, len(self.classes_), self.n_neighbors_, self.vote, self.metric
        )

    def _choose(
        self, X: Any, codes: np.ndarray, rows: np.ndarray, random: np.random.RandomState
    ) -> tuple[int | None, int]:
        """Settle the numbers of components and neighbors, by cross-validation where that is asked for."""
        if self.n_components != "cv" and self.n_neighbors != "cv":
            return self.n_components, int(self.n_neighbors)
        labeled = np.flatnonzero(codes >= 0)
        n_folds = min(_CV_FOLDS, len(labeled))
        if n_folds < 2:
            raise DataError("KernelPCAClassifier: 'cv' needs at least 2 labeled rows, got 1. Give numbers instead.")
        folds = stratified_folds(codes[labeled], n_folds, random)
        most = None if self.n_components == "cv" else self.n_components
        sizes = [most if most is not None else len(codes)]
        if self.n_components == "cv":
            # One grid for all folds, up to the largest number that any fold can have.
            sizes = [2**i for i in range(len(codes).bit_length()) if 2**i < len(codes)] + sizes
        neighbors = _CV_NEIGHBORS if self.n_neighbors == "cv" else (int(self.n_neighbors),)
        n_correct = dict.fromkeys(product(sizes, neighbors), 0)
        for fold in range(n_folds):
            test, train = labeled[folds == fold], labeled[folds != fold]
            self._solve(X, np.setdiff1d(rows, test), most, random)
            stored, held_out = self._project(X[train]), self._project(X[test])
            for size, k in n_correct:
                winners, _ = neighbor_votes(
                    held_out[:, :size], stored[:, :size], codes[train], len(self.classes_), k, self.vote, self.metric
                )
                n_correct[size, k] += int(np.count_nonzero(winners == codes[test]))
        best = max(n_correct, key=lambda pair: (n_correct[pair], -pair[0], -pair[1]))
        self.cv_scores_ = {pair: hits / len(labeled) for pair, hits in sorted(n_correct.items())}
        return best


def check_rows(model: Any, X: Any, y: Any) -> tuple[Any, Labels]:
    """Return checked rows, dense or CSR, and encoded labels of a kernel PCA model."""
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64)
    return X, labels_of(y, X.shape[0], model_name=type(model).__name__)


_SOURCES = np.array(["supervised", "semi-supervised"])


@method(
    "composite-kernel-pca",
    paper="su2004",
    task="table",
    uses_unlabeled=True,
    supervised_control="kernel-pca",
    cost="slow",
)
class CompositeKernelPCA(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Supervised kernel PCA that leaves rows to its semi-supervised form where a frequent prediction is uncertain.

    Use it when unlabeled rows are plentiful but would blur what the labeled ones show. A row is predicted by the
    supervised model if it resembles a labeled row enough or if the prediction is not the most frequent class, and by the
    semi-supervised model otherwise.

    Parameters
    ----------
    n_neighbors, kernel, degree, n_components, use_unlabeled
        As for `KernelPCAClassifier`; with ``use_unlabeled=False`` both branches are the same.
    margin : float, default=0.05
        The small constant of the threshold.
    gamma, coef0, vote, metric, solver, n_landmarks, random_state
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
    DROPPED: ClassVar[dict[str, Any]] = {"input": "raw", "max_gram_rows": 20_000}

    def __init__(
        self,
        n_neighbors: Count | Literal["cv"] = 1,
        kernel: KernelName = "poly",
        degree: Count = 2,
        n_components: Count | Literal["cv"] | None = None,
        use_unlabeled: bool = True,
        *,
        margin: float = 0.05,
        gamma: Positive | None = None,
        coef0: float = 0.0,
        vote: Vote = "uniform",
        metric: SpaceMetric = "euclidean",
        solver: Solver = "auto",
        n_landmarks: Count = 2_000,
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
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both models and set the threshold.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Rows.
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
        full = supervised
        if self.use_unlabeled and len(labels.unlabeled):
            full = KernelPCAClassifier(**settings).fit(X, codes)
        self.classes_ = labels.classes
        self.supervised_ = supervised
        self.semi_supervised_ = full
        self.eigenvalues_ = full.eigenvalues_
        counts = np.bincount(supervised.codes_, minlength=len(self.classes_))
        top = int(counts.argmax())
        self.most_frequent_ = self.classes_[top]
        # t = 1 - P(most frequent sense) + a small constant
        self.threshold_ = float(1.0 - counts[top] / counts.sum() + self.margin)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        second, first, X = self._sources(X)
        codes = first.copy()
        if second.any():
            codes[second] = self.semi_supervised_.predict(X[second])
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the part of the votes of each class in the model that predicts each row."""
        second, _, X = self._sources(X)
        proba = self.supervised_.predict_proba(X)
        if second.any():
            proba[second] = self.semi_supervised_.predict_proba(X[second])
        return proba

    def predict_source(self, X: Any) -> np.ndarray:
        """Return which model predicts each row: ``"supervised"`` or ``"semi-supervised"``."""
        return np.asarray(_SOURCES[self._sources(X)[0].astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _sources(self, X: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        first = self.supervised_.predict(X)
        unlike = self.supervised_.similarity(X) < self.threshold_
        return unlike & (self.classes_[first] == self.most_frequent_), first, X

    def _check_state(self) -> None:
        for model in (self.supervised_, self.semi_supervised_):
            check_member("CompositeKernelPCA", model, self.n_features_in_, len(self.classes_))
        if np.ndim(self.most_frequent_) or self.most_frequent_ not in self.classes_.tolist():
            raise DataError("CompositeKernelPCA: most_frequent_ must be one of the classes.")
