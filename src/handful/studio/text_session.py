"""Text being labeled."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from handful.active.estimates import MIN_RANDOM
from handful.active.query import RANDOM
from handful.active.sentences import suggest_sentences
from handful.data.records import Sentence
from handful.errors import DataError, HandfulError, counted
from handful.studio.annotations import LONGEST_LABEL, AnnotationLog, LabelingSession, checked_label, checked_number
from handful.studio.server import EventStream, Guard, make_app, number
from handful.studio.table_session import export_path

OUTSIDE = "O"
Tag = TypeVar("Tag", str, "str | None")


def label_of(tag: str, spans: bool) -> str:
    """Return the label that a tag speaks of; an empty text outside all spans.

    Examples
    --------
    >>> label_of("B-PER", True), label_of("O", True), label_of("O", False)
    ('PER', '', 'O')
    """
    if not spans:
        return tag
    return "" if tag == OUTSIDE else tag.partition("-")[2] or tag


def span_tags(label: str | None, n: int, spans: bool) -> list[str | None]:
    """Return the tags of `n` tokens that get one label; without one they are outside, or open.

    Examples
    --------
    >>> span_tags("PER", 3, True), span_tags("N", 2, False), span_tags(None, 1, True)
    (['B-PER', 'I-PER', 'I-PER'], ['N', 'N'], ['O'])
    """
    if not spans:
        return [label] * n
    if label is None:
        return [OUTSIDE] * n
    return [f"B-{label}", *[f"I-{label}"] * (n - 1)]


def mended(tags: Sequence[Tag], spans: bool) -> list[Tag]:
    """Return tags in which every span begins with B: labels of single tokens become spans, and half a span a whole one.

    Examples
    --------
    >>> mended(["PER", "PER", "O", "I-LOC", "B-LOC", None], True)
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC', None]
    """
    if not spans:
        return list(tags)
    out: list[Tag] = []
    for tag in tags:
        if tag is None or tag == OUTSIDE or tag.startswith("B-"):
            out.append(tag)
            continue
        label = tag[2:] if tag.startswith("I-") else tag
        before = out[-1] if out else None
        inside = before is not None and before != OUTSIDE and label_of(before, True) == label
        out.append(f"{'I' if inside else 'B'}-{label}")
    return out


def filled(tags: Sequence[str | None], suggestion: Sequence[str | None] | None, spans: bool) -> list[str | None]:
    """Return a person's tags, with the suggestion where there is none.

    Of spans only those are taken whose tokens are all open: a span that a person made shorter stays as short.

    Examples
    --------
    >>> filled(["B-PER", None, None, None], ["B-PER", "I-PER", "O", "B-LOC"], True)
    ['B-PER', 'O', 'O', 'B-LOC']
    """
    if not spans:
        others = suggestion or [None] * len(tags)
        return [own if own is not None else other for own, other in zip(tags, others, strict=True)]
    whole = [OUTSIDE if tag is None else tag for tag in tags]
    if suggestion is None:
        return list(whole)
    starts = [i for i, tag in enumerate(suggestion) if tag is not None and not tag.startswith("I-")] + [len(tags)]
    for start, stop in pairwise(starts):
        if all(tag is None for tag in tags[start:stop]):
            whole[start:stop] = suggestion[start:stop]  # type: ignore[assignment]
    return list(whole)


_MOST_SHOWN = 400  # tokens of a sentence
_LONGEST_SHOWN = 200  # letters of a token


@dataclass(frozen=True)
class TextModel:
    """What a model has learned and what it shows; see `handful.studio.text_session`.

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


class TextSession(LabelingSession):
    """A text that is being tagged.

    Parameters
    ----------
    name : str
        Name of the data.
    sentences : list of tuples of str
        Its tokens.
    log : AnnotationLog
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
    learned_model : TextModel
        What the model says.
    busy : str
        What is being worked out at present; empty if nothing is.
    """

    kind = "text"

    def __init__(
        self,
        name: str,
        sentences: list[tuple[str, ...]],
        log: AnnotationLog,
        folder: Path,
        *,
        lists: Mapping[str, Sequence[str]] | None = None,
        tagged: Sequence[tuple[Any, Sequence[str]]] = (),
        spans: bool = False,
        fields: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(name, len(sentences), log, folder)
        self.sentences = sentences
        self.tagged = list(tagged)
        self.has_board = not self.tagged
        self.spans = spans
        self.fields = fields
        self.seed = seed
        self.learned_model = TextModel()
        self.busy = ""
        self._given_lists = {label: list(words) for label, words in (lists or {}).items()}
        self._given_labels = list(
            dict.fromkeys(
                [*self._given_lists, *sorted({label_of(tag, spans) for _, tags in self.tagged for tag in tags} - {""})]
            )
        )
        self._item: int | None = None
        self._reason = ""
        self._random_shown: set[int] = set()

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
        is_random = row in self._random_shown
        predicted = self.suggestion(row)["suggestion"]
        tags = filled(self._tags(row), None if is_random else predicted, self.spans)
        if all(tag is None for tag in tags):
            raise DataError("studio: no token has a tag. Choose some tokens and give them a label first.")
        tags = mended(tags, self.spans)
        changes: dict[str, Any] = {"tags": {str(row): {"tags": tags, "done": True}}}
        if str(row) in self.state["marks"]:
            changes["marks"] = {str(row): None}
        if predicted and is_random:
            pairs = [(one, other) for one, other in zip(tags, predicted, strict=True) if one is not None]
            changes["audits"] = {str(row): {"right": sum(one == other for one, other in pairs), "tokens": len(pairs)}}
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
        tagger = self.learned_model.tagger
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
                "needed": max(MIN_RANDOM - len(audits), 0),
            },
            **self.learned(),
        }

    def learned(self) -> dict[str, Any]:
        """Return what the model says of other sentences, and the board."""
        learned_model, counts = self.learned_model, self.counts
        near = learned_model.board.get("near", {})
        columns = [
            {
                "label": label,
                "words": [[word, counts[word]] for word in words],
                "near": [[word, n] for word, _, n in near.get(label, []) if word not in words],
            }
            for label, words in self.lists.items()
        ]
        return {
            "model": {"text": learned_model.text, "busy": self.busy, "version": learned_model.version},
            "sample": learned_model.sample,
            "board": {**learned_model.board, "columns": columns} if self.has_board else None,
        }

    def sentence(self, row: int, reason: str = "") -> dict[str, Any]:
        """Return a sentence with its tags and what the model says; a very long one is cut for showing."""
        row = checked_number(row, self.n_items)
        tokens = [token[:_LONGEST_SHOWN] for token in self.sentences[row][:_MOST_SHOWN]]
        told = {"suggestion": None, "sure": None} if reason == RANDOM else self.suggestion(row)
        (self._random_shown.add if reason == RANDOM else self._random_shown.discard)(row)
        return {
            "row": row,
            "reason": reason,
            "random": reason == RANDOM,
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
        for row, reason in self.learned_model.queue:
            if not self._is_seen(row):
                return row, reason
        for row, sentence in enumerate(self.sentences):
            if sentence and not self._is_seen(row):
                return row, "the next of the text"
        skipped = [int(row) for row, mark in self.state["marks"].items() if mark == "skipped"]
        return (min(skipped), "skipped before") if skipped else (None, "")


_QUIET = 0.15  # seconds without an action, after which a learned_model begins
_ITERATIONS = 40
_N_TAUGHT = 400  # raw sentences that a learned_model learns from
_N_TAGGED = 1_000  # tagged sentences of a file that it learns from
_N_CHOSEN_FROM = 600
_N_SHOWN = 24
_N_QUEUE = 10
_N_WORDS = 12
_N_NEAR = 8
_THRESHOLD = 0.45  # of similarity by place-roots
_N_ALIKE = 20_000  # sentences from which it is learned which words are alike
_USUAL = range(4, 40)  # tokens of a sentence that teaches
_SHORT = range(5, 22)  # tokens of a sentence that is shown
_N_PLACES = 3
_N_OUTSIDE = 20


class _AnewError(Exception):
    """Something was edited while a learned_model was under way."""


class TextTrainer(threading.Thread):
    """Keeps the learned_model of a text up to date.

    Parameters
    ----------
    session : TextSession
        The text; its `learned_model` is replaced, and it is told ``"learned_model"``.
    """

    def __init__(self, session: TextSession) -> None:
        super().__init__(daemon=True, name="studio teacher")
        self._session = session
        self._wake = threading.Event()
        self._over = threading.Event()
        self._similarity: Any = None
        self._where: dict[str, list[int]] = {}
        order = np.random.default_rng(session.seed).permutation(session.n_items).tolist()
        usual = [row for row in order if len(session.sentences[row]) in _USUAL]
        self._order: list[int] = usual or [row for row in order if session.sentences[row]]
        short = [row for row in self._order if len(session.sentences[row]) in _SHORT]
        self._shown = (short or self._order)[:_N_SHOWN]

    def wake(self) -> None:
        """Say that something changed."""
        self._wake.set()

    def end(self) -> None:
        """Stop at the next chance."""
        self._over.set()
        self._wake.set()

    def run(self) -> None:
        """Teach whenever something has changed, and anew if it changes again meanwhile."""
        self._look_up()
        if self._session.has_board:
            threading.Thread(target=self._liken, daemon=True, name="studio likeness").start()
        while not self._over.is_set():
            self._wake.wait()
            self._wake.clear()
            while self._wake.wait(_QUIET) and not self._over.is_set():
                self._wake.clear()
            if self._over.is_set():
                return
            try:
                self._teach()
            except _AnewError:
                pass
            except Exception as error:
                if not isinstance(error, HandfulError):
                    logging.getLogger(__name__).exception("the tagger could not be trained")
                self._publish(
                    replace(self._session.learned_model, text=_told(error), version=self._session.state.n_actions)
                )

    def _look_up(self) -> None:
        for row in self._order:
            for word in set(self._session.sentences[row]):
                places = self._where.setdefault(word, [])
                if len(places) < _N_PLACES:
                    places.append(row)

    def _liken(self) -> None:
        """Learn once which words are alike; until then words are linked to nothing."""
        from handful.tagging.prototypes.features import learn_similarity

        text = [self._session.sentences[row] for row in self._order[:_N_ALIKE]]
        try:
            self._similarity = learn_similarity("place-roots", text, sum(map(len, text)))
        except HandfulError:
            return  # too short a text: nothing is like anything
        self.wake()

    def _teach(self) -> None:
        session = self._session
        with session.lock:
            lists = {label: words for label, words in session.lists.items() if words} if session.has_board else {}
            done = session.done
            before, version = session.learned_model, session.state.n_actions
        self._say("Learning")
        if session.has_board:  # the board need not wait for the model
            self._publish(replace(before, board={**before.board, **self._suggestions(lists)}), busy="Learning")
        tagger, text = self._fit(lists, done)
        self._check()
        learned_model = TextModel(tagger, text, self._queue(tagger, done), [], session.learned_model.board, version)
        if tagger is not None:
            learned_model = replace(learned_model, sample=self._sample(tagger, before))
            if lists:
                learned_model = replace(
                    learned_model, board={**learned_model.board, "unsure": self._unsure(tagger, lists)}
                )
        self._check()
        self._publish(learned_model)

    def _fit(self, lists: Mapping[str, list[str]], done: Mapping[int, list[str | None]]) -> tuple[Any, str]:
        session = self._session
        whole = [(list(session.sentences[row]), list(tags)) for row, tags in done.items() if None not in tags]
        if lists:
            return self._fit_prototypes(lists, done)
        tagged = [(list(tokens), list(tags)) for tokens, tags in session.tagged[:_N_TAGGED]] + whole
        if len({tag for _, tags in tagged for tag in tags}) < 2:
            hint = "Give words to two labels" if session.has_board else "Tag a sentence"
            return None, f"Nothing to learn from yet. {hint}, and the model begins to tag."
        from handful.tagging.recipes import TaggerSetup

        setup = TaggerSetup("general", outside_bias=0.0, max_iter=_ITERATIONS, random_state=session.seed)
        sentences, tags = [tokens for tokens, _ in tagged], [own for _, own in tagged]
        tagger = setup.fit_crf(sentences, tags, progress=lambda step: self._check())  # type: ignore[arg-type]
        return tagger, f"A CRF from {counted(len(tagged), 'tagged sentence')}, {len(whole):,} of them yours."

    def _fit_prototypes(self, lists: Mapping[str, list[str]], done: Mapping[int, list[str | None]]) -> tuple[Any, str]:
        from handful.tagging.prototypes.tagger import PrototypeTagger

        session = self._session
        with_words = [row for words in lists.values() for word in words for row in self._where.get(word, ())]
        rows = list(dict.fromkeys([*done, *self._order[:_N_TAUGHT], *with_words]))
        tags: list[Any] = [self._labels(done[row]) if row in done else None for row in rows]
        if session.spans:
            lists = {**lists, OUTSIDE: self._outside_words(lists)}
        named = {*lists, *(tag for own in tags for tag in own or () if tag)}
        if len(named) < 2:
            return None, "One label is nothing to choose from. Give words to a second one, and the model begins to tag."
        tagger = PrototypeTagger(
            lists,
            order=1,
            similarity=self._similarity,
            threshold=_THRESHOLD,
            sticky=2.0 if session.fields else 0.0,
            max_iter=_ITERATIONS,
            random_state=session.seed,
        )
        tagger.fit([list(session.sentences[row]) for row in rows], tags, progress=lambda step: self._check())
        n_words = sum(map(len, lists.values()))
        yours = f" and {counted(len(done), 'tagged sentence')}" if done else ""
        return (
            tagger,
            f"Prototypes: {counted(n_words, 'word')} of {counted(len(lists), 'label')}{yours}, on "
            f"{counted(len(rows), 'raw sentence')}.",
        )

    def _outside_words(self, lists: Mapping[str, list[str]]) -> list[str]:
        """Return frequent words of no label: prototypes of what is outside all spans."""
        named = {word for words in lists.values() for word in words}
        return [word for word, _ in self._session.counts.most_common(_N_OUTSIDE + len(named)) if word not in named][
            :_N_OUTSIDE
        ]

    def _labels(self, tags: Sequence[str | None]) -> list[str | None]:
        """Return the label of each token in place of its tag; spans have no beginning for prototypes."""
        return [tag and (label_of(tag, self._session.spans) or OUTSIDE) for tag in tags]

    def _suggestions(self, lists: Mapping[str, list[str]]) -> dict[str, Any]:
        from handful.tagging.prototypes.lists import check_prototypes, suggest_prototypes

        sentences = [self._session.sentences[row] for row in self._order[: 10 * _N_TAUGHT]]
        reach = check_prototypes(sentences, lists, self._similarity, threshold=_THRESHOLD, n_words=_N_WORDS)
        near: dict[str, Any] = {}
        if self._similarity is not None and lists:
            near = suggest_prototypes(sentences, lists, self._similarity, n_words=_N_NEAR, threshold=_THRESHOLD).near
        counts = self._session.counts
        return {
            "near": {
                label: [(word, like, counts[word]) for word, like, _ in words if len(word) <= LONGEST_LABEL]
                for label, words in near.items()
            },
            "uncovered": [(word, counts[word]) for word, _ in reach.uncovered if len(word) <= LONGEST_LABEL],
            "prototype_share": reach.prototype_share,
            "linked_share": reach.linked_share,
            "alike": self._similarity is not None,
        }

    def _unsure(self, tagger: Any, lists: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        from handful.tagging.prototypes.lists import check_prototypes

        sentences = [list(self._session.sentences[row]) for row in self._order[:_N_TAUGHT]]
        found = check_prototypes(sentences, lists, tagger=tagger, n_words=_N_WORDS).unsure
        return [
            {"word": one.word, "count": self._session.counts[one.word], "labels": [name for name, _ in one.labels[:2]]}
            for one in found
            if len(one.word) <= LONGEST_LABEL
        ]

    def _sample(self, tagger: Any, before: TextModel) -> list[dict[str, Any]]:
        """Tag the sentences that are shown, and mark what is new since the learned_model before."""
        sentences = [list(self._session.sentences[row]) for row in self._shown]
        old = {one["row"]: one["tags"] for one in before.sample}
        shown = []
        for row, tokens, tags in zip(self._shown, sentences, tagger.predict(sentences), strict=True):
            own = mended(tags, self._session.spans)
            was = old.get(row, own)
            changed = [at for at, (one, other) in enumerate(zip(was, own, strict=True)) if one != other]
            words = [token[:LONGEST_LABEL] for token in tokens]
            shown.append({"row": row, "tokens": words, "tags": own, "changed": changed})
        return shown

    def _queue(self, tagger: Any, done: Mapping[int, Any]) -> list[tuple[int, str]]:
        left = [row for row in self._order if row not in done][:_N_CHOSEN_FROM]
        if not left:
            return []
        picks = suggest_sentences(
            [self._session.sentences[row] for row in left],
            tagger,
            n=_N_QUEUE,
            random_state=self._session.seed + len(done),
        )
        return [(left[pick.sentence], pick.reason) for pick in picks]

    def _check(self) -> None:
        if self._wake.is_set():
            raise _AnewError

    def _say(self, text: str) -> None:
        self._session.busy = text
        self._session.tell("learned_model")

    def _publish(self, learned_model: TextModel, busy: str = "") -> None:
        with self._session.lock:
            self._session.learned_model = learned_model
            self._session.busy = busy
        self._session.tell("learned_model")


def _told(error: Exception) -> str:
    return str(error).partition(": ")[2] or str(error)


_COLUMNS = ("token", "tag")


def export_text(session: TextSession, what: str) -> list[Path]:
    """Write a file beside the text; the text itself stays as it is.

    Parameters
    ----------
    session : TextSession
        The text.
    what : {"tags", "words", "predictions", "model"}
        Sentences that a person has tagged whole, the board of words, all sentences as the model tags them, or the model.

    Returns
    -------
    list of Path
        The files.
    """
    from handful.data.conll import write_conll
    from handful.data.word_lists import write_prototypes
    from handful.persistence.model_file import save

    ending = {"tags": "tags.tsv", "words": "prototypes.tsv", "predictions": "predictions.tsv", "model": "handful"}
    if what not in ending:
        raise DataError(f"studio: tags, words, predictions or model can be exported, got {what!r}.")
    target = export_path(session, ending[what])
    with session.lock:
        lists, done, tagger = session.lists, session.done, session.learned_model.tagger
    if what == "tags":
        write_conll(target, _tagged(session, done), _COLUMNS)
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
        write_conll(target, _predicted(session, tagger), _COLUMNS)
    return [target]


def _tagged(session: TextSession, done: Mapping[int, list[Any]]) -> list[Sentence]:
    rows = [(row, tags) for row, tags in sorted(done.items()) if None not in tags]
    if not rows:
        raise DataError("studio: no sentence has a tag on every token yet. Accept some first.")
    return [Sentence(session.sentences[row], {"tag": _texts(tags)}) for row, tags in rows]


def _predicted(session: TextSession, tagger: Any) -> list[Sentence]:
    sentences = [sentence for sentence in session.sentences if sentence]
    answers = tagger.predict([list(sentence) for sentence in sentences])
    return [
        Sentence(sentence, {"tag": tuple(mended(tags, session.spans))})
        for sentence, tags in zip(sentences, answers, strict=True)
    ]


def _texts(tags: list[Any]) -> tuple[str, ...]:
    return tuple(str(tag) for tag in tags)


class TextStudio:
    """A text on a page.

    Parameters
    ----------
    session : TextSession
        The text.
    """

    def __init__(self, session: TextSession) -> None:
        self.session = session
        self.stream = EventStream()
        self._trainer = TextTrainer(session)
        session.tell = self._tell

    def app(self, token: str, host: str = "127.0.0.1") -> Guard:
        """Return the application; the teacher begins.

        Parameters
        ----------
        token : str
            Secret of the link.
        host : str
            Where the server listens.
        """
        asked = {
            "view": lambda query: self._locked(self.session.view),
            "learned": lambda query: self._locked(self.session.learned),
            "sentence": lambda query: self._locked(lambda: self.session.sentence(number(query, "row"))),
        }
        done = {"act": self._act, "export": self._export}
        self._trainer.start()
        self._trainer.wake()
        return make_app(self.session, token, asked=asked, done=done, stream=self.stream, host=host)

    def close(self) -> None:
        """End all work and close the log."""
        self._trainer.end()
        self.stream.close()
        self.session.close()

    def _locked(self, work: Any) -> Any:
        with self.session.lock:
            return work()

    def _tell(self, what: str) -> None:
        if what == "changed":
            self._trainer.wake()
            self.stream.send("changed", {"version": self.session.state.n_actions})
        else:
            self.stream.send("learned_model", {"busy": self.session.busy})

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.session.lock:
            self.session.act(body)
            return self.session.view()

    def _export(self, body: Mapping[str, Any]) -> Any:
        return {"files": [str(file) for file in export_text(self.session, str(body.get("what")))]}
