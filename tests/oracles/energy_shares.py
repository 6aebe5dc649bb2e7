"""Shares of classes by energy distance, literally: every pair is visited, and every mixture of two classes on a grid is tried."""

from __future__ import annotations

import math


def distance(a, b):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def mean(values):
    return sum(values) / len(values)


def objective(share, first, second, unlabeled, pull):
    """Return the energy distance between a mixture and the unlabeled rows, but for what does not depend on the share."""
    labeled = [*first, *second]
    scale = mean([distance(a, b) for a in labeled for b in labeled])
    classes, shares = (first, second), (share, 1 - share)
    value = 0.0
    for rows, q in zip(classes, shares, strict=True):
        value += 2 * q * mean([distance(a, u) for a in rows for u in unlabeled]) / scale
        value += pull * q * math.log(2 * q)
    for i, rows in enumerate(classes):
        for j, others in enumerate(classes):
            pairs = [distance(a, b) for m, a in enumerate(rows) for n, b in enumerate(others) if i != j or m != n]
            value -= shares[i] * shares[j] * mean(pairs) / scale
    return value


def best_share(first, second, unlabeled, pull, steps=2_000):
    """Return the share of the first class, by trying all."""
    grid = [(k + 0.5) / steps for k in range(steps)]
    return min(grid, key=lambda share: objective(share, first, second, unlabeled, pull))
