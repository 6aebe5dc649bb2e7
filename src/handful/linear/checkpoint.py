"""State of a training run on disk, written whole or not at all."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful.core.errors import DataError, FileError
from handful.core.files import atomic_writer

_DAMAGE = (OSError, ValueError, KeyError, TypeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def write_state(path: str | os.PathLike[str], problem: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays, with the name of the problem that they belong to.

    Parameters
    ----------
    path : path-like
        The file.
    problem : str
        Fingerprint of data and settings.
    arrays : mapping of str to ndarray
        What the next step needs.
    """
    with atomic_writer(path) as file:
        content: dict[str, Any] = {"problem": np.array(problem), **arrays}
        np.savez(file, **content)


def read_state(path: str | os.PathLike[str], problem: str, names: Sequence[str]) -> dict[str, np.ndarray] | None:
    """Read arrays that `write_state` wrote.

    Parameters
    ----------
    path : path-like
        The file.
    problem : str
        Fingerprint of data and settings; the state of another problem is refused.
    names : sequence of str
        Names of the arrays.

    Returns
    -------
    dict of str to ndarray, or None
        The arrays; None if there is no file yet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "run.npz"
    >>> read_state(target, "a", ["weights"]) is None
    True
    >>> write_state(target, "a", {"weights": np.ones(2)})
    >>> read_state(target, "a", ["weights"])
    {'weights': array([1., 1.])}
    """
    if not Path(path).exists():
        return None
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            written_for, found = str(file["problem"]), {name: file[name] for name in names}
    except _DAMAGE:
        raise FileError(
            f"{path}: is not a checkpoint of a training run, or a damaged one. Remove it to start anew."
        ) from None
    if written_for != problem:
        raise DataError(f"{path}: is the checkpoint of another training run. Remove it to start anew.")
    return found
