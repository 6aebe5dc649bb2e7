from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from handful.evaluation.best_bet import place_bets
from handful.evaluation.ranking import Entry, Setting, difference, rank, score_interval
from handful.evaluation.verdict import judge

SETTING = Setting(test_share=0.25, n_test=400, n_labels=20)


def entry(name, mean, spread=0.01, n=10, **kind):
    rng = np.random.default_rng(len(name))
    return Entry(name, dict(enumerate(mean + spread * rng.standard_normal(n))), **kind)


def judged(*entries, setting=SETTING):
    return judge(rank(entries, setting), setting)


def test_a_clear_gain_is_named():
    entries = (
        entry("plain", 0.70, plain=True),
        entry("semi", 0.80, uses_unlabeled=True, twin="alone"),
        entry("alone", 0.71, ranked=False),
    )
    verdict = judged(*entries)
    assert verdict.unlabeled_help
    assert verdict.use == "semi"
    assert verdict.proven.startswith("Proven: unlabeled rows help, +")
    assert "over plain, the only plain supervised model (p < .001)" in verdict.proven
    assert "over alone." in verdict.proven
    assert [r.name for r in rank(entries, SETTING).ranks] == ["semi", "plain"]


def test_a_better_method_whose_twin_is_as_good_owes_nothing_to_unlabeled_rows():
    verdict = judged(
        entry("plain", 0.70, plain=True),
        entry("semi", 0.80, uses_unlabeled=True, twin="alone"),
        entry("alone", 0.80, ranked=False),
    )
    assert not verdict.unlabeled_help
    assert "that it owes this to unlabeled rows is not proven" in verdict.proven
    verdict = judged(
        entry("plain", 0.70, plain=True),
        entry("semi", 0.78, uses_unlabeled=True, twin="plain"),
        entry("other", 0.85),
    )
    assert verdict.use == "other"
    assert "it learns from the labels alone" in verdict.proven


def test_harm_is_a_warning():
    verdict = judged(entry("plain", 0.89, plain=True), entry("semi", 0.80, uses_unlabeled=True, twin="plain"))
    assert verdict.use == "plain"
    assert verdict.proven.startswith("Not proven: that unlabeled rows help; semi is at \N{MINUS SIGN}")
    assert verdict.warnings[0].startswith("Unlabeled rows do harm to semi: \N{MINUS SIGN}")


def test_the_better_baseline_is_the_one_to_beat():
    entries = (entry("a", 0.6, plain=True), entry("b", 0.8, plain=True), entry("new", 0.7))
    ranking = rank(entries, SETTING)
    assert ranking.baseline == "b"
    assert judge(ranking, SETTING).use == "b"


def test_a_better_method_that_was_not_named_is_pointed_at():
    named = (
        entry("near", 0.70, uses_unlabeled=True, twin="plain"),
        entry("spread", 0.72, uses_unlabeled=True, twin="plain"),
    )
    verdict = judged(entry("plain", 0.80, plain=True, candidate=False), *named)
    assert verdict.use == "spread"
    assert verdict.best_bet.startswith("Best bet of the 2 that you named: spread, expected at 7")
    assert ". A better bet: plain, which was not named and ran beside it, is expected at 7" in verdict.best_bet
    alone = judged(entry("plain", 0.80, plain=True, candidate=False), named[0]).best_bet
    assert alone.startswith("Best bet: near, ")
    assert "A better bet: plain, " in alone
    assert "better" not in judged(entry("plain", 0.60, plain=True, candidate=False), *named).best_bet


def test_a_better_method_that_was_not_named_is_pointed_at_without_numbers_that_mean_nothing():
    few = Setting(test_share=0.25, n_test=4, n_labels=8)
    named = Entry("near", {0: 0.5})
    verdict = judged(Entry("plain", {0: 1.0}, plain=True, candidate=False), named, setting=few)
    assert verdict.use == "near"
    assert verdict.best_bet.endswith(". A better bet: plain, which was not named and ran beside it, did better so far.")


def test_one_supervised_method_is_not_the_best_of_several():
    semi = entry("semi", 0.705, uses_unlabeled=True, twin="plain")
    one, other = entry("plain", 0.70, plain=True), entry("other", 0.6, plain=True)
    assert "plain, the only plain supervised model" in judged(one, semi).proven
    assert "plain, the best supervised model" in judged(one, other, semi).proven


def test_one_lucky_draw_makes_no_baseline():
    ranking = rank([entry("often", 0.7, plain=True), entry("once", 0.9, n=1, plain=True)], SETTING)
    assert ranking.baseline == "often"


def test_scores_from_which_nothing_follows_are_not_told_as_numbers():
    few = Setting(test_share=0.25, n_test=2, n_labels=8)
    bad, good = {0: 0.0, 1: 0.5, 2: 1.0}, {0: 1.0, 1: 0.5, 2: 0.0}
    semi = Entry("semi", bad, uses_unlabeled=True, twin="plain", favorite=True)
    verdict = judged(semi, Entry("plain", good, plain=True), setting=few)
    assert "with 8 labels tells little (95 % interval 0.0 to 100.0 % score)" in verdict.best_bet
    assert verdict.proven.endswith("so few tested rows cannot tell it from plain, the only plain supervised model.")


def test_no_word_of_chance_for_a_large_lead_and_none_of_unlabeled_rows_where_none_were_used():
    few = Setting(test_share=0.25, n_test=3, n_labels=12)
    scores = {0: 1.0, 1: 0.33, 2: 1.0}
    lead = Entry("semi", scores, uses_unlabeled=True, twin="plain")
    verdict = judged(Entry("plain", {k: v - 0.29 for k, v in scores.items()}, plain=True), lead, setting=few)
    assert not verdict.unlabeled_help
    assert "+29.0 points" in verdict.proven
    assert "chance" not in verdict.proven
    assert "so few tested rows cannot prove it" in verdict.proven
    verdict = judged(entry("plain", 0.7, plain=True), entry("other", 0.701))
    assert "Whether unlabeled rows help was not tried" in verdict.proven
    assert (
        "may be chance"
        in judged(
            entry("plain", 0.70, 0.05, plain=True), entry("semi", 0.725, 0.05, uses_unlabeled=True, twin="plain")
        ).proven
    )


@pytest.mark.parametrize("n_draws", [1, 2, 20])
def test_every_verdict_is_two_sentences_that_name_a_measured_method(n_draws):
    rng = np.random.default_rng(n_draws)
    for _ in range(50):
        entries = [
            Entry("plain", {}, plain=True),
            Entry("other", {}, plain=True),
            Entry("semi", {}, uses_unlabeled=True, twin="plain"),
            Entry("team", {}, uses_unlabeled=True, twin="alone", favorite=True),
            Entry("alone", {}, ranked=False),
        ]
        kept = [e for e in entries if rng.random() < 0.7] or entries[:1]
        measured = [
            Entry(**{**vars(e), "scores": {d: float(rng.random()) for d in range(int(rng.integers(1, n_draws + 1)))}})
            for e in kept
        ]
        ranking = rank(measured, SETTING)
        if not ranking.ranks:
            continue
        verdict = judge(ranking, SETTING, "a fit takes 3 s")
        assert verdict.use in {e.name for e in measured if e.ranked}
        score = verdict.best_bet.removeprefix(f"Best bet: {verdict.use}, ")
        assert score.startswith(("expected at ", "by experience with other data: "))
        assert verdict.best_bet.endswith("; a fit takes 3 s.")
        assert verdict.proven.endswith(".")
        assert verdict.unlabeled_help == verdict.proven.startswith("Proven: unlabeled rows help")
        assert "None" not in verdict.text


def test_draws_that_agree_by_chance_prove_nothing():
    plain = Entry("plain", {0: 0.5, 1: 0.5, 2: 0.5}, plain=True)
    lucky = Entry("lucky", {0: 0.625, 1: 0.625, 2: 0.625})
    ranking = rank([plain, lucky], Setting(test_share=0.25, n_test=8, n_labels=4))
    assert ranking.ranks[0].name == "lucky"
    assert not ranking.ranks[0].better
    low, high = score_interval([1.0, 1.0], 0.25, 8)
    assert low < 0.9
    assert high == 1.0
    assert score_interval([0.5], 0.25, 8)[0] < 0.2


def test_two_methods_that_never_differed_may_differ_by_a_little():
    plain, same = (Entry(name, {0: 0.5, 1: 0.75}) for name in ("plain", "same"))
    few, many = (difference(same, plain, Setting(0.25, n, 4)) for n in (8, 800))
    assert few.mean == many.mean == 0
    assert few.low < many.low < 0 < many.high < few.high
    assert many.high < 0.01
    assert difference(Entry("once", {0: 0.5}), plain, SETTING) is None


def test_methods_are_compared_on_the_draws_they_share():
    """A method that was tried on easy draws alone is not better for it."""
    often = Entry("often", {0: 0.9, 1: 0.9, 2: 0.3, 3: 0.3}, plain=True)
    seldom = Entry("seldom", {0: 0.88, 1: 0.88})
    ranking = rank([often, seldom], SETTING)
    assert [r.name for r in ranking.ranks] == ["often", "seldom"]
    assert ranking.rank_of("seldom").score == pytest.approx(0.58)
    assert ranking.rank_of("seldom").measured == pytest.approx(0.88)
    assert ranking.rank_of("often").measured == pytest.approx(0.6)
    assert ranking.rank_of("seldom").difference == pytest.approx(-0.02)
    assert ranking.rank_of("seldom").against.n_shared == 2


def test_what_draws_gave_is_a_number_that_so_few_rows_can_give():
    often = [Entry(f"m{i}", {0: 0.875 - 0.125 * i, 1: 0.625}, plain=True) for i in range(3)]
    setting = Setting(test_share=0.25, n_test=8, n_labels=30)
    ranking = rank([*often, Entry("team", {0: 1.0}, favorite=True)], setting)
    assert ranking.best.name == "team"
    assert ranking.best.score < 0.999
    assert "; 1 draw with 8 held-out labels gave 100.0 % score)" in judge(ranking, setting).best_bet


@pytest.mark.parametrize("n_test", [3, 5, 8, 12, 20])
def test_the_interval_of_a_single_draw_holds_the_truth_as_often_as_it_says(n_test):
    """With the exact chance of each number of right answers, whatever the true share is."""
    setting = Setting(test_share=0.25, n_test=n_test, n_labels=4 * n_test)
    numbers = np.arange(n_test + 1)
    found = [rank([Entry("team", {0: k / n_test})], setting).best for k in numbers]
    low, high = np.array([best.low for best in found]), np.array([best.high for best in found])
    for truth in np.linspace(0.3, 0.99, 70):
        held = (low <= truth) & (truth <= high)
        assert binom.pmf(numbers, n_test, truth)[held].sum() >= 0.95


def test_all_of_eight_right_in_one_draw_promise_little_more_than_their_exact_interval():
    setting = Setting(test_share=0.25, n_test=8, n_labels=30)
    others = [Entry(f"m{i}", {0: score}, plain=True) for i, score in enumerate((0.75, 0.875, 1.0, 0.875))]
    best = rank([Entry("team", {0: 1.0}, favorite=True), *others], setting).best
    assert best.name == "team"
    assert best.low < 0.025 ** (1 / 8) + 0.01  # 63.1 %
    assert best.high == 1


def test_a_difference_over_some_of_the_draws_says_so():
    often = Entry("often", {0: 0.80, 1: 0.82, 2: 0.81, 3: 0.83, 4: 0.9}, plain=True)
    other = Entry("other", {0: 0.70, 1: 0.72, 2: 0.71, 3: 0.73}, plain=True)
    team = Entry("team", {0: 0.80, 1: 0.82, 2: 0.81, 3: 0.83}, favorite=True)
    assert "it is at 0.0 points (\N{MINUS SIGN}" in judged(often, other, team).proven
    assert " on the 4 draws that both had) to often, the best supervised model" in judged(often, other, team).proven
    same = Entry("often", dict(list(often.scores.items())[:4]), plain=True)
    assert "draws that both had" not in judged(same, other, team).proven


def test_the_favorite_is_chosen_unless_another_is_better_beyond_noise():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (2, 10))

    def leader(lead, n_test):
        scores = {"team": dict(enumerate(0.7 + noise[0])), "tree": dict(enumerate(0.7 + lead + noise[1]))}
        return place_bets(scores, test_share=0.25, n_test=n_test, favorite="team")[0].name

    assert leader(0.02, n_test=5) == "team"
    assert leader(0.30, n_test=5) == "tree"
    assert leader(0.08, n_test=1_000) == "tree"


def test_bets_are_chances():
    scores = {
        name: {d: m + 0.01 * ((d * k) % 3) for d in range(6)}
        for k, (name, m) in enumerate({"a": 0.7, "b": 0.69, "c": 0.5}.items())
    }
    bets = place_bets(scores, test_share=0.25, n_test=100)
    assert sum(bet.p_best for bet in bets) == pytest.approx(1)
    assert [bet.name for bet in bets] == ["a", "b", "c"]
    assert bets[0].hope == 0
    assert bets[1].hope > bets[2].hope >= 0
    assert bets[2].beaten
    assert not bets[1].beaten
    assert place_bets({}, test_share=0.25, n_test=10) == []


def test_what_is_expected_of_few_tested_rows_is_drawn_in_and_says_what_it_is_of():
    entries = [Entry("team", {0: 1.0, 1: 1.0}, favorite=True), Entry("k-nn", {0: 1.0, 1: 1.0}, plain=True)]
    setting = Setting(test_share=0.25, n_test=2, n_labels=8, even=True)
    best = rank(entries, setting).best
    assert best.score == 1
    assert best.low <= best.expected <= 11.5 / 12
    many = rank(entries, Setting(test_share=0.25, n_test=2_000, n_labels=8)).best
    assert many.expected > 0.999
    told = judge(rank(entries, Setting(0.25, 100, 8, even=True)), setting).best_bet
    assert "with 8 labels, if classes are equally frequent" in told


def test_chances_are_those_of_methods_that_may_be_recommended():
    means = {"k-nn": 0.71, "tree": 0.70, "forest": 0.91}
    scores = {name: {draw: mean + 0.01 * (draw % 2) for draw in range(10)} for name, mean in means.items()}
    entries = [Entry(name, drawn, plain=True, candidate=name != "forest") for name, drawn in scores.items()]
    setting = Setting(test_share=0.25, n_test=300, n_labels=20)
    ranking = rank(entries, setting)
    chances = {line.name: line.p_best for line in ranking.ranks}
    assert chances["forest"] == 0
    assert chances["k-nn"] + chances["tree"] == pytest.approx(1)
    assert "to be the best of the 2 that were named" in judge(ranking, setting).best_bet


def test_methods_that_are_not_in_question_do_not_move_what_is_expected_of_the_best():
    rng = np.random.default_rng(0)
    lead = {draw: float(score) for draw, score in enumerate(rng.normal(0.87, 0.02, 5))}
    good = Entry("team", lead, uses_unlabeled=True, favorite=True)
    bad = [Entry(f"bad {i}", {d: s - 0.4 for d, s in lead.items()}, plain=True) for i in range(12)]
    setting = Setting(test_share=0.25, n_test=10, n_labels=40)
    best = rank([good, *bad], setting).best
    assert best.name == "team"
    assert abs(best.expected - 0.87) < 0.04
    assert best.low + 0.05 < best.expected < best.high - 0.05
    told = judge(rank([good, *bad], setting), replace(setting, metric="balanced accuracy")).best_bet
    assert re.search(
        r"expected at \d\d\.\d % balanced accuracy with \d+ labels \(95 % interval [\d.]+ to [\d.]+ %", told
    )
    assert re.search(r"5 draws with 10 held-out labels each gave 8\d\.\d % balanced accuracy\)", told)


@pytest.mark.parametrize("n_draws", [1, 5, 10])
def test_what_is_expected_stands_in_the_middle_of_its_interval(n_draws):
    rng = np.random.default_rng(1)
    entries = [
        Entry(f"m{i}", {d: float(rng.normal(level, 0.1)) for d in range(n_draws)}, plain=True)
        for i, level in enumerate(np.linspace(0.2, 0.7, 15))
    ]
    best = rank(entries, Setting(test_share=0.25, n_test=9, n_labels=36)).best
    assert 0 < best.low < best.high < 1
    assert best.expected == pytest.approx((best.low + best.high) / 2)


def test_scores_that_hang_on_few_rows_of_a_rare_class_promise_little():
    all_right = Entry("team", {0: 1.0}, plain=True)
    plain, even = (
        rank([all_right], Setting(test_share=0.25, n_test=12, n_labels=48, worth=worth)).best for worth in (None, 3.7)
    )
    assert even.expected < plain.expected - 0.03
    assert even.high - even.low > 1.5 * (plain.high - plain.low)
