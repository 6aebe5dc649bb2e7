"""``handful condense`` for models of tables: a few rows that predict what the model predicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from handful.cli.console import (
    cell,
    echo,
    emit_json,
    file_size,
    interval,
    make_table,
    percent,
    progress_bar,
    shell_name,
    suggest_command,
    verbose,
)
from handful.cli.export import agree
from handful.cli.options import Run, command_line
from handful.cli.outputs import check_outputs, write_rows
from handful.errors import DataError, counted

if TYPE_CHECKING:
    from handful.models.condensed_rows import CondensedModel
    from handful.models.table_model import TableModel

_SHOWN_ROWS, _SHOWN_COLUMNS, _WIDTH = 10, 6, 24  # without -v


class RowCount(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A number of rows, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["auto"]:
        """Return the number."""
        if value == "auto" or isinstance(value, int):
            return value  # type: ignore[no-any-return]
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither a number of rows nor 'auto'.", param, ctx)
        return int(value)


def condense_table(
    ctx: click.Context,
    model: TableModel,
    files: tuple[Path, ...],
    run: Run,
    *,
    rows: int | Literal["auto"],
    html: Path | None,
    yes: bool,
) -> None:
    """Choose rows of a table, and write them as a model and as a table."""
    from handful.cli.inputs import read_cells
    from handful.comparison.condense import condense_model
    from handful.data.files import bare_suffix
    from handful.data.labels import read_labels
    from handful.persistence.model_file import save
    from handful.report.model_page import export_html

    if len(files) != 2:
        raise click.UsageError("condense of a table model takes two files: MODEL DATA.")
    source, data = files
    is_table = run.output is not None and bare_suffix(run.output) in (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
    where = source.parent / f"{source.stem}-condensed.handful"
    where = where if is_table or run.output is None else run.output
    outputs = [path for path in (where, run.output if is_table else None, html) if path is not None]
    check_outputs(*outputs, inputs=files, force=run.force)
    frame = read_cells(data)
    missing = [name for name in model.columns_ if name not in frame.columns]
    if missing:
        raise DataError(f"{data}: no column {missing[0]!r}, which the model was trained on. Add it.")
    if not frame.height:
        raise DataError(f"{data}: no rows below the header. Add rows.")
    agree(f"Rows of {data} will be readable in {', '.join(map(str, outputs))}.", yes)
    target = getattr(model, "training_", {}).get("target")
    labels = read_labels(frame[target])[0] if target in frame.columns else None
    with progress_bar() as progress:
        small = condense_model(model, frame, labels, n_rows=rows, random_state=run.seed, progress=progress)
    small.training_ |= {"data": data.name, "target": target, "command": command_line(ctx)}
    save(small, where)
    if html is not None:
        export_html(small, html)
    if is_table and run.output is not None:
        write_rows(run.output, [small.rows()], like=data)
    facts = {
        "model": str(where),
        "outputs": [str(path) for path in outputs],
        "n_rows": len(small.kept_),
        "rows": small.rows().to_dicts() if run.as_json else [],
        "fidelity": small.training_["fidelity"],
        "estimate": small.training_.get("estimate"),
        "model_estimate": small.training_.get("model_estimate"),
        "curve": small.training_["curve"],
    }
    if run.as_json:
        emit_json(facts)
    else:
        _show(small, facts, where)


def _show(small: CondensedModel, facts: dict[str, Any], where: Path) -> None:
    rows = small.rows()
    n_rows, n_columns = (len(rows), rows.width) if verbose() else (_SHOWN_ROWS, _SHOWN_COLUMNS + 3)
    width = None if verbose() else _WIDTH
    columns = rows.columns[:n_columns]
    table = make_table(*columns, right=("row", "covers"))
    for line in rows.select(columns).head(n_rows).iter_rows():
        table.add_row(
            *(cell("" if value is None else str(value)[: width if at > 2 else None]) for at, value in enumerate(line))
        )
    echo(table)
    if len(rows) > n_rows or rows.width > n_columns:
        echo(f"… {counted(len(rows), 'row')} and {rows.width - 3} columns in all: -v", style="dim")
    echo()
    echo(f"  Rows       {len(rows)}; a new row gets the prediction of the nearest one")
    echo(f"  Fidelity   {_estimate(facts['fidelity'])} of held-out rows get the prediction of the model")
    if facts["estimate"] is not None:
        model = percent(facts["model_estimate"]["value"], facts["model_estimate"]["n"])
        echo(f"  Accuracy   {_estimate(facts['estimate'])} on held-out labels; the model {model}")
    echo(f"  Saved      {', '.join(f'{path} ({file_size(Path(path))})' for path in facts['outputs'])}\n")
    suggest_command(f"handful predict {shell_name(where)} NEW.csv -o predictions.csv")


def _estimate(part: dict[str, Any]) -> str:
    return (
        f"{percent(part['value'], part['n'])} (95% interval {interval(part['low'], part['high'])}, n = {part['n']:,})"
    )
