"""``handful warmup``: compile everything now instead of at the first use."""

from __future__ import annotations

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.options import Run, run_options


@click.command("warmup")
@run_options("as_json", jobs={"default": -1})
def command(run: Run) -> None:
    """Compile the kernels of all methods now, so that no first use has to wait.

    Takes a minute or two, once after installation; what is compiled already is left alone.
    """
    from handful.methods.warming import warm_up

    with progress_bar() as progress:
        rooms = warm_up(run.jobs, progress)
    if run.as_json:
        emit_json({"compiled": rooms})
        return
    say(f"Compiled: {', '.join(rooms)}.")
