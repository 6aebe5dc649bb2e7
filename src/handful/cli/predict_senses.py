"""Senses for the contexts of a lexical sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handful.cli.console import answers_to


def predict_senses(model: Any, data: Path, output: Path | None) -> None:
    """Write one line of ``word instance sense`` for every context, as answer keys have it.

    Parameters
    ----------
    model : SenseClassifier
        The model.
    data : Path
        A lexical sample in XML, or a table with the columns text and word.
    output : Path or None
        Where to; None is stdout.
    """
    from handful.corpora.occurrences import read_occurrences

    occurrences = list(read_occurrences(data))
    senses = model.predict(occurrences)
    with answers_to(output) as file:
        for occurrence, sense in zip(occurrences, senses, strict=True):
            file.write(f"{occurrence.word} {occurrence.id} {sense}\n")
