"""A full comparison, started, watched and stopped from the page."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError, HandfulError
from handful.studio.table_desk import TableDesk

if TYPE_CHECKING:
    from handful.experiment import Comparison
    from handful.experiment.problem import Problem
    from handful.experiment.race import Standing

_MOST_UNLABELED = 5_000
_SHOWN = 10


class Contest:
    """The comparison of methods on a table that is being labeled.

    Parameters
    ----------
    desk : TableDesk
        The table; it is told ``"contest"`` whenever the standing changes.
    n_jobs : int, default=-1
        Worker processes.

    Attributes
    ----------
    result : Comparison or None
        What came of the last one.
    """

    def __init__(self, desk: TableDesk, n_jobs: int = -1) -> None:
        self.result: Comparison | None = None
        self._desk = desk
        self._n_jobs = n_jobs
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._view: dict[str, Any] = {"running": False}

    def view(self) -> dict[str, Any]:
        """Return how it stands."""
        return self._view

    def start(self, minutes: float) -> None:
        """Begin, unless it is under way.

        Parameters
        ----------
        minutes : float
            Time to spend.
        """
        if self._thread is not None and self._thread.is_alive():
            raise DataError("studio: a comparison is under way. Stop it first.")
        problem = table_problem(self._desk)
        self._stop.clear()
        self._show(running=True, text="Starting", bets=[], error=None, minutes=minutes)
        self._thread = threading.Thread(target=self._run, args=(problem, minutes), daemon=True, name="studio contest")
        self._thread.start()

    def stop(self) -> None:
        """End it; what is done by then is the result."""
        self._stop.set()

    def _run(self, problem: Problem, minutes: float) -> None:
        from handful.experiment.compare import compare_problem
        from handful.experiment.session import Session

        session = Session(minutes=minutes, n_jobs=self._n_jobs, seed=self._desk.seed, watch=self._watch)
        try:
            result = compare_problem(problem, session=session)
        except HandfulError as error:
            self._show(running=False, text="", error=str(error))
            return
        except KeyboardInterrupt:  # stopped before the first trial
            self._show(running=False, text="Stopped.")
            return
        self.result = result
        self._show(running=False, text=result.verdict, state=result.state)

    def _watch(self, standing: Standing) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt  # the race ends as if interrupted at the terminal, and keeps what is done
        bets = [
            {"name": bet.name, "score": bet.measured, "p_best": bet.p_best, "beaten": bet.beaten}
            for bet in standing.bets[:_SHOWN]
        ]
        left = len(standing.in_question)
        self._show(
            text=f"{counted(standing.n_trials, 'trial')}, {counted(left, 'method')} in question",
            bets=bets,
            seconds=standing.seconds,
        )

    def _show(self, **facts: Any) -> None:
        self._view = {**self._view, **facts}
        self._desk.tell("contest")


def table_problem(desk: TableDesk) -> Problem:
    """Return the labeled rows of a table and some unlabeled ones as a problem for comparing and fitting.

    Parameters
    ----------
    desk : TableDesk
        The table.

    Returns
    -------
    Problem
        At most 5,000 unlabeled rows, chosen at random.
    """
    from handful.experiment.problem import array_problem

    with desk.lock:
        labels = dict(desk.labels)
    rng = np.random.default_rng(desk.seed)
    others = [int(row) for row in rng.permutation(desk.n_items)[: _MOST_UNLABELED + len(labels)]]
    rows = sorted([*labels, *[row for row in others if row not in labels][:_MOST_UNLABELED]])
    return array_problem(desk.frame[rows], [labels.get(row) for row in rows], dict(desk.kinds), desk.name)
