"""Tables too large for memory: the same files as `read_table` reads, some ten thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from handful.core.errors import FormatError
from handful.corpora.formats.cells import DELIMITED, delimited_frames, json_line_frames, refuse_nameless
from handful.corpora.opening import FilePath, bare_suffix, open_bytes

if TYPE_CHECKING:
    import polars as pl

_BATCH = 2**15


def table_frames(path: FilePath) -> Iterator[pl.DataFrame]:
    r"""Read a table piece by piece, as raw cells.

    Parameters
    ----------
    path : path-like
        CSV, TSV, JSON lines (packed or not) or Parquet.

    Yields
    ------
    polars.DataFrame
        The next rows. Cells of CSV and TSV are strings; the others have types, which may differ between pieces of
        JSON lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("x,label\n1,a\n2,\n")
    >>> [frame.rows() for frame in table_frames(target)]
    [[('1', 'a'), ('2', '')]]
    """
    with open_bytes(path) as file:
        start = file.peek(64)[:64]
    if start.startswith(b"PAR1"):
        return _parquet_frames(path)
    suffix = bare_suffix(path)
    if suffix == ".parquet":
        raise FormatError(path, None, "expected Parquet, as the name says, got another kind of file.")
    if suffix in (".jsonl", ".ndjson", ".json") or start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return json_line_frames(path)
    return delimited_frames(path, one_column=suffix in DELIMITED, bounded=False)


def _parquet_frames(path: FilePath) -> Iterator[pl.DataFrame]:
    import polars as pl
    from polars.exceptions import PanicException, PolarsError

    with open(path, "rb") as file:
        packed = file.read(4) != b"PAR1"
    if packed:
        raise FormatError(path, None, "expected plain Parquet, got a packed file. Unpack it first.")
    start = 0
    while True:
        try:
            frame = pl.scan_parquet(Path(path)).slice(start, _BATCH).collect()
        except (PolarsError, PanicException, OSError):
            raise FormatError(path, None, "the Parquet data is damaged. Copy or write the file again.") from None
        refuse_nameless(path, frame.columns)
        if frame.height or start == 0:
            yield frame
        if frame.height < _BATCH:
            return
        start += frame.height
