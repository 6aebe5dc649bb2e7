"""Tags of training sentences by taggers that have not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from handful.core.counted import counted
from handful.core.errors import ParameterError
from handful.core.progress import Progress, Step
from handful.features.columns import Tokens


def jackknife_tags(
    tagger: Any,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    *,
    n_folds: int = 10,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Tag sentences, each by a tagger that learned from the others alone.

    Use it for the training data of what reads tags, such as a parser that will later get them from a tagger: with the
    tags of people it would learn to trust them too much.

    Parameters
    ----------
    tagger : CRF or other tagger
        Copied for every fold; what it has learned is not used.
    sentences : list of lists of str, or of Sentence
        The tokens.
    tags : list of lists of str
        Their right tags.
    n_folds : int
        Parts of neighboring sentences; each is tagged by a tagger of the other parts.
    progress : callable, optional
        Told of the parts done.

    Returns
    -------
    list of lists of str
        One tag per token.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> text = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]]
    >>> jackknife_tags(CRF(strength=0.1), text, [["D", "N"]] * 4, n_folds=2)
    [['D', 'N'], ['D', 'N'], ['D', 'N'], ['D', 'N']]
    """
    n = len(sentences)
    if not 2 <= n_folds <= n:
        raise ParameterError(f"jackknife_tags: n_folds must be from 2 to the {counted(n, 'sentence')}, got {n_folds}.")
    unseen_tags: list[list[str]] = []
    for fold in range(n_folds):
        start, stop = n * fold // n_folds, n * (fold + 1) // n_folds
        fitted = clone(tagger).fit([*sentences[:start], *sentences[stop:]], [*tags[:start], *tags[stop:]])
        unseen_tags += fitted.predict(list(sentences[start:stop]))
        if progress is not None:
            progress(Step("jackknife", fold + 1, n_folds))
    return unseen_tags
