"""What stored models are asked, and their answers in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from handful.data.records import Occurrence, Sentence

DIGITS = 6


def inputs_of(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of `expected.json` as models take them."""
    return {
        "rows": np.array(stored["rows"]),
        "counts": np.array(stored["counts"], dtype=float),
        "frame": pl.DataFrame(stored["frame"]),
        "texts": pl.DataFrame({"text": stored["texts"]}),
        "sentences": [sentence_of(**each) for each in stored["sentences"]],
        "words": [list(each["tokens"]) for each in stored["sentences"]],
        "occurrences": [Occurrence(o["word"], o["id"], tuple(o["tokens"]), o["target"]) for o in stored["occurrences"]],
    }


def sentence_of(tokens: list[str], columns: dict[str, list[str]]) -> Sentence:
    return Sentence(tuple(tokens), {name: tuple(cells) for name, cells in columns.items()})


def answers_of(name: str, model: Any, inputs: dict[str, Any]) -> Any:
    """Ask a model whose name begins with what it is."""
    kind = name.split(".")[0]
    if kind in ("table", "texts"):
        frame = inputs["frame" if kind == "table" else "texts"]
        labels, confidence = model.predict_with_confidence(frame)
        return plain({"labels": labels, "confidence": confidence})
    if kind in ("rows", "counts"):
        answers = {"labels": model.predict(inputs[kind])}
        if hasattr(model, "predict_proba"):
            answers["shares"] = model.predict_proba(inputs[kind])
        return plain(answers)
    if kind == "tagger":
        return plain({"tags": model.predict(inputs["sentences"])})
    if kind == "parser":
        heads, labels = model.predict(inputs["sentences"])
        return plain({"heads": heads, "labels": labels})
    if kind == "clusters":
        return {"paths": dict(sorted(model.paths_.items()))}
    if kind == "similarity":
        word = min(model.vocabulary_)
        return plain({"word": word, "nearest": model.nearest(word, 3)})
    if kind == "condensed":
        return plain({"types": model.condensed_types_, "bins": model.condensed_bins_, "size": model.counts_.size})
    if kind == "senses":
        return {"senses": model.predict(inputs["occurrences"])}
    assert kind == "feature-counts", name
    return plain({"size": model.size, "chosen": model.chosen})


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return round(value, DIGITS) if isinstance(value, float) else value
