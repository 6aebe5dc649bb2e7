"""Feature potency, settings and base models of COFER (Suzuki et al. 2011)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, runtime_checkable

import numpy as np

from handful.errors import ParameterError
from handful.linear.structure import Structure, Ties
from handful.params import AtLeast, Count, Range, check_params

if TYPE_CHECKING:
    from handful.representations.condensed_features import CondensedFeatures


class FeatureSpace(Protocol):
    """A fixed numbering of features, together with the base model's decisions.

    Attributes
    ----------
    n_features : int
        Features are numbered from 0 on. Features that the base model lacks have weight 0 there.
    n_basis : int
        Length of the vector from which `even` computes how much of each feature there would be by chance. A model
        that has no shorter way takes ``n_basis = n_features``, counts `structure.joint_features(None)` and lets `even` return
        the vector as it is.
    type_names : list of str
        Name of each feature type (template). Features are condensed within their type only.
    fingerprint : str
        Names the base model and the numbering: counts made in different spaces are never mixed.

    Notes
    -----
    For ``vocabulary="all"`` a space is `handful.representations.condensed_features.Keyed`, as that of parsers.

    See Also
    --------
    handful.representations.condensed_features.FlatSpace : for linear classifiers of scikit-learn.
    handful.tagging.crf_features.ChainSpace : for `CRF`.
    """

    n_features: int
    n_basis: int
    type_names: list[str]
    fingerprint: str

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
            Receives R, paper section 3: how much of each feature the best outputs have; ``structure.joint_features(best)``.
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

    def feature_space(self, labeled: Any = None) -> FeatureSpace:
        """Give numbers to all features that may gain potency.

        Parameters
        ----------
        labeled : sequence or None
            Inputs of the labeled data: every observation in them gets a number with every label, also where training
            gave it weight 0. None takes the observations that the fitted model still knows.
        """
        ...

    def stored_space(self, state: Mapping[str, Any]) -> FeatureSpace:
        """Return the space that wrote this state (`FeatureSpace.state`)."""
        ...


Discount = Annotated[float, Range(0, math.inf, open_high=True)]
Resolution = Annotated[float, Range(0, 1e9, open_low=True)]
"""Bins must fit into an integer of 64 bits."""
Step = Annotated[float, Range(1e-6, math.inf, open_high=True)]
"""So must base weights in steps."""

_LEAST = 1e-6
_TIED = 1e-9


def discounted(chosen: np.ndarray, even: np.ndarray, discount: float) -> np.ndarray:
    """Return the discounted potency V' of features.

    Parameters
    ----------
    chosen : ndarray of float64
        R: how much of each feature the model's own best outputs have.
    even : ndarray of float64
        A: how much there would be if outputs were picked evenly.
    discount : float
        C: features whose counts differ by no more than this have potency 0.

    Returns
    -------
    ndarray of float64
        The logarithm of the ratio of both, after the discount has moved `chosen` towards `even`.

    Notes
    -----
    With no discount a feature that is never chosen would have minus infinity; its count is taken as 1e-6 there. A
    feature that no output can have (even 0) has potency 0. A difference within 1e-9 (times `even`, where that is above
    1) of the discount counts as equal to it, so that the order of summation cannot show.

    Examples
    --------
    >>> discounted(np.array([10.0, 1.0, 5.0]), np.array([4.0, 6.0, 4.5]), 1.0).round(5).tolist()
    [0.81093, -1.09861, 0.0]
    """
    surplus, slack = chosen - even, _TIED * np.maximum(even, 1.0)
    potency = np.zeros(len(surplus))
    # V' = log(R - C) - log(A) where R - A > C, log(R + C) - log(A) where R - A < -C, and 0 between.
    more = (surplus > discount + slack) & (even > 0.0)
    less = (surplus < -discount - slack) & (even > 0.0)
    potency[more] = np.log(np.maximum(chosen[more] - discount, _LEAST)) - np.log(even[more])
    potency[less] = np.log(np.maximum(chosen[less] + discount, _LEAST)) - np.log(even[less])
    return potency


def quantized(potency: np.ndarray, resolution: float) -> np.ndarray:
    """Return the bin V* of each potency: rounded away from zero after scaling, so that only zero gives 0.

    Parameters
    ----------
    potency : ndarray of float64
        V'.
    resolution : float
        Bins per unit of potency.

    Returns
    -------
    ndarray of int64
        Bins. A value within 1e-9 of a whole number is that number.

    Examples
    --------
    >>> quantized(np.array([0.81093, -1.09861, 0.0]), 1.0).tolist()
    [1, -2, 0]
    >>> quantized(np.array([0.81093, -1.09861]), 10.0).tolist()
    [9, -11]
    """
    # V* = ceil(delta V') where V' > 0, floor(delta V') else.
    scaled = potency * resolution
    bins = np.where(scaled > 0.0, np.ceil(scaled - _TIED), np.floor(scaled + _TIED)).astype(np.int64)
    # A tiny potency must not be rounded to 0, for only potency 0 is dropped.
    lost = (bins == 0) & (potency != 0.0)
    bins[lost] = np.sign(potency[lost]).astype(np.int64)
    return bins


@dataclass(frozen=True, eq=False)
class Condensed:
    """Features put together by type, bin and level.

    Parameters
    ----------
    types, bins, levels : ndarray of int64, shape (n_condensed,)
        Type, bin and level of each condensed feature, rising by type, then by bin, then by level.
    member_of : ndarray of int64, shape (n_kept,)
        Condensed feature of each original feature that is kept.

    Examples
    --------
    >>> condensed = condense_levels(np.array([1, 0, 1, 1]), np.array([2, -1, -3, 2]))
    >>> condensed.types.tolist(), condensed.bins.tolist(), condensed.member_of.tolist()
    ([0, 1, 1], [-1, -3, 2], [2, 0, 1, 2])
    >>> condensed = condense_levels(np.array([1, 1, 1]), np.array([2, 2, 3]), np.array([0, -1, 0]))
    >>> condensed.levels.tolist(), condensed.pair_of.tolist(), condensed.firsts.tolist()
    ([-1, 0, 0], [0, 0, 1], [0, 2])
    """

    types: np.ndarray
    bins: np.ndarray
    levels: np.ndarray
    member_of: np.ndarray

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def firsts(self) -> np.ndarray:
        """The first condensed feature of each pair of type and bin."""
        return np.unique(self.pair_of, return_index=True)[1]

    @property
    def pair_of(self) -> np.ndarray:
        """Number of each condensed feature's pair of type and bin."""
        if len(self) == 0:
            return np.empty(0, dtype=np.int64)
        new = (np.diff(self.types) != 0) | (np.diff(self.bins) != 0)
        return np.concatenate([[0], np.cumsum(new)])


def condense_levels(types: np.ndarray, bins: np.ndarray, levels: np.ndarray | None = None) -> Condensed:
    """Put features of equal type, bin and level together.

    Parameters
    ----------
    types, bins : ndarray of int64
        Type and bin of each feature.
    levels : ndarray of int64, optional
        What else distinguishes features of one bin; nothing by default.

    Returns
    -------
    Condensed
        The condensed features.
    """
    columns = [types.astype(np.int64), bins, np.zeros_like(bins) if levels is None else levels]
    values, codes = zip(*(np.unique(column, return_inverse=True) for column in columns), strict=True)
    shape = [max(len(distinct), 1) for distinct in values]
    keys, member_of = np.unique(np.ravel_multi_index(codes, shape), return_inverse=True)
    places = np.unravel_index(keys, shape)
    parts = [distinct[place] for distinct, place in zip(values, places, strict=True)]
    return Condensed(parts[0], parts[1], parts[2], member_of)


_FINE, _COARSE = 16.0, 1.0
"""Bins per unit of potency where bins alone carry weights, and where base weights are kept."""
_DISCOUNT = 1.0
_LEAST_STEP = 1e-6
_BASE_STEP, _SHARE = 0.02, 0.5  # for a tagger, and for a parser in usual weights
# A parser learns online, where steps that suit the bins are too long for what many features share.
_ONLINE: dict[str, Any] = {"algorithm": "fobos", "rate": 0.01, "phi_scale": 0.1}
_ONLINE_HELD_OUT: dict[str, Any] = {"algorithm": "fobos", "rate": 0.003}


@dataclass(frozen=True)
class CondensingSettings:
    """How a model is condensed.

    Without `held_out` it is condensed as in Suzuki et al. (2011): bins alone carry weights, learned from all
    labeled inputs. With it the base model's weights are kept, and what bins add to them is learned from held-out inputs.

    Parameters
    ----------
    discount : float or None, default=None
        Drop features whose count differs from chance by no more than this; by default 1.
    resolution : float or None, default=None
        Bins per unit of potency: more of them, a larger model. By default 16, and 1 where weights are kept.
    held_out : int or None, default=None
        Hold out every n-th labeled input, with a second model that is fitted to the others; the weights of the model
        are then kept, and what bins add to them is learned from the held-out inputs.
    base_step : float or None, default=None
        Step to which kept weights are rounded. By default 0.02, and for a parser, whose
        weights have no scale of their own, half of their root mean square.
    drop : float or "auto", default="auto"
        Drop features whose final weight is smaller. auto: as many as cost nothing on held-out inputs, and none where
        nothing is held out. With a number, a tagger learns its other weights again. For a parser that keeps its
        weights: see `CondensedFeatures.thinned`; auto: as many as, by held-out trees and one standard error, cost no more than
        one head in a thousand.
    vocabulary : {"labeled", "all"}, default="labeled"
        Known observations: of labeled inputs; all (parsers): of raw text too.
    min_count : int, default=5
        Least count of an observation in the vocabulary 'all'.
    penalty : {"l2", "l1"}, default="l2"
        Penalty on the weights; l1 makes a smaller model.
    strength : float, default=1.0
        Strength of the penalty.
    max_iter : int or None, default=None
        Iterations of training at most.

    Examples
    --------
    >>> CondensingSettings(held_out=3).training(base_model=None)
    {'penalty': 'l2', 'strength': 1.0, 'max_iter': None}
    """

    discount: Discount | None = None
    resolution: Resolution | None = None
    held_out: Annotated[int, AtLeast(2)] | None = None
    base_step: Step | None = None
    drop: Annotated[float, AtLeast(0)] | Literal["auto"] = "auto"
    vocabulary: Literal["labeled", "all"] = "labeled"
    min_count: Count = 5
    penalty: Literal["l2", "l1"] = "l2"
    strength: Annotated[float, Range(0, 1e9, open_low=True)] = 1.0
    max_iter: Count | None = None

    def __post_init__(self) -> None:
        check_params(self)
        if self.base_step is not None and self.held_out is None:
            raise ParameterError("Condensing: base_step needs held_out, got none.")

    def features(self, base_model: Any) -> CondensedFeatures:
        """Return condensed features of a base model, with nothing counted yet."""
        from handful.representations.condensed_features import CondensedFeatures

        kept = self.held_out is not None
        return CondensedFeatures(
            base_model,
            _DISCOUNT if self.discount is None else self.discount,
            self.resolution or (_COARSE if kept else _FINE),
            vocabulary=self.vocabulary,
            min_count=self.min_count,
            base_step=(self.base_step or _usual_step(base_model)) if kept else None,
        )

    def training(self, base_model: Any) -> dict[str, Any]:
        """Return the arguments of `CondensedFeatures.retrain` for a base model."""
        online: dict[str, Any] = {}
        if getattr(base_model, "learns_online", False):
            online = _ONLINE if self.held_out is None else _ONLINE_HELD_OUT
        return {**online, "penalty": self.penalty, "strength": self.strength, "max_iter": self.max_iter}


def _usual_step(base_model: Any) -> float:
    online, weights = (
        getattr(base_model, "learns_online", False),
        base_model.weights_ if hasattr(base_model, "weights_") else (),
    )
    step = _SHARE * float(np.sqrt(np.mean(np.square(weights)))) if online and len(weights) else 0.0
    return step if step > _LEAST_STEP else _BASE_STEP


@dataclass(frozen=True, eq=False)
class Tying:
    """What is learned of condensed features: a number for each pair of type and bin, then some that many of them share.

    The weight of a condensed feature is the number of its pair, plus its amount times its shared number: phi with the
    potency of its bin as the amount, or the trust in the base model with the rounded base weight.

    Parameters
    ----------
    condensed : Condensed
        The condensed features.
    amounts : ndarray of float64, shape (n_condensed,)
        How much of its shared number each has.
    n_types : int
        Feature types: each has its own shared number.

    Examples
    --------
    >>> from handful.representations.potency import condense_levels
    >>> condensed = condense_levels(np.array([0, 0, 1]), np.array([2, 2, -1]), np.array([0, 3, 0]))
    >>> tying = Tying(condensed, np.array([0.0, 0.3, 0.0]), 2)
    >>> tying.n_pairs, tying.n_tied
    (2, 4)
    >>> tying.fold(np.array([1.0, 2.0, 10.0, 20.0])).tolist()
    [1.0, 4.0, 2.0]
    """

    condensed: Condensed
    amounts: np.ndarray
    n_types: int

    @cached_property
    def pair_of(self) -> np.ndarray:
        """Pair of each condensed feature."""
        return self.condensed.pair_of

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.pair_of[-1]) + 1 if len(self.pair_of) else 0

    @property
    def n_tied(self) -> int:
        """Number of all that is learned."""
        return self.n_pairs + self.n_types

    def ties(self, group: np.ndarray) -> Ties:
        """Return the ties of original features, given the condensed feature of each."""
        return Ties(self.n_tied, self.pair_of[group], self.n_pairs + self.condensed.types[group], self.amounts[group])

    def fold(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight of each condensed feature."""
        # w'_m = w_m + w_phi u_m / delta, where the amount is u_m / delta.
        return np.asarray(weights[self.pair_of] + self.shares(weights[self.n_pairs :]))

    def shares(self, shared: np.ndarray) -> np.ndarray:
        """Return what the shared numbers add to each condensed feature."""
        return np.asarray(shared[self.condensed.types] * self.amounts)
