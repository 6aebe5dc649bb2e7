"""Compare models of word senses on contexts, few of them labeled."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.core.records import Occurrence
from handful.corpora.occurrences import read_occurrences
from handful.corpora.sentences import read_sentences
from handful.experiment.arena_corpora import CorpusDraws
from handful.experiment.arena_senses import SenseArena
from handful.experiment.compare_corpora import CorpusComparison, compare_corpus
from handful.experiment.session import Session

_LEAST = 10


def compare_senses(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    methods: Sequence[str] | None = None,
    session: Session | None = None,
    **limits: Any,
) -> CorpusComparison:
    r"""Compare models of word senses.

    Parameters
    ----------
    path : path-like
        Words in context with their senses: Senseval XML, or a table with text, word and sense. Contexts without a sense
        are unlabeled ones.
    unlabeled : path-like, optional
        Raw text to take more contexts from. Without any, contexts whose senses are hidden serve as such.
    labels : str or int, optional
        Labeled contexts to learn from: ``"10%"`` or ``20``; by default all that are not tested.
    methods : sequence of str, optional
        Names of methods; all by default. The plain ones always take part.
    session, **limits
        As for `handful.compare`; ``unlabeled_rows`` counts contexts of a word.

    Returns
    -------
    CorpusComparison
        Ranking, gains, verdict and reports.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from handful.corpora.formats import format_named
    >>> from handful.corpora.make import make_sense_contexts
    >>> made = make_sense_contexts({"bank.n": 2}, n_labeled=60, random_state=0)
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "bank.tsv"
    >>> format_named("sense-table").write(target, made)
    >>> compare_senses(target, methods=["naive-bayes"], trials=8, n_jobs=1).ranking.ranks[0].n_draws > 0
    True
    """
    session = Session.of(session, limits)
    occurrences = list(read_occurrences(path))
    labeled = [occurrence for occurrence in occurrences if occurrence.senses]
    if len(labeled) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} contexts with a sense are needed to compare, got {len(labeled)}.")
    rest = [occurrence for occurrence in occurrences if not occurrence.senses]
    if unlabeled is not None:
        rest += _harvested(unlabeled, occurrences, session.unlabeled_rows)
    draws = CorpusDraws.of(labels, len(labeled), session.seed, "contexts")
    return compare_corpus(
        SenseArena(Path(path).name.split(".")[0], labeled, rest, draws, session.seed), methods, session
    )


def _harvested(path: str | os.PathLike[str], known: Sequence[Occurrence], limit: int) -> list[Occurrence]:
    from handful.senses import harvest

    words = {occurrence.word for occurrence in known}
    return harvest(read_sentences(path), words, limit=limit, exclude=known)
