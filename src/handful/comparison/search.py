"""Model selection by successive halving over random splits."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from importlib import import_module
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from handful.comparison.statistics import Design, rank_methods
from handful.comparison.trials import Experiment, Limits, Snapshot, Trial, TrialResult, open_log
from handful.parallel import jobs_of, start_processes
from handful.report.content import MethodScore

_N_CURVES = 3
_CURVE_SPLITS = 3


class SuccessiveHalving:
    """Which trials to run next, as a function of the results so far.

    Parameters
    ----------
    lines : sequence of MethodScore
        Methods, without scores.
    design : Design
        How scores are measured.
    n_splits : int
        Splits of a method at most.
    preferred : str
        Method that is never eliminated, and selected unless another one is better by more than one standard error.
    sizes : sequence of int
        Further numbers of labels, for learning curves of the best methods.

    Attributes
    ----------
    results : list of TrialResult
        Results so far.
    left_out : dict of str to str
        Methods that failed, and why.

    Notes
    -----
    Successive halving (Karnin et al. 2013; Jamieson and Talwalkar 2016) with random splits as the resource: all methods are scored
    on one repetition of the folds; then the better half on twice as many splits, and so on. The preferred method, the best
    supervised baseline and the best method that uses unlabeled rows always go on, since their differences are tested. From the
    second round on, supervised controls of the remaining methods run on the same splits.

    References
    ----------
    Karnin, Z., Koren, T. and Somekh, O. (2013). Almost optimal exploration in multi-armed bandits. ICML.

    Jamieson, K. and Talwalkar, A. (2016). Non-stochastic best arm identification and hyperparameter optimization. AISTATS.
    """

    def __init__(
        self,
        lines: Sequence[MethodScore],
        design: Design,
        n_splits: int,
        *,
        preferred: str = "",
        sizes: Sequence[int] = (),
    ) -> None:
        self.lines = lines
        self.design = design
        self.n_splits = n_splits
        self.preferred = preferred
        self.sizes = [size for size in sizes if size != design.n_labels]
        self.results: list[TrialResult] = []
        self.left_out: dict[str, str] = {}
        self.remaining: list[str] = [line.method for line in lines if line.listed]
        self._scores: dict[str, dict[int, float]] = {line.method: {} for line in lines}
        self._done: set[Trial] = set()

    def add(self, result: TrialResult) -> None:
        """Add the result of a trial."""
        trial = result.trial
        self.results.append(result)
        self._done.add(trial)
        if trial.n_labels != self.design.n_labels:
            return
        if result.error is not None:
            self.left_out.setdefault(trial.line, result.error)
        elif result.score is not None and trial.line in self._scores:
            self._scores[trial.line][trial.split] = result.score

    def next_trials(self) -> list[Trial]:
        """Return the trials of the present round that are not done; none at the end."""
        self.remaining = [line.method for line in self.lines if line.listed and line.method not in self.left_out]
        n_splits = min(self.design.n_folds, self.n_splits)
        controls: list[str] = []
        while self.remaining:
            wanted = [
                self._trial(name, split)
                for split in range(n_splits)
                for name in (*self._ordered(self.remaining), *controls)
                if name not in self.left_out
            ]
            if missing := [trial for trial in wanted if trial not in self._done]:
                return missing
            if n_splits >= self.n_splits and (controls or not self._controls(self.remaining)):
                return self._curve_trials()
            self.remaining = self._better_half(n_splits) if n_splits < self.n_splits else self.remaining
            controls = self._controls(self.remaining)
            n_splits = min(2 * n_splits, self.n_splits)
        return []

    def scores(self) -> tuple[MethodScore, ...]:
        """Return the methods with their statistics, the best first."""
        filled = [
            replace(line, scores=dict(sorted(self._scores[line.method].items())))
            for line in self.lines
            if line.method not in self.left_out or not line.listed
        ]
        return tuple(self._with_cost(score) for score in rank_methods(filled, self.design, self.preferred))

    def results_of(self, name: str) -> list[TrialResult]:
        """Return the results of a method with the number of labels of the comparison."""
        wanted = (name, self.design.n_labels)
        return [r for r in self.results if (r.trial.line, r.trial.n_labels) == wanted and r.error is None]

    def seconds(self, name: str) -> float:
        """Return the usual time of a trial of a method; 0 before the first one."""
        return median([result.seconds for result in self.results_of(name)] or [0.0])

    def snapshot(self, seconds: float, message: str = "") -> Snapshot:
        """Return the present state."""
        scores = self.scores()
        scored = {score.method for score in scores}
        waiting = tuple(name for name in self.remaining if name not in scored)
        return Snapshot(scores, waiting, tuple(self.remaining), len(self.results), seconds, message)

    def _trial(self, name: str, split: int) -> Trial:
        return Trial.of(name, split, self.design.n_labels)

    def _ordered(self, lines: Sequence[str]) -> list[str]:
        """Return candidates before others; among them the preferred method second, so that a short run has scored it."""
        candidates = {line.method for line in self.lines if line.candidate}
        ordered = sorted(lines, key=lambda name: name not in candidates)
        return sorted(ordered, key=lambda name: (name not in candidates, name not in (ordered[0], self.preferred)))

    def _better_half(self, n_splits: int) -> list[str]:
        """Return the better half of the remaining methods, and those that always go on."""
        mean = {name: np.mean([self._scores[name][split] for split in range(n_splits)]) for name in self.remaining}
        order = sorted(self.remaining, key=lambda name: -mean[name])
        lines = {line.method: line for line in self.lines}
        kept = {order[0], *(name for name in order if name == self.preferred)}
        kept.update([name for name in order if lines[name].supervised_baseline][:1])
        kept.update([name for name in order if lines[name].uses_unlabeled][:1])
        others = [name for name in order if name not in kept]
        kept.update(others[: len(others) // 2])
        return [name for name in self.remaining if name in kept]

    def _controls(self, names: Sequence[str]) -> list[str]:
        wanted = {line.control for line in self.lines if line.method in names and line.control is not None}
        return [line.method for line in self.lines if line.method in wanted and line.method not in names]

    def _curve_trials(self) -> list[Trial]:
        """Return trials of the best methods with other numbers of labels."""
        ranked = self.scores() if self.sizes else ()
        names = [score.method for score in ranked[:_N_CURVES]]
        names += [score.method for score in ranked[_N_CURVES:] if score.is_baseline or score.is_selected]
        trials = [
            Trial.of(name, split, size)
            for split in range(min(_CURVE_SPLITS, self.n_splits))
            for size in self.sizes
            for name in names
        ]
        return [trial for trial in trials if trial not in self._done]

    def _with_cost(self, score: MethodScore) -> MethodScore:
        results = self.results_of(score.method)
        kept = [result.n_kept for result in results if result.n_kept is not None]
        return replace(
            score,
            fit_seconds=min(result.fit_seconds for result in results),  # others may have compiled kernels
            predict_seconds=min(result.predict_seconds for result in results),
            n_bytes=round(median(result.n_bytes for result in results)),
            n_kept=round(median(kept)) if kept else None,
            params=usual_params(results),
        )


def usual_params(results: Sequence[TrialResult]) -> dict[str, Any]:
    """Return the parameters that trials chose most often; the first of equally frequent ones."""
    chosen = [repr(sorted(result.params.items())) for result in results]
    return dict(results[chosen.index(max(chosen, key=chosen.count))].params)


def run_search(
    experiment: Experiment,
    search: SuccessiveHalving,
    limits: Limits,
    reserve: Callable[[SuccessiveHalving], float] = lambda search: 0.0,
) -> str:
    """Run the trials that a search asks for.

    Parameters
    ----------
    experiment : Experiment
        Runs a trial.
    search : SuccessiveHalving
        Takes the results.
    limits : Limits
        Limits.
    reserve : callable
        Seconds to keep at the end.

    Returns
    -------
    {"finished", "out of time", "out of trials", "interrupted"}
        How it ended.
    """
    n_jobs = jobs_of(limits.n_jobs, who="limits")
    log = open_log(experiment, limits)

    def report(message: str) -> None:
        if limits.watch is not None:
            limits.watch(search.snapshot(time.monotonic() - limits.started, message))

    try:
        for result in [] if log is None else list(log.results.values())[: limits.trials]:
            search.add(result)
        experiment.prepare(report)
        with open_runner(experiment, n_jobs) as run:
            return _run_rounds(search, limits, run, log, reserve)
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        if log is not None:
            log.close()


def _run_rounds(search: SuccessiveHalving, limits: Limits, run: Run, log: Any, reserve: Any) -> str:
    while trials := search.next_trials():
        if limits.trials is not None:
            trials = trials[: max(limits.trials - len(search.results), 0)]
            if not trials:
                return "out of trials"
        deadline = limits.deadline - (reserve(search) if limits.deadline < float("inf") else 0.0)
        now = time.monotonic()
        fitting = [trial for trial in trials if now + search.seconds(trial.line) < deadline]
        if not fitting and search.results:
            return "out of time"
        # Without any score there is no answer at all, so the first two trials are run in any case.
        first = trials[: 2 if not search.results else 0]
        before = len(search.results)
        for part, until in ((first, float("inf") if now >= deadline else deadline), (fitting[len(first) :], deadline)):
            for result in run(part, until):
                search.add(result)
                if log is not None:
                    log.add(result)
                if limits.watch is not None:
                    limits.watch(search.snapshot(time.monotonic() - limits.started))
        if len(search.results) == before:
            return "out of time"
        if len(search.results) - before < len(trials) and time.monotonic() >= deadline:
            return "out of time"
    return "finished"


Run: TypeAlias = Callable[[Sequence[Trial], float], Iterator[TrialResult]]
"""Yields the results of trials; none begins after the deadline, a value of ``time.monotonic()``."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextlib.contextmanager
def open_runner(experiment: Experiment, n_jobs: int) -> Iterator[Run]:
    """Open what runs trials: this process, or worker processes that are killed at the deadline."""
    if n_jobs == 1:

        def run_here(trials: Sequence[Trial], deadline: float = math.inf) -> Iterator[TrialResult]:
            for trial in trials:
                if time.monotonic() >= deadline:
                    return
                yield experiment.run(trial)

        yield run_here
        return
    with warnings.catch_warnings():
        # loky replaces workers that have grown, as they do while kernels are loaded; nothing is lost by that.
        warnings.filterwarnings("ignore", message="A worker (stopped|was restarted) while some jobs")
        workers = _Workers(experiment, n_jobs)
        try:
            yield workers.run
        finally:
            workers.close()


class _Workers:
    """Worker processes that hold a copy of an experiment; until they have started, trials run in this process."""

    def __init__(self, experiment: Experiment, n_jobs: int) -> None:
        self._experiment, self._n_jobs = experiment, n_jobs
        self._running: dict[Any, Trial] = {}
        self._start()

    def _start(self) -> None:
        self._pool = start_processes(
            self._n_jobs, _keep_experiment, (self._experiment,), env=dict.fromkeys(_THREADS, "1"), timeout=600
        )
        self._ready = self._pool.submit(import_module, "sklearn.ensemble")  # starting a process takes seconds

    def run(self, trials: Sequence[Trial], deadline: float = math.inf) -> Iterator[TrialResult]:
        """Yield results as they come; after a process has died, trials run one by one, to find the one that kills it."""
        from loky import BrokenProcessPool

        waiting, most = deque(trials), 2 * self._n_jobs
        while (waiting or self._running) and (left := deadline - time.monotonic()) > 0:
            if waiting and not self._running and not self._ready.done():
                yield self._experiment.run(waiting.popleft())
                continue
            while waiting and len(self._running) < most:
                trial = waiting.popleft()
                self._running[self._pool.submit(_run_kept, trial)] = trial
            finished, _ = wait(self._running, None if math.isinf(left) else left, FIRST_COMPLETED)
            broken = [future for future in finished if isinstance(future.exception(), BrokenProcessPool)]
            for future in finished - set(broken):
                del self._running[future]
                yield future.result()
            if broken and most == 1:
                yield TrialResult(
                    self._running.pop(broken[0]), None, error="its process died, perhaps for lack of memory."
                )
            if broken:
                waiting.extendleft(self._running.values())
                self._running.clear()
                most = 1
                self._pool.shutdown(wait=True, kill_workers=True)
                self._start()
                wait([self._ready])  # what killed a worker must not run in this process

    def close(self) -> None:
        """Kill the processes, whatever they do."""
        # loky fails, with a traceback, on trials that it was given but has not passed on; that takes it a moment.
        patience = time.monotonic() + 2
        while time.monotonic() < patience and not all(f.running() or f.done() for f in self._running):
            time.sleep(0.01)
        self._pool.shutdown(wait=True, kill_workers=True)


_kept: Experiment | None = None


def _keep_experiment(experiment: Experiment) -> None:
    global _kept
    _kept = experiment


def _run_kept(trial: Trial) -> TrialResult:
    assert _kept is not None
    return _kept.run(trial)
