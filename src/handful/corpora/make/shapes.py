"""The two simulated point sets of Liu, Zhao, Zou and Xu (2013)."""

from __future__ import annotations

import numpy as np

from handful.corpora.make.draws import RandomState, check_count, generator

GAUSSIAN_MEANS = ((2.0, 5.0), (6.0, 5.0))
GAUSSIAN_SDS = (1.0, 2.0)
MOON_CENTERS = ((6.0, 5.5), (11.0, 6.5))
MOON_RADIUS = 5.0


def make_two_gaussians(
    n_samples: int = 400, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two Gaussian clouds with one labeled point each (simulated set 1 of Liu et al.).

    The means are (2, 5) and (6, 5); the standard deviations are 1 along the first axis and 2 along the second, so
    the clouds are tall, and near each other where it matters.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, at least 2; an odd one goes to the first class.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        0 or 1 for the labeled point of each class, -1 for all others.
    y_true : ndarray of shape (n_samples,)
        The class of every point.

    Notes
    -----
    The paper does not say which points are labeled. Here it is the point nearest to the mean of its class; of
    equally near ones the first row.

    Examples
    --------
    >>> X, y, y_true = make_two_gaussians(random_state=0)
    >>> X.shape, sorted(y[y != -1].tolist()), np.bincount(y_true).tolist()
    ((400, 2), [0, 1], [200, 200])
    """
    check_count("make_two_gaussians", "n_samples", n_samples, 2)
    rng = generator("make_two_gaussians", random_state)
    y_true = rng.permutation(np.arange(n_samples) % 2)
    centers = np.array(GAUSSIAN_MEANS)
    X = centers[y_true] + np.array(GAUSSIAN_SDS) * rng.standard_normal((n_samples, 2))
    return X, _label_nearest(X, y_true, centers), y_true


def make_two_moons(n_samples: int = 102, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two interleaved half circles with one labeled point each (simulated set 2 of Liu et al.).

    The centers are (6, 5.5) and (11, 6.5), the radius is 5.

    Parameters
    ----------
    n_samples : int, default=102
        Number of points, at least 2; an odd one goes to the first moon.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of the rows; the points themselves are fixed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        0 or 1 for the labeled point of each moon, -1 for all others.
    y_true : ndarray of shape (n_samples,)
        The moon of every point.

    Notes
    -----
    The paper gives centers, radius and number of points only. Here the first moon is an upper, the second a lower
    half circle, both ends included, with points at equal angles and no noise. The labeled point is the one nearest
    to the middle of its arc; of equally near ones the first row.

    Examples
    --------
    >>> X, y, y_true = make_two_moons(random_state=0)
    >>> X[y == 0].round(6).tolist(), X[y == 1].round(6).tolist()
    ([[6.0, 10.5]], [[11.0, 1.5]])
    """
    check_count("make_two_moons", "n_samples", n_samples, 2)
    rng = generator("make_two_moons", random_state)
    moons = []
    for (x, y0), size, side in zip(MOON_CENTERS, ((n_samples + 1) // 2, n_samples // 2), (1, -1), strict=True):
        angles = np.linspace(np.pi, 0, size)
        moons.append(np.column_stack([x + MOON_RADIUS * np.cos(angles), y0 + side * MOON_RADIUS * np.sin(angles)]))
    order = rng.permutation(n_samples)
    X = np.concatenate(moons)[order]
    y_true = np.repeat([0, 1], [len(moon) for moon in moons])[order]
    middles = np.array(MOON_CENTERS) + [[0.0, MOON_RADIUS], [0.0, -MOON_RADIUS]]
    return X, _label_nearest(X, y_true, middles), y_true


def _label_nearest(X: np.ndarray, y_true: np.ndarray, centers: np.ndarray) -> np.ndarray:
    y = np.full(len(X), -1)
    for label, center in enumerate(centers):
        members = np.flatnonzero(y_true == label)
        y[members[np.argmin(((X[members] - center) ** 2).sum(axis=1))]] = label
    return y
