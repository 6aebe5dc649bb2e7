"""How a model is condensed: what of it a user may choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from handful.core.errors import ParameterError
from handful.core.params import Above, AtLeast, Count, Range, check_params
from handful.representations.condensed.potency import Discount, Resolution, Step

if TYPE_CHECKING:
    from handful.representations.condensed.features import CondensedFeatures

FINE, _COARSE = 16.0, 1.0
"""Bins per unit of potency where bins alone carry weights, and where base weights are kept."""
DISCOUNTS = 1.0, 10.0, 50.0
"""What is tried where a discount is to be chosen; the first is the usual one."""
_LEAST_STEP = 1e-6
_BASE_STEP, _SHARE = 0.02, 0.5  # for a tagger, and for a parser in usual weights
# A parser learns online, where steps that suit the bins are too long for what many features share.
_ONLINE: dict[str, Any] = {"algorithm": "fobos", "rate": 0.01, "phi_scale": 0.1}
_ONLINE_HELD_OUT: dict[str, Any] = {"algorithm": "fobos", "rate": 0.003}


@dataclass(frozen=True)
class CondensingSettings:
    """How a model is condensed.

    Without `held_out` it is condensed in the way of Suzuki et al. (2011): bins alone carry weights, learned from all
    labeled inputs. With it the base model's weights are kept, and what bins add to them is learned from held-out inputs.

    Parameters
    ----------
    discount : float or None, default=None
        Drop features whose count differs from chance by no more than this; by default 1, and for a tagger with held-out
        sentences what does best there of 1, 10 and 50.
    resolution : float or None, default=None
        Bins per unit of potency: more of them, a larger model. By default 16, and 1 where weights are kept, or 4 where that
        does better on the held-out sentences of a tagger.
    held_out : int or None, default=None
        Hold out one in so many labeled inputs, with a second model that is fitted to the others; the weights of the model
        are then kept, and what bins add to them is learned from the held-out inputs.
    base_step : float or None, default=None
        Where weights are kept: what they are rounded to before bins add to them; by default 0.02, and for a parser, whose
        weights have no scale of their own, half of their root mean square.
    drop : float or "auto", default="auto"
        Drop features whose weight in the end is nearer to 0. auto: as many as cost nothing on held-out inputs, and none where
        nothing is held out. A tagger that holds sentences out learns its other weights again, where a drop is named and that
        helps, or weights are kept and it does no harm. For a parser that keeps its weights: see
        `CondensedFeatures.thinned`; auto: as many as, by
        held-out trees and one standard error, cost no more than one head in a thousand.
    vocabulary : {"labeled", "all"}, default="labeled"
        Which observations are known: those of the labeled inputs, or also what only the raw text has, min_count times.
    min_count : int, default=5
        Cut-off for the vocabulary 'all'.
    decisions : {"best", "marginals"}, default="best"
        What is counted of raw text: the model's best outputs, or all outputs, each as far as it is likely.
    penalty : {"l2", "l1"}, default="l2"
        Of the weights; l1 makes the model even smaller.
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
    decisions: Literal["best", "marginals"] = "best"
    penalty: Literal["l2", "l1"] = "l2"
    strength: Annotated[float, Above(0), Range(None, 1e9)] = 1.0
    max_iter: Count | None = None

    def __post_init__(self) -> None:
        check_params(self)
        if self.base_step is not None and self.held_out is None:
            raise ParameterError("Condensing: base_step needs held_out, got none.")

    def features(self, base_model: Any) -> CondensedFeatures:
        """Return condensed features of a base model, with nothing counted yet."""
        from handful.representations.condensed.features import CondensedFeatures

        kept = self.held_out is not None
        return CondensedFeatures(
            base_model,
            DISCOUNTS[0] if self.discount is None else self.discount,
            self.resolution or (_COARSE if kept else FINE),
            vocabulary=self.vocabulary,
            min_count=self.min_count,
            base_step=(self.base_step or _usual_step(base_model)) if kept else None,
            decisions=self.decisions,
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
    share = _SHARE * float(np.sqrt(np.mean(np.square(weights)))) if online and len(weights) else 0.0
    return share if share > _LEAST_STEP else _BASE_STEP
