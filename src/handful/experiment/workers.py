"""Where trials are made: in this process, or in others that can be stopped at any moment."""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from handful.compute.processes import jobs_of, start_processes
from handful.experiment.arena import Arena
from handful.experiment.trial import Cost, Outcome, Pilot, Task

WORKER_BYTES = 350 * 2**20
"""What a worker process takes before it does anything, measured with scikit-learn and numba loaded."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_DIED = "its process died, perhaps for lack of memory."
_KERNELS = logging.getLogger("handful.kernels")
_COMPILING = "compiling"  # a file by which a worker tells that it compiles
_LOOK = 0.5  # seconds between looks for it


Work = Task | Pilot
Done = tuple[Work, Outcome | Cost]


class Workers(Protocol):
    """Those who make trials."""

    n_jobs: int

    def submit(self, work: Work, cheap: bool = True) -> None:
        """Take on a trial; a cheap one may be made in this process."""

    def wait(self, seconds: float | None) -> list[Done]:
        """Return what was finished, after so many seconds at the latest."""


def count_jobs(n_jobs: int, memory: int | None = None) -> int:
    """Return the number of worker processes; -1 is every core. No more than fit into so many bytes, but one.

    Examples
    --------
    >>> count_jobs(3), count_jobs(3, memory=10**9)
    (3, 2)
    """
    jobs = jobs_of(n_jobs, who="compare")
    return jobs if memory is None else max(min(jobs, memory // WORKER_BYTES), 1)


class Here:
    """Trials in this process, one when it is waited for.

    Parameters
    ----------
    arena : Arena
        Where they are made.
    """

    n_jobs = 1

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._queue: list[Work] = []

    def submit(self, work: Work, cheap: bool = True) -> None:
        """Take on a trial."""
        self._queue.append(work)

    def wait(self, seconds: float | None) -> list[Done]:
        """Make the next trial."""
        work = self._queue.pop(0)
        return [(work, self._arena.run(work) if isinstance(work, Task) else self._arena.pilot(work))]


class Elsewhere:
    """Trials in worker processes, and in this one until they have started.

    The arena is written to a file once, and its large arrays are mapped, not copied.

    Parameters
    ----------
    arena : Arena
        Where they are made.
    n_jobs : int
        Number of processes.
    memory : int or None
        Bytes that all of them together may allocate; a trial that wants more fails.
    """

    def __init__(self, arena: Arena, n_jobs: int, memory: int | None = None) -> None:
        self.n_jobs = n_jobs
        self._limit = None if memory is None else max(memory // n_jobs, WORKER_BYTES)
        self._arena = arena
        self._folder: Path | None = None
        self._starting: list[Any] = []
        self._pool = self._start()
        self._held: list[tuple[Work, bool]] = []  # until a process is there
        self._waiting: dict[Any, Work] = {}
        self._suspects: list[Work] = []  # under way when a process died: each is tried once more, alone
        self._told = False

    def submit(self, work: Work, cheap: bool = True) -> None:
        """Take on a trial; a cheap one may be made in this process."""
        self._held.append((work, cheap))

    def wait(self, seconds: float | None) -> list[Done]:
        """Return what was finished, after so many seconds at the latest."""
        if not self._waiting and not any(future.done() for future in self._starting):
            # Starting a process takes seconds: meanwhile the first methods, which are cheap, are tried here.
            task = next((work for work, cheap in self._held if cheap and isinstance(work, Task)), None)
            if task is not None:
                self._held.remove((task, True))
                return [(task, self._arena.run(task))]
        if self._suspects and not self._waiting:
            self._held.append((self._suspects[-1], False))
        for work, _ in self._held:
            self._waiting[self._pool.submit(_work, self._file(), work)] = work
        self._held.clear()
        return self._results(self._finished(seconds))

    def _finished(self, seconds: float | None) -> Iterable[Any]:
        """Wait for the first result, and meanwhile pass on that a worker compiles."""
        from concurrent.futures import FIRST_COMPLETED, wait

        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(end - time.monotonic(), 0.0)
            pause = left if self._told else min(_LOOK, _LOOK if left is None else left)
            finished, _ = wait(self._waiting, timeout=pause, return_when=FIRST_COMPLETED)
            if not self._told and self._folder is not None and (self._folder / _COMPILING).exists():
                self._told = True
                _KERNELS.info("compiling what is used for the first time")
            if finished or (end is not None and time.monotonic() >= end):
                return finished

    def _results(self, finished: Iterable[Any]) -> list[Done]:
        """Return the results of trials; those that were under way when a process died are left to be tried again."""
        from loky import BrokenProcessPool

        done: list[Done] = []
        broken = False
        for future in finished:
            work, alone = self._waiting.pop(future), bool(self._suspects)
            try:
                result = future.result()
            except BrokenProcessPool:
                broken = True
                if not alone:
                    self._suspects.append(work)
                    continue
                result = Outcome(work, None, error=_DIED) if isinstance(work, Task) else Cost(0.0, 0)
            if alone and work in self._suspects:
                self._suspects.remove(work)
            done.append((work, result))
        if broken:
            self._suspects.extend(self._waiting.values())
            self._waiting.clear()
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = self._start()
        return done

    def close(self) -> None:
        """Stop at once, whatever is under way."""
        # loky stumbles, with a traceback, over trials that it was given but has not passed on; that takes it a moment.
        patience = time.monotonic() + 2
        while time.monotonic() < patience and not all(f.running() or f.done() for f in self._waiting):
            time.sleep(0.01)
        self._pool.shutdown(wait=True, kill_workers=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> Any:
        pool = start_processes(self.n_jobs, _begin, (self._limit,), env=dict.fromkeys(_THREADS, "1"), timeout=600)
        # Imports go on while this process prepares the data.
        self._starting = [pool.submit(_warm_up) for _ in range(self.n_jobs)]
        return pool

    def _file(self) -> str:
        if self._folder is None:
            import joblib

            self._folder = Path(tempfile.mkdtemp(prefix="handful-"))
            joblib.dump(self._arena, self._folder / "arena")
        return str(self._folder / "arena")


@contextmanager
def hire(arena: Arena, n_jobs: int, memory: int | None = None) -> Iterator[Workers]:
    """Give workers, and send them home at the end.

    Parameters
    ----------
    arena : Arena
        Where trials are made.
    n_jobs : int
        Number of processes; 1 is this one.
    memory : int or None
        Bytes at hand.

    Yields
    ------
    Workers
        For `submit` and `wait`.
    """
    if n_jobs == 1:
        yield Here(arena)
        return
    workers = Elsewhere(arena, n_jobs, memory)
    with warnings.catch_warnings():
        # loky replaces workers that have grown, as they do while kernels are loaded; nothing is lost by that.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        try:
            yield workers
        finally:
            workers.close()


_arena: tuple[str, Arena] | None = None


class _Marker(logging.Handler):
    """Leaves a file, by which the process that started this one learns of a message."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Leave the file."""
        with contextlib.suppress(OSError):  # the folder is gone where all is over
            self._path.touch()


def _begin(limit: int | None) -> None:
    if limit is not None:
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _warm_up() -> None:
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.svm  # noqa: F401


def _work(path: str, work: Work) -> Outcome | Cost:
    global _arena
    if _arena is None or _arena[0] != path:
        import joblib

        _arena = (path, joblib.load(path, mmap_mode="r"))
        _KERNELS.addHandler(_Marker(Path(path).parent / _COMPILING))
        _KERNELS.setLevel(logging.INFO)
        _KERNELS.propagate = False
    return _arena[1].run(work) if isinstance(work, Task) else _arena[1].pilot(work)
