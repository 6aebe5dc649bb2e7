"""The model that a new one would replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handful.core.errors import FileError, HandfulError
from handful.core.registry import card_of, name_of

KINDS = {
    "tables": "of table rows",
    "sentences": "of tags",
    "prototypes": "of tags from prototypes",
    "contexts": "of word senses",
    "trees": "of trees",
}
"""What models answer for, in words."""


def kind_of(model: Any) -> str:
    """Return what a model answers for: tables, sentences, contexts, trees or others."""
    card = card_of(type(model))
    inner = {"table-model": "tables", "senses": "contexts"}
    return "others" if card is None else inner.get(card.name, card.takes)


def check_earlier(where: Path, kind: str, target: str | None = None) -> str:
    """Refuse to replace a file that is no model, or a model that answers something else.

    Parameters
    ----------
    where : Path
        Where the new model goes.
    kind : {"tables", "sentences", "prototypes", "contexts", "trees"}
        What it answers for. Tags from prototypes and those learned from tagged sentences do not replace each other.
    target : str or None
        The column that it answers with, if it has a name.

    Returns
    -------
    str
        A sentence on the model that will be replaced; empty where there is none.
    """
    from handful.methods import load

    if not where.exists() or not where.stat().st_size:
        return ""
    way_out = "Name another file with --model, or delete it first."
    try:
        model = load(where)
    except HandfulError:
        raise FileError(f"{where}: is there already, and is no model that can be read. {way_out}") from None
    remembered = getattr(model, "training_", None)
    training = remembered if isinstance(remembered, dict) else {}
    earlier = training.get("target", training.get("tag"))
    card = card_of(type(model))
    told = f"{name_of(model)}{f' for {earlier!r}' if earlier else ''}{f', from {data}' if (data := training.get('data')) else ''}"
    found = "prototypes" if card and "prototypes" in card.learns_from and not earlier else kind_of(model)
    if found != kind:
        raise FileError(
            f"{where}: is there already, and is a model {KINDS.get(found, 'of another kind')} ({told}). {way_out}"
        )
    if earlier and target and earlier != target:
        raise FileError(f"{where}: is there already, and answers {earlier!r}, not {target!r} ({told}). {way_out}")
    return f"{where}: the earlier model was replaced ({told})."
