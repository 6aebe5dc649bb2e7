"""The catalogue of all methods: the one list that model files, comparisons and the command line read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from handful.core.errors import ParameterError
from handful.core.registry import Card, card_named
from handful.core.store import DEFAULT_LIMIT, read_model, write_model

# Name of a method to the module that registers it. A new method joins by adding its line.
CATALOGUE: dict[str, str] = {
    "condensed-nn": "handful.neighbors.condensed",
    "semi-supervised-condensed-nn": "handful.neighbors.semi_supervised_condensed",
    "ordinal-knn": "handful.neighbors.ordinal",
    "kernel-pca": "handful.neighbors.kernel_pca",
    "composite-kernel-pca": "handful.neighbors.composite_kernel_pca",
    "tri-training": "handful.neighbors.tri_training",
    "crf": "handful.tagging.crf",
    "prototypes": "handful.tagging.prototypes",
    "stacked-tagger": "handful.tagging.stacked",
    "two-pass-tagger": "handful.tagging.two_pass",
    "dependency-parser": "handful.parsing.dependency",
    "brown-clusters": "handful.representations.brown",
    "context-similarity": "handful.representations.similarity",
    "condensed-features": "handful.representations.condensed",
    "condensed-feature-classifier": "handful.representations.condensed.classifier",
    "senses": "handful.senses.classifier",
    "table-model": "handful.methods.table_model",
}


def find_class(name: str) -> type | None:
    """Return the class of a method of the catalogue, or None for any other name.

    Examples
    --------
    >>> find_class("os") is None
    True
    """
    if name not in CATALOGUE:
        return None
    import_module(CATALOGUE[name])
    card = card_named(name)
    return card.cls if card is not None else None


def get_card(name: str) -> Card:
    """Return the card of a method, or say which one may have been meant.

    Parameters
    ----------
    name : str
        Name of a method.

    Returns
    -------
    Card
        Its card.
    """
    cls = find_class(name)
    card = card_named(name)
    if cls is None or card is None:
        near = difflib.get_close_matches(name, CATALOGUE, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else " Run 'handful methods' to see all."
        raise ParameterError(f"methods: there is no method {name!r}.{hint}")
    return card


def cards() -> Iterator[Card]:
    """Yield the cards of all methods, in the order of the catalogue."""
    return (get_card(name) for name in CATALOGUE)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A fitted method of handful.
    path : path-like
        Where to write. The file is replaced only when the new one is whole.
    """
    write_model(model, path)


def load(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_LIMIT) -> Any:
    """Read a fitted model from a file; a file can never run code.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.
    max_bytes : int
        Files larger than this are refused unread.

    Returns
    -------
    model
        The fitted model.

    Raises
    ------
    ModelFileError
        If the file is truncated, damaged, oversized, too new, or no model file.
    """
    return read_model(path, find_class, max_bytes=max_bytes)
