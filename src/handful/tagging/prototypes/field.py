"""The Markov field of prototype taggers: sums over the labelings of sentences, and over all sentences of a length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from handful.kernels.chains import forward_backward, viterbi
from handful.parallel import jobs_of

_WIDTH = 128  # sentences of a block
_BLOCK_SIZE = 1 << 23  # numbers that the sums of one block may take
_N_SHARDS = 8  # fixed, so that sums do not depend on the number of threads


@dataclass(frozen=True, eq=False)
class TokenArrays:
    """Tokens of many sentences with the labels they may carry.

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


class PrototypeField:
    """A Markov field that scores words and labels together: p(x, y) = exp(theta . f(x, y)) / Z.

    Parameters
    ----------
    features : csr_array of shape (n_words, n_predicates)
        Predicates of each word.
    legal : ndarray of bool, shape (n_words, n_labels)
        Labels each word may carry, at least one.
    order : {1, 2}
        How many labels before the present one count. The weights of label sequences are, for order 1, those of (START, c),
        (b, c) and (c, STOP); for order 2 those of (START, START, c), (START, b, c), (a, b, c), (b, c, STOP) and
        (START, c, STOP).

    Attributes
    ----------
    size : int
        Number of weights: one for each predicate and label, then those of label sequences.

    Examples
    --------
    >>> field = PrototypeField(sparse.csr_array(np.eye(3)), np.ones((3, 2), dtype=bool), order=1)
    >>> tokens = TokenArrays(np.array([0, 1]), np.array([0, 2]), np.array([-1, -1]))
    >>> value, _, _ = field.objective(np.zeros(field.size), tokens)  # one of nine texts of two words
    >>> round(float(np.exp(value)))
    9
    """

    def __init__(self, features: sparse.csr_array, legal: np.ndarray, order: Literal[1, 2]) -> None:
        self._features = features
        self._transposed = features.T.tocsr()
        self._barred = np.where(legal, 0.0, -np.inf)
        self._order = order
        n = self._n_labels = legal.shape[1]
        sequences = [(n,), (n, n), (n,)] if order == 1 else [(n,), (n, n), (n, n, n), (n, n), (n,)]
        self._shapes = [(features.shape[1], n), *sequences]
        self.size = int(sum(np.prod(shape) for shape in self._shapes))

    @property
    def feature_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Which predicates each word has, as two arrays."""
        return self._features.indices, self._features.indptr

    def split(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return the weights as arrays: predicates by labels, then those of label sequences (views)."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(weights, ends[:-1]), self._shapes, strict=True)]

    def self_transitions(self, value: float) -> np.ndarray:
        """Return weights that are this value where a label follows itself, and 0 elsewhere."""
        weights = np.zeros(self.size)
        for part in self.split(weights)[1:]:
            if part.ndim > 1:
                part[..., np.arange(part.shape[-1]), np.arange(part.shape[-1])] = value
        return weights

    def objective(
        self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return minus the log-likelihood, its gradient, and the label marginals of every token.

        Parameters
        ----------
        weights : ndarray of shape (size,)
            The weights theta.
        tokens : TokenArrays
            The sentences. Each is normalized over all sentences of its length.
        n_jobs : int
            Threads.

        Returns
        -------
        value : float
            Minus the sum of log p(x).
        gradient : ndarray of shape (size,)
            Its derivative.
        marginals : ndarray of shape (n_tokens, n_labels)
            Posterior label probabilities.
        """
        emission, *edges = self.split(weights)
        scores = self._features @ emission + self._barred
        log_sums, marginals, observed = self._sums(tokens, scores, edges, n_jobs)
        histogram = np.bincount(np.diff(tokens.offsets))[1:].astype(np.float64)
        totals = logsumexp(scores, axis=0)
        log_partitions, labels, expected = self._sums_by_length(totals, edges, histogram)
        log_z = float(histogram @ np.where(histogram > 0, log_partitions, 0.0))
        # The gradient is E[f | x] summed over sentences, minus E[f] as often; E[f] of predicate g with label y is
        # labels[y] * sum over words of p(w | y) g(w).
        words = _sum_by_word(tokens.words, marginals, len(scores))
        with np.errstate(invalid="ignore"):
            words -= np.where(np.isneginf(scores), 0.0, np.exp(scores - totals)) * labels
        gradient = [self._transposed @ words, *(o - e for o, e in zip(observed, expected, strict=True))]
        value = log_z - float(log_sums.sum())
        return value, -np.concatenate([part.ravel() for part in gradient]), marginals

    def marginals(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the posterior label probabilities of every token, shape (n_tokens, n_labels)."""
        emission, *edges = self.split(weights)
        return self._sums(tokens, self._features @ emission + self._barred, edges, n_jobs)[1]

    def best(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the label of every token in the most probable labeling of its sentence."""
        emission, *edges = self.split(weights)
        scores = self._features @ emission + self._barred
        labels = np.zeros(len(tokens.words), dtype=np.int32)

        def work(shard: _Shard) -> None:
            for _, block in shard:
                best = viterbi(*self._chain(tokens, block, scores, edges))[0]
                inside = block.places >= 0
                labels[block.places[inside]] = best.T[inside]

        _run(work, self._shards(tokens), n_jobs)
        return labels

    def _chain(
        self, tokens: TokenArrays, block: _Block, scores: np.ndarray, edges: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """Return the arguments of `forward_backward` and `viterbi` for a block of sentences."""
        node, active = _node_scores(tokens, block, scores)
        node[0] += edges[0][:, None]
        if self._order == 1:
            node[block.lengths - 1, :, np.arange(len(block.lengths))] += edges[2]
            return node, edges[1], active
        node[0][:, block.lengths == 1] += edges[4][:, None]
        return node, np.zeros_like(edges[1]), active, edges[2], edges[1], edges[3]

    def _shards(self, tokens: TokenArrays) -> list[_Shard]:
        """Group sentences into blocks of similar length, and distribute the blocks."""
        blocks = list(_blocks(tokens.offsets, self._n_labels ** (2 * self._order - 2)))
        return [blocks[shard::_N_SHARDS] for shard in range(min(_N_SHARDS, len(blocks)))]

    def _sums(
        self, tokens: TokenArrays, scores: np.ndarray, edges: Sequence[np.ndarray], n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by sentence, label marginals by token, and expected counts of label sequences."""
        log_sums = np.zeros(len(tokens.offsets) - 1)
        marginals = np.zeros((len(tokens.words), self._n_labels))

        def work(shard: _Shard) -> list[np.ndarray]:
            totals = [np.zeros(shape) for shape in self._shapes[2:-1]]
            for chosen, block in shard:
                sums = forward_backward(*self._chain(tokens, block, scores, edges))
                counts = [sums.edge] if self._order == 1 else [sums.first, sums.triple, sums.last]
                log_sums[chosen] = sums.log_partition
                inside = block.places >= 0
                marginals[block.places[inside]] = sums.node.transpose(2, 0, 1)[inside]
                for total, part in zip(totals, counts, strict=True):
                    total += part
            return totals

        parts = _run(work, self._shards(tokens), n_jobs)
        counts = [np.add.reduce(part) for part in zip(*parts, strict=True)]
        first = tokens.offsets[:-1]
        stopped = tokens.offsets[1:] - 1 if self._order == 1 else first[np.diff(tokens.offsets) == 1]
        return log_sums, marginals, [marginals[first].sum(axis=0), *counts, marginals[stopped].sum(axis=0)]

    def _sums_by_length(
        self, emission: np.ndarray, edges: Sequence[np.ndarray], histogram: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return log sums by length, expected labels and expected label sequences of as many sentences of each length."""
        top = emission.max()
        potential = np.exp(emission - top)
        by_length = top * np.arange(1, len(histogram) + 1)
        start, *middle, stop = (np.exp(e) for e in edges)
        if self._order == 1:
            log_sums, first, labels, pairs, last = _lattice(potential * start, middle[0] * potential, stop, histogram)
            return log_sums + by_length, labels, [first, pairs, last]
        # A state is a pair of labels, so sentences of one word are apart.
        start_pair, triple, stop_pair = middle
        alone = potential * start * stop
        first_pair = (potential * start)[:, None] * start_pair * potential
        log_sums, pairs, states, triples, last = _lattice(first_pair, triple * potential, stop_pair, histogram[1:])
        with np.errstate(divide="ignore"):
            log_sums = np.append(np.log(alone.sum()), log_sums) + by_length
        alone *= histogram[0] / alone.sum()
        first = pairs.sum(axis=1) + alone
        return log_sums, first + states.sum(axis=0), [first, pairs, triples, last, alone]


def _lattice(
    first: np.ndarray, step: np.ndarray, stop: np.ndarray, histogram: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sum over all sequences of states, whose potentials do not depend on the position.

    Parameters
    ----------
    first, stop : ndarray
        Potentials of a first state, with what it emits, and of a last state. A state is a label or a pair of labels.
    step : ndarray
        Potential of a state followed by a label, with what that emits: one axis more than a state.
    histogram : ndarray
        Number of sequences of each length from 1 on.

    Returns
    -------
    tuple of ndarray
        Log sums by length, and expected first states, states, steps and last states of all sequences.
    """
    longest = len(histogram)
    alpha, scale = np.empty((longest, *first.shape)), np.empty(longest)
    for t in range(longest):
        state = first if t == 0 else (alpha[t - 1][..., None] * step).sum(axis=0)
        scale[t] = state.sum()
        alpha[t] = state / scale[t]
    ends = (alpha * stop).reshape(longest, stop.size).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_sums = np.cumsum(np.log(scale)) + np.log(ends)
    steps, states, beta = np.zeros_like(step), np.zeros_like(stop), np.zeros_like(stop)
    by_length = histogram / ends
    for t in range(longest - 1, -1, -1):
        if t + 1 < longest:
            ahead = beta / scale[t + 1]
            steps += alpha[t][..., None] * ahead
            beta = (step * ahead).sum(axis=-1)
        beta = beta + by_length[t] * stop
        states += alpha[t] * beta
    first_states = alpha[0] * beta if longest else beta
    return log_sums, first_states, states, steps * step, np.tensordot(by_length, alpha, 1) * stop


def _sum_by_word(words: np.ndarray, marginals: np.ndarray, n_words: int) -> np.ndarray:
    ones = np.ones(len(words))
    table = sparse.csr_array((ones, (words, np.arange(len(words)))), shape=(n_words, len(words)))
    result: np.ndarray = table @ marginals
    return result


@dataclass(frozen=True, eq=False)
class _Block:
    """Sentences of similar length, longest first."""

    places: np.ndarray  # position among all tokens, shape (sentences, length); -1 beyond the end
    lengths: np.ndarray


_Shard = list[tuple[np.ndarray, _Block]]  # blocks, each with the numbers of its sentences
T = TypeVar("T")


def _blocks(offsets: np.ndarray, numbers_a_token: int) -> Iterator[tuple[np.ndarray, _Block]]:
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = int(lengths[order[first]])
        width = max(1, min(_WIDTH, _BLOCK_SIZE // (longest * numbers_a_token)))
        chosen = order[first : first + width]
        inside = np.arange(longest) < lengths[chosen, None]
        places = np.where(inside, offsets[:-1][chosen, None] + np.arange(longest), -1)
        yield chosen, _Block(places, lengths[chosen])
        first += width


def _node_scores(tokens: TokenArrays, block: _Block, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of labels by position, label and sentence, and how many sentences reach each position."""
    node = scores[tokens.words[block.places]]
    fixed = tokens.fixed[block.places]
    others = (fixed >= 0)[..., None] & (np.arange(node.shape[-1]) != fixed[..., None])
    node[others] = -np.inf
    active = (np.arange(block.places.shape[1])[:, None] < block.lengths).sum(axis=1)
    return np.ascontiguousarray(node.transpose(1, 2, 0)), active


def _run(work: Callable[[_Shard], T], shards: Sequence[_Shard], n_jobs: int) -> list[T]:
    n_threads = min(jobs_of(n_jobs), len(shards))
    if n_threads <= 1:
        return [work(shard) for shard in shards]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, shards))
