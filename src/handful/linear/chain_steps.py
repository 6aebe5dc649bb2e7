"""Chains one sentence at a time, for online learners."""

from __future__ import annotations

import numpy as np

from handful.kernels.chain import viterbi
from handful.kernels.chain_features import features_of, score_block
from handful.kernels.chain_pairs import pair_viterbi
from handful.kernels.online import reach_of
from handful.linear.chain import Chain, positions


class ChainSteps:
    """The sentences of a chain, one at a time; see `handful.linear.structure.Stepwise`.

    Parameters
    ----------
    chain : Chain
        The sentences.

    Examples
    --------
    >>> from handful.features import Predicates
    >>> from handful.linear.layout import build_layout
    >>> node, edge = (Predicates.of(ids, np.array([0, 2])) for ids in (np.array([[0], [1]]), np.empty((2, 0))))
    >>> steps = ChainSteps(Chain(build_layout(2, 2, node, edge, np.array([0, 1])), node, edge))
    >>> steps.parts_at(0, np.array([0, 1]))[0].tolist()
    [0, 1, 2]
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.n_inputs = chain.n_inputs
        self.n_features = chain.n_features
        self._node_ids, self._edge_ids = chain.node.observed.ids, chain.edge.observed.ids
        self._reach = np.empty(1 << 12, dtype=np.int64)

    def best_at(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the labeling of one sentence with the highest score plus number of wrong labels, and that number."""
        lay, n = self.chain.layout, self.chain.layout.n_labels
        node_ids, edge_ids = self._node_ids, self._edge_ids
        node_weights, edge_weights, _, _ = lay.split(weights)
        block = self.chain.offsets[number : number + 1], np.array([len(gold)])
        active = np.ones(len(gold), dtype=np.int64)
        node = np.ones((len(gold), n, 1))
        node[np.arange(len(gold)), gold, 0] = 0.0
        score_block(node_ids, *block, lay.node_offsets, lay.node_targets, node_weights, 0, node)
        node[0, ~self.chain.allowed_first] = -np.inf
        edge = np.where(self.chain.allowed, lay.pair_matrix(weights), -np.inf)
        if self.chain.edge.fires:
            edges = np.empty((len(gold), n * n, 1))
            edges[:] = edge.reshape(1, n * n, 1)
            score_block(edge_ids, *block, lay.edge_offsets, lay.edge_targets, edge_weights, 1, edges)
            edge = edges.reshape(len(gold), n, n, 1)
        if self.chain.order == 2:
            labels, _ = pair_viterbi(node, edge, lay.triple_tensor(weights), active)
        else:
            labels, _ = viterbi(node, edge, active)
        return labels[:, 0], float((labels[:, 0] != gold).sum())

    def parts_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one labeled sentence, each as often as it fires."""
        node_ids, edge_ids = self._node_ids, self._edge_ids
        lay, rows = self.chain.layout, slice(self.chain.offsets[number], self.chain.offsets[number + 1])
        starts, n = lay.starts, lay.n_labels
        codes = output.astype(np.int64)
        pair = np.full(len(codes), -1)
        pair[1:] = codes[:-1] * n + codes[1:]
        fired = np.empty((node_ids.shape[1] + edge_ids.shape[1]) * len(codes), dtype=np.int64)
        count = features_of(node_ids[rows], codes, lay.node_offsets, lay.node_targets, 0, fired)
        edges = edge_ids[rows], pair, lay.edge_offsets, lay.edge_targets, int(starts[1])
        count += features_of(*edges, fired[count:])
        parts = [fired[:count], positions(pair[1:], lay.pairs) + starts[2]]
        if self.chain.order == 2:
            parts.append(positions(codes[:-2] * n * n + pair[2:], lay.triples) + starts[3])
        ids = np.concatenate(parts)
        return ids, np.ones(len(ids))

    def reach_at(self, number: int) -> np.ndarray:
        """Return every feature that any labeling of a sentence may have."""
        node_ids, edge_ids = self._node_ids, self._edge_ids
        lay, starts = self.chain.layout, self.chain.layout.starts
        tokens = int(self.chain.offsets[number]), int(self.chain.offsets[number + 1])
        while True:
            n = reach_of(node_ids, *tokens, lay.node_offsets, 0, self._reach, 0)
            n = reach_of(edge_ids, *tokens, lay.edge_offsets, int(starts[1]), self._reach, n)
            if n <= len(self._reach):
                return np.concatenate([self._reach[:n], np.arange(starts[2], starts[4])])
            self._reach = np.empty(2 * n, dtype=np.int64)

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the labeling of one sentence."""
        return np.asarray(outputs[self.chain.offsets[number] : self.chain.offsets[number + 1]])
