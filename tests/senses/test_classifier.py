"""Sense classifiers learn, agree with themselves across processes and files, and say what they cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Occurrence
from handful.errors import DataError, ParameterError
from handful.neighbors.kernel_pca import CompositeKernelPCA, KernelPCAClassifier
from handful.persistence.model_file import load, save
from handful.preprocessing import sentence_encoders
from handful.senses.classifier import SenseClassifier
from handful.senses.classifier import SenseClassifier as Home
from handful.senses.features import context_features
from handful.senses.word_models import pooled_choice, settle_senses

METHODS = [
    "kernel-pca",
    "semi-supervised-kernel-pca",
    "composite-kernel-pca",
    "naive-bayes",
    "maximum-entropy",
    "linear-svm",
]
TOPICS = {
    "money": ["loan", "cash", "deposit", "interest", "credit", "account"],
    "river": ["water", "mud", "fish", "grass", "boat", "flood"],
}


def contexts(n, seed, word="bank.n", labeled=True):
    """Draw contexts whose words tell the topic, more or less."""
    rng = np.random.default_rng(seed)
    drawn = []
    for i in range(n):
        sense = ["money", "money", "river"][rng.integers(0, 3)]
        words = [str(w) for w in rng.choice(TOPICS[sense], 3)] + [str(w) for w in rng.choice(["day", "man", "time"], 2)]
        rng.shuffle(words)
        tokens = (*words[:2], "bank", *words[2:], ".")
        drawn.append(Occurrence(word, f"{word}.{seed}.{i}", tokens, 2, (sense,) if labeled else ()))
    return drawn


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns(method):
    model = SenseClassifier(method, n_neighbors=5).fit(contexts(40, 0), contexts(60, 1, labeled=False))
    assert model.score(contexts(60, 2)) > 0.9
    frequent = SenseClassifier("most-frequent").fit(contexts(40, 0))
    assert set(frequent.predict(contexts(5, 2))) == {"money"}


class Topical:
    """An encoder that counts the words of each topic."""

    def encode(self, texts):
        return np.array(
            [[1.0, *(sum(w in words for w in text.split()) for words in TOPICS.values())] for text in texts]
        )


class Blind:
    """An encoder to which all texts are alike."""

    def encode(self, texts):
        return np.ones((len(texts), 3))


def test_embeddings_are_chosen_where_they_are_better(tmp_path, monkeypatch):
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    # Each word of a topic occurs once: features cannot know the others, the encoder does.
    rare = [
        Occurrence("bank.n", f"{sense}{i}", (word, "bank"), 1, (sense,))
        for sense, words in TOPICS.items()
        for i, word in enumerate(words)
    ]
    model = SenseClassifier(encoder=Topical()).fit(rare[::2])
    assert model.models_["bank.n"].method == "embeddings"
    assert model.score(rare[1::2]) == 1.0
    assert model.encoder_["name"] == "Topical"
    save(model, tmp_path / "m.handful")
    assert load(tmp_path / "m.handful").predict(rare) == model.predict(rare)
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    with pytest.raises(DataError, match="Topical"):
        load(tmp_path / "m.handful").predict(rare)
    assert SenseClassifier().fit(contexts(20, 0)[:1]).models_["bank.n"].method == "most-frequent"
    blind = SenseClassifier(encoder=Blind()).fit(contexts(40, 0))
    assert blind.models_["bank.n"].method != "embeddings"
    assert blind.encoder_ is None


def test_the_embeddings_method_needs_an_encoder(monkeypatch):
    monkeypatch.setenv(sentence_encoders.ENVIRONMENT, "")
    for encoder, parameter in (("auto", "embeddings"), (None, "encoder")):
        with pytest.raises(ParameterError, match=parameter):
            SenseClassifier("embeddings", encoder=encoder).fit(contexts(6, 0))
    assert SenseClassifier().fit(contexts(6, 0)).encoder_ is None


def test_unlabeled_contexts_take_part_only_where_they_should():
    labeled, extra = contexts(10, 0), contexts(30, 1, labeled=False)
    alone = SenseClassifier("kernel-pca").fit(labeled, extra).models_["bank.n"]
    both = SenseClassifier("semi-supervised-kernel-pca").fit(labeled + extra).models_["bank.n"]
    composite = SenseClassifier("composite-kernel-pca").fit(labeled, extra).models_["bank.n"]
    assert (alone.n_unlabeled_, both.n_unlabeled_, composite.n_unlabeled_) == (0, 30, 30)
    assert isinstance(alone.classifier_, KernelPCAClassifier)
    assert isinstance(composite.classifier_, CompositeKernelPCA)
    assert len(both.classifier_.basis_rows_) == 40
    # the supervised branch of the composite is the supervised model
    new = SenseClassifier().contexts(contexts(20, 5))
    rows = [context_features(c) for c in new]
    inner = composite.classifier_.supervised_.predict_proba(composite.rows(rows))
    np.testing.assert_allclose(inner, alone.classifier_.predict_proba(alone.rows(rows)), atol=1e-9)


def test_senses_of_unlabeled_contexts_are_not_looked_at():
    labeled = contexts(20, 0)
    hidden = SenseClassifier("composite-kernel-pca").fit(labeled, contexts(30, 1, labeled=False))
    shown = SenseClassifier("composite-kernel-pca").fit(labeled, contexts(30, 1))
    assert hidden.predict(contexts(30, 2)) == shown.predict(contexts(30, 2))


def test_processes_give_the_same():
    train = contexts(20, 0) + contexts(20, 1, word="shore.n")
    one = SenseClassifier().fit(train).predict(contexts(10, 2) + contexts(10, 3, word="shore.n"))
    two = SenseClassifier(n_jobs=2).fit(train).predict(contexts(10, 2) + contexts(10, 3, word="shore.n"))
    assert one == two


@pytest.mark.parametrize("method", [*METHODS, "most-frequent"])
def test_file_brings_the_model_back(method, tmp_path):
    model = SenseClassifier(method, n_neighbors=3).fit(contexts(20, 0), contexts(20, 1, labeled=False))
    save(model, tmp_path / "m")
    known = {"senses": Home, "kernel-pca": KernelPCAClassifier, "composite-kernel-pca": CompositeKernelPCA}
    again = load(tmp_path / "m", known.get)
    assert again.predict(contexts(30, 2)) == model.predict(contexts(30, 2))
    save(again, tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_several_senses_and_marks():
    assert settle_senses([("b", "a"), ("a",), ("U",)]) == ["a", "a", "U"]
    only = Occurrence("rare.n", "1", ("rare",), 0, ("P",))
    model = SenseClassifier().fit([*contexts(6, 0), only])
    assert model.predict([Occurrence("rare.n", "2", ("a", "rare", "one"), 1)]) == ["P"]


def test_sources_of_the_composite():
    model = SenseClassifier("composite-kernel-pca", n_neighbors=3, margin=0.6).fit(
        contexts(12, 0), contexts(40, 1, labeled=False)
    )
    ready = model.contexts(contexts(40, 2))
    rows = [context_features(context) for context in ready]
    word = model.models_["bank.n"]
    sources, answers = word.classifier_.predict_source(word.rows(rows)).tolist(), model.predict_contexts(ready)
    assert set(sources) <= {"supervised", "semi-supervised"}
    assert "semi-supervised" in sources
    first = SenseClassifier("kernel-pca", n_neighbors=3).fit(contexts(12, 0)).predict_contexts(ready)
    assert all(a == b for a, b, s in zip(answers, first, sources, strict=True) if s == "supervised")


def test_a_word_counts_as_much_as_200_contexts_of_the_average_word():
    asked = {"bank": 200, "sea": 1000}
    near = {"bank": {1: 120, 3: 80}, "sea": {1: 400, 3: 800}}  # 200 * (880 - 520) / 1200 = 60 for three neighbors
    assert pooled_choice(near, asked) == {"bank": 3, "sea": 3}
    far = {"bank": {1: 130, 3: 70}, "sea": {1: 400, 3: 800}}  # 57 against 60
    assert pooled_choice(far, asked) == {"bank": 1, "sea": 3}


def test_errors():
    with pytest.raises(DataError, match="no context has a sense"):
        SenseClassifier().fit(contexts(3, 0, labeled=False))
    with pytest.raises(DataError, match=r"no model of the word 'sea\.n'"):
        SenseClassifier().fit(contexts(6, 0)).predict([Occurrence("sea.n", "1", ("sea",), 0)])
    with pytest.raises(ParameterError, match="Did you mean 'kernel-pca'"):
        SenseClassifier("kernal-pca").fit(contexts(6, 0))


@pytest.mark.corpus
def test_senseval_words_above_the_most_frequent_sense(data_folder):
    from handful.data.senses import read_senseval

    folder = data_folder / "senseval2"
    chosen = {"art.n", "call.v", "natural.a", "drift.v"}
    train = [o for o in read_senseval(folder / "eng-lex-sample.training.xml.gz") if o.word in chosen]
    test = [
        o
        for o in read_senseval(folder / "eng-lex-samp.evaluation.xml.gz", folder / "eng-lex-sample.test.key")
        if o.word in chosen
    ]
    frequent = SenseClassifier("most-frequent").fit(train).score(test)
    assert SenseClassifier().fit(train).score(test) > frequent + 0.05
