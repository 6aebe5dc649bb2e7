"""From outcomes of trials to what a report says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.counted import counted
from handful.core.version import versions
from handful.evaluation.ranking import Gain, Rank, Ranking, score_interval
from handful.experiment.decisions import decision_map
from handful.experiment.race import Race
from handful.experiment.trial import Outcome
from handful.reports import words
from handful.reports.content import USED, Confusion, Content, Curve, Row

if TYPE_CHECKING:
    from handful.experiment.compare import Comparison
    from handful.experiment.compare_corpora import CorpusComparison
    from handful.experiment.result import Result

_METRICS = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced accuracy (mean over classes)",
    "f1": "F1 (mean over classes)",
}

_TOO_LATE = {
    "out of time": "the time was up.",
    "out of trials": "the trials were used up.",
    "interrupted": "the race was interrupted.",
}


def describe_table(comparison: Comparison) -> Content:
    """Return all that a report on a comparison on a table says.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Returns
    -------
    Content
        For `handful.reports`.
    """
    arena, problem, race, ranking = comparison.arena, comparison.problem, comparison.race, comparison.ranking
    by_entry = _by_entry(race)
    facts = {
        "rows in the data": problem.n_rows_read,
        "rows with a label": len(problem.labeled),
        "classes": len(problem.classes),
        f"{race.setting.labels}{USED}": race.n_labels,
        "tested rows of a draw": arena.draws.n_test,
        **_facts(comparison),
        "seed": arena.seed,
    }
    shown = [name for name in _shown(ranking) if by_entry[name]]
    guess = (comparison.blind_guess.sentence(ranking.best.low),)
    notes = (
        *_cut_short(comparison),
        *_leveled(ranking),
        *_order(ranking),
        *problem.notes,
        *_lopsided(arena.metric),
        *_finished(comparison),
    )
    common = _common(comparison, arena.draws.pool_share)
    if not comparison.beats_blind_guess:
        common["warnings"] += guess
    return Content(
        metric=_METRICS[arena.metric],
        notes=(*notes, *(guess if comparison.beats_blind_guess else ())),
        facts=facts,
        columns=dict(problem.kinds),
        confusions=tuple(_confusion(name, by_entry[name], problem.classes) for name in shown),
        decisions=decision_map(arena, race, ranking),
        blind_guess=comparison.blind_guess,
        **common,
    )


def describe_corpus(comparison: CorpusComparison) -> Content:
    """Return all that a report on a comparison on a corpus says.

    Parameters
    ----------
    comparison : CorpusComparison
        The comparison.

    Returns
    -------
    Content
        For `handful.reports`.
    """
    arena, race = comparison.arena, comparison.race
    facts = {
        **arena.facts,
        f"{race.setting.labels}{USED}": race.n_labels,
        "tested in a draw": race.setting.n_test,
        **_facts(comparison),
        "seed": arena.seed,
    }
    return Content(
        metric=arena.metric,
        notes=(
            *_cut_short(comparison),
            *_leveled(comparison.ranking),
            *_order(comparison.ranking),
            *_finished(comparison),
        ),
        facts=facts,
        columns=arena.columns,
        confusions=(),
        decisions=None,
        **_common(comparison, arena.draws.pool_share),
    )


def usual_params(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    """Return the parameters that trials chose most often.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Trials of one method.

    Returns
    -------
    mapping of str to value
        The parameters; of equally frequent ones, those that were chosen first.
    """
    counts = Counter(repr(sorted(o.params.items())) for o in outcomes)
    most = counts.most_common(1)[0][0]
    return next(dict(o.params) for o in outcomes if repr(sorted(o.params.items())) == most)


def _common(comparison: Result, pool_share: float) -> dict[str, Any]:
    race, ranking, verdict = comparison.race, comparison.ranking, comparison.judgment
    by_entry = _by_entry(race)
    late = {
        e.name: _TOO_LATE.get(comparison.state, "it was not tried.") for e in race.active if not race.n_done(e.name)
    }
    return {
        "title": comparison.name,
        "state": comparison.state,
        "best_bet": verdict.best_bet,
        "proven": verdict.proven,
        "use": verdict.use,
        "unlabeled_help": verdict.unlabeled_help,
        "warnings": verdict.warnings,
        "baseline": ranking.baseline,
        "rows": tuple(_row(r, by_entry[r.name]) for r in ranking.ranks),
        "curves": _curves(race, [r.name for r in ranking.ranks], pool_share),
        "left_out": {**race.left_out, **late},
        "command": comparison.command,
        "versions": versions(),
    }


def _facts(comparison: Result) -> dict[str, Any]:
    return {"draws": comparison.ranking.n_draws, "trials": len(comparison.outcomes)}


def _cut_short(comparison: Result) -> list[str]:
    if comparison.state == "finished":
        return []
    n = len(comparison.outcomes)
    return [f"The race ended early ({comparison.state}), after {counted(n, 'trial')}."]


def _finished(comparison: Result) -> list[str]:
    if comparison.state != "finished" or not comparison.race.use_time:
        return []
    return [f"The race ended before the time was up: {comparison.race.why_over}."]


def _leveled(ranking: Ranking) -> list[str]:
    """Say what scores are and what differences are, where methods had different draws."""
    if len({rank.n_draws for rank in ranking.ranks}) < 2:
        return []
    moved = [rank for rank in ranking.ranks if words.percent(rank.score) != words.percent(rank.measured)]
    example = [
        f" ({rank.name}: {counted(rank.n_draws, 'draw')} gave {words.percent(rank.measured)}, as if on all "
        f"{words.percent(rank.score)})"
        for rank in moved[:1]
    ]
    return [
        "Scores are as if on all draws: those of methods that had fewer are raised or lowered by how hard these were for the others"
        f"{''.join(example)}. Differences are over the draws that both had."
    ]


def _order(ranking: Ranking) -> list[str]:
    """Say what the ranking is by, where it is not the order of the scores that were measured."""
    scores = [rank.score for rank in ranking.ranks]
    if all(after <= before for before, after in pairwise(scores)):
        return []
    first = ranking.ranks[0]
    return [
        "The order is that of expected scores: differences that were measured, drawn toward what they usually are on other "
        "data, the more so the fewer draws there are "
        f"({first.name}: measured {words.percent(first.measured)}, expected {words.percent(first.expected)})."
    ]


def _lopsided(metric: str) -> list[str]:
    if metric != "balanced accuracy":
        return []
    return [
        "Classes count alike, however rare (balanced accuracy): a method that always gives the frequent one scores low."
    ]


def _by_entry(race: Race) -> dict[str, list[Outcome]]:
    by_entry: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in race.outcomes:
        if outcome.task.n_labels == race.n_labels and outcome.error is None:
            by_entry[outcome.task.entry].append(outcome)
    return by_entry


def fit_cost(outcomes: Sequence[Outcome]) -> tuple[float, int]:
    """Return the seconds of the quickest fit, since others may have compiled kernels, and the bytes of a usual model."""
    return min(o.fit_seconds for o in outcomes), round(median(o.n_bytes for o in outcomes))


def _row(rank: Rank, outcomes: Sequence[Outcome]) -> Row:
    kept = [o.n_kept for o in outcomes if o.n_kept is not None]
    fit_seconds, n_bytes = fit_cost(outcomes)
    return Row(
        name=rank.name,
        uses_unlabeled=rank.uses_unlabeled,
        score=rank.score,
        low=rank.low,
        high=rank.high,
        measured=rank.measured,
        expected=rank.expected,
        p_best=rank.p_best,
        n_draws=rank.n_draws,
        against=_span(rank.against),
        p=rank.p,
        gain=_span(rank.gain),
        twin=None if rank.gain is None else rank.gain.twin,
        n_bytes=n_bytes,
        n_kept=round(median(kept)) if kept else None,
        fit_seconds=fit_seconds,
        predict_seconds=min(o.predict_seconds for o in outcomes),
        params=usual_params(outcomes),
    )


def _span(gain: Gain | None) -> tuple[float, float, float] | None:
    return None if gain is None else (gain.mean, gain.low, gain.high)


def _curves(race: Race, names: Sequence[str], pool_share: float) -> tuple[Curve, ...]:
    scores: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for outcome in race.outcomes:
        if outcome.score is not None:
            scores[outcome.task.entry][outcome.task.n_labels][outcome.task.draw] = outcome.score
    curves = [_curve(name, scores[name], pool_share, race.setting.n_test) for name in names]
    return tuple(curve for curve in curves if curve is not None)


def _curve(name: str, scores: Mapping[int, Mapping[int, float]], pool_share: float, n_test: int) -> Curve | None:
    """Return the scores of a method by number of labels, if there are two such numbers with the same draws."""
    sizes = sorted(size for size in scores if len(scores[size]) > 1)
    if len(sizes) < 2:
        return None
    # The same draws at every size, or a curve would bend where the draws change.
    shared = set.intersection(*(set(scores[size]) for size in sizes))
    if not shared:
        return None
    values = [np.array([scores[size][draw] for draw in sorted(shared)]) for size in sizes]
    lows, highs = zip(*(score_interval(v, pool_share, n_test) for v in values), strict=True)
    return Curve(name, tuple(sizes), tuple(float(v.mean()) for v in values), lows, highs)


def _shown(ranking: Ranking) -> list[str]:
    semi = [rank.name for rank in ranking.ranks if rank.uses_unlabeled][:1]
    base = [] if ranking.baseline is None else [ranking.baseline]
    return list(dict.fromkeys([ranking.best.name, *base, *semi]))


def _confusion(name: str, outcomes: Sequence[Outcome], classes: np.ndarray) -> Confusion:
    matrices = [np.array(o.confusion) for o in outcomes if o.confusion]
    counts = np.sum(matrices, axis=0).tolist() if matrices else []
    return Confusion(name, tuple(map(str, classes.tolist())), tuple(tuple(line) for line in counts))
