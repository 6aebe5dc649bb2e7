"""Worker processes on this machine."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any

from handful.compute.in_order import LostWorkers
from handful.compute.processes import start_processes
from handful.compute.transport import Failed, pack, run, unpack


class LocalPool:
    """Processes that summarize parts; see `handful.compute.in_order.Pool`."""

    def __init__(self, summarize: Callable[[Any], Any], jobs: int, as_arrays: bool) -> None:
        self._jobs = jobs
        self._as_arrays = as_arrays
        self._executor = start_processes(jobs, _start, (pack(summarize),))
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
        from loky import BrokenProcessPool

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
