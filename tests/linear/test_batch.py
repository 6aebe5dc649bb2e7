"""L-BFGS and OWL-QN against independent solvers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from handful.errors import DataError, FileError, ParameterError
from handful.linear.batch import minimize
from handful.linear.multiclass import Multiclass
from handful.linear.recorder import Recorder
from handful.linear.structure import feature_counts


def logistic(seed, n=60, n_columns=8, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) * (rng.random((n, n_columns)) < 0.6)
    y = rng.integers(0, n_labels, size=n)
    rows = Multiclass(X, n_labels)
    observed = feature_counts(rows, y)

    def objective(weights):
        log_partition, expected = rows.expected_counts(weights)
        return log_partition - float(weights @ observed), expected - observed

    return objective, rows.n_features


def test_the_flat_gradient_equals_finite_differences():
    objective, n = logistic(0)
    weights = np.random.default_rng(1).normal(size=n)
    assert optimize.check_grad(lambda w: objective(w)[0], lambda w: objective(w)[1], weights) < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_l2_reaches_the_optimum_of_an_independent_solver(seed):
    objective, n = logistic(seed)

    def penalized(w):
        value, gradient = objective(w)
        return value + 0.7 * w @ w, gradient + 1.4 * w

    expected = optimize.minimize(penalized, np.zeros(n), jac=True, method="BFGS", options={"gtol": 1e-9})
    found = minimize(objective, np.zeros(n), l2=0.7, tol=1e-10)
    assert found.converged
    assert found.value == pytest.approx(expected.fun, rel=1e-9)
    np.testing.assert_allclose(found.weights, expected.x, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("l1", [0.5, 3.0, 1000.0])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_l1_reaches_the_optimum_of_an_independent_solver(seed, l1, l2):
    objective, n = logistic(seed)

    def split(w):  # w = positive - negative, both bounded below by 0: smooth, so a bounded solver can do it
        value, gradient = objective(w[:n] - w[n:])
        value += l1 * w.sum() + l2 * ((w[:n] - w[n:]) ** 2).sum()
        gradient = gradient + 2 * l2 * (w[:n] - w[n:])
        return value, np.concatenate([gradient, -gradient]) + l1

    expected = optimize.minimize(
        split,
        np.zeros(2 * n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 2 * n,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    found = minimize(objective, np.zeros(n), l1=l1, l2=l2, tol=1e-10)
    assert found.value == pytest.approx(expected.fun, rel=1e-7)
    weights = expected.x[:n] - expected.x[n:]
    np.testing.assert_allclose(found.weights, weights, atol=2e-3)
    assert (found.weights[np.abs(weights) < 1e-9] == 0.0).mean() > 0.9


@pytest.mark.parametrize("l1", [0.0, 0.5])
@pytest.mark.parametrize("stop", [4, 10, 13])
def test_resuming_gives_the_same_bits(tmp_path, l1, stop):
    objective, n = logistic(5)
    whole = minimize(objective, np.zeros(n), l1=l1, l2=0.1, max_iter=25, tol=0.0)
    path = tmp_path / "run.npz"
    first = minimize(
        objective, np.zeros(n), l1=l1, l2=0.1, max_iter=stop, tol=0.0, recorder=Recorder(checkpoint=path, every=4)
    )
    assert first.n_iter == stop
    second = minimize(
        objective, np.zeros(n), l1=l1, l2=0.1, max_iter=25, tol=0.0, recorder=Recorder(checkpoint=path, every=4)
    )
    assert np.array_equal(second.weights, whole.weights)
    assert second.value == whole.value


def test_a_finished_run_stays_finished_and_others_are_refused(tmp_path):
    objective, n = logistic(5)
    path = tmp_path / "run.npz"
    whole = minimize(objective, np.zeros(n), l2=0.1, recorder=Recorder(checkpoint=path))
    again = minimize(objective, np.zeros(n), l2=0.1, recorder=Recorder(checkpoint=path))
    assert np.array_equal(again.weights, whole.weights)
    assert again.n_iter == whole.n_iter
    with pytest.raises(DataError, match="another training run"):
        minimize(objective, np.zeros(n), l2=0.2, recorder=Recorder(checkpoint=path))
    for damaged in (b"nonsense", path.read_bytes()[:1000]):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="not a checkpoint"):
            minimize(objective, np.zeros(n), l2=0.1, recorder=Recorder(checkpoint=path))


@pytest.mark.parametrize("penalty", [{"l2": 1e308}, {"l1": np.inf}, {"l2": np.nan}, {"l1": -1.0}])
def test_a_penalty_without_measure_is_named(penalty):
    objective, n = logistic(5)
    with pytest.raises(ParameterError, match="minimize: a penalty must be from 0 to below"):
        minimize(objective, np.zeros(n), **penalty)


def test_progress_reports_every_iteration():
    objective, n = logistic(6)
    steps = []
    found = minimize(objective, np.zeros(n), l1=1.0, recorder=Recorder(steps.append))
    assert [s.done for s in steps] == list(range(1, found.n_iter + 1))
    values = [s.figures["objective"] for s in steps]
    assert values == sorted(values, reverse=True)
    assert steps[-1].figures["active"] == np.count_nonzero(found.weights)
