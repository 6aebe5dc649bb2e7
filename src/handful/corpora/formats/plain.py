"""Plain text: one sentence a line, tokens between blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from handful.core.errors import DataError, FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.opening import MAX_LINES, FilePath, as_source, read_lines, refuse_mark, write_text_file
from handful.corpora.raw_text import refuse_unspaced

_FORBIDDEN = re.compile("[ \t\n\r\0]")
_TOKEN = re.compile("[^ \t]+")


def read_text(path: FilePath, *, places: bool = False) -> Iterator[Sentence]:
    r"""Read sentences, one a line, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.
    places : bool, default=False
        Whether sentences get the columns ``start`` and ``end``: places of each token in the whole text (a line end counts
        as one character).

    Yields
    ------
    Sentence
        Its tokens stood between blanks or tabs (a no-break space is part of a token). Empty lines before it are
        kept in its `comments`, each as ``""``.

    Raises
    ------
    FormatError
        If there is no sentence at all.
    DataError
        If the text is of a script without blanks between words, and nobody has put them there.

    Notes
    -----
    Writing what was read gives the same bytes where tokens have single blanks between them and lines end in ``\n``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell .\nSo what ?\n")
    >>> [s.tokens for s in read_text(target)]
    [('Rome', 'fell', '.'), ('So', 'what', '?')]
    """
    source = as_source(path)
    refuse_unspaced(str(source), Head.of(source).text)
    share = Sharing()
    empty: list[str] = []
    has_any = False
    start = 0
    for number, line in read_lines(source):
        tokens = [token for token in line.replace("\t", " ").split(" ") if token]
        if tokens:
            has_any = True
            columns = _places(line, start) if places else {}
            yield Sentence(share(tokens), columns, tuple(empty))
            empty.clear()
        elif len(empty) == MAX_LINES:
            raise FormatError(path, number, f"expected a sentence after at most {MAX_LINES:,} empty lines, got none.")
        else:
            empty.append("")
        start += len(line) + 1
    if not has_any:
        raise FormatError(path, None, "expected sentences, one a line, got only empty lines.")


def _places(line: str, start: int) -> dict[str, tuple[str, ...]]:
    places = [match.span() for match in _TOKEN.finditer(line)]
    return {"start": tuple(str(start + a) for a, _ in places), "end": tuple(str(start + b) for _, b in places)}


def write_text(path: FilePath, sentences: Iterable[Sentence | Sequence[str]]) -> None:
    r"""Write sentences, one a line, with a blank between tokens.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    sentences : iterable of Sentence or of sequences of str
        What to write; of a sentence's comments only empty lines are written.

    Raises
    ------
    DataError
        If there is no sentence, or one has no tokens, or a token is no string, is empty or holds a blank or a line end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_text(target, [["Rome", "fell"]])
    >>> target.read_text()
    'Rome fell\n'
    """
    index = 0
    with write_text_file(path) as file:
        for index, sentence in enumerate(sentences, start=1):
            tokens = sentence.tokens if isinstance(sentence, Sentence) else sentence
            _check_tokens(index, tokens)
            n_blank = sentence.comments.count("") if isinstance(sentence, Sentence) else 0
            if index == 1 and not n_blank:
                refuse_mark("write_text", tokens[0])
            file.write("\n" * n_blank + " ".join(tokens) + "\n")
        if not index:
            raise DataError("write_text: there must be a sentence, got none.")


def _check_tokens(index: int, tokens: Sequence[str]) -> None:
    if isinstance(tokens, str):
        raise DataError(f"write_text: sentence {index} must be a list of tokens, got the text {shown(tokens)}.")
    for token in tokens:
        if not isinstance(token, str):
            raise DataError(f"write_text: sentence {index} must be tokens that are strings, got {shown(token)}.")
    bad = next((token for token in tokens if not token or _FORBIDDEN.search(token)), None)
    if bad is not None or not tokens:
        got = "no tokens" if bad is None else repr(bad)
        raise DataError(
            f"write_text: sentence {index} must be tokens that are filled and hold no blank or line end, got {got}."
        )


def is_text(head: Head) -> bool:
    """Tell that any file of text is text."""
    return True


FORMAT = Format("text", "text", is_text, read_text, write_text, (".txt",))
