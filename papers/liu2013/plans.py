"""What may explain the printed numbers: the loop of the paper with the answer inserted instead of the prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from handful.data.columns import infer_columns, read_values
from handful.data.table import Table
from handful.errors import MissingDataError, require
from handful.kernels.distances import Rule
from handful.kernels.ordinal import Ordinal, rank_and_label
from handful.neighbors.ordinal import OrdinalKNN
from handful.neighbors.rows import from_dense
from handful.parallel import map_reduce
from papers.claims import Findings, Settings, save_animation, save_picture
from papers.corpora import all_corpora, load
from papers.generated import make_two_gaussians, make_two_moons
from papers.stand_ins import allowed, stand_in_table

N_FRAMES = 24  # of a moving picture


def insert_true_labels(X: np.ndarray, few: np.ndarray, y: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Predict each unlabeled row, then insert it with its true label.

    This is no method: it uses the answers. It shows what the printed numbers of methods 1 and 2 look like.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    few : ndarray of int
        Codes, -1 where unlabeled.
    y : ndarray of int
        The true codes of all rows.
    order : ndarray, optional
        Positions among the unlabeled rows; by distance factor if not given.

    Returns
    -------
    ndarray of int
        `few`, with predictions where it had none.
    """
    labeled, waiting = np.flatnonzero(few != -1), np.flatnonzero(few == -1)
    settings = Ordinal(1, Rule.of("uniform"), 0.5, 1.0)
    codes, true_codes = few[labeled].astype(np.int32), y[waiting].astype(np.int32)
    given_order = {} if order is None else {"order": order}
    taken, predicted, *_ = rank_and_label(
        from_dense(X), labeled, codes, waiting, settings, true_codes=true_codes, **given_order
    )
    guess = few.copy()
    guess[waiting[taken]] = predicted
    return guess


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
    matplotlib = require("matplotlib", extra="plots", why="python -m papers KEY --figures")
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
        frames = np.linspace(0, len(self.model.order_), N_FRAMES).astype(int).tolist()

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


TABLES = {"Vehicle": "vehicle", "Ionosphere": "ionosphere", "Parkinson": "parkinsons", "Wine": "wine"}
METHODS = ("method1", "method2", "method3", "method1-true-label", "method2-true-label")

# Worked example of the paper's Figures 2 and 3.
EXAMPLE_ROWS = np.array([[2, 3], [1, 2], [2, 1], [3, 2], [5, 4], [4, 3], [5, 2], [6, 3]], dtype=float)
EXAMPLE_CODES = np.repeat([0, 1], 4)
EXAMPLE_POINT = np.array([2.5, 4.0])


class Part(NamedTuple):
    """One unit of work: a table, a seed and a number of folds."""

    name: str
    seed: int
    n_folds: int


# (table, method, ratio of labeled rows) to one accuracy per seed
Accuracies = dict[tuple[str, str, float], list[float]]


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``seeds`` repetitions (10 by default, 2 in a quick run); ``quick`` also takes fewer fold numbers.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    seeds = settings.seeds or (2 if settings.quick else 10)
    folds = (2, 5, 10) if settings.quick else tuple(range(2, 11))
    tables, not_run = _tables()
    values = {
        f"worked-example-sigma-{sigma}": float(
            OrdinalKNN(sigma=sigma)
            .fit(np.vstack([EXAMPLE_ROWS, EXAMPLE_POINT]), [*EXAMPLE_CODES, -1])
            .distance_factor_[0]
        )
        for sigma in (0.5, 1.0, 5.0)
    }
    accuracies: Accuracies = {}
    for name in tables:
        parts = [Part(name, seed, k) for seed in range(seeds) for k in folds]
        measured = partial(_measure_all, tables, parts, settings)
        accuracies |= {
            (name, method, ratio): scores for method, ratio, scores in settings.kept(f"liu2013 {name}", measured)
        }
        values |= _table_four(name, accuracies)
    if settings.figures is not None:
        draw_figures(settings.figures, {name: curves(name, accuracies) for name in tables})
    return Findings(values, not_run)


def _tables() -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, str]]:
    tables: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    not_run: dict[str, str] = {}
    for name, corpus in TABLES.items():
        try:
            table = load(corpus)
        except MissingDataError as error:
            if allowed():
                X, y = stand_in_table(
                    corpus, *(all_corpora()[corpus].counts[k] for k in ("rows", "features", "classes"))
                )
                tables[name] = _standardized(X), y
                continue
            reason = str(error)
            ids = [f"table4-{name.lower()}-{m}{end}" for m in METHODS for end in ("", "-sd")]
            not_run |= dict.fromkeys([*ids, f"order-{name.lower()}"], reason)
            continue
        assert isinstance(table, Table)
        features = table.cells.drop(str(table.target))
        specs = [spec for spec in infer_columns(features)[0] if spec.kind == "numeric"]
        tables[name] = (
            _standardized(read_values(features, specs).to_numpy()),
            np.unique(table.classes[table.codes].astype(str), return_inverse=True)[1].astype(np.int64),
        )
    return tables, not_run


def _standardized(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def corpora_of(claim: str) -> set[str]:
    """Return the corpora that a claim's number comes from."""
    return {corpus for name, corpus in TABLES.items() if f"-{name.lower()}" in claim}


def _measure_all(
    tables: dict[str, tuple[np.ndarray, np.ndarray]], parts: list[Part], settings: Settings
) -> list[tuple[str, float, list[float]]]:
    accuracies = map_reduce(partial(measure, tables), _join, parts, n_jobs=settings.n_jobs, progress=settings.progress)
    return [(method, ratio, scores) for (_, method, ratio), scores in accuracies.items()]


def measure(tables: dict[str, tuple[np.ndarray, np.ndarray]], part: Part) -> Accuracies:
    """Run all methods on one table with one fold number, in both directions.

    Parameters
    ----------
    tables : dict
        Name to z-scored features and codes.
    part : Part
        What to run.

    Returns
    -------
    dict
        Accuracy of each method and ratio, averaged over the rotations.
    """
    X, y = tables[part.name]
    rng = np.random.default_rng([part.seed, part.n_folds])
    fold = rng.permutation(np.arange(len(y)) % part.n_folds)
    accuracies: Accuracies = {}
    for ratio, masks in _directions(fold, part.n_folds):
        scores = [_score_all(X, y, labeled, rng) for labeled in masks]
        for method in METHODS:
            accuracies[part.name, method, ratio] = [float(np.mean([score[method] for score in scores]))]
    return accuracies


def _directions(fold: np.ndarray, n_folds: int) -> Iterator[tuple[float, list[np.ndarray]]]:
    yield 1 / n_folds, [fold == i for i in range(n_folds)]
    if n_folds > 2:  # with two folds both directions are the same
        yield (n_folds - 1) / n_folds, [fold != i for i in range(n_folds)]


def _score_all(X: np.ndarray, y: np.ndarray, labeled: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    few, rest = np.where(labeled, y, -1), ~labeled
    seed = int(rng.integers(2**31))
    ordinal = OrdinalKNN().fit(X, few).transduction_
    shuffled = OrdinalKNN(order="random", random_state=seed).fit(X, few).transduction_
    distances = ((X[rest][:, None] - X[labeled][None]) ** 2).sum(axis=2)
    plain = y[labeled][distances.argmin(axis=1)]
    guesses = {
        "method1": ordinal[rest],
        "method2": shuffled[rest],
        "method3": plain,
        "method1-true-label": insert_true_labels(X, few, y)[rest],
        "method2-true-label": insert_true_labels(X, few, y, order=rng.permutation(int(rest.sum())))[rest],
    }
    return {method: 100 * float(np.mean(guess == y[rest])) for method, guess in guesses.items()}


def _join(a: Accuracies, b: Accuracies) -> Accuracies:
    for key, scores in b.items():
        a.setdefault(key, []).extend(scores)
    return a


def curves(name: str, accuracies: Accuracies) -> dict[str, dict[float, float]]:
    """Return the mean accuracy over seeds by method and ratio, as in Figures 6 to 9."""
    return {
        method: {
            ratio: float(np.mean(scores))
            for (table, m, ratio), scores in sorted(accuracies.items())
            if table == name and m == method
        }
        for method in METHODS
    }


def _table_four(name: str, accuracies: Accuracies) -> dict[str, float]:
    """Mean and sd over the ratios of at most one half, computed for each seed, then averaged over seeds."""
    values = {}
    for method in METHODS:
        by_seed = np.array(
            [
                scores
                for (table, m, ratio), scores in accuracies.items()
                if table == name and m == method and ratio <= 0.5
            ]
        )
        values[f"table4-{name.lower()}-{method}"] = float(by_seed.mean())
        values[f"table4-{name.lower()}-{method}-sd"] = float(by_seed.std(axis=0, ddof=1).mean())
    first, second = (values[f"table4-{name.lower()}-method{m}"] for m in (1, 2))
    values[f"order-{name.lower()}"] = first - second
    return values
