"""Rows of tokens and tags as Hugging Face data sets have them, in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.counted import counted
from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.columns import NOT_TAGS
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.json_objects import first_object, json_objects, write_objects
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, as_source

_TOKENS = ("tokens", "words", "sentence")


def read_token_rows(path: FilePath) -> Iterator[Sentence]:
    r"""Read rows of tokens and tags.

    Parameters
    ----------
    path : path-like
        One object a line (or an array of them): ``{"tokens": ["Rome", "fell"], "ner_tags": ["B-LOC", "O"]}``.

    Yields
    ------
    Sentence
        Lists as long as the tokens are its columns; the last one of tags is called ``tag``. ``spans``, which `handful
        predict` writes beside the tags, are passed over.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"tokens": ["Rome", "fell"], "ner_tags": ["B-LOC", "O"]}\n')
    >>> [(s.tokens, s["tag"]) for s in read_token_rows(target)]
    [(('Rome', 'fell'), ('B-LOC', 'O'))]
    """
    source = as_source(path)
    for number, row in json_objects(source):
        key = next((key for key in _TOKENS if isinstance(row.get(key), list)), None)
        if key is None:
            raise FormatError(source, number, f"expected a list under {' or '.join(_TOKENS)}, got none.")
        lists = {name: cells for name, cells in row.items() if isinstance(cells, list) and name not in (key, "spans")}
        _check_lists(source, number, row[key], lists)
        yield Sentence(tuple(row[key]), _columns(lists))


def _check_lists(path: FilePath, number: int | None, tokens: list[Any], lists: dict[str, list[Any]]) -> None:
    if not tokens or not all(isinstance(token, str) and token for token in tokens):
        raise FormatError(path, number, "expected filled tokens, got something else.")
    for name, cells in lists.items():
        if len(cells) != len(tokens):
            raise FormatError(
                path,
                number,
                f"expected {counted(len(tokens), 'cell')} under {shown(name)}, one a token, got {len(cells)}.",
            )


def _columns(lists: dict[str, list[Any]]) -> dict[str, tuple[str, ...]]:
    columns = {name: tuple(map(str, cells)) for name, cells in lists.items()}
    tags = [name for name in columns if name not in ("id", "head", "deprel", *NOT_TAGS)]
    if tags and "tag" not in columns:
        columns["tag"] = columns.pop(tags[-1])
    return columns


def write_token_rows(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write sentences with their columns, one object a line.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        What to write.
    """

    def rows() -> Iterator[dict[str, Any]]:
        for sentence in sentences:
            yield {"tokens": list(sentence.tokens), **{name: list(cells) for name, cells in sentence.columns.items()}}

    write_objects(path, rows())


def is_token_rows(head: Head) -> bool:
    """Tell objects with a list of words."""
    row = first_object(head)
    words: list[Any] = next((row[key] for key in _TOKENS if isinstance(row.get(key), list)), [])
    return bool(words) and all(isinstance(word, str) for word in words)


FORMAT = Format("token-rows", "sentences", is_token_rows, read_token_rows, write_token_rows)
