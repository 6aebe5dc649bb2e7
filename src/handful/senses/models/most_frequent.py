"""Always the most frequent sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    return None  # a word model without a classifier answers its most frequent sense


add_card(
    Card(
        "most-frequent",
        "occurrences",
        summary="Answer the most frequent sense of each word.",
        cost="instant",
        baseline=True,
        build=_build,
    )
)
