"""How a tagger of spans is set up, chosen by cross-validation: the encoding, and how readily it leaves a token outside."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from handful.core.errors import DataError
from handful.core.progress import Progress, Step
from handful.corpora.formats.iob import spans
from handful.features.columns import Tokens
from handful.tagging.base import check_sentences
from handful.tagging.crf.model import CRF

BIASES = (0.5, 0.0, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0)
"""Values of `outside_bias` that are tried."""

_ROUGH = {"tol": 1e-3, "max_iter": 60}  # enough to compare settings
_SMOOTHING = np.array([0.25, 0.5, 0.25])


class SpanSettings(NamedTuple):
    """What was chosen, and the F1 of spans that it had in cross-validation."""

    encoding: str | None
    outside_bias: float
    f1: float


def choose_span_settings(
    tagger: CRF,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    *,
    encodings: Sequence[str | None] = ("iob2", "iobes"),
    biases: Sequence[float] = BIASES,
    n_folds: int = 3,
    progress: Progress | None = None,
) -> SpanSettings:
    """Choose encoding and outside bias of a tagger of spans by the F1 of cross-validation.

    Parameters
    ----------
    tagger : CRF
        All other settings.
    sentences : list of lists of str, or of Sentence
        The tokens.
    tags : list of lists of str
        Tags of spans.
    encodings : sequence of {"iob2", "iobes", None}
        Values of `encoding` to try.
    biases : sequence of float
        Values of `outside_bias` to try, falling.
    n_folds : int
        Every so many-th sentence makes a fold.
    progress : callable, optional
        Told of the trainings done.

    Returns
    -------
    SpanSettings
        The best; among equals the encoding that comes first.

    Notes
    -----
    The F1 of all folds together is smoothed over neighboring biases before the best is taken: with few sentences single
    values owe much to chance. A bias costs no training, since it changes one weight. A fold whose training sentences
    have one tag only is left out. Cost: ``n_folds * len(encodings)`` trainings, each stopped early.

    Examples
    --------
    >>> text = [["in", "Rome"], ["in", "Bonn"], ["to", "Rome"], ["to", "Oslo"]] * 2
    >>> chosen = choose_span_settings(CRF("general", strength=0.1), text, [["O", "B-LOC"]] * 8)
    >>> chosen.encoding, round(chosen.f1, 2)
    ('iob2', 1.0)
    """
    sentences, _ = check_sentences(sentences, "CRF")
    best = SpanSettings(encodings[0], 0.0, -1.0)
    done, total = 0, n_folds * len(encodings)
    for encoding in encodings:
        counts = np.zeros((len(biases), 3))
        for fold in range(n_folds):
            rough = clone(tagger).set_params(encoding=encoding, outside_bias=0.0, **_ROUGH)
            counts += _fold_counts(rough, sentences, tags, biases, (fold, n_folds))
            done += 1
            if progress is not None:
                progress(Step("choose settings", done, total, {}))
        f1 = 2.0 * counts[:, 0] / np.maximum(counts[:, 1] + counts[:, 2], 1.0)
        smooth = np.convolve(np.pad(f1, 1, mode="edge"), _SMOOTHING, "valid")
        place = int(np.lexsort((np.abs(biases), -smooth))[0])
        if smooth[place] > best.f1:
            best = SpanSettings(encoding, biases[place], float(smooth[place]))
    return best


def _fold_counts(
    tagger: CRF,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    biases: Sequence[float],
    part: tuple[int, int],
) -> np.ndarray:
    """Return for every bias how many spans of a fold are right, were predicted, and are there."""
    fold, n_folds = part
    held, rest = [[n for n in range(len(tags)) if (n % n_folds == fold) == wanted] for wanted in (True, False)]
    try:
        tagger.fit([sentences[n] for n in rest], [tags[n] for n in rest])
    except DataError:  # nothing but O in these sentences
        return np.zeros((len(biases), 3))
    gold = [set(spans(tags[n])) for n in held]
    chains = list(tagger.chains([sentences[n] for n in held]))
    place = tagger.outside_feature(tagger.extractor, tagger.layout)
    counts = np.zeros((len(biases), 3))
    for row, bias in enumerate(biases):
        weights = tagger.weights_.copy()
        weights[place] += bias
        predicted = [s for chain in chains for s in _spans_of(chain, tagger.classes_, weights)]
        right = sum(len(a & b) for a, b in zip(predicted, gold, strict=True))
        counts[row] = right, sum(map(len, predicted)), sum(map(len, gold))
    return counts


def _spans_of(chain: Any, classes: np.ndarray, weights: np.ndarray) -> list[set[Any]]:
    labels = classes[chain.best(weights)].tolist()
    return [set(spans(labels[a:b])) for a, b in pairwise(chain.offsets)]
