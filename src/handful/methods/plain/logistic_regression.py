"""A linear model of the labeled rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card


def build_logistic_regression(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    """Return a new logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**{"max_iter": 1_000, "class_weight": "balanced", **params})


add_card(
    Card(
        "logistic-regression",
        "table",
        summary="A linear model of the labeled rows (scikit-learn).",
        grid={"C": (1.0, 0.1, 10.0, 100.0), "class_weight": ("balanced", None)},
        cost="instant",
        baseline=True,
        build=build_logistic_regression,
    )
)
