"""The figures of Liu et al. 2013: the worked example, the growing boundary, the accuracy curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful.core.optional import require
from handful.corpora.make import make_two_gaussians, make_two_moons
from handful.neighbors import OrdinalKNN
from handful.papers.pictures import save_animation, save_picture

_NAMES = {
    "method1": "ordinal order (method 1)",
    "method2": "random order (method 2)",
    "method3": "plain k-NN (method 3)",
    "method1-true-label": "method 1, true label inserted",
    "method2-true-label": "method 2, true label inserted",
}
_COLORS = ("#0072b2", "#d55e00")


def draw_figures(folder: Path, curves: Mapping[str, Mapping[str, Mapping[float, float]]]) -> list[Path]:
    """Write Figures 3 to 9 into a folder.

    Parameters
    ----------
    folder : Path
        An existing folder.
    curves : mapping
        Table to method to ratio to accuracy; Figures 6 to 9 have one panel per table.

    Returns
    -------
    list of Path
        The files written.
    """
    matplotlib = require("matplotlib", extra="plots", why="handful paper --figures")
    matplotlib.use("Agg")
    gaussians = _Growth("Gaussians", make_two_gaussians(random_state=0), (0, 80, 160, 240, 320, 398))
    moons = _Growth("moons", make_two_moons(random_state=0), (0, 20, 40, 60, 80, 100))
    written = [_worked_example(folder / "figure3.svg")]
    for number, growth in ((4, gaussians), (5, moons)):
        written += [growth.snapshots(folder / f"figure{number}.svg"), growth.animation(folder / f"figure{number}.gif")]
    if curves:
        written.append(_accuracy_curves(folder / "figures6-9.svg", curves))
    return written


def _worked_example(path: Path) -> Path:
    import matplotlib.pyplot as plt

    from handful.papers.liu2013.plans import EXAMPLE_CODES, EXAMPLE_POINT, EXAMPLE_ROWS

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharex=True, sharey=True, layout="constrained")
    for axis, sigma in zip(axes, (0.5, 1.0, 5.0), strict=True):
        weight = np.exp(-((EXAMPLE_ROWS - EXAMPLE_POINT) ** 2).sum(axis=1) / (2 * sigma**2))
        for code, color in enumerate(_COLORS):
            members = code == EXAMPLE_CODES
            mean = np.average(EXAMPLE_ROWS[members], axis=0, weights=weight[members])
            axis.scatter(*EXAMPLE_ROWS[members].T, color=color, label=f"class {code + 1}")
            axis.scatter(*mean, color=color, marker="*", s=160, edgecolor="black", label=f"M{code + 1}(x)")
            axis.plot(*np.column_stack([EXAMPLE_POINT, mean]), color=color, linewidth=0.8)
        axis.scatter(*EXAMPLE_POINT, color="black", marker="x", label="x")
        axis.set_title(f"sigma = {sigma}")
    axes[0].legend(fontsize=7)
    return save_picture(figure, path)


def _accuracy_curves(path: Path, curves: Mapping[str, Mapping[str, Mapping[float, float]]]) -> Path:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex=True, layout="constrained")
    for axis, (name, methods) in zip(axes.flat, curves.items(), strict=False):
        for method, points in methods.items():
            style = "--" if method.endswith("true-label") else "-"
            axis.plot(list(points), list(points.values()), style, marker="o", markersize=3, label=_NAMES[method])
        axis.set_title(name)
        axis.set_xlabel("share of labeled rows")
        axis.set_ylabel("accuracy %")
    axes.flat[0].legend(fontsize=7)
    return save_picture(figure, path)


class _Growth:
    """How the labeled set and the boundary grow while the unlabeled rows are worked off."""

    def __init__(self, name: str, data: tuple[np.ndarray, np.ndarray, np.ndarray], steps: Sequence[int]) -> None:
        self.name, self.steps = name, steps
        self.X, self.few, _ = data
        self.model = OrdinalKNN().fit(self.X, self.few)
        low, high = self.X.min(axis=0) - 1, self.X.max(axis=0) + 1
        self.across, self.up = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))

    def snapshots(self, path: Path) -> Path:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 3, figsize=(11, 6.5), sharex=True, sharey=True, layout="constrained")
        for axis, step in zip(axes.flat, self.steps, strict=True):
            self._draw(axis, step)
        return save_picture(figure, path)

    def animation(self, path: Path) -> Path:
        import matplotlib.pyplot as plt
        from matplotlib.animation import FuncAnimation

        figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
        frames = np.linspace(0, len(self.model.order_), 24).astype(int).tolist()

        def frame(step: int) -> None:
            axis.clear()
            self._draw(axis, step)

        return save_animation(figure, FuncAnimation(figure, frame, frames), path, frames_per_second=4)

    def _draw(self, axis: Any, step: int) -> None:
        labels = self.few.copy()
        done = self.model.order_[:step]
        labels[done] = self.model.transduction_[done]
        known = np.flatnonzero(labels != -1)
        grid = np.column_stack([self.across.ravel(), self.up.ravel()])
        nearest = ((grid[:, None] - self.X[known][None]) ** 2).sum(axis=2).argmin(axis=1)
        classes = np.unique(labels[known])
        region = np.searchsorted(classes, labels[known][nearest]).reshape(self.across.shape)
        axis.contourf(self.across, self.up, region, levels=[-0.5, 0.5, 1.5], colors=_COLORS, alpha=0.15)
        axis.scatter(*self.X[labels == -1].T, s=6, color="lightgray")
        for label, color in zip(classes, _COLORS, strict=True):
            axis.scatter(*self.X[labels == label].T, s=8, color=color)
            axis.scatter(*self.X[self.few == label].T, s=120, color=color, marker="*", edgecolor="black")
        axis.set_title(f"{self.name}: {step} of {len(self.model.order_)} labeled", fontsize=9)
