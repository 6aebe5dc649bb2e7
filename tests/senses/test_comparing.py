"""The comparison of methods gives what the methods give one by one, and the toy tables tell their story."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Occurrence
from handful.errors import DataError
from handful.senses.classifier import SenseClassifier
from handful.senses.features import make_contexts
from papers.su2004.methods import ALL_METHODS, compare_methods, largest_words
from papers.toy import toy_table


def contexts(n, seed, word="bank.n"):
    rng = np.random.default_rng(seed)
    topics = {"money": ["loan", "cash", "credit"], "river": ["water", "mud", "fish"], "P": ["Bank", "Group", "Plc"]}
    drawn = []
    for i in range(n):
        sense = ["money", "river", "P"][int(rng.integers(0, 3))]
        words = [str(w) for w in rng.choice(topics[sense], 2)] + [str(w) for w in rng.choice(["old", "big", "new"], 2)]
        drawn.append(Occurrence(word, f"{word}.{seed}.{i}", (*words[:2], "bank", *words[2:]), 2, (sense,)))
    return drawn


def test_equals_the_methods_one_by_one():
    train, test, extra = contexts(24, 0), contexts(30, 1), contexts(40, 2)
    model = SenseClassifier(n_neighbors=3, margin=0.5)
    ready = [make_contexts(part) for part in (train, test, extra)]
    found = compare_methods(*ready, model=model)
    for name in ALL_METHODS:
        alone = SenseClassifier(name, n_neighbors=3, margin=0.5).fit_contexts(ready[0], ready[2])
        assert list(found[name].answers.values()) == alone.predict_contexts(ready[1])
    assert set(found["composite-kernel-pca"].sources.values()) == {"supervised", "semi-supervised"}


def test_scores_by_word():
    train = contexts(20, 0) + contexts(20, 1, "shore.n")
    test = contexts(10, 2) + contexts(10, 3, "shore.n")
    found = compare_methods(make_contexts(train), make_contexts(test), methods=["linear-svm"])["linear-svm"]
    both = found.score(test, ["bank.n", "shore.n"])
    parts = [found.score(test, [word]) for word in ("bank.n", "shore.n")]
    assert both.recall == pytest.approx(np.mean([part.recall for part in parts]))
    assert both.n_instances == 20
    assert found.score(test, ["bank.n"], {"P": "money", "money": "money"}).recall >= parts[0].recall


def test_largest_words_and_errors():
    sample = contexts(3, 0, "a.v") + contexts(5, 0, "b.v") + contexts(9, 0, "c.n") + contexts(3, 0, "d.v")
    assert largest_words(sample, "v", 2) == ["b.v", "a.v"]
    with pytest.raises(DataError, match=r"got none of 'bank\.n'"):
        compare_methods(make_contexts(sample), make_contexts(contexts(2, 1)))


def test_toy_story():
    assert (toy_table(1).answer, toy_table(2).answer) == (2, 1)
    np.testing.assert_allclose(toy_table(1).distances[[0, 3]], [1.859, 1.431], atol=5e-4)
    np.testing.assert_allclose(toy_table(2).distances[:4], [1.046, 1.194, 1.145, 1.778], atol=1e-3)
