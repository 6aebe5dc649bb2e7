"""Sentence embeddings by a BERT-like transformer in numpy: no torch, no network.

The forward pass of MiniLM and other BERT models of sentence-transformers with mean pooling, in float32. It agrees with
sentence-transformers to 1e-4.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from handful.errors import DataError, MissingExtraError
from handful.kernels.cache import njit

_BATCH_TOKENS = 1024  # of one matrix product: it stays in the cache of a core, and larger ones are not faster
_MASKED = np.float32(-1e9)
_LONG_WORD = 4  # letters; shorter words are pieces of many languages

Progress = Callable[[int, int], Any]


class Transformer:
    """A BERT encoder with mean pooling, read from a folder of sentence-transformers.

    Parameters
    ----------
    folder : path-like
        Holds ``config.json``, ``model.safetensors``, ``tokenizer.json`` and ``sentence_bert_config.json``.

    Notes
    -----
    Texts are tokenized, sorted by length and encoded in batches of about 1,024 tokens, one batch per core at a time.
    Cost: O(n_tokens * hidden * (4 * hidden + 2 * intermediate)) multiplications per layer.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        from safetensors.numpy import load_file

        try:
            import tokenizers
        except ImportError:  # no extra brings it without torch
            raise MissingExtraError(
                "sentence embeddings need tokenizers. Install it with: pip install tokenizers."
            ) from None
        path = Path(folder)
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        limit = json.loads((path / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
        self._n_heads, self._epsilon = int(config["num_attention_heads"]), float(config["layer_norm_eps"])
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(int(limit))
        weights = load_file(path / "model.safetensors")
        self._words = weights["embeddings.word_embeddings.weight"]
        # All tokens are of the first segment.
        self._places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_Layer(weights, f"encoder.layer.{i}.") for i in range(int(config["num_hidden_layers"]))]

    def known_words(self, texts: Sequence[str]) -> float:
        """Return which fraction of the words of four letters or more are in the vocabulary; other languages have few."""
        t = self._tokenizer
        plain = [t.normalizer.normalize_str(text) if t.normalizer else text for text in texts]
        words = [word for text in plain for word, _ in t.pre_tokenizer.pre_tokenize_str(text) if word.isalpha()]
        long = [word for word in words if len(word) >= _LONG_WORD] or words
        return float(np.mean([t.token_to_id(word) is not None for word in long])) if long else 1.0

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """Return the embeddings of texts, scaled to length 1.

        Parameters
        ----------
        texts : sequence of str
            Texts; those beyond the model's limit (256 tokens for MiniLM) are cut.
        progress : callable, optional
            Called with the number of texts encoded so far and of all texts.

        Returns
        -------
        ndarray of float32, shape (n_texts, hidden)
            Embeddings.
        """
        from threadpoolctl import threadpool_limits

        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        embeddings = np.empty((len(tokens), self._words.shape[1]), dtype=np.float32)
        done = 0
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(_n_cores()) as pool:
            batches = list(_batches(tokens))
            for rows, means in zip(
                batches, pool.map(lambda rows: self._forward([tokens[i] for i in rows]), batches), strict=True
            ):
                embeddings[rows] = means
                done += len(rows)
                if progress is not None:
                    progress(done, len(tokens))
        return embeddings

    def _forward(self, tokens: list[list[int]]) -> np.ndarray:
        lengths = np.array([len(ids) for ids in tokens])
        n, width = len(tokens), int(lengths.max())
        inside = np.arange(width) < lengths[:, None]
        ids = np.zeros((n, width), dtype=np.int64)
        ids[inside] = np.concatenate(tokens)
        states = (self._words[ids] + self._places[:width]).reshape(n * width, -1)
        _add_and_normalize(states, np.zeros_like(states), *self._norm, self._epsilon)
        bias = None if inside.all() else np.where(inside, np.float32(0), _MASKED)[:, None, None, :]
        for layer in self._layers:
            layer.apply(states, (n, width, self._n_heads), bias, self._epsilon)
        weights = inside / lengths[:, None].astype(np.float32)
        means = np.einsum("nt,nth->nh", weights.astype(np.float32), states.reshape(n, width, -1))
        return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12))


class _Layer:
    """One layer: self-attention and a feed-forward network, each followed by a residual and a layer norm."""

    def __init__(self, weights: dict[str, np.ndarray], prefix: str) -> None:
        def dense(name: str) -> tuple[np.ndarray, np.ndarray]:
            return np.ascontiguousarray(weights[f"{prefix}{name}.weight"].T), weights[f"{prefix}{name}.bias"]

        parts = [dense(f"attention.self.{name}") for name in ("query", "key", "value")]
        self._qkv = np.hstack([part[0] for part in parts])
        self._qkv_bias = np.concatenate([part[1] for part in parts])
        self._attended, self._attended_bias = dense("attention.output.dense")
        self._first_norm = _norm(weights, f"{prefix}attention.output.LayerNorm")
        self._inner, self._inner_bias = dense("intermediate.dense")
        self._outer, self._outer_bias = dense("output.dense")
        self._second_norm = _norm(weights, f"{prefix}output.LayerNorm")

    def apply(self, states: np.ndarray, shape: tuple[int, int, int], bias: np.ndarray | None, epsilon: float) -> None:
        """Replace the states of all tokens by those after this layer."""
        n, width, heads = shape
        hidden = states.shape[1]
        mixed = states @ self._qkv
        mixed += self._qkv_bias
        query, key, value = np.moveaxis(mixed.reshape(n, width, 3, heads, hidden // heads), (2, 3), (0, 2))
        scores = query @ key.swapaxes(2, 3)
        scores *= np.float32(1.0 / np.sqrt(hidden // heads))
        if bias is not None:
            scores += bias
        scores -= scores.max(axis=3, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=3, keepdims=True)
        attended = (scores @ value).swapaxes(1, 2).reshape(n * width, hidden) @ self._attended
        attended += self._attended_bias
        _add_and_normalize(states, attended, *self._first_norm, epsilon)
        inner = states @ self._inner
        _gelu(inner, self._inner_bias)
        outer = inner @ self._outer
        outer += self._outer_bias
        _add_and_normalize(states, outer, *self._second_norm, epsilon)


def is_transformer(folder: Path) -> bool:
    """Tell whether a folder holds a model that `Transformer` can read."""
    files = ("model.safetensors", "tokenizer.json", "sentence_bert_config.json", "config.json", "1_Pooling/config.json")
    if not all((folder / name).is_file() for name in files):
        return False
    config, pooling = (json.loads((folder / name).read_text(encoding="utf-8")) for name in files[3:])
    modes = {name for name, used in pooling.items() if name.startswith("pooling_mode") and used is True}
    usual = config.get("position_embedding_type", "absolute") == "absolute" and config.get("hidden_act") == "gelu"
    return config.get("model_type") == "bert" and usual and modes == {"pooling_mode_mean_tokens"}


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _norm(weights: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _batches(tokens: list[list[int]]) -> Iterator[np.ndarray]:
    """Yield row numbers of texts of about the same length, the longest first."""
    if not all(tokens):
        raise DataError("encoder: the tokenizer must return a token for each text; that of this model returns none.")
    lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + max(1, _BATCH_TOKENS // int(lengths[order[start]]))
        yield order[start:stop]
        start = stop


@njit(nogil=True, fastmath=True)
def _gelu(x: np.ndarray, bias: np.ndarray) -> None:
    """Add a bias and apply ``x / 2 * (1 + erf(x / sqrt(2)))`` in place; erf is Eigen's rational approximation, to 1e-6."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j] + bias[j]
            z = min(max(v * np.float32(0.70710678), np.float32(-4.0)), np.float32(4.0))
            s = z * z
            p = s * np.float32(-2.72614225801306e-10) + np.float32(2.77068142495902e-08)
            p = p * s + np.float32(-2.10102402082508e-06)
            p = p * s + np.float32(-5.69250639462346e-05)
            p = p * s + np.float32(-7.34990630326855e-04)
            p = p * s + np.float32(-2.95459980854025e-03)
            p = p * s + np.float32(-1.60960333262415e-02)
            q = s * np.float32(-1.45660718464996e-05) + np.float32(-2.13374055278905e-04)
            q = q * s + np.float32(-1.68282697438203e-03)
            q = q * s + np.float32(-7.37332916720468e-03)
            q = q * s + np.float32(-1.42647390514189e-02)
            x[i, j] = np.float32(0.5) * v * (np.float32(1.0) + z * p / q)


@njit(nogil=True, fastmath=True)
def _add_and_normalize(
    x: np.ndarray, residual: np.ndarray, weight: np.ndarray, bias: np.ndarray, epsilon: float
) -> None:
    """Add a residual and scale every row to mean 0 and variance 1, then by the weights, in place."""
    width = x.shape[1]
    for i in range(x.shape[0]):
        mean = np.float32(0.0)
        for j in range(width):
            x[i, j] += residual[i, j]
            mean += x[i, j]
        mean /= np.float32(width)
        variance = np.float32(0.0)
        for j in range(width):
            d = x[i, j] - mean
            variance += d * d
        scale = np.float32(1.0 / np.sqrt(variance / width + epsilon))
        for j in range(width):
            x[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]
