"""Compiled functions from arrays to arrays; the only package that imports numba."""

from __future__ import annotations

from pathlib import Path

from handful.kernels.cache import drop_stale_kernels, njit

__all__ = ["njit"]


@njit(cache=True)
def _nothing() -> None:
    """Never called: it knows in which folder numba keeps the compiled kernels."""


if _nothing.stats.cache_path is not None:
    drop_stale_kernels(Path(_nothing.stats.cache_path), Path(__file__).parent)
