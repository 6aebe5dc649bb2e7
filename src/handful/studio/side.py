"""What the labels of a table have brought, worked out beside the labeling: audit, curve, doubts, leader."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import Any

import numpy as np

from handful.core.errors import HandfulError
from handful.labeling import doubtful_labels
from handful.labeling.audit import audit_accuracy
from handful.labeling.budget import label_budget
from handful.studio.table_desk import TableDesk

_QUIET = 0.6  # seconds without a label, after which the side works
_N_DRAWS = 5
_MOST_ROWS = 2_000
_MOST_DOUBTS = 200


class Side(threading.Thread):
    """Keeps the panel of a table up to date in a thread of its own.

    Parameters
    ----------
    desk : TableDesk
        The table; its `panel` and `doubts` are replaced, and it is told ``"panel"``.
    goal : float, default=0.9
        Accuracy that a person wants to reach.
    """

    def __init__(self, desk: TableDesk, goal: float = 0.9) -> None:
        super().__init__(daemon=True, name="studio side")
        self.goal = goal
        self._desk = desk
        self._wake = threading.Event()
        self._ended = False

    def wake(self) -> None:
        """Say that something changed."""
        self._wake.set()

    def end(self) -> None:
        """Stop at the next chance."""
        self._ended = True
        self._wake.set()

    def run(self) -> None:
        """Work whenever nobody labels."""
        while not self._ended:
            self._wake.wait()
            self._wake.clear()
            while self._wake.wait(_QUIET) and not self._ended:
                self._wake.clear()
            for work in (self._audit, self._budget, self._doubts):
                if self._ended or self._wake.is_set():
                    break
                work()

    def _audit(self) -> None:
        desk = self._desk
        with desk.lock:
            labels, audits, loop = dict(desk.labels), desk.audits, desk.loop
        audit = audit_accuracy(loop, audits, labels)
        self._publish(audit=None if audit is None else asdict(audit))

    def _budget(self) -> None:
        frame, labels = self._part(_MOST_ROWS)
        facts: dict[str, Any]
        try:
            budget = label_budget(frame, labels, goal=self.goal, n_draws=_N_DRAWS, random_state=self._desk.seed)
        except HandfulError as error:
            facts = {"refused": _told(error), "curve": None, "forecast": None, "leader": None}
        else:
            line, ahead = budget.lines[0], budget.forecast
            facts = {
                "leader": line.method,
                "curve": {"n": budget.sizes, "mean": line.mean, "low": line.low, "high": line.high},
                "forecast": None
                if ahead is None
                else {"n": ahead.n_labels, "mean": ahead.score, "low": ahead.low, "high": ahead.high},
                "refused": budget.refused,
                "goal": None if budget.goal is None else budget.goal.text,
            }
        self._publish(**facts)

    def _doubts(self) -> None:
        frame, labels = self._part(0)
        try:
            doubts = doubtful_labels(frame, labels, random_state=self._desk.seed)
        except HandfulError:
            doubts = None  # too few labels to hold one against the other
        rows = self._rows
        with self._desk.lock:
            self._desk.doubts = None if doubts is None else _at(doubts, rows)
        self._publish(n_doubts=0 if doubts is None else min(len(doubts.doubts), _MOST_DOUBTS))

    def _part(self, most: int) -> tuple[Any, list[str | None]]:
        """Return the labeled rows and some others, of which it is enough."""
        desk = self._desk
        with desk.lock:
            labels = dict(desk.labels)
        pool = desk.loop.pool
        others = np.random.default_rng(desk.seed).permutation(pool)[: most + len(labels)]
        spare = [int(row) for row in others if int(row) not in labels][:most]
        self._rows = sorted([*labels, *spare])
        return desk.frame[self._rows], [labels.get(row) for row in self._rows]

    def _publish(self, **facts: Any) -> None:
        with self._desk.lock:
            self._desk.panel = {**self._desk.panel, **facts}
        self._desk.tell("panel")


def _at(doubts: Any, rows: list[int]) -> Any:
    """Return doubts about rows of a part as doubts about rows of the table."""
    from dataclasses import replace

    moved = [
        replace(d, row=rows[d.row], neighbors=tuple((rows[r], label, away) for r, label, away in d.neighbors))
        for d in doubts.doubts[:_MOST_DOUBTS]
    ]
    pairs = [(rows[a], rows[b], one, other) for a, b, one, other in doubts.duplicates]
    return replace(doubts, doubts=moved, duplicates=pairs)


def _told(error: HandfulError) -> str:
    """Return the first sentence of an error, without whose it is."""
    text = str(error).partition(": ")[2] or str(error)
    first = text.partition(". ")[0].rstrip(".")
    return f"{first[:1].upper()}{first[1:]}."
