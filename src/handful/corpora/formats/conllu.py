"""CoNLL-U: dependency trees in ten columns, with comments, multiword ranges and empty nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from handful.core.errors import DataError, FormatError
from handful.core.records import Sentence, Tree
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.opening import MAX_LINES, FilePath, read_lines, write_text_file

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
        The file; gzip, bzip2 and xz are unpacked.

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
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
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


FORMAT = Format("conllu", "trees", is_conllu, read_conllu, write_conllu, (".conllu",))
