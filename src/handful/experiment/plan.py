"""What a comparison is going to do, and what that will cost, told before it begins."""

from __future__ import annotations

import math
import os
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handful.core.catalogue import cards, get_card
from handful.core.errors import ParameterError
from handful.core.progress import Progress, Step
from handful.core.registry import Card
from handful.experiment.labels import Draws
from handful.experiment.running import WORKER_BYTES
from handful.experiment.trial import Bench, Task, quiet_single_thread

_PILOT_ROWS = (150, 300)
CURVE_DRAWS = 5
_SEARCH_FITS = 3
_PATIENCE = 600.0
"""Seconds that one method may cost where neither the methods nor a time were chosen."""


@dataclass(frozen=True)
class Line:
    """One method of a plan.

    Parameters
    ----------
    name : str
        Name in tables.
    method : str
        Name of the method.
    labels_only : bool
        Whether unlabeled rows are kept from it.
    uses_unlabeled : bool
        Whether it learns from them.
    twin : str or None
        Name of the line that does the same from labels alone.
    ranked : bool
        False if it is there only as another's twin.
    plain : bool
        Whether it is a supervised baseline.
    seconds : float
        Estimated time of one trial.
    n_bytes : int
        Estimated peak of its memory, beside the process itself.
    """

    name: str
    method: str
    labels_only: bool = False
    uses_unlabeled: bool = False
    twin: str | None = None
    ranked: bool = True
    plain: bool = False
    seconds: float = 0.0
    n_bytes: int = 0


@dataclass(frozen=True)
class Plan:
    """All trials of a comparison.

    Parameters
    ----------
    lines : tuple of Line
        The methods.
    tasks : tuple of Task
        The trials in the order in which they are made: all methods on the first draw, then on the second, and the
        other sizes of the learning curve last.
    n_draws, n_labels : int
        Draws at the wanted number of labels.
    sizes : tuple of int
        Numbers of labels of the learning curve.
    n_train, n_test : int
        Training rows (labeled and not) and tested rows of a draw.
    n_fits : int
        Fits in all, those of the parameter search among them.
    seconds : float
        Estimated time with `n_jobs` workers.
    n_bytes : int
        Estimated peak memory.
    left_out : dict of str to str
        Methods that do not take part, and why.
    """

    lines: tuple[Line, ...]
    tasks: tuple[Task, ...]
    n_draws: int
    n_labels: int
    sizes: tuple[int, ...]
    n_train: int
    n_test: int
    n_fits: int
    seconds: float
    n_bytes: int
    left_out: dict[str, str] = field(default_factory=dict)

    def line(self, name: str) -> Line:
        """Return the line of a name."""
        return next(line for line in self.lines if line.name == name)


def make_plan(
    bench: Bench,
    draws: Draws,
    *,
    methods: Sequence[str] | None = None,
    n_draws: int = 10,
    n_jobs: int = 1,
    memory: int | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Choose methods, try each on a few rows, and tell what the whole will cost.

    Parameters
    ----------
    bench : Bench
        The problem.
    draws : Draws
        Its draws.
    methods : sequence of str or None
        Names; None takes every method of the catalogue that fits. Plain baselines and twins always take part.
    n_draws : int
        Number of draws.
    n_jobs : int
        Worker processes.
    memory : int or None
        Bytes at hand; None is four fifths of what the machine has free. Methods that need more are left out.
    deadline : float or None
        Value of ``time.monotonic()`` at which the comparison stops. A quarter of the time until then may go into the
        plan; methods whose turn does not come are planned without an estimate.
    progress : callable, optional
        Told after each pilot.

    Returns
    -------
    Plan
        Trials and estimates. Without `methods` and `deadline`, one that would take more than ten minutes is left out,
        unless it is a plain baseline. Time and memory of a trial are extrapolated from fits on 150 and 300 rows, and may well
        be wrong by a factor of two.
    """
    if n_draws < 2:
        raise ParameterError(f"compare: there must be at least 2 draws to tell chance from skill, got {n_draws}.")
    lines = _lines(methods)
    train, codes, test, _ = bench.matrices(0, draws.n_labels)
    n_train, n_test = len(codes), int(test.shape[0])
    at_hand = memory if memory is not None else int(0.8 * _free_memory())
    allowed = max(at_hand // n_jobs - WORKER_BYTES, 0)
    measured, left_out = [], {}
    now = time.monotonic()
    enough = None if deadline is None else now + (deadline - now) / 4
    for number, line in enumerate(lines):
        seconds, n_bytes = 0.0, 0
        if enough is None or time.monotonic() < enough:
            seconds, n_bytes = _pilot(bench, line, train, codes)
        if progress is not None:
            progress(Step("plan", number + 1, len(lines)))
        if n_bytes > allowed and not line.plain:
            left_out[line.name] = f"needs about {_size(n_bytes)}; {_size(allowed)} are left to a worker process."
            continue
        cost = seconds * len(tasks_of([line], draws.n_labels, draws.sizes, n_draws)) / n_jobs
        if methods is None and deadline is None and cost > _PATIENCE and not line.plain:
            left_out[line.name] = f"would take about {cost / 60:.0f} minutes. Name it among the methods to have it."
            continue
        measured.append(_replaced(line, seconds, n_bytes))
    lines = [line for line in measured if line.ranked or any(other.twin == line.name for other in measured)]
    tasks = tasks_of(lines, draws.n_labels, draws.sizes, n_draws)
    times = {line.name: line.seconds for line in lines}
    fits = {line.name: 1 + _SEARCH_FITS * _n_tried(get_card(line.method, "table")) for line in lines}
    return Plan(
        tuple(lines),
        tuple(tasks),
        n_draws,
        draws.n_labels,
        tuple(draws.sizes),
        n_train,
        n_test,
        sum(fits[task.entry] for task in tasks),
        sum(times[task.entry] for task in tasks) / n_jobs,
        n_jobs * (WORKER_BYTES + max(line.n_bytes for line in lines)),
        left_out,
    )


def _lines(methods: Sequence[str] | None) -> list[Line]:
    known = {card.name: card for card in cards("table")}
    chosen = list(known) if methods is None else [get_card(name, "table").name for name in methods]
    plain = [name for name, found in known.items() if found.baseline and not found.uses_unlabeled]
    lines: dict[str, Line] = {}
    for name in dict.fromkeys([*plain, *chosen]):
        found = known[name]
        twin = _twin(found, known) if found.uses_unlabeled else None
        lines[name] = Line(name, name, False, found.uses_unlabeled, twin[0] if twin else None, True, name in plain)
        if twin is not None and twin[0] not in lines and twin[0] not in chosen:
            lines[twin[0]] = Line(twin[0], twin[1], labels_only=twin[2], ranked=False)
    return list(lines.values())


def _twin(found: Card, known: dict[str, Card]) -> tuple[str, str, bool]:
    """Return name, method and whether it must be kept from unlabeled rows."""
    other = known.get(found.twin or "", found)
    if not other.uses_unlabeled:
        return other.name, other.name, False
    return Task(other.name, True, 0, 0).entry, other.name, True


def tasks_of(lines: Sequence[Line], n_labels: int, sizes: Sequence[int], n_draws: int) -> list[Task]:
    """Return the trials of a comparison, the most wanted first.

    Parameters
    ----------
    lines : sequence of Line
        The methods.
    n_labels : int
        The wanted number of labels.
    sizes : sequence of int
        Numbers of labels of the learning curve.
    n_draws : int
        Number of draws.

    Returns
    -------
    list of Task
        All methods on the first draw, then on the second, and so on; the other sizes last.
    """
    tasks = [Task(line.method, line.labels_only, d, n_labels) for d in range(n_draws) for line in lines]
    for draw in range(min(n_draws, CURVE_DRAWS)):
        for size in sizes:
            if size != n_labels:
                tasks += [Task(line.method, line.labels_only, draw, size) for line in lines if line.ranked]
    return tasks


def _pilot(bench: Bench, line: Line, train: Any, codes: np.ndarray) -> tuple[float, int]:
    chosen = get_card(line.method, "table")
    alone = line.labels_only or not chosen.uses_unlabeled
    params = {name: values[0] for name, values in chosen.grid.items()}
    labeled, spare = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    n_train = len(labeled) if alone else len(codes)
    spent: list[tuple[int, float, int]] = []
    for limit in _PILOT_ROWS:
        rows = labeled[:limit] if alone else np.concatenate([labeled[:limit], spare[: max(limit - len(labeled), 10)]])
        if len(np.unique(codes[rows][codes[rows] >= 0])) < 2:
            rows = np.concatenate([rows, labeled])
        part, part_codes = train[rows], codes[rows]
        present = np.unique(part_codes[part_codes >= 0])
        part_codes = np.where(part_codes >= 0, np.searchsorted(present, part_codes), -1)
        with quiet_single_thread():
            try:
                if not spent:
                    # compiles what it needs
                    chosen.make(train.shape[1], bench.seed, params).fit(part, part_codes).predict(part[:2])
                start = time.perf_counter()
                model = chosen.make(train.shape[1], bench.seed, params).fit(part, part_codes)
                model.predict(part)
                seconds = time.perf_counter() - start
                tracemalloc.start()
                chosen.make(train.shape[1], bench.seed, params).fit(part, part_codes)
                peak = tracemalloc.get_traced_memory()[1]
            except Exception:
                return 0.0, 0  # the trials will tell why it fails
            finally:
                tracemalloc.stop()
        spent.append((len(rows), seconds, peak))
        if len(rows) >= n_train:
            break
    n_tried = _n_tried(chosen)
    n_search = min(n_train, len(labeled) + 500)
    seconds = _extrapolate([(n, s) for n, s, _ in spent], n_train, 2.2)
    if n_tried:
        seconds += _SEARCH_FITS * n_tried * _extrapolate([(n, s) for n, s, _ in spent], n_search, 2.2)
    return seconds, int(_extrapolate([(n, float(b)) for n, _, b in spent], n_train, 2.0))


def _n_tried(chosen: Card) -> int:
    return 1 + sum(len(values) - 1 for values in chosen.grid.values()) if chosen.grid else 0


def _extrapolate(points: Sequence[tuple[int, float]], n: int, most: float) -> float:
    (n1, v1), (n2, v2) = points[0], points[-1]
    if n <= n2:
        return v2
    power = math.log(max(v2, 1e-9) / max(v1, 1e-9)) / math.log(n2 / n1) if n2 > n1 else 1.0
    return float(v2 * (n / n2) ** min(max(power, 1.0), most))


def _replaced(line: Line, seconds: float, n_bytes: int) -> Line:
    from dataclasses import replace

    return replace(line, seconds=seconds, n_bytes=n_bytes)


def _free_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            kilobytes = {key: int(rest.split()[0]) for key, rest in (line.split(":") for line in file)}
        return kilobytes["MemAvailable"] * 1024
    except (OSError, KeyError, ValueError, IndexError):
        pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**20
        return pages * (os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GB" if n_bytes >= 2**30 else f"{math.ceil(n_bytes / 2**20)} MB"
