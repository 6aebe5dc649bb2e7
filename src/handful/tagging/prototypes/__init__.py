"""Taggers that learn from raw text and a few typical words for each label."""

from __future__ import annotations

from handful.tagging.prototypes.tagger import PrototypeTagger

__all__ = ["PrototypeTagger"]
