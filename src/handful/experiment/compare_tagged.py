"""Compare taggers on tagged sentences and raw text."""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from handful.core.catalogue import cards, get_card
from handful.core.errors import DataError, ParameterError
from handful.core.progress import Progress, Step
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged, read_tagged, read_untagged
from handful.evaluation.comparison import Ranking
from handful.experiment.journal import Journal, digest_of, journal_folder
from handful.experiment.labels import Budget
from handful.experiment.plan import Line, Plan, tasks_of
from handful.experiment.result import Result
from handful.experiment.running import WORKER_BYTES, count_jobs, run_tasks
from handful.experiment.summary import curves_of, failures, rank_outcomes, row_of, versions
from handful.experiment.taggers import SentenceDraws, TaggerBench
from handful.experiment.trial import Outcome, Task
from handful.reports.content import Content

_LEAST = 10


class TaggerComparison(Result):
    """What came of a comparison of taggers.

    Parameters
    ----------
    name : str
        Name of the corpus.
    plan : Plan
        What was to be done.
    outcomes : list of Outcome
        What was done.
    bench : TaggerBench
        Where.
    state : {"finished", "out of time", "interrupted", "planned"}
        How it ended.
    command : str
        How to do it again.
    """

    def __init__(
        self, name: str, plan: Plan, outcomes: list[Outcome], bench: TaggerBench, state: str, command: str
    ) -> None:
        super().__init__(plan, outcomes, state, command)
        self.name = name
        self.bench = bench

    def _rank(self) -> Ranking:
        return rank_outcomes(
            self.plan, self.outcomes, self.bench.draws.pool_share, "untagged sentences", "tagged sentences"
        )

    def _describe(self) -> Content:
        plan, ranking, data = self.plan, self.ranking, self.bench.data
        by_entry: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            if outcome.task.n_labels == plan.n_labels and outcome.error is None:
                by_entry[outcome.task.entry].append(outcome)
        notes = []
        if self.state != "finished":
            notes.append(f"The run ended early ({self.state}): {len(self.outcomes)} of {len(plan.tasks)} trials.")
        return Content(
            title=self.name,
            metric=self.bench.metric,
            state=self.state,
            verdict=ranking.verdict.text,
            use=ranking.verdict.use,
            unlabeled_help=ranking.verdict.unlabeled_help,
            warnings=ranking.verdict.warnings,
            notes=tuple(notes),
            baseline=ranking.baseline,
            facts={
                "tagged sentences": len(data.sentences),
                "untagged sentences": len(self.bench.unlabeled),
                "tags": len({tag for tags in data.tags for tag in tags}),
                "labels used for training": plan.n_labels,
                "tested tokens of a draw": plan.n_test,
                "draws finished": len(ranking.draws),
                "draws planned": plan.n_draws,
                "seed": self.bench.seed,
            },
            columns=dict.fromkeys(data.sentences[0].columns, "column"),
            rows=tuple(row_of(r, plan, by_entry[r.name]) for r in ranking.ranks),
            curves=curves_of(plan, self.outcomes, [r.name for r in ranking.ranks], self.bench.draws.pool_share),
            confusions=(),
            decisions=None,
            left_out=failures(plan, self.outcomes),
            command=self.command,
            versions=versions(),
        )


def compare_tagged(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    layout: Sequence[str] = (),
    tag: str | None = None,
    templates: str | None = None,
    methods: Sequence[str] | None = None,
    draws: int = 5,
    minutes: float | None = None,
    memory_gb: float | None = None,
    unlabeled_rows: int = 5_000,
    seed: int = 0,
    n_jobs: int = 1,
    journal: str | os.PathLike[str] | Literal["auto"] | None = None,
    fresh: bool = False,
    command: str = "",
    progress: Progress | None = None,
    on_plan: Callable[[str, Plan], bool] | None = None,
) -> TaggerComparison:
    """Compare taggers on few tagged sentences and much raw text.

    Parameters
    ----------
    path : path-like
        Tagged sentences, in columns or CoNLL-U.
    unlabeled : path-like, optional
        Untagged sentences: text, one a line, or columns. By default tagged ones whose tags are hidden.
    labels : str or int, optional
        Tagged sentences to learn from: ``"10%"`` or ``20``; by default all that are not tested.
    layout, tag
        As for `handful.corpora.tagged.read_tagged`.
    templates : {"pos", "chunk", "ner"}, optional
        What a CRF observes; by default ``ner`` where tags are spans, else ``pos``.
    methods : sequence of str, optional
        Names of taggers; all that have a recipe by default. The plain ones always take part.
    draws, minutes, memory_gb, unlabeled_rows, seed, n_jobs, journal, fresh, command, progress, on_plan
        As for `handful.compare`; `unlabeled_rows` counts sentences.

    Returns
    -------
    TaggerComparison
        Ranking, gains, verdict and reports.
    """
    started = time.monotonic()
    data = read_tagged(path, layout, tag)
    if len(data.sentences) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} tagged sentences are needed to compare, got {len(data.sentences)}.")
    n_labels = _n_labels(labels, len(data.sentences))
    raw = [] if unlabeled is None else _raw(unlabeled, data, unlabeled_rows)
    chosen = templates or ("ner" if data.has_spans else "pos")
    bench = TaggerBench(data, raw, SentenceDraws(len(data.sentences), n_labels, seed), chosen, seed)
    memory = None if memory_gb is None else int(memory_gb * 2**30)
    jobs = count_jobs(n_jobs, memory)
    plan = _plan(bench, methods, draws, jobs, progress)
    name = Path(path).name.split(".")[0]
    if on_plan is not None and not on_plan(name, plan):
        return TaggerComparison(name, plan, [], bench, "planned", command)
    book = None
    if journal is not None:
        key = digest_of(
            [data.tags, [s.tokens for s in data.sentences], [s.tokens for s in raw], n_labels, chosen, seed]
        )
        where = journal_folder() / f"{name[:40]}-{key}.jsonl" if journal == "auto" else Path(journal)
        book = Journal(where, key, fresh=fresh)
    known = {} if book is None else book.outcomes
    outcomes = [known[task] for task in plan.tasks if task in known]

    def keep(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if book is not None:
            book.add(outcome)

    try:
        state = run_tasks(
            bench,
            [task for task in plan.tasks if task not in known],
            keep,
            n_jobs=jobs,
            deadline=None if minutes is None else started + 60 * minutes,
            memory=memory,
            progress=progress,
            done_before=len(outcomes),
        )
    finally:
        if book is not None:
            book.close()
    return TaggerComparison(name, plan, outcomes, bench, state, command)


def _n_labels(labels: str | int | None, n_sentences: int) -> int:
    pool = n_sentences - math.ceil(n_sentences / SentenceDraws.n_folds)
    if labels is None:
        return pool
    budget = Budget.parse(labels)
    if budget.unit == "per class":
        raise ParameterError("labels must be like 10% or 20 for sentences, got so many of each class.")
    wanted = round(budget.amount * n_sentences if budget.unit == "share" else budget.amount)
    if not 2 <= wanted <= pool:
        raise ParameterError(f"labels must be between 2 and the training part of the sentences ({pool}), got {wanted}.")
    return int(wanted)


def _raw(path: str | os.PathLike[str], data: Tagged, limit: int) -> list[Sentence]:
    found = islice(read_untagged(path, data.layout, data.tag), limit)
    return [Sentence(sentence.tokens) for sentence, _ in found]


def _plan(
    bench: TaggerBench, methods: Sequence[str] | None, n_draws: int, jobs: int, progress: Progress | None
) -> Plan:
    if n_draws < 2:
        raise ParameterError(f"compare: there must be at least 2 draws to tell chance from skill, got {n_draws}.")
    known = {card.name: card for card in cards("sentences") if card.train is not None}
    names = list(known) if methods is None else [get_card(name, "sentences").name for name in methods]
    plain = [name for name, card in known.items() if card.baseline]
    lines: dict[str, Line] = {}
    for name in dict.fromkeys([*plain, *names]):
        card = get_card(name, "sentences")
        twin = None
        if card.uses_unlabeled:
            twin = card.twin or Task(name, True, 0, 0).entry
            if card.twin is None:
                lines[twin] = Line(twin, name, labels_only=True, ranked=False)
        lines[name] = Line(name, name, False, card.uses_unlabeled, twin, True, card.baseline)
    draws, few = bench.draws, max(2, bench.draws.n_labels // 10)
    timed = []
    for number, line in enumerate(lines.values()):
        bench.run(Task(line.method, line.labels_only, 0, 2))  # compiles what it needs
        start = time.perf_counter()
        bench.run(Task(line.method, line.labels_only, 0, few))
        spent = time.perf_counter() - start
        timed.append(Line(**{**vars(line), "seconds": spent * draws.n_labels / few}))
        if progress is not None:
            progress(Step("plan", number + 1, len(lines)))
    tasks = tasks_of(timed, draws.n_labels, draws.sizes, n_draws)
    seconds = {line.name: line.seconds for line in timed}
    train, hidden, test = draws.parts(0, draws.n_labels)
    return Plan(
        tuple(timed),
        tuple(tasks),
        n_draws,
        draws.n_labels,
        tuple(draws.sizes),
        len(train) + (len(bench.unlabeled) or len(hidden)),
        sum(len(bench.data.tags[i]) for i in test),
        len(tasks),
        sum(seconds[task.entry] for task in tasks) / jobs,
        jobs * WORKER_BYTES,
    )
