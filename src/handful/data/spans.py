"""Spans by character offsets: BRAT, doccano, Prodigy, Label Studio."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from handful.data.chunks import from_spans, spans
from handful.data.files import FilePath, Source, as_source, open_bytes, read_lines, shown
from handful.data.formats import Format, Head
from handful.data.json_records import first_object, json_objects, offset, text_of, write_objects
from handful.data.records import Sentence
from handful.data.text import Token, into_sentences, sentences
from handful.errors import FormatError

RECORD = "# record ="
"""How the comment of a sentence starts that tells from which object of its file it is, counted from 0."""

BESIDE = "# beside ="
"""How the comment starts that tells what stood beside its text in that object."""

_ANNOTATION = frozenset({"text", "tokens", "spans", "label", "labels", "entities", "relations", "answer"}) | frozenset(
    {"data", "annotations", "completions", "predictions"}
)
_SHORT = 500  # characters of a value; a longer one would come again with each sentence of its text


class Stretch(NamedTuple):
    """Characters ``start`` up to but not including ``end`` of a text, with a label."""

    start: int
    end: int
    label: str


def check_covered(path: FilePath, number: int | None, text: str, stretch: Stretch, covered: str) -> None:
    """Refuse a span whose words, as the file gives them, stand elsewhere in the text.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    number : int or None
        Line of the span.
    text : str
        The text.
    stretch : Stretch
        Where the span is said to be.
    covered : str
        What the file says of the text there.

    Examples
    --------
    >>> check_covered("a.ann", 1, "Rome fell.", Stretch(0, 4, "LOC"), "Rome")
    """
    there = text[stretch.start : stretch.end]
    if "".join(there.split()) != "".join(covered.split()):
        raise FormatError(
            path,
            number,
            f"expected {shown(covered)} at {stretch.start} to {stretch.end} of the text, got {shown(there)}. "
            "Is it another version of the text?",
        )


def tagged_sentences(
    path: FilePath,
    number: int | None,
    text: str,
    stretches: Iterable[Stretch],
    places: Iterable[tuple[int, int]] = (),
    *,
    record: int | None = None,
    row: Mapping[str, Any] | None = None,
) -> Iterator[Sentence]:
    """Cut a text into sentences and turn its spans into tags.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    number : int or None
        Line of the text.
    text : str
        The text.
    stretches : iterable of Stretch
        Labeled spans; of two that overlap the longer stays, which a note tells.
    places : iterable of (int, int)
        Where the tokens are, if the file tells.
    record : int or None
        Which text of its file it is, counted from 0; sentences then have it as a comment.
    row : mapping of str to value, optional
        What stands beside the text, such as an ``id``: sentences have what is short of it as a comment, too.

    Yields
    ------
    Sentence
        With the columns ``tag`` (IOB2), ``start`` and ``end`` (offsets in the text). Tokens are cut where spans start
        and end, so a span is always whole tokens.

    Examples
    --------
    >>> [s["tag"] for s in tagged_sentences("a.jsonl", 1, "Rome fell.", [Stretch(0, 4, "LOC")])]
    [('B-LOC', 'O', 'O')]
    """
    kept = _apart(path, number, text, stretches)
    cuts = [border for stretch in kept for border in stretch[:2]]
    parts = into_sentences(text, _given(path, number, text, places, cuts)) if places else sentences(text, cuts)
    comments = (() if record is None else (f"{RECORD} {record}",)) + _beside(row or {})
    # A span keeps its sentence together: a point inside it ends nothing.
    for part in _joined(list(parts), kept):
        columns = {
            "tag": tuple(from_spans(_whole_spans(part, kept), len(part))),
            "start": tuple(str(token.start) for token in part),
            "end": tuple(str(token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns, comments)


def _beside(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a comment with what an object tells beside its text and the annotation of it."""
    told = {name: value for name, value in row.items() if name not in _ANNOTATION and len(json.dumps(value)) <= _SHORT}
    return (f"{BESIDE} {json.dumps(told)}",) if told else ()


def _whole_spans(part: list[Token], kept: list[Stretch]) -> Iterator[tuple[int, int, str]]:
    for start, end, label in kept:
        inside = [place for place, token in enumerate(part) if start <= token.start and token.end <= end]
        if inside:
            yield inside[0], inside[-1] + 1, label


def _given(
    path: FilePath, number: int | None, text: str, places: Iterable[tuple[int, int]], cuts: Iterable[int]
) -> list[Token]:
    """Return the tokens that a file tells of, cut where spans start and end."""
    tokens: list[Token] = []
    for start, end in places:
        if not (tokens[-1].end if tokens else 0) <= start < end <= len(text) or text[start:end].isspace():
            raise FormatError(path, number, f"expected tokens one after another in the text, got {start} to {end}.")
        borders = [start, *sorted(cut for cut in set(cuts) if start < cut < end), end]
        tokens.extend(Token(text[a:b], a, b) for a, b in pairwise(borders))
    return tokens


def _joined(parts: list[list[Token]], kept: list[Stretch]) -> Iterator[list[Token]]:
    held: list[Token] = []
    for part in parts:
        held = [*held, *part]
        if not any(stretch.start < held[-1].end < stretch.end for stretch in kept):
            yield held
            held = []
    if held:
        yield held


def _apart(path: FilePath, number: int | None, text: str, stretches: Iterable[Stretch]) -> list[Stretch]:
    kept: list[Stretch] = []
    for stretch in sorted(stretches, key=lambda s: (s.start - s.end, s.start)):
        start, end, label = stretch
        if not 0 <= start < end <= len(text):
            raise FormatError(
                path,
                number,
                f"expected spans within the text (0 to {len(text)}), got {start} to {end} for {shown(label)}.",
            )
        # Offsets of people often take a blank along.
        start += len(text[start:end]) - len(text[start:end].lstrip())
        end = start + len(text[start:end].rstrip())
        if start == end:
            continue
        if isinstance(path, Source) and any(
            text[max(at - 1, 0) : at + 1].isalpha() for at in (start, end) if 0 < at < len(text)
        ):
            tell_once(path, "Spans that start or end inside a word cut it in two", number, stretch)
        if any(start < other.end and other.start < end for other in kept):
            if isinstance(path, Source):
                tell_once(path, "Spans that overlap a longer one are left out", number, stretch)
            continue
        kept.append(Stretch(start, end, label))
    return sorted(kept)


def tell_once(source: Source, what: str, number: int | None, stretch: Stretch) -> None:
    """Note something about a span, with the first one as the example."""
    if not any(note.startswith(what) for note in source.notes):
        line = f" of line {number}" if number is not None else ""
        source.notes.append(f"{what}, such as {stretch.label} at {stretch.start} to {stretch.end}{line}.")


def text_and_stretches(sentence: Sentence) -> tuple[str, list[Stretch]]:
    """Return a sentence as text, with its spans by offsets.

    Parameters
    ----------
    sentence : Sentence
        With a column ``tag`` and, if the text is to look as it was, ``start`` and ``end``; else blanks stand between
        tokens.

    Returns
    -------
    text : str
        The text; what stood between tokens are blanks.
    stretches : list of Stretch
        Its spans.

    Examples
    --------
    >>> text_and_stretches(Sentence(("New", "York", "!"), {"tag": ("B-LOC", "I-LOC", "O")}))
    ('New York !', [Stretch(start=0, end=8, label='LOC')])
    """
    places = places_of(sentence)
    first = places[0][0] if places else 0
    text = ""
    for token, (start, _) in zip(sentence.tokens, places, strict=True):
        text += " " * (start - first - len(text)) + token
    tags = sentence.columns.get("tag", ("O",) * len(sentence))
    return text, [
        Stretch(places[span.start][0] - first, places[span.end - 1][1] - first, span.type) for span in spans(tags)
    ]


def places_of(sentence: Sentence) -> list[tuple[int, int]]:
    """Return where each token starts and ends.

    Parameters
    ----------
    sentence : Sentence
        With the columns ``start`` and ``end``; without them, the tokens are thought to have one blank between them.

    Returns
    -------
    list of (int, int)
        Places in the text.

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


_SPAN = re.compile(r"T[0-9]+\t(\S+) ([0-9]+) ([0-9;\s]*?)([0-9]+)(\t.*)?")
_LINE = re.compile(r"([TREAMN][0-9]+|#[0-9]+|\*)\t.*")


def read_brat(path: FilePath) -> Iterator[Sentence]:
    """Read an annotated text.

    Parameters
    ----------
    path : path-like
        The ``.ann`` file; relations, events and notes in it are passed over, and a span in several parts is taken as one.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.

    Raises
    ------
    FormatError
        If the text does not lie beside it.
    """
    source = as_source(path)
    spans: list[tuple[int, Stretch, str]] = []
    for number, line in read_lines(source) if source.head else ():  # empty where a text has no spans
        if line.startswith("T"):
            match = _SPAN.fullmatch(line)
            if match is None:
                raise FormatError(source, number, f"expected a span such as 'T1 LOC 0 4 Rome', got {shown(line)}.")
            # Of a span in parts the words between them are not given.
            covered = "" if match[3].strip() else (match[5] or "").removeprefix("\t")
            spans.append((number, Stretch(int(match[2]), int(match[4]), match[1]), covered))
            if match[3].strip():
                tell_once(source, "Spans in several parts are taken as one", number, spans[-1][1])
    beside = Path(source).with_suffix(".txt")
    if not beside.exists():
        raise FormatError(source, None, f"expected the text in {beside.name} beside it, got none.")
    with open_bytes(beside) as file:
        text = file.read().decode("utf-8", errors="replace").replace("\r\n", "\n")
    for number, stretch, covered in spans:
        if covered:
            check_covered(source, number, text, stretch, covered)
    yield from tagged_sentences(source, None, text, [stretch for _, stretch, _ in spans])


def is_standoff_folder(path: FilePath) -> bool:
    """Tell whether a path is a folder with ``.ann`` files, as BRAT keeps its documents."""
    return not isinstance(path, Source) and Path(os.fsdecode(path)).is_dir() and bool(_standoff_files(path))


def read_standoff_folder(path: FilePath, notes: list[str]) -> Iterator[Sentence]:
    """Read all annotated texts of a folder, in the order of their names.

    Parameters
    ----------
    path : path-like
        The folder.
    notes : list of str
        Gets what there is to tell about the files, with the name of the file before it.

    Yields
    ------
    Sentence
        With the columns ``tag``, ``start`` and ``end``.
    """
    for file in _standoff_files(path):
        source = Source(file)
        yield from read_brat(source)
        notes += [f"{file.name}: {note}" for note in source.notes]


def _standoff_files(path: FilePath) -> list[Path]:
    return sorted(Path(os.fsdecode(path)).glob("*.ann"))


def is_brat(head: Head) -> bool:
    """Tell a standoff file by its name, or by lines that start with the number of an annotation."""
    return bool(head.filled) and head.suffix in ("", ".ann") and all(map(_LINE.fullmatch, head.filled))


BRAT_FORMAT = Format("brat", "sentences", is_brat, read_brat)


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


DOCCANO_FORMAT = Format("doccano", "sentences", is_doccano, read_doccano, write_doccano)


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
        stretches = [_prodigy_stretch(source, number, span) for span in row.get("spans") or []]
        if not all(stretch.label for stretch in stretches):
            raise FormatError(source, number, "expected a label for each of the spans, got one without.")
        places = [_prodigy_stretch(source, number, token)[:2] for token in row.get("tokens") or []]
        yield from tagged_sentences(
            source, number, text_of(source, number, row), stretches, places, record=record, row=row
        )


def _prodigy_stretch(path: FilePath, number: int | None, span: Any) -> Stretch:
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


PRODIGY_FORMAT = Format("prodigy", "sentences", is_prodigy, read_prodigy, write_prodigy, (".jsonl",))


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


LABEL_STUDIO_FORMAT = Format("label-studio", "sentences", is_label_studio, read_label_studio, write_label_studio)
