"""How many light weights a condensed tagger leaves out."""

from __future__ import annotations

import pytest

from handful.experiment.condensing import _costless, slimmed
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
