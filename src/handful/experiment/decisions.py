"""Where unlabeled rows changed answers: a map of rows in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.evaluation.ranking import Ranking
from handful.experiment.arena_tables import TableArena
from handful.experiment.race import Race
from handful.experiment.search import search
from handful.experiment.trial import quiet_single_thread
from handful.reports.content import DecisionMap

_POINTS = 500
_MOST_TRAINING = 1_000


def decision_map(arena: TableArena, race: Race, ranking: Ranking) -> DecisionMap | None:
    """Fit the best method that uses unlabeled rows, and its twin, on the first draw, and see where they differ.

    Parameters
    ----------
    arena : TableArena
        The problem.
    race : Race
        Who took part.
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
    train, codes, test, truth = arena.matrices(0, race.n_labels)
    rng = np.random.default_rng(arena.seed)
    # A picture does not deserve the time of a whole fit: some of the unlabeled rows will do.
    spare = rng.permutation(np.flatnonzero(codes < 0))[:_MOST_TRAINING]
    used = np.sort(np.concatenate([np.flatnonzero(codes >= 0)[:_MOST_TRAINING], spare]))
    train, codes = train[used], codes[used]
    rows = _stacked(train, test)
    known = np.concatenate([np.full(len(codes), -1), truth])
    labeled = np.concatenate([codes >= 0, np.zeros(len(truth), dtype=bool)])
    by_name = {entrant.name: entrant for entrant in race.entrants}
    twin = by_name[best.gain.twin]
    with quiet_single_thread():
        after = _answers(arena, by_name[best.name].method, False, train, codes, rows)
        before = _answers(arena, twin.method, True, train, codes, rows)
        place = _projected(rows, arena.seed)
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
        classes=tuple(map(str, arena.problem.classes.tolist())),
        n_rows=len(changed),
        n_changed=int(changed.sum()),
        n_better=int((changed & tested & (after == known)).sum()),
        n_worse=int((changed & tested & (before == known)).sum()),
    )


def _answers(arena: TableArena, name: str, labels_only: bool, train: Any, codes: np.ndarray, rows: Any) -> np.ndarray:
    chosen = arena.card(name)
    train, rows = arena.seen_by(name, train), arena.seen_by(name, rows)
    if labels_only or not chosen.uses_unlabeled:
        train, codes = train[codes >= 0], codes[codes >= 0]
    params = search(chosen, train, codes, arena.seed)
    model = chosen.make(train.shape[1], arena.seed, params).fit(train, codes)
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
