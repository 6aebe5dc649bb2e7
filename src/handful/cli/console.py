"""What commands show: tables and bars for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from handful.core.progress import Progress, Step


def console(*, stderr: bool = False) -> Console:
    """Return a rich console: results go to stdout, progress and notes to stderr."""
    from rich.console import Console

    found = Console(stderr=stderr, highlight=False)
    # In a pipe there is no width to keep to; cut-off names would be of no use there.
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=200)


def emit_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    # numpy scalars and arrays, paths
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a progress callback that draws one bar per stage on stderr, and nothing where stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    out = console(stderr=True)
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=out, transient=True, disable=not out.is_terminal) as bars:

        def report(step: Step) -> None:
            if step.stage not in tasks:
                tasks[step.stage] = bars.add_task(step.stage, total=step.total, figures="")
            figures = "  ".join(f"{name} {value:.6g}" for name, value in step.figures.items())
            bars.update(tasks[step.stage], completed=step.done, total=step.total, figures=figures)

        yield report
