"""Progress and checkpoints of a training."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handful.data.files import atomic_writer
from handful.errors import DataError, FileError, Progress
from handful.persistence.arrays import pack_arrays, unpack_arrays


@dataclass(frozen=True)
class Recorder:
    """Reports the steps of a training, and keeps its state in a file from which it goes on.

    Parameters
    ----------
    progress : callable, optional
        Called after every step.
    checkpoint : path-like, optional
        File to write the state to; if it is there already, the training goes on from it, with the same result as without
        the interruption.
    problem : str
        Names the data and the settings of the model; a checkpoint of another problem is refused.
    every : int
        Iterations between two writes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> recorder = Recorder(checkpoint=pathlib.Path(tempfile.mkdtemp()) / "run.npz", problem="a")
    >>> recorder.read("l2=1", ["weights"]) is None
    True
    >>> recorder.write("l2=1", {"weights": np.ones(2)})
    >>> recorder.read("l2=1", ["weights"])
    {'weights': array([1., 1.])}
    """

    progress: Progress | None = None
    checkpoint: str | os.PathLike[str] | None = None
    problem: str = ""
    every: int = 10

    def write(self, settings: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the state of a training, if there is a file for it.

        Parameters
        ----------
        settings : str
            Settings of the training.
        arrays : mapping of str to ndarray
            What the next step needs.
        """
        if self.checkpoint is not None:
            with atomic_writer(self.checkpoint) as file:
                file.write(pack_arrays({"problem": self._named(settings), **arrays}))

    def read(self, settings: str, names: Sequence[str]) -> dict[str, np.ndarray] | None:
        """Read the state of a training.

        Parameters
        ----------
        settings : str
            Settings of the training; the state of one with others is refused.
        names : sequence of str
            Names of the arrays.

        Returns
        -------
        dict of str to ndarray, or None
            The arrays; None if there is no file, or none yet.
        """
        if self.checkpoint is None:
            return None
        try:
            kept = unpack_arrays(Path(self.checkpoint).read_bytes())
            written_for, state = kept["problem"], {name: kept[name] for name in names}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError):
            raise FileError(
                f"{self.checkpoint}: is not a checkpoint of a training run, or a damaged one. Remove it to start anew."
            ) from None
        if written_for != self._named(settings):
            raise DataError(f"{self.checkpoint}: is the checkpoint of another training run. Remove it to start anew.")
        return state

    def _named(self, settings: str) -> str:
        return hashlib.sha256(f"{self.problem}|{settings}".encode()).hexdigest()
