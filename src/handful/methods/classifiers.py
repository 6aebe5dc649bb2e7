"""Any classifier as a method: those in scikit-learn's manner as they are, self-training and tri-training around others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier

from handful.core.errors import DataError, ParameterError
from handful.core.registry import COSTS, Card, card_of, method
from handful.core.schema import Model, Names, stored
from handful.core.store import Storable
from handful.methods.confidence import own_shares

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
    inner: Card

    def __call__(self, n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        return put_around(self.outer, self.inner.make(n_features, seed, self.inner.usual), seed).set_params(**params)


@method("with-shares", takes="model")
class WithShares(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that tells margins or nothing, with shares of the classes made of them.

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
        """Return the answers of the classifier."""
        return np.asarray(self.estimator_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares that its margins make."""
        return own_shares(self.estimator_, X)

    def _check_state(self) -> None:
        if np.asarray(self.estimator_.classes_).tolist() != self.classes_.tolist():
            raise DataError("WithShares: its labels must be those of its classifier.")


def classifier_card(estimator: Any) -> Card:
    """Return a card for a classifier in scikit-learn's manner.

    Parameters
    ----------
    estimator : classifier
        Not fitted; it is copied for every fit.

    Returns
    -------
    Card
        Its name is how the classifier shows itself, or its class where that is long.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> classifier_card(SVC()).name, classifier_card(SVC(C=10)).name
    ('SVC', 'SVC(C=10)')
    """
    if isinstance(estimator, type):
        raise ParameterError(
            f"methods: a classifier must be made, got the class {estimator.__name__}. Write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"methods: names or scikit-learn classifiers are expected, got {estimator!r:.100}.")
    shown = re.sub(r"\s+", " ", repr(estimator)).removesuffix("()")
    known = card_of(type(estimator))
    return Card(
        shown if len(shown) <= _LONGEST else type(estimator).__name__,
        "table",
        learns_from=("labels", "unlabeled") if _uses_unlabeled(estimator) else ("labels",),
        summary=shown,
        cost="fair" if known is None else known.cost,
        build=_Copies(estimator),
    )


def around_card(outer: str, inner: Card) -> Card:
    """Return a card for self-training or tri-training around a method.

    Parameters
    ----------
    outer : {"self-training", "tri-training"}
        What goes around.
    inner : Card
        A method that learns from labels alone.

    Returns
    -------
    Card
        Named ``outer(inner)``; its twin is the method alone.

    Examples
    --------
    >>> from handful.core.catalogue import get_card
    >>> get_card("tri-training(extra-trees)").twin
    'extra-trees'
    """
    name = f"{outer}({inner.name})"
    if inner.uses_unlabeled:
        raise ParameterError(f"methods: {name} must go around a method that learns from labels alone.")
    return Card(
        name,
        "table",
        learns_from=("labels", "unlabeled"),
        twin=inner.name,
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
    from handful.core.state import Encoder

    classifier_card(estimator)
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
    known = card_of(type(estimator))
    if known is not None:
        return known.uses_unlabeled
    if type(estimator).__module__.startswith("sklearn.semi_supervised"):
        return True
    inner = getattr(estimator, "steps", None) or getattr(estimator, "estimator", None)
    return inner is not None and _uses_unlabeled(inner[-1][-1] if isinstance(inner, list) else inner)
