"""Structure and difficulty of the generated sentences."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from handful.errors import ParameterError
from papers.generated_english import NOUN_CLASSES, lexicon, make_tagged_sentences

TAG_LIST = "DT NN NNS NNP PRP PRP$ POS JJ JJR JJS RB RBR RBS VB VBD VBZ VBP VBN VBG MD TO IN CC CD WDT WP , ."
LABEL_LIST = (
    "root sbj obj det amod nn num poss possessive prep pobj agent aux advmod conj cc mark ccomp xcomp advcl rcmod "
    "appos punct"
)
TAGS, LABELS = set(TAG_LIST.split()), set(LABEL_LIST.split())


@pytest.fixture(scope="module")
def trees():
    return make_tagged_sentences(3000, random_state=0)


def test_a_seed_fixes_the_sentences():
    assert make_tagged_sentences(30, random_state=1) == make_tagged_sentences(30, random_state=1)
    assert make_tagged_sentences(30, random_state=1) != make_tagged_sentences(30, random_state=2)
    assert make_tagged_sentences(0) == []


def test_label_sets_are_used_up(trees):
    assert {tag for tree in trees for tag in tree.sentence["pos"]} == TAGS
    assert {label for tree in trees for label in tree.labels} == LABELS
    kinds = {"B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "O"}
    assert {mark for tree in trees for mark in tree.sentence["ner"]} == kinds


def test_every_tree_has_one_root_no_cycle_and_no_crossing_arc(trees):
    for tree in trees:
        assert [label for label, head in zip(tree.labels, tree.heads, strict=True) if head == 0] == ["root"]
        assert tree.labels.count("root") == 1
        for word in range(1, len(tree) + 1):
            seen = set()
            while word and word not in seen:
                seen.add(word)
                word = tree.heads[word - 1]
            assert word == 0, tree
        for child, head in enumerate(tree.heads, start=1):
            low, high = sorted((child, head))
            inside = [tree.heads[i - 1] for i in range(low + 1, high)]
            assert all(low <= other <= high for other in inside), tree


def test_entities_are_valid_iob2_and_names_are_proper_nouns(trees):
    for tree in trees:
        before = "O"
        for mark, tag in zip(tree.sentence["ner"], tree.sentence["pos"], strict=True):
            if mark.startswith("I-"):
                assert before in ("B" + mark[1:], mark)
            assert mark == "O" or tag == "NNP"
            before = mark


def test_relations_fit_the_tags(trees):
    wanted = {"det": {"DT"}, "cc": {"CC"}, "possessive": {"POS"}, "num": {"CD"}, "prep": {"IN"}, "agent": {"IN"}}
    for tree in trees:
        tags = ("ROOT", *tree.sentence["pos"])
        for label, head, tag in zip(tree.labels, tree.heads, tags[1:], strict=True):
            assert tag in wanted.get(label, TAGS)
            if label == "pobj":
                assert tags[head] == "IN"
            if label in ("sbj", "obj", "aux"):
                assert tags[head].startswith("VB")


def test_sentences_start_with_a_capital_end_in_a_mark_and_vary_in_length(trees):
    lengths = [len(tree) for tree in trees]
    assert all(tree.sentence.tokens[0][0].isupper() or tree.sentence.tokens[0][0].isdigit() for tree in trees)
    assert all(tree.sentence.tokens[-1] in (".", "?") and tree.sentence["pos"][-1] == "." for tree in trees)
    assert 10 < np.mean(lengths) < 25
    assert max(lengths) > 30


def test_word_frequencies_follow_zipfs_law(trees):
    counts = Counter(token for tree in trees for token in tree.sentence)
    assert 3000 < len(counts) < 10_000
    frequencies = np.array([count for _, count in counts.most_common(1000)])
    slope = np.polyfit(np.log(np.arange(1, 1001)), np.log(frequencies), 1)[0]
    assert -1.3 < slope < -0.8
    assert np.mean([count == 1 for count in counts.values()]) > 0.25


def test_words_are_ambiguous(trees):
    tags = defaultdict(Counter)
    for tree in trees:
        for token, tag in zip(tree.sentence.tokens, tree.sentence["pos"], strict=True):
            tags[token][tag] += 1
    assert {"NN", "VB"} <= set(tags["plan"])
    assert {"IN", "WDT", "DT"} <= set(tags["that"])
    assert {"PRP", "PRP$"} <= set(tags["her"])
    assert sum(len(counts) > 1 for counts in tags.values()) > 200


def test_a_new_sample_has_unseen_words_and_a_simple_learner_beats_the_dictionary(trees):
    train, test = trees[:500], make_tagged_sentences(150, random_state=9)
    gold = np.array([tag for tree in test for tag in tree.sentence["pos"]])
    tags = defaultdict(Counter)
    for tree in train:
        for token, tag in zip(tree.sentence.tokens, tree.sentence["pos"], strict=True):
            tags[token][tag] += 1
    tokens = [token for tree in test for token in tree.sentence]
    unseen = np.mean([token not in tags for token in tokens])
    assert 0.05 < unseen < 0.18
    dictionary = np.mean(
        [
            (tags[token].most_common(1)[0][0] if token in tags else "NN") == tag
            for token, tag in zip(tokens, gold, strict=True)
        ]
    )
    vectorizer = CountVectorizer(analyzer=list, binary=True)
    model = MultinomialNB(alpha=0.05).fit(
        vectorizer.fit_transform(_features(train)), [tag for tree in train for tag in tree.sentence["pos"]]
    )
    accuracy = np.mean(model.predict(vectorizer.transform(_features(test))) == gold)
    assert np.mean(gold == "DT") < dictionary - 0.5
    assert dictionary < 0.9
    assert dictionary + 0.03 < accuracy < 0.97


def test_words_of_one_class_share_contexts(trees):
    # Prepositions and verbs ask for classes of nouns; the words around a noun therefore tell its class.
    homes = {noun.singular: name for name in NOUN_CLASSES for noun in lexicon().nouns[name, 0].items[:9]}
    contexts = {word: Counter() for word in homes}
    for tree in trees:
        for i, token in enumerate(tree.sentence.tokens):
            if token in homes:
                head = tree.heads[i]
                grand = tree.heads[head - 1] if head else 0
                contexts[token].update([tree.sentence.tokens[head - 1] + ">"] if head else [])
                contexts[token].update([tree.sentence.tokens[grand - 1] + ">>"] if grand else [])
    words = [word for word in homes if contexts[word].total() >= 15]
    vectors = CountVectorizer(analyzer=lambda word: contexts[word].elements()).fit_transform(words).toarray() ** 0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = vectors @ vectors.T
    same = np.equal.outer([homes[w] for w in words], [homes[w] for w in words])
    pairs = ~np.eye(len(words), dtype=bool)
    assert len(words) > 20
    assert similarity[same & pairs].mean() > 1.15 * similarity[~same].mean()


def test_an_illegal_number_is_named():
    with pytest.raises(ParameterError, match="make_tagged_sentences: n_sentences must be an integer of at least 0"):
        make_tagged_sentences(2.0)


def _features(trees):
    rows = []
    for tree in trees:
        tokens = ("<s>", *tree.sentence.tokens, "</s>")
        for left, token, right in zip(tokens, tokens[1:], tokens[2:], strict=False):
            suffixes = [f"s={token[-n:]}" for n in (1, 2, 3) if len(token) > n]
            rows.append([f"w={token}", f"l={left}", f"r={right}", f"c={token[0].isupper()}", *suffixes])
    return rows
