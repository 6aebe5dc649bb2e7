from __future__ import annotations

import gzip
import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from oracles.brown import average_mutual_information, brown

from handful.data.records import Sentence
from handful.errors import DataError, FormatError, ParameterError
from handful.persistence.model_file import load, save
from handful.representations import brown as brown_module
from handful.representations import text_stream
from handful.representations.brown import BrownClusters
from handful.representations.text_stream import text_parts


def small_text(seed, max_words=12, max_tokens=70):
    """Return sentences full of ties: few words, many of them equally rare."""
    draw = random.Random(seed)
    n_words = draw.randint(1, max_words)
    sentences = [
        ["abcdefghijkl"[min(int(draw.expovariate(0.35)), n_words - 1)] for _ in range(draw.randint(0, 9))]
        for _ in range(draw.randint(1, max_tokens // 6))
    ]
    return sentences if any(sentences) else [["a"]]


@pytest.mark.parametrize("across_sentences", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_clusters_agree_with_the_definition(seed, across_sentences):
    sentences = small_text(seed)
    n_clusters, min_count = 2 + seed % 3, 1 + seed % 2
    words = Counter(word for sentence in sentences for word in sentence)
    if max(words.values()) < min_count:
        min_count = 1
    model = BrownClusters(n_clusters, min_count, across_sentences=across_sentences).fit(sentences)
    paths, information = brown(sentences, n_clusters, min_count, across_sentences)
    if len(set(paths.values())) == 1:
        paths = dict.fromkeys(paths, "0")
    assert model.paths_ == paths
    assert model.mutual_information_ == pytest.approx(information, abs=1e-12)
    assert model.counts_ == {word: words[word] for word in paths}


def clusterable(n_sentences=400, seed=0):
    """Return text from a grammar with four kinds of words."""
    draw = random.Random(seed)
    kinds = [[f"{kind}{number}" for number in range(12)] for kind in "dnva"]
    return [[draw.choice(kinds[kind]) for kind in draw.choice(((0, 1, 2), (0, 3, 1, 2)))] for _ in range(n_sentences)]


def test_kinds_of_words_are_found():
    model = BrownClusters(4, across_sentences=False).fit(clusterable())
    groups = {}
    for word, path in model.paths_.items():
        groups.setdefault(path, set()).add(word[0])
    assert sorted(map(sorted, groups.values())) == [["a"], ["d"], ["n"], ["v"]]


def test_result_does_not_depend_on_parts_or_on_the_kind_of_sentence(tmp_path):
    sentences = clusterable()
    whole = BrownClusters(6).fit(sentences)
    records = BrownClusters(6).fit(Sentence(tuple(tokens)) for tokens in sentences)
    parts = BrownClusters(6).fit_parts([sentences[:1], [], sentences[1:7], sentences[7:]])
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(" ".join(tokens) for tokens in sentences))
    from_file = BrownClusters(6).fit_parts(text_parts(path, part_bytes=700))
    for other in (records, parts, from_file):
        assert list(other.paths_.items()) == list(whole.paths_.items())
        assert other.mutual_information_ == whole.mutual_information_


def test_worker_processes_give_the_same(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(tokens) for tokens in clusterable()))
    one, two = (BrownClusters(6, n_jobs=n).fit_parts(text_parts(path, part_bytes=4000)) for n in (1, 2))
    assert one.paths_ == two.paths_


def test_paths_form_a_tree_with_as_many_leaves_as_clusters():
    model = BrownClusters(9).fit(clusterable())
    leaves = sorted(set(model.paths_.values()))
    assert model.n_clusters_ == len(leaves) == 9
    assert not any(b.startswith(a) for a, b in pairwise(leaves))
    assert sum(2.0 ** -len(leaf) for leaf in leaves) == 1.0


def test_fewer_words_than_clusters_gives_each_word_its_own():
    model = BrownClusters(100).fit([["x", "y", "z", "x"]])
    assert model.n_clusters_ == 3
    assert len(set(model.paths_.values())) == 3
    assert BrownClusters(100).fit([["x"]]).paths_ == {"x": "0"}


def test_progress_reaches_the_last_word():
    steps = []
    BrownClusters(4).fit(clusterable(), progress=steps.append)
    assert steps[-1].stage == "cluster"
    assert steps[-1].done == steps[-1].total == 48


def test_rare_words_are_forgotten_only_beyond_the_bound(monkeypatch):
    draw = np.random.default_rng(0)
    noise = [[f"w{number}" for number in draw.integers(0, 100_000, 9)] + ["the", "of"] for _ in range(60)]
    parts = [noise[n : n + 10] for n in range(0, 60, 10)]
    free = BrownClusters(2).fit_parts(parts)
    monkeypatch.setattr(text_stream, "MAX_TYPES", 150)
    bound = BrownClusters(2).fit_parts(parts)
    assert len(free.paths_) > 400
    assert len(bound.paths_) <= 150
    assert bound.counts_["the"] == free.counts_["the"] == 60


def test_rare_pairs_are_forgotten_only_beyond_the_bound(monkeypatch):
    sentences = clusterable(2000)
    exact = BrownClusters(4, across_sentences=False).fit(sentences)
    roomy = BrownClusters(4, across_sentences=False).fit_parts([sentences[:1000], sentences[1000:]])
    monkeypatch.setattr(brown_module, "MAX_PAIRS", 20)
    tight = BrownClusters(4, across_sentences=False).fit_parts([sentences[:1000], sentences[1000:]])
    assert roomy.mutual_information_ == exact.mutual_information_
    assert tight.counts_ == exact.counts_


def test_forgotten_pairs_leave_no_negative_information(monkeypatch):
    draw = np.random.default_rng(0)
    noise = [[f"w{number}" for number in draw.integers(0, 60, 12)] for _ in range(400)]
    parts = [noise[n : n + 50] for n in range(0, 400, 50)]
    exact = BrownClusters(10).fit_parts(parts)
    for max_pairs in (20, 500, 3000):
        monkeypatch.setattr(brown_module, "MAX_PAIRS", max_pairs)
        tight = BrownClusters(10).fit_parts(parts)
        assert tight.counts_ == exact.counts_
        assert tight.mutual_information_ > 0


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "BrownClusters: the text must hold at least one token, got none."),
        ([[], []], "BrownClusters: the text must hold at least one token, got none."),
        ("a text", "BrownClusters: sentences must be lists of tokens, got a str. Split it first."),
        (["a text"], "BrownClusters: each sentence must be a list of tokens, got the string 'a text'. Split it."),
        ([["a", 3]], "BrownClusters: tokens must be strings that are not empty, got 3."),
        ([["a", ""]], "BrownClusters: tokens must be strings that are not empty, got ''."),
        ([["a", ["b"]]], "BrownClusters: tokens must be strings that are not empty, got ['b']."),
        ([3], "BrownClusters: each sentence must be a list of tokens, got int."),
        (3, "BrownClusters: sentences must be lists of tokens, got int."),
    ],
)
def test_bad_text_has_its_own_sentence(sentences, message):
    with pytest.raises(DataError) as error:
        BrownClusters(2).fit(sentences)
    assert str(error.value) == message


def test_min_count_that_nothing_reaches():
    with pytest.raises(DataError, match=r"min_count=3 times, got none\. Lower min_count"):
        BrownClusters(2, min_count=3).fit([["a", "b", "a"]])


@pytest.mark.parametrize("parameters", [{"n_clusters": 1}, {"min_count": 0}, {"across_sentences": "yes"}])
def test_illegal_parameters(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        BrownClusters(**parameters).fit([["a"]])


@pytest.mark.parametrize("name", ["clusters.txt", "clusters.txt.gz"])
def test_file_format_both_ways(tmp_path, name):
    model = BrownClusters(5).fit(clusterable())
    model.save(tmp_path / name)
    back = BrownClusters.load(tmp_path / name)
    assert list(back.paths_.items()) == list(model.paths_.items())
    assert back.counts_ == model.counts_
    assert back.n_clusters_ == 5
    assert math.isnan(back.mutual_information_)
    back.save(tmp_path / "again.txt")
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "rb") as file:
        content = file.read()
    assert (tmp_path / "again.txt").read_bytes() == content
    assert content.splitlines()[0].count(b"\t") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("00\ta\t1\n01\tb\n", ":2: expected 3 columns"),
        ("00\ta\t1\n0x\tb\t1\n", ":2: expected a path of 0 and 1, got '0x'."),
        ("00\ta\tmany\n", ":1: expected a count, got 'many'."),
        ("00\ta\t1\n01\ta\t2\n", ":2: expected every word once, got 'a' again."),
        ("", ": the file is empty."),
    ],
)
def test_malformed_cluster_file_names_the_line(tmp_path, text, message):
    path = tmp_path / "clusters.txt"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        BrownClusters.load(path)
    assert str(error.value).startswith(f"{path}{message}")


def test_word_that_breaks_the_file_format_is_refused_before_writing(tmp_path):
    model = BrownClusters(2).fit([["a\tb", "c"]])
    with pytest.raises(DataError, match="must not hold tabs or line ends"):
        model.save(tmp_path / "clusters.txt")
    assert not (tmp_path / "clusters.txt").exists()


def test_model_file_both_ways(tmp_path):
    for model in (BrownClusters(5).fit(clusterable()), BrownClusters(2).fit([["a\tb", "\u2028"]])):
        save(model, tmp_path / "brown.handful")
        back = load(tmp_path / "brown.handful", {"brown-clusters": BrownClusters}.get)
        assert list(back.paths_.items()) == list(model.paths_.items())
        assert back.counts_ == model.counts_
        assert back.get_params() == model.get_params()
        assert back.mutual_information_ == model.mutual_information_


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "n_words", "n_clusters"),
    [("brown-clusters-rcv1-c1000.txt.gz", 247_339, 1000), ("brown-clusters-twitter-6m.txt.gz", 111_844, 800)],
)
def test_published_clusters_come_back_byte_for_byte(data_folder, tmp_path, name, n_words, n_clusters):
    model = BrownClusters.load(data_folder / name)
    assert (len(model.paths_), model.n_clusters_) == (n_words, n_clusters)
    model.save(tmp_path / "again.txt")
    with gzip.open(data_folder / name, "rb") as file:
        assert (tmp_path / "again.txt").read_bytes() == file.read()


@pytest.mark.corpus
def test_information_on_real_text_is_what_the_paths_give(data_folder):
    with gzip.open(data_folder / "brown-pos.tsv.gz", "rt", encoding="utf-8") as file:
        text = [line.split("\t")[0].lower() for line in file if line.strip()][:200_000]
    model = BrownClusters(30, min_count=2).fit([text])
    groups = {}
    for word, path in model.paths_.items():
        groups.setdefault(path, []).append(word)
    bigrams = Counter(pairwise(text))
    information = average_mutual_information(list(groups.values()), Counter(text), bigrams, len(text), len(text) - 1)
    assert model.mutual_information_ == pytest.approx(information, rel=1e-9)
    assert model.paths_["he"] == model.paths_["she"]
