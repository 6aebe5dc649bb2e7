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
        What ``DocBin.to_disk`` of spaCy wrote.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end`` (places in ``doc.text``), ``upos`` and ``xpos`` where there are such tags, and
        ``tag``: the entities (IOB2), or the fine tags, or the coarse ones, whichever some document has first; a document
        that was never given such tags has no column of them. White space that spaCy counts as a token is left out.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    source = as_source(path)
    vocab = spacy.vocab.Vocab()
    try:
        docs = list(spacy.tokens.DocBin().from_bytes(read_bounded(source)).get_docs(vocab))
    except Exception:  # spaCy raises whatever the part that stumbled raises
        raise FormatError(path, None, "expected documents of spaCy, got a damaged file. Write it again.") from None
    # What the tags are is one question for the whole file: a document that lacks them is one that nobody has tagged.
    tags = next(
        (column for column in _ANNOTATIONS if any(doc.has_annotation(_ANNOTATIONS[column]) for doc in docs)), None
    )
    for doc in docs:
        yield from _doc_sentences(doc, tags)


def _doc_sentences(doc: Any, tags: str | None) -> Iterator[Sentence]:
    """Turn a document of spaCy into tagged sentences.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        Any document. Its own sentences are taken, or, if it has none, text is cut as `handful.data.text` does.
    tags : {"entity", "xpos", "upos"} or None
        What the column ``tag`` is made from.

    Yields
    ------
    Sentence
        See `read_docbin`.
    """
    cells = {"start": _CELLS["start"], "end": _CELLS["end"]}
    cells |= {column: _CELLS[column] for column in ("upos", "xpos") if doc.has_annotation(_ANNOTATIONS[column])}
    if tags is not None and doc.has_annotation(_ANNOTATIONS[tags]):
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


def write_docbin(path: FilePath, sentences: Iterable[Sentence | Tree]) -> None:
    """Write sentences as documents of spaCy, one each.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence or of Tree
        A column ``tag`` of spans becomes entities, another one fine tags, and so does ``xpos``; ``upos`` coarse ones. The tag
        ``_`` is one that is not known. Text is as the columns ``start`` and ``end`` have it, else with blanks between tokens;
        heads and their labels are kept where all are known.
    """
    spacy = require("spacy", extra="spacy", why=_WHY)
    vocab = spacy.vocab.Vocab()
    store = spacy.tokens.DocBin()
    for sentence in sentences:
        store.add(_doc(vocab, sentence))
    with write_bytes(path) as file:
        file.write(store.to_bytes())


def _doc(vocab: Any, record: Sentence | Tree) -> Any:
    from spacy.parts_of_speech import IDS
    from spacy.tokens import Doc

    sentence = record.sentence if isinstance(record, Tree) else record
    columns = sentence.columns
    given: dict[str, Any] = {"words": list(sentence.tokens), "spaces": _blanks(sentence)}
    if "xpos" in columns:
        given["tags"] = _known(columns["xpos"])
    if "upos" in columns:  # spaCy knows the tags of Universal Dependencies only
        given["pos"] = [tag if tag in IDS else "" for tag in columns["upos"]]
    if "tag" in columns:
        try:
            told = to_iob2(["O" if tag == "_" else tag for tag in columns["tag"]])
            given["ents"] = [None if tag == "_" else iob for tag, iob in zip(columns["tag"], told, strict=True)]
        except DataError:
            given["tags"] = _known(columns["tag"])
    if isinstance(record, Tree) and -1 not in record.heads:
        given["heads"] = [head - 1 if head else place for place, head in enumerate(record.heads)]
        given["deps"] = [
            "ROOT" if head == 0 else label for head, label in zip(record.heads, record.labels, strict=True)
        ]
    return Doc(vocab, **given)


def _known(tags: tuple[str, ...]) -> list[str]:
    return ["" if tag == "_" else tag for tag in tags]


def _blanks(sentence: Sentence) -> list[bool]:
    """Tell for each token whether a blank stands behind it."""
    places = places_of(sentence)
    return [end < start for (_, end), (start, _) in pairwise(places)] + [False] * bool(places)


def is_docbin(head: Head) -> bool:
    """Tell packed bytes whose file has the name of spaCy."""
    return head.suffix == ".spacy" and head.data[:1] == b"x"


DOCBIN_FORMAT = Format("docbin", "sentences", is_docbin, read_docbin, write_docbin, (".spacy",), is_text=False)
