"""Why a model for tables gave a row its label: cells and words that speak, deciding rows, and where labels come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.errors import DataError
from handful.core.explanation import WHOLE, Evidence, Explanation, NearRow

if TYPE_CHECKING:
    import polars as pl

    from handful.features.tables import TableEncoder
    from handful.methods.table_model import TableModel

_MOST = 10
_MOST_WORDS = 60
_LEFT_OUT = "change of the answer's probability when it is left out"
_WEIGHTS = (
    "weight times value, for the answer rather than the runner-up; of a word or text, what leaving it out takes away"
)
_SHOWN_WORDS = 6
_FAINT = 0.25  # words of less than this part of the strongest are noise of the directions


def explain_row(model: TableModel, frame: pl.DataFrame, encoder: TableEncoder) -> Explanation:
    """Explain the answer for one row.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    frame : polars.DataFrame
        One row.
    encoder : TableEncoder
        The model's encoder.

    Returns
    -------
    Explanation
        Linear models show weights; others what leaving out a cell or word changes. Models that vote by nearness add the
        deciding rows.
    """
    if frame.height != 1:
        raise DataError(f"explain: one row is needed, got {frame.height}.")
    labels, sure = model.predict_with_confidence(frame)
    label, confidence = labels[:1].tolist()[0], None if np.isnan(sure[0]) else float(sure[0])
    runner_up = _runner_up(model, frame, label)
    linear = _linear(model)
    evidence: list[Evidence] = []
    how = _WEIGHTS
    if linear is not None and runner_up is not None:
        evidence = _weights(linear, model, encoder, frame, label, runner_up)
    elif hasattr(model.estimator_, "predict_proba"):
        evidence, how = _left_out(model, frame, encoder, label), _LEFT_OUT
    evidence.sort(key=lambda item: (-abs(item.weight), item.what))
    return Explanation(label, confidence, runner_up, tuple(evidence[:_MOST]), how, _near(model, frame, encoder))


def _runner_up(model: TableModel, frame: pl.DataFrame, label: Any) -> Any:
    if not hasattr(model.estimator_, "predict_proba"):
        return None
    ranked = model.classes_[np.argsort(-model.predict_proba(frame)[0], kind="stable")].tolist()
    return next((other for other in ranked if other != label), None)


def _linear(model: TableModel) -> Any:
    """Return the linear classifier inside, if the whole answer is its own."""
    inner = model.estimator_
    inner = getattr(inner, "estimator_", inner)
    known = hasattr(inner, "coef_") and hasattr(inner, "classes_")
    return inner if known and not hasattr(model.estimator_, "estimators_") else None


def _weights(
    linear: Any, model: TableModel, encoder: TableEncoder, frame: pl.DataFrame, label: Any, runner_up: Any
) -> list[Evidence]:
    """Return weight times value of cells and words; a word inside a vector of its text counts by what it adds."""
    import polars as pl

    lines = np.atleast_2d(linear.coef_)
    lines = np.vstack([-lines[0], lines[0]]) if len(lines) == 1 else lines
    place = {model.classes_[int(code)].item(): at for at, code in enumerate(linear.classes_)}
    lead = lines[place[label]] - lines[place[runner_up]]
    without = [(name, other) for column in encoder.vector_columns for name, other in _without_words(frame, column)]
    encoded = encoder.transform(pl.concat([frame, *(other for _, other in without)]))
    values = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded)
    scores = values @ lead
    evidence = [Evidence(name, float(scores[0] - score)) for (name, _), score in zip(without, scores[1:], strict=True)]
    inside = np.zeros(len(lead), dtype=bool)
    for column in encoder.vector_columns:
        inside[encoder.places(column)] = True
    parts = np.where(inside, 0.0, values[0] * lead)
    names = encoder.names
    evidence += [Evidence(_named(names[j], encoder, frame), float(parts[j])) for j in np.flatnonzero(parts)]
    return [item for item in evidence if item.weight]


def _named(name: str, encoder: TableEncoder, frame: pl.DataFrame) -> str:
    return f"{name} = {frame[name][0]}" if encoder.kinds.get(name) == "numeric" else name.replace("~", ": ", 1)


def _without_words(frame: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    """Return the row without each word of a text, by the word's name, and without the whole text if it is not all there is."""
    import polars as pl

    words = str(frame[column][0] or "").split()
    whole = [(f"{column}{WHOLE}", frame.with_columns(pl.lit("").alias(column)))]
    return (whole if words and frame.width > 1 else []) + [
        (f"{column}: {word}", frame.with_columns(pl.lit(" ".join(w for w in words if w != word)).alias(column)))
        for word in list(dict.fromkeys(words))[:_MOST_WORDS]
    ]


def _left_out(model: TableModel, frame: pl.DataFrame, encoder: TableEncoder, label: Any) -> list[Evidence]:
    """Ask again without each cell, each text and each word of a text."""
    import polars as pl

    others: list[tuple[str, pl.DataFrame]] = []
    for column, kind in encoder.kinds.items():
        cell = frame[column][0]
        if cell is None or cell == "":
            continue
        if kind == "text":
            others += _without_words(frame, column)
        else:
            empty = pl.lit(None, dtype=frame.schema[column]).alias(column)
            others.append((f"{column} = {cell}", frame.with_columns(empty)))
    if not others:
        return []
    code = model.classes_.tolist().index(label)
    shares = model.predict_proba(pl.concat([frame, *(other for _, other in others)]))[:, code]
    return [
        Evidence(name, float(shares[0] - share))
        for (name, _), share in zip(others, shares[1:], strict=True)
        if shares[0] != share
    ]


def _near(model: TableModel, frame: pl.DataFrame, encoder: TableEncoder) -> tuple[NearRow, ...]:
    """Return the stored rows that vote."""
    inner = model.estimator_
    if hasattr(inner, "stored_numbers_") and hasattr(inner, "stored_codes_"):
        stored, codes = inner.stored_numbers_, np.asarray(inner.classes_)[inner.stored_codes_]
        k = int(inner.n_neighbors_)
        rows = _stored_rows(inner)
    elif hasattr(inner, "kneighbors") and hasattr(inner, "_fit_X"):
        stored, codes = inner._fit_X, np.asarray(inner.classes_)[np.asarray(inner._y)]
        k, rows = int(inner.n_neighbors), np.arange(len(codes))
    else:
        return ()
    encoded = encoder.transform(frame)
    dense = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded)
    from sklearn.metrics import pairwise_distances

    if stored.shape[1] != dense.shape[1]:
        return ()  # the method keeps rows in a space of its own
    distances = pairwise_distances(dense, stored)[0]
    told = []
    for at in np.argsort(distances, kind="stable")[:k].tolist():
        line = stored[at : at + 1]
        cells = decoded_cells(encoder, np.asarray(line.toarray() if hasattr(line, "toarray") else line)[0])
        row = None if rows is None else int(rows[at])
        lineage = inner.provenance(row).lineage if row is not None and hasattr(inner, "provenance") else ()
        label = model.classes_[int(codes[at])].item()
        number = None if row is None else model.table_row(row)
        passed = tuple(origin for origin in map(model.table_row, lineage) if origin is not None)
        told.append(NearRow(number, label, float(distances[at]), cells, passed))
    return tuple(told)


def _stored_rows(inner: Any) -> np.ndarray | None:
    """Return the row of the fit that each stored row was, if the method tells."""
    if hasattr(inner, "kept_"):
        return np.asarray(inner.kept_)
    if hasattr(inner, "labeled_iter_"):
        steps = np.asarray(inner.labeled_iter_)
        later = np.flatnonzero(steps > 0)
        rows = np.concatenate([np.flatnonzero(steps == 0), later[np.argsort(steps[later])]])
        return rows if len(rows) == len(inner.stored_codes_) else None
    return None


def decoded_cells(encoder: TableEncoder, vector: np.ndarray) -> dict[str, Any]:
    """Turn an encoded row back into what it held, as far as it can be told.

    Parameters
    ----------
    encoder : TableEncoder
        What encoded it.
    vector : ndarray
        The row.

    Returns
    -------
    dict of str to value
        Numbers, names, and the heaviest words of texts.

    Examples
    --------
    >>> import polars as pl
    >>> from handful.features.tables import TableEncoder
    >>> frame = pl.DataFrame({"size": [1.0, 3.0], "color": ["red", "blue"]})
    >>> encoder = TableEncoder.learn(frame, {"size": "numeric", "color": "nominal"})
    >>> decoded_cells(encoder, encoder.transform(frame)[1])
    {'size': 3.0, 'color': 'blue'}
    """
    cells: dict[str, Any] = {}
    state: Mapping[str, Mapping[str, Any]] = encoder.state()
    for name, column in state.items():
        part = vector[encoder.places(name)]
        if column["kind"] == "numeric":
            cells[name] = round(float(part[0] * column["scale"] + column["center"]), 6)
            continue
        values = column["values"] if column["kind"] == "nominal" else column["words"]
        part = part[: len(values)] if column["kind"] == "nominal" else part  # a place on a scale is told by its name
        if name in encoder.vector_columns:
            part = np.where([" " in word for word in values], 0.0, encoder.word_parts(name, vector))  # no word pairs
            part = np.where(part > _FAINT * part.max(initial=0.0), part, 0.0)
        heaviest = [str(values[j]) for j in np.argsort(-part, kind="stable")[:_SHOWN_WORDS] if part[j] > 0]
        if heaviest:
            cells[name] = heaviest[0] if column["kind"] == "nominal" else " ".join(heaviest)
    return cells
