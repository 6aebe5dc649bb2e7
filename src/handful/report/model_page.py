"""A model of table rows as one HTML page: what it is, what it holds, and a form that predicts in the browser."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from handful.data.files import write_text_file
from handful.errors import DataError, ParameterError, counted
from handful.models.condensed_rows import CondensedModel
from handful.models.confidence import own_shares
from handful.models.table_model import TableModel
from handful.report.html import _safe, _templates, _text
from handful.version import __version__

_MOST_CLASSES = 8  # columns of the table of weights
_MOST_WEIGHTS = 60  # lines of it
_MOST_RULES = 200  # lines of a tree
_FEW_WEIGHTS = 1_000  # of a class


def export_html(model: TableModel, path: str | Path | None = None) -> str:
    """Write a model as one HTML page that predicts in the browser, without network.

    Parameters
    ----------
    model : TableModel
        A condensed model (`handful.condense_model`), or one with a linear method, a decision tree or a forest. Text columns
        must be words (``text="words"``).
    path : str or Path, optional
        File to write.

    Returns
    -------
    str
        The page: a model card, the rows, weights or rules, and a form for one row or pasted CSV.

    Raises
    ------
    ParameterError
        If the browser cannot compute what the model predicts, as that of an ensemble.

    Notes
    -----
    The browser reads cells as Python does and predicts the same label. The content security policy of the page allows its
    own script and no connection. The page shows the cells of condensed rows, the categories, and the words that have a weight.

    Examples
    --------
    >>> rows = {"size": [1.0, 2.0, 8.0, 9.0], "color": ["red", "red", "blue", "blue"]}
    >>> page = export_html(TableModel("logistic-regression").fit(rows, ["small", "small", "large", "large"]))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 30_000
    (True, True)
    """
    if not isinstance(model, TableModel):
        raise ParameterError(
            f"export_html: {type(model).__name__} is no model of table rows. Use one that fit returns."
        )
    data = _payload(model)
    style, script = _text("style.css") + _text("model.css"), _text("model.js")
    page: str = (
        _templates()
        .get_template("model.html")
        .render(
            title=_title(model),
            classes=[str(name) for name in model.classes_.tolist()],
            card=_card(model),
            limits=_limits(model),
            columns=list(_fields(model, data)),
            table=_content(model, data),
            data=_safe(_json(data)),
            style=_safe(style),
            script=_safe(script),
            policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            version=__version__,
        )
    )
    if path is not None:
        with write_text_file(Path(path)) as file:
            file.write(page)
    return page


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """Return JSON that no cell can end or leave: nothing in it is markup."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise DataError("export_html: the model holds numbers that are infinite or missing.") from None
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


# -- what the browser computes with -----------------------------------------------------------------------------------


def _payload(model: TableModel) -> dict[str, Any]:
    """Return all numbers that a prediction needs."""
    confidence = model._confidence
    known = confidence is None or confidence.near is None
    return {
        "classes": [str(name) for name in model.classes_.tolist()],
        "columns": [_column(name, column) for name, column in model.columns_.items()],
        "model": _model(model),
        "shift": None if model.shift_ is None else (model.shift_ - model.shift_.max()).tolist(),
        "own": confidence is None or confidence.is_calibrated,
        "confidence": {name: getattr(confidence, name) for name in ("slope", "offset", "few", "n_held")}
        if confidence is not None and known
        else None,
    }


def _column(name: str, column: dict[str, Any]) -> dict[str, Any]:
    if column.get("view", "words") != "words":
        raise ParameterError(
            f"export_html: column {name!r} is read as LSA components or embeddings, which a page cannot compute. "
            'Fit with text="words" (--text words).'
        )
    if "steps" in column:
        raise ParameterError(f"export_html: column {name!r} is of a file of version 0.1. Fit the model again.")
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in column.items()}
    return {**plain, "name": name}


def _model(model: TableModel) -> dict[str, Any]:
    estimator = model.estimator_
    if not hasattr(estimator, "estimators_"):
        estimator = getattr(estimator, "estimator_", estimator)  # what self-training has fitted
    codes = np.asarray(estimator.classes_).astype(int).tolist()
    if isinstance(model, CondensedModel):
        return {
            "kind": "rows",
            "codes": estimator.classes_[estimator.codes_].tolist(),
            "rows": [_sparse(row) for row in estimator.rows_],
            "weights": estimator.weights_.tolist(),
            "temperature": float(estimator.temperature_),
            "numbers": (model.kept_ + 1).tolist(),
            "cells": list(model.cells_.values()),
        }
    grown = _trees(model, estimator)
    if grown:
        return {"kind": "trees", "codes": codes, "trees": grown}
    linear = _linear(estimator, model._encoder.width)
    if linear is None:
        raise ParameterError(
            f"export_html: a page cannot compute what {model.method_name} predicts. Condense the model to rows "
            "(handful condense), or fit a linear model or a tree."
        )
    weights, intercept = linear
    return {"kind": "linear", "codes": codes, "weights": _short(weights), "intercept": intercept.tolist()}


def _short(numbers: np.ndarray) -> list[list[float]]:
    """Return numbers with ten digits, or five where there are many words: a megabyte less."""
    digits = 10 if numbers.shape[1] <= _FEW_WEIGHTS else 5
    return [[float(f"{number:.{digits}g}") for number in line] for line in numbers.tolist()]


def _sparse(row: np.ndarray) -> list[float]:
    """Return positions and numbers of a row in turn."""
    return [part for at in np.flatnonzero(row).tolist() for part in (at, float(row[at]))]


def _trees(model: TableModel, estimator: Any) -> list[dict[str, Any]]:
    """Return the trees whose mean a classifier predicts; a single one with its splits in words."""
    trees = [estimator] if hasattr(estimator, "tree_") else getattr(estimator, "estimators_", [])
    if not all(hasattr(tree, "tree_") for tree in trees) or hasattr(estimator, "init_"):  # boosting adds trees up
        return []
    grown = [_tree(tree.tree_) for tree in trees]
    if len(grown) == 1:
        nodes = zip(grown[0]["feature"], grown[0]["threshold"], strict=True)
        grown[0]["words"] = [_conditions(model, *node) if node[0] >= 0 else None for node in nodes]
    return grown


def _tree(tree: Any) -> dict[str, Any]:
    """Return nodes: the column of a split or -1, its threshold, both branches; a leaf has its class, or its shares."""
    leaf = tree.children_left < 0
    values = [
        (int(shares.argmax()) if shares.max() == 1.0 else shares.tolist()) if is_leaf else 0
        for shares, is_leaf in zip(tree.value[:, 0, :], leaf.tolist(), strict=True)
    ]
    return {
        "feature": np.where(leaf, -1, tree.feature).tolist(),
        "threshold": np.where(leaf, 0.0, tree.threshold).tolist(),
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        "value": values,
    }


def _linear(estimator: Any, width: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return weights and intercepts whose softmax is what a classifier predicts, None where it is not linear."""
    if hasattr(estimator, "coef_"):
        weights, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    elif hasattr(estimator, "weights_") and hasattr(estimator, "intercept_") and hasattr(estimator, "scale_"):
        weights, intercept = estimator.scale_ * estimator.weights_.T, estimator.scale_ * estimator.intercept_
    else:
        return None
    if len(weights) == 1:
        weights, intercept = np.vstack([np.zeros_like(weights), weights]), np.append(0.0, intercept)
    if weights.shape != (len(estimator.classes_), width):
        return None
    rows = np.random.default_rng(0).normal(size=(8, width))
    same = np.allclose(softmax(rows @ weights.T + intercept, axis=1), own_shares(estimator, rows), atol=1e-9)
    return (weights, intercept) if same else None


# -- what people read -------------------------------------------------------------------------------------------------


def _title(model: TableModel) -> str:
    target = model.training_.get("target")
    return f"Predict {target}" if target else "A model of table rows"


def _card(model: TableModel) -> list[tuple[str, str]]:
    training = model.training_
    method = f"{len(model.kept_)} rows" if isinstance(model, CondensedModel) else model.method_name
    if "condensed from" in training:
        method += f" that predict what another model ({training['condensed from']}) predicts"
    rows = "" if isinstance(model, CondensedModel) else f"{counted(model.n_labeled_, 'labeled row')}"
    rows += f" and {model.n_unlabeled_:,} unlabeled ones" if rows and model.n_unlabeled_ else ""
    card = [
        ("Predicts", ", ".join(str(name) for name in model.classes_.tolist())),
        ("Model", method),
        ("Data", ", ".join(part for part in (str(training.get("data", "")), rows) if part)),
        ("Accuracy", _estimate(training.get("estimate"), "of labels that the model did not see")),
        ("Fidelity", _estimate(training.get("fidelity"), "of rows get the prediction of the other model")),
        ("Command", str(training.get("command", ""))),
    ]
    return [(name, text) for name, text in card if text]


def _estimate(part: Any, of_what: str) -> str:
    if not isinstance(part, dict) or part.get("metric") not in (None, "accuracy"):
        return "" if not isinstance(part, dict) else f"{part['metric']} {part['value']:.3f}"
    digits = 0 if part.get("n", 100) < 100 else 1
    low, high = (100 * part.get(name, float("nan")) for name in ("low", "high"))
    n = f", n = {part['n']:,}" if "n" in part else ""
    return f"{100 * part['value']:.{digits}f}% {of_what} (95% interval {low:.0f}\N{EN DASH}{high:.0f}%{n})"


def _limits(model: TableModel) -> list[str]:
    """Return when not to use the model."""
    names = [str(name) for name in model.classes_.tolist()]
    limits = [
        "Rows from another source, period or population than the data above: the accuracy may be lower.",
        f"Rows of another class: the model always predicts one of its {len(names)} classes.",
    ]
    estimate = model.training_.get("estimate")
    if isinstance(estimate, dict) and estimate.get("metric") == "accuracy":
        wrong = f"{100 * (1 - estimate['value']):.0f}%"
        limits.append(f"Decisions about people or money without a check: about {wrong} of predictions are wrong.")
    else:
        limits.append("Decisions that need a known accuracy: the file of this model holds no estimate.")
    return limits


def _fields(model: TableModel, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of the form, filled with the first row or with usual values."""
    firsts = [cells[0] for cells in model.cells_.values()] if isinstance(model, CondensedModel) else None
    for at, column in enumerate(data["columns"]):
        kind = column["kind"]
        value = firsts[at] if firsts else None
        if firsts is None and kind == "numeric":
            value = f"{column['center']:.4g}".replace(".", column.get("decimal", "."))
        elif firsts is None and kind == "categorical" and column["values"]:
            value = column["values"][0]
        yield {
            "name": column["name"],
            "kind": kind,
            "value": value or "",
            "values": column.get("values", []),
            "hint": _format_hint(column.get("date_format")) if kind == "datetime" else "",
        }


def _format_hint(date_format: str | None) -> str:
    hint = date_format or "%Y-%m-%d"
    for sign, word in (("%Y", "YYYY"), ("%m", "MM"), ("%d", "DD"), ("%b", "Mon"), ("%H", "HH"), ("%M", "MM")):
        hint = hint.replace(sign, word)
    return hint


def _content(model: TableModel, data: dict[str, Any]) -> dict[str, Any]:
    """Return the rows, weights or rules as the template shows them."""
    kind, names = data["model"]["kind"], model._encoder.names
    if isinstance(model, CondensedModel):
        rows = model.rows()
        lines = [["" if cell is None else str(cell) for cell in row] for row in rows.iter_rows()]
        note = "A new row gets the prediction of the nearest of these rows. “Covers” counts the rows that each is nearest to."
        return {"title": f"The {len(lines)} rows", "note": note, "head": rows.columns, "lines": lines}
    if kind == "linear":
        return _weights(data, [name.replace("~", ": ", 1) for name in names])
    trees = data["model"]["trees"]
    if len(trees) == 1:
        rules = list(_rules(trees[0], data, 0, 0))
        more = [f"… {len(rules) - _MOST_RULES} more lines"] if len(rules) > _MOST_RULES else []
        return {"title": "The tree", "note": "", "rules": "\n".join([*rules[:_MOST_RULES], *more])}
    counts = np.bincount([at for tree in trees for at in tree["feature"] if at >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:_MOST_WEIGHTS]
    lines = [[names[at], f"{counts[at]:,}"] for at in order.tolist() if counts[at]]
    note = f"The mean of {len(trees)} trees. The table counts how often they ask for each column."
    return {"title": "The trees", "note": note, "head": ["column", "splits"], "lines": lines}


def _weights(data: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    weights = np.array(data["model"]["weights"])
    weights = weights - weights.mean(axis=0)
    classes = np.argsort(-np.abs(weights).max(axis=1), kind="stable")[:_MOST_CLASSES]
    order = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:_MOST_WEIGHTS].tolist()
    shown = sorted(classes.tolist())
    head = ["column", *(data["classes"][data["model"]["codes"][at]] for at in shown)]
    lines = [[names[j], *(f"{weights[at, j]:+.2f}".replace("-", "\N{MINUS SIGN}") for at in shown)] for j in order]
    note = "A positive weight is for the class, a negative one against it. Numbers are in standard deviations from the mean."
    if len(names) > len(lines):
        note += f" The {len(lines)} largest of {len(names):,} are shown."
    return {"title": "The weights", "note": note, "head": head, "lines": lines}


def _rules(tree: dict[str, Any], data: dict[str, Any], at: int, depth: int) -> Iterator[str]:
    """Yield a tree as indented lines."""
    indent = "    " * depth
    if tree["feature"][at] < 0:
        shares = np.eye(len(data["model"]["codes"]))[value] if isinstance(value := tree["value"][at], int) else value
        best = int(np.argmax(shares))
        yield f"{indent}→ {data['classes'][data['model']['codes'][best]]} ({100 * float(shares[best]):.0f}%)"
        return
    low, high = tree["words"][at]
    yield f"{indent}if {low}"
    yield from _rules(tree, data, tree["left"][at], depth + 1)
    yield f"{indent}if {high}"
    yield from _rules(tree, data, tree["right"][at], depth + 1)


def _conditions(model: TableModel, feature: int, threshold: float) -> tuple[str, str]:
    """Return both sides of a split in the words of the data."""
    name = model._encoder.names[feature]
    column = model.columns_.get(name)
    if column is not None and column["kind"] == "numeric":
        value = f"{threshold * column['scale'] + column['center']:.6g}"
        return f"{name} ≤ {value}", f"{name} > {value}"
    if "=" in name and ": " not in name:
        owner, _, value = name.partition("=")
        return f"{owner} is not {value}", f"{owner} is {value}"
    if "~" in name:
        owner, _, value = name.partition("~")
        return f"{owner} has little or no “{value}”", f"{owner} has “{value}”"
    return f"{name} ≤ {threshold:.3g} (scaled)", f"{name} > {threshold:.3g} (scaled)"
