"""Estimators of scikit-learn in model files: a fixed list of classes whose fitted state is numbers, strings and arrays.

Each class declares its state, as handful's own classes do. Classes that hold other objects (losses, Cython trees, label
binarizers) write them as arrays and build them again after reading. Any other estimator is refused at save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any

import numpy as np

from handful.errors import DataError, ModelFileError
from handful.persistence.schema import (
    Array,
    Either,
    Flag,
    IfThere,
    Kind,
    ListOf,
    Maybe,
    Model,
    Names,
    Number,
    Pair,
    Plain,
    Record,
    Text,
    check_state,
    is_fitted,
)

# Module and name of each forest or tree, and of the trees it consists of.
FORESTS = {
    "ExtraTreesClassifier": ("sklearn.ensemble", "sklearn.tree", "ExtraTreeClassifier"),
    "RandomForestClassifier": ("sklearn.ensemble", "sklearn.tree", "DecisionTreeClassifier"),
    "DecisionTreeClassifier": ("sklearn.tree", "sklearn.tree", "DecisionTreeClassifier"),
    "ExtraTreeClassifier": ("sklearn.tree", "sklearn.tree", "ExtraTreeClassifier"),
}
_NODE_FIELDS = ("left_child", "right_child", "feature", "threshold")
# The number of threads and progress output are settings of the reading machine, and a file must not name a folder.
_NOT_STORED = ("n_jobs", "verbose", "memory")


def _tree_state(n_values: str | int) -> dict[str, Kind]:
    """Declare trees that are stored node after node, with `n_values` numbers in each node."""
    return {
        "sizes": Array("i8", "trees", low=1, below="nodes+1"),
        "value": Array("f8", "nodes", n_values),
        "left_child": Array("i8", "nodes", below="nodes", low=-1),
        "right_child": Array("i8", "nodes", below="nodes", low=-1),
        "feature": Array("i8", "nodes", below="d", low=-2),
        "threshold": Array("f8", "nodes"),
    }


STATE: dict[str, Kind] = {
    "params": Plain(),
    "classes": Names("k"),
    "n_features": Number(int, size="d", high=2**31 - 1),
    **_tree_state("k"),
}


def forest_state(forest: Any) -> dict[str, Any]:
    """Return parameters and trees of a forest or a single tree as plain values and arrays.

    Parameters
    ----------
    forest : estimator
        Of one of the classes in `FORESTS`, fitted to one target or not fitted.

    Returns
    -------
    dict of str to value
        For `forest_from`.
    """
    params = {name: value for name, value in forest.get_params(deep=False).items() if not hasattr(value, "fit")}
    if not is_fitted(vars(forest)):
        return {"params": params}
    single = hasattr(forest, "tree_")
    return {
        "params": params,
        "classes": np.asarray(forest.classes_),
        "n_features": int(forest.n_features_in_),
        **_tree_arrays([forest.tree_] if single else [tree.tree_ for tree in forest.estimators_]),
    }


def forest_from(name: str, state: Mapping[str, Any]) -> Any:
    """Rebuild a forest or a tree; refuse trees that no fit could have grown.

    Parameters
    ----------
    name : str
        Name of the class, one of `FORESTS`.
    state : mapping
        What `forest_state` returned.

    Returns
    -------
    estimator
        The fitted estimator.
    """
    check_state(name, STATE if len(state) > 1 else {"params": STATE["params"]}, state)
    module, tree_module, tree_name = FORESTS[name]
    cls = getattr(import_module(module), name)
    forest = cls(**{key: value for key, value in state["params"].items() if key not in _NOT_STORED})
    forest._validate_params()
    if len(state) == 1:
        return forest
    classes, n_features = state["classes"], state["n_features"]
    trees = _trees(state, n_features)
    forest.classes_, forest.n_classes_, forest.n_outputs_ = classes, len(classes), 1
    forest.n_features_in_ = n_features
    if name == tree_name:
        if len(trees) != 1:
            raise ModelFileError(f"it holds a {name} of {len(trees)} trees.")
        forest.tree_, forest.n_classes_ = trees[0], np.int64(len(classes))
        return forest
    tree_class = getattr(import_module(tree_module), tree_name)
    forest.estimators_ = []
    for grown in trees:
        tree = tree_class()
        tree.tree_, tree.n_features_in_, tree.n_outputs_ = grown, n_features, 1
        tree.classes_, tree.n_classes_ = np.arange(len(classes)), np.int64(len(classes))
        forest.estimators_.append(tree)
    forest.n_estimators = len(trees)
    return forest


def _tree_arrays(trees: list[Any]) -> dict[str, np.ndarray]:
    nodes = [tree.__getstate__()["nodes"] for tree in trees]
    return {
        "sizes": np.array([len(part) for part in nodes], dtype=np.int64),
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]),
        **{name: np.concatenate([part[name] for part in nodes]) for name in _NODE_FIELDS},
    }


def _split(state: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, np.ndarray]]:
    """Cut node arrays into those of each tree, and refuse trees whose nodes point outside."""
    bounds = np.concatenate([[0], np.cumsum(state["sizes"])]).tolist()
    if bounds[-1] != len(state["value"]):
        raise ModelFileError("it holds a forest whose trees are cut off.")
    trees = [{name: state[name][start:stop] for name in names} for start, stop in pairwise(bounds)]
    for tree in trees:
        left, right, feature = (np.asarray(tree[name], dtype=np.int64) for name in _NODE_FIELDS[:3])
        n, inner = len(left), left >= 0
        at = np.arange(n)[inner]
        grown = (left[inner] > at) & (right[inner] > at) & (feature[inner] >= 0)
        if not (grown.all() and (left < n).all() and (right < n).all() and (right[~inner] < 0).all()):
            raise ModelFileError("it holds a tree that could not have been grown.")
    return trees


def _trees(state: Mapping[str, Any], n_features: int) -> list[Any]:
    from sklearn.tree._tree import Tree

    trees = []
    for parts in _split(state, (*_NODE_FIELDS, "value")):
        n, n_values = parts["value"].shape
        tree = Tree(n_features, np.array([n_values], dtype=np.intp), 1)
        nodes = np.zeros(n, dtype=tree.__getstate__()["nodes"].dtype)
        for name in _NODE_FIELDS:
            nodes[name] = parts[name]
        # Predictions need no impurities and sizes; scikit-learn only asks that they are positive.
        nodes["n_node_samples"], nodes["weighted_n_node_samples"] = 1, 1.0
        values = np.ascontiguousarray(parts["value"], dtype=np.float64)[:, None, :]
        tree.__setstate__({"max_depth": int(n), "node_count": n, "nodes": nodes, "values": values})
        trees.append(tree)
    return trees


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


_TREES = {"n_features": Number(int, size="d"), **_tree_state(1)}
_COLUMNS: dict[str, Kind] = {
    "n_features_in_": Number(int, size="d"),
    "feature_names_in_": IfThere(Names("d")),
    "n_samples_seen_": _SHOWN,
}
_DIRECTIONS: dict[str, Kind] = {
    **_COLUMNS,
    "components_": Array("f8 f4", "c", "d"),
    "explained_variance_": Array("f8 f4", "c", low=0),
    "n_components_": IfThere(Number(int, size="c")),
    **_shown("explained_variance_ratio_", "singular_values_", "noise_variance_", "n_samples_", "_fit_svd_solver"),
}
_SVM: dict[str, Kind] = {
    **_COMMON,
    "classes_": Names("k", least=2),
    "kernel": Text("linear", "poly", "rbf", "sigmoid"),
    "support_": Array("i4", "v", low=0),
    "support_vectors_": Array("f8", "v", "d"),
    "_n_support": Array("i4", "k", low=0),
    **dict.fromkeys(("dual_coef_", "_dual_coef_"), Array("f8", "_", "v")),
    **dict.fromkeys(("intercept_", "_intercept_"), Array("f8", "_")),
    **dict.fromkeys(("_probA", "_probB"), Array("f8", "_")),
    **dict.fromkeys(("C", "nu", "epsilon", "_gamma"), Number(float, low=0)),
    "_sparse": Flag(only=False),
    "_effective_probability": IfThere(Flag()),
    "class_weight_": Array("f8", "k"),
    "fit_status_": Number(int, low=0, high=0),
    "shape_fit_": Plain(),
    **_shown("_num_iter", "n_iter_"),
}


def _vectors(*names: str) -> dict[str, Kind]:
    """Declare one number for each column, or None where the scaler leaves it out."""
    return dict.fromkeys(names, Maybe(Array("f8 f4", "d")))


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


def _binarize(model: Any, **options: Any) -> None:
    from sklearn.preprocessing import LabelBinarizer

    model._label_binarizer = LabelBinarizer(**options).fit(model.classes_)


def _check_layers(model: Any) -> None:
    k = len(model.classes_)
    sizes = [model.n_features_in_, *(len(part) for part in model.intercepts_)]
    if [part.shape for part in model.coefs_] != list(pairwise(sizes)) or sizes[-1] != (1 if k == 2 else k):
        raise DataError("MLPClassifier: its layers must fit together.")
    model.n_layers_, model.n_outputs_ = len(sizes), sizes[-1]
    model.out_activation_ = "logistic" if k == 2 else "softmax"
    _binarize(model)


def _loss(n_classes: int) -> Any:
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss

    return HalfBinomialLoss() if n_classes == 2 else HalfMultinomialLoss(n_classes=n_classes)


def _write_boosting(model: Any) -> dict[str, Any]:
    if model.loss != "log_loss" or type(model.init_).__name__ != "DummyClassifier":
        raise _refusal(model)
    trees = [tree.tree_ for tree in model.estimators_.ravel()]
    return {
        "prior": np.asarray(model.init_.class_prior_),
        "trees": {"n_features": int(model.n_features_in_), **_tree_arrays(trees)},
    }


def _read_boosting(model: Any) -> None:
    from sklearn.dummy import DummyClassifier
    from sklearn.tree import DecisionTreeRegressor

    k, n_features = len(model.classes_), model.n_features_in_
    per_round = 1 if k == 2 else k
    prior = vars(model).pop("prior")
    trees = _trees(vars(model).pop("trees"), n_features)
    if len(trees) % per_round:
        raise ModelFileError("it holds a forest whose trees are cut off.")
    model.estimators_ = np.empty((len(trees) // per_round, per_round), dtype=object)
    for i, grown in enumerate(trees):
        tree = DecisionTreeRegressor()
        tree.tree_, tree.n_features_in_, tree.n_outputs_ = grown, n_features, 1
        model.estimators_.flat[i] = tree
    model.init_ = DummyClassifier(strategy="prior")
    model.init_.classes_, model.init_.class_prior_ = model.classes_, prior
    model.init_.n_classes_, model.init_.n_outputs_, model.init_._strategy = k, 1, "prior"
    model.n_classes_, model.n_trees_per_iteration_ = k, per_round
    model.n_estimators_, model._loss = len(model.estimators_), _loss(k)


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
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    k = len(model.classes_)
    per_round = 1 if k == 2 else k
    predictors = []
    for parts in _split(vars(model).pop("trees"), (*_NODE_FIELDS, "value", "missing_left")):
        nodes = np.zeros(len(parts["value"]), dtype=PREDICTOR_RECORD_DTYPE)
        nodes["is_leaf"] = leaf = parts["left_child"] < 0
        nodes["left"], nodes["right"] = (np.where(leaf, 0, parts[name]) for name in _NODE_FIELDS[:2])
        nodes["feature_idx"] = np.maximum(parts["feature"], 0)
        nodes["num_threshold"], nodes["value"] = parts["threshold"], parts["value"][:, 0]
        nodes["missing_go_to_left"] = parts["missing_left"]
        no_categories = np.empty((0, 8), dtype=np.uint32)
        predictors.append(TreePredictor(nodes, no_categories, no_categories))
    if len(predictors) % per_round:
        raise ModelFileError("it holds a forest whose trees are cut off.")
    model._predictors = [predictors[i : i + per_round] for i in range(0, len(predictors), per_round)]
    model._baseline_prediction = vars(model).pop("baseline")[None, :]
    model.n_trees_per_iteration_, model._n_features = per_round, model.n_features_in_
    model._loss, model._preprocessor, model.is_categorical_ = _loss(k), None, None
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
        Completes and checks a model that was read.
    write : callable, optional
        Returns further state, made from attributes that are left out.
    """

    module: str
    state: Mapping[str, Kind]
    left_out: tuple[str, ...] = ()
    after: Callable[[Any], None] | None = None
    write: Callable[[Any], dict[str, Any]] | None = None


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
    "GradientBoostingClassifier": Foreign(
        "sklearn.ensemble",
        {
            **_COMMON,
            "classes_": Names("k", least=2),
            "loss": Text("log_loss"),
            "init": Maybe(Text("zero", "none")),  # None alone
            "prior": Array("f8", "k", low=0, high=1),
            "trees": Record(_TREES, shared=("d",)),
            **_shown("max_features_", "train_score_", "oob_improvement_", "oob_scores_", "oob_score_", "alpha"),
        },
        ("_loss", "init_", "estimators_", "_rng", "n_classes_", "n_trees_per_iteration_", "n_estimators_"),
        _read_boosting,
        _write_boosting,
    ),
    "HistGradientBoostingClassifier": Foreign(
        "sklearn.ensemble",
        {
            **_COMMON,
            "classes_": Names("k", least=2),
            "loss": Text("log_loss"),
            "trees": Record({**_TREES, "missing_left": Array("u1", "nodes", high=1)}, shared=("d",)),
            "baseline": Array("f8", "k*"),
        },
        (
            *(
                "_predictors",
                "_baseline_prediction",
                "_loss",
                "_bin_mapper",
                "_label_encoder",
                "_preprocessor",
                "_scorer",
            ),
            *("is_categorical_", "_is_categorical_remapped", "_random_seed", "_feature_subsample_rng", "_n_features"),
            *(
                "n_trees_per_iteration_",
                "do_early_stopping_",
                "_use_validation_data",
                "train_score_",
                "validation_score_",
            ),
        ),
        _read_histograms,
        _write_histograms,
    ),
    "MLPClassifier": Foreign(
        "sklearn.neural_network",
        {
            **_COMMON,
            "classes_": Names("k", least=2),
            "activation": Text("identity", "logistic", "tanh", "relu"),
            "coefs_": ListOf(Array("f8 f4", "_", "_"), "layers"),
            "intercepts_": ListOf(Array("f8 f4", "_"), "layers"),
            **_shown("loss", "n_iter_", "t_", "loss_curve_", "best_loss_", "loss_", "_no_improvement_count"),
            **_shown("validation_scores_", "best_validation_score_"),
        },
        (
            *("_label_binarizer", "_random_state", "_optimizer", "_best_coefs", "_best_intercepts"),
            *("n_layers_", "n_outputs_", "out_activation_"),
        ),
        _check_layers,
    ),
    "NuSVC": Foreign("sklearn.svm", _SVM, after=_check_svm),
    "SVC": Foreign("sklearn.svm", _SVM, after=_check_svm),
    "RidgeClassifier": Foreign(
        "sklearn.linear_model",
        {
            **_LINEAR,
            "coef_": Either(Array("f8 f4", "k*", "d"), Array("f8 f4", "d")),  # one row for two classes
            "intercept_": Either(Array("f8 f4", "k*"), Number(float)),
            "solver_": _SHOWN,
        },
        ("_label_binarizer",),
        lambda model: _binarize(model, pos_label=1, neg_label=-1),
    ),
    "Pipeline": Foreign(
        "sklearn.pipeline", {"steps": ListOf(Pair(Text(), Model(can=())), "steps")}, after=_check_pipeline
    ),
    "MaxAbsScaler": Foreign("sklearn.preprocessing", {**_COLUMNS, **_vectors("scale_", "max_abs_")}),
    "MinMaxScaler": Foreign(
        "sklearn.preprocessing",
        {**_COLUMNS, **_vectors("scale_", "min_", "data_min_", "data_max_", "data_range_")},
    ),
    "Normalizer": Foreign("sklearn.preprocessing", _COLUMNS),
    "RobustScaler": Foreign("sklearn.preprocessing", {**_COLUMNS, **_vectors("center_", "scale_")}),
    "StandardScaler": Foreign("sklearn.preprocessing", {**_COLUMNS, **_vectors("mean_", "var_", "scale_")}),
    "PCA": Foreign("sklearn.decomposition", {**_DIRECTIONS, "mean_": Array("f8 f4", "d")}),
    "TruncatedSVD": Foreign("sklearn.decomposition", _DIRECTIONS),
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


def estimator_state(model: Any) -> dict[str, Any]:
    """Return parameters and fitted attributes of an estimator of scikit-learn.

    Raises
    ------
    ModelFileError
        If its class is not in `ESTIMATORS`, or if it holds more than its declaration.

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
    state = {key: value for key, value in vars(model).items() if key not in (*foreign.left_out, *_NOT_STORED)}
    if fitted and foreign.write is not None:
        state |= foreign.write(model)
    if state.keys() - model.get_params(deep=False).keys() - foreign.state.keys():
        raise _refusal(model)
    try:
        if fitted:
            check_state(name, foreign.state, state)
    except DataError:
        raise _refusal(model) from None
    return dict(sorted(state.items()))  # versions of scikit-learn set attributes in different orders


def estimator_from(name: str, state: dict[str, Any]) -> Any:
    """Rebuild an estimator of scikit-learn; refuse what no fit could have left.

    Parameters
    ----------
    name : str
        Name of its class.
    state : dict
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
    params = {key: p.default for key, p in signature(cls.__init__).parameters.items() if key != "self"}
    state = _in_use(state, foreign)
    if unknown := state.keys() - params.keys() - foreign.state.keys():
        raise ModelFileError(f"it names an attribute {min(unknown)[:60]!r}, which no {name} has.")
    if is_fitted(state) or name == "Pipeline":
        check_state(name, foreign.state, state)
    model = cls.__new__(cls)
    vars(model).update({key: default for key, default in params.items() if default is not Parameter.empty})
    vars(model).update(state)
    model._validate_params()
    if foreign.after is not None and (is_fitted(state) or name == "Pipeline"):
        foreign.after(model)
    return model


def _in_use(state: dict[str, Any], foreign: Foreign) -> dict[str, Any]:
    # Parameters that a version of scikit-learn has deprecated hold this string.
    return {
        key: value
        for key, value in state.items()
        if key not in (*foreign.left_out, *_NOT_STORED) and not (isinstance(value, str) and value == "deprecated")
    }


def _refusal(estimator: Any) -> ModelFileError:
    return ModelFileError(
        f"save: a model file cannot hold this {type(estimator).__name__}; it holds linear models, SVMs, naive Bayes, trees, "
        "forests, gradient boosting, MLPs, scalers, PCA and pipelines of them (see handful.persistence.sklearn_models)."
    )
