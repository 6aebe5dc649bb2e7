"""Estimators of scikit-learn in model files: a fixed list of classes whose fitted state is numbers, strings and arrays.

Each class declares its state, as handful's own classes do; parameters and declared attributes alone are written. Classes
that hold other objects (losses, Cython trees, label binarizers) write them as arrays and build them again after reading.
Any other estimator is refused at save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from handful.errors import DataError, ModelFileError
from handful.persistence.schema import (
    Array,
    Flag,
    IfThere,
    Kind,
    ListOf,
    Maybe,
    Model,
    Names,
    Number,
    Pair,
    Record,
    Text,
    check_state,
    is_fitted,
)

# The number of threads and progress output are settings of the reading machine, and a file must not name a folder.
_NOT_STORED = ("n_jobs", "verbose", "memory")
_NODE_FIELDS = ("left_child", "right_child", "feature", "threshold")
_METRICS = ("euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "cosine")


def _tree_state(n_values: str | int, **fields: Kind) -> dict[str, Kind]:
    """Declare trees that are stored node after node, with `n_values` numbers in each node."""
    state = {
        "sizes": Array("i8", "trees", low=1, below="nodes+1"),
        "value": Array("f8", "nodes", n_values),
        "left_child": Array("i8", "nodes", below="nodes", low=-1),
        "right_child": Array("i8", "nodes", below="nodes", low=-1),
        "feature": Array("i8", "nodes", below="d", low=-2),
        "threshold": Array("f8", "nodes"),
    }
    return {"trees": Record({"n_features": Number(int, size="d"), **state, **fields}, shared=("d",))}


_COLUMNS: dict[str, Kind] = {
    "n_features_in_": Number(int, size="d", high=2**31 - 1),
    "feature_names_in_": IfThere(Names("d")),
}
_COMMON: dict[str, Kind] = {**_COLUMNS, "classes_": Names("k")}
_SEVERAL: dict[str, Kind] = {**_COLUMNS, "classes_": Names("k", least=2)}
_LINEAR: dict[str, Kind] = {
    **_SEVERAL,
    "coef_": Array("f8 f4", "k*", "d"),
    "intercept_": Array("f8 f4", "k*"),
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
}
_COMPONENTS: dict[str, Kind] = {
    **_COLUMNS,
    "components_": Array("f8 f4", "c", "d"),
    "explained_variance_": Array("f8 f4", "c", low=0),
    "n_components_": IfThere(Number(int, size="c")),
}
_SVM: dict[str, Kind] = {
    **_SEVERAL,
    "kernel": Text("linear", "poly", "rbf", "sigmoid"),
    "support_": Array("i4", "v", low=0),
    "support_vectors_": Array("f8", "v", "d"),
    "_n_support": Array("i4", "k", low=0),
    **dict.fromkeys(("dual_coef_", "_dual_coef_"), Array("f8", "_", "v")),
    **dict.fromkeys(("intercept_", "_intercept_", "_probA", "_probB"), Array("f8", "_")),
    **dict.fromkeys(("C", "nu", "epsilon", "_gamma"), Number(float, low=0)),
    "_sparse": Flag(only=False),
    "_effective_probability": IfThere(Flag()),
    "class_weight_": Array("f8", "k"),
    "fit_status_": Number(int, low=0, high=0),
}
_FOREST: dict[str, Kind] = {**_COMMON, **_tree_state("k")}


def _vectors(*names: str) -> dict[str, Kind]:
    """Declare one number for each column, or None where the scaler leaves it out."""
    return {**_COLUMNS, **dict.fromkeys(names, Maybe(Array("f8 f4", "d")))}


def _tree_arrays(trees: list[Any], n_features: int) -> dict[str, Any]:
    nodes = [tree.__getstate__()["nodes"] for tree in trees]
    return {
        "n_features": n_features,
        "sizes": np.array([len(part) for part in nodes], dtype=np.int64),
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]),
        **{name: np.concatenate([part[name] for part in nodes]) for name in _NODE_FIELDS},
    }


def _split(state: Mapping[str, Any]) -> list[dict[str, np.ndarray]]:
    """Cut node arrays into those of each tree, and refuse trees whose nodes point outside."""
    bounds = np.concatenate([[0], np.cumsum(state["sizes"])]).tolist()
    if bounds[-1] != len(state["value"]):
        raise ModelFileError("it holds a forest whose trees are cut off.")
    names = state.keys() - {"n_features", "sizes"}
    trees = [{name: state[name][start:stop] for name in names} for start, stop in pairwise(bounds)]
    for tree in trees:
        left, right, feature = (np.asarray(tree[name], dtype=np.int64) for name in _NODE_FIELDS[:3])
        n, inner = len(left), left >= 0
        at = np.arange(n)[inner]
        grown = (left[inner] > at) & (right[inner] > at) & (feature[inner] >= 0)
        if not (grown.all() and (left < n).all() and (right < n).all() and (right[~inner] < 0).all()):
            raise ModelFileError("it holds a tree that could not have been grown.")
    return trees


def _trees(model: Any) -> list[Any]:
    """Take the node arrays out of a model, and return Cython trees."""
    from sklearn.tree._tree import Tree

    trees = []
    for parts in _split(vars(model).pop("trees")):
        n, n_values = parts["value"].shape
        tree = Tree(model.n_features_in_, np.array([n_values], dtype=np.intp), 1)
        nodes = np.zeros(n, dtype=tree.__getstate__()["nodes"].dtype)
        for name in _NODE_FIELDS:
            nodes[name] = parts[name]
        # Predictions need no impurities and sizes; scikit-learn only asks that they are positive.
        nodes["n_node_samples"], nodes["weighted_n_node_samples"] = 1, 1.0
        values = np.ascontiguousarray(parts["value"], dtype=np.float64)[:, None, :]
        tree.__setstate__({"max_depth": int(n), "node_count": n, "nodes": nodes, "values": values})
        trees.append(tree)
    return trees


def _write_forest(model: Any) -> dict[str, Any]:
    trees = [model] if hasattr(model, "tree_") else model.estimators_
    return {"trees": _tree_arrays([tree.tree_ for tree in trees], int(model.n_features_in_))}


def _read_tree(model: Any) -> None:
    trees = _trees(model)
    if len(trees) != 1:
        raise ModelFileError(f"it holds a {type(model).__name__} of {len(trees)} trees.")
    model.tree_, model.n_outputs_, model.n_classes_ = trees[0], 1, np.int64(len(model.classes_))


def _read_forest(model: Any) -> None:
    model.n_classes_, model.n_outputs_ = len(model.classes_), 1
    model.estimators_ = []
    for grown in _trees(model):
        tree = type(model.estimator)()
        tree.tree_, tree.n_features_in_, tree.n_outputs_ = grown, model.n_features_in_, 1
        tree.classes_, tree.n_classes_ = np.arange(model.n_classes_), np.int64(model.n_classes_)
        model.estimators_.append(tree)
    model.n_estimators = len(model.estimators_)


def _check_inner(model: Any) -> None:
    inner = model.estimator_
    same = getattr(inner, "n_features_in_", model.n_features_in_) == model.n_features_in_
    if not same or list(inner.classes_) != list(model.classes_):
        raise DataError("SelfTrainingClassifier: its estimator must be for the same columns and classes.")


def _search_by_force(model: Any) -> None:
    # A tree is only a faster way to the same neighbors.
    model._fit_method, model._tree = "brute", None


def _check_svm(model: Any) -> None:
    # libsvm indexes by these numbers without checking them.
    k, n_vectors = len(model.classes_), len(model.support_vectors_)
    pairs = k * (k - 1) // 2
    signs = (model.intercept_, model._intercept_, model._probA, model._probB)
    fits = (
        model._n_support.sum() == n_vectors
        and model.dual_coef_.shape == model._dual_coef_.shape == (k - 1, n_vectors)
        and [len(part) for part in signs] in ([pairs] * 4, [pairs, pairs, 0, 0])
    )
    if not fits:
        raise DataError(f"{type(model).__name__}: its support vectors must be those of {k} classes.")
    model.shape_fit_ = (n_vectors, model.n_features_in_)


def _write_histograms(model: Any) -> dict[str, Any]:
    if model.is_categorical_ is not None or model.loss != "log_loss":
        raise _refusal(model)
    nodes = [tree.nodes for trees in model._predictors for tree in trees]
    joined = np.concatenate(nodes)
    inner = joined["is_leaf"] == 0
    return {
        "trees": {
            "n_features": int(model.n_features_in_),
            "sizes": np.array([len(part) for part in nodes], dtype=np.int64),
            "value": joined["value"][:, None],
            "left_child": np.where(inner, joined["left"].astype(np.int64), -1),
            "right_child": np.where(inner, joined["right"].astype(np.int64), -1),
            "feature": joined["feature_idx"].astype(np.int64),
            "threshold": joined["num_threshold"],
            "missing_left": joined["missing_go_to_left"],
        },
        "baseline": np.asarray(model._baseline_prediction, dtype=np.float64).ravel(),
    }


def _read_histograms(model: Any) -> None:
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    predictors = []
    no_categories = np.empty((0, 8), dtype=np.uint32)
    for parts in _split(vars(model).pop("trees")):
        nodes = np.zeros(len(parts["value"]), dtype=PREDICTOR_RECORD_DTYPE)
        nodes["is_leaf"] = leaf = parts["left_child"] < 0
        nodes["left"], nodes["right"] = (np.where(leaf, 0, parts[name]) for name in _NODE_FIELDS[:2])
        nodes["feature_idx"] = np.maximum(parts["feature"], 0)
        nodes["num_threshold"], nodes["value"] = parts["threshold"], parts["value"][:, 0]
        nodes["missing_go_to_left"] = parts["missing_left"]
        predictors.append(TreePredictor(nodes, no_categories, no_categories))
    n_classes = len(model.classes_)
    per_round = 1 if n_classes == 2 else n_classes
    if len(predictors) % per_round:
        raise ModelFileError("it holds a forest whose trees are cut off.")
    model._predictors = [predictors[start : start + per_round] for start in range(0, len(predictors), per_round)]
    model.n_trees_per_iteration_ = per_round
    model._loss = HalfBinomialLoss() if n_classes == 2 else HalfMultinomialLoss(n_classes=n_classes)
    model._baseline_prediction = vars(model).pop("baseline")[None, :]
    model._n_features, model._preprocessor, model.is_categorical_ = model.n_features_in_, None, None
    model._is_categorical_remapped, model._use_validation_data = None, False
    model.train_score_ = model.validation_score_ = np.empty(0)
    model.do_early_stopping_ = False
    model._bin_mapper = _BinMapper()
    model._bin_mapper.is_categorical_ = np.zeros(model.n_features_in_, dtype=np.uint8)
    model._bin_mapper.bin_thresholds_ = []


def _check_pipeline(model: Any) -> None:
    model._validate_steps()
    if not model.steps:
        raise DataError("Pipeline: it must have steps.")


@dataclass(frozen=True)
class Foreign:
    """How an estimator of scikit-learn is stored.

    Parameters
    ----------
    module : str
        Where its class is.
    state : mapping of str to Kind
        Its fitted attributes, and parameters that must be narrower than scikit-learn allows.
    after : callable, optional
        Completes and checks a model that was read.
    write : callable, optional
        Returns further state, made from attributes that are not declared.
    """

    module: str
    state: Mapping[str, Kind]
    after: Callable[[Any], None] | None = None
    write: Callable[[Any], dict[str, Any]] | None = None


ESTIMATORS: dict[str, Foreign] = {
    "BernoulliNB": Foreign("sklearn.naive_bayes", _COUNTING),
    "ComplementNB": Foreign("sklearn.naive_bayes", {**_COUNTING, "feature_all_": Array("f8", "d")}),
    "DecisionTreeClassifier": Foreign("sklearn.tree", _FOREST, _read_tree, _write_forest),
    "ExtraTreesClassifier": Foreign("sklearn.ensemble", _FOREST, _read_forest, _write_forest),
    "RandomForestClassifier": Foreign("sklearn.ensemble", _FOREST, _read_forest, _write_forest),
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
    "HistGradientBoostingClassifier": Foreign(
        "sklearn.ensemble",
        {
            **_SEVERAL,
            "loss": Text("log_loss"),
            **_tree_state(1, missing_left=Array("u1", "nodes", high=1)),
            "baseline": Array("f8", "k*"),
        },
        _read_histograms,
        _write_histograms,
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
        },
        _search_by_force,
    ),
    "LabelPropagation": Foreign("sklearn.semi_supervised", _GRAPH),
    "LabelSpreading": Foreign("sklearn.semi_supervised", _GRAPH),
    "LinearDiscriminantAnalysis": Foreign("sklearn.discriminant_analysis", _LINEAR),
    "LinearSVC": Foreign("sklearn.svm", _LINEAR),
    "LogisticRegression": Foreign("sklearn.linear_model", _LINEAR),
    "MultinomialNB": Foreign("sklearn.naive_bayes", _COUNTING),
    "Pipeline": Foreign("sklearn.pipeline", {"steps": ListOf(Pair(Text(), Model(can=())), "steps")}, _check_pipeline),
    "SelfTrainingClassifier": Foreign(
        "sklearn.semi_supervised",
        {**_COMMON, "estimator_": Model(can=("predict", "predict_proba"))},
        _check_inner,
    ),
    "SGDClassifier": Foreign("sklearn.linear_model", _LINEAR),
    "SVC": Foreign("sklearn.svm", _SVM, _check_svm),
    "MaxAbsScaler": Foreign("sklearn.preprocessing", _vectors("scale_", "max_abs_")),
    "MinMaxScaler": Foreign("sklearn.preprocessing", _vectors("scale_", "min_", "data_min_", "data_max_")),
    "Normalizer": Foreign("sklearn.preprocessing", _COLUMNS),
    "PCA": Foreign("sklearn.decomposition", {**_COMPONENTS, "mean_": Array("f8 f4", "d")}),
    "RobustScaler": Foreign("sklearn.preprocessing", _vectors("center_", "scale_")),
    "StandardScaler": Foreign("sklearn.preprocessing", _vectors("mean_", "var_", "scale_")),
    "TruncatedSVD": Foreign("sklearn.decomposition", _COMPONENTS),
}


def estimator_state(model: Any) -> dict[str, Any]:
    """Return parameters and declared attributes of an estimator of scikit-learn.

    Raises
    ------
    ModelFileError
        If its class is not in `ESTIMATORS`, or if its state breaks the declaration.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> estimator_state(GaussianNB())
    {'priors': None, 'var_smoothing': 1e-09}
    """
    name, fitted = type(model).__name__, is_fitted(vars(model))
    foreign = ESTIMATORS.get(name)
    if foreign is None or not type(model).__module__.startswith(foreign.module):
        raise _refusal(model)
    state = _declared(vars(model), _parameters(type(model)), foreign)
    if fitted and foreign.write is not None:
        state |= foreign.write(model)
    try:
        if fitted:
            check_state(name, foreign.state, state)
    except DataError:
        raise _refusal(model) from None
    return dict(sorted(state.items()))  # versions of scikit-learn set attributes in different orders


def estimator_from(name: str, state: Mapping[str, Any]) -> Any:
    """Rebuild an estimator of scikit-learn; refuse what no fit could have left.

    Parameters
    ----------
    name : str
        Name of its class.
    state : mapping
        What `estimator_state` returned.

    Returns
    -------
    estimator
        The estimator.
    """
    if name not in ESTIMATORS:
        raise ModelFileError(f"it holds a scikit-learn object of the kind {str(name)[:60]!r}, which is not admitted.")
    foreign = ESTIMATORS[name]
    cls = getattr(import_module(foreign.module), name)
    params = _parameters(cls)
    state = _declared(state, params, foreign)
    complete = is_fitted(state) or name == "Pipeline"
    if complete:
        check_state(name, foreign.state, state)
    model = cls(**{key: value for key, value in state.items() if key in params})
    vars(model).update({key: value for key, value in state.items() if key not in params})
    model._validate_params()
    if foreign.after is not None and complete:
        foreign.after(model)
    return model


def forest_state(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return a forest of a model file before version 0.3 as `estimator_from` takes it."""
    if len(old) == 1:
        return dict(old["params"])
    trees = {name: old[name] for name in ("n_features", "sizes", "value", *_NODE_FIELDS)}
    return {**old["params"], "classes_": old["classes"], "n_features_in_": old["n_features"], "trees": trees}


def _parameters(cls: type) -> set[str]:
    return {*signature(cls).parameters} - {*_NOT_STORED}


def _declared(state: Mapping[str, Any], params: set[str], foreign: Foreign) -> dict[str, Any]:
    # Parameters that a version of scikit-learn has deprecated hold this string.
    return {
        key: value
        for key, value in state.items()
        if key in params | foreign.state.keys() and not (isinstance(value, str) and value == "deprecated")
    }


def _refusal(estimator: Any) -> ModelFileError:
    return ModelFileError(
        f"save: a model file cannot hold this {type(estimator).__name__}; it holds linear models, SVMs, naive Bayes, trees, "
        "forests, histogram gradient boosting, scalers, PCA and pipelines of them (see handful.persistence.sklearn_models)."
    )
