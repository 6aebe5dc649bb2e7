from __future__ import annotations

import math
import random

import numpy as np
import pytest
from oracles.similarity import context_counts, cosines

from handful.errors import DataError, ParameterError
from handful.persistence.model_file import load, save
from handful.representations.similarity import ContextSimilarity
from handful.representations.text_stream import text_parts


def text(seed, n_sentences=25, n_words=14):
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(n_words)]
    weights = [1 / (number + 1) for number in range(n_words)]
    return [draw.choices(words, weights, k=draw.randint(0, 7)) for _ in range(n_sentences)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("directional", [True, False])
def test_similarities_agree_with_the_definition(seed, directional):
    sentences = text(seed)
    window, n_context_words, n_components, min_count = 1 + seed % 3, 4 + seed % 5, 3 + seed % 4, 1 + seed % 2
    model = ContextSimilarity(n_context_words, window, directional, n_components, min_count=min_count).fit(sentences)
    words, table = context_counts(sentences, n_context_words, window, directional, min_count)
    expected, gap = cosines(table, n_components)
    assert list(model.vocabulary_) == words
    assert gap > 1e-6, "the seed must not leave the cut open"
    np.testing.assert_allclose(model.vectors_ @ model.vectors_.T, expected, atol=2e-5)


@pytest.mark.parametrize("seed", range(5))
def test_roots_without_a_decomposition_compare_shares_of_contexts(seed):
    sentences = text(seed)
    model = ContextSimilarity(6, n_components=None, power=0.5, min_count=2).fit(sentences)
    words, table = context_counts(sentences, 6, window=2, directional=True, min_count=2)
    shares = table / table.sum(axis=1, keepdims=True)
    # the Bhattacharyya coefficient of every pair of words
    expected = np.sqrt(shares[:, None, :] * shares[None, :, :]).sum(axis=2)
    assert list(model.vocabulary_) == words
    np.testing.assert_allclose(model.vectors_ @ model.vectors_.T, expected, atol=1e-5)


def test_power_goes_before_the_decomposition():
    sentences = text(4)
    model = ContextSimilarity(6, n_components=4, power=0.5).fit(sentences)
    _, table = context_counts(sentences, 6, window=2, directional=True, min_count=1)
    expected, gap = cosines(table**0.5, 4)
    assert gap > 1e-6
    np.testing.assert_allclose(model.vectors_ @ model.vectors_.T, expected, atol=2e-5)


def test_result_does_not_depend_on_parts(tmp_path):
    sentences = text(2, n_sentences=80)
    whole = ContextSimilarity(10, n_components=6).fit(iter(sentences))
    parts = ContextSimilarity(10, n_components=6).fit_parts([sentences[:3], sentences[3:50], sentences[50:]])
    path = tmp_path / "text.txt"
    path.write_text("\r\n".join(" ".join(tokens) for tokens in sentences))
    from_file = ContextSimilarity(10, n_components=6).fit_parts(text_parts(path, part_bytes=300))
    for other in (parts, from_file):
        assert list(other.vocabulary_) == list(whole.vocabulary_)
        assert (other.vectors_ == whole.vectors_).all()


def test_marks_are_context_words():
    # Without the marks "one" and "two" would have no context at all.
    model = ContextSimilarity(2, window=1).fit([["one"], ["two"], ["one"], ["two"]])
    assert model.context_words_ == ["</S>", "<S>"]
    assert model.similarity("one", "two") == pytest.approx(1.0)


def test_token_spelled_like_a_mark_is_a_word_like_any_other():
    model = ContextSimilarity(4).fit([["a", "<S>", "b"], ["a", "</S>", "b"]])
    assert model.similarity("<S>", "</S>") == pytest.approx(1.0)


def test_nearest_comes_in_order_without_the_word_itself():
    model = ContextSimilarity(10, n_components=4).fit(text(3))
    found = model.nearest("w2", 5)
    assert len(found) == 5
    assert "w2" not in [word for word, _ in found]
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    assert found[0][1] == pytest.approx(model.similarity("w2", found[0][0]), abs=1e-6)
    assert len(model.nearest("w2", 1000)) == len(model.vocabulary_) - 1


def test_equal_similarity_goes_to_the_more_frequent_word():
    sentences = [["x", word, "y"] for word in ("c", "b", "b", "a", "d", "a")]
    model = ContextSimilarity(4, window=1).fit(sentences)
    assert [word for word, _ in model.nearest("d", 3)] == ["a", "b", "c"]


def test_unknown_word():
    model = ContextSimilarity(10).fit([["company", "shares", "rose"]])
    assert math.isnan(model.similarity("company", "unknown"))
    with pytest.raises(DataError) as error:
        model.nearest("comapny", 3)
    assert str(error.value) == ("ContextSimilarity: 'comapny' does not occur in the text. Did you mean 'company'?")


def test_word_without_context_is_similar_to_nothing():
    model = ContextSimilarity(1, window=1).fit([["a", "b", "c", "d", "c", "a"], ["a", "a", "a"]])
    assert model.context_words_ == ["a"]
    assert not model.vectors_[model.vocabulary_["d"]].any()
    assert model.similarity("d", "a") == 0.0


def test_bad_input_has_its_own_sentence():
    with pytest.raises(DataError, match="ContextSimilarity: the text must hold at least one token, got none"):
        ContextSimilarity().fit([])
    with pytest.raises(DataError, match=r"min_count=2 times, got none\. Lower min_count"):
        ContextSimilarity(min_count=2).fit([["a", "b"]])
    with pytest.raises(ParameterError, match="window must be an integer of at least 1, got 0"):
        ContextSimilarity(window=0).fit([["a"]])
    with pytest.raises(ParameterError, match="k must be an integer of at least 1, got 0"):
        ContextSimilarity().fit([["a", "b"]]).nearest("a", 0)


def test_model_file_both_ways(tmp_path):
    model = ContextSimilarity(10, n_components=4).fit(text(4))
    save(model, tmp_path / "similarity.handful")
    back = load(tmp_path / "similarity.handful", {"context-similarity": ContextSimilarity}.get)
    assert back.nearest("w1", 4) == model.nearest("w1", 4)
    assert back.context_words_ == model.context_words_


def small_talk(n_sentences=400):
    """Sentences of 21 words; nouns, verbs, determiners and adjectives in their places."""
    draw = random.Random(0)
    kinds = {
        "D": ["the", "a", "this", "my"],
        "A": ["old", "new", "red", "blue", "big"],
        "N": ["dog", "cat", "bird", "house", "tree", "car", "book"],
        "V": ["sees", "likes", "finds", "takes", "wants"],
    }
    return [
        [draw.choice(kinds[kind]) for kind in draw.choice(("DNVDN", "DANVDN", "DNVDAN"))] for _ in range(n_sentences)
    ]


def test_few_words_get_few_components():
    model = ContextSimilarity().fit(small_talk())
    assert model.vectors_.shape == (21, 4)
    near = [word for word, share in model.nearest("dog", 6) if share > 0.5]
    assert sorted(near) == ["bird", "book", "car", "cat", "house", "tree"]
