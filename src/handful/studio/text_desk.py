"""A text that is being tagged: the next sentence and its spans, and a board of typical words for each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.labeling.loop import AUDIT
from handful.studio.desk import Desk, checked_label, checked_number
from handful.studio.journal import Journal
from handful.studio.token_tags import OUTSIDE, label_of, mended, span_tags

_MOST_SHOWN = 400  # tokens of a sentence
_LONGEST_SHOWN = 200  # letters of a token


@dataclass(frozen=True)
class Lesson:
    """What a model has learned and what it shows; see `handful.studio.teacher`.

    Parameters
    ----------
    tagger : fitted tagger or None
        Suggests tags; None before there is anything to learn from.
    text : str
        Which model it is and what it learned from, or what is missing.
    queue : list of (int, str)
        Sentences worth tagging next, with reasons.
    sample : list of dict
        Some sentences with their tags, and which of these are others than before the last edit.
    board : dict
        Suggestions, coverage and words in doubt.
    version : int
        Actions that it has learned from.
    """

    tagger: Any = None
    text: str = "Reading the text."
    queue: list[tuple[int, str]] = field(default_factory=list)
    sample: list[dict[str, Any]] = field(default_factory=list)
    board: dict[str, Any] = field(default_factory=dict)
    version: int = -1


class TextDesk(Desk):
    """A text that is being tagged.

    Parameters
    ----------
    name : str
        Name of the data.
    sentences : list of tuples of str
        Its tokens.
    journal : Journal
        Where actions go.
    folder : Path
        Where exports go.
    lists : mapping of str to sequence of str, optional
        Typical words for each label to begin with.
    tagged : sequence of (tokens, tags), optional
        Tagged sentences to begin with; there is no board of words then.
    spans : bool, default=False
        Whether labels mark spans of tokens (tags are B-X, I-X and O), not single tokens.
    fields : bool, default=False
        Whether labels are fields of documents, in which words are alike that stand near the same words in any order.
    seed : int, default=0
        Seed of all chance.

    Attributes
    ----------
    lesson : Lesson
        What the model says.
    busy : str
        What is being worked out at present; empty if nothing is.
    """

    kind = "text"

    def __init__(
        self,
        name: str,
        sentences: list[tuple[str, ...]],
        journal: Journal,
        folder: Path,
        *,
        lists: Mapping[str, Sequence[str]] | None = None,
        tagged: Sequence[tuple[Any, Sequence[str]]] = (),
        spans: bool = False,
        fields: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(name, len(sentences), journal, folder)
        self.sentences = sentences
        self.tagged = list(tagged)
        self.has_board = not self.tagged
        self.spans = spans
        self.fields = fields
        self.seed = seed
        self.lesson = Lesson()
        self.busy = ""
        self._given_lists = {label: list(words) for label, words in (lists or {}).items()}
        self._given_labels = list(
            dict.fromkeys(
                [*self._given_lists, *sorted({label_of(tag, spans) for _, tags in self.tagged for tag in tags} - {""})]
            )
        )
        self._item: int | None = None
        self._reason = ""

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands in the text."""
        return Counter(word for sentence in self.sentences for word in sentence)

    @property
    def lists(self) -> dict[str, list[str]]:
        """The board: words of each label, in the order they came."""
        said = self.state["lists"]
        return {label: list(said.get(label, self._given_lists.get(label, []))) for label in self.label_names()}

    @property
    def done(self) -> dict[int, list[str | None]]:
        """Tags of the sentences that a person has accepted."""
        return {int(row): held["tags"] for row, held in self.state["tags"].items() if held["done"]}

    def label_names(self) -> list[str]:
        """Return the labels of the files, then those made on the page in the order they came."""
        used = [label_of(tag, self.spans) for held in self.state["tags"].values() for tag in held["tags"] if tag]
        made = [*self.state["names"], *self.state["lists"], *used]
        return [label for label in dict.fromkeys([*self._given_labels, *made]) if label]

    def _action(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        what = body.get("do")
        if what == "span":
            return self._span(body)
        if what == "accept":
            return self._accept(body)
        if what == "word":
            return self._word(body)
        return super()._action(body)

    def _span(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give the tokens from start up to stop a label, or take theirs away."""
        row = checked_number(body.get("item"), self.n_items)
        n = len(self.sentences[row])
        start = checked_number(body.get("start"), n)
        stop = checked_number(body.get("stop"), n + 1)
        if stop <= start:
            raise DataError("studio: a span must have a token at least.")
        label = None if body.get("label") is None else checked_label(body.get("label"))
        tags = self._tags(row)
        tags[start:stop] = span_tags(label, stop - start, self.spans)
        changes: dict[str, Any] = {"tags": {str(row): {"tags": mended(tags, self.spans), "done": False}}}
        if label is not None and label not in self.label_names():
            changes["names"] = {label: True}
        return {"do": "span", "set": changes}

    def _accept(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take the suggestion for all tokens that have no tag; the sentence is done."""
        row = checked_number(body.get("item"), self.n_items)
        told = self.suggestion(row)["suggestion"]
        tags = self._tags(row)
        others: Sequence[str | None] = told or [OUTSIDE if self.spans else None] * len(tags)
        whole = [mine if mine is not None else other for mine, other in zip(tags, others, strict=True)]
        if all(tag is None for tag in whole):
            raise DataError("studio: no token has a tag. Choose some tokens and give them a label first.")
        whole = mended(whole, self.spans)
        changes: dict[str, Any] = {"tags": {str(row): {"tags": whole, "done": True}}}
        if str(row) in self.state["marks"]:
            changes["marks"] = {str(row): None}
        if told and self._item == row and self._reason == AUDIT:
            right = sum(one == other for one, other in zip(whole, told, strict=True))
            changes["audits"] = {str(row): {"right": right, "tokens": len(whole)}}
        return {"do": "accept", "set": changes}

    def _word(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a word under a label, take it away from one, or both."""
        if not self.has_board:
            raise DataError("studio: the model learns from tagged sentences here; there is no list of words.")
        word = checked_label(body.get("word"))
        if len(word.split()) != 1:
            raise DataError("studio: a prototype must be one word.")
        lists, changes = self.lists, {}
        for key in ("from", "to"):
            if body.get(key) is None:
                continue
            label = checked_label(body[key])
            held = lists.get(label, [])
            if (word in held) != (key == "from"):
                there = "is not" if key == "from" else "is already"
                raise DataError(f"studio: {word!r} {there} under {label!r}.")
            changes[label] = [other for other in held if other != word] if key == "from" else [*held, word]
        if not changes:
            raise DataError("studio: say from which label or to which one the word goes.")
        return {"do": "word", "set": {"lists": changes}}

    def _tags(self, row: int) -> list[str | None]:
        held = self.state["tags"].get(str(row))
        return [None] * len(self.sentences[row]) if held is None else list(held["tags"])

    def _changed(self, changes: Mapping[str, Mapping[str, Any]], undone: bool) -> None:
        touched = [int(row) for name in ("tags", "marks") for row in changes.get(name, {})]
        if undone and len(set(touched)) == 1:  # look at it again
            self._item, self._reason = touched[0], "taken back"
        elif self._item in touched and self._is_seen(self._item):
            self._item = None

    def _is_seen(self, row: int) -> bool:
        held = self.state["tags"].get(str(row))
        return str(row) in self.state["marks"] or (held is not None and bool(held["done"]))

    def suggestion(self, row: int) -> dict[str, Any]:
        """Return what the model says of a sentence, token by token, and how sure it is."""
        tagger = self.lesson.tagger
        if tagger is None or not self.sentences[row]:
            return {"suggestion": None, "sure": None}
        sentence = list(self.sentences[row])
        tags = mended(tagger.predict([sentence])[0], self.spans)
        sure = [round(float(share), 3) for share in tagger.predict_proba([sentence])[0].max(axis=1)]
        return {"suggestion": tags, "sure": sure}

    def view(self) -> dict[str, Any]:
        """Return all that the page shows, the next sentence among it."""
        done = self.done
        used = Counter(label_of(tag, self.spans) for tags in done.values() for tag in tags if tag is not None)
        audits = [held for row, held in self.state["audits"].items() if int(row) in done]
        return {
            "version": self.state.n_actions,
            "can_undo": self.state.can_undo,
            "n_items": self.n_items,
            "n_done": len(done),
            "n_marked": Counter(self.state["marks"].values()),
            "spans": self.spans,
            "labels": self._labels(used),
            "item": self._next(),
            "audit": {
                "right": sum(held["right"] for held in audits),
                "tokens": sum(held["tokens"] for held in audits),
                "sentences": len(audits),
            },
            **self.learned(),
        }

    def learned(self) -> dict[str, Any]:
        """Return what the model says of other sentences, and the board."""
        lesson, counts = self.lesson, self.counts
        near = lesson.board.get("near", {})
        columns = [
            {
                "label": label,
                "words": [[word, counts[word]] for word in words],
                "near": [[word, n] for word, _, n in near.get(label, []) if word not in words],
            }
            for label, words in self.lists.items()
        ]
        return {
            "model": {"text": lesson.text, "busy": self.busy, "version": lesson.version},
            "sample": lesson.sample,
            "board": {**lesson.board, "columns": columns} if self.has_board else None,
        }

    def sentence(self, row: int, reason: str = "") -> dict[str, Any]:
        """Return a sentence with its tags and what the model says; a very long one is cut for showing."""
        row = checked_number(row, self.n_items)
        tokens = [token[:_LONGEST_SHOWN] for token in self.sentences[row][:_MOST_SHOWN]]
        told = self.suggestion(row)
        return {
            "row": row,
            "reason": reason,
            "tokens": tokens,
            "more": len(self.sentences[row]) - len(tokens),
            "tags": self._tags(row)[:_MOST_SHOWN],
            "done": self._is_seen(row),
            **{name: values and values[:_MOST_SHOWN] for name, values in told.items()},
        }

    def _next(self) -> dict[str, Any] | None:
        if self._item is None:
            self._item, self._reason = self._choose()
        return None if self._item is None else self.sentence(self._item, self._reason)

    def _choose(self) -> tuple[int | None, str]:
        for row, reason in self.lesson.queue:
            if not self._is_seen(row):
                return row, reason
        for row, sentence in enumerate(self.sentences):
            if sentence and not self._is_seen(row):
                return row, "the next of the text"
        skipped = [int(row) for row, mark in self.state["marks"].items() if mark == "skipped"]
        return (min(skipped), "skipped before") if skipped else (None, "")
