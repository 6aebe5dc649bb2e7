"""spaCy: files of documents (``.spacy``), and documents in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from handful.data.chunks import to_iob2
from handful.data.csv import read_bounded
from handful.data.files import FilePath, as_source, write_bytes
from handful.data.formats import Format, Head
from handful.data.records import Sentence, Tree
from handful.data.spans import places_of
from handful.data.text import Token, into_sentences
from handful.errors import DataError, FormatError, require

_WHY = "documents of spaCy (.spacy)"
_ANNOTATIONS = {"entity": "ENT_IOB", "xpos": "TAG", "upos": "POS"}
_CELLS: dict[str, Callable[[Any], str]] = {
    "start": lambda word: str(word.idx),
    "end": lambda word: str(word.idx + len(word)),
    "upos": lambda word: word.pos_ or "_",
    "xpos": lambda word: word.tag_ or "_",
    "entity": lambda word: f"{word.ent_iob_}-{word.ent_type_}" if word.ent_type_ else "O",
}


def read_docbin(path: FilePath) -> Iterator[Sentence]:
    """Read the sentences of a file of documents.

    Parameters
    ----------
    path : path-like
        A file of ``DocBin.to_disk`` of spaCy.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end`` (places in ``doc.text``), and ``upos`` and ``xpos`` where they are set.
        ``tag`` has the entities (IOB2), or the fine tags, or the coarse ones, whichever some document has first. A
        document without such tags has no column of them. Tokens of whitespace are left out.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    source = as_source(path)
    vocab = spacy.vocab.Vocab()
    try:
        docs = list(spacy.tokens.DocBin().from_bytes(read_bounded(source)).get_docs(vocab))
    except Exception:  # spaCy raises whatever the part that stumbled raises
        raise FormatError(path, None, "expected documents of spaCy, got a damaged file. Write it again.") from None
    # One choice for the whole file: a document that lacks these annotations was never tagged.
    annotated = (column for column, name in _ANNOTATIONS.items() if any(doc.has_annotation(name) for doc in docs))
    tags = next(annotated, None)
    for doc in docs:
        yield from _doc_sentences(doc, tags)


def _doc_sentences(doc: Any, tags: str | None) -> Iterator[Sentence]:
    """Yield the sentences of a document, with a column ``tag`` from the annotation `tags`; see `read_docbin`."""
    cells = {"start": _CELLS["start"], "end": _CELLS["end"]}
    cells |= {column: _CELLS[column] for column in ("upos", "xpos") if doc.has_annotation(_ANNOTATIONS[column])}
    if tags is not None and doc.has_annotation(_ANNOTATIONS[tags]):
        cells["tag"] = _CELLS[tags]
    for words in doc_words(doc):
        columns = {column: tuple(map(cell, words)) for column, cell in cells.items()}
        yield Sentence(tuple(word.text for word in words), columns)


def doc_words(doc: Any) -> Iterator[list[Any]]:
    """Yield the tokens of each sentence of a document, without whitespace; see `into_sentences` if it has no sentences."""
    words = [word for word in doc if not word.text.isspace()]
    if doc.has_annotation("SENT_START"):
        parts: Iterable[list[Any]] = ([word for word in part if not word.text.isspace()] for part in doc.sents)
    else:
        at = {word.idx: word for word in words}
        tokens = [Token(word.text, word.idx, word.idx + len(word)) for word in words]
        parts = ([at[token.start] for token in part] for part in into_sentences(doc.text, tokens))
    yield from filter(None, parts)


def write_docbin(path: FilePath, sentences: Iterable[Sentence | Tree]) -> None:
    """Write sentences as documents of spaCy, one each.

    Parameters
    ----------
    path : path-like
        The file.
    sentences : iterable of Sentence or of Tree
        A column ``tag`` of spans becomes entities, another one fine tags, and so does ``xpos``; ``upos`` becomes coarse
        tags. The tag ``_`` is unknown. Heads and their labels are kept where all are known. The columns ``start`` and
        ``end`` decide where spaces are.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    vocab = spacy.vocab.Vocab()
    store = spacy.tokens.DocBin()
    for sentence in sentences:
        store.add(_doc(vocab, sentence))
    with write_bytes(path) as file:
        file.write(store.to_bytes())


def _doc(vocab: Any, record: Sentence | Tree) -> Any:
    from spacy.tokens import Doc

    sentence = record.sentence if isinstance(record, Tree) else record
    places = places_of(sentence)
    spaces = [end < start for (_, end), (start, _) in pairwise(places)] + [False] * bool(places)
    annotation = _tags(sentence)
    if isinstance(record, Tree) and -1 not in record.heads:
        annotation["heads"] = [head - 1 if head else place for place, head in enumerate(record.heads)]
        labeled = zip(record.heads, record.labels, strict=True)
        annotation["deps"] = [label if head else "ROOT" for head, label in labeled]
    return Doc(vocab, words=list(sentence.tokens), spaces=spaces, **annotation)


def _tags(sentence: Sentence) -> dict[str, Any]:
    """Return the annotation of tags for a document."""
    from spacy.parts_of_speech import IDS

    columns = sentence.columns
    annotation: dict[str, Any] = {}
    if "xpos" in columns:
        annotation["tags"] = _known(columns["xpos"])
    if "upos" in columns:  # spaCy knows the tags of Universal Dependencies only
        annotation["pos"] = [tag if tag in IDS else "" for tag in columns["upos"]]
    if "tag" in columns:
        try:
            entities = to_iob2(["O" if tag == "_" else tag for tag in columns["tag"]])
            annotation["ents"] = [
                None if tag == "_" else iob for tag, iob in zip(columns["tag"], entities, strict=True)
            ]
        except DataError:
            annotation["tags"] = _known(columns["tag"])
    return annotation


def _known(tags: tuple[str, ...]) -> list[str]:
    return ["" if tag == "_" else tag for tag in tags]


def is_docbin(head: Head) -> bool:
    """Detect compressed bytes in a file with the suffix of spaCy."""
    return head.suffix == ".spacy" and head.data[:1] == b"x"


DOCBIN_FORMAT = Format("docbin", "sentences", is_docbin, read_docbin, write_docbin, (".spacy",), is_text=False)
