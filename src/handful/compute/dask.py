"""Workers of a Dask cluster; the only module that imports dask."""

from __future__ import annotations

import logging
import socket
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from handful.compute.transport import Failed, pack, run, unpack
from handful.core.errors import ParameterError, PartError
from handful.core.optional import require
from handful.core.version import __version__

_LOST = "the Dask scheduler was lost. Start it and the run again."
_PATIENCE = 10
"""Seconds to wait for a scheduler to answer, and for its first worker."""


@contextmanager
def open_client(engine: Any, jobs: int) -> Iterator[Any]:
    """Open a client of a cluster.

    Parameters
    ----------
    engine : "dask", address or distributed.Client
        ``"dask"`` starts a cluster on this machine.
    jobs : int
        Its number of processes.

    Yields
    ------
    distributed.Client
        Closed afterwards, and its cluster if it was started here; a client that was passed in stays as it is.
    """
    distributed = require("distributed", extra="dask", why="map_reduce on a Dask cluster")
    if isinstance(engine, distributed.Client):
        if engine.asynchronous:
            raise ParameterError("map_reduce: engine must be a client for plain calls, got an asynchronous one.")
        yield engine
        return
    if not isinstance(engine, str):
        raise ParameterError(
            f"map_reduce: engine must be 'dask', an address, a distributed.Client or None, got {type(engine).__name__}."
        )
    if engine != "dask":
        with _connected(distributed, engine) as client:
            yield client
        return
    # A free port for the status page, so that two runs do not meet; no memory limit, since Dask would kill and start again
    # a worker whose one part is too large, over and over.
    with (
        distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            memory_limit=0,
            silence_logs=logging.CRITICAL,  # a lost worker is no news: its parts are done again
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _try_address(address: str) -> None:
    """Raise OSError if nobody answers at an address within some seconds.

    A scheduler speaks first. A plain socket tells at once what is wrong; a client would try again and again, and wait without
    an end for a port that takes connections and never says a word.
    """
    scheme, separator, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if separator and scheme != "tcp":
        return
    if not host or not port.isdigit():
        raise OSError("it names no port, such as :8786")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            if not connection.recv(1):
                raise OSError("the connection was closed at once")
    except TimeoutError:
        raise OSError(f"nothing was said for {_PATIENCE:g} seconds") from None
    except OverflowError:
        raise OSError(f"{port} is no port") from None


@contextmanager
def _connected(distributed: Any, address: str) -> Iterator[Any]:
    try:
        _try_address(address)
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ParameterError(
            f"map_reduce: engine must be the address of a running Dask scheduler, but none answers at {address!r} "
            f"({_cause(error)}). Start one with 'dask scheduler', or use engine='dask'."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ParameterError(
                f"map_reduce: the Dask scheduler at {address!r} must have workers, got none. "
                f"Start some with 'dask worker {address}'."
            ) from None
        yield client


def _cause(error: Exception) -> str:
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    return text[:200] or type(error).__name__


class DaskPool:
    """Workers of a cluster that summarize parts; see `handful.compute.in_order.Pool`."""

    def __init__(self, client: Any, summarize: Callable[[Any], Any], as_arrays: bool) -> None:
        self._client = client
        self._as_arrays = as_arrays
        self._futures: set[Any] = set()
        self._threads = 1
        self._token = uuid.uuid4().hex
        # The function is the result of a task and not scattered data: when the worker that holds it is lost, Dask makes it
        # again. So it crosses the net once for each worker, not with each part.
        self._function = self._send(_same, pack(summarize))

    def room(self) -> int:
        """Return how many parts may be under way."""
        # Where the scheduler is gone, the futures tell; until then it stays as it was.
        with suppress(OSError, TimeoutError, RuntimeError):
            self._threads = sum(self._client.nthreads().values())
        return 4 * max(self._threads, 1)

    def submit(self, part: bytes) -> Any:
        """Hand a packed part to the workers."""
        if self._client.status in ("closing", "closed"):
            raise PartError(_LOST)
        future = self._send(_work, self._token, self._function, part, self._as_arrays, __version__)
        self._futures.add(future)
        return future

    def wait(self, futures: Collection[Any]) -> None:
        """Wait until one of them is done."""
        from concurrent.futures import CancelledError

        from distributed import wait

        with self._client.as_current(), suppress(CancelledError):  # `outcome` tells what became of them
            wait(futures, return_when="FIRST_COMPLETED")

    def outcome(self, future: Any) -> bytes | Failed:
        """Return what became of a part that is done."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        self._futures.discard(future)
        try:
            outcome: bytes | Failed = future.result()
        except KilledWorker:
            return Failed(
                "every worker that took it died, perhaps for lack of memory. "
                "Use smaller parts or workers with more memory."
            )
        except CancelledError:
            return Failed(_LOST)
        except Exception as error:
            return Failed(f"{type(error).__name__}: {error}")
        return outcome

    def close(self, *, stopped: bool) -> None:
        """Withdraw the parts that nobody waits for any more."""
        with suppress(Exception):  # the cluster may be gone already
            if stopped and self._futures:
                self._client.cancel(list(self._futures), force=True)
            self._futures.clear()
            self._function.release()

    def _send(self, function: Callable[..., Any], *args: Any) -> Any:
        with warnings.catch_warnings():
            # Parts in memory may be some megabytes; they are sent once, and only a few at a time.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self._client.submit(function, *args, pure=False)


_held: dict[str, Callable[[Any], Any]] = {}


def _same(packed: bytes) -> bytes:
    return packed


def _work(token: str, packed: bytes, part: bytes, as_arrays: bool, version: str) -> bytes | Failed:
    if version != __version__:
        return Failed(f"the worker has handful {__version__}, but the run is of {version}. Install the same on both.")
    summarize = _held.get(token)
    if summarize is None:
        try:
            summarize = unpack(packed)
        except Exception as error:
            return Failed(f"the worker cannot load what it shall do ({type(error).__name__}: {error})")
        _held.clear()  # one run at a time, so that models of earlier ones do not pile up
        _held[token] = summarize
    return run(summarize, part, as_arrays)
