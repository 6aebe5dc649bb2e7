"""Compiling and caching of kernels.

Kernels are compiled once for Python, and once without wrappers for other kernels. The cache is numba's, with repairs of
private parts that are made for tested versions of numba only; a newer one is left alone.

* Two processes that compile the same file at the same time can leave code that a third one crashes on:
  https://github.com/numba/numba/issues/10128.
* A kernel is not compiled again when a kernel that it calls has changed in another file, as numba's manual says.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event

NEWEST_TESTED = (0, 68)
TESTED = numba.version_info.short <= NEWEST_TESTED  # else kernels are compiled and cached as numba alone does it


def _announce_compiling() -> None:
    """Log, once in a process, that something is compiled: a command that seems to do nothing makes one wonder."""

    class Announcement(event.Listener):  # type: ignore[misc]
        done = False

        def on_start(self, _: Any) -> None:
            if not self.done:
                self.done = True
                logging.getLogger("handful.kernels").info("compiling what is used for the first time")

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Announcement())


if TESTED:
    _announce_compiling()


class KernelFile(caching.IndexDataCacheFile if TESTED else object):  # type: ignore[misc]
    """The files of one compiled kernel, safe where several processes write them at the same time (numba issue 10128).

    numba numbers the machine code of a kernel's signatures in the order in which they were saved. Two processes that save
    at the same time give two signatures the same number, and a third process then runs code that was made for arrays of
    another type. Here the name of a file follows from its signature, so that the worst that can happen is that the index
    forgets an entry and the kernel is compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save machine code, then the index that names it."""
        stem = self._index_name.removesuffix(".nbi")
        name = f"{stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel as `numba.njit` does, but faster, and with a cache that several processes may fill together.

    Parameters
    ----------
    **options
        Options of `numba.njit`.

    Returns
    -------
    callable
        The decorator.

    Notes
    -----
    numba gives each kernel two wrappers that take its arguments out of Python's objects. A kernel that another one calls needs
    neither, nor its own file in the cache, since the machine code of the caller holds it. So what kernels call is compiled
    apart, and once for all integers: numba alone would compile it again for each constant and each width that it is called with.

    Examples
    --------
    >>> from handful.kernels import njit
    >>> @njit(nogil=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    outer_options = {"no_cfunc_wrapper": True} if TESTED else {}

    def compile_later(kernel: Callable[..., Any]) -> Any:
        uncached = {name: value for name, value in options.items() if name != "cache"}
        try:
            dispatcher = numba.njit(**outer_options, **options)(kernel)
        except RuntimeError:  # there is no folder for compiled kernels
            _warn_without_cache()
            dispatcher = numba.njit(**outer_options, **uncached)(kernel)
        if TESTED and dispatcher is not kernel:  # compiled at all
            files = getattr(dispatcher._cache, "_cache_file", None)
            if files is not None:
                files.__class__ = KernelFile
            inner = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **uncached)(kernel)
            dispatcher.get_call_template = lambda args, kws: inner.get_call_template(tuple(map(_widest, args)), kws)
            dispatcher.get_overload = inner.get_overload
        return dispatcher

    return compile_later


@cache
def _warn_without_cache() -> None:
    """Log, once in a process, that every run compiles anew."""
    logging.getLogger("handful.kernels").warning(
        "compiled kernels cannot be kept (no folder can be written), so that every run compiles them anew; "
        "set NUMBA_CACHE_DIR to another folder"
    )


def _widest(kind: Any) -> Any:
    """Return the type as which a called kernel takes arguments of this type."""
    kind = numba.types.unliteral(kind)
    return numba.types.int64 if isinstance(kind, numba.types.Integer) and kind.signed else kind


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
