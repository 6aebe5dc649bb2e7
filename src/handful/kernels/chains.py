"""First and second order chains: forward-backward and Viterbi, over blocks of sentences.

The last axis of an array runs over the sentences of a block, longest first; ``active[t]`` of them reach position t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from handful.kernels.cache import njit


class Marginals(NamedTuple):
    """Partition functions and marginals of a block of chains.

    Parameters
    ----------
    log_partition : ndarray of shape (sentences,)
        Minus infinity where no labeling is legal; all marginals of such a sentence are 0.
    node : ndarray of shape (length, labels, sentences)
        Label marginals; 0 beyond the end of a sentence.
    edge : ndarray
        Pair marginals, of the shape of the edge scores: summed over positions and sentences if these are one matrix.
    triple : ndarray of shape (labels, labels, labels)
        Triple marginals, summed; empty for first order.
    first, last : ndarray of shape (labels, labels)
        Marginals of first and last pairs, summed; empty for first order.
    """

    log_partition: np.ndarray
    node: np.ndarray
    edge: np.ndarray
    triple: np.ndarray
    first: np.ndarray
    last: np.ndarray


_NONE = np.empty(0)


def forward_backward(
    node: np.ndarray,
    edge: np.ndarray,
    active: np.ndarray,
    triple: np.ndarray | None = None,
    first: np.ndarray | None = None,
    last: np.ndarray | None = None,
) -> Marginals:
    """Compute partition functions and marginals of a block.

    Parameters
    ----------
    node : ndarray of float64, shape (length, labels, sentences)
        Score of each label at each position.
    edge : ndarray of float64, shape (labels, labels) or (length, labels, labels, sentences)
        Score of each label pair.
    active : ndarray of int64, shape (length,)
        Sentences that reach each position; never increases.
    triple : ndarray of float64, shape (labels, labels, labels), optional
        Score of three labels in a row; makes the chain one of second order.
    first, last : ndarray of float64, shape (labels, labels), optional
        Scores of the first and the last pair of each sentence; second order only.

    Returns
    -------
    Marginals
        Partition functions and marginals.

    Notes
    -----
    Each position is rescaled (Rabiner 1989); a sentence whose sums overflow or vanish is done again in log space. Cost of
    second order: three products of (labels x labels) by (labels x sentences) for each middle label and position.

    Examples
    --------
    >>> node = np.zeros((3, 2, 1))
    >>> sums = forward_backward(node, np.zeros((2, 2)), np.array([1, 1, 1]))
    >>> float(np.exp(sums.log_partition[0]).round(9)), sums.node[1, :, 0].tolist(), sums.edge[0].tolist()
    (8.0, [0.5, 0.5], [0.5, 0.5])
    >>> float(forward_backward(node, np.zeros((2, 2)), np.array([1, 1, 1]), np.zeros((2, 2, 2))).triple[0, 1, 0])
    0.125
    """
    scores = _Scores(node, edge[None, :, :, None] if edge.ndim == 2 else edge, active, triple, first, last)
    sums = scores.sums()
    broken = np.flatnonzero(~np.isfinite(sums.log_partition))
    if len(broken):
        sums = _repair(scores, sums, broken)
    return sums._replace(edge=sums.edge.reshape(edge.shape))


class _Scores(NamedTuple):
    """Scores of a block; an edge matrix that all positions and sentences share has axes of length 1."""

    node: np.ndarray
    edge: np.ndarray
    active: np.ndarray
    triple: np.ndarray | None
    first: np.ndarray | None
    last: np.ndarray | None

    @property
    def lengths(self) -> np.ndarray:
        """Length of each sentence."""
        return np.searchsorted(-self.active, -np.arange(1, self.node.shape[2] + 1), side="right")

    @property
    def shared(self) -> bool:
        """Whether all positions and sentences have the same edge scores."""
        return bool(self.edge.shape[0] * self.edge.shape[3] == 1)

    def select(self, sentences: np.ndarray) -> _Scores:
        """Return the scores of some sentences."""
        lengths = self.lengths[sentences]
        longest = int(lengths.max())
        edge = self.edge if self.shared else np.ascontiguousarray(self.edge[:longest, :, :, sentences])
        return self._replace(
            node=np.ascontiguousarray(self.node[:longest, :, sentences]),
            edge=edge,
            active=(np.arange(longest)[:, None] < lengths).sum(axis=1),
        )

    def potentials(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return node and pair potentials, at most 1 and 0 beyond the end, and what log partitions lack in return."""
        length, n_labels, width = self.node.shape
        lost = np.zeros(width)
        node = np.empty_like(self.node)
        _subtract_top(self.node, self.active, node, lost)
        if self.shared:
            pairs, top = _potentials(self.edge)
            lost += top * (self.lengths - 1)
        else:
            pairs = np.full_like(self.edge, -np.inf)
            flat = (length - 1, n_labels * n_labels, width)
            _subtract_top(self.edge[1:].reshape(flat), self.active[1:], pairs[1:].reshape(flat), lost)
            np.exp(pairs, out=pairs)
        return np.exp(node, out=node), pairs, lost

    def sums(self) -> Marginals:
        """Sum over all labelings in rescaled space; not finite where that fails."""
        return _first_order(self) if self.triple is None else _second_order(self, self.triple)


def _potentials(scores: np.ndarray) -> tuple[np.ndarray, float]:
    top = float(scores.max())
    top = top if np.isfinite(top) else 0.0
    return np.exp(scores - top), top


@njit(cache=True, nogil=True)
def _subtract_top(scores: np.ndarray, active: np.ndarray, out: np.ndarray, lost: np.ndarray) -> None:
    """Write scores less the largest one of their position and sentence, which is added to `lost`."""
    length, n, width = scores.shape
    top = np.empty(width)
    for t in range(length):
        stop = active[t]
        for s in range(stop):
            top[s] = -np.inf
        for k in range(n):
            for s in range(stop):
                top[s] = max(top[s], scores[t, k, s])
        for s in range(stop):
            if not np.isfinite(top[s]):
                top[s] = 0.0
            lost[s] += top[s]
        for k in range(n):
            for s in range(stop):
                out[t, k, s] = scores[t, k, s] - top[s]
            for s in range(stop, width):
                out[t, k, s] = -np.inf


def _first_order(scores: _Scores) -> Marginals:
    node, pairs, lost = scores.potentials()
    alpha, scale = np.empty_like(node), np.ones((node.shape[0], node.shape[2]))
    edge = np.zeros_like(pairs) if scores.shared else pairs  # where marginals take the place of potentials
    _forward_labels(node, pairs, scores.active, alpha, scale)
    _backward_labels(node, pairs, scores.active, alpha, scale, edge)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Marginals(np.log(scale).sum(axis=0) + lost, node, edge, _NONE, _NONE, _NONE)


_FAST = {"reassoc", "contract"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _forward_labels(
    node: np.ndarray, pairs: np.ndarray, active: np.ndarray, alpha: np.ndarray, scale: np.ndarray
) -> None:
    """Fill in forward sums, each position rescaled to sum to 1."""
    length, n_labels, width = node.shape
    row = np.empty(width)
    for t in range(length):
        n, shared = active[t], pairs.shape[0] == 1
        scale[t, :n] = 0.0
        for y in range(n_labels):
            row[:n] = 1.0 if t == 0 else 0.0
            for x in range(n_labels if t > 0 else 0):
                weight = pairs[0, x, y, 0]
                if not shared:
                    for s in range(n):
                        row[s] += pairs[t, x, y, s] * alpha[t - 1, x, s]
                elif weight != 0.0:  # else forbidden, as most pairs of an encoding of spans are
                    for s in range(n):
                        row[s] += weight * alpha[t - 1, x, s]
            for s in range(n):
                alpha[t, y, s] = row[s] * node[t, y, s]
                scale[t, s] += alpha[t, y, s]
        row[:n] = 1.0 / scale[t, :n]
        for y in range(n_labels):
            for s in range(n):
                alpha[t, y, s] *= row[s]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _backward_labels(
    node: np.ndarray, pairs: np.ndarray, active: np.ndarray, alpha: np.ndarray, scale: np.ndarray, totals: np.ndarray
) -> None:
    """Turn node potentials, and pair potentials that are not shared, into marginals; add up those of shared pairs."""
    length, n_labels, width = node.shape
    beta, ahead = np.ones((n_labels, width)), np.zeros((n_labels, width))
    n_next, shared = 0, pairs.shape[0] == 1
    for t in range(length - 1, -1, -1):
        n = active[t]
        for x in range(n_labels if n_next else 0):
            beta[x, :n_next] = 0.0
            for y in range(n_labels):
                weight, total = pairs[0, x, y, 0], 0.0
                if not shared:
                    for s in range(n_next):
                        part = pairs[t + 1, x, y, s] * ahead[y, s]
                        beta[x, s] += part
                        pairs[t + 1, x, y, s] = part * alpha[t, x, s]
                elif weight != 0.0:
                    for s in range(n_next):
                        beta[x, s] += weight * ahead[y, s]
                        total += alpha[t, x, s] * ahead[y, s]
                    totals[0, x, y, 0] += weight * total
        for y in range(n_labels):
            for s in range(n):
                ahead[y, s] = node[t, y, s] * beta[y, s] / scale[t, s]
                node[t, y, s] = alpha[t, y, s] * beta[y, s]
        n_next = n


def _second_order(scores: _Scores, triple_scores: np.ndarray) -> Marginals:
    node, pairs, lost = scores.potentials()
    length, n_labels, width = node.shape
    active, lengths = scores.active, scores.lengths
    zeros = np.zeros((n_labels, n_labels))
    triple, triple_top = _potentials(triple_scores)
    first, first_top = _potentials(zeros if scores.first is None else scores.first)
    last, last_top = _potentials(zeros if scores.last is None else scores.last)
    lost += triple_top * np.maximum(lengths - 2, 0) + (first_top + last_top) * (lengths > 1)

    forward_by = np.ascontiguousarray(triple.transpose(1, 2, 0))  # middle label, label, label before
    backward_by = np.ascontiguousarray(triple.transpose(1, 0, 2))  # middle label, label before, label
    ends = np.append(active[1:], 0)
    alpha = np.empty((length, n_labels, n_labels, width))  # each position by the inverse scale of the one before
    scale = np.ones((length, width))
    marginals = np.zeros((length, n_labels, width))
    edge = np.zeros_like(pairs)
    totals = np.zeros((n_labels, n_labels, n_labels))  # middle label first
    firsts, lasts = np.zeros((2, n_labels, n_labels))
    scale[0] = node[0].sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.ones((length, width))
        inverse[0] = 1.0 / scale[0]
        for t in range(1, length):
            n, at = active[t], 0 if scores.shared else t
            if t == 1:
                alpha[1, :, :, :n] = node[0, :, None, :n] * first[:, :, None]
            else:
                np.matmul(forward_by, alpha[t - 1, :, :, :n].transpose(1, 0, 2), out=alpha[t, :, :, :n])
            _forward(_Position(pairs[at], node[t], last, inverse[t - 1], n, ends[t]), alpha[t], scale[t])
            inverse[t, :n] = 1.0 / scale[t, :n]
        log_partition = np.log(scale).sum(axis=0) + lost
        beta = np.empty((n_labels, n_labels, width))  # by the inverse scale of its own position
        ahead = np.empty((n_labels, n_labels, width))
        for t in range(length - 1, 0, -1):
            n, n_next, at = active[t], ends[t], 0 if scores.shared else t
            if n_next:
                before = alpha[t, :, :, :n_next].transpose(1, 0, 2)
                totals += np.matmul(before, ahead[:, :, :n_next].transpose(0, 2, 1))
                np.matmul(backward_by, ahead[:, :, :n_next], out=beta[:, :, :n_next].transpose(1, 0, 2))
            beta[:, :, n_next:n] = inverse[t, n_next:n]
            position = _Position(pairs[at], node[t], last, inverse[t - 1], n, n_next)
            _backward(position, alpha[t], beta, ahead, marginals[t], edge[at], lasts)
        n = ends[0]
        if n:
            pair = alpha[1, :, :, :n] * beta[:, :, :n]
            firsts += pair.sum(axis=2)
            marginals[0, :, :n] = pair.sum(axis=1)
        marginals[0, :, n:] = node[0, :, n:] * inverse[0, n:]
    return Marginals(log_partition, marginals, edge, totals.transpose(1, 0, 2) * triple, firsts, lasts)


class _Position(NamedTuple):
    """Potentials of one position, the inverse scale before it, and how many sentences reach it and the next one."""

    pairs: np.ndarray
    node: np.ndarray
    last: np.ndarray
    inverse: np.ndarray
    n: int
    n_next: int


@njit(cache=True, nogil=True, fastmath=_FAST)
def _forward(position: _Position, state: np.ndarray, scale: np.ndarray) -> None:
    """Multiply a state with the potentials of its position and the inverse scale before it; add up the new scale."""
    pairs, node, last, inverse, n, n_next = position
    shared = pairs.shape[2] == 1
    scale[:n] = 0.0
    for x in range(len(last)):
        for y in range(len(last)):
            if shared:
                weight = pairs[x, y, 0]
                for s in range(n):
                    state[x, y, s] *= weight * node[y, s] * inverse[s]
            else:
                for s in range(n):
                    state[x, y, s] *= pairs[x, y, s] * node[y, s] * inverse[s]
            for s in range(n_next, n):
                state[x, y, s] *= last[x, y]
            for s in range(n):
                scale[s] += state[x, y, s]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _backward(
    position: _Position,
    alpha: np.ndarray,
    beta: np.ndarray,
    ahead: np.ndarray,
    marginals: np.ndarray,
    edge: np.ndarray,
    lasts: np.ndarray,
) -> None:
    """Take the marginals of a position from its two sides, and make ready what the position before it needs."""
    pairs, node, last, inverse, n, n_next = position
    shared = pairs.shape[2] == 1
    for x in range(len(last)):
        for y in range(len(last)):
            total = 0.0
            for s in range(n):
                marginal = alpha[x, y, s] * beta[x, y, s]
                marginals[y, s] += marginal
                total += marginal
            if shared:
                edge[x, y, 0] += total
                weight = pairs[x, y, 0]
                for s in range(n):
                    ahead[x, y, s] = weight * node[y, s] * beta[x, y, s] * inverse[s]
            else:
                for s in range(n):
                    edge[x, y, s] = alpha[x, y, s] * beta[x, y, s]
                    ahead[x, y, s] = pairs[x, y, s] * node[y, s] * beta[x, y, s] * inverse[s]
            for s in range(n_next, n):
                lasts[x, y] += alpha[x, y, s] * beta[x, y, s]
                ahead[x, y, s] *= last[x, y]


def _repair(scores: _Scores, sums: Marginals, broken: np.ndarray) -> Marginals:
    """Do the broken sentences again in log space, and what is summed over sentences without them."""
    whole = np.setdiff1d(np.arange(scores.node.shape[2]), broken)
    rest = scores.select(whole).sums() if len(whole) else Marginals(*map(np.zeros_like, sums))
    sums = sums._replace(triple=rest.triple, first=rest.first, last=rest.last)
    if scores.shared:
        sums = sums._replace(edge=rest.edge)
    else:
        sums.edge[..., broken] = 0.0
    for s in broken:
        n = int(scores.lengths[s])
        sums.log_partition[s], start, pairs, triples = _one_in_log_space(scores, s, n)
        sums.node[:n, :, s] = [start, *(both.sum(axis=0) for both in pairs)]
        for t, both in enumerate(pairs, start=1):
            at, column = (0, 0) if scores.shared else (t, s)
            sums.edge[at, :, :, column] += both
        if scores.triple is not None and n > 1:
            for total, part in ((sums.triple, triples), (sums.first, pairs[:1]), (sums.last, pairs[-1:])):
                total += np.sum(part, axis=0)
    return sums


def _one_in_log_space(scores: _Scores, s: int, n: int) -> tuple[float, np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Return the log partition of a sentence, and marginals of its first label, its pairs and its triples."""
    node = scores.node[:n, :, s]
    shape = (scores.node.shape[0], *scores.edge.shape[1:3], scores.node.shape[2])
    pairs = np.broadcast_to(scores.edge, shape)[:n, :, :, s].copy()
    if scores.triple is None or n == 1:
        return *_log_space(node[0], [pairs[t] + node[t] for t in range(1, n)]), []
    pairs[1] += 0.0 if scores.first is None else scores.first
    pairs[-1] += 0.0 if scores.last is None else scores.last
    steps = [scores.triple + pairs[t] + node[t] for t in range(2, n)]
    total, start, triples = _log_space(node[0][:, None] + pairs[1] + node[1], steps)
    return total, start.sum(axis=1), [start, *(three.sum(axis=0) for three in triples)], triples


def _log_space(first: np.ndarray, steps: Sequence[np.ndarray]) -> tuple[float, np.ndarray, list[np.ndarray]]:
    """Return the log partition of one sentence, the marginals of its first state, and those of each step.

    A state is a label or, for second order, a label pair; a step adds the next label at the end.
    """
    alphas = [first]
    for step in steps:
        alphas.append(np.logaddexp.reduce(alphas[-1][..., None] + step, axis=0))
    total = float(np.logaddexp.reduce(alphas[-1].ravel()))
    if total == -np.inf:
        return total, np.zeros_like(first), [np.zeros_like(step) for step in steps]
    beta, marginals = np.zeros_like(first), []
    for alpha, step in zip(reversed(alphas[:-1]), reversed(steps), strict=True):
        ahead = step + beta
        marginals.append(np.exp(alpha[..., None] + ahead - total))
        beta = np.logaddexp.reduce(ahead, axis=-1)
    return total, np.exp(first + beta - total), marginals[::-1]


def viterbi(
    node: np.ndarray,
    edge: np.ndarray,
    active: np.ndarray,
    triple: np.ndarray | None = None,
    first: np.ndarray | None = None,
    last: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best labeling of each sentence of a block; among equals the lower label wins, from the end on.

    Parameters
    ----------
    node, edge, active, triple, first, last : ndarray
        See `forward_backward`.

    Returns
    -------
    labels : ndarray of int32, shape (length, sentences)
        -1 beyond the end of a sentence.
    score : ndarray of shape (sentences,)
        Score of the best labeling.

    Examples
    --------
    >>> node = np.array([[[1.0], [0.0]], [[0.0], [0.5]]])
    >>> labels, score = viterbi(node, np.array([[0.0, -2.0], [0.0, 0.0]]), np.array([1, 1]))
    >>> labels[:, 0].tolist(), score.tolist()
    ([0, 0], [1.0])
    """
    edge = np.ascontiguousarray(edge[None, :, :, None] if edge.ndim == 2 else edge)
    ends = np.append(active[1:], 0)
    if triple is None:
        return tuple(_best_labels(node, edge, active, ends))
    zeros = np.zeros(edge.shape[1:3])
    first, last = (zeros if pair is None else pair for pair in (first, last))
    return tuple(_best_pairs(node, edge, triple, active, ends, first, last))


@njit(cache=True, nogil=True)
def _best_labels(
    node: np.ndarray, edge: np.ndarray, active: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    length, n_labels, width = node.shape
    labels, score = np.full((length, width), -1, dtype=np.int32), np.zeros(width)
    back = np.zeros((length, n_labels, width), dtype=np.int16)
    delta = np.empty((2, n_labels, width))
    for t in range(length):
        new, old, n = delta[t % 2], delta[(t + 1) % 2], active[t]
        steps = edge[min(t, edge.shape[0] - 1)]
        for y in range(n_labels):
            new[y, :n] = -np.inf if t else 0.0
            for x in range(n_labels * min(t, 1)):
                _relax(old[x], steps[x, y], x, new[y, :n], back[t, y])
            for s in range(n):
                new[y, s] += node[t, y, s]
        for s in range(ends[t], n):
            labels[t, s] = new[:, s].argmax()
            score[s] = new[labels[t, s], s]
    for t in range(length - 1, 0, -1):
        for s in range(active[t]):
            labels[t - 1, s] = back[t, labels[t, s], s]
    return labels, score


@njit(inline="always")
def _relax(old: np.ndarray, steps: np.ndarray, label: int, best: np.ndarray, back: np.ndarray) -> None:
    """Go on from a label where that is better; there may be one step for all sentences."""
    if len(steps) > 1:
        for s in range(len(best)):
            value = old[s] + steps[s]
            better = value > best[s]
            best[s] = value if better else best[s]
            back[s] = label if better else back[s]
    else:
        for s in range(len(best)):
            value = old[s] + steps[0]
            better = value > best[s]
            best[s] = value if better else best[s]
            back[s] = label if better else back[s]


@njit(cache=True, nogil=True)
def _best_pairs(
    node: np.ndarray,
    edge: np.ndarray,
    triple: np.ndarray,
    active: np.ndarray,
    ends: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    length, n_labels, width = node.shape
    labels, score = np.full((length, width), -1, dtype=np.int32), np.zeros(width)
    back = np.zeros((length, n_labels, n_labels, width), dtype=np.int16)
    delta = np.empty((2, n_labels, n_labels, width))
    for s in range(ends[0], active[0]):
        labels[0, s] = node[0, :, s].argmax()
        score[s] = node[0, labels[0, s], s]
    for t in range(1, length):
        new = delta[t % 2]
        _extend_pairs(node, edge[min(t, edge.shape[0] - 1)], triple, first, t, active[t], delta, back[t])
        for s in range(ends[t], active[t]):
            labels[t - 1, s], labels[t, s], score[s] = _best_end(new, last, s)
    for t in range(length - 1, 1, -1):
        for s in range(active[t]):
            labels[t - 2, s] = back[t, labels[t - 1, s], labels[t, s], s]
    return labels, score


@njit(cache=True, nogil=True)
def _extend_pairs(
    node: np.ndarray,
    edge: np.ndarray,
    triple: np.ndarray,
    first: np.ndarray,
    t: int,
    n: int,
    delta: np.ndarray,
    back: np.ndarray,
) -> None:
    """Score every pair that ends at position t by the best labeling before it."""
    new, old, n_labels, per_sentence = delta[t % 2], delta[(t + 1) % 2], len(first), edge.shape[2] > 1
    for x in range(n_labels):
        for y in range(n_labels):
            for s in range(n):
                new[x, y, s] = -np.inf if t > 1 else node[0, x, s] + first[x, y]
            for w in range(n_labels * min(t - 1, 1)):
                _relax(old[w, x], triple[w, x, y : y + 1], w, new[x, y, :n], back[x, y])
            for s in range(n):
                new[x, y, s] += node[t, y, s] + edge[x, y, s if per_sentence else 0]


@njit(cache=True, nogil=True)
def _best_end(state: np.ndarray, last: np.ndarray, s: int) -> tuple[int, int, float]:
    """Return the best last pair of a sentence, and its score."""
    best_x, best_y, top = 0, 0, -np.inf
    for y in range(len(last)):
        for x in range(len(last)):
            value = state[x, y, s] + last[x, y]
            if value > top:
                top, best_x, best_y = value, x, y
    return best_x, best_y, top
