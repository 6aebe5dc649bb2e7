"""Which workers: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from handful.compute.processes import jobs_of
from handful.core.errors import ParameterError

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
    from handful.compute.dask import open_client

    with open_client(engine, jobs) as client:
        yield client
