"""``handful compare``: tell which method suits a table with few labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import Names, check_apart, check_output, command_line, table_options

if TYPE_CHECKING:
    from handful.experiment.plan import Plan
    from handful.experiment.problem import Problem
    from handful.experiment.result import Result

_REPORTS = {".html": "to_html", ".htm": "to_html", ".md": "to_markdown", ".json": "to_json"}


@click.command("compare")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COLUMN", help="Column of labels; rows whose cell is empty are unlabeled.")
@click.option("--labels", metavar="10%|5-per-class|20", help="Hide labels, to see what so few would do.")
@click.option(
    "--unlabeled",
    type=click.Path(path_type=Path),
    help="Untagged sentences, where DATA is a tagged corpus: text or columns.",
)
@click.option("--methods", type=Names(), help="Methods to compare; all that fit by default (see 'handful methods').")
@click.option(
    "--metric", type=click.Choice(["accuracy", "f1"]), default="accuracy", show_default=True, help="What is scored."
)
@click.option(
    "--draws", type=click.IntRange(min=2), default=10, show_default=True, help="How often labels are drawn anew."
)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after this time with what is done.")
@click.option("--memory", type=click.FloatRange(min=0, min_open=True), metavar="GB", help="Memory that may be used.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Worker processes; -1 uses every core.")
@table_options
@click.option("--dry-run", is_flag=True, help="Show the plan and stop.")
@click.option(
    "--report",
    "reports",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="Write a report; the name ends in .html, .md or .json. May be given several times.",
)
@click.option("--journal", type=click.Path(path_type=Path, dir_okay=False), help="File that keeps what is done.")
@click.option("--fresh", is_flag=True, help="Begin anew, whatever was done before.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    target: str | None,
    labels: str | None,
    unlabeled: Path | None,
    methods: tuple[str, ...] | None,
    metric: str,
    draws: int,
    minutes: float | None,
    memory: float | None,
    jobs: int,
    columns: dict[str, str] | None,
    unlabeled_mark: str | None,
    unlabeled_rows: int,
    seed: int,
    dry_run: bool,
    reports: tuple[Path, ...],
    journal: Path | None,
    fresh: bool,
    as_json: bool,
) -> int:
    """Compare methods on DATA, a table (CSV, TSV, JSON lines, Parquet) in which few rows have a label.

    Every method that fits is tried on repeated draws, beside plain baselines and beside itself without the unlabeled
    rows. An interrupt (Ctrl-C) keeps what is done, and the same command goes on from there.

    DATA may also be a tagged corpus (one token and its tag a line, a blank line after each sentence; or CoNLL-U), without
    --target: then taggers are compared, --labels counts sentences, and --unlabeled names raw text.
    """
    from handful.core.errors import ParameterError

    for path in reports:
        if path.suffix not in _REPORTS:
            raise ParameterError(f"{path}: the name of a report must end in .html, .md or .json.")
        check_output(path, data, unlabeled, journal)
    check_apart(journal, data, unlabeled)
    notes = console(stderr=True)
    common: dict[str, Any] = {
        "labels": labels,
        "methods": methods,
        "draws": draws,
        "minutes": minutes,
        "memory_gb": memory,
        "unlabeled_rows": unlabeled_rows,
        "seed": seed,
        "n_jobs": jobs,
        "journal": journal if journal is not None else "auto",
        "fresh": fresh,
        "command": command_line(ctx),
    }
    found: Result
    if target is None:
        found = _compare_taggers(data, unlabeled, common, notes, dry_run, as_json)
    else:
        if unlabeled is not None:
            raise click.UsageError(
                "--unlabeled is for tagged corpora; unlabeled rows of a table stand in the table itself."
            )
        table = {"metric": metric, "columns": columns, "unlabeled_mark": unlabeled_mark, "target": target}
        found = _compare_rows(data, {**common, **table}, notes, dry_run, as_json)
    if dry_run:
        return 0
    return _show(found, reports, as_json)


def _compare_rows(data: Path, settings: dict[str, Any], notes: Any, dry_run: bool, as_json: bool) -> Result:
    from handful.experiment.compare import compare

    def show(problem: Problem, plan: Plan) -> bool:
        if dry_run and as_json:
            emit_json({**_problem_as_dict(problem), **_plan_as_dict(plan)})
        else:
            out = console() if dry_run else notes
            _show_problem(out, problem)
            _show_plan(out, plan, settings["minutes"])
        return not dry_run

    with progress_bar() as progress:
        return compare(data, **settings, progress=progress, on_plan=show)


def _compare_taggers(
    data: Path, unlabeled: Path | None, settings: dict[str, Any], notes: Any, dry_run: bool, as_json: bool
) -> Result:
    from handful.corpora.formats import detect

    if detect(data) not in ("conll", "conllu"):
        raise click.UsageError("--target is missing: which column of the table holds the labels?")
    from handful.experiment.compare_tagged import compare_tagged

    def show(name: str, plan: Plan) -> bool:
        if dry_run and as_json:
            emit_json({"data": name, **_plan_as_dict(plan)})
        else:
            _show_plan(console() if dry_run else notes, plan, settings["minutes"])
        return not dry_run

    with progress_bar() as progress:
        return compare_tagged(data, unlabeled=unlabeled, **settings, progress=progress, on_plan=show)


def _show(found: Result, reports: tuple[Path, ...], as_json: bool) -> int:
    from handful.reports.terminal import render_terminal

    if as_json:
        emit_json(found.content.as_dict())
    else:
        out = console()
        for part in render_terminal(found.content):
            out.print(part)
    for path in reports:
        getattr(found, _REPORTS[path.suffix])(path)
        click.echo(f"handful: wrote {path}", err=True)
    if found.state == "interrupted":
        click.echo("handful: interrupted; what was done is kept, and the same command goes on from there.", err=True)
        return 130
    return 0


def _show_problem(out: Any, problem: Problem) -> None:
    kinds = {kind: [n for n, k in problem.kinds.items() if k == kind] for kind in ("numeric", "nominal", "text")}
    told = "; ".join(f"{len(names)} {kind} ({_some(names)})" for kind, names in kinds.items() if names)
    out.print(
        f"{problem.name}: {problem.n_rows_read:,} rows, {len(problem.labeled):,} with a label, "
        f"{len(problem.classes)} classes. Columns: {told}.",
        markup=False,
    )
    for note in problem.notes:
        out.print(note, style="dim", markup=False)


def _show_plan(out: Any, plan: Plan, minutes: float | None) -> None:
    from rich.table import Table

    from handful.reports import words

    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for heading in ("trials", "time of one", "memory", "twin without unlabeled rows"):
        table.add_column(heading, justify="right" if heading != "twin without unlabeled rows" else "left")
    for line in plan.lines:
        n_trials = sum(task.entry == line.name for task in plan.tasks)
        cost = [words.seconds(line.seconds) if line.seconds else "?", words.size(line.n_bytes) if line.n_bytes else "?"]
        table.add_row(line.name, f"{n_trials}", *cost, line.twin or "")
    out.print(table)
    for name, why in plan.left_out.items():
        out.print(f"{name} does not take part: {why}", style="dim", markup=False)
    known = "about" if all(line.seconds for line in plan.lines) else "at least"
    cut = f", cut off at {minutes:g} minutes" if minutes is not None and plan.seconds > 60 * minutes else ""
    out.print(
        f"Plan: {len(plan.tasks):,} trials ({plan.n_fits:,} fits) with {plan.n_labels} labels, {plan.n_train:,} training "
        f"and {plan.n_test:,} tested rows in each of {plan.n_draws} draws; {known} {words.seconds(plan.seconds)}{cut} and "
        f"{words.size(plan.n_bytes)} of memory.",
        markup=False,
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _problem_as_dict(problem: Problem) -> dict[str, Any]:
    return {
        "data": problem.name,
        "rows": problem.n_rows_read,
        "labeled": len(problem.labeled),
        "classes": len(problem.classes),
        "columns": dict(problem.kinds),
        "notes": list(problem.notes),
    }


def _plan_as_dict(plan: Plan) -> dict[str, Any]:
    return {
        "labels": plan.n_labels,
        "draws": plan.n_draws,
        "trials": len(plan.tasks),
        "fits": plan.n_fits,
        "seconds": plan.seconds,
        "bytes": plan.n_bytes,
        "methods": [{"name": n.name, "seconds": n.seconds, "bytes": n.n_bytes, "twin": n.twin} for n in plan.lines],
        "left_out": plan.left_out,
    }
