"""Scores with their intervals, one line per method: places in percent of the width, so that every screen shows them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handful.reports import words
from handful.reports.content import Row


@dataclass(frozen=True)
class Bar:
    """One line: a dot, and the span around it, in percent of the width; whether it is the best bet."""

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


def scores_forest(rows: Sequence[Row], baseline: str | None, use: str = "") -> Forest:
    """Return the scores of methods.

    Parameters
    ----------
    rows : sequence of Row
        The ranking.
    baseline : str or None
        Whose score is a line through all.
    use : str
        The best bet, which is set off.

    Returns
    -------
    Forest
        The chart.
    """
    low = math.floor(min(row.low for row in rows) * 20) / 20
    high = min(math.ceil(max(row.high for row in rows) * 20) / 20, 1.0)
    base = next((row.score for row in rows if row.name == baseline), None)
    spans = [(row.name, (row.score, row.low, row.high), words.mark(row, baseline)) for row in rows]
    return _forest(spans, (low, high), base, words.percent, "Scores with 95 % intervals, in percent", use)


def gains_forest(rows: Sequence[Row]) -> Forest | None:
    """Return what unlabeled data brought each method that uses them.

    Parameters
    ----------
    rows : sequence of Row
        The ranking; rows without a gain are left out.

    Returns
    -------
    Forest or None
        The chart, if there is anything to show.
    """
    spans = [
        (row.name, row.gain, "harms" if row.gain[2] < 0 else "helps" if row.gain[1] > 0 else "")
        for row in rows
        if row.gain is not None
    ]
    if not spans:
        return None
    most = math.ceil(max(0.01, *(max(abs(low), abs(high)) for _, (_, low, high), _ in spans)) * 20) / 20
    text = "Gain in points over the same method without unlabeled data"
    return _forest(spans, (-most, most), 0.0, words.signed, text)


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
        tip += ", the best bet" if name == use else ""
        bars.append(Bar(name, value, at(mean), at(start), round(at(stop) - at(start), 2), kind, tip, name == use))
    told = "; ".join(bar.tip for bar in bars)
    axis = tuple(Tick(at(tick), label(tick).removesuffix(".0")) for tick in ticks(low, high))
    return Forest(tuple(bars), axis, None if mark is None else at(mark), f"{text}: {told}.")
