"""Compiled functions from arrays to arrays; the only room that imports numba."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from numba import njit


@njit(cache=True)
def _nothing() -> None:
    """Never called: it knows in which folder numba keeps the compiled kernels."""


def _drop_stale_kernels(folder: Path, sources: Path) -> None:
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


_drop_stale_kernels(Path(_nothing.stats.cache_path), Path(__file__).parent)
