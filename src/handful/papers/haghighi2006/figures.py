"""Transitions between labels, gold beside found, as in the paper's Figures 6 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from handful.core.optional import require
from handful.papers.pictures import save_picture


def transition_shares(tags: Sequence[Sequence[str]], labels: Sequence[str]) -> np.ndarray:
    """Return how often each label (row) is followed by each (column): rows that sum to 1, or 0 for a label without successor.

    Examples
    --------
    >>> transition_shares([["D", "N", "D"]], ["D", "N"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    codes = {label: code for code, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for row in tags:
        for before, after in pairwise(row):
            counts[codes[before], codes[after]] += 1
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals > 0, totals, 1.0)


def draw_transitions(path: Path, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Path:
    """Draw the two transition matrices side by side; darker is more frequent.

    Parameters
    ----------
    path : Path
        The file to write.
    gold, predicted : sequence of sequences of str
        Correct and found labels.

    Returns
    -------
    Path
        The file.
    """
    require("matplotlib", extra="plots", why="handful paper --figures").use("Agg")
    import matplotlib.pyplot as plt

    labels = sorted({tag for tags in (gold, predicted) for row in tags for tag in row})
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    for axis, tags, title in zip(axes, (gold, predicted), ("gold", "PROTO+SIM"), strict=True):
        axis.imshow(transition_shares(tags, labels), cmap="Greys", vmin=0, vmax=1)
        axis.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
        axis.set_yticks(range(len(labels)), labels, fontsize=7)
        axis.set_title(title)
        axis.set_xlabel("next label")
        axis.set_ylabel("label")
    return save_picture(figure, path)
