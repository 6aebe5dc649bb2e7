"""CoNLL columns, CoNLL-U and CoNLL-U Plus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from handful.data.files import MAX_LINES, FilePath, as_source, read_lines, refuse_mark, shown, write_text_file
from handful.data.formats import Format, Head
from handful.data.records import Sentence, Tree
from handful.errors import DataError, FormatError, ParameterError

_LIMIT = 2**17


class Sharing:
    """Replaces strings by equal ones that were met before; forgets all of them when they become too many.

    Examples
    --------
    >>> share = Sharing()
    >>> first, second = share(["".join("ab"), "".join("ab")])
    >>> first is second, "ab" in share
    (True, True)
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, strings: Iterable[str]) -> tuple[str, ...]:
        """Return the strings as a tuple, each as the copy that was met first."""
        known = self._known
        if len(known) > _LIMIT:
            known.clear()
        strings = tuple(strings)
        return tuple(map(known.setdefault, strings, strings))

    def __contains__(self, string: str) -> bool:
        return string in self._known


COLUMNS_HEADER = "# global.columns ="
"""How a first line starts that names the columns, as in CoNLL-U Plus."""

IN_DOUBT = "# in doubt:"
"""How a line starts that tells a person what to look at in the sentence below; no reader keeps it."""

NOT_TAGS = ("start", "end", "confidence", "given")
"""Columns that `handful predict` writes beside the tags it found."""

_USUAL = {
    0: (),
    1: ("token",),
    2: ("token", "tag"),
    3: ("token", "pos", "tag"),
    4: ("token", "pos", "chunk", "tag"),
}


def guess_columns(path: FilePath) -> tuple[str, ...]:
    r"""Return names for the columns of a file: those that its first line tells, else by their number.

    Parameters
    ----------
    path : path-like
        One token a line, columns between tabs or blanks.

    Returns
    -------
    tuple of str
        The names: token first, tag last, between them pos and chunk, or ``column2``, ``column3`` and so on where there
        are more than four. A first line such as ``# global.columns = FORM TAG`` (as in CoNLL-U Plus) names them itself.
        Empty if the file has no token.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> guess_columns(target)
    ('token', 'tag')
    >>> _ = target.write_text("# global.columns = TOKEN TAG CONFIDENCE\nRome\tNNP\t0.98\n\n")
    >>> guess_columns(target)
    ('token', 'tag', 'confidence')
    """
    source = as_source(path)
    named = named_columns(source)
    if named:
        return named
    for line in Head.of(source).lines:
        if line.strip() and not line.startswith(("-DOCSTART-", "# ")):
            n = len(cells_of(line))
            return _USUAL.get(n) or ("token", *(f"column{number}" for number in range(2, n)), "tag")
    return ()


def named_columns(path: FilePath) -> tuple[str, ...]:
    r"""Return the names that the first line of a file gives to its columns.

    Parameters
    ----------
    path : path-like
        One token a line, columns between tabs or blanks.

    Returns
    -------
    tuple of str
        In lower case, ``form`` as ``token``; empty where the first line names nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("# global.columns = TOKEN TAG CONFIDENCE\nRome\tNNP\t0.98\n\n")
    >>> named_columns(target)
    ('token', 'tag', 'confidence')
    """
    first = next(iter(Head.of(as_source(path)).lines), "")
    if not first.startswith(COLUMNS_HEADER):
        return ()
    names = first.removeprefix(COLUMNS_HEADER).lower().split()
    return tuple("token" if name == "form" else name for name in names)


def columns_header(names: Iterable[str]) -> str:
    """Return the first line that names columns, which `named_columns` reads.

    Examples
    --------
    >>> columns_header(["token", "tag"])
    '# global.columns = TOKEN TAG'
    """
    return " ".join([COLUMNS_HEADER, *(name.upper() for name in names)])


def cells_of(line: str) -> list[str]:
    r"""Cut a line into cells: at tabs if it has one, else at runs of blanks and nowhere else.

    Parameters
    ----------
    line : str
        A line of a file of columns.

    Returns
    -------
    list of str
        The cells.

    Examples
    --------
    >>> cells_of("New York\tB-LOC"), cells_of("Rome  NNP"), cells_of("form\x0cfeed")
    (['New York', 'B-LOC'], ['Rome', 'NNP'], ['form\x0cfeed'])
    """
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


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
        The file; gzip, bzip2 and xz are decompressed.
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
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
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


CONLL_FORMAT = Format("conll", "sentences", is_conll, _read, write_conll, (".tsv", ".conll", ".iob", ".bio"))


_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_KEPT = (("lemma", 2), ("upos", 3), ("xpos", 4), ("feats", 5), ("deps", 8), ("misc", 9))
_NUMBERS = {str(number): number for number in range(1000)}
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
_EXTRA = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})|(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")
_FORBIDDEN = re.compile("[\t\n\r\0]")
_LINE_END = re.compile("[\n\r\0]")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


def read_conllu(path: FilePath) -> Iterator[Tree]:
    r"""Read trees from a CoNLL-U file, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are decompressed.

    Yields
    ------
    Tree
        Its sentence has the columns ``lemma``, ``upos``, ``xpos``, ``feats``, ``deps``, ``misc`` and, as `comments`,
        the lines before it (with their ``#``; a blank line too many is ``""``). A head ``_`` is -1. Multiword ranges,
        empty nodes and comments between words are `extras`, as they stand.

    Raises
    ------
    FormatError
        With ``path:line:``, if a line has not ten filled columns, ids do not count up from 1, a multiword range overlaps
        another or goes beyond the sentence, or a head is no word of the sentence; if there is no sentence at all; or
        if comments are left over at the end of the file.

    Notes
    -----
    Heads need not make a tree: a sentence without a root, with several roots or with a cycle is read as it stands, and
    so are empty nodes whose decimals do not count up. Who needs a tree checks for one.

    `write_conllu` gives the same bytes back for every file with ``\n`` line ends and one blank line at its end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> _ = target.write_text("1\tRome\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tfell\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    >>> [(t.sentence.tokens, t.heads) for t in read_conllu(target)]
    [(('Rome', 'fell'), (2, 0))]
    """
    share = Sharing()
    block = _Block()
    number = 0
    has_any = False
    for number, line in read_lines(path):
        if max(len(block.before), len(block.rows), len(block.extras)) == MAX_LINES:
            raise FormatError(path, number, f"expected a sentence of at most {MAX_LINES:,} lines, got a longer one.")
        if line[:1].isdigit():
            block.add_row(path, number, line)
        elif line.strip(" \t"):
            block.add_comment(path, number, line)
        elif block.rows:
            yield _tree(path, block, share)
            block, has_any = _Block(), True
        elif block.extras:
            raise FormatError(path, number, "expected words in the sentence, got only ranges or empty nodes.")
        else:
            block.before.append("")
    if block.rows:
        yield _tree(path, block, share)
    elif any([*block.extras, *block.before]):
        raise FormatError(path, number, "expected words after the comments, got the end of the file.")
    elif not has_any:
        raise FormatError(path, None, "expected sentences in CoNLL-U, got only blank lines.")


@dataclass(slots=True)
class _Block:
    """Lines of one sentence, as far as they are read."""

    before: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    extras: list[tuple[int, str]] = field(default_factory=list)
    first: int = 0  # line of the first row or extra
    last_range: tuple[int, int] = (0, 0)  # last word and line of the multiword range read last

    def add_comment(self, path: FilePath, number: int, line: str) -> None:
        """Take a line that must be a comment."""
        if line[0] != "#":
            _refuse_columns(path, number, line, line.split("\t"))
        if self.rows or self.extras:
            self.extras.append((len(self.rows), line))
        else:
            self.before.append(line)

    def add_row(self, path: FilePath, number: int, line: str) -> None:
        """Take a line that starts with an id."""
        rows = self.rows
        if not rows and not self.extras:
            self.first = number
        cells = line.split("\t")
        if len(cells) != 10 or "" in cells:
            _refuse_columns(path, number, line, cells)
        if cells[0] == str(len(rows) + 1):
            rows.append(cells)
        else:
            self.last_range = _check_extra(path, number, cells[0], len(rows), self.last_range)
            self.extras.append((len(rows), line))


def _tree(path: FilePath, block: _Block, share: Sharing) -> Tree:
    n_words = len(block.rows)
    end, number = block.last_range
    if end > n_words:
        raise FormatError(path, number, f"expected a range within the sentence (1 to {n_words}), got one up to {end}.")
    columns = tuple(map(share, zip(*block.rows, strict=True)))
    heads = []
    for word, text in enumerate(columns[6], start=1):
        head = _NUMBERS.get(text)
        if head is None:
            head = _rare_head(text)
        if head < -1 or head > n_words or head == word:
            raise FormatError(
                path,
                block.first + word - 1 + sum(place < word for place, _ in block.extras),
                f"expected as head another word of the sentence (1 to {n_words}), 0 or _, got {shown(text)}.",
            )
        heads.append(head)
    sentence = Sentence(columns[1], {name: columns[index] for name, index in _KEPT}, tuple(block.before))
    return Tree(sentence, tuple(heads), columns[7], tuple(block.extras))


def _rare_head(text: str) -> int:
    """Return a head that is no small number: -1 if it is not known, -2 if it is none."""
    if text == "_":
        return -1
    return int(text) if _NUMBER.fullmatch(text) else -2


def _check_extra(path: FilePath, number: int, text: str, n_words: int, last_range: tuple[int, int]) -> tuple[int, int]:
    """Check the id of a line that is no word; return the last word of the last range so far, and its line."""
    match = _EXTRA.fullmatch(text)
    if match:
        start, end, node = match.groups()
        if node is not None and int(node) == n_words:
            return last_range
        if start and int(start) == n_words + 1 and int(end) >= int(start):
            if last_range[0] > n_words:
                raise FormatError(path, number, f"expected ranges that do not overlap, got {text} inside another.")
            return int(end), number
    raise FormatError(
        path,
        number,
        f"expected the id {n_words + 1}, a range from it ({n_words + 1}-{n_words + 2}) "
        f"or an empty node ({n_words}.1), got {shown(text)}.",
    )


def _refuse_columns(path: FilePath, number: int, line: str, cells: list[str]) -> NoReturn:
    if len(cells) == 10 and "" in cells:
        raise FormatError(path, number, f"expected 10 filled columns, got nothing in {_COLUMNS[cells.index('')]!r}.")
    if len(cells) == 10:
        raise FormatError(path, number, f"expected an id in the first column, got {shown(cells[0])}.")
    hint = " Columns must be separated by tabs." if len(cells) == 1 and len(line.split()) > 1 else ""
    raise FormatError(path, number, f"expected 10 columns, got {len(cells)}.{hint}")


def write_conllu(path: FilePath, trees: Iterable[Tree]) -> None:
    r"""Write trees as CoNLL-U; the file appears only when all of them are written.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    trees : iterable of Tree
        A column of `read_conllu` that a sentence lacks is written as ``_``; columns of other names are not written.

    Raises
    ------
    DataError
        If there is no tree, or one has no words or a cell that is no string, is empty or holds a tab or a line end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> write_conllu(target, [Tree(Sentence(("Rome", "fell")), (2, 0), ("nsubj", "root"))])
    >>> target.read_text().splitlines()[0]
    '1\tRome\t_\t_\t_\t_\t2\tnsubj\t_\t_'
    """
    index = 0
    with write_text_file(path) as file:
        for index, tree in enumerate(trees, start=1):
            file.write(conllu_text(tree, f"write_conllu: tree {index}"))
        if not index:
            raise DataError("write_conllu: there must be a tree, got none.")


def conllu_text(tree: Tree, who: str = "conllu_text") -> str:
    r"""Return one tree as it stands in a CoNLL-U file, with the blank line after it.

    Parameters
    ----------
    tree : Tree
        See `write_conllu`.
    who : str
        What to call it in messages.

    Returns
    -------
    str
        Its lines.

    Examples
    --------
    >>> conllu_text(Tree(Sentence(("Rome",)), (0,), ("root",)))
    '1\tRome\t_\t_\t_\t_\t0\troot\t_\t_\n\n'
    """
    if not isinstance(tree, Tree):
        raise DataError(f"{who} must be a Tree, got {shown(tree)}.")
    if not len(tree):
        raise DataError(f"{who} must have words, got none.")
    columns = _columns_of(tree)
    for name, column in zip(_COLUMNS, columns, strict=True):
        _check_cells(who, name, column)
    _check_comments(who, tree)
    lines = list(map("\t".join, zip(*columns, strict=True)))
    for place, line in reversed(tree.extras):
        lines.insert(place, line)
    return "\n".join([*tree.sentence.comments, *lines]) + "\n\n"


def _columns_of(tree: Tree) -> list[tuple[str, ...]]:
    sentence, n_words = tree.sentence, len(tree)
    unknown = ("_",) * n_words
    columns: list[tuple[str, ...]] = [unknown] * 10
    columns[0] = tuple(map(str, range(1, n_words + 1)))
    columns[1] = sentence.tokens
    columns[6] = tuple("_" if head == -1 else str(head) for head in tree.heads)
    columns[7] = tree.labels
    for name, place in _KEPT:
        columns[place] = sentence.columns.get(name, unknown)
    return columns


def _check_cells(who: str, name: str, column: tuple[str, ...]) -> None:
    for cell in column:
        if not isinstance(cell, str):
            raise DataError(f"{who}: {name} must be a string, got {shown(cell)}.")
        if not cell or _FORBIDDEN.search(cell):
            raise DataError(f"{who}: {name} must be filled and hold no tab or line end, got {shown(cell)}.")


def _check_comments(who: str, tree: Tree) -> None:
    comments = tree.sentence.comments
    for line in (*comments, *(line for _, line in tree.extras)):
        if not isinstance(line, str) or _LINE_END.search(line):
            raise DataError(f"{who}: a comment or extra must be one line, got {shown(line)}.")
    for line in comments:
        if line and line[0] != "#":
            raise DataError(f"{who}: a comment must start with #, got {shown(line)}.")


def is_conllu(head: Head) -> bool:
    """Tell whether the first line that is no comment has ten columns after an id."""
    words = next((line for line in head.filled if not line.startswith("#")), "").split("\t")
    return len(words) == 10 and _ID.fullmatch(words[0]) is not None


CONLLU_FORMAT = Format("conllu", "trees", is_conllu, read_conllu, write_conllu, (".conllu",))


def read_conllu_plus(path: FilePath) -> Iterator[Sentence]:
    r"""Read sentences with the columns that the file names.

    Parameters
    ----------
    path : path-like
        The file; lines that start with ``#`` are comments.

    Yields
    ------
    Sentence
        Columns in lower case, ``form`` as the tokens; ids are passed over.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.conllup"
    >>> _ = target.write_text("# global.columns = ID FORM TAG\n1\tRome\tB-LOC\n2\tfell\tO\n\n")
    >>> [(s.tokens, dict(s.columns)) for s in read_conllu_plus(target)]
    [(('Rome', 'fell'), {'tag': ('B-LOC', 'O')})]
    """
    source = as_source(path)
    head = Head.of(source)
    if not is_conllu_plus(head):
        raise FormatError(path, 1, f"expected '{COLUMNS_HEADER} ... FORM ...', which names the columns.")
    names = head.lines[0].removeprefix(COLUMNS_HEADER).lower().split()
    layout = ["token" if name == "form" else "_" if name == "id" else name for name in names]
    if any(layout.count(name) > 1 for name in layout if name != "_"):
        raise FormatError(path, 1, "expected columns of different names, got one twice.")
    return read_conll(source, layout, separator="\t", comments=True)


def write_conllu_plus(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write sentences with a first line that names their columns, which are those of the first sentence.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        What to write; their comments are left out.
    """
    layout: list[str] = []

    def headed() -> Iterator[Sentence]:
        for number, sentence in enumerate(sentences):
            if number == 0:
                layout.extend(["token", *sentence.columns])
            named = " ".join("FORM" if name == "token" else name.upper() for name in layout)
            comments = (f"{COLUMNS_HEADER} {named}",) if number == 0 else ()
            yield Sentence(sentence.tokens, sentence.columns, comments)

    rows = headed()
    first = next(rows, None)
    write_conll(path, [first, *rows] if first is not None else [], layout or ["token"])


def is_conllu_plus(head: Head) -> bool:
    """Tell whether the first line names columns, one of them the form; the ten of CoNLL-U are plain CoNLL-U."""
    first = head.lines[0] if head.lines else ""
    names = first.removeprefix(COLUMNS_HEADER).lower().split()
    return first.startswith(COLUMNS_HEADER) and "form" in names and tuple(names) != _COLUMNS


CONLLU_PLUS_FORMAT = Format(
    "conllu-plus", "sentences", is_conllu_plus, read_conllu_plus, write_conllu_plus, (".conllup",)
)
