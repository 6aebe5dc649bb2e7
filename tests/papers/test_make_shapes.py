"""The simulated point sets against their specification."""

from __future__ import annotations

import numpy as np
import pytest

from handful.errors import ParameterError
from papers.generated import make_two_gaussians, make_two_moons


def test_gaussians_have_the_means_and_spreads_of_the_paper():
    X, _, y_true = make_two_gaussians(20_000, random_state=0)
    for label, mean in ((0, (2, 5)), (1, (6, 5))):
        np.testing.assert_allclose(X[y_true == label].mean(axis=0), mean, atol=0.08)
        np.testing.assert_allclose(X[y_true == label].std(axis=0), (1, 2), atol=0.06)
        assert abs(np.corrcoef(X[y_true == label].T)[0, 1]) < 0.05


def test_gaussians_have_400_points_and_label_the_most_central_of_each_class():
    X, y, y_true = make_two_gaussians(random_state=3)
    assert X.shape == (400, 2)
    assert np.bincount(y_true).tolist() == [200, 200]
    for label, mean in ((0, (2, 5)), (1, (6, 5))):
        (row,) = np.flatnonzero(y == label)
        assert y_true[row] == label
        assert np.linalg.norm(X[row] - mean) == np.linalg.norm(X[y_true == label] - mean, axis=1).min()
    assert (y == -1).sum() == 398


def test_moons_lie_on_half_circles_at_equal_angles():
    X, y, y_true = make_two_moons(random_state=0)
    assert X.shape == (102, 2)
    assert np.bincount(y_true).tolist() == [51, 51]
    for label, center, side in ((0, (6, 5.5), 1), (1, (11, 6.5), -1)):
        moon = X[y_true == label] - center
        np.testing.assert_allclose(np.linalg.norm(moon, axis=1), 5)
        angles = np.sort(np.arctan2(side * moon[:, 1].round(9), moon[:, 0]))
        np.testing.assert_allclose(angles, np.linspace(0, np.pi, 51), atol=1e-9)
    assert (y == -1).sum() == 100
    assert sorted(y[y != -1]) == [0, 1]
    assert (y_true[y != -1] == y[y != -1]).all()


@pytest.mark.parametrize("make", [make_two_gaussians, make_two_moons])
def test_a_seed_fixes_the_sample(make):
    first, again, other = make(50, random_state=1), make(50, random_state=1), make(50, random_state=2)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("make", [make_two_gaussians, make_two_moons])
@pytest.mark.parametrize("n_samples", [2, 3, 101])
def test_odd_and_tiny_samples_keep_one_label_per_class(make, n_samples):
    X, y, y_true = make(n_samples, random_state=0)
    assert len(X) == n_samples
    assert np.bincount(y_true).tolist() == [(n_samples + 1) // 2, n_samples // 2]
    assert sorted(y[y != -1]) == [0, 1]


@pytest.mark.parametrize("make", [make_two_gaussians, make_two_moons])
@pytest.mark.parametrize("n_samples", [1, -4, 2.5, True, "many"])
def test_an_illegal_size_is_named(make, n_samples):
    with pytest.raises(ParameterError, match=f"{make.__name__}: n_samples must be an integer of at least 2, got"):
        make(n_samples)


@pytest.mark.parametrize("random_state", [-1, "seed", 0.5])
def test_an_illegal_seed_is_named(random_state):
    with pytest.raises(ParameterError, match="make_two_moons: random_state must be None, a non-negative integer"):
        make_two_moons(random_state=random_state)


def test_generators_of_numpy_serve_as_seed():
    shared = np.random.default_rng(0)
    first, second = make_two_gaussians(10, random_state=shared)[0], make_two_gaussians(10, random_state=shared)[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, make_two_gaussians(10, random_state=np.random.default_rng(0))[0])
    legacy = [make_two_gaussians(10, random_state=np.random.RandomState(0))[0] for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
