"""Which format a file is in, told by its content."""

from __future__ import annotations

import csv
import re
from typing import Literal, TypeAlias

from handful.core.errors import FormatError
from handful.corpora.opening import FilePath, first_chunk, open_bytes, refuse_lone_returns

Format: TypeAlias = Literal["table", "conll", "conllu", "text", "senseval"]

_SAMPLE = 2**16
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_XML = re.compile(r"\s*<(\?xml|!DOCTYPE|!--|corpus|lexelt)")


def detect(path: FilePath) -> Format:
    r"""Guess the format of a file from its first 64 KiB.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.

    Returns
    -------
    {"table", "conll", "conllu", "text", "senseval"}
        The format.

    Raises
    ------
    FileError
        If the file is missing or a folder.
    FormatError
        If it is empty or binary (other than Parquet).

    Notes
    -----
    In this order: Parquet and JSON lines are tables; what starts like XML is a lexical sample; ten tabs-separated
    columns after an id are CoNLL-U; rows of one equal number (two or more) of columns between commas or semicolons,
    with blank lines at the end at most, or between tabs, without any blank line, are a table; lines of one equal number
    of columns with blank lines between or after them are CoNLL; all else is text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> detect(target)
    'conll'
    """
    with open_bytes(path) as file:
        data = first_chunk(path, file, _SAMPLE)
    if data.startswith(b"PAR1"):
        return "table"
    if b"\0" in data:
        raise FormatError(path, None, "expected text, got a binary file (it holds NUL bytes).")
    refuse_lone_returns(path, data)
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if _XML.match(text):
        return "senseval"
    if text.lstrip().startswith("{"):
        return "table"
    lines = text.split("\n")
    if len(lines) > 1 and len(data) > _SAMPLE - 4:
        lines.pop()
    filled = [line for line in lines if line.strip(" \t")]
    words = next((line for line in filled if not line.startswith("#")), "").split("\t")
    if len(words) == 10 and _ID.fullmatch(words[0]):
        return "conllu"
    # What follows the last line end is no blank line.
    has_blank = any(not line.strip(" \t") for line in lines[:-1])
    only_at_end = all(line.strip(" \t") for line in lines[: len(filled)])
    if only_at_end and _has_equal_rows(filled, ",;" if has_blank else "\t,;"):
        return "table"
    tokens = [line for line in filled if not line.startswith("-DOCSTART-")]
    if has_blank and tokens:
        n_tabs = {line.count("\t") for line in tokens}
        n_words = {len(line.split()) for line in tokens}
        if (len(n_tabs) == 1 and n_tabs != {0}) or len(n_words) == 1:
            return "conll"
        uncommented = [line for line in tokens if not line.startswith("# ")]
        if uncommented and len({len(line.split()) for line in uncommented}) == 1:
            return "conll"
    return "text"


def _has_equal_rows(lines: list[str], separators: str) -> bool:
    for separator in separators:
        try:
            widths = {len(row) for row in csv.reader((line + "\n" for line in lines), delimiter=separator)}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return True
    return False
