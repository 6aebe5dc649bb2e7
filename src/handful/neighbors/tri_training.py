"""Tri-training of Zhou and Li (2005): three classifiers that label rows for each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from handful.data.labels import codes_among, labels_of
from handful.errors import DataError, ParameterError
from handful.params import check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, ListOf, Model, Names, Number, Text, stored
from handful.registry import method

_DRAWS = 100
_MOST_ROUNDS = 10  # of admit="agreed", whose rounds need not come to an end


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return TriTraining(**{"estimator": LogisticRegression(max_iter=1_000), "random_state": seed, **params})


@method(
    "tri-training",
    paper="sogaard2011",
    task="table",
    uses_unlabeled=True,
    cost="quick",
    build=_build,
)
class TriTraining(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Three classifiers, each of which learns the unlabeled rows on which the two others agree.

    Use it to make any classifier semi-supervised when nothing is known about the shape of the classes.

    Parameters
    ----------
    estimator : scikit-learn classifier
        What the three are copies of.
    random_state : int, RandomState or None, default=None
        Seed of the bootstrap samples, of subsamples, and of the three copies.
    admit : {"bounded", "agreed"}, default="bounded"
        Which unlabeled rows a classifier learns: as many as the bound of Zhou and Li allows, or all on which the two others
        agree.

    Attributes
    ----------
    estimators_ : list of 3 classifiers
        The fitted copies.
    classes_ : ndarray
        The labels.
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: the given one, or the vote of the three.
    labeled_iter_ : ndarray of shape (n_samples,)
        0 for a given label, else the first round in which a classifier was trained on the row, -1 if none.
    n_iter_ : int
        Rounds, the last one, in which nothing changed, included.
    termination_condition_ : {"no_change", "max_iter"}
        Why the fit ended; ``"max_iter"`` after ten rounds of ``admit="agreed"``.

    Notes
    -----
    ========  ==========================================================
    symbol    meaning
    ========  ==========================================================
    e_i       error of the two others on labeled rows where they agree
    e'_i      that error when classifier i was last trained
    L_i       unlabeled rows on which the two others agree
    l'_i      size of L_i when classifier i was last trained
    ========  ==========================================================

    Classifier i is trained again on the labeled rows and L_i if ``e_i < e'_i`` and ``e_i |L_i| < e'_i l'_i``; L_i is cut
    down at random where only its size exceeds the bound. Where the two others agree on no labeled row, e_i is 0.5.
    e'_i is 0.5 and l'_i is ``floor(e_i / (0.5 - e_i) + 1)`` at first, which is 1 for any e_i under 0.25: then the first round
    takes fewer than ``0.5 / e_i`` rows, however many there are, unless e_i is 0 (49 for e_i = 0.01), and a later one more
    only as far as e_i falls. An estimate of e_i that is less flattering than that on the labeled rows themselves takes fewer
    still. With ``admit="agreed"`` there is no estimate: L_i is taken whole whenever it, or a label in it, has changed.
    Deviations: a bootstrap sample that misses all classes but one is drawn again. Ties of the three go to the label that
    comes first in ``classes_``.
    Cost: a few rounds, each of three predictions of all rows and at most three fits.

    References
    ----------
    Zhou, Z.-H., Li, M. (2005). Tri-training: exploiting unlabeled data using three classifiers. IEEE TKDE 17(11).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [0.4], [1.0], [8.0], [8.5], [9.0], [0.2], [8.8]])
    >>> y = ["low", "low", "low", "high", "high", "high", None, None]
    >>> TriTraining(GaussianNB(), random_state=0).fit(X, y).transduction_[6:].tolist()
    ['low', 'high']
    """

    STATE = stored(
        n_features_in_=Number(int, size="d"),
        classes_=Names("k"),
        estimators_=ListOf(Model(), "3"),
        labeled_iter_=Array("i8", "n", low=-1),
        transduction_=Names("n"),
        n_iter_=Number(int, low=0),
        termination_condition_=Text(),
    )

    def __init__(
        self, estimator: Any, random_state: Any = None, admit: Literal["bounded", "agreed"] = "bounded"
    ) -> None:
        self.estimator = estimator
        self.random_state = random_state
        self.admit = admit

    def fit(self, X: Any, y: Any) -> Self:
        """Train the three classifiers.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows, in any form that the classifier takes.
        y : array-like of shape (n_samples,)
            Their labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        if not hasattr(self.estimator, "fit") or not hasattr(self.estimator, "predict"):
            raise ParameterError(f"TriTraining: estimator must be a classifier, got {self.estimator!r}.")
        X = self._table(X, reset=True)
        labels = labels_of(y, _num_samples(X), model_name="TriTraining")
        self.classes_ = labels.classes
        random = check_random_state(self.random_state)
        labeled, U = labels.labeled, labels.unlabeled
        truth = labels.codes[labeled]
        X_labeled, X_rest = _safe_indexing(X, labeled), _safe_indexing(X, U)
        self.estimators_ = []
        for _ in range(3):
            sample = _bootstrap(random, truth)
            self.estimators_.append(self._train(random, _safe_indexing(X_labeled, sample), truth[sample]))
        last = _Last(np.full(3, 0.5), np.zeros(3))
        last_agreed = np.full((3, len(U)), -1)
        self.labeled_iter_ = labels.codes.astype(np.int64).clip(-1, 0)
        self.n_iter_, self.termination_condition_ = 0, "no_change"
        while True:
            if self.admit == "agreed" and self.n_iter_ == _MOST_ROUNDS:
                self.termination_condition_ = "max_iter"
                break
            self.n_iter_ += 1
            on_labeled = self._votes(X_labeled)
            on_rest = self._votes(X_rest) if len(U) else np.empty((3, 0), int)
            by_bound = self.admit == "bounded"
            added = _bounded(random, on_labeled, on_rest, truth, last) if by_bound else _agreed(on_rest, last_agreed)
            if not added:
                break
            for i, rows_added in added.items():
                rows = np.concatenate([labeled, U[rows_added]])
                codes = np.concatenate([truth, on_rest[(i + 1) % 3][rows_added]])
                self.estimators_[i] = self._train(random, _safe_indexing(X, rows), codes)
                fresh = U[rows_added][self.labeled_iter_[U[rows_added]] == -1]
                self.labeled_iter_[fresh] = self.n_iter_
        codes = labels.codes.copy()
        if len(U):
            codes[U] = self._shares(X_rest).argmax(axis=1)
        self.transduction_ = labels.decode(codes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict by the majority of the three.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the three votes that each label gets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._shares(self._table(X, reset=False))

    def _table(self, X: Any, *, reset: bool) -> Any:
        try:
            if hasattr(X, "columns"):  # the classifier may want the columns
                return validate_data(self, X, skip_check_array=True, reset=reset)
            return validate_data(self, X, accept_sparse="csr", dtype=None, reset=reset)
        except ValueError as error:
            raise DataError(f"TriTraining: {error}") from None

    def _train(self, random: np.random.RandomState, X: Any, codes: np.ndarray) -> Any:
        copy = clone(self.estimator)
        if "random_state" in copy.get_params():
            copy.set_params(random_state=random.randint(2**31 - 1))
        return copy.fit(X, self.classes_[codes])

    def _votes(self, X: Any) -> np.ndarray:
        return np.array([codes_among(h.predict(X), self.classes_) for h in self.estimators_])

    def _shares(self, X: Any) -> np.ndarray:
        return np.asarray((self._votes(X)[:, :, None] == np.arange(len(self.classes_))).mean(axis=0))

    def _check_state(self) -> None:
        for model in self.estimators_:
            if getattr(model, "n_features_in_", self.n_features_in_) != self.n_features_in_:
                raise DataError(f"TriTraining: its models must take {self.n_features_in_} columns.")
            if not set(np.asarray(model.classes_).tolist()) <= set(self.classes_.tolist()):
                raise DataError("TriTraining: its models must answer with its labels.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _bootstrap(random: np.random.RandomState, truth: np.ndarray) -> np.ndarray:
    n = len(truth)
    one_class = bool((truth == truth[0]).all())
    for _ in range(_DRAWS):
        sample = random.randint(n, size=n)
        if one_class or (truth[sample] != truth[sample[0]]).any():
            return np.asarray(sample)
    return np.arange(n)


class _Last(NamedTuple):
    """Error and size of the rows last added to each classifier."""

    error: np.ndarray
    size: np.ndarray


def _bounded(
    random: np.random.RandomState, on_labeled: np.ndarray, on_rest: np.ndarray, truth: np.ndarray, last: _Last
) -> dict[int, np.ndarray]:
    """Return the unlabeled rows that each classifier learns from the two others, and note them in `last`."""
    added: dict[int, np.ndarray] = {}
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        error = _error(on_labeled[j], on_labeled[k], truth)
        if error >= last.error[i]:
            continue
        agreed = np.flatnonzero(on_rest[j] == on_rest[k])
        rows_added = _admit(random, agreed, error, last.error[i], last.size[i])
        if rows_added is not None:
            added[i] = rows_added
            last.error[i], last.size[i] = error, len(rows_added)
    return added


def _agreed(on_rest: np.ndarray, last: np.ndarray) -> dict[int, np.ndarray]:
    """Return all rows on which the two others agree, where these or their labels are not those of the `last` round."""
    added: dict[int, np.ndarray] = {}
    for i in range(3):
        first, second = on_rest[(i + 1) % 3], on_rest[(i + 2) % 3]
        agreed = np.where(first == second, first, -1)
        if not np.array_equal(agreed, last[i]):
            last[i] = agreed
            added[i] = np.flatnonzero(agreed >= 0)
    return added


def _error(first: np.ndarray, second: np.ndarray, truth: np.ndarray) -> float:
    agree = first == second
    return float(np.mean(first[agree] != truth[agree])) if agree.any() else 0.5


def _admit(
    random: np.random.RandomState, agreed: np.ndarray, error: float, last_error: float, last_size: float
) -> np.ndarray | None:
    """Return the unlabeled rows to learn from, or None if the conditions of the paper do not hold."""
    if last_size == 0:
        last_size = math.floor(error / (last_error - error) + 1)
    if last_size >= len(agreed):
        return None
    if error * len(agreed) < last_error * last_size:
        return agreed
    if last_size > error / (last_error - error):
        size = math.ceil(last_error * last_size / error - 1)
        return np.sort(random.choice(agreed, size, replace=False))
    return None
