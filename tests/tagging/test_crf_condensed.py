"""Condensed features of a CRF: the definitions by enumeration of all label sequences, and the way through files."""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import handful
from handful.data.records import Sentence
from handful.errors import DataError, FormatError, ParameterError
from handful.preprocessing.extractor import Extractor, joined, numbers_in
from handful.representations import text_stream as numbered_text
from handful.representations.condensed_classifier import CondensedFeatureClassifier
from handful.representations.condensed_features import CondensedFeatures
from handful.tagging.base import TagColumn
from handful.tagging.crf import CRF
from handful.tagging.crf_features import ChainSpace
from papers.generated_english import make_tagged_sentences

TEMPLATES = ["u", "b", "*:word[0]", "word[-1]", "word[-2..-1]", "b:word[0]|word[1]"]
LEARNERS = [{}, {"penalty": "l1"}, {"algorithm": "pa"}, {"algorithm": "fobos", "strength": 0.1}]


def corpus(seed=0, n=50, words="vwxyz"):
    rng = np.random.default_rng(seed)
    sentences = [[str(w) for w in rng.choice(list(words), size=rng.integers(1, 5))] for _ in range(n)]
    tags = []
    for sentence in sentences:
        mine = []
        for word in sentence:
            inside = word in "xy" and mine and mine[-1] != "O" and rng.random() < 0.8
            mine.append("B-X" if word in "vw" and rng.random() < 0.9 else "I-X" if inside else "O")
        tags.append(mine)
    return sentences, tags


def fitted(**settings):
    sentences, tags = corpus()
    return CRF(TEMPLATES, **({"penalty": "l1", "strength": 0.7} | settings)).fit(sentences, tags)


def word_at(words, i):
    return "<s>" if i < 0 else "</s>" if i >= len(words) else words[i]


def features_of(words, i, labels):
    """What fires at position i with the last labels, by hand."""
    y, pair = (labels[-1],), tuple(labels[-2:])
    found = Counter({("u", "u", y): 1, ("u:word[0]", f"word[0]={words[i]}", y): 1})
    found["u:word[-1]", f"word[-1]={word_at(words, i - 1)}", y] += 1
    for k in (i - 2, i - 1):
        if k >= 0:
            found["u:word[-2..-1]", f"word[-2..-1]={words[k]}", y] += 1
    if len(pair) == 2:
        found["b", "b", pair] += 1
        found["b:word[0]", f"word[0]={words[i]}", pair] += 1
        found["b:word[0]|word[1]", f"word[0]|word[1]={words[i]}|{word_at(words, i + 1)}", pair] += 1
    if len(labels) == 3:
        found["triple", "triple", tuple(labels)] += 1
    return found


def by_definition(model, sentences, answers):
    """R and A of every feature: a sum over all parts of all legal label sequences."""
    labels, order = model.classes_.tolist(), model.order
    legal = {(labels[a], labels[b]) for a, b in np.argwhere(model.allowed_)}
    first = set(model.classes_[model.allowed_first_])
    chosen, even = defaultdict(float), defaultdict(float)
    for words, answer in zip(sentences, answers, strict=True):
        parts = set()
        for tags in product(labels, repeat=len(words)):
            if tags[0] in first and all(pair in legal for pair in pairwise(tags)):
                parts |= {(i, tags[max(0, i - order) : i + 1]) for i in range(len(tags))}
        best = {(i, tuple(answer[max(0, i - order) : i + 1])) for i in range(len(words))}
        assert best <= parts
        for i, part in parts:
            for name, amount in features_of(words, i, part).items():
                chosen[name] += amount * ((i, part) in best)
                even[name] += amount * len(words) / len(parts)
    return chosen, even


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("constraints", [None, "iob2"])
def test_potency_is_that_of_the_definition(order, constraints):
    model = fitted(order=order, constraints=constraints)
    labeled, _ = corpus()
    text, _ = corpus(1, n=40, words="vwxyzq")
    features = CondensedFeatures(model, 0.5).fit(text, labeled=labeled)
    chosen, even = by_definition(model, text, model.predict(text))
    every = features.features(range(features._space.n_features))
    found = {record[:3]: record for record in every if record.even > 0}
    known = names_of(labeled)
    for name, r in chosen.items():
        if name[1] in known or name[1] in ("b", "triple"):
            record = found.pop(name)
            a = even[name]
            assert record.chosen == r
            assert record.even == pytest.approx(a, abs=1e-12)
            expected = log(r - 0.5) - log(a) if r - a > 0.5 else log(r + 0.5) - log(a) if r - a < -0.5 else 0.0
            assert record.potency == pytest.approx(expected, abs=1e-12)
    assert not found


def names_of(sentences):
    """Observations of sentences in words."""
    return {name for words in sentences for i in range(len(words)) for _, name, _ in names_at(words, i)}


def names_at(words, i):
    # with labels at hand every observation fires once for a label and, some of them, once more for a pair
    single = Counter({key[1]: n for key, n in features_of(words, i, ["O"]).items()})
    pair = {key[1]: n for key, n in features_of(words, i, ["O", "O"]).items() if key[0].startswith("b:")}
    return [(0, name, 0) for name, n in (single | Counter(pair)).items() for _ in range(n)]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_retrained_models_are_ordinary_taggers(learner, tmp_path):
    sentences, tags = corpus(n=80)
    model = fitted(constraints="iob2")
    features = CondensedFeatures(model, resolution=2.0).fit(corpus(2, n=400, words="vwxyzq")[0], labeled=sentences)
    small = features.retrain(sentences, tags, **learner)
    assert isinstance(small, CRF)
    assert 0 < small.n_active_condensed_ <= features.n_condensed_
    assert len(np.unique(small.weights_)) <= small.n_active_condensed_
    assert small.score(sentences, tags) > model.score(sentences, tags) - 0.05
    handful.save(small, tmp_path / "small")
    loaded = handful.load(tmp_path / "small")
    assert loaded.predict(sentences) == small.predict(sentences)
    assert loaded.n_active_condensed_ == small.n_active_condensed_


@pytest.mark.parametrize("order", [1, 2])
def test_scores_on_original_features_are_those_on_condensed_ones(order):
    sentences, tags = corpus(3, n=20)
    features = CondensedFeatures(fitted(order=order), 0.5, 3.0).fit(corpus(4, n=200)[0], labeled=sentences)
    w = np.random.default_rng(0).normal(size=features.n_condensed_ + len(features.type_names_))
    model = features.fold(w)
    by_condensed = features.transform(sentences, tags) @ w
    for number, (words, mine) in enumerate(zip(sentences, tags, strict=True)):
        chain = next(model.chains([words]))
        ids, amounts = chain.joint_features(np.searchsorted(model.classes_, mine))
        assert by_condensed[number] == pytest.approx(amounts @ model.weights_[ids], abs=1e-9)


def test_text_files_workers_and_shards(tmp_path, monkeypatch):
    model, labeled = fitted(), corpus()[0]
    text = corpus(5, n=300, words="vwxyzq")[0]
    lines = "".join(" ".join(words) + "\n" for words in text)
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    whole = CondensedFeatures(model).fit(text, labeled=labeled)
    assert np.array_equal(CondensedFeatures(model).fit(packed, labeled=labeled).potency_, whole.potency_)
    monkeypatch.setattr("handful.representations.counts._PART_BYTES", 300)
    cut = CondensedFeatures(model).fit([plain], labeled=labeled)
    packed_cut = CondensedFeatures(model).fit(packed, labeled=labeled)
    assert packed_cut.counts_.n_shards_ == cut.counts_.n_shards_ > 3
    assert np.array_equal(packed_cut.potency_, cut.potency_)
    for path in (plain, packed):
        assert np.array_equal(CondensedFeatures(model).fit([path], labeled=labeled, n_jobs=2).potency_, cut.potency_)
    assert np.allclose(cut.potency_, whole.potency_, rtol=0, atol=1e-12)
    assert np.array_equal(cut.bins_, whole.bins_)


def test_a_run_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(numbered_text, "_SENTENCES_PER_PART", 40)
    model, labeled = fitted(), corpus()[0]
    text = corpus(6, n=200)[0]
    plain = CondensedFeatures(model).fit(text, labeled=labeled)
    first = CondensedFeatures(model).fit(text, labeled=labeled, checkpoint=tmp_path)
    monkeypatch.setattr("handful.tagging.crf_features.ChainSpace.count", None)  # nothing is counted again
    again = CondensedFeatures(model).fit(text, labeled=labeled, checkpoint=tmp_path)
    for other in (first, again):
        assert np.array_equal(other.potency_, plain.potency_)


def test_a_run_over_a_packed_file_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr("handful.representations.counts._PART_BYTES", 300)
    model, kept = fitted(), tmp_path / "kept"
    lines = "".join(" ".join(words) + "\n" for words in corpus(6, n=200)[0])
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    count, calls = ChainSpace.count, []

    def stops(self, *given):
        calls.append(given)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return count(self, *given)

    monkeypatch.setattr(ChainSpace, "count", stops)
    with pytest.raises(KeyboardInterrupt):
        CondensedFeatures(model).fit(packed, checkpoint=kept)
    assert len(list(kept.iterdir())) == 3
    found = CondensedFeatures(model).fit(packed, checkpoint=kept)
    assert len(calls) == 4 + found.counts_.n_shards_ - 3
    monkeypatch.setattr(ChainSpace, "count", count)
    assert np.array_equal(found.potency_, CondensedFeatures(model).fit(packed).potency_)


def test_counts_of_another_model_are_refused(tmp_path):
    model, other = fitted(), CRF(["u", "word.hyphen[0]", "b:word[1]"], max_iter=3).fit(*corpus())
    flat = LogisticRegression().fit(np.eye(2), [0, 1])
    CondensedFeatures(model).fit(corpus()[0]).save_counts(tmp_path / "counts")
    for base in (other, flat):
        with pytest.raises(DataError, match="counts must be of this base model, got those of another"):
            CondensedFeatures(base).fit_counts(tmp_path / "counts")


@pytest.mark.parametrize(
    "settings", [{"resolution": 1e300}, {"discount": float("inf")}, {"resolution": float("inf")}, {"resolution": 2e9}]
)
def test_settings_that_no_number_can_hold_are_refused(settings):
    with pytest.raises(ParameterError, match=f"{next(iter(settings))} must be a number"):
        CondensedFeatures(fitted(), **settings).fit(corpus()[0])
    with pytest.raises(ParameterError, match=f"{next(iter(settings))} must be a number"):
        CondensedFeatures(fitted()).fit(corpus()[0]).rebin(**settings)
    with pytest.raises(ParameterError, match=f"{next(iter(settings))} must be a number"):
        CondensedFeatureClassifier(**settings).fit(np.eye(4), [0, 1, 0, 1])
    fine = CondensedFeatures(fitted(), resolution=1e9).fit(corpus()[0])
    assert np.isfinite(fine.fold(np.ones(fine.n_condensed_ + len(fine.type_names_))).weights_).all()


def test_text_that_is_none_is_refused_with_its_place(tmp_path, monkeypatch):
    model = fitted()
    for name, lines, says in [
        ("tags.tsv", b"v\tA\nw\tB\n\n", r"tags\.tsv:1: expected raw text, .* got columns between tabs"),
        ("trees.conllu", b"# x\n1\tv\t_\tA\t_\t_\t0\t_\t_\t_\n\n", r"trees\.conllu:1: .* columns between tabs"),
        ("latin.txt", b"v w\n" * 9 + b"v \xe9\n", r"latin\.txt:10: expected UTF-8, got byte 0xe9 .* iconv -f LATIN1"),
        ("binary.txt", b"v w\n" * 9 + b"v \0\n", r"binary\.txt:10: expected text, got a binary file"),
        ("mac.txt", b"v w\rv w\r", "old Mac"),
    ]:
        for pack, ending in ((bytes, ""), (gzip.compress, ".gz")):
            path = tmp_path / f"{name}{ending}"
            path.write_bytes(pack(lines))
            for size in (20, 1 << 20):
                monkeypatch.setattr("handful.representations.counts._PART_BYTES", size)
                with pytest.raises(FormatError, match=says.replace(":", re.escape(ending) + ":", 1)):
                    CondensedFeatures(model).fit(path)
    tabs = tmp_path / "tabs.txt"
    tabs.write_bytes(b"\xef\xbb\xbfv\tw\nv w\r\n\nv\n")
    assert CondensedFeatures(model).fit(tabs).counts_.size == 5


def test_counts_extend_and_models_load(tmp_path):
    model, labeled = fitted(), corpus()[0]
    text = corpus(7, n=200)[0]
    whole = CondensedFeatures(model, count_labeled=True).fit(text, labeled=labeled)
    part = CondensedFeatures(model).fit(text[:90], labeled=labeled)
    part.save_counts(tmp_path / "counts")
    more = CondensedFeatures(model).fit_counts(tmp_path / "counts").extend(text[90:]).extend(labeled)
    assert np.allclose(more.potency_, whole.potency_, rtol=0, atol=1e-12)
    handful.save(whole, tmp_path / "features")
    assert np.array_equal(handful.load(tmp_path / "features").potency_, whole.potency_)


def test_columns_are_added_on_the_way():
    words, tags = corpus(8)
    pos = CRF(["u", "word[0]"], strength=0.1).fit(words, [["V" if w in "vw" else "Z" for w in s] for s in words])
    sentences = TagColumn(pos)(words)
    assert isinstance(sentences[0], Sentence)
    model = CRF([*TEMPLATES, "pos[0]"], strength=0.1).fit(sentences, tags)
    text = corpus(9, n=100)[0]
    features = CondensedFeatures(model).fit(text, prepare=TagColumn(pos))
    assert np.array_equal(features.potency_, CondensedFeatures(model).fit(TagColumn(pos)(text)).potency_)
    assert features.top("u:pos[0]", 1)
    with pytest.raises(DataError, match="column 'pos'"):
        CondensedFeatures(model).fit(text)


def test_encodings_and_hashing_go_through():
    sentences, tags = corpus(10)
    iob1 = [[t.replace("B-", "I-") for t in mine] for mine in tags]
    for settings in ({"encoding": "iobes"}, {"hash_bits": 8}):
        model = CRF(TEMPLATES, strength=0.1, **settings).fit(sentences, iob1)
        features = CondensedFeatures(model).fit(sentences, labeled=sentences)
        small = features.retrain(sentences, iob1)
        assert small.score(sentences, iob1) > 0.85
    with pytest.raises(ParameterError, match="is for parsers"):
        CondensedFeatures(model, vocabulary="all").fit(sentences, labeled=sentences)
    with pytest.raises(DataError, match="tags must be those"):
        features.retrain(sentences, [["B-Q"] + mine[1:] for mine in iob1])


def test_vocabularies_join():
    a, b = (Extractor(["word[0]", "word[0]|word[1]"]).fit([words]) for words in (["p", "q"], ["q", "r"]))
    both = joined([a, b])
    names = both.names(range(both.n_predicates))
    assert sorted(names) == sorted(set(a.names(range(a.n_predicates))) | set(b.names(range(b.n_predicates))))
    for part in (a, b):
        numbers = numbers_in(part, both)
        assert [names[n] for n in numbers] == part.names(range(part.n_predicates))
        assert (numbers_in(both, part)[numbers] == np.arange(part.n_predicates)).all()


def test_small_weights_are_dropped_and_keys_rise():
    made = [tree.sentence for tree in make_tagged_sentences(60, random_state=0)]
    sentences, tags = [list(s.tokens) for s in made[:30]], [list(s["pos"]) for s in made[:30]]
    base = CRF("pos", max_iter=10).fit(sentences, tags)
    features = CondensedFeatures(base, discount=0.5, resolution=4).fit(
        [list(s.tokens) for s in made[30:]], labeled=sentences
    )
    whole = features.retrain(sentences, tags, max_iter=10)
    assert features.without_small(whole, 0.0).predict(sentences) == whole.predict(sentences)
    small = features.without_small(whole, 0.2)
    assert 0 < small.n_active_ < whole.n_active_
    assert np.abs(small.weights_).min() >= 0.2
    # numbering by strings moves weights with their observations
    for model in (whole, small):
        assert all((np.diff(keys) > 0).all() for keys in model.vocabulary_["keys"])
    label = str(whole.classes_[0])
    weights = dict(whole.top_features(label, 10_000))
    for name, weight in small.top_features(label, 10):
        assert weight == weights[name]
