"""Parquet: typed columns, packed."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.core.errors import FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import BATCH, MAX_CELLS, read_bounded, refuse_nested, refuse_size
from handful.corpora.formats.header import refuse_nameless
from handful.corpora.formats.panics import panics_unsaid
from handful.corpora.opening import FilePath, Source, as_source, write_bytes

if TYPE_CHECKING:
    import polars as pl

_READ_ALL = """
import io, sys, polars
rows, size = map(int, sys.argv[1:3])
lazy = polars.scan_parquet(sys.argv[3] if sys.argv[3:] else io.BytesIO(sys.stdin.buffer.read()))
for start in range(0, rows, size):
    lazy.slice(start, size).collect()
"""


def read_parquet(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read a Parquet file.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Whether to read it into memory as a whole, and to refuse what is too large for that.

    Yields
    ------
    polars.DataFrame
        Rows; at least one frame.
    """
    from polars.exceptions import PanicException, PolarsError

    try:
        yield from _frames(as_source(path), bounded)
    except FormatError:
        raise
    except (PolarsError, PanicException, OSError, ValueError, OverflowError, MemoryError):
        raise FormatError(path, None, "the Parquet data is damaged. Copy or write the file again.") from None


def _frames(source: Source, bounded: bool) -> Iterator[pl.DataFrame]:
    import polars as pl

    is_file = not source.is_packed and not source.is_stream
    place = Path(source) if is_file and not bounded else io.BytesIO(read_bounded(source))
    with panics_unsaid():
        lazy = pl.scan_parquet(place)
        schema = lazy.collect_schema()
    refuse_nameless(source, schema)
    refuse_nested(source, schema)
    with panics_unsaid():
        n_rows = lazy.select(pl.len()).collect().item() if len(schema) else 0
    # A few bytes of Parquet can stand for any number of equal cells.
    if bounded and n_rows * len(schema) > MAX_CELLS:
        refuse_size(source, None, f"{MAX_CELLS:,} cells")
    size = max(n_rows, 1) if bounded else BATCH
    if not _can_be_outlived(place, n_rows, size):
        raise ValueError
    for start in range(0, max(n_rows, 1), size):
        with panics_unsaid():
            frame = lazy.slice(start, size).collect()
        if any(len(column) != len(frame) for column in frame.iter_columns()):  # older polars do not look
            raise ValueError
        yield frame


def _can_be_outlived(place: Path | io.BytesIO, n_rows: int, size: int) -> bool:
    """Tell whether a process that reads all rows comes to its end.

    A damaged file can make polars ask for more memory than there is, and then the whole process is aborted. So a process
    of its own reads the file first; it takes a sixth of a second, and as long as reading does. Errors are not its matter.
    """
    name, data = ([str(place)], None) if isinstance(place, Path) else ([], place.getvalue())
    command = [sys.executable, "-P", "-c", _READ_ALL, str(n_rows), str(size), *name]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False)
    except OSError:  # there is no process to be had
        return True
    return done.returncode in (0, 1)


def write_parquet(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as Parquet.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    frames : iterable of polars.DataFrame
        Rows; held in memory until all of them are there.
    """
    write_whole(path, frames, lambda frame, buffer: frame.write_parquet(buffer))


def write_whole(path: FilePath, frames: Iterable[pl.DataFrame], write: Any) -> None:
    """Write all frames as one, in a format that cannot be written row by row."""
    import polars as pl

    buffer = io.BytesIO()
    write(pl.concat(list(frames), how="vertical_relaxed"), buffer)
    with write_bytes(path) as file:
        file.write(buffer.getbuffer())


def is_parquet(head: Head) -> bool:
    """Tell Parquet by its mark, or by its name, so that a damaged file is told as such."""
    return head.data.startswith(b"PAR1") or head.suffix == ".parquet"


FORMAT = Format("parquet", "table", is_parquet, read_parquet, write_parquet, (".parquet",), is_text=False)
