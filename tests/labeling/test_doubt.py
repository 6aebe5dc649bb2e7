from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.confident_learning import confident_joint, thresholds

from handful.core.errors import DataError, ParameterError
from handful.labeling import doubtful_labels, doubtful_tags
from handful.labeling.confident import (
    class_thresholds,
    confident_classes,
    cross_validated,
    dealt_folds,
    label_odds,
    mixture_weights,
)


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 8), min_size=3, max_size=3), st.integers(0, 2)), min_size=1, max_size=20)
)
def test_thresholds_and_joint_are_those_of_the_paper(rows):
    # Eighths add up exactly, so that ties with a threshold are ties in both versions.
    shares = np.array([[cell / 8 for cell in row] for row, _ in rows])
    codes = np.array([code for _, code in rows])
    limits = class_thresholds(shares, codes)
    plain = thresholds(shares.tolist(), codes.tolist(), 3)
    assert limits.tolist() == pytest.approx(plain)
    joint = np.zeros((3, 3), dtype=int)
    sure = confident_classes(shares, np.array(plain))
    np.add.at(joint, (codes[sure >= 0], sure[sure >= 0]), 1)
    assert joint.tolist() == confident_joint(shares.tolist(), codes.tolist(), 3)


def flipped(n: int = 200, share: float = 0.1) -> tuple[np.ndarray, np.ndarray, set[int]]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    X = np.array([[0, 0], [6, 0], [0, 6]])[codes] + rng.normal(size=(n, 2))
    wrong = rng.choice(n, int(share * n), replace=False)
    y = codes.copy()
    y[wrong] = (codes[wrong] + 1) % 3
    return X, y, set(wrong.tolist())


def test_flipped_labels_come_first_with_evidence():
    X, y, wrong = flipped()
    told = doubtful_labels(X, y, n=20)
    hits = [doubt for doubt in told.doubts if doubt.row in wrong]
    assert len(hits) >= 18
    assert abs(told.n_wrong - 20) <= 5
    assert (told.n_judged, told.n_lone) == (200, 0)
    assert sum(doubt.confident for doubt in hits) >= 15
    for doubt in hits:
        assert doubt.suggestion == (doubt.label - 1) % 3
        assert doubt.suggested_share > doubt.given_share
        assert len(doubt.models) >= 2
        assert len(doubt.neighbors) == 5
        assert doubt.row not in [row for row, _, _ in doubt.neighbors]
        assert [label for _, label, _ in doubt.neighbors].count(doubt.suggestion) >= 3


def test_unlabeled_rows_and_lone_classes_are_not_judged():
    X, y, _ = flipped()
    labels = np.array([str(label) for label in y], dtype=object)
    labels[:50] = None
    labels[60] = "lone"
    told = doubtful_labels(X, labels)
    assert (told.n_judged, told.n_lone) == (149, 1)
    assert all(doubt.row >= 50 and doubt.row != 60 for doubt in told.doubts)


def test_clean_labels_raise_hardly_a_doubt():
    X, y, _ = flipped(share=0.0)
    told = doubtful_labels(X, y, n=50)
    assert told.n_wrong <= 2
    assert len(told.doubts) == told.n_doubted < 10


@pytest.mark.parametrize("n", [None, 5, 100])
def test_no_label_that_models_agree_with_is_listed(n):
    X, y, _ = flipped()
    told = doubtful_labels(X + 2 * np.random.default_rng(1).normal(size=X.shape), y, n=n)
    assert len(told.doubts) == min(n or 200, told.n_doubted)
    assert told.n_wrong <= told.n_doubted < 100
    assert all(doubt.suggested_share > doubt.given_share for doubt in told.doubts)
    times = [
        (doubt.given_share + 0.01) / (max(doubt.suggested_share, doubt.given_share) + 0.01) for doubt in told.doubts
    ]
    assert times == sorted(times)


def test_a_label_that_is_likelier_than_its_rival_is_not_contradicted(monkeypatch):
    # Models are never sure of c, so that a quarter is as sure as they usually are; b would have to reach 0.9.
    lines = {"a": [0.8, 0.1, 0.1], "b": [0.05, 0.9, 0.05], "c": [0.4, 0.35, 0.25]}
    y = ["a"] * 5 + ["b"] * 5 + ["c"] * 5
    shares = np.array([lines[label] for label in y])
    shares[0] = [0.3, 0.45, 0.25]
    monkeypatch.setattr("handful.labeling.doubt._answers", lambda *_: {"made": shares})
    told = doubtful_labels(np.arange(15.0)[:, None], y)
    first = next(doubt for doubt in told.doubts if doubt.row == 0)
    assert (first.suggestion, first.confident) == ("b", False)
    assert told.n_wrong == sum(doubt.confident for doubt in told.doubts)


def test_near_duplicates_with_different_labels_are_named():
    X, y, _ = flipped(share=0.0)
    X, y = np.vstack([X, X[:1] + 1e-3]), np.append(y, (y[0] + 1) % 3)
    assert (0, 200, y[0], y[200]) in doubtful_labels(X, y).duplicates
    texts = ["please cancel my order today", "where is my parcel now"] * 10 + ["please cancel my order today"]
    told = doubtful_labels(texts, ["cancel", "where"] * 10 + ["where"])
    assert told.duplicates
    assert all(20 in pair[:2] for pair in told.duplicates)


def test_labels_that_only_one_row_has_are_among_the_duplicates():
    texts = ["please cancel my order today", "where is my parcel now"] * 10
    labels = ["cancel", "where"] * 10
    told = doubtful_labels([*texts, "Please cancel my order today!"], [*labels, "cancle"])
    assert told.n_lone == 1
    assert (0, 20, "cancel", "cancle") in told.duplicates
    told = doubtful_labels([*texts, "the ship sails away", "The ship sails away"], [*labels, "ship", "sail"])
    assert told.duplicates == [(20, 21, "ship", "sail")]


def test_too_few_labels_to_doubt_are_told():
    with pytest.raises(DataError, match="at least two classes must have two labels or more"):
        doubtful_labels([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    with pytest.raises(DataError, match="of one length, got 2 rows and 3 labels"):
        doubtful_labels([[0.0], [1.0]], ["a", "a", "b"])
    with pytest.raises(ParameterError, match="n must be at least 1"):
        doubtful_labels([[0.0], [1.0]], ["a", "b"], n=0)


def test_folds_hold_every_class_apart_and_each_row_is_asked_once():
    codes = np.array([0] * 5 + [1] * 10 + [2] * 3)
    folds = dealt_folds(codes, 5, np.random.default_rng(0))
    assert all(len(set(folds[codes == code])) == min(5, (codes == code).sum()) for code in range(3))
    seen = []

    def ask(train, test):
        assert not set(train) & set(test)
        seen.extend(test.tolist())
        return np.eye(3)[codes[test]]

    assert cross_validated(ask, folds, 3).argmax(axis=1).tolist() == codes.tolist()
    assert sorted(seen) == list(range(18))


def test_odds_are_those_against_the_best_other_class():
    odds = label_odds(np.array([[0.5, 0.3, 0.2]] * 2), np.array([0, 2]))
    assert np.exp(odds).round(6).tolist() == [round(0.51 / 0.31, 6), round(0.21 / 0.51, 6)]


def test_weights_are_the_likeliest_of_all_mixtures():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 300)
    answers = []
    for sure in (2.0, 1.0, 0.2):
        odds = rng.normal(size=(300, 3)) + sure * np.eye(3)[codes]
        answers.append(np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True))

    def likelihood(weights):
        return np.log(np.tensordot(weights, np.array(answers), axes=1)[np.arange(300), codes]).sum()

    grid = [(a / 50, b / 50, (50 - a - b) / 50) for a in range(51) for b in range(51 - a)]
    assert likelihood(mixture_weights(answers, codes)) > max(likelihood(weights) for weights in grid) - 0.5


def tagged() -> tuple[list[list[str]], list[list[str]]]:
    names, verbs = ["Rome", "Paris", "Oslo", "Lima"], ["fell", "grew", "slept"]
    sentences = [["in", name, verb, "quietly"] for name in names for verb in verbs] * 3
    return sentences, [["O", "B-LOC", "O", "O"] for _ in sentences]


def test_wrong_tags_of_tokens_and_spans_are_found():
    sentences, tags = tagged()
    tags[7] = ["O", "O", "O", "O"]
    tags[20] = ["O", "B-LOC", "I-LOC", "O"]
    told = doubtful_tags(sentences, tags)
    places = {(doubt.sentence, doubt.start, doubt.stop): doubt for doubt in told.doubts}
    assert set(places) == {(7, 1, 2), (20, 1, 3)}
    assert places[7, 1, 2].suggestion == ("B-LOC",)
    assert places[20, 1, 3].suggestion == ("B-LOC", "O")
    assert places[20, 1, 3].tokens == tuple(sentences[20][1:3])
    assert told.n_wrong == 2
    assert (7, 19) in told.duplicates or (7, 31) in told.duplicates
    same_name = sum(sentences[7][1] in sentence for sentence in sentences) - 1
    assert places[7, 1, 2].elsewhere == ((("B-LOC",), same_name),)


MADE = {  # of each word the answer, and how likely LOC, PER and PRE are
    "Ann": ("PER", (0.1, 0.9, 0.0)),
    "Rome": ("LOC", (0.2, 0.5, 0.3)),
    "Kim": ("LOC", (0.27, 0.16, 0.57)),
    "Tom": ("PER", (0.14, 0.76, 0.0)),
    "Eve": ("LOC", (0.3, 0.6, 0.1)),
}


class MadeTagger:
    classes_ = ("LOC", "PER", "PRE")

    def fit(self, sentences, tags):
        return self

    def predict(self, sentences):
        return [[MADE[word][0] for word in sentence] for sentence in sentences]

    def predict_proba(self, sentences):
        return [np.array([MADE[word][1] for word in sentence]) for sentence in sentences]


def test_the_least_likely_tags_come_first_and_likely_ones_are_not_contradicted():
    sentences = [["Ann"]] * 8 + [["Rome"]] * 4 + [["Kim"], ["Tom"], ["Eve"]]
    tags = [["PER"]] * 8 + [["LOC"]] * 4 + [["PER"], ["PRE"], ["PER"]]
    told = doubtful_tags(sentences, tags, make=MadeTagger)
    found = [(doubt.tokens[0], round(doubt.given_share, 2), doubt.confident) for doubt in told.doubts]
    assert found == [("Tom", 0.0, False), ("Kim", 0.16, True), ("Eve", 0.6, False)]
    assert told.n_wrong == 1


def test_sentences_that_differ_in_case_or_digits_are_duplicates():
    sentences, tags = tagged()
    sentences += [["In", "Rome", "fell", "17"], ["in", "rome", "fell", "23"]]
    told = doubtful_tags(sentences, [*tags, ["O", "B-LOC", "O", "O"], ["O", "O", "O", "O"]])
    assert (len(tags), len(tags) + 1) in told.duplicates


def test_clean_tags_are_not_doubted_and_bad_input_is_told():
    assert doubtful_tags(*tagged()).doubts == []
    with pytest.raises(DataError, match="at least two sentences, each with tags, are needed, got 1 and 1"):
        doubtful_tags([["a"]], [["X"]])


def _interrupt(step):
    raise KeyboardInterrupt


def test_an_interruption_keeps_the_models_that_are_done():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 20)
    X = rng.normal(size=(40, 2)) + 4 * (y == "b")[:, None]
    y[[3, 30]] = ["b", "a"]
    told = doubtful_labels(X, y, n=2, progress=_interrupt)
    assert told.models == ("logistic regression",)
    assert {doubt.row for doubt in told.doubts} == {3, 30}
    tagged = doubtful_tags([["the", "dog"], ["a", "cat"]] * 5, [["D", "N"]] * 10, progress=_interrupt)
    assert tagged.n_judged == 2


def test_texts_of_nearly_the_same_words_are_duplicates():
    words = ["ship", "harbor", "storm", "sail", "island", "crew", "anchor", "wave", "deck", "mast"]
    texts = [f"{words[i % 10]} {words[(i * 7 + 3) % 10]} number {i} {words[(i * 3 + 1) % 10]} left" for i in range(60)]
    texts[50] = f"Oh, {texts[5]} again today with {texts[5]}"
    labels = ["sea", "land"] * 30
    labels[50], labels[5] = "sea", "land"
    found = doubtful_labels(texts, labels)
    assert (5, 50) in [pair[:2] for pair in found.duplicates]
    assert len(found.duplicates) < 10


def test_labels_and_tags_in_doubt_are_sequences():
    X = [[float(i)] for i in [0, 1, 2, 3, 20, 21, 22, 23]]
    found = doubtful_labels(X, ["a", "a", "b", "a", "b", "b", "b", "b"])
    assert list(found) == found.doubts
    assert (len(found), found[0], found[:1]) == (len(found.doubts), found.doubts[0], found.doubts[:1])
    tagged = doubtful_tags([["a", "b"]] * 12, [["X", "Y"]] * 11 + [["X", "X"]])
    assert list(tagged) == tagged.doubts
    assert (len(tagged), tagged[0], tagged[:1]) == (len(tagged.doubts), tagged.doubts[0], tagged.doubts[:1])
