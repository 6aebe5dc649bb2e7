"""The base of our classifiers, and classifiers of scikit-learn as methods."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.data.labels import Labels, labels_of
from handful.errors import DataError, ParameterError
from handful.persistence.model_file import Storable
from handful.persistence.schema import Names, Number, stored
from handful.registry import COSTS, MethodSpec, register, spec_of


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

    def build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        estimator = inner.make_estimator(n_features, seed, inner.default_params)
        return put_around(outer, estimator, seed).set_params(**params)

    return MethodSpec(
        name,
        "table",
        uses_unlabeled=True,
        supervised_control=inner.name,
        summary=f"{outer.capitalize()} around {inner.name}.",
        cost=COSTS[min(inner.cost_rank + 2, len(COSTS) - 1)],
        views=inner.views,
        build=build,
    )


def put_around(outer: str, estimator: Any, seed: int = 0) -> Any:
    """Return self-training or tri-training around a classifier.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> put_around("tri-training", LinearSVC())
    TriTraining(estimator=LinearSVC(), random_state=0)
    """
    if outer == "tri-training":
        from handful.neighbors.tri_training import TriTraining

        return TriTraining(estimator, random_state=seed)
    from sklearn.semi_supervised import SelfTrainingClassifier

    if not hasattr(estimator, "predict_proba"):
        name = type(estimator).__name__
        raise ParameterError(
            f"self-training: {name} has no predict_proba. Use tri-training({name}) or another classifier."
        )
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
    from handful.persistence.model_file import StateEncoder

    classifier_spec(estimator)
    rows = np.random.default_rng(0).normal(size=(12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(estimator).fit(rows, np.arange(12) % 2)
        except ValueError:
            return  # the trials will tell why it fails
    StateEncoder().encode_state({"estimator": fitted})


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
    module, _, cls = f"sklearn.{path}".rpartition(".")
    spec = {"cost": "instant", **spec}

    def build(n_features: int, seed: int, given: Mapping[str, Any]) -> Any:
        seeded = {"random_state": seed} if "random_state" in params else {}
        return getattr(import_module(module), cls)(**{**params, **seeded, **given})

    build.__module__, build.__qualname__ = module, cls
    register(MethodSpec(name, "table", summary=f"{summary} (scikit-learn).", baseline=True, build=build, **spec))


def _self_training(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(LogisticRegression(max_iter=1_000), **params)


_TREES = {"n_estimators": 300, "random_state": 0}
_LDA = {"solver": "lsqr", "shrinkage": "auto"}
_LOGISTIC = {"max_iter": 1_000, "class_weight": "balanced"}
_BOOSTING = {"early_stopping": False, "min_samples_leaf": 5, "random_state": 0}
_TEXTS = ("lsa", "vectors")
# Brute force, since a tree of scikit-learn's neighbors cannot be stored without pickle.
_NEAREST = {"algorithm": "brute", "n_neighbors": 1}

_register_sklearn(
    "k-nn", "neighbors.KNeighborsClassifier", "The nearest labeled rows vote", _NEAREST, grid={"n_neighbors": (1, 3, 5)}
)
_register_sklearn(
    "logistic-regression",
    "linear_model.LogisticRegression",
    "A linear model of the labeled rows",
    _LOGISTIC,
    grid={"C": (1.0, 0.1, 10.0, 100.0), "class_weight": ("balanced", None)},
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
    "discriminant_analysis.LinearDiscriminantAnalysis",
    "Linear discriminant analysis with a shrunk covariance",
    _LDA,
    views=_TEXTS,
)
for _name, _path, _summary in (
    ("extra-trees", "ensemble.ExtraTreesClassifier", "Three hundred extremely random trees vote"),
    ("random-forest", "ensemble.RandomForestClassifier", "Three hundred trees of bootstrap samples vote"),
):
    _register_sklearn(_name, _path, _summary, _TREES, cost="quick", views=_TEXTS)
_register_sklearn(
    "hist-gradient-boosting",
    "ensemble.HistGradientBoostingClassifier",
    "Gradient boosting of trees on binned columns",
    _BOOSTING,
    cost="fair",
    views=_TEXTS,
)
