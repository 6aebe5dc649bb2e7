"""Figure 3 of Suzuki, Isozaki and Nagata 2011, and F1 over the amount of unlabeled text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from handful.data.files import atomic_writer
from handful.errors import MissingDataError, require
from papers.claims import Findings, Settings, load_paper, save_picture
from papers.suzuki2011.ner import measure_names
from papers.suzuki2011.parsing import SAMPLE_BECAUSE, WHOLE_BECAUSE, measure_trees, whole_treebank
from papers.suzuki2011.systems import Point
from papers.suzuki2011.texts import measure_sources, read_sources

_COLORS = {"sup": "#0072b2", "icwr": "#d55e00"}
_MARKS = {"l1": "o", "l2": "s"}
_BILLION = 1e9


def draw_figures(folder: Path, points: Sequence[Point]) -> list[Path]:
    """Draw both figures, and write the numbers behind them to ``points.json``.

    Parameters
    ----------
    folder : Path
        Where to write.
    points : sequence of Point
        What was measured.

    Returns
    -------
    list of Path
        The files.
    """
    require("matplotlib", extra="plots", why="python -m papers KEY --figures").use("Agg")
    drawn = [_draw_sizes(folder / "figure3-names.svg", [p for p in points if p.every == 1 and not p.kept])]
    curve = [p for p in points if p.every > 1]
    if curve:
        drawn.append(_draw_curve(folder / "unlabeled-text.svg", curve))
    numbers = folder / "points.json"
    with atomic_writer(numbers) as file:
        file.write(("[\n" + ",\n".join(json.dumps(asdict(p)) for p in points) + "\n]\n").encode())
    return [*drawn, numbers]


def trend(points: Sequence[Point]) -> tuple[float, float]:
    """Return the least-squares line of F1 over the decimal logarithm of the amount of text: value at 1 token, and slope.

    Examples
    --------
    >>> amounts = [Point("sup-l1", 1.0, n, dev, 300) for n, dev in ((100_000, 80.0), (1_000_000, 82.0))]
    >>> [round(figure, 6) for figure in trend(amounts)]
    [70.0, 2.0]
    """
    slope, start = np.polyfit(np.log10([p.n_tokens for p in points]), [p.dev for p in points], 1)
    return float(start), float(slope)


def _draw_sizes(path: Path, points: Sequence[Point]) -> Path:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    for base in dict.fromkeys(p.base for p in points):
        kind, learner = base.split("-")
        style: dict[str, Any] = {"color": _COLORS[kind], "marker": _MARKS[learner]}
        plain = [p for p in points if p.base == base and p.resolution is None]
        name = {"sup": "Sup.", "icwr": "iCWR"}[kind]
        axis.plot(
            [p.active for p in plain], [p.dev for p in plain], "", label=f"{name}, {learner.upper()}", mfc="w", **style
        )
        chosen = [p for p in points if p.base == base and p.resolution is not None]
        name = {"sup": "COFER", "icwr": "iCWR+COFER"}[kind]
        line = "-" if learner == "l1" else "--"
        axis.plot(
            [p.active for p in chosen], [p.dev for p in chosen], line, label=f"{name}, {learner.upper()}", **style
        )
        if learner == "l1":
            for point in chosen:
                where = {"textcoords": "offset points", "xytext": (0, 6), "fontsize": 7, "ha": "center"}
                axis.annotate(f"{point.resolution:,g}", (point.active, point.dev), **where)
    axis.set_xscale("log")
    axis.set_xlabel("active features; the figures at the points are resolutions")
    axis.set_ylabel("F1 (%) on the development set")
    axis.legend(fontsize=8, ncols=2)
    return save_picture(figure, path)


def _draw_curve(path: Path, points: Sequence[Point]) -> Path:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    for number, resolution in enumerate(dict.fromkeys(p.resolution for p in points)):
        chosen = [p for p in points if p.resolution == resolution]
        start, slope = trend(chosen)
        label = f"resolution {resolution:,g}: {slope:+.2f} points for ten times the text"
        axis.plot([p.n_tokens for p in chosen], [p.dev for p in chosen], "o-", color=f"C{number}", label=label)
        ends = np.array([chosen[-1].n_tokens, _BILLION])
        axis.plot(ends, start + slope * np.log10(ends), ":", color=f"C{number}")
    axis.set_xscale("log")
    axis.set_xlabel("unlabeled tokens; dotted: the trend carried on to a billion, which nobody measured")
    axis.set_ylabel("F1 (%) on the development set")
    axis.legend(fontsize=8)
    return save_picture(figure, path)


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``quick`` takes few training sentences and little news; ``n_jobs`` is the number of threads. Nothing is
        random, so ``seeds`` has no effect. With ``figures`` the points of Figure 3 and the curve over the amount of
        unlabeled text are measured as well, which takes three times as long.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    values: dict[str, float] = {}
    not_run: dict[str, str] = {}
    claims = load_paper("suzuki2011").claims
    whole = whole_treebank()
    for task, measure in MEASURES.items():
        try:
            name = f"{task}, whole treebank" if whole and task == "parsing" else task
            values |= settings.kept(f"suzuki2011 {name}", partial(measure, settings))
        except MissingDataError as error:
            not_run |= {claim.id: str(error) for claim in claims if claim.id.startswith(f"{task}-")}
    because = {claim.id: claim.because.replace(SAMPLE_BECAUSE, WHOLE_BECAUSE) for claim in claims if whole}
    return Findings(values, not_run, because)


def _sources(settings: Settings) -> dict[str, float]:
    return measure_sources(read_sources(n_unlabeled=1_000, n_test=500) if settings.quick else read_sources())


# By the first word of their claims; a task that lacks its data leaves the others alone.
MEASURES: dict[str, Callable[[Settings], dict[str, float]]] = {
    "ner": measure_names,
    "parsing": measure_trees,
    "sources": _sources,
}
