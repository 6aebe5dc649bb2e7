"""Trials in this process or in others, until all are made, the time is up, or somebody stops them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol

from handful.core.errors import ParameterError
from handful.core.progress import Progress, Step
from handful.experiment.trial import Outcome, Task

WORKER_BYTES = 350 * 2**20
"""What a worker process takes before it does anything, measured with scikit-learn and numba loaded."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Bench(Protocol):
    """Where trials are made."""

    def run(self, task: Task) -> Outcome:
        """Make one trial."""


_bench: Bench | None = None


def run_tasks(
    bench: Bench,
    tasks: Sequence[Task],
    keep: Callable[[Outcome], None],
    *,
    n_jobs: int = 1,
    deadline: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    done_before: int = 0,
) -> str:
    """Make trials, handing on each outcome as soon as it is there.

    Parameters
    ----------
    bench : Bench
        Where they are made.
    tasks : sequence of Task
        The trials, the most wanted first.
    keep : callable
        Takes each outcome.
    n_jobs : int
        Worker processes; -1 uses every core. 1 works in this process, unless there is a deadline.
    deadline : float or None
        Value of ``time.monotonic()`` at which to stop; trials under way are given up.
    memory : int or None
        Bytes that all workers together may allocate; a trial that wants more fails.
    progress : callable, optional
        Told after each trial.
    done_before : int
        Trials that were made earlier, for the progress.

    Returns
    -------
    {"finished", "out of time", "interrupted"}
        How it ended.
    """
    jobs = count_jobs(n_jobs)
    outcomes = (
        _here(bench, tasks) if jobs == 1 and deadline is None else _elsewhere(bench, tasks, jobs, deadline, memory)
    )
    total, done = len(tasks) + done_before, done_before
    with contextlib.closing(outcomes), warnings.catch_warnings():
        # loky replaces workers that have grown, as they do while kernels are loaded; nothing is lost by that.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        try:
            for outcome in outcomes:
                keep(outcome)
                done += 1
                if progress is not None:
                    progress(Step("compare", done, total))
        except KeyboardInterrupt:
            return "interrupted"
    return "finished" if done == total else "out of time"


def count_jobs(n_jobs: int, memory: int | None = None) -> int:
    """Return the number of worker processes; -1 is every core. No more than fit into so many bytes, but one.

    Examples
    --------
    >>> count_jobs(3), count_jobs(3, memory=10**9)
    (3, 2)
    """
    if n_jobs == -1:
        n_jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs < 1:
        raise ParameterError(f"compare: jobs must be at least 1, or -1 for every core, got {n_jobs}.")
    return n_jobs if memory is None else max(min(n_jobs, memory // WORKER_BYTES), 1)


def _here(bench: Bench, tasks: Sequence[Task]) -> Generator[Outcome, None, None]:
    for task in tasks:
        yield bench.run(task)


def _elsewhere(
    bench: Bench, tasks: Sequence[Task], jobs: int, deadline: float | None, memory: int | None
) -> Generator[Outcome, None, None]:
    from concurrent.futures import FIRST_COMPLETED, wait

    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    def start() -> Any:
        limit = None if memory is None else max(memory // jobs, WORKER_BYTES)
        return ProcessPoolExecutor(
            jobs, initializer=_begin, initargs=(bench, limit), env=dict.fromkeys(_THREADS, "1"), timeout=600
        )

    pool, queue = start(), list(reversed(tasks))
    waiting: dict[Any, Task] = {}
    suspects: list[Task] = []  # under way when a process died: each is tried once more, alone
    try:
        while queue or waiting or suspects:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return
            if suspects and not waiting:
                waiting[pool.submit(_trial, suspects[-1])] = suspects[-1]
            while queue and not suspects and len(waiting) < 2 * jobs:
                task = queue.pop()
                waiting[pool.submit(_trial, task)] = task
            finished, _ = wait(waiting, timeout=left, return_when=FIRST_COMPLETED)
            broken = False
            for future in finished:
                task, alone = waiting.pop(future), bool(suspects)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    broken = True
                    if not alone:
                        suspects.append(task)
                        continue
                    outcome = Outcome(task, None, error="its process died, perhaps for lack of memory.")
                if alone:
                    suspects.remove(task)
                yield outcome
            if broken:
                suspects.extend(waiting.values())
                waiting.clear()
                pool.shutdown(wait=True, kill_workers=True)
                pool = start()
    finally:
        _stop(pool, waiting)


def _stop(pool: Any, waiting: Iterable[Any]) -> None:
    # loky stumbles, with a traceback, over trials that it was given but has not passed on; that takes it a moment.
    patience = time.monotonic() + 2
    while time.monotonic() < patience and not all(future.running() or future.done() for future in waiting):
        time.sleep(0.01)
    pool.shutdown(wait=True, kill_workers=True)


def _begin(bench: Bench, limit: int | None) -> None:
    global _bench
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    if limit is not None:
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    _bench = bench


def _trial(task: Task) -> Outcome:
    assert _bench is not None
    return _bench.run(task)
