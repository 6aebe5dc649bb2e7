"""Taggers and parsers of handful as a component of spaCy: ``nlp.add_pipe("handful_tagger", config={"model": path})``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.chunks import spans
from handful.data.records import Sentence, Tree
from handful.data.text import Token, into_sentences
from handful.errors import DataError, ParameterError
from handful.models.pipeline import Pipeline
from handful.persistence.model_file import load

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

_BATCH = 64


class HandfulComponent:
    """Annotate documents: spans as entities, other tags as tags, heads as heads.

    Parameters
    ----------
    model : str or list of str
        Model files of 'handful fit': taggers, and optionally a parser at the end.

    Notes
    -----
    Sentences are those of the document; a document without any is split as `handful.data.text` does. Tags of spans
    (``B-X``, ``I-X``, ``O``) become ``doc.ents``, tags of a tagger for ``upos`` become ``token.pos_``, others ``token.tag_``;
    a tagger that reads a column ``upos``, ``xpos`` or ``pos`` gets the tags of the document.
    """

    def __init__(self, model: str | list[str]) -> None:
        paths = [model] if isinstance(model, str) else list(model)
        if not paths or not all(paths):
            raise ParameterError("handful_tagger: model must be the path of a model file, or several, got none.")
        self.model = model
        self.pipeline = Pipeline([load(path) for path in paths])
        unknown = [name for name in self.pipeline.needed if name not in ("upos", "xpos", "pos")]
        if unknown:
            raise ParameterError(
                f"handful_tagger: the model reads a column {unknown[0]!r}, which documents do not have. "
                "Fit one that reads words, or their tags, alone."
            )

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = _BATCH) -> Iterator[Doc]:
        """Annotate documents, some at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            parts = [list(_sentences_of(doc)) for doc in batch]
            sentences = [self._sentence(words) for part in parts for words in part]
            trees = iter([answer.tree for answer in self.pipeline.annotate(sentences)] if sentences else [])
            for doc, part in zip(batch, parts, strict=True):
                self._write(doc, [(words, next(trees)) for words in part])
                yield doc

    def to_disk(self, path: Any, **_: Any) -> None:
        """Write nothing: the model stays in its own file, which the configuration names."""

    def from_disk(self, path: Any, **_: Any) -> HandfulComponent:
        """Read nothing; see `to_disk`."""
        return self

    def _sentence(self, words: list[Any]) -> Sentence:
        of = {"upos": "pos_", "xpos": "tag_", "pos": "tag_"}
        columns = {name: tuple(getattr(word, of[name]) or "_" for word in words) for name in self.pipeline.needed}
        return Sentence(tuple(word.text for word in words), columns)

    def _write(self, doc: Doc, parts: list[tuple[list[Any], Tree]]) -> None:
        entities: list[Span] = []
        has_spans = False
        for words, tree in parts:
            for name in self.pipeline.columns:
                tags = tree.sentence[name]
                entities_of_name = _entities(doc, words, tags) if name not in ("upos", "xpos", "pos") else None
                if entities_of_name is None:
                    _set_tags(words, tags, coarse=name == "upos")
                else:
                    has_spans = True
                    entities += entities_of_name
        if has_spans:
            doc.set_ents(entities, default="outside")
        if self.pipeline.parser is not None:
            _set_heads(doc, parts)


def _sentences_of(doc: Doc) -> Iterator[list[Any]]:
    """Yield the tokens of each sentence of a document, without whitespace; see `into_sentences` if it has no sentences."""
    words = [word for word in doc if not word.text.isspace()]
    if doc.has_annotation("SENT_START"):
        parts: Iterable[list[Any]] = ([word for word in part if not word.text.isspace()] for part in doc.sents)
    else:
        at = {word.idx: word for word in words}
        tokens = [Token(word.text, word.idx, word.idx + len(word)) for word in words]
        parts = ([at[token.start] for token in part] for part in into_sentences(doc.text, tokens))
    yield from filter(None, parts)


def _entities(doc: Doc, words: list[Any], tags: tuple[str, ...]) -> list[Span] | None:
    """Return the entities of tags; None if they are no tags of spans."""
    from spacy.tokens import Span

    if not all(tag == "O" or tag[1:2] == "-" for tag in tags):
        return None
    try:
        labeled = spans(tags)
    except DataError:
        return None
    return [Span(doc, words[span.start].i, words[span.end - 1].i + 1, label=span.type) for span in labeled]


def _set_tags(words: list[Any], tags: tuple[str, ...], *, coarse: bool) -> None:
    from spacy.parts_of_speech import IDS

    for word, tag in zip(words, tags, strict=True):
        if not coarse:
            word.tag_ = tag
        elif tag in IDS:  # spaCy knows the tags of Universal Dependencies only
            word.pos_ = tag


def _set_heads(doc: Doc, parts: list[tuple[list[Any], Tree]]) -> None:
    from spacy.attrs import DEP, HEAD

    # White space hangs from the token before it, or from the first word.
    heads = np.full(len(doc), -1, dtype=np.int64)
    labels = np.full(len(doc), doc.vocab.strings.add("dep"), dtype=np.uint64)
    first = next((words[0].i for words, _ in parts), 0)
    heads[:first] = first - np.arange(first)
    for words, tree in parts:
        for word, head, label in zip(words, tree.heads, tree.labels, strict=True):
            heads[word.i] = words[head - 1].i - word.i if head > 0 else 0
            labels[word.i] = doc.vocab.strings.add("ROOT" if head == 0 else label)
    if parts:
        doc.from_array([HEAD, DEP], np.stack([heads.view(np.uint64), labels], axis=1))


def make_tagger(nlp: Language, name: str, model: str | list[str]) -> HandfulComponent:
    """Return the component that ``nlp.add_pipe("handful_tagger", config={"model": path})`` adds."""
    return HandfulComponent(model)


def _register() -> None:
    from spacy.language import Language

    Language.factory("handful_tagger", default_config={"model": ""}, func=make_tagger)


# spaCy finds the component by importing this module, which its entry point names.
if find_spec("spacy") is not None:
    _register()
