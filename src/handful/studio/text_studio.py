"""The studio of a text: its desk, the teacher beside it, and what the page may ask and do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.studio.guard import Guard
from handful.studio.hub import Hub
from handful.studio.server import make_app, number
from handful.studio.teacher import Teacher
from handful.studio.text_desk import TextDesk
from handful.studio.text_exports import export_text


class TextStudio:
    """A text on a page.

    Parameters
    ----------
    desk : TextDesk
        The text.
    """

    def __init__(self, desk: TextDesk) -> None:
        self.desk = desk
        self.hub = Hub()
        self._teacher = Teacher(desk)
        desk.tell = self._tell

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
            "view": lambda query: self._locked(self.desk.view),
            "learned": lambda query: self._locked(self.desk.learned),
            "sentence": lambda query: self._locked(lambda: self.desk.sentence(number(query, "row"))),
        }
        done = {"act": self._act, "export": self._export}
        self._teacher.start()
        self._teacher.wake()
        return make_app(self.desk, token, asked=asked, done=done, hub=self.hub, host=host)

    def close(self) -> None:
        """End all work and close the journal."""
        self._teacher.end()
        self.hub.close()
        self.desk.close()

    def _locked(self, work: Any) -> Any:
        with self.desk.lock:
            return work()

    def _tell(self, what: str) -> None:
        if what == "changed":
            self._teacher.wake()
            self.hub.send("changed", {"version": self.desk.state.n_actions})
        else:
            self.hub.send("lesson", {"busy": self.desk.busy})

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.desk.lock:
            self.desk.act(body)
            return self.desk.view()

    def _export(self, body: Mapping[str, Any]) -> Any:
        return {"files": [str(file) for file in export_text(self.desk, str(body.get("what")))]}
