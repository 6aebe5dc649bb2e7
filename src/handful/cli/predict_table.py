"""Labels for the rows of a table, piece by piece."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.console import console, visible
from handful.core.counted import counted
from handful.core.errors import FormatError, ParameterError
from handful.core.number_forms import MISSING

if TYPE_CHECKING:
    import polars as pl

    from handful.cli.new_tables import NewTable
    from handful.cli.options import Run
    from handful.methods.table_model import TableModel

_ENOUGH_CELLS = 10  # a few odd cells are told, a whole table of them is refused


def predict_table(
    model: TableModel,
    data: Path,
    run: Run,
    abstain: float | None,
    names: tuple[str, str],
    *,
    safe_csv: bool = False,
) -> None:
    """Write a table again with two more columns: answer and confidence.

    Parameters
    ----------
    model : TableModel
        The model.
    data : Path
        The table.
    run : Run
        Where to: a file, as the kind of table that its name asks for, CSV with the separator and decimal commas of the
        table; or stdout, as CSV or JSON lines.
    abstain : float or None
        Answers less sure than this are left blank.
    names : tuple of str
        Names of the two columns.
    safe_csv : bool
        Whether texts that a spreadsheet would run as formulas get an apostrophe.
    """
    import polars as pl

    from handful.cli.new_tables import open_table
    from handful.cli.table_files import write_cells
    from handful.corpora.formats import format_for
    from handful.corpora.tables import table_frames, without_formulas

    output = run.output
    if output is not None:
        format_for(output, "table")  # refuses a name of no kind of table, before any work
    n_rows = n_blank = n_empty = 0
    unreadable: Counter[str] = Counter()

    def checked() -> Iterator[pl.DataFrame]:
        for frame in table_frames(data):
            _check_names(data, frame, names)
            _check_columns(data, frame, model.columns_)
            yield frame

    table = open_table(model, data, checked())
    for note in [*_told_mostly_unreadable(data, table), *table.notes]:
        _tell(f"{data}: {note}")

    def answered() -> Iterator[pl.DataFrame]:
        nonlocal n_rows, n_blank, n_empty
        for frame, cells in table.frames:
            labels, confidence = table.model.predict_with_confidence(cells)
            unreadable.update(table.model.unreadable(cells))
            n_empty += _n_empty(frame, model.columns_)
            answers = pl.Series(names[0], labels.tolist(), strict=False)
            if abstain is not None:
                blank = ~(confidence >= abstain)
                answers = answers.set(pl.Series(blank), None)
                n_blank += int(blank.sum())
            n_rows += frame.height
            shares = pl.Series(names[1], confidence).round(4).fill_nan(None)
            # An empty cell stays as it was, without quotes.
            full = frame.with_columns(pl.col(pl.String).replace({"": None})).with_columns(answers, shares)
            yield without_formulas(full) if safe_csv else full

    if output is not None:
        write_cells(output, answered(), like=data)
    else:
        for number, frame in enumerate(answered()):
            text = frame.write_ndjson() if run.as_json else frame.write_csv(include_header=number == 0)
            if sys.stdout.isatty():
                sys.stdout.write(visible(text))
            else:
                sys.stdout.buffer.write(text.encode())
    if not n_rows:
        _tell(f"{data}: has no rows, but a header alone.")
    if unreadable:
        from handful.features.tables import told_unreadable

        _tell(f"{data}: {told_unreadable(unreadable, n_rows)}")
    if n_empty:
        rows = counted(n_empty, "row", "is/are")
        _tell(f"{data}: {rows} empty in every column that the model reads; what it answers there means nothing.")
    told = f"{counted(n_rows, 'row')} answered"
    if abstain is not None:
        told = f"{n_rows - n_blank:,} of {told}, {n_blank:,} left blank below a confidence of {abstain:g}"
    where = f" in {output}" if output is not None else ""
    console(stderr=True).print(f"{told}{where}.", style="dim", soft_wrap=True)


def _tell(note: str) -> None:
    console(stderr=True).print(note, style="yellow", soft_wrap=True, markup=False)


def _told_mostly_unreadable(data: Path, table: NewTable) -> list[str]:
    """Tell of columns that are hardly numbers, before any answer; raise if no cell of any numeric column can be read."""
    from handful.features.tables import told_mostly_unreadable

    counts, filled = table.model.unreadable(table.first), table.model.filled(table.first)
    if sum(filled.values()) >= _ENOUGH_CELLS and counts == {name: n for name, n in filled.items() if n}:
        name = max(counts, key=lambda name: counts[name])
        raise FormatError(
            data,
            None,
            f"expected numbers in {', '.join(map(repr, list(counts)[:5]))}, got no cell that can be read as one, such as "
            f"{_first_filled(table.first[name])!r}. "
            + (" ".join(table.notes) or "Is this the kind of table that the model was trained on?"),
        )
    return told_mostly_unreadable(counts, filled)


def _first_filled(cells: pl.Series) -> str:
    return next(str(cell) for cell in cells if cell is not None and str(cell).strip().lower() not in MISSING)


def _n_empty(frame: pl.DataFrame, columns: Collection[str]) -> int:
    """Count the rows that hold nothing in some columns."""
    import polars as pl
    import polars.selectors as cs

    from handful.features.frames import frame_like

    cells = (
        frame_like(frame, columns).select(list(columns)).with_columns(cs.string().str.strip_chars().replace({"": None}))
    )
    return int(cells.select(pl.all_horizontal(pl.all().is_null()).sum()).item())


def _check_columns(data: Path, frame: pl.DataFrame, columns: Collection[str]) -> None:
    from difflib import get_close_matches

    from handful.features.frames import frame_like

    missing = [name for name in columns if name not in frame_like(frame, columns).columns]
    if missing:
        others = {name.casefold(): name for name in frame.columns if name not in columns}
        near = get_close_matches(missing[0].casefold(), others, n=1)
        hint = f" Is {missing[0]!r} called {others[near[0]]!r} there?" if near else ""
        told = ", ".join(map(repr, missing[:5]))
        raise FormatError(
            data, None, f"expected the columns that the model was trained on, got none named {told}.{hint}"
        )


def _check_names(data: Path, frame: pl.DataFrame, names: tuple[str, str]) -> None:
    for name, option in zip(names, ("--column", "--confidence"), strict=True):
        if name in frame.columns:
            raise ParameterError(f"{data}: has a column {name!r} already. Choose another name with {option}.")
