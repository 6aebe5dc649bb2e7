from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tiny_encoder import write_encoder, write_transformer

import handful
from handful.comparison.tables import choose_view, labeled_table
from handful.comparison.trials import Limits
from handful.errors import ParameterError
from handful.preprocessing import sentence_encoders as vectors

TOPICS = {"pet": "dog cat fur paw leash bowl vet bark purr tail", "sea": "boat wave salt sail anchor harbor tide deck"}
COMMON = ["the", "a", "of", "and", "in", "to", "it", "was", "with", "on"]


def texts(n=160, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(TOPICS), n)
    lines = [" ".join([*rng.choice(TOPICS[t].split(), 2), *rng.choice(COMMON, 4)]) for t in truth]
    labels = np.where(np.arange(n) < 16, truth, None)
    return lines, labels, truth


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_KNOWN", [])
    write_encoder(tmp_path / "tiny", [*" ".join(TOPICS.values()).split(), *COMMON])
    return tmp_path / "tiny"


class Knowing:
    """An encoder that knows the topics."""

    def encode(self, some):
        return np.array(
            [[1.0, *(9.0 * sum(w in t.split() for w in text.split()) for t in TOPICS.values())] for text in some]
        )


def test_what_is_at_hand_decides(encoder, monkeypatch):
    lines, labels, _ = texts()
    problem = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    without = choose_view(problem)
    assert (without.text, without.optional) == ("lsa", False)
    assert without.notice.code == "text-encoding"
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    view = choose_view(problem)
    assert view.encoder is not None
    assert view.of("ensemble") == "lsa"
    assert view.of("ensemble@vectors") is view.encoder
    assert choose_view(problem, "vectors").of("ensemble") is view.encoder
    assert choose_view(problem, "words").text == "words"
    slow = choose_view(problem, seconds=1e-6)
    assert slow.encoder is None
    assert slow.notice.cli_fix == "more --minutes."


def test_as_many_unlabeled_rows_are_encoded_as_there_is_time_for(encoder, monkeypatch):
    lines, labels, _ = texts(3000)
    table = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    monkeypatch.setattr(vectors.Encoder, "seconds_for", lambda encoder, texts: 0.01 * len(texts))
    view = choose_view(table, seconds=30.0)  # half of the time: 1,500 rows
    cut = view.affordable(table, seed=0)
    assert view.max_unlabeled == len(cut.unlabeled) == 1500 - 16
    assert len(cut.labeled) == 16
    assert cut.notices[-1].code == "text-encoding"
    assert choose_view(table, seconds=60.0).max_unlabeled is None
    assert choose_view(table, seconds=12.0).max_unlabeled == 1_000  # at least, while the whole time suffices for them
    assert choose_view(table, seconds=10.0).encoder is None


def test_an_encoder_that_does_not_know_the_language_is_left_out(tmp_path, monkeypatch):
    lines, labels, _ = texts()
    write_transformer(tmp_path / "bert", [*" ".join(TOPICS.values()).split(), *COMMON])
    monkeypatch.setattr(vectors, "_KNOWN", [])
    monkeypatch.setenv(vectors.ENVIRONMENT, str(tmp_path / "bert"))
    # Short words, names, and punctuation of all languages are in the vocabulary; longer words are not.
    for line, known in ((lines, True), ([f"the {text[2:9]}tt ! of the" for text in lines], False)):
        table = labeled_table(pl.DataFrame({"text": line}), labels, columns={"text": "text"})
        view = choose_view(table)
        assert (view.encoder is not None) == known
        assert (view.notice is None) == known
        model = handful.fit(table, method="k-nn", limits=Limits(trials=1))
        assert [notice.code for notice in model.notices_] == ([] if known else ["text-encoding"])


def test_odd_choices_are_told():
    lines, labels, _ = texts()
    problem = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    with pytest.raises(ParameterError, match="or an object with encode"):
        choose_view(problem, 7)
    numbers = labeled_table(np.arange(40.0).reshape(20, 2), ["a", "b"] * 10)
    with pytest.raises(ParameterError, match="has no text column"):
        choose_view(numbers, "lsa")
    assert choose_view(numbers).text == "lsa"


def test_vectors_are_contenders_where_an_encoder_is_at_hand(encoder, monkeypatch):
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    lines, labels, _ = texts()
    found = handful.compare(lines, labels, methods=["ensemble", "self-training"], limits=Limits(trials=30, splits=2))
    lines = {line.method: line for line in found.search.lines}
    assert found.search.preferred == "ensemble@vectors"
    assert lines["self-training@vectors"].control == "logistic-regression@vectors"
    assert lines["logistic-regression@vectors"].supervised_baseline
    tried = {result.trial.method for result in found.search.results}
    assert {"ensemble", "ensemble@vectors"} <= tried
    assert not [result.error for result in found.search.results if result.error]


def test_the_winner_with_vectors_names_its_encoder():
    lines, labels, truth = texts()
    model = handful.fit(lines, labels, method="ensemble", text=Knowing())
    assert model.encoders[0].startswith("Knowing (answers-")
    assert (model.predict(pl.DataFrame({"text": lines})) == truth).mean() > 0.95


def test_words_alone():
    lines, labels, truth = texts()
    model = handful.fit(lines, labels, method="logistic-regression", text="words")
    assert model.encoders == []
    assert "weights" in model.columns_["text"]
    assert (model.predict(pl.DataFrame({"text": lines})) == truth).mean() > 0.6
