"""All dependency trees of a few words, one by one."""

from __future__ import annotations

from itertools import product


def is_tree(heads):
    """Tell whether every word reaches the root."""
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def is_projective(heads):
    """Tell whether every word between a head and its child descends from the head."""
    for child, head in enumerate(heads, start=1):
        for inner in range(min(head, child) + 1, max(head, child)):
            word = inner
            while word and word != head:
                word = heads[word - 1]
            if word != head:
                return False
    return True


def all_trees(n, projective, single_root):
    """Return the heads of every tree of n words."""
    return [
        heads
        for heads in product(*([h for h in range(n + 1) if h != m] for m in range(1, n + 1)))
        if is_tree(heads) and (not projective or is_projective(heads)) and (not single_root or heads.count(0) == 1)
    ]


def pairs_of(heads):
    """Return every child as (head, nearest sibling between them or None, child)."""
    found = []
    for child, head in enumerate(heads, start=1):
        low, high = min(head, child), max(head, child)
        inner = [w for w in range(low + 1, high) if heads[w - 1] == head]
        sibling = None if not inner else max(inner) if child > head else min(inner)
        found.append((head, sibling, child))
    return found
