"""``handful inspect``: what is inside a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import cell, console, emit_json
from handful.cli.options import WholeNumber, run_option


@click.command("inspect")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--top", type=WholeNumber(min=1), default=8, show_default=True, help="Features or rows to list per class."
)
@run_option("as_json")
def command(model: Path, top: int, as_json: bool) -> None:
    """Show what MODEL holds: method, parameters, classes, columns, kept rows, top features, size, and how it was trained."""
    from handful.experiment.inspection import inspect_model

    facts = inspect_model(model, top=top)
    if as_json:
        emit_json(facts)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, cell(_words(value)))
    console().print(table)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_words(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
