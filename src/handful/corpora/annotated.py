"""Annotated sentences as text, one at a time: columns with their names, CoNLL-U, or JSON lines with character offsets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from handful.core.errors import DataError
from handful.core.records import Sentence, Tree
from handful.corpora.formats.columns import COLUMNS_HEADER, columns_header
from handful.corpora.formats.conllu import conllu_text
from handful.corpora.formats.iob import Span, spans
from handful.corpora.formats.offsets import BESIDE, RECORD, places_of

Form: TypeAlias = Literal["columns", "conllu", "jsonl"]

ENDINGS: dict[str, Form | Literal["docbin"]] = {
    **dict.fromkeys(("", ".tsv", ".tab", ".txt", ".conll", ".conllup", ".iob", ".bio", ".tagged", ".out"), "columns"),
    ".conllu": "conllu",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".spacy": "docbin",
}
"""What a file of annotated sentences is by the ending of its name."""

GENERATOR = "# generator = handful predict"
"""First line of CoNLL-U that `handful predict` writes, which tells its answers from trees that a person made."""

_IN_CONLLU = ("token", "lemma", "upos", "xpos", "feats", "deps", "misc")


def header_text(form: Form, names: Sequence[str]) -> str:
    r"""Return what stands before the first sentence.

    Parameters
    ----------
    form : {"columns", "conllu", "jsonl"}
        How sentences are written.
    names : sequence of str
        Columns that are written.

    Returns
    -------
    str
        For columns a line that names them, so that whoever reads them knows a tag from a confidence; for CoNLL-U one that
        tells who wrote it.

    Examples
    --------
    >>> header_text("columns", ["token", "tag", "confidence"])
    '# global.columns = TOKEN TAG CONFIDENCE\n'
    """
    if form == "conllu":
        return GENERATOR + "\n"
    return columns_header(names) + "\n" if form == "columns" else ""


def sentence_text(
    form: Form, tree: Tree, names: Sequence[str], filled: Sequence[str], confidence: Sequence[float] = ()
) -> str:
    r"""Return one sentence as it is written.

    Parameters
    ----------
    form : {"columns", "conllu", "jsonl"}
        How.
    tree : Tree
        The sentence, with all columns.
    names : sequence of str
        Columns to write; ``token`` stands for the tokens and ``confidence`` for `confidence`. CoNLL-U writes its own.
    filled : sequence of str
        Columns that models filled. Those that CoNLL-U has no place for go to its last column, and so does the place of
        each token in the text (``TokenRange``). JSON has the spans that they tell of, and what stood beside the text in a
        file of JSON, such as an ``id``.
    confidence : sequence of float
        How sure a tagger is of each tag, if there is one.

    Returns
    -------
    str
        Its lines.

    Examples
    --------
    >>> tree = Tree(Sentence(("Rome", "fell"), {"tag": ("B-LOC", "O")}), (-1, -1), ("_", "_"))
    >>> sentence_text("columns", tree, ["token", "tag", "confidence"], ["tag"], (0.9, 0.81))
    'Rome\tB-LOC\t0.9000\nfell\tO\t0.8100\n\n'
    """
    if form == "jsonl":
        return json.dumps(_json_row(tree, names, filled, confidence), ensure_ascii=False) + "\n"
    if form == "conllu":
        return conllu_text(_with_misc(tree, filled, confidence), "predict: the sentence")
    kept = [line for line in tree.sentence.comments if line[:1] not in ("", "#") or line.startswith("#\t")]
    cells = [_cells(tree.sentence, name, confidence) for name in names]
    return "\n".join([*kept, *map("\t".join, zip(*cells, strict=True))]) + "\n\n"


def _cells(sentence: Sentence, name: str, confidence: Sequence[float]) -> Sequence[str]:
    if name == "token":
        return sentence.tokens
    return [_shown(share) for share in confidence] if name == "confidence" else sentence[name]


def _shown(share: float) -> str:
    return "_" if math.isnan(share) else f"{share:.4f}"


def _json_row(tree: Tree, names: Sequence[str], filled: Sequence[str], confidence: Sequence[float]) -> dict[str, Any]:
    sentence = tree.sentence
    places = places_of(sentence)
    told = [int(line.removeprefix(RECORD)) for line in sentence.comments if line.startswith(RECORD)]
    row: dict[str, Any] = {"record": told[0]} if told else {}
    for line in sentence.comments:
        if line.startswith(BESIDE):
            row |= json.loads(line.removeprefix(BESIDE))
    row |= {
        "tokens": list(sentence.tokens),
        "start": [a for a, _ in places],
        "end": [b for _, b in places],
    }
    row |= {name: list(sentence[name]) for name in names if name not in ("token", "start", "end", "confidence")}
    if confidence:
        row["confidence"] = [None if math.isnan(share) else round(share, 4) for share in confidence]
    row |= _json_spans(sentence, filled, places)
    if -1 not in tree.heads:
        row |= {"head": list(tree.heads), "deprel": list(tree.labels)}
    return row


def _json_spans(sentence: Sentence, filled: Sequence[str], places: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the spans that columns tell of; none at all unless a column could tell of some."""
    told = [
        {"start": places[span.start][0], "end": places[span.end - 1][1], "label": span.type}
        for name in filled
        for span in _spans(sentence, name)
    ]
    return {"spans": told} if told or any(set(sentence[name]) == {"O"} for name in filled) else {}


def _spans(sentence: Sentence, name: str) -> list[Span]:
    tags = ["O" if tag == "_" else tag for tag in sentence[name]]
    if not all(tag == "O" or tag[1:2] == "-" for tag in tags):
        return []
    try:
        return spans(tags)
    except DataError:
        return []


def _with_misc(tree: Tree, filled: Sequence[str], confidence: Sequence[float]) -> Tree:
    """Put what CoNLL-U has no column for into its last one, and leave out comments of other formats."""
    sentence = tree.sentence
    more = _beyond_conllu(sentence, filled, confidence)
    old = sentence.columns.get("misc", ("_",) * len(tree))
    misc = tuple(
        _misc_cell(cell, {name: cells[place] for name, cells in more.items()}) for place, cell in enumerate(old)
    )
    comments = tuple(
        line for line in sentence.comments if line[:1] in ("", "#") and not line.startswith((COLUMNS_HEADER, GENERATOR))
    )
    whole = Sentence(sentence.tokens, {**sentence.columns, "misc": misc}, comments)
    return Tree(whole, tree.heads, tree.labels, tree.extras)


def _beyond_conllu(sentence: Sentence, filled: Sequence[str], confidence: Sequence[float]) -> dict[str, Sequence[str]]:
    more: dict[str, Sequence[str]] = {name: sentence[name] for name in filled if name not in _IN_CONLLU}
    if confidence:
        more["Confidence"] = [_shown(share) for share in confidence]
    if "start" in sentence.columns and "end" in sentence.columns:
        more["TokenRange"] = [f"{a}:{b}" for a, b in zip(sentence["start"], sentence["end"], strict=True)]
    return more


def _misc_cell(old: str, more: Mapping[str, str]) -> str:
    kept = [part for part in old.split("|") if part != "_" and part.split("=")[0] not in more]
    return "|".join([*kept, *(f"{name}={cell.replace('|', '/')}" for name, cell in more.items())]) or "_"
