"""An arena whose methods are made up: right on a row with a probability that the test sets."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np

from handful.evaluation.ranking import Setting
from handful.experiment.entrants import Entrant
from handful.experiment.trial import Cost, Outcome, Pilot, Task


@dataclass
class FakeArena:
    """Scores of each entrant around a mean, on a clock of its own."""

    means: dict[str, float]
    seconds: dict[str, float] = field(default_factory=dict)
    spread: float = 0.02
    seed: int = 0
    now: float = 0.0
    name: str = "fake"
    log: list[Task] = field(default_factory=list)
    pilots: list[Pilot] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def run(self, task: Task) -> Outcome:
        self.log.append(task)
        spent = self.seconds.get(task.entry, 0.1)
        self.now += spent
        noise = np.random.default_rng([self.seed, task.draw, *task.entry.encode()]).normal(0, self.spread)
        hard = np.random.default_rng([self.seed, task.draw]).normal(0, 0.05)
        return Outcome(task, float(self.means[task.entry] + noise + hard), seconds=spent, fit_seconds=spent)

    def pilot(self, pilot: Pilot) -> Cost:
        self.pilots.append(pilot)
        self.now += 0.1
        return Cost(self.seconds.get(pilot.entry, 0.1), 1_000)


class LoudArena(FakeArena):
    """Its trials seem to compile kernels."""

    def run(self, task: Task) -> Outcome:
        logging.getLogger("handful.kernels").info("compiling what is used for the first time")
        return super().run(task)


SETTING = Setting(test_share=0.25, n_test=400, n_labels=20)


def entrants(*names: str, **changes: dict) -> list[Entrant]:
    made = []
    for name in names:
        settings = {"plain": name.startswith("plain"), **changes.get(name, {})}
        made.append(Entrant(name, name, **settings))
    return made
