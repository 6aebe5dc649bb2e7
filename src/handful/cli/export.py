"""``handful export``: a table model as one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from handful.cli.console import echo, emit_json, file_size, notice
from handful.cli.options import INPUT, Run, run_options
from handful.cli.outputs import check_outputs
from handful.errors import ParameterError

yes_option = click.option("--yes", is_flag=True, help="Tables: agree that rows of the data go into the files.")


@click.command("export")
@click.argument("model", type=INPUT)
@click.option("--html", is_flag=True, help="As one HTML page, the only format.")
@yes_option
@run_options("as_json", output={"help": "The page. Default: MODEL.html."})
def export_command(model: Path, html: bool, yes: bool, run: Run) -> None:
    """Write MODEL as one HTML page that predicts in the browser, without network.

    MODEL is a model of tables: a condensed one, or one with a linear method or trees. The page has a model card, the rows,
    weights or rules, and a form for one row or pasted CSV.

    \b
    Examples:
      handful export customers-condensed.handful --html
    """
    from handful.data.files import write_text_file
    from handful.models.condensed_rows import CondensedModel
    from handful.models.table_model import TableModel
    from handful.persistence.model_file import load
    from handful.report.model_page import export_html

    where = run.output or model.with_suffix(".html")
    check_outputs(where, inputs=[model], force=run.force)
    fitted = load(model)
    if not isinstance(fitted, TableModel):
        raise ParameterError(f"{model}: not a model of tables. Only these can be pages.")
    page = export_html(fitted)  # refuses before anybody is asked
    if isinstance(fitted, CondensedModel):
        agree(f"Rows of {fitted.training_.get('data', 'the data')} will be readable in {where}.", yes)
    else:
        notice(f"Categories and words of the data are readable in {where}.")
    with write_text_file(where) as file:
        file.write(page)
    if run.as_json:
        emit_json({"model": str(model), "html": str(where), "bytes": where.stat().st_size})
        return
    echo(f"  Saved      {where} ({file_size(where)}); open it in a browser")


def agree(text: str, yes: bool) -> None:
    """Ask before rows of the data go into files."""
    if yes:
        notice(text)
        return
    if not sys.stdin.isatty():
        raise ParameterError(f"--yes: missing. {text} Add --yes to agree.")
    click.confirm(f"{text} Continue?", abort=True, err=True)
