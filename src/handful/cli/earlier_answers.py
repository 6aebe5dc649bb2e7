"""The file that new answers would replace."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.earlier_model import kind_of
from handful.cli.options import check_unfilled
from handful.core.errors import HandfulError

if TYPE_CHECKING:
    from handful.corpora.opening import Source


def check_answers(output: Path | None, model: Any, names: Collection[str]) -> None:
    """Refuse to replace a file with labels that 'handful predict' did not write; earlier answers may be replaced.

    Parameters
    ----------
    output : Path or None
        Where answers go.
    model : model
        What answers.
    names : collection of str
        The columns that are added to a table.
    """
    from handful.corpora.opening import Source

    if output is None or not output.exists() or not output.stat().st_size:
        return
    remembered = getattr(model, "training_", None)
    target = remembered.get("target") if isinstance(remembered, dict) else None
    try:
        has_labels = _has_labels(Source(output), kind_of(model), target, names)
    except HandfulError:
        return  # nothing that a command of ours could read as labels
    if has_labels:
        check_unfilled(output)


def _has_labels(source: Source, kind: str, target: str | None, names: Collection[str]) -> bool:
    from handful.corpora.annotated import GENERATOR
    from handful.corpora.formats import Head, format_of
    from handful.corpora.formats.json_objects import first_object

    format, head = format_of(source), Head.of(source)
    if format.yields == "trees":
        return not head.text.startswith(GENERATOR)
    # One sentence without a blank line after it looks like a table between tabs.
    if format.name in ("conll", "conllu-plus") or (
        kind != "tables" and format.yields in ("table", "prototypes") and b"\t" in source.head
    ):
        return _has_tags(source)
    if format.yields == "table":
        return _has_filled_cells(source, target, names)
    if format.yields == "sentences":  # annotated texts; documents of spaCy do not tell who wrote them
        return not {"tokens", "start", "end"} <= first_object(head).keys()
    return format.yields == "occurrences"


def _has_tags(source: Source) -> bool:
    """Tell whether columns hold tags, without the line that names those of 'handful predict'."""
    from handful.corpora.formats.columns import NOT_TAGS, guess_columns, named_columns

    return len(guess_columns(source)) > 1 and not set(named_columns(source)) & set(NOT_TAGS)


def _has_filled_cells(source: Source, target: str | None, names: Collection[str]) -> bool:
    """Tell whether a table without answers has labels, or was written to be filled in."""
    from handful.corpora.tables import table_frames
    from handful.labeling.merging import ROW

    for frame in table_frames(source):
        if names and set(names) <= set(frame.columns):
            return False
        if ROW in frame.columns:
            return True
        if target not in frame.columns:
            return False
        if any(cell is not None and str(cell).strip() for cell in frame[target]):
            return True
    return False
