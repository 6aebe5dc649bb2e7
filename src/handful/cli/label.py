"""``handful next`` and ``handful merge``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import (
    cell,
    echo,
    emit_json,
    make_table,
    notice,
    percent,
    progress_bar,
    shell_name,
    suggest_command,
    verbose,
)
from handful.cli.options import (
    INPUT,
    OUTPUT,
    Reading,
    Run,
    number_option,
    reading_options,
    run_option,
    run_options,
    target_option,
    tokens_option,
)
from handful.cli.outputs import check_outputs, check_table_name, write_rows
from handful.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

    from handful.active.merge import Merged
    from handful.active.query import Suggestion
    from handful.active.sentences import SentenceSuggestion
    from handful.data.records import Sentence, Tree
    from handful.data.tagged import Tagged

    # The column of tags, the sentences that are there and that came, and what writes the merged ones.
    _Read = tuple[str, list[Sentence], dict[str, list[Sentence]], Callable[[list[Sentence]], None]]

SHOWN = 6  # lines of a table without -v
_COLUMNS, _WIDTH = 4, 24  # columns of the data that are printed, and their width


def more_rows(n: int, n_shown: int, output: Path | None) -> None:
    """Say where the rest of a table is."""
    if n > n_shown:
        echo(f"… {n - n_shown:,} more: -v{f', or {output}' if output is not None else ''}", style="dim")


def sampled_cells(cells: pl.DataFrame, names: Iterable[str]) -> tuple[list[str], list[list[Any]]]:
    """Return a few columns of the data as they are printed: names, and the cells of each row."""
    few = list(names)[:_COLUMNS]
    rows = cells.select(few).rows()
    return few, [["" if value is None else cell(str(value)[:_WIDTH]) for value in row] for row in rows]


# -- next -------------------------------------------------------------------------------------------------------------


@click.command("next")
@click.argument("data", type=INPUT, required=False)
@target_option()
@click.option("--unlabeled", type=INPUT, help="Raw sentences for a tagger; DATA is then tagged sentences, if any.")
@number_option("How many rows or sentences to choose.")
@click.option(
    "--strategy",
    type=click.Choice(["auto", "typical", "margin", "random"]),
    default="auto",
    show_default=True,
    help="Query strategy; typical and margin are for tables.",
)
@tokens_option
@reading_options
@run_options("seed", "as_json", output={"help": "File in which to fill in labels."})
def next_command(
    data: Path | None,
    target: str | None,
    unlabeled: Path | None,
    n: int,
    strategy: Any,
    tokens: Any,
    reading: Reading,
    run: Run,
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
        return
    if tokens is not None:
        raise click.UsageError("--tokens: only with --unlabeled. Leave it out.")
    if target is None:
        raise click.UsageError("--target: missing. Name the label column, or raw sentences with --unlabeled.")
    if data is None:
        raise click.UsageError("DATA: missing. Name the table.")
    _choose_rows(data, target, n, strategy, reading, run)


def _choose_rows(data: Path, target: str, n: int, strategy: Any, reading: Reading, run: Run) -> None:
    from handful.active.query import suggest
    from handful.cli.inputs import read_whole_table

    check_table_name(run.output)
    table = read_whole_table(data, target, reading, add_target=True)
    with progress_bar() as progress:
        picks = suggest(table, None, n, strategy, run.seed, progress)
    kinds, todo = list(table.kinds), _todo(data, table.cells, target, picks)
    if run.output is not None:
        write_rows(run.output, [todo], like=data)
    if table.labels is None:
        notice(f"{data}: no column {target!r}, so no row is labeled.")
    if len(picks) < n:
        notice(f"Only {counted(len(picks), 'row')} unlabeled.")
    if run.as_json:
        rows = [
            {**vars(pick), "row": pick.row + 1, "cells": row}
            for pick, row in zip(picks, todo.select(kinds).to_dicts(), strict=True)
        ]
        emit_json({"data": str(data), "target": target, "output": run.output, "rows": rows})
        return
    echo(f"{counted(len(picks), 'row')} to label, most informative first\n")
    shown = len(picks) if verbose() else SHOWN
    names, held = sampled_cells(todo, kinds)
    printed = make_table("row", "model says", "", "reason", *names, right=("row", ""))
    for pick, row in list(zip(picks, held, strict=True))[:shown]:
        sure = "" if pick.confidence is None else percent(pick.confidence, 1)
        said = "-" if pick.suggestion is None else cell(pick.suggestion)
        printed.add_row(str(pick.row + 1), said, sure, cell(pick.reason), *row)
    echo(printed)
    more_rows(len(picks), shown, run.output)
    if run.output is not None:
        echo(f"\nWrote {run.output}. Fill in {target!r}, then run:")
        suggest_command(f"handful merge {shell_name(data)} {shell_name(run.output)}")
    else:
        suggest_command(f"handful next {shell_name(data)} --target {shell_name(target)} -n {n} -o todo.csv")


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


def _choose_sentences(data: Path | None, unlabeled: Path, n: int, strategy: Any, tokens: Any, run: Run) -> None:
    """Train a tagger on tagged sentences, if there are any, and choose raw ones."""
    from handful.active.sentences import suggest_sentences
    from handful.data.tagged import read_tagged
    from handful.tagging.crf import CRF

    train = None if data is None else read_tagged(data)
    raw = _new_sentences(unlabeled, data, train, tokens)
    with progress_bar() as progress:
        tagger = None
        if train is not None:
            tagger = CRF("ner" if train.has_spans else "pos", max_iter=100)
            tagger.fit([s.tokens for s in train.sentences], [list(t) for t in train.tags], progress=progress)
        picks = suggest_sentences(raw, tagger, n=n, strategy=strategy, random_state=run.seed, progress=progress)
    if run.output is not None:
        _write_sentences(run.output, picks, raw)
    if len(picks) < n:
        notice(f"Only {counted(len(picks), 'new sentence')}.")
    if run.as_json:
        chosen = [{**vars(pick), "sentence": pick.sentence + 1, "tokens": raw[pick.sentence]} for pick in picks]
        emit_json({"data": data, "unlabeled": str(unlabeled), "output": run.output, "sentences": chosen})
        return
    echo(f"{counted(len(picks), 'sentence')} to tag, most informative first\n")
    shown = len(picks) if verbose() else SHOWN
    table = make_table("margin", "reason", "sentence", right=("margin",))
    for pick in picks[:shown]:
        margin = "-" if pick.margin is None else f"{pick.margin:.2f}"
        table.add_row(margin, cell(pick.reason), cell(" ".join(raw[pick.sentence])[:120]))
    echo(table)
    more_rows(len(picks), shown, run.output)
    if run.output is not None and data is not None:
        echo(f"\nWrote {run.output}. Correct the tags, then run:")
        suggest_command(f"handful merge {shell_name(data)} {shell_name(run.output)}")
    elif run.output is not None:
        echo(f"\nWrote {run.output}. Replace each ? by a tag; then it is your training file:")
        suggest_command(f"handful fit tagger {shell_name(run.output)}")


def _new_sentences(unlabeled: Path, data: Path | None, train: Tagged | None, tokens: Any) -> list[tuple[str, ...]]:
    """Return the raw sentences that are not tagged yet, each once."""
    from handful.cli.inputs import cut_of
    from handful.data.files import Source
    from handful.data.tagged import read_sentences

    source = Source(unlabeled)
    style = None if train is None else train.style
    cut = cut_of(source, tokens, style)
    known = set() if train is None else {sentence.tokens for sentence in train.sentences}
    read = read_sentences(source, cut, () if style is None else style.abbreviations)
    fresh = [tokens for tokens in dict.fromkeys(sentence.tokens for sentence in read) if tokens not in known]
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
@click.argument("data", type=INPUT)
@click.argument("files", type=INPUT, nargs=-1, required=True)
@target_option(text="Label column. Default: as in the file of 'handful next'.")
@click.option("--output", "-o", type=OUTPUT, help="File to write. Default: DATA.merged next to DATA.")
@click.option("--in-place", is_flag=True, help="Replace DATA itself.")
@click.option("--prefer-new", is_flag=True, help="Let a new label replace a different one in DATA.")
@run_option("force")
@run_option("as_json")
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

    annotated = _are_annotated(data)
    if in_place:
        if output is not None:
            raise click.UsageError("--in-place: not with -o. Leave one of them out.")
        if annotated or bare_suffix(data) == ".xlsx":
            raise click.UsageError("--in-place: not for workbooks and annotated texts. Name a new file with -o.")
    where = data if in_place else output if output is not None else _beside(data, annotated=annotated)
    check_outputs(None if in_place else where, inputs=[data, *files], force=force)
    twice = next((file for number, file in enumerate(files) if file in files[:number]), None)
    if twice is not None:
        raise ParameterError(f"{twice}: named twice. Name every file once.")
    if annotated or _has_sentences(data):
        _merge_sentences(data, files, where, prefer_new=prefer_new, as_json=as_json)
    else:
        _merge_rows(data, files, where, target, prefer_new=prefer_new, as_json=as_json)


def _are_annotated(data: Path) -> bool:
    """Tell texts with spans, or other sentences that are not in columns."""
    from handful.data.formats import format_of

    format = format_of(data)
    return format.yields == "sentences" and format.name != "conll"


def _has_sentences(data: Path) -> bool:
    """Tell tagged sentences from a table: CoNLL-U, or columns without a header, a blank line after each sentence."""
    from handful.data.files import bare_suffix
    from handful.data.formats import detect

    tables = (".csv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
    return bare_suffix(data) not in tables and detect(data) in ("conll", "conllu")


def _beside(data: Path, *, annotated: bool) -> Path:
    """Return the name of a new file next to the data."""
    from handful.data.files import bare_stem, bare_suffix

    stem = bare_stem(data)
    ending = data.name.removeprefix(stem)
    # A workbook is written only where it is asked for, the others not at all.
    if bare_suffix(data) in (".xlsx", ".json"):
        ending = ".csv"
    return data.parent / f"{stem}.merged{'.tsv' if annotated else ending}"


def _merge_rows(
    data: Path, files: tuple[Path, ...], where: Path, target: str | None, *, prefer_new: bool, as_json: bool
) -> None:
    from handful.active.merge import ROW, merge_labels
    from handful.cli.inputs import read_cells

    check_table_name(where)
    cells, came = read_cells(data), {str(file): read_cells(file) for file in files}
    if ROW in cells.columns and not any(ROW in frame.columns for frame in came.values()):
        swapped = f"handful merge {shell_name(files[0])} {shell_name(data)}"
        raise ParameterError(f"{data}: written by 'handful next'. Swap the files: {swapped}")
    target = target if target is not None else _target(came)
    merged = merge_labels(cells, came, target, prefer_new=prefer_new)
    if not (merged.n_new or merged.n_same or merged.replaced or merged.conflicts or merged.unmatched):
        raise DataError(f"{', '.join(came)}: no label is filled in. Fill in {target!r}, then merge again.")
    write_rows(where, [merged.frame], like=data)
    if as_json:
        emit_json(_merge_facts(merged, where, target))
        return
    for label, like in merged.new_labels.items():
        notice(f"New label {label!r}.{f' Did you mean {like!r}?' if like is not None else ''}")
    for conflict in merged.conflicts[: None if verbose() else SHOWN]:
        labels = "; ".join(f"{label} ({source})" for source, label in conflict.labels)
        kept = "stays unlabeled" if conflict.kept is None else f"keeps {conflict.kept}"
        notice(f"Row {conflict.row + 1} {kept}: labels differ: {labels}")
    for name, number in merged.unmatched[: None if verbose() else SHOWN]:
        notice(f"{name}: row {number + 1} is not in {data}; its label was not merged.")
    if merged.n_changed:
        notice(f"{counted(merged.n_changed, 'row')} with other changed cells; only the labels were merged.")
    if verbose():
        for row, before, now in merged.replaced:
            echo(f"Row {row + 1}: {before} -> {now}")
    counts = [
        counted(merged.n_new, "new label"),
        *([f"{len(merged.replaced):,} replaced"] if merged.replaced else []),
        *([f"{merged.n_same:,} unchanged"] if merged.n_same else []),
        *([f"{len(merged.conflicts):,} in conflict"] if merged.conflicts else []),
        *([f"{merged.n_empty:,} left empty"] if merged.n_empty else []),
    ]
    echo(f"{where}: {', '.join(counts)}")
    suggest_command(f"handful fit {shell_name(where)} --target {shell_name(target)}")


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
    from handful.data.formats import format_of

    read = _treebanks if format_of(data).yields == "trees" else _columns
    tag, there, came, write = read(data, files, where)
    merged = merge_sentences(there, came, tag, prefer_new=prefer_new)
    write(merged.sentences)
    counts = {"new": merged.n_new, "same": merged.n_same, "replaced": merged.n_replaced, "left_empty": merged.n_empty}
    if as_json:
        conflicts = [
            {"file": name, "sentence": number + 1, "tokens": s.tokens, "tags": s[tag]}
            for name, number, s in merged.conflicts
        ]
        emit_json({"output": str(where), **counts, "conflicts": conflicts})
        return
    for name, number, sentence in merged.conflicts[: None if verbose() else SHOWN]:
        notice(
            f"{name}: sentence {number + 1} is tagged differently elsewhere, not merged: {' '.join(sentence.tokens)}"
        )
    others = {"unchanged": merged.n_same, "with new tags": merged.n_replaced, "not fully tagged": merged.n_empty}
    rest = "".join(f", {n:,} {what}" for what, n in others.items() if n)
    echo(f"{where}: {counted(merged.n_new, 'new sentence')}{rest}")
    if read is _columns:
        suggest_command(f"handful fit tagger {shell_name(where)}")


def _columns(data: Path, files: tuple[Path, ...], where: Path) -> _Read:
    from handful.data.conll import guess_columns, read_conll, write_conll
    from handful.data.formats import format_of
    from handful.data.records import Sentence
    from handful.data.tagged import read_tagged

    if format_of(data).name == "conll":
        layout = guess_columns(data)
        there = list(read_conll(data, layout))
    else:
        layout, tagged = ("token", "tag"), read_tagged(data)
        there = [Sentence(s.tokens, {"tag": tags}) for s, tags in zip(tagged.sentences, tagged.tags, strict=True)]
    came: dict[str, list[Sentence]] = {}
    for file in files:
        _refuse_other_formats(data, file)
        if (n := len(guess_columns(file))) != len(layout):
            raise ParameterError(f"{file}: {counted(n, 'column')}, but {data} has {len(layout)}. Use the same columns.")
        came[str(file)] = list(read_conll(file, layout))
    return layout[-1], there, came, lambda sentences: write_conll(where, sentences, layout)


def _treebanks(data: Path, files: tuple[Path, ...], where: Path) -> _Read:
    """Read CoNLL-U; a tree of DATA keeps all but its tags."""
    from handful.data.conll import IN_DOUBT, read_conllu, write_conllu
    from handful.data.formats import format_of

    other = next((file for file in files if format_of(file).yields != "trees"), None)
    if other is not None:
        raise ParameterError(f"{other}: not CoNLL-U, as {data} is. Convert it first.")
    trees = list(read_conllu(data))
    came = {str(file): list(read_conllu(file)) for file in files}
    whole = {id(tree.sentence): tree for part in came.values() for tree in part}

    def write(sentences: list[Sentence]) -> None:
        old = [
            replace(tree, sentence=replace(tree.sentence, columns={**tree.sentence.columns, "upos": sentence["upos"]}))
            for tree, sentence in zip(trees, sentences, strict=False)
        ]
        new = [whole[id(sentence)] for sentence in sentences[len(trees) :]]
        write_conllu(where, [*old, *(_without_lines(tree, IN_DOUBT) for tree in new)])

    there = [tree.sentence for tree in trees]
    return "upos", there, {name: [tree.sentence for tree in part] for name, part in came.items()}, write


def _without_lines(tree: Tree, start: str) -> Tree:
    comments = tuple(line for line in tree.sentence.comments if not line.startswith(start))
    return replace(tree, sentence=replace(tree.sentence, comments=comments))


def _refuse_other_formats(data: Path, file: Path) -> None:
    """Raise if a file to be added is not in columns; as the first one it might be."""
    from handful.data.files import Source
    from handful.data.formats import format_of

    source = Source(file)
    format = format_of(source)
    is_json = source.head.lstrip()[:1] in (b"{", b"[")
    is_text = format.yields == "text" and b"\t" not in source.head
    if is_json or is_text or format.yields == "trees" or (format.yields == "sentences" and format.name != "conll"):
        first = f"Name it first: handful merge {shell_name(file)} {shell_name(data)}"
        hint = first if format.yields == "sentences" else "Write one token and its tag per line."
        raise ParameterError(
            f"{file}: not columns of tokens and tags, but {'text' if is_text else format.name}. {hint}"
        )
