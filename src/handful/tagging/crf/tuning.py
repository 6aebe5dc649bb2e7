"""Which of several taggers suits the sentences, and how readily it leaves a token outside, by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from handful.core.errors import DataError
from handful.core.progress import Progress, Step
from handful.corpora.formats.iob import detect_scheme, spans
from handful.features.columns import Tokens
from handful.linear import Chain
from handful.tagging.base import check_sentences
from handful.tagging.crf.model import CRF, OUTSIDE

BIASES = (0.5, 0.0, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0)
"""Values of `outside_bias` that are tried."""

_ROUGH = {"tol": 1e-3, "max_iter": 60}  # enough to compare settings
_ROUGH_PASSES = {"max_iter": 5}
_NEXT_TO_NOTHING = 1e-9
_SHRUNK = 0.75
_SMOOTHING = np.array([0.25, 0.5, 0.25])


class Choice(NamedTuple):
    """A tagger, not fitted yet, and the F1 of spans (or share of right tags) that it had in cross-validation."""

    tagger: CRF
    score: float


def has_spans(tags: Sequence[Sequence[str]]) -> bool:
    """Tell whether tags are those of spans in one scheme, such as ``B-X``, ``I-X`` and ``O``.

    Examples
    --------
    >>> has_spans([["B-PER", "O"]]), has_spans([["NN", "VB"]]), has_spans([["O", "O"]])
    (True, False, False)
    """
    kinds = {tag for row in tags for tag in row}
    if OUTSIDE not in kinds or len(kinds) < 2 or any(tag != OUTSIDE and tag[1:2] != "-" for tag in kinds):
        return False
    try:
        detect_scheme(tags)
    except DataError:
        return False
    return True


def choose_tagger(
    taggers: Sequence[CRF],
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    *,
    biases: Sequence[float] = BIASES,
    n_folds: int = 3,
    n_turns: int | None = None,
    n_errors: float = 0.0,
    max_iter: int | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Choose among taggers, and the outside bias for tags of spans, by the score in cross-validation.

    Parameters
    ----------
    taggers : sequence of CRF
        The candidates.
    sentences : list of lists of str, or of Sentence
        The tokens.
    tags : list of lists of str
        One tag per token.
    biases : sequence of float
        Values of `outside_bias` to try where tags are spans, falling.
    n_folds : int
        Every so many-th sentence makes a fold.
    n_turns : int, optional
        How many folds are held out, one after the other; all by default.
    n_errors : float
        By so many standard errors of the difference a candidate must be better than the best before it.
    max_iter : int, optional
        Iterations of each training; by default 60, or 5 passes of online learners, which is enough where candidates learn at
        the same pace.
    progress : callable, optional
        Told of the trainings done.

    Returns
    -------
    Choice
        The best; among equals the candidate that comes first, and the bias next to 0. Where several biases are tried, the
        tagger gets three quarters of the best: those of the folds have seen fewer sentences, and leave more tokens outside.

    Notes
    -----
    The score is the F1 of spans over all folds together, or the share of right tags where there are no spans. It is
    smoothed over neighboring biases before the best is taken: with few sentences single values owe much to chance. A bias
    costs no training, since it changes one weight. The standard error takes sentences as drawn by chance, and the F1 as linear
    in what each adds to its counts. A fold whose training sentences have one tag only is left out.
    Cost: ``n_turns * len(taggers)`` trainings, each stopped early.

    Examples
    --------
    >>> text = [["in", "Rome"], ["in", "Bonn"], ["to", "Rome"], ["to", "Oslo"]] * 2
    >>> chosen = choose_tagger([CRF("general"), CRF(["u", "b"])], text, [["O", "B-LOC"]] * 8)
    >>> chosen.tagger.templates, round(chosen.score, 2)
    ('general', 1.0)
    """
    sentences, _ = check_sentences(sentences, "CRF")
    with_spans = has_spans(tags)
    biases = tuple(biases) if with_spans else (0.0,)
    best, best_parts = Choice(taggers[0], -1.0), np.zeros(0)
    n_turns = n_folds if n_turns is None else n_turns
    shrunk = _SHRUNK if len(biases) > 1 else 1.0  # a bias that was given is left alone
    done, total = 0, n_turns * len(taggers)
    for tagger in taggers:
        folds = []
        for fold in range(n_turns):
            held = range(fold, len(tags), n_folds)
            folds.append(_fold_counts(tagger, sentences, tags, biases, held, with_spans, max_iter))
            done += 1
            if progress is not None:
                progress(Step("choose settings", done, total, {}))
        each = np.concatenate(folds, axis=1)
        counts = each.sum(axis=1)
        scores = 2.0 * counts[:, 0] / np.maximum(counts[:, 1] + counts[:, 2], 1.0)
        smooth = np.convolve(np.pad(scores, 1, mode="edge"), _SMOOTHING, "valid")
        place = int(np.lexsort((np.abs(biases), -smooth))[0])
        parts = _parts_of_f1(each[place])
        error = float(np.linalg.norm(parts - best_parts)) if len(best_parts) else 0.0
        if smooth[place] > best.score + n_errors * error:
            best = Choice(clone(tagger).set_params(outside_bias=shrunk * biases[place]), float(smooth[place]))
            best_parts = parts
    return best


def _parts_of_f1(counts: np.ndarray) -> np.ndarray:
    """Return by how much each sentence moves the F1 of all away from what it is without it, to the first order."""
    right, given = counts[:, 0], counts[:, 1] + counts[:, 2]
    total = max(float(given.sum()), 1.0)
    return np.asarray((2.0 * right - 2.0 * right.sum() / total * given) / total)


def _fold_counts(
    tagger: CRF,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    biases: Sequence[float],
    held: range,
    with_spans: bool,
    max_iter: int | None,
) -> np.ndarray:
    """Return for every bias and sentence of a fold how many spans (or tags) are right, were predicted, and are there."""
    counts = np.zeros((len(biases), len(held), 3))
    rest = [n for n in range(len(tags)) if n not in held]
    # a weight of exactly 0 would not be kept, and then there is nothing to add a bias to
    early = _ROUGH if tagger.algorithm == "lbfgs" else _ROUGH_PASSES
    early = early if max_iter is None else early | {"max_iter": max_iter}
    rough = clone(tagger).set_params(outside_bias=_NEXT_TO_NOTHING if with_spans else 0.0, **early)
    try:
        rough.fit([sentences[n] for n in rest], [tags[n] for n in rest])
    except DataError:  # nothing but one tag in these sentences
        return counts
    gold = [_units(tags[n], with_spans) for n in held]
    chains = list(rough.chains([sentences[n] for n in held]))
    for row, bias in enumerate(biases):
        predicted = _with_bias(rough, chains, bias, with_spans)
        counts[row] = [(len(a & b), len(a), len(b)) for a, b in zip(predicted, gold, strict=True)]
    return counts


def _with_bias(tagger: CRF, chains: Sequence[Chain], bias: float, with_spans: bool) -> list[set[Any]]:
    """Return the spans (or tags) of sentences with another weight of ``O``."""
    weights = tagger.weights_.copy()
    if bias:
        weights[tagger.outside_feature(tagger.extractor, tagger.layout)] += bias
    return [units for chain in chains for units in _decoded(chain, tagger.classes_, weights, with_spans)]


def _decoded(chain: Chain, classes: np.ndarray, weights: np.ndarray, with_spans: bool) -> list[set[Any]]:
    labels = classes[chain.best(weights)].tolist()
    return [_units(labels[a:b], with_spans) for a, b in pairwise(chain.offsets)]


def _units(tags: Sequence[str], with_spans: bool) -> set[Any]:
    """Return what is counted: spans, or tags at their places."""
    return set(spans(tags)) if with_spans else set(enumerate(tags))
