"""What an engine must offer, and the loop that keeps the order of the parts whatever the workers do."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from handful.compute.checkpoint import Checkpoint
from handful.compute.transport import Failed, failure, pack, reason, unpack
from handful.core.errors import HandfulError, PartError
from handful.core.packed_arrays import unpack_arrays


class LostWorkers(Exception):  # noqa: N818 (never leaves the room)
    """Workers are gone for good; the text has two places for the first and the last part under way."""


class Pool(Protocol):
    """Workers that summarize parts."""

    def room(self) -> int:
        """Return how many parts may be under way."""

    def submit(self, part: bytes) -> Any:
        """Hand a packed part to the workers; return a future, which has a method ``done``."""

    def wait(self, futures: Collection[Any]) -> None:
        """Wait until one of the futures is done."""

    def outcome(self, future: Any) -> bytes | Failed:
        """Return the packed summary of a part that is done."""

    def close(self, *, stopped: bool) -> None:
        """Give everything back; `stopped` says that parts may still be under way."""


@dataclass
class _Task:
    number: int
    part: Any
    key: str = ""
    future: Any = None
    summary: Any = None
    error: Failed | LostWorkers | None = None

    @property
    def pending(self) -> bool:
        return self.future is not None


def in_order(pool: Pool, parts: Iterable[Any], checkpoint: Checkpoint | None) -> Iterator[Any]:
    """Yield the summaries of the parts in their order.

    Parameters
    ----------
    pool : Pool
        The workers.
    parts : iterable
        The parts; read no further ahead than the pool has room.
    checkpoint : Checkpoint or None
        Where summaries are kept as soon as they are there, which may be before their turn.

    Yields
    ------
    summary
        Of one part after the other.

    Raises
    ------
    PartError
        If a part fails; that of the first part in order, whichever failed first.
    """
    waiting: deque[_Task] = deque()
    source = enumerate(parts)
    more = True
    while True:
        while more and len(waiting) < pool.room():
            numbered = next(source, None)
            more = numbered is not None
            if numbered is not None:
                waiting.append(_begin(pool, checkpoint, *numbered))
        if not waiting:
            return
        while waiting[0].pending:
            pool.wait([task.future for task in waiting if task.pending])
            for task in waiting:
                if task.pending and task.future.done():
                    _finish(pool, checkpoint, task)
        task = waiting.popleft()
        if isinstance(task.error, LostWorkers):
            last = waiting[-1].number if waiting else task.number
            raise PartError(f"map_reduce: {str(task.error).format(task.number, last)}") from task.error.__cause__
        if task.error is not None:
            raise failure(task.number, task.part, task.error.reason)
        yield task.summary


def _begin(pool: Pool, checkpoint: Checkpoint | None, number: int, part: Any) -> _Task:
    task = _Task(number, part)
    try:
        if checkpoint is not None:
            task.key = checkpoint.key(part)
            task.summary = checkpoint.load(task.key)
        if task.summary is None:
            task.future = pool.submit(pack(part))
    except HandfulError as error:
        task.error = Failed(reason(error))
    return task


def _finish(pool: Pool, checkpoint: Checkpoint | None, task: _Task) -> None:
    future, task.future = task.future, None
    try:
        outcome = pool.outcome(future)
    except LostWorkers as error:
        task.error = error
        return
    if isinstance(outcome, Failed):
        task.error = outcome
    elif checkpoint is None:
        task.summary = unpack(outcome)
    else:
        checkpoint.save(task.key, outcome)
        task.summary = unpack_arrays(outcome)
