"""Repairs of numba's cache of compiled kernels, until numba has them.

* Two processes that compile the same file at the same time can leave code that a third one crashes on:
  https://github.com/numba/numba/issues/10128.
* A kernel from the cache that calls a parallel one crashes if nothing else has started numba's threads:
  https://github.com/numba/numba/issues/4807.
* A kernel is not compiled again when a kernel that it calls has changed in another file, as numba's manual says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

_PARALLEL_CALL = b"numba_parallel_for"


class KernelFile(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one compiled kernel, safe where several processes write them at the same time (numba issue 10128).

    numba numbers the machine code of a kernel's signatures in the order in which they were saved. Two processes that save
    at the same time give two signatures the same number, and a third process then runs code that was made for arrays of
    another type. Here the name of a file follows from its signature, so that the worst that can happen is that the index
    forgets an entry and the kernel is compiled again.

    numba also forgets to start its threads when it loads a kernel that was compiled against a parallel one out of the
    cache; the first parallel loop then crashes (numba issue 4807). So they are started here.
    """

    def load(self, key: Any) -> Any:
        """Load machine code, and start numba's threads if it needs them."""
        overload = super().load(key)
        if overload is not None and _PARALLEL_CALL in overload[0][2][0]:  # library, its state, its object code
            numba.get_num_threads()
        return overload

    def save(self, key: Any, data: Any) -> None:
        """Save machine code, then the index that names it."""
        stem = self._index_name.removesuffix(".nbi")
        name = f"{stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel as `numba.njit` does, with a cache that several processes may fill together.

    Parameters
    ----------
    **options
        Options of `numba.njit`.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from handful.kernels import njit
    >>> @njit(nogil=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """

    def compile_later(kernel: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(kernel)
        files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if isinstance(files, IndexDataCacheFile):  # a kernel that is cached, and compiled at all
            files.__class__ = KernelFile
        return dispatcher

    return compile_later


def drop_stale_kernels(folder: Path, sources: Path) -> None:
    """Remove compiled kernels that were made from other sources than these.

    numba compiles a kernel again when its own file changes, but not when a kernel that it calls changes in another file;
    after an update the old machine code would then run on arrays of a new shape.
    """
    digest = hashlib.sha256()
    for source in sorted(sources.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    stamp = folder / "handful-kernels.stamp"
    with suppress(OSError):  # a folder that cannot be written to holds no cache either
        if stamp.exists() and stamp.read_text() == digest.hexdigest():
            return
        for stale in folder.glob("*.nb[ci]"):
            stale.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest.hexdigest())
