"""Features of arcs and sibling pairs of a sentence, from integer codes by templates, found in a hash table.

A sentence is a run of rows of ``codes``, the root first; row 0 stands for what is outside of the sentence and row 1 for
a sibling that is not there. A template is a list of atoms, each a place and an attribute. Its key holds the number of
the feature type in the highest bits and the codes below, so that a key can be read back. Code 0 is "nothing observed":
a template with such an atom does not fire.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels import njit

# Places of atoms: head, child, sibling, their neighbors, a token between head and child, and the part as a whole.
HEAD, CHILD, SIBLING, BETWEEN, PART = 0, 1, 2, 3, 4
BEFORE_HEAD, AFTER_HEAD, BEFORE_CHILD, AFTER_CHILD, BEFORE_SIBLING, AFTER_SIBLING = 5, 6, 7, 8, 9, 10
# Only where the whole tree is known: the head's head, and the outermost children of the child.
GRAND, FIRST_GRANDCHILD, LAST_GRANDCHILD = 11, 12, 13
# Two words away.
SECOND_BEFORE_HEAD, SECOND_AFTER_HEAD, SECOND_BEFORE_CHILD, SECOND_AFTER_CHILD = 14, 15, 16, 17
N_PLACES = 18
# Attributes of a part: how far head and child, and sibling and child, are apart; marked tokens between head and child.
GAP, SIBLING_GAP, FIRST_MARK = 0, 1, 2
N_MARKS = 3
# Only where the whole tree is known: see `handful.kernels.punctuation`.
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
    between, mark : int
        Attribute by which tokens between are told apart, and attribute that holds marks as bits.
    """

    places: np.ndarray
    attributes: np.ndarray
    each: np.ndarray
    types: np.ndarray
    bits: np.ndarray
    between: int
    mark: int


class KeyTable(NamedTuple):
    """A hash table of keys.

    Parameters
    ----------
    slots : ndarray of int64, shape (size, 2)
        Key and number of the key, -1 where empty; the size is a power of two.
    sieve : ndarray of uint8
        One bit for each of some hash values, set if any key has it; far smaller than the slots, it tells at once that
        most unknown keys are not there.
    """

    slots: np.ndarray
    sieve: np.ndarray


@njit(cache=True, nogil=True)
def make_table(keys: np.ndarray) -> KeyTable:
    """Make a hash table of keys.

    Parameters
    ----------
    keys : ndarray of int64
        Distinct keys, none negative.

    Returns
    -------
    KeyTable
        From each key to its position; at most half full.

    Examples
    --------
    >>> table = make_table(np.array([7, 9]))
    >>> find(table, 9), find(table, 8)
    (1, -1)
    """
    size = 2
    while size < 2 * len(keys):
        size *= 2
    slots = np.full((size, 2), -1, dtype=np.int64)
    sieve = np.zeros(size, dtype=np.uint8)
    for number, key in enumerate(keys):
        mixed = mix(key)
        slot = mixed & (size - 1)
        while slots[slot, 0] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot, 0], slots[slot, 1] = key, number
        bit = (mixed >> 3) & (size - 1)
        sieve[bit] |= np.uint8(1 << (mixed & 7))
    return KeyTable(slots, sieve)


@njit(cache=True, nogil=True)
def find(table: KeyTable, key: int) -> int:
    """Return the position of a key, or -1; see `make_table`."""
    slots, sieve = table
    last = len(slots) - 1
    mixed = mix(key)
    if not (sieve[(mixed >> 3) & last] >> (mixed & 7)) & 1:
        return -1
    slot = mixed & last
    while slots[slot, 0] >= 0:
        if slots[slot, 0] == key:
            return int(slots[slot, 1])
        slot = (slot + 1) & last
    return -1


@njit(cache=True, nogil=True)
def mix(key: int) -> int:
    """Return a hash of a key, not negative."""
    # Every bit of a key must reach the low bits: keys of different types often agree in all others.
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return int(np.int64(mixed >> np.uint64(1)))


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
def mark_sums(codes: np.ndarray, root: int, n: int, mark: int) -> np.ndarray:
    """Return, for each mark, how many tokens before each position have it; shape (n_marks, n + 2)."""
    sums = np.zeros((N_MARKS, n + 2), dtype=np.int64)
    for p in range(n + 1):
        for k in range(N_MARKS):
            sums[k, p + 1] = sums[k, p] + ((codes[root + p, mark] >> k) & 1 if p > 0 else 0)
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
    for k in range(N_MARKS):
        part[FIRST_MARK + k] = min(_MAX_COUNT, sums[k, high] - sums[k, low + 1])


@njit(cache=True, nogil=True)
def set_sibling(root: int, n: int, s: int, m: int, rows: np.ndarray, part: np.ndarray) -> None:
    """Fill in the places of a sibling, and how far it is from the child; s is 0 for none."""
    if s == 0:
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
            if core >= 0:
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
    sums = mark_sums(codes, root, n, arcs.mark)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(n + 1, dtype=np.int64)
    most = 2 * len(arcs.each) * (n + 2) + 2 * len(pairs.each) + 2 * len(near.each)
    buffer = np.empty(most, dtype=np.int64)
    keys = np.empty(n * 64 + most, dtype=np.int64)
    bounds = np.zeros(n + 1, dtype=np.int64)
    outer = np.ones((n + 1, 2), dtype=np.int64)  # rows of the outermost children, 1 for none
    for m in range(n, 0, -1):
        if m < heads[m - 1]:
            outer[heads[m - 1], 0] = root + m
    for m in range(1, n + 1):
        if m > heads[m - 1]:
            outer[heads[m - 1], 1] = root + m
    count = 0
    for m in range(1, n + 1):
        h = heads[m - 1]
        set_part(root, n, h, m, sums, rows, part)
        rows[GRAND] = root + heads[h - 1] if h > 0 else 0
        rows[FIRST_GRANDCHILD], rows[LAST_GRANDCHILD] = outer[m, 0], outer[m, 1]
        n_tokens = 0
        for b in range(min(h, m) + 1, max(h, m)):
            n_tokens = add_token(codes, arcs.between, root + b, tokens, n_tokens)
        n_found = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
        if second:
            s = siblings[m - 1]
            set_sibling(root, n, 0 if s == 0 else h + s if m > h else h - s, m, rows, part)
            n_found += template_keys(codes, pairs, rows, part, tokens, 0, buffer[n_found:])
            n_found += template_keys(codes, near, rows, part, tokens, 0, buffer[n_found:])
        if count + n_found > len(keys):
            larger = np.empty(2 * (count + n_found), dtype=np.int64)
            for k in range(count):
                larger[k] = keys[k]
            keys = larger
        for k in range(n_found):
            keys[count] = buffer[k]
            count += 1
        bounds[m] = count
    return keys[:count], bounds


@njit(cache=True, nogil=True)
def features_of_sentence(
    codes: np.ndarray,
    root: int,
    n: int,
    arcs: Templates,
    pairs: Templates,
    near: Templates,
    table: KeyTable,
    starts: np.ndarray,
    n_pairs: int,
    second: bool,
    single_root: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the features of every arc and pair of a sentence.

    Parameters
    ----------
    codes, root, arcs, pairs, near, second
        See `keys_of_tree`.
    n : int
        Words of the sentence.
    table : KeyTable
        Numbers of features by their keys; see `make_table`. Others are left out.
    starts, n_pairs
        Numbers of pairs; see `handful.kernels.trees.pair_starts`.
    single_root : bool
        Whether the root has exactly one child.

    Returns
    -------
    ids : ndarray of int32
        Features.
    begins, ends : ndarray of int32, shape ((n + 1) ** 2 + n_pairs,)
        Where those of each part start and end: arc ``(h, m)`` is part ``h * (n + 1) + m``, pairs come after the arcs.
    """
    size = n + 1
    n_parts = size * size + (n_pairs if second else 0)
    begins, ends = np.zeros(n_parts, dtype=np.int32), np.zeros(n_parts, dtype=np.int32)
    sums = mark_sums(codes, root, n, arcs.mark)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(size, dtype=np.int64)
    buffer = np.empty(2 * len(arcs.each) * (n + 2) + 2 * len(pairs.each), dtype=np.int64)
    # What sibling and child have without the head is found once for all heads. Sibling 0 is none, to the left of the
    # child; sibling n + 1 is none, to its right.
    near_ids, near_begins = np.empty(1, dtype=np.int32), np.zeros((size + 1, n + 3), dtype=np.int64)
    if second:
        near_ids, near_begins = _near_features(codes, root, n, near, table)
    ids = np.empty(16 * n_parts + 2 * len(buffer), dtype=np.int32)
    count = 0
    for h in range(size):
        for side in range(2):
            n_tokens = 0
            step = 1 if side else -1
            m = h + step
            while 1 <= m <= n:
                set_part(root, n, h, m, sums, rows, part)
                number = h * size + m
                begins[number] = count
                n_found = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
                ids, count = _append_found(table, buffer, n_found, ids, count)
                ends[number] = count
                if second:
                    n_choices = 1 if h == 0 and single_root else abs(h - m)
                    for k in range(n_choices):
                        number = size * size + starts[h, m] + k
                        begins[number] = count
                        set_sibling(root, n, 0 if k == 0 else h + step * k, m, rows, part)
                        n_found = template_keys(codes, pairs, rows, part, tokens, 0, buffer)
                        ids, count = _append_found(table, buffer, n_found, ids, count)
                        s = h + step * k if k > 0 else (0 if side else n + 1)
                        ids, count = _append(near_ids, near_begins[m, s], near_begins[m, s + 1], ids, count)
                        ends[number] = count
                n_tokens = add_token(codes, arcs.between, root + m, tokens, n_tokens)
                m += step
    return ids[:count], begins, ends


@njit(cache=True, nogil=True)
def _near_features(
    codes: np.ndarray, root: int, n: int, near: Templates, table: KeyTable
) -> tuple[np.ndarray, np.ndarray]:
    """List the features of sibling and child without the head, and where those of each child and sibling start."""
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(1, dtype=np.int64)
    buffer = np.empty(2 * len(near.each) + 1, dtype=np.int64)
    ids = np.empty(8 * (n + 1) * (n + 2), dtype=np.int32)
    begins = np.zeros((n + 1, n + 3), dtype=np.int64)
    count = 0
    for m in range(1, n + 1):
        rows[CHILD] = root + m
        rows[BEFORE_CHILD] = root + m - 1
        rows[AFTER_CHILD] = root + m + 1 if m < n else 0
        for s in range(n + 2):
            begins[m, s] = count
            if s != m:
                rows[HEAD] = -1 if s < m else root + n + 1  # tells the direction alone
                set_sibling(root, n, 0 if s == n + 1 else s, m, rows, part)
                n_found = template_keys(codes, near, rows, part, tokens, 0, buffer)
                ids, count = _append_found(table, buffer, n_found, ids, count)
        begins[m, n + 2] = count
    return ids[:count], begins


@njit(cache=True, nogil=True)
def _append(others: np.ndarray, begin: int, end: int, ids: np.ndarray, count: int) -> tuple[np.ndarray, int]:
    """Append some features to a list that grows."""
    if count + end - begin > len(ids):
        larger = np.empty(2 * (count + end - begin), dtype=np.int32)
        for k in range(count):
            larger[k] = ids[k]
        ids = larger
    for k in range(begin, end):
        ids[count] = others[k]
        count += 1
    return ids, count


@njit(cache=True, nogil=True)
def _append_found(
    table: KeyTable, keys: np.ndarray, n_keys: int, ids: np.ndarray, count: int
) -> tuple[np.ndarray, int]:
    """Append the features of some keys to a list that grows."""
    if count + n_keys > len(ids):
        larger = np.empty(2 * (count + n_keys), dtype=np.int32)
        for k in range(count):
            larger[k] = ids[k]
        ids = larger
    for k in range(n_keys):
        number = find(table, keys[k])
        if number >= 0:
            ids[count] = number
            count += 1
    return ids, count


@njit(cache=True, nogil=True)
def find_all(table: KeyTable, keys: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find many keys in rows; those that are not there are left out.

    Parameters
    ----------
    table : KeyTable
        See `make_table`.
    keys : ndarray of int64
        Keys of all rows.
    bounds : ndarray of int64, shape (n_rows + 1,)
        Where those of each row start.

    Returns
    -------
    ids : ndarray of int32
        Positions of the keys.
    bounds : ndarray of int64, shape (n_rows + 1,)
        Where those of each row start.

    Examples
    --------
    >>> ids, bounds = find_all(make_table(np.array([7, 9])), np.array([9, 8, 7]), np.array([0, 2, 3]))
    >>> ids.tolist(), bounds.tolist()
    ([1, 0], [0, 1, 2])
    """
    ids = np.empty(len(keys), dtype=np.int32)
    offsets = np.zeros(len(bounds), dtype=np.int64)
    count = 0
    for row in range(len(bounds) - 1):
        for k in range(bounds[row], bounds[row + 1]):
            number = find(table, keys[k])
            if number >= 0:
                ids[count] = number
                count += 1
        offsets[row + 1] = count
    return ids[:count], offsets
