"""Dependency trees by enumeration. Words are 1, 2, ..., n; 0 is the root; a tree is the tuple of the words' heads.

Siblings are those of McDonald and Pereira 2006: the modifiers of a head are taken on each side by itself, from the head
outward; each is paired with the one before it, the innermost with none. None is written as the head itself.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np


def reaches_root(heads, word):
    """Say whether going from head to head ends at the root."""
    for _ in range(len(heads) + 1):
        if word == 0:
            return True
        word = heads[word - 1]
    return False


def is_under(heads, word, ancestor):
    """Say whether a word is an ancestor or below it."""
    while word not in (0, ancestor):
        word = heads[word - 1]
    return word == ancestor


def is_projective(heads):
    """Say whether every word between a head and its modifier is below the head."""
    for modifier, head in enumerate(heads, start=1):
        for word in range(min(head, modifier) + 1, max(head, modifier)):
            if not is_under(heads, word, head):
                return False
    return True


@cache
def all_trees(n_words, projective=True, single_root=True):
    """Return every tree over so many words."""
    found = []
    for heads in product(range(n_words + 1), repeat=n_words):
        if not all(reaches_root(heads, word) for word in range(1, n_words + 1)):
            continue
        if single_root and heads.count(0) > 1:
            continue
        if projective and not is_projective(heads):
            continue
        found.append(heads)
    return found


def arcs(heads):
    """Return (head, modifier) of every word."""
    return [(head, modifier) for modifier, head in enumerate(heads, start=1)]


def siblings(heads):
    """Return (head, sibling, modifier) of every word; the sibling is the head itself where there is none."""
    found = []
    for head in range(len(heads) + 1):
        left = [m for m in range(head - 1, 0, -1) if heads[m - 1] == head]
        right = [m for m in range(head + 1, len(heads) + 1) if heads[m - 1] == head]
        for side in (left, right):
            before = head
            for modifier in side:
                found.append((head, before, modifier))
                before = modifier
    return sorted(found, key=lambda triple: triple[2])


def score(heads, arc, sibling=None):
    """Return the sum of arc[head, modifier], and of sibling[head, sibling, modifier] if given."""
    total = sum(arc[part] for part in arcs(heads))
    if sibling is not None:
        total += sum(sibling[part] for part in siblings(heads))
    return float(total)


def enumerate_trees(arc, sibling=None, projective=True, single_root=True):
    """Return the best trees, their score, the log partition, and the marginals of arcs and of sibling triples."""
    n = len(arc) - 1
    trees = all_trees(n, projective, single_root)
    scores = np.array([score(heads, arc, sibling) for heads in trees])
    top = scores.max()
    best = [heads for heads, value in zip(trees, scores, strict=True) if value > top - 1e-9]
    log_partition = top + np.log(np.exp(scores - top).sum())
    arc_marginals = np.zeros((n + 1, n + 1))
    sibling_marginals = np.zeros((n + 1, n + 1, n + 1))
    for heads, value in zip(trees, scores, strict=True):
        p = np.exp(value - log_partition)
        for part in arcs(heads):
            arc_marginals[part] += p
        for part in siblings(heads):
            sibling_marginals[part] += p
    return best, float(top), float(log_partition), arc_marginals, sibling_marginals
