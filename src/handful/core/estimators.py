"""Classifiers of scikit-learn in model files: which ones, and how each fitted attribute must look.

Only what is declared here is written and read. Attributes that only training or speed need are left out, and set again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from handful.core.errors import DataError, ModelFileError
from handful.core.schema import (
    Array,
    Flag,
    IfThere,
    Kind,
    Maybe,
    Model,
    Names,
    Number,
    Plain,
    Record,
    Text,
    check_state,
    is_fitted,
)

_METRICS = ("euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "cosine")
_SHOWN = IfThere(Plain())


def _shown(*names: str) -> dict[str, Kind]:
    """Declare attributes that answers are never computed with."""
    return dict.fromkeys(names, _SHOWN)


_COMMON: dict[str, Kind] = {
    "n_features_in_": Number(int, size="d"),
    "feature_names_in_": IfThere(Names("d")),
    "classes_": Names("k"),
}
_LINEAR: dict[str, Kind] = {
    **_COMMON,
    "classes_": Names("k", least=2),
    "coef_": Array("f8 f4", "k*", "d"),
    "intercept_": Array("f8 f4", "k*"),
    "n_iter_": _SHOWN,
}
_COUNTING: dict[str, Kind] = {
    **_COMMON,
    "class_count_": Array("f8", "k", low=0),
    "feature_count_": Array("f8", "k", "d"),
    "feature_log_prob_": Array("f8", "k", "d", finite=False),  # the logarithm of a count of 0
    "class_log_prior_": Array("f8", "k", finite=False),
}
_GRAPH: dict[str, Kind] = {
    **_COMMON,
    "kernel": Text("rbf"),
    "alpha": IfThere(Number(float)),
    "X_": Array("f8 f4", "n", "d", sparse=True),
    "label_distributions_": Array("f8 f4", "n", "k", low=0),
    "transduction_": _SHOWN,
    "n_iter_": _SHOWN,
}


def _check_inner(model: Any) -> None:
    inner = model.estimator_
    same = getattr(inner, "n_features_in_", model.n_features_in_) == model.n_features_in_
    if not same or list(inner.classes_) != list(model.classes_):
        raise DataError("SelfTrainingClassifier: its estimator must be for the same columns and classes.")


def _search_by_force(model: Any) -> None:
    # A tree is only a faster way to the same neighbors.
    model._fit_method, model._tree = "brute", None


@dataclass(frozen=True)
class Foreign:
    """How a classifier of scikit-learn is stored.

    Parameters
    ----------
    module : str
        Where its class is.
    state : mapping of str to Kind
        Its fitted attributes, and parameters that must be narrower than scikit-learn allows.
    left_out : tuple of str
        Attributes that are not written.
    after : callable, optional
        What is done with a model that was read.
    """

    module: str
    state: Mapping[str, Kind]
    left_out: tuple[str, ...] = ()
    after: Callable[[Any], None] | None = None


ESTIMATORS: dict[str, Foreign] = {
    "BernoulliNB": Foreign("sklearn.naive_bayes", _COUNTING),
    "ComplementNB": Foreign("sklearn.naive_bayes", {**_COUNTING, "feature_all_": Array("f8", "d")}),
    "GaussianNB": Foreign(
        "sklearn.naive_bayes",
        {
            **_COMMON,
            "theta_": Array("f8", "k", "d"),
            "var_": Array("f8", "k", "d", low=0),
            "class_count_": Array("f8", "k", low=0),
            "class_prior_": Array("f8", "k", low=0),
            "epsilon_": Number(float),
        },
    ),
    "KNeighborsClassifier": Foreign(
        "sklearn.neighbors",
        {
            **_COMMON,
            "_fit_X": Array("f8 f4", "n", "d", sparse=True),
            "_y": Array("i8", "n", below="k"),
            "n_samples_fit_": Number(int, size="n"),
            "n_neighbors": Number(int, low=1, below="n+1"),
            "metric": Text(*_METRICS),
            "metric_params": Maybe(Text("none")),  # None alone
            "effective_metric_": Text(*_METRICS),
            "effective_metric_params_": Record({"p": IfThere(Number(float, low=1))}),
            "p": Number(float, low=1, high=100),
            "outputs_2d_": Flag(only=False),
            "radius": _SHOWN,
        },
        ("_fit_method", "_tree"),
        _search_by_force,
    ),
    "LabelPropagation": Foreign("sklearn.semi_supervised", _GRAPH),
    "LabelSpreading": Foreign("sklearn.semi_supervised", _GRAPH),
    "LinearDiscriminantAnalysis": Foreign(
        "sklearn.discriminant_analysis",
        {
            **_LINEAR,
            "means_": Array("f8 f4", "k", "d"),
            **_shown("priors_", "xbar_", "scalings_", "covariance_", "explained_variance_ratio_"),
            **_shown("_max_components", "_n_features_out"),
        },
    ),
    "LinearSVC": Foreign("sklearn.svm", _LINEAR),
    "LogisticRegression": Foreign("sklearn.linear_model", _LINEAR),
    "MultinomialNB": Foreign("sklearn.naive_bayes", _COUNTING),
    "NearestCentroid": Foreign(
        "sklearn.neighbors",
        {
            **_COMMON,
            "metric": Text("euclidean", "manhattan"),
            "class_prior_": Array("f8", "k", low=0),
            "centroids_": Array("f8 f4", "k", "d"),
            "within_class_std_dev_": Array("f8 f4", "d"),
            "deviations_": Array("f8 f4", "k", "d"),
        },
    ),
    "Perceptron": Foreign(
        "sklearn.linear_model",
        {**_LINEAR, **_shown("loss", "learning_rate", "epsilon", "power_t", "average", "t_")},
        ("_loss_function_", "_expanded_class_weight"),
    ),
    "SGDClassifier": Foreign(
        "sklearn.linear_model", {**_LINEAR, "t_": _SHOWN}, ("_loss_function_", "_expanded_class_weight")
    ),
    "SelfTrainingClassifier": Foreign(
        "sklearn.semi_supervised",
        {
            **_COMMON,
            "estimator_": Model(can=("predict", "predict_proba")),
            "transduction_": _SHOWN,
            "labeled_iter_": _SHOWN,
            "n_iter_": _SHOWN,
            "termination_condition_": _SHOWN,
        },
        after=_check_inner,
    ),
}


# How many processes and how many words on the screen is not for a file to say.
_NOT_STORED = {"n_jobs": None, "verbose": 0}


def estimator_state(model: Any) -> dict[str, Any] | None:
    """Return parameters and fitted attributes of a classifier of scikit-learn; None where more than is declared is there.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> estimator_state(GaussianNB())
    {'priors': None, 'var_smoothing': 1e-09}
    """
    name = type(model).__name__
    foreign = ESTIMATORS.get(name)
    if foreign is None or not type(model).__module__.startswith(foreign.module):
        return None
    state = {key: value for key, value in vars(model).items() if key not in foreign.left_out}
    unknown = state.keys() - model.get_params(deep=False).keys() - foreign.state.keys()
    return None if unknown else state


def estimator_from(name: str, state: dict[str, Any]) -> Any:
    """Bring a classifier of scikit-learn back to life, refusing what no fit could have left.

    Parameters
    ----------
    name : str
        Name of its class.
    state : dict
        What `estimator_state` gave.

    Returns
    -------
    estimator
        The classifier.
    """
    if name not in ESTIMATORS:
        raise ModelFileError(f"it holds a scikit-learn object of the kind {str(name)[:60]!r}, which is not admitted.")
    foreign = ESTIMATORS[name]
    cls = getattr(import_module(foreign.module), name)
    model = cls()
    params = model.get_params(deep=False)
    state = _in_use(state, foreign)
    if unknown := state.keys() - params.keys() - foreign.state.keys():
        raise ModelFileError(f"it names an attribute {min(unknown)[:60]!r}, which no {name} has.")
    if is_fitted(state):
        check_state(name, foreign.state, state)
    vars(model).update(state)
    vars(model).update({key: value for key, value in _NOT_STORED.items() if key in params})
    model._validate_params()
    if foreign.after is not None and is_fitted(state):
        foreign.after(model)
    return model


def _in_use(state: dict[str, Any], foreign: Foreign) -> dict[str, Any]:
    # Other versions of scikit-learn have parameters that say of themselves that they are out of use.
    return {
        key: value
        for key, value in state.items()
        if key not in foreign.left_out and not (isinstance(value, str) and value == "deprecated")
    }
