"""Learned features: Brown clusters, context similarity, condensed features."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.representations.brown import BrownClusters as BrownClusters
    from handful.representations.condensed import CondensedFeatures as CondensedFeatures
    from handful.representations.condensed.classifier import CondensedFeatureClassifier as CondensedFeatureClassifier
    from handful.representations.numbered_text import TextPart as TextPart
    from handful.representations.numbered_text import text_parts as text_parts
    from handful.representations.similarity import ContextSimilarity as ContextSimilarity

# Name to module; loaded on first use, so that a user of one representation does not pay for the others.
_PLACES = {
    "BrownClusters": "brown",
    "CondensedFeatureClassifier": "condensed.classifier",
    "CondensedFeatures": "condensed",
    "ContextSimilarity": "similarity",
    "TextPart": "numbered_text",
    "text_parts": "numbered_text",
}

__all__ = [
    "BrownClusters",
    "CondensedFeatureClassifier",
    "CondensedFeatures",
    "ContextSimilarity",
    "TextPart",
    "text_parts",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.representations.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.representations' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
