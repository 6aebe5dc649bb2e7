"""Ordered, resumable map-reduce over worker processes or a Dask cluster."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import logging
import os
import signal
import socket
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from handful.data.files import atomic_writer
from handful.errors import FileError, HandfulError, ParameterError, PartError, Progress, Step, require
from handful.params import Jobs, check_value
from handful.persistence.arrays import pack_arrays, unpack_arrays
from handful.version import __version__

_LOST = "the Dask scheduler was lost. Start it and the run again."
_PATIENCE = 10
"""Seconds to wait for a scheduler to answer, and for its first worker."""


@dataclass(frozen=True)
class Failed:
    """An error on its way back from a worker, as text: not every exception survives pickling."""

    reason: str


def pack(value: Any) -> bytes:
    """Pickle a value, functions of a notebook included."""
    from cloudpickle import dumps

    try:
        packed: bytes = dumps(value)
    except Exception as error:
        raise ParameterError(
            f"map_reduce: functions, parts and summaries must be picklable, got {type(value).__name__} ({reason(error)})."
        ) from error
    return packed


def unpack(data: bytes) -> Any:
    """Undo `pack`; only for what a driver and its workers send each other."""
    import pickle

    return pickle.loads(data)  # noqa: S301 (bytes that this run has written itself)


def reason(error: BaseException) -> str:
    """Return the message of an error, with its type if it is not one of handful.

    Examples
    --------
    >>> reason(ValueError("too long"))
    'ValueError: too long'
    """
    return str(error) if isinstance(error, HandfulError) else f"{type(error).__name__}: {error}"


def failure(number: int, part: object, why: str) -> PartError:
    """Return the error of a part, in one line.

    Examples
    --------
    >>> failure(3, "c.txt", "no such file.")
    PartError("map_reduce: part 3 ('c.txt') failed: no such file.")
    """
    shown = repr(part)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return PartError(f"map_reduce: part {number} ({shown}) failed: {' '.join(why.split())}")


_CHUNK = 1 << 20


def part_identity(part: Any) -> str:
    r"""Return a text that is equal for equal parts only.

    Parameters
    ----------
    part : Any
        A file (a `pathlib.Path`, or a string that names a file), an object with a method ``identity()`` that returns a
        string, or data: strings, numbers, lists, dictionaries, arrays, sparse matrices, dataclasses, with any of these
        inside (a string inside stays a string).

    Returns
    -------
    str
        Equal parts have equal ones.

    Raises
    ------
    ParameterError
        If the part is of another kind.
    FileError
        If a file cannot be read.

    Notes
    -----
    A file is known by its name and the SHA-256 of its content, not by its time: copying and unpacking may keep an old
    time or give a new one. Hashing runs at some hundred megabytes a second, far faster than any counting. The folder does not
    count, so a corpus may move.

    Examples
    --------
    >>> part_identity([["Rome", "fell"]]) == part_identity([["Rome", "fell"]])
    True
    >>> part_identity(np.arange(3)) == part_identity(np.arange(4))
    False
    """
    if isinstance(part, str) and os.path.isfile(part):
        return file_identity(part)
    return json.dumps(part if _is_plain(part) else _described(part), default=_described)


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
    digest = hashlib.sha256()
    size = 0
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while data := file.read(_CHUNK if stop is None else min(_CHUNK, stop - start - size)):
                digest.update(data)
                size += len(data)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read ({error.strerror}).") from None
    return f"{os.path.basename(os.fspath(path))} {size} {digest.hexdigest()}"


def _is_plain(part: Any) -> bool:
    return part is None or isinstance(part, str | int | float | list | tuple | dict)


def _described(part: Any) -> Any:
    """Say what a part that JSON does not know consists of."""
    if callable(own := getattr(part, "identity", None)) and not isinstance(part, type):
        return [_name(part), str(own())]
    if isinstance(part, os.PathLike):
        return ["file", file_identity(part)]
    if isinstance(part, bytes):
        return ["bytes", hashlib.sha256(part).hexdigest()]
    if isinstance(part, np.ndarray | np.generic) and not part.dtype.hasobject:
        array = np.ascontiguousarray(part)
        digest = hashlib.sha256(array.reshape(-1).view(np.uint8).data if array.size else b"")
        return ["array", part.dtype.str, list(np.shape(part)), digest.hexdigest()]
    if isinstance(part, np.ndarray):
        return ["objects", list(part.shape), part.ravel().tolist()]
    if isinstance(part, Mapping):
        return dict(part)
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        return [_name(part), [getattr(part, field.name) for field in dataclasses.fields(part)]]
    if hasattr(part, "tocsr") and hasattr(part, "shape"):
        csr = part.tocsr()
        return ["sparse", list(csr.shape), csr.data, csr.indices, csr.indptr]
    raise ParameterError(
        f"map_reduce: with a checkpoint a part must be a file, plain data or have a method identity(), "
        f"got {type(part).__name__}. Give it a method that returns a string made from its content."
    )


def _name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


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
        self._start = hashlib.sha256(f"1 {len(fingerprint)} {fingerprint} ".encode("utf-8", "surrogatepass"))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: cannot be the folder of a checkpoint ({error.strerror}).") from None

    def key(self, part: Any) -> str:
        """Return the name under which the summary of a part is kept."""
        digest = self._start.copy()
        digest.update(part_identity(part).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def load(self, key: str) -> dict[str, Any] | None:
        """Return a stored summary, or None if there is none or it is damaged."""
        path = self._path(key)
        try:
            return unpack_arrays(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
        except ValueError:
            return None

    def save(self, key: str, data: bytes) -> None:
        """Store a compressed summary."""
        with atomic_writer(self._path(key)) as file:
            file.write(data)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.summary"


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
        jobs, initializer=_processes_begin, initargs=begin, env=dict(env) if env is not None else None, timeout=timeout
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


def _processes_begin(parent: int, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    if initializer is not None:
        initializer(*initargs)


@contextmanager
def open_client(engine: Any, jobs: int) -> Iterator[Any]:
    """Open a client of a Dask cluster: of one on this machine for ``"dask"``, else by its address."""
    distributed = require("distributed", extra="dask", why="engine='dask'")
    if isinstance(engine, distributed.Client):
        yield engine
        return
    if not isinstance(engine, str):
        raise ParameterError(
            f"map_reduce: engine must be 'dask', an address, a distributed.Client or None, got {type(engine).__name__}."
        )
    with ExitStack() as stack:
        if engine == "dask":
            # No memory limit, since Dask would kill and restart a worker whose one part is too large, over and over.
            cluster = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
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
                f"map_reduce: the Dask scheduler at {engine!r} has no workers. Start some with 'dask worker {engine}'."
            ) from None
        yield client


def _connect(distributed: Any, address: str) -> Any:
    try:
        _try_address(address)
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        cause = " ".join(str(getattr(error, "strerror", None) or error).split())[:200] or type(error).__name__
        raise ParameterError(
            f"map_reduce: engine must be the address of a running Dask scheduler, but none answers at {address!r} "
            f"({cause}). Start one with 'dask scheduler', or use engine='dask'."
        ) from None


def _try_address(address: str) -> None:
    """Raise OSError if nobody answers at an address within some seconds; a Dask client would wait without end."""
    scheme, separator, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if separator and scheme != "tcp":
        return
    if not host or not port.isdigit() or int(port) > 65_535:
        raise OSError("it names no port, such as :8786")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
        connection.settimeout(_PATIENCE)
        if not connection.recv(1):  # a scheduler speaks first
            raise OSError("the connection was closed at once")


class _Workers:
    """Worker processes of this machine, or of a Dask cluster, that summarize compressed parts."""

    def __init__(self, summarize: Callable[[Any], Any], jobs: int, client: Any, as_arrays: bool) -> None:
        packed = pack(summarize)
        self._jobs, self._client, self._as_arrays = jobs, client, as_arrays
        self._token, self._threads = uuid.uuid4().hex, 1
        self._futures: set[Future[Any]] = set()
        if client is None:
            self._executor: Any = start_processes(jobs, _remember, (self._token, packed))
            self._function: Any = b""
        else:
            # The function is the result of a task and not scattered data: when the worker that holds it is lost, Dask
            # makes it again. It is sent once to each worker, not with each part.
            self._executor = client.get_executor(pure=False)
            self._function = client.submit(_same, packed, pure=False)

    def room(self) -> int:
        """Return how many parts may be under way."""
        if self._client is not None:
            with suppress(OSError, TimeoutError, RuntimeError):  # where the scheduler is gone, the futures show it
                self._threads = sum(self._client.nthreads().values())
        return 4 * max(self._jobs if self._client is None else self._threads, 1)

    def submit(self, part: bytes) -> Future[Any]:
        """Send a compressed part to the workers."""
        if self._client is not None and self._client.status in ("closing", "closed"):
            raise PartError(_LOST)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            future: Future[Any] = self._executor.submit(
                _work, self._token, self._function, part, self._as_arrays, __version__
            )
        self._futures.add(future)
        return future

    def outcome(self, future: Future[Any]) -> bytes | Failed | PartError:
        """Return the compressed summary of a part that is done, or why there is none."""
        self._futures.discard(future)
        try:
            packed: bytes | Failed = future.result()
        except CancelledError:
            return Failed(_LOST)
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                why = "every worker that took it died, perhaps for lack of memory."
                return Failed(f"{why} Use smaller parts or workers with more memory.")
            if self._client is None and not isinstance(error, HandfulError):
                return PartError("a worker process died")
            return Failed(reason(error))
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


_functions: dict[str, Any] = {}


def _remember(token: str, packed: bytes) -> None:
    _functions[token] = packed  # unpacked later, where errors are caught


def _same(packed: bytes) -> bytes:
    return packed


def _work(token: str, packed: bytes, part: bytes, as_arrays: bool, version: str) -> bytes | Failed:
    """Summarize a compressed part in a worker; pack the summary as arrays for a checkpoint, else by pickle."""
    if version != __version__:
        return Failed(f"the worker has handful {__version__}, but the run is of {version}. Install the same on both.")
    try:
        summarize = _functions.get(token, packed)
        if isinstance(summarize, bytes):
            summarize = unpack(summarize)
            _functions.clear()  # one run at a time, so that models of earlier ones do not pile up
            _functions[token] = summarize
        summary = summarize(unpack(part))
        return pack_arrays(summary) if as_arrays else pack(summary)
    except Exception as error:
        return Failed(reason(error))


@dataclass
class _Task:
    """A part under way, with its summary or error once it is done."""

    number: int
    part: Any
    key: str = ""
    future: Any = None
    summary: Any = None
    error: Failed | PartError | None = None

    def begin(self, workers: _Workers, checkpoint: Checkpoint | None) -> None:
        """Take the summary from the checkpoint, or send the part to the workers."""
        try:
            if checkpoint is not None:
                self.key = checkpoint.key(self.part)
                self.summary = checkpoint.load(self.key)
            if self.summary is None:
                self.future = workers.submit(pack(self.part))
        except HandfulError as error:
            self.error = Failed(reason(error))

    def finish(self, workers: _Workers, checkpoint: Checkpoint | None) -> None:
        """Take the summary from a worker, and keep it."""
        future, self.future = self.future, None
        outcome = workers.outcome(future)
        if isinstance(outcome, Failed | PartError):
            self.error = outcome
        elif checkpoint is None:
            self.summary = unpack(outcome)
        else:
            checkpoint.save(self.key, outcome)
            self.summary = unpack_arrays(outcome)


Engine: TypeAlias = Any
"""None, ``"dask"``, the address of a Dask scheduler, or a `distributed.Client`."""


@contextmanager
def open_engine(engine: Engine, n_jobs: int | None = None) -> Iterator[Engine]:
    """Open an engine once for several calls of `map_reduce`, and close it afterwards.

    Parameters
    ----------
    engine : None, "dask", "tcp://host:port", "tls://host:port" or distributed.Client
        As for `map_reduce`. A client that is passed in stays open.
    n_jobs : int or None
        Worker processes of the local Dask cluster that ``"dask"`` stands for.

    Yields
    ------
    engine
        To be passed to `map_reduce`.

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
            f"map_reduce: engine must be 'dask', the address of a Dask scheduler such as 'tcp://host:8786', "
            f"a distributed.Client or None, got {engine!r}.{hint}"
        )

    with open_client(engine, jobs) as client:
        yield client


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
        What a summary depends on besides its part: the model, parameters, the version of the method. Summaries stored under
        another fingerprint are not used.
    progress : callable, optional
        Called with a `handful.errors.Step` after each merged part.

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
    """Yield the summaries in the order of the parts, which are read only a bounded number ahead."""
    with open_engine(engine, jobs) as client:
        workers = _Workers(summarize, jobs, client, checkpoint is not None)
        waiting: deque[_Task] = deque()
        source = enumerate(parts)
        stopped = True
        try:
            while True:
                while len(waiting) < workers.room() and (numbered := next(source, None)) is not None:
                    waiting.append(_Task(*numbered))
                    waiting[-1].begin(workers, checkpoint)
                if not waiting:
                    break
                while waiting[0].future is not None:
                    wait([task.future for task in waiting if task.future is not None], return_when=FIRST_COMPLETED)
                    for task in waiting:
                        if task.future is not None and task.future.done():
                            task.finish(workers, checkpoint)
                task = waiting.popleft()
                if isinstance(task.error, PartError):
                    last = waiting[-1].number if waiting else task.number
                    raise PartError(
                        f"map_reduce: a worker process died while parts {task.number} to {last} were under way, perhaps "
                        f"for lack of memory. Use fewer jobs than {jobs} or smaller parts."
                    )
                if task.error is not None:
                    raise failure(task.number, task.part, task.error.reason)
                yield task.summary
            stopped = False
        finally:
            workers.close(stopped=stopped)
