"""Arrow files, which are also called Feather (version 2)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from handful.core.errors import FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import MAX_CELLS, read_bounded, refuse_nested, refuse_size
from handful.corpora.formats.header import refuse_nameless
from handful.corpora.formats.panics import panics_unsaid
from handful.corpora.formats.parquet import write_whole
from handful.corpora.opening import FilePath

if TYPE_CHECKING:
    import polars as pl


def read_arrow(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read an Arrow (Feather) file.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Not used: the file is read as a whole in any case.

    Yields
    ------
    polars.DataFrame
        All rows.
    """
    import polars as pl
    from polars.exceptions import PanicException, PolarsError

    data = read_bounded(path)
    try:
        with panics_unsaid():
            frame = pl.read_ipc(io.BytesIO(data))
    except (PolarsError, PanicException, OSError, ValueError, OverflowError, MemoryError):
        raise FormatError(path, None, "the Arrow data is damaged. Copy or write the file again.") from None
    refuse_nameless(path, frame.columns)
    refuse_nested(path, frame.schema)
    if frame.height * frame.width > MAX_CELLS:
        refuse_size(path, None, f"{MAX_CELLS:,} cells")
    yield frame


def write_arrow(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as an Arrow file.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    frames : iterable of polars.DataFrame
        Rows; held in memory until all of them are there.
    """
    write_whole(path, frames, lambda frame, buffer: frame.write_ipc(buffer))


def is_arrow(head: Head) -> bool:
    """Tell an Arrow file by its mark, or by its name."""
    return head.data.startswith(b"ARROW1") or head.suffix in FORMAT.suffixes


FORMAT = Format("arrow", "table", is_arrow, read_arrow, write_arrow, (".arrow", ".feather", ".ipc"), is_text=False)
