"""Sparse features to chain scores and expected counts."""

from __future__ import annotations

import numpy as np

from handful.kernels.cache import njit


@njit(cache=True, nogil=True)
def catch_up(
    ids: np.ndarray, step: int, shrink: float, weights: np.ndarray, sums: np.ndarray, steps: np.ndarray
) -> None:
    """Bring weights up to a step: truncation at each step passed, and their running sums.

    Parameters
    ----------
    ids : ndarray of int64
        Weights to bring up to date; repetitions do no harm.
    step : int
        The present step.
    shrink : float
        How far each step pulls every weight towards zero.
    weights, sums : ndarray of float64
        Weights, and the sum of each over all steps so far.
    steps : ndarray of int64
        Step to which each weight is up to date.

    Examples
    --------
    >>> weights, sums, steps = np.array([1.0, -0.25]), np.zeros(2), np.zeros(2, dtype=np.int64)
    >>> catch_up(np.array([0, 1]), 3, 0.2, weights, sums, steps)
    >>> weights.round(9).tolist(), sums.round(9).tolist()
    ([0.4, 0.0], [1.8, -0.05])
    """
    for j in ids:
        passed = step - steps[j]
        if passed > 0:
            size = abs(weights[j])
            if size > 0.0:
                alive = passed if size >= shrink * passed else int(size / shrink)
                total = alive * size - shrink * alive * (alive + 1) / 2.0
                left = max(size - shrink * passed, 0.0)
                sign = 1.0 if weights[j] > 0.0 else -1.0
                sums[j] += sign * total
                weights[j] = sign * left if left > 0.0 else 0.0
            steps[j] = step


@njit(cache=True, nogil=True)
def reach_of(ids: np.ndarray, start: int, stop: int, offsets: np.ndarray, base: int, out: np.ndarray, n: int) -> int:
    """List all features that the predicates of some tokens have.

    Parameters
    ----------
    ids : ndarray of int32, shape (n_tokens, n_columns)
        Predicates of each token; -1 for none.
    start, stop : int
        The tokens.
    offsets : ndarray of int64
        Predicate p has the features ``offsets[p]`` to ``offsets[p + 1]``.
    base : int
        Added to every feature number.
    out : ndarray of int64
        Receives the features from position `n` on, as far as its capacity goes.
    n : int
        Positions taken.

    Returns
    -------
    int
        Positions needed in all; if more than `out` has, call again with a larger one.

    Examples
    --------
    >>> out = np.zeros(4, dtype=np.int64)
    >>> n = reach_of(np.array([[1]], dtype=np.int32), 0, 1, np.array([0, 2, 4]), 0, out, 0)
    >>> out[:n].tolist()
    [2, 3]
    """
    for row in range(start, stop):
        for k in range(ids.shape[1]):
            p = ids[row, k]
            if p >= 0:
                for f in range(offsets[p], offsets[p + 1]):
                    if n < len(out):
                        out[n] = base + f
                    n += 1
    return n


@njit(cache=True, nogil=True)
def score_block(
    ids: np.ndarray,
    first_rows: np.ndarray,
    lengths: np.ndarray,
    offsets: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    skip: int,
    scores: np.ndarray,
) -> None:
    """Add up the weights of the features at each position.

    Parameters
    ----------
    ids : ndarray of int32, shape (n_tokens, n_columns)
        Predicates of each token.
    first_rows, lengths : ndarray of int64, shape (sentences,)
        The block.
    offsets, targets, weights : ndarray
        Features of each predicate.
    skip : int
        First position that has these features: 0 for labels, 1 for label pairs.
    scores : ndarray of float64, shape (length, n_targets, sentences)
        Receives the sums, on top of what it holds.

    Examples
    --------
    >>> scores = np.zeros((2, 3, 1))
    >>> ids = np.array([[0], [-1]], dtype=np.int32)
    >>> score_block(ids, np.array([0]), np.array([2]), np.array([0, 2]), np.array([0, 2]), np.array([1.0, 5.0]), 0, scores)
    >>> scores[:, :, 0].tolist()
    [[1.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    """
    n_targets = scores.shape[1]
    sums = np.empty(n_targets)
    for s in range(len(first_rows) if ids.shape[1] else 0):
        for t in range(skip, lengths[s]):
            row = first_rows[s] + t
            for z in range(n_targets):
                sums[z] = 0.0
            for k in range(ids.shape[1]):
                p = ids[row, k]
                if p >= 0:
                    start, stop = offsets[p], offsets[p + 1]
                    if stop - start == n_targets:
                        whole = np.uint64(start)  # of a signed place numba would ask whether it counts from the end
                        for z in range(np.uint64(n_targets)):
                            sums[z] += weights[whole + z]
                    else:
                        for f in range(start, stop):
                            sums[targets[f]] += weights[f]
            for z in range(n_targets):
                scores[t, z, s] += sums[z]


@njit(cache=True, nogil=True)
def count_block(
    ids: np.ndarray,
    first_rows: np.ndarray,
    lengths: np.ndarray,
    offsets: np.ndarray,
    targets: np.ndarray,
    marginals: np.ndarray,
    skip: int,
    counts: np.ndarray,
) -> None:
    """Add the expected count of every feature under the marginals of a block; the reverse of `score_block`.

    Parameters
    ----------
    ids, first_rows, lengths, offsets, targets, skip
        See `score_block`.
    marginals : ndarray of float64, shape (length, n_targets, sentences)
        Probability of each target at each position.
    counts : ndarray of float64
        Receives the counts, on top of what it holds.

    Examples
    --------
    >>> counts = np.zeros(2)
    >>> ids = np.array([[0], [0]], dtype=np.int32)
    >>> marginals = np.array([[[0.2], [0.8]], [[0.5], [0.5]]])
    >>> count_block(ids, np.array([0]), np.array([2]), np.array([0, 2]), np.array([0, 1]), marginals, 0, counts)
    >>> counts.tolist()
    [0.7, 1.3]
    """
    n_targets = marginals.shape[1]
    here = np.empty(n_targets)
    for s in range(len(first_rows) if ids.shape[1] else 0):
        for t in range(skip, lengths[s]):
            row = first_rows[s] + t
            for z in range(n_targets):
                here[z] = marginals[t, z, s]
            for k in range(ids.shape[1]):
                p = ids[row, k]
                if p >= 0:
                    start, stop = offsets[p], offsets[p + 1]
                    if stop - start == n_targets:
                        whole = np.uint64(start)  # see `score_block`
                        for z in range(np.uint64(n_targets)):
                            counts[whole + z] += here[z]
                    else:
                        for f in range(start, stop):
                            counts[f] += here[targets[f]]


@njit(cache=True, nogil=True)
def features_of(
    ids: np.ndarray, wanted: np.ndarray, offsets: np.ndarray, targets: np.ndarray, base: int, out: np.ndarray
) -> int:
    """List the features that fire with one target a token.

    Parameters
    ----------
    ids : ndarray of int32, shape (n_tokens, n_columns)
        Predicates of each token.
    wanted : ndarray of int64, shape (n_tokens,)
        Target of each token; -1 for none.
    offsets, targets : ndarray
        Features of each predicate.
    base : int
        Added to every feature number.
    out : ndarray of int64, shape of at least ``ids.size``
        Receives the feature numbers.

    Returns
    -------
    int
        How many were written.

    Examples
    --------
    >>> out = np.zeros(2, dtype=np.int64)
    >>> ids = np.array([[0, 1]], dtype=np.int32)
    >>> n = features_of(ids, np.array([1]), np.array([0, 2, 3]), np.array([0, 1, 0]), 0, out)
    >>> out[:n].tolist()
    [1]
    """
    n = 0
    for row in range(len(wanted)):
        z = wanted[row]
        if z < 0:
            continue
        for k in range(ids.shape[1]):
            p = ids[row, k]
            if p >= 0:
                for f in range(offsets[p], offsets[p + 1]):
                    if targets[f] == z:
                        out[n] = base + f
                        n += 1
                        break
    return n


@njit(cache=True, nogil=True)
def merge_rows(
    row_offsets: np.ndarray,
    row_ids: np.ndarray,
    offsets: np.ndarray,
    targets: np.ndarray,
    n_targets: int,
    fill_from: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the features of predicates that fire together.

    Parameters
    ----------
    row_offsets, row_ids : ndarray
        Row r stands for the predicates ``row_ids[row_offsets[r]:row_offsets[r + 1]]``.
    offsets, targets : ndarray
        Features of each predicate.
    n_targets : int
        Number of targets.
    fill_from : int
        A row with this many targets or more gets all of them, for faster sums.

    Returns
    -------
    merged_offsets, merged_targets : ndarray
        Merged features of each row, by their targets, which rise.

    Examples
    --------
    >>> row_offsets, row_ids = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    >>> offsets, targets = np.array([0, 1, 3]), np.array([7, 2, 7], dtype=np.int32)
    >>> merged_offsets, merged_targets = merge_rows(row_offsets, row_ids, offsets, targets, 9, 9)
    >>> merged_offsets.tolist(), merged_targets.tolist()
    ([0, 2], [2, 7])
    """
    n_rows = len(row_offsets) - 1
    merged_offsets = np.zeros(n_rows + 1, dtype=np.int64)
    seen = np.full(n_targets, -1, dtype=np.int64)
    found = np.empty(n_targets, dtype=np.int32)
    for r in range(n_rows):
        distinct = _distinct_targets(row_ids[row_offsets[r] : row_offsets[r + 1]], offsets, targets, r, seen, found)
        merged_offsets[r + 1] = merged_offsets[r] + (n_targets if distinct >= fill_from else distinct)
    merged_targets = np.empty(merged_offsets[n_rows], dtype=np.int32)
    seen[:] = -1
    for r in range(n_rows):
        start, stop = merged_offsets[r], merged_offsets[r + 1]
        if stop - start == n_targets:
            merged_targets[start:stop] = np.arange(n_targets)
        else:
            ids = row_ids[row_offsets[r] : row_offsets[r + 1]]
            _distinct_targets(ids, offsets, targets, r, seen, merged_targets[start:stop])
            _sort_targets(merged_targets, start, stop, seen, r)
    return merged_offsets, merged_targets


@njit(cache=True, nogil=True)
def _distinct_targets(
    ids: np.ndarray, offsets: np.ndarray, targets: np.ndarray, r: int, seen: np.ndarray, out: np.ndarray
) -> int:
    """List the targets of some predicates, each once, and mark them as seen by row `r`; return how many."""
    n = 0
    for p in ids:
        for f in range(offsets[p], offsets[p + 1]):
            if seen[targets[f]] != r:
                seen[targets[f]] = r
                out[n] = targets[f]
                n += 1
    return n


@njit(cache=True, nogil=True)
def _sort_targets(targets: np.ndarray, start: int, stop: int, seen: np.ndarray, r: int) -> None:
    """Sort the distinct targets of row `r`: by looking at all where there are many, else by insertion."""
    n = stop - start
    if n * n > len(seen):
        place = start
        for z in range(len(seen)):
            if seen[z] == r:
                targets[place] = z
                place += 1
        return
    for k in range(start + 1, stop):
        z, at = targets[k], k
        while at > start and targets[at - 1] > z:
            targets[at] = targets[at - 1]
            at -= 1
        targets[at] = z


@njit(cache=True, nogil=True)
def add_rows(
    row_offsets: np.ndarray, row_ids: np.ndarray, offsets: np.ndarray, targets: np.ndarray, merged_offsets: np.ndarray,
    merged_targets: np.ndarray, n_targets: int, features: np.ndarray, merged: np.ndarray, back: bool,
) -> None:  # fmt: skip
    """Add the weight of each feature to the merged features that have it in their sum, or their counts back to it.

    Parameters
    ----------
    row_offsets, row_ids, offsets, targets, n_targets
        See `merge_rows`.
    merged_offsets, merged_targets : ndarray
        What `merge_rows` returned; rows that have every target need no `merged_targets`.
    features, merged : ndarray of float64
        Amount of each feature and of each merged feature.
    back : bool
        Whether `features` receives the sums, on top of what it holds; else `merged` does.

    Examples
    --------
    >>> row_offsets, row_ids = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    >>> offsets, targets = np.array([0, 1, 3]), np.array([7, 2, 7], dtype=np.int32)
    >>> rows = row_offsets, row_ids, offsets, targets, np.array([0, 2]), np.array([2, 7]), 9
    >>> weights, merged, counts = np.array([1.0, 2.0, 4.0]), np.zeros(2), np.zeros(3)
    >>> add_rows(*rows, weights, merged, False)
    >>> add_rows(*rows, counts, merged, True)
    >>> merged.tolist(), counts.tolist()
    ([2.0, 5.0], [5.0, 2.0, 5.0])
    """
    place = np.arange(n_targets)
    for r in range(len(row_offsets) - 1):
        start, stop = merged_offsets[r], merged_offsets[r + 1]
        whole = stop - start == n_targets
        for v in range(start, start if whole else stop):
            place[merged_targets[v]] = v - start
        for i in range(row_offsets[r], row_offsets[r + 1]):
            first, last = offsets[row_ids[i]], offsets[row_ids[i] + 1]
            # Four loops without a branch inside: this runs over all features in every iteration of a training.
            if whole and back:
                for f in range(first, last):
                    features[f] += merged[start + targets[f]]
            elif whole:
                for f in range(first, last):
                    merged[start + targets[f]] += features[f]
            elif back:
                for f in range(first, last):
                    features[f] += merged[start + place[targets[f]]]
            else:
                for f in range(first, last):
                    merged[start + place[targets[f]]] += features[f]
