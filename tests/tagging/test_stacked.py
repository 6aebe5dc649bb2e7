"""A tagger that a classifier of rows corrects."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from handful.errors import DataError, ParameterError
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.persistence.model_file import load, save
from handful.representations.brown import BrownClusters
from handful.tagging.crf import CRF
from handful.tagging.stacked import StackedTagger, token_rows

SENTENCES = [
    ["the", "dog", "barks"],
    ["a", "cat", "sleeps"],
    ["the", "cat", "runs"],
    ["a", "dog", "sees", "the", "cat"],
] * 3
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V", "D", "N"]] * 3
CLUSTERS = {"the": "0", "a": "0", "dog": "10", "cat": "10", "barks": "11", "sleeps": "11", "runs": "11", "sees": "11"}


class AllNouns:
    """A tagger that knows one tag."""

    def get_params(self, deep=True):
        return {}

    def fit(self, sentences, tags):
        return self

    def predict(self, sentences):
        return [["N"] * len(sentence) for sentence in sentences]


class Remember:
    """A classifier that writes down what it is taught."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        self.X, self.y = X, y
        return self

    def predict(self, X):
        return X[:, 0]


def stacked(**options):
    options = {"clusters": CLUSTERS, "held_out": 0.5} | options
    return StackedTagger(CRF(strength=0.1), CondensedNN(ties="all"), **options)


def test_rows_are_tag_and_cluster_with_a_mark_for_unseen_words():
    rows = token_rows([["dog", "Dog"], ["xyz"]], [["N", "NP"], ["NP"]], CLUSTERS)
    assert rows.tolist() == [["N", "10"], ["NP", "10*"], ["NP", "*"]]
    assert token_rows([], [], CLUSTERS).shape == (0, 2)


def test_the_classifier_corrects_a_tagger_that_errs_by_cluster():
    model = StackedTagger(AllNouns(), CondensedNN(ties="all"), clusters=CLUSTERS, held_out=0.5)
    model.fit(SENTENCES * 2, TAGS * 2)
    assert model.predict(SENTENCES) == TAGS
    assert model.score(SENTENCES, TAGS) == 1.0


def test_the_held_out_sentences_and_only_they_teach_the_classifier():
    model = StackedTagger(CRF(strength=0.1), Remember(), clusters=CLUSTERS, held_out=0.25).fit(SENTENCES, TAGS)
    held = SENTENCES[9:]
    assert model.classifier_.y.tolist() == [tag for tags in TAGS[9:] for tag in tags]
    assert model.classifier_.X[:, 1].tolist() == [CLUSTERS[word] for sentence in held for word in sentence]
    alone = CRF(strength=0.1).fit(SENTENCES[:9], TAGS[:9])
    assert np.array_equal(model.tagger_.weights_, alone.weights_)
    assert not hasattr(model.tagger, "weights_")


def test_unlabeled_sentences_come_last_without_labels():
    model = StackedTagger(AllNouns(), Remember(), clusters=CLUSTERS, held_out=0.5)
    model.fit(SENTENCES[:1] * 2, TAGS[:1] * 2, unlabeled=[["a", "Cat"], ["fish"]])
    assert model.classifier_.X.tolist()[3:] == [["N", "0"], ["N", "10*"], ["N", "*"]]
    assert model.classifier_.y.tolist() == ["D", "N", "V", None, None, None]


def test_unlabeled_text_reaches_the_semi_supervised_classifier():
    classifier = SemiSupervisedCondensedNN(1, ties="all")
    model = StackedTagger(AllNouns(), classifier, clusters=CLUSTERS, held_out=0.5)
    model.fit(SENTENCES[:1] * 2, TAGS[:1] * 2, unlabeled=[["a", "cat", "sleeps"]])
    assert model.classifier_.transduction_.tolist() == ["D", "N", "V", "D", "N", "V"]


def test_a_saved_model_predicts_the_same(tmp_path):
    clusters = BrownClusters(4).fit(SENTENCES)
    model = stacked(clusters=clusters).fit(SENTENCES, TAGS)
    save(model, tmp_path / "model")
    kinds = {"crf": CRF, "stacked-tagger": StackedTagger, "condensed-nn": CondensedNN, "brown-clusters": BrownClusters}
    again = load(tmp_path / "model", kinds.get)
    assert again.predict([["the", "fish", "sleeps"], []]) == model.predict([["the", "fish", "sleeps"], []])


def test_it_is_cloned_and_refitted_alike():
    model = stacked().fit(SENTENCES, TAGS)
    again = clone(model).fit(SENTENCES, TAGS)
    assert again.classifier_.kept_.tolist() == model.classifier_.kept_.tolist()
    assert model.classifier_.n_features_in_ == 2
    assert model.predict([]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": 3}, "clusters must be fitted BrownClusters or a dictionary"),
        ({"held_out": 1.0}, "held_out must be"),
    ],
)
def test_a_wrong_parameter_is_named(options, message):
    with pytest.raises(ParameterError, match=message):
        stacked(**options).fit(SENTENCES, TAGS)


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(DataError, match="at least two tagged sentences"):
        stacked().fit(SENTENCES[:1], TAGS[:1])
    with pytest.raises(DataError, match="must have one tag, but sentence 0"):
        stacked().fit(SENTENCES[:2], [["D"], TAGS[1]])
    with pytest.raises(NotFittedError):
        stacked().predict(SENTENCES)
    with pytest.raises(DataError, match="one tag to be scored against"):
        stacked().fit(SENTENCES, TAGS).score(SENTENCES[:1], [["D"]])
