"""A race run to its end: until nothing is left to learn, the limits are reached, or somebody stops it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from handful.core.progress import Step
from handful.experiment.entrants import Entrant
from handful.experiment.race import LEAST_DRAWS, Race
from handful.experiment.session import Session
from handful.experiment.trial import Cost, Outcome, Pilot, Task
from handful.experiment.workers import Work, Workers

_GRACE = 0.5  # seconds that it takes to stop workers


@dataclass
class Runner:
    """Hands trials of a race to workers, and outcomes to the race.

    Parameters
    ----------
    race : Race
        Who gets the next trial.
    session : Session
        Limits.
    workers : Workers
        Who make trials.
    keep : callable
        Takes each outcome, for a journal.
    reserve : callable
        Seconds that must be left at the end, given the race as it stands.
    clock : callable
        Tells the time, as ``time.monotonic`` does.
    known : dict of Task to Outcome
        What an earlier run has made; taken from here when its turn comes, so that a run which was stopped in the middle of a
        lap goes on as it would have.
    """

    race: Race
    session: Session
    workers: Workers
    keep: Callable[[Outcome], None] = lambda outcome: None
    reserve: Callable[[Race], float] = lambda race: 0.0
    clock: Callable[[], float] = time.monotonic
    known: dict[Task, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._queue: list[Work] = []
        self._pending: list[Work] = []
        self._piloted = False
        self._too_long = False  # whether a trial is left that the time does not allow
        self._made = len(self.race.outcomes)  # those of an earlier run count too

    def run(self) -> str:
        """Run the race.

        Returns
        -------
        {"finished", "out of time", "out of trials", "interrupted"}
            How it ended. Whatever it was, `race` holds all outcomes.
        """
        try:
            return self._run()
        except KeyboardInterrupt:
            return "interrupted"

    def _run(self) -> str:
        while True:
            if self._left() <= 0:
                self._open()
                return "out of time"
            if self.session.trials is not None and self._made >= self.session.trials:
                return "out of trials"
            self._refill()
            made = self._made
            self._hand_out()
            if not self._pending and self._made > made:
                continue  # all of it was known
            if not self._pending:
                return "out of time" if self._queue or self._too_long else "finished"
            self._tell()
            left = self._left()
            for work, result in self.workers.wait(None if math.isinf(left) else max(left - _GRACE, 0.01)):
                self._pending.remove(work)
                self._take(work, result)
            if self._pending and self._left() <= _GRACE:
                return "out of time"

    def _open(self) -> None:
        """Measure the quickest method and the favorite where time was up before anything was: no answer is no help."""
        if self._made or self._pending:
            return
        for task in self.race.lap()[:2]:
            self._pending.append(task)
            self.workers.submit(task, True)
        while self._pending:
            for work, result in self.workers.wait(None):
                self._pending.remove(work)
                self._take(work, result)

    def _left(self) -> float:
        deadline = self.session.deadline
        return math.inf if deadline is None else deadline - self.reserve(self.race) - self.clock()

    def _refill(self) -> None:
        if self._queue:
            return
        if not self.session.by_clock:
            # Decisions follow from whole laps, so that they do not depend on who was done first.
            if not self._pending:
                self._queue = list(self.race.lap())
            return
        tasks = [work for work in self._pending if isinstance(work, Task)]
        wanted: list[Work] = []
        self._too_long = False
        for task in self.race.lap(tasks):
            if self._needs_pilot(task):
                continue
            if self._fits(task):
                wanted.append(task)
            elif task.entry not in self.race.left_out:
                self._too_long = True
        if not self._piloted:
            # Cheap methods go first; what the others cost is asked as soon as these are under way.
            self._piloted = True
            wanted += self.race.pilots()
        self._queue = wanted

    def _needs_pilot(self, task: Task) -> bool:
        entrant = self._entrant(task.entry)
        takes_time = entrant.cost in ("fair", "slow") and not entrant.favorite
        return takes_time and self.race.seconds(entrant.name) is None

    def _entrant(self, name: str) -> Entrant:
        return next(e for e in self.race.entrants if e.name == name)

    def _fits(self, task: Task) -> bool:
        seconds = self.race.seconds(task.entry)
        if seconds is None:
            return True
        left = self._left()
        if task.draw == 0 and task.n_labels == self.race.n_labels:
            needed = seconds * LEAST_DRAWS
            if needed > 0.7 * left:
                self.race.leave_out(
                    task.entry, f"would take about {_time(needed)}, and {_time(max(left, 0))} were left."
                )
                return False
        return seconds < left

    def _hand_out(self) -> None:
        trials = self.session.trials
        while self._queue and len(self._pending) < self._at_once():
            if trials is not None and self._made + len(self._pending) >= trials:
                return
            work = self._queue.pop(0)
            if isinstance(work, Task) and work.entry in self.race.left_out:
                continue
            if isinstance(work, Task) and work in self.known:
                self._made += 1
                self.race.add(self.known.pop(work))
                continue
            if isinstance(work, Task) and (self.race.seconds(work.entry) or 0.0) >= self._left():
                self._too_long = True  # it fitted when its lap began
                continue
            self._pending.append(work)
            self.workers.submit(work, self._is_cheap(work))

    def _is_cheap(self, work: Work) -> bool:
        entrant = self._entrant(work.entry)
        # The favorite does not wait for a process to start either: where time is short, it should be measured.
        return entrant.cost in ("instant", "quick") or entrant.favorite

    def _at_once(self) -> int:
        # One more than there are workers, so that nobody waits for the next trial to be handed over.
        return 1 if self.workers.n_jobs == 1 else self.workers.n_jobs + 1

    def _take(self, work: Work, result: Outcome | Cost) -> None:
        if isinstance(work, Pilot) and isinstance(result, Cost):
            self._settle(work, result)
            return
        assert isinstance(result, Outcome)
        self._made += 1
        self.race.add(result)
        self.keep(result)
        if self.session.progress is not None:
            self.session.progress(Step("compare", self._made, self.session.trials))

    def _settle(self, pilot: Pilot, cost: Cost) -> None:
        self.race.costs[pilot.entry] = cost
        memory = self.session.memory
        if memory is not None and cost.n_bytes > memory // self.workers.n_jobs:
            self.race.leave_out(pilot.entry, f"needs about {_size(cost.n_bytes)}; {_size(memory)} are allowed in all.")

    def _tell(self) -> None:
        if self.session.watch is not None:
            self.session.watch(self.race.standing(self._made, self.clock() - self.session.started))


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GB" if n_bytes >= 2**30 else f"{math.ceil(n_bytes / 2**20)} MB"
