"""Linear-chain structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from handful.errors import DataError
from handful.kernels.chain_features import (
    add_rows,
    count_block,
    features_of,
    merge_rows,
    reach_of,
    score_block,
)
from handful.kernels.chains import Marginals, forward_backward, viterbi
from handful.linear.chain_layout import ChainLayout, LegalParts, pairs_and_triples
from handful.linear.structure import map_ahead
from handful.preprocessing.extractor import Predicates

_MOST_DENSE = 40


class Side:
    """Predicates of tokens together with the features of one kind.

    Parameters
    ----------
    observed : Predicates
        What was observed at each token.
    offsets, targets : ndarray
        Features of each predicate; see `handful.kernels.chain_features`.
    skip : int
        First position of a sentence that has such features.

    Attributes
    ----------
    used : ndarray of int64
        Targets that any feature has, rising; scores and marginals hold these alone.

    Notes
    -----
    With few targets, all rows become lines of one dense table; with many, rows stay sparse unless they have a third of
    all targets.

    Examples
    --------
    >>> observed = Predicates.of(np.array([[0], [-1]]), np.array([0, 2]))
    >>> side = Side(observed, np.array([0, 1]), np.array([1], dtype=np.int32), 0)
    >>> scores = np.zeros((2, 1, 1))
    >>> side.score(np.array([0]), np.array([2]), np.array([5.0]), side.merge(np.array([5.0])), scores)
    >>> side.used.tolist(), scores[:, :, 0].tolist()
    ([1], [[5.0], [0.0]])
    """

    def __init__(self, observed: Predicates, offsets: np.ndarray, targets: np.ndarray, skip: int) -> None:
        self.observed = observed
        self.skip = skip
        there = np.zeros(int(targets.max(initial=-1)) + 1, dtype=bool)
        there[targets] = True
        self.used = np.flatnonzero(there)
        self._offsets, self._targets = offsets, (np.cumsum(there, dtype=np.int32) - 1)[targets]
        rows, row_offsets, row_ids, direct = observed.rows, observed.row_offsets, observed.row_ids, observed.direct
        if len(self.used) <= _MOST_DENSE:
            rows, row_offsets, row_ids = _as_rows(observed, len(offsets) - 1)
            direct = direct[:, :0]
            merged_offsets, merged_targets = np.arange(len(row_offsets)) * len(self.used), self._targets[:0]
        else:
            third = -(-len(self.used) // 3)
            merged_offsets, merged_targets = merge_rows(
                row_offsets, row_ids, offsets, self._targets, len(self.used), third
            )
        self._row_offsets, self._row_ids = row_offsets, row_ids
        self._merged_offsets, self._merged_targets = merged_offsets, merged_targets
        self.n_merged = int(merged_offsets[-1])
        self._rows, self._direct = np.ascontiguousarray(rows), np.ascontiguousarray(direct)

    @property
    def fires(self) -> bool:
        """Whether any feature of this kind can fire."""
        return len(self.used) > 0 and self._rows.shape[1] + self._direct.shape[1] > 0

    def merge(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of merged rows."""
        merged = np.zeros(self.n_merged)
        add_rows(*self._rows_and_features(), weights, merged, False)
        return merged

    def unmerge(self, merged_counts: np.ndarray, counts: np.ndarray) -> None:
        """Add the counts of merged rows to those of their features; the reverse of `merge`."""
        add_rows(*self._rows_and_features(), counts, merged_counts, True)

    def _rows_and_features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        features = self._offsets, self._targets, self._merged_offsets, self._merged_targets
        return self._row_offsets, self._row_ids, *features, len(self.used)

    def score(
        self, first_rows: np.ndarray, lengths: np.ndarray, weights: np.ndarray, merged: np.ndarray, scores: np.ndarray
    ) -> None:
        """Add up the weights at each position of a block; see `score_block`."""
        block = first_rows, lengths
        score_block(self._rows, *block, self._merged_offsets, self._merged_targets, merged, self.skip, scores)
        score_block(self._direct, *block, self._offsets, self._targets, weights, self.skip, scores)

    def count(
        self,
        first_rows: np.ndarray,
        lengths: np.ndarray,
        marginals: np.ndarray,
        counts: np.ndarray,
        merged_counts: np.ndarray,
    ) -> None:
        """Add expected counts under the marginals of a block; see `count_block`."""
        block = first_rows, lengths
        count_block(self._rows, *block, self._merged_offsets, self._merged_targets, marginals, self.skip, merged_counts)
        count_block(self._direct, *block, self._offsets, self._targets, marginals, self.skip, counts)


def _as_rows(observed: Predicates, n_predicates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give every direct predicate its own row, and one empty row to the tokens that have none."""
    n_rows = len(observed.row_offsets) - 1
    seen = np.zeros(n_predicates + 1, dtype=bool)
    seen[observed.direct] = True
    own = np.flatnonzero(seen[:-1])
    number = np.full(n_predicates + 1, n_rows + len(own), dtype=np.int32)
    number[own] = n_rows + np.arange(len(own))
    rows = np.concatenate([observed.rows, number[observed.direct]], axis=1)
    end = observed.row_offsets[-1]
    offsets = np.concatenate([observed.row_offsets, end + np.arange(1, len(own) + 1), [end + len(own)]])
    return rows, offsets, np.concatenate([observed.row_ids, own.astype(np.int32)])


_BLOCK_VALUES = 1 << 16
_N_SHARDS = 2


@dataclass(frozen=True, eq=False)
class _Block:
    """Sentences of similar length, longest first."""

    first_rows: np.ndarray
    lengths: np.ndarray
    active: np.ndarray


@dataclass(frozen=True, eq=False)
class _Weights:
    """A weight vector taken apart, once for all blocks."""

    node: np.ndarray
    merged_node: np.ndarray
    edge: np.ndarray
    merged_edge: np.ndarray
    pairs: np.ndarray
    triples: np.ndarray | None


class ChainStructure:
    """Encoded sentences whose parts are labels, label pairs and label triples.

    Parameters
    ----------
    layout : ChainLayout
        Numbering of the features.
    node, edge : Predicates
        What was observed at each token, to go with labels and with label pairs.
    allowed : ndarray of bool, shape (n_labels, n_labels), optional
        Legal pairs of neighboring labels; all by default.
    allowed_first : ndarray of bool, shape (n_labels,), optional
        Labels that a sentence may start with; all by default.
    order : {1, 2}
        Length of the label history.
    n_jobs : int
        Threads.

    Notes
    -----
    A labeling is one array of codes over all tokens. Sentences are cut into two shards whose counts are added in a fixed
    order; further threads compute marginals ahead of the counting. Results do not depend on `n_jobs`.

    Examples
    --------
    >>> from handful.linear.chain_layout import build_layout
    >>> node = Predicates.of(np.array([[0], [1]]), np.array([0, 2]))
    >>> edge = Predicates.of(np.empty((2, 0)), np.array([0, 2]))
    >>> layout = build_layout(2, 2, node, edge, np.array([0, 1]))
    >>> chain = ChainStructure(layout, node, edge)
    >>> chain.argmax(np.array([1.0, 1.0, 0.0])).tolist()
    [0, 1]
    >>> chain.joint_features(np.array([0, 1]))[0].tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        layout: ChainLayout,
        node: Predicates,
        edge: Predicates,
        *,
        allowed: np.ndarray | None = None,
        allowed_first: np.ndarray | None = None,
        order: int = 1,
        n_jobs: int = 1,
    ) -> None:
        n = layout.n_labels
        self.layout = layout
        self.offsets = node.offsets
        self.allowed = np.ones((n, n), dtype=bool) if allowed is None else allowed
        self.allowed_first = np.ones(n, dtype=bool) if allowed_first is None else allowed_first
        self.order = order
        self.n_jobs = n_jobs
        self.n_inputs = len(self.offsets) - 1
        self.n_features = layout.n_features
        self.node = Side(node, layout.node_offsets, layout.node_targets, 0)
        self.edge = Side(edge, layout.edge_offsets, layout.edge_targets, 1)
        self._shards = list(self._cut())
        self._blas = ThreadpoolController() if order == 2 else None
        self._buffer: np.ndarray | None = None
        self._reach = np.empty(1 << 12, dtype=np.int64)

    def argmax(self, weights: np.ndarray) -> np.ndarray:
        """Return the best label code of every token; among equals the lower code wins, from the sentence's end on."""
        out = np.empty(int(self.offsets[-1]), dtype=np.int32)
        apart = self._take_apart(weights)

        def work(shard: list[_Block]) -> None:
            for block in shard:
                labels, _ = viterbi(*self._score(block, apart), block.active, apart.triples)
                self._gather(block, labels, out)

        self._run(work, self._shards)
        return out

    def expected_counts(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition of all sentences and the expected count of every feature."""
        apart = self._take_apart(weights)

        def sum_over(block: _Block) -> Marginals:
            sums = self._sum(block, apart)
            if not np.isfinite(sums.log_partition).all():
                raise DataError("ChainStructure: every sentence must have a legal labeling with a finite score.")
            return sums

        return self._count(sum_over)

    def label_marginals(self, weights: np.ndarray) -> np.ndarray:
        """Return the probability of every label at every token, shape (n_tokens, n_labels)."""
        out = np.empty((int(self.offsets[-1]), self.layout.n_labels))
        apart = self._take_apart(weights)

        def work(shard: list[_Block]) -> None:
            for block in shard:
                self._gather(block, self._sum(block, apart).node.transpose(0, 2, 1), out)

        self._run(work, self._shards)
        return out

    def joint_features(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each; see `Structure.joint_features`.

        A part is a label with the label before it (with both labels before it for order 2), as far as the sentence
        reaches back; all parts are those of any legal labeling.
        """
        if outputs is None:
            return np.arange(self.n_features), self._count(self._uniform_parts)[1]
        ids = self._fired(self.offsets, outputs.astype(np.int64), *self._ids)
        return ids, np.broadcast_to(1.0, ids.shape)

    def _fired(self, offsets: np.ndarray, codes: np.ndarray, node_ids: np.ndarray, edge_ids: np.ndarray) -> np.ndarray:
        lay, starts = self.layout, self.layout.starts
        pair, triple = pairs_and_triples(offsets, codes, lay.n_labels)
        fired = np.empty(node_ids.size + edge_ids.size, dtype=np.int64)
        n = features_of(node_ids, codes, lay.node_offsets, lay.node_targets, 0, fired)
        n += features_of(edge_ids, pair, lay.edge_offsets, lay.edge_targets, int(starts[1]), fired[n:])
        parts = [fired[:n], positions(pair, lay.pairs) + starts[2]]
        if self.order == 2:
            parts.append(positions(triple, lay.triples) + starts[3])
        return np.concatenate(parts)

    def loss_augmented_argmax(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the labeling of one sentence with the highest score plus number of wrong labels, and that number."""
        lay, n = self.layout, self.layout.n_labels
        node_ids, edge_ids = self._ids
        node_weights, edge_weights, _, _ = lay.split(weights)
        block = self.offsets[number : number + 1], np.array([len(gold)])
        active = np.ones(len(gold), dtype=np.int64)
        node = np.ones((len(gold), n, 1))
        node[np.arange(len(gold)), gold, 0] = 0.0
        score_block(node_ids, *block, lay.node_offsets, lay.node_targets, node_weights, 0, node)
        node[0, ~self.allowed_first] = -np.inf
        edge = np.where(self.allowed, lay.pair_matrix(weights), -np.inf)
        if self.edge.fires:
            edges = np.empty((len(gold), n * n, 1))
            edges[:] = edge.reshape(1, n * n, 1)
            score_block(edge_ids, *block, lay.edge_offsets, lay.edge_targets, edge_weights, 1, edges)
            edge = edges.reshape(len(gold), n, n, 1)
        labels, _ = viterbi(node, edge, active, lay.triple_tensor(weights) if self.order == 2 else None)
        return labels[:, 0], float((labels[:, 0] != gold).sum())

    def joint_features_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one labeled sentence, each as often as it fires."""
        tokens = slice(self.offsets[number], self.offsets[number + 1])
        ids = self._fired(np.array([0, len(output)]), output.astype(np.int64), *(ids[tokens] for ids in self._ids))
        return ids, np.ones(len(ids))

    def possible_features(self, number: int) -> np.ndarray:
        """Return every feature that any labeling of a sentence may have."""
        node_ids, edge_ids = self._ids
        lay, starts = self.layout, self.layout.starts
        tokens = int(self.offsets[number]), int(self.offsets[number + 1])
        while True:
            n = reach_of(node_ids, *tokens, lay.node_offsets, 0, self._reach, 0)
            n = reach_of(edge_ids, *tokens, lay.edge_offsets, int(starts[1]), self._reach, n)
            if n <= len(self._reach):
                return np.concatenate([self._reach[:n], np.arange(starts[2], starts[4])])
            self._reach = np.empty(2 * n, dtype=np.int64)

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the labeling of one sentence."""
        return np.asarray(outputs[self.offsets[number] : self.offsets[number + 1]])

    def in_order(self, order: np.ndarray) -> np.ndarray:
        """Return the sentences in this order."""
        return order

    @cached_property
    def _ids(self) -> tuple[np.ndarray, np.ndarray]:
        return self.node.observed.ids, self.edge.observed.ids

    def _uniform_parts(self, block: _Block) -> Marginals:
        """Return for each label, pair and triple in how many parts it is, by the share of one labeling's parts."""
        legal = LegalParts(self.allowed, self.allowed_first, self.order)
        width, n = len(block.lengths), self.layout.n_labels
        node, edge = np.zeros((len(block.active), n, width)), np.zeros((len(block.active), n, n, width))
        triple = np.zeros((n, n, n) if self.order == 2 else 0)
        for s, length in enumerate(block.lengths):
            offsets = np.array([0, length])
            classes = legal.classes(offsets)
            fraction = legal.r_bar(offsets, classes)[0]
            node[:length, :, s] = fraction * legal.labels[classes]
            edge[:length, :, :, s] = fraction * legal.pairs[classes]
            if self.order == 2:
                triple += fraction * legal.triples[classes].sum(axis=0)
        none = np.empty(0)
        return Marginals(none, node, edge if self.edge.fires else edge.sum(axis=(0, 3)), triple, none, none)

    def _count(self, amounts: Callable[[_Block], Marginals]) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the amount of every feature, given the amounts of labels, pairs and triples."""
        lay, n_shards = self.layout, len(self._shards)
        n_node, n_edge = self.node.n_merged, self.edge.n_merged
        if self._buffer is None:
            self._buffer = np.zeros((n_shards, self.n_features + n_node + n_edge))
        buffer, self._buffer = self._buffer, None  # gone if an error strikes midway, so that it is never used dirty
        cuts = [self.n_features, self.n_features + n_node]
        log_partition = np.zeros(n_shards)

        def work(number: int) -> None:
            counts, merged_node, merged_edge = np.split(buffer[number], cuts)
            node_counts, edge_counts, pair_counts, triple_counts = lay.split(counts)
            blocks, n_ahead = self._shards[number], self.n_jobs // n_shards if self.n_jobs > n_shards else 0
            for block, sums in zip(blocks, map_ahead(amounts, blocks, n_ahead), strict=True):
                log_partition[number] += sums.log_partition.sum()
                node, edge = sums.node, sums.edge
                rows = block.first_rows, block.lengths
                if self.node.fires:
                    self.node.count(*rows, _some(node, self.node.used), node_counts, merged_node)
                if self.edge.fires:
                    flat = _some(edge.reshape(edge.shape[0], -1, edge.shape[3]), self.edge.used)
                    self.edge.count(*rows, flat, edge_counts, merged_edge)
                    edge = edge[1:].sum(axis=(0, 3))
                pair_counts += edge.ravel()[lay.pairs]
                if self.order == 2:
                    triple_counts += sums.triple.ravel()[lay.triples]

        self._run(work, range(n_shards))
        summed = buffer.sum(axis=0)
        buffer[:] = 0.0
        self._buffer = buffer
        total, merged_node, merged_edge = np.split(summed, cuts)
        node_total, edge_total, _, _ = lay.split(total)
        self.node.unmerge(merged_node, node_total)
        self.edge.unmerge(merged_edge, edge_total)
        return float(log_partition.sum()), total

    def _cut(self) -> Iterator[list[_Block]]:
        lengths = np.diff(self.offsets)
        by_length = np.argsort(-lengths, kind="stable")
        by_length = by_length[lengths[by_length] > 0]
        n = self.layout.n_labels
        values = n * n if self.edge.fires or self.order == 2 else n
        blocks, start = [], 0
        while start < len(by_length):
            longest = int(lengths[by_length[start]])
            width = max(8, min(128, _BLOCK_VALUES // (longest * values)))
            chosen = by_length[start : start + width]
            chosen_lengths = lengths[chosen]
            active = (chosen_lengths > np.arange(longest)[:, None]).sum(axis=1)
            blocks.append(_Block(self.offsets[:-1][chosen], chosen_lengths, active))
            start += width
        n_shards = min(_N_SHARDS, len(blocks))
        return (blocks[shard::n_shards] for shard in range(n_shards))

    def _run(self, work: Callable[..., None], tasks: Iterable[object]) -> None:
        # The matrix products of order 2 run in parallel; threads inside each would only get in their way.
        limit = self._blas.limit(limits=1, user_api="blas") if self._blas is not None else nullcontext()
        with limit:
            if self.n_jobs == 1:
                for task in tasks:
                    work(task)
            else:
                with ThreadPoolExecutor(self.n_jobs) as pool:
                    for done in [pool.submit(work, task) for task in tasks]:
                        done.result()

    def _take_apart(self, weights: np.ndarray) -> _Weights:
        lay, (node, edge, _, _) = self.layout, self.layout.split(weights)
        pairs = np.where(self.allowed, lay.pair_matrix(weights), -np.inf)
        triples = lay.triple_tensor(weights) if self.order == 2 else None
        return _Weights(node, self.node.merge(node), edge, self.edge.merge(edge), pairs, triples)

    def _score(self, block: _Block, weights: _Weights) -> tuple[np.ndarray, np.ndarray]:
        n, length, width = self.layout.n_labels, len(block.active), len(block.lengths)
        rows = block.first_rows, block.lengths
        node = np.zeros((length, n, width))
        if self.node.fires:
            some = node if len(self.node.used) == n else np.zeros((length, len(self.node.used), width))
            self.node.score(*rows, weights.node, weights.merged_node, some)
            if some is not node:
                node[:, self.node.used] = some
        node[0, ~self.allowed_first] = -np.inf
        if not self.edge.fires:
            return node, weights.pairs
        some = np.zeros((length, len(self.edge.used), width))
        self.edge.score(*rows, weights.edge, weights.merged_edge, some)
        edges = np.empty((length, n * n, width))
        edges[:] = weights.pairs.reshape(1, n * n, 1)
        edges[:, self.edge.used] += some
        return node, edges.reshape(length, n, n, width)

    def _sum(self, block: _Block, weights: _Weights) -> Marginals:
        node, edge = self._score(block, weights)
        return forward_backward(node, edge, block.active, weights.triples)

    def _gather(self, block: _Block, values: np.ndarray, out: np.ndarray) -> None:
        """Write values of shape (length, sentences, ...) to the tokens they belong to."""
        position = np.arange(len(block.active))[:, None]
        inside = position < block.lengths
        out[(block.first_rows + position)[inside]] = values[inside]


def _some(marginals: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the marginals of some targets."""
    return marginals if len(used) == marginals.shape[1] else np.ascontiguousarray(marginals[:, used])


def positions(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return where each wanted value stands among the known ones, which rise, without the unknown ones.

    Examples
    --------
    >>> positions(np.array([7, 3, 7, 4]), np.array([3, 7])).tolist()
    [1, 0, 1]
    """
    if len(known) == 0:
        return np.empty(0, dtype=np.int64)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(at[known[at] == wanted], dtype=np.int64)
