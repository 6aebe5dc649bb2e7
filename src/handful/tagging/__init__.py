"""Taggers of sentences."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.tagging.crf import CRF as CRF
    from handful.tagging.prototypes import PrototypeTagger as PrototypeTagger
    from handful.tagging.stacked import StackedTagger as StackedTagger
    from handful.tagging.tag_column import TagColumn as TagColumn
    from handful.tagging.two_pass import TwoPassTagger as TwoPassTagger

# Name to module; loaded on first use, so that a user of one tagger does not pay for the others.
_PLACES = {
    "CRF": "crf",
    "PrototypeTagger": "prototypes",
    "StackedTagger": "stacked",
    "TagColumn": "tag_column",
    "TwoPassTagger": "two_pass",
}

__all__ = ["CRF", "PrototypeTagger", "StackedTagger", "TagColumn", "TwoPassTagger"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.tagging.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.tagging' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
