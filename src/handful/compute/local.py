"""Worker processes on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any

from handful.compute.pools import LostWorkers
from handful.compute.work import Failed, pack, run, unpack
from handful.core.params import Jobs, check_value


def jobs_of(n_jobs: int | None) -> int:
    """Return the number of processes: 1 for None, every core for -1.

    Examples
    --------
    >>> jobs_of(None), jobs_of(3)
    (1, 3)
    """
    check_value("map_reduce", "n_jobs", Jobs, n_jobs)
    if n_jobs is None:
        return 1
    if n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs


class LocalPool:
    """Processes that summarize parts; see `handful.compute.pools.Pool`."""

    def __init__(self, summarize: Callable[[Any], Any], jobs: int, as_arrays: bool) -> None:
        # loky (part of joblib, which scikit-learn needs anyway) starts clean processes: no fork of running threads, and
        # functions defined in a notebook work. A pool of our own: joblib does not share its reusable one.
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        self._jobs = jobs
        self._as_arrays = as_arrays
        self._executor = ProcessPoolExecutor(max_workers=jobs, initializer=_start, initargs=(pack(summarize),))
        self._futures: set[Any] = set()

    def room(self) -> int:
        """Return how many parts may be under way."""
        return 4 * self._jobs

    def submit(self, part: bytes) -> Any:
        """Hand a packed part to the workers."""
        future = self._executor.submit(_work, part, self._as_arrays)
        self._futures.add(future)
        return future

    def wait(self, futures: Collection[Any]) -> None:
        """Wait until one of them is done."""
        wait(futures, return_when=FIRST_COMPLETED)

    def outcome(self, future: Any) -> bytes | Failed:
        """Return what became of a part that is done."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        self._futures.discard(future)
        try:
            outcome: bytes | Failed = future.result()
        except BrokenProcessPool as error:
            raise LostWorkers(
                f"a worker process died while parts {{}} to {{}} were under way, perhaps for lack of memory. "
                f"Use fewer jobs than {self._jobs} or smaller parts."
            ) from error
        except Exception as error:
            return Failed(str(error))
        return outcome

    def close(self, *, stopped: bool) -> None:
        """End the processes, at once if the run was stopped."""
        try:
            if stopped:
                # Nobody waits for the other parts any more. shutdown(kill_workers=True) would do, but its thread may die
                # with a traceback.
                for process in list(self._executor._processes.values()):
                    process.terminate()
                wait(self._futures, timeout=5)
        finally:
            self._executor.shutdown(wait=True)


_packed = b""
_summarize: Callable[[Any], Any] | None = None


def _start(packed: bytes) -> None:
    # Sent once for each process, not with each part: a model may be large. Unpacked later, where errors are caught.
    global _packed
    _packed = packed


def _work(part: bytes, as_arrays: bool) -> bytes | Failed:
    global _summarize, _packed
    if _summarize is None:
        _summarize, _packed = unpack(_packed), b""
    return run(_summarize, part, as_arrays)
