"""A race on the screen: a ranking that is refined while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handful.cli.console import console
from handful.core.counted import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from handful.experiment.race import Standing

_MOST = 12
_EVERY = 10.0  # seconds between lines where there is no terminal


@contextmanager
def live_ranking() -> Iterator[Callable[[Standing], None]]:
    """Give a callback that shows how a race stands: a table on a terminal, else a line now and then; all on stderr."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield _Lines(out.print)
        return
    from rich.live import Live

    with Live(console=out, transient=True, auto_refresh=False) as live:
        last = 0.0

        def show(standing: Standing) -> None:
            nonlocal last
            if standing.doing != "race":
                live.update("")
                out.print(standing.doing, style="dim", markup=False, soft_wrap=True)
                return
            if time.monotonic() - last > 0.2:
                last = time.monotonic()
                live.update(_table(standing), refresh=True)

        yield show


class _Lines:
    """A line when the first ranking is there, when the leader changes, and now and then."""

    def __init__(self, write: Callable[..., None]) -> None:
        self._write = write
        self._leader = ""
        self._last = 0.0

    def __call__(self, standing: Standing) -> None:
        if standing.doing != "race":
            self._write(standing.doing, style="dim", markup=False, soft_wrap=True)
            return
        if not standing.bets:
            return
        best = standing.bets[0]
        now = time.monotonic()
        if best.name == self._leader and now - self._last < _EVERY:
            return
        self._leader, self._last = best.name, now
        told = ", ".join(f"{bet.name} {_percent(bet.measured)}" for bet in standing.bets[:3])
        self._write(f"{_so_far(standing)}: {told}", style="dim", markup=False)


def _so_far(standing: Standing) -> str:
    n_trials, n_left = standing.n_trials, len(standing.in_question)
    trials = counted(n_trials, "trial")
    return f"{standing.seconds:.0f} s, {trials}, {counted(n_left, 'method')} may be the best"


def _percent(score: float) -> str:
    # What is expected may lie beyond the range of a score.
    return f"{100 * min(max(score, 0.0), 1.0):.1f}"


def _table(standing: Standing) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_so_far(standing), box=None, pad_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for heading in ("measured", "expected", "chance to be best", "draws"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, bet in enumerate(standing.bets[:_MOST]):
        style = "bold" if number == 0 else "" if bet.name in standing.in_question else "dim"
        cells = (_percent(bet.measured), _percent(bet.score), f"{100 * bet.p_best:.0f} %", str(bet.n_draws))
        table.add_row(Text(bet.name, style=style), *(Text(cell, style=style) for cell in cells))
    more = [*(bet.name for bet in standing.bets[_MOST:]), *standing.waiting]
    if more:
        table.add_row(Text(f"... and {len(more)} more", style="dim"))
    return table
