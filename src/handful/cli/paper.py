"""``handful paper``: run a paper's experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import WholeNumber, run_option

if TYPE_CHECKING:
    from handful.papers import Outcome

_COLORS = {"reproduced": "green", "close": "yellow", "not reproduced": "red", "not run": "dim"}


@click.command("paper")
@click.argument("key")
@click.option("--quick", is_flag=True, help="A reduced version, in minutes; every row says so.")
@click.option("--seeds", type=WholeNumber(min=1), help="Number of repetitions with different seeds.")
@run_option("jobs")
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), help="Write the paper's figures here.")
@run_option("checkpoint")
@run_option("as_json")
@click.option("--pin", is_flag=True, help="Write the numbers of this run into the paper's folder (a full run only).")
def command(
    key: str,
    quick: bool,
    seeds: int | None,
    jobs: int,
    figures: Path | None,
    checkpoint: Path | None,
    as_json: bool,
    pin: bool,
) -> None:
    """Run the experiments of a paper and hold them against what was printed.

    KEY is one of the papers that 'handful paper --help' of your version knows, such as liu2013.
    """
    from handful.papers import Settings, run_paper

    if pin and quick:
        raise click.UsageError("--pin needs a full run; leave out --quick.")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress:
        outcomes = run_paper(key, Settings(quick, seeds, jobs, figures, progress, checkpoint))
    if pin:
        _pin(key, outcomes)
    if as_json:
        emit_json({"paper": key, "claims": [outcome.as_dict() for outcome in outcomes]})
        return
    _show(key, outcomes)


def _pin(key: str, outcomes: list[Outcome]) -> None:
    import json

    from handful.papers.claims import load_paper, paper_folder
    from handful.papers.readme import render_readme

    folder = Path(str(paper_folder(key)))
    measured = {outcome.claim.id: round(outcome.ours, 6) or 0.0 for outcome in outcomes if outcome.ours is not None}
    (folder / "measured.json").write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    because = {outcome.claim.id: outcome.because for outcome in outcomes if outcome.ours is not None}
    (folder / "README.md").write_text(render_readme(load_paper(key), because), encoding="utf-8")


def _show(key: str, outcomes: list[Outcome]) -> None:
    from rich.table import Table

    table = Table(title=key, box=None, pad_edge=False)
    for heading in ("claim", "metric", "paper", "ours", "state", "because"):
        table.add_column(heading, justify="right" if heading in ("paper", "ours") else "left")
    for outcome in outcomes:
        claim = outcome.claim
        table.add_row(
            claim.says,
            claim.metric,
            f"{'≥ ' if claim.rule == 'at least' else ''}{claim.paper:.4g}",
            "-" if outcome.ours is None else f"{outcome.ours:.4g}",
            f"[{_COLORS[outcome.state]}]{outcome.state}[/]",
            outcome.because,
        )
    console().print(table)
