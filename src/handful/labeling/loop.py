"""Which rows to label next: one object that keeps what does not change when a label comes in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError
from handful.core.labels import UNLABELED, code_of, encode_labels
from handful.core.progress import Progress, Step
from handful.features.frames import as_frame
from handful.labeling.committee import committee_shares
from handful.labeling.expected import choose_expected
from handful.labeling.labeled_rows import rows_and_labels
from handful.labeling.space import Neighborhood, as_matrix, as_points, neighborhood, typicality_within
from handful.labeling.strategies import choose_margin, choose_telling, choose_typical, margins, nearness, regions

Strategy = Literal["auto", "typical", "margin", "random"]
AUDIT_SHARE = 0.1
TYPICAL, UNLIKE, AUDIT = "typical of a region without labels", "unlike the others", "audit: chosen at random"
CONFIRMING = "typical of a region with labels, to confirm them"
_SMALL_LEAD = 0.4  # of the best class: below it a row lies between two
_SMALL_CLUSTERS = 1_000
_UNLIKE_SHARE = 0.05
_N_STEPS = 4  # of the preparation: cells, points, neighbors, small clusters


@dataclass(frozen=True)
class Pick:
    """A row worth labeling.

    Parameters
    ----------
    row : int
        Its number in `X`.
    reason : str
        Why: typical of a region without labels (none of its nearest rows has one) or with labels, between two classes,
        unlike the others, or an audit.
    suggestion : object
        The label that the models would give; None while there are no labels.
    confidence : float or None
        How sure they are, between 0 and 1.
    """

    row: int
    reason: str
    suggestion: Any = None
    confidence: float | None = None


def next_rows(
    X: Any,
    y: Any = None,
    n: int = 20,
    strategy: Strategy = "auto",
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[Pick]:
    """Choose the rows to label next.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows, labeled and unlabeled.
    y : array-like or str, optional
        Labels, or the name of their column in a data frame; ``None``, ``NaN`` or (among integers) -1 mark
        unlabeled rows. Without it no row has a label.
    n : int, default=20
        How many rows.
    strategy : {"auto", "typical", "margin", "random"}, default="auto"
        *typical* takes the densest row of the largest clusters without a label; *margin* rows between two classes, unlike
        each other; *random* any. *auto* takes rows whose labels tell most about all others; once there are two classes, also
        rows whose label, whichever it turns out to be, is expected to leave the fewest mistakes. Every tenth row is an
        audit, chosen at random, so that scores on those stay honest.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Told of the steps of the preparation.

    Returns
    -------
    list of Pick
        The most useful first; fewer than `n` where fewer are unlabeled.

    Examples
    --------
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> [pick.row for pick in next_rows(rows, ["a", None, None, None, None, None], n=1)]
    [5]
    """
    return LabelLoop(X, y, random_state=random_state, progress=progress).next(n, strategy)


class LabelLoop:
    """A table that is being labeled: chooses rows, suggests labels, and takes labels as they come.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows, labeled and unlabeled.
    y : array-like or str, optional
        Labels so far, or the name of their column in a data frame.
    random_state : int, default=0
        Seed.
    max_pool : int, default=10000
        Of a longer table so many rows, chosen at random, and all labeled ones are considered.
    progress : callable, optional
        Told of the steps of the preparation.

    Attributes
    ----------
    labels : dict of int to label
        Labels by row.

    Examples
    --------
    >>> loop = LabelLoop([[0.0], [0.1], [5.0], [5.1]])
    >>> loop.label(0, "a")
    >>> loop.label(2, "b")
    >>> [(s.row, s.suggestion) for s in loop.suggest([1, 3])]
    [(1, 'a'), (3, 'b')]
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        random_state: int = 0,
        max_pool: int = 10_000,
        progress: Progress | None = None,
    ) -> None:

        def tell(done: int) -> None:
            if progress is not None:
                progress(Step("prepare", done, _N_STEPS))

        X, y = rows_and_labels(X, y, who="next_rows")
        # Of a long table only the rows that are considered are encoded: texts take their time.
        frame = as_frame(X) if hasattr(X, "columns") else None
        matrix: Any = as_matrix(X, who="next_rows") if frame is None else None
        self.n_rows = int(matrix.shape[0]) if frame is None else frame.height
        self.labels: dict[int, Any] = {} if y is None else self._given(y)
        self._seed = random_state
        rng = np.random.default_rng(random_state)
        # The order in which rows come up by chance is fixed, so audits do not depend on what was labeled since.
        self._shuffled = rng.permutation(self.n_rows)
        self._pool = np.arange(self.n_rows)
        if self.n_rows > max_pool:
            given = np.fromiter(self.labels, dtype=np.int64, count=len(self.labels))
            self._pool = np.union1d(self._shuffled[:max_pool], given)
        self._place = {int(row): at for at, row in enumerate(self._pool)}
        matrix = matrix[self._pool] if frame is None else self._encoded(frame)
        tell(1)
        self._points = as_points(matrix, random_state)
        tell(2)
        self._around = neighborhood(self._points)
        self._typicality = self._around.typicality
        tell(3)
        self._small, self._centers, self._sizes = _small_clusters(self._points, random_state)
        tell(_N_STEPS)
        self._near: np.ndarray | None = None
        self._answer: tuple[np.ndarray, list[Any]] | None = None

    def _encoded(self, frame: Any) -> Any:
        """Return the rows of the pool as a matrix."""
        codes = np.full(self.n_rows, UNLABELED)
        codes[list(self.labels)] = 0
        return as_matrix(frame[self._pool], who="next_rows", codes=codes[self._pool])

    def _given(self, y: Any) -> dict[int, Any]:
        encoded = encode_labels(y, who="next_rows", min_classes=0)
        if len(encoded.codes) != self.n_rows:
            raise DataError(
                f"next_rows: X and y must be of one length, got {counted(self.n_rows, 'row')} "
                f"and {counted(len(encoded.codes), 'label')}."
            )
        rows = encoded.labeled
        return dict(zip(rows.tolist(), encoded.decode(encoded.codes[rows]).tolist(), strict=True))

    @property
    def pool(self) -> np.ndarray:
        """The rows that are considered: all, or a sample of a long table."""
        return self._pool

    @property
    def places(self) -> Mapping[int, int]:
        """Where in the pool a row is."""
        return self._place

    @property
    def points(self) -> np.ndarray:
        """The rows of the pool as points in which near means alike."""
        return self._points

    @property
    def around(self) -> Neighborhood:
        """Who is near whom in the pool."""
        return self._around

    @property
    def seed(self) -> int:
        """Seed of all chance."""
        return self._seed

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, sorted."""
        return sorted(set(self.labels.values()), key=lambda label: (str(type(label)), label))

    def label(self, row: int, label: Any) -> None:
        """Give a row a label, in place of an earlier one; None takes it back.

        Parameters
        ----------
        row : int
            Row of `X`.
        label : object
            Its label.
        """
        if not 0 <= row < self.n_rows:
            raise DataError(f"LabelLoop: row must be one of the {counted(self.n_rows, 'row')}, got {row}.")
        if label is None:
            self.labels.pop(row, None)
        else:
            self.labels[row] = label
        self._answer = None

    def update(self, labels: Mapping[int, Any]) -> None:
        """Give several rows their labels; see `label`."""
        for row, label in labels.items():
            self.label(row, label)

    def next(self, n: int = 20, strategy: Strategy = "auto") -> list[Pick]:
        """Choose the rows to label next; see `next_rows`.

        Parameters
        ----------
        n : int, default=20
            How many.
        strategy : {"auto", "typical", "margin", "random"}, default="auto"
            How.

        Returns
        -------
        list of Pick
            Rows without a label.
        """
        if n < 1:
            raise ParameterError(f"next_rows: n must be at least 1, got {n}.")
        if strategy not in get_args(Strategy):
            raise ParameterError(
                f"next_rows: strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}."
            )
        if len(self.labels) >= self.n_rows:
            raise DataError(
                f"next_rows: at least one row must be unlabeled, got {counted(self.n_rows, 'row')} that all have labels."
            )
        n = min(n, self.n_rows - len(self.labels))
        before = len(self.labels)
        n_audit = {"auto": int(AUDIT_SHARE * (before + n)) - int(AUDIT_SHARE * before), "random": n}.get(strategy, 0)
        reasons: dict[int, str] = {}
        self._choose(reasons, n - n_audit, strategy)
        audits = (int(row) for row in self._shuffled if int(row) not in self.labels and int(row) not in reasons)
        while len(reasons) < n:  # the audits, and what the pool of a long table could not give
            reasons[next(audits)] = AUDIT
        return [
            Pick(row, reasons[row], told.suggestion, told.confidence)
            for row, told in zip(reasons, self.suggest(reasons), strict=True)
        ]

    def _choose(self, reasons: dict[int, str], n: int, strategy: Strategy) -> None:
        """Add `n` rows of the pool with their reasons."""
        if strategy == "random" or n < 1:
            return
        labeled = self._labeled()
        lead, between = self._margins()
        if strategy == "margin" and between is not None:
            chosen = choose_margin(self._points, lead, labeled, n, self._seed)
            sure = 1.0
        elif strategy == "typical":
            chosen, sure = self._typical(labeled, n), 0.0
        else:
            chosen, sure = self._telling(labeled, n), _SMALL_LEAD
        rare = self._typicality < np.quantile(self._typicality, _UNLIKE_SHARE)
        for at in chosen:
            if between is not None and lead[at] < sure:
                told = between(at)
            elif rare[at]:
                told = UNLIKE
            else:
                told = CONFIRMING if labeled[self._around.near[at]].any() else TYPICAL
            reasons[int(self._pool[at])] = told

    def _margins(self) -> tuple[np.ndarray, Callable[[int], str] | None]:
        """Return the lead of the best class for every row, and what tells the two classes; without classes no lead."""
        if len(self.classes) < 2:
            return np.zeros(len(self._pool)), None
        shares, classes = self._shares()

        def between(at: int) -> str:
            second, best = np.argsort(shares[at], kind="stable")[-2:]
            return f"between {classes[best]} and {classes[second]}"

        return margins(shares), between

    def _typical(self, labeled: np.ndarray, n: int) -> list[int]:
        n_regions = min(int(labeled.sum()) + n, max(len(self._sizes) // 2, 1))
        clusters = regions(self._centers, self._sizes, n_regions, self._seed)[self._small]
        return choose_typical(clusters, typicality_within(self._points, clusters), labeled, n)

    def _telling(self, labeled: np.ndarray, n: int) -> list[int]:
        """Choose small clusters whose labels would help most, and the most typical row of each."""
        if self._near is None:
            self._near = nearness(self._centers)
        free = np.bincount(self._small[~labeled], minlength=len(self._sizes))
        counts = self._label_counts()
        if (counts.sum(axis=0) > 0).sum() > 1:
            clusters = choose_expected(self._near, self._sizes, counts, free, n, self._seed)
        else:
            clusters = choose_telling(self._near, self._sizes, counts.sum(axis=1), free, n)
        chosen: list[int] = []
        taken = labeled.copy()
        for cluster in clusters:
            members = np.flatnonzero((self._small == cluster) & ~taken)
            chosen.append(int(members[self._typicality[members].argmax()]))
            taken[chosen[-1]] = True
        return chosen

    def _label_counts(self) -> np.ndarray:
        """Count the labels of each small cluster, by class."""
        counts = np.zeros((len(self._sizes), len(self.classes)), dtype=np.int64)
        codes_by_label = code_of(self.classes)
        for row, label in self.labels.items():
            if row in self._place:
                counts[self._small[self._place[row]], codes_by_label[label]] += 1
        return counts

    def _labeled(self) -> np.ndarray:
        """Tell which rows of the pool have a label."""
        flags = np.zeros(len(self._pool), dtype=bool)
        flags[[self._place[row] for row in self.labels if row in self._place]] = True
        return flags

    def suggest(self, rows: Iterable[int]) -> list[Pick]:
        """Suggest a label for some rows.

        Parameters
        ----------
        rows : iterable of int
            Rows of `X`.

        Returns
        -------
        list of Pick
            With an empty reason; without a suggestion where there are no labels, or the row is not in the pool of a long
            table.
        """
        wanted = [int(row) for row in rows]
        if not self.labels:
            return [Pick(row, "") for row in wanted]
        shares, classes = self._shares()
        told = []
        for row in wanted:
            if row not in self._place:
                told.append(Pick(row, ""))
                continue
            line = shares[self._place[row]]
            best = int(line.argmax())
            told.append(Pick(row, "", classes[best], float(line[best])))
        return told

    def _shares(self) -> tuple[np.ndarray, list[Any]]:
        if self._answer is None:
            classes = self.classes
            codes_by_label = code_of(classes)
            codes = np.full(len(self._pool), -1)
            for row, label in self.labels.items():
                if row in self._place:
                    codes[self._place[row]] = codes_by_label[label]
            shares = committee_shares(self._points, codes, len(classes), self._around, self._seed)
            self._answer = shares, classes
        return self._answer


def _small_clusters(points: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the small cluster of each row, their centers and sizes; few rows are a cluster each."""
    from sklearn.cluster import MiniBatchKMeans

    if len(points) <= 2 * _SMALL_CLUSTERS:
        return np.arange(len(points)), points, np.ones(len(points))
    model = MiniBatchKMeans(_SMALL_CLUSTERS, n_init=1, batch_size=4_096, max_iter=20, random_state=seed)
    codes = model.fit_predict(points)
    used, codes = np.unique(codes, return_inverse=True)
    return codes, model.cluster_centers_[used], np.bincount(codes).astype(np.float64)
