"""Sentences out of whatever file a user has: plain text, columns, or CoNLL-U."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.core.errors import ParameterError

if TYPE_CHECKING:
    from handful.core.progress import Progress
    from handful.core.records import Sentence


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Read the sentences of a text, column or CoNLL-U file, told apart by content.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    Sentence
        Tokens; columns of a column file are named ``1``, ``2``, ...; those of CoNLL-U by their usual names.
    """
    from handful.corpora.formats import detect, read_conllu, read_text

    kind = detect(path)
    if kind == "text":
        return read_text(path)
    if kind == "conllu":
        return (tree.sentence for tree in read_conllu(path))
    if kind == "conll":
        return _columns(path)
    raise ParameterError(f"{path}: sentences are needed (text with one a line, columns, or CoNLL-U), got a {kind}.")


def _columns(path: Path) -> Iterator[Sentence]:
    from handful.corpora.formats import read_conll
    from handful.corpora.opening import read_lines

    first = next(line for _, line in read_lines(path) if line.strip())
    cells = first.split("\t") if "\t" in first else first.split()
    return read_conll(path, ("token", *map(str, range(1, len(cells)))))


def load_tagger(path: Path) -> Any:
    """Load a model that tags sentences.

    Parameters
    ----------
    path : Path
        A file of 'handful fit tagger' or 'handful fit prototypes'.

    Returns
    -------
    tagger
        The model.
    """
    from handful.core.registry import card_of
    from handful.methods import load

    found = load(path)
    card = card_of(type(found))
    if card is None or card.takes != "sentences":
        raise ParameterError(f"{path}: must be a tagger, got {card.name if card else 'a table model'}.")
    return found


def fit_text(
    model: Any, path: Path, progress: Progress, *, engine: str | None = None, checkpoint: Path | None = None
) -> None:
    """Fit word clusters or similarity to a file: plain text in parts that workers read, else in one stream.

    Parameters
    ----------
    model : BrownClusters or ContextSimilarity
        The model.
    path : Path
        The text.
    progress : callable
        Told how far it is.
    engine, checkpoint
        See `handful.compute.map_reduce`.
    """
    from handful.corpora.formats import detect
    from handful.corpora.opening import open_bytes
    from handful.representations import text_parts

    with open_bytes(path) as file:
        plain = isinstance(file.raw, io.FileIO)
    if plain and detect(path) == "text":
        model.fit_parts(text_parts(path), engine=engine, checkpoint=checkpoint, progress=progress)
    else:
        model.fit(read_sentences(path), engine=engine, checkpoint=checkpoint, progress=progress)
