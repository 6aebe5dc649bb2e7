"""Taggers of sentences."""

from __future__ import annotations

from handful.tagging.crf import CRF
from handful.tagging.prototypes import PrototypeTagger
from handful.tagging.stacked import StackedTagger
from handful.tagging.tag_column import TagColumn
from handful.tagging.two_pass import TwoPassTagger

__all__ = ["CRF", "PrototypeTagger", "StackedTagger", "TagColumn", "TwoPassTagger"]
