"""Ordered, resumable map over worker processes or a Dask cluster."""

from __future__ import annotations

import difflib
import hashlib
import logging
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache, lru_cache, partial, reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from handful.data.files import atomic_writer
from handful.errors import FileError, HandfulError, ParameterError, PartError, Progress, Step, require
from handful.params import Jobs, check_value
from handful.persistence.arrays import pack_arrays, unpack_arrays

_LOST = "the Dask scheduler was lost. Start it and the run again."
_PATIENCE = 10
"""Seconds to wait for a scheduler to answer, and for its first worker."""
_PULSE = 0.5
"""Seconds between two looks at the parent."""


# -- checkpoints ------------------------------------------------------------------------------------------------------


def part_identity(part: Any) -> str:
    r"""Return a text that is equal for equal parts only.

    Parameters
    ----------
    part : Any
        A file (a `pathlib.Path`, or a string that names a file), an object with a method ``identity()`` that returns a
        string, or anything that can be pickled.

    Returns
    -------
    str
        Equal parts have equal ones.

    Raises
    ------
    FileError
        If a file cannot be read.

    Notes
    -----
    A file is known by its name and the SHA-256 of its content, not by its time: copying and unpacking may keep an old
    time or give a new one. The folder does not count, so a corpus may move.

    Examples
    --------
    >>> part_identity([["Rome", "fell"]]) == part_identity([["Rome", "fell"]])
    True
    """
    from joblib import hash as hash_content

    if callable(own := getattr(part, "identity", None)):
        return str(own())
    if isinstance(part, os.PathLike) or (isinstance(part, str) and os.path.isfile(part)):
        return file_identity(part)
    return str(hash_content(part, hash_name="sha1"))


def file_identity(path: str | os.PathLike[str], start: int = 0, stop: int | None = None) -> str:
    r"""Return the name of a file and the SHA-256 of its content, or of a stretch of it.

    Parameters
    ----------
    path : path-like
        The file.
    start, stop : int
        First byte, and the byte after the last; by default the whole file.

    Returns
    -------
    str
        Name, number of bytes and SHA-256.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\ntwo\n")
    >>> file_identity(target, 0, 4)
    'a.txt 4 2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806'
    """
    digest, size = hashlib.sha256(), 0
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while data := file.read(2**20 if stop is None else min(2**20, stop - start - size)):
                digest.update(data)
                size += len(data)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read ({error.strerror}).") from None
    return f"{os.path.basename(os.fspath(path))} {size} {digest.hexdigest()}"


class Checkpoint:
    """Summaries of finished parts, one file each.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    fingerprint : str
        What the summaries depend on besides their parts, such as the model and its parameters. A summary is found again
        only under the fingerprint that it was stored under.

    Notes
    -----
    The name of a file is the SHA-256 of fingerprint and part (see `part_identity`), so any number of runs may share a
    folder, and a part whose content changed is a new part. A file appears whole or not at all; one that is damaged
    counts as missing. Only arrays and JSON are stored, and reading them never runs code.

    Examples
    --------
    >>> import tempfile
    >>> from handful.persistence.arrays import pack_arrays
    >>> checkpoint = Checkpoint(tempfile.mkdtemp(), "version 1")
    >>> key = checkpoint.key("a part")
    >>> checkpoint.save(key, pack_arrays({"n": 3}))
    >>> checkpoint.load(key)
    {'n': 3}
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str) -> None:
        self._folder = Path(folder)
        self._start = f"2 {len(fingerprint)} {fingerprint} "
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: cannot be the folder of a checkpoint ({error.strerror}).") from None

    def key(self, part: Any) -> str:
        """Return the name under which the summary of a part is kept."""
        name = f"{self._start}{part_identity(part)}"
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

    def load(self, key: str) -> dict[str, Any] | None:
        """Return a stored summary, or None if there is none or it is damaged."""
        try:
            return unpack_arrays(self._path(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None

    def save(self, key: str, data: bytes) -> None:
        """Store a compressed summary."""
        with atomic_writer(self._path(key)) as file:
            file.write(data)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.summary"


# -- processes --------------------------------------------------------------------------------------------------------


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

    begin = partial(_begin, os.getpid(), initializer)
    return ProcessPoolExecutor(jobs, initializer=begin, initargs=initargs, env=env and dict(env), timeout=timeout)


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


class Watched:
    """A function whose worker process ends with the process that made this; for pools that are not ours, as joblib's.

    Examples
    --------
    >>> Watched(len)("four")
    4
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.parent = function, os.getpid()

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
    import psutil

    # An orphan is given another parent at once; Windows keeps the number of the dead one.
    while os.getppid() == parent and (os.name == "posix" or psutil.pid_exists(parent)):
        time.sleep(_PULSE)
    os._exit(1)


def _begin(parent: int, initializer: Callable[..., None] | None, *initargs: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    if initializer is not None:
        initializer(*initargs)


# -- Dask -------------------------------------------------------------------------------------------------------------


Engine: TypeAlias = Any
"""None, ``"dask"``, the address of a Dask scheduler, or a `distributed.Client`."""


@contextmanager
def open_engine(engine: Engine, n_jobs: int | None = None) -> Iterator[Engine]:
    """Open an engine once for several calls of `map_parts`, and close it afterwards.

    Parameters
    ----------
    engine : None, "dask", "tcp://host:port", "tls://host:port" or distributed.Client
        As for `map_parts`. A client that is passed in stays open.
    n_jobs : int or None
        Worker processes of the local Dask cluster that ``"dask"`` stands for.

    Yields
    ------
    engine
        To be passed to `map_parts`.

    Examples
    --------
    >>> with open_engine(None) as engine:
    ...     engine is None
    True
    """
    jobs = jobs_of(n_jobs)
    if engine is None:
        yield None
        return
    if isinstance(engine, str) and engine != "dask" and not engine.startswith(("tcp://", "tls://")):
        hint = " Did you mean 'dask'?" if difflib.get_close_matches(engine.lower(), ["dask"]) else ""
        raise ParameterError(
            f"map_parts: engine must be 'dask', the address of a Dask scheduler such as 'tcp://host:8786', "
            f"a distributed.Client or None, got {engine!r}.{hint}"
        )
    distributed = require("distributed", extra="dask", why="engine='dask'")
    if isinstance(engine, distributed.Client):
        yield engine
        return
    if not isinstance(engine, str):
        raise ParameterError(
            f"map_parts: engine must be 'dask', an address, a distributed.Client or None, got {type(engine).__name__}."
        )
    with ExitStack() as stack:
        if engine == "dask":
            # No memory limit, since Dask would kill and restart a worker whose one part is too large, over and over.
            cluster = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                memory_limit=0,
                silence_logs=logging.CRITICAL,  # parts of a lost worker are done again
            )
            yield stack.enter_context(distributed.Client(stack.enter_context(cluster), set_as_default=False))
            return
        client = stack.enter_context(_connect(distributed, engine))
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ParameterError(
                f"map_parts: the Dask scheduler at {engine!r} has no workers. Start some with 'dask worker {engine}'."
            ) from None
        yield client


def _connect(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError):
        raise ParameterError(
            f"map_parts: engine must be the address of a running Dask scheduler, but none answers at {address!r}. "
            "Start one with 'dask scheduler', or use engine='dask'."
        ) from None


# -- work -------------------------------------------------------------------------------------------------------------

Part = TypeVar("Part")
Summary = TypeVar("Summary")


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
    summarize : callable
        Turns one part into a summary. It may run in other processes, so parts and summaries must be picklable.
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
        What a summary depends on besides its part: the model, parameters, the version of the method. Summaries stored under
        another fingerprint are not used.
    progress : callable, optional
        Called with a `handful.errors.Step` after each summary that was taken.

    Yields
    ------
    summary
        Of one part after the other, the same whatever the engine and the number of workers.

    Raises
    ------
    HandfulError
        The error of the first part in order that fails; a `PartError` that names the part where `summarize` raised another
        exception.

    Notes
    -----
    At most four parts for each worker are under way or waiting to be taken, so memory does not grow with their number.

    A part on a Dask worker that is lost goes to another worker; after the fourth loss of its worker a part is given up. A
    process of this machine that dies ends the run; with a checkpoint the next run goes on from there.

    In a checkpoint a part is known by its content; see `part_identity`. Damaged files of a checkpoint are not used.

    A script that uses ``engine="dask"`` needs ``if __name__ == "__main__":`` around its work, as always with processes.

    Examples
    --------
    >>> list(map_parts(len, ["one", "three"]))
    [3, 5]
    """
    jobs = jobs_of(n_jobs)
    check_value("map_parts", "fingerprint", str, fingerprint)
    kept = None if checkpoint is None else Checkpoint(checkpoint, fingerprint)
    if engine is None and jobs == 1:
        summaries = _in_process(summarize, parts, kept)
    else:
        summaries = _in_workers(summarize, parts, kept, engine, jobs)
    return _reported(summaries, len(parts) if isinstance(parts, Sized) else None, progress)


def map_reduce(
    summarize: Callable[[Part], Summary],
    merge: Callable[[Summary, Summary], Summary],
    parts: Iterable[Part],
    **options: Any,
) -> Summary:
    """Summarize every part and merge the summaries in the order of the parts.

    Parameters
    ----------
    summarize, parts, **options
        As for `map_parts`.
    merge : callable
        Combines the summary of all earlier parts with the next one, in this process; may change and return its first
        argument.

    Returns
    -------
    summary
        Equal to ``merge(merge(s0, s1), s2)...`` to the last bit, whatever the engine, the number of workers and
        whichever part ends first.

    Examples
    --------
    >>> map_reduce(len, lambda a, b: a + b, ["one", "three"])
    8
    """
    with closing(map_parts(summarize, parts, **options)) as summaries:
        for first in summaries:
            return reduce(merge, summaries, first)
    raise ParameterError("map_reduce: there must be at least one part, got none.")


def _reported(
    summaries: Generator[Summary, None, None], total: int | None, progress: Progress | None
) -> Generator[Summary, None, None]:
    with closing(summaries):
        for done, summary in enumerate(summaries, start=1):
            yield summary
            if progress is not None:
                progress(Step("map-reduce", done, total))


def _failure(number: int, part: object, why: str) -> PartError:
    shown = repr(part)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return PartError(f"map_parts: part {number} ({shown}) failed: {' '.join(why.split())}")


def _in_process(
    summarize: Callable[[Part], Any], parts: Iterable[Part], checkpoint: Checkpoint | None
) -> Generator[Any, None, None]:
    for number, part in enumerate(parts):
        key = "" if checkpoint is None else checkpoint.key(part)
        summary = None if checkpoint is None else checkpoint.load(key)
        if summary is None:
            try:
                summary = summarize(part)
            except HandfulError:
                raise
            except Exception as error:
                raise _failure(number, part, f"{type(error).__name__}: {error}") from error
            if checkpoint is not None:
                data = pack_arrays(summary)
                checkpoint.save(key, data)
                # Unpacked again, so that a first run and one that goes on see the very same values.
                summary = unpack_arrays(data)
        yield summary


class _Workers:
    """Worker processes of this machine, or of a Dask cluster, that summarize pickled parts."""

    def __init__(self, summarize: Callable[[Any], Any], jobs: int, client: Any, as_arrays: bool) -> None:
        packed = _pack(summarize)
        self._jobs, self._client, self._as_arrays = jobs, client, as_arrays
        self._futures: set[Future[Any]] = set()
        if client is None:
            self._executor: Any = start_processes(jobs, _remember, (packed,))
            self._function: Any = None
        else:
            # The function is the result of a task and not scattered data: when the worker that holds it is lost, Dask
            # makes it again. It is sent once to each worker, not with each part.
            self._executor = client.get_executor(pure=False)
            self._function = client.submit(_same, packed, pure=False)

    def capacity(self) -> int:
        """Return how many parts may be under way."""
        workers = self._jobs
        if self._client is not None:
            with suppress(OSError, TimeoutError, RuntimeError):  # where the scheduler is gone, the futures show it
                workers = sum(self._client.nthreads().values())
        return 4 * max(workers, 1)

    def submit(self, part: Any) -> Future[Any]:
        """Send a part to the workers."""
        if self._client is not None and self._client.status in ("closing", "closed"):
            raise PartError(_LOST)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            future: Future[Any] = self._executor.submit(_work, self._function, _pack(part), self._as_arrays)
        self._futures.add(future)
        return future

    def result(self, future: Future[Any]) -> bytes:
        """Return the packed summary of a part that is done."""
        self._futures.discard(future)
        try:
            packed: bytes = future.result()
        except HandfulError:
            raise
        except CancelledError:
            raise PartError(_LOST) from None
        except Exception:  # of the pool, or Dask's KilledWorker: those of the function are caught in the worker
            raise PartError(
                "a worker process died, perhaps for lack of memory. Use fewer jobs, smaller parts or more memory."
            ) from None
        return packed

    def close(self, *, stopped: bool) -> None:
        """End the processes of this machine, at once if the run was stopped; withdraw parts from a cluster."""
        if self._client is not None:
            with suppress(Exception):  # the cluster may be gone already
                for future in self._futures:
                    future.cancel()
                self._function.release()
            return
        if stopped:
            # shutdown(kill_workers=True) would do, but its thread may die with a traceback.
            for process in list(self._executor._processes.values()):
                process.terminate()
            wait(self._futures, timeout=5)
        self._executor.shutdown(wait=True)


def _in_workers(
    summarize: Callable[[Part], Any], parts: Iterable[Part], checkpoint: Checkpoint | None, engine: Engine, jobs: int
) -> Generator[Any, None, None]:
    """Yield the summaries in the order of the parts, which are read only a bounded number ahead."""
    with open_engine(engine, jobs) as client:
        workers = _Workers(summarize, jobs, client, checkpoint is not None)
        waiting: deque[_Task] = deque()
        source = enumerate(parts)
        stopped = True
        try:
            while True:
                while len(waiting) < workers.capacity() and (numbered := next(source, None)) is not None:
                    waiting.append(_Task(*numbered, workers, checkpoint))
                if not waiting:
                    break
                while waiting[0].future is not None:
                    wait([task.future for task in waiting if task.future is not None], return_when=FIRST_COMPLETED)
                    for task in waiting:
                        task.finish()
                task = waiting.popleft()
                if task.error is not None:
                    raise task.error
                yield task.summary
            stopped = False
        finally:
            workers.close(stopped=stopped)


class _Task:
    """A part under way, with its summary or error once it is done."""

    def __init__(self, number: int, part: Any, workers: _Workers, checkpoint: Checkpoint | None) -> None:
        self._number, self._part, self._workers, self._checkpoint = number, part, workers, checkpoint
        self.error: HandfulError | None = None
        self.future: Any = None
        self._key = "" if checkpoint is None else checkpoint.key(part)
        self.summary: Any = None if checkpoint is None else checkpoint.load(self._key)
        if self.summary is None:
            try:
                self.future = workers.submit(part)
            except HandfulError as error:
                self.error = error

    def finish(self) -> None:
        """Take the summary from the workers if it is there, and keep it."""
        if self.future is None or not self.future.done():
            return
        future, self.future = self.future, None
        try:
            packed = self._workers.result(future)
        except PartError as error:
            self.error = _failure(self._number, self._part, str(error))
        except HandfulError as error:
            self.error = error
        else:
            if self._checkpoint is not None:
                self._checkpoint.save(self._key, packed)
            self.summary = _unpack(packed) if self._checkpoint is None else unpack_arrays(packed)


def _pack(value: Any) -> bytes:
    """Pickle a value, functions of a notebook included."""
    from cloudpickle import dumps

    try:
        packed: bytes = dumps(value)
    except Exception as error:
        raise ParameterError(
            f"map_parts: functions, parts and summaries must be picklable, got {type(value).__name__} ({error})."
        ) from error
    return packed


def _unpack(data: bytes) -> Any:
    import pickle

    return pickle.loads(data)  # noqa: S301 (bytes that this run has written itself)


@lru_cache(maxsize=1)  # one run at a time, so that models of earlier ones do not pile up
def _function_of(packed: bytes) -> Any:
    return _unpack(packed)


_sent: dict[str, bytes] = {}


def _remember(packed: bytes) -> None:
    _sent["function"] = packed  # unpacked later, where errors are caught


def _same(packed: bytes) -> bytes:
    return packed


def _work(function: bytes | None, part: bytes, as_arrays: bool) -> bytes:
    """Summarize a pickled part in a worker; pack the summary as arrays for a checkpoint, else by pickle."""
    try:
        summary = _function_of(function or _sent["function"])(_unpack(part))
        return pack_arrays(summary) if as_arrays else _pack(summary)
    except HandfulError:
        raise
    except Exception as error:  # as text: not every exception survives pickling
        raise PartError(f"{type(error).__name__}: {error}") from None
