"""Forests of scikit-learn as plain arrays, and back.

A tree is nodes in the order in which they were grown, so that a child always stands behind its parent: with features and
children in range, walking down ends at a leaf, and a file can do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from handful.core.errors import ModelFileError
from handful.core.schema import Array, Kind, Names, Number, Plain, check_state

# A forest, and the module and name of its trees.
FORESTS = {
    "ExtraTreesClassifier": ("sklearn.ensemble", "sklearn.tree", "ExtraTreeClassifier"),
    "RandomForestClassifier": ("sklearn.ensemble", "sklearn.tree", "DecisionTreeClassifier"),
}
_NODE_FIELDS = ("left_child", "right_child", "feature", "threshold")

STATE: dict[str, Kind] = {
    "params": Plain(),
    "classes": Names("k"),
    "n_features": Number(int, size="d", high=2**31 - 1),
    "sizes": Array("i8", "trees", low=1, below="nodes+1"),
    "value": Array("f8", "nodes", "k"),
    "left_child": Array("i8", "nodes", below="nodes", low=-1),
    "right_child": Array("i8", "nodes", below="nodes", low=-1),
    "feature": Array("i8", "nodes", below="d", low=-2),
    "threshold": Array("f8", "nodes"),
}


def forest_state(forest: Any) -> dict[str, Any]:
    """Return parameters and trees of a fitted forest as plain values and arrays.

    Parameters
    ----------
    forest : ExtraTreesClassifier or RandomForestClassifier
        Fitted to one target, or not fitted.

    Returns
    -------
    dict of str to value
        For `forest_from`.
    """
    params = {name: value for name, value in forest.get_params(deep=False).items() if not hasattr(value, "fit")}
    if not hasattr(forest, "estimators_"):
        return {"params": params}
    trees = [estimator.tree_ for estimator in forest.estimators_]
    nodes = [tree.__getstate__()["nodes"] for tree in trees]
    return {
        "params": params,
        "classes": np.asarray(forest.classes_),
        "n_features": int(forest.n_features_in_),
        "sizes": np.array([len(part) for part in nodes], dtype=np.int64),
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]),
        **{name: np.concatenate([part[name] for part in nodes]) for name in _NODE_FIELDS},
    }


def forest_from(name: str, state: Mapping[str, Any]) -> Any:
    """Bring a forest back, refusing what could not have been grown.

    Parameters
    ----------
    name : str
        Name of the forest's class, one of `FORESTS`.
    state : mapping
        What `forest_state` returned.

    Returns
    -------
    estimator
        The fitted forest.
    """
    from importlib import import_module

    check_state(name, STATE if len(state) > 1 else {"params": STATE["params"]}, state)
    home, tree_home, tree_name = FORESTS[name]
    # How many threads and how many words on the screen is not for a file to say.
    forest = getattr(import_module(home), name)(**{**state["params"], "n_jobs": None, "verbose": 0})
    forest._validate_params()
    if len(state) == 1:
        return forest
    tree_class = getattr(import_module(tree_home), tree_name)
    classes, n_features = state["classes"], state["n_features"]
    bounds = np.concatenate([[0], np.cumsum(state["sizes"])]).tolist()
    if bounds[-1] != len(state["value"]):
        raise ModelFileError("it holds a forest whose trees are cut off.")
    forest.classes_, forest.n_classes_, forest.n_outputs_ = classes, len(classes), 1
    forest.n_features_in_ = n_features
    forest.estimators_ = []
    for start, stop in pairwise(bounds):
        tree = tree_class()
        tree.tree_ = _tree({part: state[part][start:stop] for part in (*_NODE_FIELDS, "value")}, n_features)
        tree.n_features_in_, tree.n_outputs_ = n_features, 1
        tree.classes_, tree.n_classes_ = np.arange(len(classes)), np.int64(len(classes))
        forest.estimators_.append(tree)
    forest.n_estimators = len(forest.estimators_)
    return forest


def _tree(parts: Mapping[str, np.ndarray], n_features: int) -> Any:
    from sklearn.tree._tree import Tree

    n, n_classes = parts["value"].shape
    left, right, feature = (np.asarray(parts[name], dtype=np.int64) for name in _NODE_FIELDS[:3])
    inner = left >= 0
    at = np.arange(n)
    grown = (
        (left[inner] > at[inner]).all()
        and (right[inner] > at[inner]).all()
        and (left < n).all()
        and (right < n).all()
        and (right[~inner] < 0).all()
        and ((feature[inner] >= 0) & (feature[inner] < n_features)).all()
    )
    if not grown:
        raise ModelFileError("it holds a tree that could not have been grown.")
    tree = Tree(n_features, np.array([n_classes], dtype=np.intp), 1)
    nodes = np.zeros(n, dtype=tree.__getstate__()["nodes"].dtype)
    for name in _NODE_FIELDS:
        nodes[name] = parts[name]
    # Leaves are marked as scikit-learn marks them; what is left of training (impurity, sizes) is of no use to answers.
    nodes["n_node_samples"], nodes["weighted_n_node_samples"] = 1, 1.0
    values = np.ascontiguousarray(parts["value"], dtype=np.float64)[:, None, :]
    tree.__setstate__({"max_depth": int(n), "node_count": n, "nodes": nodes, "values": values})
    return tree
