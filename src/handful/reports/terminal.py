"""A comparison in the terminal: a ranked table and a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from handful.reports import words
from handful.reports.content import USED, Content, Curve, Row

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

_BARS = "▁▂▃▄▅▆▇█"
_SPARE = ("draws", "fit", "model", "p", "chance")  # columns that a narrow terminal goes without, the first first


def render_terminal(content: Content) -> list[RenderableType]:
    """Return what to print, one piece after the other.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    list of rich renderables
        Table, learning curves, warnings, verdict.
    """
    from rich.text import Text

    parts: list[RenderableType] = [_Ranking(content)]
    if content.curves:
        title = f"Learning curve, by number of {content.learned_from}"
        parts += ["", Text(title, style="italic"), _curves(content.curves), Text(words.CURVE_NOTE, style="dim")]
    parts.append("")
    parts += [Text(absence, style="dim") for absence in content.absences]
    parts += [Text(note, style="dim") for note in content.notes]
    parts += [Text(f"Warning: {warning}", style="yellow") for warning in content.warnings]
    parts += [Text(content.best_bet, style="bold"), Text(content.proven, style="bold")]
    return parts


class _Ranking:
    """The ranked table, with as many columns as the terminal has room for."""

    def __init__(self, content: Content) -> None:
        self.content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        tables = [self._table(_SPARE[:number]) for number in range(len(_SPARE) + 1)]
        boundless = options.update(max_width=1000)
        fitting = (table for table in tables if console.measure(table, options=boundless).maximum <= options.max_width)
        yield next(fitting, tables[-1])

    def _table(self, spared: Collection[str]) -> Table:
        from rich.table import Table
        from rich.text import Text

        content = self.content
        used = [f", {n} {what.removesuffix(USED)}" for what, n in content.facts.items() if what.endswith(USED)]
        title = f"{content.title}: {content.metric}{''.join(used)}"
        table = Table(title=title, box=None, pad_edge=False, title_justify="left")
        table.add_column("method", no_wrap=True)
        lines = [_cells(row, content) for row in content.rows]
        headings = [heading for heading in (lines[0] if lines else ()) if heading not in spared]
        for heading in headings:
            table.add_column(heading, justify="right", no_wrap=True)
        for row, cells in zip(content.rows, lines, strict=True):
            name = Text(row.name, style="bold" if row.name == content.use else "")
            table.add_row(name, *(cells[heading] for heading in headings))
        return table


def _cells(row: Row, content: Content) -> dict[str, str | Text]:
    """Return the cells of a line by the headings of their columns."""
    from rich.text import Text

    style = {"better": "green", "worse": "red"}.get(words.mark(row, content.baseline), "")
    return {
        "score": words.percent(row.score),
        "95 % interval": words.interval(row.low, row.high),
        "chance": words.share(row.p_best),
        "to baseline": Text(words.difference(row, content.baseline), style=style),
        "p": words.chance(row.p),
        "gain from unlabeled": _gain(row),
        "draws": str(row.n_draws),
        "model": words.size(row.n_bytes),
        "fit": words.seconds(row.fit_seconds),
    }


def _gain(row: Row) -> Text:
    from rich.text import Text

    if words.harms(row):
        return Text(f"harm {words.gain(row)}", style="red")
    return Text(words.gain(row), style="green" if row.gain is not None and row.gain[1] > 0 else "")


def _curves(curves: tuple[Curve, ...]) -> RenderableType:
    from rich.table import Table

    sizes, lines = words.curve_lines(curves)
    scores = [score for curve in curves for score in curve.mean]
    low, high = min(scores), max(scores)
    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("")
    for curve, line in zip(curves, lines, strict=True):
        heights = ((score - low) / (high - low or 1) for score in curve.mean)
        table.add_row(*line, "".join(_BARS[round(height * (len(_BARS) - 1))] for height in heights))
    return table
