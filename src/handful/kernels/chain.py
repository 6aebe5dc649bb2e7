"""Chains of labels, first order: forward-backward and Viterbi over blocks of sentences.

A block holds sentences side by side, longest first, so that the sentence is the innermost axis and every step is plain
vector work: ``node`` has shape (length, labels, sentences) and ``active[t]`` tells how many sentences have a position
t. Edge scores are one matrix (labels, labels) for all positions, or one per position and sentence, shape
(length, labels, labels, sentences); ``edge[t, x, y]`` scores label x at t - 1 before label y at t, ``edge[0]`` is not
read. A score of minus infinity forbids.

Sums run in probability space, rescaled at every position. Where a sum underflows all the same (scores that differ by
more than about 700, or a sentence with no legal labeling), that sentence alone is done again in log space.
"""

from __future__ import annotations

import math

import numpy as np

from handful.kernels import njit


def forward_backward(
    node: np.ndarray, edge: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute partition functions and marginals of a block.

    Parameters
    ----------
    node : ndarray of float64, shape (length, labels, sentences)
        Score of each label at each position.
    edge : ndarray of float64, shape (labels, labels) or (length, labels, labels, sentences)
        Score of each label pair.
    active : ndarray of int64, shape (length,)
        Sentences that reach each position; never increases.

    Returns
    -------
    log_partition : ndarray of shape (sentences,)
        Minus infinity where no labeling is legal; the marginals of such a sentence are 0.
    node_marginals : ndarray, shape of `node`
        Zero beyond the end of a sentence.
    edge_marginals : ndarray, shape of `edge`
        Summed over positions and sentences if `edge` is one matrix.

    Examples
    --------
    >>> node = np.zeros((2, 2, 1))
    >>> log_partition, labels, pairs = forward_backward(node, np.zeros((2, 2)), np.array([1, 1]))
    >>> float(np.exp(log_partition[0]).round(9)), labels[1, :, 0].tolist(), pairs[0].tolist()
    (4.0, [0.5, 0.5], [0.25, 0.25])
    """
    shift = np.zeros(node.shape[2])
    weight = np.empty_like(node)
    _lift_nodes(node, active, weight, shift)
    np.exp(weight, out=weight)
    alpha = np.empty_like(node)
    scale = np.ones((node.shape[0], node.shape[2]))
    if edge.ndim == 2:
        lift = _finite_max(edge)
        shift += lift * _steps(active, node.shape[2])
        pairs = np.exp(edge - lift)
        edge_marginals = np.zeros_like(edge)
        _sum_shared(weight, pairs, active, alpha, scale, edge_marginals)
    else:
        edge_marginals = np.empty_like(edge)
        edge_marginals[0] = -np.inf
        _lift_edges(edge, active, edge_marginals, shift)
        np.exp(edge_marginals, out=edge_marginals)
        _sum_edges(weight, edge_marginals, active, alpha, scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_partition = np.log(scale).sum(axis=0) + shift
    broken = np.flatnonzero(~np.isfinite(log_partition))
    if len(broken):
        _redo_in_log_space(node, edge, active, broken, log_partition, weight, edge_marginals)
    return log_partition, weight, edge_marginals


def viterbi(node: np.ndarray, edge: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the best labeling of each sentence of a block; among equals the lower label wins, from the end on.

    Parameters
    ----------
    node, edge, active : ndarray
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
    length, n_labels, width = node.shape
    labels = np.full((length, width), -1, dtype=np.int32)
    score = np.zeros(width)
    back = np.empty((length, n_labels, width), dtype=np.int16)
    if edge.ndim == 2:
        _best_shared(node, edge, active, back, labels, score)
    else:
        _best_edges(node, edge, active, back, labels, score)
    return labels, score


def _steps(active: np.ndarray, width: int) -> np.ndarray:
    """Count the label pairs of each sentence."""
    return np.searchsorted(-active, -np.arange(1, width + 1), side="right") - 1.0


def _finite_max(scores: np.ndarray) -> float:
    top = float(scores.max(initial=-math.inf))
    return top if math.isfinite(top) else 0.0


@njit(cache=True, nogil=True)
def _lift_nodes(node: np.ndarray, active: np.ndarray, out: np.ndarray, shift: np.ndarray) -> None:
    length, n_labels, width = node.shape
    top = np.empty(width)
    for t in range(length):
        n = active[t]
        for s in range(n):
            top[s] = -np.inf
        for y in range(n_labels):
            for s in range(n):
                top[s] = max(top[s], node[t, y, s])
        for s in range(n):
            if not np.isfinite(top[s]):
                top[s] = 0.0
            shift[s] += top[s]
        for y in range(n_labels):
            for s in range(n):
                out[t, y, s] = node[t, y, s] - top[s]
            for s in range(n, width):
                out[t, y, s] = -np.inf


@njit(cache=True, nogil=True)
def _lift_edges(edge: np.ndarray, active: np.ndarray, out: np.ndarray, shift: np.ndarray) -> None:
    length, n_labels, _, width = edge.shape
    top = np.empty(width)
    for t in range(1, length):
        n = active[t]
        for s in range(n):
            top[s] = -np.inf
        for x in range(n_labels):
            for y in range(n_labels):
                for s in range(n):
                    top[s] = max(top[s], edge[t, x, y, s])
        for s in range(n):
            if not np.isfinite(top[s]):
                top[s] = 0.0
            shift[s] += top[s]
        for x in range(n_labels):
            for y in range(n_labels):
                for s in range(n):
                    out[t, x, y, s] = edge[t, x, y, s] - top[s]
                for s in range(n, width):
                    out[t, x, y, s] = -np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _sum_shared(
    node: np.ndarray, pairs: np.ndarray, active: np.ndarray, alpha: np.ndarray, scale: np.ndarray, totals: np.ndarray
) -> None:
    """Turn node potentials into marginals and add up the pair marginals; one pair matrix for all positions."""
    length, n_labels, width = node.shape
    inverse = np.empty(width)
    row = np.empty(width)
    for t in range(length):
        n = active[t]
        for s in range(n):
            scale[t, s] = 0.0
        for y in range(n_labels):
            if t == 0:
                for s in range(n):
                    row[s] = node[0, y, s]
            else:
                for s in range(n):
                    row[s] = 0.0
                for x in range(n_labels):
                    weight = pairs[x, y]
                    if weight == 0.0:  # forbidden, as most pairs of an encoding of spans are
                        continue
                    for s in range(n):
                        row[s] += weight * alpha[t - 1, x, s]
                for s in range(n):
                    row[s] *= node[t, y, s]
            for s in range(n):
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
                weight = pairs[x, y]
                if weight == 0.0:
                    continue
                total = 0.0
                for s in range(n_next):
                    row[s] += weight * ahead[y, s]
                    total += alpha[t, x, s] * ahead[y, s]
                totals[x, y] += weight * total
            for s in range(n_next):
                beta[x, s] = row[s]
        for y in range(n_labels):
            for s in range(n):
                ahead[y, s] = node[t, y, s] * beta[y, s] / scale[t, s]
            for s in range(n):
                node[t, y, s] = alpha[t, y, s] * beta[y, s]
        n_next = n


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _sum_edges(node: np.ndarray, pairs: np.ndarray, active: np.ndarray, alpha: np.ndarray, scale: np.ndarray) -> None:
    """Turn node and pair potentials into marginals; one pair matrix for each position and sentence."""
    length, n_labels, width = node.shape
    inverse = np.empty(width)
    row = np.empty(width)
    for t in range(length):
        n = active[t]
        for s in range(n):
            scale[t, s] = 0.0
        for y in range(n_labels):
            if t == 0:
                for s in range(n):
                    row[s] = node[0, y, s]
            else:
                for s in range(n):
                    row[s] = 0.0
                for x in range(n_labels):
                    for s in range(n):
                        row[s] += pairs[t, x, y, s] * alpha[t - 1, x, s]
                for s in range(n):
                    row[s] *= node[t, y, s]
            for s in range(n):
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


@njit(cache=True, nogil=True)
def _best_shared(
    node: np.ndarray, edge: np.ndarray, active: np.ndarray, back: np.ndarray, labels: np.ndarray, score: np.ndarray
) -> None:
    length, n_labels, width = node.shape
    delta = np.empty((2, n_labels, width))
    for t in range(length):
        new, old = delta[t % 2], delta[(t + 1) % 2]
        n = active[t]
        for y in range(n_labels):
            if t == 0:
                for s in range(n):
                    new[y, s] = node[0, y, s]
                continue
            for s in range(n):
                new[y, s] = old[0, s] + edge[0, y]
                back[t, y, s] = 0
            for x in range(1, n_labels):
                for s in range(n):
                    value = old[x, s] + edge[x, y]
                    better = value > new[y, s]
                    new[y, s] = value if better else new[y, s]
                    back[t, y, s] = x if better else back[t, y, s]
            for s in range(n):
                new[y, s] += node[t, y, s]
        _finish(new, active, t, labels, score)
    _trace(active, back, labels)


@njit(cache=True, nogil=True)
def _best_edges(
    node: np.ndarray, edge: np.ndarray, active: np.ndarray, back: np.ndarray, labels: np.ndarray, score: np.ndarray
) -> None:
    length, n_labels, width = node.shape
    delta = np.empty((2, n_labels, width))
    for t in range(length):
        new, old = delta[t % 2], delta[(t + 1) % 2]
        n = active[t]
        for y in range(n_labels):
            if t == 0:
                for s in range(n):
                    new[y, s] = node[0, y, s]
                continue
            for s in range(n):
                new[y, s] = old[0, s] + edge[t, 0, y, s]
                back[t, y, s] = 0
            for x in range(1, n_labels):
                for s in range(n):
                    value = old[x, s] + edge[t, x, y, s]
                    better = value > new[y, s]
                    new[y, s] = value if better else new[y, s]
                    back[t, y, s] = x if better else back[t, y, s]
            for s in range(n):
                new[y, s] += node[t, y, s]
        _finish(new, active, t, labels, score)
    _trace(active, back, labels)


@njit(cache=True, nogil=True)
def _finish(delta: np.ndarray, active: np.ndarray, t: int, labels: np.ndarray, score: np.ndarray) -> None:
    """Close the sentences that end at position t."""
    stays = active[t + 1] if t + 1 < len(active) else 0
    for s in range(stays, active[t]):
        best = 0
        for y in range(1, delta.shape[0]):
            if delta[y, s] > delta[best, s]:
                best = y
        labels[t, s] = best
        score[s] = delta[best, s]


@njit(cache=True, nogil=True)
def _trace(active: np.ndarray, back: np.ndarray, labels: np.ndarray) -> None:
    for t in range(len(active) - 1, 0, -1):
        for s in range(active[t]):
            labels[t - 1, s] = back[t, labels[t, s], s]


def _redo_in_log_space(
    node: np.ndarray,
    edge: np.ndarray,
    active: np.ndarray,
    broken: np.ndarray,
    log_partition: np.ndarray,
    node_marginals: np.ndarray,
    edge_marginals: np.ndarray,
) -> None:
    lengths = _steps(active, node.shape[2]).astype(np.int64) + 1
    shared = edge.ndim == 2
    if shared:
        # One broken sentence has spoilt the sum over all; start again without the broken ones.
        whole = np.setdiff1d(np.arange(node.shape[2]), broken)
        edge_marginals[:] = 0.0
        if len(whole):
            longest = int(lengths[whole].max())
            rest = np.ascontiguousarray(node[:longest, :, whole])
            still = (lengths[whole] > np.arange(longest)[:, None]).sum(axis=1)
            edge_marginals += forward_backward(rest, edge, still)[2]
    for s in broken:
        n = lengths[s]
        alone = np.ascontiguousarray(node[:n, :, s])
        pairs = np.broadcast_to(edge, (n, *edge.shape)).copy() if shared else np.ascontiguousarray(edge[:n, :, :, s])
        log_partition[s] = _log_space(alone, pairs)
        node_marginals[:n, :, s] = alone
        if shared:
            edge_marginals += pairs[1:].sum(axis=0)
        else:
            edge_marginals[:n, :, :, s] = pairs


@njit(cache=True, nogil=True)
def _log_sum(values: np.ndarray) -> float:
    top = float(values.max())
    if top == -np.inf:
        return top
    return top + math.log(float(np.exp(values - top).sum()))


@njit(cache=True, nogil=True)
def _log_space(node: np.ndarray, edge: np.ndarray) -> float:
    """Turn the scores of one sentence into marginals in place; returns the log partition."""
    length, n_labels = node.shape
    alpha = np.empty((length, n_labels))
    beta = np.zeros((length, n_labels))
    alpha[0] = node[0]
    for t in range(1, length):
        for y in range(n_labels):
            alpha[t, y] = node[t, y] + _log_sum(alpha[t - 1] + edge[t, :, y])
    for t in range(length - 2, -1, -1):
        for x in range(n_labels):
            beta[t, x] = _log_sum(edge[t + 1, x] + node[t + 1] + beta[t + 1])
    total: float = _log_sum(alpha[length - 1])
    if total == -np.inf:
        node[:] = 0.0
        edge[:] = 0.0
        return total
    edge[0] = 0.0
    for t in range(1, length):
        for x in range(n_labels):
            edge[t, x] = np.exp(alpha[t - 1, x] + edge[t, x] + node[t] + beta[t] - total)
    node[:] = np.exp(alpha + beta - total)
    return total
