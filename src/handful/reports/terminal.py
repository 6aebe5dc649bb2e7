"""A comparison in the terminal: a ranked table and a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handful.reports import words
from handful.reports.content import Content, Curve

if TYPE_CHECKING:
    from rich.console import RenderableType

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
        gain = Text(words.gain(row))
        if words.harms(row):
            gain = Text(f"harm {words.gain(row)}", style="red")
        elif row.gain is not None and row.gain[1] > 0:
            gain.stylize("green")
        table.add_row(
            Text(row.name, style="bold" if row.name == content.use else ""),
            words.percent(row.score),
            words.interval(row.low, row.high),
            words.share(row.p_best),
            Text(words.difference(row, content.baseline), style=style),
            words.chance(row.p),
            gain,
            str(row.n_draws),
            words.size(row.n_bytes),
            words.seconds(row.fit_seconds),
        )
    parts: list[RenderableType] = [table]
    if content.curves:
        parts += ["", _curves(content.curves)]
    parts.append("")
    parts += [Text(f"{name} did not take part: {why}", style="dim") for name, why in content.left_out.items()]
    parts += [Text(note, style="dim") for note in content.notes]
    parts += [Text(f"Warning: {warning}", style="yellow") for warning in content.warnings]
    parts += [Text(content.best_bet, style="bold"), Text(content.proven, style="bold")]
    return parts


def _curves(curves: tuple[Curve, ...]) -> RenderableType:
    from rich.table import Table

    sizes = sorted({size for curve in curves for size in curve.n_labels})
    low = min(min(curve.mean) for curve in curves)
    high = max(max(curve.mean) for curve in curves)
    table = Table(title="Learning curve, by number of labels", box=None, pad_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("")
    for curve in curves:
        found = dict(zip(curve.n_labels, curve.mean, strict=True))
        bars = "".join(_BARS[round((m - low) / (high - low or 1) * (len(_BARS) - 1))] for m in curve.mean)
        table.add_row(curve.name, *(words.percent(found[size]) if size in found else "" for size in sizes), bars)
    return table
