"""The labels of arcs, by a linear classifier that sees the whole tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.core.schema import Array, IfThere, Names, Number, Record, stored
from handful.kernels.arc_labels import best_labels, label_pass
from handful.kernels.tree_features import find_all, keys_of_tree, make_table
from handful.kernels.trees import siblings_of
from handful.linear.rounding import rounded
from handful.parsing.encoding import Encoder
from handful.parsing.templates import TemplateSet

_PASSES = 5
_LONGEST_STEP = 0.1
_LEAST_COUNT = 2  # of a feature in the training trees


class ArcLabeler:
    """Chooses the label of each arc, given the tree.

    Parameters
    ----------
    encoder : Encoder
        Numbers of words and tags.
    templates : TemplateSet
        The templates.
    labels : sequence of str
        The labels, sorted.
    keys : ndarray of int64
        Keys of the features, rising.
    weights : ndarray of float64, shape (n_features, n_labels)
        Weights.
    root : int or None
        Label of words below the root and of no others, if there is one.

    Notes
    -----
    Trained by averaged passive-aggressive steps (PA-I) on right trees. Features that occur once are left out. Where one
    label is that of all words below the root and of no others, it is given to these alone.
    """

    def __init__(
        self,
        encoder: Encoder,
        templates: TemplateSet,
        labels: Sequence[str],
        keys: np.ndarray,
        weights: np.ndarray,
        root: int | None = None,
    ) -> None:
        self.encoder = encoder
        self.templates = templates
        self.labels = list(labels)
        self.keys = keys
        self.weights = weights
        self.root = root
        self._others = weights if root is None else np.delete(weights, root, axis=1)
        self._spec = templates.compile(encoder.n_codes)
        self._table = make_table(keys)

    @classmethod
    def learn(
        cls,
        encoder: Encoder,
        templates: TemplateSet,
        sentences: Sequence[Sentence],
        heads: np.ndarray,
        labels: Sequence[str],
        *,
        seed: int,
        rounding: float = 0.0,
    ) -> Self:
        """Learn from the heads and labels of all words."""
        names = sorted(set(labels))
        numbers = {name: code for code, name in enumerate(names)}
        gold = np.array([numbers[label] for label in labels], dtype=np.int64)
        new = cls(encoder, templates, names, np.empty(0, dtype=np.int64), np.empty((0, len(names))))
        keys, bounds = new._keys(sentences, heads)
        distinct, counts = np.unique(keys, return_counts=True)
        new.keys = distinct[counts >= _LEAST_COUNT]
        new._table = make_table(new.keys)
        ids, bounds = find_all(new._table, keys, bounds)
        weights, sums = np.zeros((2, len(new.keys), len(names)))
        step = 0
        if len(names) > 1:
            for number in range(_PASSES):
                order = np.random.default_rng([seed, number]).permutation(len(gold))
                label_pass(ids, bounds, gold, order, _LONGEST_STEP, step, weights, sums)
                step += len(gold)
            weights -= sums / max(step, 1)
        weights = rounded(weights, rounding)
        used = weights.any(axis=1)
        below, elsewhere = np.unique(gold[heads == 0]), gold[heads != 0]
        root = int(below[0]) if len(below) == 1 and len(names) > 1 and below[0] not in elsewhere else None
        return cls(encoder, templates, names, new.keys[used], weights[used], root)

    def predict(self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None) -> list[str]:
        """Return the label of every word; codes are what `encoder` makes of the sentences."""
        ids, bounds = find_all(self._table, *self._keys(sentences, heads, codes))
        codes = best_labels(ids, bounds, self._others)
        if self.root is not None:
            codes += codes >= self.root
            codes[heads == 0] = self.root
        return [self.labels[code] for code in codes]

    STATE = Record(
        stored(
            templates=IfThere(TemplateSet.STATE),
            labels=Names("k", only_text=True),
            root=IfThere(Number(int, below="k")),
            keys=Array("i8", "n?", low=0),
            weights=Array("f8", "n?", "k", sparse=True),
        )
    )

    def state(self) -> dict[str, Any]:
        """Return what a model file needs."""
        return {
            "templates": self.templates.state(),
            "labels": np.array(self.labels),
            "root": self.root,
            "keys": self.keys,
            "weights": sparse.csr_array(self.weights),
        }

    @classmethod
    def from_state(cls, encoder: Encoder, state: dict[str, Any]) -> Self:
        """Rebuild from a state."""
        weights = np.asarray(state["weights"].toarray(), dtype=np.float64)
        first = TemplateSet.for_labels(clusters=encoder.clusters is not None, wide=False)  # where a file names none
        templates = TemplateSet.from_state(state["templates"]) if "templates" in state else first
        keys, labels, root = state["keys"], state["labels"].tolist(), state.get("root")
        if root is not None and len(labels) < 2:
            raise DataError("ArcLabeler: a label of its own for the root needs another one.")
        return cls(encoder, templates, labels, keys, weights, root)

    def _keys(
        self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        codes = self.encoder.encode(sentences) if codes is None else codes
        root, word, n_keys = 2, 0, 0
        keys, bounds = [np.empty(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
        for sentence in sentences:
            own_heads = heads[word : word + len(sentence)]
            some, ends = keys_of_tree(codes, root, *self._spec, own_heads, siblings_of(own_heads), True)
            keys.append(some)
            bounds.append(n_keys + ends[1:])
            root, word, n_keys = root + len(sentence) + 1, word + len(sentence), n_keys + len(some)
        return np.concatenate(keys), np.concatenate(bounds)
