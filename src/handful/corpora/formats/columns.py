"""Which column of a file of columns is what."""

from __future__ import annotations

from collections.abc import Iterable

from handful.corpora.formats.format import Head
from handful.corpora.opening import FilePath, as_source

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
