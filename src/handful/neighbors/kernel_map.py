"""The centred kernel PCA projection as an affine map of kernel values.

Every variant (exact, randomized, Nyström) ends in the same form: ``y(x) = k(x, basis) @ coefficients - offset``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from handful.core.errors import DataError

Solver = Literal["auto", "dense", "arpack", "randomized", "nystrom"]

# Rows up to which all components are computed, and how many leading ones are beyond that unless a number is asked for.
DENSE_ROWS = 4_000
LEADING = 500
# Components with a smaller share of the first eigenvalue are rounding noise.
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
    max_gram_rows: int,
    random: np.random.RandomState,
) -> Projection:
    """Solve the eigenproblem of the centred Gram matrix of some rows.

    Parameters
    ----------
    block : callable
        Returns the kernel values between two sets of row numbers, as an array of its own.
    rows : ndarray of int64
        Rows that take part.
    n_components : int or None
        How many leading components; None keeps every eigenvalue above a 1e-10th of the first.
    solver : str
        ``"auto"`` decides by size.
    n_landmarks : int
        Rows that stand for all in the Nyström approximation.
    max_gram_rows : int
        ``"auto"`` approximates above this.
    random : RandomState
        Draws landmarks and start vectors.

    Returns
    -------
    Projection
        The map; it may have no component at all where every row is the same.
    """
    n = len(rows)
    chosen = solver
    if solver == "auto":
        chosen = "dense" if n <= DENSE_ROWS else "randomized" if n <= max_gram_rows else "nystrom"
    if chosen == "nystrom":
        return _nystrom(block, rows, n_components, n_landmarks, random)
    gram = block(rows, rows)
    _check_finite(gram)
    size = float(np.abs(np.diagonal(gram)).sum())
    means = _center(gram)
    if chosen != "dense":
        wanted = min(n_components or LEADING, n)
        if wanted >= n - 1:  # ARPACK cannot, and a random subspace saves nothing
            chosen = "dense"
    if chosen == "dense":
        # Divide and conquer is the fastest LAPACK driver when all eigenvectors are wanted.
        values, vectors = linalg.eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    elif chosen == "arpack":
        values, vectors = _arpack(gram, wanted, random)
    else:
        values, vectors = _randomized(gram, wanted, random)
    values, vectors = _leading(values, vectors, n_components, size)
    coefficients = vectors / np.sqrt(values)  # lambda (alpha . alpha) = 1, section 2 of the paper
    return Projection(rows, coefficients, means @ coefficients, values, chosen)


def _center(gram: np.ndarray) -> np.ndarray:
    """Center a symmetric Gram matrix in place and return its column means."""
    means: np.ndarray = gram.mean(axis=0)
    gram -= means
    gram -= means[:, None]
    gram += means.mean()
    return means


def _check_finite(gram: np.ndarray) -> None:
    if not np.isfinite(gram).all():
        raise DataError(
            "kernel PCA: kernel values must be finite, got an overflow. Scale the rows (input='unit') or lower the degree."
        )


def _leading(
    values: np.ndarray, vectors: np.ndarray, n_components: int | None, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sort eigenpairs and drop those that are rounding noise beside the first or beside the uncentred matrix."""
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


def _arpack(gram: np.ndarray, k: int, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import eigsh

    values, vectors = eigsh(gram, k=k, which="LA", v0=random.uniform(-1, 1, len(gram)))
    return values, vectors


def _randomized(gram: np.ndarray, k: int, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Find the leading eigenpairs inside a random subspace that four power iterations have turned towards them."""
    size = min(len(gram), k + max(10, k // 5))
    basis, _ = linalg.qr(gram @ random.normal(size=(len(gram), size)), mode="economic", check_finite=False)
    for _ in range(4):
        basis, _ = linalg.qr(gram @ basis, mode="economic", overwrite_a=True, check_finite=False)
    values, inner = linalg.eigh(basis.T @ (gram @ basis), driver="evd", check_finite=False)
    return values[-k:], basis @ inner[:, -k:]


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
    for start, stop in blocks(len(rows), len(basis)):
        features = block(rows[start:stop], basis) @ root
        total += features.sum(axis=0)
        scatter += features.T @ features
    _check_finite(scatter)
    mean = total / len(rows)
    size = float(np.trace(scatter))
    scatter -= np.outer(mean, total)
    values, vectors = linalg.eigh(scatter, driver="evd", overwrite_a=True, check_finite=False)
    values, vectors = _leading(values, vectors, n_components, size)
    return Projection(basis, root @ vectors, mean @ vectors, values, "nystrom")


def blocks(n_rows: int, width: int) -> list[tuple[int, int]]:
    """Return the bounds of blocks of rows that keep a matrix of that width at a moderate size.

    Examples
    --------
    >>> blocks(5, 1 << 23)
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, _BLOCK_CELLS // max(width, 1))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
