"""The model of a text, taught anew after every edit, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import HandfulError
from handful.labeling import next_sentences
from handful.studio.desk import LONGEST_LABEL
from handful.studio.text_desk import Lesson, TextDesk
from handful.studio.token_tags import OUTSIDE, label_of, mended

_QUIET = 0.15  # seconds without an action, after which a lesson begins
_ITERATIONS = 40
_N_TAUGHT = 400  # raw sentences that a lesson learns from
_N_TAGGED = 1_000  # tagged sentences of a file that it learns from
_N_CHOSEN_FROM = 600
_N_SHOWN = 24
_N_QUEUE = 10
_N_WORDS = 12
_N_NEAR = 8
_N_ALIKE = 20_000  # sentences from which it is learned which words are alike
_USUAL = range(4, 40)  # tokens of a sentence that teaches
_SHORT = range(5, 22)  # tokens of a sentence that is shown
_N_PLACES = 3


class _AnewError(Exception):
    """Something was edited while a lesson was under way."""


class Teacher(threading.Thread):
    """Keeps the lesson of a text up to date.

    Parameters
    ----------
    desk : TextDesk
        The text; its `lesson` is replaced, and it is told ``"lesson"``.
    """

    def __init__(self, desk: TextDesk) -> None:
        super().__init__(daemon=True, name="studio teacher")
        self._desk = desk
        self._wake = threading.Event()
        self._over = threading.Event()
        self._similarity: Any = None
        self._where: dict[str, list[int]] = {}
        order = np.random.default_rng(desk.seed).permutation(desk.n_items).tolist()
        usual = [row for row in order if len(desk.sentences[row]) in _USUAL]
        self._order: list[int] = usual or [row for row in order if desk.sentences[row]]
        short = [row for row in self._order if len(desk.sentences[row]) in _SHORT]
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
        if self._desk.has_board:
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
            except HandfulError as error:
                self._publish(replace(self._desk.lesson, text=_told(error), version=self._desk.state.n_actions))

    def _look_up(self) -> None:
        for row in self._order:
            for word in set(self._desk.sentences[row]):
                places = self._where.setdefault(word, [])
                if len(places) < _N_PLACES:
                    places.append(row)

    def _liken(self) -> None:
        """Learn once which words are alike; until then words are linked to nothing."""
        from handful.tagging.prototypes.similarities import learn_similarity

        text = [self._desk.sentences[row] for row in self._order[:_N_ALIKE]]
        try:
            self._similarity = learn_similarity("nearby" if self._desk.fields else "places", text, sum(map(len, text)))
        except HandfulError:
            return  # too short a text: nothing is like anything
        self.wake()

    def _teach(self) -> None:
        desk = self._desk
        with desk.lock:
            lists = {label: words for label, words in desk.lists.items() if words} if desk.has_board else {}
            done = desk.done
            before, version = desk.lesson, desk.state.n_actions
        self._say("Learning")
        if desk.has_board:  # the board need not wait for the model
            self._publish(replace(before, board={**before.board, **self._suggestions(lists)}), busy="Learning")
        tagger, text = self._fit(lists, done)
        self._check()
        lesson = Lesson(tagger, text, self._queue(tagger, done), [], desk.lesson.board, version)
        if tagger is not None:
            lesson = replace(lesson, sample=self._sample(tagger, before))
            if lists:
                lesson = replace(lesson, board={**lesson.board, "unsure": self._unsure(tagger, lists)})
        self._check()
        self._publish(lesson)

    def _fit(self, lists: Mapping[str, list[str]], done: Mapping[int, list[str | None]]) -> tuple[Any, str]:
        desk = self._desk
        whole = [(list(desk.sentences[row]), list(tags)) for row, tags in done.items() if None not in tags]
        if lists:
            return self._fit_prototypes(lists, done)
        tagged = [(list(tokens), list(tags)) for tokens, tags in desk.tagged[:_N_TAGGED]] + whole
        if len({tag for _, tags in tagged for tag in tags}) < 2:
            hint = "Give words to two labels" if desk.has_board else "Tag a sentence"
            return None, f"Nothing to learn from yet. {hint}, and the model begins to tag."
        from handful.tagging.recipes import TaggerSetup

        setup = TaggerSetup("general", outside_bias=0.0, max_iter=_ITERATIONS, random_state=desk.seed)
        sentences, tags = [tokens for tokens, _ in tagged], [own for _, own in tagged]
        tagger = setup.fit_crf(sentences, tags, progress=lambda step: self._check())  # type: ignore[arg-type]
        return tagger, f"A CRF from {counted(len(tagged), 'tagged sentence')}, {len(whole):,} of them yours."

    def _fit_prototypes(self, lists: Mapping[str, list[str]], done: Mapping[int, list[str | None]]) -> tuple[Any, str]:
        from handful.tagging import PrototypeTagger

        desk = self._desk
        with_words = [row for words in lists.values() for word in words for row in self._where.get(word, ())]
        rows = list(dict.fromkeys([*done, *self._order[:_N_TAUGHT], *with_words]))
        tags: list[Any] = [self._labels(done[row]) if row in done else None for row in rows]
        named = {*lists, *(tag for own in tags for tag in own or () if tag)}
        if len(named) < 2:
            return None, "One label is nothing to choose from. Give words to a second one, and the model begins to tag."
        tagger = PrototypeTagger(
            lists, order=1, similarity=self._similarity, max_iter=_ITERATIONS, random_state=desk.seed
        )
        tagger.fit([list(desk.sentences[row]) for row in rows], tags, progress=lambda step: self._check())
        n_words = sum(map(len, lists.values()))
        yours = f" and {counted(len(done), 'tagged sentence')}" if done else ""
        return (
            tagger,
            f"Prototypes: {counted(n_words, 'word')} of {counted(len(lists), 'label')}{yours}, on "
            f"{counted(len(rows), 'raw sentence')}.",
        )

    def _labels(self, tags: Sequence[str | None]) -> list[str | None]:
        """Return the label of each token in place of its tag; spans have no beginning for prototypes."""
        return [tag and (label_of(tag, self._desk.spans) or OUTSIDE) for tag in tags]

    def _suggestions(self, lists: Mapping[str, list[str]]) -> dict[str, Any]:
        from handful.tagging.prototypes.coverage import check_prototypes
        from handful.tagging.prototypes.lists import suggest_prototypes

        sentences = [self._desk.sentences[row] for row in self._order[: 10 * _N_TAUGHT]]
        reach = check_prototypes(sentences, lists, self._similarity, n_words=_N_WORDS)
        near: dict[str, Any] = {}
        if self._similarity is not None and lists:
            near = suggest_prototypes(sentences, lists, self._similarity, n_words=_N_NEAR).near
        counts = self._desk.counts
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
        from handful.tagging.prototypes.coverage import check_prototypes

        sentences = [list(self._desk.sentences[row]) for row in self._order[:_N_TAUGHT]]
        found = check_prototypes(sentences, lists, tagger=tagger, n_words=_N_WORDS).unsure
        return [
            {"word": one.word, "count": self._desk.counts[one.word], "labels": [name for name, _ in one.labels[:2]]}
            for one in found
            if len(one.word) <= LONGEST_LABEL
        ]

    def _sample(self, tagger: Any, before: Lesson) -> list[dict[str, Any]]:
        """Tag the sentences that are shown, and mark what is new since the lesson before."""
        sentences = [list(self._desk.sentences[row]) for row in self._shown]
        old = {one["row"]: one["tags"] for one in before.sample}
        shown = []
        for row, tokens, tags in zip(self._shown, sentences, tagger.predict(sentences), strict=True):
            own = mended(tags, self._desk.spans)
            was = old.get(row, own)
            changed = [at for at, (one, other) in enumerate(zip(was, own, strict=True)) if one != other]
            words = [token[:LONGEST_LABEL] for token in tokens]
            shown.append({"row": row, "tokens": words, "tags": own, "changed": changed})
        return shown

    def _queue(self, tagger: Any, done: Mapping[int, Any]) -> list[tuple[int, str]]:
        left = [row for row in self._order if row not in done][:_N_CHOSEN_FROM]
        if not left:
            return []
        picks = next_sentences(
            [self._desk.sentences[row] for row in left], tagger, n=_N_QUEUE, random_state=self._desk.seed + len(done)
        )
        return [(left[pick.sentence], pick.reason) for pick in picks]

    def _check(self) -> None:
        if self._wake.is_set():
            raise _AnewError

    def _say(self, text: str) -> None:
        self._desk.busy = text
        self._desk.tell("lesson")

    def _publish(self, lesson: Lesson, busy: str = "") -> None:
        with self._desk.lock:
            self._desk.lesson = lesson
            self._desk.busy = busy
        self._desk.tell("lesson")


def _told(error: HandfulError) -> str:
    return str(error).partition(": ")[2] or str(error)
