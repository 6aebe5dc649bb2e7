"""``handful prevalence``: how frequent each class is among all rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, notice, progress_bar
from handful.cli.options import NumberRange, Reading, Run, reading_options, run_options
from handful.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from handful.comparison.prevalence import ClassPrevalence


@click.command("prevalence")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, metavar="COLUMN", help="Column of labels; empty cells are unlabeled rows.")
@click.option("--predictions", metavar="COLUMN", help="Column with a prediction for each row; else a model makes them.")
@click.option("--by", "group", metavar="COLUMN", help="Estimate within each value of this column as well.")
@click.option(
    "--level", type=NumberRange(0.5, 1, max_open=True), default=0.95, show_default=True, help="Interval coverage."
)
@reading_options
@run_options("seed", "as_json")
def prevalence_command(
    data: Path, target: str, predictions: str | None, group: str | None, level: float, reading: Reading, run: Run
) -> None:
    """Estimate how frequent each class is among all rows of DATA, with an interval.

    The labeled rows must be a random sample; rows that `handful next` chose are left out. Predictions for all rows
    make the interval narrower than the labels alone.

    \b
    Examples:
      handful prevalence customers.csv --target segment
      handful prevalence customers.csv --target segment --by country
    """
    from handful.cli.inputs import read_whole_table
    from handful.comparison.prevalence import FEWEST_LABELS, cross_predictions, prevalence
    from handful.data.checks import SELECTION
    from handful.data.table import table_frames

    names = next(iter(table_frames(data))).columns
    for name in (predictions, group):
        if name is not None and name not in names:
            raise DataError(f"{data}: no column '{name}'. The columns are {', '.join(names[:20])}.")
        if name == target:
            raise DataError(f"{data}: '{name}' is the label column. Name another column.")
    own = {name: "skip" for name in (predictions, SELECTION) if name in names and name is not None}
    reading = replace(reading, columns={**own, **(reading.columns or {})})
    table = read_whole_table(data, target, reading, needs_features=predictions is None)
    if len(table.labeled) < FEWEST_LABELS:
        raise DataError(
            f"{data}: {len(table.labeled)} labeled rows; prevalence needs {FEWEST_LABELS} random ones. Label more random rows."
        )
    if predictions is None:
        with progress_bar() as progress:
            predicted: Any = cross_predictions(table, random_state=run.seed, progress=progress)
    else:
        predicted = table.cells[predictions].to_numpy()
        if not {str(name) for name in table.classes.tolist()} & set(map(str, predicted)):
            notice(f"No cell of '{predictions}' is a label, so the intervals are those of the labels alone.")
    is_random = None
    if SELECTION in table.cells.columns:
        is_random = (table.cells[SELECTION].fill_null("") != "chosen").to_numpy()
    estimates = prevalence(
        table.labels,
        predicted,
        groups=None if group is None else _named(table.cells[group]),
        is_random=is_random,
        level=level,
        random_state=run.seed,
    )
    n_left_out = 0 if is_random is None else int((~is_random[table.labeled]).sum())
    if run.as_json:
        emit_json(
            {
                "data": str(data),
                "target": target,
                "level": level,
                "n_chosen_left_out": n_left_out,
                "classes": [{**asdict(estimate), "worth_labels": estimate.worth} for estimate in estimates],
            }
        )
        return
    n_groups = None if group is None else table.cells[group].n_unique()
    _show(estimates, level, n_left_out, n_groups, FEWEST_LABELS)


def _named(column: pl.Series) -> list[str]:
    return ["(empty)" if value is None else str(value) for value in column.to_list()]


def _show(estimates: list[ClassPrevalence], level: float, n_left_out: int, n_groups: int | None, fewest: int) -> None:
    from rich.table import Table

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    grouped = any(estimate.group is not None for estimate in estimates)
    for name in (*(("group",) if grouped else ()), "class", "share", f"{level:.0%} interval", "labels alone", "worth"):
        table.add_column(name, justify="left" if name in ("group", "class") else "right")
    for estimate in estimates:
        first = ["" if estimate.group is None else str(estimate.group)] if grouped else []
        table.add_row(
            *first,
            str(estimate.label),
            f"{estimate.value:.1%}",
            f"{estimate.low:.1%}-{estimate.high:.1%}",
            f"{estimate.low_labels:.1%}-{estimate.high_labels:.1%}",
            f"{estimate.worth:,.0f} labels",
        )
    out.print(table)
    total = estimates[0]
    out.print(f"From {total.n_labeled:,} random labels and {total.n_rows:,} rows.")
    n_small = (
        0
        if n_groups is None
        else n_groups - len({estimate.group for estimate in estimates if estimate.group is not None})
    )
    if n_small:
        out.print(f"{n_small:,} of {n_groups:,} groups have fewer than {fewest} random labels and are left out.")
    if n_left_out:
        out.print(f"{n_left_out:,} labeled rows that `handful next` chose were left out; only random rows count.")
