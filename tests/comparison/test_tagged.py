from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from handful.comparison.corpora import TaggerExperiment, compare_tagged, corpus_splits
from handful.comparison.statistics import score_interval
from handful.comparison.trials import Limits, Trial
from handful.data.conll import guess_columns
from handful.data.records import Sentence
from handful.data.tagged import read_tagged, read_untagged
from handful.errors import DataError, FormatError, ParameterError
from handful.registry import METHODS, MethodSpec, get_method, register, unregister
from handful.report.terminal import render_terminal
from handful.tagging.evaluation import score_tags, sentence_values


def splits(n_labels):
    return corpus_splits(n_labels, 40, 0, "sentences")


WORDS = {"D": ["the", "a"], "N": ["dog", "cat", "bird"], "V": ["barks", "sleeps"]}


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(40):
        for tag in ("D", "N", "V"):
            lines.append(f"{rng.choice(WORDS[tag])}\t{tag}")
        lines.append("")
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_are_named_by_their_number(tmp_path):
    for n, names in ((2, ("token", "tag")), (4, ("token", "pos", "chunk", "tag"))):
        path = tmp_path / f"{n}.tsv"
        path.write_text("\t".join(["x"] * n) + "\n\n")
        assert guess_columns(path) == names
    path.write_text("word\n\n")
    with pytest.raises(FormatError, match="expected one token and its tag on each line"):
        read_tagged(path)


def test_a_first_line_may_name_the_columns(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("# global.columns = FORM POS TAG CONFIDENCE\nRome\tNNP\tB-LOC\t0.98\n\n")
    assert guess_columns(path) == ("token", "pos", "tag", "confidence")
    assert read_tagged(path).tags == (("B-LOC",),)


def test_the_tags_are_taken_out_of_the_sentences(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("Rome NNP B-LOC\nfell VBD O\n\n")
    found = read_tagged(path)
    assert found.sentences == (Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")}),)
    assert found.tags == (("B-LOC", "O"),)
    assert found.has_spans
    assert read_tagged(path, tag="pos").tags == (("NNP", "VBD"),)
    assert not read_tagged(path, tag="pos").has_spans
    with pytest.raises(ParameterError, match="must be one of pos, tag, got 'ner'"):
        read_tagged(path, tag="ner")


def test_untagged_sentences_come_with_or_without_the_tags(tmp_path):
    layout = ("token", "pos", "tag")
    for name, text, names in (
        ("a.txt", "Rome fell .\nIt did\n", ("token",)),
        ("b.tsv", "Rome\tNNP\nfell\tVBD\n\n", ("token", "pos")),
        ("c.tsv", "Rome\tNNP\tX\nfell\tVBD\tX\n\n", layout),
    ):
        (tmp_path / name).write_text(text)
        tree, found = next(iter(read_untagged(tmp_path / name, layout, "tag")))
        assert tree.sentence.tokens[:2] == ("Rome", "fell")
        assert found == names
    with pytest.raises(FormatError, match="as in training, with or without 'tag', got 3 columns"):
        next(iter(read_untagged(tmp_path / "c.tsv", ("token", "tag"), "tag")))
    wide = ("token", "pos", "chunk", "tag")
    assert next(iter(read_untagged(tmp_path / "b.tsv", wide, "tag", ["pos"])))[1] == ("token", "pos")
    with pytest.raises(FormatError, match=r"a.txt: expected a column 'pos' next to the token, got the token alone"):
        next(iter(read_untagged(tmp_path / "a.txt", wide, "tag", ["pos"])))


def test_spans_are_scored_as_spans():
    gold, found = [["B-X", "I-X", "O"]], [["B-X", "O", "O"]]
    assert score_tags(gold, found, with_spans=True)["f1"] == 0
    assert score_tags(gold, found, with_spans=False) == {"accuracy": 2 / 3}


@pytest.mark.parametrize("with_spans", [True, False])
def test_the_mean_of_the_values_of_sentences_is_the_score(with_spans):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, 30)
    gold, found = ([rng.choice(["O", "B-X", "I-X"], n).tolist() for n in lengths] for _ in range(2))
    score = score_tags(gold, found, with_spans)["f1" if with_spans else "accuracy"]
    assert 0 < score < 1
    assert sentence_values(gold, found, with_spans).mean() == pytest.approx(score)
    assert sentence_values(gold, gold, with_spans).tolist() == pytest.approx([1.0] * 30)
    assert sentence_values([["O"]], [["O"]], with_spans=True).tolist() == [0.0]


def test_few_sentences_without_an_error_promise_little(corpus):
    design = TaggerExperiment("train", read_tagged(corpus), [], splits(32), "pos", 0).design
    assert design.n_test == 24  # tags of eight sentences
    low, high = score_interval([1.0], design)
    assert low < 0.9
    assert high == 1.0


def test_splits_of_sentences_are_nested_and_part_the_corpus():
    made = corpus_splits(12, 23, 3, "sentences")
    tested: list[int] = []
    for number in range(5):
        smaller: set[int] = set()
        for size in made.sizes:
            train, hidden = made[number].training(size)
            test = made[number].test
            assert sorted([*train, *hidden, *test]) == list(range(23))
            assert smaller <= set(train)
            smaller = set(train)
        tested += test.tolist()
    assert sorted(tested) == list(range(23))


def test_hidden_tags_are_not_read(corpus, monkeypatch):
    data, seen = read_tagged(corpus), []

    def watch(setup, sentences, tags, unlabeled):
        seen.append((len(sentences), sum(map(len, tags)), {type(s) for s in unlabeled}, [s.columns for s in unlabeled]))
        return get_method("frequent-tag").train(setup, sentences, tags, unlabeled)

    register(MethodSpec("watcher", "sentences", uses_unlabeled=True, train=watch))
    monkeypatch.setitem(METHODS["sentences"], "watcher", "handful.registry")
    experiment = TaggerExperiment("train", data, [], splits(8), "pos", 0)
    assert experiment.run(Trial("watcher", False, 0, 8)).error is None
    n_sentences, n_tags, kinds, columns = seen[0]
    assert (n_sentences, n_tags, kinds) == (8, 24, {Sentence})
    unregister("watcher")
    assert len(columns) == 24
    assert not any(columns)


@pytest.mark.slow
def test_taggers_are_compared(corpus, tmp_path):
    found = compare_tagged(corpus, labels=4, methods=["crf+clusters"], limits=Limits(trials=25))
    by_name = {score.method: score for score in found.scores}
    assert set(by_name) == {"frequent-tag", "crf", "crf+clusters"}
    assert by_name["crf+clusters"].gain.other == "crf"
    assert by_name["crf"].mean > 0.8
    assert found.report.metric == "accuracy of tags"
    assert "4 tagged sentences" in found.verdict
    assert found.report.facts["tagged sentences used for training"] == 4
    console = Console(width=200, file=StringIO())
    console.print(*render_terminal(found.report))
    assert ": accuracy of tags in %, 4 tagged sentences" in console.file.getvalue()
    assert "crf+clusters" in found.to_html(tmp_path / "r.html")


def test_condensed_features_read_only_what_raw_text_has(corpus):
    data = read_tagged(corpus)
    with_column = tuple(Sentence(s.tokens, {"pos": tags}) for s, tags in zip(data.sentences, data.tags, strict=True))
    experiment = TaggerExperiment("train", replace(data, sentences=with_column), [], splits(8), "ner", 0)
    result = experiment.run(Trial("crf+condensed-features", False, 0, 8))
    assert result.error is None
    assert result.score > 0.8


def test_wrong_use_is_told(corpus, tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'crf\\+clusters'"):
        compare_tagged(corpus, methods=["crf-clusters"])
    with pytest.raises(ParameterError, match="labels must be between"):
        compare_tagged(corpus, labels=33)
    with pytest.raises(ParameterError, match="for sentences"):
        compare_tagged(corpus, labels="5-per-class")
    short = tmp_path / "short.tsv"
    short.write_text("a\tX\n\n")
    with pytest.raises(DataError, match="at least 10 tagged sentences"):
        compare_tagged(short)
