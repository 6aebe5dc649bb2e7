"""How much choosing rows can bring at all: many known strategies, and choosers that peek at labels, on the same draws.

``python benchmarks/label_strategies.py --tables FOLDER --texts FOLDER --seeds 5`` (sets as in ``benchmarks/labeling.py``; without
folders the tables that come with scikit-learn). To afford many strategies and seeds, rows are scored by ridge regressions, which
cost a thousandth of a second: one on the cells, one on nearness, and the nearest labeled row. Gains are over the mean of four
random choices. No label of the scored third is ever seen by a strategy.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from labeling import TABLES, TEXTS, Drawn, folder_tables, folder_texts, held_figures, keep_figures, own_tables
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomTreesEmbedding

from handful.labeling.expected import choose_expected
from handful.labeling.space import as_points
from handful.labeling.strategies import choose_telling, margins, nearness

Choose = Callable[["Pool", list[int], int], list[int]]
_LINE, _NEAR = 1.0, 0.1  # penalties of the two regressions
_AUTO = "expected mistakes (auto)"
_SHARPNESS = 4.0  # of the shares that regressions give


class Pool:
    """Two thirds of the rows to choose from, and the other third to score on."""

    def __init__(self, X: Any, y: np.ndarray, seed: int) -> None:
        n_test = len(y) // 3
        X, points = np.asarray(X), as_points(X, seed)
        squares = (points**2).sum(axis=1)
        apart = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)
        np.fill_diagonal(apart, 0.0)
        self.seed, self.n_classes = seed, len(np.unique(y))
        self.y, self.y_test = y[n_test:], y[:n_test]
        self.points, self.n, self.cells = points[n_test:], len(y) - n_test, X[n_test:]
        self.apart, self.apart_test = apart[n_test:, n_test:], apart[:n_test, n_test:]
        self.unit = float(np.median(apart[apart > 1e-12]))
        self.kernels = ((X @ X[n_test:].T + 1.0, _LINE), (np.exp(-2 * apart[:, n_test:] / self.unit), _NEAR))
        self.n_test = n_test
        self._halves: list[np.ndarray] = []

    def near(self, reach: float) -> np.ndarray:
        return np.asarray(np.exp(-self.apart / (reach * self.unit)))

    @cached_property
    def own_reach(self) -> np.ndarray:
        """Distance of each row to the twentieth nearest."""
        far = np.sqrt(np.sort(self.apart, axis=1)[:, min(20, self.n - 1)])
        return np.maximum(far, 1e-3 * self.unit**0.5)

    @property
    def density(self) -> np.ndarray:
        """How near the nearest rows of each row are, in standard deviations."""
        near = -np.log(self.own_reach)
        return np.asarray((near - near.mean()) / (near.std() + 1e-12))

    def near_by_rows(self, times: float) -> np.ndarray:
        return np.asarray(np.exp(-self.apart / (times * np.outer(self.own_reach, self.own_reach))))

    @cached_property
    def near_in_trees(self) -> np.ndarray:
        """Share of random trees, grown without labels, that have two rows in one leaf."""
        trees = RandomTreesEmbedding(200, max_depth=6, random_state=self.seed).fit(self.cells)
        return np.asarray(np.mean([leaf[:, None] == leaf for leaf in trees.apply(self.cells).T], axis=0))

    @cached_property
    def on_a_line(self) -> np.ndarray:
        """What a linear model sees of rows: products of their cells, 1 for a row with itself on average."""
        products = self.points @ self.points.T
        return np.asarray(products / products.diagonal().mean())

    def near_in_halves(self, n: int) -> list[np.ndarray]:
        """Nearness (reach 2) in random halves of the dimensions."""
        if len(self._halves) < n:
            rng, width = np.random.default_rng([self.seed, 33]), self.points.shape[1]
            for _ in range(n):
                self._halves.append(nearness(self.points[:, rng.permutation(width)[: (width + 1) // 2]]))
        return self._halves[:n]

    def answers(self, rows: list[int], asked: slice) -> list[np.ndarray]:
        """Return what each regression says of the rows that are asked, before it is decided."""
        given = np.eye(self.n_classes)[self.y[rows]]
        usual = given.mean(axis=0)
        told = []
        for kernel, penalty in self.kernels:
            inner = kernel[self.n_test :][np.ix_(rows, rows)] + penalty * np.eye(len(rows))
            told.append(kernel[asked][:, rows] @ np.linalg.solve(inner, given - usual) + usual)
        return told

    def scores(self, rows: list[int]) -> list[float]:
        line, near = (told.argmax(axis=1) for told in self.answers(rows, slice(0, self.n_test)))
        nearest = self.y[rows][self.apart_test[:, rows].argmin(axis=1)]
        return [float(np.mean(answer == self.y_test)) for answer in (line, near, nearest)]

    def shares(self, rows: list[int]) -> np.ndarray:
        told = np.mean(self.answers(rows, slice(self.n_test, None)), axis=0)
        shares = np.exp(_SHARPNESS * (told - told.max(axis=1, keepdims=True)))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def unsure(self, rows: list[int]) -> np.ndarray:
        return 1.0 - margins(self.shares(rows)) + 1e-3

    def has_classes(self, rows: list[int]) -> bool:
        return len(set(self.y[rows].tolist())) > 1


def by_chance(number: int) -> Choose:
    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        order = np.random.default_rng([pool.seed, number]).permutation(pool.n).tolist()
        return [row for row in order if row not in got][:n]

    return choose


def typiclust(pool: Pool, got: list[int], n: int) -> list[int]:
    n_clusters = min(len(got) + n, pool.n)
    clusters = KMeans(n_clusters, n_init=1, random_state=pool.seed).fit_predict(pool.points)
    sizes = np.bincount(clusters, minlength=n_clusters).astype(float)
    sizes[clusters[got]] = 0
    chosen: list[int] = []
    for _ in range(n):
        best = int(sizes.argmax())
        inside = np.flatnonzero(clusters == best) if sizes[best] else np.arange(pool.n)
        inside = inside[~np.isin(inside, got + chosen)]
        k = min(20, len(inside) - 1)
        away = np.partition(np.sqrt(pool.apart[np.ix_(inside, inside)]), k, axis=1)[:, : k + 1].sum(axis=1)
        chosen.append(int(inside[away.argmin()]))
        sizes[best] = 0
    return chosen


def farthest(pool: Pool, got: list[int], n: int) -> list[int]:
    chosen = [] if got else [int(pool.apart.mean(axis=1).argmin())]
    while len(chosen) < n:
        chosen.append(int(pool.apart[:, got + chosen].min(axis=1).argmax()))
    return chosen


def covering(reach: float) -> Choose:
    """Facility location: rows that are together near to as many others as can be."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        near = pool.near(reach)
        best = near[:, got].max(axis=1) if got else np.zeros(pool.n)
        chosen: list[int] = []
        for _ in range(n):
            gains = np.maximum(near - best[:, None], 0.0).sum(axis=0)
            gains[got + chosen] = -1.0
            chosen.append(int(gains.argmax()))
            best = np.maximum(best, near[chosen[-1]])
        return chosen

    return choose


def ball_covering(pool: Pool, got: list[int], n: int) -> list[int]:
    """ProbCover: balls that hold a tenth of all distances."""
    inside = pool.apart <= np.quantile(pool.apart, 0.1)
    covered = inside[got].any(axis=0)
    chosen: list[int] = []
    for _ in range(n):
        gains = (inside & ~covered).sum(axis=1).astype(float)
        gains[got + chosen] = -1.0
        chosen.append(int(gains.argmax()))
        covered = covered | inside[chosen[-1]]
    return chosen


def herding(reach: float) -> Choose:
    """Kernel herding: rows whose density is that of all rows."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        near, chosen = pool.near(reach), list[int]()
        for _ in range(n):
            gains = near.mean(axis=1) - near[:, got + chosen].sum(axis=1) / (len(got + chosen) + 1)
            gains[got + chosen] = -np.inf
            chosen.append(int(gains.argmax()))
        return chosen

    return choose


def telling_share(points: np.ndarray, codes: np.ndarray) -> float:
    """Tell how well labels can be told from each other: 0 is no better than the largest class, 1 without a mistake.

    Each row is answered without its own label by the sum of two ridge regressions, on the cells and on nearness (Rasmussen &
    Williams 2006, equation 5.12).
    """
    classes, codes = np.unique(codes, return_inverse=True)
    given = np.eye(len(classes))[codes]
    usual = given.mean(axis=0)
    answers = np.zeros_like(given)
    for kernel, penalty in ((points @ points.T + 1.0, _LINE), (nearness(points), _NEAR)):
        inverse = np.linalg.inv(kernel + penalty * np.eye(len(codes)))
        answers += given - (inverse @ (given - usual)) / inverse.diagonal()[:, None]
    right, largest = float(np.mean(answers.argmax(axis=1) == codes)), float(usual.max())
    return max(0.0, (right - largest) / (1.0 - largest))


def telling(reach: float, power: float = 0.0, trusted: bool = True, trees: float = 0.0) -> Choose:
    """Rows whose labels tell most; weighted by doubt, as far as labels can be told from each other or (not trusted) always.

    `trees` is the weight of nearness in random trees, beside that of distances.
    """

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        weights, has_label = np.ones(pool.n), np.zeros(pool.n, dtype=np.int64)
        has_label[got] = 1
        if power and got and pool.has_classes(got):
            told = telling_share(pool.points[got], pool.y[got]) if trusted else 1.0
            weights = pool.unsure(got) ** (power * told)
        near = pool.near(reach) if not trees else (1 - trees) * pool.near(reach) + trees * pool.near_in_trees
        return choose_telling(near, weights, has_label, 1 - has_label, n)

    return choose


def expecting(*reaches: float, typical: float = 0.0, own_reach: float = 0.0, linear: float = 0.0) -> Choose:
    """Rows whose label is expected to leave the fewest mistakes, and to tell most: with a reach of 2 what ``auto`` does.

    With several reaches nearness is the mean of them; with `own_reach` each row's reach is so many times the product of its own
    and the other's distance to the twentieth nearest row (Zelnik-Manor & Perona 2004). `typical` makes dense rows count more;
    `linear` is the share of what a linear model sees in the covariance of rows.
    """

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        near = pool.near_by_rows(own_reach) if own_reach else np.mean([pool.near(reach) for reach in reaches], axis=0)
        near = (1 - linear) * near + linear * pool.on_a_line if linear else near
        weights, has_label = np.exp(typical * pool.density), np.zeros(pool.n, dtype=np.int64)
        has_label[got] = 1
        if not got or not pool.has_classes(got):
            return choose_telling(near, weights, has_label, 1 - has_label, n)
        counts = np.zeros((pool.n, pool.n_classes), dtype=np.int64)
        counts[got, pool.y[got]] = 1
        return choose_expected(near, weights, counts, 1 - has_label, n, pool.seed)

    return choose


def expecting_by_ranks(n_subsets: int) -> Choose:
    """The same by the mean of ranks over several covariances: nearness, a line, and nearness in random halves of the columns."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        if not got or not pool.has_classes(got):
            return telling(2.0)(pool, got, n)
        views = [pool.near(2.0), pool.on_a_line, *pool.near_in_halves(n_subsets)]
        given = np.eye(pool.n_classes)[pool.y[got]]
        usual = (given.sum(axis=0) + 1 / pool.n_classes) / (len(got) + 1)
        means, covers = [], []
        for view in views:
            solved = np.linalg.solve(view[np.ix_(got, got)] + _NEAR * np.eye(len(got)), view[got])
            means.append((given - usual).T @ solved)
            covers.append(view - view[:, got] @ solved)
        free = np.setdiff1d(np.arange(pool.n), got)
        chosen: list[int] = []
        while len(chosen) < n:
            waiting = np.setdiff1d(free, chosen)
            ranks = np.zeros(len(waiting))
            for mean, open_ in zip(means, covers, strict=True):
                shares = normed(mean.T + usual)
                own = np.maximum(open_.diagonal(), 0.0) + _NEAR
                told = (((1.0 - margins(shares) + 1e-3) @ open_**2) / own)[waiting]
                tried = waiting[np.argsort(-told, kind="stable")[:50]]
                likely = np.argsort(-shares, axis=1, kind="stable")[:, :3]
                chances = normed(np.take_along_axis(shares, likely, axis=1))
                pull = open_[tried] / own[tried, None]
                news = np.eye(pool.n_classes)[likely[tried]] - (mean.T + usual)[tried][:, None, :]
                sure = (
                    (normed(mean.T + usual + pull[:, None, :, None] * news[:, :, None, :])).max(axis=-1).mean(axis=-1)
                )
                worth = np.full(len(waiting), -np.inf)
                place = np.searchsorted(waiting, tried)
                parts = ((sure * chances[tried]).sum(axis=1), told[place])
                worth[place] = sum((part - part.mean()) / (part.std() + 1e-12) for part in parts)
                ranks += np.argsort(np.argsort(worth, kind="stable"), kind="stable")
            chosen.append(int(waiting[ranks.argmax()]))
            covers = [
                open_ - np.outer(row := open_[chosen[-1]], row / (max(row[chosen[-1]], 0.0) + _NEAR))
                for open_ in covers
            ]
        return chosen

    return choose


def regions_first(times: int) -> Choose:
    """The most typical rows of `times` as many regions as rows are to be chosen; of these, those that tell most about all."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        clusters = KMeans(times * n, n_init=1, random_state=pool.seed).fit_predict(pool.points)
        near, free = pool.near(2.0), np.zeros(pool.n, dtype=np.int64)
        for cluster in np.unique(clusters):
            inside = np.flatnonzero(clusters == cluster)
            free[inside[near[np.ix_(inside, inside)].sum(axis=1).argmax()]] = 1
        return choose_telling(near, np.ones(pool.n), np.zeros(pool.n, dtype=np.int64), free, n)

    return choose


def audited(choose: Choose) -> Choose:
    """The same with every tenth row by chance, the last of ten, as `LabelLoop` has them."""

    def choose_some(pool: Pool, got: list[int], n: int) -> list[int]:
        n_audits = (len(got) + n) // 10 - len(got) // 10
        chosen = choose(pool, got, n - n_audits) if n > n_audits else []
        return chosen + by_chance(8)(pool, got + chosen, n_audits)

    return choose_some


def expecting_more(trusted: bool) -> Choose:
    """The same, with a second process, on the cells; `trusted`: small margins count as far as labels can be told apart."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        if not got or not pool.has_classes(got):
            return telling(2.0)(pool, got, n)
        on_lines = pool.kernels[0][0][pool.n_test :]
        views = [pool.near(2.0), on_lines / on_lines.diagonal().mean()]
        given = np.eye(pool.n_classes)[pool.y[got]]
        usual = (given.sum(axis=0) + 1 / pool.n_classes) / (len(got) + 1)
        means, covers = [], []
        for view in views:
            solved = np.linalg.solve(view[np.ix_(got, got)] + _NEAR * np.eye(len(got)), np.eye(len(got)))
            means.append(view[:, got] @ solved @ (given - usual) + usual)
            covers.append(view - view[:, got] @ solved @ view[got])
        shares = normed(np.mean(means, axis=0))
        told = telling_share(pool.points[got], pool.y[got]) if trusted else 0.5
        unsure = (1.0 - margins(shares) + 1e-3) ** (2 * told)
        likely = np.argsort(-shares, axis=1, kind="stable")[:, :3]
        chances = normed(np.take_along_axis(shares, likely, axis=1))
        chosen: list[int] = []
        while len(chosen) < n:
            telling_most = np.mean([(unsure @ open_**2) / (open_.diagonal() + _NEAR) for open_ in covers], axis=0)
            telling_most[got + chosen] = -1.0
            tried = np.argsort(-telling_most, kind="stable")[: min(50, pool.n - len(got + chosen))]
            after = np.mean(means, axis=0)
            for mean, open_ in zip(means, covers, strict=True):
                pull = open_[tried] / (open_.diagonal()[tried, None] + _NEAR)
                news = np.eye(pool.n_classes)[likely[tried]] - mean[tried][:, None, :]
                after = after + pull[:, None, :, None] * news[:, :, None, :] / len(views)
            sure = (normed(after).max(axis=-1).mean(axis=-1) * chances[tried]).sum(axis=1)
            worth = sum((part - part.mean()) / (part.std() + 1e-12) for part in (sure, telling_most[tried]))
            chosen.append(int(tried[np.argmax(worth)]))
            covers = [open_ - np.outer(row := open_[chosen[-1]], row / (row[chosen[-1]] + _NEAR)) for open_ in covers]
        return chosen

    return choose


def normed(shares: np.ndarray) -> np.ndarray:
    shares = np.maximum(shares, 1e-3)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def keeping_shares(pool: Pool, got: list[int], n: int) -> list[int]:
    """Rows that tell most among those of the class that chosen rows lack most, by the shares that models see in the pool."""
    if not got or not pool.has_classes(got):
        return telling(2.0)(pool, got, n)
    shares, has_label = pool.shares(got), np.zeros(pool.n, dtype=np.int64)
    has_label[got] = 1
    counts = np.bincount(pool.y[got], minlength=pool.n_classes).astype(float)
    chosen: list[int] = []
    for _ in range(n):
        lacking = int((shares.mean(axis=0) * (counts.sum() + 1) - counts).argmax())
        free = (1 - has_label) * (shares.argmax(axis=1) == lacking)
        free = free if free.any() else 1 - has_label
        chosen += choose_telling(pool.near(2.0), np.ones(pool.n), has_label, free, 1)
        has_label[chosen[-1]] = 1
        counts += shares[chosen[-1]]
    return chosen


def one_by_one(choose: Choose) -> Choose:
    """The same strategy, asked again after each label."""

    def choose_each(pool: Pool, got: list[int], n: int) -> list[int]:
        chosen: list[int] = []
        while len(chosen) < n:
            chosen += choose(pool, got + chosen, 1)
        return chosen

    return choose_each


def after(start: Choose, n_each: int, then: Choose) -> Choose:
    """One strategy for some labels of each class, then another."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        return (start if len(got) < n_each * pool.n_classes else then)(pool, got, n)

    return choose


def margin_after(start: Choose, n_each: int) -> Choose:
    """Rows of small margin, unlike each other, after some labels for each class by another strategy."""

    def choose(pool: Pool, got: list[int], n: int) -> list[int]:
        if len(got) < n_each * pool.n_classes or not pool.has_classes(got):
            return start(pool, got, n)
        unsure = pool.unsure(got)
        unsure[got] = -1.0
        top = np.argsort(-unsure, kind="stable")[: 10 * n]
        top = top[~np.isin(top, got)]
        if len(top) <= n:
            return [int(row) for row in top]
        model = KMeans(n, n_init=1, random_state=pool.seed)
        clusters = model.fit_predict(pool.points[top], sample_weight=unsure[top])
        first = top[np.sort(np.unique(clusters, return_index=True)[1])].tolist()
        return [int(row) for row in (first + [row for row in top.tolist() if row not in first])[:n]]

    return choose


def knowing_shares(pool: Pool, got: list[int], n: int) -> list[int]:
    """Peeks: random rows, but each class exactly as often as among all rows."""
    counts = np.bincount(pool.y, minlength=pool.n_classes)
    order = np.random.default_rng([pool.seed, 99]).permutation(pool.n)
    chosen: list[int] = []
    for _ in range(n):
        have = np.bincount(pool.y[got + chosen], minlength=pool.n_classes)
        missing = counts * (len(got + chosen) + 1) / pool.n - have
        free = order[~np.isin(order, got + chosen)]
        chosen.append(int(free[missing[pool.y[free]].argmax()]))
    return chosen


def peeking(pool: Pool, got: list[int], n: int) -> list[int]:
    """Peeks: of 12 random rows the one with which the regressions label the pool best."""
    rng = np.random.default_rng([pool.seed, len(got), 5])
    chosen: list[int] = []
    for _ in range(n):
        free = np.setdiff1d(np.arange(pool.n), got + chosen)
        tried = rng.permutation(free)[:12].tolist()

        def right(row: int) -> float:
            told = pool.answers([*got, *chosen, row], slice(pool.n_test, None))
            return float(np.mean([answer.argmax(axis=1) == pool.y for answer in told]))

        chosen.append(max(tried, key=right))
    return chosen


def every_row(pool: Pool, got: list[int], n: int) -> list[int]:
    """Peeks: the labels of all rows, the most that labels can bring."""
    return list(range(pool.n))


STRATEGIES: dict[str, Choose] = {
    **{f"random {number}": by_chance(number) for number in range(4)},
    "TypiClust": typiclust,
    "farthest first (k-center)": farthest,
    "ProbCover": ball_covering,
    "facility location, reach 0.2": covering(0.2),
    "facility location, reach 1": covering(1.0),
    "herding, reach 0.2": herding(0.2),
    "herding, reach 1": herding(1.0),
    "margin": margin_after(by_chance(7), 1),
    "TypiClust, margin after 2 a class": margin_after(typiclust, 2),
    "TypiClust, margin after 4 a class": margin_after(typiclust, 4),
    "telling, reach 0.5": telling(0.5),
    "telling, reach 1": telling(1.0),
    "telling, reach 2": telling(2.0),
    "telling, reach 4": telling(4.0),
    "telling, reach 2, doubt": telling(2.0, 2.0, trusted=False),
    "telling, reach 2, trusted doubt": telling(2.0, 2.0),
    "trusted doubt, one by one": one_by_one(telling(2.0, 2.0)),
    "trusted doubt, nearness in trees": telling(2.0, 2.0, trees=1.0),
    "trusted doubt, nearness in trees and by distance": telling(2.0, 2.0, trees=0.5),
    "telling, shares of classes kept": keeping_shares,
    _AUTO: expecting(2.0),
    "expected mistakes, reach 0.5": expecting(0.5),
    "expected mistakes, reach 1": expecting(1.0),
    "expected mistakes, reach 4": expecting(4.0),
    "expected mistakes, reaches 0.1, 0.5 and 2": expecting(0.1, 0.5, 2.0),
    "expected mistakes, a reach for each row": expecting(own_reach=4.0),
    "expected mistakes, dense rows count more": expecting(2.0, typical=0.5),
    "expected mistakes, margin after 4 a class": margin_after(expecting(2.0), 4),
    "expected mistakes after TypiClust for 2 a class": after(typiclust, 2, expecting(2.0)),
    "expected mistakes, audited": audited(expecting(2.0)),
    "expected mistakes, a third linear": expecting(2.0, linear=1 / 3),
    "expected mistakes, half linear": expecting(2.0, linear=0.5),
    "expected mistakes, ranks of nearness and line": expecting_by_ranks(0),
    "expected mistakes, ranks of four views": expecting_by_ranks(2),
    "expected mistakes after twice as many regions": after(regions_first(2), 1, expecting(2.0)),
    "expected mistakes after as many regions": after(regions_first(1), 1, expecting(2.0)),
    "expected mistakes, cells and nearness": expecting_more(trusted=False),
    "expected mistakes, trusted doubt": expecting_more(trusted=True),
    "peek: shares of the classes": knowing_shares,
    "peek: best of 12 for the pool": peeking,
    "peek: all rows": every_row,
}


def figures_of(read: Any, seeds: range, n_rows: int, wanted: list[str]) -> dict[str, Any]:
    drawn, told = Drawn(read, n_rows), dict[str, Any]()
    for seed in seeds:
        X, y = drawn.rows(seed)
        pool = Pool(X, y, seed)
        for name in wanted:
            got: list[int] = []
            for size in (size for size in (4, 8) if size * pool.n_classes <= 0.8 * pool.n):
                while len(got) < size * pool.n_classes:
                    got = got + STRATEGIES[name](pool, got, pool.n_classes)
                told.setdefault(f"{size} {name}", []).append(pool.scores(got))
    return told


def tell(figures: dict[str, Any]) -> None:
    gains: dict[str, dict[int, dict[str, float]]] = {}
    errors: dict[tuple[str, int, str], float] = {}
    for name in STRATEGIES:
        for size in (4, 8):
            for table, told in figures.items():
                if f"{size} {name}" not in told:
                    continue
                base = np.mean([told[f"{size} random {number}"] for number in range(4)], axis=(0, 2))
                gain = 100 * (np.mean(told[f"{size} {name}"], axis=1) - base)
                gains.setdefault(name, {}).setdefault(size, {})[table] = float(gain.mean())
                errors[name, size, table] = (
                    float(gain.std(ddof=1) / len(gain) ** 0.5) if len(gain) > 1 else float("nan")
                )
    for name, by_size in gains.items():
        parts = []
        for size, by_table in by_size.items():
            values = np.array(list(by_table.values()))
            worst = min(by_table, key=lambda table: by_table[table])
            error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            parts.append(
                f"{size} a class: {values.mean():+.2f} (error {error:.2f}), {(values < -1).sum()} of {len(values)} "
                f"more than 1 below, worst {worst} {by_table[worst]:+.1f} (error {errors[name, size, worst]:.1f})"
            )
            usual = gains.get(_AUTO, {}).get(size, {})
            ahead = np.array([by_table[table] - usual[table] for table in by_table if table in usual])
            if name != _AUTO and len(ahead) > 1:
                error = ahead.std(ddof=1) / len(ahead) ** 0.5
                parts[-1] += (
                    f", above auto {ahead.mean():+.2f} (error {error:.2f}), not below it on {(ahead >= 0).sum()}"
                )
        if not name.startswith("random"):
            print(f"{name:40s} {'; '.join(parts)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--only", help="NAME,... of the sets")
    parser.add_argument(
        "--strategies", default="", help="words, with commas: strategies with one of them in their name, and chance"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--quick", action="store_true", help="one seed, 300 rows")
    parser.add_argument("--json", type=Path, help="file for all figures; sets that it has are not run again")
    given = parser.parse_args()
    if given.quick:
        given.seeds, given.rows = 1, 300
    sets: dict[str, Any] = folder_tables(given.tables, TABLES.split(",")) if given.tables else {}
    sets |= folder_texts(given.texts, TEXTS.split(",")) if given.texts else {}
    words = ["random", *given.strategies.split(",")] if given.strategies else [""]
    wanted = [name for name in STRATEGIES if any(word in name for word in words)]
    figures = held_figures(given.json)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    for name, read in (sets or own_tables()).items():
        if name not in figures and (not given.only or name in given.only.split(",")):
            figures[name] = json.loads(json.dumps(figures_of(read, seeds, given.rows, wanted)))
            keep_figures(given.json, figures)
    tell(figures)


if __name__ == "__main__":
    main()
