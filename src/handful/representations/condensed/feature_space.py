"""What a base model must offer so that its features can be condensed.

`CondensedFeatures` never asks what kind of model it has before it. It asks the model for a `FeatureSpace`: a fixed
numbering of all features that may gain potency, whether or not the base model gives them a weight, with the few
questions that counting, binning and retraining need. A model joins in by two methods::

    def feature_space(self, labeled=None, *, marginals=False): ...
    def stored_space(self, state): ...

and may leave everything else to a class of its own. A space travels to worker processes, so it must be picklable, and
equal spaces must have equal fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from handful.linear.structure import Stepwise, Structure


class FeatureSpace(Protocol):
    """A fixed numbering of features, together with the base model's decisions.

    Attributes
    ----------
    n_features : int
        Features are numbered from 0 on. Features that the base model lacks have weight 0 there.
    n_basis : int
        Length of the vector from which `even` computes how much of each feature there would be by chance. A model
        that has no shorter way takes ``n_basis = n_features``, counts `structure.parts(None)` and lets `even` return
        the vector as it is.
    type_names : list of str
        Name of each feature type (template). Features are condensed within their type only.
    fingerprint : str
        Names the base model and the numbering: counts made in different spaces are never mixed.
    marginals : bool
        Whether `count` takes what the base model expects, in place of its best outputs.

    Notes
    -----
    For ``vocabulary="all"`` a space has besides a method ``widened(extractor)``, which returns the space with further
    observations, and an attribute ``extractor``, or it is `handful.representations.condensed.vocabulary.Keyed`; a space
    without them offers ``vocabulary="labeled"`` alone.

    See Also
    --------
    handful.representations.condensed.flat.FlatSpace : for linear classifiers of scikit-learn.
    handful.tagging.crf.feature_space.ChainSpace : for `CRF`.
    """

    n_features: int
    n_basis: int
    type_names: list[str]
    fingerprint: str
    marginals: bool

    def state(self) -> dict[str, Any]:
        """Return what a file needs to rebuild the space from the base model: arrays, lists and JSON values."""
        ...

    def batches(self, part: Any) -> Iterable[Any]:
        """Cut one shard into inputs of a size that is decoded at once.

        `part` is what a shard of `CondensedFeatures.fit` holds: a list of sentences (or an iterator that reads a
        file), or rows of a matrix. Memory of a worker is bounded by one batch and the counts.
        """
        ...

    def count(self, inputs: Any, chosen: np.ndarray, basis: np.ndarray) -> int:
        """Decode inputs with the base model and count, on top of what the arrays hold.

        Parameters
        ----------
        inputs : Any
            One batch.
        chosen : ndarray of float64, shape (n_features,)
            Receives R, paper section 3: how much of each feature the best outputs have; ``structure.parts(best)``. With
            marginals, how much outputs have on average: ``structure.marginals``.
        basis : ndarray of float64, shape (n_basis,)
            Receives what `even` needs.

        Returns
        -------
        int
            Size of the inputs in tokens or rows, for reports.
        """
        ...

    def even(self, basis: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return A of the features from `start` to `stop`, from the summed basis."""
        ...

    def types(self, ids: np.ndarray) -> np.ndarray:
        """Return the type of each of these features, as an index into `type_names`."""
        ...

    def describe(self, ids: np.ndarray) -> list[tuple[str, tuple[str, ...]]]:
        """Return features in words: the observation, and the labels (or other parts of the output) it goes with."""
        ...

    def seen(self, ids: np.ndarray, inputs: Any) -> np.ndarray:
        """Tell (bool) which of these features any output of the inputs may have; others need no training."""
        ...

    def structure(self, ids: np.ndarray, inputs: Any) -> Structure:
        """Return the inputs as a structure whose features are these alone, numbered 0, 1, ... (`ids` rise)."""
        ...

    def steps(self, ids: np.ndarray, inputs: Any) -> Stepwise:
        """Return the same one input at a time, for online learners."""
        ...

    def encode(self, inputs: Any, outputs: Any) -> np.ndarray:
        """Return outputs as the structure takes them; a label that the base model does not know is an error."""
        ...

    def base_weights(self, ids: np.ndarray) -> np.ndarray:
        """Return the weights of the base model for these features, 0 where it has none."""
        ...

    def build(self, ids: np.ndarray, weights: np.ndarray) -> Any:
        """Return a fitted model of the base model's kind that has these features and weights, none of them 0."""
        ...


@runtime_checkable
class Condensable(Protocol):
    """A fitted model whose features can be condensed."""

    def feature_space(self, labeled: Any = None, *, marginals: bool = False) -> FeatureSpace:
        """Give numbers to all features that may gain potency.

        Parameters
        ----------
        labeled : sequence or None
            Inputs of the labeled data: every observation in them gets a number with every label, also where training
            gave it weight 0. None takes the observations that the fitted model still knows.
        marginals : bool
            Count what the model expects, in place of its best outputs.
        """
        ...

    def stored_space(self, state: Mapping[str, Any]) -> FeatureSpace:
        """Return the space that wrote this state (`FeatureSpace.state`)."""
        ...
