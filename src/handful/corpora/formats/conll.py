"""CoNLL columns: one token a line, a blank line after each sentence, any layout of columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from handful.core.errors import DataError, FormatError, ParameterError
from handful.core.records import Sentence
from handful.corpora.formats.columns import COLUMNS_HEADER, IN_DOUBT, cells_of, guess_columns
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.opening import MAX_LINES, FilePath, as_source, read_lines, refuse_mark, write_text_file

_DOCUMENT = "-DOCSTART-"
_BLANKS = " \t"
# A carriage return before the line end would be read as part of it, and NUL marks a binary file.
_IN_NO_CELL = re.compile("[\t\n\r\0]")
_IN_NO_WORD = re.compile("[ \t\n\r\0]")
_SUSPECTS = frozenset({"", " ", "\t", "-", "#"})  # a line that starts otherwise is a token


def read_conll(
    path: FilePath,
    columns: Sequence[str] = ("token", "pos", "chunk", "ner"),
    *,
    separator: str | None = None,
    comments: bool = False,
) -> Iterator[Sentence]:
    r"""Read sentences from a file of columns, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.
    columns : sequence of str
        Name of each column, left to right. One is ``"token"``; ``"_"`` skips a column.
    separator : {"\t", " "} or None
        What stands between columns. None: a tab if the first token line has one, else blanks.
    comments : bool, default=False
        Whether lines that start with ``#`` before the first token of a sentence are comments. Off by default, since
        ``#`` is also a token; a first line that names the columns (``# global.columns = FORM TAG``) is one in any case, and
        what 'handful doubt' tells of a sentence (``# in doubt: ...``) is left out.

    Yields
    ------
    Sentence
        Its `comments` hold the lines before it that are no tokens: comments, document marks (``-DOCSTART-``) and
        blank lines beyond the one that ends a sentence. `write_conll` writes them back in place.

    Raises
    ------
    FormatError
        ``path:line: expected 4 columns (token, pos, chunk, ner), got 3``; if there is no sentence at all; or if
        document marks or comments are left over at the end of the file, since there is no sentence to keep them.

    Notes
    -----
    With blanks, runs of blanks and tabs count as one separator; with a tab, cells may hold blanks but not be empty.
    Writing what was read gives the same bytes when the file has single separators, ``\n`` line ends, one blank line
    after the last sentence and no skipped column. Equal strings are shared, which keeps records small.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> [(s.tokens, s["pos"]) for s in read_conll(target, ("token", "pos"))]
    [(('Rome', 'fell'), ('NNP', 'VBD'))]
    """
    names, place = _check_layout("read_conll", columns)
    if separator not in (None, "\t", " "):
        raise ParameterError(f"read_conll: separator must be a tab, a blank or None, got {shown(separator)}.")
    return _sentences(path, _Cutter(path, names, place, separator), comments)


def _sentences(path: FilePath, cut: _Cutter, comments: bool) -> Iterator[Sentence]:
    has_any = False
    for last, before, lines in _blocks(path, comments):
        if lines:
            has_any = True
            yield cut(last - len(lines) + 1, before, lines)
        elif not has_any:
            raise FormatError(path, None, "expected sentences, one token a line, got none.")
        elif any(before):
            raise FormatError(
                path, last, "expected tokens after the document mark or comment, got the end of the file."
            )


def _blocks(path: FilePath, comments: bool) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield for each sentence the number of its last line, the lines before it and those of its tokens.

    The last block has what stands after the last sentence, and no tokens unless the file ends with one.
    """
    before: list[str] = []
    lines: list[str] = []
    number, suspects = 0, _SUSPECTS
    for number, line in read_lines(path):
        if line.startswith(IN_DOUBT):
            continue
        if line[:1] not in suspects or _is_token(number, line, comments and not lines):
            lines.append(line)
            if len(lines) > MAX_LINES:
                raise FormatError(path, number, f"expected a blank line after at most {MAX_LINES:,} tokens, got none.")
            continue
        is_blank = not line.strip(_BLANKS)
        if lines:
            yield number - 1, before, lines
            before, lines = [], []
            if is_blank:
                continue
        before.append("" if is_blank else line)
        if len(before) > MAX_LINES:
            raise FormatError(path, number, f"expected a token after at most {MAX_LINES:,} other lines, got none.")
    yield number, before, lines


def _is_token(number: int, line: str, may_be_comment: bool) -> bool:
    if not line.strip(_BLANKS) or _is_document_mark(line):
        return False
    return not (may_be_comment and line[0] == "#") and not (number == 1 and line.startswith(COLUMNS_HEADER))


class _Cutter:
    """Cuts lines of tokens into columns; the first line of all tells the separator, if none is given."""

    def __init__(self, path: FilePath, names: tuple[str, ...], place: int, separator: str | None) -> None:
        self._path, self._names, self._place, self._separator = path, names, place, separator
        self._kept = [(name, index) for index, name in enumerate(names) if index != place and name != "_"]
        self._share = Sharing()

    def __call__(self, first: int, before: list[str], lines: list[str]) -> Sentence:
        if self._separator is None:
            self._separator = "\t" if "\t" in lines[0] else " "
        if self._separator == " ":
            lines = [line.replace("\t", " ") for line in lines]
        rows = [line.split(self._separator) for line in lines]
        try:
            cells = tuple(zip(*rows, strict=True))
        except ValueError:
            cells = ()
        if len(cells) != len(self._names):
            cells = _mended(self._path, first, rows, self._names, self._separator)
        tokens = self._share(cells[self._place])
        others = {name: self._share(cells[index]) for name, index in self._kept}
        if "" in self._share:
            _mended(self._path, first, rows, self._names, self._separator)
        return Sentence(tokens, others, tuple(before))


def _is_document_mark(line: str) -> bool:
    return line.startswith(_DOCUMENT) and line[len(_DOCUMENT) :][:1] in ("", " ", "\t")


def _mended(
    path: FilePath, first: int, rows: list[list[str]], names: tuple[str, ...], separator: str
) -> tuple[tuple[str, ...], ...]:
    """Columns of a sentence whose rows did not fit at once: runs of blanks are joined, the rest is an error."""
    mended = []
    for number, cells in enumerate(rows, first):
        if separator == " ":
            cells = [cell for cell in cells if cell]
        if len(cells) != len(names):
            raise FormatError(path, number, f"expected {_count(names)}, got {len(cells)}.")
        empty = next((name for name, cell in zip(names, cells, strict=True) if not cell and name != "_"), None)
        if empty is not None:
            raise FormatError(path, number, f"expected {_count(names)}, got nothing in column {shown(empty)}.")
        mended.append(cells)
    return tuple(zip(*mended, strict=True))


def _count(names: tuple[str, ...]) -> str:
    return f"{len(names)} column{'s' if len(names) > 1 else ''} ({', '.join(names)})"


def _check_layout(who: str, columns: Sequence[str]) -> tuple[tuple[str, ...], int]:
    names = tuple(columns)
    if isinstance(columns, str) or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(f"{who}: columns must be a list of names, got {shown(columns)}.")
    named = [name for name in names if name != "_"]
    if len(set(named)) != len(named):
        raise ParameterError(f"{who}: the names of columns must differ, got {', '.join(named)}.")
    if "token" not in names:
        raise ParameterError(f"{who}: one of the columns must be named 'token', got {', '.join(names) or 'none'}.")
    return names, names.index("token")


def write_conll(
    path: FilePath,
    sentences: Iterable[Sentence],
    columns: Sequence[str] = ("token", "pos", "chunk", "ner"),
    separator: str = "\t",
    line_end: str = "\n",
) -> None:
    r"""Write sentences as columns; the file appears only when all of them are written.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    sentences : iterable of Sentence
        Each has all the `columns`. Their `comments` are written before them: blank lines, document marks, and lines
        that start with ``#``, which are read back with ``comments=True``.
    columns : sequence of str
        Name of each column, left to right; ``"token"`` stands for the tokens.
    separator : {"\t", " "}
        What to put between columns.
    line_end : {"\n", "\r\n"}
        What ends a line.

    Raises
    ------
    DataError
        If there is no sentence, or one has no tokens, lacks a column, or would be read back as something else: a cell
        is no string, is empty or holds the separator (in a single column a blank) or a line end; a line would be
        a document mark or a comment; a comment is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_conll(target, [Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")})], ("token", "pos"))
    >>> target.read_text()
    'Rome\tNNP\nfell\tVBD\n\n'
    """
    names, _ = _check_layout("write_conll", columns)
    if "_" in names:
        raise ParameterError("write_conll: every column must have a name, got '_'.")
    if separator not in ("\t", " "):
        raise ParameterError(f"write_conll: separator must be a tab or a blank, got {shown(separator)}.")
    n_comments = n_hashes = index = 0
    with write_text_file(path, line_end) as file:
        for index, sentence in enumerate(sentences, start=1):
            who = f"write_conll: sentence {index}"
            lines = _checked_lines(who, sentence, names, separator)
            n_comments += any(line[:1] == "#" and not line.startswith(IN_DOUBT) for line in sentence.comments)
            n_hashes += lines[0][0] == "#"
            if n_comments and n_hashes:
                raise DataError(
                    f"{who}: where sentences have comments, none may start with the token #, which would be read as one."
                )
            lines = [*sentence.comments, *lines]
            if index == 1:
                refuse_mark("write_conll", lines[0])
            file.write("\n".join(lines))
            file.write("\n\n")
        if not index:
            raise DataError("write_conll: there must be a sentence, got none.")


def _checked_lines(who: str, sentence: Sentence, names: tuple[str, ...], separator: str) -> list[str]:
    if not isinstance(sentence, Sentence):
        raise DataError(f"{who} must be a Sentence, got {shown(sentence)}.")
    if not len(sentence):
        raise DataError(f"{who} must have tokens, got none.")
    cells = [sentence.tokens if name == "token" else sentence[name] for name in names]
    forbidden = _IN_NO_CELL if separator == "\t" and len(names) > 1 else _IN_NO_WORD
    for name, column in zip(names, cells, strict=True):
        _check_column(who, name, column, forbidden)
    lines = list(map(separator.join, zip(*cells, strict=True)))
    if any(map(_is_document_mark, lines)):
        raise DataError(f"{who}: a line must not start with {_DOCUMENT}, which marks a document.")
    for line in sentence.comments:
        _check_comment(who, line)
    return lines


def _check_column(who: str, name: str, column: tuple[str, ...], forbidden: re.Pattern[str]) -> None:
    for cell in column:
        if not isinstance(cell, str):
            raise DataError(f"{who}: a cell of column {shown(name)} must be a string, got {shown(cell)}.")
        # A line of blanks alone would be read as the end of the sentence.
        if not cell.strip(" ") or forbidden.search(cell):
            raise DataError(
                f"{who}: a cell of column {shown(name)} must be filled and hold no "
                f"{'blank' if ' ' in forbidden.pattern else 'tab'} or line end, got {shown(cell)}."
            )


def _check_comment(who: str, line: str) -> None:
    if not isinstance(line, str) or set("\n\r\0") & set(line):
        raise DataError(f"{who}: a comment must be one line, got {shown(line)}.")
    if line and line[0] != "#" and not _is_document_mark(line):
        raise DataError(f"{who}: a comment must start with #, or be blank or a {_DOCUMENT} line, got {shown(line)}.")


def is_conll(head: Head) -> bool:
    """Tell whether nine of ten lines have one number of columns, with blank lines between or after them."""
    tokens = [line for line in head.filled if not line.startswith(("-DOCSTART-", COLUMNS_HEADER))]
    if not head.has_blank or not tokens:
        return False
    uncommented = [line for line in tokens if not line.startswith("# ")]
    return any(_mostly_equal(lines) for lines in (tokens, uncommented) if lines)


def _mostly_equal(lines: list[str]) -> bool:
    width, n_lines = Counter(len(cells_of(line)) for line in lines).most_common(1)[0]
    return n_lines == len(lines) or (n_lines >= 0.9 * len(lines) and width > 1)


def _read(path: FilePath) -> Iterator[Sentence]:
    source = as_source(path)
    return read_conll(source, guess_columns(source))


FORMAT = Format("conll", "sentences", is_conll, _read, write_conll, (".tsv", ".conll", ".iob", ".bio"))
