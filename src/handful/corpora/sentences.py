"""Sentences out of whatever file a user has: plain text, columns, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator

from handful.core.errors import ParameterError
from handful.core.records import Sentence
from handful.corpora.formats import Head, format_named, format_of
from handful.corpora.formats.raw import is_raw
from handful.corpora.opening import FilePath, as_source


def read_sentences(path: FilePath) -> Iterator[Sentence]:
    r"""Read the sentences of a text, column or CoNLL-U file, told apart by content.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    Sentence
        Tokens; columns of a column file are named by `guess_columns`, those of CoNLL-U by their usual names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell .\n")
    >>> [sentence.tokens for sentence in read_sentences(target)]
    [('Rome', 'fell', '.')]
    """
    source = as_source(path)
    format = format_of(source)
    if format.yields == "table" and source.suffix == ".txt":  # lines of text that happen to have as many commas
        format = format_named("raw" if is_raw(Head.of(source)) else "text")
    if format.yields == "trees":
        return (tree.sentence for tree in format.read(source))
    if format.yields in ("text", "sentences"):
        sentences: Iterator[Sentence] = format.read(source)
        return sentences
    raise ParameterError(
        f"{path}: sentences are needed (text with one a line, columns, or CoNLL-U), got a {format.yields}."
    )
