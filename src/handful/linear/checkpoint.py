"""State of a training run on disk, written whole or not at all, in the one format of checkpoints."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from handful.core.errors import DataError, FileError
from handful.core.files import atomic_writer
from handful.core.packed_arrays import pack_arrays, unpack_arrays


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
        file.write(pack_arrays({"problem": problem, **arrays}))


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
    try:
        kept = unpack_arrays(Path(path).read_bytes())
        written_for, state = kept["problem"], {name: kept[name] for name in names}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError):
        raise FileError(
            f"{path}: is not a checkpoint of a training run, or a damaged one. Remove it to start anew."
        ) from None
    if written_for != problem:
        raise DataError(f"{path}: is the checkpoint of another training run. Remove it to start anew.")
    return state
