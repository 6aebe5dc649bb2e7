"""Numbers as people read them; the same in the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.reports.content import Curve, Row

MINUS = "\N{MINUS SIGN}"
LEVEL = 0.05
CURVE_NOTE = "Means over a few draws, the same at every size; scores of the ranking are those of all draws."
"""Why learning curves end in other scores than the ranking has."""


def percent(score: float) -> str:
    """Return a score between 0 and 1 as percent.

    Examples
    --------
    >>> percent(0.8271)
    '82.7'
    """
    return f"{100 * score:.1f}"


def interval(low: float, high: float) -> str:
    """Return an interval of scores.

    Examples
    --------
    >>> interval(0.8, 0.9)
    '80.0\N{EN DASH}90.0'
    """
    return f"{percent(low)}\N{EN DASH}{percent(high)}"


def signed(difference: float) -> str:
    """Return a difference of scores in points, with its sign.

    Examples
    --------
    >>> signed(0.041), signed(-0.0001), signed(0.0)
    ('+4.1', '0.0', '0.0')
    """
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", MINUS)


def chance(p: float | None) -> str:
    """Return a p-value.

    Examples
    --------
    >>> chance(0.0004), chance(0.034), chance(None)
    ('<.001', '.034', '')
    """
    if p is None:
        return ""
    if p < 0.001:
        return "<.001"
    return "1" if p > 0.9995 else f"{p:.3f}".lstrip("0")


def size(n_bytes: float) -> str:
    """Return a number of bytes.

    Examples
    --------
    >>> size(2_300), size(5_000_000), size(3_000_000_000)
    ('2.3 kB', '5.0 MB', '3.0 GB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes / 1e3:.1f} kB"


def seconds(value: float) -> str:
    """Return a duration.

    Examples
    --------
    >>> seconds(0.0123), seconds(2.5), seconds(150)
    ('12 ms', '2.5 s', '2.5 min')
    """
    if value < 0.0095:
        return f"{1000 * value:.1f} ms"
    if value < 0.9995:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"


def gain(row: Row) -> str:
    """Return the gain of a method over its twin, with its interval."""
    if row.gain is None:
        return ""
    return f"{signed(row.gain[0])} ({span(row.gain)})"


def span(values: tuple[float, float, float]) -> str:
    """Return the interval of a difference: of mean, low and high, the last two.

    Examples
    --------
    >>> span((0.02, 0.01, 0.03))
    '+1.0 to +3.0'
    """
    return f"{signed(values[1])} to {signed(values[2])}"


def share(value: float) -> str:
    """Return a probability as percent.

    Examples
    --------
    >>> share(0.714), share(0.001)
    ('71 %', '<1 %')
    """
    return "<1 %" if value < 0.005 else f"{100 * value:.0f} %"


def mark(row: Row, baseline: str | None) -> str:
    """Say in a word how a method stands to the baseline.

    Parameters
    ----------
    row : Row
        The method.
    baseline : str or None
        Name of the baseline.

    Returns
    -------
    {"baseline", "better", "worse", ""}
        Empty where the difference may be chance.
    """
    if row.name == baseline:
        return "baseline"
    if row.p is None or row.p >= LEVEL or row.against is None:
        return ""
    return "better" if row.against[0] > 0 else "worse"


def difference(row: Row, baseline: str | None) -> str:
    """Return the difference to the baseline in points, or say that it is the baseline."""
    if row.name == baseline:
        return "baseline"
    return "" if row.against is None else signed(row.against[0])


def harms(row: Row) -> bool:
    """Tell whether unlabeled rows harm a method: the whole interval of its gain lies below zero."""
    return row.gain is not None and row.gain[2] < 0


def clipped(name: str, most: int) -> str:
    """Return a name of at most so many characters, with dots where some are missing.

    Examples
    --------
    >>> clipped("country house", 9), clipped("flat", 9)
    ('country \N{HORIZONTAL ELLIPSIS}', 'flat')
    """
    return name if len(name) <= most else name[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def settings(params: Mapping[str, Any]) -> str:
    """Return parameters as ``name=value``.

    Examples
    --------
    >>> settings({"n_neighbors": 3})
    'n_neighbors=3'
    """
    return ", ".join(f"{name}={value}" for name, value in params.items())


def curve_lines(curves: Sequence[Curve]) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of labels that curves are drawn at, and each curve's name with its score at each of them."""
    sizes = sorted({size for curve in curves for size in curve.n_labels})
    lines = []
    for curve in curves:
        score_at = dict(zip(curve.n_labels, curve.mean, strict=True))
        lines.append([curve.name, *(percent(score_at[size]) if size in score_at else "" for size in sizes)])
    return sizes, lines
