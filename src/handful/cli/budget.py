"""``handful budget``: what labels have brought, and how many more are needed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import Number, Reading, Run, WholeNumber, check_output, reading_options, run_options
from handful.core.counted import counted

if TYPE_CHECKING:
    from handful.core.records import Table
    from handful.labeling.budget import Budget
    from handful.reports.content import BlindGuess, Curve

_STYLE = (
    "<style>text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}.tick{font-size:12px;fill:#555}"
    ".mark{stroke:#777;stroke-dasharray:3 3}</style>"
)


@click.command("budget")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, metavar="COLUMN", help="Column of labels; empty cells are unlabeled rows.")
@click.option("--goal", type=Number(0, 1, min_open=True), metavar="SHARE", help="Accuracy to reach, such as 0.9.")
@click.option("--draws", type=WholeNumber(min=2), default=10, show_default=True, help="Random splits of the labels.")
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="SVG file of the learning curves.")
@click.option(
    "--map", "map_file", type=click.Path(path_type=Path, dir_okay=False), help="SVG file: which method wins where."
)
@reading_options
@run_options("seed", "as_json")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: Path,
    target: str,
    goal: float | None,
    draws: int,
    figure: Path | None,
    map_file: Path | None,
    reading: Reading,
    run: Run,
) -> None:
    """Tell how many more labels DATA, a table, needs: learning curves, a forecast, and whether to stop.

    The forecast looks at most twice as far as the labels at hand and is refused where the curve is not well behaved.
    """
    from handful.cli.table_files import as_table, read_cells
    from handful.labeling import label_budget

    check_output(figure, data)
    check_output(map_file, data, figure)
    table, kinds = as_table(data, read_cells(data), target, reading)
    with progress_bar() as progress:
        told = label_budget(
            table.frame.select(list(kinds)),
            table.labels,
            goal=goal,
            n_draws=draws,
            random_state=run.seed,
            progress=progress,
        )
    if figure is not None:
        _draw(figure, told, goal)
    if map_file is not None:
        _draw_map(map_file, told)
    if run.as_json:
        facts = {"data": str(data), "target": target, "figure": figure, "map": map_file}
        emit_json({**facts, **asdict(told), "blind_guess": asdict(_blind_guess(table))})
    else:
        _show(told, goal, _blind_guess(table))
        if told.n_draws < draws:
            console().print(
                f"Interrupted: all this is of the first {told.n_draws:,} of {counted(draws, 'draw')}.", soft_wrap=True
            )
    if told.n_draws < draws:
        ctx.exit(130)


def _blind_guess(table: Table) -> BlindGuess:
    from handful.core.labels import encode_labels
    from handful.experiment.blind_guess import blind_guess

    labels = encode_labels(table.labels, who="budget")
    return blind_guess(labels.codes, labels.classes, "accuracy")


def _curves(told: Budget) -> list[Curve]:
    from handful.reports.content import Curve

    return [Curve(line.method, told.sizes, line.mean, line.low, line.high) for line in told.lines]


def _draw(figure: Path, told: Budget, goal: float | None) -> None:
    from handful.reports.content import Curve
    from handful.reports.figures import curves_figure

    curves, name = _curves(told), f"{told.lines[0].method}, forecast"
    if told.forecast is not None:
        ahead = told.forecast
        curves.append(Curve(name, ahead.n_labels, ahead.score, ahead.low, ahead.high))
    _write(figure, curves_figure(curves, {name}, metric="accuracy", goal=goal))


def _draw_map(figure: Path, told: Budget) -> None:
    from handful.reports.figures import winners_figure

    _write(figure, winners_figure(_curves(told), told.winners))


def _write(figure: Path, drawn: str) -> None:
    from handful.corpora.opening import write_text_file

    with write_text_file(figure) as file:
        file.write(drawn.replace("</title>", f"</title>{_STYLE}", 1))


def _show(told: Budget, goal: float | None, guess: BlindGuess) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold", title="accuracy in % by labels", title_justify="left")
    table.add_column("method")
    for size in told.sizes:
        table.add_column(f"{size:,}", justify="right")
    for line in told.lines:
        cells = [
            Text(f"{100 * mean:.1f}", style="bold" if winner == line.method else "")
            for mean, winner in zip(line.mean, told.winners, strict=True)
        ]
        table.add_row(line.method, *cells)
    out.print(table)
    out.print(f"\nBest with few and with many labels: {told.winners[0]}, {told.winners[-1]}.", soft_wrap=True)
    out.print(guess.sentence(), markup=False, soft_wrap=True)
    if told.refused is not None:
        out.print(told.refused, soft_wrap=True)
        if goal is not None:
            out.print(f"So it cannot be told how many labels {goal:.0%} takes.", soft_wrap=True)
    elif told.forecast is not None:
        ahead = told.forecast
        out.print(
            f"With all {counted(ahead.n_labels[0], 'label')} about {ahead.score[0]:.1%} "
            f"({ahead.low[0]:.1%} to {ahead.high[0]:.1%}); with {ahead.n_labels[-1]:,}, which is as far as a forecast may "
            f"look, about {ahead.score[-1]:.1%} ({ahead.low[-1]:.1%} to {ahead.high[-1]:.1%}).",
            soft_wrap=True,
        )
    if told.goal is not None:
        out.print(told.goal.text, soft_wrap=True)
    out.print(told.stopping.text, soft_wrap=True)
