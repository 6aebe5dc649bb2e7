"""Compare methods on a table with few labels: the main job."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from handful.core.errors import ParameterError
from handful.core.registry import Card
from handful.corpora.tables.label_checks import is_lopsided
from handful.experiment.arena_tables import TableArena
from handful.experiment.blind_guess import blind_guess
from handful.experiment.contest import hold
from handful.experiment.fitting import fit_model
from handful.experiment.journal import digest_of
from handful.experiment.problem import Problem, problem_of
from handful.experiment.race import Race
from handful.experiment.result import Result
from handful.experiment.session import Session
from handful.experiment.splits import Budget, Draws
from handful.experiment.text_views import choose_view
from handful.methods.confidence import LEAST_HELD
from handful.methods.table_model import TableModel, card_for
from handful.reports.content import BlindGuess, Content

METRICS = ("auto", "accuracy", "balanced accuracy", "f1")
_TRIAL_ROWS = 2_000
BALANCE = 0.75
"""How far the team moves its answers to rare classes where balanced accuracy or F1 is asked for; chosen on development tables."""
_UNASKED_BALANCE = (
    0.5  # where nobody asked for either: half a point of accuracy, on average, for many more of the rare rows
)


class Comparison(Result):
    """What came of a comparison on a table; see `Result` for the parameters.

    Attributes
    ----------
    best_estimator_ : TableModel
        The recommended method, fitted to all labeled rows (and the unlabeled ones, if it can use them).
    """

    arena: TableArena

    @property
    def problem(self) -> Problem:
        """The table."""
        return self.arena.problem

    @cached_property
    def blind_guess(self) -> BlindGuess:
        """What one would score who never looks at a row."""
        return blind_guess(self.problem.codes, self.problem.classes, self.arena.metric)

    @property
    def beats_blind_guess(self) -> bool:
        """Whether the whole interval of the best bet is above the score of a blind guess."""
        return self.ranking.best.low > self.blind_guess.score

    @cached_property
    def best_estimator_(self) -> TableModel:
        """The recommended method, fitted to everything."""
        text = self.arena.view.of(self.best)
        return fit_model(self.problem, self.arena.method(self.best), text=text, seed=self.arena.seed)

    @property
    def final_seconds(self) -> float:
        """About how long it takes to fit the leader to all rows, by the time of its trials."""
        return _final_seconds(self.arena, self.race)

    @cached_property
    def content(self) -> Content:
        """All that a report says."""
        from handful.experiment.summary import describe_table

        return describe_table(self)


def compare(
    X: Any,
    y: Any = None,
    *,
    labels: str | int | None = None,
    methods: Sequence[Any] | None = None,
    metric: str = "auto",
    columns: Any = None,
    text: Any = "auto",
    session: Session | None = None,
    **limits: Any,
) -> Comparison:
    """Compare methods on rows of which few have a label.

    Parameters
    ----------
    X : path, data frame, array of shape (n_rows, n_columns), sparse matrix, or list of texts
        A table in a file (CSV, TSV, JSON lines, Parquet), or rows in memory.
    y : array-like of shape (n_rows,), or str
        Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows. Or the name of the label column, where X
        is a file or a data frame.
    labels : str or int, optional
        Hide labels, to see what few would do: ``"10%"``, ``"5-per-class"`` or ``20``. Needed where every row has one.
    methods : sequence of str or classifier, optional
        Names of methods, or scikit-learn classifiers; all that fit by default. One of these is recommended; in `compare` the
        plain supervised methods take part too, for others to be held against.
    metric : {"auto", "accuracy", "balanced accuracy", "f1"}, default="auto"
        Share of right answers, the same averaged over classes, or F1 averaged over classes. ``"auto"`` is accuracy,
        unless more than four fifths of the labels are of one class: then it is balanced accuracy.
    columns : mapping of str to {"numeric", "nominal", "text", "skip"}, optional
        What columns are, where the rule of `handful.corpora.tables.read_table` is wrong.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder, default="auto"
        As what text columns come to the methods: weighted words; leading directions of words and letters, learned from all
        texts; or vectors of an encoder beside them: the one at hand, one in a folder or on the hub, or any object with
        ``encode(list of str)``. ``"auto"`` is directions, and where an encoder is at hand some methods are tried with
        its vectors too (see `handful.features.vectors.encoder_at_hand`).
    session : Session, optional
        Limits: time, trials, memory, processes, seed, journal.
    **limits
        Parameters of a `Session`, where none is given: ``minutes``, ``trials``, ``draws``, ``n_jobs``, ``seed`` and so on.

    Returns
    -------
    Comparison
        Ranking, gains, verdict and reports. An interrupt (Ctrl-C) gives what is done by then.

    Notes
    -----
    In each draw a fifth of the labeled rows is tested, and never seen before; of the others so many keep their label, and
    the rest are unlabeled. Scaling and encoding are learned from training rows; parameters are chosen by
    cross-validation among the labeled ones where these are enough. Methods race: all are tried once, the cheapest first,
    then only those that may still turn out to be the best (see `handful.experiment.race.Race`). Every method that
    uses unlabeled rows is held against a twin that does the same without them. At most 2,000 unlabeled rows take part in a
    trial; the final fit may use more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, labels="5-per-class", methods=["self-training"], draws=2)
    >>> "self-training" in [rank.name for rank in result.ranking.ranks]
    True
    """
    session = Session.of(session, limits)
    most = session.unlabeled_rows
    problem = problem_of(X, y, columns=columns, complete=labels is not None, max_unlabeled=most, seed=session.seed)
    return compare_problem(problem, labels=labels, methods=methods, metric=metric, text=text, session=session)


def compare_problem(
    problem: Problem,
    *,
    labels: str | int | None = None,
    methods: Sequence[Any] | None = None,
    metric: str = "auto",
    text: Any = "auto",
    session: Session | None = None,
    prove: bool = True,
) -> Comparison:
    """Compare methods on a table that has been read already.

    Parameters
    ----------
    problem : Problem
        The table.
    labels, methods, metric, text, session
        See `compare`.
    prove : bool, default=True
        Whether to settle if unlabeled rows help; otherwise the race ends as soon as the best bet is clear.

    Returns
    -------
    Comparison
        What came of it.
    """
    session = session or Session()
    if metric not in METRICS:
        raise ParameterError(
            f"{'compare' if prove else 'fit'}: metric must be one of {', '.join(METRICS)}, got {metric!r}."
        )
    if labels is None and not len(problem.unlabeled) and prove:
        raise ParameterError(
            f"compare: some rows must be unlabeled, got a label in all {len(problem.codes):,}. "
            "Say how many to keep, for example --labels 10% (labels='10%' in Python)."
        )
    draws = Draws(problem.codes, None if labels is None else Budget.parse(labels), session.seed)
    names, cards = named_methods(methods)
    chosen = usual_metric(problem) if metric == "auto" else metric
    view = choose_view(problem, text, seconds=session.seconds_left)
    problem = replace(problem, notes=(*problem.notes, view.note)) if view.note else problem
    most = min(session.unlabeled_rows, _TRIAL_ROWS)
    balance = 0.0 if chosen == "accuracy" else _UNASKED_BALANCE if metric == "auto" else BALANCE
    arena = TableArena(problem, draws, chosen, most, session.seed, cards, view, balance)
    race = Race(
        arena.entrants(names, held_against=prove),
        arena.setting,
        draws.n_labels,
        draws=session.draws,
        round_size=draws.n_folds,
        prove=prove,
        curve=tuple(draws.sizes) if prove else (),
        use_time=prove and session.by_clock,
    )
    state = hold(
        arena, race, session, key=lambda: _key(arena, labels), reserve=None if prove else partial(_final_seconds, arena)
    )
    return Comparison(arena, race, state, session.command or _python_command(labels, names, session))


def named_methods(methods: Sequence[Any] | None) -> tuple[list[str] | None, dict[str, Any]]:
    """Return the names of methods, and cards of those that are no methods of the catalogue.

    Parameters
    ----------
    methods : sequence of str or classifier, or None
        What was asked for; None is everything.

    Returns
    -------
    names : list of str or None
        Their names.
    cards : dict of str to Card
        Cards of classifiers, and of what goes around methods.
    """
    if methods is None:
        return None, {}
    if isinstance(methods, str):
        methods = [methods]
    if not len(methods):
        raise ParameterError("methods: at least one must be named, got none. Leave it out for all that fit.")
    names: list[str] = []
    cards: dict[str, Card] = {}
    for one in methods:
        card = card_for(one)
        if not isinstance(one, str) and card.name in names:
            card = replace(card, name=f"{card.name} {1 + sum(name.startswith(card.name) for name in names)}")
        if not isinstance(one, str) or "(" in one:
            cards[card.name] = card
        names.append(card.name)
    return names, cards


def usual_metric(problem: Problem) -> str:
    """Return the metric that suits the labels of a table: balanced accuracy where one class has more than four fifths."""
    return "balanced accuracy" if is_lopsided(problem.codes) else "accuracy"


def _final_seconds(arena: TableArena, race: Race) -> float:
    """Return a guess of the seconds that fitting the leader to everything, and saving it, will take."""
    n_final = len(arena.problem.codes)
    n_trial = min(n_final, arena.draws.n_labels + arena.max_unlabeled)
    encoding = 1.5 * arena.encoding_seconds * n_final / n_trial
    bets = race.bets
    if not bets:
        return 3.0 + encoding
    trials = [o for o in race.outcomes if o.task.entry == bets[0].name and o.error is None]
    is_enough = sum(len(o.sure) for o in trials) >= LEAST_HELD
    # Without answers enough from which to learn how sure it may be, the model is fitted to parts of the labels too.
    fits = 1.2 if is_enough else 3.0
    return 2.0 + encoding + fits * float(np.median([o.seconds for o in trials])) * math.pow(n_final / n_trial, 1.3)


def _key(arena: TableArena, labels: Any) -> str:
    problem = arena.problem
    cells = problem.frame.write_csv() if all(not d.is_nested() for d in problem.frame.dtypes) else str(problem.frame)
    facts = [cells, problem.codes.tolist(), dict(problem.kinds), problem.classes.tolist()]
    read = arena.view.text if arena.view.encoder is None else arena.view.encoder.digest
    return digest_of([facts, labels, arena.metric, arena.balance, arena.max_unlabeled, arena.seed, read])


def _python_command(labels: Any, methods: Sequence[str] | None, session: Session) -> str:
    chosen = "" if methods is None else f", methods={list(methods)!r}"
    limit = f", trials={session.trials}" if session.trials is not None else f", minutes={session.minutes}"
    return f"handful.compare(X, y, labels={labels!r}{chosen}{limit}, draws={session.draws}, seed={session.seed})"
