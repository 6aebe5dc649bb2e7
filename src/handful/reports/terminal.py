"""A comparison in the terminal: a ranked table and a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handful.reports import words
from handful.reports.content import Content, Curve, Row

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_BARS = "▁▂▃▄▅▆▇█"


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
    from rich.table import Table
    from rich.text import Text

    title = f"{content.title}: {content.metric}, {content.facts['labels used for training']} labels"
    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for heading in (
        "score",
        "95 % interval",
        "chance",
        "to baseline",
        "p",
        "gain from unlabeled",
        "draws",
        "model",
        "fit",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in content.rows:
        mark = words.mark(row, content.baseline)
        style = {"better": "green", "worse": "red"}.get(mark, "")
        table.add_row(
            Text(row.name, style="bold" if row.name == content.use else ""),
            words.percent(row.score),
            words.interval(row.low, row.high),
            words.share(row.p_best),
            Text(words.difference(row, content.baseline), style=style),
            words.chance(row.p),
            _gain(row),
            str(row.n_draws),
            words.size(row.n_bytes),
            words.seconds(row.fit_seconds),
        )
    parts: list[RenderableType] = [table]
    if content.curves:
        parts += ["", _curves(content.curves)]
    parts.append("")
    parts += [Text(absence, style="dim") for absence in content.absences]
    parts += [Text(note, style="dim") for note in content.notes]
    parts += [Text(f"Warning: {warning}", style="yellow") for warning in content.warnings]
    parts += [Text(content.best_bet, style="bold"), Text(content.proven, style="bold")]
    return parts


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
    table = Table(title="Learning curve, by number of labels", box=None, pad_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("")
    for curve, line in zip(curves, lines, strict=True):
        heights = ((score - low) / (high - low or 1) for score in curve.mean)
        table.add_row(*line, "".join(_BARS[round(height * (len(_BARS) - 1))] for height in heights))
    return table
