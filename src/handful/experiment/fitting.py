"""The winner of a race, or a named method, fitted to a whole table."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.catalogue import names
from handful.core.counted import counted
from handful.core.errors import DataError
from handful.experiment.problem import Problem, problem_of
from handful.experiment.search import search
from handful.experiment.text_views import WITH_VECTORS, choose_view
from handful.experiment.trial import quiet_single_thread
from handful.methods.class_shares import known_shift
from handful.methods.confidence import LEAST_HELD, HeldOut
from handful.methods.encoded_table import EncodedTable
from handful.methods.table_model import TableModel, card_for

if TYPE_CHECKING:
    from handful.experiment.compare import Comparison
    from handful.experiment.session import Session

_FIT_DRAWS = 10
_MANY_ALONE = 100  # classes of one label each
_TRIED_ONCE_MORE = 3  # by how much a fit takes longer where the model is tried once more on labels held out
_ENOUGH_HELD = (
    100  # of fewer answers in a race, a model is tried once more on labels held out, to learn how sure it may be
)


def fit(
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[Any] | None = None,
    metric: str = "auto",
    columns: Any = None,
    text: Any = "auto",
    shares: Mapping[Any, float] | None = None,
    session: Session | None = None,
    **limits: Any,
) -> TableModel:
    """Find the method that is the best bet for a table with few labels, and fit it to all rows.

    Parameters
    ----------
    X, y, methods, metric, columns, text, session, **limits
        See `handful.compare`.
    shares : mapping of label to float, optional
        How frequent the classes really are, where that is known: labels that were picked class by class do not tell it.

    Returns
    -------
    TableModel
        The winner, with ``predict`` and ``predict_proba``; ``training_["chosen"]`` says why it was chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = fit(X, few, methods=["self-training"], trials=12)
    >>> bool((model.predict(X) == y).mean() > 0.8)
    True
    """
    from handful.experiment.session import Session

    session = Session.of(session, limits, who="fit")
    problem = problem_of(X, y, columns=columns, max_unlabeled=session.unlabeled_rows, seed=session.seed, who="fit")
    return fit_winner(problem, methods=methods, metric=metric, text=text, shares=shares, session=session)[0]


def fit_winner(
    problem: Problem,
    *,
    methods: Sequence[Any] | None = None,
    metric: str = "auto",
    text: Any = "auto",
    shares: Mapping[Any, float] | None = None,
    session: Session | None = None,
) -> tuple[TableModel, Comparison | None]:
    """Let methods race until the best bet is clear, and fit it.

    Parameters
    ----------
    problem : Problem
        The table.
    methods, metric, text, session
        See `handful.compare`.
    shares : mapping of label to float, optional
        See `fit`.

    Returns
    -------
    model : TableModel
        The winner.
    comparison : Comparison or None
        The race; None where the labels do not allow one (one label per class): then the favorite is fitted.
    """
    from handful.experiment.compare import compare_problem
    from handful.experiment.entrants import FAVORITE
    from handful.experiment.session import Session

    if shares is not None:  # said before the work
        known_shift(shares, problem.classes.tolist(), np.bincount(problem.codes[problem.labeled]))
    session = session or Session()
    session = replace(session, draws=min(session.draws, _FIT_DRAWS))
    try:
        comparison = compare_problem(problem, methods=methods, metric=metric, text=text, session=session, prove=False)
        best, why = _best_bet(comparison)
        use, params = comparison.arena.method(best), _params(comparison, best)
        held = comparison.arena.held_out_answers([o for o in comparison.outcomes if o.task.entry == best])
        if held is not None and len(held.right) < min(len(problem.labeled), _ENOUGH_HELD):
            held = held if _in_haste(comparison, session, len(held.right)) else None
        _tell(comparison, session, best)
        read = comparison.arena.view.of(best)
    except DataError as error:
        comparison, params, held = None, None, None
        many = len(problem.classes) > _MANY_ALONE  # trees would keep a share of each at every leaf
        use = methods[0] if methods else FAVORITE if FAVORITE in names("table") and not many else "k-nn"
        told = str(error).removeprefix("compare: ")
        why = f"Methods could not be compared: {told} {use} is the best bet without that."
        view = choose_view(problem, text, seconds=session.seconds_left)
        read = view.of(use + WITH_VECTORS if isinstance(use, str) else "")
    model = fit_model(problem, use, params=params, text=read, held=held, shares=shares, seed=session.seed)
    model.training_ = {"chosen": why}
    return model, comparison


def fit_model(
    problem: Problem,
    method: Any,
    *,
    params: Mapping[str, Any] | None = None,
    text: Any = "lsa",
    held: HeldOut | None = None,
    shares: Mapping[Any, float] | None = None,
    seed: int = 0,
) -> TableModel:
    """Fit one method to all rows of a problem.

    Parameters
    ----------
    problem : Problem
        The table.
    method : str or classifier
        Name of a method, or a classifier in scikit-learn's manner.
    params : mapping of str to value, optional
        Its parameters; chosen by cross-validation among the labeled rows by default.
    text : {"words", "lsa", "vectors"} or encoder
        As what text columns come to it.
    held : HeldOut, optional
        Its answers in trials, from which the model learns how sure it may be; by default it is tried for that.
    shares : mapping of label to float, optional
        See `fit`.
    seed : int
        Seed.

    Returns
    -------
    TableModel
        The fitted model.
    """
    card = card_for(method)
    with quiet_single_thread():
        table = EncodedTable.learn(problem.frame, problem.kinds, problem.encoded, text=text)
        if params is None:
            params = search(card, table, problem.codes.astype(np.int64), seed)
        model = TableModel(
            method, params=params, kinds=dict(problem.kinds), text=text, shares=shares, random_state=seed
        )
        return model.fit_table(table).calibrate_on(table, held)


def _in_haste(comparison: Comparison, session: Session, n_held: int) -> bool:
    """Tell whether the answers of the race must do, few as they are, for how sure the model may be."""
    left = session.seconds_left
    is_short = left is not None and left < _TRIED_ONCE_MORE * comparison.final_seconds
    return comparison.state == "interrupted" or (is_short and n_held >= LEAST_HELD)


def _tell(comparison: Comparison, session: Session, best: str) -> None:
    """Tell how the race ended, and what comes now."""
    if session.watch is None:
        return
    n_labels, n_trials = len(comparison.problem.labeled), len(comparison.outcomes)
    seconds = time.monotonic() - session.started
    said = (
        f"The race ended after {seconds:.0f} s and {counted(n_trials, 'trial')}: {comparison.why_ended}. "
        f"Now {best} is fitted to all {counted(n_labels, 'label')}, which takes about {comparison.final_seconds:.0f} s."
    )
    if comparison.state == "interrupted":
        said += " Ctrl-C once more ends at once, without a model."
    session.watch(comparison.race.standing(n_trials, seconds, said))


def _best_bet(comparison: Comparison) -> tuple[str, str]:
    """Return the method to fit, and why: the favorite, too, where time was up before its first trial."""
    race = comparison.race
    waiting = next((e.name for e in race.active if e.favorite and e.candidate and not race.n_done(e.name)), None)
    if waiting is None:
        guess = comparison.blind_guess.sentence(comparison.ranking.best.low)
        return comparison.best, comparison.verdict if comparison.beats_blind_guess else f"{comparison.verdict} {guess}"
    return waiting, f"Best bet: {waiting}, by experience with other data; the race ended before it was measured."


def _params(comparison: Comparison, best: str) -> dict[str, Any] | None:
    """Return the parameters that the winner's trials chose most often: the final search would cost as much again."""
    from handful.experiment.summary import usual_params

    outcomes = [o for o in comparison.outcomes if o.task.entry == best and o.error is None]
    return dict(usual_params(outcomes)) if outcomes else None
