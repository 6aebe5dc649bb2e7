from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tiny_encoder import write_encoder, write_transformer

import handful
from handful.active.query import ActiveLearner
from handful.comparison.tables import labeled_table
from handful.comparison.trials import Limits
from handful.errors import ParameterError
from handful.preprocessing import sentence_encoders as vectors
from handful.preprocessing.table_encoder import choose_text

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


def test_what_is_installed_decides(encoder, monkeypatch):
    lines, labels, _ = texts()
    table = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    assert choose_text(table) == ("lsa", table)  # HANDFUL_VECTORS is empty: nothing to say
    with monkeypatch.context() as bare:
        bare.delenv(vectors.ENVIRONMENT)
        bare.setattr(vectors, "encoder_at_hand", lambda: None)
        text, noticed = choose_text(table)
    assert (text, noticed.notices[-1].code) == ("lsa", "text-encoding")
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    installed, same = choose_text(table)
    assert isinstance(installed, vectors.Encoder)
    assert same is table
    assert choose_text(table, "vectors")[0] is installed
    assert choose_text(table, "words")[0] == "words"
    slow, noticed = choose_text(table, seconds=1e-6)
    assert (slow, noticed.notices[-1].cli_fix) == ("lsa", "more --minutes.")


def test_as_many_unlabeled_rows_are_encoded_as_there_is_time_for(encoder, monkeypatch):
    lines, labels, _ = texts(3000)
    table = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    monkeypatch.setattr(vectors.Encoder, "seconds_for", lambda encoder, texts: 0.01 * len(texts))
    _, cut = choose_text(table, seconds=30.0)  # half of the time: 1,500 rows
    assert (len(cut.unlabeled), len(cut.labeled)) == (1500 - 16, 16)
    assert cut.notices[-1].code == "text-encoding"
    assert choose_text(table, seconds=60.0)[1] is table
    assert (
        len(choose_text(table, seconds=12.0)[1].unlabeled) == 1_000
    )  # at least, while the whole time suffices for them
    assert choose_text(table, seconds=10.0)[0] == "lsa"


def test_suggestions_come_from_the_views_that_predict_uses(encoder, monkeypatch):
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    lines, labels, _ = texts()
    table = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    learner = ActiveLearner(table)
    model = handful.fit(table, method="ensemble", limits=Limits(trials=1))
    suggested = learner.predictions()
    expected = model.predict_proba(table.cells)
    assert learner.rows.spans.keys() == {"lsa", "letters", "vectors"}
    np.testing.assert_allclose(suggested.proba, expected, atol=1e-9)


def test_an_encoder_that_does_not_know_the_language_is_left_out(tmp_path, monkeypatch):
    lines, labels, _ = texts()
    write_transformer(tmp_path / "bert", [*" ".join(TOPICS.values()).split(), *COMMON])
    monkeypatch.setattr(vectors, "_KNOWN", [])
    monkeypatch.setenv(vectors.ENVIRONMENT, str(tmp_path / "bert"))
    # Short words, names, and punctuation of all languages are in the vocabulary; longer words are not.
    for line, known in ((lines, True), ([f"the {text[2:9]}tt ! of the" for text in lines], False)):
        table = labeled_table(pl.DataFrame({"text": line}), labels, columns={"text": "text"})
        text, _ = choose_text(table)
        assert isinstance(text, vectors.Encoder) == known
        model = handful.fit(table, method="k-nn", limits=Limits(trials=1))
        assert [notice.code for notice in model.notices_] == ([] if known else ["text-encoding"])


def test_a_typo_is_no_encoder_of_the_hub():
    lines, labels, _ = texts()
    table = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    with pytest.raises(ParameterError, match=r"there is no encoder 'vector'\. Did you mean 'vectors'\?"):
        choose_text(table, "vector")


def test_odd_choices_are_told():
    lines, labels, _ = texts()
    problem = labeled_table(pl.DataFrame({"text": lines}), labels, columns={"text": "text"})
    with pytest.raises(ParameterError, match="or an object with encode"):
        choose_text(problem, 7)
    numbers = labeled_table(np.arange(40.0).reshape(20, 2), ["a", "b"] * 10)
    with pytest.raises(ParameterError, match="has no text column"):
        choose_text(numbers, "lsa")
    assert choose_text(numbers) == ("lsa", numbers)


def test_all_methods_get_the_embeddings_of_an_installed_encoder(encoder, monkeypatch):
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    lines, labels, _ = texts()
    result = handful.compare(lines, labels, methods=["ensemble", "self-training"], limits=Limits(trials=30, splits=2))
    assert isinstance(result.experiment.text, vectors.Encoder)
    assert {"ensemble", "self-training", "k-nn"} <= {one.trial.method for one in result.search.results}
    assert not [one.error for one in result.search.results if one.error]


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
