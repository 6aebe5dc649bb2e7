"""``handful next``, ``handful merge`` and ``handful shots``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, check_table_name, read_cells, read_data, read_text, write_rows
from handful.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

    from handful.active.merge import Merged
    from handful.active.query import Suggestion
    from handful.active.sentences import SentenceSuggestion
    from handful.data.records import Sentence
    from handful.data.table import Table
    from handful.data.tagged import Tagged

SHOWN = 6  # lines of a table without -v
_COLUMNS, _WIDTH = 4, 24  # columns of the data that are printed, and their width


def more_rows(n: int, n_shown: int, output: Path | None) -> None:
    """Say where the rest of a table is."""
    if n > n_shown:
        ui.echo(f"… {n - n_shown:,} more: -v{f', or {output}' if output is not None else ''}", style="dim")


def sampled_cells(cells: pl.DataFrame, names: Iterable[str]) -> tuple[list[str], list[list[Any]]]:
    """Return a few columns of the data as they are printed: names, and the cells of each row."""
    few = list(names)[:_COLUMNS]
    rows = cells.select(few).rows()
    return few, [["" if value is None else ui.cell(str(value)[:_WIDTH]) for value in row] for row in rows]


# -- next -------------------------------------------------------------------------------------------------------------


def _known_strategy(ctx: click.Context, param: click.Parameter, value: str) -> str:
    from handful.active.strategies import STRATEGIES

    return click.Choice(list(STRATEGIES)).convert(value, param, ctx)


@click.command("next")
@click.argument("data", type=opt.INPUT, required=False)
@opt.target_option()
@click.option("--unlabeled", type=opt.INPUT, help="Raw sentences for a tagger; DATA is then tagged sentences, if any.")
@opt.number_option("How many rows or sentences to choose.")
@click.option(
    "--strategy",
    metavar="[auto|margin|random]",
    callback=_known_strategy,
    default="auto",
    show_default=True,
    help="Query strategy; margin is for tables.",
)
@opt.tokens_option
@opt.reading_options
@opt.run_options("seed", "as_json", output={"help": "File in which to fill in labels."})
def next_command(
    data: Path | None,
    target: str | None,
    unlabeled: Path | None,
    n: int,
    strategy: Any,
    tokens: Any,
    reading: opt.Reading,
    run: opt.Run,
) -> None:
    """Choose the most informative rows of DATA, or sentences of --unlabeled, to label next (active learning).

    Works without any label, too: the label column, or the tagged sentences, may be missing.

    \b
    Examples:
      handful next customers.csv --target segment -n 10 -o todo.csv
      handful next train.tsv --unlabeled raw.txt -o todo.tsv
    """
    check_outputs(run.output, inputs=[data, unlabeled], force=run.force)
    if unlabeled is not None:
        if target is not None:
            raise click.UsageError("--target: only for tables, --unlabeled for taggers. Leave one of them out.")
        if strategy not in ("auto", "random"):
            raise click.UsageError(f"--strategy: {strategy} is for tables. Use auto or random.")
        _choose_sentences(data, unlabeled, n, strategy, tokens, run)
    elif tokens is not None:
        raise click.UsageError("--tokens: only with --unlabeled. Leave it out.")
    elif target is None:
        raise click.UsageError("--target: missing. Name the label column, or raw sentences with --unlabeled.")
    elif data is None:
        raise click.UsageError("DATA: missing. Name the table.")
    else:
        _choose_rows(data, target, n, strategy, reading, run)


def _choose_rows(data: Path, target: str, n: int, strategy: Any, reading: opt.Reading, run: opt.Run) -> None:
    from handful.active.query import suggest

    check_table_name(run.output)
    table = read_data(data, target, reading, add_target=True)
    with ui.progress_bar() as progress:
        picks = suggest(table, None, n, strategy, run.seed, progress)
    kinds, todo = list(table.kinds), _todo(data, table.cells, target, picks)
    if run.output is not None:
        write_rows(run.output, [todo], like=data)
    if table.labels is None:
        ui.notice(f"{data}: no column {target!r}, so no row is labeled.")
    if len(picks) < n:
        ui.notice(f"Only {counted(len(picks), 'row')} unlabeled.")
    if run.as_json:
        rows = [
            {**vars(pick), "row": pick.row + 1, "cells": row}
            for pick, row in zip(picks, todo.select(kinds).to_dicts(), strict=True)
        ]
        ui.emit_json({"data": str(data), "target": target, "output": run.output, "rows": rows})
        return
    ui.echo(f"{counted(len(picks), 'row')} to label, most informative first\n")
    shown = len(picks) if ui.verbose() else SHOWN
    names, held = sampled_cells(todo, kinds)
    printed = ui.make_table("row", "model says", "", "reason", *names, right=("row", ""))
    for pick, row in list(zip(picks, held, strict=True))[:shown]:
        sure = "" if pick.confidence is None else ui.percent(pick.confidence, 1)
        said = "-" if pick.suggestion is None else ui.cell(pick.suggestion)
        printed.add_row(str(pick.row + 1), said, sure, ui.cell(pick.reason), *row)
    ui.echo(printed)
    more_rows(len(picks), shown, run.output)
    if run.output is not None:
        ui.echo(f"\nWrote {run.output}. Fill in {target!r}.")
        ui.suggest_command(f"handful merge {ui.shell_name(data)} {ui.shell_name(run.output)}")
    else:
        ui.suggest_command(f"handful next {ui.shell_name(data)} --target {ui.shell_name(target)} -n {n} -o todo.csv")


def _todo(data: Path, cells: pl.DataFrame, target: str, picks: list[Suggestion]) -> pl.DataFrame:
    """Return the rows with an empty label, the suggestion, and what `merge` finds them by."""
    import polars as pl

    from handful.active.merge import ADDED, CONFIDENCE, REASON, ROW, SUGGESTION, tickets
    from handful.data.checks import SELECTION

    taken = [name for name in ADDED if name in cells.columns and name != SELECTION]
    if taken:
        raise ParameterError(f"{data}: has a column {taken[0]!r}, which this command writes. Rename it.")
    rows = [pick.row for pick in picks]
    suggestions = [None if pick.suggestion is None else str(pick.suggestion) for pick in picks]
    return cells[rows].select(
        pl.exclude(target, SELECTION),
        pl.lit(None, dtype=pl.String).alias(target),  # next to the suggestion, where people look and 'merge' finds it
        pl.Series(SUGGESTION, suggestions, dtype=pl.String),
        pl.Series(CONFIDENCE, [pick.confidence for pick in picks], dtype=pl.Float64).round(3),
        pl.Series(REASON, [pick.reason for pick in picks], dtype=pl.String),
        pl.Series(SELECTION, ["random" if pick.random else "chosen" for pick in picks], dtype=pl.String),
        pl.Series(ROW, tickets(cells, target, rows)),
    )


def _choose_sentences(data: Path | None, unlabeled: Path, n: int, strategy: Any, tokens: Any, run: opt.Run) -> None:
    """Train a tagger on tagged sentences, if there are any, and choose raw ones."""
    from handful.active.sentences import suggest_sentences
    from handful.data.tagged import read_tagged
    from handful.tagging.crf import CRF

    train = None if data is None else read_tagged(data)
    raw = _new_sentences(unlabeled, data, train, tokens)
    with ui.progress_bar() as progress:
        tagger = None
        if train is not None:
            tagger = CRF("ner" if train.has_spans else "pos", max_iter=100)
            tagger.fit([s.tokens for s in train.sentences], [list(t) for t in train.tags], progress=progress)
        picks = suggest_sentences(raw, tagger, n=n, strategy=strategy, random_state=run.seed, progress=progress)
    if run.output is not None:
        _write_sentences(run.output, picks, raw)
    if len(picks) < n:
        ui.notice(f"Only {counted(len(picks), 'new sentence')}.")
    if run.as_json:
        chosen = [{**vars(pick), "sentence": pick.sentence + 1, "tokens": raw[pick.sentence]} for pick in picks]
        ui.emit_json({"data": data, "unlabeled": str(unlabeled), "output": run.output, "sentences": chosen})
        return
    ui.echo(f"{counted(len(picks), 'sentence')} to tag, most informative first\n")
    shown = len(picks) if ui.verbose() else SHOWN
    table = ui.make_table("margin", "reason", "sentence", right=("margin",))
    for pick in picks[:shown]:
        margin = "-" if pick.margin is None else f"{pick.margin:.2f}"
        table.add_row(margin, ui.cell(pick.reason), ui.cell(" ".join(raw[pick.sentence])[:120]))
    ui.echo(table)
    more_rows(len(picks), shown, run.output)
    if run.output is not None and data is not None:
        ui.echo(f"\nWrote {run.output}. Correct the tags.")
        ui.suggest_command(f"handful merge {ui.shell_name(data)} {ui.shell_name(run.output)}")
    elif run.output is not None:
        ui.echo(f"\nWrote {run.output}. Replace each ? by a tag; then it is your training file:")
        ui.suggest_command(f"handful fit tagger {ui.shell_name(run.output)}")


def _new_sentences(unlabeled: Path, data: Path | None, train: Tagged | None, tokens: Any) -> list[tuple[str, ...]]:
    """Return the raw sentences that are not tagged yet, each once."""
    style = None if train is None else train.style
    known = set() if train is None else {sentence.tokens for sentence in train.sentences}
    read = dict.fromkeys(sentence.tokens for sentence in read_text(unlabeled, style, tokens))
    fresh = [tokens for tokens in read if tokens not in known]
    if not fresh:
        raise DataError(f"{unlabeled}: no sentence{'' if data is None else f' that {data} has not'}. Add raw text.")
    return fresh


def _write_sentences(output: Path, picks: list[SentenceSuggestion], raw: list[tuple[str, ...]]) -> None:
    from handful.active.merge import NO_TAG
    from handful.data.conll import write_conll
    from handful.data.records import Sentence

    filled = [
        Sentence(raw[pick.sentence], {"tag": tuple(pick.suggestion) or (NO_TAG,) * len(raw[pick.sentence])})
        for pick in picks
    ]
    write_conll(output, filled, ("token", "tag"))


# -- merge ------------------------------------------------------------------------------------------------------------


@click.command("merge")
@click.argument("data", type=opt.INPUT)
@click.argument("files", type=opt.INPUT, nargs=-1, required=True)
@opt.target_option(text="Label column. Default: as in the file of 'handful next'.")
@click.option("--output", "-o", type=opt.OUTPUT, help="File to write. Default: DATA.merged next to DATA.")
@click.option("--in-place", is_flag=True, help="Replace DATA itself.")
@click.option("--prefer-new", is_flag=True, help="Let a new label replace a different one in DATA.")
@opt.run_option("force")
@opt.run_option("as_json")
def merge_command(
    data: Path,
    files: tuple[Path, ...],
    target: str | None,
    output: Path | None,
    in_place: bool,
    prefer_new: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Merge the labels of FILES, which 'handful next' wrote and people filled in, into DATA.

    Rows are matched by number and content, so it still works after DATA was sorted. Conflicting labels are listed, not
    merged. Tagged sentences are added to tagged sentences.

    \b
    Examples:
      handful merge customers.csv todo.csv
      handful merge customers.csv corrections.csv --prefer-new --in-place
    """
    from handful.data.files import bare_suffix

    annotated = _is_annotated(data)
    if in_place:
        if output is not None:
            raise click.UsageError("--in-place: not with -o. Leave one of them out.")
        if annotated or bare_suffix(data) == ".xlsx":
            raise click.UsageError("--in-place: not for workbooks and annotated texts. Name a new file with -o.")
    where = data if in_place else output or _next_to(data, annotated=annotated)
    check_outputs(None if in_place else where, inputs=[data, *files], force=force)
    twice = next((file for number, file in enumerate(files) if file in files[:number]), None)
    if twice is not None:
        raise ParameterError(f"{twice}: named twice. Name every file once.")
    merge = _merge_sentences if annotated or _in_columns(data) else partial(_merge_rows, target=target)
    merge(data, files, where, prefer_new=prefer_new, as_json=as_json)


def _is_annotated(data: Path) -> bool:
    """Tell texts with spans, or other sentences that are not in columns."""
    from handful.data.formats import format_of

    format = format_of(data)
    return format.yields == "sentences" and format.name != "conll"


def _in_columns(data: Path) -> bool:
    """Tell tagged sentences, in columns without a header and a blank line after each sentence, from a table."""
    from handful.data.files import bare_suffix
    from handful.data.formats import detect

    tables = (".csv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
    name = "" if bare_suffix(data) in tables else detect(data)
    if name == "conllu":
        raise ParameterError(f"{data}: CoNLL-U cannot be merged. Write the new tags into it by hand.")
    return name == "conll"


def _next_to(data: Path, *, annotated: bool) -> Path:
    """Return the name of a new file next to the data."""
    from handful.data.files import bare_stem, bare_suffix

    stem = bare_stem(data)
    # A workbook is written only where it is asked for, the others not at all.
    is_other = bare_suffix(data) in (".xlsx", ".json")
    ending = ".tsv" if annotated else ".csv" if is_other else data.name.removeprefix(stem)
    return data.parent / f"{stem}.merged{ending}"


def _merge_rows(
    data: Path, files: tuple[Path, ...], where: Path, *, target: str | None, prefer_new: bool, as_json: bool
) -> None:
    from handful.active.merge import ROW, merge_labels

    check_table_name(where)
    cells, came = read_cells(data), {str(file): read_cells(file) for file in files}
    if ROW in cells.columns and not any(ROW in frame.columns for frame in came.values()):
        swapped = f"handful merge {ui.shell_name(files[0])} {ui.shell_name(data)}"
        raise ParameterError(f"{data}: written by 'handful next'. Swap the files: {swapped}")
    target = target if target is not None else _target(came)
    merged = merge_labels(cells, came, target, prefer_new=prefer_new)
    if not (merged.n_new or merged.n_same or merged.replaced or merged.conflicts or merged.unmatched):
        raise DataError(f"{', '.join(came)}: no label is filled in. Fill in {target!r}, then merge again.")
    write_rows(where, [merged.frame], like=data)
    if as_json:
        ui.emit_json(_merge_facts(merged, where, target))
        return
    _show_merged(merged, data)
    counts = {
        "replaced": len(merged.replaced),
        "unchanged": merged.n_same,
        "in conflict": len(merged.conflicts),
        "left empty": merged.n_empty,
    }
    rest = "".join(f", {n:,} {what}" for what, n in counts.items() if n)
    ui.echo(f"{where}: {counted(merged.n_new, 'new label')}{rest}")
    ui.suggest_command(f"handful fit {ui.shell_name(where)} --target {ui.shell_name(target)}")


def _show_merged(merged: Merged, data: Path) -> None:
    most = None if ui.verbose() else SHOWN
    for label, like in merged.new_labels.items():
        ui.notice(f"New label {label!r}.{f' Did you mean {like!r}?' if like is not None else ''}")
    for conflict in merged.conflicts[:most]:
        labels = "; ".join(f"{label} ({source})" for source, label in conflict.labels)
        kept = "stays unlabeled" if conflict.kept is None else f"keeps {conflict.kept}"
        ui.notice(f"Row {conflict.row + 1} {kept}: labels differ: {labels}")
    for name, number in merged.unmatched[:most]:
        ui.notice(f"{name}: row {number + 1} is not in {data}; its label was not merged.")
    if merged.n_changed:
        ui.notice(f"{counted(merged.n_changed, 'row')} with other changed cells; only the labels were merged.")
    for row, before, now in merged.replaced if ui.verbose() else ():
        ui.echo(f"Row {row + 1}: {before} -> {now}")


def _target(came: dict[str, pl.DataFrame]) -> str:
    """Return the label column: 'handful next' writes it right before its suggestion."""
    from handful.active.merge import SUGGESTION

    for frame in came.values():
        place = frame.columns.index(SUGGESTION) if SUGGESTION in frame.columns else 0
        if place > 0:
            return frame.columns[place - 1]
    raise ParameterError(f"--target: missing. {next(iter(came))} does not show which column holds the labels.")


def _merge_facts(merged: Merged, where: Path, target: str) -> dict[str, Any]:
    return {
        "output": str(where),
        "target": target,
        "new": merged.n_new,
        "same": merged.n_same,
        "replaced": [{"row": row + 1, "before": before, "now": now} for row, before, now in merged.replaced],
        "left_empty": merged.n_empty,
        "changed_cells": merged.n_changed,
        "conflicts": [
            {"row": c.row + 1, "labels": [{"from": a, "label": b} for a, b in c.labels], "kept": c.kept}
            for c in merged.conflicts
        ],
        "new_labels": merged.new_labels,
        "not_in_data": [{"file": name, "row": number + 1} for name, number in merged.unmatched],
    }


def _merge_sentences(data: Path, files: tuple[Path, ...], where: Path, *, prefer_new: bool, as_json: bool) -> None:
    """Write the sentences of all files to one, and list those that were left out."""
    from handful.active.merge import merge_sentences
    from handful.data.conll import guess_columns, read_conll, write_conll
    from handful.data.files import Source
    from handful.data.formats import format_of
    from handful.data.records import Sentence
    from handful.data.tagged import read_tagged

    layout: tuple[str, ...] = ("token", "tag")
    if _is_annotated(data):
        tagged = read_tagged(data)
        there = [Sentence(s.tokens, {"tag": tags}) for s, tags in zip(tagged.sentences, tagged.tags, strict=True)]
    else:
        layout = guess_columns(data)
        there = list(read_conll(data, layout))
    came: dict[str, list[Sentence]] = {}
    for file in files:
        source = Source(file)
        format = format_of(source)
        if format.name != "conll" and not (format.yields == "text" and b"\t" in source.head):
            raise ParameterError(f"{file}: not columns, but {format.name}. Write one token and its tag per line.")
        if (n := len(guess_columns(file))) != len(layout):
            raise ParameterError(f"{file}: {counted(n, 'column')}, but {data} has {len(layout)}. Use the same columns.")
        came[str(file)] = list(read_conll(file, layout))
    tag = layout[-1]
    merged = merge_sentences(there, came, tag, prefer_new=prefer_new)
    write_conll(where, merged.sentences, layout)
    counts = {"new": merged.n_new, "same": merged.n_same, "replaced": merged.n_replaced, "left_empty": merged.n_empty}
    if as_json:
        conflicts = [
            {"file": name, "sentence": number + 1, "tokens": s.tokens, "tags": s[tag]}
            for name, number, s in merged.conflicts
        ]
        ui.emit_json({"output": str(where), **counts, "conflicts": conflicts})
        return
    for name, number, sentence in merged.conflicts[: None if ui.verbose() else SHOWN]:
        ui.notice(
            f"{name}: sentence {number + 1} is tagged differently elsewhere, not merged: {' '.join(sentence.tokens)}"
        )
    others = {"unchanged": merged.n_same, "with new tags": merged.n_replaced, "not fully tagged": merged.n_empty}
    rest = "".join(f", {n:,} {what}" for what, n in others.items() if n)
    ui.echo(f"{where}: {counted(merged.n_new, 'new sentence')}{rest}")
    ui.suggest_command(f"handful fit tagger {ui.shell_name(where)}")


# -- shots ------------------------------------------------------------------------------------------------------------


@click.command("shots")
@click.argument("data", type=opt.INPUT)
@opt.target_option(required=True)
@opt.number_option("Number of rows.", 16)
@click.option(
    "--as",
    "form",
    type=click.Choice(["prompt", "jsonl"]),
    default="prompt",
    show_default=True,
    help="Text for a prompt, or one JSON object a line.",
)
@opt.also_option("Columns of cheap labels, which are left out.")
@opt.reading_options
@opt.run_options("as_json", "output")
def shots_command(
    data: Path, target: str, n: int, form: str, also: tuple[str, ...], reading: opt.Reading, run: opt.Run
) -> None:
    """Choose N labeled rows of DATA for the prompt of a language model.

    Every label is among them, and the most representative rows come first. The same data give the same rows.

    \b
    Examples:
      handful shots customers.csv --target segment -n 16
      handful shots customers.csv --target segment --as jsonl -o shots.jsonl
    """
    from handful.models.condensed_rows import shots

    check_outputs(run.output, inputs=[data], force=run.force)
    if target in also:
        raise ParameterError(f"--also: {target!r} is the label column. Name other columns.")
    table = read_data(data, target, opt.as_witnesses(reading, also))
    if not len(table.labeled):
        raise DataError(f"{data}: no labels in {target!r}. Label some rows first.")
    rows = shots(table, n=n).tolist()
    if len(rows) < n:
        ui.notice(f"{data}: only {counted(len(rows), 'labeled row')}; all of them are chosen.")
    records = list(_records(table, rows))
    if run.as_json:
        ui.emit_json({"data": str(data), "target": target, "rows": [row + 1 for row in rows], "shots": records})
        return
    with ui.open_output(run.output) as file:
        if form == "jsonl":
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        else:
            file.write(_prompt(table, records))


def _records(table: Table, rows: list[int]) -> Iterator[dict[str, Any]]:
    """Yield cells as in the file, and the label last; columns of nothing but class names would tell it."""
    classes = {str(name) for name in table.classes.tolist()}
    names = [spec.name for spec in table.columns if spec.kind != "skip"]
    said = {name: {str(value) for value in table.cells[name].unique().to_list()} - {"None", ""} for name in names}
    frame = table.cells.select(name for name in names if not said[name] <= classes)
    if left_out := [name for name in names if name not in frame.columns]:
        ui.notice(f"Left out {', '.join(map(repr, left_out))}: nothing but names of classes.")
    for row in rows:
        cells = {name: value for name, value in frame.row(row, named=True).items() if value is not None and value != ""}
        yield {**cells, str(table.target): table.classes[table.codes[row]].item()}


def _prompt(table: Table, records: list[dict[str, Any]]) -> str:
    classes = ", ".join(" ".join(str(name).split()) for name in table.classes.tolist())
    lines = [f"Give each row one of these labels for {table.target}: {classes}.", ""]
    for record in records:
        lines += [f"{name}: {' '.join(str(value).split())}" for name, value in record.items()] + [""]
    return "\n".join(lines)
