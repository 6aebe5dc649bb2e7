"""How many light weights a condensed tagger leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from handful.corpora.make import make_tagged_sentences
from handful.experiment.condensing import _costless, condense, slimmed
from handful.parsing import DependencyParser
from handful.representations.condensed.condensing import Condensing
from handful.representations.condensed.settings import CondensingSettings
from handful.tagging import CRF


@pytest.fixture(scope="module")
def tagger():
    sentences = [["a", "dog", "ran"], ["the", "cat", "sat"], ["dogs", "sat"]]
    return CRF("general", strength=0.05).fit(sentences, [["D", "N", "V"], ["D", "N", "V"], ["N", "V"]])


@pytest.mark.parametrize(
    ("wrong_beyond", "changed_beyond", "expected"),
    [(1.0, 1.0, 0.1), (0.02, 1.0, 0.02), (1.0, 0.05, 0.05), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)],
)
def test_a_drop_costs_neither_errors_nor_answers(tagger, wrong_beyond, changed_beyond, expected):
    lightest = {slimmed(tagger, drop).n_active_: drop for drop in (0.0, 0.02, 0.05, 0.1)}
    assert len(lightest) == 4

    def costs(small):
        drop = lightest[small.n_active_]
        return 0.1 * (drop > wrong_beyond), 0.2 * (drop > changed_beyond)

    assert _costless(tagger, costs) == expected


def test_a_drop_that_leaves_nothing_is_not_taken():
    flat = CRF(["u", "b"], strength=10.0).fit([["a", "b"], ["a", "c"]], [["X", "Y"], ["X", "Y"]])
    assert 0.02 < abs(flat.weights_).max() < 0.1
    assert _costless(flat, lambda small: (0.0, 0.0)) < 0.1


SHARES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)  # of the usual weight, tried one after the other


@pytest.mark.parametrize("allowed", [0, 2, 5])
def test_a_parser_drops_what_held_out_trees_do_not_miss(allowed, monkeypatch):
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(order=2, max_iter=2, labeled=False).fit(trees[:40])
    condensing = Condensing(parser, trees[:40], None, CondensingSettings(held_out=3, max_iter=2))
    condensing.count([tree.sentence for tree in trees[40:]])
    last = condensing.features[1]
    model = last.retrain(*condensing.held, **condensing.settings.training(parser))
    limit = SHARES[allowed] * np.sqrt((model.weights_**2).mean())
    sizes = []

    def right(model, inputs, outputs):
        sizes.append(model.n_active_)
        return 0.9 if len(sizes) <= allowed + 1 else 0.8

    monkeypatch.setattr("handful.representations.condensed.condensing._right", right)
    small = condense(condensing).model
    assert len(set(sizes)) == len(SHARES)
    assert sizes == sorted(sizes, reverse=True)
    assert small.n_active_ == np.count_nonzero(abs(condensing.features[0].carry(model, last).weights_) >= limit)
