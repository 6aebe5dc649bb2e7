"""Calibrated confidence and class priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from handful.data.labels import UNLABELED
from handful.errors import DataError, ParameterError
from handful.persistence.schema import Array, IfThere, ListOf, Maybe, Number, Pair, Record, stored

_SUM_ERROR = 0.05  # of priors that were rounded


def picked_by_class(codes: np.ndarray, n_classes: int) -> bool:
    """Tell whether labels look picked class by class, so that their counts say nothing about the classes.

    Parameters
    ----------
    codes : ndarray of int
        Class of each labeled row.
    n_classes : int
        Number of classes.

    Returns
    -------
    bool
        Whether all classes have the same number of labels, or at least half of them, and three, have the largest number: two
        of three are often equal by chance.

    Examples
    --------
    >>> picked_by_class(np.array([0, 0, 1, 1]), 2), picked_by_class(np.array([0, 0, 1, 1, 2]), 3)
    (True, False)
    >>> picked_by_class(np.array([0, 0, 1, 1, 2, 2, 3]), 4)
    True
    """
    counts = np.bincount(codes, minlength=n_classes)
    counts = counts[counts > 0]
    largest = counts == counts.max()
    tied = largest.all() or (largest.sum() >= 3 and largest.mean() >= 0.5)
    return bool(counts.max() >= 2 and len(counts) >= 2 and tied)


def known_shift(shares: Mapping[Any, float], classes: Sequence[Any], counts: np.ndarray) -> np.ndarray:
    """Return how far answers should be moved where the shares of the classes are known.

    Parameters
    ----------
    shares : mapping of label to float
        Share of each class; labels may be given as they are written, and shares may be rounded.
    classes : sequence
        Labels of the classes.
    counts : ndarray of int
        Labels of each class.

    Returns
    -------
    ndarray of shape (n_classes,)
        What to add to the log-share of each class: by how much it is more frequent than among the labels.

    Examples
    --------
    >>> known_shift({"no": 0.9, "yes": 0.1}, ["no", "yes"], np.array([5, 5])).round(2).tolist()
    [0.59, -1.61]
    """
    prior_of = {str(label): float(prior) for label, prior in shares.items()}
    names = [str(name) for name in classes]
    if set(prior_of) != set(names):
        raise ParameterError(
            f"shares: give one number for each class, and no other; the classes are {', '.join(names)}, "
            f"got {', '.join(prior_of)}."
        )
    values = np.array([prior_of[name] for name in names])
    if not np.isfinite(values).all() or (values <= 0).any() or abs(values.sum() - 1) > _SUM_ERROR + 1e-9:
        raise ParameterError(
            f"shares: they must be above 0 and add up to 1, got {', '.join(map(str, prior_of.values()))}."
        )
    return np.asarray(np.log(values / values.sum()) - np.log(counts / counts.sum()))


SURE_ENOUGH = 0.8
"""The confidence for which the number of kept predictions is printed."""

LEAST_HELD = 6
"""Answers to rows held out from which it can be learned how sure a method may be."""

_FOLDS = 3
_MOST_LABELED = 1_000
_MOST_UNLABELED = 500
_MOST_NEAR = 1_000
_SURE = 0.995  # no method is surer than this by itself
_CONFIDENCE_USUAL = np.array([1.0, 0.0])  # slope and offset before any row was held out: the method's own share
_DOUBT = np.array([0.5, 1.0])  # standard deviations around them


def own_shares(estimator: Any, rows: Any) -> np.ndarray:
    """Return the probabilities of a classifier, or those of its margins, or 1 for its prediction.

    Parameters
    ----------
    estimator : fitted classifier
        With ``predict_proba``, ``decision_function``, or neither.
    rows : matrix
        Rows.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        In the order of its ``classes_``.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> machine = SVC().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> own_shares(machine, [[0.0]]).round(1).tolist()
    [[0.7, 0.3]]
    """
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    classes = np.asarray(estimator.classes_)
    if hasattr(estimator, "decision_function"):
        from scipy.special import expit, softmax

        margins = np.asarray(estimator.decision_function(rows), dtype=np.float64)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        if margins.shape[1] == len(classes):
            return np.asarray(softmax(margins, axis=1))
    answers = np.asarray(estimator.predict(rows))
    return np.asarray(answers[:, None] == classes, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Answers to labeled rows that were held out of training.

    Parameters
    ----------
    sure : ndarray of float64
        The method's own share of each answer.
    near : ndarray of float64
        How much nearer a labeled row of the answer was than one of another class; see `label_margin`.
    right : ndarray of bool
        Whether the answer was right.
    codes : ndarray of int64
        The right class of each.
    """

    sure: np.ndarray
    near: np.ndarray
    right: np.ndarray
    codes: np.ndarray


def hold_out(
    make: Callable[[], Any], rows: Any, codes: np.ndarray, *, uses_unlabeled: bool, seed: int = 0
) -> HeldOut | None:
    """Fit a method to some of the labeled rows and ask it about the others, in turn.

    Parameters
    ----------
    make : callable
        Returns a new estimator.
    rows : matrix
        Training rows.
    codes : ndarray of int64
        Their classes, -1 where unlabeled.
    uses_unlabeled : bool
        Whether the estimator learns from unlabeled rows, of which at most 500 take part.
    seed : int
        Seed of the choice of rows, of which at most 1,000 labeled ones take part.

    Returns
    -------
    HeldOut or None
        None where labels are too few to hold any out.
    """
    rng = np.random.default_rng(seed)
    labeled = rng.permutation(np.flatnonzero(codes >= 0))[:_MOST_LABELED]
    spare = rng.permutation(np.flatnonzero(codes < 0))[:_MOST_UNLABELED] if uses_unlabeled else labeled[:0]
    by_class = labeled[np.argsort(codes[labeled], kind="stable")]
    part = np.arange(len(by_class)) % _FOLDS
    parts = []
    for number in range(_FOLDS):
        test, train = by_class[part == number], by_class[part != number]
        present = np.unique(codes[train])
        if len(present) < 2 or not len(test):
            continue
        kept = np.sort(np.concatenate([train, spare]))  # in the order of the table, as in the fit
        # Codes without gaps, since methods may expect them so.
        dense = np.where(codes[kept] >= 0, np.searchsorted(present, codes[kept]), UNLABELED)
        try:
            estimator = make().fit(rows[kept], dense)
            own = own_shares(estimator, rows[test])
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            continue  # such as more neighbors than rows
        answers = present[np.asarray(estimator.classes_).astype(np.int64)][own.argmax(axis=1)]
        near = label_margin(rows[test], answers, *(kept_rows(estimator, present) or (rows[train], codes[train])))
        parts.append((own.max(axis=1), near, answers == codes[test], codes[test]))
    return HeldOut(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


def kept_rows(estimator: Any, classes: np.ndarray) -> tuple[Any, np.ndarray] | None:
    """Return the rows that a condensed classifier keeps, and their codes; None for one that keeps none or all."""
    if not hasattr(estimator, "kept_"):
        return None
    codes = classes[np.asarray(estimator.classes_).astype(np.int64)][estimator.stored_codes_]
    return estimator.stored_numbers_, codes.astype(np.int64)


@dataclass(eq=False)
class Confidence:
    """Turn a method's own probabilities into calibrated ones.

    Parameters
    ----------
    slope, offset : float
        The log-odds that a prediction is correct are ``slope * z + offset``, where z are those of its own probability.
    near : tuple of matrix and ndarray, optional
        Labeled rows and their codes, for a method that gives the same probability to every row, as a single nearest neighbor
        does. Then z says how much nearer the nearest labeled row of the predicted class is than that of another class.
    counts : list of int, optional
        Held-out predictions with a confidence of `SURE_ENOUGH` or more, how many of these were correct, and how many were
        held out.
    few : list of int, optional
        Labels of each class, where they were too few to learn anything; see `of_few`.
    n_held : int, optional
        Labeled rows n: no confidence is above (n + 1) / (n + 2).

    Notes
    -----
    Slope and offset maximize the likelihood of what was correct among held-out rows, with a normal prior around 1 and 0. Where
    labels were picked class by class, held-out rows are weighted by how frequent their class is among predictions.

    Examples
    --------
    >>> Confidence(0.5, 0.0).shares(np.array([[0.9, 0.1], [0.5, 0.5]])).round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    STATE: ClassVar[Record] = Record(
        stored(
            slope=Number(float, low=0),
            offset=Number(float),
            near=Maybe(Pair(Array("f8 f4", "n", "_", sparse=True), Array("i8 i4", "n", low=0))),
            surest=IfThere(Pair(Number(float, low=0, high=1), Number(float, low=0, high=1))),  # of files until 0.2
            counts=IfThere(ListOf(Number(int, low=0))),
            few=IfThere(ListOf(Number(int, low=0))),
            n_held=IfThere(Number(int, low=0)),
        )
    )

    slope: float
    offset: float
    near: tuple[Any, np.ndarray] | None = None
    counts: Sequence[int] | None = None
    few: Sequence[int] | None = None
    n_held: int | None = None

    @classmethod
    def of_few(cls, codes: np.ndarray, n_classes: int) -> Confidence:
        """Trust shares no more than so few labels can support: that of an answer is at most (n + 1) / (n + k).

        Parameters
        ----------
        codes : ndarray of int64
            Classes of the labeled rows; n of them are of the class of the answer.
        n_classes : int
            How many classes there are, k.

        Returns
        -------
        Confidence
            By Laplace's rule of succession.

        Examples
        --------
        >>> Confidence.of_few(np.array([0, 0, 1]), 2).shares(np.array([[1.0, 0.0], [0.0, 1.0]])).round(2).tolist()
        [[0.75, 0.25], [0.33, 0.67]]
        """
        return cls(1.0, 0.0, few=np.bincount(codes, minlength=n_classes).tolist())

    @property
    def is_calibrated(self) -> bool:
        """Whether the method's own probabilities are calibrated already."""
        return self.slope == 1.0 and self.offset == 0.0 and self.near is None and self.few is None and bool(self.counts)

    @classmethod
    def calibrated(cls, proba: np.ndarray, codes: np.ndarray) -> Confidence:
        """Take a method's own probabilities as they are, and count those that are confident.

        Parameters
        ----------
        proba : ndarray of shape (n_rows, n_classes)
            Out-of-fold probabilities.
        codes : ndarray of int64
            The classes of these rows.
        """
        return cls(1.0, 0.0, counts=_counts(proba.max(axis=1) >= SURE_ENOUGH, proba.argmax(axis=1) == codes))

    @classmethod
    def learn(cls, held: HeldOut, rows: Any, codes: np.ndarray, pool: np.ndarray, seed: int = 0) -> Confidence | None:
        """Learn how often predictions of each confidence are correct.

        Parameters
        ----------
        held : HeldOut
            Predictions of rows held out.
        rows : matrix or None
            Labeled training rows, for a method that may give the same probability to every row.
        codes : ndarray of int64
            Their classes.
        pool : ndarray of shape (n_classes,)
            Frequencies of the classes among predictions of unlabeled rows; all zero where there are none.
        seed : int
            Seed of the choice of rows to keep.

        Returns
        -------
        Confidence or None
            None where fewer than six rows were held out.
        """
        if len(held.right) < LEAST_HELD:
            return None
        constant = rows is not None and len(np.unique(held.sure.round(6))) == 1
        z = held.near if constant else _log_odds(held.sure)
        slope, offset = _logistic(z, held.right, _weights(held.codes, codes, pool))
        kept = np.sort(np.random.default_rng(seed).permutation(len(codes))[:_MOST_NEAR])
        near = (rows[kept], codes[kept]) if constant else None
        counts = _counts(slope * z + offset >= _log_odds(np.array(SURE_ENOUGH)), held.right)
        return cls(slope, offset, near, counts, n_held=len(codes))

    def shares(self, own: np.ndarray, rows: Any = None) -> np.ndarray:
        """Return shares that hold what they say; the largest stays the largest.

        Parameters
        ----------
        own : ndarray of shape (n_rows, n_classes)
            The method's own shares.
        rows : matrix, optional
            The rows, for a method that says the same of every row.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        from scipy.special import expit

        at, answers = np.arange(len(own)), own.argmax(axis=1)
        if self.is_calibrated:
            return own
        if self.few is not None:
            n = np.asarray(self.few, dtype=np.float64)[answers][:, None]
            return np.asarray((n * own + 1.0) / (n + own.shape[1]))
        z = _log_odds(own[at, answers]) if self.near is None else label_margin(rows, answers, *self.near)
        rest = own.copy()
        rest[at, answers] = 0.0
        total = rest.sum(axis=1, keepdims=True)
        n_others = max(own.shape[1] - 1, 1)
        # With nothing left for the others, these share it equally.
        rest = np.where(total > 1e-9, rest / np.maximum(total, 1e-9), 1.0 / n_others)
        rest[at, answers] = 0.0
        second = rest.max(axis=1)
        sure = expit(self.slope * z + self.offset)
        if self.n_held is not None:
            sure = (self.n_held * sure + 1.0) / (self.n_held + 2.0)  # the rule of succession
        sure = np.maximum(sure, second / (1.0 + second) + 1e-6)
        proba = rest * (1.0 - sure)[:, None]
        proba[at, answers] = sure
        return np.asarray(proba)

    def state(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_classes: int) -> Confidence:
        """Bring it back, refusing what `learn` could not have left."""
        found = cls(**{name: value for name, value in state.items() if name != "surest"})
        fine = np.isfinite([found.slope, found.offset]).all() and found.slope >= 0
        if found.near is not None:
            codes = np.asarray(found.near[1])
            fine = fine and found.near[0].shape[0] == len(codes) > 0 and 0 <= codes.min() <= codes.max() < n_classes
        if not fine or (found.few is not None and len(found.few) != n_classes):
            raise DataError("Confidence: the numbers of the file are none that rows held out could have left.")
        return found


def _counts(sure: np.ndarray, right: np.ndarray) -> list[int]:
    return [int(sure.sum()), int(right[sure].sum()), len(right)]


def _log_odds(share: np.ndarray) -> np.ndarray:
    clipped = np.clip(share, 1 - _SURE, _SURE)
    return np.asarray(np.log(clipped / (1 - clipped)))


def label_margin(rows: Any, answers: np.ndarray, stored: Any, codes: np.ndarray) -> np.ndarray:
    """Return the logarithm of how much farther the nearest row of another class is than the nearest of the answer.

    Parameters
    ----------
    rows : matrix
        Rows.
    answers : ndarray of int64
        Their answers.
    stored : matrix
        Labeled rows.
    codes : ndarray of int64
        Their classes.

    Returns
    -------
    ndarray of float64
        One number for each row.

    Examples
    --------
    >>> label_margin(np.array([[1.0]]), np.array([0]), np.array([[0.0], [3.0]]), np.array([0, 1])).round(1).tolist()
    [0.7]
    """
    from sklearn.utils.extmath import row_norms, safe_sparse_dot  # sklearn.metrics takes half a second to import

    rows, stored = rows.astype(np.float64, copy=False), stored.astype(np.float64, copy=False)
    products = safe_sparse_dot(rows, stored.T, dense_output=True)
    squares = -2 * products + row_norms(rows, squared=True)[:, None] + row_norms(stored, squared=True)
    distances = np.sqrt(np.maximum(squares, 0.0))
    same = codes[None, :] == answers[:, None]
    usual = float(np.median(distances)) or 1.0
    own = np.where(same, distances, 10 * usual).min(axis=1) + 0.01 * usual
    other = np.where(same, 10 * usual, distances).min(axis=1) + 0.01 * usual
    return np.asarray(np.log(other / own))


def _weights(tested: np.ndarray, codes: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Return what each tested row counts: where labels were picked class by class, as much as its class is frequent."""
    if pool.sum() <= 0 or not picked_by_class(codes, len(pool)):
        return np.ones(len(tested))
    counts = np.bincount(codes, minlength=len(pool)).astype(np.float64)
    weights = (pool / pool.sum())[tested] / (counts / counts.sum())[tested]
    return np.asarray(weights * len(tested) / max(weights.sum(), 1e-9))


def _logistic(z: np.ndarray, right: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return slope and offset of the largest posterior."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        odds = theta[0] * z + theta[1]
        signed = np.where(right, odds, -odds)
        apart = (theta - _CONFIDENCE_USUAL) / _DOUBT
        wrong = weights * (expit(odds) - right)
        slopes = np.array([wrong @ z, wrong.sum()]) + apart / _DOUBT
        return float((weights * np.logaddexp(0.0, -signed)).sum() + 0.5 * apart @ apart), slopes

    best = minimize(loss, _CONFIDENCE_USUAL, jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)]).x
    return float(best[0]), float(best[1])
