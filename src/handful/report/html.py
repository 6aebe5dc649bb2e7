"""A comparison as one HTML page with inline SVG figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from handful.errors import counted
from handful.report import content as words
from handful.report.content import Curve, MethodScore, Report

Span = tuple[str, tuple[float, float, float], str]
"""A line of a forest plot: name, mean with its interval, and what is remarkable about it."""


def scores_forest(scores: Sequence[MethodScore]) -> dict[str, Any]:
    """Return a forest plot of scores; the line through all is the best supervised baseline."""
    low = math.floor(min(score.low for score in scores) * 20) / 20
    high = min(math.ceil(max(score.high for score in scores) * 20) / 20, 1.0)
    baseline = next((score.mean for score in scores if score.is_baseline), None)
    spans = [(score.method, (score.mean, score.low, score.high), words.mark(score)) for score in scores]
    selected = next((score.method for score in scores if score.is_selected), "")
    return _forest(spans, (low, high), baseline, words.in_percent, "Scores with 95% intervals, in percent", selected)


def gains_forest(scores: Sequence[MethodScore]) -> dict[str, Any] | None:
    """Return a forest plot of what unlabeled rows add to each method that uses them, if there is any."""
    gains = [(score.method, score.gain) for score in scores if score.gain is not None]
    if not gains:
        return None
    spans = [(name, (gain.mean, gain.low, gain.high), gain.effect) for name, gain in gains]
    limit = math.ceil(max(0.01, *(max(abs(gain.low), abs(gain.high)) for _, gain in gains)) * 20) / 20
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
    selected: str = "",
) -> dict[str, Any]:
    """Return bars and axis of a forest plot as the template draws them, in percent of the width."""
    low, high = bounds
    high = high if high > low else low + 0.05

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    bars = []
    for name, (mean, start, stop), kind in spans:
        tip = [f"{name}: {label(mean)} ({label(start)} to {label(stop)})", kind, "selected" if name == selected else ""]
        bars.append(
            {
                "name": name,
                "value": label(mean),
                "at": at(mean),
                "low": at(start),
                "width": round(at(stop) - at(start), 2),
                "kind": kind,
                "tip": ", ".join(filter(None, tip)),
                "use": name == selected,
            }
        )
    return {
        "bars": bars,
        "ticks": [{"at": at(tick), "label": label(tick).removesuffix(".0")} for tick in ticks(low, high)],
        "mark": None if mark is None else at(mark),
        "text": f"{text}: {'; '.join(str(bar['tip']) for bar in bars)}.",
    }


# Okabe and Ito's palette, which stays apart for color-blind eyes.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31")
_DASHES = ("none", "7 3", "2 3", "10 3 2 3", "4 2", "1 4", "12 4", "6 2 1 2")


def curves_figure(curves: Sequence[Curve], what: str = "labels", metric: str = "score") -> str:
    """Return learning curves, score against the number of labels, as an ``<svg>`` element; nothing without curves.

    Parameters
    ----------
    curves : sequence of Curve
        At most eight are distinguished by color and dashes.
    what : str
        What is counted: labels, sentences or contexts.
    metric : str
        What is scored.
    """
    curves = curves[: len(PALETTE)]
    if not curves:
        return ""
    axes = _Axes(curves)
    text = f"{metric[:1].upper()}{metric[1:]} in percent against the number of {what}: "
    text += "; ".join(
        f"{curve.name} "
        + ", ".join(f"{words.in_percent(m)} with {n}" for n, m in zip(curve.n_labels, curve.mean, strict=True))
        for curve in curves
    )
    template = _templates().get_template("curves.svg")
    series = [axes.series(number, curve) for number, curve in enumerate(curves)]
    height = axes.bottom + 55 + 20 * len(curves)
    return str(template.render(text=f"{text}.", axes=axes, height=height, series=series, metric=metric, what=what))


class _Axes:
    """Where numbers of labels (by their logarithm) and scores are in a figure of curves."""

    width = 400  # about a phone; a wider screen enlarges it
    left, top, bottom = 42, 26, 254

    def __init__(self, curves: Sequence[Curve]) -> None:
        sizes = sorted({size for curve in curves for size in curve.n_labels})
        drawn = [score for curve in curves for score in curve.mean]
        self._first, self._last = sizes[0], sizes[-1]
        self._low, high = math.floor(min(drawn) * 20) / 20, min(math.ceil(max(drawn) * 20) / 20, 1.0)
        self._high = high if high > self._low else self._low + 0.05
        self.scores = [(self.y(tick), words.in_percent(tick)) for tick in ticks(self._low, self._high)]
        self.sizes: list[tuple[float, str]] = []
        free = math.inf
        for size in reversed(sizes):  # a number that would touch the next one is left out
            if self.x(size) <= free:
                self.sizes.append((self.x(size), f"{size:,}"))
                free = self.x(size) - 8 * len(f"{size:,}") - 4

    def x(self, size: int) -> float:
        width = math.log(self._last / self._first) or 1.0
        return round(self.left + 15 + math.log(size / self._first) / width * (self.width - self.left - 45), 1)

    def y(self, score: float) -> float:
        score = min(max(score, self._low), self._high)
        return round(self.top + (self._high - score) / (self._high - self._low) * (self.bottom - self.top), 1)

    def series(self, number: int, curve: Curve) -> dict[str, Any]:
        """Return a curve as the template draws it."""
        points = [(self.x(size), self.y(score)) for size, score in zip(curve.n_labels, curve.mean, strict=True)]
        line = " ".join(f"{x},{y}" for x, y in points)
        return {
            "name": curve.name,
            "color": PALETTE[number],
            "dashes": _DASHES[number],
            "points": points,
            "line": line,
        }


_MAX_CLASSES = 20
_MAX_COLUMNS = 60
_HEAD = ("method", *(name for name in words.RANKING if name != "95% CI"), "1,000 rows")


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
        curves=_safe(curves_figure(report.curves, report.unit, report.metric)),
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
        {"name": s.method, "use": s.is_selected, "settings": words.settings(s.params), "cells": _cells(s, report.n_all)}
        for s in report.methods
    ]
    return _safe(_templates().get_template("table.html").render(head=_HEAD, lines=lines))


def _cells(score: MethodScore, n: int | None) -> list[dict[str, Any]]:
    kept = f"{counted(score.n_kept, 'row')} kept" if score.n_kept is not None else ""
    against, gain = score.difference, score.gain
    interval = words.bounds(against) if against else ""
    return [
        _cell(score.mean, words.in_percent(score.mean, n), words.score_range(score.low, score.high, n)),
        _cell(score.p_best, words.probability(score.p_best)),
        _cell(against.mean if against else 0.0, words.difference(score), interval, words.mark(score)),
        _cell("" if score.p_value is None else score.p_value, words.p_value(score.p_value)),
        _cell(gain.mean, words.signed(gain.mean), words.bounds(gain), gain.effect) if gain else _cell("", ""),
        _cell(score.n_splits, str(score.n_splits)),
        _cell(score.n_bytes, words.size(score.n_bytes), kept),
        _cell(score.fit_seconds, words.seconds(score.fit_seconds)),
        _cell(score.predict_seconds, words.seconds(score.predict_seconds)),
    ]


def _cell(sort: Any, text: str, sub: str = "", kind: str = "") -> dict[str, Any]:
    return {"sort": sort, "text": text, "sub": sub, "kind": kind}
