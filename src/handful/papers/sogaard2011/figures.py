"""Figure 5 of Søgaard 2011: accuracy and stored points against the amount of unlabeled text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.core.optional import require
from handful.papers.pictures import save_picture


def draw_curve(path: Path, curve: Sequence[tuple[int, float, int]]) -> Path:
    """Draw both curves of Figure 5 into one file.

    Parameters
    ----------
    path : Path
        An SVG file.
    curve : sequence of (int, float, int)
        Unlabeled words, accuracy in percent, stored points.

    Returns
    -------
    Path
        The file.
    """
    require("matplotlib", extra="plots", why="handful paper --figures").use("Agg")
    import matplotlib.pyplot as plt

    words, scores, points = zip(*curve, strict=True)
    figure, left = plt.subplots(figsize=(7, 4), layout="constrained")
    right = left.twinx()
    (first,) = left.plot(words, scores, "-o", color="#0072b2", markersize=4, label="accuracy %")
    (second,) = right.plot(words, points, "--s", color="#d55e00", markersize=4, label="stored points")
    left.set_xscale("symlog", linthresh=1000)
    left.set_xlabel("unlabeled words")
    left.set_ylabel("accuracy %")
    right.set_ylabel("stored points")
    left.legend(handles=[first, second])
    return save_picture(figure, path)
