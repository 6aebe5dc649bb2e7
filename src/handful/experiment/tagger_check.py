"""How good a tagger is, by others of its settings that did not see the sentences they are tested on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.core.errors import DataError
from handful.core.progress import Progress, Step
from handful.core.records import Sentence
from handful.evaluation.chunks import score_tags, sentence_values

MOST_CHECKED = 2_000
"""Sentences up to which a check costs no more than the fit with its choice of settings."""

_FEWEST_CHECKED = 10
_FOLDS = 5
_STRETCHES = 4  # of neighboring sentences that make one fold of many sentences
_MEANS = 10  # stretches of tested sentences whose means tell how far the score may be off
_T = 2.262  # 97.5 % of Student's t with nine degrees of freedom; scipy.stats takes long to import
_ALL_FOLDS = 400  # sentences up to which every fold is tested: that many are as quickly learned as settings are chosen


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
    """

    metric: str
    scores: dict[str, float]
    low: float
    high: float
    n_tested: int
    n_trained: int


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
    gold: list[Sequence[str]] = []
    given: list[Sequence[str]] = []
    for done, held in enumerate(tested, start=1):
        rest = np.setdiff1d(everything, held)
        try:
            copy = clone(tagger).fit([sentences[i] for i in rest], [list(tags[i]) for i in rest])
        except DataError:  # such as one tag alone
            return None
        gold += [tags[i] for i in held]
        given += copy.predict([sentences[i] for i in held])
        if progress is not None:
            progress(Step("check", done, len(tested)))
    scores = score_tags(gold, given, with_spans)
    metric = "f1" if with_spans else "accuracy"
    low, high = _interval(sentence_values(gold, given, with_spans), scores[metric], sum(map(len, gold)))
    return TaggerCheck(metric, scores, low, high, len(gold), len(sentences) - len(tested[-1]))


def _interval(values: np.ndarray, score: float, n_tokens: int) -> tuple[float, float]:
    """Return the 95 % interval of a score; even of tokens that are all right it is as wide as their number demands."""
    smooth = (score * n_tokens + 1) / (n_tokens + 2)
    least = smooth * (1 - smooth) / n_tokens
    means = np.array([stretch.mean() for stretch in np.array_split(values, _MEANS)])
    width = _T * math.sqrt(max(float(means.var(ddof=1)) / _MEANS, least))
    return max(score - width, 0.0), min(score + width, 1.0)
