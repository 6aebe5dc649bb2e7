"""Outcomes in a file of JSON lines, so that a run that was stopped goes on where it ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from handful.core.errors import FileError
from handful.core.version import __version__
from handful.experiment.trial import Outcome, Task


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
    """

    def __init__(self, path: str | os.PathLike[str], key: str, *, fresh: bool = False) -> None:
        self.path = Path(path)
        self.outcomes: dict[Task, Outcome] = {}
        if not fresh:
            self.outcomes = _read(self.path, key)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = open(self.path, "w", encoding="utf-8")  # noqa: SIM115 (closed by `close`)
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
        self._write({"handful": "compare", "key": key})
        for outcome in self.outcomes.values():
            self._write(asdict(outcome))

    def add(self, outcome: Outcome) -> None:
        """Write one outcome; it is on disk when this returns."""
        self.outcomes[outcome.task] = outcome
        self._write(asdict(outcome))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()


def _read(path: Path, key: str) -> dict[Task, Outcome]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        head, *records = [json.loads(line) for line in lines if line.endswith("}")]  # the last line may be cut off
        if head != {"handful": "compare", "key": key}:
            return {}
        outcomes = [Outcome(**{**record, "task": Task(**record["task"])}) for record in records]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}  # no journal of ours
    return {outcome.task: outcome for outcome in outcomes if outcome.error is None}
