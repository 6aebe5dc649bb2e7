"""The label loop: which rows next, how many more, which labels are wrong, and why a row got its label."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.labeling.loop import LabelLoop as LabelLoop
    from handful.labeling.loop import Pick as Pick
    from handful.labeling.loop import next_rows as next_rows
    from handful.labeling.merging import merge_labels as merge_labels

# Name to module; loaded on first use, so that importing the room costs next to nothing.
_PLACES = {
    "LabelLoop": "loop",
    "Pick": "loop",
    "merge_labels": "merging",
    "next_rows": "loop",
}

__all__ = [
    "LabelLoop",
    "Pick",
    "merge_labels",
    "next_rows",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.labeling.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.labeling' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
