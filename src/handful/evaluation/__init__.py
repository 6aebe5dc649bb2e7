"""Metrics, few-label draws, and whether a difference is real."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.evaluation.chunks import ChunkReport as ChunkReport
    from handful.evaluation.chunks import chunk_f1 as chunk_f1
    from handful.evaluation.draws import LabeledKFold as LabeledKFold
    from handful.evaluation.draws import few_labels as few_labels
    from handful.evaluation.draws import labeled_scorer as labeled_scorer
    from handful.evaluation.significance import corrected_interval as corrected_interval
    from handful.evaluation.significance import corrected_paired_t as corrected_paired_t
    from handful.evaluation.significance import error_reduction as error_reduction
    from handful.evaluation.significance import holm as holm
    from handful.evaluation.significance import mcnemar as mcnemar

_HOME = {
    "ChunkReport": "chunks",
    "LabeledKFold": "draws",
    "chunk_f1": "chunks",
    "corrected_interval": "significance",
    "corrected_paired_t": "significance",
    "error_reduction": "significance",
    "few_labels": "draws",
    "holm": "significance",
    "labeled_scorer": "draws",
    "mcnemar": "significance",
}

__all__ = [
    "ChunkReport",
    "LabeledKFold",
    "chunk_f1",
    "corrected_interval",
    "corrected_paired_t",
    "error_reduction",
    "few_labels",
    "holm",
    "labeled_scorer",
    "mcnemar",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"handful.evaluation.{_HOME[name]}"), name)
    raise AttributeError(f"module 'handful.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
