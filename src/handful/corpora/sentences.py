"""Sentences out of whatever file a user has: plain text, columns, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator

from handful.core.errors import ParameterError
from handful.core.records import Sentence
from handful.corpora.columns import guess_columns
from handful.corpora.formats import detect, read_conll, read_conllu, read_text
from handful.corpora.opening import FilePath


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
    kind = detect(path)
    if kind == "text":
        return read_text(path)
    if kind == "conllu":
        return (tree.sentence for tree in read_conllu(path))
    if kind == "conll":
        return read_conll(path, guess_columns(path))
    raise ParameterError(f"{path}: sentences are needed (text with one a line, columns, or CoNLL-U), got a {kind}.")
