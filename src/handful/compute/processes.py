"""Worker processes of this machine, which never outlive the process that started them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from handful.core.params import Jobs, check_value

_PULSE = 0.5
"""Seconds between two looks at the parent."""


def jobs_of(n_jobs: int | None, *, who: str = "map_reduce") -> int:
    """Return the number of processes or threads: 1 for None, every core that this process may use for -1.

    Examples
    --------
    >>> jobs_of(None), jobs_of(3)
    (1, 3)
    """
    from joblib import effective_n_jobs

    check_value(who, "n_jobs", Jobs, n_jobs)
    jobs: int = effective_n_jobs(-1) if n_jobs == -1 else n_jobs or 1
    return jobs


def start_processes(
    jobs: int,
    initializer: Callable[..., None] | None = None,
    initargs: tuple[Any, ...] = (),
    *,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Any:
    """Start a pool of worker processes that end when this process does, however it ends.

    Parameters
    ----------
    jobs : int
        How many.
    initializer, initargs
        Called first in every worker.
    env : mapping of str to str, optional
        Environment variables of the workers.
    timeout : float or None
        Seconds after which a worker without work ends.

    Returns
    -------
    loky.ProcessPoolExecutor
        Its workers are clean processes, not forks of running threads, and know functions that were defined in a notebook.

    Notes
    -----
    A worker looks twice a second whether its parent still is the process that started it, and ends if not; so none is left
    behind by a parent that was killed. Interrupts of the keyboard go to the parent alone, which decides what they mean.
    """
    from loky import ProcessPoolExecutor

    begin = (os.getpid(), initializer, initargs)
    return ProcessPoolExecutor(
        jobs, initializer=_begin, initargs=begin, env=dict(env) if env is not None else None, timeout=timeout
    )


def end_children(patience: float = 3.0) -> None:
    """End all processes that this one started, and theirs: first by a request, then by force.

    Parameters
    ----------
    patience : float
        Seconds between the two.
    """
    import psutil

    children = [child for child in psutil.Process().children(recursive=True) if not _is_tracker(child)]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for child in children:
            try:
                end(child)
            except psutil.Error:
                continue  # it has ended by itself
        _, children = psutil.wait_procs(children, timeout=patience)


def _is_tracker(child: Any) -> bool:
    """Tell whether a child is the one that removes what processes leave in shared memory; it ends when they have."""
    import psutil

    try:
        return any("resource_tracker" in word for word in child.cmdline())
    except psutil.Error:
        return False


@dataclass(frozen=True)
class Watched:
    """A function whose worker process ends with the process that made this; for pools that are not ours, as joblib's.

    Examples
    --------
    >>> Watched(len)("four")
    4
    """

    function: Callable[..., Any]
    parent: int = field(default_factory=os.getpid)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function, in a worker under watch."""
        if os.getpid() != self.parent:
            end_with_parent(self.parent)
        return self.function(*args, **options)


@cache
def end_with_parent(parent: int) -> None:
    """Watch the parent from now on, in a thread, and end this process when the parent is gone."""
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="handful-parent-watch").start()


def _watch(parent: int) -> None:
    while _lives(parent):
        time.sleep(_PULSE)
    os._exit(1)


def _lives(parent: int) -> bool:
    if os.name == "posix":
        return os.getppid() == parent  # an orphan is given another parent at once
    import psutil

    return bool(psutil.pid_exists(parent))


def _begin(parent: int, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    if initializer is not None:
        initializer(*initargs)
