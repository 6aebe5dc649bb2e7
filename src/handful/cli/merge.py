"""``handful merge``: labels that came back, put into the table they belong to; counts of shares, added up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import COUNTED_FROM, console, emit_json
from handful.cli.options import check_output, check_unfilled, run_option, shell_name
from handful.core.counted import counted
from handful.core.errors import FileError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from handful.labeling.merging import Merged


_TAGGED = ("conll", "conllu")
_MOST_REPLACED = 20  # labels that are told one by one


@click.command("merge")
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--target", metavar="COLUMN", help="Column of labels; else told by the file of 'handful next'.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="File to write; else DATA.merged beside it."
)
@click.option("--in-place", is_flag=True, help="Replace DATA itself, once the new table is whole.")
@click.option("--prefer-new", is_flag=True, help="Let a label that came back replace a different one in DATA.")
@run_option("as_json")
def command(
    data: Path,
    files: tuple[Path, ...],
    target: str | None,
    output: Path | None,
    in_place: bool,
    prefer_new: bool,
    as_json: bool,
) -> None:
    """Put the labels of FILES, which 'handful next' wrote and people filled in, into DATA.

    Or add up the counts that 'handful condense --shard' made: handful merge COUNTS-1 COUNTS-2 ... -o COUNTS.

    DATA is a table, or tagged sentences (columns, CoNLL-U), to which new ones are added; what becomes of annotated texts
    (Prodigy, doccano, Label Studio, spaCy) is a file of columns. Rows are found by their number and what they hold.
    A label that differs from one in DATA, and files that disagree, are told and not merged; DATA stays as it is unless
    --in-place says otherwise.
    """
    from handful.cli.merge_counts import add_counts, are_counts
    from handful.cli.table_files import check_table_name, read_cells, write_cells
    from handful.corpora.opening import bare_suffix
    from handful.labeling import merge_labels

    if are_counts(data):
        if output is None or in_place or prefer_new or target is not None:
            raise click.UsageError("Counts are merged into a new file: -o FILE, and no other option but --json.")
        add_counts([data, *files], output, as_json=as_json)
        return
    if in_place and output is not None:
        raise click.UsageError("--in-place and --output exclude each other.")
    annotated = _are_annotated(data)
    if annotated and in_place:
        raise click.UsageError(
            "--in-place: annotated texts are merged into a new file of columns. Name one with -o, or none."
        )
    where = data if in_place else output if output is not None else _beside(data, annotated=annotated)
    if not in_place:
        check_output(where, data, *files)
        check_unfilled(where)
    if annotated or _has_sentences(data):
        from handful.cli.merge_sentences import add_sentences

        add_sentences(data, files, where, prefer_new=prefer_new, as_json=as_json)
        return
    check_table_name(where)
    if in_place and bare_suffix(data) == ".xlsx":
        raise click.UsageError("--in-place: a workbook may hold more than its table. Name a new file with -o, or none.")
    cells = read_cells(data)
    came = _by_name(files, read_cells)
    _check_order(data, cells, came)
    wanted = target if target is not None else _target(came)
    merged = merge_labels(cells, came, wanted, prefer_new=prefer_new)
    write_cells(where, [merged.frame], like=data)
    if as_json:
        emit_json(_facts(merged, where, wanted))
        return
    _tell(merged, where)


def _are_annotated(data: Path) -> bool:
    """Tell texts with spans, or other sentences that are not in columns."""
    from handful.corpora.formats import format_of

    format = format_of(data)
    return format.yields == "sentences" and format.name not in ("conll", "conllu-plus")


def _has_sentences(data: Path) -> bool:
    """Tell tagged sentences from a table: CoNLL-U, or columns without a header, a blank line after each sentence."""
    from handful.corpora.formats import detect
    from handful.corpora.opening import bare_suffix

    return bare_suffix(data) not in (".csv", ".jsonl", ".ndjson", ".parquet", ".xlsx") and detect(data) in _TAGGED


def _by_name(files: tuple[Path, ...], read: Any) -> dict[str, pl.DataFrame]:
    twice = next((file for number, file in enumerate(files) if file in files[:number]), None)
    if twice is not None:
        raise ParameterError(f"merge: every file must be named once, got {twice} twice.")
    return {str(file): read(file) for file in files}


def _beside(data: Path, *, annotated: bool) -> Path:
    """Return the name of a new file beside the data; an earlier one is not replaced."""
    from handful.corpora.opening import bare_stem, bare_suffix

    stem = bare_stem(data)
    ending = data.name.removeprefix(stem)
    # A workbook is written only where it is asked for, the others not at all.
    if bare_suffix(data) in (".xlsx", ".json", ".arrow", ".feather"):
        ending = ".csv"
    if annotated:
        ending = ".tsv"
    where = data.parent / f"{stem}.merged{ending}"
    if where.exists():
        raise FileError(f"{where}: is there already. Name another file with -o, or replace DATA with --in-place.")
    return where


def _check_order(data: Path, cells: pl.DataFrame, came: dict[str, pl.DataFrame]) -> None:
    """Refuse to put a table into the file that 'handful next' made of it."""
    from handful.labeling.merging import ROW

    if ROW in cells.columns and not any(ROW in frame.columns for frame in came.values()):
        table = next(iter(came))
        turned = f"handful merge {shell_name(Path(table))} {shell_name(data)}"
        raise ParameterError(f"{data}: is a file of 'handful next', so the two seem to be swapped: {turned}")


def _target(came: dict[str, pl.DataFrame]) -> str:
    """Tell the label column: 'handful next' writes it right before its suggestion."""
    from handful.labeling.merging import SUGGESTION

    for frame in came.values():
        place = frame.columns.index(SUGGESTION) if SUGGESTION in frame.columns else 0
        if place > 0:
            return frame.columns[place - 1]
    raise ParameterError(f"{next(iter(came))}: does not tell which column holds the labels. Add --target COLUMN.")


def _facts(merged: Merged, where: Path, target: str) -> dict[str, Any]:
    return {
        "output": str(where),
        "target": target,
        **COUNTED_FROM,
        "new": merged.n_new,
        "same": merged.n_same,
        "replaced": [{"row": row, "before": before, "now": now} for row, before, now in merged.replaced],
        "left empty": merged.n_empty,
        "changed cells": merged.n_changed,
        "conflicts": [
            {"row": c.row, "labels": [{"from": a, "label": b} for a, b in c.labels], "kept": c.kept}
            for c in merged.conflicts
        ],
        "new to the data": merged.unheard,
        "not in the data": [{"file": name, "row": number} for name, number in merged.strangers],
    }


def _tell(merged: Merged, where: Path) -> None:
    out, notes = console(), console(stderr=True)
    parts = [counted(merged.n_new, "new label")]
    if merged.replaced:
        parts.append(f"{len(merged.replaced):,} replaced")
    if merged.n_same:
        parts.append(f"{merged.n_same:,} that were there already")
    if merged.conflicts:
        parts.append(f"{len(merged.conflicts):,} in conflict")
    if merged.n_empty:
        parts.append(f"{merged.n_empty:,} left empty")
    out.print(f"{where}: {', '.join(parts)}.", markup=False, soft_wrap=True)
    for row, before, now in merged.replaced[:_MOST_REPLACED]:
        out.print(f"Row {row + 1}: {before} becomes {now}.", markup=False, soft_wrap=True)
    if len(merged.replaced) > _MOST_REPLACED:
        out.print(f"So do {len(merged.replaced) - _MOST_REPLACED:,} more; --json names all.")
    for label, like in merged.unheard.items():
        meant = f" If {like!r} was meant, correct it." if like is not None else ""
        notes.print(f"The label {label!r} is new to the data.{meant}", style="yellow", markup=False, soft_wrap=True)
    for conflict in merged.conflicts:
        told = "; ".join(f"{label} ({source})" for source, label in conflict.labels)
        kept = "stays unlabeled" if conflict.kept is None else f"keeps {conflict.kept}"
        notes.print(f"Row {conflict.row + 1} {kept}, for labels differ: {told}", style="yellow", markup=False)
    for name, number in merged.strangers:
        notes.print(
            f"{name}: row {number + 1} is not in the data; its label was left out.", style="yellow", markup=False
        )
    if merged.n_changed:
        notes.print(
            f"{counted(merged.n_changed, 'row')} came back with other cells than the data has; "
            f"only the label{'' if merged.n_changed == 1 else 's'} {'was' if merged.n_changed == 1 else 'were'} taken.",
            style="yellow",
            markup=False,
        )
