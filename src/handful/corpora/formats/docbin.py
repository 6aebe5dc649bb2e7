"""spaCy: files of documents (``.spacy``), and documents in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from handful.core.errors import DataError, FormatError
from handful.core.optional import require
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import read_bounded
from handful.corpora.formats.iob import spans
from handful.corpora.opening import FilePath, as_source, write_bytes
from handful.corpora.raw_text import Token, into_sentences

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
        What ``DocBin.to_disk`` of spaCy wrote.

    Yields
    ------
    Sentence
        See `doc_sentences`.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    source = as_source(path)
    vocab = spacy.vocab.Vocab()
    try:
        docs = list(spacy.tokens.DocBin().from_bytes(read_bounded(source)).get_docs(vocab))
    except Exception:  # spaCy raises whatever the part that stumbled raises
        raise FormatError(path, None, "expected documents of spaCy, got a damaged file. Write it again.") from None
    for doc in docs:
        yield from doc_sentences(doc)


def doc_sentences(doc: Any) -> Iterator[Sentence]:
    """Turn a document of spaCy into tagged sentences.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        Any document. Its own sentences are taken, or, if it has none, text is cut as `handful.corpora.raw_text` does.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end`` (places in ``doc.text``), ``upos`` and ``xpos`` where there are such tags, and
        ``tag``: the entities (IOB2), or the fine tags, or the coarse ones, whichever the document has first. White space
        that spaCy counts as a token is left out.
    """
    cells = {"start": _CELLS["start"], "end": _CELLS["end"]}
    cells |= {column: _CELLS[column] for column in ("upos", "xpos") if doc.has_annotation(_ANNOTATIONS[column])}
    tags = next((column for column in ("entity", "xpos", "upos") if doc.has_annotation(_ANNOTATIONS[column])), None)
    if tags is not None:
        cells["tag"] = _CELLS[tags]
    for words in doc_words(doc):
        columns = {column: tuple(map(cell, words)) for column, cell in cells.items()}
        yield Sentence(tuple(word.text for word in words), columns)


def doc_words(doc: Any) -> Iterator[list[Any]]:
    """Yield the tokens of each sentence of a document, without those that are white space."""
    if doc.has_annotation("SENT_START"):
        parts = (list(filter(_is_no_space, part)) for part in doc.sents)
    else:
        at = {word.idx: word for word in filter(_is_no_space, doc)}
        tokens = [Token(word.text, start, start + len(word)) for start, word in at.items()]
        parts = ([at[token.start] for token in part] for part in into_sentences(doc.text, tokens))
    yield from filter(None, parts)


def _is_no_space(word: Any) -> bool:
    return not word.text.isspace()


def write_docbin(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write sentences as documents of spaCy, one each.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        A column ``tag`` of spans becomes entities, another one fine tags, and so does ``xpos``; ``upos`` coarse ones.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    vocab = spacy.vocab.Vocab()
    store = spacy.tokens.DocBin()
    for sentence in sentences:
        columns = sentence.columns
        tags, ents = list(columns["xpos"]) if "xpos" in columns else None, None
        if "tag" in columns:
            try:
                ents = [tag if tag == "O" else f"{tag[0]}-{tag[2:]}" for tag in _spans_only(columns["tag"])]
            except DataError:
                tags = list(columns["tag"])
        pos = list(columns["upos"]) if "upos" in columns else None
        store.add(spacy.tokens.Doc(vocab, words=list(sentence.tokens), tags=tags, pos=pos, ents=ents))
    with write_bytes(path) as file:
        file.write(store.to_bytes())


def _spans_only(tags: tuple[str, ...]) -> tuple[str, ...]:
    spans(tags)
    return tags


def is_docbin(head: Head) -> bool:
    """Tell packed bytes whose file has the name of spaCy."""
    return head.suffix == ".spacy" and head.data[:1] == b"x"


FORMAT = Format("docbin", "sentences", is_docbin, read_docbin, write_docbin, (".spacy",), is_text=False)
