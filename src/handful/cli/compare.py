"""``handful compare``: compare methods on a table or corpus with few labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, read_data
from handful.cli.fit_table import limits_of, search_options, search_status, with_methods
from handful.errors import DataError, ParameterError

if TYPE_CHECKING:
    from handful.comparison.compare import Comparison
    from handful.comparison.trials import Limits

_REPORTS = {".html": "to_html", ".htm": "to_html", ".json": "to_json"}


@click.command("compare")
@click.argument("data", type=opt.INPUT)
@opt.target_option()
@click.option("--labels", metavar="10%|5-per-class|20", help="Hide labels, to see how few would do.")
@click.option("--unlabeled", type=opt.INPUT, help="Raw text, if DATA is a corpus.")
@click.option("--methods", type=opt.NameList(), help="Methods to compare. Default: all that suit the data.")
@click.option("--n-splits", type=opt.WholeNumber(min=2), default=30, show_default=True, help="Most fits of one method.")
@search_options
@opt.reading_options
@opt.unlabeled_rows_option
@click.option("--report", "reports", type=opt.OUTPUT, multiple=True, help="Report file: .html or .json. Repeatable.")
@click.option("--fresh", is_flag=True, help="Ignore the progress of an earlier run.")
@opt.run_options("force", "resume", "jobs", "seed", "as_json")
@click.pass_context
def compare_command(ctx: click.Context, /, data: Path, reading: opt.Reading, run: opt.Run, **given: Any) -> int:
    """Compare methods on DATA, a table with a --target or a corpus, each with and without unlabeled data.

    A corpus is tagged sentences (columns, CoNLL-U) or words in context (Senseval XML, or a table of text, word and sense).

    \b
    Examples:
      handful compare customers.csv --target segment --report report.html
      handful compare customers.csv --target segment --labels 5-per-class
      handful compare train.tsv --unlabeled raw.txt --labels 50
    """
    for path in given["reports"]:
        if path.suffix not in _REPORTS:
            raise ParameterError(f"{path}: not the name of a report. Use .html or .json.")
    check_outputs(*given["reports"], inputs=[data, given["unlabeled"]], force=run.force)
    options = {"splits": given["n_splits"], "fresh": given["fresh"]}
    with search_status() as watch:
        limits = limits_of(given, run, command=opt.command_line(ctx), watch=watch, log=_log(run), **options)
        compare = _compare_corpus if given["target"] is None else _compare_rows
        result = compare(data, given, reading, limits)
    return _show(result, data, given, run)


def _log(run: opt.Run) -> Any:
    if run.resume is None:
        return "auto"
    run.resume.mkdir(parents=True, exist_ok=True)
    return run.resume / "trials.jsonl"


def _compare_rows(data: Path, given: dict[str, Any], reading: opt.Reading, limits: Limits) -> Comparison:
    from handful.comparison.compare import compare_table

    if given["unlabeled"] is not None:
        raise click.UsageError("--unlabeled: only for a corpus; unlabeled rows of a table are in the table itself.")
    problem = read_data(
        data, given["target"], reading, max_unlabeled=given["unlabeled_rows"], seed=limits.seed, needs_classes=True
    )
    methods = with_methods(given["methods"], given["classes"])
    options = {"labels": given["labels"], "metric": given["metric"], "text": given["text"]}
    return compare_table(problem, methods=methods, limits=limits, **options)


def _compare_corpus(data: Path, given: dict[str, Any], reading: opt.Reading, limits: Limits) -> Comparison:
    from handful.comparison.corpora import compare_senses, compare_tagged
    from handful.data.formats import format_of

    if given["text"] != "auto":
        raise click.UsageError("--text: only for text columns of a table. Leave it out.")
    kind = format_of(data).yields
    if kind not in ("occurrences", "sentences", "trees"):
        raise click.UsageError("--target: missing. Name the label column of the table.")
    options = {name: given[name] for name in ("unlabeled", "labels", "methods")}
    return (compare_senses if kind == "occurrences" else compare_tagged)(data, limits=limits, **options)


def _show(result: Comparison, data: Path, given: dict[str, Any], run: opt.Run) -> int:
    try:
        report = result.report
    except DataError:
        if result.state != "interrupted":
            raise
        raise KeyboardInterrupt from None  # before the first score
    if run.as_json:
        ui.emit_json(report.as_dict())
    else:
        from handful.report.terminal import render_terminal

        for part in render_terminal(report, show_all=ui.verbose()):
            ui.echo(part)
    for path in given["reports"]:
        getattr(result, _REPORTS[path.suffix])(path)
        ui.notice(f"Wrote {path}.")
    if not run.as_json and given["target"] is not None:
        target = ui.shell_name(given["target"])
        ui.echo()
        ui.suggest_command(
            f"handful fit {ui.shell_name(data)} --target {target}",
            f"handful next {ui.shell_name(data)} --target {target} -n 20     # more labels separate the methods",
        )
    if result.state == "interrupted":
        click.echo("handful: interrupted; the same command goes on from there.", err=True)
        return 130
    return 0
