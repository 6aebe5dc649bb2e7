"""Text being labeled."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from handful.active.estimates import MIN_RANDOM
from handful.active.query import RANDOM
from handful.active.sentences import estimate_tagging, suggest_sentences
from handful.data.records import Sentence
from handful.errors import DataError, HandfulError, Progress, counted
from handful.studio.annotations import AnnotationLog
from handful.studio.label_book import LONGEST_LABEL, Setup, checked_label
from handful.studio.session import QUEUE, LabelingSession, Studio, Worker, checked_number

OUTSIDE = "O"
Tag = TypeVar("Tag", str, "str | None")
Lists = Mapping[str, list[str]]  # prototypes of each label
Done = Mapping[int, list[str | None]]  # tags of each accepted sentence


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
    labels: list[str] = [label_of(tag or OUTSIDE, spans) for tag in tags]
    out = list(tags)
    for at, (before, label) in enumerate(pairwise(["", *labels])):
        if spans and label and not str(tags[at]).startswith("B-"):
            out[at] = f"{'I' if label == before else 'B'}-{label}"
    return out


def filled(tags: Sequence[str | None], suggestion: Sequence[str | None] | None, spans: bool) -> list[str | None]:
    """Return a person's tags, with the suggestion where there is none.

    Of spans only those are taken whose tokens are all open: a span that a person made shorter stays as short.

    Examples
    --------
    >>> filled(["B-PER", None, None, None], ["B-PER", "I-PER", "O", "B-LOC"], True)
    ['B-PER', 'O', 'O', 'B-LOC']
    """
    others = [None] * len(tags) if suggestion is None else suggestion
    if not spans:
        return [other if own is None else own for own, other in zip(tags, others, strict=True)]
    whole: list[str | None] = [OUTSIDE if tag is None else tag for tag in tags]
    starts = [i for i, tag in enumerate(others) if tag is not None and not tag.startswith("I-")] + [len(tags)]
    for start, stop in pairwise(starts):
        if not any(tags[start:stop]):
            whole[start:stop] = others[start:stop]
    return whole


_NO_SUGGESTION: dict[str, Any] = {"suggestion": None, "confidence": None}
_MOST_SHOWN = 400  # tokens of a sentence
_LONGEST_SHOWN = 200  # letters of a token


@dataclass(frozen=True)
class LearnedText:
    """What a model of a text has learned and what it shows.

    Parameters
    ----------
    tagger : fitted tagger or None
        Suggests tags; None before there is anything to learn from.
    text : str
        Which model it is and what it learned from, or what is missing.
    sample : list of dict
        Some sentences with their tags, and which of these are others than before the last edit.
    board : dict
        Suggestions, coverage and uncertain words.
    version : int
        Actions that it has learned from.
    suggested : dict
        Tags and confidences by sentence, predicted so far.
    """

    tagger: Any = None
    text: str = "Reading the text."
    sample: list[dict[str, Any]] = field(default_factory=list)
    board: dict[str, Any] = field(default_factory=dict)
    version: int = -1
    suggested: dict[int, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TaggingTask:
    """What is tagged in a text, and what there is to begin with.

    Parameters
    ----------
    lists : mapping of str to sequence of str
        Prototypes of each label to begin with.
    tagged : sequence of (tokens, tags)
        Tagged sentences to begin with; there is no board of words then.
    spans : bool, default=False
        Whether labels mark spans of tokens (tags are B-X, I-X and O), not single tokens.
    fields : bool, default=False
        Whether labels are fields of documents, in which words are alike that are near the same words in any order.
    """

    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tagged: Sequence[tuple[Any, Sequence[str]]] = ()
    spans: bool = False
    fields: bool = False


class TextSession(LabelingSession):
    """A text that is being tagged.

    Parameters
    ----------
    name, log, folder, setup
        As for `handful.studio.session.LabelingSession`.
    sentences : list of tuples of str
        Its tokens.
    task : TaggingTask, optional
        Labels to begin with.

    Attributes
    ----------
    learned_model : LearnedText
        What the model has learned.
    measured : dict
        Accuracy on random sentences, with and without the board; see `TextStudio.measure`.
    busy : str
        What is worked on at present; empty if nothing is.
    """

    kind = "text"

    def __init__(
        self,
        name: str,
        sentences: list[tuple[str, ...]],
        log: AnnotationLog,
        folder: Path,
        task: TaggingTask | None = None,
        setup: Setup | None = None,
    ) -> None:
        super().__init__(name, len(sentences), log, folder, setup)
        self.sentences = sentences
        self.task = task or TaggingTask()
        self.spans = self.task.spans
        self.has_board = not self.task.tagged
        self.learned_model = LearnedText()
        self.measured: dict[str, Any] = {}
        self.busy = ""
        usual = [row for row in self.order if len(sentences[row]) in _USUAL]
        self.n_usual = len(usual)
        self.order = usual + [row for row in self.order if sentences[row] and len(sentences[row]) not in _USUAL]
        tagged = {label_of(tag, self.spans) for _, tags in self.task.tagged for tag in tags} - {""}
        self._given_labels = [*self.task.lists, *sorted(tagged - self.task.lists.keys())]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs in the text."""
        return Counter(word for sentence in self.sentences for word in sentence)

    @property
    def lists(self) -> dict[str, list[str]]:
        """The board: words of each label, in the order they came."""
        edited = self.state["lists"]
        return {label: list(edited.get(label, self.task.lists.get(label, []))) for label in self.label_names()}

    @property
    def done(self) -> dict[int, list[str | None]]:
        """Tags of the sentences that a person has accepted."""
        return {int(row): held["tags"] for row, held in self.state["tags"].items() if held["done"]}

    def random_sentences(self, done: Mapping[int, Sequence[str | None]]) -> list[int]:
        """Return the sentences that were chosen at random and tagged whole."""
        audits = map(int, self.state["audits"])
        return [row for row in audits if row in done and None not in done[row]]

    def _names_of_data(self) -> list[str]:
        return self._given_labels

    def _used_names(self) -> list[str]:
        used = [label_of(tag, self.spans) for held in self.state["tags"].values() for tag in held["tags"] if tag]
        return [*self.state["lists"], *used]

    def _relabeled(self, old: str, new: str | None) -> dict[str, dict[str, Any]]:
        if any(label_of(tag, self.spans) == old for _, tags in self.task.tagged for tag in tags):
            raise DataError(f"studio: {old!r} is a label of the tagged sentences. Rename it in their file.")
        first, inner = span_tags(new, 2, self.spans)
        moved = {f"B-{old}": first, f"I-{old}": inner} if self.spans else {old: new}
        tags = {
            row: {**held, "tags": mended([moved.get(tag, tag) for tag in held["tags"]], self.spans)}
            for row, held in self.state["tags"].items()
            if not moved.keys().isdisjoint(held["tags"])
        }
        lists = self.lists
        words = {} if new is None else {new: list(dict.fromkeys([*lists.get(new, []), *lists[old]]))}
        return {"tags": tags, "lists": {old: [], **words}}

    def is_labeled(self, item: int) -> bool:
        """Tell whether a sentence was accepted."""
        held = self.state["tags"].get(str(item))
        return held is not None and bool(held["done"])

    def do_span(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
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

    def do_accept(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take the suggestion for all tokens that have no tag; the sentence is done."""
        row = checked_number(body.get("item"), self.n_items)
        is_random = self.is_audit(row, body)
        predicted = self.suggestion(row)["suggestion"]
        tags = filled(self._tags(row), None if is_random else predicted, self.spans)
        if all(tag is None for tag in tags):
            raise DataError("studio: no token has a tag. Choose some tokens and give them a label first.")
        tags = mended(tags, self.spans)
        changes: dict[str, Any] = {
            "tags": {str(row): {"tags": tags, "done": True}},
            "people": {str(row): self.annotator(body)},
        }
        if str(row) in self.state["marks"]:
            changes["marks"] = {str(row): None}
        if is_random:
            changes["audits"] = {str(row): {}}
        return {"do": "accept", "set": changes}

    def do_word(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a word under a label, take it away from one, or both."""
        if not self.has_board:
            raise DataError("studio: the model learns from tagged sentences here; there is no list of words.")
        word = checked_label(body.get("word"))
        if len(word.split()) != 1:
            raise DataError("studio: a prototype must be one word.")
        changes = {}
        for end in ("from", "to"):
            if body.get(end) is not None:
                label = checked_label(body[end])
                held = self.lists.get(label, [])
                if (word in held) != (end == "from"):
                    raise DataError(f"studio: {word!r} is {'not' if end == 'from' else 'already'} under {label!r}.")
                changes[label] = [*held, word] if end == "to" else [other for other in held if other != word]
        if not changes:
            raise DataError("studio: name the label from which or to which the word goes.")
        return {"do": "word", "set": {"lists": changes}}

    def _tags(self, row: int) -> list[str | None]:
        held = self.state["tags"].get(str(row))
        return [None] * len(self.sentences[row]) if held is None else list(held["tags"])

    def suggestion(self, row: int) -> dict[str, Any]:
        """Return the tags that the model predicts for a sentence, and how confident it is of each."""
        learned = self.learned_model
        if learned.tagger is None or not self.sentences[row]:
            return _NO_SUGGESTION
        if row not in learned.suggested:
            learned.suggested.update(suggestions(learned.tagger, self, [row]))
        return learned.suggested[row]

    def view(self, by: str = "") -> dict[str, Any]:
        """Return all that the page shows a person, the next sentences among it."""
        done = self.done
        tags = [tag for tags in done.values() for tag in tags if tag is not None]
        # Spans are counted, not their tokens.
        used = Counter(label_of(tag, self.spans) for tag in tags if not (self.spans and tag.startswith("I-")))
        return {
            **super().view(by),
            "n_done": len(done),
            "spans": self.spans,
            "labels": self._labels(used),
            "audit": {"needed": max(MIN_RANDOM - len(self.random_sentences(done)), 0), **self.measured},
            "model": {"text": self.learned_model.text, "busy": self.busy, "version": self.learned_model.version},
            "sample": self.learned_model.sample,
            "board": self._board() if self.has_board else None,
        }

    def _board(self) -> dict[str, Any]:
        counts, board = self.counts, self.learned_model.board
        columns = [
            {
                "label": label,
                "words": [[word, counts[word]] for word in words],
                "near": [[word, n] for word, n in board.get("near", {}).get(label, []) if word not in words],
            }
            for label, words in self.lists.items()
        ]
        return {**board, "columns": columns}

    def item(self, item: int, reason: str = "") -> dict[str, Any]:
        """Return a sentence with its tags and what the model predicts; a very long one is cut for showing."""
        row = checked_number(item, self.n_items)
        predicted = _NO_SUGGESTION if reason == RANDOM else self.suggestion(row)
        return {
            "row": row,
            "tokens": [token[:_LONGEST_SHOWN] for token in self.sentences[row][:_MOST_SHOWN]],
            "more": max(len(self.sentences[row]) - _MOST_SHOWN, 0),
            "tags": self._tags(row)[:_MOST_SHOWN],
            "done": self.is_seen(row),
            "note": self.state["notes"].get(str(row), ""),
            **{name: values and values[:_MOST_SHOWN] for name, values in predicted.items()},
        }


def suggestions(tagger: Any, session: TextSession, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the predicted tags of sentences, with the confidence in each."""
    sentences = [list(session.sentences[row]) for row in rows]
    pairs = zip(rows, tagger.predict(sentences), tagger.predict_proba(sentences), strict=True)
    return {
        row: {
            "suggestion": mended(tags, session.spans),
            "confidence": [round(float(value), 3) for value in proba.max(axis=1)],
        }
        for row, tags, proba in pairs
    }


_QUIET = 0.15  # seconds without an action, after which a model is trained
_ITERATIONS = 40
_N_RAW = 400  # raw sentences that a model learns from
_N_TAGGED = 1_000  # tagged sentences of a file that it learns from
_N_CHOSEN_FROM = 600
_N_SHOWN = 24
_N_WORDS = 12
_N_NEAR = 8
_THRESHOLD = 0.45  # of similarity by place-roots
_N_ALIKE = 20_000  # sentences from which it is learned which words are alike
_USUAL = range(4, 40)  # tokens of a sentence that a model learns from
_SHORT = range(5, 22)  # tokens of a sentence that is shown
_N_PLACES = 3
_N_OUTSIDE = 20


_COLUMNS = ("token", "tag")


class TextStudio(Studio):
    """A text on a page, and the threads that train a tagger on its latest state whenever it changed.

    Parameters
    ----------
    session : TextSession
        The text; its `learned_model` is replaced, and it sends the event ``"learned_model"``.
    css : Path, optional
        Style sheet that is added to that of the page.
    """

    session: TextSession

    ENDINGS: Mapping[str, str] = {
        "tags": "tags.tsv",
        "words": "prototypes.tsv",
        "predictions": "predictions.tsv",
        "model": "handful",
    }

    def __init__(self, session: TextSession, css: Path | None = None) -> None:
        super().__init__(session, css)
        self.worker = Worker(self.train, failed=self._failed, quiet=_QUIET)
        self.measuring = Worker(self.measure, failed=self._failed, quiet=_QUIET)
        self.threads = [self.worker, self.measuring]
        self._measured_at = 0
        self._similarity: Any = None
        self._compares = session.has_board  # words of the board with other words, once
        self._order = session.order[: session.n_usual] or session.order
        short = [row for row in self._order if len(session.sentences[row]) in _SHORT]
        self._shown = (short or self._order)[:_N_SHOWN]

    def export(self, what: str) -> Path:
        """Write a file next to the text.

        Parameters
        ----------
        what : {"tags", "words", "predictions", "model"}
            Sentences that a person has tagged whole, the board of words, all sentences as the model tags them, or the model.
        """
        from handful.data.conll import write_conll
        from handful.data.word_lists import write_prototypes
        from handful.persistence.model_file import save

        session = self.session
        if what not in self.ENDINGS:
            return super().export(what)
        target = session.export_path(self.ENDINGS[what])
        with session.lock:
            lists, done, tagger = session.lists, session.done, session.learned_model.tagger
        words = {label: held for label, held in lists.items() if held}
        if what == "tags":
            write_conll(target, _tagged(session, done), _COLUMNS)
        elif what == "words" and not words:
            raise DataError("studio: no label has a word yet. Put some on the board first.")
        elif what == "words":
            write_prototypes(target, words)
        elif tagger is None:
            raise DataError("studio: there is no model yet. Give words to two labels, or tag some sentences first.")
        elif what == "model":
            save(self.final(tagger, done), target)
        else:
            write_conll(target, _predicted(session, self.final(tagger, done)), _COLUMNS)
        return target

    def _failed(self, error: Exception) -> None:
        text = str(error).partition(": ")[2] or str(error)
        self._publish(replace(self.session.learned_model, text=text, version=self.session.state.n_actions))

    @cached_property
    def _where(self) -> dict[str, list[int]]:
        """Some sentences of each word."""
        where: dict[str, list[int]] = {}
        for row in self._order:
            for word in set(self.session.sentences[row]):
                places = where.setdefault(word, [])
                if len(places) < _N_PLACES:
                    places.append(row)
        return where

    def _compare_words(self) -> None:
        """Learn which words are alike; until then words are linked to nothing."""
        from handful.tagging.prototypes.features import learn_similarity

        text = [self.session.sentences[row] for row in self._order[:_N_ALIKE]]
        with suppress(HandfulError):  # too short a text: nothing is like anything
            self._similarity = learn_similarity("place-roots", text, sum(map(len, text)))
            self.worker.wake()

    def train(self) -> None:
        """Fit a tagger, choose the next sentences, and tag the sample."""
        session = self.session
        if self._compares:
            self._compares = False
            threading.Thread(target=self._compare_words, daemon=True, name="studio similarity").start()
        with session.lock:
            lists = {label: words for label, words in session.lists.items() if words} if session.has_board else {}
            done = session.done
            before, version = session.learned_model, session.state.n_actions
        self._publish(before, busy="Learning")
        if session.has_board:  # the board need not wait for the model
            self._publish(replace(before, board={**before.board, **self._suggestions(lists)}), busy="Learning")
        scores = [session.measured[name]["score"] for name in ("tagged", "board") if name in session.measured]
        if len(scores) == 2 and scores[0] > scores[1]:
            lists = {}  # tagging is better than the board by now
        tagger, text = self._fit(lists, done, lambda step: self.worker.check())
        self.worker.check()
        queue = self._queue(tagger, done)
        learned = LearnedText(tagger, text, [], session.learned_model.board, version)
        if tagger is not None:
            learned.suggested.update(suggestions(tagger, session, [row for row, _ in queue]))
            learned = replace(learned, sample=self._sample(tagger, before))
            if lists:
                learned = replace(learned, board={**learned.board, "unsure": self._unsure(tagger, lists)})
        self.worker.check()
        with session.lock:
            session._queue = queue
        self._publish(learned)

    def measure(self) -> None:
        """Estimate how well the tagger does on random sentences, with the board and from tagged sentences alone.

        The better of the two makes the suggestions.
        """
        session = self.session
        with session.lock:
            done, lists = session.done, session.lists if session.has_board else {}
        whole = [row for row, tags in done.items() if None not in tags]
        random = [whole.index(row) for row in session.random_sentences(done)]
        if len(random) < MIN_RANDOM or len(whole) == self._measured_at:
            return
        self._measured_at = len(whole)
        tags = [[tag or OUTSIDE for tag in done[row]] for row in whole]

        def predict(board: Lists, train: list[int], test: list[int]) -> list[list[str]]:
            tagger, _ = self._fit(board, {whole[at]: done[whole[at]] for at in train}, lambda step: None)
            held = [list(session.sentences[whole[at]]) for at in test]
            tagged = [[OUTSIDE] * len(tokens) for tokens in held] if tagger is None else tagger.predict(held)
            return [mended(one, session.spans) for one in tagged]

        boards: dict[str, Lists] = {"tagged": {}, "board": {label: words for label, words in lists.items() if words}}
        session.measured = {
            name: asdict(estimate_tagging(tags, random, partial(predict, board), session.spans))
            for name, board in boards.items()
            if name == "tagged" or board
        }
        session.tell("learned_model", {"busy": session.busy})

    def _fit(self, lists: Lists, done: Done, progress: Progress) -> tuple[Any, str]:
        """Return a tagger and what it learned from; None where there is nothing to learn yet."""
        session = self.session
        if lists:
            return self._fit_prototypes(lists, done, progress)
        sentences, tags = self._training_data(done)
        if len({tag for own in tags for tag in own}) < 2:
            hint = "Give words to two labels" if session.has_board else "Tag a sentence"
            return None, f"Nothing to learn from yet. {hint}, and the model begins to tag."
        from handful.tagging.recipes import TaggerSetup

        setup = TaggerSetup("general", outside_bias=0.0, max_iter=_ITERATIONS, random_state=session.seed)
        return setup.fit_crf(sentences, tags, progress=progress), f"A CRF from {counted(len(tags), 'tagged sentence')}."

    def final(self, tagger: Any, done: Done) -> Any:
        """Return the model to export: that of `handful fit tagger` where tagged sentences alone are learned from."""
        from handful.tagging.recipes import TaggerSetup

        if hasattr(tagger, "prototypes"):
            return tagger
        sentences, tags = self._training_data(done)
        return TaggerSetup(random_state=self.session.seed).fit_crf(sentences, tags)

    def _training_data(self, done: Done) -> tuple[list[Any], list[Any]]:
        """Return the tokens and tags of the tagged sentences of the file and of the page."""
        session = self.session
        own = [(list(session.sentences[row]), list(tags)) for row, tags in done.items() if None not in tags]
        tagged = [(list(tokens), list(tags)) for tokens, tags in session.task.tagged[:_N_TAGGED]] + own
        return [tokens for tokens, _ in tagged], [tags for _, tags in tagged]

    def _fit_prototypes(self, lists: Lists, done: Done, progress: Progress) -> tuple[Any, str]:
        from handful.tagging.prototypes.tagger import PrototypeTagger

        session = self.session
        with_words = [row for words in lists.values() for word in words for row in self._where.get(word, ())]
        rows = list(dict.fromkeys([*done, *self._order[:_N_RAW], *with_words]))
        labels = {row: self._labels(tags) for row, tags in done.items()}
        if session.spans:
            lists = {**lists, OUTSIDE: self._outside_words(lists)}
        if len(lists.keys() | set().union(*labels.values()) - {None}) < 2:
            return None, "There is only one label. Give words to a second one, and the model begins to tag."
        tagger = PrototypeTagger(
            lists,
            order=1,
            similarity=self._similarity,
            threshold=_THRESHOLD,
            sticky=2.0 if session.task.fields else 0.0,
            max_iter=_ITERATIONS,
            random_state=session.seed,
        )
        tags: list[Any] = [labels.get(row) for row in rows]
        tagger.fit([list(session.sentences[row]) for row in rows], tags, progress=progress)
        words = f"{counted(sum(map(len, lists.values())), 'word')} of {counted(len(lists), 'label')}"
        tagged = f" and {counted(len(done), 'tagged sentence')}" if done else ""
        return tagger, f"Prototypes: {words}{tagged}, on {counted(len(rows), 'raw sentence')}."

    def _outside_words(self, lists: Lists) -> list[str]:
        """Return frequent words of no label: prototypes of what is outside all spans."""
        named = {word for words in lists.values() for word in words}
        frequent = self.session.counts.most_common(_N_OUTSIDE + len(named))
        return [word for word, _ in frequent if word not in named][:_N_OUTSIDE]

    def _labels(self, tags: Sequence[str | None]) -> list[str | None]:
        """Return the label of each token instead of its tag; spans have no beginning for prototypes."""
        return [tag and (label_of(tag, self.session.spans) or OUTSIDE) for tag in tags]

    def _suggestions(self, lists: Lists) -> dict[str, Any]:
        from handful.tagging.prototypes.lists import check_prototypes, suggest_prototypes

        sentences = [self.session.sentences[row] for row in self._order[: 10 * _N_RAW]]
        reach = check_prototypes(sentences, lists, self._similarity, threshold=_THRESHOLD, n_words=_N_WORDS)
        near: dict[str, Any] = {}
        if self._similarity is not None and lists:
            near = suggest_prototypes(sentences, lists, self._similarity, n_words=_N_NEAR, threshold=_THRESHOLD).near
        return {
            "near": {label: self._counted(word for word, *_ in words) for label, words in near.items()},
            "uncovered": self._counted(word for word, _ in reach.uncovered),
            "prototype_share": reach.prototype_share,
            "linked_share": reach.linked_share,
            "alike": self._similarity is not None,
        }

    def _counted(self, words: Iterable[str]) -> list[tuple[str, int]]:
        return [(word, self.session.counts[word]) for word in words if len(word) <= LONGEST_LABEL]

    def _unsure(self, tagger: Any, lists: Lists) -> list[dict[str, Any]]:
        from handful.tagging.prototypes.lists import check_prototypes

        sentences = [list(self.session.sentences[row]) for row in self._order[:_N_RAW]]
        unsure = check_prototypes(sentences, lists, tagger=tagger, n_words=_N_WORDS).unsure
        labels = {one.word: [name for name, _ in one.labels[:2]] for one in unsure}
        return [{"word": word, "count": n, "labels": labels[word]} for word, n in self._counted(labels)]

    def _sample(self, tagger: Any, before: LearnedText) -> list[dict[str, Any]]:
        """Tag the sentences that are shown, and mark which tags are other ones than before."""
        sentences = [list(self.session.sentences[row]) for row in self._shown]
        old = {one["row"]: one["tags"] for one in before.sample}
        shown = []
        for row, tokens, tags in zip(self._shown, sentences, tagger.predict(sentences), strict=True):
            own = mended(tags, self.session.spans)
            changed = [at for at, tag in enumerate(old.get(row, own)) if tag != own[at]]
            words = [token[:LONGEST_LABEL] for token in tokens]
            shown.append({"row": row, "tokens": words, "tags": own, "changed": changed})
        return shown

    def _queue(self, tagger: Any, done: Mapping[int, Any]) -> list[tuple[int, str]]:
        """Return the sentences to tag next, every fifth chosen at random."""
        left = [row for row in self._order if not self.session.is_seen(row)][:_N_CHOSEN_FROM]
        if not left:
            return []
        session, seed = self.session, self.session.seed + len(done)
        raw, strategy = [session.sentences[row] for row in left], session.strategy
        picks = suggest_sentences(raw, tagger, n=QUEUE, strategy=strategy, n_labeled=len(done), random_state=seed)
        return [(left[pick.sentence], pick.reason) for pick in picks]

    def _publish(self, learned: LearnedText, busy: str = "") -> None:
        with self.session.lock:
            self.session.learned_model = learned
            self.session.busy = busy
        self.session.tell("learned_model", {"busy": busy})


def _tagged(session: TextSession, done: Mapping[int, list[Any]]) -> list[Sentence]:
    rows = [(row, tags) for row, tags in sorted(done.items()) if None not in tags]
    if not rows:
        raise DataError("studio: no sentence has a tag on every token yet. Accept some first.")
    return [Sentence(session.sentences[row], {"tag": tuple(map(str, tags))}) for row, tags in rows]


def _predicted(session: TextSession, tagger: Any) -> list[Sentence]:
    sentences = [sentence for sentence in session.sentences if sentence]
    predicted = tagger.predict([list(sentence) for sentence in sentences])
    tags = [tuple(mended(one, session.spans)) for one in predicted]
    return [Sentence(sentence, {"tag": own}) for sentence, own in zip(sentences, tags, strict=True)]
