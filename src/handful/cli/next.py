"""``handful next``: the rows, or sentences, that are worth a label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import COUNTED_FROM, console, emit_json, progress_bar
from handful.cli.options import (
    Reading,
    Run,
    WholeNumber,
    check_output,
    check_unfilled,
    reading_options,
    run_options,
    shell_name,
    tokens_option,
)

if TYPE_CHECKING:
    import polars as pl

    from handful.labeling import Pick


@click.command("next")
@click.argument("data", type=click.Path(path_type=Path), required=False)
@click.option("--target", metavar="COLUMN", help="Column of labels of a table; empty cells are unlabeled rows.")
@click.option(
    "--unlabeled",
    type=click.Path(path_type=Path),
    help="For a tagger: raw sentences; DATA is then tagged sentences, if any.",
)
@click.option("-n", "n_rows", type=WholeNumber(min=1), default=20, show_default=True, help="How many to choose.")
@click.option(
    "--strategy",
    type=click.Choice(["auto", "typical", "margin", "random"]),
    default="auto",
    show_default=True,
    help="How to choose; typical and margin are for tables.",
)
@tokens_option
@reading_options
@run_options("seed", "as_json", output={"help": "File to fill in labels."})
def command(
    data: Path | None,
    target: str | None,
    unlabeled: Path | None,
    n_rows: int,
    strategy: Any,
    tokens: Any,
    reading: Reading,
    run: Run,
) -> None:
    """Choose what to label next in DATA, a table with a --target, or tagged sentences with raw ones --unlabeled.

    Each row comes with the reason and, once there are labels, a suggestion. Fill in the label column of the file that
    -o names and bring it back with 'handful merge DATA FILE'. It works without a single label, too: the column of labels
    may be missing, and so may tagged sentences ('handful next --unlabeled raw.txt').
    """
    check_output(run.output, data, unlabeled)
    check_unfilled(run.output)
    if unlabeled is not None and target is not None:
        raise click.UsageError("--target is for tables, --unlabeled for taggers: leave one of them out.")
    if unlabeled is not None:
        from handful.cli.next_sentences import choose_sentences

        choose_sentences(data, unlabeled, n_rows, strategy, run, tokens)
        return
    if tokens is not None:
        raise click.UsageError("--tokens is for raw sentences, which --unlabeled names.")
    if target is None:
        raise click.UsageError(
            "name the column of labels with --target, or raw sentences for a tagger with --unlabeled."
        )
    if data is None:
        raise click.UsageError("name the table.")
    _choose_rows(data, target, n_rows, strategy, reading, run)


def _choose_rows(data: Path, target: str, n_rows: int, strategy: Any, reading: Reading, run: Run) -> None:
    from handful.cli.table_files import as_table, check_table_name, read_cells, with_target, write_cells
    from handful.labeling import next_rows

    output = run.output
    if output is not None:
        check_table_name(output)
    cells, added = with_target(data, read_cells(data), target)
    table, kinds = as_table(data, cells, target, reading)
    with progress_bar() as progress:
        picks = next_rows(table.frame.select(list(kinds)), table.labels, n_rows, strategy, run.seed, progress)
    todo = _todo(data, cells, target, picks)
    if output is not None:
        write_cells(output, [todo], like=data)
    notes = [f"There is no column {target!r} yet: no row has a label."] if added else []
    if len(picks) < n_rows:
        notes.append(_all_chosen(len(picks)))
    shown = todo.select(list(kinds))
    if run.as_json:
        facts = [{**vars(pick), "cells": row} for pick, row in zip(picks, shown.to_dicts(), strict=True)]
        emit_json(
            {"data": str(data), "target": target, "output": output, **COUNTED_FROM, "rows": facts, "notes": notes}
        )
        return
    _show(picks, shown)
    for note in notes:
        console(stderr=True).print(note, style="yellow", markup=False, soft_wrap=True)
    if output is not None:
        console().print(
            f"\n{output}: fill in the column {target!r}, then: handful merge {shell_name(data)} {shell_name(output)}",
            markup=False,
            soft_wrap=True,
        )


def _all_chosen(n: int) -> str:
    if n == 1:
        return "Only one row is unlabeled; it was chosen."
    return f"Only {n:,} rows are unlabeled; all of them were chosen."


def _todo(data: Path, cells: pl.DataFrame, target: str, picks: list[Pick]) -> pl.DataFrame:
    import polars as pl

    from handful.core.errors import ParameterError
    from handful.labeling.merging import ADDED, CONFIDENCE, REASON, ROW, SUGGESTION, tickets

    taken = [name for name in ADDED if name in cells.columns]
    if taken:
        raise ParameterError(f"{data}: must have no column {taken[0]!r}, which this command writes. Rename it.")
    rows = [pick.row for pick in picks]
    suggestions = [None if pick.suggestion is None else str(pick.suggestion) for pick in picks]
    return cells[rows].select(
        pl.exclude(target),
        pl.lit(None, dtype=pl.String).alias(target),  # beside the suggestion, where people look and 'merge' finds it
        pl.Series(SUGGESTION, suggestions, dtype=pl.String),
        pl.Series(CONFIDENCE, [pick.confidence for pick in picks], dtype=pl.Float64).round(3),
        pl.Series(REASON, [pick.reason for pick in picks]),
        pl.Series(ROW, tickets(cells, target, rows)),
    )


def _show(picks: list[Pick], rows: pl.DataFrame) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (("row", "right"), ("why", "left"), ("suggestion", "left"), ("what it holds", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for pick, cells in zip(picks, rows.rows(), strict=True):
        sure = "-" if pick.confidence is None else f"{pick.suggestion} ({pick.confidence:.0%})"
        held = "  ".join(str(cell) for cell in cells[:6] if cell not in (None, ""))
        table.add_row(str(pick.row + 1), Text(pick.reason), Text(sure), Text(held[:100]))
    console().print(table)
