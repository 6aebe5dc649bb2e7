"""A contest: a race held in an arena, within the limits of a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from handful.experiment.arena import Arena
from handful.experiment.journal import Journal, journal_folder
from handful.experiment.race import Race
from handful.experiment.running import Runner
from handful.experiment.session import Session
from handful.experiment.workers import count_jobs, hire


def hold(
    arena: Arena,
    race: Race,
    session: Session,
    *,
    key: Callable[[], str],
    reserve: Callable[[Race], float] | None = None,
) -> str:
    """Hold a race.

    Parameters
    ----------
    arena : Arena
        Where trials are made.
    race : Race
        Who takes part; it takes in the outcomes.
    session : Session
        Limits.
    key : callable
        Gives the name of the comparison for the journal: same name, same outcomes.
    reserve : callable, optional
        Gives the seconds that must be left at the end.

    Returns
    -------
    {"finished", "out of time", "out of trials", "interrupted", "planned"}
        How it ended.
    """
    jobs = count_jobs(session.n_jobs, session.memory)
    if session.dry_run:
        return "planned"
    book = _journal(arena.name, session, key)
    if book is not None and session.by_clock:
        for outcome in book.outcomes.values():
            race.add(outcome)
    try:
        with hire(arena, jobs, session.memory) as workers:
            arena.prepare()
            runner = Runner(race, session, workers)
            if book is not None:
                runner.keep = book.add
                runner.known = {} if session.by_clock else dict(book.outcomes)
            if reserve is not None:
                runner.reserve = reserve
            return runner.run()
    finally:
        if book is not None:
            book.close()


def _journal(name: str, session: Session, key: Callable[[], str]) -> Journal | None:
    if session.journal is None:
        return None
    digest = key()
    path = journal_folder() / f"{name[:40]}-{digest}.jsonl" if session.journal == "auto" else Path(session.journal)
    return Journal(path, digest, fresh=session.fresh)
