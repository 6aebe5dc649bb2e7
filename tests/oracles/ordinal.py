"""Ordinal semi-supervised k-NN of Liu et al. (2013), slow and literal: everything is computed anew at every step.

A row is a list of numbers. An unlabeled row has the label None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Step:
    """What happened when one unlabeled row was processed."""

    row: int
    distance_factor: float
    label: object
    confidence: float
    inserted: bool
    factors: dict  # row -> distance factor, for every row that was still unlabeled before this step
    spread: float  # sum of the distances of `row` to the class centers


def squared_distance(a, b):
    return math.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def distance(a, b):
    return math.sqrt(squared_distance(a, b))


def omega(x, members, sigma):
    """Weigh the members of one class by the kernel, so that the weights sum to 1."""
    exponents = [-squared_distance(x, m) / (2 * sigma**2) for m in members]
    largest = max(exponents)  # taken out of numerator and denominator: exp of the raw exponents may underflow
    kappa = [math.exp(e - largest) for e in exponents]
    total = math.fsum(kappa)
    return [value / total for value in kappa]


def center(x, members, sigma):
    """Return M_j(x), the weighted mean of the members of one class."""
    w = omega(x, members, sigma)
    return [math.fsum(w[i] * members[i][c] for i in range(len(members))) for c in range(len(x))]


def center_distances(x, labeled, sigma):
    """Return d(x, M_j(x)) for every class with labeled members."""
    result = {}
    for label in {label for _, label in labeled}:
        members = [row for row, other in labeled if other == label]
        result[label] = distance(x, center(x, members, sigma))
    return result


def distance_factor(x, labeled, sigma):
    distances = list(center_distances(x, labeled, sigma).values())
    total = math.fsum(distances)
    if total == 0:
        return 0.0
    return min(distances) / total


def nearest(x, labeled, k):
    """List ``(distance, label)`` of the k nearest labeled rows, of equal ones the first stored."""
    measured = [(distance(x, row), position, label) for position, (row, label) in enumerate(labeled)]
    measured.sort(key=lambda entry: (entry[0], entry[1]))
    return [(d, label) for d, _, label in measured[:k]]


def majority(near):
    """Return the most frequent label; a tie goes to the label of the nearest neighbor among the tied."""
    counts = {}
    for _, label in near:
        counts[label] = counts.get(label, 0) + 1
    for _, label in near:
        if counts[label] == max(counts.values()):
            return label
    raise AssertionError("some neighbor has the most frequent label")


def confidence(near, label):
    """Return CF: the share of the summed distance that belongs to agreeing neighbors."""
    total = math.fsum(d for d, _ in near)
    if total == 0:
        return sum(other == label for _, other in near) / len(near)
    return math.fsum(d for d, other in near if other == label) / total


def transduce(rows, labels, k=1, sigma=1.0, min_confidence=1.0, order=None):
    """Return the steps of the paper's Table I and the final labeled set as ``(row, label)`` in the order of storing.

    `order`, if given, says which row each step takes instead of the one with the smallest distance factor.
    """
    labeled = [(rows[i], labels[i]) for i in range(len(rows)) if labels[i] is not None]
    waiting = [i for i in range(len(rows)) if labels[i] is None]
    steps = []
    for turn in range(len(waiting)):
        # Module 1
        factors = {i: distance_factor(rows[i], labeled, sigma) for i in waiting}
        smallest = min(waiting, key=lambda i: (factors[i], i))
        chosen = smallest if order is None else int(order[turn])
        x = rows[chosen]
        spread = math.fsum(center_distances(x, labeled, sigma).values())
        # Module 2
        near = nearest(x, labeled, k)
        label = majority(near)
        cf = confidence(near, label)
        inserted = cf >= min_confidence
        if inserted:
            labeled.append((x, label))
        waiting.remove(chosen)
        steps.append(Step(chosen, factors[chosen], label, cf, inserted, factors, spread))
    return steps, labeled
