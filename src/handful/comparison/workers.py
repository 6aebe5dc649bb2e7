"""Trials in this process or in worker processes that can be killed at a deadline."""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path
from typing import Any

from handful.comparison.trials import Experiment, Trial, TrialResult
from handful.parallel import jobs_of, start_processes

WORKER_BYTES = 350 * 2**20
"""What a worker process takes before it does anything, measured with scikit-learn and numba loaded."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_DIED = "its process died, perhaps for lack of memory."


def count_jobs(n_jobs: int, memory: int | None = None) -> int:
    """Return the number of worker processes: no more than fit into the memory given; -1 is every core.

    Examples
    --------
    >>> count_jobs(3), count_jobs(3, memory=10**9)
    (3, 2)
    """
    jobs = jobs_of(n_jobs, who="limits")
    return jobs if memory is None else max(min(jobs, memory // WORKER_BYTES), 1)


class LocalRunner:
    """Runs trials in this process."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment

    def run(self, trials: Sequence[Trial], deadline: float = math.inf) -> Iterator[TrialResult]:
        """Yield results in the order of the trials; none begins after the deadline."""
        for trial in trials:
            if time.monotonic() >= deadline:
                return
            yield self._experiment.run(trial)

    def close(self) -> None:
        """Do nothing."""


class WorkerPool:
    """Runs trials in worker processes, and without a limit of memory in this one until they have started.

    The experiment is written to a file once, and its large arrays are mapped, not copied. A trial that was running when a
    process died is tried once more, alone.

    Parameters
    ----------
    experiment : Experiment
        The data.
    n_jobs : int
        Number of processes.
    memory : int or None
        Bytes that all of them together may allocate.
    """

    def __init__(self, experiment: Experiment, n_jobs: int, memory: int | None = None) -> None:
        self._experiment = experiment
        self._n_jobs = n_jobs
        self._limit = None if memory is None else max(memory // n_jobs, WORKER_BYTES)
        self._folder: Path | None = None
        self._running: dict[Any, Trial] = {}
        self._start()

    def run(self, trials: Sequence[Trial], deadline: float = math.inf) -> Iterator[TrialResult]:
        """Yield results as they come, until the deadline."""
        queue, suspects = deque(trials), deque[Trial]()
        while (queue or suspects or self._running) and time.monotonic() < deadline:
            is_starting = not any(future.done() for future in self._starting)
            if queue and not self._running and is_starting and self._limit is None:
                yield self._experiment.run(queue.popleft())  # starting a process takes seconds
                continue
            alone = not queue and not self._running
            if queue:
                self._submit(queue)
                queue.clear()
            elif alone:
                self._submit([suspects.popleft()])
            yield from self._collect(suspects, deadline, alone=alone)

    def close(self) -> None:
        """Kill the processes, whatever they do."""
        # loky fails, with a traceback, on trials that it was given but has not passed on; that takes it a moment.
        patience = time.monotonic() + 2
        while time.monotonic() < patience and not all(f.running() or f.done() for f in self._running):
            time.sleep(0.01)
        self._pool.shutdown(wait=True, kill_workers=True)
        if self._folder is not None:
            from loky.backend import resource_tracker

            shutil.rmtree(self._folder, ignore_errors=True)
            resource_tracker.unregister(str(self._folder), "folder")

    def _start(self) -> None:
        self._pool = start_processes(
            self._n_jobs, _begin, (self._limit,), env=dict.fromkeys(_THREADS, "1"), timeout=600
        )
        self._starting = [self._pool.submit(_import_libraries) for _ in range(self._n_jobs)]

    def _submit(self, trials: Sequence[Trial] | deque[Trial]) -> None:
        if self._folder is None:
            import joblib

            self._folder = shared_folder()
            joblib.dump(self._experiment, self._folder / "experiment")
        for trial in trials:
            self._running[self._pool.submit(_run, str(self._folder / "experiment"), trial)] = trial

    def _collect(self, suspects: deque[Trial], deadline: float, *, alone: bool) -> Iterator[TrialResult]:
        """Yield finished results; where a process died, start new ones and put aside what was running."""
        from loky import BrokenProcessPool

        left = deadline - time.monotonic()
        finished, _ = wait(
            self._running, timeout=None if math.isinf(left) else max(left, 0.01), return_when=FIRST_COMPLETED
        )
        broken = False
        for future in finished:
            trial = self._running.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                broken = True
                if alone:
                    yield TrialResult(trial, None, error=_DIED)
                else:
                    suspects.append(trial)
        if broken:
            suspects.extend(self._running.values())
            self._running.clear()
            self._pool.shutdown(wait=True, kill_workers=True)
            self._start()


def shared_folder() -> Path:
    """Make a temporary folder that is removed even where this process is killed."""
    from loky.backend import resource_tracker

    folder = Path(tempfile.mkdtemp(prefix="handful-"))
    resource_tracker.register(str(folder), "folder")
    return folder


@contextlib.contextmanager
def open_runner(experiment: Experiment, n_jobs: int, memory: int | None = None) -> Iterator[LocalRunner | WorkerPool]:
    """Open what runs trials, and close it at the end."""
    # Only the memory of another process can be limited.
    is_local = n_jobs == 1 and memory is None
    runner = LocalRunner(experiment) if is_local else WorkerPool(experiment, n_jobs, memory)
    with warnings.catch_warnings():
        # loky replaces workers that have grown, as they do while kernels are loaded; nothing is lost by that.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        try:
            yield runner
        finally:
            runner.close()


_experiment: tuple[str, Experiment] | None = None


def _begin(limit: int | None) -> None:
    if limit is not None:
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _import_libraries() -> None:
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.svm  # noqa: F401


def _run(path: str, trial: Trial) -> TrialResult:
    global _experiment
    if _experiment is None or _experiment[0] != path:
        import joblib

        _experiment = (path, joblib.load(path, mmap_mode="r"))
    return _experiment[1].run(trial)
