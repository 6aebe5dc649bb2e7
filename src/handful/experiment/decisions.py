"""Where unlabeled rows changed answers: a map of rows in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.catalogue import get_card
from handful.evaluation.comparison import Ranking
from handful.experiment.plan import Plan
from handful.experiment.trial import Bench, quiet_single_thread, search
from handful.reports.content import DecisionMap

_POINTS = 500
_MOST_TRAINING = 1_000


def decision_map(bench: Bench, plan: Plan, ranking: Ranking) -> DecisionMap | None:
    """Fit the best method that uses unlabeled rows, and its twin, on the first draw, and see where they differ.

    Parameters
    ----------
    bench : Bench
        The problem.
    plan : Plan
        The plan.
    ranking : Ranking
        Tells which method is the best.

    Returns
    -------
    DecisionMap or None
        None if no method uses unlabeled rows.
    """
    best = next((r for r in ranking.ranks if r.gain is not None), None)
    if best is None or best.gain is None:
        return None
    train, codes, test, truth = bench.matrices(0, plan.n_labels)
    rng = np.random.default_rng(bench.seed)
    # A picture does not deserve the time of a whole fit: some of the unlabeled rows will do.
    spare = rng.permutation(np.flatnonzero(codes < 0))[:_MOST_TRAINING]
    used = np.sort(np.concatenate([np.flatnonzero(codes >= 0)[:_MOST_TRAINING], spare]))
    train, codes = train[used], codes[used]
    rows = _stacked(train, test)
    known = np.concatenate([np.full(len(codes), -1), truth])
    labeled = np.concatenate([codes >= 0, np.zeros(len(truth), dtype=bool)])
    line, twin = plan.line(best.name), plan.line(best.gain.twin)
    with quiet_single_thread():
        after = _answers(bench, line.method, line.labels_only, train, codes, rows)
        before = _answers(bench, twin.method, True, train, codes, rows)
        place = _projected(rows, bench.seed)
    changed = before != after
    tested = known >= 0
    # Rows with labels and changed rows come first: they are what the map is about.
    wanted = np.sort(np.lexsort([rng.random(len(changed)), ~(labeled | changed)])[:_POINTS])
    return DecisionMap(
        method=best.name,
        twin=best.gain.twin,
        x=tuple(place[wanted, 0].round(4).tolist()),
        y=tuple(place[wanted, 1].round(4).tolist()),
        before=tuple(before[wanted].tolist()),
        after=tuple(after[wanted].tolist()),
        labeled=tuple(labeled[wanted].tolist()),
        classes=tuple(map(str, bench.problem.classes.tolist())),
        n_rows=len(changed),
        n_changed=int(changed.sum()),
        n_better=int((changed & tested & (after == known)).sum()),
        n_worse=int((changed & tested & (before == known)).sum()),
    )


def _answers(bench: Bench, name: str, labels_only: bool, train: Any, codes: np.ndarray, rows: Any) -> np.ndarray:
    chosen = get_card(name, "table")
    if labels_only or not chosen.uses_unlabeled:
        train, codes = train[codes >= 0], codes[codes >= 0]
    params = search(chosen, train, codes, bench.seed)
    model = chosen.make(train.shape[1], bench.seed, params).fit(train, codes)
    return np.asarray(model.predict(rows)).astype(np.int64)


def _stacked(train: Any, test: Any) -> Any:
    from scipy import sparse

    return sparse.csr_matrix(sparse.vstack([train, test])) if sparse.issparse(train) else np.vstack([train, test])


def _projected(rows: Any, seed: int) -> np.ndarray:
    from sklearn.decomposition import PCA, TruncatedSVD

    if rows.shape[1] < 2:
        column = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.column_stack([column[:, 0], np.zeros(len(column))])
    reduce = TruncatedSVD(2, random_state=seed) if hasattr(rows, "toarray") else PCA(2, random_state=seed)
    return np.asarray(reduce.fit_transform(rows))
