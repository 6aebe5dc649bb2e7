from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tiny_encoder import write_encoder

import handful
from handful.core.errors import ParameterError
from handful.experiment.problem import array_problem
from handful.experiment.text_views import choose_view
from handful.features import vectors

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
    problem = array_problem(pl.DataFrame({"text": lines}), labels, {"text": "text"})
    without = choose_view(problem)
    assert (without.text, without.optional) == ("lsa", False)
    assert "handful vectors --help" in without.note
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    view = choose_view(problem)
    assert view.encoder is not None
    assert view.of("team") == "lsa"
    assert view.of("team@vectors") is view.encoder
    assert choose_view(problem, "vectors").of("team") is view.encoder
    assert choose_view(problem, "words").text == "words"
    slow = choose_view(problem, seconds=1e-6)
    assert slow.encoder is None
    assert "would take about" in slow.note


def test_odd_choices_are_told():
    lines, labels, _ = texts()
    problem = array_problem(pl.DataFrame({"text": lines}), labels, {"text": "text"})
    with pytest.raises(ParameterError, match="or an object with encode"):
        choose_view(problem, 7)
    numbers = array_problem(np.arange(40.0).reshape(20, 2), ["a", "b"] * 10)
    with pytest.raises(ParameterError, match="must have a column of texts for this choice"):
        choose_view(numbers, "lsa")
    assert choose_view(numbers).text == "lsa"


def test_vectors_are_contenders_where_an_encoder_is_at_hand(encoder, monkeypatch):
    monkeypatch.setenv(vectors.ENVIRONMENT, str(encoder))
    lines, labels, _ = texts()
    found = handful.compare(lines, labels, methods=["team", "self-training"], trials=30, draws=2)
    entrants = {entrant.name: entrant for entrant in found.race.entrants}
    assert entrants["team@vectors"].favorite
    assert entrants["self-training@vectors"].twin == "logistic-regression@vectors"
    assert entrants["logistic-regression@vectors"].plain
    tried = {outcome.task.method for outcome in found.outcomes}
    assert {"team", "team@vectors"} <= tried
    assert not [outcome.error for outcome in found.outcomes if outcome.error]


def test_the_winner_with_vectors_names_its_encoder():
    lines, labels, truth = texts()
    model = handful.fit(lines, labels, methods=["team"], text=Knowing(), trials=4)
    assert model.encoders[0].startswith("Knowing (answers-")
    assert (model.predict(pl.DataFrame({"text": lines})) == truth).mean() > 0.95


def test_words_alone():
    lines, labels, truth = texts()
    model = handful.fit(lines, labels, methods=["logistic-regression"], text="words", trials=4)
    assert model.encoders == []
    assert "weights" in model.columns_["text"]
    assert (model.predict(pl.DataFrame({"text": lines})) == truth).mean() > 0.6
