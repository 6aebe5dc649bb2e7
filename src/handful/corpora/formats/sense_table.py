"""Words in context as a table: a text, the word or its place, and its sense."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from handful.core.errors import FormatError
from handful.core.records import Occurrence
from handful.corpora.formats.delimited import is_delimited, read_delimited
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, as_source

if TYPE_CHECKING:
    from handful.corpora.raw_text import Token

_TEXT = ("text", "sentence", "context")
_WORD = ("word", "target", "lemma")
_PLACE = ("target_index", "index", "position", "token_index")
_SENSE = ("sense", "senses", "sense_id")


def read_sense_table(path: FilePath) -> Iterator[Occurrence]:
    r"""Read words in context from separated columns with a header.

    Parameters
    ----------
    path : path-like
        Columns ``text`` (or sentence, context), ``word`` (or target, lemma) or its place or both, and ``sense`` (empty where it
        is not known). A place is ``target_index`` (position of the token, text cut at blanks) or ``start`` and ``end``
        (characters). Without a place the word is looked for in the text; without a word it is the token there, in lower case.

    Yields
    ------
    Occurrence
        In the order of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("text\tword\tsense\nthe river bank\tbank\tshore\n")
    >>> [(o.word, o.tokens, o.target, o.senses) for o in read_sense_table(target)]
    [('bank', ('the', 'river', 'bank'), 2, ('shore',))]
    """
    source = as_source(path)
    number = 0
    for frame in read_delimited(source, bounded=False):
        names = {name.lower(): name for name in frame.columns}
        for row in frame.iter_rows(named=True):
            number += 1
            yield _occurrence(source, number, {low: str(row[name]).strip() for low, name in names.items()})


def _occurrence(path: FilePath, number: int, row: dict[str, str]) -> Occurrence:
    text, word = _cell(row, _TEXT), _cell(row, _WORD)
    senses = tuple(_cell(row, _SENSE).replace("|", " ").split())
    target, tokens = (
        _numbered(path, number + 1, text, row) if _cell(row, _PLACE) else _located(path, number + 1, text, row)
    )
    word = word or tokens[target].lower()
    return Occurrence(word, row.get("id") or f"{word}.{number}", tokens, target, senses)


def _numbered(path: FilePath, line: int, text: str, row: dict[str, str]) -> tuple[int, tuple[str, ...]]:
    """Return the token that the row counts, of a text with blanks between tokens."""
    tokens, place = tuple(text.split()), _cell(row, _PLACE)
    if not place.isdigit() or int(place) >= len(tokens):
        raise FormatError(path, line, f"expected the place of a token (0 to {len(tokens) - 1}), got {shown(place)}.")
    return int(place), tokens


def _located(path: FilePath, line: int, text: str, row: dict[str, str]) -> tuple[int, tuple[str, ...]]:
    """Return the token at the character that the row names, or else the first that is the word."""
    from handful.corpora.raw_text import tokenize

    cut = tokenize(text)
    start = int(row["start"]) if row.get("start", "").isdecimal() else _find(path, line, cut, _cell(row, _WORD))
    target = next((i for i, token in enumerate(cut) if token.start <= start < token.end), -1)
    if target < 0:
        raise FormatError(path, line, f"expected a word at character {start} of the text, got none.")
    return target, tuple(token.text for token in cut)


def _find(path: FilePath, line: int, cut: Sequence[Token], word: str) -> int:
    bare = word.split(".")[0].lower()
    # The very word comes before a form of it.
    ranked = sorted(cut, key=lambda token: token.text.lower() != bare)
    for token in ranked:
        if bare and token.text.lower().startswith(bare):
            return token.start
    raise FormatError(path, line, f"expected the word {shown(word)} in the text, got it nowhere.")


def _cell(row: dict[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if name in row), "")


def write_sense_table(path: FilePath, occurrences: Iterable[Occurrence]) -> None:
    """Write words in context as columns between tabs.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    occurrences : iterable of Occurrence
        What to write; tokens with blanks between them.
    """
    from handful.corpora.opening import write_text_file

    with write_text_file(path) as file:
        file.write("id\ttext\tword\ttarget_index\tsense\n")
        for item in occurrences:
            cells: list[Any] = [item.id, " ".join(item.tokens), item.word, item.target, " ".join(item.senses)]
            file.write("\t".join(map(str, cells)) + "\n")


def is_sense_table(head: Head) -> bool:
    """Tell a table whose header names a text, a word or its place, and a sense."""
    return names_text_and_word(head) and bool(_named(head) & set(_SENSE)) and is_delimited(head)


def names_text_and_word(head: Head) -> bool:
    r"""Tell whether the first line of a table names a text, and a word or its place.

    Examples
    --------
    >>> names_text_and_word(Head(b"id,text,word\n1,the river bank,bank\n"))
    True
    """
    names = _named(head)
    return bool(names & set(_TEXT)) and (bool(names & {*_WORD, "target_index"}) or {"start", "end"} <= names)


def _named(head: Head) -> set[str]:
    first = head.filled[0].lower() if head.filled else ""
    return {name.strip(' "') for name in first.replace("\t", ",").replace(";", ",").split(",")}


FORMAT = Format("sense-table", "occurrences", is_sense_table, read_sense_table, write_sense_table, (".tsv",))
