"""The catalogue of all methods: the one list that model files, comparisons and the command line read."""

from __future__ import annotations

import os
from typing import Any

from handful.core.catalogue import CATALOGUE, cards, find_class, get_card, names
from handful.core.registry import Card
from handful.core.store import DEFAULT_LIMIT, read_model, write_model

__all__ = ["CATALOGUE", "Card", "cards", "find_class", "get_card", "load", "names", "save"]


def save(model: Any, path: str | os.PathLike[str], *, packed: bool = False) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A fitted method of handful.
    path : path-like
        Where to write. The file is replaced only when the new one is whole.
    packed : bool
        Make the file smaller; writing and reading then take longer.
    """
    write_model(model, path, packed=packed)


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
