from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.confident_learning import confident_joint, thresholds

from handful.active.estimates import train_and_test
from handful.active.label_errors import class_thresholds, confident_classes, find_label_errors, find_tag_errors
from handful.active.query import ActiveLearner
from handful.errors import DataError, ParameterError
from handful.neighbors.rows import stratified_folds


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
    errors = find_label_errors(X, y, n=20)
    hits = [error for error in errors if error.row in wrong]
    assert len(hits) >= 15
    assert abs(errors.n_errors - 20) <= 5
    assert (errors.n_judged, errors.n_lone) == (200, 0)
    for error in hits:
        assert error.suggestion == (error.label - 1) % 3
        assert error.suggested_proba > error.label_proba
        assert len(error.neighbors) == 5
        assert error.row not in [row for row, _, _ in error.neighbors]
        assert [label for _, label, _ in error.neighbors].count(error.suggestion) >= 3
    assert len(find_label_errors(X, y)) == 10  # one for every 20 labels


def test_hardly_any_correct_label_is_listed_also_of_rows_that_were_chosen():
    X, y, _ = flipped(n=400, share=0.0)
    X = X * 0.5  # classes that overlap: half of the chosen rows lie between two
    assert len(find_label_errors(X, y)) <= 0.05 * 400
    learner, names = ActiveLearner(X), y.astype(str)
    while len(learner.labels) < 80:
        learner.update({one.row: names[one.row] for one in learner.next(10)})
    chosen = [learner.labels.get(row) for row in range(400)]
    assert len(find_label_errors(X, chosen)) <= 0.05 * 80


def test_folds_hold_every_class_apart_and_each_row_is_tested_once():
    codes = np.array([0] * 5 + [1] * 10 + [2] * 3)
    folds = stratified_folds(codes, 5, np.random.default_rng(0))
    assert all(len(set(folds[codes == code])) == min(5, (codes == code).sum()) for code in range(3))
    parts = train_and_test(folds)
    assert all(not set(train) & set(test) for train, test in parts)
    assert sorted(row for _, test in parts for row in test.tolist()) == list(range(18))


def test_unlabeled_rows_and_lone_classes_are_not_judged():
    X, y, _ = flipped()
    labels = np.array([str(label) for label in y], dtype=object)
    labels[:50] = None
    labels[60] = "lone"
    told = find_label_errors(X, labels)
    assert (told.n_judged, told.n_lone) == (149, 1)
    assert all(error.row >= 50 and error.row != 60 for error in told.errors)


def test_near_duplicates_with_different_labels_are_named():
    X, y, _ = flipped(share=0.0)
    X, y = np.vstack([X, X[:1] + 1e-3]), np.append(y, (y[0] + 1) % 3)
    assert (0, 200, y[0], y[200]) in find_label_errors(X, y).duplicates
    texts = ["please cancel my order today", "where is my parcel now"] * 10 + ["please cancel my order today"]
    told = find_label_errors(texts, ["cancel", "where"] * 10 + ["where"])
    assert told.duplicates
    assert all(20 in pair[:2] for pair in told.duplicates)


def test_labels_that_only_one_row_has_are_among_the_duplicates():
    texts = ["please cancel my order today", "where is my parcel now"] * 10
    labels = ["cancel", "where"] * 10
    told = find_label_errors([*texts, "Please cancel my order today!"], [*labels, "cancle"])
    assert told.n_lone == 1
    assert (0, 20, "cancel", "cancle") in told.duplicates
    told = find_label_errors([*texts, "the ship sails away", "The ship sails away"], [*labels, "ship", "sail"])
    assert told.duplicates == [(20, 21, "ship", "sail")]


def test_too_few_labels_to_doubt_are_told():
    with pytest.raises(DataError, match="at least two classes must have two labels or more"):
        find_label_errors([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    with pytest.raises(DataError, match="of one length, got 2 and 3"):
        find_label_errors([[0.0], [1.0]], ["a", "a", "b"])
    with pytest.raises(ParameterError, match="n must be at least 1"):
        find_label_errors([[0.0], [1.0]], ["a", "b"], n=0)


def tagged() -> tuple[list[list[str]], list[list[str]]]:
    names, verbs = ["Rome", "Paris", "Oslo", "Lima"], ["fell", "grew", "slept"]
    sentences = [["in", name, verb, "quietly"] for name in names for verb in verbs] * 3
    return sentences, [["O", "B-LOC", "O", "O"] for _ in sentences]


def test_wrong_tags_of_tokens_and_spans_are_found():
    sentences, tags = tagged()
    tags[7] = ["O", "O", "O", "O"]
    tags[20] = ["O", "B-LOC", "I-LOC", "O"]
    told = find_tag_errors(sentences, tags)
    places = {(error.sentence, error.start, error.stop): error for error in told.errors}
    assert set(places) == {(7, 1, 2), (20, 1, 3)}
    assert places[7, 1, 2].suggestion == ("B-LOC",)
    assert places[20, 1, 3].suggestion == ("B-LOC", "O")
    assert places[20, 1, 3].tokens == tuple(sentences[20][1:3])
    assert told.n_errors == 2
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
    told = find_tag_errors(sentences, tags, make=MadeTagger)
    found = [(error.tokens[0], round(error.label_proba, 2), error.confident) for error in told.errors]
    assert found == [("Tom", 0.0, False), ("Kim", 0.16, True), ("Eve", 0.6, False)]
    assert told.n_errors == 1


def test_sentences_that_differ_in_case_or_digits_are_duplicates():
    sentences, tags = tagged()
    sentences += [["In", "Rome", "fell", "17"], ["in", "rome", "fell", "23"]]
    told = find_tag_errors(sentences, [*tags, ["O", "B-LOC", "O", "O"], ["O", "O", "O", "O"]])
    assert (len(tags), len(tags) + 1) in told.duplicates


def test_clean_tags_are_not_doubted_and_bad_input_is_told():
    assert find_tag_errors(*tagged()).errors == []
    with pytest.raises(DataError, match="at least two sentences, each with tags, are needed, got 1 and 1"):
        find_tag_errors([["a"]], [["X"]])


def _interrupt(step):
    raise KeyboardInterrupt


def test_an_interruption_keeps_the_models_that_are_done():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 20)
    X = rng.normal(size=(40, 2)) + 4 * (y == "b")[:, None]
    y[[3, 30]] = ["b", "a"]
    told = find_label_errors(X, y, n=2, progress=_interrupt)
    assert told.n_folds == 1
    assert {error.row for error in told.errors} <= {3, 30}
    assert told.n_judged < 40
    tagged = find_tag_errors([["the", "dog"], ["a", "cat"]] * 5, [["D", "N"]] * 10, progress=_interrupt)
    assert tagged.n_judged == 2


def test_texts_of_nearly_the_same_words_are_duplicates():
    words = ["ship", "harbor", "storm", "sail", "island", "crew", "anchor", "wave", "deck", "mast"]
    texts = [f"{words[i % 10]} {words[(i * 7 + 3) % 10]} number {i} {words[(i * 3 + 1) % 10]} left" for i in range(60)]
    texts[50] = f"Oh, {texts[5]} again today with {texts[5]}"
    labels = ["sea", "land"] * 30
    labels[50], labels[5] = "sea", "land"
    found = find_label_errors(texts, labels)
    assert (5, 50) in [pair[:2] for pair in found.duplicates]
    assert len(found.duplicates) < 10


def test_labels_and_tags_in_doubt_are_sequences():
    X, y, _ = flipped()
    found = find_label_errors(X, y)
    assert list(found) == found.errors
    assert (len(found), found[0], found[:1]) == (len(found.errors), found.errors[0], found.errors[:1])
    tagged = find_tag_errors([["a", "b"]] * 12, [["X", "Y"]] * 11 + [["X", "X"]])
    assert list(tagged) == tagged.errors
    assert (len(tagged), tagged[0], tagged[:1]) == (len(tagged.errors), tagged.errors[0], tagged.errors[:1])
