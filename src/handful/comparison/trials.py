"""Trials: one fit and its score, limits of a comparison, and the log that makes it resumable."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from handful.comparison.splits import Splits
from handful.comparison.statistics import Design
from handful.data.files import lock
from handful.errors import HandfulError, ParameterError
from handful.persistence.schema import Flag, IfThere, ListOf, Maybe, Number, Plain, Record, Text, check_state, stored
from handful.registry import MethodSpec
from handful.report.content import MethodScore
from handful.version import __version__

METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy (mean recall of the classes)",
    "f1_macro": "F1 (mean over classes)",
}
"""Metrics by scikit-learn's scorer names."""

_CONTROL = " (supervised)"


def line_name(method: str, supervised: bool) -> str:
    """Return the name of a method in a comparison; the control without unlabeled rows is marked.

    Examples
    --------
    >>> line_name("ordinal-knn", True)
    'ordinal-knn (supervised)'
    """
    return f"{method}{_CONTROL}" if supervised else method


@dataclass(frozen=True)
class Trial:
    """One fit and its score: a method, whether unlabeled rows are withheld, a split, and a number of labels."""

    method: str
    supervised: bool
    split: int
    n_labels: int

    @property
    def line(self) -> str:
        """Name of the line that it is about."""
        return line_name(self.method, self.supervised)

    @classmethod
    def of(cls, line: str, split: int, n_labels: int) -> Trial:
        """Return the trial of a line."""
        return cls(line.removesuffix(_CONTROL), line.endswith(_CONTROL), split, n_labels)


@dataclass(frozen=True)
class TrialResult:
    """Result of a trial.

    Parameters
    ----------
    trial : Trial
        The trial.
    score : float or None
        Score on the tested rows; None if it failed.
    confusion : list of lists of int
        Tested rows by true class and prediction.
    params : mapping of str to value
        Parameters that were chosen.
    seconds : float
        Time of the whole trial.
    fit_seconds, predict_seconds : float
        CPU time of the last fit, and of 1,000 predictions.
    n_bytes : int
        Size of the fitted model.
    n_kept : int or None
        Rows that the model stores.
    error : str or None
        Why it failed.
    confidence : list of float
        Probability of the prediction for the first 200 tested rows.
    correct : str
        Which of these were predicted correctly, as zeros and ones.
    """

    trial: Trial
    score: float | None
    confusion: list[list[int]] = field(default_factory=list)
    params: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    n_bytes: int = 0
    n_kept: int | None = None
    error: str | None = None
    confidence: list[float] = field(default_factory=list)
    correct: str = ""


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """Do numerical work in one thread and without warnings, since trials run in parallel."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield


def score_of(confusion: np.ndarray, metric: str) -> float:
    """Return a score of a confusion matrix; classes that were not tested do not count.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        True classes (rows) by predictions (columns).
    metric : {"accuracy", "balanced_accuracy", "f1_macro"}
        What is scored.

    Returns
    -------
    float
        The score.

    Examples
    --------
    >>> score_of(np.array([[3, 1], [0, 4]]), "accuracy")
    0.875
    >>> score_of(np.array([[6, 2], [0, 1]]), "balanced_accuracy")
    0.875
    """
    correct = np.diag(confusion)
    tested = confusion.sum(axis=1)
    present = tested > 0
    if metric == "accuracy":
        return float(correct.sum() / max(confusion.sum(), 1))
    if metric == "balanced_accuracy":
        return float(np.mean(correct[present] / tested[present]))
    total = confusion.sum(axis=0) + tested
    return float(np.mean(2 * correct[present] / total[present]))


@dataclass(frozen=True)
class Limits:
    """Limits of a comparison or of the search in `handful.fit`.

    Parameters
    ----------
    minutes : float or None, default=2.0
        Stop after this time at the latest; None is no limit. Ignored if `trials` is set.
    trials : int, optional
        Stop after this number of fits: a limit that does not depend on the clock, so results are reproducible.
    splits : int, default=30
        Random splits of one method at most.
    max_unlabeled : int, default=5000
        Unlabeled rows (or sentences) to learn from at most.
    seed : int, default=0
        Seed of splits and methods.
    n_jobs : int, default=1
        Worker processes; -1 uses all cores. With 1, trials run in this process, and one that has begun is finished.
    log : path, "auto" or None, default=None
        File of results, so that the same call resumes where it was stopped; ``"auto"`` is a file in the user's cache folder
        (or in ``$HANDFUL_RUNS``).
    fresh : bool, default=False
        Ignore earlier results of the log.
    command : str
        How to repeat it, for the report.
    watch : callable, optional
        Called with a `Snapshot` after each trial.
    started : float
        Value of ``time.monotonic()`` from which `minutes` count; now, by default.

    Examples
    --------
    >>> Limits(minutes=1.0, n_jobs=2).n_jobs
    2
    """

    minutes: float | None = 2.0
    trials: int | None = None
    splits: int = 30
    max_unlabeled: int = 5_000
    seed: int = 0
    n_jobs: int = 1
    log: str | os.PathLike[str] | Literal["auto"] | None = None
    fresh: bool = False
    command: str = ""
    watch: Callable[[Snapshot], None] | None = None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.minutes is not None and not (isinstance(self.minutes, int | float) and self.minutes > 0):
            raise ParameterError(f"limits: minutes must be a number above 0, got {self.minutes!r}.")
        for name, least in (("trials", 1), ("splits", 2), ("max_unlabeled", 1)):
            if (value := getattr(self, name)) is not None and value < least:
                raise ParameterError(f"limits: {name} must be at least {least}, got {value}.")

    @property
    def deadline(self) -> float:
        """Value of ``time.monotonic()`` at which everything must be done."""
        by_clock = self.trials is None and self.minutes is not None
        return self.started + 60 * (self.minutes or 0) if by_clock else math.inf

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return max(self.deadline - time.monotonic(), 0.0)


@dataclass(frozen=True)
class Snapshot:
    """State of a comparison while it runs.

    Parameters
    ----------
    scores : tuple of MethodScore
        Methods that were scored, the best first.
    waiting, remaining : tuple of str
        Methods that were not scored yet, and those that were not eliminated.
    n_trials : int
        Trials so far.
    seconds : float
        Time since the start.
    message : str
        What is done after the search, or empty.
    """

    scores: tuple[MethodScore, ...]
    waiting: tuple[str, ...]
    remaining: tuple[str, ...]
    n_trials: int
    seconds: float
    message: str = ""


class Experiment(ABC):
    """One data set, and how a trial on it is run.

    Parameters
    ----------
    name : str
        Name of the data.
    metric : str
        What is scored.
    seed : int
        Seed of methods.
    """

    def __init__(self, name: str, metric: str, seed: int) -> None:
        self.name = name
        self.metric = metric
        self.seed = seed

    @property
    @abstractmethod
    def design(self) -> Design:
        """How scores are measured."""

    @property
    @abstractmethod
    def key(self) -> Sequence[Any]:
        """All that results depend on, for the log."""

    splits: Splits

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts on the data for a report."""
        return {}

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns and their kinds."""
        return {}

    @property
    def notes(self) -> Sequence[str]:
        """What to know about the data."""
        return ()

    def prepare(self, report: Callable[[str], Any]) -> None:  # noqa: B027  (most need nothing)
        """Do what is the same for all splits."""

    def run(self, trial: Trial) -> TrialResult:
        """Run one trial; a method that fails gives a result with an error."""
        try:
            with quiet_single_thread():
                return self._run(trial)
        except (HandfulError, MemoryError) as error:
            return TrialResult(trial, None, error=str(error) or "ran out of memory.")
        except Exception as error:
            return TrialResult(trial, None, error=f"{type(error).__name__}: {error}"[:300])

    @abstractmethod
    def _run(self, trial: Trial) -> TrialResult:
        """Run one trial."""


DEFAULT_METHOD = "ensemble"


def compared_methods(
    known: Mapping[str, MethodSpec], chosen: Sequence[str] | None = None, *, controls: bool = True
) -> tuple[MethodScore, ...]:
    """Return the lines of a comparison, the cheapest first.

    Parameters
    ----------
    known : mapping of str to MethodSpec
        All methods that fit the data.
    chosen : sequence of str, optional
        Candidates; all by default.
    controls : bool
        Whether supervised baselines and controls take part in any case.

    Returns
    -------
    tuple of MethodScore
        Without scores yet; lines that are only the control of another one come last.
    """
    baselines = [name for name, spec in known.items() if spec.baseline and not spec.uses_unlabeled]
    candidates = list(known if chosen is None else chosen)
    listed = dict.fromkeys([*(baselines if controls else ()), *candidates])
    lines: dict[str, MethodScore] = {}
    unlisted: dict[str, MethodScore] = {}
    for name in sorted(listed, key=lambda name: known[name].cost_rank):
        spec = known[name]
        control = None
        if spec.uses_unlabeled and controls:
            other = known.get(spec.supervised_control or "", spec)
            control = line_name(other.name, other.uses_unlabeled)
            unlisted[control] = MethodScore(control, cost=other.cost, listed=False)
        lines[name] = MethodScore(
            name,
            uses_unlabeled=spec.uses_unlabeled,
            control=control,
            cost=spec.cost,
            supervised_baseline=name in baselines,
            candidate=name in candidates,
        )
    return (*lines.values(), *(line for name, line in unlisted.items() if name not in lines))


_RECORD = stored(
    trial=Record(stored(method=Text(), supervised=Flag(), split=Number(int, low=0), n_labels=Number(int, low=0))),
    score=Maybe(Number(float)),
    confusion=IfThere(ListOf(ListOf(Number(int, low=0)))),
    params=IfThere(Plain()),
    **dict.fromkeys(("seconds", "fit_seconds", "predict_seconds"), IfThere(Number(float))),
    n_bytes=IfThere(Number(int, low=0)),
    n_kept=IfThere(Number(int, low=0)),
    error=IfThere(Text()),
    confidence=IfThere(ListOf(Number(float))),
    correct=IfThere(Text()),
)


def open_log(experiment: Experiment, limits: Limits) -> TrialLog | None:
    """Open the log of an experiment, if limits ask for one; ``"auto"`` is in ``$HANDFUL_RUNS`` or the user's cache folder."""
    if limits.log is None:
        return None
    facts = json.dumps([__version__, experiment.key], sort_keys=True, default=str)
    digest = hashlib.sha256(facts.encode()).hexdigest()[:24]
    path = Path(limits.log)
    if limits.log == "auto":
        import pooch

        folder = os.environ.get("HANDFUL_RUNS") or Path(pooch.os_cache("handful")) / "runs"
        path = Path(folder).expanduser() / f"{experiment.name[:40]}-{digest}.jsonl"
    return TrialLog(path, digest, fresh=limits.fresh)


class TrialLog:
    """Results of a comparison on disk, one JSON line each.

    Parameters
    ----------
    path : path-like
        The file; created if missing.
    key : str
        Fingerprint of the comparison. A file with another one is overwritten.
    fresh : bool
        Whether to ignore earlier results.

    Notes
    -----
    Lines are only appended, so a kill loses the last one at most. The file is locked: a second run of the same comparison at
    the same time keeps nothing. Where the file cannot be written, a warning says so.
    """

    def __init__(self, path: str | os.PathLike[str], key: str, *, fresh: bool = False) -> None:
        self.path = Path(path)
        self.results: dict[Trial, TrialResult] = {}
        self._file: BinaryIO | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (open as long as the search)
        except OSError as error:
            self._warn(error.strerror)
            return
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a device may have no end
            file.close()
            self._warn("is no ordinary file")
            return
        if not lock(file.fileno()):  # another run of the same comparison writes here
            file.close()
            return
        self._file = file
        end = 0 if fresh else self._read(file, key)
        file.truncate(end)  # the last line may be cut off
        if not end:
            self._write({"handful": "compare", "key": key})

    def add(self, result: TrialResult) -> None:
        """Append one result; it is on disk when this returns."""
        self.results[result.trial] = result
        self._write(asdict(result))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, record: Mapping[str, Any]) -> None:
        rest = json.dumps(record).encode() + b"\n" if self._file is not None else b""
        try:
            while self._file is not None and rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:  # such as a full disk; results stay in memory
            self.close()
            self._warn(error.strerror)

    def _warn(self, reason: str | None) -> None:
        warnings.warn(
            f"{self.path}: cannot be written ({reason}), so this run cannot be resumed. Set HANDFUL_RUNS to a writable folder.",
            RuntimeWarning,
            stacklevel=3,
        )

    def _read(self, file: BinaryIO, key: str) -> int:
        """Load results from disk and return where they end: 0 for what is no log of this comparison."""
        file.seek(0)
        content = file.read()
        end = content.rfind(b"\n") + 1
        try:
            head, *records = [json.loads(line) for line in content[:end].splitlines()]
            if head != {"handful": "compare", "key": key}:
                return 0
            for record in records:
                check_state("log", _RECORD, record)
            results = [TrialResult(**{**record, "trial": Trial(**record["trial"])}) for record in records]
        except (HandfulError, ValueError, TypeError, KeyError, RecursionError):
            return 0
        self.results = {result.trial: result for result in results if result.error is None}
        return end
