"""The toy example of Su, Carpuat and Wu (2004): eight contexts of "art" and a new one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.neighbors.kernel_pca import KernelPCAClassifier

TOY_FEATURES = ("design/N", "media/N", "the/DT", "entertainment/N", "world/N")
TOY_ROWS = np.array(
    [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 0, 0, 1, 0], *[[0, 0, 1, 0, 0]] * 4, [0, 0, 0, 0, 0]], dtype=np.float64
)
TOY_CLASSES = np.array([1, 1, 1, 2, 2, 2, 2, 1])
TOY_NEW = np.array([[1, 0, 1, 0, 1]], dtype=np.float64)
TOY_NEW_CLASS = 1


@dataclass(frozen=True, eq=False)
class ToyTable:
    """One of the toy tables, recomputed.

    Parameters
    ----------
    degree : int
        1 is the table of PCA, 2 that of kernel PCA.
    projected : ndarray of shape (8, n_components)
        The training contexts in the new space; the sign of a component is free.
    new : ndarray of shape (n_components,)
        The new context.
    distances : ndarray of shape (8,)
        Distance of the new context to each training context.
    answer : int
        Class of its nearest neighbor.
    """

    degree: int
    projected: np.ndarray
    new: np.ndarray
    distances: np.ndarray
    answer: int


def toy_table(degree: int, *, as_printed: bool = True) -> ToyTable:
    """Recompute a toy table.

    Parameters
    ----------
    degree : int
        Degree of the polynomial kernel.
    as_printed : bool
        True is the recipe behind the printed numbers; False is kernel PCA as the paper's text defines it, on the same
        -1/+1 rows, which shows that the printed success is an artefact: the new context is equally far from all.

    Returns
    -------
    ToyTable
        Projections, distances and the answer.

    Examples
    --------
    >>> toy_table(1).answer, toy_table(2).answer
    (2, 1)
    >>> toy_table(2, as_printed=False).distances.round(4).tolist()[:4]
    [0.7797, 0.7797, 0.7797, 0.7797]
    """
    rows, new_row = _bipolar(TOY_ROWS), _bipolar(TOY_NEW)
    model = KernelPCAClassifier(degree=degree).fit(rows, TOY_CLASSES)
    if as_printed:  # coefficients sqrt(lambda) u to four significant digits, and no centering of new rows
        alphas = model.coefficients_ * model.eigenvalues_
        sizes = np.where(alphas == 0.0, 1.0, np.abs(alphas))
        unit = 10.0 ** (np.floor(np.log10(sizes)) - 3)
        model.coefficients_, model.offset_ = np.round(alphas / unit) * unit, np.zeros_like(model.offset_)
        model.projected_ = model.project(rows)
    projected, new = model.project(rows), model.project(new_row)
    distances = np.linalg.norm(projected - new, axis=1)
    return ToyTable(degree, projected, new[0], distances, int(model.predict(new_row)[0]))


def _bipolar(rows: np.ndarray) -> np.ndarray:
    """Recode 0/1 to -1/+1 over the square root of the number of columns."""
    return np.asarray((2.0 * rows - 1.0) / np.sqrt(rows.shape[1]))
