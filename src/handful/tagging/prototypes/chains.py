"""The two chains of the prototype tagger: sums over the labelings of sentences, and over everything of a length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from handful.kernels.chains import forward_backward, viterbi
from handful.parallel import jobs_of

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
                sums = forward_backward(node, edges[1], active)
                log_sums[chosen] = sums.log_partition
                pairs += sums.edge
                inside = block.places >= 0
                marginals[block.places[inside]] = sums.node.transpose(2, 0, 1)[inside]
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
        lattice = _Lattice(potential * start, pair * potential, stop, longest)
        log_sums = lattice.log_sums + top * np.arange(1, longest + 1)
        first, labels, pairs, last = lattice.expected_counts(weigh(log_sums))
        return log_sums, labels, [first, pairs, last]

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

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of (START, START, c), (START, b, c), (a, b, c), (b, c, STOP) and (START, c, STOP)."""
        n = self.n_labels
        return (n,), (n, n), (n, n, n), (n, n), (n,)

    def sums(
        self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by sentence, label marginals by token, and expected counts of label sequences."""
        log_sums = np.zeros(len(tokens.offsets) - 1)
        marginals = np.zeros((len(tokens.words), self.n_labels))
        no_pairs = np.zeros_like(edges[1])

        def work(shard: Shard) -> list[np.ndarray]:
            totals = [np.zeros(shape) for shape in self.shapes[1:4]]
            for chosen, block in shard:
                node, active = _node_scores(tokens, block, scores)
                _add_single_ends(node, block, edges[0], edges[4])
                sums = forward_backward(node, no_pairs, active, edges[2], edges[1], edges[3])
                log_sums[chosen] = sums.log_partition
                inside = block.places >= 0
                marginals[block.places[inside]] = sums.node.transpose(2, 0, 1)[inside]
                for total, part in zip(totals, (sums.first, sums.triple, sums.last), strict=True):
                    total += part
            return totals

        parts = _run(work, _shards(tokens.offsets, self.n_labels**2), n_jobs)
        counts = [np.add.reduce(part) for part in zip(*parts, strict=True)]
        first = marginals[tokens.offsets[:-1]]
        alone = np.diff(tokens.offsets) == 1
        return log_sums, marginals, [first.sum(axis=0), *counts, first[alone].sum(axis=0)]

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
        start, start_pair, triple, stop_pair, stop = (np.exp(e) for e in edges)
        # A state is a pair of labels, so sentences of one word stand alone.
        alone = potential * start * stop
        lattice = _Lattice(
            (potential * start)[:, None] * start_pair * potential, triple * potential, stop_pair, longest - 1
        )
        with np.errstate(divide="ignore"):
            log_sums = np.append(np.log(alone.sum()), lattice.log_sums) + top * np.arange(1, longest + 1)
        weights = weigh(log_sums)
        alone *= weights[0] / alone.sum()
        pairs, states, triples, last = lattice.expected_counts(weights[1:])
        first = pairs.sum(axis=1) + alone
        return log_sums, first + states.sum(axis=0), [first, pairs, triples, last, alone]

    def best(self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int) -> np.ndarray:
        """Return the labels of the best labeling of every sentence."""
        labels = np.zeros(len(tokens.words), dtype=np.int32)
        start, start_pair, triple, stop_pair, stop = edges
        pair = np.zeros_like(start_pair)

        def work(shard: Shard) -> None:
            for _, block in shard:
                node, active = _node_scores(tokens, block, scores)
                _add_single_ends(node, block, start, stop)
                inside = block.places >= 0
                best = viterbi(node, pair, active, triple, start_pair, stop_pair)[0]
                labels[block.places[inside]] = best.T[inside]

        _run(work, _shards(tokens.offsets, self.n_labels**2), n_jobs)
        return labels


class _Lattice:
    """Sums over all sequences of 1 to `longest` states, whose potentials do not depend on the position.

    Parameters
    ----------
    first, stop : ndarray
        Potentials of a first state, with what it emits, and of a last state. A state is a label or a pair of labels.
    step : ndarray
        Potential of a state followed by a label, with what that emits: one axis more than a state.
    longest : int
        Longest sequence.
    """

    def __init__(self, first: np.ndarray, step: np.ndarray, stop: np.ndarray, longest: int) -> None:
        self.step, self.stop = step, stop
        self.alpha, self.scale = np.empty((longest, *first.shape)), np.empty(longest)
        for t in range(longest):
            state = first if t == 0 else (self.alpha[t - 1][..., None] * step).sum(axis=0)
            self.scale[t] = state.sum()
            self.alpha[t] = state / self.scale[t]
        self.ends = (self.alpha * stop).reshape(longest, -1).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.log_sums = np.cumsum(np.log(self.scale)) + np.log(self.ends)

    def expected_counts(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return expected first states, states, steps and last states, where each length has a weight."""
        steps, states, beta = np.zeros_like(self.step), np.zeros_like(self.stop), np.zeros_like(self.stop)
        by_length = weights / self.ends
        for t in range(len(weights) - 1, -1, -1):
            if t + 1 < len(weights):
                ahead = beta / self.scale[t + 1]
                steps += self.alpha[t][..., None] * ahead
                beta = (self.step * ahead).sum(axis=-1)
            beta = beta + by_length[t] * self.stop
            states += self.alpha[t] * beta
        first = self.alpha[0] * beta if len(weights) else beta
        return first, states, steps * self.step, np.tensordot(by_length, self.alpha, 1) * self.stop


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


def _add_single_ends(node: np.ndarray, block: _Block, start: np.ndarray, stop: np.ndarray) -> None:
    """Add the weights of first labels, and of last labels where a sentence has one word."""
    node[0] += start[:, None]
    node[0][:, block.lengths == 1] += stop[:, None]


def _run(work: Callable[[Shard], T], shards: Sequence[Shard], n_jobs: int) -> list[T]:
    n_threads = min(jobs_of(n_jobs), len(shards))
    if n_threads <= 1:
        return [work(shard) for shard in shards]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, shards))
