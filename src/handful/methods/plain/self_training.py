"""Logistic regression that learns from its own sure answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card
from handful.methods.plain.logistic_regression import build_logistic_regression


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(build_logistic_regression(n_features, seed, {"class_weight": None}), **params)


add_card(
    Card(
        "self-training",
        "table",
        learns_from=("labels", "unlabeled"),
        twin="logistic-regression",
        summary="Logistic regression that learns from its own sure answers (scikit-learn).",
        grid={"threshold": (0.75, 0.9)},
        cost="quick",
        baseline=True,
        build=_build,
    )
)
