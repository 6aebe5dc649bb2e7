"""The tagger as users see it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from handful.data.records import Sentence
from handful.errors import DataError, ModelFileError, ParameterError
from handful.persistence.model_file import load, save
from handful.tagging.crf import CRF

SENTENCES = [
    ["the", "dog", "barks"],
    ["a", "cat", "sleeps", "."],
    ["dogs", "bark"],
    ["the", "old", "man", "the", "boat"],
    ["the", "man", "sleeps"],
]
TAGS = [["D", "N", "V"], ["D", "N", "V", "."], ["N", "V"], ["D", "N", "V", "D", "N"], ["D", "N", "V"]]


def reload(model, tmp_path):
    save(model, tmp_path / "model")
    return load(tmp_path / "model", {"crf": CRF}.get)


@pytest.mark.parametrize("algorithm", ["lbfgs", "pa", "fobos"])
@pytest.mark.parametrize("order", [1, 2])
def test_every_learner_learns_its_training_sentences(algorithm, order):
    tagger = CRF(algorithm=algorithm, order=order, strength=0.01).fit(SENTENCES, TAGS)
    assert tagger.predict(SENTENCES) == TAGS
    assert tagger.score(SENTENCES, TAGS) == 1.0
    assert tagger.predict([]) == []
    assert tagger.predict([[], ["the", "dog"]])[0] == []


def test_l1_leaves_few_weights_and_the_model_keeps_only_those():
    dense = CRF(penalty="l2", strength=0.1).fit(SENTENCES, TAGS)
    sparse = CRF(penalty="l1", strength=0.3).fit(SENTENCES, TAGS)
    assert 0 < sparse.n_active_ < dense.n_active_ / 5
    assert sparse.n_active_ == len(sparse.weights_) == np.count_nonzero(sparse.weights_)
    assert sum(map(len, sparse.vocabulary_["keys"])) <= sparse.n_active_


@pytest.mark.parametrize("options", [{}, {"penalty": "l1", "strength": 0.2}, {"order": 2}, {"hash_bits": 10}])
def test_a_saved_model_predicts_the_same(options, tmp_path):
    tagger = CRF(**options).fit(SENTENCES, TAGS)
    again = reload(tagger, tmp_path)
    new = [["a", "dog", "sleeps"], ["unseen", "words"]]
    assert again.predict(new) == tagger.predict(new)
    for mine, other in zip(again.predict_proba(new), tagger.predict_proba(new), strict=True):
        assert np.array_equal(mine, other)
    assert again.get_params() == tagger.get_params()


def test_a_damaged_model_is_refused(tmp_path):
    tagger = CRF().fit(SENTENCES, TAGS)
    tagger.layout_ = tagger.layout_ | {"node_targets": tagger.layout_["node_targets"] + 50}
    with pytest.raises(ModelFileError, match="damaged"):
        reload(tagger, tmp_path)


def test_marginals_are_probabilities_and_agree_with_each_other():
    tagger = CRF().fit(SENTENCES, TAGS)
    arrays = tagger.predict_proba(SENTENCES)
    dictionaries = tagger.predict_marginals(SENTENCES)
    for array, rows, tokens in zip(arrays, dictionaries, SENTENCES, strict=True):
        assert array.shape == (len(tokens), 4)
        np.testing.assert_allclose(array.sum(axis=1), 1.0)
        assert [[row[label] for label in tagger.classes_] for row in rows] == array.tolist()


def test_label_names_do_not_matter():
    other = {"D": "zz", "N": "aa", "V": "q", ".": "B"}
    renamed = [[other[t] for t in tags] for tags in TAGS]
    new = [["a", "man", "barks"], ["old", "boat", "."]]
    found = CRF().fit(SENTENCES, TAGS).predict(new)
    assert CRF().fit(SENTENCES, renamed).predict(new) == [[other[t] for t in tags] for tags in found]


def test_refit_and_clone_give_the_same():
    tagger = CRF(strength=0.5, templates=["u", "b", "word[0]"], n_jobs=2)
    first = tagger.fit(SENTENCES, TAGS).weights_.copy()
    assert np.array_equal(tagger.fit(SENTENCES, TAGS).weights_, first)
    twin = clone(tagger)
    assert twin.get_params() == tagger.get_params()
    assert np.array_equal(twin.fit(SENTENCES, TAGS).weights_, first)


def test_columns_and_lookups_are_read():
    sentences = [Sentence(("x", "y"), {"pos": ("A", "B")}), Sentence(("y", "x"), {"pos": ("A", "B")})] * 3
    tags = [["a", "b"], ["a", "b"]] * 3
    tagger = CRF(templates=["pos[0]"], strength=0.01).fit(sentences, tags)
    assert tagger.predict([Sentence(("new", "words"), {"pos": ("B", "A")})]) == [["b", "a"]]
    with pytest.raises(DataError, match="column 'pos'"):
        tagger.predict([["new", "words"]])
    lookups = {"kind": {"Rome": "place", "Ann": "name", "Oslo": "place"}}
    tagger = CRF(templates=["kind[0]"], lookups=lookups, strength=0.01).fit([["Rome", "Ann"]] * 2, [["L", "P"]] * 2)
    assert tagger.predict([["Ann", "Oslo"]]) == [["P", "L"]]


def test_ready_sets_do_without_columns_that_are_not_there():
    for name in ("ner", "chunk"):
        assert CRF(templates=name).fit(SENTENCES, TAGS).predict(SENTENCES) == TAGS


def test_constraints_forbid_what_the_encoding_forbids():
    rng = np.random.default_rng(0)
    words = [[str(w) for w in rng.integers(0, 5, size=6)] for _ in range(40)]
    tags = []
    for _ in words:
        now, row = "O", []
        for _ in range(6):
            choices = ["O", "B-X", "B-Y"] + (["I-" + now[2:]] if now != "O" else [])
            now = str(rng.choice(choices))
            row.append(now)
        tags.append(row)
    tagger = CRF(templates=["u", "word[0]", "word[-1]"], constraints="iob2").fit(words, tags)
    found = tagger.predict([[str(w) for w in rng.integers(0, 5, size=12)] for _ in range(200)])
    for row in found:
        for before, label in zip(["O", *row], row, strict=False):
            assert label[0] != "I" or before[2:] == label[2:]
    with pytest.raises(DataError, match="I-X follows"):
        CRF(constraints="iob2").fit([["a", "b"]], [["O", "I-X"]])
    with pytest.raises(DataError, match="must be O or start with"):
        CRF(constraints="iob2").fit(SENTENCES, TAGS)


@pytest.mark.parametrize(
    ("tags", "known"), [(["O", "I-PER"], True), (["I-PER", "B-PER"], False), (["O", "I-LOC"], False)]
)
def test_tags_that_the_training_tags_could_not_say_are_not_known(tags, known):
    tagger = CRF("ner", encoding="iobes").fit([["Mr", "Li"], ["a", "dog"]], [["O", "I-PER"], ["O", "O"]])
    assert tagger.scheme_ == "IO"  # one span beside another of its type (B-PER) was not seen
    assert tagger.knows(tags) == known


@pytest.mark.parametrize("encoding", ["iob2", "iobes"])
def test_an_inner_encoding_does_not_show(encoding, tmp_path):
    words = [["Ann", "Lee", "saw", "Rome"], ["Rome", "saw", "Ann", "Lee", "Bo"]] * 2
    tags = [["I-P", "I-P", "O", "I-L"], ["I-L", "O", "I-P", "I-P", "B-P"]] * 2
    tagger = CRF(templates="ner", encoding=encoding, strength=0.01).fit(words, tags)
    assert "B-L" in tagger.classes_ or "S-L" in tagger.classes_
    assert tagger.predict(words) == tags
    assert reload(tagger, tmp_path).predict(words) == tags
    with pytest.raises(DataError, match=f"encoding='{encoding}' needs tags of spans; chunk tags: tag 0 must"):
        CRF(encoding=encoding).fit(SENTENCES, TAGS)


def test_no_threads_at_all_is_refused():
    with pytest.raises(ParameterError, match="n_jobs must be an integer of at least 1, -1 or None, got 0"):
        CRF(n_jobs=0).fit(SENTENCES, TAGS)


def test_inspection_names_the_observations_and_transitions():
    tagger = CRF(templates=["word[0]", "b"], strength=0.1).fit(SENTENCES, TAGS)
    names = [name for name, _ in tagger.top_features("D", 2)]
    assert set(names) <= {"word[0]=the", "word[0]=a"}
    weights = [weight for _, weight in tagger.top_features("N", 5)]
    assert weights == sorted(weights, reverse=True)
    pairs = tagger.transitions()
    assert ("D", "N") in pairs
    assert list(pairs.values()) == sorted(pairs.values(), reverse=True)
    with pytest.raises(DataError, match="must be one of"):
        tagger.top_features("X")


def test_interrupted_training_goes_on_as_if_nothing_had_happened(tmp_path):
    whole = CRF(penalty="l1", strength=0.1).fit(SENTENCES, TAGS)

    class StopError(Exception):
        pass

    def stop(step):
        if step.done == 13:
            raise StopError

    path = tmp_path / "run.npz"
    with pytest.raises(StopError):
        CRF(penalty="l1", strength=0.1).fit(SENTENCES, TAGS, progress=stop, checkpoint=path)
    resumed = CRF(penalty="l1", strength=0.1).fit(SENTENCES, TAGS, checkpoint=path)
    assert np.array_equal(whole.weights_, resumed.weights_)
    assert resumed.n_iter_ == whole.n_iter_


@pytest.mark.parametrize(
    ("sentences", "tags", "what"),
    [
        ([], [], "at least one tagged sentence is needed"),
        ([[]], [[]], "at least one tagged sentence is needed"),
        ([["a", "b"]], [["X"]], "sentence 0 has 2 tokens and 1 tag"),
        ([["a", "b"]], [], "1 sentence and 0 lists"),
        ([["a", "b"]], [["X", "X"]], "at least two different tags, got only 'X'"),
        ([["a", "b"]], [None], "sentence 0 has None"),
        ([["a", "b"]], [["X", None]], "some tag is None"),
        ([["a", "b"]], [["X", 1]], "tags must be strings, got int"),
        ([["a", "b"]], ["XY"], "must be a list of strings"),
        ([["a", "b"]], "X", "must be a list of lists"),
        ([["a", 2]], [["X", "Y"]], "tokens must be strings, got int"),
        (["ab"], [["X", "Y"]], "Split it into tokens"),
        ("ab", [["X", "Y"]], "must be a list of lists of tokens"),
    ],
)
def test_unusable_data_is_named_in_one_sentence(sentences, tags, what):
    with pytest.raises(DataError, match=what) as caught:
        CRF().fit(sentences, tags)
    assert str(caught.value).startswith("CRF: ")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"penalty": "l3"}, "penalty must be 'l2' or 'l1'"),
        ({"strength": 0}, "strength must be"),
        ({"order": 3}, "order must be 1 or 2"),
        ({"templates": "nre"}, "Did you mean 'ner'|no ready set"),
        ({"templates": ["word"]}, "parts such as"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"constraints": "bio"}, "constraints must be"),
    ],
)
def test_unusable_parameters_are_named(options, what):
    with pytest.raises(ParameterError, match=what):
        CRF(**options).fit(SENTENCES, TAGS)


def test_predicting_before_fitting_is_an_error():
    for call in (CRF().predict, CRF().predict_proba, CRF().predict_marginals):
        with pytest.raises(NotFittedError):
            call(SENTENCES)
