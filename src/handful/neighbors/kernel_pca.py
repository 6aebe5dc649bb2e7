"""Nearest neighbors among the labeled rows in a kernel PCA space that all rows, labeled or not, have shaped."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.core.errors import DataError, ParameterError
from handful.core.labels import Labels
from handful.core.params import Count, Positive, check_params
from handful.core.registry import method
from handful.core.schema import Array, Maybe, Names, Number, Plain, Text, stored
from handful.core.store import Storable
from handful.neighbors.kernel_functions import Input, Kernel, KernelName, prepare_rows, squared_norms
from handful.neighbors.kernel_map import Projection, Solver, blocks, fit_projection
from handful.neighbors.projected_votes import Metric, directions, neighbor_votes, stratified_folds
from handful.neighbors.stored import labels_of
from handful.neighbors.votes import Vote

_CV_NEIGHBORS = (1, 3, 5, 7, 9, 15, 25)
_CV_FOLDS = 5


@method("kernel-pca", paper="su2004", takes="table", learns_from=("labels", "unlabeled"), cost="slow")
class KernelPCAClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest-neighbor classifier in the space of kernel principal components.

    Use it when combinations of features matter more than single ones, as with sparse indicators of a word's context.
    Unlabeled rows take part in the eigenproblem; neighbors are searched among labeled rows only.

    Parameters
    ----------
    n_neighbors : int or "cv", default=1
        Labeled rows that vote. ``"cv"`` chooses among 1, 3, 5, 7, 9, 15 and 25.
    kernel : {"poly", "linear", "rbf", "cosine", "precomputed"}, default="poly"
        ``"poly"`` is ``(gamma * x.y + coef0) ** degree``. With ``"precomputed"``, `fit` takes the square matrix of
        kernel values, and `predict` a row of values against all training rows for each new row.
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
    vote : {"uniform", "distance", "gaussian", "rank", "dudani", "literal", "exponential"}, default="uniform"
        How neighbors are weighted.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance in the projected space; ``"cosine"`` is one minus the cosine.
    input : {"raw", "unit", "bipolar"}, default="raw"
        What the kernel sees: the rows as they are, at length 1, or 0/1 recoded to -1/+1 over the square root of the
        number of features.
    solver : {"auto", "dense", "arpack", "randomized", "nystrom"}, default="auto"
        ``"auto"`` solves up to 4,000 rows densely and, up to `max_gram_rows`, finds the leading components (500 unless
        a number is asked for) in a random subspace; beyond that `n_landmarks` rows stand for all (Nyström).
    n_landmarks : int, default=2000
        Rows of the Nyström approximation.
    max_gram_rows : int, default=20000
        Largest Gram matrix that ``"auto"`` computes.
    preset : {"paper_toy"} or None, default=None
        ``"paper_toy"`` recomputes the printed tables of the toy example; see Notes.
    random_state : int, RandomState or None, default=None
        For landmarks, random subspaces and the folds of ``"cv"``.

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
        Those rows as the kernel sees them; None for a precomputed kernel.
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
    are not positive (of a precomputed kernel that is no kernel) are dropped. Distances that differ by rounding only are
    equal: the row that comes first wins, and of tied labels that of the nearest neighbor. ``"cv"`` compares in five
    stratified folds of the labeled rows, with the held-out rows left out of the eigenproblem; of equal scores the
    smaller number of components, then of neighbors, is taken.

    ``preset="paper_toy"`` is what reproduces the printed numbers, not what the paper's text says: input ``"bipolar"``,
    coefficients ``sqrt(lambda) u`` rounded to four significant digits, and an uncentred kernel in evaluation.

    Cost: O(n_rows**3) time and O(n_rows**2) memory for the dense solver; O(n_rows * n_landmarks**2) time and
    O(n_landmarks**2) memory beside the rows for Nyström.

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
        basis_=Maybe(Array("f8", "b", "d", sparse=True)),
        coefficients_=Array("f8", "b", "c?"),
        offset_=Array("f8", "c?"),
        eigenvalues_=Array("f8", "c?"),
        n_components_=Number(int, size="c?"),
        solver_=Text(),
        codes_=Array("i4", "n", below="k"),
        projected_=Array("f8", "n", "c?"),
    )

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
        metric: Metric = "euclidean",
        input: Input = "raw",
        solver: Solver = "auto",
        n_landmarks: Count = 2_000,
        max_gram_rows: Count = 20_000,
        preset: Literal["paper_toy"] | None = None,
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
        self.input = input
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.max_gram_rows = max_gram_rows
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Solve the eigenproblem and project the labeled rows.

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
        rows = np.arange(len(labels.codes)) if self.use_unlabeled else labels.labeled
        random = check_random_state(self.random_state)
        self.classes_ = labels.classes
        self.gamma_ = self._gamma(X)
        prepared = X if self.kernel == "precomputed" else prepare_rows(X, self._input())
        self.cv_scores_: dict[tuple[int, int], float] = {}
        n_components, self.n_neighbors_ = self._choose(prepared, labels.codes, rows, random)
        projection = self._solve(prepared, rows, n_components, random)
        if self.preset == "paper_toy":
            projection = _as_in_the_toy_tables(projection)
        self._keep(projection, prepared)
        self.codes_ = labels.codes[labels.labeled]
        self.projected_ = self._project(prepared[labels.labeled])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        winners, _ = self._votes(X)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes of each class, in the order of ``classes_``."""
        return self._votes(X)[1]

    def project(self, X: Any) -> np.ndarray:
        """Return the principal components of rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Rows, or their kernel values against all training rows.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Projected rows.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return self._project(X if self.kernel == "precomputed" else prepare_rows(X, self._input()))

    def similarity(self, X: Any) -> np.ndarray:
        """Return the cosine of each row to its most similar labeled row, clipped to between 0 and 1."""
        projected = directions(self.project(X), self.projected_)
        stored = directions(self.projected_, self.projected_).T
        parts = [(projected[a:b] @ stored).max(axis=1) for a, b in blocks(len(projected), stored.shape[1])]
        return np.asarray(np.clip(np.concatenate(parts), 0.0, 1.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _input(self) -> Input:
        return "bipolar" if self.preset == "paper_toy" else self.input

    def _gamma(self, X: Any) -> float:
        if self.gamma is not None:
            return float(self.gamma)
        if self.kernel != "rbf":
            return 1.0
        mean = X.mean()
        variance = float(squared_norms(X).sum() / (X.shape[0] * X.shape[1]) - mean**2)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, int(self.degree), float(self.gamma_), float(self.coef0))

    def _solve(self, prepared: Any, rows: np.ndarray, n_components: int | None, random: Any) -> Projection:
        kernel = self._kernel()

        def block(some: np.ndarray, others: np.ndarray) -> np.ndarray:
            if self.kernel != "precomputed":
                return kernel(prepared[some], prepared[others])
            picked = prepared[some][:, others]
            return np.asarray(picked.toarray() if sparse.issparse(picked) else picked, dtype=np.float64)

        return fit_projection(block, rows, n_components, self.solver, self.n_landmarks, self.max_gram_rows, random)

    def _keep(self, projection: Projection, prepared: Any) -> None:
        self.basis_rows_ = projection.basis
        self.basis_ = None if self.kernel == "precomputed" else prepared[projection.basis]
        self.coefficients_ = projection.coefficients
        self.offset_ = projection.offset
        self.eigenvalues_ = projection.eigenvalues
        self.n_components_ = len(projection.eigenvalues)
        self.solver_ = projection.solver

    def _project(self, prepared: Any) -> np.ndarray:
        projected = np.empty((prepared.shape[0], self.n_components_))
        kernel = self._kernel()
        for start, stop in blocks(prepared.shape[0], len(self.basis_rows_)):
            part = prepared[start:stop]
            values = part[:, self.basis_rows_] if self.basis_ is None else kernel(part, self.basis_)
            projected[start:stop] = values @ self.coefficients_
        projected -= self.offset_
        return projected

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        return neighbor_votes(
            self.project(X), self.projected_, self.codes_, len(self.classes_), self.n_neighbors_, self.vote, self.metric
        )

    def _choose(
        self, prepared: Any, codes: np.ndarray, rows: np.ndarray, random: np.random.RandomState
    ) -> tuple[int | None, int]:
        """Settle the numbers of components and neighbors, by cross-validation where that is asked for."""
        if self.n_components != "cv" and self.n_neighbors != "cv":
            return self.n_components, int(self.n_neighbors)
        labeled = np.flatnonzero(codes >= 0)
        n_folds = min(_CV_FOLDS, len(labeled))
        if n_folds < 2:
            raise DataError("KernelPCAClassifier: 'cv' needs at least 2 labeled rows, got 1. Give numbers instead.")
        fold = stratified_folds(codes[labeled], n_folds, random)
        right: dict[tuple[int, int], int] = {}
        for f in range(n_folds):
            test, train = labeled[fold == f], labeled[fold != f]
            self._count_right(prepared, codes, np.setdiff1d(rows, test), train, test, right, random)
        best = max(right, key=lambda pair: (right[pair], -pair[0], -pair[1]))
        self.cv_scores_ = {pair: hits / len(labeled) for pair, hits in sorted(right.items())}
        return best

    def _count_right(
        self,
        prepared: Any,
        codes: np.ndarray,
        rows: np.ndarray,
        train: np.ndarray,
        test: np.ndarray,
        right: dict[tuple[int, int], int],
        random: np.random.RandomState,
    ) -> None:
        most = None if self.n_components == "cv" else self.n_components
        self._keep(self._solve(prepared, rows, most, random), prepared)
        stored, asked = self._project(prepared[train]), self._project(prepared[test])
        if self.n_components == "cv":
            # One grid for all folds, up to the largest number that any fold can have.
            sizes = [2**i for i in range(len(codes).bit_length()) if 2**i < len(codes)] + [len(codes)]
        else:
            sizes = [self.n_components if self.n_components is not None else len(codes)]
        neighbors = _CV_NEIGHBORS if self.n_neighbors == "cv" else (int(self.n_neighbors),)
        for size in sizes:
            for k in neighbors:
                votes, _ = neighbor_votes(
                    asked[:, :size], stored[:, :size], codes[train], len(self.classes_), k, self.vote, self.metric
                )
                right[size, k] = right.get((size, k), 0) + int(np.count_nonzero(votes == codes[test]))

    def _check_state(self) -> None:
        if (self.basis_ is None) != (self.kernel == "precomputed"):
            raise DataError(
                "KernelPCAClassifier: there must be rows to compare with, unless the kernel is precomputed."
            )
        if self.basis_ is None and self.basis_rows_.max() >= self.n_features_in_:
            raise DataError("KernelPCAClassifier: basis_rows_ must point into the columns of the kernel.")


def check_rows(model: Any, X: Any, y: Any) -> tuple[Any, Labels]:
    """Check the rows and labels handed to a kernel PCA model.

    Parameters
    ----------
    model : estimator
        The model, for its tags and name.
    X, y : array-like
        What `fit` was given.

    Returns
    -------
    X : ndarray or CSR matrix of float64
        The rows.
    labels : Labels
        The encoded labels.
    """
    who = type(model).__name__
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64)
    labels = labels_of(y, X.shape[0], who=who)
    if model.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ParameterError(f"{who}: a precomputed kernel must be square, got shape {X.shape}.")
    return X, labels


def _as_in_the_toy_tables(projection: Projection) -> Projection:
    """Turn the map into the one behind the printed toy tables: alpha = sqrt(lambda) u to four digits, no centring."""
    alphas = projection.coefficients * projection.eigenvalues
    sizes = np.where(alphas == 0.0, 1.0, np.abs(alphas))
    unit = 10.0 ** (np.floor(np.log10(sizes)) - 3)
    return Projection(
        projection.basis,
        np.round(alphas / unit) * unit,
        np.zeros_like(projection.offset),
        projection.eigenvalues,
        projection.solver,
    )
