"""``handful shots``: labeled rows for the prompt of a language model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import emit_json, notice, open_output
from handful.cli.options import INPUT, Reading, Run, number_option, reading_options, run_options, target_option
from handful.cli.outputs import check_outputs
from handful.errors import DataError, counted

if TYPE_CHECKING:
    from handful.data.table import Table


@click.command("shots")
@click.argument("data", type=INPUT)
@target_option(required=True)
@number_option("Number of rows.", 16)
@click.option(
    "--as",
    "form",
    type=click.Choice(["prompt", "jsonl"]),
    default="prompt",
    show_default=True,
    help="Text for a prompt, or one JSON object a line.",
)
@reading_options
@run_options("as_json", "output")
def shots_command(data: Path, target: str, n: int, form: str, reading: Reading, run: Run) -> None:
    """Choose N labeled rows of DATA for the prompt of a language model.

    Every label is among them, and the most representative rows come first. The same data give the same rows.

    \b
    Examples:
      handful shots customers.csv --target segment -n 16
      handful shots customers.csv --target segment --as jsonl -o shots.jsonl
    """
    from handful.cli.inputs import read_whole_table
    from handful.models.shots import shots

    check_outputs(run.output, inputs=[data], force=run.force)
    table = read_whole_table(data, target, reading)
    if not len(table.labeled):
        raise DataError(f"{data}: no labels in {target!r}. Label some rows first.")
    rows = shots(table, n=n).tolist()
    if len(rows) < n:
        notice(f"{data}: only {counted(len(rows), 'labeled row')}; all of them are chosen.")
    records = list(_records(table, rows))
    if run.as_json:
        emit_json({"data": str(data), "target": target, "rows": [row + 1 for row in rows], "shots": records})
        return
    with open_output(run.output) as file:
        if form == "jsonl":
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        else:
            file.write(_prompt(table, records))


def _records(table: Table, rows: list[int]) -> Iterator[dict[str, Any]]:
    """Yield cells as in the file, and the label last."""
    names = [spec.name for spec in table.columns if spec.kind != "skip"]
    frame = table.cells.select(names)
    for row in rows:
        cells = {name: cell for name, cell in frame.row(row, named=True).items() if cell is not None and cell != ""}
        yield {**cells, str(table.target): table.classes[table.codes[row]].item()}


def _prompt(table: Table, records: list[dict[str, Any]]) -> str:
    classes = ", ".join(" ".join(str(name).split()) for name in table.classes.tolist())
    lines = [f"Give each row one of these labels for {table.target}: {classes}.", ""]
    for record in records:
        lines += [f"{name}: {' '.join(str(cell).split())}" for name, cell in record.items()] + [""]
    return "\n".join(lines)
