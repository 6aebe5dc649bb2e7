"""Taking, suggesting and checking prototypes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from handful.errors import DataError
from handful.representations.similarity import ContextSimilarity
from handful.tagging.prototypes.features import link_words, spelling_predicates
from handful.tagging.prototypes.lists import check_prototypes, extract_prototypes, suggest_prototypes
from handful.tagging.prototypes.tagger import PrototypeTagger

TEXT = [s.split() for s in ["the dog sat .", "the cat sat .", "a dog ran .", "a cat ran .", "oh !", "oh ."]]


def test_extracted_words_are_the_most_frequent_that_are_not_more_often_something_else():
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcdefghij"), size=400, p=np.arange(1, 11) / 55)
    tags = rng.choice(["X", "Y", "Z"], size=400)
    found = extract_prototypes([words.tolist()], [tags.tolist()], 3, min_share=0.0)
    counts = Counter(zip(words.tolist(), tags.tolist(), strict=True))
    for label in "XYZ":
        mine = sorted(
            (-counts[w, label], w)
            for w in set(words.tolist())
            if counts[w, label] and all(counts[w, label] >= counts[w, other] for other in "XYZ")
        )
        assert found.get(label, []) == [w for _, w in mine[:3]]


def test_the_share_of_a_label_can_be_asked_for():
    words, tags = ["a"] * 5, ["X", "X", "Y", "Z", "Z"]
    assert extract_prototypes([words], [tags]) == {}
    assert extract_prototypes([words], [tags], min_share=0.4) == {"X": ["a"], "Z": ["a"]}


def test_tags_must_fit_the_words():
    with pytest.raises(DataError, match="every token must have one tag"):
        extract_prototypes([["a", "b"]], [["X"]])


class Plane:
    """Words as points of a circle."""

    def __init__(self, **angles):
        self.vocabulary_ = {word: row for row, word in enumerate(angles)}
        turn = np.deg2rad(list(angles.values()))
        self.vectors_ = np.column_stack([np.cos(turn), np.sin(turn)])


def test_links_are_the_nearest_above_the_threshold():
    plane = Plane(p=0, q=40, r=170, w=10, far=270)
    links = link_words(plane, ["p", "q", "r", "unknown"], n_links=2, threshold=0.35)
    assert links == {"p": ["p"], "q": ["q"], "r": ["r"], "unknown": ["unknown"], "w": ["p", "q"]}
    assert link_words(plane, ["p", "q"], n_links=1, threshold=0.35, words=["w", "far", "new"])["w"] == ["p"]
    # a link must be above the threshold, not at it
    assert "w" not in link_words(Plane(p=0, w=60), ["p"], n_links=1, threshold=0.5)


def test_suffixes_are_shorter_than_the_word():
    assert spelling_predicates("at") == ["suffix=t"]
    assert spelling_predicates("x") == []
    assert spelling_predicates("3-D", suffix_length=0) == ["hyphen", "digit"]


def test_suggestions_go_to_the_nearest_label_and_leave_prototypes_out():
    plane = Plane(p=0, q=90, near_p=10, near_q=80, far=200)
    text = [["p", "q", "near_p", "near_q", "far", "new"]] * 5
    found = suggest_prototypes(text, {"P": ["p"], "Q": ["q"], "empty": []}, plane)
    assert [(word, count) for word, _, count in found.near["P"]] == [("near_p", 5)]
    assert [word for word, _, _ in found.near["Q"]] == ["near_q"]
    assert found.near["empty"] == []
    assert found.uncovered == [("far", 5), ("new", 5)]
    assert suggest_prototypes(text, {"P": ["p"]}, plane, min_count=6).uncovered == []
    assert suggest_prototypes(text[1:], {"P": ["p"]}, plane).uncovered == []  # four times is rare in any text
    padded = [*text, *[["p"] * 100] * 1000]  # now 5 tokens of 100,000 are too few
    assert suggest_prototypes(padded, {"P": ["p"]}, plane).uncovered == []


def test_the_report_adds_up():
    similarity = ContextSimilarity(n_components=4).fit(TEXT)
    lists = {"N": ["dog", "oh"], "D": ["the"], "V": ["sat", "flew"], "X": ["oh"]}
    report = check_prototypes(TEXT, lists, similarity)
    counts = Counter(word for sentence in TEXT for word in sentence)
    total = sum(counts.values())
    assert report.n_tokens == total
    assert report.prototype_share == pytest.approx(sum(counts[w] for w in ("dog", "oh", "the", "sat")) / total)
    left = sum(n for _, n in report.uncovered) / total
    assert report.prototype_share + report.linked_share + left == pytest.approx(1.0)
    assert report.missing == {"V": ["flew"]}
    assert report.ambiguous == {"oh": ["N", "X"]}
    assert report.unsure == []
    # labels share out what is linked; a word of two labels counts for both
    reach = {mine.label: mine for mine in report.labels}
    assert list(reach) == list(lists)
    assert reach["V"].prototypes == [("sat", counts["sat"]), ("flew", 0)]
    assert reach["X"].prototype_share == pytest.approx(counts["oh"] / total)
    only_once = sum(mine.linked_share for label, mine in reach.items() if label != "X")
    assert only_once == pytest.approx(report.linked_share)
    assert "cat" in reach["N"].like


def test_words_the_tagger_is_unsure_of_come_with_their_entropy():
    lists = {"N": ["dog"], "D": ["the", "a"], "V": ["sat"]}
    tagger = PrototypeTagger(lists, order=1, max_iter=2).fit(TEXT)
    report = check_prototypes(TEXT, lists, tagger=tagger, n_words=3)
    assert len(report.unsure) == 3
    shares = np.concatenate(tagger.predict_proba(TEXT))
    bits = -(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=1)
    doubt = report.unsure[0]
    places = [i for i, w in enumerate(w for s in TEXT for w in s) if w == doubt.word]
    assert doubt.count == len(places)
    assert doubt.bits == pytest.approx(bits[places].mean())
    label, share = doubt.labels[0]
    assert share == pytest.approx(shares[places].mean(axis=0).max())
    assert label == tagger.classes_[shares[places].mean(axis=0).argmax()]
    # a prototype is never in doubt
    assert not {"dog", "the", "a", "sat"} & {doubt.word for doubt in report.unsure}


def test_an_empty_text_is_refused():
    with pytest.raises(DataError, match="at least one token"):
        check_prototypes([[]], {"N": ["dog"]})
