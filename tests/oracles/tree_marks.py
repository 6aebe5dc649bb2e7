"""Candidate heads of punctuation marks, told word by word."""

from __future__ import annotations


def ancestors(heads, word):
    """Return a word and all above it, without the root."""
    out = []
    while word:
        out.append(word)
        word = heads[word - 1]
    return out


def movable(heads, is_mark):
    """Return the marks without children that do not hang from the root, counted from 1."""
    return [p for p, head in enumerate(heads, start=1) if is_mark[p - 1] and head and p not in heads]


def way_up(heads, marks, words, on_this_side):
    """Return the first of some words that is no movable mark, with its ancestors as long as they are on its side."""
    start = next((w for w in words if w not in marks), 0)
    out = []
    for word in ancestors(heads, start):
        if not on_this_side(word):
            break
        out.append(word)
    return out


def candidates(heads, is_mark, partner):
    """Return for each movable mark its candidates: (head, tops, climb, pair)."""
    marks = movable(heads, is_mark)
    found = {}
    for p in marks:
        left = way_up(heads, marks, range(p - 1, 0, -1), lambda w, p=p: w < p)
        right = way_up(heads, marks, range(p + 1, len(heads) + 1), lambda w, p=p: w > p)
        if not left:
            tops = 0
        elif not right:
            tops = 1
        elif heads[left[-1] - 1] in right:
            tops = 2
            right = right[: right.index(heads[left[-1] - 1]) + 1]
        elif heads[right[-1] - 1] in left:
            tops = 3
            left = left[: left.index(heads[right[-1] - 1]) + 1]
        else:
            tops = 4
        found[p] = []
        for mine, other in ((left, right), (right, left)):
            for k, head in enumerate(mine):
                above = heads[head - 1]
                climb = min(k, 2)
                if head == mine[-1]:
                    climb = 3 if above == 0 else 4 if above in other else 5
                pair = 0
                if p in partner:
                    inside = range(min(p, partner[p]) + 1, max(p, partner[p]))
                    pair = 1 if head not in inside else 2 if above in inside else 3
                found[p].append((head, tops, climb, pair))
    return found


def crosses(heads):
    """Tell whether any two arcs cross; those of the root do not count."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, start=1) if h]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)
