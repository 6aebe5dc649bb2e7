"""Labels on a map: what is played is what the methods do, on the rows that are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from handful.active.playback import RowMap
from handful.active.query import ActiveLearner
from handful.errors import ParameterError


@pytest.fixture(scope="module")
def moons() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    turn = np.pi * rng.random(120)
    side = np.arange(120) % 2
    X = np.column_stack([np.cos(turn) * (1 - 2 * side) + side, np.sin(turn) * (1 - 2 * side) + 0.5 * side])
    return X + 0.05 * rng.standard_normal(X.shape), side


def nearest(points: np.ndarray, labeled: list[int], codes: list[int]) -> list[int]:
    """One nearest neighbor, by hand."""
    away = ((points[:, None] - points[labeled][None]) ** 2).sum(axis=2)
    return [codes[at] for at in away.argmin(axis=1)]


def test_labels_spread_from_parents_to_children(moons):
    X, side = moons
    loop = ActiveLearner(X)
    labels = {row: "ab"[side[row]] for row in (0, 1, 2, 3)}
    played = RowMap(loop).play(labels)
    assert played.rows == list(range(120))
    assert sorted(played.steps) == list(range(4, 120))
    done = set(labels)
    for place in played.steps:
        parent = played.parents[place]
        assert parent in done
        assert played.after[place] == played.after[parent]
        away = np.linalg.norm(loop.points[sorted(done)] - loop.points[place], axis=1)
        assert np.isclose(away.min(), np.linalg.norm(loop.points[parent] - loop.points[place]))
        done.add(place)
    assert played.start == played.labeled == [*side[:4].tolist(), *[-1] * 116]
    assert all(0 <= place <= 1 for place in [*played.x, *played.y])


def test_condensed_sets_and_changed_answers(moons):
    X, side = moons
    loop = ActiveLearner(X)
    labels = {row: "ab"[side[row]] for row in range(6)}
    drawn = RowMap(loop)
    kept = drawn.play(labels, "condensed")
    assert 2 <= len(kept.steps) == len(kept.reasons) < 120
    assert set(kept.reasons) <= {"first", "wrong", "unsure"}
    assert set(kept.start) == {-1}
    changed, spread = drawn.play(labels, "changed"), drawn.play(labels)
    assert changed.start == nearest(loop.points, list(range(6)), side[:6].tolist())
    assert changed.after == spread.after
    assert sorted(changed.steps) == [i for i in range(120) if changed.start[i] != changed.after[i]]
    order = {place: at for at, place in enumerate(spread.steps)}
    assert changed.steps == sorted(changed.steps, key=order.__getitem__)


def test_labeled_rows_outside_the_sample_are_drawn(moons):
    X, _ = moons
    wide = np.column_stack([X, X[:, ::-1], X**2])
    loop = ActiveLearner(wide)
    drawn = RowMap(loop, n_rows=40)
    first = drawn.play({0: "a", 1: "b"})
    assert {0, 1} <= set(first.rows)
    second = drawn.play(dict.fromkeys(range(0, 60, 2), "a") | {1: "b"})
    both = set(first.rows) & set(second.rows)
    at = [(a.rows.index(row), b.rows.index(row)) for row in both for a, b in [(first, second)]]
    assert all(first.x[i] == second.x[j] for i, j in at)  # nobody moves


@pytest.mark.parametrize("labels", [{}, {3: "a"}, {3: "a", 5: "a"}])
def test_without_two_classes_nothing_moves(moons, labels):
    for kind in ("spread", "condensed", "changed"):
        played = RowMap(ActiveLearner(moons[0])).play(labels, kind)
        assert played.steps == []
        assert played.start == played.after == played.labeled


def test_hostile_shapes(moons):
    for X in ([[1.0]], [[0.0], [1.0]] * 15, np.eye(8)):
        played = RowMap(ActiveLearner(np.asarray(X))).play({0: "a", len(X) - 1: "b"})
        assert len(played.x) == len(X)
        assert np.isfinite(played.x).all()
    with pytest.raises(ParameterError, match="kind must be one of"):
        RowMap(ActiveLearner(moons[0])).play({}, "upwards")
