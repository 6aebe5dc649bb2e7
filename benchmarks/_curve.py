"""A straight line over the logarithm of the amount of raw text."""

from __future__ import annotations

from typing import Any

import numpy as np
from _shared import Rows
from scipy import stats

PAPER_TOKENS = 3_720_000_000


def extrapolated(rows: Rows) -> Rows:
    """Return F1 at the paper's amount of text by a straight line over the logarithm, with the 95% band of a new point."""
    estimates: Rows = []
    for way in dict.fromkeys(_way(row) for row in rows):
        points = [(np.log10(row["tokens"]), row["F1"]) for row in rows if _way(row) == way]
        if len(points) < 4:
            continue
        x, y = np.array(points).T
        line = stats.linregress(x, y)
        far = np.log10(PAPER_TOKENS) - x.mean()
        spread = np.sqrt(((y - line.intercept - line.slope * x) ** 2).sum() / (len(x) - 2))
        band = stats.t.ppf(0.975, len(x) - 2) * spread * np.sqrt(1 + 1 / len(x) + far**2 / ((x - x.mean()) ** 2).sum())
        estimate = {"tokens": PAPER_TOKENS, "F1": line.intercept + line.slope * np.log10(PAPER_TOKENS)}
        estimates.append(dict(way) | estimate | {"give or take": band, "a tenfold": line.slope})
    return [{k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()} for row in estimates]


def _way(row: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return what distinguishes one curve from another."""
    fields = ("task", "text", "way", "resolution", "weight", "step", "drop", "discount", "again", "decisions")
    return tuple((k, v) for k, v in row.items() if k in fields)
