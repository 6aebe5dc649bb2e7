"""What every comparison offers: a ranking, a verdict, and reports."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handful.evaluation.comparison import Ranking
from handful.experiment.plan import Plan
from handful.experiment.trial import Outcome
from handful.reports.content import Content

if TYPE_CHECKING:
    import polars as pl


class Result(ABC):
    """What came of a comparison, whatever was compared.

    Parameters
    ----------
    plan : Plan
        What was to be done.
    outcomes : list of Outcome
        What was done.
    state : {"finished", "out of time", "interrupted", "planned"}
        How it ended.
    command : str
        How to do it again.
    """

    name = "data"

    def __init__(self, plan: Plan, outcomes: list[Outcome], state: str, command: str) -> None:
        self.plan = plan
        self.outcomes = outcomes
        self.state = state
        self.command = command

    @cached_property
    def ranking(self) -> Ranking:
        """The methods, the best first."""
        return self._rank()

    @cached_property
    def content(self) -> Content:
        """All that a report says."""
        return self._describe()

    @property
    def verdict(self) -> str:
        """What to do, in plain words."""
        return self.ranking.verdict.text

    @property
    def frame(self) -> pl.DataFrame:
        """The ranking as a polars data frame."""
        import polars as pl

        rows = []
        for row in self.content.as_dict()["rows"]:
            gain = row.pop("gain") or (None, None, None)
            row["params"] = ", ".join(f"{name}={value}" for name, value in row["params"].items())
            rows.append({**row, "gain": gain[0], "gain_low": gain[1], "gain_high": gain[2]})
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
        spans = [[r.score - r.low for r in ranks], [r.high - r.score for r in ranks]]
        ax.errorbar([r.score for r in ranks], range(len(ranks)), xerr=spans, fmt="o", capsize=3)
        ax.set_yticks(range(len(ranks)), [r.name for r in ranks])
        ax.set_xlabel(f"{self.content.metric}, {self.plan.n_labels} labels")
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

    @abstractmethod
    def _rank(self) -> Ranking: ...

    @abstractmethod
    def _describe(self) -> Content: ...

    def _repr_html_(self) -> str:
        from handful.reports.html import render_fragment

        return render_fragment(self.content)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {len(self.ranking.ranks)} methods: {self.verdict})"


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        from handful.core.files import atomic_writer

        with atomic_writer(path) as file:
            file.write(text.encode())
    return text
