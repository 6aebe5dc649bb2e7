"""Many random trees vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card


def _extra_trees(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(**{"n_estimators": 300, "random_state": seed, **params})


def _random_forest(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(**{"n_estimators": 300, "random_state": seed, **params})


add_card(
    Card(
        "extra-trees",
        "table",
        summary="Three hundred extremely random trees vote (scikit-learn).",
        cost="quick",
        baseline=True,
        views=("lsa", "vectors"),
        build=_extra_trees,
    )
)
add_card(
    Card(
        "random-forest",
        "table",
        summary="Three hundred trees of bootstrap samples vote (scikit-learn).",
        cost="quick",
        baseline=True,
        views=("lsa", "vectors"),
        build=_random_forest,
    )
)
