"""What a comparison may cost, and who is told of it: one set of limits for tables and tagged corpora."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from handful.core.errors import ParameterError
from handful.core.progress import Progress

if TYPE_CHECKING:
    from handful.experiment.race import Standing

USUAL_MINUTES = 2.0


@dataclass(frozen=True)
class Session:
    """Limits of a comparison.

    Parameters
    ----------
    minutes : float or None, default=2.0
        Stop after this time at the latest; None is no limit. Where `trials` is given, time does not count.
    trials : int, optional
        Stop after so many trials: a limit that does not depend on the clock, so that results can be made again.
    draws : int, default=30
        Trials of one method at most: how often labels and tested rows are drawn anew.
    memory_gb : float, optional
        Memory that all worker processes together may take.
    unlabeled_rows : int, default=5000
        Unlabeled rows (or sentences) to learn from at most.
    seed : int, default=0
        Seed of all chance.
    n_jobs : int, default=1
        Worker processes; -1 uses every core. With 1, trials are made in this process, and one that is under way when
        the time is up is finished.
    journal : path, "auto" or None, default=None
        File in which outcomes are kept, so that the same call goes on where it was stopped; ``"auto"`` is a file in
        the user's cache folder (or in ``$HANDFUL_RUNS``).
    fresh : bool, default=False
        Forget what the journal holds.
    command : str
        How to do it again, for the report.
    progress : callable, optional
        Told of each trial.
    watch : callable, optional
        Told the standing of the race whenever it changes.
    dry_run : bool, default=False
        Tell what would be tried, and stop.
    started : float
        Value of ``time.monotonic()`` from which `minutes` count; now, by default.
    who : str
        Name of the caller, for errors.

    Examples
    --------
    >>> Session(minutes=1.0, n_jobs=2).n_jobs
    2
    """

    minutes: float | None = USUAL_MINUTES
    trials: int | None = None
    draws: int = 30
    memory_gb: float | None = None
    unlabeled_rows: int = 5_000
    seed: int = 0
    n_jobs: int = 1
    journal: str | os.PathLike[str] | Literal["auto"] | None = None
    fresh: bool = False
    command: str = ""
    progress: Progress | None = None
    watch: Callable[[Standing], None] | None = None
    dry_run: bool = False
    started: float = field(default_factory=time.monotonic)
    who: InitVar[str] = "compare"

    def __post_init__(self, who: str) -> None:
        for name, value in (("minutes", self.minutes), ("memory", self.memory_gb)):
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise ParameterError(f"{who}: {name} must be a number above 0, got {value!r}.")
        if self.trials is not None and self.trials < 1:
            raise ParameterError(f"{who}: trials must be at least 1, got {self.trials}.")
        if self.draws < 2:
            raise ParameterError(f"{who}: there must be at least 2 draws to tell chance from skill, got {self.draws}.")
        if self.unlabeled_rows < 1:
            raise ParameterError(f"{who}: unlabeled_rows must be at least 1, got {self.unlabeled_rows}.")

    @classmethod
    def of(cls, session: Session | None, limits: dict[str, Any], who: str = "compare") -> Session:
        """Return the session that was given, or one with these limits.

        Parameters
        ----------
        session : Session or None
            A session.
        limits : dict of str to value
            Parameters of a new one; only where there is none yet.
        who : str
            Name of the caller, for errors.

        Returns
        -------
        Session
            The one to use.
        """
        if session is not None:
            if limits:
                raise ParameterError(f"{who}: limits belong into the session, got {', '.join(limits)} beside it.")
            return session
        known = {one.name for one in fields(cls)}
        for name in limits:
            if name not in known:
                from difflib import get_close_matches

                near = get_close_matches(name, known, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else f" They are: {', '.join(sorted(known))}."
                raise ParameterError(f"{who}: there is no limit named {name!r}.{hint}")
        return cls(who=who, **limits)

    @property
    def by_clock(self) -> bool:
        """Whether time decides what is tried."""
        return self.trials is None and self.minutes is not None

    @property
    def deadline(self) -> float | None:
        """Value of ``time.monotonic()`` at which all must be done."""
        return self.started + 60 * self.minutes if self.by_clock and self.minutes is not None else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def memory(self) -> int | None:
        """Memory in bytes."""
        return None if self.memory_gb is None else int(self.memory_gb * 2**30)
