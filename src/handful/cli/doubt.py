"""``handful doubt``: given labels that are probably wrong, with the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import COUNTED_FROM, console, emit_json, progress_bar
from handful.cli.options import (
    Reading,
    Run,
    WholeNumber,
    check_output,
    check_unfilled,
    reading_options,
    run_options,
    shell_name,
)
from handful.core.counted import counted

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

    from handful.core.records import Tree
    from handful.corpora.tagged import Tagged
    from handful.labeling.doubt import Doubt, Doubts
    from handful.labeling.tagged_doubt import TagDoubt, TagDoubts

_N_MODELS = 3
_MOST_ELSEWHERE = 3


@click.command("doubt")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COLUMN", help="Column of labels of a table; without it DATA is tagged sentences.")
@click.option("-n", "n_most", type=WholeNumber(min=1), default=20, show_default=True, help="How many to show.")
@reading_options
@run_options("seed", "as_json", output={"help": "File of them, with labels or tags to correct."})
@click.pass_context
def command(ctx: click.Context, /, data: Path, target: str | None, n_most: int, reading: Reading, run: Run) -> None:
    """Find labels in DATA that models trained on the rest contradict, the most doubtful first.

    DATA is a table with a --target, or tagged sentences (columns, CoNLL-U, annotated texts). Labels are never changed: look
    at them, and bring corrections back with 'handful merge --prefer-new'. Tags to correct are written as columns, those of
    CoNLL-U as CoNLL-U.
    """
    output = run.output
    check_output(output, data)
    check_unfilled(output)
    interrupted = _tags(data, n_most, run) if target is None else _labels(data, target, n_most, reading, run)
    if interrupted:
        ctx.exit(130)


def _labels(data: Path, target: str, n_most: int, reading: Reading, run: Run) -> bool:
    """Judge the labels of a table, and return whether that was interrupted."""
    from handful.cli.table_files import as_table, check_table_name, read_cells, write_cells
    from handful.labeling import doubtful_labels

    output = run.output
    if output is not None:
        check_table_name(output)
    cells = read_cells(data)
    table, kinds = as_table(data, cells, target, reading)
    with progress_bar() as progress:
        told = doubtful_labels(
            table.frame.select(list(kinds)), table.labels, n=n_most, random_state=run.seed, progress=progress
        )
    output = output if told.doubts else None  # there may be nothing to correct
    if output is not None:
        write_cells(output, [_corrections(cells, target, told)], like=data)
    if run.as_json:
        emit_json({"data": str(data), "target": target, "output": output, **COUNTED_FROM, **asdict(told)})
    else:
        _show(told, cells.select(list(kinds)))
        _tell_file(data, run.output, output, f"the column {target!r}")
    return len(told.models) < _N_MODELS


def _tell_file(data: Path, wanted: Path | None, output: Path | None, what: str) -> None:
    """Tell what to do with the file that was written, or that none was."""
    if output is not None:
        told = f"\n{output}: correct {what}, then: handful merge {shell_name(data)} {shell_name(output)} --prefer-new"
        console().print(told, markup=False, soft_wrap=True)
    elif wanted is not None:
        console().print(f"{wanted} was not written: there is nothing to correct.", markup=False, soft_wrap=True)


def _corrections(cells: pl.DataFrame, target: str, told: Doubts) -> pl.DataFrame:
    import polars as pl

    from handful.labeling.merging import CONFIDENCE, REASON, ROW, SUGGESTION, tickets

    rows = [doubt.row for doubt in told.doubts]
    reasons = [
        f"{len(doubt.models)} of {counted(len(told.models), 'model')} say {doubt.suggestion}" for doubt in told.doubts
    ]
    return cells[rows].select(
        pl.exclude(target),
        pl.col(target),
        pl.Series(SUGGESTION, [str(doubt.suggestion) for doubt in told.doubts], dtype=pl.String),
        pl.Series(CONFIDENCE, [doubt.suggested_share for doubt in told.doubts], dtype=pl.Float64).round(3),
        pl.Series(REASON, reasons, dtype=pl.String),
        pl.Series(ROW, tickets(cells, target, rows), dtype=pl.String),
    )


def _show(told: Doubts, cells: pl.DataFrame) -> None:
    from rich.text import Text

    table = _table("row", "label", "rather", "models that say so", "nearest rows", "what it holds")
    for doubt in told.doubts:
        held = "  ".join(str(cell) for cell in cells.row(doubt.row)[:4] if cell not in (None, ""))
        table.add_row(*_evidence(doubt), Text(held[:60]))
    out = console()
    if told.doubts:
        out.print(table)
    out.print(f"\n{_verdict(told)}", soft_wrap=True)
    if len(told.models) < _N_MODELS:
        out.print(f"Interrupted: only {', '.join(told.models)} was asked.", soft_wrap=True)
    if told.n_lone:
        lone = counted(told.n_lone, "label", "was/were")
        out.print(
            f"{lone} not judged, being the only one of {'its' if told.n_lone == 1 else 'their'} class.", soft_wrap=True
        )
    for first, second, one, other in told.duplicates[:10]:
        out.print(
            f"Rows {first + 1} and {second + 1} hold nearly the same, but are {one} and {other}.",
            markup=False,
            soft_wrap=True,
        )
    if len(told.duplicates) > 10:
        out.print(f"... and {counted(len(told.duplicates) - 10, 'more pair')} like that.")


def _verdict(told: Doubts) -> str:
    judged, less_sure = f"Of {counted(told.n_judged, 'label')},", told.n_doubted - told.n_wrong
    doubtful = f"{'is' if less_sure == 1 else 'are'} doubtful"
    if not told.n_doubted:
        return f"{judged} none is in doubt: each is what models trained on the others would say."
    if not told.n_wrong:
        return f"{judged} none is surely wrong; {less_sure:,} {doubtful}: models trained on the others lean to another label."
    verb = "is" if told.n_wrong == 1 else "are"
    more = f" {less_sure:,} more {doubtful}: models lean to another label." if less_sure else ""
    return (
        f"{judged} {told.n_wrong:,} {verb} contradicted: models trained on the others are as sure of another label as they "
        f"usually are where it was given ({_where_marked(told)}).{more}"
    )


def _where_marked(told: Doubts | TagDoubts) -> str:
    """Tell how those that are contradicted are known, of which not all need be shown."""
    n_shown = sum(doubt.confident for doubt in told.doubts)
    if not n_shown:
        return "not among those above; -n shows more"
    how = f"{'bold' if console().is_terminal else 'marked *'} above"
    if n_shown < told.n_wrong:
        return f"{n_shown:,} {'is' if n_shown == 1 else 'are'} {how}; -n shows more"
    return f"{'it is' if n_shown == 1 else 'they are'} {how}"


def _rather(doubt: Doubt | TagDoubt, suggestion: str) -> Text:
    from rich.text import Text

    mark = " *" if doubt.confident and not console().is_terminal else ""  # nothing is bold in a pipe
    return Text(f"{suggestion}{mark}", style="bold" if doubt.confident else "")


def _evidence(doubt: Doubt) -> list[Text]:
    from rich.text import Text

    near = Counter(str(label) for _, label, _ in doubt.neighbors)
    return [
        Text(str(doubt.row + 1)),
        Text(f"{doubt.label} {doubt.given_share:.0%}"),
        _rather(doubt, f"{doubt.suggestion} {doubt.suggested_share:.0%}"),
        Text(", ".join(doubt.models) or "none alone"),
        Text(", ".join(f"{count} {label}" for label, count in near.most_common())),
    ]


def _tags(data: Path, n_most: int, run: Run) -> bool:
    """Judge the tags of sentences, and return whether that was interrupted."""
    from handful.corpora.tagged import read_tagged
    from handful.labeling import doubtful_tags

    corpus, output = read_tagged(data), run.output
    write = None if output is None else _writer(data, corpus, output)
    with progress_bar() as progress:
        told = doubtful_tags(corpus.sentences, corpus.tags, n=n_most, random_state=run.seed, progress=progress)
    output = output if told.doubts else None
    if output is not None and write is not None:
        write(told)
    if run.as_json:
        emit_json({"data": str(data), "output": output, **COUNTED_FROM, **asdict(told)})
    else:
        _show_tags(told, len(corpus.sentences))
        _tell_file(data, run.output, output, "the tags")
    return told.n_judged < len(corpus.sentences)


def _writer(data: Path, corpus: Tagged, output: Path) -> Callable[[TagDoubts], None]:
    """Return what writes a file to be corrected: a treebank as such, else columns."""
    from handful.corpora.annotated import ENDINGS
    from handful.corpora.formats import format_of
    from handful.corpora.opening import bare_suffix

    is_treebank = format_of(data).yields == "trees"
    if ENDINGS.get(bare_suffix(output)) != ("conllu" if is_treebank else "columns"):
        how, name = ("CoNLL-U", ".conllu") if is_treebank else ("columns of tokens and tags", ".tsv")
        raise click.UsageError(f"{output}: tags to correct are written as {how}. Name a {name} file.")
    if is_treebank:
        return lambda told: _write_trees(output, data, told)
    if corpus.layout and corpus.tag == corpus.layout[-1]:
        return lambda told: _write_tags(output, corpus, told, corpus.layout)
    if not corpus.layout:
        return lambda told: _write_tags(output, corpus, told, ("token", corpus.tag))
    raise click.UsageError(
        "-o: DATA must be annotated texts, CoNLL-U, or columns of tokens and tags with the tag last."
    )


def _write_tags(output: Path, corpus: Tagged, told: TagDoubts, layout: tuple[str, ...]) -> None:
    """Write the sentences with their tags, above each what is in doubt."""
    from handful.core.records import Sentence
    from handful.corpora.formats import write_conll

    filled = [
        Sentence(
            corpus.sentences[number].tokens,
            {**corpus.sentences[number].columns, corpus.tag: corpus.tags[number]},
            lines,
        )
        for number, lines in _marks(told).items()
    ]
    write_conll(output, filled, layout)


def _write_trees(output: Path, data: Path, told: TagDoubts) -> None:
    """Write the trees of the sentences, above each what is in doubt."""
    from handful.corpora.formats import read_conllu, write_conllu

    marks = _marks(told)
    trees = {number: tree for number, tree in enumerate(read_conllu(data)) if number in marks}
    marked = (
        replace(trees[number], sentence=replace(trees[number].sentence, comments=(*lines, *_comments(trees[number]))))
        for number, lines in marks.items()
    )
    write_conllu(output, marked)


def _comments(tree: Tree) -> tuple[str, ...]:
    """Return the comments of a tree, without blank lines that stood before it."""
    return tuple(line for line in tree.sentence.comments if line)


def _marks(told: TagDoubts) -> dict[int, tuple[str, ...]]:
    marks: dict[int, tuple[str, ...]] = {}
    for doubt in told.doubts:
        marks[doubt.sentence] = (*marks.get(doubt.sentence, ()), _mark(doubt))
    return marks


def _mark(doubt: TagDoubt) -> str:
    from handful.corpora.formats.columns import IN_DOUBT

    first, last = doubt.start + 1, doubt.stop
    which = f"token {first}" if first == last else f"tokens {first} to {last}"
    return (
        f'{IN_DOUBT} {which} "{" ".join(doubt.tokens)}": {" ".join(doubt.tags)}, '
        f"models say {' '.join(doubt.suggestion)} ({doubt.suggested_share:.0%})"
    )


def _show_tags(told: TagDoubts, n_sentences: int) -> None:
    from rich.text import Text

    table = _table("sentence", "tokens", "tagged", "rather", "the same words elsewhere")
    for doubt in told.doubts:
        table.add_row(
            str(doubt.sentence + 1),
            Text(" ".join(doubt.tokens)),
            Text(f"{' '.join(doubt.tags)} ({doubt.given_share:.0%})"),
            _rather(doubt, f"{' '.join(doubt.suggestion)} ({doubt.suggested_share:.0%})"),
            Text(", ".join(f"{count} {' '.join(tags)}" for tags, count in doubt.elsewhere[:_MOST_ELSEWHERE])),
        )
    out = console()
    if told.doubts:
        out.print(table)
    places = counted(told.n_wrong, "place", "is/are") if told.n_wrong else "No place is"
    sure = ""
    if told.n_wrong:
        sure = f": a tagger trained on the rest is as sure of other tags as it usually is ({_where_marked(told)})"
    out.print(f"\n{places} contradicted{sure}.{' Look at the first ones.' if told.doubts else ''}", soft_wrap=True)
    if told.n_judged < n_sentences:
        out.print(f"Interrupted: {told.n_judged:,} of {counted(n_sentences, 'sentence')} were judged.")
    for first, second in told.duplicates[:10]:
        out.print(f"Sentences {first + 1} and {second + 1} hold the same words, but are tagged differently.")
    if len(told.duplicates) > 10:
        out.print(f"... and {counted(len(told.duplicates) - 10, 'more pair')} like that.")


def _table(*heads: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, justify="right" if head in ("row", "sentence") else "left", overflow="fold")
    return table
