from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

import handful
from handful.comparison import fit as fitting
from handful.comparison.fit import fit_selected
from handful.comparison.tables import labeled_table
from handful.comparison.trials import Limits
from handful.errors import DataError, ParameterError


def few_wine(n=60):
    X, y = load_wine(return_X_y=True)
    kept = np.random.default_rng(0).permutation(len(y))[:n]
    return labeled_table(X, [str(y[i]) if i in kept else None for i in range(len(y))])


def test_with_few_labels_the_ensemble_is_fitted_without_a_search():
    model, comparison = fit_selected(few_wine())
    assert model.method == "ensemble"
    assert {result.trial.method for result in comparison.search.results} == {"ensemble"}
    assert len(comparison.search.results) == 10
    estimate = model.training_["estimate"]
    assert (estimate["metric"], estimate["n_splits"], estimate["n_methods"]) == ("accuracy", 10, 1)
    assert 0.5 < estimate["low"] < estimate["value"] < estimate["high"] <= 1


def test_with_many_labels_the_best_of_some_candidates_is_fitted(monkeypatch):
    monkeypatch.setattr(fitting, "_CANDIDATES", ("logistic-regression", "k-nn"))
    monkeypatch.setattr(fitting, "DEFAULT_METHOD", "kernel-ridge")
    X, y = load_digits(return_X_y=True)
    table = labeled_table(X, [str(label) if row < 200 else None for row, label in enumerate(y)])
    model, comparison = fit_selected(table)
    assert {score.method for score in comparison.scores} == {"kernel-ridge", "logistic-regression", "k-nn"}
    assert model.method == comparison.best
    assert np.mean(model.predict(X[200:]) == y[200:].astype(str)) > 0.75


def test_a_default_that_is_kept_within_noise_says_so(monkeypatch):
    monkeypatch.setattr(fitting, "_FEW_LABELS", 10)
    monkeypatch.setattr(fitting, "DEFAULT_METHOD", "kernel-ridge")
    monkeypatch.setattr(fitting, "_CANDIDATES", ("logistic-regression", "shrunk-lda", "k-nn"))
    model, comparison = fit_selected(few_wine())
    kept = comparison.scores[0].mean > comparison.selected.mean
    assert ("within one standard error" in model.training_["selection"]) == kept
    assert comparison.scores[0].mean >= model.training_["estimate"]["value"]


def test_a_named_method_has_an_estimate_and_its_parameters_are_kept():
    model, comparison = fit_selected(few_wine(), "k-nn", params={"n_neighbors": 3})
    assert model.estimator_.n_neighbors == 3
    assert all(result.params == {"n_neighbors": 3} for result in comparison.search.results)
    assert model.training_["selection"] == "named"
    assert model.training_["estimate"]["n_splits"] == 10


@pytest.mark.slow
def test_the_estimate_holds_for_new_rows():
    """90% and more of 95% intervals hold the accuracy on all other rows."""
    X, y = load_digits(return_X_y=True)
    held = []
    for seed in range(20):
        kept = set(np.random.default_rng(seed).permutation(len(y))[:80])
        few = [str(label) if row in kept else None for row, label in enumerate(y)]
        limits = Limits(seed=seed, max_unlabeled=200)
        model = handful.fit(X, few, method="kernel-ridge", limits=limits)
        rest = [row for row in range(len(y)) if row not in kept]
        truth = np.mean(model.predict(X[rest]) == y[rest].astype(str))
        held.append(model.training_["estimate"]["low"] <= truth <= model.training_["estimate"]["high"])
    assert np.mean(held) >= 0.85


def test_one_label_per_class_is_fitted_without_an_estimate():
    X, y = load_iris(return_X_y=True)
    few = np.full(len(y), -1)
    few[[0, 50, 100]] = [0, 1, 2]
    model, comparison = fit_selected(labeled_table(X, few))
    assert comparison is None
    assert "estimate" not in model.training_
    assert "could not be estimated" in model.training_["selection"]
    assert set(model.predict(X)) <= {0, 1, 2}


def test_many_classes_of_one_label_each_make_a_small_model():
    rows = np.arange(150.0)[:, None]
    assert handful.fit(rows, [f"name {row}" for row in range(150)]).method_name == "k-nn"


def test_time_that_is_up_still_gives_a_model():
    start = time.monotonic()
    model, comparison = fit_selected(few_wine(), "k-nn", limits=Limits(minutes=1e-6))
    assert time.monotonic() - start < 20
    assert (comparison.state, model.method) == ("out of time", "k-nn")


def test_time_counts_from_the_call(monkeypatch):
    """A process that has lived for longer than the limit has all of the time (the clock once began with the process)."""
    limits = Limits(minutes=0.5)
    monkeypatch.setattr("psutil.Process.create_time", lambda self: time.time() - 59)
    assert 29 < Limits(minutes=0.5).seconds_left <= 30
    assert limits.seconds_left > 29


def test_an_interrupt_fits_what_was_selected_by_then(monkeypatch):
    from handful.comparison.tables import TableExperiment

    run, calls = TableExperiment._run, []

    def stop(self, trial):
        calls.append(trial)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return run(self, trial)

    monkeypatch.setattr(TableExperiment, "_run", stop)
    model, comparison = fit_selected(few_wine(), "k-nn")
    assert comparison.state == "interrupted"
    assert (model.training_["estimate"]["n_splits"], model.training_["estimate"]["n_folds"]) == (3, 5)


def test_known_class_priors_reach_the_model():
    model = handful.fit(*_rows(), method="k-nn", class_priors={"0": 0.8, "1": 0.1, "2": 0.1})
    assert model.shift_ is not None
    with pytest.raises((ParameterError, DataError)):
        handful.fit(*_rows(), method="k-nn", class_priors={"no class": 1.0})


def _rows():
    X, y = load_wine(return_X_y=True)
    return X, [str(label) if row % 3 == 0 else None for row, label in enumerate(y)]


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        (None, {}, "y is missing"),
        (["a"], {}, "must be of one length"),
        (["a", "b"], {"metric": "luck"}, "metric: must be one of"),
        (["a", "b", "a", "b"], {"method": "k-nm"}, "Did you mean 'k-nn'"),
    ],
)
def test_errors_say_what_is_wrong(y, settings, message):
    with pytest.raises((DataError, ParameterError), match=message):
        handful.fit([[1.0], [2.0], [3.0], [4.0]][: 2 if y is None or len(y) < 4 else 4], y, **settings)
