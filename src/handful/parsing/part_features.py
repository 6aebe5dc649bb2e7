"""Features of the parts of dependency trees, and their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from handful.data.records import Sentence
from handful.kernels.hashing import KeyTable, make_key_table
from handful.kernels.tree_features import TYPE_SHIFT, PairNumbers, features_of_sentence, keys_of_tree, part_scores
from handful.kernels.trees import pair_starts, siblings_of
from handful.linear.tree import PartFeatures
from handful.parsing.encoding import SPECIAL, TokenEncoder
from handful.parsing.templates import TemplateSet, show_key

CACHE_BYTES = 1 << 30
_CHUNK_KEYS = 1 << 23
_NO_STARTS = np.empty((0, 0), dtype=np.int64)


@dataclass(eq=False)
class TreeFeatures:
    """Features of trees, with a number for each.

    Parameters
    ----------
    templates : TemplateSet
        The templates.
    encoder : TokenEncoder
        Numbers of words and tags.
    keys : ndarray of int64
        Key of each feature, rising; see `handful.kernels.tree_features`.
    order : {1, 2}
        Whether pairs have features.
    single_root : bool
        Whether the root has exactly one child.
    """

    templates: TemplateSet
    encoder: TokenEncoder
    keys: np.ndarray
    _: KW_ONLY
    order: int
    single_root: bool

    def __post_init__(self) -> None:
        self.spec = self.templates.compile(self.encoder.n_codes)
        self._weighed: tuple[np.ndarray, KeyTable] | None = None

    @classmethod
    def learn(
        cls,
        sentences: Sequence[Sentence],
        heads: np.ndarray,
        templates: TemplateSet,
        encoder: TokenEncoder,
        *,
        order: int,
        single_root: bool,
        min_count: int,
    ) -> TreeFeatures:
        """Return the features that occur in the correct trees at least `min_count` times."""
        new = cls(templates, encoder, np.empty(0, dtype=np.int64), order=order, single_root=single_root)
        keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for some in new.tree_keys(sentences, heads):
            more, more_counts = np.unique(some, return_counts=True)
            keys, places = np.unique(np.concatenate([keys, more]), return_inverse=True)
            both = np.concatenate([counts, more_counts])
            counts = np.bincount(places, weights=both, minlength=len(keys)).astype(np.int64)
        new.keys = keys[counts >= min_count]
        return new

    def tree_keys(self, sentences: Sequence[Sentence], heads: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the keys of all features of trees, some millions at a time; heads of all sentences are in one array."""
        codes = self.encoder.encode(sentences)
        root, word, size = 2, 0, 0
        parts: list[np.ndarray] = []
        for sentence in sentences:
            n = len(sentence)
            own_heads = heads[word : word + n]
            keys, _ = keys_of_tree(codes, root, *self.spec, own_heads, siblings_of(own_heads), self.order == 2)
            parts.append(keys)
            root, word, size = root + n + 1, word + n, size + len(keys)
            if size > _CHUNK_KEYS:
                yield np.concatenate(parts)
                parts, size = [], 0
        if parts:
            yield np.concatenate(parts)

    @cached_property
    def table(self) -> KeyTable:
        """Hash table of the keys."""
        return make_key_table(self.keys)

    def weight_table(self, weights: np.ndarray) -> KeyTable:
        """Return the hash table from the keys to these weights; that of the last weights is kept."""
        if self._weighed is None or self._weighed[0] is not weights:
            self._weighed = weights, make_key_table(self.keys, weights.view(np.int64))
        return self._weighed[1]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.keys)

    @property
    def types(self) -> np.ndarray:
        """Type of each feature, as a number of `TemplateSet.types`."""
        types: np.ndarray = self.keys >> TYPE_SHIFT
        return types

    def keep(self, chosen: np.ndarray) -> TreeFeatures:
        """Return the same with some of the features."""
        return self.with_keys(self.keys[chosen])

    def with_keys(self, keys: np.ndarray) -> TreeFeatures:
        """Return the same with other features."""
        return replace(self, keys=keys)

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return features as readable text."""
        values: Mapping[str, list[str]] = {name: [*SPECIAL, *strings] for name, strings in self.encoder.values.items()}
        return [show_key(int(key), self.templates, self.spec, values) for key in self.keys[numbers]]


class SentenceFeatures:
    """Features of the parts of some sentences, computed on demand.

    Parameters
    ----------
    features : TreeFeatures
        The features.
    sentences : sequence of Sentence
        The sentences.
    cache_bytes : int
        Results are kept up to this size.
    """

    def __init__(self, features: TreeFeatures, sentences: Sequence[Sentence], cache_bytes: int = 0) -> None:
        self.features = features
        self.codes = features.encoder.encode(sentences)
        self.offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences], dtype=np.int64)])
        self.cache_bytes = cache_bytes
        self._kept: dict[int, PartFeatures] = {}
        self._pairs: dict[int, PairNumbers] = {}

    def scores(self, number: int, weights: np.ndarray, scale: float, least: float) -> np.ndarray:
        """Return the scores of the parts of one sentence, pairs only of likely arcs; see `handful.kernels.tree_features`."""
        features = self.features
        table = features.weight_table(weights)
        root, n, pairs = self._place(number)
        return np.asarray(part_scores(self.codes, root, n, features.spec, table, pairs, scale, least))

    def _place(self, number: int) -> tuple[int, int, PairNumbers]:
        """Return the row of the root of a sentence, its number of words, and the numbers of its pairs."""
        n = int(self.offsets[number + 1] - self.offsets[number])
        if n not in self._pairs:
            single_root = self.features.single_root
            starts, n_pairs = pair_starts(n, single_root) if self.features.order == 2 else (_NO_STARTS, 0)
            self._pairs[n] = PairNumbers(starts, n_pairs, single_root)
        return 2 + int(self.offsets[number]) + number, n, self._pairs[n]

    def __call__(self, number: int) -> PartFeatures:
        """Return the features of the parts of one sentence."""
        kept = self._kept.get(number)
        if kept is not None:
            return kept
        features = self.features
        root, n, pairs = self._place(number)
        ids, begins, ends = features_of_sentence(self.codes, root, n, features.spec, features.table, pairs)
        parts = PartFeatures(ids, begins, ends)
        size = ids.nbytes + begins.nbytes + ends.nbytes
        if size <= self.cache_bytes:
            self.cache_bytes -= size
            parts = PartFeatures(ids.copy(), begins, ends)
            self._kept[number] = parts
        return parts
