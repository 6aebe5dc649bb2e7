from __future__ import annotations

import numpy as np

from handful.experiment.compare import BALANCE
from handful.experiment.fitting import fit


def test_a_metric_that_counts_classes_alike_moves_the_answers_of_the_team():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(500) < 0.12, "fraud", "fair")
    X = rng.standard_normal((500, 3)) + 1.2 * (y == "fraud")[:, None]
    few = np.where(np.arange(500) < 60, y, None)

    def fitted(metric):
        return fit(X, few, methods=["team"], trials=2, metric=metric)

    usual, unasked, balanced = (fitted(metric) for metric in ("accuracy", "auto", "balanced accuracy"))
    assert "balance" not in (usual.params or {})
    assert 0 < unasked.params["balance"] < balanced.params["balance"] == BALANCE
    asked = (few == None) & (y == "fraud")  # noqa: E711
    assert (balanced.predict(X[asked]) == "fraud").mean() > (usual.predict(X[asked]) == "fraud").mean() + 0.1
