"""Prodigy: JSON lines with a text and spans by character offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.json_objects import first_object, json_objects, offset, text_of, write_objects
from handful.corpora.formats.offsets import Stretch, places_of, tagged_sentences, text_and_stretches
from handful.corpora.opening import FilePath, as_source


def read_prodigy(path: FilePath) -> Iterator[Sentence]:
    r"""Read annotated texts; those that were rejected or ignored are left out.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"text": ..., "spans": [{"start": 0, "end": 4, "label": "LOC"}], "answer": "accept"}``;
        with ``tokens`` (places of each) these are kept.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"text": "Rome fell.", "spans": [{"start": 0, "end": 4, "label": "LOC"}]}\n')
    >>> [(s.tokens, s["tag"]) for s in read_prodigy(target)]
    [(('Rome', 'fell', '.'), ('B-LOC', 'O', 'O'))]
    """
    source = as_source(path)
    for record, (number, row) in enumerate(json_objects(source)):
        if row.get("answer", "accept") != "accept":
            continue
        stretches = [_stretch(source, number, span) for span in row.get("spans") or []]
        if not all(stretch.label for stretch in stretches):
            raise FormatError(source, number, "expected a label for each of the spans, got one without.")
        places = [_stretch(source, number, token)[:2] for token in row.get("tokens") or []]
        yield from tagged_sentences(
            source, number, text_of(source, number, row), stretches, places, record=record, row=row
        )


def _stretch(path: FilePath, number: int | None, span: Any) -> Stretch:
    cells = span if isinstance(span, dict) else {}
    return Stretch(
        offset(path, number, cells.get("start")), offset(path, number, cells.get("end")), str(cells.get("label", ""))
    )


def write_prodigy(path: FilePath, sentences: Iterable[Sentence]) -> None:
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
            places = places_of(sentence)
            tokens = [
                {"text": token, "start": start - places[0][0], "end": end - places[0][0], "id": number}
                for number, (token, (start, end)) in enumerate(zip(sentence.tokens, places, strict=True))
            ]
            spans = [stretch._asdict() for stretch in stretches]
            yield {"text": text, "tokens": tokens, "spans": spans, "answer": "accept"}

    write_objects(path, rows())


def is_prodigy(head: Head) -> bool:
    """Tell objects with a text and a list of spans."""
    row = first_object(head)
    return isinstance(row.get("text"), str) and isinstance(row.get("spans"), list)


FORMAT = Format("prodigy", "sentences", is_prodigy, read_prodigy, write_prodigy, (".jsonl",))
