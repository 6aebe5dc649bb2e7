"""Taggers that learn from raw text and a few typical words for each label."""

from __future__ import annotations

from handful.tagging.prototypes.tagger import PrototypeTagger
from handful.tagging.prototypes.team import PrototypeTeam

__all__ = ["PrototypeTagger", "PrototypeTeam"]
