"""Outcomes in a file of JSON lines, so that a run that was stopped goes on where it ended."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from handful.core.errors import HandfulError
from handful.core.files import lock
from handful.core.schema import Flag, IfThere, ListOf, Maybe, Number, Plain, Record, Text, check_state, stored
from handful.core.version import __version__
from handful.experiment.trial import Outcome, Task

_RECORD = stored(
    task=Record(stored(method=Text(), labels_only=Flag(), draw=Number(int, low=0), n_labels=Number(int, low=0))),
    score=Maybe(Number(float)),
    right=IfThere(Text()),
    brier=IfThere(Number(float, finite=False)),
    confusion=IfThere(ListOf(ListOf(Number(int, low=0)))),
    params=IfThere(Plain()),
    **dict.fromkeys(("seconds", "fit_seconds", "predict_seconds"), IfThere(Number(float))),
    n_bytes=IfThere(Number(int, low=0)),
    n_kept=IfThere(Number(int, low=0)),
    error=IfThere(Text()),
    values=IfThere(ListOf(Number(float))),
)


def digest_of(facts: Any) -> str:
    """Return a short name for plain values; with another version of handful it is another one.

    Examples
    --------
    >>> digest_of([1, "a"]) == digest_of([1, "b"])
    False
    """
    text = json.dumps([__version__, facts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def journal_folder() -> Path:
    """Return the folder of journals: ``$HANDFUL_RUNS``, else one in the user's cache folder."""
    chosen = os.environ.get("HANDFUL_RUNS")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("handful")) / "runs"


class Journal:
    """The outcomes of one comparison on disk.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there.
    key : str
        Fingerprint of the comparison. A file with another one is begun anew.
    fresh : bool
        Whether to forget what is there.

    Notes
    -----
    Lines are added and never written anew, so a kill loses the last one at most. The file is locked: of two runs of one
    comparison at the same time the second keeps nothing, and one that may not write here says so and goes on without.
    """

    def __init__(self, path: str | os.PathLike[str], key: str, *, fresh: bool = False) -> None:
        self.path = Path(path)
        self.outcomes: dict[Task, Outcome] = {}
        self._file = -1
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            self._do_without(error.strerror)
            return
        if not stat.S_ISREG(os.fstat(handle).st_mode):  # a device may have no end
            os.close(handle)
            self._do_without("is no ordinary file")
            return
        if not lock(handle):
            # Another run of the same comparison writes here. Both come to the same end; this one keeps nothing.
            os.close(handle)
            return
        self._file = handle
        end = 0 if fresh else self._read(key)
        os.ftruncate(self._file, end)  # the last line may be cut off
        os.lseek(self._file, end, os.SEEK_SET)
        if not end:
            self._write({"handful": "compare", "key": key})

    def add(self, outcome: Outcome) -> None:
        """Write one outcome; it is on disk when this returns."""
        self.outcomes[outcome.task] = outcome
        self._write(asdict(outcome))

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, record: Mapping[str, Any]) -> None:
        rest = json.dumps(record).encode() + b"\n" if self._file >= 0 else b""
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:  # a full disk is no reason to lose what was measured
            self.close()
            self._do_without(error.strerror)

    def _do_without(self, why: str | None) -> None:
        warnings.warn(
            f"{self.path}: cannot be written ({why}), so that this run cannot go on if it is interrupted. "
            "Set HANDFUL_RUNS to a folder of yours.",
            RuntimeWarning,
            stacklevel=3,
        )

    def _read(self, key: str) -> int:
        """Take over the outcomes on disk and return where they end: 0 for what is no journal of this comparison."""
        with open(os.dup(self._file), "rb") as file:
            content = file.read()
        end = content.rfind(b"\n") + 1
        try:
            head, *records = [json.loads(line) for line in content[:end].splitlines()]
            if head != {"handful": "compare", "key": key}:
                return 0
            for record in records:
                check_state("journal", _RECORD, record)
            outcomes = [Outcome(**{**record, "task": Task(**record["task"])}) for record in records]
            self.outcomes = {outcome.task: outcome for outcome in outcomes if outcome.error is None}
        except (HandfulError, ValueError, TypeError, KeyError, RecursionError):
            return 0
        return end
