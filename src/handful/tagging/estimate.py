"""How good a tagger is, by others of its settings that did not see the sentences they are tested on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.data.chunks import Span, spans
from handful.data.records import Sentence
from handful.errors import DataError, Progress, Step
from handful.tagging.evaluation import score_limits, score_tags

MOST_CHECKED = 2_000
"""Sentences up to which a check costs no more than the fit with its choice of settings."""

FEWEST_NEW = 20
"""Names that were new to a tagger, for their F1 to tell something."""

_FEWEST_CHECKED = 10
_FOLDS = 5
_STRETCHES = 4  # of neighboring sentences that make one fold of many sentences
_NAME_FOLDS = 2
_MANY_KNOWN = 0.5  # share of known names beyond which the few new ones are of a kind of their own
_ALL_FOLDS = 400  # sentences up to which every fold is tested: that many are as quickly learned as settings are chosen


@dataclass(frozen=True)
class NewNames:
    """How a tagger does on names that it has not seen.

    Parameters
    ----------
    known : float
        Share of the tested names that the taggers had seen tagged, as the same words.
    n : int
        Tested names that they had not.
    f1 : float
        F1 of spans whose words they had not seen tagged.
    by_name : bool
        Whether names were held out on purpose, since most were known in the sentences that were.
    """

    known: float
    n: int
    f1: float
    by_name: bool = False


@dataclass(frozen=True)
class TaggerCheck:
    """What to expect of a tagger; see `check_tagger`.

    Parameters
    ----------
    metric : {"f1", "accuracy"}
        What the interval is of: F1 of spans, or the share of right tags.
    scores : dict of str to float
        Accuracy and, for spans, precision, recall and F1.
    low, high : float
        The 95 % interval.
    n_tested : int
        Sentences that were tested.
    n_trained : int
        Sentences that each tagger learned from, at most.
    new_names : NewNames or None
        How it does on names that it has not seen; None for tags that are no spans.
    """

    metric: str
    scores: dict[str, float]
    low: float
    high: float
    n_tested: int
    n_trained: int
    new_names: NewNames | None = None


def check_tagger(
    tagger: Any,
    sentences: Sequence[Sentence],
    tags: Sequence[Sequence[str]],
    *,
    with_spans: bool,
    progress: Progress | None = None,
) -> TaggerCheck | None:
    """Train copies of a tagger on four fifths of its sentences, and test each on the rest.

    Parameters
    ----------
    tagger : CRF
        Its settings are taken; it stays as it is.
    sentences : sequence of Sentence
        The tokens.
    tags : sequence of sequences of str
        One tag per token.
    with_spans : bool
        Whether the tags are those of spans.
    progress : callable, optional
        Told of the trainings done.

    Returns
    -------
    TaggerCheck or None
        None where sentences are too few, or only one tag is learned from. Up to 400 sentences each fifth of them is tested in
        turn, beyond them one fifth, four stretches of sentences.

    Notes
    -----
    What is held out are sentences that follow one another: neighbors are often of one text and share its names, so that a
    tagger that has seen some of them knows the others better than any new text. The interval is by the mean of ten stretches of
    what was tested, as far as these differ. Settings were chosen with all sentences, which flatters a little; on the other
    hand a tagger of all sentences has seen more than these copies.

    Sentences of one file repeat its names, more than other texts do. So the F1 of names that a copy had not seen is told too;
    where fewer than twenty are new, or fewer than half of all, two more copies learn without the sentences that have some names,
    a fifth of all each.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> text = [["the", "dog"], ["a", "cat"]] * 10
    >>> check = check_tagger(CRF("general"), text, [["D", "N"]] * 20, with_spans=False)
    >>> check.metric, check.scores["accuracy"], check.n_tested, check.high
    ('accuracy', 1.0, 20, 1.0)
    """
    if len(sentences) < _FEWEST_CHECKED:
        return None
    everything = np.arange(len(sentences))
    if len(sentences) <= _ALL_FOLDS:
        tested = np.array_split(everything, _FOLDS)
    else:
        tested = [np.concatenate(np.array_split(everything, _FOLDS * _STRETCHES)[_FOLDS // 2 :: _FOLDS])]
    names = [_names(sentence, row) if with_spans else {} for sentence, row in zip(sentences, tags, strict=True)]
    gold: list[Sequence[str]] = []
    given: list[Sequence[str]] = []
    found = Counter[str]()
    for done, held in enumerate(tested, start=1):
        answers = _answers(tagger, sentences, tags, held)
        if answers is None:
            return None
        gold += [tags[i] for i in held]
        given += answers
        found += _found(sentences, names, held, answers) if with_spans else Counter()
        if progress is not None:
            progress(Step("check", done, len(tested)))
    scores = score_tags(gold, given, with_spans)
    metric = "f1" if with_spans else "accuracy"
    low, high = score_limits(gold, given, scores[metric], with_spans)
    new_names = _new_names(tagger, sentences, tags, names, found) if found["known"] + found["new"] else None
    return TaggerCheck(metric, scores, low, high, len(gold), len(sentences) - len(tested[-1]), new_names)


def _answers(tagger: Any, sentences: Sequence[Sentence], tags: Any, held: np.ndarray) -> list[Sequence[str]] | None:
    """Return the tags that a copy gives to sentences it did not learn from; None if the others teach nothing."""
    rest = np.setdiff1d(np.arange(len(sentences)), held)
    try:
        copy = clone(tagger).fit([sentences[i] for i in rest], [list(tags[i]) for i in rest])
    except DataError:  # such as one tag alone
        return None
    answers: list[Sequence[str]] = copy.predict([sentences[i] for i in held])
    return answers


def _names(sentence: Any, tags: Sequence[str]) -> dict[Span, str]:
    """Return the words of each span, in small letters."""
    tokens = getattr(sentence, "tokens", sentence)
    return {span: " ".join(tokens[span.start : span.end]).lower() for span in spans(tags)}


def _found(
    sentences: Sequence[Sentence], names: Sequence[dict[Span, str]], held: np.ndarray, answers: Sequence[Sequence[str]]
) -> Counter[str]:
    """Count the names of held-out sentences that the others have too, those that are new, and how these were answered."""
    rest = np.setdiff1d(np.arange(len(sentences)), held)
    known = {name for i in rest for name in names[i].values()}
    counts = Counter[str]()
    for i, row in zip(held, answers, strict=True):
        given = _names(sentences[i], row)
        new = {span for span, name in names[i].items() if name not in known}
        counts["known"] += len(names[i]) - len(new)
        counts["new"] += len(new)
        counts["given"] += sum(name not in known for name in given.values())
        counts["right"] += len(new & given.keys())
    return counts


def _new_names(
    tagger: Any, sentences: Any, tags: Any, names: Sequence[dict[Span, str]], found: Counter[str]
) -> NewNames:
    """Tell how good new names are tagged, holding out some on purpose where most were known."""
    share = found["known"] / (found["known"] + found["new"])
    by_name = found["new"] < FEWEST_NEW or share > _MANY_KNOWN
    different = sorted({name for row in names for name in row.values()})
    if by_name:
        np.random.default_rng(0).shuffle(different)
        found = Counter[str]()
        for number in range(_NAME_FOLDS):
            chosen = set(different[number::_FOLDS])
            held = np.flatnonzero([not chosen.isdisjoint(row.values()) for row in names])
            answers = _answers(tagger, sentences, tags, held) if 0 < len(held) < len(names) else None
            found += Counter() if answers is None else _found(sentences, names, held, answers)
    f1 = 2 * found["right"] / max(found["new"] + found["given"], 1)
    return NewNames(share, found["new"], f1, by_name)
