"""What labeling a table and labeling a text have in common: actions, the queue, threads, routes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from handful.active.query import RANDOM
from handful.errors import DataError
from handful.studio.annotations import UNDO, AnnotationLog, State
from handful.studio.label_book import (
    COMMANDS,
    Setup,
    checked_entry,
    checked_key,
    checked_label,
    checked_text,
    keys_of,
    label_book_toml,
)
from handful.studio.server import EventStream, Guard, make_app, number

QUEUE = 10  # items that a page has in advance
_MOST_LABELS = 500
_MARKS = {"skip": "skipped", "unsure": "unsure"}


def checked_number(value: Any, below: int) -> int:
    """Return the number of a row or sentence, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise DataError(f"studio: must be a number from 0 to {below - 1}, got {value!r}.")
    return value


def _refuse_taken(key: str, of: str, keys: Mapping[str, str]) -> None:
    for name, held in keys.items():
        if key and held == key and name != of:
            raise DataError(f"studio: {key!r} is the key of {name!r}.")


class LabelingSession:
    """A table or text that is being labeled.

    Parameters
    ----------
    name : str
        Name of the data.
    n_items : int
        Rows or sentences.
    log : AnnotationLog
        Where actions go.
    folder : Path
        Where exports go.
    setup : Setup, optional
        Who labels, and by which rules.

    Attributes
    ----------
    lock : threading.RLock
        Held while anything is read or changed.
    tell : callable
        Called with the name of an event and its facts.
    order : list of int
        Items in random order, for a queue that is not ready.
    """

    kind = "session"
    has_board = False

    def __init__(self, name: str, n_items: int, log: AnnotationLog, folder: Path, setup: Setup | None = None) -> None:
        self.name = name
        self.n_items = n_items
        self.folder = folder
        self.setup = setup or Setup()
        self.seed = seed = self.setup.seed
        self.lock = threading.RLock()
        self.tell: Callable[[str, Any], None] = lambda event, facts: None
        self.order: list[int] = np.random.default_rng(seed).permutation(n_items).tolist()
        self._log = log
        self.strategy = "auto"
        self._queue: list[tuple[int, str]] = []
        self._wanted: int | None = None  # shown first, after an undo
        self.audited: dict[str, Any] = {}  # of which group random items are labeled at present; see `Review`
        self._random_shown: dict[int, dict[str, Any]] = {}

    @property
    def state(self) -> State:
        """What all actions so far led to."""
        return self._log.state

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def act(self, body: Mapping[str, Any]) -> None:
        """Carry out an action of the page; it is on disk when this returns.

        Parameters
        ----------
        body : mapping
            ``do`` names the action: it is made by the method ``do_NAME``.
        """
        with self.lock:
            action, at = getattr(self, f"do_{body['do']}")(body), datetime.now(UTC).isoformat(timespec="seconds")
            changes = self._log.add({**action, "by": self.annotator(body), "at": at})
            self._changed(changes)
            touched = {int(item) for name in ("labels", "tags", "marks") for item in changes.get(name, {})}
            if action["do"] == "undo":
                self._wanted = next(iter(touched)) if len(touched) == 1 else None
            elif self._wanted in touched and self.is_seen(self._wanted):
                self._wanted = None
        self.tell("changed", {"version": self.state.n_actions})

    def annotator(self, body: Mapping[str, Any]) -> str:
        """Return the name of the person who acts or looks."""
        return checked_label(body["by"]) if body.get("by") else self.setup.annotator

    # Each do_NAME returns the action NAME as the log keeps it, or refuses it.

    def do_undo(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take the last action back."""
        return UNDO

    def do_name(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make a label."""
        name = checked_label(body.get("name"))
        if name in self.label_names():
            raise DataError(f"studio: there is a label {name!r} already.")
        if len(self.label_names()) >= _MOST_LABELS:
            raise DataError(f"studio: there can be at most {_MOST_LABELS} labels.")
        return {"do": "name", "set": {"names": {name: True}}}

    def do_skip(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Mark an item as skipped, or as unsure."""
        item = checked_number(body.get("item"), self.n_items)
        if self.is_labeled(item):
            raise DataError(f"studio: {item + 1} has a label already. Undo it first.")
        return {"do": body["do"], "set": {"marks": {str(item): _MARKS[body["do"]]}}}

    do_unsure = do_skip

    def _known(self, body: Mapping[str, Any]) -> str:
        label = checked_label(body.get("label"))
        if label not in self.label_names():
            raise DataError(f"studio: there is no label {label!r}.")
        return label

    def entry(self, label: str) -> Mapping[str, Any]:
        """Return what the label book holds of a label."""
        return self.state["book"].get(label) or self.setup.book.entries.get(label) or checked_entry({})

    def do_entry(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set key, color, description and examples of a label."""
        label, entry = self._known(body), checked_entry(body)
        _refuse_taken(entry["key"], label, {one: self.entry(one)["key"] for one in self.label_names()})
        return {"do": "entry", "set": {"book": {label: entry}}}

    def do_rename(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Rename a label, merge it into another one if there is one of that name, or delete it."""
        old = self._known(body)
        new = checked_label(body.get("to")) if body["do"] == "rename" else None
        if new == old:
            raise DataError(f"studio: {old!r} is the name already.")
        changes = {**self._relabeled(old, new), "names": {old: False}}
        if new in self.label_names():
            changes["merged"] = {old: new}
        elif new is not None:
            changes |= {"names": {old: new, new: True}, "book": {new: self.entry(old)}}
        return {"do": body["do"], "set": changes}

    do_delete = do_rename

    def _relabeled(self, old: str, new: str | None) -> dict[str, dict[str, Any]]:
        """Return the changes that give all items of a label another one, or none."""
        raise NotImplementedError

    def do_guidelines(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set the guidelines."""
        return {"do": "guidelines", "set": {"texts": {"guidelines": checked_text(body.get("text"), "guidelines")}}}

    def do_note(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set the note of an item; an empty one is taken away."""
        item = checked_number(body.get("item"), self.n_items)
        return {"do": "note", "set": {"notes": {str(item): checked_text(body.get("text"), "a note").strip() or None}}}

    def do_key(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give a command another key, or none."""
        command, key = str(body.get("command")), checked_key(body.get("key"))
        if command not in COMMANDS:
            raise DataError(f"studio: commands are {', '.join(COMMANDS)}, got {command!r}.")
        _refuse_taken(key, command, self.command_keys())
        return {"do": "key", "set": {"keys": {command: key}}}

    def command_keys(self) -> dict[str, str]:
        """Return the key of each command; the wanted key of a label is none."""
        of_labels = {self.entry(label)["key"] for label in self.label_names()}
        keys = {**COMMANDS, **self.state["keys"]}
        return {command: "" if key in of_labels else key for command, key in keys.items()}

    def label_book(self) -> dict[str, Any]:
        """Return the guidelines and what the label book holds of each label."""
        texts = self.state["texts"]
        return {
            "guidelines": texts.get("guidelines", self.setup.book.guidelines),
            "entries": {label: self.entry(label) for label in self.label_names()},
        }

    def is_audit(self, item: int, body: Mapping[str, Any]) -> bool:
        """Tell whether an item was shown as chosen at random, without a suggestion, so that it measures the model."""
        return body.get("random") is True and item in self._random_shown

    def set_strategy(self, strategy: str, body: Mapping[str, Any]) -> None:
        """Choose the next items by a strategy, auto or random."""
        if strategy not in ("auto", "random"):
            raise DataError("studio: the strategy must be auto or random.")
        self.strategy, self.audited, self._queue = strategy, {}, []

    def _changed(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Bring what depends on the state up to date."""

    def label_names(self) -> list[str]:
        """Return all labels that were not deleted."""
        return [label for label in self._all_names() if self.state["names"].get(label) is not False]

    def _all_names(self) -> list[str]:
        """Return all labels, deleted ones too: of the book, of the data, then of the page. A new name takes the old place."""
        every = [*self.setup.book.entries, *self._names_of_data(), *self.state["names"], *self._used_names()]
        return [label for label in dict.fromkeys(map(self._renamed, every)) if label]

    def current_name(self, label: str | None) -> str | None:
        """Return what a label of the data is called by now; None if it was deleted."""
        names, merged = self.state["names"], self.state["merged"]
        while label is not None and names.get(label, True) is not True:
            label = names[label] or merged.get(label)
        return label

    def _renamed(self, label: str) -> str:
        names = self.state["names"]
        while isinstance(names.get(label), str):
            label = names[label]
        return label

    def _names_of_data(self) -> list[str]:
        """Return the labels of the data."""
        raise NotImplementedError

    def _used_names(self) -> list[str]:
        """Return the labels that were used on the page, in the order they came."""
        raise NotImplementedError

    def is_labeled(self, item: int) -> bool:
        """Tell whether a row has a label, or a sentence was accepted."""
        raise NotImplementedError

    def item(self, item: int, reason: str = "") -> dict[str, Any]:
        """Return what the page shows of a row or sentence, and what the model predicts; nothing of that for a random one."""
        raise NotImplementedError

    def is_seen(self, item: int) -> bool:
        """Tell whether an item is labeled, skipped or unsure."""
        return self.is_labeled(item) or str(item) in self.state["marks"]

    def queue(self, by: str = "") -> list[dict[str, Any]]:
        """Return the next items for a person to label; a random one comes without what the model predicts."""
        queued = {item for item, _ in self._queue}
        ready = [(item, reason) for item, reason in self._queue if not self.is_seen(item)]
        spare = ((item, RANDOM) for item in self.order if item not in queued and not self.is_seen(item))
        items = [*ready, *islice(spare, max(QUEUE - len(ready), 0))]
        if not items:
            skipped = (item for item in sorted(map(int, self.state["marks"])) if not self.is_labeled(item))
            items = [(item, "skipped before") for item in islice(skipped, QUEUE)]
        if self._wanted is not None:
            items = [(self._wanted, "undone"), *(one for one in items if one[0] != self._wanted)]
        self._random_shown.update({item: self.audited for item, reason in items if reason == RANDOM})
        return [{"reason": reason, "random": reason == RANDOM, **self.item(item, reason)} for item, reason in items]

    def view(self, by: str = "") -> dict[str, Any]:
        """Return what the page shows a person, the next items among it."""
        last = {int(item) for name in ("labels", "tags", "marks") for item in list(self.state[name])[-200:]}
        return {
            "version": self.state.n_actions,
            "annotator": by,
            "keys": self.command_keys(),
            "can_undo": self.state.can_undo,
            "strategy": self.strategy,
            "n_items": self.n_items,
            "queue": self.queue(by),
            "done": [item for item in last if self.is_seen(item)],
        }

    def _labels(self, counts: Mapping[str, int]) -> list[dict[str, Any]]:
        every, names = self._all_names(), self.label_names()
        entries = {name: self.entry(name) for name in names}
        taken = {**COMMANDS, **self.state["keys"]}.values()
        keys = keys_of(every, {name: entry["key"] for name, entry in entries.items()}, taken)  # of deleted ones, too
        colors = {name: {"hue": every.index(name), "color": entry["color"]} for name, entry in entries.items()}
        return [{"name": name, "key": keys[name], "count": counts.get(name, 0), **colors[name]} for name in names]

    def export_path(self, ending: str) -> Path:
        """Return where an export goes: next to the data, under its name with another ending, and never onto it."""
        name = f"{self.name.partition('.')[0] or self.name}.{ending}"
        return self.folder / (name if name != self.name else f"{self.name}.{ending}")


class StartAgainError(Exception):
    """Something changed while work on the state before it was under way."""


class Worker(threading.Thread):
    """Works in a thread whenever something changed, on the latest state.

    Parameters
    ----------
    *works : callable
        What to do, one after the other.
    failed : callable
        Called with an error of a work, which ends none of them for good.
    quiet : float, default=0
        Seconds without a change before work begins.
    """

    def __init__(self, *works: Callable[[], None], failed: Callable[[Exception], None], quiet: float = 0.0) -> None:
        super().__init__(daemon=True, name="studio worker")
        self._works = works
        self._failed = failed
        self._quiet = quiet
        self._wake = threading.Event()
        self._over = threading.Event()

    def wake(self) -> None:
        """Note that something changed."""
        self._wake.set()

    def end(self) -> None:
        """Stop at the next chance."""
        self._over.set()
        self._wake.set()

    def check(self) -> None:
        """End the work that is under way if something changed meanwhile."""
        if self._wake.is_set():
            raise StartAgainError

    def run(self) -> None:
        """Work whenever something changed."""
        while not self._over.is_set():
            self._wake.wait()
            self._wake.clear()
            while self._quiet and not self._over.is_set() and self._wake.wait(self._quiet):
                self._wake.clear()
            for work in self._works:
                if self._over.is_set():
                    return
                try:
                    work()
                except StartAgainError:
                    break
                except Exception as error:  # a thread that dies would leave the page as it is for ever
                    logging.getLogger(__name__).exception("work of the studio failed")
                    self._failed(error)


class Studio:
    """A session on a page: its routes and threads.

    Parameters
    ----------
    session : LabelingSession
        The table or text.
    css : Path, optional
        Style sheet that is added to that of the page.
    """

    ENDINGS: Mapping[str, str] = {}  # of exports

    def __init__(self, session: LabelingSession, css: Path | None = None) -> None:
        self.session = session
        self.css = css
        self.stream = EventStream()
        self.threads: list[Worker] = []
        session.tell = self._tell

    def answer(self, name: str) -> Callable[[Mapping[str, Any]], Any] | None:
        """Return what answers a request for NAME, `do_NAME` of the session or `on_NAME`; None for other kinds of data."""
        if hasattr(self.session, f"do_{name}"):
            return lambda body: self._act({**body, "do": name})
        return getattr(self, f"on_{name}", None)

    def on_view(self, query: Mapping[str, str]) -> Any:
        """Return all that the page shows a person."""
        with self.session.lock:
            return self.session.view(self.session.annotator(query))

    def on_item(self, query: Mapping[str, str]) -> Any:
        """Return a row or sentence."""
        with self.session.lock:
            return self.session.item(number(query, "row"))

    def on_book(self, query: Mapping[str, str]) -> Any:
        """Return the label book."""
        with self.session.lock:
            return self.session.label_book()

    def on_export(self, body: Mapping[str, Any]) -> Any:
        """Write a file."""
        return {"files": [str(self.export(str(body.get("what"))))]}

    def export(self, what: str) -> Path:
        """Write a file next to the data; the data itself stays as it is."""
        from handful.data.files import write_text_file

        if what != "book":
            raise DataError(f"studio: {', '.join(self.ENDINGS)} or book can be exported, got {what!r}.")
        target, book = self.session.export_path("labels.toml"), self.session.label_book()
        with write_text_file(target) as file:
            file.write(label_book_toml(book["entries"], book["guidelines"]))
        return target

    def app(self, token: str, host: str = "127.0.0.1") -> Guard:
        """Return the application, and start the threads.

        Parameters
        ----------
        token : str
            Secret of the link.
        host : str
            Where the server listens.
        """
        for thread in self.threads:
            thread.start()
            thread.wake()
        return make_app(self, token, host)

    def close(self) -> None:
        """End all work and close the log."""
        for thread in self.threads:
            thread.end()
        self.stream.close()
        self.session.close()

    def _tell(self, event: str, facts: Any) -> None:
        if event == "changed":
            for thread in self.threads:
                thread.wake()
        self.stream.send(event, facts)

    def on_strategy(self, body: Mapping[str, Any]) -> Any:
        """Choose informative items or random ones; the page shows those of the answer at once."""
        session = self.session
        with session.lock:
            session.set_strategy(str(body.get("strategy")), body)
            facts = self.on_view(body)
        for thread in self.threads:
            thread.wake()
        return facts

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.session.lock:
            self.session.act(body)
            return self.on_view(body)
