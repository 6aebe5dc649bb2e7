"""Naive Bayes over the features of a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card

# Chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
SMOOTHING = 2.0


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=params.get("strength") or SMOOTHING)


add_card(
    Card(
        "naive-bayes",
        "occurrences",
        summary="Naive Bayes over the words around (scikit-learn).",
        cost="instant",
        baseline=True,
        build=_build,
    )
)
