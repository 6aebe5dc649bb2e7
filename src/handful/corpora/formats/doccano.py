"""doccano, and Label Studio's short form: JSON with a text and, for each span, its start, end and label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.json_objects import first_object, json_objects, offset, text_of, write_objects
from handful.corpora.formats.offsets import Stretch, tagged_sentences, text_and_stretches
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, as_source

_KEYS = ("label", "labels", "entities")


def read_doccano(path: FilePath) -> Iterator[Sentence]:
    r"""Read annotated texts.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"text": ..., "label": [[0, 4, "LOC"]]}``; the spans may also stand under ``labels`` or
        ``entities``, and be objects: ``{"start_offset": 0, "end_offset": 4, "label": "LOC"}`` (doccano with relations) or
        ``{"start": 0, "end": 4, "labels": ["LOC"]}`` (Label Studio's JSON-MIN).

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"text": "Rome fell.", "label": [[0, 4, "LOC"]]}\n')
    >>> [(s.tokens, s["tag"]) for s in read_doccano(target)]
    [(('Rome', 'fell', '.'), ('B-LOC', 'O', 'O'))]
    """
    source = as_source(path)
    for record, (number, row) in enumerate(json_objects(source)):
        given: list[Any] = next((row[key] for key in _KEYS if isinstance(row.get(key), list)), [])
        stretches = [_stretch(source, number, item) for item in given]
        yield from tagged_sentences(source, number, text_of(source, number, row), stretches, record=record, row=row)


def _stretch(path: FilePath, number: int | None, item: Any) -> Stretch:
    triple = _triple(item)
    if len(triple) != 3 or triple[2] is None:
        raise FormatError(path, number, f"expected a start, an end and a label, got {shown(str(item))}.")
    start, end, label = triple
    return Stretch(offset(path, number, start), offset(path, number, end), str(label))


def _triple(item: Any) -> list[Any]:
    """Return start, end and label of a span; anything else where it is none."""
    if not isinstance(item, dict):
        return item if isinstance(item, list) else []
    labels = item.get("label", item.get("labels"))
    label = next(iter(labels), None) if isinstance(labels, list) else labels
    return [item.get("start_offset", item.get("start")), item.get("end_offset", item.get("end")), label]


def write_doccano(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences, one object a line.

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
            yield {"text": text, "label": [list(stretch) for stretch in stretches]}

    write_objects(path, rows())


def is_doccano(head: Head) -> bool:
    """Tell objects with a text and a list of spans, be it an empty one."""
    row = first_object(head)
    listed = [row[key] for key in _KEYS if isinstance(row.get(key), list)]
    return isinstance(row.get("text"), str) and bool(listed) and all(map(_is_span, listed[0]))


def _is_span(item: Any) -> bool:
    return isinstance(item, list) or (isinstance(item, dict) and isinstance(_triple(item)[0], int))


FORMAT = Format("doccano", "sentences", is_doccano, read_doccano, write_doccano)
