"""Learning curves on nested draws of the labels at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.progress import Progress, Step
from handful.labeling.committee import fitted, spread_labels
from handful.labeling.space import Neighborhood

# An answerer takes training rows, their codes, and rows to answer for, and returns codes.
Answer = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_TEST_SHARE = 0.25
_MOST_TEST = 2_000
_LEAST_DRAWS = 2


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """Scores of methods on nested draws.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of labels.
    scores : dict of str to ndarray of shape (n_draws, n_sizes)
        Accuracy of each method.
    """

    sizes: np.ndarray
    scores: dict[str, np.ndarray]

    @property
    def best(self) -> str:
        """The method that is best with the most labels."""
        return max(self.scores, key=lambda name: (self.scores[name][:, -1].mean(), name))


def curve_sizes(n_train: int, n_classes: int) -> np.ndarray:
    """Return numbers of labels from two for each class on, growing by half, up to all of the training part.

    Examples
    --------
    >>> curve_sizes(40, 2).tolist()
    [12, 18, 27, 40]
    """
    sizes, size = [], float(n_train)
    while size >= max(2 * n_classes, 8):
        sizes.append(round(size))
        size /= 1.5
    return np.array(sizes[::-1], dtype=np.int64)


def learning_curves(
    codes: np.ndarray,
    answerers: Mapping[str, Answer],
    *,
    n_draws: int = 10,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LearningCurves:
    """Score methods with more and more of the labels.

    Parameters
    ----------
    codes : ndarray of int
        Class of each labeled row.
    answerers : mapping of str to callable
        ``answer(train, codes, test)`` for rows of `codes`.
    n_draws : int, default=10
        Random splits; in each a quarter of the rows is held back and smaller training sets lie inside larger ones.
    random_state : int, default=0
        Seed of the splits.
    progress : callable, optional
        Told after each draw.

    Returns
    -------
    LearningCurves
        Accuracy on the held-out rows. An interruption ends the run with the draws that are done, if there are two.
    """
    n_test = min(max(round(_TEST_SHARE * len(codes)), 1), _MOST_TEST)
    sizes = curve_sizes(len(codes) - n_test, len(np.unique(codes)))
    scores = {name: np.zeros((n_draws, len(sizes))) for name in answerers}
    n_done = 0
    try:
        for draw in range(n_draws):
            order = np.random.default_rng([random_state, draw]).permutation(len(codes))
            test, pool = order[:n_test], order[n_test:]
            for at, size in enumerate(sizes):
                train = pool[:size]
                for name, answer in answerers.items():
                    scores[name][draw, at] = np.mean(answer_or_only(answer, train, codes[train], test) == codes[test])
            n_done = draw + 1
            if progress is not None:
                progress(Step("learning curves", n_done, n_draws))
    except KeyboardInterrupt:
        if n_done < _LEAST_DRAWS:
            raise
    return LearningCurves(sizes, {name: part[:n_done] for name, part in scores.items()})


def answer_or_only(answer: Answer, train: np.ndarray, codes: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Ask a method, unless the training rows are all of one class, which is the answer then."""
    if len(np.unique(codes)) == 1:
        return np.full(len(test), codes[0])
    return answer(train, codes, test)


def quick_answerers(
    matrix: Any, points: np.ndarray, around: Neighborhood, n_classes: int, random_state: int
) -> dict[str, Answer]:
    """Return quick methods of different kinds, for rows of a matrix.

    Parameters
    ----------
    matrix, points : matrices
        All rows, as encoded and as points.
    around : Neighborhood
        Of all rows, unlabeled ones too.
    n_classes : int
        Number of classes.
    random_state : int
        Seed of the trees.

    Returns
    -------
    dict of str to callable
        Logistic regression, extra trees, nearest neighbors, and labels spread over all rows.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    def learned(rows: Any, make: Callable[[int], Any]) -> Answer:
        def answer(train: np.ndarray, codes: np.ndarray, test: np.ndarray) -> np.ndarray:
            return np.asarray(fitted(make(len(train)), rows[train], codes).predict(rows[test]))

        return answer

    def spread(train: np.ndarray, codes: np.ndarray, test: np.ndarray) -> np.ndarray:
        known = np.full(len(points), -1)
        known[train] = codes
        return np.asarray(spread_labels(around, known, n_classes)[test].argmax(axis=1))

    return {
        "logistic regression": learned(matrix, lambda n: LogisticRegression(max_iter=300)),
        "extra trees": learned(points, lambda n: ExtraTreesClassifier(50, random_state=random_state)),
        "nearest neighbors": learned(points, lambda n: KNeighborsClassifier(min(3, n))),
        "spread labels": spread,
    }
