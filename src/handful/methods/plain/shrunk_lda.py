"""Linear discriminant analysis with a shrunk covariance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(**{"solver": "lsqr", "shrinkage": "auto", **params})


add_card(
    Card(
        "shrunk-lda",
        "table",
        summary="Linear discriminant analysis with a shrunk covariance (scikit-learn).",
        cost="instant",
        baseline=True,
        views=("lsa", "vectors"),
        build=_build,
    )
)
