from __future__ import annotations

import numpy as np
import pytest

from handful.active.merge import merge_sentences
from handful.active.sentences import suggest_sentences
from handful.data.records import Sentence
from handful.errors import DataError, ParameterError


class Unsure:
    """A tagger that is sure of every word but those in capitals."""

    classes_ = np.array(["X", "Y"])

    def predict(self, sentences):
        return [["X"] * len(sentence) for sentence in sentences]

    def predict_proba(self, sentences):
        return [np.array([[0.5, 0.5] if word.isupper() else [1.0, 0.0] for word in sentence]) for sentence in sentences]

    def predict_with_proba(self, sentences):
        return self.predict(sentences), self.predict_proba(sentences)


def test_sentences_with_unsure_words_come_first_and_a_word_teaches_once():
    raw = [["a", "b", "c"], ["a", "QQ", "c"], ["d", "QQ", "c"], ["RR", "b", "c"], ["e", "b", "c"]]
    picks = suggest_sentences(raw, Unsure(), n=3)
    assert [pick.sentence for pick in picks] == [1, 3, 2]
    assert picks[0].suggestion == ["X"] * 3
    assert picks[0].margin == pytest.approx(2 / 3)


def test_length_is_under_control():
    raw = [["QQ"], ["QQ", "RR"], ["SS"] * 50, ["a", "b", "TT"], ["a", "b", "c"]]
    assert [pick.sentence for pick in suggest_sentences(raw, Unsure(), n=2)] == [3, 4]
    assert {pick.sentence for pick in suggest_sentences(raw, Unsure(), n=9)} == set(range(5))


def test_every_fifth_sentence_is_random_and_comes_without_a_suggestion():
    raw = [[f"w{i}", f"v{i}", "the"] for i in range(60)]
    picks = suggest_sentences(raw, Unsure(), n=20, random_state=1)
    assert [pick.random for pick in picks] == [False, False, False, False, True] * 4
    assert all((pick.suggestion == []) == pick.random for pick in picks)
    assert len({pick.sentence for pick in picks}) == 20
    assert picks == suggest_sentences(raw, Unsure(), n=20, random_state=1)
    assert all(pick.random for pick in suggest_sentences(raw, n=5, strategy="random"))
    assert [pick.random for pick in suggest_sentences(raw, n=2, n_labeled=4)] == [True, False]


def test_without_a_tagger_frequent_words_are_covered_once():
    raw = [["the", "cat", "sat"], ["the", "cat", "sat"], ["my", "dog", "ran"]]
    picks = suggest_sentences(raw, n=2)
    assert [pick.sentence for pick in picks] == [0, 2]
    assert all(pick.suggestion == [] and pick.margin is None for pick in picks)


def test_bad_input_is_told():
    with pytest.raises(DataError, match="at least one raw sentence"):
        suggest_sentences([])
    with pytest.raises(ParameterError, match="n must be at least 1"):
        suggest_sentences([["a"]], n=0)
    with pytest.raises(ParameterError, match="strategy must be auto or random, got 'margin'"):
        suggest_sentences([["a"]], strategy="margin")


def sentence(words: str, tags: str) -> Sentence:
    return Sentence(tuple(words.split()), {"tag": tuple(tags.split())})


def test_sentences_come_home_and_disagreement_is_told():
    data = [sentence("a b", "X Y"), sentence("c d", "X X")]
    ann = [sentence("e f", "X Y"), sentence("g h", "X X"), sentence("a b", "X Y")]
    bob = [sentence("e f", "X Y"), sentence("g h", "Y Y"), sentence("c d", "Y Y")]
    merged = merge_sentences(data, {"ann": ann, "bob": bob}, "tag")
    assert merged.sentences == [*data, ann[0]]
    assert (merged.n_new, merged.n_same) == (1, 2)
    assert merged.conflicts == [("ann", 1, ann[1]), ("bob", 1, bob[1]), ("bob", 2, bob[2])]


def test_tags_that_came_back_replace_others_only_if_asked_and_never_where_files_disagree():
    data = [sentence("a b", "X Y"), sentence("c d", "X X"), sentence("a b", "X Y")]
    ann = [sentence("a b", "Y Y"), sentence("c d", "Y Y")]
    bob = [sentence("c d", "X Y")]
    merged = merge_sentences(data, {"ann": ann, "bob": bob}, "tag", prefer_new=True)
    assert merged.sentences == [ann[0], data[1], ann[0]]
    assert (merged.n_new, merged.n_same, merged.n_replaced) == (0, 0, 2)
    assert merged.conflicts == [("ann", 1, ann[1]), ("bob", 0, bob[0])]
    assert merge_sentences(data, {"ann": ann}, "tag").sentences == data


def test_sentences_that_nobody_tagged_to_the_end_stay_out():
    came = [sentence("a b", "X ?"), sentence("c d", "X X")]
    merged = merge_sentences([], {"ann": came}, "tag")
    assert (merged.sentences, merged.n_empty) == ([came[1]], 1)
    assert merge_sentences([], {"ann": came, "bob": came[:1]}, "tag").n_empty == 1
    queries = [sentence("why ?", "X ?")]  # here it is a tag like others
    assert merge_sentences(queries, {"ann": came}, "tag").n_new == 2


def test_frequent_words_teach_for_many():
    raw = [["a", "RARE", "c"], ["d", "OFTEN", "f"], *(["g", "OFTEN", f"h{i}"] for i in range(20))]
    assert suggest_sentences(raw, Unsure(), n=1)[0].sentence == 1
