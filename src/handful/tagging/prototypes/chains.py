"""The two chains of the prototype tagger: sums over the labelings of sentences, and over everything of a length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from handful.compute.processes import jobs_of
from handful.kernels.chain import forward_backward, viterbi
from handful.kernels.chain_pairs import pair_viterbi
from handful.kernels.clamped_pairs import PairCounts, PairPotentials, clamped_pair_sums
from handful.kernels.lattice import chain_lattice, chain_lattice_counts, pair_lattice, pair_lattice_counts

_WIDTH = 128  # sentences side by side
_ROOM = 1 << 23  # numbers that the sums of one block may take
_N_SHARDS = 8  # fixed, so that sums do not depend on the number of threads


@dataclass(frozen=True, eq=False)
class TokenArrays:
    """TokenArrays of many sentences with the labels they may carry.

    Parameters
    ----------
    words : ndarray of int32, shape (n_tokens,)
        Row of each token's word in the table of scores.
    offsets : ndarray of int64, shape (n_sentences + 1,)
        Where each sentence starts; no sentence is empty.
    fixed : ndarray of int32, shape (n_tokens,)
        The one label a token may carry, or -1 where its word decides.
    """

    words: np.ndarray
    offsets: np.ndarray
    fixed: np.ndarray


@dataclass(frozen=True, eq=False)
class _Block:
    """Sentences of similar length side by side, longest first."""

    places: np.ndarray  # position among all tokens, shape (sentences, length); -1 beyond the end
    lengths: np.ndarray


Shard = list[tuple[np.ndarray, _Block]]  # blocks, each with the numbers of its sentences
T = TypeVar("T")


class Chain(Protocol):
    """What both orders offer; `edges` are weights of label sequences in the order of `shapes`."""

    n_labels: int

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the weight arrays of label sequences."""

    def sums(
        self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by sentence, label marginals by token, and expected counts of label sequences."""

    def lattice(
        self,
        emission: np.ndarray,
        edges: Sequence[np.ndarray],
        longest: int,
        weigh: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by length, expected labels and expected label sequences.

        `weigh` is given the log sums and says how much each length counts.
        """

    def best(self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int) -> np.ndarray:
        """Return the labels of the best labeling of every sentence."""


class FirstOrder:
    """Labels that depend on the label before; weights of first labels, pairs and last labels.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of start, pair and stop weights."""
        n = self.n_labels
        return (n,), (n, n), (n,)

    def sums(
        self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by sentence, label marginals by token, and expected counts of label sequences."""
        log_sums = np.zeros(len(tokens.offsets) - 1)
        marginals = np.zeros((len(tokens.words), self.n_labels))

        def work(shard: Shard) -> np.ndarray:
            pairs = np.zeros((self.n_labels, self.n_labels))
            for chosen, block in shard:
                node, active = _node_scores(tokens, block, scores)
                _add_ends(node, block, edges[0], edges[2])
                log_sums[chosen], shares, expected = forward_backward(node, edges[1], active)
                pairs += expected
                inside = block.places >= 0
                marginals[block.places[inside]] = shares.transpose(2, 0, 1)[inside]
            return pairs

        pairs = np.add.reduce(_run(work, _shards(tokens.offsets, 1), n_jobs))
        first, last = tokens.offsets[:-1], tokens.offsets[1:] - 1
        return log_sums, marginals, [marginals[first].sum(axis=0), pairs, marginals[last].sum(axis=0)]

    def lattice(
        self,
        emission: np.ndarray,
        edges: Sequence[np.ndarray],
        longest: int,
        weigh: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by length, expected labels and expected label sequences."""
        top = emission.max()
        potential = np.exp(emission - top)
        start, pair, stop = (np.exp(e) for e in edges)
        sums = chain_lattice(potential, start, pair, stop, longest)
        log_sums = sums.log_sums + top * np.arange(1, longest + 1)
        labels, *counts = chain_lattice_counts(sums, potential, pair, stop, weigh(log_sums))
        return log_sums, labels, list(counts)

    def best(self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int) -> np.ndarray:
        """Return the labels of the best labeling of every sentence."""
        labels = np.zeros(len(tokens.words), dtype=np.int32)

        def work(shard: Shard) -> None:
            for _, block in shard:
                node, active = _node_scores(tokens, block, scores)
                _add_ends(node, block, edges[0], edges[2])
                inside = block.places >= 0
                labels[block.places[inside]] = viterbi(node, edges[1], active)[0].T[inside]

        _run(work, _shards(tokens.offsets, 1), n_jobs)
        return labels


class SecondOrder:
    """Labels that depend on the two labels before; weights of triples, with marks for start and end.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self._rooms: list[np.ndarray] = []  # memory that threads hand on, from one evaluation to the next

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of (START, START, c), (START, b, c), (a, b, c), (b, c, STOP) and (START, c, STOP)."""
        n = self.n_labels
        return (n,), (n, n), (n, n, n), (n, n), (n,)

    def sums(
        self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by sentence, label marginals by token, and expected counts of label sequences."""
        n = self.n_labels
        tops = scores.max(axis=1)
        potentials = _pair_potentials(np.exp(scores - tops[:, None]), edges)
        single = _single_labels(scores)
        fixed = np.where(tokens.fixed >= 0, tokens.fixed, single[tokens.words])
        # A token labeled by hand keeps the potential of its word.
        low = np.where(fixed >= 0, fixed, 0).astype(np.int16)
        high = np.where(fixed >= 0, fixed + 1, n).astype(np.int16)
        log_sums = np.zeros(len(tokens.offsets) - 1)
        marginals = np.zeros((len(tokens.words), n))
        shards = _shards(tokens.offsets, n * n)

        def work(shard: Shard) -> PairCounts:
            counts = PairCounts.zeros(n)
            size = max(b.places.size for _, b in shard) * n * n
            room = self._rooms.pop() if self._rooms else np.empty(0)
            room = room if len(room) >= size else np.empty(size)
            for chosen, block in shard:
                places, inside = block.places, block.places >= 0
                sums = clamped_pair_sums(
                    tokens.words[places], low[places], high[places], block.lengths, potentials, counts, room
                )
                log_sums[chosen], shares = sums
                marginals[places[inside]] = shares[inside]
            self._rooms.append(room)
            return counts

        parts = _run(work, shards, n_jobs)
        log_sums += np.add.reduceat(tops[tokens.words], tokens.offsets[:-1])
        total = [np.add.reduce([getattr(c, name) for c in parts]) for name in _NAMES]
        total[2] = (total[2] * potentials.triple).transpose(1, 0, 2)
        return log_sums, marginals, total

    def lattice(
        self,
        emission: np.ndarray,
        edges: Sequence[np.ndarray],
        longest: int,
        weigh: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by length, expected labels and expected label sequences."""
        top = emission.max()
        potentials = _pair_potentials(np.exp(emission - top)[None, :], edges)
        sums = pair_lattice(potentials, longest)
        log_sums = sums.log_sums + top * np.arange(1, longest + 1)
        labels, counts = pair_lattice_counts(sums, potentials, weigh(log_sums))
        total = [getattr(counts, name) for name in _NAMES]
        total[2] = total[2].transpose(1, 0, 2)
        return log_sums, labels, total

    def best(self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int) -> np.ndarray:
        """Return the labels of the best labeling of every sentence."""
        labels = np.zeros(len(tokens.words), dtype=np.int32)
        start, start_pair, triple, stop_pair, stop = edges
        pair = np.zeros_like(start_pair)

        def work(shard: Shard) -> None:
            for _, block in shard:
                node, active = _node_scores(tokens, block, scores)
                node[0] += start[:, None]
                node[0][:, block.lengths == 1] += stop[:, None]
                inside = block.places >= 0
                best = pair_viterbi(node, pair, triple, active, start_pair, stop_pair)[0]
                labels[block.places[inside]] = best.T[inside]

        _run(work, _shards(tokens.offsets, self.n_labels**2), n_jobs)
        return labels


_NAMES = ("start", "start_pair", "triple", "stop_pair", "stop")


def _pair_potentials(node: np.ndarray, edges: Sequence[np.ndarray]) -> PairPotentials:
    start, start_pair, triple, stop_pair, stop = (np.exp(e) for e in edges)
    return PairPotentials(node, start, start_pair, np.ascontiguousarray(triple.transpose(1, 0, 2)), stop_pair, stop)


def _single_labels(scores: np.ndarray) -> np.ndarray:
    """Return for each word its label if only one is legal, else -1."""
    legal = np.isfinite(scores)
    return np.where(legal.sum(axis=1) == 1, legal.argmax(axis=1), -1)


def _shards(offsets: np.ndarray, numbers_a_token: int) -> list[Shard]:
    """Cut sentences into blocks of similar length, and deal the blocks out."""
    blocks = list(_blocks(offsets, numbers_a_token))
    return [blocks[shard::_N_SHARDS] for shard in range(min(_N_SHARDS, len(blocks)))]


def _blocks(offsets: np.ndarray, numbers_a_token: int) -> Iterator[tuple[np.ndarray, _Block]]:
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = int(lengths[order[first]])
        width = max(1, min(_WIDTH, _ROOM // (longest * numbers_a_token)))
        chosen = order[first : first + width]
        inside = np.arange(longest) < lengths[chosen, None]
        places = np.where(inside, offsets[:-1][chosen, None] + np.arange(longest), -1)
        yield chosen, _Block(places, lengths[chosen])
        first += width


def _node_scores(tokens: TokenArrays, block: _Block, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    node = scores[tokens.words[block.places]]
    fixed = tokens.fixed[block.places]
    held = fixed >= 0
    kept = np.take_along_axis(node[held], fixed[held][:, None], axis=1)
    node[held] = -np.inf
    rows = node[held]
    np.put_along_axis(rows, fixed[held][:, None], kept, axis=1)
    node[held] = rows
    active = (np.arange(block.places.shape[1])[:, None] < block.lengths).sum(axis=1)
    return np.ascontiguousarray(node.transpose(1, 2, 0)), active


def _add_ends(node: np.ndarray, block: _Block, start: np.ndarray, stop: np.ndarray) -> None:
    node[0] += start[:, None]
    sentences = np.arange(len(block.lengths))
    node[block.lengths - 1, :, sentences] += stop


def _run(work: Callable[[Shard], T], shards: Sequence[Shard], n_jobs: int) -> list[T]:
    n_threads = min(jobs_of(n_jobs), len(shards))
    if n_threads <= 1:
        return [work(shard) for shard in shards]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, shards))
