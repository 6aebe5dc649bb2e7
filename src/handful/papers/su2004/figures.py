"""The toy example of Su, Carpuat and Wu 2004 in pictures: Tables 1 to 3, Figure 1, and why it is an artefact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful.core.optional import require
from handful.papers.pictures import save_picture
from handful.papers.su2004.toy import turned
from handful.senses.toy import TOY_CLASSES, TOY_FEATURES, TOY_NEW, TOY_NEW_CLASS, TOY_ROWS, toy_table

_COLORS = {1: "#0072b2", 2: "#d55e00"}
# Contexts with the same features are one point.
_POINTS = ((0, "1, 8"), (1, "2"), (2, "3"), (3, "4 to 7"))


def draw_figures(folder: Path) -> list[Path]:
    """Write Tables 1 to 3, Figure 1 and the distances of the new context into a folder.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Returns
    -------
    list of Path
        The files written.
    """
    require("matplotlib", extra="plots", why="handful paper --figures").use("Agg")
    return [
        _table_one(folder / "table1.svg"),
        _table_two(folder / "table2.svg"),
        _table_three(folder / "table3.svg"),
        _figure_one(folder / "figure1.svg"),
        _distances(folder / "distances.svg"),
    ]


def _table_one(path: Path) -> Path:
    rows = [*TOY_ROWS, TOY_NEW[0]]
    classes = [*TOY_CLASSES, TOY_NEW_CLASS]
    names = [*(f"x{t}" for t in range(1, 9)), "x9 (new)"]
    cells = [
        [name, *("1" if mark else "" for mark in row), str(label)]
        for name, row, label in zip(names, rows, classes, strict=True)
    ]
    return _draw_table(
        path, ["context", *TOY_FEATURES, "class"], cells, "Table 1: contexts of “art” and their features"
    )


def _table_two(path: Path) -> Path:
    linear, kernel = (turned(degree)[0] for degree in (1, 2))
    cells = [
        [str(t + 1), _vector(TOY_ROWS[t, :3]), _vector(linear[t]), _vector(kernel[t]), str(TOY_CLASSES[t])]
        for t in range(8)
    ]
    return _draw_table(path, ["t", "observed", "PCA", "kernel PCA", "class"], cells, "Table 2: training contexts")


def _table_three(path: Path) -> Path:
    cells = []
    for degree, name in ((1, "PCA"), (2, "kernel PCA")):
        answer = toy_table(degree).answer
        cells.append([name, _vector(TOY_NEW[0, :3]), _vector(turned(degree)[1]), str(answer), str(TOY_NEW_CLASS)])
    heads = ["model", "observed", "transformed", "predicted class", "correct class"]
    return _draw_table(path, heads, cells, "Table 3: the new context")


def _figure_one(path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 4.2))
    titles = ("(a) observed vectors", "(b) first principal axis", "(c) in order of the first kernel component")
    panels = [figure.add_subplot(1, 3, n, projection="3d") for n in (1, 2, 3)]
    for axis, title in zip(panels, titles, strict=True):
        _scatter(axis)
        axis.set_title(title, fontsize=10)
    # (b) the axis of linear PCA, cut to the three dimensions shown, and the feet of the points on it
    centre = TOY_ROWS.mean(axis=0)
    direction = np.linalg.svd(TOY_ROWS - centre)[2][0]
    points = np.vstack([TOY_ROWS[:4], TOY_NEW])
    feet = centre + np.outer((points - centre) @ direction, direction)
    panels[1].plot(*feet[np.argsort(feet @ direction)][:, :3].T, color="black", linewidth=1)
    for pair in zip(points, feet, strict=True):
        panels[1].plot(*np.array(pair)[:, :3].T, color="gray", linestyle=":", linewidth=1)
    # (c) there is no axis to draw: a line through the points, in the order of their first component
    projected, new = turned(2)
    order = np.argsort([*projected[:4, 0], new[0]])
    panels[2].plot(*points[order][:, :3].T, color="black", linewidth=1)
    return save_picture(figure, path, bbox_inches="tight")


def _distances(path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for axis, as_printed, title in (
        (axes[0], True, "recipe of the printed tables"),
        (axes[1], False, "as the text defines it"),
    ):
        distances = toy_table(2, as_printed=as_printed).distances
        for row, name in _POINTS:
            axis.bar(name, distances[row], color=_COLORS[int(TOY_CLASSES[row])])
        axis.set_title(f"kernel PCA, {title}", fontsize=10)
        axis.set_xlabel("training context (blue: class 1, orange: class 2)")
    axes[0].set_ylabel("distance of the new context")
    return save_picture(figure, path, bbox_inches="tight")


def _vector(values: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in values) + ")"


def _scatter(axis: Any) -> None:
    for row, name in _POINTS:
        x, y, z = TOY_ROWS[row, :3]
        axis.scatter(x, y, z, color=_COLORS[int(TOY_CLASSES[row])], s=40)
        axis.text(x, y, z, f"  {name}", fontsize=8)
    axis.scatter(*TOY_NEW[0, :3], color="black", marker="x", s=40)
    axis.text(*TOY_NEW[0, :3], "  9 (new)", fontsize=8)
    for set_label, name in zip((axis.set_xlabel, axis.set_ylabel, axis.set_zlabel), TOY_FEATURES, strict=False):
        set_label(name, fontsize=8)
    for set_ticks in (axis.set_xticks, axis.set_yticks, axis.set_zticks):
        set_ticks([0, 1])
    axis.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), zlim=(-0.2, 1.2))


def _draw_table(path: Path, heads: Sequence[str], cells: Sequence[Sequence[str]], title: str) -> Path:
    import matplotlib.pyplot as plt

    widths = np.array([max(len(row[i]) for row in (heads, *cells)) + 3 for i in range(len(heads))], dtype=float)
    figure, axis = plt.subplots(figsize=(0.085 * widths.sum() + 0.4, 0.3 * (len(cells) + 1) + 0.6))
    axis.axis("off")
    axis.set_title(title, fontsize=10)
    drawn = axis.table(cells, colLabels=heads, cellLoc="center", loc="center", colWidths=widths / widths.sum())
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(9)
    drawn.scale(1, 1.4)
    return save_picture(figure, path, bbox_inches="tight")
