"""What is inside a model: method, classes, kept rows, top features, size, and how it was trained."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from handful.errors import counted
from handful.models.table_model import TableModel
from handful.persistence.model_file import load
from handful.registry import spec_of

_MOST_CLASSES = 20
_MOST_COLUMNS = 30
_MOST_WORDS = 12
_MOST_ASKED = 2_000


def inspect_model(path: str | os.PathLike[str], *, top: int = 8) -> dict[str, Any]:
    """Return what a model file holds, for people.

    Parameters
    ----------
    path : path-like
        The file.
    top : int
        Features to list for each class.

    Returns
    -------
    dict of str to value
        Names in words; values are numbers, strings, lists and dictionaries of these.
    """
    return {"file": os.fspath(path), "size in bytes": os.path.getsize(path), **facts_of(load(path), top)}


def facts_of(model: Any, top: int = 8) -> dict[str, Any]:
    """Return what a model holds, for people; see `inspect_model`."""
    spec = spec_of(type(model))
    kind = spec.name if spec is not None else type(model).__name__
    return {"kind": kind, **(_table_facts(model, top) if isinstance(model, TableModel) else _facts(model, top, None))}


def _table_facts(model: TableModel, top: int) -> dict[str, Any]:
    columns = {}
    for name, column in list(model.columns_.items())[:_MOST_COLUMNS]:
        if column["kind"] == "numeric":
            columns[name] = _numbers(column)
        elif column["kind"] == "categorical":
            columns[name] = _values(column)
        elif column["kind"] == "datetime":
            columns[name] = f"datetime ({', '.join(column['parts'])})"
        else:
            columns[name] = f"text, {counted(len(column['words']), 'word')} ({', '.join(_frequent(column))})"
            if "encoder" in column:
                columns[name] += f", vectors of {column['encoder']['name']} ({column['encoder']['hash']})"
    if len(model.columns_) > _MOST_COLUMNS:
        columns["..."] = f"{len(model.columns_) - _MOST_COLUMNS} more"
    return {
        "method": model.method_name,
        "classes": _some(model.classes_),
        "labeled rows": model.n_labeled_,
        "unlabeled rows": model.n_unlabeled_,
        "columns": columns,
        **_facts(model.estimator_, top, model),
        **{f"words of {name} by class": words for name, words in _words_by_class(model, top).items()},
        "how it was trained": model.training_,
    }


def _values(column: Any) -> str:
    if "steps" in column:
        steps = ", ".join(step.split("|")[0] for step in column["steps"])
        return f"scale ({steps}), {counted(len(column['values']), 'value')}"
    return f"categorical, {counted(len(column['values']), 'value')} ({', '.join(column['values'][:5])})"


def _numbers(column: Any) -> str:
    sign = " (decimal commas)" if column.get("decimal") == "," else ""
    return f"numeric{sign}, mean {column['center']:.4g}, spread {column['scale']:.4g}"


def _frequent(column: Any, most: int = _MOST_WORDS) -> list[str]:
    """Return the most frequent words of a text column: those of the least weight."""
    weights = column["weights"] if "weights" in column else column["word_weights"]
    return [str(column["words"][j]) for j in np.argsort(np.asarray(weights), kind="stable")[:most]]


def _words_by_class(model: TableModel, top: int) -> dict[str, dict[str, list[str]]]:
    """Return, for each text column, the words that speak most for each class: what the model says of a word alone."""
    import polars as pl

    if not hasattr(model.estimator_, "predict_proba"):
        return {}
    by_column = {}
    for name, column in model.columns_.items():
        words = [word for word in _frequent(column, _MOST_ASKED) if " " not in word] if column["kind"] == "text" else []
        if not words:
            continue
        others = {other: pl.Series([None] * len(words), dtype=pl.String) for other in model.columns_}
        shares = model.own_proba(pl.DataFrame({**others, name: words}))
        lead = shares - shares.mean(axis=0)
        by_column[name] = {
            str(label): [f"{words[j]} {shares[j, code]:.2f}" for j in _highest(lead[:, code], top)]
            for code, label in enumerate(model.classes_[:_MOST_CLASSES])
        }
    return by_column


def _highest(values: np.ndarray, top: int) -> list[int]:
    return [j for j in np.argsort(-values, kind="stable")[:top].tolist() if values[j] > 0]


def _facts(model: Any, top: int, table: TableModel | None) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if hasattr(model, "get_params"):
        plain = {k: v for k, v in model.get_params(deep=False).items() if isinstance(v, int | float | str)}
        facts["parameters"] = {name: value for name, value in plain.items() if value != "deprecated"}
    facts |= _kept_rows(model, top, table)
    facts |= _own_facts(model, top) if table is None else _linear_facts(model, top, table)
    if getattr(model, "prototypes", None):
        facts["prototypes"] = {str(k): list(v) for k, v in model.prototypes.items()}
    return facts | _sizes(model)


def _kept_rows(model: Any, top: int, table: TableModel | None) -> dict[str, Any]:
    """Return how many rows a model keeps, which ones, and of which classes."""
    facts: dict[str, Any] = {}
    if hasattr(model, "kept_"):
        # Rows of the table; a method numbers those that it saw.
        kept, seen = np.asarray(getattr(table, "kept_", model.kept_)), getattr(table, "rows_", None)
        kept = kept if seen is None else seen[kept]
        facts = {"rows kept": len(kept), "first of them": (kept[:top] + 1).tolist()}
    if hasattr(model, "stored_codes_"):
        names, codes = model.classes_, model.stored_codes_
        if table is not None:  # whose classes are the codes of the model inside
            names, codes = table.classes_, np.asarray(names)[codes]
        counts = np.bincount(codes.astype(np.int64), minlength=len(names))
        facts["rows kept by class"] = {str(n): int(c) for n, c in zip(names[:_MOST_CLASSES], counts, strict=False)}
    return facts


def _linear_facts(model: Any, top: int, table: TableModel) -> dict[str, Any]:
    linear = getattr(model, "estimator_", model)
    features = _top_features(linear, table, top) if hasattr(linear, "coef_") else {}
    return {"top features": features} if any(features.values()) else {}


def _own_facts(model: Any, top: int) -> dict[str, Any]:
    """Return classes, features and training of a single model."""
    facts: dict[str, Any] = {}
    if hasattr(model, "classes_"):
        facts["classes"] = _some(np.asarray(model.classes_))
    if hasattr(model, "top_features"):
        facts["top features"] = _weighted(model, top)
    if getattr(model, "training_", None):
        facts["how it was trained"] = dict(model.training_)
    return facts


def _weighted(model: Any, top: int) -> Any:
    def told(*asked: Any) -> list[str]:
        return [f"{name} {weight:+.2f}" for name, weight in model.top_features(*asked)]

    if not hasattr(model, "classes_"):
        return told(top)
    return {str(label): told(label, top) for label in np.asarray(model.classes_)[:_MOST_CLASSES].tolist()}


def _sizes(model: Any) -> dict[str, Any]:
    """Return single numbers that training left, and the shapes of arrays."""
    facts: dict[str, Any] = {}
    for name in ("n_active_", "n_components_", "threshold_", "n_iter_", "objective_"):
        if hasattr(model, name) and np.ndim(getattr(model, name)) == 0:
            facts[name.strip("_").replace("_", " ")] = _plain(getattr(model, name))
    arrays = {n: v.shape for n, v in vars(model).items() if isinstance(v, np.ndarray) and not n.startswith("_")}
    return {**facts, "arrays": {name: " x ".join(map(str, shape)) for name, shape in arrays.items()}}


def _top_features(linear: Any, table: TableModel, top: int) -> dict[str, list[str]]:
    from handful.preprocessing.table_encoder import TableEncoder

    encoder = TableEncoder(table.columns_)
    names = encoder.names
    hidden = np.zeros(len(names), dtype=bool)  # directions of vectors, which tell people nothing
    for column in encoder.vector_columns:
        hidden[encoder.places(column)] = True
    weights = np.atleast_2d(linear.coef_)
    if len(weights) == 1:
        weights = np.vstack([-weights, weights])
    top_of = {}
    for code, line in list(zip(np.asarray(linear.classes_).astype(int), weights, strict=True))[:_MOST_CLASSES]:
        order = np.argsort(np.where(hidden, 0.0, -line), kind="stable")[:top]
        top_of[str(table.classes_[code])] = [
            f"{names[j]} {line[j]:+.2f}" for j in order if line[j] > 0 and not hidden[j]
        ]
    return top_of


def _some(labels: np.ndarray) -> list[str]:
    shown = [str(label) for label in labels[:_MOST_CLASSES].tolist()]
    return shown if len(labels) <= _MOST_CLASSES else [*shown, f"and {len(labels) - _MOST_CLASSES} more"]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
