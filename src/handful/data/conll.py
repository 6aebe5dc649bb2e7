"""CoNLL columns, CoNLL-U and CoNLL-U Plus."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from handful.data.files import MAX_LINES, FilePath, as_source, read_lines, refuse_mark, shown, write_text_file
from handful.data.formats import Format, Head
from handful.data.records import Sentence, Tree
from handful.errors import DataError, FormatError, ParameterError, counted

COLUMNS_HEADER = "# global.columns ="
"""Start of a first line that names the columns, as in CoNLL-U Plus."""

IN_DOUBT = "# in doubt:"
"""Start of a line on what to check in the sentence below; no reader keeps it."""

NOT_TAGS = ("id", "lemma", "feats", "head", "deprel", "deps", "misc", "start", "end", "confidence", "given")
"""Named columns that hold no tags, of CoNLL-U and of what `handful predict` writes."""


def guess_columns(path: FilePath) -> tuple[str, ...]:
    r"""Return names for the columns of a file: those of its first line, else names by their number.

    Parameters
    ----------
    path : path-like
        One token a line, with tabs or spaces between columns.

    Returns
    -------
    tuple of str
        The token first, the tag last. Between them are ``pos`` and ``chunk``, or ``column2``, ``column3`` and so on if
        there are more than four columns. Empty if the file has no token.

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
    lines = (line for line in Head.of(source).lines if line.strip() and not line.startswith(("-DOCSTART-", "# ")))
    n = len(cells_of(next(lines, "")))
    usual = {1: ("token",), 2: ("token", "tag"), 3: ("token", "pos", "tag"), 4: ("token", "pos", "chunk", "tag")}
    return usual.get(n) or (() if n == 0 else ("token", *(f"column{number}" for number in range(2, n)), "tag"))


def named_columns(path: FilePath) -> tuple[str, ...]:
    """Return the names in the first line of a file, lower-cased and ``form`` as ``token``; see `guess_columns`."""
    first = next(iter(Head.of(as_source(path)).lines), "")
    if not first.startswith(COLUMNS_HEADER):
        return ()
    names = first.removeprefix(COLUMNS_HEADER).lower().split()
    return tuple("token" if name == "form" else name for name in names)


def cells_of(line: str) -> list[str]:
    r"""Split a line into cells: at tabs if it has one, else at runs of spaces and nowhere else.

    Examples
    --------
    >>> cells_of("New York\tB-LOC"), cells_of("Rome  NNP"), cells_of("form\x0cfeed")
    (['New York', 'B-LOC'], ['Rome', 'NNP'], ['form\x0cfeed'])
    """
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def share(strings: Iterable[str]) -> tuple[str, ...]:
    """Return strings as a tuple; equal strings are one object, which keeps large corpora small."""
    return tuple(map(sys.intern, strings))


_DOCUMENT = "-DOCSTART-"
_SPACES = " \t"
# A carriage return before the line end would be read as part of it; NUL occurs in binary files only.
_IN_NO_CELL = re.compile("[\t\n\r\0]|^$")
_IN_NO_ROW = re.compile("[\t\n\r\0]|^ *$")  # a line of spaces alone would be read as the end of the sentence
_IN_NO_WORD = re.compile("[ \t\n\r\0]|^$")


def read_conll(path: FilePath, columns: Sequence[str] = ("token", "pos", "chunk", "ner")) -> Iterator[Sentence]:
    r"""Read sentences from a file of columns, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are decompressed.
    columns : sequence of str
        Name of each column, left to right. One is ``"token"``; ``"_"`` skips a column.

    Yields
    ------
    Sentence
        Its `comments` hold the lines before it that are no tokens: the first line if it names the columns
        (``# global.columns = FORM TAG``), document lines (``-DOCSTART-``) and extra blank lines. `write_conll` writes them back.

    Raises
    ------
    FormatError
        ``path:line: expected 4 columns (token, pos, chunk, ner), got 3``; also if there is no sentence at all, or if
        document lines are left over at the end of the file.

    Notes
    -----
    Tabs separate columns if the first token line has one, else spaces. With spaces, a run of spaces and tabs is one
    separator. With tabs, cells may hold spaces but not be empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> [(s.tokens, s["pos"]) for s in read_conll(target, ("token", "pos"))]
    [(('Rome', 'fell'), ('NNP', 'VBD'))]
    """
    return _sentences(path, _checked_names("read_conll", columns))


def _sentences(path: FilePath, names: tuple[str, ...]) -> Iterator[Sentence]:
    separator, number = None, 0
    before: list[str] = []
    rows: list[list[str]] = []
    for number, line in read_lines(path):
        if line.startswith(IN_DOUBT):
            continue
        is_blank = not line.strip(_SPACES)
        if not (is_blank or _is_document_line(line) or (number == 1 and line.startswith(COLUMNS_HEADER))):
            separator = separator or ("\t" if "\t" in line else " ")
            row = line.split("\t") if separator == "\t" else list(filter(None, line.replace("\t", " ").split(" ")))
            if len(row) != len(names) or "" in row:
                _check_row(path, number, row, names)
            rows.append(row)
            if len(rows) > MAX_LINES:
                raise FormatError(path, number, f"expected a blank line after at most {MAX_LINES:,} tokens, got none.")
        else:
            if rows:
                yield _sentence(names, rows, before)
                before, rows = [], []
                if is_blank:
                    continue
            before.append("" if is_blank else line)
            if len(before) > MAX_LINES:
                raise FormatError(path, number, f"expected a token after at most {MAX_LINES:,} other lines, got none.")
    if rows:
        yield _sentence(names, rows, before)
    elif separator is None:
        raise FormatError(path, None, "expected sentences, one token a line, got none.")
    elif any(before):
        raise FormatError(path, number, "expected tokens after the document line, got the end of the file.")


def _sentence(names: tuple[str, ...], rows: list[list[str]], before: list[str]) -> Sentence:
    columns = dict(zip(names, map(share, zip(*rows, strict=True)), strict=True))
    tokens = columns.pop("token")
    columns.pop("_", None)
    return Sentence(tokens, columns, tuple(before))


def _is_document_line(line: str) -> bool:
    return line.startswith(_DOCUMENT) and line[len(_DOCUMENT) :][:1] in ("", " ", "\t")


def _check_row(path: FilePath, number: int, row: list[str], names: tuple[str, ...]) -> None:
    expected = f"expected {counted(len(names), 'column')} ({', '.join(names)})"
    if len(row) != len(names):
        raise FormatError(path, number, f"{expected}, got {len(row)}.")
    for name, cell in zip(names, row, strict=True):
        if not cell and name != "_":
            raise FormatError(path, number, f"{expected}, got nothing in column {shown(name)}.")


def _checked_names(caller: str, columns: Sequence[str]) -> tuple[str, ...]:
    names = tuple(columns)
    if isinstance(columns, str) or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(f"{caller}: columns must be a list of names, got {shown(columns)}.")
    named = [name for name in names if name != "_"]
    if len(set(named)) != len(named):
        raise ParameterError(f"{caller}: the names of columns must differ, got {', '.join(named)}.")
    if "token" not in names:
        raise ParameterError(f"{caller}: one of the columns must be named 'token', got {', '.join(names) or 'none'}.")
    return names


def write_conll(
    path: FilePath, sentences: Iterable[Sentence], columns: Sequence[str] = ("token", "pos", "chunk", "ner")
) -> None:
    r"""Write sentences as columns with tabs; the file appears only when all of them are written.

    Parameters
    ----------
    path : path-like
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    sentences : iterable of Sentence
        Each has all the `columns`. Their `comments` are written before them: blank lines, document lines, and lines
        that start with ``#``.
    columns : sequence of str
        Name of each column, left to right; ``"token"`` is that of the tokens.

    Raises
    ------
    DataError
        If there is no sentence, or one has no tokens, lacks a column, or would be read back as something else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_conll(target, [Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")})], ("token", "pos"))
    >>> target.read_text()
    'Rome\tNNP\nfell\tVBD\n\n'
    """
    names = _checked_names("write_conll", columns)
    if "_" in names:
        raise ParameterError("write_conll: every column must have a name, got '_'.")
    index = 0
    with write_text_file(path) as file:
        for index, sentence in enumerate(sentences, start=1):
            lines = [*sentence.comments, *_checked_lines(f"write_conll: sentence {index}", sentence, names)]
            if index == 1:
                refuse_mark("write_conll", lines[0])
            file.write("\n".join(lines) + "\n\n")
        if not index:
            raise DataError("write_conll: there must be a sentence, got none.")


def _checked_lines(place: str, sentence: Sentence, names: tuple[str, ...]) -> list[str]:
    if not len(sentence):
        raise DataError(f"{place} must have tokens, got none.")
    cells = [sentence.tokens if name == "token" else sentence[name] for name in names]
    for name, column in zip(names, cells, strict=True):
        _check_cells(f"{place}: a cell of column {shown(name)}", column, _IN_NO_ROW if len(names) > 1 else _IN_NO_WORD)
    lines = list(map("\t".join, zip(*cells, strict=True)))
    if any(map(_is_document_line, lines)):
        raise DataError(f"{place}: a line must not start with {_DOCUMENT}, which begins a document.")
    _check_comments(place, sentence.comments, documents=True)
    return lines


def _check_cells(what: str, column: tuple[str, ...], forbidden: re.Pattern[str]) -> None:
    for cell in column:
        if not isinstance(cell, str) or forbidden.search(cell):
            separator = "space" if forbidden is _IN_NO_WORD else "tab"
            raise DataError(f"{what} must be filled and hold no {separator} or line end, got {shown(cell)}.")


def _check_comments(place: str, comments: Sequence[str], extras: Iterable[str] = (), documents: bool = False) -> None:
    for line in (*comments, *extras):
        if set("\n\r\0") & set(line):
            raise DataError(f"{place}: a comment or extra must be one line, got {shown(line)}.")
    for line in comments:
        if line and line[0] != "#" and not (documents and _is_document_line(line)):
            raise DataError(f"{place}: a comment must start with #, got {shown(line)}.")


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


CONLL_FORMAT = Format("conll", "sentences", is_conll, _read)


_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_KEPT = (("lemma", 2), ("upos", 3), ("xpos", 4), ("feats", 5), ("deps", 8), ("misc", 9))
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
        empty nodes and comments between words are `extras`, unchanged.

    Raises
    ------
    FormatError
        With ``path:line:``, if a line has not ten filled columns, ids do not count up from 1, or a head is no word of the
        sentence; if there is no sentence at all; or if comments are left over at the end of the file.

    Notes
    -----
    Heads need not make a tree: a sentence without a root, with several roots or with a cycle is read unchanged, and
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
    before: list[str] = []
    lines: list[str] = []
    number = 0
    has_any = False
    for number, line in read_lines(path):
        if max(len(before), len(lines)) == MAX_LINES:
            raise FormatError(path, number, f"expected a sentence of at most {MAX_LINES:,} lines, got a longer one.")
        text = line.strip(_SPACES)
        if lines and not text:
            yield _tree(path, number - len(lines), before, lines)
            before, lines, has_any = [], [], True
        elif lines or line[:1].isdigit():
            lines.append(line)
        elif text and line[0] != "#":
            _refuse_columns(path, number, line)
        else:
            before.append(line if text else "")
    if lines:
        yield _tree(path, number - len(lines) + 1, before, lines)
    elif any(before):
        raise FormatError(path, number, "expected words after the comments, got the end of the file.")
    elif not has_any:
        raise FormatError(path, None, "expected sentences in CoNLL-U, got only blank lines.")


def _tree(path: FilePath, first: int, before: list[str], lines: list[str]) -> Tree:
    """Return the tree of some lines; `first` is the number of the first one."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    extras: list[tuple[int, str]] = []
    for number, line in enumerate(lines, first):
        cells = line.split("\t")
        if line[0] == "#":
            extras.append((len(rows), line))
            continue
        if len(cells) != 10 or "" in cells or not line[0].isdigit():
            _refuse_columns(path, number, line)
        if cells[0] == str(len(rows) + 1):
            rows.append(cells)
            numbers.append(number)
        elif cells[0].startswith((f"{len(rows) + 1}-", f"{len(rows)}.")) and _ID.fullmatch(cells[0]):
            extras.append((len(rows), line))
        else:
            n = len(rows) + 1
            message = f"expected the id {n}, a range from it ({n}-{n + 1}) or an empty node ({n - 1}.1), got {shown(cells[0])}."
            raise FormatError(path, number, message)
    if not rows:
        message = "expected words in the sentence, got only ranges or empty nodes."
        raise FormatError(path, first + len(lines), message)
    columns = list(map(share, zip(*rows, strict=True)))
    sentence = Sentence(columns[1], {name: columns[index] for name, index in _KEPT}, tuple(before))
    return Tree(sentence, _heads(path, numbers, columns[6]), columns[7], tuple(extras))


def _heads(path: FilePath, numbers: list[int], texts: tuple[str, ...]) -> tuple[int, ...]:
    known = {"_": -1} | {str(head): head for head in range(len(texts) + 1)}
    heads = tuple(known.get(text, -2) for text in texts)
    for word, (number, head) in enumerate(zip(numbers, heads, strict=True), start=1):
        if head == -2 or head == word:
            raise FormatError(
                path,
                number,
                f"expected as head another word of the sentence (1 to {len(texts)}), 0 or _, got {shown(texts[word - 1])}.",
            )
    return heads


def _refuse_columns(path: FilePath, number: int, line: str) -> NoReturn:
    cells = line.split("\t")
    if len(cells) == 10 and "" in cells:
        raise FormatError(path, number, f"expected 10 filled columns, got nothing in {_COLUMNS[cells.index('')]!r}.")
    if len(cells) == 10:
        raise FormatError(path, number, f"expected an id in the first column, got {shown(cells[0])}.")
    hint = " Columns must be separated by tabs." if len(cells) == 1 and len(line.split()) > 1 else ""
    raise FormatError(path, number, f"expected CoNLL-U with 10 columns, got {len(cells)}.{hint}")


def write_conllu(path: FilePath, trees: Iterable[Tree]) -> None:
    r"""Write trees as CoNLL-U; the file appears only when all of them are written.

    Parameters
    ----------
    path : path-like
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
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


def conllu_text(tree: Tree, place: str = "conllu_text") -> str:
    r"""Return one tree as CoNLL-U, with the blank line after it; see `write_conllu`.

    Parameters
    ----------
    tree : Tree
        The tree.
    place : str
        Start of messages.

    Examples
    --------
    >>> conllu_text(Tree(Sentence(("Rome",)), (0,), ("root",)))
    '1\tRome\t_\t_\t_\t_\t0\troot\t_\t_\n\n'
    """
    if not len(tree):
        raise DataError(f"{place} must have words, got none.")
    sentence = tree.sentence
    unknown = ("_",) * len(tree)
    columns: list[tuple[str, ...]] = [unknown] * 10
    columns[0] = tuple(map(str, range(1, len(tree) + 1)))
    columns[1] = sentence.tokens
    columns[6] = tuple("_" if head == -1 else str(head) for head in tree.heads)
    columns[7] = tree.labels
    for name, index in _KEPT:
        columns[index] = sentence.columns.get(name, unknown)
    for name, column in zip(_COLUMNS, columns, strict=True):
        _check_cells(f"{place}: {name}", column, _IN_NO_CELL)
    _check_comments(place, sentence.comments, (line for _, line in tree.extras))
    lines = list(map("\t".join, zip(*columns, strict=True)))
    for index, line in reversed(tree.extras):
        lines.insert(index, line)
    return "\n".join([*sentence.comments, *lines]) + "\n\n"


def is_conllu(head: Head) -> bool:
    """Tell whether the first line that is no comment has ten columns after an id."""
    words = next((line for line in head.filled if not line.startswith("#")), "").split("\t")
    return len(words) == 10 and _ID.fullmatch(words[0]) is not None


CONLLU_FORMAT = Format("conllu", "trees", is_conllu, read_conllu)
