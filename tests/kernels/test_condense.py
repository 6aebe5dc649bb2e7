"""Condensation over many blocks, tiles and threads equals a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from handful.kernels.condense import FIRST, UNSURE, WRONG, condense_distinct
from handful.kernels.distances import WORTH_THREADS, Rule
from handful.neighbors.rows import distinct, from_dense, take_rows


def plain_loop(X, codes, k, min_confidence, max_passes):
    kept, reasons, passes = [], [], []
    turn = 0
    while turn != max_passes:
        turn += 1
        before = len(kept)
        for i in range(len(X)):
            if i in kept:
                continue
            if kept:
                d = np.sqrt(((X[kept] - X[i]) ** 2).sum(axis=1))
                near = np.argsort(d, kind="stable")[:k]
                labels = codes[kept][near]
                counts = np.bincount(labels)
                label = next(c for c in labels if counts[c] == counts.max())
                share = np.mean(labels == codes[i])
                if label == codes[i] and not share < min_confidence:
                    continue
                reasons.append(WRONG if label != codes[i] else UNSURE)
            else:
                reasons.append(FIRST)
            kept.append(i)
            passes.append(turn)
        if len(kept) == before:
            break
    return kept, reasons, passes


def run(X, codes, k, min_confidence=0.0, max_passes=1, collapse=False):
    rows, which = from_dense(X), np.arange(len(X))
    if collapse:
        first, which = distinct(rows)
        rows = take_rows(rows, first)
    rule = Rule.of("uniform")
    return condense_distinct(rows, which, codes, k, rule, min_confidence=min_confidence, max_passes=max_passes)


@pytest.mark.parametrize(("k", "min_confidence"), [(1, 0.0), (3, 0.0), (3, 0.7)])
@pytest.mark.parametrize("max_passes", [1, None])
def test_equals_a_plain_loop_over_many_blocks(k, min_confidence, max_passes):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, size=900).astype(np.int32)
    X = (rng.normal(size=(900, 2)) * 4 + 3 * codes[:, None]).round()  # many identical rows and equal distances
    kept, reasons, passes = plain_loop(X, codes, k, min_confidence, max_passes)
    for collapse in (False, True):
        got = run(X, codes, k, min_confidence, max_passes, collapse)
        assert got[0].tolist() == kept
        assert got[1].tolist() == reasons
        assert got[2].tolist() == passes


def test_threads_give_what_one_thread_gives():
    rng = np.random.default_rng(4)
    n, d = 3000, 10
    codes = rng.integers(0, 2, size=n).astype(np.int32)
    X = rng.normal(size=(n, d)) + 0.5 * codes[:, None]
    kept = run(X, codes, 1)[0]
    assert 256 * len(kept) * d > WORTH_THREADS  # the last blocks were shared out
    assert kept.tolist() == plain_loop(X, codes, 1, 0.0, 1)[0]


def test_huge_numbers_overflow_into_the_farthest_place():
    X = np.array([[0.0], [1e200], [1e200], [-1e200]])
    kept = run(X, np.array([0, 1, 1, 0], dtype=np.int32), 1)[0]
    assert kept.tolist() == [0, 1]
