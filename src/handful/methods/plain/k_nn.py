"""The nearest labeled rows vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    # Brute force, since a tree of scikit-learn's cannot be stored without pickle.
    return KNeighborsClassifier(algorithm="brute", **{"n_neighbors": 1, **params})


add_card(
    Card(
        "k-nn",
        "table",
        summary="The nearest labeled rows vote (scikit-learn).",
        grid={"n_neighbors": (1, 3, 5)},
        cost="instant",
        baseline=True,
        build=_build,
    )
)
