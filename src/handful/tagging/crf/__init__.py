"""Linear-chain conditional random fields."""

from __future__ import annotations

from handful.tagging.crf.model import CRF

__all__ = ["CRF"]
