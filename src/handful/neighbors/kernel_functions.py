"""Kernels between the rows of two matrices, and what is done to rows before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

KernelName = Literal["poly", "linear", "rbf", "cosine", "precomputed"]
Input = Literal["raw", "unit", "bipolar"]


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters settled.

    Parameters
    ----------
    name : str
        ``"poly"`` is ``(gamma * x.y + coef0) ** degree``, ``"linear"`` its first degree, ``"rbf"``
        ``exp(-gamma * |x - y|**2)``, ``"cosine"`` the dot product of rows of length 1.
    degree : int
        Of the polynomial.
    gamma, coef0 : float
        Scale and constant.

    Examples
    --------
    >>> Kernel("poly", 2, 1.0, 0.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[121.0]]
    """

    name: KernelName
    degree: int
    gamma: float
    coef0: float

    def __call__(self, a: Any, b: Any) -> np.ndarray:
        """Return the kernel values between the rows of two dense or CSR matrices."""
        if self.name == "cosine":
            a, b = unit_rows(a), unit_rows(b)
        products = a @ b.T
        values = np.asarray(products.toarray() if sparse.issparse(products) else products, dtype=np.float64)
        if self.name == "rbf":
            squares = values
            squares *= -2.0
            squares += squared_norms(a)[:, None]
            squares += squared_norms(b)
            np.maximum(squares, 0.0, out=squares)
            squares *= -self.gamma
            return np.asarray(np.exp(squares, out=squares))
        if self.name == "poly":
            if self.gamma != 1.0:
                values *= self.gamma
            if self.coef0 != 0.0:
                values += self.coef0
            if self.degree != 1:
                with np.errstate(over="ignore"):
                    values = values**self.degree
        return values


def prepare_rows(X: Any, how: Input) -> Any:
    """Scale rows before the kernel sees them.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The rows.
    how : {"raw", "unit", "bipolar"}
        As they are; to length 1; or 0/1 values to -1/+1 over the square root of the number of columns.

    Returns
    -------
    ndarray or CSR matrix
        A new matrix, or `X` itself for ``"raw"``.

    Examples
    --------
    >>> prepare_rows(np.array([[3.0, 4.0]]), "unit").tolist()
    [[0.6, 0.8]]
    """
    if how == "raw":
        return X
    if how == "unit":
        return unit_rows(X)
    dense = X.toarray() if sparse.issparse(X) else X
    return (2.0 * dense - 1.0) / np.sqrt(dense.shape[1])


def squared_norms(X: Any) -> np.ndarray:
    """Return the squared length of every row.

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0]])).tolist()
    [25.0]
    """
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def unit_rows(X: Any) -> Any:
    """Scale every row to length 1; a row of zeros stays.

    Examples
    --------
    >>> unit_rows(np.array([[0.0, 0.0], [0.0, 2.0]])).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    norms = np.sqrt(squared_norms(X))
    norms[norms == 0.0] = 1.0
    if sparse.issparse(X):
        return sparse.csr_array(X.multiply(1.0 / norms[:, None]))
    return X / norms[:, None]
