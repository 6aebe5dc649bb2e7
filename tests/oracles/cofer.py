"""Condensed features (Suzuki, Isozaki and Nagata 2011) by definition: every part of every output, one at a time.

An output is a tuple of parts: of one label, of label windows (i, y_{i-1}, y_i), or of arcs (head, modifier). What fires
at a part is told by a callable ``features(x, part)`` that returns a dictionary from names to amounts. Whole amounts are
counted in fractions, so that R - A is compared with C exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import ceil, exp, floor, log
from typing import NamedTuple

FLOOR = 1e-6


class Counts(NamedTuple):
    """V+, V-, R and A of every feature that fires at some part of some input."""

    plus: dict
    minus: dict
    chosen: dict
    even: dict


# -- outputs and their parts ------------------------------------------------------------------------------------------


def flat_outputs(labels):
    """Return one output, of one part, for each label."""
    return [(label,) for label in labels]


def chain_output(tags, order=1):
    """Return the parts of one labeling: a position with its label and the labels before it, as far as there are any."""
    return tuple((i, *tags[max(0, i - order) : i + 1]) for i in range(len(tags)))


def chain_outputs(length, labels, legal=None, order=1):
    """Return every labeling in which legal(label before or None, label) holds throughout."""
    found = []
    for tags in product(labels, repeat=length):
        if legal is None or all(legal(a, b) for a, b in zip((None, *tags), tags, strict=False)):
            found.append(chain_output(tags, order))
    return found


def tree_output(heads):
    """Return the arcs of one tree, given the head of word 1, 2, ... (0 is the root)."""
    return tuple((head, modifier) for modifier, head in enumerate(heads, start=1))


def all_parts(outputs):
    """Z(x): the parts that occur in any output, each once."""
    return list(dict.fromkeys(part for output in outputs for part in output))


def vector(features, x, output):
    """f(x, y): the features of an output are the sums over its parts."""
    total = Counter()
    for part in output:
        for name, amount in features(x, part).items():
            total[name] += amount
    return dict(total)


def dot(weights, amounts):
    """Score of an output."""
    return sum(weights.get(name, 0.0) * amount for name, amount in amounts.items())


def best_output(features, weights, x, outputs):
    """Return the output with the highest score; among equals the first."""
    return max(outputs, key=lambda output: dot(weights, vector(features, x, output)))


# -- potency ----------------------------------------------------------------------------------------------------------


def even_share(best, parts):
    """r_bar(x): how many parts the best output has, by the number of all parts."""
    return Fraction(sum(part in best for part in parts), len(parts))


def count_parts(inputs, outputs_of, best_of, features):
    """Return V+, V-, R and A, given all outputs and the best output of each input."""
    plus, minus, chosen, even = (defaultdict(int) for _ in range(4))
    for x in inputs:
        best, parts = best_of(x), all_parts(outputs_of(x))
        if not parts:
            continue
        share = even_share(best, parts)
        for part in parts:
            is_best = 1 if part in best else 0
            for name, amount in features(x, part).items():
                chosen[name] += is_best * amount
                even[name] += share * amount
                plus[name] += amount * (is_best - share) if is_best else 0
                minus[name] += 0 if is_best else -amount * (is_best - share)
    return Counts(dict(plus), dict(minus), dict(chosen), dict(even))


def discounted(chosen, even, discount):
    """V': log(R +- C) - log(A), or None for a feature that was never seen."""
    if even == 0:
        return None
    difference = chosen - even
    discount = Fraction(discount)
    if difference < -discount:
        return log(max(chosen + discount, FLOOR)) - log(even)
    if difference > discount:
        return log(chosen - discount) - log(even)
    return 0.0


def quantized(value, resolution):
    """V*: away from zero to a whole number of steps."""
    return ceil(resolution * value) if value > 0 else floor(resolution * value)


def potencies(counts, discount):
    """Return V' of every feature that was seen."""
    found = {name: discounted(counts.chosen[name], even, discount) for name, even in counts.even.items()}
    return {name: value for name, value in found.items() if value is not None}


def bins(potency, resolution):
    """Return V* of every feature."""
    return {name: quantized(value, resolution) for name, value in potency.items()}


# -- condensed features -----------------------------------------------------------------------------------------------


def condensed_sets(bin_of, type_of):
    """S_m: original features of one type and one value that is not zero, under the key (type, value)."""
    sets = defaultdict(set)
    for name, value in bin_of.items():
        if value != 0:
            sets[type_of(name), value].add(name)
    return dict(sets)


def condensed_vector(amounts, bin_of, type_of, resolution, global_phi=False):
    """Return h_m(x, y) under ("h", type, value) and phi(x, y) under ("phi", type), one per type or one in all."""
    total = Counter()
    for (kind, value), members in condensed_sets(bin_of, type_of).items():
        amount = sum(amounts.get(name, 0) for name in members)
        total["h", kind, value] += amount
        total["phi", None if global_phi else kind] += value / resolution * amount
    return dict(total)


def folded(weights, bin_of, type_of, resolution, global_phi=False):
    """w'_m = w_m + w_{M+1} u_m / delta, under the key (type, value)."""
    return {
        (kind, value): weights.get(("h", kind, value), 0.0)
        + weights.get(("phi", None if global_phi else kind), 0.0) * value / resolution
        for kind, value in condensed_sets(bin_of, type_of)
    }


def unfolded(fold, bin_of, type_of):
    """Weight of every original feature: that of its set, or 0 if it was dropped."""
    return {name: fold[type_of(name), value] if value != 0 else 0.0 for name, value in bin_of.items()}


# -- beyond the paper: all outputs, each as far as it is likely ---------------------------------------------------------


def expected(inputs, outputs_of, weights, features):
    """Return R as the mean over outputs, given the weights of a log-linear model."""
    total = Counter()
    for x in inputs:
        amounts = [vector(features, x, output) for output in outputs_of(x)]
        likely = [exp(dot(weights, each)) for each in amounts]
        for each, share in zip(amounts, likely, strict=True):
            for name, amount in each.items():
                total[name] += amount * share / sum(likely)
    return dict(total)
