"""Which column of a file of columns is what."""

from __future__ import annotations

from handful.corpora.formats.conll import COLUMNS_HEADER
from handful.corpora.opening import FilePath, read_lines

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
    for number, line in read_lines(path):
        if number == 1 and line.startswith(COLUMNS_HEADER):
            names = line.removeprefix(COLUMNS_HEADER).lower().split()
            return tuple("token" if name == "form" else name for name in names)
        if line.strip() and not line.startswith(("-DOCSTART-", "# ")):
            n = len(line.split("\t") if "\t" in line else line.split())
            return _USUAL.get(n) or ("token", *(f"column{number}" for number in range(2, n)), "tag")
    return ()
