"""The first line of a report: for how many rows the model is usable, and how many more labels it needs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from handful.comparison.compare import compare, usability
from handful.comparison.splits import Splits
from handful.comparison.trials import Limits, Trial, TrialResult


def comparison(confidence, correct, by_size):
    """Return a comparison of one method with these predictions, and these scores by number of labels and split."""
    held = TrialResult(Trial("m", False, 0, 40), None, confidence=confidence, correct=correct)
    results = [
        TrialResult(Trial("m", False, split, size), score)
        for size, scores in by_size.items()
        for split, score in enumerate(scores)
    ]
    return SimpleNamespace(
        selected=SimpleNamespace(method="m"),
        experiment=SimpleNamespace(design=SimpleNamespace(n_labels=40), seed=0),
        search=SimpleNamespace(results=results, results_of=lambda name: [held]),
    )


def test_the_share_of_rows_is_the_largest_confident_group_that_reaches_the_goal():
    sure = np.linspace(1, 0.3, 100).tolist()
    text = usability(comparison(sure, "1" * 45 + "0" * 5 + "10" * 25, {}))
    assert text == "Usable now: yes for 51% of rows at 90%."
    assert usability(comparison(sure, "1" * 95 + "0" * 5, {})) == "Usable now: yes, 95% of the predictions are correct."
    assert usability(comparison(sure, "10" * 50, {})) == "Usable now: no, not at 90%."
    assert usability(comparison(sure[:5], "1" * 5, {})) == ""  # too few to say


def test_a_curve_that_rises_says_how_many_more_labels_are_needed():
    rng = np.random.default_rng(0)
    scores = {size: (1 - 1.2 / size**0.5 + rng.normal(0, 0.01, 12)).tolist() for size in (10, 20, 40, 80)}
    text = usability(comparison(np.linspace(1, 0.3, 100).tolist(), "1" * 60 + "10" * 20, scores))
    assert "more label" in text


def test_rows_that_a_strategy_chose_train_and_are_never_tested():
    codes, at_random = np.array([0, 1] * 30 + [-1] * 10), np.arange(70) % 3 == 0
    splits = Splits(codes, None, seed=0, testable=at_random)
    tested = [splits[number].test for number in range(5)]
    assert sorted(np.concatenate(tested)) == [row for row in range(60) if row % 3 == 0]
    assert splits.n_test == 4
    chosen = set(np.flatnonzero(~at_random[:60]).tolist())
    assert all(chosen <= set(splits[number].order.tolist()) for number in range(5))


@pytest.mark.parametrize("n_random", [24, 8])
def test_a_comparison_tests_on_random_rows_or_says_that_there_are_too_few(n_random):
    rng = np.random.default_rng(0)
    y = ["a", "b"] * 30
    frame = pl.DataFrame(
        {
            "x": (rng.normal(size=90) + np.array([0, 4] * 45)).round(3),
            "y": [*y, *[None] * 30],
            "next_selection": ["random"] * n_random + ["chosen"] * (60 - n_random) + [None] * 30,
        }
    )
    report = compare(frame, "y", methods=["logistic-regression"], limits=Limits(trials=6, n_jobs=1)).report
    if n_random == 8:
        assert any("8 labels of random rows" in text for text in report.warnings)
    else:
        assert any("24 rows chosen at random" in text for text in report.notes)
        assert report.facts["tested in a split"] == 4
