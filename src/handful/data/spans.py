"""Spans by character offsets: BRAT, doccano, Prodigy, Label Studio; and lists of tokens in JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from handful.data.chunks import from_spans
from handful.data.files import FilePath, Source, as_source, open_bytes, read_lines, shown
from handful.data.formats import Format, Head
from handful.data.json_records import first_object, json_objects, offset, text_of
from handful.data.records import Sentence
from handful.data.text import Token, into_sentences, tokenize
from handful.errors import FormatError

RECORD = "# record ="
"""Start of a comment with the number of the object that a sentence is from, counted from 0."""

METADATA = "# metadata ="
"""Start of a comment with the other values of that object, as JSON."""

_ANNOTATION = frozenset({"text", "tokens", "spans", "label", "labels", "entities", "relations", "answer"}) | frozenset(
    {"data", "annotations", "completions", "predictions"}
)
_SHORT = 500  # characters of a value; a longer one would be repeated with each sentence of its text


class CharSpan(NamedTuple):
    """Characters ``start`` up to but not including ``end`` of a text, with a label."""

    start: int
    end: int
    label: str


class _Annotated(NamedTuple):
    """A text with labeled spans and, if the file has them, the places of its tokens."""

    text: str
    spans: list[CharSpan]
    places: list[tuple[int, int]]


def tagged_sentences(
    path: FilePath,
    number: int | None,
    text: str,
    annotated: Iterable[CharSpan],
    places: Iterable[tuple[int, int]] = (),
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
    places : iterable of (int, int)
        Start and end of each token, if the file has them.
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
    tokens = _file_tokens(path, number, text, places, borders) if places else tokenize(text, borders)
    for part in _joined(into_sentences(text, tokens), kept):
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


def _file_tokens(
    path: FilePath, number: int | None, text: str, places: Iterable[tuple[int, int]], borders: Iterable[int]
) -> list[Token]:
    """Return the tokens of a file, split where spans start and end."""
    tokens: list[Token] = []
    for start, end in places:
        if not (tokens[-1].end if tokens else 0) <= start < end <= len(text) or text[start:end].isspace():
            raise FormatError(path, number, f"expected tokens one after another in the text, got {start} to {end}.")
        inside = sorted({border for border in borders if start < border < end})
        tokens.extend(Token(text[a:b], a, b) for a, b in pairwise([start, *inside, end]))
    return tokens


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


def _check_covered(path: FilePath, number: int | None, text: str, span: CharSpan, covered: str) -> None:
    """Refuse a span whose words, as the file has them, differ from those in the text."""
    there = text[span.start : span.end]
    if "".join(there.split()) != "".join(covered.split()):
        message = f"expected {shown(covered)} at {span.start} to {span.end} of the text, got {shown(there)}. "
        raise FormatError(path, number, message + "Is it another version of the text?")


_SPAN = re.compile(r"T[0-9]+\t(\S+) ([0-9]+) ([0-9;\s]*?)([0-9]+)(\t.*)?")
_LINE = re.compile(r"([TREAMN][0-9]+|#[0-9]+|\*)\t.*")


def read_brat(path: FilePath) -> Iterator[Sentence]:
    """Read an annotated text.

    Parameters
    ----------
    path : path-like
        The ``.ann`` file, next to its ``.txt`` file. Relations, events and notes are skipped, and a span in several
        parts is read as one.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Raises
    ------
    FormatError
        If the text is missing.
    """
    source = as_source(path)
    text_file = Path(source).with_suffix(".txt")
    if not text_file.exists():
        raise FormatError(source, None, f"no text {text_file.name} in the same folder.")
    with open_bytes(text_file) as file:
        text = file.read().decode("utf-8", errors="replace").replace("\r\n", "\n")
    annotated = []
    for number, line in read_lines(source) if source.head else ():  # empty where a text has no spans
        if not line.startswith("T"):
            continue
        match = _SPAN.fullmatch(line)
        if match is None:
            raise FormatError(source, number, f"expected a span such as 'T1 LOC 0 4 Rome', got {shown(line)}.")
        label, start, gaps, end, covered = match.groups(default="")
        span = CharSpan(int(start), int(end), label)
        if gaps.strip():
            _note_once(source, "Spans in several parts are read as one", number, span)
        elif covered:
            _check_covered(source, number, text, span, covered.removeprefix("\t"))
        annotated.append(span)
    yield from tagged_sentences(source, None, text, annotated)


def is_standoff_folder(path: FilePath) -> bool:
    """Return whether a path is a folder with ``.ann`` files, as BRAT keeps its documents."""
    return not isinstance(path, Source) and Path(os.fsdecode(path)).is_dir() and bool(_standoff_files(path))


def read_standoff_folder(path: FilePath, notes: list[str]) -> Iterator[Sentence]:
    """Yield the sentences of all annotated texts of a folder, by name; notes on the files are added to `notes`."""
    for file in _standoff_files(path):
        source = Source(file)
        yield from read_brat(source)
        notes += [f"{file.name}: {note}" for note in source.notes]


def _standoff_files(path: FilePath) -> list[Path]:
    return sorted(Path(os.fsdecode(path)).glob("*.ann"))


def is_brat(head: Head) -> bool:
    """Detect a standoff file by its name, or by lines that start with the number of an annotation."""
    return bool(head.filled) and head.suffix in ("", ".ann") and all(map(_LINE.fullmatch, head.filled))


BRAT_FORMAT = Format("brat", "sentences", is_brat, read_brat)


def _read_objects(
    path: FilePath, annotation: Callable[[Source, int | None, dict[str, Any]], _Annotated | None]
) -> Iterator[Sentence]:
    """Yield the sentences of all objects of a JSON file; those without annotation are left out."""
    source = as_source(path)
    for record, (number, row) in enumerate(json_objects(source)):
        annotated = annotation(source, number, row)
        if annotated is not None:
            comments = (f"{RECORD} {record}", *_metadata(row))
            yield from tagged_sentences(source, number, annotated.text, annotated.spans, annotated.places, comments)


def _metadata(row: Mapping[str, Any]) -> tuple[str, ...]:
    values = {
        name: value for name, value in row.items() if name not in _ANNOTATION and len(json.dumps(value)) <= _SHORT
    }
    return (f"{METADATA} {json.dumps(values)}",) if values else ()


_KEYS = ("label", "labels", "entities")


def read_doccano(path: FilePath) -> Iterator[Sentence]:
    r"""Read annotated texts.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"text": ..., "label": [[0, 4, "LOC"]]}``. The spans may also be under ``labels`` or
        ``entities``, and be objects: ``{"start_offset": 0, "end_offset": 4, "label": "LOC"}`` (doccano with relations)
        or ``{"start": 0, "end": 4, "labels": ["LOC"]}`` (Label Studio's JSON-MIN).

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
    return _read_objects(path, _doccano)


def _doccano(path: FilePath, number: int | None, row: dict[str, Any]) -> _Annotated:
    items: list[Any] = next((row[key] for key in _KEYS if isinstance(row.get(key), list)), [])
    annotated = []
    for item in items:
        triple = _triple(item)
        if len(triple) != 3 or triple[2] is None:
            raise FormatError(path, number, f"expected a start, an end and a label, got {shown(str(item))}.")
        start, end, label = triple
        annotated.append(CharSpan(offset(path, number, start), offset(path, number, end), str(label)))
    return _Annotated(text_of(path, number, row), annotated, [])


def _triple(item: Any) -> list[Any]:
    """Return start, end and label of a span; anything else if it is none."""
    if not isinstance(item, dict):
        return item if isinstance(item, list) else []
    labels = item.get("label", item.get("labels"))
    label = next(iter(labels), None) if isinstance(labels, list) else labels
    return [item.get("start_offset", item.get("start")), item.get("end_offset", item.get("end")), label]


def is_doccano(head: Head) -> bool:
    """Detect objects with a text and a list of spans, possibly empty."""
    row = first_object(head)
    listed: list[Any] | None = next((row[key] for key in _KEYS if isinstance(row.get(key), list)), None)
    return isinstance(row.get("text"), str) and listed is not None and all(map(_is_span, listed))


def _is_span(item: Any) -> bool:
    return isinstance(item, list) or (isinstance(item, dict) and isinstance(_triple(item)[0], int))


DOCCANO_FORMAT = Format("doccano", "sentences", is_doccano, read_doccano)


def read_prodigy(path: FilePath) -> Iterator[Sentence]:
    r"""Read annotated texts; rejected and ignored ones are left out.

    Parameters
    ----------
    path : path-like
        One object a line: ``{"text": ..., "spans": [{"start": 0, "end": 4, "label": "LOC"}], "answer": "accept"}``.
        With ``tokens`` (places of each) these are kept.

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
    return _read_objects(path, _prodigy)


def _prodigy(path: FilePath, number: int | None, row: dict[str, Any]) -> _Annotated | None:
    if row.get("answer", "accept") != "accept":
        return None
    annotated = [_prodigy_span(path, number, item) for item in row.get("spans") or []]
    if not all(span.label for span in annotated):
        raise FormatError(path, number, "expected a label for each of the spans, got one without.")
    places = [_prodigy_span(path, number, item)[:2] for item in row.get("tokens") or []]
    return _Annotated(text_of(path, number, row), annotated, places)


def _prodigy_span(path: FilePath, number: int | None, item: Any) -> CharSpan:
    cells = item if isinstance(item, dict) else {}
    start, end = (offset(path, number, cells.get(key)) for key in ("start", "end"))
    return CharSpan(start, end, str(cells.get("label", "")))


def is_prodigy(head: Head) -> bool:
    """Detect objects with a text and a list of spans."""
    row = first_object(head)
    return isinstance(row.get("text"), str) and isinstance(row.get("spans"), list)


PRODIGY_FORMAT = Format("prodigy", "sentences", is_prodigy, read_prodigy)


def read_label_studio(path: FilePath) -> Iterator[Sentence]:
    """Read annotated tasks; the first annotation of a task that was not cancelled counts.

    Parameters
    ----------
    path : path-like
        An export in JSON (an array of tasks) or one task a line.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.
    """
    return _read_objects(path, _label_studio)


def _label_studio(path: FilePath, number: int | None, row: dict[str, Any]) -> _Annotated:
    data = row.get("data")
    texts = [value for value in data.values() if isinstance(value, str)] if isinstance(data, dict) else []
    if not isinstance(data, dict) or not texts:
        raise FormatError(path, number, "expected a text under 'data', got none.")
    text = str(data["text"]) if "text" in data else max(texts, key=len)
    annotations = row.get("annotations") or row.get("completions") or []
    first: dict[str, Any] = next((annotation for annotation in annotations if not annotation.get("was_cancelled")), {})
    annotated = (_label_studio_span(path, number, text, result.get("value", {})) for result in first.get("result", []))
    return _Annotated(text, list(filter(None, annotated)), [])


def _label_studio_span(path: FilePath, number: int | None, text: str, value: dict[str, Any]) -> CharSpan | None:
    labels = value.get("labels") or value.get("hypertextlabels")
    if not labels or "start" not in value:
        return None
    start, end = (offset(path, number, value.get(key)) for key in ("start", "end"))
    span = CharSpan(start, end, str(labels[0]))
    if isinstance(value.get("text"), str):
        _check_covered(path, number, text, span, value["text"])
    return span


def is_label_studio(head: Head) -> bool:
    """Detect objects with ``data`` and ``annotations``."""
    row = first_object(head)
    return isinstance(row.get("data"), dict) and ("annotations" in row or "completions" in row)


LABEL_STUDIO_FORMAT = Format("label-studio", "sentences", is_label_studio, read_label_studio)


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
