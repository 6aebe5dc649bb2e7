"""Compare methods on a table with few labels: the main job."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from handful.core.catalogue import get_card
from handful.core.errors import DataError, ParameterError
from handful.core.progress import Progress
from handful.evaluation.comparison import Ranking
from handful.experiment.journal import Journal, fingerprint, journal_folder
from handful.experiment.labels import Budget, Draws
from handful.experiment.plan import Plan, make_plan
from handful.experiment.problem import Problem, array_problem, read_problem
from handful.experiment.result import Result
from handful.experiment.running import count_jobs, run_tasks
from handful.experiment.summary import describe, rank_outcomes
from handful.experiment.trial import Bench, Outcome, quiet_single_thread, search
from handful.methods.table_model import TableModel
from handful.reports.content import Content


class Comparison(Result):
    """What came of a comparison on a table.

    Parameters
    ----------
    problem : Problem
        The table.
    plan : Plan
        What was to be done.
    outcomes : list of Outcome
        What was done.
    bench : Bench
        Where.
    state : {"finished", "out of time", "interrupted", "planned"}
        How it ended.
    command : str
        How to do it again.

    Attributes
    ----------
    best_estimator_ : TableModel
        The recommended method, fitted to all labeled rows (and the unlabeled ones, if it can use them).
    """

    def __init__(
        self, problem: Problem, plan: Plan, outcomes: list[Outcome], bench: Bench, state: str, command: str
    ) -> None:
        super().__init__(plan, outcomes, state, command)
        self.problem = problem
        self.bench = bench
        self.name = problem.name

    @cached_property
    def best_estimator_(self) -> TableModel:
        """The recommended method, fitted to everything."""
        return fit_model(self.problem, self.ranking.verdict.use, seed=self.bench.seed)

    def _rank(self) -> Ranking:
        return rank_outcomes(self.plan, self.outcomes, self.bench.draws.pool_share)

    def _describe(self) -> Content:
        return describe(self)


def compare(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    labels: str | int | None = None,
    columns: Mapping[str, str] | None = None,
    methods: Sequence[str] | None = None,
    draws: int = 10,
    metric: Literal["accuracy", "f1"] = "accuracy",
    minutes: float | None = None,
    memory_gb: float | None = None,
    unlabeled_rows: int = 5_000,
    unlabeled_mark: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    journal: str | os.PathLike[str] | Literal["auto"] | None = None,
    fresh: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
    on_plan: Callable[[Problem, Plan], bool] | None = None,
) -> Comparison:
    """Compare methods on rows of which few have a label.

    Parameters
    ----------
    X : path, data frame, or array of shape (n_rows, n_columns)
        A table in a file (CSV, TSV, JSON lines, Parquet), or rows in memory.
    y : array-like of shape (n_rows,), optional
        Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows. Left out where `target` names a column.
    target : str, optional
        The label column of a file or data frame.
    labels : str or int, optional
        Hide labels, to see what few would do: ``"10%"``, ``"5-per-class"`` or ``20``. Needed where every row has one.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        What columns are, where the rule of `handful.corpora.formats.read_table` is wrong.
    methods : sequence of str, optional
        Which methods; all that fit by default. The plain supervised baselines always take part.
    draws : int, default=10
        How often labels and tested rows are drawn anew.
    metric : {"accuracy", "f1"}, default="accuracy"
        Share of right answers, or F1 averaged over classes.
    minutes : float, optional
        Stop after this time with what is done by then.
    memory_gb : float, optional
        Leave out methods that need more memory, and let none take it.
    unlabeled_rows : int, default=5000
        Unlabeled training rows at most.
    unlabeled_mark : str, optional
        A label of the file that means unlabeled.
    seed : int, default=0
        Seed of all draws.
    n_jobs : int, default=1
        Worker processes; -1 uses every core.
    journal : path, "auto" or None, default=None
        File in which outcomes are kept, so that the same call goes on where it was stopped; ``"auto"`` is a file in
        the user's cache folder (or in ``$HANDFUL_RUNS``).
    fresh : bool, default=False
        Forget what the journal holds.
    command : str, optional
        How to do it again, for the report.
    progress : callable, optional
        Told of each pilot and trial.
    on_plan : callable, optional
        Called with the problem and the plan before anything long is done; returning False stops there.

    Returns
    -------
    Comparison
        Ranking, gains, verdict and reports. An interrupt (Ctrl-C) gives what is done by then.

    Notes
    -----
    In each draw a fifth of the labeled rows is tested, and never seen before; of the others so many keep their label, and
    the rest are unlabeled. Scaling and encoding are learned from the training rows of the draw; parameters are chosen
    by cross-validation among its labeled rows. Every method that uses unlabeled rows is held against a twin that does
    the same without them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, labels="5-per-class", methods=["self-training"], draws=2)
    >>> [rank.name for rank in found.ranking.ranks if rank.gain is not None]
    ['self-training']
    """
    started = time.monotonic()
    _check(metric, minutes, memory_gb, unlabeled_rows)
    problem = _problem(X, y, target, columns, unlabeled_mark, unlabeled_rows, seed)
    if labels is None and not len(problem.unlabeled):
        raise ParameterError(
            f"compare: some rows must be unlabeled, got a label in all {len(problem.codes):,}. "
            "Say how many to keep, for example --labels 10% (labels='10%' in Python)."
        )
    return compare_problem(
        problem,
        labels=labels,
        methods=methods,
        draws=draws,
        metric=metric,
        minutes=minutes,
        memory_gb=memory_gb,
        unlabeled_rows=unlabeled_rows,
        seed=seed,
        n_jobs=n_jobs,
        journal=journal,
        fresh=fresh,
        command=command,
        progress=progress,
        on_plan=on_plan,
        started=started,
    )


def compare_problem(
    problem: Problem,
    *,
    labels: str | int | None = None,
    methods: Sequence[str] | None = None,
    draws: int = 10,
    metric: str = "accuracy",
    minutes: float | None = None,
    memory_gb: float | None = None,
    unlabeled_rows: int = 5_000,
    seed: int = 0,
    n_jobs: int = 1,
    journal: str | os.PathLike[str] | Literal["auto"] | None = None,
    fresh: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
    on_plan: Callable[[Problem, Plan], bool] | None = None,
    started: float | None = None,
) -> Comparison:
    """Compare methods on a table that has been read already; see `compare` for the parameters.

    `started` is the value of ``time.monotonic()`` from which `minutes` count; now, by default.
    """
    started = time.monotonic() if started is None else started
    found = Draws(problem.codes, None if labels is None else Budget.parse(labels), seed)
    bench = Bench(problem, found, metric, unlabeled_rows, seed)
    memory = None if memory_gb is None else int(memory_gb * 2**30)
    jobs = count_jobs(n_jobs, memory)
    deadline = None if minutes is None else started + 60 * minutes
    plan = make_plan(
        bench,
        found,
        methods=methods,
        n_draws=draws,
        n_jobs=jobs,
        memory=memory,
        deadline=deadline,
        progress=progress,
    )
    command = command or _python_command(labels, methods, draws, seed)
    if on_plan is not None and not on_plan(problem, plan):
        return Comparison(problem, plan, [], bench, "planned", command)
    book = _journal(journal, problem, bench, labels, fresh)
    known = {} if book is None else book.outcomes
    outcomes = [known[task] for task in plan.tasks if task in known]

    plain = {line.name for line in plan.lines if line.plain}

    def keep(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if book is not None:
            book.add(outcome)
        if outcome.error is not None and plain <= {o.task.entry for o in outcomes if o.error is not None}:
            # Nothing could be held against anything: better said now than after all trials.
            raise DataError(f"compare: no baseline could be fitted: {outcome.error}")

    try:
        state = run_tasks(
            bench,
            [task for task in plan.tasks if task not in known],
            keep,
            n_jobs=jobs,
            deadline=deadline,
            memory=memory,
            progress=progress,
            done_before=len(outcomes),
        )
    finally:
        if book is not None:
            book.close()
    return Comparison(problem, plan, outcomes, bench, state, command)


def fit_model(problem: Problem, method: str, *, params: Mapping[str, Any] | None = None, seed: int = 0) -> TableModel:
    """Fit one method to all rows of a problem.

    Parameters
    ----------
    problem : Problem
        The table.
    method : str
        Name of a method.
    params : mapping of str to value, optional
        Its parameters; chosen by cross-validation among the labeled rows by default.
    seed : int
        Seed.

    Returns
    -------
    TableModel
        The fitted model.
    """
    from handful.features.tables import TableEncoder

    chosen = get_card(method, "table")
    with quiet_single_thread():
        if params is None:
            rows = TableEncoder.learn(problem.frame, problem.kinds).transform(problem.frame)
            params = search(chosen, rows, problem.codes.astype("int64"), seed)
        model = TableModel(method, params=params, kinds=dict(problem.kinds), random_state=seed)
        return model.fit(problem.frame, problem.labels)


def _check(metric: str, minutes: float | None, memory_gb: float | None, unlabeled_rows: int) -> None:
    if metric not in ("accuracy", "f1"):
        raise ParameterError(f"compare: metric must be 'accuracy' or 'f1', got {metric!r}.")
    for name, value in (("minutes", minutes), ("memory", memory_gb)):
        if value is not None and not value > 0:
            raise ParameterError(f"compare: {name} must be above 0, got {value}.")
    if unlabeled_rows < 1:
        raise ParameterError(f"compare: unlabeled_rows must be at least 1, got {unlabeled_rows}.")


def _problem(
    X: Any,
    y: Any,
    target: str | None,
    columns: Mapping[str, str] | None,
    mark: str | None,
    unlabeled_rows: int,
    seed: int,
) -> Problem:
    if isinstance(X, str | os.PathLike):
        if target is None:
            raise ParameterError("compare: target must name the label column of the file, got None.")
        marks = [] if mark is None else [mark]
        return read_problem(X, target, columns=columns, unlabeled_marks=marks, max_unlabeled=unlabeled_rows, seed=seed)
    if target is not None:
        if y is not None:
            raise ParameterError("compare: labels come from y or from the column target, got both.")
        if target not in X.columns:
            raise ParameterError(f"compare: X has no column {target!r}.")
        y, X = X[target], X[[name for name in X.columns if name != target]]
    if y is None:
        raise ParameterError("compare: y must hold labels, or target name a column of X, got neither.")
    if mark is not None:
        y = [None if str(label) == mark else label for label in y]
    try:
        return array_problem(X, y, columns)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError | ParameterError):
            raise
        raise DataError(f"compare: X must be a table of plain values, got an error ({error}).") from error


def _journal(
    where: str | os.PathLike[str] | None, problem: Problem, bench: Bench, labels: Any, fresh: bool
) -> Journal | None:
    if where is None:
        return None
    settings = {"labels": labels, "metric": bench.metric, "rows": bench.max_unlabeled, "seed": bench.seed}
    key = fingerprint(problem, settings)
    path = journal_folder() / f"{problem.name[:40]}-{key}.jsonl" if where == "auto" else Path(where)
    return Journal(path, key, fresh=fresh)


def _python_command(labels: Any, methods: Sequence[str] | None, draws: int, seed: int) -> str:
    chosen = "" if methods is None else f", methods={list(methods)!r}"
    return f"handful.compare(X, y, labels={labels!r}{chosen}, draws={draws}, seed={seed})"
