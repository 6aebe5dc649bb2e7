"""From outcomes of trials to a ranking and to what a report says."""

from __future__ import annotations

import platform
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.errors import DataError
from handful.core.version import __version__
from handful.evaluation.comparison import Entry, Rank, Ranking, rank, score_interval
from handful.experiment.decisions import decision_map
from handful.experiment.plan import CURVE_DRAWS, Plan
from handful.experiment.trial import Outcome
from handful.reports.content import Confusion, Content, Curve, Row

if TYPE_CHECKING:
    from handful.experiment.compare import Comparison

_METRICS = {"accuracy": "accuracy", "f1": "F1 (mean over classes)"}


def rank_outcomes(
    plan: Plan,
    outcomes: Sequence[Outcome],
    pool_share: float,
    unlabeled: str = "unlabeled rows",
    labels: str = "labels",
) -> Ranking:
    """Rank the methods of a plan by the outcomes at its number of labels; methods that failed are left out.

    Parameters
    ----------
    plan : Plan
        The plan.
    outcomes : sequence of Outcome
        What was done.
    pool_share : float
        Tested rows for each row that labels could be drawn from.
    unlabeled, labels : str
        What they are called.

    Returns
    -------
    Ranking
        Over the draws that all remaining methods finished.
    """
    failed = failures(plan, outcomes)
    scores: dict[str, dict[int, float]] = defaultdict(dict)
    for outcome in outcomes:
        if outcome.task.n_labels == plan.n_labels and outcome.score is not None:
            scores[outcome.task.entry][outcome.task.draw] = outcome.score
    entries = [
        Entry(
            line.name,
            scores.get(line.name, {}),
            line.uses_unlabeled and not line.labels_only,
            line.plain,
            line.twin if line.twin not in failed else None,
            line.ranked,
        )
        for line in plan.lines
        if line.name not in failed
    ]
    if not any(entry.plain for entry in entries):
        raise DataError(f"compare: no baseline could be fitted: {next(iter(failed.values()), 'nothing was run')}")
    return rank(
        entries, test_share=pool_share, n_test=plan.n_test, n_labels=plan.n_labels, unlabeled=unlabeled, labels=labels
    )


def failures(plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the methods that failed, or did not finish two trials, at the wanted number of labels, with the reason."""
    main = [o for o in outcomes if o.task.n_labels == plan.n_labels]
    failed = {o.task.entry: str(o.error) for o in main if o.error is not None}
    n_done = Counter(o.task.entry for o in main if o.error is None)
    # In a run that was cut off, a method that is slower than the others must not keep them from being compared.
    if any(line.plain and n_done[line.name] > 1 for line in plan.lines):
        late = {line.name: "its trials were not finished in the time." for line in plan.lines if n_done[line.name] < 2}
        failed = {**late, **failed}
    return failed


def describe(comparison: Comparison) -> Content:
    """Return all that a report on a comparison says.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Returns
    -------
    Content
        For `handful.reports`.
    """
    problem, plan, ranking = comparison.problem, comparison.plan, comparison.ranking
    main = [o for o in comparison.outcomes if o.task.n_labels == plan.n_labels and o.error is None]
    by_entry: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in main:
        by_entry[outcome.task.entry].append(outcome)
    rows = tuple(row_of(r, plan, by_entry[r.name]) for r in ranking.ranks)
    facts = {
        "rows in the data": problem.n_rows_read,
        "rows with a label": len(problem.labeled),
        "classes": len(problem.classes),
        "labels used for training": plan.n_labels,
        "training rows of a draw, labeled and not": plan.n_train,
        "tested rows of a draw": plan.n_test,
        "draws finished": len(ranking.draws),
        "draws planned": plan.n_draws,
        "seed": comparison.bench.seed,
    }
    notes = list(problem.notes)
    if comparison.state != "finished":
        notes.insert(
            0, f"The run ended early ({comparison.state}): {len(comparison.outcomes)} of {len(plan.tasks)} trials."
        )
    shown = _shown(ranking)
    return Content(
        title=problem.name,
        metric=_METRICS[comparison.bench.metric],
        state=comparison.state,
        verdict=ranking.verdict.text,
        use=ranking.verdict.use,
        unlabeled_help=ranking.verdict.unlabeled_help,
        warnings=ranking.verdict.warnings,
        notes=tuple(notes),
        baseline=ranking.baseline,
        facts=facts,
        columns=dict(problem.kinds),
        rows=rows,
        curves=curves_of(plan, comparison.outcomes, [r.name for r in ranking.ranks], comparison.bench.draws.pool_share),
        confusions=tuple(_confusion(name, by_entry[name], problem.classes) for name in shown if by_entry[name]),
        decisions=decision_map(comparison.bench, plan, ranking),
        left_out={**plan.left_out, **failures(plan, comparison.outcomes)},
        command=comparison.command,
        versions=versions(),
    )


def row_of(found: Rank, plan: Plan, outcomes: Sequence[Outcome]) -> Row:
    """Return one line of the table."""
    gain = found.gain
    kept = [o.n_kept for o in outcomes if o.n_kept is not None]
    return Row(
        name=found.name,
        uses_unlabeled=plan.line(found.name).uses_unlabeled,
        score=found.score,
        low=found.low,
        high=found.high,
        difference=found.difference,
        p=found.p,
        gain=None if gain is None else (gain.mean, gain.low, gain.high),
        twin=None if gain is None else gain.twin,
        n_bytes=round(median(o.n_bytes for o in outcomes)),
        n_kept=round(median(kept)) if kept else None,
        fit_seconds=median(o.fit_seconds for o in outcomes),
        predict_seconds=median(o.predict_seconds for o in outcomes),
        params=_usual(outcomes),
    )


def _usual(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    counts = Counter(repr(sorted(o.params.items())) for o in outcomes)
    most = counts.most_common(1)[0][0]
    return next(dict(o.params) for o in outcomes if repr(sorted(o.params.items())) == most)


def curves_of(plan: Plan, outcomes: Sequence[Outcome], names: Sequence[str], pool_share: float) -> tuple[Curve, ...]:
    """Return the learning curves of some methods."""
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        # The same draws at every size, or a curve would bend where the draws change.
        if outcome.score is not None and outcome.task.draw < CURVE_DRAWS:
            scores[outcome.task.entry][outcome.task.n_labels].append(outcome.score)
    curves = []
    for name in names:
        sizes = [size for size in plan.sizes if len(scores[name][size]) > 1]
        if len(sizes) < 2:
            continue
        found = [np.array(scores[name][size]) for size in sizes]
        spans = [score_interval(values, pool_share, plan.n_test) for values in found]
        curves.append(
            Curve(
                name,
                tuple(sizes),
                tuple(float(values.mean()) for values in found),
                tuple(low for low, _ in spans),
                tuple(high for _, high in spans),
            )
        )
    return tuple(curves)


def _shown(ranking: Ranking) -> list[str]:
    best = [r.name for r in ranking.ranks[:1]]
    best_with_unlabeled = [r.name for r in ranking.ranks if r.gain is not None][:1]
    names = [ranking.verdict.use, ranking.baseline, *best, *best_with_unlabeled]
    return list(dict.fromkeys(names))


def _confusion(name: str, outcomes: Sequence[Outcome], classes: np.ndarray) -> Confusion:
    matrices = [np.array(o.confusion) for o in outcomes if o.confusion]
    counts = np.sum(matrices, axis=0).tolist() if matrices else []
    return Confusion(name, tuple(map(str, classes.tolist())), tuple(tuple(line) for line in counts))


def versions() -> dict[str, str]:
    """Return the versions of what a comparison was done with."""
    from importlib.metadata import version

    return {
        "handful": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba", "polars")},
        "system": f"{platform.system()} {platform.machine()}",
    }
