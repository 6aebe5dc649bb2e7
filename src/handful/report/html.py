"""A comparison as one HTML page with inline SVG figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any, NamedTuple, Self

from handful.errors import counted
from handful.report import content as words
from handful.report.content import Curve, MethodScore, Report


@dataclass(frozen=True)
class Bar:
    """One line: a dot, and the span around it, in percent of the width; whether it is the selected model."""

    name: str
    value: str
    at: float
    low: float
    width: float
    kind: str
    tip: str
    use: bool = False


@dataclass(frozen=True)
class Tick:
    """A place on the axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Forest:
    """A chart of dots with intervals.

    Parameters
    ----------
    bars : tuple of Bar
        The lines.
    ticks : tuple of Tick
        The axis.
    mark : float or None
        Where a line goes through all.
    text : str
        The same in words.
    """

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    mark: float | None
    text: str


Span = tuple[str, tuple[float, float, float], str]


def scores_forest(scores: Sequence[MethodScore]) -> Forest:
    """Return a forest plot of scores; the line through all is the best supervised baseline."""
    low = math.floor(min(score.low for score in scores) * 20) / 20
    high = min(math.ceil(max(score.high for score in scores) * 20) / 20, 1.0)
    baseline = next((score.mean for score in scores if score.is_baseline), None)
    spans = [(score.method, (score.mean, score.low, score.high), words.mark(score)) for score in scores]
    selected = next((score.method for score in scores if score.is_selected), "")
    return _forest(spans, (low, high), baseline, words.percent, "Scores with 95% intervals, in percent", selected)


def gains_forest(scores: Sequence[MethodScore]) -> Forest | None:
    """Return a forest plot of what unlabeled rows add to each method that uses them, if there is any."""
    spans = [
        (
            score.method,
            (gain.mean, gain.low, gain.high),
            "harms" if gain.is_negative else "helps" if gain.is_positive else "",
        )
        for score in scores
        if (gain := score.gain) is not None
    ]
    if not spans:
        return None
    limit = math.ceil(max(0.01, *(max(abs(low), abs(high)) for _, (_, low, high), _ in spans)) * 20) / 20
    text = "Difference in points to the same method without unlabeled rows"
    return _forest(spans, (-limit, limit), 0.0, words.signed, text)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two bounds.

    Examples
    --------
    >>> ticks(0.61, 0.92)
    [0.7, 0.8, 0.9]
    """
    step = next((s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / s <= most), 1.0)
    first = math.ceil(round(low / step, 6))
    return [round(n * step, 6) for n in range(first, math.floor(round(high / step, 6)) + 1)]


def _forest(
    spans: Sequence[Span],
    bounds: tuple[float, float],
    mark: float | None,
    label: Callable[[float], str],
    text: str,
    use: str = "",
) -> Forest:
    low, high = bounds
    high = high if high > low else low + 0.05

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    bars = []
    for name, (mean, start, stop), kind in spans:
        value = label(mean)
        tip = f"{name}: {value} ({label(start)} to {label(stop)})" + (f", {kind}" if kind else "")
        tip += ", selected" if name == use else ""
        bars.append(Bar(name, value, at(mean), at(start), round(at(stop) - at(start), 2), kind, tip, name == use))
    label_text = "; ".join(bar.tip for bar in bars)
    axis = tuple(Tick(at(tick), label(tick).removesuffix(".0")) for tick in ticks(low, high))
    return Forest(tuple(bars), axis, None if mark is None else at(mark), f"{text}: {label_text}.")


# Okabe and Ito's palette, which stays apart for color-blind eyes.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31")
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 2", "1 4", "12 4", "6 2 1 2")
_FAR = 0.1  # behind the best, in a map of winners
_WIDTH = 400  # about a phone; a wider screen enlarges it
_PLOT, _LEFT, _TOP = 254, 42, 26  # where the curves end below, and what is free beside and above them


def curves_figure(
    curves: Sequence[Curve],
    banded: Collection[str] = (),
    what: str = "labels",
    metric: str = "score",
    goal: float | None = None,
) -> str:
    """Return learning curves: score against the number of labels.

    Parameters
    ----------
    curves : sequence of Curve
        At most eight are distinguished by color and dashes.
    banded : collection of str
        Names of curves whose interval is drawn as a band.
    what : str
        What is counted: labels, sentences or contexts.
    metric : str
        What is scored.
    goal : float, optional
        A score to reach, drawn across.

    Returns
    -------
    str
        An ``<svg>`` element, or nothing where there are no curves.
    """
    curves = curves[: len(PALETTE)]
    if not curves:
        return ""
    axes = _Axes.around(curves, banded, goal)
    parts = [*_grid(axes, metric), *_numbers_of_labels(axes, what)]
    for number, curve in enumerate(curves):
        parts += _curve(axes, number, curve, is_banded=curve.name in banded)
    parts += _goal(axes, goal)
    label_text = "; ".join(
        f"{c.name} " + ", ".join(f"{words.percent(m)} with {n}" for n, m in zip(c.n_labels, c.mean, strict=True))
        for c in curves
    )
    height = _PLOT + 55 + 20 * len(curves)
    aim = "" if goal is None else f"; the goal is {words.percent(goal)}"
    return _svg(
        parts, height, f"{metric[:1].upper()}{metric[1:]} in percent against the number of {what}: {label_text}{aim}."
    )


class _Axes(NamedTuple):
    """Where numbers of labels (by their logarithm) and scores stand in a figure of curves."""

    sizes: Sequence[int]
    low: float
    high: float

    @classmethod
    def around(cls, curves: Sequence[Curve], banded: Collection[str], goal: float | None) -> Self:
        sizes = sorted({size for curve in curves for size in curve.n_labels})
        lowest = min(min(curve.low if curve.name in banded else curve.mean) for curve in curves)
        highest = max(max(curve.high if curve.name in banded else curve.mean) for curve in curves)
        if goal is not None:
            lowest, highest = min(lowest, goal), max(highest, goal)
        low, high = math.floor(lowest * 20) / 20, min(math.ceil(highest * 20) / 20, 1.0)
        return cls(sizes, low, high if high > low else low + 0.05)

    def x(self, size: int) -> float:
        step = math.log(self.sizes[-1] / self.sizes[0]) or 1.0
        return _LEFT + 15 + math.log(size / self.sizes[0]) / step * (_WIDTH - _LEFT - 45)

    def y(self, score: float) -> float:
        return _TOP + (self.high - score) / (self.high - self.low) * (_PLOT - _TOP)


def _grid(axes: _Axes, metric: str) -> Iterator[str]:
    yield f'<text x="4" y="12" class="tick">{escape(metric)} in %</text>'
    for tick in ticks(axes.low, axes.high):
        y = axes.y(tick)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - 15}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" class="tick" text-anchor="end">{words.percent(tick)}</text>'


def _goal(axes: _Axes, goal: float | None) -> Iterator[str]:
    if goal is not None:
        y = axes.y(goal)
        yield (
            f'<line x1="{_LEFT}" x2="{_WIDTH - 15}" y1="{y:.1f}" y2="{y:.1f}" class="goal" stroke="#555555" '
            'stroke-width="1.5" stroke-dasharray="6 4"/>'
        )
        yield f'<text x="{_WIDTH - 15}" y="{y - 5:.1f}" class="tick" text-anchor="end">goal {words.percent(goal)}</text>'


def _numbers_of_labels(axes: _Axes, what: str) -> Iterator[str]:
    free = math.inf
    for size in reversed(axes.sizes):  # a number that would touch the next one is left out
        x = axes.x(size)
        if x <= free:
            yield f'<text x="{x:.1f}" y="{_PLOT + 20}" class="tick" text-anchor="middle">{size:,}</text>'
            free = x - 8 * len(f"{size:,}") - 4
    yield f'<text x="{_WIDTH / 2}" y="{_PLOT + 40}" class="tick" text-anchor="middle">{what}</text>'


def _curve(axes: _Axes, number: int, curve: Curve, *, is_banded: bool) -> Iterator[str]:
    color, dashes = PALETTE[number], _DASHES[number]
    places = [(axes.x(n), axes.y(m)) for n, m in zip(curve.n_labels, curve.mean, strict=True)]
    line = f'stroke="{color}" stroke-width="2.5"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
    if is_banded:
        edge = [*zip(curve.n_labels, curve.high, strict=True), *zip(curve.n_labels, curve.low, strict=True)]
        around = [*edge[: len(curve.n_labels)], *edge[: len(curve.n_labels) - 1 : -1]]
        corners = " ".join(f"{axes.x(n):.1f},{axes.y(min(max(s, axes.low), axes.high)):.1f}" for n, s in around)
        yield f'<polygon points="{corners}" fill="{color}" opacity="0.18"/>'
    yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" {line}/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>' for x, y in places)
    y = _PLOT + 62 + 20 * number
    yield f'<line x1="{_LEFT}" x2="{_LEFT + 34}" y1="{y - 5}" y2="{y - 5}" {line}/>'
    yield f'<text x="{_LEFT + 42}" y="{y}" class="name">{escape(curve.name)}</text>'


def winners_figure(curves: Sequence[Curve], winners: Sequence[str]) -> str:
    """Return a map of methods by numbers of labels: the darker, the nearer to the best with as many labels.

    Parameters
    ----------
    curves : sequence of Curve
        Methods, scored with the same numbers of labels.
    winners : sequence of str
        The best method with each number of labels.

    Returns
    -------
    str
        An ``<svg>`` element; the winner of each number of labels has a frame.
    """
    sizes = curves[0].n_labels
    best = [max(curve.mean[at] for curve in curves) for at in range(len(sizes))]
    left, top, tall = 130, 30, 30
    wide = (_WIDTH - left - 10) / len(sizes)
    parts = [f'<text x="{left - 8}" y="{top - 10}" class="tick" text-anchor="end">labels</text>']
    won = []
    for at, size in enumerate(sizes):
        middle = left + (at + 0.5) * wide
        parts.append(f'<text x="{middle:.1f}" y="{top - 10}" class="tick" text-anchor="middle">{size:,}</text>')
        won.append(f"{winners[at]} ({words.percent(best[at])}) with {size:,}")
        for row, curve in enumerate(curves):
            near = max(1 - (best[at] - curve.mean[at]) / _FAR, 0.0)
            frame = ' stroke="#d55e00" stroke-width="3"' if curve.name == winners[at] else ""
            parts.append(
                f'<rect x="{left + at * wide + 2:.1f}" y="{top + row * tall + 2}" width="{wide - 4:.1f}" '
                f'height="{tall - 4}" fill="{PALETTE[0]}" fill-opacity="{0.05 + 0.75 * near:.2f}"{frame}/>'
            )
            ink = "#ffffff" if near > 0.6 else "#222222"
            parts.append(
                f'<text x="{middle:.1f}" y="{top + (row + 0.5) * tall + 4:.1f}" class="tick" text-anchor="middle" '
                f'style="fill:{ink}">{words.percent(curve.mean[at])}</text>'
            )
    for row, curve in enumerate(curves):
        name = escape(words.clipped(curve.name, 20))
        parts.append(
            f'<text x="{left - 8}" y="{top + (row + 0.5) * tall + 4:.1f}" class="name" text-anchor="end">{name}</text>'
        )
    return _svg(parts, top + tall * len(curves) + 10, f"The best method by number of labels: {'; '.join(won)}.")


def _svg(parts: Sequence[str], height: float, text: str) -> str:
    label_text = escape(text)
    inside = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{label_text}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{label_text}</title>\n{inside}\n</svg>"
    )


_MAX_CLASSES = 20
_MAX_COLUMNS = 60
_HEAD = (
    "method",
    "score",
    "P(best)",
    "vs. baseline",
    "p",
    "unlabeled rows add",
    "splits",
    "model",
    "fit",
    "1,000 rows",
)


def render_html(report: Report) -> str:
    """Return a report as one whole HTML page that loads nothing; a small script sorts the table and shows numbers."""
    templates = _templates()
    page: str = templates.get_template("page.html").render(
        report=report,
        title=f"{report.title}: comparison of methods",
        style=_text("style.css"),
        script=_text("script.js"),
        chart=templates.get_template("chart.html").module.chart,
        scores=scores_forest(report.methods) if report.methods else None,
        gains=gains_forest(report.methods),
        curves=_safe(curves_figure(report.curves, what=report.unit, metric=report.metric)),
        curve_note=words.CURVE_NOTE,
        confusions=[c for c in report.confusions if c.counts and len(c.classes) <= _MAX_CLASSES],
        table=_table(report),
        facts=_facts(report),
        notes=[*report.notes, *report.absences],
        versions=", ".join(f"{name} {version}" for name, version in report.versions.items()),
    )
    return page


def _facts(report: Report) -> list[tuple[str, str]]:
    facts = [(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in report.facts.items()]
    columns = list(report.columns.items())
    if columns:
        shown = ", ".join(f"{name} ({kind})" for name, kind in columns[:_MAX_COLUMNS])
        more = f" and {len(columns) - _MAX_COLUMNS} more" if len(columns) > _MAX_COLUMNS else ""
        facts.append(("columns", shown + more))
    return facts


def render_fragment(report: Report) -> str:
    """Return conclusion and table as a ``<div>``, for a notebook."""
    template = _templates().get_template("fragment.html")
    fragment: str = template.render(report=report, table=_table(report), style=_text("fragment.css"))
    return fragment


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("handful.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["clipped"] = words.clipped
    return environment


def _text(name: str) -> str:
    environment = _templates()
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _safe(markup: str) -> Any:
    from markupsafe import Markup

    return Markup(markup)  # made here, with every name in it escaped


def _table(report: Report) -> Any:
    lines = [
        {"name": s.method, "use": s.is_selected, "settings": words.settings(s.params), "cells": _cells(s)}
        for s in report.methods
    ]
    return _safe(_templates().get_template("table.html").render(head=_HEAD, lines=lines))


def _cells(score: MethodScore) -> list[dict[str, Any]]:
    kept = f"{counted(score.n_kept, 'row')} kept" if score.n_kept is not None else ""
    against, gain = score.difference, score.gain
    interval = words.bounds(against) if against else ""
    gain_kind = "" if gain is None else "harms" if gain.is_negative else "helps" if gain.is_positive else ""
    return [
        _cell(score.mean, words.percent(score.mean), words.interval(score.low, score.high)),
        _cell(score.p_best, words.probability(score.p_best)),
        _cell(against.mean if against else 0.0, words.difference(score), interval, words.mark(score)),
        _cell("" if score.p_value is None else score.p_value, words.p_value(score.p_value)),
        _cell(gain.mean, words.signed(gain.mean), words.bounds(gain), gain_kind) if gain else _cell("", ""),
        _cell(score.n_splits, str(score.n_splits)),
        _cell(score.n_bytes, words.size(score.n_bytes), kept),
        _cell(score.fit_seconds, words.seconds(score.fit_seconds)),
        _cell(score.predict_seconds, words.seconds(score.predict_seconds)),
    ]


def _cell(sort: Any, text: str, sub: str = "", kind: str = "") -> dict[str, Any]:
    return {"sort": sort, "text": text, "sub": sub, "kind": kind}
