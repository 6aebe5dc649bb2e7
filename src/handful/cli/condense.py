"""``handful condense`` and ``handful export``: smaller and more readable models."""

from __future__ import annotations

import sys
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import TABLES, check_outputs, load_tagger, write_rows
from handful.errors import DataError, ParameterError, counted
from handful.params import Count
from handful.representations.potency import CondensingSettings

if TYPE_CHECKING:
    from handful.models.condensed_rows import CondensedModel
    from handful.models.table_model import TableModel
    from handful.tagging.condensing import LabeledData

_SHOWN_ROWS, _SHOWN_COLUMNS, _WIDTH = 3, 6, 24  # without -v
yes_option = click.option("--yes", is_flag=True, help="Tables: agree that rows of the data go into the files.")


@click.command("condense")
@click.argument("files", metavar="MODEL LABELED [TEXT]...", type=opt.INPUT, nargs=-1, required=True)
@click.option("--dev", type=opt.INPUT, help="Tagged sentences or trees to score the models on.")
@click.option(
    "--mode",
    type=click.Choice(["rounded", "bins"]),
    help="Rounded weights (default for taggers), or bins from TEXT (default for parsers).",
)
@opt.parameters_of(CondensingSettings)
@click.option(
    "--pos", "taggers", type=opt.INPUT, multiple=True, help="Tagger for the raw text, one per column. Repeatable."
)
@click.option("--counts", type=opt.OUTPUT, help="File of counts; if it exists, new pieces of TEXT are added.")
@click.option(
    "--rows",
    type=opt.Declared(Count | Literal["auto"]),
    default=40,
    show_default=True,
    help="Tables: rows to keep, or auto.",
)
@click.option("--html", type=opt.OUTPUT, help="Tables: also write the rows as an HTML page that predicts.")
@yes_option
@opt.run_options(
    "engine",
    "resume",
    "jobs",
    "seed",
    "as_json",
    output={"help": "Small model (default: MODEL-condensed.handful), or also a table of its rows."},
)
@click.pass_context
def condense_command(
    ctx: click.Context, /, files: tuple[Path, ...], run: opt.Run, settings: dict[str, Any], **given: Any
) -> None:
    """Make MODEL smaller.

    A tagger: weights are rounded and small ones dropped. A parser, or --mode bins: features that decide alike on raw TEXT share
    a weight. LABELED is the file that it was trained on; TEXT has one tokenized sentence per line. A model of tables: a few rows
    of a table that predict what it predicts.

    \b
    Examples:
      handful condense customers.handful customers.csv --rows 40 --html model.html
      handful condense tagger.handful train.tsv --dev dev.tsv
      handful condense parser.handful train.conllu raw.txt --pos tagger.handful
    """
    if len(files) < 2:
        raise click.UsageError("LABELED: missing. Name the file that MODEL was trained on.")
    from handful.models.table_model import TableModel
    from handful.persistence.model_file import load

    base = load(files[0])
    is_table = isinstance(base, TableModel)
    of_texts = {"dev", "mode", "taggers", "counts", *(part.name for part in fields(CondensingSettings))}
    for param in ctx.command.params:
        if param.name in (of_texts if is_table else ("rows", "html")) and opt.is_given(ctx, param):
            kind = "taggers and parsers" if is_table else "models of tables"
            raise click.UsageError(f"{max(param.opts, key=len)}: only for {kind}. Leave it out.")
    if is_table:
        _condense_table(ctx, base, files, run, given)
    else:
        _condense_tagger(ctx, base, files, run, CondensingSettings(**settings), given)


# -- taggers and parsers ----------------------------------------------------------------------------------------------


def _condense_tagger(
    ctx: click.Context,
    base: Any,
    files: tuple[Path, ...],
    run: opt.Run,
    settings: CondensingSettings,
    given: dict[str, Any],
) -> None:
    from handful.persistence.model_file import save
    from handful.representations.condensing import Condensing
    from handful.tagging.condensing import choose_mode, condense, read_labeled, tag_columns
    from handful.version import __version__

    (model, labeled), texts = files[:2], list(files[2:])
    output = run.output or model.parent / f"{model.stem}-condensed.handful"
    read = (model, labeled, given["dev"], *given["taggers"], *texts)
    check_outputs(output, inputs=(*read, given["counts"]), force=run.force)
    data = read_labeled(base, labeled, given["dev"])
    mode, held_out = choose_mode(given["mode"], settings.held_out, is_tagger=data.outputs is not None)
    if mode == "rounded" and (texts or given["counts"] is not None):
        raise click.UsageError("TEXT and --counts: only for --mode bins. Leave them out.")
    settings = replace(settings, held_out=held_out)
    counts = count_files(given["counts"], held_out is not None)
    check_outputs(*counts, inputs=(*read, output), force=True)  # counts that exist are added to
    _check_counts(counts, texts, needs_text=mode != "rounded")
    prepare = tag_columns(base, [load_tagger(path) for path in given["taggers"]]) if texts else []
    _warn_of_other_data(base, labeled, data)
    with ui.progress_bar() as progress:
        condensing = Condensing(base, data.inputs, data.outputs, settings, progress=progress)
        if any(path.exists() for path in counts):
            condensing.read_counts(counts)
        if texts:
            where = {"n_jobs": run.jobs, "engine": run.engine, "checkpoint": run.resume}
            condensing.count(texts, prepare=prepare, progress=progress, **where)
            condensing.save_counts(counts)
        result = condense(condensing, progress=progress)
    if condensing.n_known:
        ui.notice(f"{counted(condensing.n_known, 'piece')} of TEXT counted before.")
    scores = {} if given["dev"] is None else {"before": data.score(base), "after": data.score(result.model)}
    result.model.training_ = {
        **getattr(base, "training_", {}),
        "condensed by": opt.command_line(ctx),
        "condensed": result.mode,
        "condensed features": result.model.n_active_condensed_,
        "raw text": condensing.n_counted,
        "handful": __version__,
        **{f"dev {name}": value for name, value in scores.get("after", {}).items()},
    }
    save(result.model, output, compressed=True)
    facts = {
        "model": str(output),
        "mode": result.mode,
        "bins": result.bins,
        "dropped": None if result.dropped is None else asdict(result.dropped),
        "tokens": condensing.n_counted,
        "features_before": int(base.n_active_),
        "condensed_features": result.model.n_active_condensed_,
        "features": int(result.model.n_active_),
        "dev": scores,
        "bytes_before": model.stat().st_size,
        "bytes": output.stat().st_size,
    }
    if run.as_json:
        ui.emit_json(facts)
    else:
        _show_tagger(facts, output)


def count_files(counts: Path | None, held_out: bool) -> list[Path]:
    """Return where counts are kept: those of a second model are next to those of the first.

    Examples
    --------
    >>> [path.name for path in count_files(Path("news"), held_out=True)]
    ['news', 'news-held-out']
    """
    if counts is None:
        return []
    return [counts, *([counts.parent / f"{counts.name}-held-out"] if held_out else [])]


def _check_counts(counts: list[Path], texts: list[Path], *, needs_text: bool) -> None:
    missing = [path for path in counts if not path.exists()]
    if texts or not (needs_text or len(missing) < len(counts)):
        return
    if not counts or len(missing) == len(counts):
        raise click.UsageError("TEXT: missing. Name raw text, or --counts with a file of counts.")
    if missing:
        raise click.UsageError(
            f"--counts: {missing[0]} is missing, which --held-out needs. Name TEXT again, or a new file."
        )


def _warn_of_other_data(base: Any, labeled: Path, data: LabeledData) -> None:
    """Print what suggests that LABELED is not the file that the model was trained on."""
    training, n_sentences = getattr(base, "training_", {}), len(data.inputs)
    signs = []
    if (n_before := training.get("sentences", n_sentences)) != n_sentences:
        signs.append(f"has {counted(n_sentences, 'sentence')}, not {n_before:,}")
    if (name := training.get("data", labeled.name)) != labeled.name:
        signs.append(f"is not called {name}")
    if unknown := _unknown_tags(base, {tag for row in data.outputs or () for tag in row}):
        signs.append(f"has tags unknown to MODEL ({', '.join(unknown[:5])}{', ...' if len(unknown) > 5 else ''})")
    if signs:
        ui.notice(f"{labeled}: may not be the file that MODEL was trained on: it {', it '.join(signs)}.")


def _unknown_tags(base: Any, tags: set[str]) -> list[str]:
    """Return the tags that a model does not know; of spans, which it may write in its own scheme, those of new types."""
    known = set(map(str, getattr(base, "classes_", ())))
    if getattr(base, "encoding", None) is None:
        return sorted(tags - known)
    types = set(map(_span_type, known))
    return sorted(tag for tag in tags if _span_type(tag) not in types)


def _span_type(tag: str) -> tuple[bool, str]:
    """Return whether a tag is of a span, and the type of the span or else the tag."""
    mark, _, kind = tag.partition("-")
    return (True, kind) if mark in ("B", "I", "E", "S") else (False, tag)


def _show_tagger(facts: dict[str, Any], where: Path) -> None:
    scores = facts["dev"]
    raw = "" if facts["mode"] == "rounded" else f", {counted(facts['tokens'], 'token')} of raw text"
    ui.echo(f"  Mode       {facts['mode']}{raw}")
    if dropped := facts["dropped"]:
        ui.echo(
            f"  Dropped    weights below {dropped['below']:g}; {ui.percent(dropped['changed'])} of predictions change"
        )
        name = "F1" if dropped["metric"] == "f1" else "Accuracy"
        limits = f"95% interval {ui.interval(dropped['low'], dropped['high'])}"
        before, sentences = ui.percent(dropped["score_before"]), counted(dropped["n_sentences"], "held-out sentence")
        ui.echo(f"  {name:<10} {ui.percent(dropped['score'])}, {limits} ({sentences}; {before} before)")
    for name, before in scores.get("before", {}).items():
        after = scores["after"][name]
        ui.echo(
            f"  {name:<10} {ui.percent(before)} before, {ui.percent(after)} after ({100 * (after - before):+.1f} points)"
        )
    n_weights = facts["features" if facts["mode"] == "rounded" else "condensed_features"]
    ui.echo(f"  Weights    {facts['features_before']:,} before, {n_weights:,} after")
    ui.echo(f"  Saved      {where} ({ui.file_size(where)}, before {facts['bytes_before'] / 1e3:.0f} kB)\n")
    if facts["bytes"] >= facts["bytes_before"]:
        ui.notice("The model is not smaller. A higher --discount makes it smaller.")
    ui.suggest_command(f"handful predict {ui.shell_name(where)} TEXT.txt")


# -- tables ------------------------------------------------------------------------------------------------------------


def _condense_table(
    ctx: click.Context, model: TableModel, files: tuple[Path, ...], run: opt.Run, given: dict[str, Any]
) -> None:
    """Choose rows of a table, and write them as a model and as a table."""
    from handful.cli.files import read_cells
    from handful.comparison.condense import condense_model
    from handful.data.files import bare_suffix
    from handful.data.labels import read_labels
    from handful.models.condensed_rows import CondensedModel
    from handful.persistence.model_file import save
    from handful.report.model_page import export_html

    if len(files) != 2:
        raise click.UsageError("condense of a table model takes two files: MODEL DATA.")
    (source, data), html = files, given["html"]
    if isinstance(model, CondensedModel):
        raise ParameterError(f"{source}: condensed already. Condense the model that it was made from.")
    is_table = run.output is not None and bare_suffix(run.output) in TABLES
    where = source.parent / f"{source.stem}-condensed.handful"
    where = where if is_table or run.output is None else run.output
    outputs = [path for path in (where, run.output if is_table else None, html) if path is not None]
    check_outputs(*outputs, inputs=files, force=run.force)
    frame = read_cells(data)
    missing = [name for name in model.columns_ if name not in frame.columns]
    if missing:
        raise DataError(f"{data}: no column {missing[0]!r}, which the model was trained on. Add it.")
    if not frame.height:
        raise DataError(f"{data}: no rows below the header. Add rows.")
    agree(f"Rows of {data} will be readable in {', '.join(map(str, outputs))}.", given["yes"])
    target = getattr(model, "training_", {}).get("target")
    labels = read_labels(frame[target])[0] if target in frame.columns else None
    with ui.progress_bar() as progress:
        small = condense_model(model, frame, labels, n_rows=given["rows"], random_state=run.seed, progress=progress)
    if given["rows"] != "auto" and len(small.kept_) < given["rows"]:
        kept = counted(len(small.kept_), "row")
        ui.notice(f"--rows: {kept} kept, not {given['rows']:,}. At most 80% of the rows, and 1,600, can be kept.")
    small.training_ |= {"data": data.name, "target": target, "command": opt.command_line(ctx)}
    save(small, where)
    if html is not None:
        export_html(small, html)
    if is_table and run.output is not None:
        write_rows(run.output, [small.rows()], like=data)
    facts = {
        "model": str(where),
        "outputs": [str(path) for path in outputs],
        "n_rows": len(small.kept_),
        "rows": small.rows().to_dicts() if run.as_json else [],
        "fidelity": small.training_["fidelity"],
        "estimate": small.training_.get("estimate"),
        "model_estimate": small.training_.get("model_estimate"),
        "curve": small.training_["curve"],
    }
    if run.as_json:
        ui.emit_json(facts)
    else:
        _show_rows(small, facts, where)


def _show_rows(small: CondensedModel, facts: dict[str, Any], where: Path) -> None:
    rows = small.rows()
    n_rows, n_columns = (len(rows), rows.width) if ui.verbose() else (_SHOWN_ROWS, _SHOWN_COLUMNS + 3)
    width = None if ui.verbose() else _WIDTH
    columns = rows.columns[:n_columns]
    table = ui.make_table(*columns, right=("row", "covers"))
    for line in rows.select(columns).head(n_rows).iter_rows():
        table.add_row(
            *(
                ui.cell("" if value is None else str(value)[: width if at > 2 else None])
                for at, value in enumerate(line)
            )
        )
    ui.echo(table)
    if len(rows) > n_rows or rows.width > n_columns:
        ui.echo(f"… {counted(len(rows), 'row')} and {rows.width - 3} columns in all: -v", style="dim")
    ui.echo()
    ui.echo(f"  Rows       {len(rows)}; a new row gets the prediction of the nearest one")
    ui.echo(f"  Fidelity   {_estimate(facts['fidelity'])} of held-out rows get the prediction of the model")
    if facts["estimate"] is not None:
        model = ui.percent(facts["model_estimate"]["value"], facts["model_estimate"]["n"])
        ui.echo(f"  Accuracy   {_estimate(facts['estimate'])} on held-out labels; the model {model}")
    ui.echo(f"  Saved      {', '.join(f'{path} ({ui.file_size(Path(path))})' for path in facts['outputs'])}\n")
    ui.suggest_command(f"handful predict {ui.shell_name(where)} NEW.csv -o predictions.csv")


def _estimate(part: dict[str, Any]) -> str:
    return f"{ui.percent(part['value'], part['n'])} (95% interval {ui.interval(part['low'], part['high'])}, n = {part['n']:,})"


# -- export ------------------------------------------------------------------------------------------------------------


@click.command("export")
@click.argument("model", type=opt.INPUT)
@click.option("--html", is_flag=True, help="As one HTML page, the only format.")
@yes_option
@opt.run_options("as_json", output={"help": "The page. Default: MODEL.html."})
def export_command(model: Path, html: bool, yes: bool, run: opt.Run) -> None:
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
        ui.notice(f"Categories and words of the data are readable in {where}.")
    with write_text_file(where) as file:
        file.write(page)
    if run.as_json:
        ui.emit_json({"model": str(model), "html": str(where), "bytes": where.stat().st_size})
        return
    ui.echo(f"  Saved      {where} ({ui.file_size(where)}); open it in a browser")


def agree(text: str, yes: bool) -> None:
    """Ask before rows of the data go into files."""
    if yes:
        ui.notice(text)
        return
    if not sys.stdin.isatty():
        raise ParameterError(f"--yes: missing. {text} Add --yes to agree.")
    click.confirm(f"{text} Continue?", abort=True, err=True)
