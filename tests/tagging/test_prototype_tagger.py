"""The prototype tagger as a user meets it."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Sentence
from handful.errors import DataError, ParameterError
from handful.persistence.model_file import load, save
from handful.registry import find_class
from handful.representations.similarity import ContextSimilarity
from handful.tagging.prototypes.tagger import PrototypeTagger

NOUNS = ["dog", "cat", "bird", "fish", "horse", "cow"]
VERBS = ["barks", "sleeps", "runs", "eats", "walks", "sings"]
LISTS = {"D": ["the", "a"], "N": ["dog"], "V": ["barks"], "E": ["."]}


def make_text(n=120, seed=0):
    rng = np.random.default_rng(seed)
    sentences, tags = [], []
    for _ in range(n):
        words, mine = [], []
        for _ in range(int(rng.integers(1, 3))):
            words += [str(rng.choice(LISTS["D"])), str(rng.choice(NOUNS)), str(rng.choice(VERBS))]
            mine += ["D", "N", "V"]
        sentences.append([*words, "."])
        tags.append([*mine, "E"])
    return sentences, tags


TEXT, TAGS = make_text()


class Alike:
    """A stand-in for context similarity: nouns alike, verbs alike."""

    def __init__(self):
        self.vocabulary_ = {word: row for row, word in enumerate([*NOUNS, *VERBS])}
        self.vectors_ = np.array([[1.0, 0.0]] * len(NOUNS) + [[0.0, 1.0]] * len(VERBS))


@pytest.mark.parametrize("order", [1, 2])
def test_learns_a_regular_language_from_one_word_a_label(order):
    tagger = PrototypeTagger(LISTS, order=order, max_iter=30).fit(TEXT)
    assert tagger.score(TEXT, TAGS) == 1.0
    for words, shares in zip(TEXT[:5], tagger.predict_proba(TEXT[:5]), strict=True):
        assert shares.shape == (len(words), 4)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_prototypes_always_carry_their_label():
    # "dog" in the place of a verb: the text speaks against the list, the list wins
    odd = [["the", "cat", "dog", "."], ["dog"], ["dog", "dog", "dog"]]
    tagger = PrototypeTagger(LISTS, max_iter=15).fit(TEXT + odd)
    for decode in ("posterior", "viterbi"):
        for words, tags in zip(odd, tagger.set_params(decode=decode).predict(odd), strict=True):
            assert all(tag == "N" for word, tag in zip(words, tags, strict=True) if word == "dog")


def test_a_prototype_of_two_labels_carries_only_these():
    lists = {**LISTS, "N": ["dog", "runs"], "V": ["barks", "runs"]}
    tagger = PrototypeTagger(lists, order=1, max_iter=10).fit(TEXT)
    share = tagger.predict_proba([["the", "cat", "runs"]])[0][2]
    legal = np.isin(tagger.classes_, ["N", "V"])
    assert share[~legal].sum() == 0.0
    assert (share[legal] > 0).all()


def test_similarity_links_words_to_prototypes():
    tagger = PrototypeTagger(LISTS, similarity=Alike(), max_iter=3).fit(TEXT)
    assert tagger.links_["cat"] == ["dog"]
    assert tagger.links_["sings"] == ["barks"]
    assert tagger.links_["dog"] == ["dog"]
    assert "prototype=dog" in tagger.predicates_
    assert PrototypeTagger(LISTS, order=1, similarity=Alike(), threshold=1.0).fit(TEXT).links_.get("cat") is None


def test_a_similarity_that_is_not_fitted_learns_from_the_text():
    similarity = ContextSimilarity(n_components=5)
    tagger = PrototypeTagger(LISTS, order=1, similarity=similarity, max_iter=10).fit(TEXT)
    assert tagger.links_["cat"][0] == "dog"
    assert not hasattr(similarity, "vectors_")


def test_unseen_words_and_odd_lengths():
    tagger = PrototypeTagger(LISTS, max_iter=15).fit([*TEXT, []])
    long = ["the", "zebra", "barks"] * 333 + ["."]
    tags = tagger.predict([["zebra"], [], long, ["?"]])
    assert [len(mine) for mine in tags] == [1, 0, 1000, 1]
    assert tags[2][:3] == ["D", "N", "V"]
    assert tagger.predict([]) == []
    assert tagger.predict([[], []]) == [[], []]
    assert tagger.predict_proba([[]])[0].shape == (0, 4)
    assert len(tagger.predict_marginals([["the", "zebra"], []])[0]) == 2


def test_noise_separates_labels_without_prototypes():
    tagger = PrototypeTagger({"D": ["the", "a"]}, labels=["X", "Y"], order=1, max_iter=40).fit(TEXT)
    assert set(tagger.classes_) == {"D", "X", "Y"}
    assert len({tag for mine in tagger.predict(TEXT) for tag in mine}) == 3


def test_unsupervised_runs_differ_by_seed_and_repeat_by_seed():
    runs = [
        PrototypeTagger(labels=["1", "2", "3"], order=1, max_iter=10, random_state=seed).fit(TEXT) for seed in (0, 0, 1)
    ]
    assert (runs[0].weights_ == runs[1].weights_).all()
    assert (runs[0].weights_ != runs[2].weights_).any()


def test_all_kinds_of_supervision_together():
    tags = [None] * len(TEXT)
    tags[0] = TAGS[0]
    tags[1] = [tag if tag == "V" else None for tag in TAGS[1]]
    tagger = PrototypeTagger({"D": ["the", "a"], "N": NOUNS}, order=1, max_iter=30).fit(TEXT, tags)
    assert set(tagger.classes_) == {"D", "N", "V", "E"}
    assert tagger.score(TEXT, TAGS) == 1.0


def test_supervised_alone():
    tagger = PrototypeTagger(order=2, max_iter=30).fit(TEXT, TAGS)
    assert tagger.score(*make_text(seed=1)) == 1.0


def test_a_label_given_by_hand_widens_the_lexicon():
    tags = [None] * len(TEXT)
    extra = ["the", "cat", "dog", "."]
    tagger = PrototypeTagger(LISTS, order=1, max_iter=5).fit([*TEXT, extra], [*tags, [None, None, "V", None]])
    assert tagger.lexicon_["dog"] == ["N", "V"]


def test_boundary_marks_take_the_label_before_them():
    ads = [["(", "big", "room", ";", "500", "$", ".", "!"], [";", "!"]] * 4
    lists = {"SIZE": ["room"], "RENT": ["$"], "MARK": [";", ".", "!", "("]}
    tagger = PrototypeTagger(lists, order=1, boundary="MARK", max_iter=20, spelling=False).fit(ads)
    first, only_marks = tagger.predict(ads[:2])
    assert first[0] == first[1]
    assert first[3] == "SIZE"
    assert first[-2:] == ["RENT", "RENT"]
    assert only_marks == ["MARK", "MARK"]


def test_progress_reports_the_objective():
    steps = []
    PrototypeTagger(LISTS, order=1, max_iter=5).fit(TEXT, progress=steps.append)
    assert [step.done for step in steps] == [1, 2, 3, 4, 5]
    values = [step.figures["objective"] for step in steps]
    assert values == sorted(values, reverse=True)


def test_resuming_gives_the_same_model(tmp_path):
    whole = PrototypeTagger(LISTS, order=2, max_iter=25, tol=0.0).fit(TEXT)
    file = tmp_path / "training"
    PrototypeTagger(LISTS, order=2, max_iter=10, tol=0.0).fit(TEXT, checkpoint=file)
    resumed = PrototypeTagger(LISTS, order=2, max_iter=25, tol=0.0).fit(TEXT, checkpoint=file)
    assert (resumed.weights_ == whole.weights_).all()
    with pytest.raises(DataError, match="another training run"):
        PrototypeTagger({**LISTS, "N": ["cat"]}, order=2, max_iter=25).fit(TEXT, checkpoint=file)


def test_weights_are_bounded(monkeypatch):
    monkeypatch.setattr("handful.tagging.prototypes.tagger._LARGEST", 0.5)
    tagger = PrototypeTagger(LISTS, order=1, variance=1e6, max_iter=20).fit(TEXT)
    assert np.abs(tagger.weights_).max() == 0.5


def test_the_prior_keeps_weights_small():
    loose, tight = (PrototypeTagger(LISTS, order=1, variance=v, max_iter=30).fit(TEXT) for v in (10.0, 0.01))
    assert np.abs(tight.weights_).max() < np.abs(loose.weights_).max()


def test_spelling_can_be_switched_off():
    assert any(p.startswith("suffix=") for p in PrototypeTagger(LISTS, order=1, max_iter=1).fit(TEXT).predicates_)
    plain = PrototypeTagger(LISTS, order=1, spelling=False, max_iter=1).fit(TEXT)
    assert all(p.startswith("word=") for p in plain.predicates_)


def test_model_files(tmp_path):
    tagger = PrototypeTagger(LISTS, similarity=Alike(), max_iter=5).fit(TEXT)
    save(tagger, tmp_path / "model")
    again = load(tmp_path / "model", find_class)
    assert type(again) is PrototypeTagger
    text = [["the", "zebra", "sings"], ["cat"]]
    assert again.predict(text) == tagger.predict(text)
    for a, b in zip(again.predict_proba(text), tagger.predict_proba(text), strict=True):
        assert (a == b).all()


def test_sentences_of_records_are_the_same():
    records = [Sentence(tuple(s), {"pos": tuple(t)}) for s, t in zip(TEXT, TAGS, strict=True)]
    one, two = (PrototypeTagger(LISTS, order=1, max_iter=5).fit(text) for text in (TEXT, records))
    assert (one.weights_ == two.weights_).all()


@pytest.mark.parametrize(
    ("arguments", "fit_arguments", "message"),
    [
        ({"prototypes": {"N": "dog", "V": ["barks"]}}, {}, "list of words, got 'dog' for 'N'"),
        ({"prototypes": {"N": ["dog"]}}, {}, "at least two labels, got 1"),
        ({"prototypes": {"N": ["dog"], "V": [3]}}, {}, "filled strings, got 3 for 'V'"),
        (
            {"prototypes": {"N": ["Dog"], "V": ["Barks"]}},
            {},
            "must occur in the sentences, got none of 2, such as 'Dog'",
        ),
        ({"prototypes": LISTS, "similarity": "cosine"}, {}, "vocabulary_ and vectors_, got str"),
        ({"prototypes": LISTS}, {"tags": [["D"]]}, "one entry per sentence"),
        ({"prototypes": LISTS}, {"tags": [["D"]] * len(TEXT)}, "tags of sentence 0 must have one entry per token"),
    ],
)
def test_wrong_use_is_told_in_one_sentence(arguments, fit_arguments, message):
    with pytest.raises(DataError, match=message):
        PrototypeTagger(**arguments).fit(TEXT, **fit_arguments)


def test_illegal_parameters():
    with pytest.raises(ParameterError, match="order must be 1 or 2, got 3"):
        PrototypeTagger(LISTS, order=3).fit(TEXT)
    with pytest.raises(DataError, match="at least one sentence"):
        PrototypeTagger(LISTS).fit([[]])
    with pytest.raises(DataError, match="the string 'a b'"):
        PrototypeTagger(LISTS).fit(["a b"])


@pytest.mark.corpus
def test_newspaper_text_is_tagged_far_better_than_by_the_locked_words_alone(data_folder):
    from handful.data.conll import read_conll
    from handful.tagging.prototypes.lists import extract_prototypes

    sentences = list(read_conll(data_folder / "wsj-sample-pos.tsv.gz", ("token", "pos")))[:300]
    text, tags = [s.tokens for s in sentences], [s["pos"] for s in sentences]
    prototypes = extract_prototypes(text, tags)
    tagger = PrototypeTagger(prototypes, order=1, max_iter=50).fit(text)
    locked = {w for mine in prototypes.values() for w in mine}
    for words, found in zip(text, tagger.predict(text), strict=True):
        assert all(t in tagger.lexicon_[w] for w, t in zip(words, found, strict=True) if w in locked)
    share = np.mean([w in locked for words in text for w in words])
    assert tagger.score(text, tags) > share + 0.2
