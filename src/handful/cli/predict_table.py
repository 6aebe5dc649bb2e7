"""Labels for the rows of a table, piece by piece."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from handful.cli.console import console
from handful.core.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from handful.methods.table_model import TableModel


def predict_table(
    model: TableModel, data: Path, output: Path | None, abstain: float | None, names: tuple[str, str]
) -> None:
    """Write a table again with two more columns: answer and confidence.

    Parameters
    ----------
    model : TableModel
        The model.
    data : Path
        The table.
    output : Path or None
        Where to; None is stdout.
    abstain : float or None
        Answers less sure than this are left blank.
    names : tuple of str
        Names of the two columns.
    """
    import polars as pl

    from handful.corpora.opening import write_bytes
    from handful.corpora.tables import table_frames

    write = _writer(output)
    n_rows = n_blank = 0
    unreadable: Counter[str] = Counter()
    target: Any = nullcontext(sys.stdout.buffer) if output is None else write_bytes(output)
    with target as file:
        for number, frame in enumerate(table_frames(data)):
            _check_names(data, frame, names)
            labels, confidence = model.predict_with_confidence(frame)
            unreadable.update(model.unreadable(frame))
            answers = pl.Series(names[0], labels.tolist(), strict=False)
            if abstain is not None:
                blank = ~(confidence >= abstain)
                answers = answers.set(pl.Series(blank), None)
                n_blank += int(blank.sum())
            n_rows += frame.height
            shares = pl.Series(names[1], confidence).round(4).fill_nan(None)
            write(frame.with_columns(answers, shares), file, number == 0)
    if unreadable:
        columns = ", ".join(f"{name!r} ({n:,})" for name, n in unreadable.most_common(5))
        note = f"{data}: cells of numeric columns that are no numbers count as empty: {columns}."
        console(stderr=True).print(note, style="yellow", soft_wrap=True, markup=False)
    left = f", {n_blank:,} of them left blank below a confidence of {abstain:g}" if abstain is not None else ""
    where = f" in {output}" if output is not None else ""
    console(stderr=True).print(f"{n_rows:,} rows answered{left}{where}.", style="dim", soft_wrap=True)


def _check_names(data: Path, frame: pl.DataFrame, names: tuple[str, str]) -> None:
    for name, option in zip(names, ("--column", "--confidence"), strict=True):
        if name in frame.columns:
            raise ParameterError(f"{data}: has a column {name!r} already. Choose another name with {option}.")


def _writer(output: Path | None) -> Any:
    from handful.corpora.opening import bare_suffix

    suffix = ".csv" if output is None else bare_suffix(output)
    if suffix not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise click.UsageError(f"{output}: the name of the output must end in .csv, .tsv or .jsonl.")

    def write(frame: pl.DataFrame, file: IO[bytes], first: bool) -> None:
        import polars as pl

        frame = frame.with_columns(
            pl.col(pl.String).replace({"": None})
        )  # an empty cell stays as it was, without quotes
        if suffix in (".csv", ".tsv"):
            frame.write_csv(file, include_header=first, separator="," if suffix == ".csv" else "\t")
        else:
            frame.write_ndjson(file)

    return write
