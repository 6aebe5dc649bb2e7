"""A comparison in the terminal: a ranked table and a conclusion."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from handful.errors import counted
from handful.report import content as words
from handful.report.content import MethodScore, Report

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

_OPTIONAL = ("splits", "fit", "model", "p", "P(best)")  # columns dropped in a narrow terminal, the first one first
_MAX_METHODS = 3


def render_terminal(report: Report, *, show_all: bool = True) -> list[RenderableType]:
    """Return what to print, one piece after the other: table, learning curves, warnings, conclusion.

    Parameters
    ----------
    report : Report
        The report.
    show_all : bool, default=True
        Whether to show all methods and columns, learning curves and notes; otherwise the best three methods, the selected one
        and the baseline.

    Returns
    -------
    list of rich renderables
        The last two are the sentences of the conclusion.
    """
    from rich.text import Text

    methods = [
        score
        for place, score in enumerate(report.methods)
        if show_all or place < _MAX_METHODS or score.is_selected or score.is_baseline
    ]
    parts: list[RenderableType] = [_Ranking(report, methods, () if show_all else _OPTIONAL)]
    if report.curves and show_all:
        title = f"Learning curve by number of {report.unit}"
        parts += ["", Text(title, style="italic"), _curves(report), Text(words.CURVE_NOTE, style="dim")]
    parts.append("")
    if show_all:
        parts += [Text(words.visible_line(line), style="dim") for line in (*report.absences, *report.notes)]
    elif len(methods) < len(report.methods):
        parts[-1] = Text(f"  … {counted(len(report.methods) - len(methods), 'more method')}: -v", style="dim")
    parts += [Text(f"Warning: {words.visible_line(warning)}", style="yellow") for warning in report.warnings]
    return [*parts, *(Text(words.visible_line(line), style="bold") for line in (report.selection, report.unlabeled))]


class _Ranking:
    """The ranked table, with as many columns as fit into the terminal."""

    def __init__(self, report: Report, methods: Collection[MethodScore], dropped: Collection[str]) -> None:
        self.report = report
        self.methods = methods
        self.dropped = dropped

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        tables = [self._table({*self.dropped, *_OPTIONAL[:number]}) for number in range(len(_OPTIONAL) + 1)]
        boundless = options.update(max_width=1000)
        fitting = (table for table in tables if console.measure(table, options=boundless).maximum <= options.max_width)
        yield next(fitting, tables[-1])

    def _table(self, dropped: Collection[str]) -> Table:
        from rich.table import Table
        from rich.text import Text

        title = f"{words.visible_line(self.report.title)}: {self.report.metric} in %, {self.report.n_labels} {self.report.unit}"
        table = Table(title=title, box=None, pad_edge=False, title_justify="left")
        table.add_column("method", no_wrap=True)
        lines = [(score, _cells(score, self.report.n_all)) for score in self.methods]
        headings = [heading for heading in (lines[0][1] if lines else ()) if heading not in dropped]
        for heading in headings:
            table.add_column(heading, justify="right", no_wrap=True)
        for score, cells in lines:
            name, style = words.visible_line(score.method), "bold" if score.is_selected else ""
            table.add_row(
                Text(f"{'→' if score.is_selected else ' '} {name}", style=style),
                *(cells[heading] for heading in headings),
            )
        return table


def _cells(score: MethodScore, n: int | None) -> dict[str, str | Text]:
    """Return the cells of a line by heading, significant differences in color."""
    from rich.text import Text

    style = {"better": "green", "worse": "red"}.get(words.mark(score), "")
    gain_style = {"helps": "green", "harms": "red"}.get(score.gain.effect if score.gain else "", "")
    cells = words.ranking_cells(score, n)
    colored = {
        name: Text(cells[name], style=s) for name, s in (("vs. baseline", style), ("unlabeled rows add", gain_style))
    }
    return {**cells, **colored}


def _curves(report: Report) -> RenderableType:
    from rich.table import Table

    sizes, lines = words.curve_table(report.curves)
    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    for line in lines:
        table.add_row(*map(words.visible_line, line))
    return table
