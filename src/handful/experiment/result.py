"""What every comparison offers: a ranking, a verdict, and reports."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.evaluation.ranking import Ranking
from handful.evaluation.verdict import Verdict, judge
from handful.experiment.arena import Arena
from handful.experiment.race import Race
from handful.reports import words
from handful.reports.content import Content

if TYPE_CHECKING:
    import polars as pl

    from handful.experiment.trial import Outcome


class Result:
    """What came of a comparison, whatever was compared.

    Parameters
    ----------
    arena : Arena
        Where trials were made.
    race : Race
        What was tried, and what came of it.
    state : {"finished", "out of time", "out of trials", "interrupted", "planned"}
        How it ended.
    command : str
        How to do it again.
    """

    def __init__(self, arena: Arena, race: Race, state: str, command: str) -> None:
        self.arena = arena
        self.name = arena.name
        self.race = race
        self.state = state
        self.command = command

    @property
    def outcomes(self) -> list[Outcome]:
        """What came of each trial."""
        return self.race.outcomes

    @cached_property
    def ranking(self) -> Ranking:
        """The methods that were measured, the best bet first."""
        ranking = self.race.ranking
        if not ranking.ranks:
            why = next(iter(self.race.left_out.values()), "nothing was run.")
            raise DataError(f"compare: no method could be measured: {why}")
        return ranking

    @property
    def why_ended(self) -> str:
        """Why the race ended, in words."""
        told = {
            "out of time": "the time for trials was up",
            "out of trials": "the trials were used up",
            "interrupted": "it was interrupted",
        }
        return told.get(self.state) or self.race.why_over

    @cached_property
    def judgment(self) -> Verdict:
        """What to do, and why."""
        return judge(self.ranking, self.race.setting, self._cost(self.ranking.best.name))

    @property
    def best(self) -> str:
        """Name of the method to use: the best bet among those that were measured."""
        return self.judgment.use

    @property
    def verdict(self) -> str:
        """What to do, in two sentences."""
        return self.judgment.text

    @cached_property
    def content(self) -> Content:
        """All that a report says."""
        raise NotImplementedError

    @property
    def frame(self) -> pl.DataFrame:
        """The ranking as a polars data frame."""
        import polars as pl

        rows = []
        for row in self.content.as_dict()["rows"]:
            for name in ("against", "gain"):
                mean, low, high = row.pop(name) or (None, None, None)
                row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
            row["params"] = words.settings(row["params"])
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores with their intervals.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib axes
            With the drawing; needs matplotlib (the extra ``plots``).
        """
        from handful.core.optional import require

        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plots", why="Comparison.plot")
            ax = pyplot.subplots(figsize=(7, 0.4 * len(self.ranking.ranks) + 1.2))[1]
        ranks = self.ranking.ranks[::-1]
        spans = [[max(r.score - r.low, 0) for r in ranks], [max(r.high - r.score, 0) for r in ranks]]
        ax.errorbar([r.score for r in ranks], range(len(ranks)), xerr=spans, fmt="o", capsize=3)
        ax.set_yticks(range(len(ranks)), [r.name for r in ranks])
        ax.set_xlabel(f"{self.content.metric}, {self.race.n_labels} {self.race.setting.labels}")
        return ax

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one HTML page that needs nothing else, and write it if a path is given."""
        from handful.reports.html import render_html

        return _written(render_html(self.content), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as Markdown, and write it if a path is given."""
        from handful.reports.markdown import render_markdown

        return _written(render_markdown(self.content), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as JSON, and write it if a path is given."""
        import json

        return _written(json.dumps(self.content.as_dict(), ensure_ascii=False, indent=2, default=str) + "\n", path)

    def _cost(self, name: str) -> str:
        """Tell what a method costs with as many labels as the ranking is about, as its table does."""
        from handful.experiment.summary import fit_cost

        outcomes = [o for o in self.outcomes if o.task.entry == name and o.error is None]
        outcomes = [o for o in outcomes if o.task.n_labels == self.race.n_labels] or outcomes
        if not outcomes:
            return ""
        seconds, n_bytes = fit_cost(outcomes)
        return f"a fit takes {words.seconds(seconds)} and the model {words.size(n_bytes)} of memory"

    def _repr_html_(self) -> str:
        from handful.reports.html import render_fragment

        return render_fragment(self.content)

    def __repr__(self) -> str:
        if self.state == "planned":
            return f"{type(self).__name__}({self.name}, planned)"
        return f"{type(self).__name__}({self.name}, {counted(len(self.ranking.ranks), 'method')}: {self.verdict})"


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        from handful.core.files import atomic_writer

        with atomic_writer(path) as file:
            file.write(text.encode())
    return text
