"""The parser on small made-up languages, and what it does with odd input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.trees import is_projective, is_tree

import handful
from handful.data.records import Sentence, Tree
from handful.errors import DataError, HandfulError, ParameterError
from handful.parsing.parser import DependencyParser
from handful.parsing.scoring import score_trees

WORDS = {"D": ["the", "a", "this"], "N": ["dog", "cat", "parser", "sentences"], "V": ["sees", "likes"], "P": ["with"]}


def make_tree(rng):
    """Return a sentence like "the dog sees a cat with the parser" and its tree."""
    tags, heads, labels = ["D", "N", "V", "D", "N"], [2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"]
    if rng.random() < 0.5:
        tags, heads, labels = [*tags, "P", "D", "N"], [*heads, 8, 8, 5], [*labels, "case", "det", "nmod"]
    if rng.random() < 0.5:
        tags, heads, labels = [*tags, "."], [*heads, 3], [*labels, "punct"]
    words = [rng.choice(WORDS[tag]) if tag in WORDS else tag for tag in tags]
    return Tree(Sentence(tuple(map(str, words)), {"xpos": tuple(tags)}), tuple(heads), tuple(labels))


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(0)
    return [make_tree(rng) for _ in range(40)]


def same(one, two, trees):
    assert one.predict(trees) == two.predict(trees)
    np.testing.assert_array_equal(one.weights_, two.weights_)
    np.testing.assert_array_equal(one.keys_, two.keys_)


@pytest.mark.parametrize(
    "options",
    [
        {"order": 1},
        {"order": 2},
        {"algorithm": "fobos", "strength": 0.1},
        {"order": 2, "algorithm": "lbfgs", "strength": 0.01, "max_iter": 20},
        {"order": 1, "projective": False},
        {"order": 1, "projective": False, "algorithm": "lbfgs", "strength": 0.01, "max_iter": 20},
        {"single_root": False, "order": 2, "min_count": 2},
        {"order": 2, "clusters": {"dog": "0000", "cat": "0001", "sees": "11", "likes": "110"}},
    ],
)
def test_it_learns_a_small_language_and_survives_a_file(options, trees, tmp_path):
    parser = DependencyParser(max_iter=options.pop("max_iter", 5), **options).fit(trees[:30])
    scores = parser.score(trees[30:])
    uas, las = scores
    assert (uas, las, scores.exact) == (1.0, 1.0, 1.0)
    assert scores.n_words > scores.without_punctuation.n_words
    handful.save(parser, tmp_path / "p.handful")
    same(parser, handful.load(tmp_path / "p.handful"), trees)
    assert parser.n_active_ == np.count_nonzero(parser.weights_) == len(parser.keys_)


def test_fobos_is_smaller_than_pa(trees):
    small = DependencyParser(algorithm="fobos", strength=2.0, max_iter=5).fit(trees)
    assert 0 < small.n_active_ < DependencyParser(max_iter=5).fit(trees).n_active_


def test_threads_change_nothing(trees):
    options = {"order": 2, "max_iter": 3}
    same(DependencyParser(**options).fit(trees), DependencyParser(n_jobs=2, **options).fit(trees), trees)


@pytest.mark.parametrize("algorithm", ["pa", "fobos", "lbfgs"])
def test_a_stopped_training_goes_on_with_the_same_result(algorithm, trees, tmp_path):
    options = {"algorithm": algorithm, "max_iter": 12, "order": 2, "strength": 0.5}
    whole = DependencyParser(**options).fit(trees)

    def stop(step):
        if step.stage == "train" and step.done == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DependencyParser(**options).fit(trees, progress=stop, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").exists()
    same(DependencyParser(**options).fit(trees, checkpoint=tmp_path / "c"), whole, trees)
    with pytest.raises(DataError, match="another training run"):
        DependencyParser(**options).fit(trees[1:], checkpoint=tmp_path / "c")


def test_inputs_of_every_kind_are_parsed_alike(trees):
    parser = DependencyParser(max_iter=3).fit(trees)
    tree = trees[0]
    pairs = list(zip(tree.sentence.tokens, tree.sentence["xpos"], strict=True))
    heads, labels = parser.predict([tree, tree.sentence, pairs])
    assert heads[0] == heads[1] == heads[2] == list(tree.heads)
    assert labels[0] == labels[1] == labels[2] == list(tree.labels)
    assert parser.predict([]) == ([], [])
    assert parser.predict([[]]) == ([[]], [[]])


@pytest.mark.parametrize(("order", "projective"), [(1, True), (2, True), (1, False)])
@pytest.mark.parametrize("n", [1, 2, 210])
def test_a_sentence_of_any_length_gets_a_tree(order, projective, n, trees):
    parser = DependencyParser(order=order, projective=projective, max_iter=2).fit(trees)
    rng = np.random.default_rng(n)
    tags = rng.choice(["D", "N", "V", "P", "unheard"], n)
    heads, _ = parser.predict([[(f"w{k}", str(tag)) for k, tag in enumerate(tags)]])
    assert is_tree(heads[0])
    assert heads[0].count(0) == 1
    if projective and n < 100:
        assert is_projective(heads[0])


def test_a_parser_of_one_word_sentences():
    tree = Tree(Sentence(("Yes",), {"upos": ("INTJ",)}), (0,), ("root",))
    parser = DependencyParser(order=2).fit([tree])
    assert parser.predict([tree]) == ([[0]], [["root"]])


def test_crossing_arcs_are_lifted_for_a_projective_parser_alone():
    crossing = Tree(
        Sentence(("a", "b", "c", "d"), {"upos": ("A", "B", "C", "D")}), (3, 4, 0, 3), ("x", "y", "root", "z")
    )
    parser = DependencyParser(max_iter=20).fit([crossing])
    assert parser.n_lifted_ == 1
    assert parser.predict([crossing])[0] == [[3, 3, 0, 3]]
    free = DependencyParser(order=1, max_iter=20, projective=False).fit([crossing])
    assert free.n_lifted_ == 0
    assert free.predict([crossing])[0] == [list(crossing.heads)]


def test_several_roots_are_hung_to_the_first_unless_they_may_stay():
    tree = Tree(Sentence(("a", "b", "c"), {"upos": ("A", "B", "C")}), (0, 1, 0), ("root", "x", "root"))
    assert DependencyParser(max_iter=20).fit([tree]).predict([tree])[0] == [[0, 1, 1]]
    for order in (1, 2):
        several = DependencyParser(order=order, max_iter=20, single_root=False).fit([tree])
        assert several.predict([tree])[0] == [[0, 1, 0]]


def test_the_label_of_the_root_is_for_the_root_alone(trees):
    parser = DependencyParser(max_iter=1).fit(trees[:4])
    rng = np.random.default_rng(0)
    drawn = [[(str(w), str(t)) for w, t in rng.choice(["D", "N", "V", "P", "?"], (6, 2))] for _ in range(200)]
    heads, labels = parser.predict(drawn)
    pairs = [pair for row, names in zip(heads, labels, strict=True) for pair in zip(row, names, strict=True)]
    assert all((head == 0) == (label == "root") for head, label in pairs)
    several = [replace(tree, labels=tuple("x" for _ in tree.labels)) for tree in trees[:2]]
    parser = DependencyParser(max_iter=1).fit([*trees[:4], *several])
    assert parser.labels_["root"] is None


def test_features_can_be_read(trees):
    parser = DependencyParser(order=2, max_iter=3).fit(trees)
    names = dict(parser.top_features(parser.n_active_))
    assert len(names) == parser.n_active_
    assert any(name.startswith("h.pos=V m.pos=N") for name in names)
    assert any("s.pos=<none>" in name for name in names)
    assert all(name.split()[0].count("=") == 1 for name in names)


def test_tags_of_one_column_or_of_both(trees):
    both = []
    for tree in trees:
        words, xpos = tree.sentence.tokens, tree.sentence["xpos"]
        coarse = tuple({"D": "DET", "N": "NOUN", "V": "VERB"}.get(tag, "X") for tag in xpos)
        both.append(Tree(Sentence(words, {"upos": coarse, "xpos": xpos}), tree.heads, tree.labels))
    parser = DependencyParser(max_iter=3).fit(both)
    assert parser.columns_ == ["xpos", "upos"]
    triples = [list(zip(t.sentence.tokens, t.sentence["upos"], t.sentence["xpos"], strict=True)) for t in both]
    assert parser.predict(triples) == parser.predict(both)
    with pytest.raises(DataError, match=r"none in 'xpos'\. Give each word as \(word, upos, xpos\), or train on one"):
        parser.predict([[("the", "D"), ("dog", "N")]])
    assert parser.predict([[]]) == ([[]], [[]])
    for column in ("xpos", "upos"):
        one = DependencyParser(max_iter=3, tags=column).fit(both)
        assert one.columns_ == [column]
        pairs = [list(zip(t.sentence.tokens, t.sentence[column], strict=True)) for t in both]
        assert one.predict(pairs) == one.predict(triples) == one.predict(both)
    with pytest.raises(DataError, match="must have tags in 'upos', got tags in 'xpos' only"):
        DependencyParser(tags="upos").fit(trees)


def test_a_file_of_before_tags_could_be_chosen_still_loads(trees):
    parser = DependencyParser(max_iter=1).fit(trees)
    state = {name: value for name, value in parser._state().items() if name != "tags"}
    assert DependencyParser._from_state(state).predict(trees) == parser.predict(trees)


@pytest.mark.parametrize("order", [1, 2])
def test_a_file_of_before_there_were_more_templates_still_loads(order, trees):
    parser = DependencyParser(order, max_iter=2, templates="plain", rehang=False).fit(trees)
    later = {"templates", "templates_", "rehang", "marks_"}
    state = {name: value for name, value in parser._state().items() if name not in later}
    state["labels_"] = {name: value for name, value in state["labels_"].items() if name != "templates"}
    old = DependencyParser._from_state(state)
    assert old.templates == "plain"
    assert old.predict(trees) == parser.predict(trees)
    wide = DependencyParser(order, max_iter=2).fit(trees)
    assert len(wide.templates_["arcs"]) > len(old.templates_["arcs"])
    assert wide.templates_["pairs"] == old.templates_["pairs"]


def test_parse_keeps_what_came_with_a_tree(trees):
    parser = DependencyParser(max_iter=3).fit(trees)
    sentence = Sentence(("the", "dog"), {"xpos": ("D", "N"), "lemma": ("the", "dog")}, ("# text = the dog",))
    tree = Tree(sentence, (-1, -1), ("_", "_"), ((0, "1-2\tthedog\t_\t_\t_\t_\t_\t_\t_\t_"),))
    (parsed,) = parser.parse([tree])
    assert parsed.sentence is sentence
    assert parsed.extras == tree.extras
    assert parsed.heads == (2, 0)


def tree_of(heads, **columns):
    return Tree(Sentence(("a",) * len(heads), columns), heads, ("x",) * len(heads))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "at least one tree is needed"),
        ([tree_of((0,))], "the words must have tags"),
        ([tree_of((0,), upos=("_",))], "the words must have tags"),
        ([tree_of((0,), upos=("A",)), tree_of((0,), upos=("_",))], "sentence 1 has none in 'upos'"),
        ([tree_of((2, 1), upos=("A", "B"))], "its own ancestor"),
        ([tree_of((0, -1), upos=("A", "B"))], "word 2 of the tree at index 0 has no head"),
        ([[("a", "A")]], "a list of trees is needed"),
        (5, "a list of trees is needed"),
        (tree_of((0,), upos=("A",)), "a list of trees is needed"),
    ],
)
def test_training_on_what_is_no_tree_says_so(given, says):
    with pytest.raises(DataError, match=says):
        DependencyParser().fit(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([["the", "dog"]], "words without tags"),
        ([Sentence(("the",))], "must have tags in 'xpos'"),
        ([Sentence(("the",), {"xpos": ("_",)})], "sentence 0 has none in 'xpos'"),
        (["the dog"], "must be a Tree"),
        ("the dog", "a list of sentences is needed"),
    ],
)
def test_parsing_what_has_no_tags_says_so(given, says, trees):
    with pytest.raises(DataError, match=says):
        DependencyParser(max_iter=1).fit(trees[:3]).predict(given)


@pytest.mark.parametrize("given", [None, 5, [("the", "D")], tree_of((0,), upos=("A",))])
def test_scoring_what_is_no_list_of_trees_says_so(given, trees):
    with pytest.raises(DataError, match="a list of trees is needed to score"):
        DependencyParser(max_iter=1).fit(trees[:3]).score(given)


def test_parameters_are_checked(trees):
    with pytest.raises(ParameterError, match="order 2 needs projective"):
        DependencyParser(order=2, projective=False).fit(trees)
    with pytest.raises(ParameterError, match="order must be 1 or 2"):
        DependencyParser(order=3).fit(trees)
    with pytest.raises(ParameterError, match="clusters must be"):
        DependencyParser(clusters=7).fit(trees)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights_", np.zeros(2)),
        ("columns_", []),
        ("templates_", {"arcs": ["h.nonsense"], "pairs": []}),
        ("templates_", None),
        ("marks_", {}),
    ],
)
def test_a_damaged_file_is_refused(name, value, trees, tmp_path):
    parser = DependencyParser(max_iter=1).fit(trees)
    setattr(parser, name, value)
    handful.save(parser, tmp_path / "p.handful")
    with pytest.raises(HandfulError, match=r"does not hold a usable .*(damaged|must|missing)"):
        handful.load(tmp_path / "p.handful")


@pytest.mark.parametrize("root", [99, -1, "x"])
def test_a_label_of_the_root_that_is_none_is_refused(root, trees, tmp_path):
    parser = DependencyParser(max_iter=1).fit(trees)
    parser.labels_["root"] = root
    handful.save(parser, tmp_path / "p.handful")
    with pytest.raises(HandfulError, match="labels_: root must be"):
        handful.load(tmp_path / "p.handful")


def test_scores_with_and_without_punctuation():
    tags = {"upos": ("NOUN", "VERB", "PUNCT"), "xpos": ("NN", "VBD", ".")}
    gold = [Tree(Sentence(("a", "b", "."), tags), (2, 0, 2), ("x", "root", "punct"))]
    scores = score_trees(gold, [(2, 0, 1)], [("y", "root", "punct")])
    assert scores == (2 / 3, 1 / 3)
    assert scores.exact == 0.0
    assert scores.without_punctuation == (1.0, 0.5)
    assert scores.without_punctuation.exact == 1.0
    penn = [Tree(Sentence(("a", "``"), {"xpos": ("NN", "``")}), (0, 1), ("root", "p"))]
    assert score_trees(penn, [(0, 1)]).without_punctuation.n_words == 1
    with pytest.raises(DataError, match="one head for each word"):
        score_trees(gold, [(2, 0)])
    with pytest.raises(DataError, match="tree 0 lacks some"):
        score_trees([tree_of((0, -1))], [(0, 1)])


@pytest.mark.corpus
def test_order_two_beats_order_one_on_the_wsj_sample(data_folder):
    from handful.data.conll import read_conllu

    path = data_folder / "wsj-sample-dep.conllu.gz"
    if not path.exists():
        pytest.skip("no WSJ sample")
    known = list(read_conllu(path))[:1000]
    scores = [DependencyParser(order=k, max_iter=5, n_jobs=2).fit(known[:700]).score(known[700:]) for k in (1, 2)]
    assert 0.8 < scores[0].uas < scores[1].uas
