"""Labels that flow along the graph of near rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card

_SHARPNESS = {"sharpness": (4.0, 1.0, 16.0, 64.0)}


def _gamma(n_features: int, params: Mapping[str, Any]) -> float:
    # Squared distances of scaled rows grow with the number of columns; scikit-learn's fixed width does not.
    return float(params.get("sharpness", 4.0)) / max(n_features, 1)


def _propagation(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation(gamma=_gamma(n_features, params), max_iter=1_000)


def _spreading(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(gamma=_gamma(n_features, params), max_iter=100)


add_card(
    Card(
        "label-propagation",
        "table",
        learns_from=("labels", "unlabeled"),
        summary="Labels flow along the graph of near rows (scikit-learn).",
        grid=_SHARPNESS,
        baseline=True,
        build=_propagation,
    )
)
add_card(
    Card(
        "label-spreading",
        "table",
        learns_from=("labels", "unlabeled"),
        summary="Labels flow along the graph of near rows, and given ones may yield (scikit-learn).",
        grid=_SHARPNESS,
        baseline=True,
        build=_spreading,
    )
)
