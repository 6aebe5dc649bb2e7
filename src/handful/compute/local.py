"""Map-reduce on this machine: in this process, or in worker processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from handful.core.errors import HandfulError, ParameterError, PartError
from handful.core.params import Count, check_value
from handful.core.progress import Progress, Step

Part = TypeVar("Part")
Summary = TypeVar("Summary")


def map_reduce(
    summarize: Callable[[Part], Summary],
    merge: Callable[[Summary, Summary], Summary],
    parts: Iterable[Part],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Summarize every part and merge the summaries in the order of the parts.

    Parameters
    ----------
    summarize : callable
        Turns one part into a summary. With several jobs it runs in other processes, so parts and summaries must be
        picklable.
    merge : callable
        Combines the summary of all earlier parts with the next one; may change and return its first argument.
    parts : iterable
        The parts, such as file names; read lazily.
    n_jobs : int or None
        Number of worker processes; None or 1 works in this process, -1 uses every core.
    progress : callable, optional
        Called with a `handful.core.progress.Step` after each merged part.

    Returns
    -------
    summary
        Equal to ``merge(merge(s0, s1), s2)...`` whatever the number of workers and whichever part ends first.

    Raises
    ------
    PartError
        If a part fails; the message names it.

    Notes
    -----
    At most ``4 * n_jobs`` parts are under way or waiting to be merged, so memory does not grow with their number.

    Examples
    --------
    >>> map_reduce(len, lambda a, b: a + b, ["one", "three"])
    8
    """
    jobs = _jobs(n_jobs)
    total = len(parts) if isinstance(parts, Sized) else None
    summaries = _in_process(summarize, parts) if jobs == 1 else _in_workers(summarize, parts, jobs)
    merged: Any = None
    done = 0
    for done, summary in enumerate(summaries, start=1):
        merged = summary if done == 1 else merge(merged, summary)
        if progress is not None:
            progress(Step("map-reduce", done, total))
    if done == 0:
        raise ParameterError("map_reduce: there must be at least one part, got none.")
    return merged  # type: ignore[no-any-return]


def _jobs(n_jobs: int | None) -> int:
    check_value("map_reduce", "n_jobs", Count | Literal[-1] | None, n_jobs)
    if n_jobs is None:
        return 1
    if n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs


def _in_process(summarize: Callable[[Part], Summary], parts: Iterable[Part]) -> Iterator[Summary]:
    for number, part in enumerate(parts):
        try:
            summary = summarize(part)
        except Exception as error:
            raise _failure(number, part, _reason(error)) from error
        yield summary


def _in_workers(summarize: Callable[[Part], Summary], parts: Iterable[Part], jobs: int) -> Iterator[Summary]:
    # loky (part of joblib, which scikit-learn needs anyway) starts clean processes: no fork of running threads, and
    # functions defined in a notebook work. A pool of our own: joblib does not share its reusable one.
    from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=jobs)
    waiting: deque[tuple[int, Part, Any]] = deque()
    source = enumerate(parts)
    try:
        while True:
            for number, part in source:
                waiting.append((number, part, executor.submit(_guarded, summarize, part)))
                if len(waiting) >= 4 * jobs:
                    break
            if not waiting:
                break
            number, part, future = waiting.popleft()
            try:
                summary = future.result()
            except BrokenProcessPool as error:
                last = waiting[-1][0] if waiting else number
                raise PartError(
                    f"map_reduce: a worker process died while parts {number} to {last} were under way, perhaps for lack "
                    f"of memory. Use fewer jobs than {jobs} or smaller parts."
                ) from error
            except Exception as error:
                raise _failure(number, part, str(error)) from error
            if isinstance(summary, _Failed):
                raise _failure(number, part, summary.reason)
            yield summary
    except BaseException:
        # Nobody waits for the other parts any more. shutdown(kill_workers=True) would do, but its thread may die with a
        # traceback.
        for process in list(executor._processes.values()):
            process.terminate()
        wait([future for _, _, future in waiting], timeout=5)
        raise
    finally:
        executor.shutdown(wait=True)


@dataclass(frozen=True)
class _Failed:
    """An error on its way back from a worker, as text: not every exception survives pickling."""

    reason: str


def _guarded(summarize: Callable[[Part], Summary], part: Part) -> Summary | _Failed:
    try:
        return summarize(part)
    except Exception as error:
        return _Failed(_reason(error))


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, HandfulError) else f"{type(error).__name__}: {error}"


def _failure(number: int, part: object, reason: str) -> PartError:
    shown = repr(part)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return PartError(f"map_reduce: part {number} ({shown}) failed: {' '.join(reason.split())}")
