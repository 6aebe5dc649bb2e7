"""Sentences out of whatever file a user has: plain text, columns, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats import Head, format_named, format_of
from handful.corpora.formats.raw import is_raw, read_raw
from handful.corpora.opening import FilePath, as_source
from handful.corpora.token_style import Cut, refuse_cut

KINDS = {
    "table": "a table",
    "occurrences": "words with senses",
    "prototypes": "lists of prototypes",
    "clusters": "clusters of words",
}
"""What other files hold, in words."""


def read_sentences(path: FilePath, cut: Cut | None = None, abbreviations: Sequence[str] = ()) -> Iterator[Sentence]:
    r"""Read the sentences of a text, column or CoNLL-U file, told apart by content.

    Parameters
    ----------
    path : path-like
        The file.
    cut : {"blanks", "words"}, optional
        Where text is cut; by default that is told by its marks.
    abbreviations : sequence of str
        Tokens of text that keep their point, beside the usual ones.

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
    if cut is not None:
        refuse_cut(source)
        format = format_named("raw" if cut == "words" else "text")
    if format.name == "raw":
        return read_raw(source, abbreviations)
    if format.yields == "trees":
        return (tree.sentence for tree in format.read(source))
    if format.yields in ("text", "sentences"):
        sentences: Iterator[Sentence] = format.read(source)
        return sentences
    raise FormatError(source, None, f"expected sentences (text, columns or CoNLL-U), got {KINDS[format.yields]}.")
