"""Condensed features: features that a model's own decisions on raw text put together."""

from __future__ import annotations

from handful.representations.condensed.features import CondensedFeatures

__all__ = ["CondensedFeatures"]
