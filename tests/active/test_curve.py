from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from oracles.power_law import best_loss, loss

from handful.active.curve import (
    PowerLaw,
    curve_sizes,
    fit_power_law,
    forecast,
    labels_needed,
    learning_curve,
    nested_scores,
    refusal,
)
from handful.active.estimates import MIN_RANDOM, estimate_accuracy
from handful.active.merge import SELECTION
from handful.active.query import ActiveLearner
from handful.errors import DataError, ParameterError

SIZES = np.array([10, 15, 22, 33, 50, 75])


def draws_of(floor: float, scale: float, power: float, noise: float = 0.01, n: int = 10, seed: int = 0) -> np.ndarray:
    mean = 1 - floor - scale * SIZES.astype(float) ** -power
    return mean + np.random.default_rng(seed).normal(0, noise, (n, len(SIZES)))


@pytest.mark.parametrize("seed", range(8))
def test_the_power_law_fits_as_well_as_a_slow_search(seed):
    rng = np.random.default_rng(seed)
    floor, scale, power = rng.uniform(0, 0.3), rng.uniform(0.2, 2), rng.choice([0.3, 0.5, 1.0, 1.5])
    errors = np.clip(floor + scale * SIZES.astype(float) ** -power + rng.normal(0, 0.01, 6), 0, 1)
    law = fit_power_law(SIZES, errors)
    assert law.floor >= 0
    assert law.scale >= 0
    sizes, values = SIZES.astype(float).tolist(), errors.tolist()
    ours = loss(sizes, values, law.floor, law.scale, law.power)
    assert ours <= best_loss(sizes, values, np.linspace(0.05, 2, 40).tolist()) * 1.001 + 1e-9


def test_a_power_law_is_found_again():
    law = fit_power_law(SIZES, 0.05 + 1.5 * SIZES.astype(float) ** -0.7)
    assert (law.floor, law.scale, law.power) == pytest.approx((0.05, 1.5, 0.7), abs=1e-6)


def test_the_band_holds_the_truth_of_a_law_and_grows_with_noise():
    held = 0
    for seed in range(30):
        told = forecast(SIZES, draws_of(0.1, 1.2, 0.6, seed=seed), 100)
        truth = 1 - 0.1 - 1.2 * 200**-0.6
        held += told.low[-1] <= truth <= told.high[-1]
        assert told.n_labels[0] == 100
        assert told.n_labels[-1] == 200
        assert all(low <= high for low, high in zip(told.low, told.high, strict=True))
    assert held >= 26
    calm, wild = (forecast(SIZES, draws_of(0.1, 1.2, 0.6, noise=x), 1000) for x in (0.001, 0.1))
    assert wild.high[-1] - wild.low[-1] > calm.high[-1] - calm.low[-1]


def test_goals_are_reached_perhaps_or_out_of_reach():
    scores = draws_of(0.05, 1.5, 0.7)
    assert labels_needed(SIZES, scores, 1000, 0.5).text == "50% is reached already."
    far = labels_needed(SIZES, scores, 100, 0.999)
    assert (far.low, far.high) == (None, None)
    assert "unlikely with 100 more labels" in far.text
    assert far.chance < 0.05
    high, low = (labels_needed(SIZES, draws_of(0.2, 0.1, 0.5), 45, goal) for goal in (0.9, 0.7))
    assert high.text.startswith(
        "90% may be reached already, or take more than 45 more labels: within 45 it is unlikely ("
    )
    assert low.chance > 0.67 > 0.33 > high.chance
    near = labels_needed(SIZES, scores, 100, 0.91)
    assert near.low is not None
    assert near.high is None or near.low <= near.high


def test_curves_that_are_not_well_behaved_are_refused():
    assert refusal(SIZES, draws_of(0.1, 1.2, 0.6)) is None
    falling = draws_of(0.1, 1.2, 0.6)[:, ::-1]
    assert "a curve that does not rise allows none" in str(refusal(SIZES, falling))
    assert "at least 4 sizes" in str(refusal(SIZES[:3], falling[:, :3]))


def test_a_flat_curve_goes_on_as_it_is():
    flat = draws_of(0.4, 0.0, 1.0)
    assert refusal(SIZES, flat) is None
    told = forecast(SIZES, flat, 100)
    assert told.score[-1] == pytest.approx(0.6, abs=0.02)
    assert told.low[-1] < 0.6 < told.high[-1]


def test_no_forecast_is_below_the_last_size():
    scores = draws_of(0.2, 0.1, 0.5)
    scores[:, -1] += 0.03  # chance bends the curve up
    told = forecast(SIZES, scores, 60)
    assert min(told.score) >= scores[:, -1].mean()
    assert all(score <= high for score, high in zip(told.score, told.high, strict=True))


def test_half_of_the_further_rise_is_expected():
    law = PowerLaw(0.05, 1.5, 0.7)
    told = forecast(SIZES, np.tile([1 - law.error(n) for n in SIZES], (3, 1)), 100)
    now, later = law.error(SIZES[-1]), law.error(200)
    assert told.score[-1] == pytest.approx(1 - (now + later) / 2, abs=1e-3)


def test_training_sets_are_nested_and_apart_from_the_test_rows():
    codes = np.array([0, 1] * 30)
    seen: list[tuple[set[int], set[int]]] = []

    def answer(train, labels, test):
        assert labels.tolist() == codes[train].tolist()
        seen.append((set(train.tolist()), set(test.tolist())))
        return np.zeros(len(test), dtype=int)

    sizes, scores = nested_scores(codes, answer, n_splits=2)
    assert scores.shape == (2, len(sizes))
    assert len(seen) == 2 * len(sizes)
    for train, test in seen:
        assert not train & test
    for first, second in pairwise(seen[: len(sizes)]):
        assert first[0] < second[0]
    assert curve_sizes(5, 2).tolist() == []


@pytest.mark.parametrize(("after", "n_kept"), [(3, 3), (1, None)])
def test_an_interruption_keeps_the_draws_that_are_done(after, n_kept):
    codes = np.array([0, 1] * 30)

    def stop(step):
        if step.done == after:
            raise KeyboardInterrupt

    def run():
        return nested_scores(codes, lambda *parts: np.zeros(len(parts[2]), dtype=int), n_splits=9, progress=stop)[1]

    if n_kept is None:
        with pytest.raises(KeyboardInterrupt):
            run()
    else:
        assert len(run()) == n_kept


def clouds(n: int = 120, n_raw: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n + n_raw)
    X = np.array([[0, 0], [2.5, 0], [0, 2.5]])[codes] + rng.normal(size=(n + n_raw, 2))
    y = np.array([f"c{code}" for code in codes], dtype=object)
    y[n:] = None
    return X, y


def test_the_budget_says_everything():
    X, y = clouds()
    told = learning_curve(X, y, goal=0.5, n_splits=5)
    assert told.n_labels == 120
    assert told.sizes[-1] == 90
    assert len(told.mean) == len(told.sizes)
    assert told.n_random == 120
    assert (told.forecast is None) == (told.refused is not None)
    assert told == learning_curve(X, y, goal=0.5, n_splits=5)


def test_too_little_and_wrong_input_are_told():
    X, y = clouds()
    few = y.copy()
    few[8:] = None
    with pytest.raises(DataError, match="at least 12 labels are needed, got 8"):
        learning_curve(X, few)
    with pytest.raises(ParameterError, match="the goal must be above 0 and at most 1"):
        learning_curve(X, y, goal=90)
    with pytest.raises(DataError, match="of one length, got 200 and 3"):
        learning_curve(X, ["a", "b", "a"])
    with pytest.raises(ParameterError, match="at least 2 splits"):
        learning_curve(X, y, n_splits=1)


def test_only_random_rows_are_tested_on():
    X, y = clouds()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y.tolist()})
    at_random = np.arange(200) % 4 == 0
    told = learning_curve(with_selection(frame, at_random), "y", n_splits=2)
    assert (told.n_labels, told.n_random) == (120, 30)
    assert told.sizes[-1] == 114  # a fifth of the random rows is held back
    few = learning_curve(with_selection(frame, np.arange(200) < MIN_RANDOM - 3), "y", n_splits=2)
    assert few.sizes == ()
    assert few.forecast is None
    assert "3 more rows chosen at random" in few.refused
    tested = []

    def predict(train, labels, test):
        tested.extend(test.tolist())
        return np.zeros(len(test), dtype=int)

    nested_scores(np.array([0, 1] * 30), predict, at_random=np.arange(60) < 20, n_splits=5)
    assert set(tested) <= set(range(20))


def with_selection(frame: pl.DataFrame, at_random: np.ndarray) -> pl.DataFrame:
    return frame.with_columns(pl.Series(SELECTION, np.where(at_random, "random", "chosen").tolist()))


@pytest.mark.slow
def test_accuracy_on_random_rows_is_not_biased():
    rng = np.random.default_rng(0)
    random_bias, holds = [], []
    for seed in range(12):
        codes = rng.integers(0, 3, 300)
        X = np.array([[0, 0], [2.2, 0], [0, 2.2]])[codes] + rng.normal(size=(300, 2))
        names = codes.astype(str)
        learner, at_random = ActiveLearner(X, model="logistic-regression", random_state=seed), []
        while len(learner.labels) < 100:
            picked = learner.next(20)
            learner.update({one.row: names[one.row] for one in picked})
            at_random += [one.row for one in picked if one.random]
        rest = [row for row in range(300) if row not in learner.labels]
        truth = np.mean([one.suggestion == names[one.row] for one in learner.suggest(rest)])
        estimate = estimate_accuracy(learner, at_random)
        random_bias.append(estimate.accuracy - truth)
        holds.append(estimate.low <= truth <= estimate.high)
    assert abs(np.mean(random_bias)) < 2 * np.std(random_bias) / np.sqrt(12) + 0.01
    assert np.mean(holds) >= 0.75
