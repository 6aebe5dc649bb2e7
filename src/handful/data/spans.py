"""Spans by character offsets in JSON (Prodigy, doccano), and lists of tokens in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from handful.data.chunks import from_spans
from handful.data.files import FilePath, Source, as_source, shown
from handful.data.formats import Format, Head
from handful.data.json_records import first_object, json_objects, text_of
from handful.data.records import Sentence
from handful.data.text import Token, into_sentences, tokenize
from handful.errors import FormatError

RECORD = "# record ="
"""Start of a comment with the number of the object that a sentence is from, counted from 0."""

METADATA = "# metadata ="
"""Start of a comment with the other values of that object, as JSON."""

_ANNOTATION = frozenset({"text", "tokens", "spans", "label", "labels", "entities", "relations", "answer"})
_SHORT = 500  # characters of a value; a longer one would be repeated with each sentence of its text


class CharSpan(NamedTuple):
    """Characters ``start`` up to but not including ``end`` of a text, with a label."""

    start: int
    end: int
    label: str


def tagged_sentences(
    path: FilePath,
    number: int | None,
    text: str,
    annotated: Iterable[CharSpan],
    comments: tuple[str, ...] = (),
) -> Iterator[Sentence]:
    """Split a text into sentences and turn its spans into tags.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    number : int or None
        Line of the text.
    text : str
        The text.
    annotated : iterable of CharSpan
        Labeled spans. Of two that overlap the longer one is kept, with a note.
    comments : tuple of str
        Comments of the sentences.

    Yields
    ------
    Sentence
        With the columns ``tag`` (IOB2), ``start`` and ``end`` (offsets in the text). Tokens are split where spans start
        and end, so a span is always whole tokens.

    Examples
    --------
    >>> [s["tag"] for s in tagged_sentences("a.jsonl", 1, "Rome fell.", [CharSpan(0, 4, "LOC")])]
    [('B-LOC', 'O', 'O')]
    """
    kept = _without_overlaps(path, number, text, annotated)
    borders = [border for span in kept for border in span[:2]]
    for part in _joined(into_sentences(text, tokenize(text, borders)), kept):
        columns = {
            "tag": tuple(from_spans(_token_spans(part, kept), len(part))),
            "start": tuple(str(token.start) for token in part),
            "end": tuple(str(token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns, comments)


def _without_overlaps(path: FilePath, number: int | None, text: str, annotated: Iterable[CharSpan]) -> list[CharSpan]:
    """Return spans without the whitespace around them; of two that overlap the longer one."""
    kept: list[CharSpan] = []
    for span in sorted(annotated, key=lambda span: (span.start - span.end, span.start)):
        if not 0 <= span.start < span.end <= len(text):
            message = f"expected spans within the text (0 to {len(text)}), got {span.start} to {span.end}"
            raise FormatError(path, number, f"{message} for {shown(span.label)}.")
        covered = text[span.start : span.end]
        start = span.start + len(covered) - len(covered.lstrip())
        end = start + len(covered.strip())
        if start == end:
            continue
        if any(0 < at < len(text) and text[at - 1 : at + 1].isalpha() for at in (start, end)):
            _note_once(path, "Spans that start or end inside a word split it in two", number, span)
        if any(start < other.end and other.start < end for other in kept):
            _note_once(path, "Spans that overlap a longer one are left out", number, span)
        else:
            kept.append(CharSpan(start, end, span.label))
    return sorted(kept)


def _note_once(path: FilePath, what: str, number: int | None, span: CharSpan) -> None:
    """Note something about a span, with the first one as the example."""
    if isinstance(path, Source) and not any(note.startswith(what) for note in path.notes):
        line = f" of line {number}" if number is not None else ""
        path.notes.append(f"{what}, such as {span.label} at {span.start} to {span.end}{line}.")


def _joined(parts: Iterable[list[Token]], kept: list[CharSpan]) -> Iterator[list[Token]]:
    """Join sentences that a span continues across: a period inside it ends nothing."""
    held: list[Token] = []
    for part in parts:
        held = [*held, *part]
        if not any(span.start < held[-1].end < span.end for span in kept):
            yield held
            held = []
    if held:
        yield held


def _token_spans(part: list[Token], kept: list[CharSpan]) -> Iterator[tuple[int, int, str]]:
    for start, end, label in kept:
        inside = [place for place, token in enumerate(part) if start <= token.start and token.end <= end]
        if inside:
            yield inside[0], inside[-1] + 1, label


def places_of(sentence: Sentence) -> list[tuple[int, int]]:
    """Return start and end of each token; without the columns ``start`` and ``end``, with one space between tokens.

    Examples
    --------
    >>> places_of(Sentence(("New", "York")))
    [(0, 3), (4, 8)]
    """
    if "start" in sentence.columns and "end" in sentence.columns:
        return [(int(a), int(b)) for a, b in zip(sentence["start"], sentence["end"], strict=True)]
    places, start = [], 0
    for token in sentence.tokens:
        places.append((start, start + len(token)))
        start += len(token) + 1
    return places


def _metadata(row: Mapping[str, Any]) -> tuple[str, ...]:
    values = {
        name: value for name, value in row.items() if name not in _ANNOTATION and len(json.dumps(value)) <= _SHORT
    }
    return (f"{METADATA} {json.dumps(values)}",) if values else ()


_KEYS = ("spans", "label", "labels", "entities")


def read_spans(path: FilePath) -> Iterator[Sentence]:
    r"""Read annotated texts of Prodigy or doccano; rejected and ignored ones are left out.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"text": ..., "spans": [{"start": 0, "end": 4, "label": "LOC"}], "answer": "accept"}``. The spans
        may also be under ``label``, ``labels`` or ``entities``, and be lists: ``[[0, 4, "LOC"]]``.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"text": "Rome fell.", "label": [[0, 4, "LOC"]]}\n')
    >>> [(s.tokens, s["tag"]) for s in read_spans(target)]
    [(('Rome', 'fell', '.'), ('B-LOC', 'O', 'O'))]
    """
    source = as_source(path)
    for record, (number, row) in enumerate(json_objects(source)):
        if row.get("answer", "accept") == "accept":
            comments = (f"{RECORD} {record}", *_metadata(row))
            text = text_of(source, number, row)
            yield from tagged_sentences(source, number, text, _spans(source, number, row), comments)


def _spans(path: FilePath, number: int | None, row: dict[str, Any]) -> Iterator[CharSpan]:
    for item in next((row[key] for key in _KEYS if isinstance(row.get(key), list)), []):
        parts = _parts(item)
        if [type(part) for part in parts[:2]] != [int, int] or len(parts) != 3 or parts[2] in (None, ""):
            raise FormatError(path, number, f"expected a start, an end and a label, got {shown(str(item))}.")
        yield CharSpan(parts[0], parts[1], str(parts[2]))


def _parts(item: Any) -> list[Any]:
    """Return start, end and label of a span; anything else if it is none."""
    if not isinstance(item, dict):
        return item if isinstance(item, list) else []
    labels = item.get("label", item.get("labels"))
    label = next(iter(labels), None) if isinstance(labels, list) else labels
    return [item.get("start_offset", item.get("start")), item.get("end_offset", item.get("end")), label]


def is_spans(head: Head) -> bool:
    """Detect objects with a text and a list of spans, possibly empty."""
    row = first_object(head)
    key = next((key for key in _KEYS if isinstance(row.get(key), list)), None)
    return isinstance(row.get("text"), str) and key is not None and (key == "spans" or all(map(_parts, row[key])))


SPANS_FORMAT = Format("spans", "sentences", is_spans, read_spans)


def read_token_lists(path: FilePath) -> Iterator[Sentence]:
    r"""Read sentences with lists of tokens and of their tags, as `handful predict` writes them.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"tokens": ["Rome", "fell"], "tag": ["B-LOC", "O"]}``. Lists of as many strings or numbers are
        columns.

    Yields
    ------
    Sentence
        With these columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"tokens": ["Rome", "fell"], "tag": ["B-LOC", "O"]}\n')
    >>> [(s.tokens, s["tag"]) for s in read_token_lists(target)]
    [(('Rome', 'fell'), ('B-LOC', 'O'))]
    """
    source = as_source(path)
    for number, row in json_objects(source):
        tokens = row.get("tokens")
        if not _is_row(tokens) or not all(isinstance(token, str) and token.strip() for token in tokens):
            raise FormatError(source, number, f"expected a list of tokens under 'tokens', got {shown(str(tokens))}.")
        columns, others = {}, {}
        for name, cells in row.items():
            if _is_row(cells) and len(cells) == len(tokens) and name != "head":
                columns[name] = tuple("_" if cell is None else str(cell) for cell in cells)
            elif name not in ("head", "spans"):
                others[name] = cells
        record = [f"{RECORD} {others.pop('record')}"] if isinstance(others.get("record"), int) else []
        columns.pop("tokens")
        yield Sentence(tuple(tokens), columns, (*record, *_metadata(others)))


def _is_row(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and bool(value) and all(isinstance(cell, str | int | float | None) for cell in value)


def is_token_lists(head: Head) -> bool:
    """Detect objects with a list of strings under ``tokens``, without a text."""
    row = first_object(head)
    return "text" not in row and _is_row(row.get("tokens")) and isinstance(row["tokens"][0], str)


TOKEN_LISTS_FORMAT = Format("token-lists", "sentences", is_token_lists, read_token_lists)
