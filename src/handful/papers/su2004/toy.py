"""The printed toy tables of Su, Carpuat and Wu 2004, held against the recomputed ones."""

from __future__ import annotations

import numpy as np

from handful.senses.toy import ToyTable, toy_table

# Table 2, by degree: PCA is degree 1, kernel PCA degree 2. Rows of contexts 1 to 4; 5 to 7 repeat 4, 8 repeats 1.
PRINTED = {
    1: np.array(
        [[-1.961, 0.2829, 0.2014], [1.675, -1.132, 0.1049], [-0.367, 1.697, -0.2391], [-1.675, -1.132, -0.1049]]
    ),
    2: np.array(
        [[0.2801, -1.005, -0.06861], [1.149, 0.02934, 0.322], [0.8209, 0.7722, -0.2015], [-1.774, -0.1216, 0.03258]]
    ),
}
# Table 3: the new context.
PRINTED_NEW = {1: np.array([-0.3671, -0.5658, -0.2392]), 2: np.array([4e-06, 8e-07, 1.111e-18])}
NAMES = {1: "pca", 2: "kpca"}


def measure_toy() -> dict[str, float]:
    """Measure the claims on the toy example; they need no data.

    Returns
    -------
    dict of str to float
        Numbers by claim.

    Examples
    --------
    >>> found = measure_toy()
    >>> found["toy-class-pca"], found["toy-class-kpca"], found["toy-table2-kpca"]
    (2.0, 1.0, 0.0)
    """
    values: dict[str, float] = {}
    for degree, name in NAMES.items():
        values[f"toy-table2-{name}"] = off_by(turned(degree)[0][:4], PRINTED[degree])
        values[f"toy-class-{name}"] = float(toy_table(degree).answer)
    values["toy-table3-pca"] = off_by(turned(1)[1], PRINTED_NEW[1])
    values["toy-table3-kpca"] = float(np.abs(turned(2)[1] - PRINTED_NEW[2]).max())
    values["toy-lead-as-printed"] = lead(toy_table(2))
    values["toy-lead-as-defined"] = lead(toy_table(2, as_printed=False))
    return values


def turned(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training contexts and the new one in the new space, with the signs of the printed table.

    Examples
    --------
    >>> turned(1)[1].round(4).tolist()
    [-0.3671, -0.5658, -0.2392]
    """
    table = toy_table(degree)
    signs = np.sign((table.projected[:4] * PRINTED[degree]).sum(axis=0))  # the sign of a component is free
    return table.projected * signs, table.new * signs


def off_by(computed: np.ndarray, printed: np.ndarray) -> float:
    """Return the largest deviation in units of the fourth significant digit, after rounding to four.

    Examples
    --------
    >>> off_by(np.array([1.67458, -0.36702]), np.array([1.675, -0.368]))
    10.0
    """
    unit = 10.0 ** (np.floor(np.log10(np.abs(computed))) - 3)
    return float(np.round(np.abs(np.round(computed / unit) - printed / unit), 3).max())


def lead(table: ToyTable) -> float:
    """Return how much nearer the new context is to class 1 than to class 2.

    Examples
    --------
    >>> round(lead(toy_table(2)), 4)
    0.7324
    """
    return float(table.distances[3] - table.distances[:3].min())
