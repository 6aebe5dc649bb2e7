"""Features and scores of the parts of dependency trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels.cache import njit
from handful.kernels.hashing import KeyTable, find, sum_of_weights
from handful.kernels.trees import best_crossing_tree, best_tree, siblings_of, tree_marginals

# Places of atoms: head, child, sibling, their neighbors, a token between head and child, and the part as a whole.
HEAD, CHILD, SIBLING, BETWEEN, PART = 0, 1, 2, 3, 4
BEFORE_HEAD, AFTER_HEAD, BEFORE_CHILD, AFTER_CHILD, BEFORE_SIBLING, AFTER_SIBLING = 5, 6, 7, 8, 9, 10
# Only where the whole tree is known: the head's head, and the outermost children of the child.
GRAND, FIRST_GRANDCHILD, LAST_GRANDCHILD = 11, 12, 13
# Two words away.
SECOND_BEFORE_HEAD, SECOND_AFTER_HEAD, SECOND_BEFORE_CHILD, SECOND_AFTER_CHILD = 14, 15, 16, 17
N_PLACES = 18
# Attributes of a part: how far head and child, and sibling and child, are apart; flagged tokens between head and child.
GAP, SIBLING_GAP, FIRST_FLAG = 0, 1, 2
N_FLAGS = 3
# Only where the whole tree is known: see `handful.kernels.arcs`.
TOPS, CLIMB, PAIR = 5, 6, 7
N_PART = 8
PART_BITS = 3
TYPE_SHIFT = 55
_NEAR = 5
_MAX_COUNT = 3


class Templates(NamedTuple):
    """Templates as arrays.

    Parameters
    ----------
    places, attributes : ndarray of int64, shape (n_templates, n_atoms)
        The atoms; place -1 where a template has no more.
    each : ndarray of bool, shape (n_templates,)
        Whether a template fires for each different token between head and child.
    types : ndarray of int64, shape (n_templates, 2)
        Number of the feature type with the direction, and of the one with direction and distance; -1 for none.
    bits : ndarray of int64
        Bits of a code, for each attribute.
    between, flags : int
        Attribute that distinguishes the tokens between, and attribute that holds flags as bits.
    """

    places: np.ndarray
    attributes: np.ndarray
    each: np.ndarray
    types: np.ndarray
    bits: np.ndarray
    between: int
    flags: int


@njit(cache=True, nogil=True)
def gap_of(distance: int) -> int:
    """Return a distance as one of seven steps: 1 to 5, up to 10, more.

    Examples
    --------
    >>> [gap_of(d) for d in (1, 5, 6, 10, 11)]
    [0, 4, 5, 5, 6]
    """
    if distance <= _NEAR:
        return distance - 1
    return _NEAR if distance <= 2 * _NEAR else _NEAR + 1


@njit(cache=True, nogil=True)
def flag_sums(codes: np.ndarray, root: int, n: int, flags: int) -> np.ndarray:
    """Return, for each flag, how many tokens before each position have it; shape (N_FLAGS, n + 2)."""
    sums = np.zeros((N_FLAGS, n + 2), dtype=np.int64)
    for p in range(n + 1):
        for k in range(N_FLAGS):
            sums[k, p + 1] = sums[k, p] + ((codes[root + p, flags] >> k) & 1 if p > 0 else 0)
    return sums


@njit(cache=True, nogil=True)
def set_part(root: int, n: int, h: int, m: int, sums: np.ndarray, rows: np.ndarray, part: np.ndarray) -> None:
    """Fill in the places of an arc from h to m, and its attributes."""
    rows[HEAD], rows[CHILD] = root + h, root + m
    rows[BEFORE_HEAD] = root + h - 1 if h > 0 else 0
    rows[AFTER_HEAD] = root + h + 1 if h < n else 0
    rows[BEFORE_CHILD] = root + m - 1
    rows[AFTER_CHILD] = root + m + 1 if m < n else 0
    rows[SECOND_BEFORE_HEAD] = root + h - 2 if h > 1 else 0
    rows[SECOND_AFTER_HEAD] = root + h + 2 if h < n - 1 else 0
    rows[SECOND_BEFORE_CHILD] = root + m - 2 if m > 1 else 0
    rows[SECOND_AFTER_CHILD] = root + m + 2 if m < n - 1 else 0
    part[GAP] = gap_of(abs(h - m))
    low, high = min(h, m), max(h, m)
    for k in range(N_FLAGS):
        part[FIRST_FLAG + k] = min(_MAX_COUNT, sums[k, high] - sums[k, low + 1])


@njit(cache=True, nogil=True)
def set_sibling(root: int, n: int, s: int, m: int, rows: np.ndarray, part: np.ndarray) -> None:
    """Fill in the places of a sibling, and how far it is from the child; s is 0 or n + 1 for none."""
    if s == 0 or s > n:
        rows[SIBLING] = rows[BEFORE_SIBLING] = rows[AFTER_SIBLING] = 1
        part[SIBLING_GAP] = 7
    else:
        rows[SIBLING] = root + s
        rows[BEFORE_SIBLING] = root + s - 1
        rows[AFTER_SIBLING] = root + s + 1 if s < n else 0
        part[SIBLING_GAP] = gap_of(abs(s - m))


@njit(cache=True, nogil=True)
def template_keys(
    codes: np.ndarray,
    spec: Templates,
    rows: np.ndarray,
    part: np.ndarray,
    tokens: np.ndarray,
    n_tokens: int,
    out: np.ndarray,
) -> int:
    """Write the keys of one part; return how many."""
    direction = 1 if rows[CHILD] > rows[HEAD] else 0
    count = 0
    for t in range(len(spec.each)):
        for r in range(n_tokens if spec.each[t] else 1):
            if spec.each[t]:
                rows[BETWEEN] = tokens[r]
            core = 0
            for a in range(spec.places.shape[1]):
                place = spec.places[t, a]
                if place < 0:
                    break
                attribute = spec.attributes[t, a]
                if place == PART:
                    core = (core << PART_BITS) | part[attribute]
                else:
                    code = codes[rows[place], attribute]
                    if code == 0:
                        core = -1
                        break
                    core = (core << spec.bits[attribute]) | code
            if core < 0:
                continue
            core = (core << 1) | direction
            if spec.types[t, 0] >= 0:
                out[count] = (spec.types[t, 0] << TYPE_SHIFT) | core
                count += 1
            if spec.types[t, 1] >= 0:
                out[count] = (spec.types[t, 1] << TYPE_SHIFT) | (core << PART_BITS) | part[GAP]
                count += 1
    return count


@njit(cache=True, nogil=True)
def write_keys(codes: np.ndarray, templates: Templates, rows: np.ndarray, part: np.ndarray, out: np.ndarray) -> int:
    """Write the keys of one part, without tokens between, to `out`; return how many.

    Parameters
    ----------
    codes, templates
        See `keys_of_tree`.
    rows : ndarray of int64, shape (N_PLACES,)
        Row of each place.
    part : ndarray of int64, shape (N_PART,)
        Attributes of the part as a whole.
    out : ndarray of int64
        Receives the keys.

    Returns
    -------
    int
        How many.
    """
    return int(template_keys(codes, templates, rows, part, rows, 0, out))


@njit(cache=True, nogil=True)
def add_token(codes: np.ndarray, attribute: int, row: int, tokens: np.ndarray, n_tokens: int) -> int:
    """Add a row to the tokens between, unless one is there that looks the same; return how many there are."""
    for k in range(n_tokens):
        if codes[tokens[k], attribute] == codes[row, attribute]:
            return n_tokens
    tokens[n_tokens] = row
    return n_tokens + 1


@njit(cache=True, nogil=True)
def keys_of_tree(
    codes: np.ndarray,
    root: int,
    arcs: Templates,
    pairs: Templates,
    near: Templates,
    heads: np.ndarray,
    siblings: np.ndarray,
    second: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """List the keys of all parts of one tree.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_attributes)
        Codes of the tokens.
    root : int
        Row of the root of the sentence.
    arcs, pairs, near : Templates
        The templates of arcs, of pairs, and of pairs without a look at the head.
    heads, siblings : ndarray
        Head of each word, and its nearest sibling; see `handful.kernels.trees.siblings_of`.
    second : bool
        Whether pairs count.

    Returns
    -------
    keys : ndarray of int64
        Keys, word by word.
    bounds : ndarray of int64, shape (n + 1,)
        Where those of each word start.
    """
    n = len(heads)
    sums = flag_sums(codes, root, n, arcs.flags)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(n + 1, dtype=np.int64)
    most = 2 * len(arcs.each) * (n + 2) + 2 * len(pairs.each) + 2 * len(near.each)
    buffer = np.empty(most, dtype=np.int64)
    keys = np.empty(n * 64 + most, dtype=np.int64)
    bounds = np.zeros(n + 1, dtype=np.int64)
    outer = _outermost_children(heads, root)
    count = 0
    for m in range(1, n + 1):
        h = heads[m - 1]
        set_part(root, n, h, m, sums, rows, part)
        rows[GRAND] = root + heads[h - 1] if h > 0 else 0
        rows[FIRST_GRANDCHILD], rows[LAST_GRANDCHILD] = outer[m, 0], outer[m, 1]
        n_tokens = 0
        for b in range(min(h, m) + 1, max(h, m)):
            n_tokens = add_token(codes, arcs.between, root + b, tokens, n_tokens)
        n_keys = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
        if second:
            set_sibling(root, n, _sibling_at(h, m, siblings[m - 1], n), m, rows, part)
            n_keys += template_keys(codes, pairs, rows, part, tokens, 0, buffer[n_keys:])
            n_keys += template_keys(codes, near, rows, part, tokens, 0, buffer[n_keys:])
        keys = _with_capacity(keys, count + n_keys)
        keys[count : count + n_keys] = buffer[:n_keys]
        count += n_keys
        bounds[m] = count
    return keys[:count], bounds


@njit(cache=True, nogil=True)
def _outermost_children(heads: np.ndarray, root: int) -> np.ndarray:
    """Return the rows of the first child to the left and of the last to the right of each word, 1 for none."""
    outer = np.ones((len(heads) + 1, 2), dtype=np.int64)
    for m in range(len(heads), 0, -1):
        if m < heads[m - 1]:
            outer[heads[m - 1], 0] = root + m
    for m in range(1, len(heads) + 1):
        if m > heads[m - 1]:
            outer[heads[m - 1], 1] = root + m
    return outer


@njit(cache=True, nogil=True)
def _sibling_at(h: int, m: int, distance: int, n: int) -> int:
    """Return the sibling of m at a distance from the head h; at distance 0 none: 0 to the left of m, n + 1 to its right."""
    if distance == 0:
        return 0 if m > h else n + 1
    return h + distance if m > h else h - distance


class PairNumbers(NamedTuple):
    """Numbers of the pairs of a sentence; see `handful.kernels.trees.pair_starts`.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1, n + 1)
        Number of the first pair of each arc.
    n_pairs : int
        Pairs in all; 0 where arcs alone count.
    single_root : bool
        Whether the root has exactly one child.
    """

    starts: np.ndarray
    n_pairs: int
    single_root: bool


@njit(cache=True, nogil=True)
def _n_choices(pairs: PairNumbers, h: int, m: int) -> int:
    """Return how many pairs an arc is in: without a sibling, or with one between head and child."""
    return 0 if h == m else 1 if h == 0 and pairs.single_root else abs(h - m)


@njit(cache=True, nogil=True)
def features_of_sentence(
    codes: np.ndarray,
    root: int,
    n: int,
    templates: tuple[Templates, Templates, Templates],
    table: KeyTable,
    numbers: PairNumbers,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the features of every arc and pair of a sentence.

    Parameters
    ----------
    codes, root
        See `keys_of_tree`.
    n : int
        Words of the sentence.
    templates : tuple of Templates
        Those of arcs, of pairs, and of pairs without a look at the head.
    table : KeyTable
        Numbers of features by their keys; see `make_key_table`. Others are left out.
    numbers : PairNumbers
        Numbers of the pairs.

    Returns
    -------
    ids : ndarray of int32
        Features.
    begins, ends : ndarray of int32, shape ((n + 1) ** 2 + n_pairs,)
        Where those of each part start and end: arc ``(h, m)`` is part ``h * (n + 1) + m``, pairs come after the arcs.
    """
    arcs, pairs, near = templates
    size = n + 1
    n_parts = size * size + numbers.n_pairs
    begins, ends = np.zeros(n_parts, dtype=np.int32), np.zeros(n_parts, dtype=np.int32)
    sums = flag_sums(codes, root, n, arcs.flags)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(size, dtype=np.int64)
    buffer = np.empty(2 * len(arcs.each) * (n + 2) + 2 * len(pairs.each), dtype=np.int64)
    ids = np.empty(16 * n_parts + 2 * len(buffer), dtype=np.int32)
    count = 0
    for h in range(size):
        for step in (-1, 1):
            n_tokens = 0
            for m in range(h + step, size if step > 0 else 0, step):
                set_part(root, n, h, m, sums, rows, part)
                begins[h * size + m] = count
                n_keys = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
                ids, count = _append_found(table, buffer, n_keys, ids, count)
                ends[h * size + m] = count
                n_tokens = add_token(codes, arcs.between, root + m, tokens, n_tokens)
    if numbers.n_pairs == 0:
        return ids[:count], begins, ends
    # What sibling and child have without the head is found once for all heads.
    near_ids, near_begins = _near_features(codes, root, n, near, table)
    for h in range(size):
        for m in range(1, size):
            set_part(root, n, h, m, sums, rows, part)
            for k in range(_n_choices(numbers, h, m)):
                number, s = size * size + numbers.starts[h, m] + k, _sibling_at(h, m, k, n)
                begins[number] = count
                set_sibling(root, n, s, m, rows, part)
                n_keys = template_keys(codes, pairs, rows, part, tokens, 0, buffer)
                ids, count = _append_found(table, buffer, n_keys, ids, count)
                near_here = near_ids[near_begins[m, s] : near_begins[m, s + 1]]
                ids = _with_capacity(ids, count + len(near_here))
                ids[count : count + len(near_here)] = near_here
                count += len(near_here)
                ends[number] = count
    return ids[:count], begins, ends


@njit(cache=True, nogil=True)
def _near_features(
    codes: np.ndarray, root: int, n: int, near: Templates, table: KeyTable
) -> tuple[np.ndarray, np.ndarray]:
    """List the features of sibling and child without the head, and where those of each child and sibling start."""
    buffer = np.empty(2 * len(near.each) + 1, dtype=np.int64)
    ids = np.empty(8 * (n + 1) * (n + 2), dtype=np.int32)
    begins = np.zeros((n + 1, n + 3), dtype=np.int64)
    count = 0
    for m in range(1, n + 1):
        for s in range(n + 2):
            begins[m, s] = count
            if s != m:
                n_keys = _headless_keys(codes, root, n, near, m, s, buffer)
                ids, count = _append_found(table, buffer, n_keys, ids, count)
        begins[m, n + 2] = count
    return ids[:count], begins


@njit(cache=True, nogil=True)
def _headless_keys(codes: np.ndarray, root: int, n: int, near: Templates, m: int, s: int, out: np.ndarray) -> int:
    """Write the keys of a child and a sibling, whatever their head; return how many."""
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    rows[CHILD] = root + m
    rows[BEFORE_CHILD] = root + m - 1
    rows[AFTER_CHILD] = root + m + 1 if m < n else 0
    rows[HEAD] = -1 if s < m else root + n + 1  # only for the direction
    set_sibling(root, n, s, m, rows, part)
    return int(write_keys(codes, near, rows, part, out))


@njit(cache=True, nogil=True)
def _with_capacity(array: np.ndarray, n: int) -> np.ndarray:
    """Return the array, or a longer one that begins with it."""
    if n <= len(array):
        return array
    longer = np.empty(2 * n, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def _append_found(
    table: KeyTable, keys: np.ndarray, n_keys: int, ids: np.ndarray, count: int
) -> tuple[np.ndarray, int]:
    """Append the features of some keys to a list that grows."""
    ids = _with_capacity(ids, count + n_keys)
    for k in range(n_keys):
        number = find(table, keys[k])
        if number >= 0:
            ids[count] = number
            count += 1
    return ids, count


@njit(cache=True, nogil=True)
def score_parts(ids: np.ndarray, begins: np.ndarray, ends: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Add up the weights of each part.

    Parameters
    ----------
    ids, begins, ends : ndarray
        Features of the parts.
    weights : ndarray of float64
        Weights.

    Returns
    -------
    ndarray of float64
        One score per part.

    Examples
    --------
    >>> score_parts(np.array([0, 1]), np.array([0, 1]), np.array([2, 2]), np.array([1.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    scores = np.zeros(len(begins))
    for p in range(len(begins)):
        total = 0.0
        for k in range(begins[p], ends[p]):
            total += weights[ids[k]]
        scores[p] = total
    return scores


@njit(cache=True, nogil=True)
def count_parts(ids: np.ndarray, begins: np.ndarray, ends: np.ndarray, amounts: np.ndarray, counts: np.ndarray) -> None:
    """Add to each feature how much there is of its parts; the reverse of `score_parts`.

    Parameters
    ----------
    ids, begins, ends : ndarray
        Features of the parts.
    amounts : ndarray of float64
        How much there is of each part.
    counts : ndarray of float64
        Receives the counts of features.

    Examples
    --------
    >>> counts = np.zeros(2)
    >>> count_parts(np.array([0, 1]), np.array([0, 1]), np.array([2, 2]), np.array([1.0, 3.0]), counts)
    >>> counts.tolist()
    [1.0, 4.0]
    """
    for p in range(len(begins)):
        if amounts[p] != 0.0:
            for k in range(begins[p], ends[p]):
                counts[ids[k]] += amounts[p]


@njit(cache=True, nogil=True)
def parts_of_tree(heads: np.ndarray, starts: np.ndarray, second: bool) -> np.ndarray:
    """Return the numbers of the parts of a tree: its arcs, then its pairs.

    Examples
    --------
    >>> parts_of_tree(np.array([0, 1]), np.empty((0, 0), dtype=np.int64), False).tolist()
    [1, 5]
    """
    n = len(heads)
    size = n + 1
    out = np.empty(2 * n if second else n, dtype=np.int64)
    for m in range(1, size):
        out[m - 1] = heads[m - 1] * size + m
    if second:
        siblings = siblings_of(heads)
        for m in range(1, size):
            out[n + m - 1] = size * size + starts[heads[m - 1], m] + siblings[m - 1]
    return out


def decode(
    scores: np.ndarray, n: int, starts: np.ndarray, second: bool, projective: bool, single_root: bool
) -> tuple[np.ndarray, float]:
    """Return the best heads given the scores of all parts, and their score; see `best_tree`.

    Examples
    --------
    >>> decode(np.array([0.0, 3.0, 0.0, 0.0]), 1, np.empty((0, 0), dtype=np.int64), False, True, True)[0].tolist()
    [0]
    """
    size = n + 1
    arcs = scores[: size * size].reshape(size, size)
    if projective:
        heads, value = best_tree(arcs, scores[size * size :], starts, second, single_root)
    else:
        heads, value = best_crossing_tree(arcs, single_root)
    return heads, value


@njit(cache=True, nogil=True)
def add_costs(scores: np.ndarray, gold: np.ndarray) -> None:
    """Add 1 to the score of every arc that is not in a tree.

    Examples
    --------
    >>> scores = np.zeros(9)
    >>> add_costs(scores, np.array([0, 1]))
    >>> scores.reshape(3, 3).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    size = len(gold) + 1
    for h in range(size):
        for m in range(1, size):
            if gold[m - 1] != h:
                scores[h * size + m] += 1.0


_NO_PAIRS = np.empty(0)
_NO_STARTS = np.empty((0, 0), dtype=np.int64)
_PRUNED = 1e6  # so much less for an arc that was not kept: a tree has one only if there is no other


@njit(cache=True, nogil=True)
def likely_arcs(arcs: np.ndarray, single_root: bool, scale: float, least: float) -> np.ndarray:
    """Tell which arcs projective trees are likely to have, by the scores of arcs alone.

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc.
    single_root : bool
        Whether the root has exactly one child.
    scale : float
        Scores are divided by it before they are taken for logarithms.
    least : float
        Arcs are kept that are at least this likely, as a share of the likeliest arc to the same child.

    Returns
    -------
    ndarray of bool, shape (n + 1, n + 1)
        True for the arcs to keep; all where the sums overflow.

    Examples
    --------
    >>> arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    >>> likely_arcs(arcs, True, 0.3, 0.5).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    size = len(arcs)
    total, marginals, _ = tree_marginals(arcs / scale, _NO_PAIRS, _NO_STARTS, False, single_root)
    kept = np.full((size, size), not np.isfinite(total))
    for m in range(1, size):
        best = 0.0
        for h in range(size):
            best = max(best, marginals[h, m])
        for h in range(size):
            if h != m and marginals[h, m] >= least * best:
                kept[h, m] = True
    return kept


@njit(cache=True, nogil=True)
def part_scores(
    codes: np.ndarray,
    root: int,
    n: int,
    templates: tuple[Templates, Templates, Templates],
    table: KeyTable,
    numbers: PairNumbers,
    scale: float,
    least: float,
) -> np.ndarray:
    """Score the parts of a sentence, pairs only where head and child, and head and sibling, are kept.

    Parameters
    ----------
    codes, root, n, templates, numbers
        See `handful.kernels.tree_features.features_of_sentence`.
    table : KeyTable
        From keys of features to the bits of their weights.
    scale, least : float
        Which arcs are kept; see `likely_arcs`.

    Returns
    -------
    ndarray of float64, shape ((n + 1) ** 2 + n_pairs,)
        Scores of the arcs, then of the pairs. Where pairs count, arcs that were not kept have lost a million, and the
        pairs that would need one have the score 0.
    """
    arcs, pairs, near = templates
    size = n + 1
    scores = np.zeros(size * size + numbers.n_pairs)
    sums = flag_sums(codes, root, n, arcs.flags)
    _score_arcs(codes, root, n, arcs, table, sums, scores)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    buffer = np.empty(2 * len(pairs.each) + 1, dtype=np.int64)
    if numbers.n_pairs == 0:
        return scores
    kept = likely_arcs(scores[: size * size].reshape(size, size), numbers.single_root, scale, least)
    headless = np.full((size, n + 2), np.nan)
    for h in range(size):
        for m in range(1, size):
            if kept[h, m]:
                set_part(root, n, h, m, sums, rows, part)
                start = size * size + numbers.starts[h, m]
                for k in range(_n_choices(numbers, h, m)):
                    s = _sibling_at(h, m, k, n)
                    if k == 0 or kept[h, s]:
                        set_sibling(root, n, s, m, rows, part)
                        total = sum_of_weights(table, buffer, write_keys(codes, pairs, rows, part, buffer))
                        scores[start + k] = total + _headless_score(codes, root, n, near, table, m, s, headless)
            elif h != m:
                scores[h * size + m] -= _PRUNED
    return scores


@njit(cache=True, nogil=True)
def _score_arcs(
    codes: np.ndarray, root: int, n: int, arcs: Templates, table: KeyTable, sums: np.ndarray, scores: np.ndarray
) -> None:
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens, buffer = np.empty(n + 1, dtype=np.int64), np.empty(2 * len(arcs.each) * (n + 2), dtype=np.int64)
    for h in range(n + 1):
        for step in (-1, 1):
            n_tokens = 0
            for m in range(h + step, n + 1 if step > 0 else 0, step):
                set_part(root, n, h, m, sums, rows, part)
                n_keys = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
                scores[h * (n + 1) + m] = sum_of_weights(table, buffer, n_keys)
                n_tokens = add_token(codes, arcs.between, root + m, tokens, n_tokens)


@njit(cache=True, nogil=True)
def _headless_score(
    codes: np.ndarray, root: int, n: int, near: Templates, table: KeyTable, m: int, s: int, known: np.ndarray
) -> float:
    """Return what sibling and child have without the head; added up when first asked for, once for all heads."""
    if np.isnan(known[m, s]):
        buffer = np.empty(2 * len(near.each) + 1, dtype=np.int64)
        known[m, s] = sum_of_weights(table, buffer, _headless_keys(codes, root, n, near, m, s, buffer))
    return float(known[m, s])
