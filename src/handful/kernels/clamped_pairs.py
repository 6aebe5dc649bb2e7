"""Second-order chains in which many positions have one legal label, as prototype words do.

A block holds sentences side by side, longest first. Position t of sentence s may carry the labels from ``low[s, t]`` up
to, not including, ``high[s, t]``: all of them, or one. Three neighbors that are all free cost one matrix product for
each middle label, done for many sentences at once; any other triple is a short loop over what is left.

Potentials, not scores: ``node[w, y]`` of word w with label y, ``start[y]`` and ``stop[y]`` (the latter only for sentences
of one position), ``start_pair[b, c]`` for the first two labels, ``stop_pair[b, c]`` for the last two, and ``triple[b, a, c]``
for label c after b after a, middle label first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels import njit

_WIDTH = 64
_SUMS = {"reassoc", "contract", "nsz"}


class PairPotentials(NamedTuple):
    """Potentials of a second-order chain; see the module's docstring for their meaning."""

    node: np.ndarray
    start: np.ndarray
    start_pair: np.ndarray
    triple: np.ndarray
    stop_pair: np.ndarray
    stop: np.ndarray


class PairCounts(NamedTuple):
    """Expected counts of a second-order chain, added up over sentences; laid out as `PairPotentials`."""

    start: np.ndarray
    start_pair: np.ndarray
    triple: np.ndarray
    stop_pair: np.ndarray
    stop: np.ndarray

    @classmethod
    def zeros(cls, n_labels: int) -> PairCounts:
        """Return counts that are all zero."""
        one, two, three = ((n_labels,) * k for k in (1, 2, 3))
        return cls(np.zeros(one), np.zeros(two), np.zeros(three), np.zeros(two), np.zeros(one))


class _Work(NamedTuple):
    """Memory of one block."""

    alpha: np.ndarray  # position, sentence, label, label before; not normalized
    inverse: np.ndarray  # position, sentence: one over the sum of alpha, multiplied in when alpha is read
    beta: np.ndarray  # sentence, label before, label
    before: np.ndarray  # middle label, free sentence, label before
    after: np.ndarray  # middle label, free sentence, label
    result: np.ndarray
    square: np.ndarray
    free: np.ndarray


def clamped_pair_sums(
    words: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    lengths: np.ndarray,
    potentials: PairPotentials,
    counts: PairCounts,
    room: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute log sums and label marginals of a block, and add its expected counts.

    Parameters
    ----------
    words : ndarray of int32, shape (sentences, length)
        Row of `node` of each token; not read beyond the end of a sentence.
    low, high : ndarray of int16, shape (sentences, length)
        Legal labels of each token: one, or a range.
    lengths : ndarray of int64, shape (sentences,)
        Length of each sentence, longest first, at least 1.
    potentials : PairPotentials
        What labelings are weighed by.
    counts : PairCounts
        Added to. ``triple`` is added without its potential: multiply by ``potentials.triple`` when all blocks are in.
    room : ndarray of float64, optional
        Memory to work in, of at least sentences * length * labels ** 2 numbers; handing it on from block to block
        saves the system the trouble of finding new pages.

    Returns
    -------
    log_sums : ndarray of shape (sentences,)
        Log of the sum over labelings; not finite where it vanished.
    marginals : ndarray of shape (sentences, length, labels)
        Label probabilities; zero beyond the end of a sentence.

    Notes
    -----
    Cost: six floating-point operations for each legal triple of labels at each position.

    Examples
    --------
    >>> one, two, three = np.ones(2), np.ones((2, 2)), np.ones((2, 2, 2))
    >>> potentials, counts = PairPotentials(np.ones((1, 2)), one, two, three, two, one), PairCounts.zeros(2)
    >>> low, high = np.array([[0, 0, 1]], dtype=np.int16), np.array([[2, 2, 2]], dtype=np.int16)
    >>> words = np.zeros((1, 3), dtype=np.int32)
    >>> log_sums, marginals = clamped_pair_sums(words, low, high, np.array([3]), potentials, counts)
    >>> float(np.exp(log_sums[0]).round(9)), marginals[0].tolist()
    (4.0, [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    """
    n, length = words.shape
    n_labels = potentials.node.shape[1]
    log_sums = np.zeros(n)
    marginals = np.zeros((n, length, n_labels))
    size = n * length * n_labels * n_labels
    room = np.empty(size) if room is None else room[:size]
    three = np.empty((3, n_labels, _WIDTH, n_labels))
    work = _Work(
        room.reshape(length, n, n_labels, n_labels),
        np.ones((length, n)),
        np.empty((n, n_labels, n_labels)),
        three[0],
        three[1],
        three[2],
        np.empty((n_labels, n_labels)),
        np.empty(n, dtype=np.int64),
    )
    back = np.ascontiguousarray(potentials.triple.transpose(0, 2, 1))
    turned = np.zeros_like(counts.triple)
    _forward(words, low, high, lengths, potentials, back, counts, work, log_sums, marginals)
    _backward(words, low, high, lengths, potentials, back, counts, turned, work, marginals)
    counts.triple[...] += turned.transpose(0, 2, 1)
    return log_sums, marginals


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _forward(
    words: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    lengths: np.ndarray,
    p: PairPotentials,
    back: np.ndarray,
    counts: PairCounts,
    work: _Work,
    log_sums: np.ndarray,
    marginals: np.ndarray,
) -> None:
    """Fill alpha, end every sentence, and leave beta of its last position; sentences of one position are done."""
    n, length = words.shape
    n_labels = p.node.shape[1]
    alpha, inverse, free = work.alpha, work.inverse, work.free
    n_now = n
    for t in range(length):
        while n_now > 0 and lengths[n_now - 1] <= t:
            n_now -= 1
        n_free = 0
        for s in range(n_now):
            here = p.node[words[s, t]]
            c_low, c_high = low[s, t], high[s, t]
            total = 0.0
            if t == 0:
                for c in range(c_low, c_high):
                    alpha[0, s, 0, c] = here[c] * p.start[c]
                    total += alpha[0, s, 0, c]
            elif t == 1:
                for b in range(low[s, 0], high[s, 0]):
                    weight = alpha[0, s, 0, b] * inverse[0, s]
                    for c in range(c_low, c_high):
                        alpha[1, s, c, b] = weight * p.start_pair[b, c] * here[c]
                        total += alpha[1, s, c, b]
            elif _is_free(low[s], high[s], t):
                free[n_free] = s
                n_free += 1
                continue
            else:
                total = _step(
                    low[s],
                    high[s],
                    t,
                    alpha[t - 1, s],
                    inverse[t - 1, s],
                    here,
                    p.triple,
                    back,
                    alpha[t, s],
                    work.square[0],
                )
            inverse[t, s] = 1.0 / total
            log_sums[s] += np.log(total)
        for first in range(0, n_free, _WIDTH):
            chosen = free[first : min(first + _WIDTH, n_free)]
            m = len(chosen)
            _take_alpha(alpha[t - 1], inverse[t - 1], chosen, work.before)
            for b in range(n_labels):
                np.dot(work.before[b, :m], p.triple[b], out=work.result[b, :m])
            for i in range(m):
                s = chosen[i]
                total = _put(work.result, i, p.node[words[s, t]], alpha[t, s])
                inverse[t, s] = 1.0 / total
                log_sums[s] += np.log(total)
        for s in range(n_now):
            if lengths[s] == t + 1 and t == 0:
                log_sums[s] += _close_single(
                    alpha[0, s, 0], inverse[0, s], low[s, 0], high[s, 0], p.stop, marginals[s, 0]
                )
                for y in range(n_labels):
                    counts.start[y] += marginals[s, 0, y]
                    counts.stop[y] += marginals[s, 0, y]
            elif lengths[s] == t + 1:
                log_sums[s] += _close(
                    alpha[t, s], inverse[t, s], low[s], high[s], t, p.stop_pair, counts.stop_pair, work.beta[s]
                )


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _backward(
    words: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    lengths: np.ndarray,
    p: PairPotentials,
    back: np.ndarray,
    counts: PairCounts,
    turned: np.ndarray,
    work: _Work,
    marginals: np.ndarray,
) -> None:
    """Go back from the ends, adding marginals and expected counts."""
    n, length = words.shape
    n_labels = p.node.shape[1]
    alpha, inverse, beta, free = work.alpha, work.inverse, work.beta, work.free
    before, after, result = work.before, work.after, work.result
    n_next = 0
    for t in range(length - 1, 0, -1):
        n_now = n_next
        while n_now < n and lengths[n_now] > t:
            n_now += 1
        # beta of the sentences up to n_next is that of t + 1; the others end here and have theirs already
        n_free = 0
        for s in range(n_next):
            if _is_free(low[s], high[s], t + 1):
                free[n_free] = s
                n_free += 1
                continue
            _step_back(
                low[s],
                high[s],
                t,
                alpha[t, s],
                inverse[t, s],
                p.node[words[s, t + 1]],
                inverse[t + 1, s],
                p.triple,
                back,
                beta[s],
                work.square,
                counts.triple,
                turned,
            )
            _label_shares(low[s], high[s], t, alpha[t, s], inverse[t, s], beta[s], marginals[s, t])
        for first in range(0, n_free, _WIDTH):
            chosen = free[first : min(first + _WIDTH, n_free)]
            m = len(chosen)
            _take_alpha(alpha[t], inverse[t], chosen, before)
            for i in range(m):
                s = chosen[i]
                here = p.node[words[s, t + 1]]
                for b in range(n_labels):
                    for c in range(n_labels):
                        after[b, i, c] = beta[s, b, c] * here[c] * inverse[t + 1, s]
            for b in range(n_labels):
                np.dot(after[b, :m], back[b], out=result[b, :m])
                np.dot(before[b, :m].T, after[b, :m], out=work.square)
                for a in range(n_labels):
                    for c in range(n_labels):
                        counts.triple[b, a, c] += work.square[a, c]
                for i in range(m):
                    share = 0.0
                    for a in range(n_labels):
                        share += before[b, i, a] * result[b, i, a]
                    marginals[chosen[i], t, b] = share
            for i in range(m):
                s = chosen[i]
                for b in range(n_labels):
                    for a in range(n_labels):
                        beta[s, a, b] = result[b, i, a]
        for s in range(n_next, n_now):
            _label_shares(low[s], high[s], t, alpha[t, s], inverse[t, s], beta[s], marginals[s, t])
        n_next = n_now
    for s in range(n_next):
        for b in range(low[s, 0], high[s, 0]):
            share = 0.0
            for c in range(low[s, 1], high[s, 1]):
                pair = alpha[1, s, c, b] * inverse[1, s] * beta[s, b, c]
                counts.start_pair[b, c] += pair
                share += pair
            marginals[s, 0, b] = share
            counts.start[b] += share


@njit(cache=True, nogil=True, inline="always")
def _is_free(low: np.ndarray, high: np.ndarray, t: int) -> bool:
    """Tell whether position t and the two before it may all carry any label."""
    return bool(high[t] - low[t] > 1 and high[t - 1] - low[t - 1] > 1 and high[t - 2] - low[t - 2] > 1)


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _step(
    low: np.ndarray,
    high: np.ndarray,
    t: int,
    old: np.ndarray,
    scale: float,
    here: np.ndarray,
    triple: np.ndarray,
    back: np.ndarray,
    new: np.ndarray,
    row: np.ndarray,
) -> float:
    """Go from position t - 1 to t of one sentence, and return the sum of the new alpha."""
    c_low, c_high = low[t], high[t]
    total = 0.0
    for b in range(low[t - 1], high[t - 1]):
        if c_high - c_low == 1:
            value = 0.0
            for a in range(low[t - 2], high[t - 2]):
                value += old[b, a] * back[b, c_low, a]
            new[c_low, b] = value * scale * here[c_low]
            total += new[c_low, b]
        else:
            for c in range(c_low, c_high):
                row[c] = 0.0
            for a in range(low[t - 2], high[t - 2]):
                weight = old[b, a] * scale
                for c in range(c_low, c_high):
                    row[c] += weight * triple[b, a, c]
            for c in range(c_low, c_high):
                new[c, b] = row[c] * here[c]
                total += new[c, b]
    return total


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _step_back(
    low: np.ndarray,
    high: np.ndarray,
    t: int,
    alpha: np.ndarray,
    scale: float,
    ahead: np.ndarray,
    ahead_scale: float,
    triple: np.ndarray,
    back: np.ndarray,
    beta: np.ndarray,
    square: np.ndarray,
    counts: np.ndarray,
    turned: np.ndarray,
) -> None:
    """Go from position t + 1 back to t of one sentence; counts of a locked last label go to `turned`, label last."""
    a_low, a_high, c_low, c_high = low[t - 1], high[t - 1], low[t + 1], high[t + 1]
    for b in range(low[t], high[t]):
        for c in range(c_low, c_high):
            square[b, c] = beta[b, c] * ahead[c] * ahead_scale
    for b in range(low[t], high[t]):
        if c_high - c_low == 1:
            weight = square[b, c_low]
            for a in range(a_low, a_high):
                beta[a, b] = weight * back[b, c_low, a]
                turned[b, c_low, a] += alpha[b, a] * scale * weight
        else:
            for a in range(a_low, a_high):
                weight = alpha[b, a] * scale
                value = 0.0
                for c in range(c_low, c_high):
                    value += square[b, c] * triple[b, a, c]
                    counts[b, a, c] += weight * square[b, c]
                beta[a, b] = value


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _close_single(alpha: np.ndarray, scale: float, low: int, high: int, stop: np.ndarray, out: np.ndarray) -> float:
    """End a sentence of one position; return the log of what ending adds."""
    total = 0.0
    for y in range(low, high):
        out[y] = alpha[y] * scale * stop[y]
        total += out[y]
    for y in range(low, high):
        out[y] /= total
    return float(np.log(total))


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _close(
    alpha: np.ndarray,
    scale: float,
    low: np.ndarray,
    high: np.ndarray,
    t: int,
    stop_pair: np.ndarray,
    counts: np.ndarray,
    beta: np.ndarray,
) -> float:
    """End a sentence at position t and start its way back; return the log of what ending adds."""
    total = 0.0
    for b in range(low[t - 1], high[t - 1]):
        for c in range(low[t], high[t]):
            total += alpha[c, b] * stop_pair[b, c]
    total *= scale
    for b in range(low[t - 1], high[t - 1]):
        for c in range(low[t], high[t]):
            beta[b, c] = stop_pair[b, c] / total
            counts[b, c] += alpha[c, b] * scale * beta[b, c]
    return float(np.log(total))


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _label_shares(
    low: np.ndarray, high: np.ndarray, t: int, alpha: np.ndarray, scale: float, beta: np.ndarray, out: np.ndarray
) -> None:
    for b in range(low[t], high[t]):
        share = 0.0
        for a in range(low[t - 1], high[t - 1]):
            share += alpha[b, a] * beta[a, b]
        out[b] = share * scale


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _take_alpha(alpha: np.ndarray, inverse: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> None:
    n_labels = out.shape[0]
    for i in range(len(chosen)):
        s = chosen[i]
        scale = inverse[s]
        for b in range(n_labels):
            for a in range(n_labels):
                out[b, i, a] = alpha[s, b, a] * scale


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _put(result: np.ndarray, i: int, node: np.ndarray, alpha: np.ndarray) -> float:
    """Write one sentence's new pairs, turned, and return their sum."""
    n_labels = len(node)
    total = 0.0
    for c in range(n_labels):
        weight = node[c]
        for b in range(n_labels):
            value = result[b, i, c] * weight
            alpha[c, b] = value
            total += value
    return total
