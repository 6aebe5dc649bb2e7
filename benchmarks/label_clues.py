"""Could another weighing of clues choose rows better than ``auto``? Weights learned from what each label really brought.

``python benchmarks/label_clues.py --tables FOLDER --texts FOLDER`` (sets as in ``benchmarks/labeling.py``; without folders the
tables that come with scikit-learn). On the way from the first labels to eight a class, chosen by ``auto`` or at random, candidates
are asked for 17 clues (how much a label tells, how sure a model would be after it, density, margin, distance to labels, how much
its class is lacking, and the like, by nearness and by a linear model), and for what their true label would add to the accuracy of
the quick models of ``benchmarks/label_strategies.py`` on all other rows. A ridge regression learns the weights of the clues from
four fifths of the sets; told is what the candidate that it would choose adds on the other fifth, beside the choice of ``auto``,
that of each half of ``auto``, and the best there is, all above the mean candidate, in points of accuracy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from label_strategies import Pool, by_chance, expecting, normed
from labeling import TABLES, TEXTS, Drawn, folder_tables, folder_texts, own_tables

from handful.labeling.strategies import NOISE, margins

_TOP, _OTHERS, _SCORED = 50, 20, 24  # candidates: those that tell most, some of the rest; so many of them are scored
_N_LIKELY, _N_ASKED = 3, 300
_FOLLOWS_AUTO = 0.6  # of the steps, the others are random
_RIDGE, _STATES = 300.0, 50.0  # penalty of the weights; states that each set counts for
_FOLDS = 5
_STAGES = ((0.0, 2.0), (2.0, 4.0), (4.0, 8.0))  # labels a class


@dataclass(frozen=True, eq=False)
class State:
    """Candidates at one point of the way: their clues in standard deviations, and what each would add to accuracy."""

    name: str
    n_each: float
    clues: np.ndarray
    gains: np.ndarray


class View:
    """What a Gaussian process knows of the rows of a pool after some labels."""

    def __init__(self, near: np.ndarray, rows: list[int], codes: np.ndarray) -> None:
        given = np.eye(int(codes.max()) + 1)[codes]
        usual = (given.sum(axis=0) + 1 / given.shape[1]) / (len(given) + 1)
        solved = np.linalg.solve(
            near[np.ix_(rows, rows)] + NOISE * np.eye(len(rows)), np.hstack([given - usual, near[rows]])
        )
        self.means = near[:, rows] @ solved[:, : given.shape[1]] + usual
        self.open_ = near - near[:, rows] @ solved[:, given.shape[1] :]
        self.own = np.maximum(self.open_.diagonal(), 0.0) + NOISE
        self.shares = normed(self.means)
        self.unsure = 1.0 - margins(self.shares) + 1e-3

    def told(self, weights: np.ndarray) -> np.ndarray:
        """Return the variance that each label would take away."""
        return np.asarray((weights @ self.open_**2) / self.own)

    def sure(self, rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Return how sure the rows that are asked would be of their best class, after the label of each of `rows`."""
        likely = np.argsort(-self.shares, axis=1, kind="stable")[:, :_N_LIKELY]
        chances = normed(np.take_along_axis(self.shares, likely, axis=1))[rows]
        pull = self.open_[np.ix_(rows, asked)] / self.own[rows, None]
        news = np.eye(self.shares.shape[1])[likely[rows]] - self.means[rows][:, None, :]
        after = normed(self.means[asked] + pull[:, None, :, None] * news[:, :, None, :])
        return np.asarray((after.max(axis=-1).mean(axis=-1) * chances).sum(axis=1))


def clues_of(pool: Pool, got: list[int], rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return candidates and their clues, by name."""
    codes = np.unique(pool.y[got], return_inverse=True)[1]
    lines = pool.kernels[0][0][pool.n_test :]
    near, line = View(pool.near(2.0), got, codes), View(lines / lines.diagonal().mean(), got, codes)
    told = near.told(near.unsure)
    told[got] = -1.0
    order = np.argsort(-told, kind="stable")[: pool.n - len(got)]
    rows = np.concatenate([order[:_TOP], rng.permutation(order[_TOP:])[:_OTHERS]])
    asked = np.sort(rng.permutation(pool.n)[:_N_ASKED])
    labels, seen = np.bincount(codes) / len(codes), (near.shares + line.shares) / 2
    close = pool.near(0.3)
    clues = {
        "tells": told[rows],
        "tells, all alike": near.told(np.ones(pool.n))[rows],
        "sure after": near.sure(rows, asked),
        "line: tells": line.told(line.unsure)[rows],
        "line: tells, all alike": line.told(np.ones(pool.n))[rows],
        "line: sure after": line.sure(rows, asked),
        "density": pool.density[rows],
        "margin": near.unsure[rows],
        "line: margin": line.unsure[rows],
        "class lacks": seen[rows] @ (near.shares.mean(axis=0) - labels),
        "class is rare": -seen[rows] @ np.log(labels),
        "views disagree": 1.0 - (near.shares[rows] * line.shares[rows]).sum(axis=1),
        "far from labels": np.sqrt(pool.apart[np.ix_(rows, got)].min(axis=1)),
        "variance": near.own[rows],
        "near to many": close[rows].mean(axis=1),
        "near to all": pool.near(2.0)[rows].mean(axis=1),
        "covers": np.maximum(close[:, rows] - close[:, got].max(axis=1)[:, None], 0.0).sum(axis=0),
    }
    return rows, clues


def accuracy(pool: Pool, got: list[int], rows: list[int]) -> float:
    """Return the mean accuracy of the quick models that learn from `rows`, on all rows but those of `got`."""
    counted = np.ones(pool.n_test + pool.n, dtype=bool)
    counted[pool.n_test + np.array(got)] = False
    truth = np.concatenate([pool.y_test, pool.y])[counted]
    answers = [told.argmax(axis=1) for told in pool.answers(rows, slice(None))]
    answers.append(pool.y[rows][np.vstack([pool.apart_test, pool.apart])[:, rows].argmin(axis=1)])
    return float(np.mean([answer[counted] == truth for answer in answers]))


def states_of(name: str, read: Any, seeds: range, n_rows: int) -> Iterator[State]:
    drawn, auto, chance = Drawn(read, n_rows), expecting(2.0), by_chance(3)
    for seed in seeds:
        pool, rng = Pool(*drawn.rows(seed), seed), np.random.default_rng([seed, 77])
        step, got = min(max(pool.n_classes - 1, 1), 3), list[int]()
        while len(got) < min(8 * pool.n_classes, int(0.8 * pool.n)):
            if got and pool.has_classes(got) and rng.random() < step / pool.n_classes:
                rows, clues = clues_of(pool, got, rng)
                scored = rng.permutation(len(rows))[:_SCORED]
                values = np.stack(list(clues.values()), axis=1)
                values = (values - values.mean(axis=0)) / (values.std(axis=0) + 1e-12)
                gains = np.array([accuracy(pool, got, [*got, int(row)]) for row in rows[scored]])
                yield State(name, len(got) / pool.n_classes, values[scored], 100 * (gains - gains.mean()))
            got = got + (auto if rng.random() < _FOLLOWS_AUTO else chance)(pool, got, step)


def learned(states: list[State]) -> np.ndarray:
    """Return the weights of the clues; every set counts the same."""
    names = [state.name for state in states]
    width = states[0].clues.shape[1]
    squares, sums = _RIDGE * np.eye(width), np.zeros(width)
    for state in states:
        clues, weight = state.clues - state.clues.mean(axis=0), _STATES / names.count(state.name)
        squares += weight * clues.T @ clues
        sums += weight * clues.T @ state.gains
    return np.linalg.solve(squares, sums)


def tell(states: list[State]) -> None:
    names = sorted({state.name for state in states})
    for least, most in _STAGES:
        stage = [state for state in states if least <= state.n_each < most]
        brought: dict[str, dict[str, list[float]]] = {}
        for fold in range(_FOLDS):
            inside = [state for state in stage if names.index(state.name) % _FOLDS != fold]
            outside = [state for state in stage if names.index(state.name) % _FOLDS == fold]
            if not inside or not outside:
                continue
            weights = learned(inside)
            for state in outside:
                tells, sure = state.clues[:, 0], state.clues[:, 2]
                worth = {"learned weights": state.clues @ weights, "auto": tells + sure, "tells most": tells}
                worth |= {"sure after": sure, "peeks: best": state.gains}
                for chooser, values in worth.items():
                    brought.setdefault(chooser, {}).setdefault(state.name, []).append(state.gains[values.argmax()])
        means = {name: np.array([np.mean(v) for v in by_set.values()]) for name, by_set in brought.items()}
        line = ", ".join(f"{name} {v.mean():+.2f}" for name, v in means.items())
        if means:
            apart = means["learned weights"] - means["auto"]
            error = apart.std(ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else float("nan")
            print(
                f"{least:.0f} to {most:.0f} labels a class, {len(stage)} states of {len(apart)} sets: {line}; "
                f"learned above auto {apart.mean():+.2f} (error {error:.2f})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--skip", default="banking77-train,clinc150-small-train", help="NAME,... of sets to leave out")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first-seed", type=int, default=300)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--quick", action="store_true", help="one seed, 200 rows")
    given = parser.parse_args()
    if given.quick:
        given.seeds, given.rows = 1, 200
    sets: dict[str, Any] = folder_tables(given.tables, TABLES.split(",")) if given.tables else {}
    sets |= folder_texts(given.texts, TEXTS.split(",")) if given.texts else {}
    states: list[State] = []
    for name, read in (sets or own_tables()).items():
        if name not in given.skip.split(","):
            states += states_of(name, read, range(given.first_seed, given.first_seed + given.seeds), given.rows)
            print(f"{name}: {len(states)} states so far", flush=True)
    tell(states)


if __name__ == "__main__":
    main()
