"""What labeling a table and labeling a text have in common: actions, the queue, threads, routes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from handful.active.query import RANDOM
from handful.errors import DataError
from handful.studio.annotations import UNDO, AnnotationLog, State
from handful.studio.server import EventStream, Guard, make_app

QUEUE = 10  # items that a page has in advance
RESERVED = "zsunlp"  # undo, skip, unsure, new label, all like this, play
LONGEST_LABEL = 100
_KEYS = [key for key in "1234567890qwertyuiopasdfghjklzxcvbnm" if key not in RESERVED]
_MOST_LABELS = 500
_MARKS = {"skip": "skipped", "unsure": "unsure"}


def keys_of(labels: Iterable[str]) -> dict[str, str]:
    """Return a key for every label: its name if that is a free key, else the next free one, else none.

    Keys are assigned in the order of the labels, so one more label does not move the others.

    Examples
    --------
    >>> keys_of(["cat", "dog", "7", "1"])
    {'cat': '1', 'dog': '2', '7': '7', '1': '3'}
    """
    free = list(_KEYS)
    keys: dict[str, str] = {}
    for name in labels:
        keys[name] = name if name in free else free[0] if free else ""
        if keys[name]:
            free.remove(keys[name])
    return keys


def checked_label(value: Any) -> str:
    """Return a label that a person typed, stripped, or refuse it."""
    if not isinstance(value, str) or not value.strip():
        raise DataError("studio: a label must be a text, got nothing.")
    if len(value) > LONGEST_LABEL or any(ord(letter) < 32 for letter in value):
        raise DataError(f"studio: a label must be one line of at most {LONGEST_LABEL} letters.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError("studio: a label must be text that can be stored as UTF-8.") from None
    return value.strip()


def checked_number(value: Any, below: int) -> int:
    """Return the number of a row or sentence, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise DataError(f"studio: must be a number from 0 to {below - 1}, got {value!r}.")
    return value


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
    seed : int, default=0
        Seed of all random choices.

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

    def __init__(self, name: str, n_items: int, log: AnnotationLog, folder: Path, seed: int = 0) -> None:
        self.name = name
        self.n_items = n_items
        self.folder = folder
        self.seed = seed
        self.lock = threading.RLock()
        self.tell: Callable[[str, Any], None] = lambda event, facts: None
        self.order: list[int] = np.random.default_rng(seed).permutation(n_items).tolist()
        self._log = log
        self._queue: list[tuple[int, str]] = []
        self._wanted: int | None = None  # shown first, after an undo
        self._random_shown: set[int] = set()
        self._actions: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
            "undo": lambda body: UNDO,
            "name": self._name,
            "skip": self._mark,
            "unsure": self._mark,
        }

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
            ``do`` names the action.
        """
        with self.lock:
            make = self._actions.get(str(body.get("do")))
            if make is None:
                raise DataError(f"studio: there is no action {body.get('do')!r}.")
            action = make(body)
            changes = self._log.add(action)
            self._changed(changes)
            touched = {int(item) for name in ("labels", "tags", "marks") for item in changes.get(name, {})}
            if action["do"] == "undo":
                self._wanted = next(iter(touched)) if len(touched) == 1 else None
            elif self._wanted in touched and self.is_seen(self._wanted):
                self._wanted = None
        self.tell("changed", {"version": self.state.n_actions})

    def _name(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        name = checked_label(body.get("name"))
        if name in self.label_names():
            raise DataError(f"studio: there is a label {name!r} already.")
        if len(self.label_names()) >= _MOST_LABELS:
            raise DataError(f"studio: there can be at most {_MOST_LABELS} labels.")
        return {"do": "name", "set": {"names": {name: True}}}

    def _mark(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        item = checked_number(body.get("item"), self.n_items)
        if str(item) in self.state["labels"]:
            raise DataError(f"studio: {item + 1} has a label already. Undo it first.")
        return {"do": body["do"], "set": {"marks": {str(item): _MARKS[body["do"]]}}}

    def is_audit(self, item: int, body: Mapping[str, Any]) -> bool:
        """Tell whether an item was shown as chosen at random, without a suggestion, so that it measures the model."""
        return body.get("random") is True and item in self._random_shown

    def _changed(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Bring what depends on the state up to date."""

    def label_names(self) -> list[str]:
        """Return all labels: those of the data, then those made on the page."""
        raise NotImplementedError

    def is_labeled(self, item: int) -> bool:
        """Tell whether a row has a label, or a sentence was accepted."""
        raise NotImplementedError

    def item(self, item: int, reason: str = "") -> dict[str, Any]:
        """Return what the page shows of a row or sentence, and what the model predicts."""
        raise NotImplementedError

    def is_seen(self, item: int) -> bool:
        """Tell whether an item is labeled, skipped or unsure."""
        return self.is_labeled(item) or str(item) in self.state["marks"]

    def queue(self) -> list[dict[str, Any]]:
        """Return the next items to label; a random one comes without what the model predicts."""
        queued = {item for item, _ in self._queue}
        ready = [(item, reason) for item, reason in self._queue if not self.is_seen(item)]
        spare = ((item, RANDOM) for item in self.order if item not in queued and not self.is_seen(item))
        items = [*ready, *islice(spare, max(QUEUE - len(ready), 0))]
        if not items:
            skipped = (item for item in sorted(map(int, self.state["marks"])) if not self.is_labeled(item))
            items = [(item, "skipped before") for item in islice(skipped, QUEUE)]
        if self._wanted is not None:
            items = [(self._wanted, "undone"), *(one for one in items if one[0] != self._wanted)]
        self._random_shown.update(item for item, reason in items if reason == RANDOM)
        hidden = {"suggestion": None, "confidence": None}
        return [
            {
                **self.item(item, reason),
                "reason": reason,
                "random": reason == RANDOM,
                **(hidden if reason == RANDOM else {}),
            }
            for item, reason in items
        ]

    def view(self) -> dict[str, Any]:
        """Return what the page shows, the next items among it."""
        return {
            "version": self.state.n_actions,
            "can_undo": self.state.can_undo,
            "n_items": self.n_items,
            "n_marked": {mark: list(self.state["marks"].values()).count(mark) for mark in self.state["marks"].values()},
            "queue": self.queue(),
            "done": self._last_done(),
        }

    def _last_done(self) -> list[int]:
        last = {int(item) for name in ("labels", "tags", "marks") for item in list(self.state[name])[-200:]}
        return [item for item in last if self.is_seen(item)]

    def _labels(self, counts: Mapping[str, int]) -> list[dict[str, Any]]:
        names = self.label_names()
        keys = keys_of(names)
        return [{"name": name, "key": keys[name], "count": counts.get(name, 0)} for name in names]

    def export_path(self, ending: str) -> Path:
        """Return where an export goes: next to the data, under its name with another ending, and never onto it."""
        stem = self.name.partition(".")[0] or self.name
        name = f"{stem}.{ending}"
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
    """

    def __init__(self, session: LabelingSession) -> None:
        self.session = session
        self.stream = EventStream()
        self.threads: list[Worker] = []
        session.tell = self._tell

    def reads(self) -> dict[str, Callable[[Mapping[str, str]], Any]]:
        """Return what a page can read, by name: functions of query parameters."""
        return {"view": lambda query: self._locked(self.view)}

    def writes(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        """Return what a page can change, by name: functions of a JSON body."""
        return {"act": self._act, "export": lambda body: {"files": [str(self.export(str(body.get("what"))))]}}

    def export(self, what: str) -> Path:
        """Write a file next to the data; the data itself stays as it is."""
        raise NotImplementedError

    def view(self) -> dict[str, Any]:
        """Return all that the page shows."""
        return self.session.view()

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
        return make_app(self.session, token, reads=self.reads(), writes=self.writes(), stream=self.stream, host=host)

    def close(self) -> None:
        """End all work and close the log."""
        for thread in self.threads:
            thread.end()
        self.stream.close()
        self.session.close()

    def _locked(self, work: Callable[[], Any]) -> Any:
        with self.session.lock:
            return work()

    def _tell(self, event: str, facts: Any) -> None:
        if event == "changed":
            for thread in self.threads:
                thread.wake()
        self.stream.send(event, facts)

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.session.lock:
            self.session.act(body)
            return self.view()
