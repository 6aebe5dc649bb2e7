"""doccano: JSON lines with a text and triples of start, end and label."""

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
        One object a line: ``{"text": ..., "label": [[0, 4, "LOC"]]}``; the triples may also stand under ``labels`` or
        ``entities``.

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
    for number, row in json_objects(source):
        triples: list[Any] = next((row[key] for key in _KEYS if isinstance(row.get(key), list)), [])
        stretches = []
        for triple in triples:
            if not isinstance(triple, list) or len(triple) != 3:
                raise FormatError(source, number, f"expected a start, an end and a label, got {shown(str(triple))}.")
            start, end, label = triple
            stretches.append(Stretch(offset(source, number, start), offset(source, number, end), str(label)))
        yield from tagged_sentences(source, number, text_of(source, number, row), stretches)


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
    """Tell objects with a text and a list of triples, be it an empty one."""
    row = first_object(head)
    listed = [row[key] for key in _KEYS if isinstance(row.get(key), list)]
    return isinstance(row.get("text"), str) and bool(listed) and all(isinstance(item, list) for item in listed[0])


FORMAT = Format("doccano", "sentences", is_doccano, read_doccano, write_doccano)
