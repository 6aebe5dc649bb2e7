"""The studio of a table: its desk, the work beside it, and what the page may ask and do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.errors import DataError
from handful.studio.contest import Contest
from handful.studio.guard import Guard
from handful.studio.hub import Hub
from handful.studio.server import make_app, number
from handful.studio.side import Side
from handful.studio.table_desk import TableDesk
from handful.studio.table_exports import export_table

_MOST_MINUTES = 60.0


class TableStudio:
    """A table on a page.

    Parameters
    ----------
    desk : TableDesk
        The table.
    n_jobs : int, default=-1
        Worker processes of a comparison.
    """

    def __init__(self, desk: TableDesk, n_jobs: int = -1) -> None:
        self.desk = desk
        self.hub = Hub()
        self._side = Side(desk)
        self._contest = Contest(desk, n_jobs)
        desk.tell = self._tell

    def app(self, token: str, host: str = "127.0.0.1") -> Guard:
        """Return the application; the work beside the labeling begins.

        Parameters
        ----------
        token : str
            Secret of the link.
        host : str
            Where the server listens.
        """
        asked = {
            "view": lambda query: self._locked(self.view),
            "row": lambda query: self._locked(lambda: self.desk.row(number(query, "row"))),
            "rows": lambda query: self._locked(
                lambda: self.desk.rows(query.get("query", ""), query.get("show", "all"), number(query, "page"))
            ),
            "alike": lambda query: self._locked(lambda: self.desk.alike(number(query, "row"))),
            "map": lambda query: self.desk.play(query.get("kind", "spread")),
        }
        done = {"act": self._act, "compare": self._compare, "export": self._export, "goal": self._set_goal}
        self._side.start()
        self._side.wake()
        return make_app(self.desk, token, asked=asked, done=done, hub=self.hub, host=host)

    def view(self) -> dict[str, Any]:
        """Return all that the page shows."""
        return {**self.desk.view(), "contest": self._contest.view(), "goal": self._side.goal}

    def close(self) -> None:
        """End all work and close the journal."""
        self._contest.stop()
        self._side.end()
        self.hub.close()
        self.desk.close()

    def _locked(self, work: Any) -> Any:
        with self.desk.lock:
            return work()

    def _tell(self, what: str) -> None:
        if what == "changed":
            self._side.wake()
            self.hub.send("changed", {"version": self.desk.state.n_actions})
        elif what == "panel":
            self.hub.send("panel", self.desk.panel)
        else:
            self.hub.send("contest", self._contest.view())

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.desk.lock:
            self.desk.act(body)
            return self.view()

    def _compare(self, body: Mapping[str, Any]) -> Any:
        if body.get("stop") is True:
            self._contest.stop()
            return self._contest.view()
        minutes = body.get("minutes", 1.0)
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= _MOST_MINUTES:
            raise DataError(f"studio: minutes must be above 0 and at most {_MOST_MINUTES:g}.")
        self._contest.start(float(minutes))
        return self._contest.view()

    def _export(self, body: Mapping[str, Any]) -> Any:
        files = export_table(self.desk, self._contest, str(body.get("what")))
        return {"files": [str(file) for file in files]}

    def _set_goal(self, body: Mapping[str, Any]) -> Any:
        goal = body.get("goal")
        if isinstance(goal, bool) or not isinstance(goal, int | float) or not 0 < goal <= 1:
            raise DataError("studio: the goal must be a share above 0 and at most 1, such as 0.9.")
        self._side.goal = float(goal)
        self._side.wake()
        return {"goal": self._side.goal}
