"""What commands show: text, tables and bars for people, JSON for programs; nothing in data can steer a terminal."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from handful.core.progress import Progress, Step

# Control characters but for tab and line feed (C0, DEL, C1), and those that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

COUNTED_FROM = {"counted_from": 0}
"""What JSON with numbers of rows or sentences says of them; on the screen and in files for people they begin with 1."""


def visible(text: str) -> str:
    r"""Return a text with its control characters written out, so that a terminal shows them and does not obey.

    Examples
    --------
    >>> visible("red \x1b[31m, tab\tand line\n")
    'red \\x1b[31m, tab\tand line\n'
    """
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def console(*, stderr: bool = False) -> Console:
    """Return a rich console that shows control characters: results go to stdout, progress and notes to stderr."""
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
            """Render text, styles apart: what is text here came from data or from us, never from rich."""
            for text, style, control in super().render(*args, **options):
                yield Segment(text if control else visible(text), style, control)

    made = VisibleConsole(stderr=stderr, highlight=False)
    # In a pipe there is no width to keep to; cut-off names would be of no use there.
    return made if made.is_terminal else VisibleConsole(stderr=stderr, highlight=False, width=200)


def cell(text: str) -> Text:
    """Return a text from data as a cell of a table, taken literally, with control characters written out."""
    from rich.text import Text

    return Text(visible(text))


def say(text: str, *, stderr: bool = False, style: str | None = None) -> None:
    """Print a sentence for people: a result on stdout, a note in dim letters on stderr."""
    console(stderr=stderr).print(text, style=style or ("dim" if stderr else None), markup=False, soft_wrap=True)


def emit_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    # JSON escapes C0 by itself; the others are escaped in its own way.
    click.echo(_CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def _plain(value: Any) -> Any:
    # numpy scalars and arrays, paths
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def answers_to(output: Path | None) -> Iterator[IO[str] | io.TextIOBase]:
    """Open the place where answers go: a file, or stdout, where a terminal gets control characters written out.

    Parameters
    ----------
    output : Path or None
        A file, packed by its ending and replaced only when it is whole; None is stdout.

    Yields
    ------
    file
        To write text to.
    """
    from handful.corpora.opening import write_text_file

    if output is not None:
        with write_text_file(output) as file:
            yield file
    else:
        yield _Terminal() if sys.stdout.isatty() else sys.stdout


class _Terminal(io.TextIOBase):
    """Stdout for text from data."""

    def write(self, text: str) -> int:
        """Write text with its control characters written out."""
        return sys.stdout.write(visible(text))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a progress callback that draws one bar per stage on stderr, and nothing where stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    out = console(stderr=True)
    if not out.is_terminal:  # a bar that is turned off ends with an empty line in early versions of rich
        yield lambda step: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=out, transient=True) as bars:

        def report(step: Step) -> None:
            if step.stage not in tasks:
                tasks[step.stage] = bars.add_task(step.stage, total=step.total, figures="")
            figures = "  ".join(f"{name} {_figure(value)}" for name, value in step.figures.items())
            bars.update(tasks[step.stage], completed=step.done, total=step.total, figures=figures)

        yield report


def _figure(value: float) -> str:
    """Write a figure of six digits or more as a count, and others with up to six digits."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
