"""What takes part in a comparison on tables: the methods of the catalogue, and plain classifiers of scikit-learn."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

from handful.core.errors import ParameterError
from handful.core.params import admits, declared
from handful.core.registry import Card
from handful.methods import CATALOGUE, get_card

# Values worth trying for a parameter of this name, whichever method has it.
_WORTH_TRYING: dict[str, tuple[Any, ...]] = {"n_neighbors": (1, 3, 5), "kernel": ("rbf",), "n_components": (10,)}


@dataclass(frozen=True)
class Contender:
    """One way to classify the rows of a table.

    Parameters
    ----------
    name : str
        Name on the command line and in tables.
    build : callable
        ``build(n_features, seed, params)`` returns a new estimator.
    uses_unlabeled : bool
        Whether it learns from unlabeled rows.
    twin : str or None
        Name of the contender that does the same from labels alone; None is itself, without the unlabeled rows.
    grid : mapping of str to tuple
        Values worth trying, the usual one first.
    summary : str
        One sentence.
    baseline : bool
        Whether it is one of the plain classifiers that methods are held against.

    Examples
    --------
    >>> contender("k-nn").build(2, 0, {"n_neighbors": 3}).n_neighbors
    3
    """

    name: str
    build: Callable[[int, int, Mapping[str, Any]], Any]
    uses_unlabeled: bool = False
    twin: str | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    summary: str = ""
    baseline: bool = False


def contenders() -> dict[str, Contender]:
    """Return all contenders by name: the plain classifiers first, then the catalogue's methods for tables.

    Returns
    -------
    dict of str to Contender
        In the order in which comparisons list them.

    Examples
    --------
    >>> list(contenders())[:2]
    ['k-nn', 'logistic-regression']
    """
    found = dict(_PLAIN)
    for name in CATALOGUE:
        card = get_card(name)
        if card.takes == "table":
            found[name] = _from_card(card)
    return found


def contender(name: str) -> Contender:
    """Return one contender, or say which one may have been meant.

    Parameters
    ----------
    name : str
        Name of a plain classifier or of a method for tables.

    Returns
    -------
    Contender
        The contender.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    known = contenders()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" They are: {', '.join(known)}."
        raise ParameterError(f"methods: there is no method for tables named {name!r}.{hint}")
    return known[name]


def _from_card(card: Card) -> Contender:
    parameters = signature(card.cls).parameters
    annotations = declared(card.cls)
    grid: dict[str, tuple[Any, ...]] = {}
    for name, values in _WORTH_TRYING.items():
        if name in parameters:
            usual = parameters[name].default
            tried = [usual, *(v for v in values if v != usual and admits(annotations[name], v))]
            grid[name] = tuple(tried)
    needs_estimator = "estimator" in parameters and parameters["estimator"].default is Parameter.empty

    def build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        settings = dict(params)
        if "random_state" in parameters:
            settings.setdefault("random_state", seed)
        if needs_estimator:
            settings.setdefault("estimator", _logistic_regression(n_features, seed, {}))
        return card.cls(**settings)

    return Contender(card.name, build, "unlabeled" in card.learns_from, card.twin, grid, card.summary)


def _k_nn(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    # Brute force, since a tree of scikit-learn's cannot be stored without pickle.
    return KNeighborsClassifier(algorithm="brute", **{"n_neighbors": 1, **params})


def _logistic_regression(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1_000, **params)


def _self_training(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(_logistic_regression(n_features, seed, {}), **params)


def _gamma(n_features: int, params: Mapping[str, Any]) -> float:
    # Squared distances of scaled rows grow with the number of columns; scikit-learn's fixed width does not.
    return float(params.get("sharpness", 4.0)) / max(n_features, 1)


def _label_propagation(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation(gamma=_gamma(n_features, params), max_iter=1_000)


def _label_spreading(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(gamma=_gamma(n_features, params), max_iter=100)


_SHARPNESS = {"sharpness": (4.0, 1.0, 16.0, 64.0)}
_PLAIN = {
    found.name: found
    for found in (
        Contender(
            "k-nn",
            _k_nn,
            grid={"n_neighbors": (1, 3, 5)},
            summary="The nearest labeled rows vote (scikit-learn).",
            baseline=True,
        ),
        Contender(
            "logistic-regression",
            _logistic_regression,
            grid={"C": (1.0, 0.1, 10.0)},
            summary="A linear model of the labeled rows (scikit-learn).",
            baseline=True,
        ),
        Contender(
            "self-training",
            _self_training,
            uses_unlabeled=True,
            twin="logistic-regression",
            grid={"threshold": (0.75, 0.9)},
            summary="Logistic regression that learns from its own sure answers (scikit-learn).",
            baseline=True,
        ),
        Contender(
            "label-propagation",
            _label_propagation,
            uses_unlabeled=True,
            grid=_SHARPNESS,
            summary="Labels flow along the graph of near rows (scikit-learn).",
            baseline=True,
        ),
        Contender(
            "label-spreading",
            _label_spreading,
            uses_unlabeled=True,
            grid=_SHARPNESS,
            summary="Labels flow along the graph of near rows, and given ones may yield (scikit-learn).",
            baseline=True,
        ),
    )
}
