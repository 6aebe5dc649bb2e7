from __future__ import annotations

import numpy as np
import pytest

from handful.evaluation.comparison import Entry, rank, score_interval


def entry(name, mean, spread=0.01, n=10, **kind):
    rng = np.random.default_rng(len(name))
    return Entry(name, dict(enumerate(mean + spread * rng.standard_normal(n))), **kind)


def ranked(*entries):
    return rank(entries, test_share=0.25, n_test=400, n_labels=20)


def test_a_clear_gain_is_named():
    found = ranked(
        entry("plain", 0.70, plain=True),
        entry("semi", 0.80, uses_unlabeled=True, twin="alone"),
        entry("alone", 0.71, ranked=False),
    )
    assert found.verdict.unlabeled_help
    assert found.verdict.use == "semi"
    assert found.verdict.text.startswith("Unlabeled rows help here: +")
    assert [r.name for r in found.ranks] == ["semi", "plain"]


def test_a_better_method_whose_twin_is_as_good_owes_nothing_to_unlabeled_rows():
    found = ranked(
        entry("plain", 0.70, plain=True),
        entry("semi", 0.80, uses_unlabeled=True, twin="alone"),
        entry("alone", 0.80, ranked=False),
    )
    assert not found.verdict.unlabeled_help
    assert "not certain" in found.verdict.text
    found = ranked(
        entry("plain", 0.70, plain=True),
        entry("semi", 0.78, uses_unlabeled=True, twin="plain"),
        entry("other", 0.85),
    )
    assert found.verdict.use == "other"
    assert found.verdict.text.startswith("Unlabeled rows do not help here.")


def test_harm_is_a_warning():
    found = ranked(entry("plain", 0.89, plain=True), entry("semi", 0.80, uses_unlabeled=True, twin="plain"))
    assert found.verdict.use == "plain"
    assert found.verdict.text.startswith("Nothing helps here")
    assert found.verdict.warnings[0].startswith("Unlabeled rows do harm to semi: \N{MINUS SIGN}")


def test_the_better_baseline_is_the_one_to_beat():
    found = ranked(entry("a", 0.6, plain=True), entry("b", 0.8, plain=True), entry("new", 0.7))
    assert found.baseline == "b"
    assert found.verdict.use == "b"


def test_draws_that_agree_by_chance_prove_nothing():
    plain = Entry("plain", {0: 0.5, 1: 0.5}, plain=True)
    lucky = Entry("lucky", {0: 0.625, 1: 0.625})
    found = rank([plain, lucky], test_share=0.25, n_test=8, n_labels=4)
    assert found.ranks[0].name == "lucky"
    assert not found.ranks[0].better
    low, high = score_interval([1.0, 1.0], 0.25, 8)
    assert low < 0.9
    assert high == 1.0


def test_two_methods_that_never_differed_may_differ_by_a_little():
    plain = Entry("plain", {0: 0.5, 1: 0.75}, plain=True)
    same = Entry("same", {0: 0.5, 1: 0.75}, uses_unlabeled=True, twin="plain")
    few, many = (rank([plain, same], test_share=0.25, n_test=n, n_labels=4).ranks[1].gain for n in (8, 800))
    assert few.mean == many.mean == 0
    assert few.low < many.low < 0 < many.high < few.high
    assert many.high < 0.01


def test_only_draws_that_all_finished_count():
    found = rank(
        [Entry("plain", {0: 0.5, 1: 0.6, 2: 0.9}, plain=True), Entry("slow", {0: 0.5, 1: 0.6})],
        test_share=0.25,
        n_test=50,
        n_labels=4,
    )
    assert found.draws == (0, 1)
    assert found.ranks[0].score == pytest.approx(0.55)
    early = rank([Entry("plain", {0: 0.5}, plain=True), Entry("slow", {})], test_share=0.25, n_test=50, n_labels=4)
    assert early.ranks == ()
    assert early.verdict.text.startswith("Too few draws")
