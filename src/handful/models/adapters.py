"""Classifiers of scikit-learn and small ones of our own as methods."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import Labels
from handful.errors import DataError, ParameterError
from handful.models.confidence import own_shares
from handful.neighbors.rows import labels_of
from handful.params import Count, Positive, Share, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, IfThere, ListOf, Model, Names, Number, Record, stored
from handful.registry import COSTS, MethodSpec, method, register, spec_of


class RowClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers that predict the class of the largest probability; a subclass has ``predict_proba``."""

    STATE = stored(n_features_in_=Number(int, size="d"), classes_=Names("k"))

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        raise NotImplementedError

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if not reset:
            check_is_fitted(self)
        try:
            return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        except ValueError as error:
            raise DataError(f"{type(self).__name__}: {error}") from None

    def _labels(self, y: Any, n_rows: int) -> Labels:
        labels = labels_of(y, n_rows, model_name=type(self).__name__)
        self.classes_ = labels.classes
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


ViewName = Literal["plain", "clip", "rank", "white"]
_CLIP = 3.0
_LEAST_SCALE = 1e-30  # of stored moments
_LEAST_ROWS = 3
_MOST_KNOTS = 512
_LEAST_COLLINEAR, _MOST_WHITENED = 3, 200  # columns
_LEAST_VARIANCE = 1e-6  # of a direction, beside that of the largest
_RIDGE = 1e-3  # of the mean variance, added to that of every direction


@dataclass(frozen=True)
class Blocks:
    """Which columns of a matrix belong together.

    Parameters
    ----------
    numeric : ndarray of int64
        Columns of numbers.
    nominal : tuple of ndarray of int64
        For each nominal column of the table, its indicators.
    """

    numeric: np.ndarray
    nominal: tuple[np.ndarray, ...]


def find_blocks(X: np.ndarray) -> Blocks:
    """Tell numbers from indicators by their values.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Rows as `handful.preprocessing.table_encoder.TableEncoder` makes them.

    Returns
    -------
    Blocks
        A column whose cells are 0 or one other, positive value is an indicator; neighboring indicators of which each row
        has at most one belong to one nominal column.

    Examples
    --------
    >>> X = np.array([[1.5, 1, 0, 1], [2.5, 0, 1, 1], [0.5, 0, 1, 0]])
    >>> blocks = find_blocks(X)
    >>> blocks.numeric.tolist(), [block.tolist() for block in blocks.nominal]
    ([0], [[1, 2], [3]])
    """
    top = X.max(axis=0, initial=0.0)
    indicator = (top > 0) & ((X == 0) | (top == X)).all(axis=0)
    nominal: list[list[int]] = []
    taken = np.zeros(len(X), dtype=bool)
    for column in np.flatnonzero(indicator):
        rows = X[:, column] > 0
        if nominal and nominal[-1][-1] == column - 1 and not (taken & rows).any():
            nominal[-1].append(int(column))
            taken |= rows
        else:
            nominal.append([int(column)])
            taken = rows
    return Blocks(np.flatnonzero(~indicator), tuple(np.array(block) for block in nominal))


class TableViews:
    """Views of rows, learned from all of them.

    ``plain`` has numbers as they are and indicators of height 1; ``clip`` has numbers clipped at three standard
    deviations, and every nominal column as a centered block of variance 1; ``rank`` has numbers as normal scores of their
    ranks, and the same blocks; ``white`` has clipped numbers turned and scaled so that they are uncorrelated among all rows,
    which brings to light what lies in directions of small variance (up to 200 numbers; more stay as they are in ``clip``).

    Parameters
    ----------
    state : dict
        What was learned, as `state` holds it.

    Examples
    --------
    >>> views = TableViews.learn(np.array([[1.0], [2.0], [4.0], [100.0]]))
    >>> views.transform(np.array([[2.0], [100.0]]), "rank").round(2).tolist()
    [[-0.38], [1.36]]
    """

    STATE = Record(
        stored(
            width=Number(int, size="w"),
            numeric=Array("i8", "n?", below="w"),
            nominal=ListOf(Array("i8", "_", below="w"), "m?"),
            clips=Array("f8", "n?", 4),
            directions=IfThere(Array("f8", "n?", "r?")),
            knots=ListOf(Array("f8", "_"), "n?"),
            scores=ListOf(Array("f8", "_"), "n?"),
            kept=ListOf(Array("i8", "_", below="w"), "m?"),
            means=ListOf(Array("f8", "_"), "m?"),
            spreads=Array("f8", "m?"),
        )
    )

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    @classmethod
    def learn(cls, X: np.ndarray) -> TableViews:
        """Learn from rows."""
        blocks = find_blocks(X)
        clips, knots, scores = [], [], []
        for column in X[:, blocks.numeric].T:
            center, scale = _moments(column)
            clipped = np.clip((column - center) / scale, -_CLIP, _CLIP)
            clips.append((center, scale, *_moments(clipped)))
            values, at = _normal_scores(column)
            knots.append(values)
            scores.append(at)
        kept, means, spreads = [], [], []
        for block in blocks.nominal:
            H = (X[:, block] > 0).astype(np.float64)
            frequent = H.sum(axis=0) >= _LEAST_ROWS
            kept.append(block[frequent])
            means.append(H[:, frequent].mean(axis=0))
            spreads.append(float(np.sqrt(max(H[:, frequent].var(axis=0).sum(), 1e-9))))
        return cls(
            {
                "width": int(X.shape[1]),
                "numeric": blocks.numeric.astype(np.int64),
                "nominal": [block.astype(np.int64) for block in blocks.nominal],
                "clips": (learned := np.array(clips).reshape(-1, 4)),
                "directions": _directions(_clipped(X[:, blocks.numeric], learned)),
                "knots": knots,
                "scores": scores,
                "kept": [block.astype(np.int64) for block in kept],
                "means": means,
                "spreads": np.array(spreads),
            }
        )

    def transform(self, X: np.ndarray, view: ViewName) -> np.ndarray:
        """Return rows in one view."""
        state = self.state
        numbers = X[:, state["numeric"]]
        if view == "plain":
            return np.hstack([numbers, *((X[:, block] > 0).astype(np.float64) for block in state["nominal"])])
        numbers = self.ranks(X) if view == "rank" else _clipped(numbers, state["clips"])
        if view == "white" and state.get("directions") is not None:
            numbers = numbers @ state["directions"]
        blocks = [
            ((X[:, block] > 0) - mean) / spread
            for block, mean, spread in zip(state["kept"], state["means"], state["spreads"], strict=True)
        ]
        return np.hstack([numbers, *blocks])

    def ranks(self, X: np.ndarray) -> np.ndarray:
        """Return the normal scores of the numbers."""
        numbers = X[:, self.state["numeric"]]
        columns = [
            np.interp(numbers[:, i], knots, scores)
            for i, (knots, scores) in enumerate(zip(self.state["knots"], self.state["scores"], strict=True))
        ]
        return np.array(columns).reshape(-1, len(X)).T

    def levels(self, X: np.ndarray) -> np.ndarray:
        """Return the place of each row's indicator in every nominal column; the last place is none of them."""
        columns = []
        for block in self.state["nominal"]:
            on = X[:, block] > 0
            columns.append(np.where(on.any(axis=1), on.argmax(axis=1), len(block)))
        return np.array(columns, dtype=np.int64).reshape(-1, len(X)).T

    def width(self, view: ViewName) -> int:
        """Return the number of columns of a view."""
        blocks = self.state["nominal" if view == "plain" else "kept"]
        turned = self.state.get("directions") if view == "white" else None
        return (len(self.state["numeric"]) if turned is None else turned.shape[1]) + sum(map(len, blocks))

    def is_collinear(self, X: np.ndarray) -> bool:
        """Tell whether the numbers of rows move in far fewer directions than there are columns: less than half as many."""
        numbers = _clipped(X[:, self.state["numeric"]], self.state["clips"])
        if not _LEAST_COLLINEAR <= numbers.shape[1] <= _MOST_WHITENED:
            return False
        shares = np.maximum(np.linalg.eigvalsh(np.cov(numbers.T)), 1e-12)
        shares /= shares.sum()
        return bool(np.exp(-shares @ np.log(shares)) < numbers.shape[1] / 2)  # the number that their entropy stands for

    def is_whole(self) -> bool:
        """Tell whether the state is one that `learn` could have left."""
        state = self.state
        columns = np.concatenate([state["numeric"], *state["nominal"]])
        return (
            len(columns) == state["width"]  # before a list is made of what may be any number
            and sorted(columns.tolist()) == list(range(state["width"]))
            and all(len(a) == len(b) > 0 for a, b in zip(state["knots"], state["scores"], strict=True))
            and all(set(k.tolist()) <= set(b.tolist()) for k, b in zip(state["kept"], state["nominal"], strict=True))
            and all(len(k) == len(m) for k, m in zip(state["kept"], state["means"], strict=True))
            and self._is_bounded()
        )

    def _is_bounded(self) -> bool:
        """Tell whether no view can have a number that is too large for members that compute in single precision."""
        _, scale, center_again, scale_again = self.state["clips"].T
        return bool(
            (scale > 0).all()
            and (np.abs(center_again) <= _CLIP).all()
            and (scale_again >= _LEAST_SCALE).all()
            and (self.state.get("directions") is None or (np.abs(self.state["directions"]) <= 1 / _LEAST_SCALE).all())
            and (self.state["spreads"] >= _LEAST_SCALE).all()
            and all((np.abs(scores) <= 1 / _LEAST_SCALE).all() for scores in self.state["scores"])
            and all((np.abs(means) <= 1).all() for means in self.state["means"])
        )


def _clipped(numbers: np.ndarray, clips: np.ndarray) -> np.ndarray:
    center, scale, center_again, scale_again = clips.T
    return np.asarray((np.clip((numbers - center) / scale, -_CLIP, _CLIP) - center_again) / scale_again)


def _directions(numbers: np.ndarray) -> np.ndarray | None:
    """Return the directions in which numbers are uncorrelated, divided by their spread; None for too many numbers."""
    n_rows, n_columns = numbers.shape
    if not 1 <= n_columns <= _MOST_WHITENED or n_rows < 2:
        return None
    variances, directions = np.linalg.eigh(np.cov(numbers.T).reshape(n_columns, n_columns))
    kept = variances > _LEAST_VARIANCE * max(variances[-1], _LEAST_SCALE)
    spread = np.sqrt(variances[kept] + _RIDGE * variances.mean())
    return np.ascontiguousarray(directions[:, kept] / spread)


def _moments(column: np.ndarray) -> tuple[float, float]:
    spread = float(column.std())
    return float(column.mean()), spread if spread > 0 else 1.0


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a column, rising, and the standardized normal scores of their mean ranks."""
    from scipy.stats import norm

    values, counts = np.unique(column, return_counts=True)
    ranks = np.cumsum(counts) - counts / 2  # the middle of the ranks that equal values share, counted from 0
    scores = norm.ppf(ranks / len(column))
    center = float(counts @ scores) / len(column)
    spread = float(np.sqrt(counts @ (scores - center) ** 2 / len(column)))
    scores = (scores - center) / (spread if spread > 0 else 1.0)
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_KNOTS)).round().astype(np.int64))
    return values[at], scores[at]


def dense_rows(X: Any) -> np.ndarray:
    """Return rows as a dense matrix of float64."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


_LONGEST = 60


@dataclass(frozen=True)
class _Copies:
    """Makes copies of a classifier; a class, so that worker processes can be sent one."""

    estimator: Any

    def __call__(self, n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        return clone(self.estimator).set_params(**params)


@dataclass(frozen=True)
class _Around:
    """Makes self-training or tri-training around a method."""

    outer: str
    inner: MethodSpec

    def __call__(self, n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        return put_around(
            self.outer, self.inner.make_estimator(n_features, seed, self.inner.default_params), seed
        ).set_params(**params)


@method("with-shares", task="model")
class WithShares(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with margins or neither, and probabilities made of them.

    Parameters
    ----------
    estimator : classifier
        The classifier.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> WithShares(SVC()).fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict_proba([[0.0]]).round(1).tolist()
    [[0.7, 0.3]]
    """

    STATE = stored(estimator_=Model(), classes_=Names("k"))

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : matrix
            Rows.
        y : array-like
            Their labels.

        Returns
        -------
        self
        """
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the classifier."""
        return np.asarray(self.estimator_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities that its margins make."""
        return own_shares(self.estimator_, X)

    def _check_state(self) -> None:
        if np.asarray(self.estimator_.classes_).tolist() != self.classes_.tolist():
            raise DataError("WithShares: its labels must be those of its classifier.")


def classifier_spec(estimator: Any) -> MethodSpec:
    """Return a spec for a classifier in scikit-learn's manner.

    Parameters
    ----------
    estimator : classifier
        Not fitted; it is copied for every fit.

    Returns
    -------
    MethodSpec
        Its name is how the classifier shows itself, or its class where that is long.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> classifier_spec(SVC()).name, classifier_spec(SVC(C=10)).name
    ('SVC', 'SVC(C=10)')
    """
    if isinstance(estimator, type):
        raise ParameterError(
            f"methods: a classifier must be made, got the class {estimator.__name__}. Write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"methods: names or scikit-learn classifiers are expected, got {estimator!r:.100}.")
    shown = re.sub(r"\s+", " ", repr(estimator)).removesuffix("()")
    known = spec_of(type(estimator))
    return MethodSpec(
        shown if len(shown) <= _LONGEST else type(estimator).__name__,
        "table",
        uses_unlabeled=_uses_unlabeled(estimator),
        summary=shown,
        cost="fair" if known is None else known.cost,
        build=_Copies(estimator),
    )


def wrapped_spec(outer: str, inner: MethodSpec) -> MethodSpec:
    """Return a spec for self-training or tri-training around a method.

    Parameters
    ----------
    outer : {"self-training", "tri-training"}
        What goes around.
    inner : MethodSpec
        A method that learns from labels alone.

    Returns
    -------
    MethodSpec
        Named ``outer(inner)``; its supervised control is the wrapped method.

    Examples
    --------
    >>> from handful.registry import get_method
    >>> get_method("tri-training(extra-trees)").supervised_control
    'extra-trees'
    """
    name = f"{outer}({inner.name})"
    if inner.uses_unlabeled:
        raise ParameterError(f"methods: {name} must go around a method that learns from labels alone.")
    return MethodSpec(
        name,
        "table",
        uses_unlabeled=True,
        supervised_control=inner.name,
        summary=f"{outer.capitalize()} around {inner.name}.",
        cost=COSTS[min(inner.cost_rank + 2, len(COSTS) - 1)],
        views=inner.views,
        build=_Around(outer, inner),
    )


def put_around(outer: str, estimator: Any, seed: int = 0) -> Any:
    """Return self-training or tri-training around a classifier.

    Parameters
    ----------
    outer : {"self-training", "tri-training"}
        What goes around.
    estimator : classifier
        One that tells no shares gets them from its margins, where self-training needs them.
    seed : int
        Seed of tri-training.

    Returns
    -------
    classifier
        Not fitted.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> put_around("self-training", LinearSVC())
    SelfTrainingClassifier(estimator=WithShares(estimator=LinearSVC()))
    """
    if outer == "tri-training":
        from handful.neighbors.tri_training import TriTraining

        return TriTraining(estimator, random_state=seed)
    from sklearn.semi_supervised import SelfTrainingClassifier

    if not hasattr(estimator, "predict_proba"):
        estimator = WithShares(estimator)
    return SelfTrainingClassifier(estimator)


def check_storable(estimator: Any) -> None:
    """Refuse a classifier whose fitted model no file could hold, before any work is done.

    Parameters
    ----------
    estimator : classifier
        It is tried on a dozen rows.

    Raises
    ------
    ModelFileError
        If a model file cannot hold it.
    MissingExtraError
        If the extra that it would need is not installed.
    """
    from handful.persistence.model_file import Encoder

    classifier_spec(estimator)
    rows = np.random.default_rng(0).normal(size=(12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(estimator).fit(rows, np.arange(12) % 2)
        except ValueError:
            return  # the trials will tell why it fails
    Encoder().encode_state({"estimator": fitted})


def _uses_unlabeled(estimator: Any) -> bool:
    """Tell whether a classifier learns from rows whose label is -1."""
    known = spec_of(type(estimator))
    if known is not None:
        return known.uses_unlabeled
    if type(estimator).__module__.startswith("sklearn.semi_supervised"):
        return True
    inner = getattr(estimator, "steps", None) or getattr(estimator, "estimator", None)
    return inner is not None and _uses_unlabeled(inner[-1][-1] if isinstance(inner, list) else inner)


def _register_sklearn(name: str, path: str, summary: str, params: Mapping[str, Any], **spec: Any) -> None:
    """Register a classifier of scikit-learn by its module and class, with other defaults than its own."""
    module, _, cls = path.rpartition(".")

    def build(n_features: int, seed: int, given: Mapping[str, Any]) -> Any:
        seeded = {"random_state": seed} if "random_state" in params else {}
        return getattr(import_module(module), cls)(**{**params, **seeded, **given})

    build.__module__, build.__qualname__ = module, cls
    register(MethodSpec(name, "table", summary=f"{summary} (scikit-learn).", baseline=True, build=build, **spec))


def _self_training(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(LogisticRegression(max_iter=1_000), **params)


# Brute force, since a tree of scikit-learn's neighbors cannot be stored without pickle.
_register_sklearn(
    "k-nn",
    "sklearn.neighbors.KNeighborsClassifier",
    "The nearest labeled rows vote",
    {"algorithm": "brute", "n_neighbors": 1},
    grid={"n_neighbors": (1, 3, 5)},
    cost="instant",
)
_register_sklearn(
    "logistic-regression",
    "sklearn.linear_model.LogisticRegression",
    "A linear model of the labeled rows",
    {"max_iter": 1_000, "class_weight": "balanced"},
    grid={"C": (1.0, 0.1, 10.0, 100.0), "class_weight": ("balanced", None)},
    cost="instant",
)
register(
    MethodSpec(
        "self-training",
        "table",
        uses_unlabeled=True,
        supervised_control="logistic-regression",
        summary="Logistic regression that learns from its own confident predictions (scikit-learn).",
        grid={"threshold": (0.75, 0.9)},
        cost="quick",
        baseline=True,
        build=_self_training,
    )
)
_register_sklearn(
    "shrunk-lda",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "Linear discriminant analysis with a shrunk covariance",
    {"solver": "lsqr", "shrinkage": "auto"},
    cost="instant",
    views=("lsa", "vectors"),
)
_register_sklearn(
    "extra-trees",
    "sklearn.ensemble.ExtraTreesClassifier",
    "Three hundred extremely random trees vote",
    {"n_estimators": 300, "random_state": 0},
    cost="quick",
    views=("lsa", "vectors"),
)
_register_sklearn(
    "random-forest",
    "sklearn.ensemble.RandomForestClassifier",
    "Three hundred trees of bootstrap samples vote",
    {"n_estimators": 300, "random_state": 0},
    cost="quick",
    views=("lsa", "vectors"),
)
_register_sklearn(
    "hist-gradient-boosting",
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "Gradient boosting of trees on binned columns",
    {"early_stopping": False, "min_samples_leaf": 5, "random_state": 0},
    cost="fair",
    views=("lsa", "vectors"),
)


_FOLDS = 3
_SCALES = 2.0 ** np.arange(-4, 6)
_USUAL_SCALE = 2.0


class MarginClassifier(RowClassifier):
    """Base of classifiers whose probabilities are the softmax of margins times a cross-fitted scale.

    A subclass sets `weights_` and `intercept_` in `_learn`, and says in `_features` what they are weights of.

    Attributes
    ----------
    scale_ : float
        What margins are multiplied with.
    """

    STATE = stored(scale_=Number(float), weights_=Array("f8", "d", "k"), intercept_=Array("f8", "k"))

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the labeled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row, which is left out.

        Returns
        -------
        self
        """
        check_params(self)
        words = getattr(X, "words", None)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        rows, codes = rows[labels.labeled], labels.codes[labels.labeled].astype(np.int64)
        inputs = self._inputs(rows, None if words is None else words[labels.labeled])
        self.scale_ = self._choose_scale(inputs, codes)
        self._learn(inputs, codes)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        inputs = self._inputs(dense_rows(self._rows(X)), getattr(X, "words", None))
        return np.asarray(softmax(self.scale_ * self._margins(inputs), axis=1))

    def _inputs(self, rows: np.ndarray, words: Any) -> Any:
        return rows

    def _features(self, inputs: Any) -> Any:
        return inputs

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        raise NotImplementedError

    def _margins(self, inputs: Any) -> np.ndarray:
        return np.asarray(self._features(inputs) @ self.weights_ + self.intercept_)

    def _choose_scale(self, inputs: Any, codes: np.ndarray) -> float:
        """Return the scale under which held-out labels are most likely."""
        counts = np.bincount(codes, minlength=len(self.classes_))
        if len(self.classes_) < 2 or np.median(counts) < _FOLDS:
            return _USUAL_SCALE
        fold = np.empty(len(codes), dtype=np.int64)
        fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % _FOLDS
        loss = np.zeros(len(_SCALES))
        for part in range(_FOLDS):
            train, test = fold != part, fold == part
            self._learn(inputs[train], codes[train])
            margins = self._margins(inputs[test])
            at = np.arange(int(test.sum()))
            loss -= [log_softmax(scale * margins, axis=1)[at, codes[test]].sum() for scale in _SCALES]
        return float(_SCALES[int(loss.argmin())])


def _one_against_rest(make: Any, inputs: Any, codes: np.ndarray, n_classes: int) -> list[Any]:
    """Fit a machine of two classes for each class; None where a class has no rows, or all."""
    machines = []
    for code in range(n_classes):
        own = codes == code
        machines.append(make().fit(inputs, own) if 0 < own.sum() < len(own) else None)
    return machines


@method("svm-rbf", task="table", cost="instant", baseline=True, views=("lsa", "vectors"))
class KernelSVM(MarginClassifier):
    """Support vector machines with a Gaussian kernel, one class against the others.

    Parameters
    ----------
    C : float, default=10.0
        Inverse strength of the penalty.

    Attributes
    ----------
    rows_ : ndarray
        Labeled rows.
    weights_ : ndarray of shape (n_labeled, n_classes)
        Weight of each row for each class; 0 where it supports nothing.
    gamma_ : float
        One by the number of columns times their variance.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KernelSVM().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    STATE = stored(gamma_=Number(float, low=0), rows_=Array("f8", "n", "d"), weights_=Array("f8", "n", "k"))

    def __init__(self, C: Positive = 10.0) -> None:
        self.C = C

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        from sklearn.svm import SVC

        n_classes = len(self.classes_)
        spread = float(inputs.var()) * inputs.shape[1]
        self.gamma_ = 1.0 / spread if spread > 0 else 1.0
        self.rows_ = inputs
        self.weights_, self.intercept_ = np.zeros((len(inputs), n_classes)), np.full(n_classes, -1.0)

        def make() -> Any:
            return SVC(C=self.C, gamma=self.gamma_, class_weight="balanced")

        for code, machine in enumerate(_one_against_rest(make, inputs, codes, n_classes)):
            if machine is not None:
                self.weights_[machine.support_, code] = machine.dual_coef_[0]
                self.intercept_[code] = machine.intercept_[0]

    def _features(self, inputs: Any) -> Any:
        from sklearn.metrics.pairwise import rbf_kernel

        return rbf_kernel(inputs, self.rows_, gamma=self.gamma_)


@method("linear-svm", task="table", cost="instant", baseline=True)
class LinearSVM(MarginClassifier):
    """Linear support vector machines, one class against the others.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.

    Attributes
    ----------
    weights_ : ndarray of shape (n_columns, n_classes)
        Weight of each column for each class.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> LinearSVM().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    def __init__(self, C: Positive = 1.0) -> None:
        self.C = C

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        from sklearn.svm import LinearSVC

        n_classes = len(self.classes_)
        self.weights_, self.intercept_ = np.zeros((inputs.shape[1], n_classes)), np.full(n_classes, -1.0)

        def make() -> Any:
            return LinearSVC(C=self.C, class_weight="balanced", max_iter=20_000, random_state=0)

        for code, machine in enumerate(_one_against_rest(make, inputs, codes, n_classes)):
            if machine is not None:
                self.weights_[:, code] = machine.coef_[0]
                self.intercept_[code] = machine.intercept_[0]


@method("nearest-centroid", task="table", cost="instant", baseline=True)
class NearestMean(MarginClassifier):
    """Answer the class whose mean is the nearest.

    Attributes
    ----------
    weights_ : ndarray of shape (n_columns, n_classes)
        Means of the classes, divided by the spread around them.

    Notes
    -----
    Margins are minus half the squared distances, in units of the mean variance within classes, up to what all classes
    have in common.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> NearestMean().fit(X, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    def __init__(self) -> None:
        pass  # nothing to set

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        sizes = members.sum(axis=0)
        means = (inputs.T @ members) / np.maximum(sizes, 1)
        spread = float(((inputs - means.T[codes]) ** 2).sum(axis=1).mean()) or 1.0
        self.weights_ = means / spread
        self.intercept_ = np.where(sizes > 0, -0.5 * (means**2).sum(axis=0) / spread, -1e9)


@method("complement-nb", task="table", cost="instant", baseline=True, views=("words",))
class ComplementBayes(MarginClassifier):
    """Naive Bayes that weighs words by how little they are used in the other classes (for texts).

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to every count.

    Attributes
    ----------
    weights_ : ndarray of shape (n_words, n_classes)
        Weight of each word for each class.

    Notes
    -----
    Rows of a table encoder carry the words of their texts; of other rows positive and negative parts of the columns are
    taken for counts. Weights are those of Rennie et al. (2003), normalized.

    References
    ----------
    Rennie, J., Shih, L., Teevan, J., Karger, D. (2003). Tackling the poor assumptions of naive Bayes text classifiers. ICML.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> ComplementBayes().fit(X, ["pet", "pet", "sea", "sea"]).predict([[2.0, 0.0]]).tolist()
    ['pet']
    """

    STATE = stored(weights_=Array("f8", "words", "k"))

    def __init__(self, smoothing: Positive = 1.0) -> None:
        self.smoothing = smoothing

    def _inputs(self, rows: np.ndarray, words: Any) -> Any:
        if words is not None and words.shape[1]:
            return words
        return np.hstack([np.maximum(rows, 0.0), np.maximum(-rows, 0.0)])

    def _learn(self, inputs: Any, codes: np.ndarray) -> None:
        members = np.eye(len(self.classes_))[codes]
        counts = np.asarray(inputs.T @ members)
        complement = counts.sum(axis=1, keepdims=True) - counts + self.smoothing
        logs = np.log(complement / complement.sum(axis=0))
        self.weights_ = logs / np.maximum(np.abs(logs).sum(axis=0), 1e-12) * -len(logs)
        self.intercept_ = np.where(members.sum(axis=0) > 0, 0.0, -1e9)

    def _margins(self, inputs: Any) -> np.ndarray:
        if inputs.shape[1] != len(self.weights_):
            raise DataError("ComplementBayes: rows must carry the words of their texts, as they did in training.")
        total = np.maximum(np.asarray(inputs.sum(axis=1)).ravel(), 1e-9)[:, None]
        return np.asarray(np.asarray(inputs @ self.weights_) / total + self.intercept_)


@method("naive-bayes-em", task="table", uses_unlabeled=True, cost="quick", views=("lsa",))
class NaiveBayesEM(RowClassifier):
    """Multinomial naive Bayes trained by EM on labeled and unlabeled texts.

    Parameters
    ----------
    unlabeled_weight : float, default=0.5
        Weight of the words of an unlabeled text.
    smoothing : float, default=0.03
        Added to every count.
    n_iter : int, default=10
        EM steps.

    Attributes
    ----------
    log_proba_ : ndarray of shape (n_words, n_classes)
        Log-probability of each word in each class.
    log_priors_ : ndarray of shape (n_classes,)
        Log-probability of each class.

    Notes
    -----
    EM starts from logistic regression on the LSA components, character n-grams and embeddings that rows of a table encoder
    carry. A text counts as at most 20 words, so that long ones are not too confident. Rows of a table encoder carry the words of
    their texts; of other rows positive and negative parts of the columns are taken for counts.

    References
    ----------
    Nigam, K., McCallum, A., Thrun, S., Mitchell, T. (2000). Text classification from labeled and unlabeled documents using
    EM. Machine Learning 39.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    >>> NaiveBayesEM().fit(X, ["pet", "sea", None, None]).predict(X).tolist()
    ['pet', 'sea', 'pet', 'pet']
    """

    STATE = stored(log_proba_=Array("f4", "words", "k"), log_priors_=Array("f8", "k"))

    def __init__(self, unlabeled_weight: Share = 0.5, smoothing: Positive = 0.03, n_iter: Count = 10) -> None:
        self.unlabeled_weight = unlabeled_weight
        self.smoothing = smoothing
        self.n_iter = n_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate word probabilities from labeled texts, then from all of them by EM.

        Parameters
        ----------
        X : array-like or `handful.preprocessing.table_encoder.Rows` of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        counts = self._counts(X, self._rows(X, reset=True))
        labels = self._labels(y, counts.shape[0])
        known, unknown = counts[labels.labeled], counts[labels.unlabeled]
        targets = np.eye(len(self.classes_))[labels.codes[labels.labeled]]
        proba = _linear_proba(X, labels)
        weight = 0.0 if proba is None else self.unlabeled_weight
        proba = np.zeros((unknown.shape[0], len(self.classes_))) if proba is None else proba
        for _ in range(self.n_iter + 1):
            totals = known.T @ targets + weight * (unknown.T @ proba) + self.smoothing
            self.log_proba_ = np.log(totals / totals.sum(axis=0)).astype(np.float32)
            sizes = targets.sum(axis=0) + 1 + weight * proba.sum(axis=0)
            self.log_priors_ = np.log(sizes / sizes.sum())
            weight, proba = self.unlabeled_weight, self._posterior(unknown)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        counts = self._counts(X, self._rows(X))
        if counts.shape[1] != len(self.log_proba_):
            raise DataError("NaiveBayesEM: rows must carry the words of their texts, as they did in training.")
        return self._posterior(counts)

    def _posterior(self, counts: Any) -> np.ndarray:
        length = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
        logs = np.asarray(counts @ self.log_proba_.astype(np.float64)) * np.minimum(1.0, 20 / np.maximum(length, 1.0))
        return np.asarray(softmax(logs + self.log_priors_, axis=1))

    def _counts(self, X: Any, rows: Any) -> Any:
        words = getattr(X, "words", None)
        if words is not None and words.shape[1]:
            return sparse.csr_matrix(words)
        rows = dense_rows(rows)
        return np.hstack([np.maximum(rows, 0.0), np.maximum(-rows, 0.0)])


def _linear_proba(X: Any, labels: Labels) -> np.ndarray | None:
    """Return class probabilities of unlabeled texts by logistic regression on each view of the texts; None without views."""
    from sklearn.linear_model import LogisticRegression

    spans = getattr(X, "spans", {})
    if not spans or len(labels.classes) < 2 or not len(labels.unlabeled):
        return None
    scores = np.zeros((len(labels.unlabeled), len(labels.classes)))
    for start, stop in spans.values():
        rows = normalize(np.asarray(X)[:, start:stop])
        model = LogisticRegression(C=10.0, max_iter=1000).fit(rows[labels.labeled], labels.codes[labels.labeled])
        scores += model.predict_log_proba(rows[labels.unlabeled])
    return np.asarray(softmax(scores, axis=1))


@method("kernel-ridge", task="table", cost="instant", baseline=True, views=("lsa", "vectors", "words"))
class KernelRidgeClassifier(RowClassifier):
    """Fit indicators of the classes by least squares on a Gaussian kernel between labeled rows.

    Parameters
    ----------
    ridge : float, default=0.1
        Penalty.
    scale : float, default=4.0
        Probabilities are the softmax of the fitted indicators times this.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    rows_ : ndarray of shape (n_labeled, n_columns)
        Labeled rows.
    weights_ : ndarray of shape (n_labeled, n_classes)
        Weight of each.
    gamma_ : float
        One by twice the total variance of all rows, unlabeled ones as well.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KernelRidgeClassifier().fit(X, ["low", None, None, "high"]).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(gamma_=Number(float, low=0), rows_=Array("f8", "n", "d"), weights_=Array("f8", "n", "k"))

    def __init__(self, ridge: Positive = 0.1, scale: Positive = 4.0) -> None:
        self.ridge = ridge
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        """Solve for the weights of the labeled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row, of which only the spread is used.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        spread = float(rows.var(axis=0).sum())
        self.gamma_ = 1.0 / (2.0 * spread) if spread > 0 else 1.0
        self.rows_ = rows[labels.labeled]
        targets = np.eye(len(self.classes_))[labels.codes[labels.labeled]] - 1 / len(self.classes_)
        kernel = self._kernel(self.rows_) + self.ridge * np.eye(len(self.rows_))
        self.weights_ = np.linalg.solve(kernel, targets)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        from scipy.special import softmax

        rows = dense_rows(self._rows(X))
        return np.asarray(softmax(self.scale * self._kernel(rows) @ self.weights_, axis=1))

    def _kernel(self, rows: np.ndarray) -> np.ndarray:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(rows, self.rows_, gamma=self.gamma_))


@method("shrunk-bayes", task="table", uses_unlabeled=True, cost="instant", baseline=True)
class ShrunkBayes(RowClassifier):
    """Naive Bayes on ranks and names, whose variances and frequencies are shrunk to those of all rows.

    Parameters
    ----------
    shrinkage : float, default=3.0
        So many rows of the whole column count beside the labeled rows of a class.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    means_, variances_ : ndarray of shape (n_classes, n_numbers)
        Of the normal scores of each numeric column.
    frequencies_ : list of ndarray of shape (n_classes, n_values + 1)
        Of the values of each nominal column; the last value is none of them.
    views_ : dict
        What was learned about the columns.

    Notes
    -----
    Columns depend on each other, so that the log-odds are divided by the square root of the number of columns. Classes
    have equal prior shares.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> ShrunkBayes().fit(X, ["low", None, None, "high"]).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(
        views_=TableViews.STATE,
        means_=Array("f8", "k", "_"),
        variances_=Array("f8", "k", "_", low=0),
        frequencies_=ListOf(Array("f8", "k", "_", low=0)),
    )

    def __init__(self, shrinkage: Positive = 3.0) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate a distribution for each column and class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        self._views = TableViews.learn(rows)
        self.views_ = self._views.state
        m = self.shrinkage
        given, codes = rows[labels.labeled], labels.codes[labels.labeled]
        Z, levels = self._views.ranks(given), self._views.levels(given)
        members = np.eye(len(self.classes_))[codes].T  # (n_classes, n_labeled)
        sizes = members.sum(axis=1)[:, None]
        self.means_ = members @ Z / (sizes + 1.0)
        squares = members @ Z**2 - 2 * self.means_ * (members @ Z) + sizes * self.means_**2
        self.variances_ = (squares + m) / (sizes + m)
        everywhere = self._views.levels(rows)
        self.frequencies_ = []
        for column, block in enumerate(self.views_["nominal"]):
            share = np.bincount(everywhere[:, column], minlength=len(block) + 1) / len(rows)
            seen = members @ np.eye(len(block) + 1)[levels[:, column]]
            self.frequencies_.append((seen + m * share + 1e-9) / (sizes + m))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        from scipy.special import softmax

        rows = dense_rows(self._rows(X))
        Z, levels = self._views.ranks(rows), self._views.levels(rows)
        odds = np.zeros((len(rows), len(self.classes_)))
        for code, (mean, variance) in enumerate(zip(self.means_, self.variances_, strict=True)):
            odds[:, code] = -0.5 * (np.log(variance) + (Z - mean) ** 2 / variance).sum(axis=1)
        for column, frequencies in enumerate(self.frequencies_):
            odds += np.log(frequencies).T[levels[:, column]]
        n_columns = Z.shape[1] + levels.shape[1]
        return np.asarray(softmax(odds / max(n_columns, 1) ** 0.5, axis=1))

    def _check_state(self) -> None:
        self._views = TableViews(self.views_)
        n_classes = len(self.classes_)
        shape = (n_classes, len(self.views_["numeric"]))
        fine = (
            self._views.is_whole()
            and self.views_["width"] == self.n_features_in_
            and self.means_.shape == self.variances_.shape == shape
            and len(self.frequencies_) == len(self.views_["nominal"])
            and all(
                f.shape == (n_classes, len(block) + 1)
                for f, block in zip(self.frequencies_, self.views_["nominal"], strict=True)
            )
        )
        if not fine:
            raise DataError("ShrunkBayes: every column must have its distributions.")
