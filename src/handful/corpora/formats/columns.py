"""Which column of a file of columns is what."""

from __future__ import annotations

from handful.corpora.formats.format import Head
from handful.corpora.opening import FilePath, as_source

COLUMNS_HEADER = "# global.columns ="
"""How a first line starts that names the columns, as in CoNLL-U Plus."""

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
    for number, line in enumerate(Head.of(as_source(path)).lines, start=1):
        if number == 1 and line.startswith(COLUMNS_HEADER):
            names = line.removeprefix(COLUMNS_HEADER).lower().split()
            return tuple("token" if name == "form" else name for name in names)
        if line.strip() and not line.startswith(("-DOCSTART-", "# ")):
            n = len(cells_of(line))
            return _USUAL.get(n) or ("token", *(f"column{number}" for number in range(2, n)), "tag")
    return ()


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
