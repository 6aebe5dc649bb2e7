"""Estimate the score of a tagger by cross-validation, and its F1 on new names."""

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
"""Sentences up to which an estimate costs no more than the fit with its choice of settings."""

FEWEST_NEW = 20
"""New names from which on their F1 is meaningful."""

_FEWEST_CHECKED = 10
_FOLDS = 5
_STRETCHES = 4  # of neighboring sentences that make one fold of many sentences
_NAME_FOLDS = 2
_MANY_KNOWN = 0.5  # fraction of known names beyond which the few new ones are of a special kind
_ALL_FOLDS = 400  # sentences up to which every fold is tested: this takes no longer than the choice of settings


@dataclass(frozen=True)
class NewNames:
    """F1 of a tagger on names that are not in its training sentences.

    Parameters
    ----------
    known : float
        Fraction of the tested names that were in the training sentences, as the same words.
    n : int
        Tested names that were not.
    f1 : float
        F1 of these.
    by_name : bool
        Whether names were held out on purpose, since most were known in the held-out sentences.
    """

    known: float
    n: int
    f1: float
    by_name: bool = False


@dataclass(frozen=True)
class TaggerCheck:
    """Estimated scores of a tagger; see `check_tagger`.

    Parameters
    ----------
    metric : {"f1", "accuracy"}
        Of the interval: F1 of spans, or accuracy of tags.
    scores : dict of str to float
        Accuracy and, for spans, precision, recall and F1.
    low, high : float
        The 95% interval.
    n_tested : int
        Sentences that were tested.
    n_trained : int
        Most training sentences of a copy.
    new_names : NewNames or None
        F1 on new names; None for tags that are no spans.
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
        It is cloned.
    sentences : sequence of Sentence
        The tokens.
    tags : sequence of sequences of str
        One tag per token.
    with_spans : bool
        Whether the tags are those of spans.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    TaggerCheck or None
        None where sentences are too few, or have only one tag. Up to 400 sentences all five folds are tested, beyond them one,
        four stretches of sentences.

    Notes
    -----
    Folds are neighboring sentences: they are often of one text and share its names, so that a tagger trained on some of
    them knows the others better than any new text. The interval is by the spread over ten stretches of the tested
    sentences. Settings were chosen with all sentences, which is slightly optimistic; a tagger of all sentences has seen
    more than these copies.

    Sentences of one file repeat its names, more than other texts do. So F1 on new names is estimated, too. Where fewer than
    twenty are new, or fewer than half of all, two more copies are trained without the sentences that have some names, a
    fifth of all each.

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
    folds = _folds(len(sentences))
    names = [_names(sentence, row) if with_spans else {} for sentence, row in zip(sentences, tags, strict=True)]
    predicted: list[Sequence[str]] = []
    counts = Counter[str]()
    for done, held_out in enumerate(folds, start=1):
        rows = _predict_held_out(tagger, sentences, tags, held_out)
        if rows is None:
            return None
        predicted += rows
        counts += _count_names(sentences, names, held_out, rows) if with_spans else Counter()
        if progress is not None:
            progress(Step("check", done, len(folds)))
    gold = [tags[i] for i in np.concatenate(folds)]
    scores = score_tags(gold, predicted, with_spans)
    metric = "f1" if with_spans else "accuracy"
    low, high = score_limits(gold, predicted, scores[metric], with_spans)
    new_names = _new_names(tagger, sentences, tags, names, counts) if counts["known"] + counts["new"] else None
    return TaggerCheck(metric, scores, low, high, len(gold), len(sentences) - len(folds[-1]), new_names)


def _folds(n_sentences: int) -> list[np.ndarray]:
    """Return the sentences of each fold that is tested."""
    if n_sentences <= _ALL_FOLDS:
        return np.array_split(np.arange(n_sentences), _FOLDS)
    return [np.concatenate(np.array_split(np.arange(n_sentences), _FOLDS * _STRETCHES)[_FOLDS // 2 :: _FOLDS])]


def _predict_held_out(
    tagger: Any, sentences: Sequence[Sentence], tags: Any, held_out: np.ndarray
) -> list[Sequence[str]] | None:
    """Return tags of sentences by a copy trained on the others; None if these do not suffice."""
    rest = np.setdiff1d(np.arange(len(sentences)), held_out)
    try:
        copy = clone(tagger).fit([sentences[i] for i in rest], [list(tags[i]) for i in rest])
    except DataError:  # such as one tag alone
        return None
    predicted: list[Sequence[str]] = copy.predict([sentences[i] for i in held_out])
    return predicted


def _names(sentence: Any, tags: Sequence[str]) -> dict[Span, str]:
    """Return the words of each span in lower case."""
    tokens = getattr(sentence, "tokens", sentence)
    return {span: " ".join(tokens[span.start : span.end]).lower() for span in spans(tags)}


def _count_names(
    sentences: Sequence[Sentence],
    names: Sequence[dict[Span, str]],
    held_out: np.ndarray,
    predicted: Sequence[Sequence[str]],
) -> Counter[str]:
    """Count the names of held-out sentences that the others have too, the new ones, and predictions of new ones."""
    rest = np.setdiff1d(np.arange(len(sentences)), held_out)
    known = {name for i in rest for name in names[i].values()}
    counts = Counter[str]()
    for i, row in zip(held_out, predicted, strict=True):
        spans_of = _names(sentences[i], row)
        new = {span for span, name in names[i].items() if name not in known}
        counts["known"] += len(names[i]) - len(new)
        counts["new"] += len(new)
        counts["predicted"] += sum(name not in known for name in spans_of.values())
        counts["correct"] += len(new & spans_of.keys())
    return counts


def _new_names(
    tagger: Any, sentences: Any, tags: Any, names: Sequence[dict[Span, str]], counts: Counter[str]
) -> NewNames:
    """Return F1 on new names, holding out some on purpose where most were known."""
    known = counts["known"] / (counts["known"] + counts["new"])
    by_name = counts["new"] < FEWEST_NEW or known > _MANY_KNOWN
    if by_name:
        different = sorted({name for row in names for name in row.values()})
        np.random.default_rng(0).shuffle(different)
        counts = Counter[str]()
        for number in range(_NAME_FOLDS):
            chosen = set(different[number::_FOLDS])
            held_out = np.flatnonzero([not chosen.isdisjoint(row.values()) for row in names])
            rows = _predict_held_out(tagger, sentences, tags, held_out) if 0 < len(held_out) < len(names) else None
            counts += Counter() if rows is None else _count_names(sentences, names, held_out, rows)
    f1 = 2 * counts["correct"] / max(counts["new"] + counts["predicted"], 1)
    return NewNames(known, counts["new"], f1, by_name)
