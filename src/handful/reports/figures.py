"""Figures as inline SVG: no library, no network, with text for those who do not see them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from html import escape
from typing import NamedTuple, Self

from handful.reports import words
from handful.reports.content import Curve, DecisionMap
from handful.reports.forest import ticks

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
        At most eight are told apart by color and dashes.
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
    told = "; ".join(
        f"{c.name} " + ", ".join(f"{words.percent(m)} with {n}" for n, m in zip(c.n_labels, c.mean, strict=True))
        for c in curves
    )
    height = _PLOT + 55 + 20 * len(curves)
    aim = "" if goal is None else f"; the goal is {words.percent(goal)}"
    return _svg(
        parts, height, f"{metric[:1].upper()}{metric[1:]} in percent against the number of {what}: {told}{aim}."
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


def decisions_figure(decisions: DecisionMap, text: str) -> str:
    """Return a map of rows, with those whose answer changed set off.

    Parameters
    ----------
    decisions : DecisionMap
        The rows.
    text : str
        The same in words.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    plot, classes = 300, decisions.classes[: len(PALETTE)]
    used = sorted({code for code in (*decisions.before, *decisions.after) if code < len(classes)})
    height = plot + 30 + 22 * math.ceil((len(used) + 2) / 2)
    x_low, x_high, y_low, y_high = min(decisions.x), max(decisions.x), min(decisions.y), max(decisions.y)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low or 1) * (_WIDTH - 40) + 20
        return across, plot - 10 - (y - y_low) / (y_high - y_low or 1) * (plot - 30)

    def color(code: int) -> str:
        return PALETTE[code] if code < len(classes) else "#777777"

    plain, changed, given = [], [], []
    rows = zip(decisions.x, decisions.y, decisions.before, decisions.after, decisions.labeled, strict=True)
    for row_x, row_y, before, after, labeled in rows:
        cx, cy = place(row_x, row_y)
        if labeled:
            given.append(
                f'<rect x="{cx - 5:.1f}" y="{cy - 5:.1f}" width="10" height="10" fill="{color(after)}" class="given"/>'
            )
        elif before != after:
            changed.append(
                f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="5" fill="{color(after)}" stroke="{color(before)}" '
                'stroke-width="3.5"/>'
            )
        else:
            plain.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3" fill="{color(after)}" opacity="0.35"/>')
    key = [(f'<circle cx="8" cy="-5" r="5" fill="{color(code)}"/>', f"class {classes[code]}") for code in used]
    key.append(('<rect x="3" y="-10" width="10" height="10" fill="#777777" class="given"/>', "labeled row"))
    ring = '<circle cx="8" cy="-5" r="5" fill="#bbbbbb" stroke="#555555" stroke-width="3.5"/>'
    key.append((ring, "changed (ring: before)"))
    legend = [
        f'<g transform="translate({12 + 195 * (n % 2)},{plot + 26 + 22 * (n // 2)})">{shape}'
        f'<text x="22" y="0" class="name">{escape(words.clipped(name, 24))}</text></g>'
        for n, (shape, name) in enumerate(key)
    ]
    return _svg([*plain, *given, *changed, *legend], height, text)


def _svg(parts: Sequence[str], height: float, text: str) -> str:
    told = escape(text)
    inside = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{told}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{told}</title>\n{inside}\n</svg>"
    )
