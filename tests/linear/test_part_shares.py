"""Parts of chains, against the enumeration of all legal labelings."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from handful.linear.chain_layout import LegalParts


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_parts_are_those_of_all_legal_labelings(order, seed):
    """Random rules, with labels that cannot be reached and labels that lead nowhere."""
    rng = np.random.default_rng(seed)
    allowed, first = rng.random((3, 3)) < 0.6, rng.random(3) < 0.7
    first[0] = allowed[0, 0] = True
    shares = LegalParts(allowed, first, order)
    for n in range(1, 7):
        parts = set()
        for labels in product(range(3), repeat=n):
            if first[labels[0]] and all(allowed[a, b] for a, b in pairwise(labels)):
                parts |= {(t, labels[max(0, t - order) : t + 1]) for t in range(n)}
        offsets = np.array([0, n])
        classes = shares.classes(offsets)
        assert shares.r_bar(offsets, classes)[0] == pytest.approx(n / len(parts), rel=1e-14)
        expected = np.zeros((n, 3))
        pairs = np.zeros((n, 3, 3))
        for t, labels in parts:
            expected[t, labels[-1]] += 1
            if len(labels) > 1:
                pairs[t][labels[-2:]] += 1
        assert np.array_equal(shares.labels[classes], expected)
        assert np.array_equal(shares.pairs[classes], pairs)
        if order == 2:
            assert shares.triples[classes].sum() == sum(len(labels) == 3 for _, labels in parts)
