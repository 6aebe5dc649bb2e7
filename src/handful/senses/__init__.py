"""Senses of words in context: features, models per word, scores, and the harvest of unlabeled contexts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.senses.classifier import SenseClassifier as SenseClassifier
    from handful.senses.comparing import compare_methods as compare_methods
    from handful.senses.comparing import largest_words as largest_words
    from handful.senses.features import context_features as context_features
    from handful.senses.features import make_contexts as make_contexts
    from handful.senses.harvesting import harvest as harvest
    from handful.senses.scoring import SenseScore as SenseScore
    from handful.senses.scoring import score_senses as score_senses
    from handful.senses.toy import toy_table as toy_table

_HOME = {
    "SenseClassifier": "classifier",
    "SenseScore": "scoring",
    "compare_methods": "comparing",
    "context_features": "features",
    "harvest": "harvesting",
    "largest_words": "comparing",
    "make_contexts": "features",
    "score_senses": "scoring",
    "toy_table": "toy",
}

__all__ = [
    "SenseClassifier",
    "SenseScore",
    "compare_methods",
    "context_features",
    "harvest",
    "largest_words",
    "make_contexts",
    "score_senses",
    "toy_table",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: scoring answers does not wait for the kernels of the models.
    if name in _HOME:
        return getattr(import_module(f"handful.senses.{_HOME[name]}"), name)
    raise AttributeError(f"module 'handful.senses' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
