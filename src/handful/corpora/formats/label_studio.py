"""Label Studio: tasks with a text under ``data`` and results by character offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.json_objects import first_object, json_objects, offset, write_objects
from handful.corpora.formats.offsets import Stretch, check_covered, tagged_sentences, text_and_stretches
from handful.corpora.opening import FilePath, as_source


def read_label_studio(path: FilePath) -> Iterator[Sentence]:
    """Read annotated tasks; of several annotations of a task the first counts, and cancelled ones do not.

    Parameters
    ----------
    path : path-like
        An export in JSON (an array of tasks) or one task a line.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.
    """
    source = as_source(path)
    for record, (number, row) in enumerate(json_objects(source)):
        data = row.get("data")
        texts = [value for value in data.values() if isinstance(value, str)] if isinstance(data, dict) else []
        if not texts:
            raise FormatError(source, number, "expected a text under 'data', got none.")
        text = str(data["text"]) if isinstance(data, dict) and "text" in data else max(texts, key=len)
        yield from tagged_sentences(
            source, number, text, list(_stretches(source, number, row, text)), record=record, row=row
        )


def _stretches(path: FilePath, number: int | None, row: dict[str, Any], text: str) -> Iterator[Stretch]:
    for result in _first_annotation(row).get("result", []):
        value = result.get("value", {})
        labels = value.get("labels") or value.get("hypertextlabels") or []
        if labels and "start" in value:
            start, end = (offset(path, number, value.get(key)) for key in ("start", "end"))
            stretch = Stretch(start, end, str(labels[0]))
            if isinstance(value.get("text"), str):
                check_covered(path, number, text, stretch, value["text"])
            yield stretch


def _first_annotation(row: dict[str, Any]) -> dict[str, Any]:
    annotations = row.get("annotations") or row.get("completions") or []
    return next((annotation for annotation in annotations if not annotation.get("was_cancelled")), {})


def write_label_studio(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences, one task a line.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        With a column ``tag``.
    """

    def rows() -> Iterator[dict[str, Any]]:
        for sentence in sentences:
            text, stretches = text_and_stretches(sentence)
            results = [
                {
                    "from_name": "label",
                    "to_name": "text",
                    "type": "labels",
                    "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
                }
                for start, end, label in stretches
            ]
            yield {"data": {"text": text}, "annotations": [{"result": results}]}

    write_objects(path, rows())


def is_label_studio(head: Head) -> bool:
    """Tell objects with ``data`` and ``annotations``."""
    row = first_object(head)
    return isinstance(row.get("data"), dict) and ("annotations" in row or "completions" in row)


FORMAT = Format("label-studio", "sentences", is_label_studio, read_label_studio, write_label_studio)
