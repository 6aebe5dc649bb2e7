"""Files that a tagged text leaves behind: tags, words, predictions and model, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.studio.table_exports import export_path
from handful.studio.text_desk import TextDesk
from handful.studio.token_tags import mended

_COLUMNS = ("token", "tag")


def export_text(desk: TextDesk, what: str) -> list[Path]:
    """Write a file beside the text; the text itself stays as it is.

    Parameters
    ----------
    desk : TextDesk
        The text.
    what : {"tags", "words", "predictions", "model"}
        Sentences that a person has tagged whole, the board of words, all sentences as the model tags them, or the model.

    Returns
    -------
    list of Path
        The files.
    """
    from handful.corpora.formats import write_conll, write_prototypes
    from handful.methods import save

    ending = {"tags": "tags.tsv", "words": "prototypes.tsv", "predictions": "predictions.tsv", "model": "handful"}
    if what not in ending:
        raise DataError(f"studio: tags, words, predictions or model can be exported, got {what!r}.")
    target = export_path(desk, ending[what])
    with desk.lock:
        lists, done, tagger = desk.lists, desk.done, desk.lesson.tagger
    if what == "tags":
        write_conll(target, _tagged(desk, done), _COLUMNS)
    elif what == "words":
        filled = {label: words for label, words in lists.items() if words}
        if not filled:
            raise DataError("studio: no label has a word yet. Put some on the board first.")
        write_prototypes(target, filled)
    elif tagger is None:
        raise DataError("studio: there is no model yet. Give words to two labels, or tag some sentences first.")
    elif what == "model":
        save(tagger, target)
    else:
        write_conll(target, _predicted(desk, tagger), _COLUMNS)
    return [target]


def _tagged(desk: TextDesk, done: Mapping[int, list[Any]]) -> list[Sentence]:
    rows = [(row, tags) for row, tags in sorted(done.items()) if None not in tags]
    if not rows:
        raise DataError("studio: no sentence has a tag on every token yet. Accept some first.")
    return [Sentence(desk.sentences[row], {"tag": _texts(tags)}) for row, tags in rows]


def _predicted(desk: TextDesk, tagger: Any) -> list[Sentence]:
    sentences = [sentence for sentence in desk.sentences if sentence]
    answers = tagger.predict([list(sentence) for sentence in sentences])
    return [
        Sentence(sentence, {"tag": tuple(mended(tags, desk.spans))})
        for sentence, tags in zip(sentences, answers, strict=True)
    ]


def _texts(tags: list[Any]) -> tuple[str, ...]:
    return tuple(str(tag) for tag in tags)
