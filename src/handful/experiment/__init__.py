"""Run a plan and compare methods: the one room that wires all stages together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.experiment.compare import Comparison as Comparison
    from handful.experiment.compare import compare as compare

_HOME = {"Comparison": "compare", "compare": "compare"}

__all__ = ["Comparison", "compare"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: comparing needs scikit-learn, which takes a while to import.
    if name in _HOME:
        return getattr(import_module(f"handful.experiment.{_HOME[name]}"), name)
    raise AttributeError(f"module 'handful.experiment' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
