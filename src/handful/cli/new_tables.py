"""New tables for a model: the numbers of a whole file are read in one way, which its first rows tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from handful.methods.table_model import TableModel

_MOST_HELD = 200_000  # rows that are looked at where it is open how numbers are written


class NewTable(NamedTuple):
    """A table that comes piece by piece, and the model that reads its numbers as they are written there."""

    model: TableModel
    frames: Iterator[tuple[pl.DataFrame, pl.DataFrame]]
    first: pl.DataFrame
    notes: list[str]


def open_table(model: TableModel, data: Path, frames: Iterator[pl.DataFrame]) -> NewTable:
    """Tell from the first rows of a table how its numbers are written.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    data : Path
        The table, which is looked at once more if it is a workbook.
    frames : iterator of polars.DataFrame
        Its pieces, which have the columns of the model.

    Returns
    -------
    NewTable
        Pieces come in pairs: as they stand in the file, and with the numbers of a workbook as numbers. `first` are the rows
        that were looked at; `notes` tell what they leave open.
    """
    import polars as pl

    from handful.features.frames import frame_like

    pieces = _with_numbers(data, frames)
    held: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    first = pl.DataFrame()
    forms = None
    for piece in pieces:
        held.append(piece)
        new = frame_like(piece[1], model.columns_)
        new = new.select(name for name in model.columns_ if name in new.columns)
        first = pl.concat([first, new], how="diagonal_relaxed")
        forms = model.forms_of_new(first)
        if not forms.is_open or first.height >= _MOST_HELD:
            break
    reader = model if forms is None else model.reading(forms.forms)
    return NewTable(reader, chain(held, pieces), first, [] if forms is None else forms.notes)


def _with_numbers(data: Path, frames: Iterator[pl.DataFrame]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    from handful.corpora.opening import bare_suffix

    is_workbook = bare_suffix(data) in (".xlsx", ".xlsm") and data.is_file()
    for frame in frames:
        if is_workbook:
            from handful.corpora.formats.excel import with_numbers

            yield frame, with_numbers(data, frame)
        else:
            yield frame, frame
