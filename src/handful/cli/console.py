"""What commands print: text and tables on stdout, notices and progress on stderr, JSON."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from handful.report.content import size, visible_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from handful.errors import Progress, Step

# Control characters but for tab and line feed (C0, DEL, C1), and those that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MOST_NOTICES = 3  # of one command without -v


@dataclass
class Verbosity:
    """How much a command prints, set by -q (-1) and -v (1), and the notices that it has shown and held back."""

    level: int = 0
    shown: set[str] = field(default_factory=set)
    held: list[str] = field(default_factory=list)


state = Verbosity()  # of the command that runs


def begin() -> None:
    """Forget the notices and options of an earlier command."""
    state.level = 0
    state.shown.clear()
    state.held.clear()


def verbose() -> bool:
    """Whether -v asks for details."""
    return state.level > 0


def visible(text: str) -> str:
    r"""Return a text with its control characters escaped, so that a terminal shows them and does not obey.

    Examples
    --------
    >>> visible("red \x1b[31m, tab\tand line\n")
    'red \\x1b[31m, tab\tand line\n'
    """
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    r"""Return a text with its control characters escaped, line feeds included, but for those around it.

    Examples
    --------
    >>> one_line("label\nSaved x.handful\n")
    'label\\nSaved x.handful\n'
    """
    core = text.strip("\n")
    before, after = text[: len(text) - len(text.lstrip("\n"))], "\n" * (len(text) - len(text.rstrip("\n")))
    return f"{before}{visible_line(core)}{after}" if core else text


def console(*, stderr: bool = False) -> Console:
    """Return a rich console that escapes control characters."""
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


def echo(part: RenderableType = "", *, style: str | None = None) -> None:
    """Print a text, taken literally, or a table on stdout."""
    text = one_line(part) if isinstance(part, str) else part
    console().print(text, style=style, markup=False, soft_wrap=isinstance(part, str))


def notice(text: str) -> None:
    """Print a sentence on stderr, once, unless -q is given."""
    if text in state.shown or state.level < 0:
        return
    state.shown.add(text)
    console(stderr=True).print(one_line(text), style="dim", markup=False, soft_wrap=True)


def show_notices(notices: Iterable[Any], *, prefix: str = "") -> None:
    """Print the first notices of the library, with the option that helps; -v prints all."""
    for item in notices:
        fix = getattr(item, "cli_fix", None)
        text = f"{prefix}{getattr(item, 'text', item)}{f' To change this: {fix}' if fix else ''}"
        if text in state.shown or text in state.held:
            continue
        if len(state.shown) < _MOST_NOTICES or verbose():
            notice(text)
        else:
            state.held.append(text)


def show_held() -> None:
    """Say how many notices were left out."""
    if state.held and state.level == 0:
        n = len(state.held)
        notice(f"{n} more {'notice' if n == 1 else 'notices'}: -v shows {'it' if n == 1 else 'them'}.")


def cell(text: Any) -> Text:
    """Return a value from data as a cell of a table, taken literally and in one line."""
    from rich.text import Text

    return Text(visible_line(str(text)))


def make_table(*heads: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table without lines; columns named in `right` hold numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    return table


def suggest_command(*lines: str) -> None:
    """Print the command to run next, last of all."""
    for number, line in enumerate(lines):
        echo(f"{'Next:' if not number else '     '}  {line}")


def emit_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    # JSON escapes C0 by itself; the others are escaped in its own way.
    click.echo(_CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def _plain(value: Any) -> Any:
    # numpy scalars and arrays, paths
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def open_output(output: Path | None) -> Iterator[IO[str] | io.TextIOBase]:
    """Open a file that is replaced only when it is whole, or stdout, where a terminal gets control characters escaped."""
    from handful.data.files import write_text_file

    if output is not None:
        with write_text_file(output) as file:
            yield file
    else:
        yield _Terminal() if sys.stdout.isatty() else sys.stdout


class _Terminal(io.TextIOBase):
    """Stdout for text from data."""

    def write(self, text: str) -> int:
        """Write text with its control characters escaped."""
        return sys.stdout.write(visible(text))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a progress callback that draws one bar per stage on stderr, and nothing in a pipe."""
    out = console(stderr=True)
    if not out.is_terminal or state.level < 0:
        yield lambda step: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

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


@contextmanager
def status_line() -> Iterator[Any]:
    """Give a callback that replaces one line on stderr, and nothing in a pipe."""
    out = console(stderr=True)
    if not out.is_terminal or state.level < 0:
        yield lambda text: None
        return
    with out.status("") as status:
        yield lambda text: status.update(visible(text))


def percent(value: float, n: int | None = None) -> str:
    """Return a share as percent, in whole percents where it is of fewer than 100.

    Examples
    --------
    >>> percent(0.9471), percent(0.9471, 36)
    ('94.7%', '95%')
    """
    return f"{100 * value:.0f}%" if n is not None and n < 100 else f"{100 * value:.1f}%"


def interval(low: float, high: float) -> str:
    """Return an interval of scores.

    Examples
    --------
    >>> interval(0.78, 1.02)
    '78\N{EN DASH}100%'
    """
    low, high = (100 * min(max(bound, 0.0), 1.0) for bound in (low, high))
    return f"{low:.0f}\N{EN DASH}{high:.0f}%"


def file_size(path: Path) -> str:
    """Return the size of a file as text."""
    return size(path.stat().st_size)


def shell_name(path: Path | str) -> str:
    """Return the name of a file as it can be typed in a command.

    Examples
    --------
    >>> shell_name(Path("my rows.csv")), shell_name(Path("-rows.csv")), shell_name(Path("-"))
    ("'my rows.csv'", './-rows.csv', '-')
    """
    import shlex

    name = str(path)
    return shlex.quote(f"./{name}" if name.startswith("-") and name != "-" else name)
