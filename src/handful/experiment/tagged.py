"""How well a tagger does, and where its file goes."""

from __future__ import annotations

import os
from collections.abc import Sequence


def score_tags(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], spans: bool) -> dict[str, float]:
    """Return the accuracy of tags and, for spans, precision, recall and F1.

    Examples
    --------
    >>> score_tags([["A", "B"]], [["A", "A"]], spans=False)
    {'accuracy': 0.5}
    """
    from handful.evaluation.chunks import chunk_f1

    if spans:
        report = chunk_f1(gold, found)
        whole = report.overall
        return {
            "accuracy": report.accuracy,
            "precision": whole.precision,
            "recall": whole.recall,
            "f1": whole.f1,
        }
    pairs = [(a, b) for mine, right in zip(found, gold, strict=True) for a, b in zip(mine, right, strict=True)]
    return {"accuracy": sum(a == b for a, b in pairs) / max(len(pairs), 1)}


def model_path(data: str | os.PathLike[str]) -> str:
    """Return the name of the model file that goes with a data file.

    Examples
    --------
    >>> model_path("train.tsv.gz")
    'train.handful'
    """
    folder, name = os.path.split(os.fspath(data))
    return os.path.join(folder, f"{name.split('.')[0]}.handful")
