"""Weights that the labels of one type of span share."""

from __future__ import annotations

import numpy as np
import pytest

from handful.linear.batch import log_loss
from handful.persistence.model_file import load, save
from handful.tagging.crf import CRF

SENTENCES = [["in", "Rome", "now"], ["New", "York", "fell"], ["Ada", "left", "Rome"], ["Ada", "Byron", "in", "York"]]
TAGS = [
    ["O", "B-LOC", "O"],
    ["B-LOC", "I-LOC", "O"],
    ["B-PER", "O", "B-LOC"],
    ["B-PER", "I-PER", "O", "B-LOC"],
]
TEMPLATES = ["u", "b", "word[0]", "word[-1]"]


def test_the_gradient_vanishes_in_own_and_shared_weights():
    strength = 0.2
    tagger = CRF(TEMPLATES, encoding="iobes", share_types=True, strength=strength, tol=1e-12).fit(SENTENCES, TAGS)
    (chain,) = tagger.chains(SENTENCES)
    _, gradient = log_loss(chain, tagger.encode(SENTENCES, TAGS))(tagger.weights_)
    n_node, layout = len(tagger.layout.node_targets), tagger.layout
    predicates = np.repeat(np.arange(layout.n_predicates), np.diff(layout.node_offsets))
    kinds = np.array([tagger.classes_[target][2:] for target in layout.node_targets])
    assert set(kinds) == {"", "LOC", "PER"}
    for predicate in range(layout.n_predicates):
        for kind in set(kinds[predicates == predicate]):
            group = np.flatnonzero((predicates == predicate) & (kinds == kind))
            weights = tagger.weights_[:n_node][group]
            shared = weights.sum() / (len(group) + 1)  # where both penalties are at rest, it is the sum of the own ones
            assert gradient[group] == pytest.approx(-2 * strength * (weights - shared), abs=1e-4)
            assert gradient[group].sum() == pytest.approx(-2 * strength * shared, abs=1e-4)
    assert gradient[n_node:] == pytest.approx(-2 * strength * tagger.weights_[n_node:], abs=1e-4)


def test_what_begins_a_span_is_known_inside_one():
    plain = CRF(TEMPLATES, encoding="iobes", strength=0.1).fit(SENTENCES, TAGS)
    shared = CRF(TEMPLATES, encoding="iobes", share_types=True, strength=0.1).fit(SENTENCES, TAGS)
    assert "word[0]=Rome" not in dict(plain.top_features("E-LOC", 1000))
    assert dict(shared.top_features("E-LOC", 1000))["word[0]=Rome"] > 0
    assert shared.predict([["New", "Rome"]]) == [["B-LOC", "I-LOC"]]


@pytest.mark.parametrize("options", [{"algorithm": "pa"}, {"penalty": "l1", "strength": 0.01}])
def test_other_ways_of_learning_share_too(options):
    settings = {"strength": 0.1, **options}
    tagger = CRF(TEMPLATES, encoding="iobes", share_types=True, **settings).fit(SENTENCES, TAGS)
    assert tagger.predict(SENTENCES) == TAGS


def test_tags_without_spans_and_files(tmp_path):
    sentences, tags = [["the", "dog", "barks"], ["a", "cat"]], [["D", "N", "V"], ["D", "N"]]
    tagger = CRF(TEMPLATES, share_types=True, strength=0.1).fit(sentences, tags)
    save(tagger, tmp_path / "tagger.handful")
    again = load(tmp_path / "tagger.handful")
    assert again.share_types
    assert again.predict(sentences) == tagger.predict(sentences) == tags
