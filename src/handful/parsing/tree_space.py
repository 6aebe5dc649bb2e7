"""A dependency parser as the base model of condensed features."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from handful.data.records import Tree
from handful.kernels.tree_features import count_parts, decode, parts_of_tree, score_parts
from handful.linear.tree import TreeStructure
from handful.parsing.inputs import as_sentences, read_trees, with_columns
from handful.parsing.part_features import CACHE_BYTES, SentenceFeatures, TreeFeatures

_BATCH_WORDS = 20_000


class TreeSpace:
    """Features of a parser and of the correct trees of its labeled data; see `handful.representations.potency`.

    Parameters
    ----------
    model : DependencyParser
        The fitted base model.
    features : TreeFeatures
        Every feature that may gain potency, those of the model included.

    Notes
    -----
    Parts are arcs and, with order 2, pairs, which are normalized separately. Words and tags are those of the labeled
    data, also with ``vocabulary="all"``; a template with another word does not fire.
    """

    def __init__(self, model: Any, features: TreeFeatures) -> None:
        self.model = model
        self.features = features
        self.n_features = self.n_basis = features.n_features
        self.type_names = list(features.templates.types)
        known = np.searchsorted(features.keys, model.keys_)
        self._weights = np.zeros(self.n_features)
        self._weights[known] = model.weights_
        digest = hashlib.sha256(repr([model.order, model.projective, model.single_root, model.columns_]).encode())
        for array in (features.keys, model.keys_, model.weights_):
            digest.update(array.tobytes())
        for name, strings in features.encoder.values.items():
            digest.update("\0".join([name, *strings]).encode("utf-8", "surrogatepass"))
        self.fingerprint = digest.hexdigest()

    @classmethod
    def of(cls, model: Any, trees: Iterable[Tree] | None) -> TreeSpace:
        """Return the space of the features of a model and of some correct trees."""
        features: TreeFeatures = model.features
        if trees is None:
            return cls(model, features)
        known, heads, _ = read_trees(trees, projective=model.projective, single_root=model.single_root)
        sentences = with_columns([tree.sentence for tree in known], model.columns_)
        rules: dict[str, Any] = {"order": model.order, "single_root": model.single_root}
        learned = TreeFeatures.learn(
            sentences, heads, features.templates, features.encoder, min_count=model.min_count, **rules
        )
        return cls(model, features.with_keys(np.union1d(features.keys, learned.keys)))

    def keys_chosen(self, inputs: Any) -> np.ndarray:
        """Parse sentences with the base model and return the keys of all features of its trees, known or not."""
        features: TreeFeatures = self.model.features
        heads = self._structure(features, inputs, 0).argmax(self.model.weights_)
        sentences = with_columns(as_sentences(inputs), self.model.columns_)
        return np.concatenate([np.empty(0, dtype=np.int64), *features.tree_keys(sentences, heads)])

    def with_keys(self, keys: np.ndarray) -> TreeSpace:
        """Return the space with further features."""
        known = self.features.with_keys(np.union1d(self.features.keys, keys))
        return TreeSpace(self.model, known)

    def state(self) -> dict[str, Any]:
        """Return the values for a model file, without the base model."""
        return {"keys": self.features.keys}

    def batches(self, part: Iterable[Any]) -> Iterator[list[Any]]:
        """Yield batches of sentences."""
        batch: list[Any] = []
        n_words = 0
        for sentence in part:
            batch.append(sentence)
            n_words += len(sentence)
            if n_words >= _BATCH_WORDS:
                yield batch
                batch, n_words = [], 0
        if batch:
            yield batch

    def count(self, inputs: Any, chosen: np.ndarray, basis: np.ndarray) -> int:
        """Parse sentences with the base model and count the features of its trees, and of all parts."""
        trees = self._structure(self.features, inputs, 0)
        for number in range(trees.n_inputs):
            features = trees.features(number)
            n = int(trees.offsets[number + 1] - trees.offsets[number])
            scores = score_parts(*features, self._weights)
            amounts = _of_best(trees, scores, n)
            count_parts(*features, amounts, chosen)
            count_parts(*features, trees.uniform_amounts(n, len(amounts)), basis)
        return int(trees.offsets[-1])

    def even(self, basis: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return A, which is counted exactly."""
        return basis[start:stop]

    def types(self, ids: np.ndarray) -> np.ndarray:
        """Return the template of each feature."""
        return np.asarray(self.features.types[ids])

    def describe(self, ids: np.ndarray) -> list[tuple[str, tuple[str, ...]]]:
        """Return features as text; the direction of the arc is part of it."""
        return [(name, ()) for name in self.features.names(ids)]

    def seen(self, ids: np.ndarray, inputs: Any) -> np.ndarray:
        """Return which features any part of the sentences has."""
        here = np.zeros(self.n_features, dtype=bool)
        trees = self._structure(self.features, inputs, 0)
        for number in range(trees.n_inputs):
            here[trees.features(number).ids] = True
        return np.asarray(here[ids])

    def structure(self, ids: np.ndarray, inputs: Any) -> TreeStructure:
        """Return the sentences with some features alone."""
        return self._structure(self.features.keep(ids), inputs, CACHE_BYTES)

    def encode(self, inputs: Any, outputs: Any) -> np.ndarray:
        """Return the heads of trees in one array; trees hold their outputs."""
        return read_trees(inputs, projective=self.model.projective, single_root=self.model.single_root)[1]

    def base_weights(self, ids: np.ndarray) -> np.ndarray:
        """Return weights of the base model."""
        return np.asarray(self._weights[ids])

    def build(self, ids: np.ndarray, weights: np.ndarray) -> Any:
        """Return a parser with these weights; labels are those of the base model."""
        return self.model.with_features(self.features.keep(ids), weights)

    def _structure(self, features: TreeFeatures, inputs: Any, cache_bytes: int) -> TreeStructure:
        sentences = with_columns(as_sentences(inputs), self.model.columns_)
        structure: TreeStructure = self.model.structure(features, SentenceFeatures(features, sentences, cache_bytes))
        return structure


def _of_best(trees: TreeStructure, scores: np.ndarray, n: int) -> np.ndarray:
    """Return 1 for each part of the best tree of n words, and 0 for others."""
    heads, _ = decode(scores, n, trees.starts(n), trees.second, trees.projective, trees.single_root)
    amounts = np.zeros(len(scores))
    amounts[parts_of_tree(heads, trees.starts(n), trees.second)] = 1.0
    return amounts
