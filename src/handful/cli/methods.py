"""``handful methods`` and ``handful warmup``."""

from __future__ import annotations

import click

from handful.cli.console import echo, emit_json, make_table, progress_bar
from handful.cli.options import Run, run_option, run_options


@click.command("methods")
@run_option("as_json")
def methods_command(as_json: bool) -> None:
    """List the methods: name, task, paper, and what they do.

    \b
    Example:
      handful methods --json
    """
    from handful.registry import all_methods

    methods = list(all_methods())
    if as_json:
        plain = ("name", "task", "uses_unlabeled", "supervised_control", "paper", "cost", "baseline", "summary")
        emit_json(
            [
                {name: getattr(spec, name) for name in plain}
                | {
                    "class": None if spec.cls is None else f"{spec.cls.__module__}.{spec.cls.__qualname__}",
                    "grid": {name: list(values) for name, values in spec.grid.items()},
                }
                for spec in methods
            ]
        )
        return
    table = make_table("name", "task", "unlabeled", "paper", "summary")
    for spec in methods:
        table.add_row(spec.name, spec.task, "yes" if spec.uses_unlabeled else "-", spec.paper or "-", spec.summary)
    echo(table)


@click.command("warmup")
@run_options("jobs", "as_json")
def warmup_command(run: Run) -> None:
    """Compile all kernels now: one or two minutes, once after installation.

    \b
    Example:
      handful warmup
    """
    from handful.models.warming import warm_up

    with progress_bar() as progress:
        compiled = warm_up(run.jobs, progress)
    if run.as_json:
        emit_json({"compiled": compiled})
        return
    echo(f"Compiled: {', '.join(compiled)}.")
