from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from handful.comparison.statistics import (
    Design,
    binomial_interval,
    paired_difference,
    rank_methods,
    score_interval,
    select,
)
from handful.report.content import MethodScore

DESIGN = Design(0.25, 400, 5, 20)


def line(name, mean, spread=0.01, n=10, **kind):
    rng = np.random.default_rng(len(name))
    scores = dict(enumerate(np.clip(mean + spread * rng.standard_normal(n), 0, 1)))
    return MethodScore(name, scores=scores, **kind)


def ranked(*scores, design=DESIGN, preferred=""):
    return {score.method: score for score in rank_methods(scores, design, preferred)}


@pytest.mark.parametrize(("correct", "n"), [(0, 5), (3, 5), (8, 8), (55, 58)])
def test_the_binomial_interval_is_the_exact_one(correct: int, n: int):
    exact = binomtest(correct, n).proportion_ci(method="exact")
    assert binomial_interval(correct / n, n) == pytest.approx((exact.low, exact.high))


def test_a_benefit_of_unlabeled_rows_needs_both_differences():
    by_name = ranked(
        line("baseline", 0.70, supervised_baseline=True),
        line("semi", 0.80, uses_unlabeled=True, control="control"),
        line("control", 0.71, listed=False),
    )
    semi = by_name["semi"]
    assert semi.is_better
    assert semi.gain.is_positive
    assert "control" not in by_name
    same = ranked(
        line("baseline", 0.70, supervised_baseline=True),
        line("semi", 0.80, uses_unlabeled=True, control="control"),
        line("control", 0.80, listed=False),
    )["semi"]
    assert same.is_better
    assert not same.gain.is_positive


def test_the_baseline_is_the_best_supervised_one_and_not_a_lucky_one():
    by_name = ranked(
        line("a", 0.6, supervised_baseline=True), line("b", 0.8, supervised_baseline=True), line("new", 0.7)
    )
    assert by_name["b"].is_baseline
    assert by_name["b"].difference is None
    lucky = ranked(line("often", 0.7, supervised_baseline=True), line("once", 0.9, n=1, supervised_baseline=True))
    assert lucky["often"].is_baseline


def test_methods_are_compared_on_shared_splits():
    """A method that was scored on easy splits alone is not better for it."""
    often = MethodScore("often", scores={0: 0.9, 1: 0.9, 2: 0.3, 3: 0.3}, supervised_baseline=True)
    seldom = MethodScore("seldom", scores={0: 0.88, 1: 0.88})
    by_name = ranked(often, seldom)
    assert list(by_name) == ["often", "seldom"]
    assert by_name["seldom"].mean == pytest.approx(0.58)
    assert by_name["seldom"].difference.mean == pytest.approx(-0.02)
    assert by_name["seldom"].difference.n_splits == 2


def test_splits_that_agree_by_chance_show_nothing():
    design = Design(0.25, 8, 5, 4)
    baseline = MethodScore("baseline", scores={0: 0.5, 1: 0.5, 2: 0.5}, supervised_baseline=True)
    lucky = MethodScore("lucky", scores={0: 0.625, 1: 0.625, 2: 0.625})
    by_name = ranked(baseline, lucky, design=design)
    assert list(by_name) == ["lucky", "baseline"]
    assert not by_name["lucky"].is_better
    few, many = (paired_difference(baseline, replace(baseline, method="same"), Design(0.25, n, 5, 4)) for n in (8, 800))
    assert few.mean == many.mean == 0
    assert few.low < many.low < 0 < many.high < few.high


@pytest.mark.parametrize("seed", range(5))
def test_on_noise_p_values_are_adjusted_for_all_methods(seed):
    rng = np.random.default_rng(seed)
    scores = [MethodScore(f"m{i}", scores=dict(enumerate(rng.normal(0.7, 0.03, 10)))) for i in range(20)]
    scores[0] = replace(scores[0], supervised_baseline=True)
    by_name = ranked(*scores)
    assert not any(score.is_better or score.is_worse for score in by_name.values())


def test_the_preferred_method_is_kept_within_one_standard_error():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (2, 10))

    def selected(lead, n_test):
        scores = [
            MethodScore("ensemble", scores=dict(enumerate(0.7 + noise[0] - noise[0].mean())), mean=0.7),
            MethodScore("tree", scores=dict(enumerate(0.7 + lead + noise[1] - noise[1].mean())), mean=0.7 + lead),
        ]
        return select(scores, Design(0.25, n_test, 5, 20), "ensemble").method

    assert selected(0.01, n_test=5) == "ensemble"
    assert selected(0.25, n_test=5) == "tree"
    assert selected(-0.25, n_test=5) == "ensemble"
    assert selected(0.08, n_test=1_000) == "tree"


def test_only_candidates_are_selected_and_may_be_the_best():
    by_name = ranked(line("baseline", 0.9, supervised_baseline=True, candidate=False), line("a", 0.7), line("b", 0.69))
    assert [name for name, score in by_name.items() if score.is_selected] == ["a"]
    assert by_name["baseline"].p_best == 0
    assert by_name["a"].p_best + by_name["b"].p_best == pytest.approx(1)
    assert by_name["a"].p_best > by_name["b"].p_best


def test_few_tested_rows_promise_little():
    for n_splits in (1, 5, 10):
        low, high = score_interval([1.0] * n_splits, Design(0.25, 8, 5, 30))
        assert high == 1.0
        assert low < 0.95
    assert score_interval([0.5], Design(0.25, 8, 5, 30))[0] < 0.25
    wide, narrow = (score_interval([0.8] * 10, Design(0.25, n, 5, 30)) for n in (8, 800))
    assert wide[0] < narrow[0] < 0.8 < narrow[1] < wide[1]
    assert rank_methods([], DESIGN) == ()


@pytest.mark.parametrize(("n_rows", "accuracy"), [(20, 0.6), (20, 0.9), (50, 0.75), (200, 0.95)])
def test_intervals_hold_the_truth_at_least_as_often_as_they_say(n_rows, accuracy):
    """Two repetitions of five folds over the same rows; a row is predicted correctly with some chance of its own."""
    rng = np.random.default_rng(0)
    design, inside = Design(0.25, n_rows / 5, 5, n_rows * 4 // 5), []
    for _ in range(400):
        chance = rng.beta(0.3 * accuracy, 0.3 * (1 - accuracy), n_rows)
        scores = []
        for _ in range(2):
            correct = rng.random(n_rows) < chance
            scores += correct[rng.permutation(n_rows)].reshape(5, -1).mean(axis=1).tolist()
        low, high = score_interval(scores, design, 0.9)
        inside.append(low <= accuracy <= high)
    assert 0.88 <= np.mean(inside) <= 1.0
