"""A comparison on a corpus: its race, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from handful.experiment.arena_corpora import CorpusArena
from handful.experiment.contest import hold
from handful.experiment.journal import digest_of
from handful.experiment.race import Race
from handful.experiment.result import Result
from handful.experiment.session import Session
from handful.reports.content import Content


class CorpusComparison(Result):
    """What came of a comparison of taggers, or of models of word senses; see `Result` for the parameters."""

    arena: CorpusArena

    @cached_property
    def content(self) -> Content:
        """All that a report says."""
        from handful.experiment.summary import describe_corpus

        return describe_corpus(self)


def compare_corpus(arena: CorpusArena, methods: Sequence[str] | None, session: Session) -> CorpusComparison:
    """Let methods race in an arena.

    Parameters
    ----------
    arena : CorpusArena
        Where trials are made.
    methods : sequence of str, optional
        Names of methods; all that fit by default. The plain ones always take part.
    session : Session
        Limits.

    Returns
    -------
    CorpusComparison
        Ranking, gains, verdict and reports.
    """
    draws = arena.draws
    race = Race(
        arena.entrants(methods),
        arena.setting,
        draws.n_labels,
        draws=session.draws,
        round_size=draws.n_folds,
        curve=tuple(draws.sizes),
    )
    state = hold(arena, race, session, key=lambda: digest_of(arena.key))
    return CorpusComparison(arena, race, state, session.command)
