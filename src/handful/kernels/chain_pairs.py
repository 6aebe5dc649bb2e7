"""Chains of labels, second order: every state is a pair of labels, and each step one matrix product a middle label.

Blocks are those of `handful.kernels.chain`. ``triple[a, b, c]`` scores label c after b after a, from the third position
on; ``first[b, c]`` is added to the first pair of a sentence and ``last[b, c]`` to its last pair (the same pair where a
sentence has two positions). States are kept as (before, label, sentence), sentence innermost, so that no product needs
its operands moved. Sentences of one position have no pair; what marks their ends belongs into `node`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from handful.kernels import njit


@dataclass(frozen=True, eq=False)
class PairSums:
    """What `pair_forward_backward` returns.

    Parameters
    ----------
    log_partition : ndarray of shape (sentences,)
        Minus infinity where no labeling is legal.
    node : ndarray of shape (length, labels, sentences)
        Label marginals.
    edge : ndarray
        Pair marginals: summed (labels, labels) if one edge matrix was given, else (length, labels, labels, sentences).
    triple : ndarray of shape (labels, labels, labels)
        Triple marginals, summed.
    first, last : ndarray of shape (labels, labels)
        Marginals of first and last pairs, summed.
    """

    log_partition: np.ndarray
    node: np.ndarray
    edge: np.ndarray
    triple: np.ndarray
    first: np.ndarray
    last: np.ndarray


def pair_forward_backward(
    node: np.ndarray,
    edge: np.ndarray,
    triple: np.ndarray,
    active: np.ndarray,
    first: np.ndarray | None = None,
    last: np.ndarray | None = None,
) -> PairSums:
    """Compute partition functions and marginals of a block, second order.

    Parameters
    ----------
    node, edge, active : ndarray
        See `handful.kernels.chain.forward_backward`.
    triple : ndarray of float64, shape (labels, labels, labels)
        Score of three labels in a row.
    first, last : ndarray of float64, shape (labels, labels), optional
        Scores of the first and the last pair of each sentence.

    Returns
    -------
    PairSums
        Partition functions and marginals.

    Notes
    -----
    Cost: three products of (labels x labels) by (labels x sentences) for each middle label and position.

    Examples
    --------
    >>> sums = pair_forward_backward(np.zeros((3, 2, 1)), np.zeros((2, 2)), np.zeros((2, 2, 2)), np.array([1, 1, 1]))
    >>> float(np.exp(sums.log_partition[0]).round(9)), float(sums.triple[0, 1, 0])
    (8.0, 0.125)
    """
    n_labels, width = node.shape[1:]
    lengths = np.searchsorted(-active, -np.arange(1, width + 1), side="right")
    none = np.zeros((n_labels, n_labels))
    given = _Scores(node, edge, triple, none if first is None else first, none if last is None else last, lengths)
    sums = _in_scaled_space(given, active)
    broken = ~np.isfinite(sums.log_partition)
    return _redo(given, sums, broken) if broken.any() else sums


@dataclass(frozen=True, eq=False)
class _Scores:
    node: np.ndarray
    edge: np.ndarray
    triple: np.ndarray
    first: np.ndarray
    last: np.ndarray
    lengths: np.ndarray

    def of(self, chosen: np.ndarray) -> tuple[_Scores, np.ndarray]:
        """Return the scores of some sentences alone, with their active counts."""
        lengths = self.lengths[chosen]
        longest = int(lengths.max())
        node = np.ascontiguousarray(self.node[:longest, :, chosen])
        edge = self.edge if self.edge.ndim == 2 else np.ascontiguousarray(self.edge[:longest, :, :, chosen])
        active = (np.arange(longest)[:, None] < lengths).sum(axis=1)
        return _Scores(node, edge, self.triple, self.first, self.last, lengths), active


def _top(scores: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    top = scores.max(axis=axis)
    return np.where(np.isfinite(top), top, 0.0)


def _in_scaled_space(given: _Scores, active: np.ndarray) -> PairSums:
    length, n_labels, width = given.node.shape
    lengths, shared = given.lengths, given.edge.ndim == 2
    reached = np.arange(length)[:, None] < lengths
    tops = _top(given.node, 1)
    node = np.exp(given.node - tops[:, None, :])
    shift = np.where(reached, tops, 0.0).sum(axis=0)
    steps = np.maximum(lengths - 1, 0)
    if shared:
        top = float(_top(given.edge, (0, 1)))
        pairs = np.exp(given.edge - top)
        shift += top * steps
    else:
        edge_tops = _top(given.edge, (1, 2))
        pairs = np.exp(given.edge - edge_tops[:, None, None, :])
        edge_tops[0] = 0.0
        shift += np.where(reached, edge_tops, 0.0).sum(axis=0)
    top = float(_top(given.triple, (0, 1, 2)))
    triple = np.exp(given.triple - top)
    shift += top * np.maximum(lengths - 2, 0)
    first_top, last_top = float(_top(given.first, (0, 1))), float(_top(given.last, (0, 1)))
    first, last = np.exp(given.first - first_top), np.exp(given.last - last_top)
    shift += (first_top + last_top) * (lengths > 1)

    forward_by = np.ascontiguousarray(triple.transpose(1, 2, 0))  # middle label, label, label before
    backward_by = np.ascontiguousarray(triple.transpose(1, 0, 2))  # middle label, label before, label
    spread = pairs[None, :, :, None] if shared else pairs
    ends = np.append(active[1:], 0)
    alpha = np.empty((length, n_labels, n_labels, width))  # each position by the inverse scale of the one before
    scale = np.ones((length, width))
    marginals = np.zeros((length, n_labels, width))
    edge = np.zeros_like(given.edge)
    edge_out = edge[None, :, :, None] if shared else edge
    totals = np.zeros((n_labels, n_labels, n_labels))  # middle label first
    firsts, lasts = np.zeros((2, n_labels, n_labels))
    scale[0] = node[0].sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.ones((length, width))
        inverse[0] = 1.0 / scale[0]
        for t in range(1, length):
            n = active[t]
            if t == 1:
                alpha[1, :, :, :n] = node[0, :, None, :n] * first[:, :, None]
            else:
                np.matmul(forward_by, alpha[t - 1, :, :, :n].transpose(1, 0, 2), out=alpha[t, :, :, :n])
            at = 0 if shared else t
            _weigh(alpha[t], spread[at], node[t], last, inverse[t - 1], n, ends[t], scale[t])
            inverse[t, :n] = 1.0 / scale[t, :n]
        log_partition = np.log(scale).sum(axis=0) + shift
        beta = np.empty((n_labels, n_labels, width))  # by the inverse scale of its own position
        ahead = np.empty((n_labels, n_labels, width))
        for t in range(length - 1, 0, -1):
            n, n_next = active[t], ends[t]
            if n_next:
                before = alpha[t, :, :, :n_next].transpose(1, 0, 2)
                totals += np.matmul(before, ahead[:, :, :n_next].transpose(0, 2, 1))
                np.matmul(backward_by, ahead[:, :, :n_next], out=beta[:, :, :n_next].transpose(1, 0, 2))
            beta[:, :, n_next:n] = inverse[t, n_next:n]
            at = 0 if shared else t
            _split(
                alpha[t],
                beta,
                spread[at],
                node[t],
                last,
                inverse[t - 1],
                n,
                n_next,
                marginals[t],
                edge_out[at],
                lasts,
                ahead,
            )
        n = active[1] if length > 1 else 0
        if n:
            pair = alpha[1, :, :, :n] * beta[:, :, :n]
            firsts += pair.sum(axis=2)
            marginals[0, :, :n] = pair.sum(axis=1)
        marginals[0, :, n:] = node[0, :, n:] * inverse[0, n:]
    return PairSums(log_partition, marginals, edge, totals.transpose(1, 0, 2) * triple, firsts, lasts)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _weigh(
    state: np.ndarray,
    pairs: np.ndarray,
    node: np.ndarray,
    last: np.ndarray,
    inverse: np.ndarray,
    n: int,
    n_next: int,
    scale: np.ndarray,
) -> None:
    """Multiply a state with the potentials of its position and the inverse scale before it; add up the new scale."""
    n_labels = node.shape[0]
    one = pairs.shape[2] == 1
    scale[:n] = 0.0
    for x in range(n_labels):
        for y in range(n_labels):
            if one:
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
def _split(
    alpha: np.ndarray,
    beta: np.ndarray,
    pairs: np.ndarray,
    node: np.ndarray,
    last: np.ndarray,
    inverse: np.ndarray,
    n: int,
    n_next: int,
    marginals: np.ndarray,
    edge: np.ndarray,
    lasts: np.ndarray,
    ahead: np.ndarray,
) -> None:
    """Take the marginals of a position from its two sides, and make ready what the position before it needs."""
    n_labels = node.shape[0]
    one = pairs.shape[2] == 1
    for x in range(n_labels):
        for y in range(n_labels):
            total = 0.0
            for s in range(n):
                share = alpha[x, y, s] * beta[x, y, s]
                marginals[y, s] += share
                total += share
            if one:
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


def _redo(given: _Scores, sums: PairSums, broken: np.ndarray) -> PairSums:
    """Do the broken sentences again in log space, and the sums over the others without them."""
    whole = np.flatnonzero(~broken)
    shared = given.edge.ndim == 2
    if len(whole):
        rest = _in_scaled_space(*given.of(whole))
    else:
        rest = PairSums(*(np.zeros_like(getattr(sums, name)) for name in PairSums.__dataclass_fields__))
    log_partition, node = sums.log_partition.copy(), sums.node.copy()
    edge = rest.edge.copy() if shared else sums.edge.copy()
    triple, first, last = rest.triple.copy(), rest.first.copy(), rest.last.copy()
    for s in np.flatnonzero(broken):
        n = int(given.lengths[s])
        pairs = np.broadcast_to(given.edge, (n, *given.edge.shape)) if shared else given.edge[:n, :, :, s]
        pairs = pairs.copy()
        if n > 1:
            pairs[1] += given.first
            pairs[n - 1] += given.last
        log_partition[s], pair, threes = _log_space(np.ascontiguousarray(given.node[:n, :, s]), pairs, given.triple)
        triple += threes
        node[:, :, s] = 0.0
        node[:n, :, s] = pair.sum(axis=1)
        if shared:
            edge += pair[1:].sum(axis=0)
        else:
            edge[:, :, :, s] = 0.0
            edge[1:n, :, :, s] = pair[1:]
        if n > 1:
            first += pair[1]
            last += pair[n - 1]
    return PairSums(log_partition, node, edge, triple, first, last)


@njit(cache=True, nogil=True)
def _log_sum(values: np.ndarray) -> float:
    top = float(values.max())
    if top == -np.inf:
        return top
    return top + math.log(float(np.exp(values - top).sum()))


@njit(cache=True, nogil=True)
def _log_space(node: np.ndarray, edge: np.ndarray, triple: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Log partition, pair marginals (those of position 0 on the diagonal) and summed triple marginals of one sentence."""
    length, n_labels = node.shape
    pair = np.zeros((length, n_labels, n_labels))
    totals = np.zeros((n_labels, n_labels, n_labels))
    if length == 1:
        total = _log_sum(node[0])
        if total > -np.inf:
            for y in range(n_labels):
                pair[0, y, y] = math.exp(node[0, y] - total)
        return total, pair, totals
    alpha = np.empty((length, n_labels, n_labels))
    beta = np.zeros((length, n_labels, n_labels))
    for x in range(n_labels):
        alpha[1, x] = node[0, x] + node[1] + edge[1, x]
    for t in range(2, length):
        for y in range(n_labels):
            for z in range(n_labels):
                alpha[t, y, z] = node[t, z] + edge[t, y, z] + _log_sum(alpha[t - 1, :, y] + triple[:, y, z])
    for t in range(length - 2, 0, -1):
        for x in range(n_labels):
            for y in range(n_labels):
                beta[t, x, y] = _log_sum(triple[x, y] + node[t + 1] + edge[t + 1, y] + beta[t + 1, y])
    total = _log_sum(alpha[length - 1].ravel())
    if total == -np.inf:
        return total, pair, totals
    for t in range(1, length):
        pair[t] = np.exp(alpha[t] + beta[t] - total)
    for y in range(n_labels):
        pair[0, y, y] = pair[1, y].sum()
    for t in range(2, length):
        for x in range(n_labels):
            for y in range(n_labels):
                score = alpha[t - 1, x, y] + triple[x, y] + node[t] + edge[t, y] + beta[t, y]
                totals[x, y] += np.exp(score - total)
    return total, pair, totals


def pair_viterbi(
    node: np.ndarray,
    edge: np.ndarray,
    triple: np.ndarray,
    active: np.ndarray,
    first: np.ndarray | None = None,
    last: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best labeling of each sentence, second order; among equals the lower label wins, from the end on.

    Parameters
    ----------
    node, edge, triple, active, first, last : ndarray
        See `pair_forward_backward`.

    Returns
    -------
    labels : ndarray of int32, shape (length, sentences)
        -1 beyond the end of a sentence.
    score : ndarray of shape (sentences,)
        Score of the best labeling.

    Examples
    --------
    >>> triple = np.zeros((2, 2, 2))
    >>> triple[0, 1, 0] = 1.0
    >>> labels, score = pair_viterbi(np.zeros((3, 2, 1)), np.zeros((2, 2)), triple, np.array([1, 1, 1]))
    >>> labels[:, 0].tolist(), score.tolist()
    ([0, 1, 0], [1.0])
    """
    none = np.zeros((node.shape[1], node.shape[1]))
    pairs = edge[None, :, :, None] if edge.ndim == 2 else edge
    first, last = none if first is None else first, none if last is None else last
    labels, score = _best_pairs(node, np.ascontiguousarray(pairs), triple, active, first, last)
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
