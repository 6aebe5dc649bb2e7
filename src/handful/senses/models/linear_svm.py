"""A linear support vector machine over the features of a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card

# Chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
SVM_C = 1.0


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=params.get("strength") or SVM_C, random_state=0)


add_card(
    Card(
        "linear-svm",
        "occurrences",
        summary="A linear support vector machine over the words around (scikit-learn).",
        cost="instant",
        baseline=True,
        build=_build,
    )
)
