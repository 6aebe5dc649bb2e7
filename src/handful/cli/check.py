"""``handful check`` (likely label errors) and ``handful curve`` (learning curve)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import (
    cell,
    console,
    echo,
    emit_json,
    interval,
    make_table,
    notice,
    percent,
    progress_bar,
    shell_name,
    suggest_command,
    verbose,
)
from handful.cli.label import SHOWN, more_rows, sampled_cells
from handful.cli.options import (
    INPUT,
    OUTPUT,
    NumberRange,
    Reading,
    Run,
    WholeNumber,
    reading_options,
    run_options,
    target_option,
)
from handful.cli.outputs import check_outputs, check_table_name, write_rows
from handful.cli.witnesses import also_option, check_also
from handful.errors import counted

if TYPE_CHECKING:
    import polars as pl

    from handful.active.curve import LearningCurve
    from handful.active.label_errors import LabelErrors, TagError, TagErrors
    from handful.data.tagged import Tagged

_N_FOLDS = 5
_N_PLACES = 20  # in tagged sentences, that are listed without -n
_DUPLICATES = 2  # pairs that are printed without -v


# -- check ------------------------------------------------------------------------------------------------------------


@click.command("check")
@click.argument("data", type=INPUT)
@target_option(text="Label column of a table. Without it DATA is tagged sentences.")
@click.option(
    "-n", "n", type=WholeNumber(min=1), help="How many to list. Default: 1 for 20 labels, or 20 places in sentences."
)
@also_option
@reading_options
@run_options("seed", "as_json", output={"help": "File in which to correct labels or tags."})
@click.pass_context
def check_command(
    ctx: click.Context,
    /,
    data: Path,
    target: str | None,
    n: int | None,
    also: tuple[str, ...] | None,
    reading: Reading,
    run: Run,
) -> None:
    """Find likely label errors in DATA: labels that models trained on the other rows contradict.

    DATA is a table with a --target, or tagged sentences. Labels are never changed. With --also, show where columns of cheap
    labels differ from the labels instead.

    \b
    Examples:
      handful check customers.csv --target segment -o errors.csv
      handful check train.tsv
    """
    if also:
        check_also(data, target, also, n or _N_PLACES, reading, run)
        return
    check_outputs(run.output, inputs=[data], force=run.force)
    interrupted = (
        _check_tags(data, n or _N_PLACES, run) if target is None else _check_labels(data, target, n, reading, run)
    )
    if interrupted:
        click.echo("handful: interrupted; only a part was checked.", err=True)
        ctx.exit(130)


def _check_labels(data: Path, target: str, n: int | None, reading: Reading, run: Run) -> bool:
    """Check the labels of a table, and return whether that was interrupted."""
    from handful.active.label_errors import find_label_errors
    from handful.cli.inputs import read_whole_table

    check_table_name(run.output)
    table = read_whole_table(data, target, reading)
    with progress_bar() as progress:
        errors = find_label_errors(table, n=n, random_state=run.seed, progress=progress)
    output = run.output if errors.errors else None  # there may be nothing to correct
    if output is not None:
        write_rows(output, [_corrections(table.cells, target, errors)], like=data)
    if run.as_json:
        emit_json({"data": str(data), "target": target, "output": output, **_label_facts(errors)})
    else:
        _show_labels(errors, table.cells, list(table.kinds), output)
        _suggest_merge(data, run.output, output, repr(target))
    return errors.n_folds < _N_FOLDS


def _label_facts(errors: LabelErrors) -> dict[str, Any]:
    """Return what is printed as JSON; rows are counted from 1."""
    return {
        "labels": [
            {
                "row": error.row + 1,
                "label": error.label,
                "suggestion": error.suggestion,
                "label_probability": error.label_proba,
                "suggestion_probability": error.suggested_proba,
                "neighbors": [
                    {"row": row + 1, "label": label, "distance": distance} for row, label, distance in error.neighbors
                ],
            }
            for error in errors.errors
        ],
        "n_checked": errors.n_judged,
        "n_likely_errors": errors.n_errors,
        "n_single": errors.n_lone,
        "duplicates": [{"rows": [a + 1, b + 1], "labels": [one, other]} for a, b, one, other in errors.duplicates],
    }


def _corrections(cells: pl.DataFrame, target: str, errors: LabelErrors) -> pl.DataFrame:
    import polars as pl

    from handful.active.merge import CONFIDENCE, REASON, ROW, SUGGESTION, tickets

    rows = [error.row for error in errors.errors]
    reasons = [f"likely error: probability {error.label_proba:.2f}" for error in errors.errors]
    return cells[rows].select(
        pl.exclude(target),
        pl.col(target),
        pl.Series(SUGGESTION, [str(error.suggestion) for error in errors.errors], dtype=pl.String),
        pl.Series(CONFIDENCE, [error.suggested_proba for error in errors.errors], dtype=pl.Float64).round(3),
        pl.Series(REASON, reasons, dtype=pl.String),
        pl.Series(ROW, tickets(cells, target, rows), dtype=pl.String),
    )


def _show_labels(errors: LabelErrors, cells: pl.DataFrame, kinds: list[str], output: Path | None) -> None:
    shown = len(errors.errors) if verbose() else SHOWN
    if errors.errors:
        names, held = sampled_cells(cells[[error.row for error in errors.errors]], kinds)
        table = make_table("row", "label", "", "model says", " ", *names, right=("row", "", " "))
        for error, row in list(zip(errors.errors, held, strict=True))[:shown]:
            table.add_row(
                str(error.row + 1),
                cell(error.label),
                percent(error.label_proba, 1),
                cell(str(error.suggestion)),
                percent(error.suggested_proba, 1),
                *row,
            )
        echo(table)
        more_rows(len(errors.errors), shown, output)
    if errors.n_lone:
        notice(f"{counted(errors.n_lone, 'label')} not checked: the only one of its class.")
    pairs = [f"Rows {a + 1} and {b + 1} are nearly equal: {one}, {other}" for a, b, one, other in errors.duplicates]
    _show_duplicates(pairs)
    echo(f"\n{len(errors):,} of {counted(errors.n_judged, 'label')} likely wrong.")
    if (n_more := errors.n_errors - len(errors)) > 0:
        echo(
            f"The model contradicts {n_more:,} more. Correct these and check again, or list all with -n {errors.n_errors}."
        )


def _marked(text: str, confident: bool) -> Any:
    from rich.text import Text

    mark = " *" if confident and not console().is_terminal else ""  # nothing is bold in a pipe
    return Text(str(cell(f"{text}{mark}")), style="bold" if confident else "")


def _show_duplicates(pairs: Sequence[str]) -> None:
    shown = len(pairs) if verbose() else _DUPLICATES
    for pair in pairs[:shown]:
        echo(pair)
    if len(pairs) > shown:
        echo(f"… {counted(len(pairs) - shown, 'more pair')} like that: -v", style="dim")


def _suggest_merge(data: Path, wanted: Path | None, output: Path | None, what: str) -> None:
    """Print what to do with the file that was written, or that none was."""
    if output is not None:
        echo(f"Wrote {output}. Correct {what}, then run:")
        suggest_command(f"handful merge {shell_name(data)} {shell_name(output)} --prefer-new")
    elif wanted is not None:
        echo(f"{wanted} was not written: there is nothing to correct.")


def _check_tags(data: Path, n: int, run: Run) -> bool:
    """Check the tags of sentences, and return whether that was interrupted."""
    from handful.active.label_errors import find_tag_errors
    from handful.data.tagged import read_tagged

    corpus = read_tagged(data)
    write = None if run.output is None else _writer(data, corpus, run.output)
    with progress_bar() as progress:
        errors = find_tag_errors(corpus.sentences, corpus.tags, n=n, random_state=run.seed, progress=progress)
    output = run.output if errors.errors else None
    if output is not None and write is not None:
        write(errors)
    if run.as_json:
        emit_json({"data": str(data), "output": output, **_tag_facts(errors)})
    else:
        _show_tags(errors, output)
        _suggest_merge(data, run.output, output, "the tags")
    return errors.n_judged < len(corpus.sentences)


def _tag_facts(errors: TagErrors) -> dict[str, Any]:
    """Return what is printed as JSON; sentences and tokens are counted from 1."""
    return {
        "tags": [
            {
                "sentence": error.sentence + 1,
                "first_token": error.start + 1,
                "last_token": error.stop,
                "tokens": error.tokens,
                "tags": error.tags,
                "suggestion": error.suggestion,
                "tags_probability": error.label_proba,
                "suggestion_probability": error.suggested_proba,
                "confident": error.confident,
                "elsewhere": [{"tags": tags, "count": count} for tags, count in error.elsewhere],
            }
            for error in errors.errors
        ],
        "n_checked": errors.n_judged,
        "n_likely_errors": errors.n_errors,
        "duplicates": [{"sentences": [first + 1, second + 1]} for first, second in errors.duplicates],
    }


def _writer(data: Path, corpus: Tagged, output: Path) -> Callable[[TagErrors], None]:
    """Return what writes a file to be corrected: a treebank as such, else columns."""
    from handful.data.conll import read_conllu, write_conll, write_conllu
    from handful.data.files import bare_suffix
    from handful.data.formats import format_of
    from handful.data.records import Sentence
    from handful.data.tagged import ENDINGS

    is_treebank = format_of(data).yields == "trees"
    if ENDINGS.get(bare_suffix(output)) != ("conllu" if is_treebank else "columns"):
        raise click.UsageError(
            f"{output}: tags are written as {'.conllu' if is_treebank else '.tsv'}. Rename the output."
        )
    layout = corpus.layout or ("token", corpus.tag)
    if not is_treebank and corpus.tag != layout[-1]:
        raise click.UsageError("-o: only where the tag is the last column.")

    def write_trees(errors: TagErrors) -> None:
        marks = _marks(errors)
        trees = {number: tree for number, tree in enumerate(read_conllu(data)) if number in marks}
        marked = []
        for number, lines in marks.items():
            sentence = trees[number].sentence
            comments = (*lines, *(line for line in sentence.comments if line))
            marked.append(replace(trees[number], sentence=replace(sentence, comments=comments)))
        write_conllu(output, marked)

    def write_columns(errors: TagErrors) -> None:
        filled = []
        for number, lines in _marks(errors).items():
            sentence = corpus.sentences[number]
            filled.append(Sentence(sentence.tokens, {**sentence.columns, corpus.tag: corpus.tags[number]}, lines))
        write_conll(output, filled, layout)

    return write_trees if is_treebank else write_columns


def _marks(errors: TagErrors) -> dict[int, tuple[str, ...]]:
    marks: dict[int, tuple[str, ...]] = {}
    for error in errors.errors:
        marks[error.sentence] = (*marks.get(error.sentence, ()), _mark(error))
    return marks


def _mark(error: TagError) -> str:
    from handful.data.conll import IN_DOUBT

    first, last = error.start + 1, error.stop
    which = f"token {first}" if first == last else f"tokens {first} to {last}"
    return (
        f'{IN_DOUBT} {which} "{" ".join(error.tokens)}": {" ".join(error.tags)}, '
        f"model says {' '.join(error.suggestion)} ({error.suggested_proba:.0%})"
    )


def _show_tags(errors: TagErrors, output: Path | None) -> None:
    shown = len(errors.errors) if verbose() else SHOWN
    if errors.errors:
        table = make_table("sentence", "tokens", "tags", "", "model says", " ", right=("sentence", "", " "))
        for error in errors.errors[:shown]:
            table.add_row(
                str(error.sentence + 1),
                cell(" ".join(error.tokens)),
                cell(" ".join(error.tags)),
                percent(error.label_proba, 1),
                _marked(" ".join(error.suggestion), error.confident),
                percent(error.suggested_proba, 1),
            )
        echo(table)
        more_rows(len(errors.errors), shown, output)
    _show_duplicates(
        [f"Sentences {a + 1} and {b + 1} have equal tokens and different tags" for a, b in errors.duplicates]
    )
    echo(f"\n{counted(errors.n_errors, 'place')} in {counted(errors.n_judged, 'sentence')} likely wrong.")


# -- curve ------------------------------------------------------------------------------------------------------------

_STYLE = (
    "<style>text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}.tick{font-size:12px;fill:#555}"
    ".mark{stroke:#777;stroke-dasharray:3 3}</style>"
)


@click.command("curve")
@click.argument("data", type=INPUT)
@target_option(required=True)
@click.option(
    "--goal", type=NumberRange(0, 1, min_open=True), metavar="ACCURACY", help="Accuracy to reach, such as 0.9."
)
@click.option("--n-splits", type=WholeNumber(min=2), default=10, show_default=True, help="Random splits of the labels.")
@click.option("--figure", type=OUTPUT, help="SVG file of the learning curves.")
@reading_options
@run_options("force", "seed", "as_json")
@click.pass_context
def curve_command(
    ctx: click.Context,
    /,
    data: Path,
    target: str,
    goal: float | None,
    n_splits: int,
    figure: Path | None,
    reading: Reading,
    run: Run,
) -> None:
    """Estimate how many more labels DATA, a table, needs: learning curve, forecast, and whether to stop.

    \b
    Examples:
      handful curve customers.csv --target segment
      handful curve customers.csv --target segment --goal 0.9 --figure curve.svg
    """
    from handful.active.curve import learning_curve
    from handful.cli.inputs import read_whole_table

    check_outputs(figure, inputs=[data], force=run.force)
    table = read_whole_table(data, target, reading)
    with progress_bar() as progress:
        curve = learning_curve(table, goal=goal, n_splits=n_splits, random_state=run.seed, progress=progress)
    _draw(curve, goal, figure)
    if run.as_json:
        emit_json({"data": str(data), "target": target, "figure": figure, **_curve_facts(curve)})
    else:
        _show_curve(curve, goal)
        asked = f"{shell_name(data)} --target {shell_name(target)}"
        suggest_command(f"handful fit {asked}" if curve.stopping.stop else f"handful next {asked} -n 20 -o todo.csv")
    if curve.n_splits < n_splits:
        click.echo(f"handful: interrupted after {curve.n_splits:,} of {counted(n_splits, 'split')}.", err=True)
        ctx.exit(130)


def _curve_facts(curve: LearningCurve) -> dict[str, Any]:
    """Return what is printed as JSON, without sentences."""
    facts = asdict(curve)
    facts["has_forecast"] = facts.pop("refused") is None
    for part in ("goal", "stopping"):
        if facts[part] is not None:
            facts[part].pop("text")
    return facts


def _draw(curve: LearningCurve, goal: float | None, figure: Path | None) -> None:
    from handful.report.content import Curve
    from handful.report.html import curves_figure

    if figure is None:
        return
    curves = [Curve("ensemble", curve.sizes, curve.mean, curve.low, curve.high)]
    if (ahead := curve.forecast) is not None:
        curves.append(Curve("forecast", ahead.n_labels, ahead.score, ahead.low, ahead.high))
    _write_figure(figure, curves_figure(curves, {"forecast"}, metric="accuracy", goal=goal))


def _write_figure(figure: Path, drawn: str) -> None:
    from handful.data.files import write_text_file

    with write_text_file(figure) as file:
        file.write(drawn.replace("</title>", f"</title>{_STYLE}", 1))


def _show_curve(curve: LearningCurve, goal: float | None) -> None:
    if curve.sizes:
        sizes = [f"{size:,}" for size in curve.sizes]
        table = make_table("labels", *sizes, right=sizes)
        table.add_row("accuracy, %", *(f"{100 * mean:.1f}" for mean in curve.mean))
        echo(table)
        if curve.n_random < curve.n_labels:
            echo(f"Measured on {counted(curve.n_random, 'row')} chosen at random.")
    echo()
    if (ahead := curve.forecast) is not None:
        n = ahead.n_labels[-1]
        echo(
            f"Forecast with {n:,} labels: {percent(ahead.score[-1], curve.n_labels)}, "
            f"90% interval {interval(ahead.low[-1], ahead.high[-1])}"
        )
    else:
        echo(str(curve.refused))
    if curve.goal is not None:
        echo(curve.goal.text)
    elif goal is not None:
        echo(f"No estimate of how many labels {goal:.0%} needs.")
    echo(curve.stopping.text)
