from __future__ import annotations

import numpy as np

from handful.comparison.fit import fit
from handful.comparison.trials import Limits


def test_a_metric_that_counts_classes_alike_moves_predictions_to_rare_classes():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(500) < 0.12, "fraud", "fair")
    X = rng.standard_normal((500, 3)) + 1.2 * (y == "fraud")[:, None]
    few = np.where(np.arange(500) < 60, y, None)
    accurate, balanced = (
        fit(X, few, metric=metric, limits=Limits(trials=4)) for metric in ("accuracy", "balanced_accuracy")
    )
    assert balanced.training_["estimate"]["metric"] == "balanced_accuracy"
    asked = (few == None) & (y == "fraud")  # noqa: E711
    assert (balanced.predict(X[asked]) == "fraud").mean() > (accurate.predict(X[asked]) == "fraud").mean() + 0.1
