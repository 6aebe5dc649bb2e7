"""Choose among taggers by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from handful.data.chunks import detect_scheme, spans
from handful.errors import DataError, Progress, Step
from handful.linear.chain import ChainStructure
from handful.preprocessing.templates import Tokens
from handful.tagging.base import check_sentences
from handful.tagging.crf import CRF, OUTSIDE

BIASES = (0.5, 0.0, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0)
"""Values of `outside_bias` that are tried."""

_ROUGH_TOLERANCE, _ROUGH_ITERATIONS = 1e-3, 60  # enough to compare settings
_TINY_BIAS = 1e-9  # a weight of exactly 0 would not be kept, and then there is nothing to add a bias to
_SHRUNK = 0.75
_SMOOTHING = np.array([0.25, 0.5, 0.25])


class TaggerChoice(NamedTuple):
    """A tagger, not fitted yet, its F1 of spans (or accuracy) in cross-validation, and each sentence's part of the score."""

    tagger: CRF
    score: float
    parts: np.ndarray


def has_spans(tags: Sequence[Sequence[str]]) -> bool:
    """Return whether tags are those of spans in one scheme, such as ``B-X``, ``I-X`` and ``O``.

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
    folds: tuple[int, int] = (3, 3),
    n_errors: float = 0.0,
    max_iter: int | None = None,
    progress: Progress | None = None,
) -> TaggerChoice:
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
    folds : tuple of int
        Number of folds, and how many of them are held out, one after the other.
    n_errors : float
        By how many standard errors of the difference a candidate must be better than the best before it.
    max_iter : int, optional
        Iterations of each training; by default 60, which is enough where candidates learn at the same pace.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    TaggerChoice
        The best; among equals the candidate that comes first, and the bias next to 0. Where several biases are tried, the
        tagger gets three quarters of the best: those of the folds have seen fewer sentences, and leave more tokens outside.

    Notes
    -----
    The score is the F1 of spans over all folds together, or the accuracy where there are no spans. It is smoothed over
    neighboring biases before the best is taken, since with few sentences single values are noisy. A bias costs no training,
    since it changes one weight. The standard error treats sentences as a random sample, and the F1 as linear in what each
    adds to its counts. A fold whose training sentences have one tag only is left out.
    Cost: ``folds[1] * len(taggers)`` trainings, each stopped early.

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
    shrunk = _SHRUNK if len(biases) > 1 else 1.0  # a single bias is the user's
    best = TaggerChoice(taggers[0], -1.0, np.zeros(0))
    for number, tagger in enumerate(taggers):
        counts = []
        for fold in range(folds[1]):
            held_out = range(fold, len(tags), folds[0])
            counts.append(_fold_counts(tagger, sentences, tags, biases, held_out, max_iter))
            if progress is not None:
                progress(Step("choose settings", number * folds[1] + fold + 1, folds[1] * len(taggers), {}))
        by_sentence = np.concatenate(counts, axis=1)
        scores = _f1(by_sentence.sum(axis=1))
        smooth = np.convolve(np.pad(scores, 1, mode="edge"), _SMOOTHING, "valid")
        chosen = int(np.lexsort((np.abs(biases), -smooth))[0])
        parts = _parts_of_f1(by_sentence[chosen])
        error = float(np.linalg.norm(parts - best.parts)) if len(best.parts) else 0.0
        if smooth[chosen] > best.score + n_errors * error:
            bias = shrunk * biases[chosen]
            best = TaggerChoice(clone(tagger).set_params(outside_bias=bias), float(smooth[chosen]), parts)
    return best


def _f1(counts: np.ndarray) -> np.ndarray:
    """Return F1 from the numbers of correct, predicted and true spans in the last axis."""
    f1: np.ndarray = 2.0 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1.0)
    return f1


def _parts_of_f1(counts: np.ndarray) -> np.ndarray:
    """Return by how much each sentence moves the F1 of all, to the first order."""
    correct, total = counts[:, 0], counts[:, 1] + counts[:, 2]
    whole = max(float(total.sum()), 1.0)
    return np.asarray(2.0 * (correct - correct.sum() / whole * total) / whole)


def _fold_counts(
    tagger: CRF,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    biases: Sequence[float],
    held_out: range,
    max_iter: int | None,
) -> np.ndarray:
    """Return for every bias and held-out sentence how many spans (or tags) are correct, predicted and true."""
    with_spans = has_spans(tags)
    counts = np.zeros((len(biases), len(held_out), 3))
    rest = np.setdiff1d(np.arange(len(tags)), held_out).tolist()
    rough = clone(tagger).set_params(
        outside_bias=_TINY_BIAS if with_spans else 0.0, tol=_ROUGH_TOLERANCE, max_iter=max_iter or _ROUGH_ITERATIONS
    )
    try:
        rough.fit([sentences[n] for n in rest], [tags[n] for n in rest])
    except DataError:  # nothing but one tag in these sentences
        return counts
    chains = list(rough.chains([sentences[n] for n in held_out]))
    for row, bias in enumerate(biases):
        for column, (n, labels) in enumerate(zip(held_out, _tags_with_bias(rough, chains, bias), strict=True)):
            true, predicted = units(tags[n], with_spans), units(labels, with_spans)
            counts[row, column] = len(true & predicted), len(predicted), len(true)
    return counts


def _tags_with_bias(tagger: CRF, chains: Sequence[ChainStructure], bias: float) -> list[list[str]]:
    """Return the tags of sentences with another weight of ``O``."""
    weights = tagger.weights_.copy()
    if bias:
        weights[tagger.outside_feature(tagger.extractor, tagger.layout)] += bias
    rows: list[list[str]] = []
    for chain in chains:
        labels = tagger.classes_[chain.argmax(weights)].tolist()
        rows += [labels[a:b] for a, b in pairwise(chain.offsets)]
    return rows


def units(tags: Sequence[str], with_spans: bool) -> set[Any]:
    """Return what is scored: spans, or tags at their positions."""
    return set(spans(tags)) if with_spans else set(enumerate(tags))
