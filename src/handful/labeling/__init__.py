"""The label loop: which rows next, how many more, which labels are wrong, and why a row got its label."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.labeling.budget import label_budget as label_budget
    from handful.labeling.doubt import doubtful_labels as doubtful_labels
    from handful.labeling.loop import LabelLoop as LabelLoop
    from handful.labeling.loop import Pick as Pick
    from handful.labeling.loop import next_rows as next_rows
    from handful.labeling.merging import merge_labels as merge_labels
    from handful.labeling.sentences import next_sentences as next_sentences
    from handful.labeling.tagged_doubt import doubtful_tags as doubtful_tags

# Name to module; loaded on first use, so that importing the room costs next to nothing.
_PLACES = {
    "LabelLoop": "loop",
    "Pick": "loop",
    "doubtful_labels": "doubt",
    "doubtful_tags": "tagged_doubt",
    "label_budget": "budget",
    "merge_labels": "merging",
    "next_rows": "loop",
    "next_sentences": "sentences",
}

__all__ = [
    "LabelLoop",
    "Pick",
    "doubtful_labels",
    "doubtful_tags",
    "label_budget",
    "merge_labels",
    "next_rows",
    "next_sentences",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.labeling.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.labeling' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
