"""Sentences as chains of labels: the best labeling, the marginals, and the features of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from threadpoolctl import ThreadpoolController

from handful.core.errors import DataError
from handful.features import Predicates
from handful.kernels.chain import forward_backward, viterbi
from handful.kernels.chain_features import features_of, take_sum
from handful.kernels.chain_pairs import pair_forward_backward, pair_viterbi
from handful.linear.layout import ChainLayout, labels_before
from handful.linear.observed_features import Side
from handful.linear.part_shares import PartShares

_Shares = tuple[np.ndarray, np.ndarray, np.ndarray]
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
    triples: np.ndarray


class Chain:
    """Encoded sentences whose parts are labels, label pairs and label triples.

    Parameters
    ----------
    layout : ChainLayout
        Numbering of the features.
    node, edge : Predicates
        What was observed at each token, to go with labels and with label pairs.
    allowed : ndarray of bool, shape (n_labels, n_labels), optional
        Label pairs that may stand side by side; all by default.
    allowed_first : ndarray of bool, shape (n_labels,), optional
        Labels that a sentence may start with; all by default.
    order : {1, 2}
        Length of the label history.
    n_jobs : int
        Threads.

    Notes
    -----
    A labeling is one array of codes over all tokens. Sentences are cut into two shards (one per thread if there are
    more) whose counts are added in a fixed order: results never depend on timing, and one thread and two give the same.

    Examples
    --------
    >>> from handful.linear.layout import build_layout
    >>> node = Predicates.of(np.array([[0], [1]]), np.array([0, 2]))
    >>> edge = Predicates.of(np.empty((2, 0)), np.array([0, 2]))
    >>> layout = build_layout(2, 2, node, edge, np.array([0, 1]))
    >>> chain = Chain(layout, node, edge)
    >>> chain.best(np.array([1.0, 1.0, 0.0])).tolist()
    [0, 1]
    >>> chain.parts(np.array([0, 1]))[0].tolist()
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

    def best(self, weights: np.ndarray) -> np.ndarray:
        """Return the best label code of every token; among equals the lower code wins, from the sentence's end on."""
        out = np.empty(int(self.offsets[-1]), dtype=np.int32)
        apart = self._take_apart(weights)

        def work(shard: list[_Block]) -> None:
            for block in shard:
                node, edge = self._score(block, apart)
                if self.order == 2:
                    labels, _ = pair_viterbi(node, edge, apart.triples, block.active)
                else:
                    labels, _ = viterbi(node, edge, block.active)
                self._gather(block, labels, out)

        self._run(work, self._shards)
        return out

    def marginals(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition of all sentences and the expected count of every feature."""
        apart = self._take_apart(weights)
        totals = np.zeros(len(self._shards))

        def shares(block: _Block, number: int) -> _Shares:
            log_partition, *sums = self._sum(block, apart)
            if not np.isfinite(log_partition).all():
                raise DataError("Chain: every sentence must have a legal labeling with a finite score.")
            totals[number] += log_partition.sum()
            return sums[0], sums[1], sums[2]

        counts = self._count(shares)
        return float(totals.sum()), counts

    def label_marginals(self, weights: np.ndarray) -> np.ndarray:
        """Return the probability of every label at every token, shape (n_tokens, n_labels)."""
        out = np.empty((int(self.offsets[-1]), self.layout.n_labels))
        apart = self._take_apart(weights)

        def work(shard: list[_Block]) -> None:
            for block in shard:
                node = self._sum(block, apart)[1]
                self._gather(block, node.transpose(0, 2, 1), out)

        self._run(work, self._shards)
        return out

    def parts(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each; see `Structure.parts`.

        A part is a label with the label before it (with both labels before it for order 2), as far as the sentence
        reaches back; all parts are those of any legal labeling.
        """
        if outputs is None:
            return np.arange(self.n_features), self._count(self._even_shares)
        lay, starts = self.layout, self.layout.starts
        codes = outputs.astype(np.int64)
        before = labels_before(self.offsets, codes)
        pair = np.where(before >= 0, before * lay.n_labels + codes, -1)
        node_ids, edge_ids = self.node.observed.ids, self.edge.observed.ids
        fired = np.empty(node_ids.size + edge_ids.size, dtype=np.int64)
        n = features_of(node_ids, codes, lay.node_offsets, lay.node_targets, 0, fired)
        n += features_of(edge_ids, pair, lay.edge_offsets, lay.edge_targets, int(starts[1]), fired[n:])
        parts = [fired[:n], positions(pair, lay.pairs) + starts[2]]
        if self.order == 2:
            two_before = labels_before(self.offsets, before)
            triple = np.where(two_before >= 0, two_before * lay.n_labels**2 + pair, -1)
            parts.append(positions(triple, lay.triples) + starts[3])
        ids = np.concatenate(parts)
        return ids, np.broadcast_to(1.0, ids.shape)

    def _even_shares(self, block: _Block, _: int) -> _Shares:
        """Return for each label, pair and triple in how many parts it is, by the share of one labeling's parts."""
        even = PartShares(self.allowed, self.allowed_first, self.order)
        width, n = len(block.lengths), self.layout.n_labels
        node, edge = np.zeros((len(block.active), n, width)), np.zeros((len(block.active), n, n, width))
        triple = np.zeros((n, n, n) if self.order == 2 else 0)
        for s, length in enumerate(block.lengths):
            offsets = np.array([0, length])
            classes = even.classes(offsets)
            share = even.shares(offsets, classes)[0]
            node[:length, :, s] = share * even.labels[classes]
            edge[:length, :, :, s] = share * even.pairs[classes]
            if self.order == 2:
                triple += share * even.triples[classes].sum(axis=0)
        return node, edge if self.edge.fires else edge.sum(axis=(0, 3)), triple

    def _count(self, shares: Callable[[_Block, int], _Shares]) -> np.ndarray:
        """Add up how much there is of every feature, given how much there is of every label, pair and triple."""
        lay, n_shards = self.layout, len(self._shards)
        n_node, n_edge = self.node.n_merged, self.edge.n_merged
        if self._buffer is None:
            self._buffer = np.zeros((n_shards, self.n_features + n_node + n_edge))
        buffer, self._buffer = self._buffer, None  # gone if an error strikes midway, so that it is never used dirty
        cuts = [self.n_features, self.n_features + n_node]

        def work(number: int) -> None:
            counts, merged_node, merged_edge = np.split(buffer[number], cuts)
            node_counts, edge_counts, pair_counts, triple_counts = lay.split(counts)
            for block in self._shards[number]:
                node, edge, triple = shares(block, number)
                rows = block.first_rows, block.lengths
                if self.node.fires:
                    self.node.count(*rows, _some(node, self.node.used), node_counts, merged_node)
                if self.edge.fires:
                    flat = _some(edge.reshape(edge.shape[0], -1, edge.shape[3]), self.edge.used)
                    self.edge.count(*rows, flat, edge_counts, merged_edge)
                    edge = edge[1:].sum(axis=(0, 3))
                pair_counts += edge.ravel()[lay.pairs]
                if self.order == 2:
                    triple_counts += triple.ravel()[lay.triples]

        self._run(work, range(n_shards))
        summed = np.zeros(buffer.shape[1])
        if n_shards:
            self._run(lambda cut: take_sum(buffer, *cut, summed), _ranges(len(summed)))
        self._buffer = buffer
        total, merged_node, merged_edge = np.split(summed, cuts)
        node_total, edge_total, _, _ = lay.split(total)
        self.node.unmerge(merged_node, node_total)
        self.edge.unmerge(merged_edge, edge_total)
        return total

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
        n_shards = min(max(_N_SHARDS, self.n_jobs), len(blocks))
        return (blocks[shard::n_shards] for shard in range(n_shards))

    def _run(self, work: Callable[..., None], tasks: Iterable[object]) -> None:
        # The matrix products of order 2 run side by side; threads inside each would only get in their way.
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
        triples = lay.triple_tensor(weights) if self.order == 2 else np.empty(0)
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

    def _sum(self, block: _Block, weights: _Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        node, edge = self._score(block, weights)
        if self.order == 2:
            sums = pair_forward_backward(node, edge, weights.triples, block.active)
            return sums.log_partition, sums.node, sums.edge, sums.triple
        return *forward_backward(node, edge, block.active), np.empty(0)

    def _gather(self, block: _Block, values: np.ndarray, out: np.ndarray) -> None:
        """Write values of shape (length, sentences, ...) to the tokens they belong to."""
        position = np.arange(len(block.active))[:, None]
        inside = position < block.lengths
        out[(block.first_rows + position)[inside]] = values[inside]


def _ranges(n: int) -> list[tuple[int, int]]:
    step = 1 << 14
    return [(start, min(start + step, n)) for start in range(0, n, step)]


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
