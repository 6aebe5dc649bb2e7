"""How often a comparison says that unlabeled rows help, and its intervals hold the truth: on noise, and where one method gains.

Methods are made up: each is right on a row with a probability of its own, so that a comparison takes no time and the truth is
known. Everything else is the real thing: draws, race, ranking, verdict, and a clock on which every trial costs what
such methods cost. ``python benchmarks/verdicts.py`` runs 300 comparisons on noise and 100 with a true gain, and some of real
methods by ``handful.compare``; ``--quick`` a tenth of them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os

# The arithmetic is of small matrices, which threads only slow down.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from handful import compare
from handful.corpora.make import make_two_moons
from handful.evaluation.ranking import Setting
from handful.evaluation.verdict import judge
from handful.experiment.entrants import Entrant
from handful.experiment.race import Race
from handful.experiment.running import Runner
from handful.experiment.session import Session
from handful.experiment.splits import Budget, Draws
from handful.experiment.trial import Cost, Outcome, Pilot, Task, as_bits
from handful.experiment.workers import Here

PLAIN = ("k-nn", "logistic regression", "extra trees", "forest", "svm", "lda", "centroid")
SEMI = ("self-training", "label spreading", "ordinal k-nn", "condensed", "kernel pca", "tri-training", "team")
ACCURACY = 0.75


class Simulation:
    """Rows, and methods that are right on each with a probability of their own.

    A row is hard or easy for all (standard deviation 1.5 on the scale of logits) and for each method (1.0); a draw is
    lucky or not for all (0.2) and for each method (0.15, about three points); what is left of the chance on a row is half
    shared. Two methods then differ on about every fifth row.
    """

    name = "simulated"

    def __init__(self, n_rows: int, n_labels: int, gains: dict[str, float], seed: int) -> None:
        self.draws = Draws(np.arange(n_rows) % 2, Budget.parse(n_labels), seed)
        self.now = 0.0
        self._seed = seed
        self.truth = lambda name: ACCURACY + gains.get(name, 0.0)
        rng = np.random.default_rng(seed)
        self.entrants = _entrants(rng)
        hardness = 1.5 * rng.standard_normal(n_rows)
        self._logits = {
            e.name: _shifted(hardness + rng.standard_normal(n_rows), self.truth(e.name)) for e in self.entrants
        }
        self._seconds = {e.name: float(rng.uniform(0.1, 1.5)) for e in self.entrants}

    @functools.cached_property
    def setting(self) -> Setting:
        draws = self.draws
        tested = functools.cache(lambda draw: draws[draw].test)
        return Setting(draws.pool_share, draws.n_test, draws.n_labels, overlap=draws.overlap, tested=tested)

    def clock(self) -> float:
        return self.now

    def run(self, task: Task) -> Outcome:
        seconds = self._seconds[task.entry]
        self.now += seconds / 2  # two processes
        test = self.draws[task.draw].test
        luck = 0.2 * np.random.default_rng([self._seed, task.draw]).standard_normal()
        own = np.random.default_rng([self._seed, task.draw, *task.entry.encode()])
        logits = self._logits[task.entry][test] + luck + 0.15 * own.standard_normal()
        # Methods that learn from the same labels tend to be wrong on the same rows.
        shared = np.random.default_rng([self._seed, task.draw, 1]).standard_normal(len(test))
        chance = norm.cdf(np.sqrt(0.5) * shared + np.sqrt(0.5) * own.standard_normal(len(test)))
        right = chance < 1 / (1 + np.exp(-logits))
        return Outcome(task, float(right.mean()), as_bits(right), seconds=seconds, fit_seconds=seconds)

    def pilot(self, pilot: Pilot) -> Cost:
        return Cost(self._seconds[pilot.entry], 0)


def _entrants(rng: np.random.Generator) -> list[Entrant]:
    plain = [Entrant(name, name, plain=True) for name in PLAIN]
    semi, twins = [], []
    for name in SEMI:
        twin = f"{name} (labels only)"
        semi.append(Entrant(name, name, uses_unlabeled=True, twin=twin, favorite=name == "team"))
        twins.append(Entrant(twin, name, labels_only=True, ranked=False))
    return [*plain, *semi, *twins]


def _shifted(logits: np.ndarray, accuracy: float) -> np.ndarray:
    """Return logits that are right in such a share of all rows like these (of many, not of these few)."""
    many = np.sqrt(1.5**2 + 1) * np.random.default_rng(0).standard_normal(20_000)
    low, high = -10.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if (1 / (1 + np.exp(-(many + middle)))).mean() > accuracy else (middle, high)
    return logits + low


def compared(simulation: Simulation, minutes: float) -> dict[str, object]:
    race = Race(simulation.entrants, simulation.setting, simulation.draws.n_labels, round_size=simulation.draws.n_folds)
    session = Session(minutes=minutes, started=0.0)
    Runner(race, session, Here(simulation), clock=simulation.clock).run()
    verdict = judge(race.ranking, simulation.setting)
    truth = simulation.truth
    ranks = [rank for rank in race.ranking.ranks if rank.n_draws > 1]
    return {
        "scores": [rank.low <= truth(rank.name) <= rank.high for rank in ranks],
        "differences": [
            rank.against.low <= truth(rank.name) - truth(rank.against.twin) <= rank.against.high
            for rank in ranks
            if rank.against is not None
        ],
        "gains": [
            rank.gain.low <= truth(rank.name) - truth(rank.gain.twin) <= rank.gain.high
            for rank in ranks
            if rank.gain is not None
        ],
        "helps": verdict.unlabeled_help,
        "better": race.ranking.ranks[0].better,
        "use": verdict.use,
        "seconds": simulation.now,
        "trials": len(race.outcomes),
    }


def noise(n: int, minutes: float, first: int = 0) -> dict[str, object]:
    """All methods are equally good; tables of 30, 100 and 1,000 labeled rows by turns."""
    results = []
    for seed in range(first, first + n):
        n_rows, n_labels = ((30, 20), (100, 20), (1_000, 20))[seed % 3]
        results.append(compared(Simulation(n_rows, n_labels, {}, seed), minutes))
    return _told(results) | {"helps is said in": _share(r["helps"] for r in results)}


def gain(n: int, minutes: float, first: int = 0) -> dict[str, object]:
    """One method that uses unlabeled rows is five points better than all others, its twin among them."""
    results, right = [], 0
    for seed in range(first, first + n):
        name = SEMI[seed % len(SEMI)]
        found = compared(Simulation(1_000, 20, {name: 0.05}, 10_000 + seed), minutes)
        right += found["use"] == name
        results.append(found)
    return _told(results) | {
        "helps is said in": _share(r["helps"] for r in results),
        "the right one is the best bet in": f"{100 * right / n:.1f} %",
    }


METHODS = ("k-nn", "logistic-regression", "label-spreading", "ordinal-knn", "self-training")


def noise_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels by chance."""
    return rng.normal(size=(200, 4)), rng.integers(0, 2, 200)


def moons(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two moons, whose shape unlabeled rows show."""
    X, _, y = make_two_moons(200, random_state=int(rng.integers(2**31)))
    return X + 0.05 * rng.normal(size=X.shape), y


def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 300 rows of one of scikit-learn's tables, scaled."""
    load = (load_wine, load_breast_cancer, load_digits)[int(rng.integers(3))]
    X, y = load(return_X_y=True)
    rows = rng.permutation(len(y))[:300]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X[rows], y[rows]


def shuffled_labels(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a real table whose labels were dealt anew: nothing can help."""
    X, y = table(rng)
    return X, rng.permutation(y)


def shuffled_columns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a real table whose unlabeled rows have the cells of each column dealt anew: they have nothing to teach."""
    X, y = table(rng)
    known = np.concatenate([np.flatnonzero(y == label)[:8] for label in np.unique(y)])
    rest = np.setdiff1d(np.arange(len(y)), known)
    for column in range(X.shape[1]):
        X[rest, column] = rng.permutation(X[rest, column])
    return X, np.where(np.isin(np.arange(len(y)), known), y, -1)


def real(n: int, n_trials: int) -> dict[str, object]:
    """Real methods, by `handful.compare`: where nothing can help, and on two moons, where unlabeled rows do."""
    told: dict[str, object] = {"comparisons of each kind": n, "trials each": n_trials}
    for make in (noise_rows, shuffled_labels, shuffled_columns, moons):
        found = []
        for seed in range(n):
            X, y = make(np.random.default_rng([seed, 7]))
            labels = None if make is shuffled_columns else 6 if len(np.unique(y)) == 2 else 20
            result = compare(X, y, labels=labels, methods=METHODS, trials=n_trials, n_jobs=1, seed=seed, journal=None)
            found.append(result.judgment.unlabeled_help)
        told[f"helps is said of {make.__name__.replace('_', ' ')} in"] = _share(found)
    return told


def _told(results: list[dict[str, object]]) -> dict[str, object]:
    return {
        "comparisons": len(results),
        "simulated seconds each": round(float(np.mean([r["seconds"] for r in results])), 1),
        "trials each": round(float(np.mean([r["trials"] for r in results])), 1),
        **{
            f"95 % intervals of {what} hold the truth in": _share(held for r in results for held in r[what])
            for what in ("scores", "differences", "gains")
        },
    }


def _share(values: object) -> str:
    listed = [bool(value) for value in values]  # type: ignore[attr-defined]
    return f"{100 * np.mean(listed):.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--real", type=int, default=30, help="Comparisons of real methods of each kind.")
    parser.add_argument("--only", choices=["simulated", "real"])
    parser.add_argument("--piece", type=int, default=0, help="With --quick: which tenth of the whole, 0 to 9.")
    given = parser.parse_args()
    share = 10 if given.quick else 1
    results: dict[str, object] = {}
    if given.only != "real":
        results["noise"] = noise(300 // share, given.minutes, 30 * given.piece)
        results["a true gain of 5 points"] = gain(100 // share, given.minutes, 10 * given.piece)
    if given.only != "simulated" and given.real // share:
        results["real methods"] = real(given.real // share, 150)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
