"""How many light weights a condensed tagger leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from handful.errors import ParameterError
from handful.parsing.parser import DependencyParser
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.condensing import Condensing
from handful.representations.condensing import _right_heads as right_heads_of
from handful.representations.potency import CondensingSettings
from handful.tagging.condensing import Dropped, _cost, _costless, condense, refitted, slimmed
from handful.tagging.crf import CRF
from papers.generated_english import make_tagged_sentences


@pytest.fixture(scope="module")
def tagger():
    sentences = [["a", "dog", "ran"], ["the", "cat", "sat"], ["dogs", "sat"]]
    return CRF("general", strength=0.05).fit(sentences, [["D", "N", "V"], ["D", "N", "V"], ["N", "V"]])


DROPS = (0.01, 0.02, 0.05, 0.1)


def dropped(drop, wrong, changed):
    return Dropped(drop, 0.3, 0.3 + 0.1 * wrong, 0.0, 0.2 * changed, "f1", 0.8, 0.8, 0.7, 0.9, 10)


@pytest.mark.parametrize(
    ("wrong_at", "changed_at", "expected"),
    [((), (), 0.1), ((0.05, 0.1), (), 0.02), ((), (0.1,), 0.05), ((0.02,), (), 0.01), ((), DROPS, 0.01)],
)
def test_a_drop_costs_neither_errors_nor_answers(tagger, wrong_at, changed_at, expected):
    found = _costless(tagger, lambda drop: dropped(drop, drop in wrong_at, drop in changed_at), DROPS)
    assert found.below == expected  # the last before one that costs something, though a larger one may have luck


class Answers:
    """Answers A, but for the last token of the first few sentences, which gets B."""

    def __init__(self, n_other):
        self.n_other = n_other

    def predict(self, sentences):
        return [["A"] * (len(s) - 1) + ["B" if i < self.n_other else "A"] for i, s in enumerate(sentences)]


@pytest.mark.parametrize(
    ("n_sentences", "n_changed", "enough"),
    [(20, 0, False), (40, 0, True), (40, 1, False), (60, 2, False), (200, 5, True), (200, 6, False), (600, 20, True)],
)
def test_few_sentences_allow_a_smaller_share_of_changed_answers(n_sentences, n_changed, enough, tagger):
    sentences, gold = [["a", "b", "c"]] * n_sentences, [["A", "A", "C"]] * n_sentences
    before, after = Answers(0).predict(sentences), Answers(n_changed).predict(sentences)
    cost = lambda drop: _cost(gold, before, after, drop, False)  # noqa: E731
    assert cost(0.1).changed == pytest.approx(2 * n_changed / (3 * n_sentences))  # one tag less, and one more
    assert cost(0.1).errors == cost(0.1).errors_before == pytest.approx(2 / 3)
    assert cost(0.1).score == cost(0.1).score_before == pytest.approx(2 / 3)
    assert _costless(tagger, cost, (0.01, 0.1)).below == (0.1 if enough else 0.01)


def test_an_observation_of_light_weights_goes_with_all_of_them(tagger):
    drop, small = 0.2, slimmed(tagger, 0.2)
    space = tagger.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    heavy = np.flatnonzero(np.abs(weights) >= drop)
    rows = space.observations(heavy)
    norm = {row: np.sqrt((weights[heavy[rows == row]] ** 2).sum()) for row in set(rows.tolist())}
    light = {row for row in norm if row >= 0 and norm[row] < 2 * drop}
    assert light  # with weights that alone would be kept
    names = [space.describe(heavy[rows == row])[0][0] for row in light]
    assert set(names).isdisjoint(small.extractor.names(range(small.extractor.n_predicates)))
    assert small.n_active_ == sum(row not in light for row in rows.tolist())


def test_a_drop_that_leaves_nothing_is_not_taken():
    flat = CRF(["u", "b"], strength=10.0).fit([["a", "b"], ["a", "c"]], [["X", "Y"], ["X", "Y"]])
    assert 0.02 < abs(flat.weights_).max() < 0.1
    assert _costless(flat, lambda drop: dropped(drop, 0, 0), DROPS).below < 0.1


@pytest.fixture(scope="module")
def tagged():
    made = [tree.sentence for tree in make_tagged_sentences(90, random_state=1)]
    return [list(s.tokens) for s in made], [list(s["pos"]) for s in made]


def log_likelihood(model, sentences, tags):
    shares = model.predict_proba(sentences)
    codes = [np.searchsorted(model.classes_, row) for row in tags]
    return sum(np.log(share[np.arange(len(row)), row]).sum() for share, row in zip(shares, codes, strict=True))


def test_weights_that_are_left_take_over_from_those_that_are_gone(tagged):
    whole = CRF("pos", strength=0.05).fit(*tagged)
    small = slimmed(whole, 0.4)
    again = refitted(small, 0.4, *tagged)
    lost = [log_likelihood(whole, *tagged) - log_likelihood(model, *tagged) for model in (small, again)]
    assert 0 < lost[1] < 0.7 * lost[0]
    names = [set(model.extractor.names(range(model.extractor.n_predicates))) for model in (small, again)]
    assert names[1] <= names[0]
    assert again.n_active_ <= small.n_active_
    np.testing.assert_allclose(again.weights_ / 0.1, np.rint(again.weights_ / 0.1), atol=1e-9)
    assert again.n_active_condensed_ == len(np.unique(np.rint(again.weights_ / 0.1)))


def test_a_bias_against_spans_outlasts_what_is_learned_again():
    sentences = [["Mr", "Li", "of", "Rome"], ["a", "dog", "in", "Rome"], ["Li", "ran"]]
    tags = [["O", "B-PER", "O", "B-LOC"], ["O", "O", "O", "B-LOC"], ["B-PER", "O"]]

    def weight(bias):
        tagger = CRF("ner", encoding="iob2", outside_bias=bias, strength=0.05).fit(sentences, tags)
        again = refitted(slimmed(tagger, 0.05), 0.05, sentences, tags)
        return again.weights_[again.outside_feature(again.extractor, again.layout)]

    assert weight(3.0) - weight(0.0) == pytest.approx(3.0, abs=0.1)


def test_a_named_drop_refits_the_others_and_is_judged_on_held_out_sentences(tagged):
    sentences, tags = tagged
    base = CRF("pos", max_iter=10).fit(sentences, tags)
    condensing = Condensing(base, sentences, tags, CondensingSettings(held_out=3, drop=0.3))
    found = condense(condensing)
    expected = refitted(slimmed(base, 0.3), 0.3, sentences, tags)
    assert (found.mode, found.dropped.below) == ("rounded", 0.3)
    assert found.model.weights_.tolist() == expected.weights_.tolist()
    second = CRF("pos", max_iter=10).fit(*condensing.rest)
    trial = refitted(slimmed(second, 0.3), 0.3, *condensing.rest)
    inputs, gold = condensing.held
    assert found.dropped.score == pytest.approx(trial.score(inputs, gold))
    assert found.dropped.score_before == pytest.approx(second.score(inputs, gold))


@pytest.mark.parametrize(("n_answers", "largest"), [(999, 0.02), (1_000, 0.1)])
def test_few_held_out_answers_allow_no_large_drop(n_answers, largest, tagged, monkeypatch):
    sentences, tags = tagged
    base = CRF("pos", max_iter=10).fit(sentences, tags)
    condensing = Condensing(base, sentences, tags, CondensingSettings(held_out=3))
    words = [["a"]] * n_answers
    condensing.held = words, base.predict(words)
    monkeypatch.setattr("handful.tagging.condensing._cost", lambda *args: dropped(args[3], 0, 0))
    assert condense(condensing).dropped.below == largest


SHARES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)  # of the usual importance, tried one after the other
NONE, ONE, OTHERS, GAINED = (0, 0), (-1, 0), (-1, 1), (1, 0)


@pytest.fixture(scope="module")
def parser_counted():
    """A parser, its trees, and what it was counted to do with the last of them."""
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(order=2, max_iter=2, labeled=False).fit(trees[:40])
    condensing = Condensing(parser, trees[:40], None, CondensingSettings(held_out=3, max_iter=2))
    return parser, trees, condensing.count([tree.sentence for tree in trees[40:]])


@pytest.mark.parametrize(
    ("changes", "chosen"),
    [
        ((NONE, NONE, NONE, NONE, ONE, NONE), 3),
        ((NONE, NONE, NONE, OTHERS), 2),  # as many right as before, which may be luck
        ((NONE, GAINED, GAINED, GAINED, ONE), 3),
        ((NONE,) * 9, 8),
    ],
)
def test_a_parser_drops_while_it_loses_nothing_beyond_chance(changes, chosen, parser_counted, monkeypatch):
    parser, trees, condensing = parser_counted
    first, last = condensing.features
    model = last.damped(last.retrain(*condensing.held, **condensing.settings.training(parser)), 0.5)
    sizes = []

    def right_heads(model, trees):
        sizes.append(model.n_active_)
        right = np.full(len(trees), 5.0)
        right[:2] += changes[len(sizes) - 1]
        return right

    monkeypatch.setattr("handful.representations.condensing._right_heads", right_heads)
    small = condense(condensing).model
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == min(chosen + 2, len(SHARES))
    assert len(set(sizes)) > 2
    whole = last.thinned(model, 0.0, 0.5)
    assert right_heads_of(whole, trees).sum() == pytest.approx(whole.score(trees).uas * sum(map(len, trees)))
    expected = first.thinned(first.carry(model, last), SHARES[chosen], 0.5)
    assert small.keys_.tolist() == expected.keys_.tolist()
    assert small.weights_.tolist() == expected.weights_.tolist()


def test_light_and_rare_features_are_thinned_out():
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(order=2, max_iter=2, labeled=False).fit(trees[:40])
    features = CondensedFeatures(parser, base_step=0.001).fit([tree.sentence for tree in trees[40:]])
    whole = features.retrain(trees[:40], None, algorithm="fobos", rate=0.003, max_iter=1)
    weights = whole.condensed_weights_[features.members_]
    _, even = features.counts_.of(features._space, features.kept_)
    importance = abs(weights) * (even + 0.01) ** 0.25
    least = 0.5 * np.sqrt((importance[weights != 0] ** 2).mean())
    thin = features.thinned(whole, 0.5, 0.0)
    assert thin.keys_.tolist() == features._space.features.keys[features.kept_[importance >= least]].tolist()
    assert thin.weights_.tolist() == weights[importance >= least].tolist()
    rounded = features.thinned(whole, 0.0, 0.5)
    steps = rounded.weights_ / (0.5 * np.sqrt((weights[weights != 0] ** 2).mean()))
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert rounded.n_active_ == np.count_nonzero(abs(weights) > 0.25 * np.sqrt((weights[weights != 0] ** 2).mean()))


def test_a_damped_model_lies_between_the_base_model_and_the_other():
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(order=2, max_iter=2, labeled=False).fit(trees[:40])
    features = CondensedFeatures(parser, base_step=0.001).fit([tree.sentence for tree in trees[40:]])
    whole = features.retrain(trees[:40], None, algorithm="fobos", rate=0.003, max_iter=1)
    base = features.condensed_levels_ * features.base_step
    for share in (0.0, 0.5, 1.0):
        between = share * whole.condensed_weights_ + (1 - share) * base
        np.testing.assert_allclose(features.damped(whole, share).condensed_weights_, between, atol=1e-12)
    with pytest.raises(ParameterError, match="base_step"):
        CondensedFeatures(parser).fit([tree.sentence for tree in trees[40:]]).damped(whole, 0.5)


@pytest.mark.parametrize("scale", [1.0, 0.001])
def test_what_a_parser_keeps_does_not_depend_on_the_scale_of_its_weights(scale):
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(order=2, max_iter=2, labeled=False).fit(trees[:40])
    parser = parser.with_features(parser.features, parser.weights_ * scale)
    features = CondensingSettings(held_out=3).features(parser).fit([tree.sentence for tree in trees[40:]])
    usual = np.sqrt((parser.weights_**2).mean())
    assert features.base_step == pytest.approx(0.5 * usual)
    assert np.count_nonzero(features.condensed_levels_) > 10
