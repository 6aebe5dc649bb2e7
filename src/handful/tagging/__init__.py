"""Taggers of sentences."""

from __future__ import annotations

from handful.tagging.crf import CRF
from handful.tagging.prototypes import PrototypeTagger

__all__ = ["CRF", "PrototypeTagger"]
