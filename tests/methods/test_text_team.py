from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import handful
from handful.core.errors import DataError
from handful.features.rows import Rows
from handful.features.tables import TableEncoder
from handful.features.vectors import Encoder, find_encoder
from handful.methods.near_rows import NearRows
from handful.methods.table_model import TableModel
from handful.methods.team import Team
from handful.methods.text_team import TextTeam

TOPICS = {
    "pet": ["dog", "cat", "fur", "paw", "leash", "bowl", "vet", "bark", "purr", "tail"],
    "sea": ["boat", "wave", "salt", "sail", "anchor", "harbor", "tide", "fish", "deck", "storm"],
    "sky": ["cloud", "star", "moon", "sun", "wind", "rain", "rocket", "plane", "bird", "comet"],
}
COMMON = ["the", "a", "of", "and", "in", "to", "it", "was", "with", "on"]


def texts(n=240, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(TOPICS), n)
    words = [[*rng.choice(TOPICS[t], 3), *rng.choice(COMMON, 5)] for t in truth]
    return pl.DataFrame({"text": [" ".join(rng.permutation(w)) for w in words]}), truth


def few(truth, per_class=3):
    kept = np.concatenate([np.flatnonzero(truth == t)[:per_class] for t in TOPICS])
    labels = np.full(len(truth), None, dtype=object)
    labels[kept] = truth[kept]
    return labels


def test_unlabeled_texts_help_and_the_file_answers_the_same(tmp_path):
    frame, truth = texts()
    labels = few(truth)
    model = TableModel("team", kinds={"text": "text"}).fit(frame, labels)
    alone = TableModel("logistic-regression", kinds={"text": "text"}).fit(frame, labels)
    right = (model.predict(frame) == truth).mean()
    assert right > 0.9
    assert right > (alone.predict(frame) == truth).mean()
    new, new_truth = texts(60, seed=1)
    assert (model.predict(new) == new_truth).mean() > 0.9
    handful.save(model, tmp_path / "m.handful")
    again = handful.load(tmp_path / "m.handful")
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-9)


def test_other_columns_are_read_by_the_other_members():
    frame, truth = texts(120)
    sizes = np.where(truth == "pet", 5.0, 0.0) + np.random.default_rng(0).normal(size=len(truth))
    mixed = frame.with_columns(pl.Series("size", sizes))
    kinds = {"size": "numeric", "text": "text"}
    rows = TableEncoder.learn(mixed, kinds).transform(mixed)
    team = Team(n_trees=10).fit(rows, few(truth))
    assert team.kept_columns_.tolist() == [0]
    assert team.text_ is not None
    assert (team.predict(rows) == truth).mean() > 0.8
    plain = Team(["logistic-regression"]).fit(rows, few(truth))
    assert plain.text_ is None
    assert len(plain.kept_columns_) == rows.shape[1]


def test_rows_carry_words_where_rows_are_chosen():
    frame, _ = texts(80)
    rows = TableEncoder.learn(frame, {"text": "text"}).transform(frame)
    assert isinstance(rows, Rows)
    assert set(rows.spans) == {"lsa", "letters"}
    some = rows[np.arange(80) % 2 == 0]
    assert some.words.shape[0] == len(some) == 40
    assert (some.words != rows.words[::2]).nnz == 0
    assert not hasattr(np.asarray(some), "words")
    import pickle

    again = pickle.loads(pickle.dumps(some))
    assert again.spans == rows.spans
    assert (again.words != some.words).nnz == 0


def test_texts_without_their_words_are_refused():
    frame, truth = texts(80)
    rows = TableEncoder.learn(frame, {"text": "text"}).transform(frame)
    team = TextTeam().fit(rows, few(truth))
    with pytest.raises(DataError, match="must carry the words of their texts"):
        team.predict(np.asarray(rows))


class Topics:
    """An encoder that knows the topics."""

    name = "topics"

    def encode(self, texts):
        return np.array([[1.0, *(sum(w in TOPICS[t] for w in text.split()) for t in TOPICS)] for text in texts])


class Lengths:
    def encode(self, texts):
        return [[1.0, len(text)] for text in texts]


def test_vectors_of_an_encoder_join_and_another_encoder_is_refused(tmp_path, monkeypatch):
    frame, truth = texts(100)
    model = TableModel("team", kinds={"text": "text"}, text=Topics()).fit(frame, few(truth, 2))
    assert (model.predict(frame) == truth).mean() > 0.95
    assert model.columns_["text"]["encoder"]["name"] == "topics"
    handful.save(model, tmp_path / "m.handful")
    assert handful.load(tmp_path / "m.handful").predict(frame).tolist() == model.predict(frame).tolist()
    monkeypatch.setattr("handful.features.vectors._KNOWN", [])
    find_encoder(Lengths())
    with pytest.raises(DataError, match=r"trained with the encoder topics \(answers-\w+\), which is not at hand"):
        handful.load(tmp_path / "m.handful").predict(frame)


def test_encoders_that_answer_nonsense_are_refused():
    class Wrong:
        def encode(self, texts):
            return np.zeros(3)

    with pytest.raises(DataError, match="one vector of finite numbers for each text, got shape"):
        Encoder("wrong", Wrong())
    assert Encoder("a", Topics()).digest != Encoder("b", Lengths()).digest


def test_spreading_follows_the_definition():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 3))
    near = NearRows.learn(rows, 3)
    unit = near.rows.astype(float)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -1)
    links = np.zeros((12, 12))
    for i, line in enumerate(cosines):
        nearest = np.argsort(-line)[:3]
        links[i, nearest] = np.maximum(line[nearest], 0)
    graph = np.maximum(links, links.T)
    root = np.sqrt(graph.sum(axis=1))
    flow = graph / root[:, None] / root[None, :]
    start = np.zeros((12, 2))
    start[[0, 5]] = np.eye(2)
    limit = np.linalg.solve(np.eye(12) - 0.8 * flow, 0.2 * start) + 1e-9
    found = near.spread(np.array([0, 5]), np.eye(2), 0.8, 200)
    np.testing.assert_allclose(found, limit / limit.sum(axis=1, keepdims=True), atol=1e-3)


def test_where_words_tell_nothing_of_skewed_classes_the_frequent_one_is_the_answer():
    rng = np.random.default_rng(1)
    labels = np.array(["usual"] * 35 + ["rare"] * 10 + ["odd"] * 5 + [None] * 200, dtype=object)
    chance = pl.DataFrame(
        {"text": [" ".join(rng.choice([w for words in TOPICS.values() for w in words], 8)) for _ in labels]}
    )
    rows = TableEncoder.learn(chance, {"text": "text"}).transform(chance)
    team = TextTeam().fit(rows, labels)
    assert team.bodies_[0]["lean"] > 0
    assert (team.predict(rows[50:]) == "usual").mean() > 0.8
    frame, truth = texts()
    known = np.flatnonzero((truth == "pet") | (np.arange(len(truth)) < 20))[:50]
    some = np.full(len(truth), None, dtype=object)
    some[known] = truth[known]
    rows = TableEncoder.learn(frame, {"text": "text"}).transform(frame)
    sure = TextTeam().fit(rows, some)
    assert sure.bodies_[0]["lean"] == 0
    assert (sure.predict(rows) == truth).mean() > 0.8


def test_a_model_that_knows_no_lean_answers_as_it_did():
    frame, truth = texts()
    rows = TableEncoder.learn(frame, {"text": "text"}).transform(frame)
    team = TextTeam().fit(rows, few(truth))
    answers = team.predict_proba(rows)
    for name in ("lean", "usual"):
        del team.bodies_[0][name]
    team._check_state()
    assert np.allclose(team.predict_proba(rows), answers)
