"""Map-reduce: summarize parts anywhere, merge the summaries here and in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sized
from contextlib import closing
from typing import Any, TypeVar

from handful.compute.checkpoint import Checkpoint
from handful.compute.engines import Engine, open_engine
from handful.compute.in_order import Pool, in_order
from handful.compute.local import LocalPool
from handful.compute.processes import jobs_of
from handful.compute.transport import failure, reason
from handful.core.errors import ParameterError
from handful.core.packed_arrays import pack_arrays, unpack_arrays
from handful.core.params import check_value
from handful.core.progress import Progress, Step

Part = TypeVar("Part")
Summary = TypeVar("Summary")


def map_reduce(
    summarize: Callable[[Part], Summary],
    merge: Callable[[Summary, Summary], Summary],
    parts: Iterable[Part],
    *,
    n_jobs: int | None = None,
    engine: Engine = None,
    checkpoint: str | os.PathLike[str] | None = None,
    fingerprint: str = "",
    progress: Progress | None = None,
) -> Summary:
    """Summarize every part and merge the summaries in the order of the parts.

    Parameters
    ----------
    summarize : callable
        Turns one part into a summary. It may run in other processes, so parts and summaries must be picklable.
    merge : callable
        Combines the summary of all earlier parts with the next one, in this process; may change and return its first
        argument.
    parts : iterable
        The parts, such as file names; read lazily.
    n_jobs : int or None
        Number of worker processes; None or 1 works in this process (with ``engine="dask"`` in one worker), -1 uses every
        core. A running cluster has the workers that it has.
    engine : None, "dask", "tcp://host:port", "tls://host:port" or distributed.Client
        None works on this machine without Dask; ``"dask"`` starts a local Dask cluster of `n_jobs` processes and closes it
        afterwards; an address connects to a running scheduler, whose workers must have handful and see the files; a
        client is used and left open.
    checkpoint : path-like, optional
        A folder for the summaries of finished parts. A run that was killed and is started again takes them from there.
        Summaries must then be dictionaries of arrays and JSON values.
    fingerprint : str
        What a summary depends on beside its part: the model, parameters, the version of the method. Summaries stored under
        another fingerprint are not used.
    progress : callable, optional
        Called with a `handful.core.progress.Step` after each merged part.

    Returns
    -------
    summary
        Equal to ``merge(merge(s0, s1), s2)...`` to the last bit, whatever the engine, the number of workers and
        whichever part ends first.

    Raises
    ------
    PartError
        If a part fails, the first one in order; the message names it.

    See Also
    --------
    map_parts : The summaries one by one.

    Notes
    -----
    At most four parts for each worker are under way or waiting to be merged, so memory does not grow with their number.

    A part on a Dask worker that is lost goes to another worker; after the fourth loss of its worker a part is given up. A
    process of this machine that dies ends the run; with a checkpoint the next run goes on from there.

    In a checkpoint a part is known by its content: for files (`pathlib.Path`, or a string that names a file) the name and
    the SHA-256 of the bytes, so that a changed file is counted again. Other objects may have a method ``identity()`` that
    returns a string. Damaged files of a checkpoint are not used.

    A script that uses ``engine="dask"`` needs ``if __name__ == "__main__":`` around its work, as always with processes.

    Examples
    --------
    >>> map_reduce(len, lambda a, b: a + b, ["one", "three"])
    8
    """
    merged: Any = None
    done = 0
    summaries = map_parts(
        summarize,
        parts,
        n_jobs=n_jobs,
        engine=engine,
        checkpoint=checkpoint,
        fingerprint=fingerprint,
        progress=progress,
    )
    with closing(summaries):
        for done, summary in enumerate(summaries, start=1):
            merged = summary if done == 1 else merge(merged, summary)
    if done == 0:
        raise ParameterError("map_reduce: there must be at least one part, got none.")
    return merged  # type: ignore[no-any-return]


def map_parts(
    summarize: Callable[[Part], Summary],
    parts: Iterable[Part],
    *,
    n_jobs: int | None = None,
    engine: Engine = None,
    checkpoint: str | os.PathLike[str] | None = None,
    fingerprint: str = "",
    progress: Progress | None = None,
) -> Generator[Summary, None, None]:
    """Yield the summaries of the parts, in the order of the parts.

    Parameters
    ----------
    summarize, parts, n_jobs, engine, checkpoint, fingerprint
        As for `map_reduce`.
    progress : callable, optional
        Called after each summary that was taken.

    Yields
    ------
    summary
        Of one part after the other.

    Examples
    --------
    >>> list(map_parts(len, ["one", "three"]))
    [3, 5]
    """
    jobs = jobs_of(n_jobs)
    check_value("map_reduce", "fingerprint", str, fingerprint)
    kept = None if checkpoint is None else Checkpoint(checkpoint, fingerprint)
    if engine is None and jobs == 1:
        summaries = _in_process(summarize, parts, kept)
    else:
        summaries = _in_workers(summarize, parts, kept, engine, jobs)
    return _told(summaries, len(parts) if isinstance(parts, Sized) else None, progress)


def _told(
    summaries: Generator[Summary, None, None], total: int | None, progress: Progress | None
) -> Generator[Summary, None, None]:
    with closing(summaries):
        for done, summary in enumerate(summaries, start=1):
            yield summary
            if progress is not None:
                progress(Step("map-reduce", done, total))


def _in_process(
    summarize: Callable[[Part], Any], parts: Iterable[Part], checkpoint: Checkpoint | None
) -> Generator[Any, None, None]:
    for number, part in enumerate(parts):
        try:
            summary = summarize(part) if checkpoint is None else _kept(summarize, part, checkpoint)
        except Exception as error:
            raise failure(number, part, reason(error)) from error
        yield summary


def _kept(summarize: Callable[[Part], Any], part: Part, checkpoint: Checkpoint) -> Any:
    key = checkpoint.key(part)
    summary = checkpoint.load(key)
    if summary is None:
        data = pack_arrays(summarize(part))
        checkpoint.save(key, data)
        # Unpacked again, so that a first run and one that goes on see the very same values.
        summary = unpack_arrays(data)
    return summary


def _in_workers(
    summarize: Callable[[Part], Any], parts: Iterable[Part], checkpoint: Checkpoint | None, engine: Engine, jobs: int
) -> Generator[Any, None, None]:
    with open_engine(engine, jobs) as client:
        pool: Pool
        if client is None:
            pool = LocalPool(summarize, jobs, checkpoint is not None)
        else:
            from handful.compute.dask import DaskPool

            pool = DaskPool(client, summarize, checkpoint is not None)
        stopped = True
        try:
            yield from in_order(pool, parts, checkpoint)
            stopped = False
        finally:
            pool.close(stopped=stopped)
