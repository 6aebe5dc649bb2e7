"""Taggers of sentences."""

from __future__ import annotations

from handful.tagging.crf import CRF
from handful.tagging.prototypes import PrototypeTagger
from handful.tagging.stacked import StackedTagger

__all__ = ["CRF", "PrototypeTagger", "StackedTagger"]
