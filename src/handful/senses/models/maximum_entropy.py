"""A maximum entropy model of the features of a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card

# Chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
ENTROPY_C = 50.0


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=params.get("strength") or ENTROPY_C, max_iter=1000)


add_card(
    Card(
        "maximum-entropy",
        "occurrences",
        summary="Logistic regression over the words around (scikit-learn).",
        cost="quick",
        baseline=True,
        build=_build,
    )
)
