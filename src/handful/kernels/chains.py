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
    _sum_pairs(node, pairs, scores.active, alpha, scale, edge)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Marginals(np.log(scale).sum(axis=0) + lost, node, edge, _NONE, _NONE, _NONE)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _sum_pairs(
    node: np.ndarray, pairs: np.ndarray, active: np.ndarray, alpha: np.ndarray, scale: np.ndarray, totals: np.ndarray
) -> None:
    """Turn node potentials, and pair potentials that are not shared, into marginals; add up those of shared pairs."""
    length, n_labels, width = node.shape
    shared = pairs.shape[0] * pairs.shape[3] == 1
    inverse, row = np.empty(width), np.empty(width)
    for t in range(length):
        n = active[t]
        for s in range(n):
            scale[t, s] = 0.0
        for y in range(n_labels):
            for s in range(n):
                row[s] = 1.0 if t == 0 else 0.0
            for x in range(n_labels if t > 0 else 0):
                if shared:
                    weight = pairs[0, x, y, 0]
                    if weight == 0.0:  # forbidden, as most pairs of an encoding of spans are
                        continue
                    for s in range(n):
                        row[s] += weight * alpha[t - 1, x, s]
                else:
                    for s in range(n):
                        row[s] += pairs[t, x, y, s] * alpha[t - 1, x, s]
            for s in range(n):
                row[s] *= node[t, y, s]
                alpha[t, y, s] = row[s]
                scale[t, s] += row[s]
        for s in range(n):
            inverse[s] = 1.0 / scale[t, s]
        for y in range(n_labels):
            for s in range(n):
                alpha[t, y, s] *= inverse[s]
    beta = np.ones((n_labels, width))
    ahead = np.zeros((n_labels, width))
    n_next = 0
    for t in range(length - 1, -1, -1):
        n = active[t]
        for x in range(n_labels):
            for s in range(n_next):
                row[s] = 0.0
            for y in range(n_labels):
                if shared:
                    weight = pairs[0, x, y, 0]
                    if weight == 0.0:
                        continue
                    total = 0.0
                    for s in range(n_next):
                        row[s] += weight * ahead[y, s]
                        total += alpha[t, x, s] * ahead[y, s]
                    totals[0, x, y, 0] += weight * total
                else:
                    for s in range(n_next):
                        part = pairs[t + 1, x, y, s] * ahead[y, s]
                        row[s] += part
                        pairs[t + 1, x, y, s] = part * alpha[t, x, s]
            for s in range(n_next):
                beta[x, s] = row[s]
        for y in range(n_labels):
            for s in range(n):
                ahead[y, s] = node[t, y, s] * beta[y, s] / scale[t, s]
            for s in range(n):
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
            _forward(alpha[t], pairs[at], node[t], last, inverse[t - 1], n, ends[t], scale[t])
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
            _backward(
                alpha[t], beta, pairs[at], node[t], last, inverse[t - 1], n, n_next, marginals[t], edge[at], lasts, ahead
            )  # fmt: skip
        n = active[1] if length > 1 else 0
        if n:
            pair = alpha[1, :, :, :n] * beta[:, :, :n]
            firsts += pair.sum(axis=2)
            marginals[0, :, :n] = pair.sum(axis=1)
        marginals[0, :, n:] = node[0, :, n:] * inverse[0, n:]
    return Marginals(log_partition, marginals, edge, totals.transpose(1, 0, 2) * triple, firsts, lasts)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _forward(
    state: np.ndarray, pairs: np.ndarray, node: np.ndarray, last: np.ndarray, inverse: np.ndarray, n: int, n_next: int,
    scale: np.ndarray,
) -> None:  # fmt: skip
    """Multiply a state with the potentials of its position and the inverse scale before it; add up the new scale."""
    n_labels = node.shape[0]
    shared = pairs.shape[2] == 1
    scale[:n] = 0.0
    for x in range(n_labels):
        for y in range(n_labels):
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _backward(
    alpha: np.ndarray, beta: np.ndarray, pairs: np.ndarray, node: np.ndarray, last: np.ndarray, inverse: np.ndarray,
    n: int, n_next: int, marginals: np.ndarray, edge: np.ndarray, lasts: np.ndarray, ahead: np.ndarray,
) -> None:  # fmt: skip
    """Take the marginals of a position from its two sides, and make ready what the position before it needs."""
    n_labels = node.shape[0]
    shared = pairs.shape[2] == 1
    for x in range(n_labels):
        for y in range(n_labels):
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
    lengths = scores.lengths
    for s in broken:
        n = int(lengths[s])
        node = scores.node[:n, :, s]
        pairs = np.broadcast_to(scores.edge, (scores.node.shape[0], *scores.edge.shape[1:3], len(lengths)))[:n, :, :, s]
        if scores.triple is None or n == 1:
            sums.log_partition[s], start, pair = _log_space(node[0], [pairs[t] + node[t] for t in range(1, n)])
        else:
            pairs = pairs.copy()
            pairs[1] += 0.0 if scores.first is None else scores.first
            pairs[-1] += 0.0 if scores.last is None else scores.last
            steps = [scores.triple + pairs[t] + node[t] for t in range(2, n)]
            sums.log_partition[s], start_pair, threes = _log_space(node[0][:, None] + pairs[1] + node[1], steps)
            start, pair = start_pair.sum(axis=1), [start_pair, *(three.sum(axis=0) for three in threes)]
            for total, part in ((sums.triple, threes), (sums.first, pair[:1]), (sums.last, pair[-1:])):
                total += np.sum(part, axis=0)
        sums.node[:n, :, s] = [start, *(both.sum(axis=0) for both in pair)]
        if not scores.shared:
            sums.edge[:, :, :, s] = 0.0
        for t, both in enumerate(pair, start=1):
            sums.edge[0 if scores.shared else t, :, :, 0 if scores.shared else s] += both
    return sums


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
    if triple is None:
        labels, score = _best_labels(node, edge, active)
    else:
        zeros = np.zeros(edge.shape[1:3])
        labels, score = _best_pairs(
            node, edge, triple, active, zeros if first is None else first, zeros if last is None else last
        )
    return labels, score


@njit(cache=True, nogil=True)
def _best_labels(node: np.ndarray, edge: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    length, n_labels, width = node.shape
    labels, score = np.full((length, width), -1, dtype=np.int32), np.zeros(width)
    back = np.empty((length, n_labels, width), dtype=np.int16)
    shared = edge.shape[0] * edge.shape[3] == 1
    delta = np.empty((2, n_labels, width))
    for t in range(length):
        new, old = delta[t % 2], delta[(t + 1) % 2]
        n = active[t]
        for y in range(n_labels):
            for s in range(n):
                new[y, s] = 0.0 if t == 0 else -np.inf
                back[t, y, s] = 0
            for x in range(n_labels if t > 0 else 0):
                if shared:
                    step = edge[0, x, y, 0]
                    for s in range(n):
                        value = old[x, s] + step
                        better = value > new[y, s]
                        new[y, s] = value if better else new[y, s]
                        back[t, y, s] = x if better else back[t, y, s]
                else:
                    for s in range(n):
                        value = old[x, s] + edge[t, x, y, s]
                        better = value > new[y, s]
                        new[y, s] = value if better else new[y, s]
                        back[t, y, s] = x if better else back[t, y, s]
            for s in range(n):
                new[y, s] += node[t, y, s]
        for s in range(active[t + 1] if t + 1 < length else 0, n):
            best = new[:, s].argmax()
            labels[t, s], score[s] = best, new[best, s]
    for t in range(length - 1, 0, -1):
        for s in range(active[t]):
            labels[t - 1, s] = back[t, labels[t, s], s]
    return labels, score


@njit(cache=True, nogil=True)
def _best_pairs(
    node: np.ndarray,
    edge: np.ndarray,
    triple: np.ndarray,
    active: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    length, n_labels, width = node.shape
    labels = np.full((length, width), -1, dtype=np.int32)
    score = np.zeros(width)
    back = np.empty((length, n_labels, n_labels, width), dtype=np.int16)
    per_position, per_sentence = edge.shape[0] > 1, edge.shape[3] > 1
    delta = np.empty((2, n_labels, n_labels, width))
    for t in range(length):
        new, old = delta[t % 2], delta[(t + 1) % 2]
        n = active[t]
        stays = active[t + 1] if t + 1 < length else 0
        if t == 0:
            for s in range(stays, n):
                best = node[0, :, s].argmax()
                labels[0, s] = best
                score[s] = node[0, best, s]
            continue
        at = t if per_position else 0
        for x in range(n_labels):
            for y in range(n_labels):
                if t == 1:
                    for s in range(n):
                        new[x, y, s] = node[0, x, s] + first[x, y]
                else:
                    for s in range(n):
                        new[x, y, s] = old[0, x, s] + triple[0, x, y]
                        back[t, x, y, s] = 0
                    for w in range(1, n_labels):
                        for s in range(n):
                            value = old[w, x, s] + triple[w, x, y]
                            better = value > new[x, y, s]
                            new[x, y, s] = value if better else new[x, y, s]
                            back[t, x, y, s] = w if better else back[t, x, y, s]
                for s in range(n):
                    new[x, y, s] += node[t, y, s] + edge[at, x, y, s if per_sentence else 0]
        for s in range(stays, n):
            best_x, best_y = 0, 0
            top = -np.inf
            for y in range(n_labels):
                for x in range(n_labels):
                    value = new[x, y, s] + last[x, y]
                    if value > top:
                        top, best_x, best_y = value, x, y
            labels[t, s], labels[t - 1, s] = best_y, best_x
            score[s] = top
    for t in range(length - 1, 1, -1):
        for s in range(active[t]):
            labels[t - 2, s] = back[t, labels[t - 1, s], labels[t, s], s]
    return labels, score
