"""``handful compare``: tell which method suits a table with few labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json
from handful.cli.live import live_ranking
from handful.cli.options import Names, WholeNumber, check_apart, check_output, command_line, run_option, table_options
from handful.cli.race_options import race_options, session_of, with_methods
from handful.core.counted import counted

if TYPE_CHECKING:
    from handful.experiment.result import Result
    from handful.experiment.session import Session

_REPORTS = {".html": "to_html", ".htm": "to_html", ".md": "to_markdown", ".json": "to_json"}


@click.command("compare")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COLUMN", help="Column of labels; rows whose cell is empty are unlabeled.")
@click.option("--labels", metavar="10%|5-per-class|20", help="Hide labels, to see what so few would do.")
@click.option(
    "--unlabeled",
    type=click.Path(path_type=Path),
    help="Raw text, where DATA is a tagged corpus (or columns) or words in context.",
)
@click.option("--methods", type=Names(), help="Methods to compare; all that fit by default (see 'handful methods').")
@click.option("--draws", type=WholeNumber(min=2), default=30, show_default=True, help="Trials of one method at most.")
@race_options
@table_options
@click.option("--dry-run", is_flag=True, help="Show what would be tried, and stop.")
@click.option(
    "--report",
    "reports",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="Write a report; the name ends in .html, .md or .json. May be given several times.",
)
@click.option("--journal", type=click.Path(path_type=Path, dir_okay=False), help="File that keeps what is done.")
@click.option("--fresh", is_flag=True, help="Begin anew, whatever was done before.")
@run_option("as_json")
@click.pass_context
def command(ctx: click.Context, /, data: Path, **given: Any) -> int:
    """Compare methods on DATA, a table (CSV, TSV, JSON lines, Parquet) in which few rows have a label.

    Methods race: all are tried once, the cheapest first, and then those that may still be the best, beside plain
    supervised methods and beside themselves without the unlabeled rows. The race ends when nothing is left to learn or the
    time is up. An interrupt (Ctrl-C) keeps what is done, and the same command goes on from there.

    DATA may also be a tagged corpus (one token and its tag a line, a blank line after each sentence; or CoNLL-U), without
    --target: then taggers are compared, --labels counts sentences, and --unlabeled names raw text. Or words in context with
    their senses (Senseval XML, or a table of text, word and sense): then models of senses are, and --labels counts contexts.
    """
    _check_files(data, given)
    given["journal"] = given["journal"] if given["journal"] is not None else "auto"
    with live_ranking() as watch:
        session = session_of(given, command=command_line(ctx), watch=watch)
        result = (
            _compare_corpus(data, given, session) if given["target"] is None else _compare_rows(data, given, session)
        )
    return _show(result, given["reports"], given["as_json"])


def _check_files(data: Path, given: dict[str, Any]) -> None:
    from handful.core.errors import ParameterError

    for path in given["reports"]:
        if path.suffix not in _REPORTS:
            raise ParameterError(f"{path}: the name of a report must end in .html, .md or .json.")
        check_output(path, data, given["unlabeled"], given["journal"])
    check_apart(given["journal"], data, given["unlabeled"])


def _compare_rows(data: Path, given: dict[str, Any], session: Session) -> Result:
    from handful.cli.tables import read_table_problem
    from handful.experiment.compare import compare_problem

    if given["unlabeled"] is not None:
        raise click.UsageError(
            "--unlabeled is for tagged corpora; unlabeled rows of a table stand in the table itself."
        )
    problem = read_table_problem(data, given)
    methods = with_methods(given["methods"], given["classes"])
    return compare_problem(
        problem,
        labels=given["labels"],
        methods=methods,
        metric=given["metric"],
        text=given["text"],
        session=session,
    )


def _compare_corpus(data: Path, given: dict[str, Any], session: Session) -> Result:
    if given["text"] != "auto":
        raise click.UsageError("--text is for columns of texts in a table, which --target names the labels of.")
    from handful.corpora.formats import format_of

    limits = {name: given[name] for name in ("unlabeled", "labels", "methods")}
    kind = format_of(data).yields
    if kind == "occurrences":
        from handful.experiment.compare_senses import compare_senses

        return compare_senses(data, session=session, **limits)
    if kind not in ("sentences", "trees"):
        raise click.UsageError("--target is missing: which column of the table holds the labels?")
    from handful.experiment.compare_tagged import compare_tagged

    return compare_tagged(data, session=session, **limits)


def _show(result: Result, reports: tuple[Path, ...], as_json: bool) -> int:
    if result.state == "planned":
        _show_plan(result, as_json)
        return 0
    if as_json:
        emit_json(result.content.as_dict())
    else:
        from handful.reports.terminal import render_terminal

        out = console()
        for part in render_terminal(result.content):
            out.print(part)
    for path in reports:
        getattr(result, _REPORTS[path.suffix])(path)
        click.echo(f"handful: wrote {path}", err=True)
    if result.state == "interrupted":
        click.echo("handful: interrupted; what was done is kept, and the same command goes on from there.", err=True)
        return 130
    return 0


def _show_plan(result: Result, as_json: bool) -> None:
    race = result.race
    if as_json:
        methods = [
            {"name": e.name, "cost": e.cost, "uses_unlabeled": e.uses_unlabeled, "twin": e.twin}
            for e in race.entrants
            if e.ranked
        ]
        facts = {"data": result.name, "labels": race.n_labels, "tested": race.setting.n_test, "draws": race.draws}
        emit_json({**facts, "methods": methods})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("method", "cost", "twin without unlabeled data"):
        table.add_column(heading, no_wrap=True)
    for entrant in race.entrants:
        if entrant.ranked:
            table.add_row(entrant.name, entrant.cost, entrant.twin or "")
    out = console()
    out.print(table)
    out.print(
        f"Plan: a race of {counted(sum(e.ranked for e in race.entrants), 'method')} with {race.n_labels} {race.setting.labels} and "
        f"{race.setting.n_test:,} tested in each draw, at most {counted(race.draws, 'draw')} of a method; the cheapest begin.",
        markup=False,
    )
