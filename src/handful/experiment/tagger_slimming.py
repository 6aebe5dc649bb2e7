"""A tagger with fewer weights: rounded, without the light ones, and learned once more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from handful.core.errors import ParameterError
from handful.core.progress import Progress
from handful.features.columns import Tokens
from handful.linear.batch import log_loss, minimize
from handful.linear.recording import Recorder

_COARSEST, _USUAL_STEP = 0.1, 0.02
_WORTH_A_NAME = 2.0  # times the least weight
_NEARNESS, _ITERATIONS, _TOLERANCE = 1.0, 100, 1e-3


def slimmed(model: Any, drop: float) -> Any:
    """Return a tagger whose weights are rounded, without those nearer to 0 than `drop`.

    Parameters
    ----------
    model : CRF
        Fitted.
    drop : float
        Least weight that is kept. An observation whose weights, together (root of the sum of squares), are less than twice
        that is dropped with all of them, since its name takes more room than they do. Weights are rounded to multiples of
        it, of 0.1 at most, and of 0.02 where it is 0.

    Returns
    -------
    CRF
        A new one.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> tagger = CRF(strength=0.1).fit([["a", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]])
    >>> slimmed(tagger, 0.1).n_active_ < tagger.n_active_
    True
    """
    step, space = _step(drop), model.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    heavy = np.flatnonzero((np.abs(weights) >= drop) & (np.rint(weights / step) != 0))
    ids = heavy[_worth_a_name(space.observations(heavy), weights[heavy], drop)]
    if len(ids) == 0:
        raise ParameterError(f"condense: drop={drop:g} drops every feature. Lower it.")
    return _built(space, ids, weights[ids], step)


def refitted(
    small: Any,
    drop: float,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    progress: Progress | None = None,
) -> Any:
    """Return a slimmed tagger whose weights are learned once more, near to what they were.

    Parameters
    ----------
    small : CRF
        What `slimmed` made.
    drop : float
        By which it did: weights are rounded as there.
    sentences : list of lists of str, or of Sentence
        The tokens that it was fitted to.
    tags : list of lists of str
        Their tags.
    progress : callable, optional
        Told of the training.

    Returns
    -------
    CRF
        A new one, with no further features.

    Notes
    -----
    The weights that are left take over from those that are gone: the likelihood of the tags, less the squared distance from
    the weights that `small` has, is maximized. So weights of which the sentences say nothing new stay.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> sentences, tags = [["a", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]]
    >>> small = slimmed(CRF(strength=0.1).fit(sentences, tags), 0.3)
    >>> again = refitted(small, 0.3, sentences, tags)
    >>> again.n_active_ <= small.n_active_, again.predict(sentences) == tags
    (True, True)
    """
    space = small.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    ids = np.flatnonzero(weights)
    start = weights[ids]
    biased = np.zeros(len(ids))
    if small.outside_bias:  # was added when all was learned
        with suppress(ParameterError):  # dropped
            biased[small.outside_feature(space.extractor, space.layout(ids))] = small.outside_bias
    loss = log_loss(space.structure(ids, sentences), space.encode(sentences, tags))
    learned = minimize(
        lambda change: loss(start - biased + change),
        np.zeros(len(ids)),
        l2=_NEARNESS,
        max_iter=_ITERATIONS,
        tol=_TOLERANCE,
        recorder=Recorder(progress),
    )
    moved, step = start + learned.weights, _step(drop)
    here = np.rint(moved / step) != 0
    return _built(space, ids[here], moved[here], step)


def is_there(model: Any, drop: float) -> bool:
    """Tell whether a tagger has weights that are surely left by `slimmed`."""
    return bool((np.abs(model.weights_) >= _WORTH_A_NAME * drop).any())


def _step(drop: float) -> float:
    return min(_COARSEST, drop or _USUAL_STEP)


def _built(space: Any, ids: np.ndarray, weights: np.ndarray, step: float) -> Any:
    """Return a tagger with rounded weights."""
    steps = np.rint(weights / step)
    small = space.build(ids, steps * step)
    small.n_active_condensed_ = len(np.unique(steps))
    return small


def _worth_a_name(observations: np.ndarray, weights: np.ndarray, drop: float) -> np.ndarray:
    """Tell which weights are of observations that weigh enough; pairs of labels (-1) have no name to save."""
    of, place = np.unique(observations, return_inverse=True)
    together = np.sqrt(np.bincount(place, weights**2, minlength=len(of)))
    return np.asarray((together[place] >= _WORTH_A_NAME * drop) | (observations < 0))
