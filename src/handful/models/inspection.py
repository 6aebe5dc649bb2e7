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
    model = load(path)
    return {"file": os.fspath(path), "size in bytes": os.path.getsize(path), **facts_of(model, top)}


def facts_of(model: Any, top: int = 8) -> dict[str, Any]:
    """Return what a model holds, for people; see `inspect_model`."""
    spec = spec_of(type(model))
    facts: dict[str, Any] = {"kind": spec.name if spec is not None else type(model).__name__}
    if isinstance(model, TableModel):
        return {**facts, **_table_facts(model, top)}
    if hasattr(model, "classes_"):
        facts["classes"] = _some(np.asarray(model.classes_))
    facts |= _parameters(model)
    if hasattr(model, "kept_"):
        facts |= _kept_rows(model.kept_, top)
    if hasattr(model, "top_features"):
        facts["top features"] = _top_features_of(model, top)
    if getattr(model, "prototypes", None):
        facts["prototypes"] = {str(k): list(v) for k, v in model.prototypes.items()}
    if getattr(model, "training_", None):
        facts["how it was trained"] = dict(model.training_)
    return facts


def _parameters(model: Any) -> dict[str, Any]:
    if not hasattr(model, "get_params"):
        return {}
    plain = {k: v for k, v in model.get_params(deep=False).items() if isinstance(v, int | float | str)}
    return {"parameters": {name: value for name, value in plain.items() if value != "deprecated"}}


def _kept_rows(rows: Any, top: int) -> dict[str, Any]:
    return {"rows kept": len(rows), "first of them": (np.asarray(rows)[:top] + 1).tolist()}


def _top_features_of(model: Any, top: int) -> Any:
    def shown(*which: Any) -> list[str]:
        return [f"{name} {weight:+.2f}" for name, weight in model.top_features(*which)]

    if not hasattr(model, "classes_"):
        return shown(top)
    return {str(label): shown(label, top) for label in np.asarray(model.classes_)[:_MOST_CLASSES].tolist()}


def _table_facts(model: TableModel, top: int) -> dict[str, Any]:
    columns = {name: _described(column) for name, column in list(model.columns_.items())[:_MOST_COLUMNS]}
    if len(model.columns_) > _MOST_COLUMNS:
        columns["..."] = f"{len(model.columns_) - _MOST_COLUMNS} more"
    facts = {
        "method": model.method_name,
        "classes": _some(model.classes_),
        "labeled rows": model.n_labeled_,
        "unlabeled rows": model.n_unlabeled_,
        "columns": columns,
        **_parameters(model.estimator_),
    }
    inner, seen = model.estimator_, getattr(model, "rows_", None)
    if hasattr(inner, "kept_"):  # numbers of the rows that the method saw
        kept = np.asarray(getattr(model, "kept_", inner.kept_))
        facts |= _kept_rows(kept if seen is None else seen[kept], top)
    if hasattr(inner, "stored_codes_"):
        counts = np.bincount(np.asarray(inner.classes_)[inner.stored_codes_].astype(np.int64))
        facts["rows kept by class"] = dict(zip(map(str, model.classes_[:_MOST_CLASSES]), counts.tolist(), strict=False))
    linear = getattr(inner, "estimator_", inner)
    if hasattr(linear, "coef_") and any((features := _linear_features(linear, model, top)).values()):
        facts["top features"] = features
    facts |= {f"words of {name} by class": words for name, words in _words_by_class(model, top).items()}
    return {**facts, "how it was trained": model.training_}


def _described(column: Any) -> str:
    kind = column["kind"]
    if kind == "numeric":
        sign = " (decimal commas)" if column.get("decimal") == "," else ""
        return f"numeric{sign}, mean {column['center']:.4g}, spread {column['scale']:.4g}"
    if kind == "datetime":
        return f"datetime ({', '.join(column['parts'])})"
    if kind == "text":
        text = f"text, {counted(len(column['words']), 'word')} ({', '.join(_frequent(column, _MOST_WORDS))})"
        mark = column.get("encoder")
        return text if mark is None else f"{text}, vectors of {mark['name']} ({mark['hash']})"
    values = counted(len(column["values"]), "value")
    if "steps" in column:
        return f"scale ({', '.join(step.split('|')[0] for step in column['steps'])}), {values}"
    return f"categorical, {values} ({', '.join(column['values'][:5])})"


def _frequent(column: Any, most: int) -> list[str]:
    """Return the most frequent words of a text column: those of the least weight."""
    weights = column["weights"] if "weights" in column else column["word_weights"]
    return [str(column["words"][j]) for j in np.argsort(np.asarray(weights), kind="stable")[:most]]


def _words_by_class(model: TableModel, top: int) -> dict[str, dict[str, list[str]]]:
    """Return, for each text column, the words that support each class most: what the model predicts for a word alone."""
    import polars as pl

    by_column = {}
    texts = model.columns_.items() if hasattr(model.estimator_, "predict_proba") else ()
    for name, column in ((name, column) for name, column in texts if column["kind"] == "text"):
        words = [word for word in _frequent(column, _MOST_ASKED) if " " not in word]
        if not words:
            continue
        others = {other: pl.Series([None] * len(words), dtype=pl.String) for other in model.columns_}
        proba = model.own_proba(pl.DataFrame({**others, name: words}))
        lead = proba - proba.mean(axis=0)
        by_column[name] = {
            str(label): [f"{words[j]} {proba[j, code]:.2f}" for j in _highest(lead[:, code], top)]
            for code, label in enumerate(model.classes_[:_MOST_CLASSES])
        }
    return by_column


def _linear_features(linear: Any, table: TableModel, top: int) -> dict[str, list[str]]:
    encoder = table._encoder
    weights = np.atleast_2d(linear.coef_)
    weights = np.vstack([-weights[0], weights[0]]) if len(weights) == 1 else weights.copy()
    for column in encoder.vector_columns:  # components of vectors tell people nothing
        weights[:, encoder.places(column)] = 0.0
    return {
        str(table.classes_[code]): [f"{encoder.names[j]} {line[j]:+.2f}" for j in _highest(line, top)]
        for code, line in list(zip(np.asarray(linear.classes_).astype(int), weights, strict=True))[:_MOST_CLASSES]
    }


def _highest(values: np.ndarray, top: int) -> list[int]:
    return [j for j in np.argsort(-values, kind="stable")[:top].tolist() if values[j] > 0]


def _some(labels: np.ndarray) -> list[str]:
    shown = [str(label) for label in labels[:_MOST_CLASSES].tolist()]
    return shown if len(labels) <= _MOST_CLASSES else [*shown, f"and {len(labels) - _MOST_CLASSES} more"]
