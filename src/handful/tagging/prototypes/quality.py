"""How good a prototype tagger is, told without labels: by prototypes that it was not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.features.columns import Tokens
from handful.tagging.prototypes.checks import check_lists

STEPS = (20, 40, 60)
"""After how many iterations hidden prototypes are looked for."""


def recovered_shares(
    tagger: Any,
    sentences: Sequence[Tokens],
    *,
    n_folds: int = 3,
    max_tokens: int = 8_000,
    steps: Sequence[int] = STEPS,
    random_state: int = 0,
) -> dict[int, float]:
    """Hide some prototypes, learn from the others, and tell how often the hidden ones get their label all the same.

    No labels are needed, and a tagger that gives hidden prototypes their label is likely to be right about other words
    too: settings are put in order by it.

    Parameters
    ----------
    tagger : PrototypeTagger
        Not fitted, with a fitted similarity or none. It is learned at order 1, which takes a fraction of the time.
    sentences : list of lists of str
        The text.
    n_folds : int, default=3
        Every prototype is hidden once, in one of so many turns; the only word of a label never is.
    max_tokens : int, default=8000
        The sample of the text that is learned from is no larger.
    steps : sequence of int
        Numbers of iterations to look after.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    dict of int to float
        For each of `steps`: the mean probability that hidden prototypes get of their label, every word counting once
        however often it occurs. NaN where nothing can be hidden.

    Examples
    --------
    >>> from handful.tagging.prototypes import PrototypeTagger
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> lists = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}
    >>> round(recovered_shares(PrototypeTagger(lists, spelling=False), text, steps=(20,))[20], 1)
    1.0
    """
    lists = check_lists(tagger.prototypes, "prototypes")
    sample = _sample(sentences, max_tokens, random_state)
    occurring = {word for sentence in sample for word in sentence}
    recovered, total = np.zeros(len(steps)), 0
    for fold in range(n_folds):
        hidden = _hidden(lists, tagger.boundary, fold, n_folds)
        hidden = {word: label for word, label in hidden.items() if word in occurring}
        rest = {label: [word for word in words if word not in hidden] for label, words in lists.items()}
        if not hidden or occurring.isdisjoint(chain.from_iterable(rest.values())):
            continue
        recovered += len(hidden) * _learned_without(hidden, rest, tagger, sample, steps)
        total += len(hidden)
    shares = recovered / total if total else np.full(len(steps), np.nan)
    return dict(zip(steps, shares.tolist(), strict=True))


def _learned_without(
    hidden: Mapping[str, str],
    rest: Mapping[str, Sequence[str]],
    tagger: Any,
    sample: Sequence[Sequence[str]],
    steps: Sequence[int],
) -> np.ndarray:
    """Learn from the other prototypes; return the shares that hidden ones get of their labels after so many steps."""
    told: list[float] = []
    learner = clone(tagger, safe=False)
    learner.set_params(
        prototypes=rest,
        similarity=tagger.similarity,
        labels=sorted({*rest, *(tagger.labels or ())}),
        order=1,
        max_iter=max(steps),
    )
    gold = [[hidden.get(word) for word in sentence] for sentence in sample]
    learner.fit(sample, gold=gold, progress=lambda step: told.append(step.figures["share"]))
    if not told:  # nothing is left to learn, and every label is as likely as another
        return np.full(len(steps), 1.0 / len(learner.classes_))
    return np.array([told[min(step, len(told)) - 1] for step in steps])


def _sample(sentences: Sequence[Tokens], max_tokens: int, random_state: int) -> list[list[str]]:
    chosen: list[list[str]] = []
    size = 0
    for number in np.random.default_rng(random_state).permutation(len(sentences)).tolist():
        words = list(sentences[number])
        if words and (size + len(words) <= max_tokens or not chosen):
            chosen.append(words)
            size += len(words)
    return chosen


def _hidden(lists: Mapping[str, Sequence[str]], boundary: str | None, fold: int, n_folds: int) -> dict[str, str]:
    """Return the words to hide in a turn, with their label; those of several labels and those of boundaries stay."""
    labels_of = Counter(word for words in lists.values() for word in words)
    return {
        word: label
        for label, words in lists.items()
        if label != boundary and len(words) > 1
        for number, word in enumerate(words)
        if number % n_folds == fold and labels_of[word] == 1
    }
