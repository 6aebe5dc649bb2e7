"""Explanations of predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.records import WHOLE, Evidence, Explanation, NearRow, Occurrence, Sentence
from handful.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from handful.models.table_model import TableModel
    from handful.preprocessing.table_encoder import TableEncoder

_MOST = 10
_MOST_WORDS = 60
_LEFT_OUT = "probability of the prediction minus that without the column"
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
        What leaving out a cell or word changes (occlusion). Models that vote by nearness add the deciding rows.
    """
    if frame.height != 1:
        raise DataError(f"explain: one row is needed, got {frame.height}.")
    labels, sure = model.predict_with_confidence(frame)
    label, confidence = labels[:1].tolist()[0], None if np.isnan(sure[0]) else float(sure[0])
    runner_up = _runner_up(model, frame, label)
    evidence = [] if runner_up is None else _left_out(model, frame, encoder, label)
    evidence.sort(key=lambda item: (-abs(item.weight), item.what))
    return Explanation(label, confidence, runner_up, tuple(evidence[:_MOST]), _LEFT_OUT, _near(model, frame, encoder))


def _runner_up(model: TableModel, frame: pl.DataFrame, label: Any) -> Any:
    if not hasattr(model.estimator_, "predict_proba"):
        return None
    ranked = model.classes_[np.argsort(-model.predict_proba(frame)[0], kind="stable")].tolist()
    return next((other for other in ranked if other != label), None)


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
    """Return by how much the probability of a label falls without each cell, each text and each word of a text."""
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
    probas = model.predict_proba(pl.concat([frame, *(other for _, other in others)]))[:, code]
    return [
        Evidence(name, float(probas[0] - proba))
        for (name, _), proba in zip(others, probas[1:], strict=True)
        if probas[0] != proba
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
    near = []
    for at in np.argsort(distances, kind="stable")[:k].tolist():
        line = stored[at : at + 1]
        cells = decoded_cells(encoder, np.asarray(line.toarray() if hasattr(line, "toarray") else line)[0])
        row = None if rows is None else int(rows[at])
        lineage = inner.lineage(row) if row is not None and hasattr(inner, "lineage") else ()
        label = model.classes_[int(codes[at])].item()
        number = None if row is None else model.table_row(row)
        passed = tuple(origin for origin in map(model.table_row, lineage) if origin is not None)
        near.append(NearRow(number, label, float(distances[at]), cells, passed))
    return tuple(near)


def _stored_rows(inner: Any) -> np.ndarray | None:
    """Return the row of the fit that each stored row was, if the method knows."""
    if hasattr(inner, "kept_"):
        return np.asarray(inner.kept_)
    if hasattr(inner, "labeled_iter_"):
        steps = np.asarray(inner.labeled_iter_)
        later = np.flatnonzero(steps > 0)
        rows = np.concatenate([np.flatnonzero(steps == 0), later[np.argsort(steps[later])]])
        return rows if len(rows) == len(inner.stored_codes_) else None
    return None


def decoded_cells(encoder: TableEncoder, vector: np.ndarray) -> dict[str, Any]:
    """Turn an encoded row back into what it held, as far as possible.

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
    >>> from handful.preprocessing.table_encoder import TableEncoder
    >>> frame = pl.DataFrame({"size": [1.0, 3.0], "color": ["red", "blue"]})
    >>> encoder = TableEncoder.learn(frame, {"size": "numeric", "color": "categorical"})
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
        if column["kind"] == "datetime":
            continue
        values = column["values"] if column["kind"] == "categorical" else column["words"]
        part = (
            part[: len(values)] if column["kind"] == "categorical" else part
        )  # a place on a scale is written as its name
        if name in encoder.vector_columns:
            part = np.where([" " in word for word in values], 0.0, encoder.word_parts(name, vector))  # no word pairs
            part = np.where(part > _FAINT * part.max(initial=0.0), part, 0.0)
        heaviest = [str(values[j]) for j in np.argsort(-part, kind="stable")[:_SHOWN_WORDS] if part[j] > 0]
        if heaviest:
            cells[name] = heaviest[0] if column["kind"] == "categorical" else " ".join(heaviest)
    return cells


_HIDDEN = "_"
_REACH = 3  # words to each side of a token that are hidden one by one
_LEFT_OUT_MOST_WORDS = 60
_HOW = "1 for a word without which the prediction changes"


def explain_tags(tagger: Any, sentence: Sequence[str] | Sentence) -> list[Explanation]:
    """Explain the tags of any tagger.

    Parameters
    ----------
    tagger : fitted tagger
        With ``predict(sentences)``.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token: the near words, itself among them, without which it gets another tag, and which one. The
        other tag is the runner-up.

    Examples
    --------
    >>> from handful.tagging.frequent import FrequentTag
    >>> tagger = FrequentTag().fit([["a", "b", "a"]], [["X", "Y", "X"]])
    >>> [item.what for item in explain_tags(tagger, ["a", "b"])[1].evidence]
    ['without b: X']
    """
    known = sentence if isinstance(sentence, Sentence) else Sentence(tuple(sentence))
    tags, *others = tagger.predict([known, *(replace(known, tokens=tokens) for tokens in _each_hidden(known.tokens))])
    explanations = []
    for at, (token, tag) in enumerate(zip(known.tokens, tags, strict=True)):
        near = range(max(at - _REACH, 0), min(at + _REACH + 1, len(known)))
        without = [(known.tokens[place], others[place][at]) for place in sorted(near, key=lambda p: (abs(p - at), p))]
        explanations.append(_explanation(tag, without, token))
    return explanations


def explain_sense(answer: Callable[[list[Occurrence]], list[str]], occurrence: Occurrence) -> Explanation:
    """Explain the sense that a word in context gets.

    Parameters
    ----------
    answer : callable
        Gives the sense of each of some occurrences.
    occurrence : Occurrence
        The word and its context.

    Returns
    -------
    Explanation
        The words of the context without which the word gets another sense; of a long context the sixty nearest.
    """
    tokens, target = occurrence.tokens, occurrence.target
    own = {target, *occurrence.satellites}
    near = sorted((at for at in range(len(tokens)) if at not in own), key=lambda at: (abs(at - target), at))
    near = near[:_LEFT_OUT_MOST_WORDS]
    hidden = list(_each_hidden(tokens))
    sense, *others = answer([occurrence, *(replace(occurrence, tokens=hidden[at]) for at in near)])
    return _explanation(sense, [(tokens[at], other) for at, other in zip(near, others, strict=True)], tokens[target])


def _each_hidden(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [(*tokens[:at], _HIDDEN, *tokens[at + 1 :]) for at in range(len(tokens))]


def _explanation(label: str, without: list[tuple[str, str]], subject: str) -> Explanation:
    changing = dict.fromkeys((word, other) for word, other in without if other != label)
    evidence = tuple(Evidence(f"without {word}: {other}", 1.0) for word, other in changing)
    runner_up = next((other for _, other in changing), None)
    return Explanation(label, None, runner_up, evidence, _HOW, subject=subject)
