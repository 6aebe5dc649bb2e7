"""``handful check`` (likely label errors), ``curve`` (learning curve) and ``prevalence`` (frequencies of classes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, check_table_name, read_data, write_rows
from handful.cli.fit_table import read_as
from handful.cli.label import SHOWN, more_rows, sampled_cells
from handful.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

    from handful.active.curve import LearningCurve
    from handful.active.label_errors import LabelErrors, TagErrors
    from handful.comparison.prevalence import ClassPrevalence
    from handful.data.tagged import Tagged
    from handful.models.witnesses import WitnessError

_N_FOLDS = 5
_N_PLACES = 20  # in tagged sentences, that are listed without -n
_DUPLICATES = 2  # pairs that are printed without -v


# -- check ------------------------------------------------------------------------------------------------------------


@click.command("check")
@click.argument("data", type=opt.INPUT)
@opt.target_option(text="Label column of a table. Without it DATA is tagged sentences.")
@click.option(
    "-n",
    "n",
    type=opt.WholeNumber(min=1),
    help="How many to list. Default: 1 for 20 labels, or 20 places in sentences.",
)
@opt.also_option("Columns of cheap labels, to be compared with the labels.")
@opt.reading_options
@opt.run_options("seed", "as_json", output={"help": "File in which to correct labels or tags."})
@click.pass_context
def check_command(
    ctx: click.Context,
    /,
    data: Path,
    target: str | None,
    n: int | None,
    also: tuple[str, ...],
    reading: opt.Reading,
    run: opt.Run,
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
        _check_also(data, target, also, n or _N_PLACES, reading, run)
        return
    check_outputs(run.output, inputs=[data], force=run.force)
    interrupted = (
        _check_tags(data, n or _N_PLACES, run) if target is None else _check_labels(data, target, n, reading, run)
    )
    if interrupted:
        click.echo("handful: interrupted; only a part was checked.", err=True)
        ctx.exit(130)


def _check_labels(data: Path, target: str, n: int | None, reading: opt.Reading, run: opt.Run) -> bool:
    """Check the labels of a table, and return whether that was interrupted."""
    from handful.active.label_errors import find_label_errors

    check_table_name(run.output)
    table = read_data(data, target, reading)
    with ui.progress_bar() as progress:
        errors = find_label_errors(table, n=n, random_state=run.seed, progress=progress)
    output = run.output if errors.errors else None  # there may be nothing to correct
    if output is not None:
        write_rows(output, [_corrections(table.cells, target, errors)], like=data)
    if run.as_json:
        ui.emit_json({"data": str(data), "target": target, "output": output, **_label_facts(errors)})
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
    shown = len(errors.errors) if ui.verbose() else SHOWN
    if errors.errors:
        names, held = sampled_cells(cells[[error.row for error in errors.errors]], kinds)
        table = ui.make_table("row", "label", "", "model says", " ", *names, right=("row", "", " "))
        for error, row in list(zip(errors.errors, held, strict=True))[:shown]:
            table.add_row(
                str(error.row + 1),
                ui.cell(error.label),
                ui.percent(error.label_proba, 1),
                ui.cell(str(error.suggestion)),
                ui.percent(error.suggested_proba, 1),
                *row,
            )
        ui.echo(table)
        more_rows(len(errors.errors), shown, output)
    if errors.n_lone:
        ui.notice(f"{counted(errors.n_lone, 'label')} not checked: the only one of its class.")
    pairs = [f"Rows {a + 1} and {b + 1} are nearly equal: {one}, {other}" for a, b, one, other in errors.duplicates]
    _show_duplicates(pairs)
    ui.echo(f"\n{len(errors):,} of {counted(errors.n_judged, 'label')} likely wrong.")
    if (n_more := errors.n_errors - len(errors)) > 0:
        more = f"Correct these and check again, or list all with -n {errors.n_errors}."
        ui.echo(f"The model contradicts {n_more:,} more. {more}")


def _marked(text: str, confident: bool) -> Any:
    from rich.text import Text

    mark = " *" if confident and not ui.console().is_terminal else ""  # nothing is bold in a pipe
    return Text(str(ui.cell(f"{text}{mark}")), style="bold" if confident else "")


def _show_duplicates(pairs: Sequence[str]) -> None:
    shown = len(pairs) if ui.verbose() else _DUPLICATES
    for pair in pairs[:shown]:
        ui.echo(pair)
    if len(pairs) > shown:
        ui.echo(f"… {counted(len(pairs) - shown, 'more pair')} like that: -v", style="dim")


def _suggest_merge(data: Path, wanted: Path | None, output: Path | None, what: str) -> None:
    """Print what to do with the file that was written, or that none was."""
    if output is not None:
        ui.echo(f"Wrote {output}. Correct {what}.")
        ui.suggest_command(f"handful merge {ui.shell_name(data)} {ui.shell_name(output)} --prefer-new")
    elif wanted is not None:
        ui.echo(f"{wanted} was not written: there is nothing to correct.")


def _check_also(
    data: Path, target: str | None, also: Sequence[str], n: int, reading: opt.Reading, run: opt.Run
) -> None:
    """Print where witnesses differ from the labels, for each the n most frequent ways."""
    from handful.models.witnesses import witness_errors, witness_names

    if target is None:
        raise click.UsageError("--also: needs --target, the column of reliable labels.")
    if run.output is not None:
        raise click.UsageError("-o: not with --also. Use --json.")
    if target in also:
        raise ParameterError(f"--also: {target!r} is the label column. Name other columns.")
    table = read_data(data, target, opt.as_witnesses(reading, also), needs_features=False)
    errors, names = witness_errors(table, also), witness_names(table, also)
    if run.as_json:
        facts = {"errors": [asdict(error) for error in errors], "names": names}
        ui.emit_json({"data": str(data), "target": target, **facts})
        return
    for name in also:
        _show_witness(name, [error for error in errors if error.witness == name], names.get(name, {}), n)


def _show_witness(name: str, errors: list[WitnessError], names: Mapping[str, Any], n: int) -> None:
    total, parts = errors[0], errors[1 : n + 1]
    rate = ui.percent(total.value, total.n_labeled)
    ui.echo(
        f"{name}: {total.n:,} of {total.n_labeled:,} labels differ "
        f"({rate}, 95% interval {ui.interval(total.low, total.high)}){read_as(names)}",
        style="bold",
    )
    shown = parts if ui.verbose() else parts[:SHOWN]
    if shown:
        table = ui.make_table("says", "people say", "rows", "", "95% interval", right=("rows", "", "95% interval"))
        for error in shown:
            ratio = f"{error.n:,} of {error.n_labeled:,}"
            values = ui.percent(error.value, error.n_labeled), ui.interval(error.low, error.high)
            table.add_row(ui.cell(error.says), ui.cell(error.label), ratio, *values)
        ui.echo(table)
    more_rows(len(parts), len(shown), None)


def _check_tags(data: Path, n: int, run: opt.Run) -> bool:
    """Check the tags of sentences, and return whether that was interrupted."""
    from handful.active.label_errors import find_tag_errors
    from handful.data.files import bare_suffix
    from handful.data.formats import format_of
    from handful.data.tagged import ENDINGS, read_tagged

    corpus = read_tagged(data)
    if run.output is not None and (
        format_of(data).yields == "trees" or corpus.tag != (corpus.layout or (corpus.tag,))[-1]
    ):
        raise click.UsageError("-o: only for columns whose last one is the tag. Leave it out.")
    if run.output is not None and ENDINGS.get(bare_suffix(run.output)) != "columns":
        raise click.UsageError(f"{run.output}: tags are written as .tsv. Rename the output.")
    with ui.progress_bar() as progress:
        errors = find_tag_errors(corpus.sentences, corpus.tags, n=n, random_state=run.seed, progress=progress)
    output = run.output if errors.errors else None
    if output is not None:
        _write_tags(output, corpus, errors)
    if run.as_json:
        ui.emit_json({"data": str(data), "output": output, **_tag_facts(errors)})
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


def _write_tags(output: Path, corpus: Tagged, errors: TagErrors) -> None:
    """Write the sentences to be corrected in columns, with what is in doubt in comments."""
    from handful.data.conll import IN_DOUBT, write_conll
    from handful.data.records import Sentence

    marks: dict[int, tuple[str, ...]] = {}
    for error in errors.errors:
        first, last = error.start + 1, error.stop
        which = f"token {first}" if first == last else f"tokens {first} to {last}"
        said = f"model says {' '.join(error.suggestion)} ({error.suggested_proba:.0%})"
        mark = f'{IN_DOUBT} {which} "{" ".join(error.tokens)}": {" ".join(error.tags)}, {said}'
        marks[error.sentence] = (*marks.get(error.sentence, ()), mark)
    filled = []
    for number, lines in marks.items():
        sentence = corpus.sentences[number]
        filled.append(Sentence(sentence.tokens, {**sentence.columns, corpus.tag: corpus.tags[number]}, lines))
    write_conll(output, filled, corpus.layout or ("token", corpus.tag))


def _show_tags(errors: TagErrors, output: Path | None) -> None:
    shown = len(errors.errors) if ui.verbose() else SHOWN
    if errors.errors:
        table = ui.make_table("sentence", "tokens", "tags", "", "model says", " ", right=("sentence", "", " "))
        for error in errors.errors[:shown]:
            table.add_row(
                str(error.sentence + 1),
                ui.cell(" ".join(error.tokens)),
                ui.cell(" ".join(error.tags)),
                ui.percent(error.label_proba, 1),
                _marked(" ".join(error.suggestion), error.confident),
                ui.percent(error.suggested_proba, 1),
            )
        ui.echo(table)
        more_rows(len(errors.errors), shown, output)
    _show_duplicates(
        [f"Sentences {a + 1} and {b + 1} have equal tokens and different tags" for a, b in errors.duplicates]
    )
    ui.echo(f"\n{counted(errors.n_errors, 'place')} in {counted(errors.n_judged, 'sentence')} likely wrong.")


# -- curve ------------------------------------------------------------------------------------------------------------


@click.command("curve")
@click.argument("data", type=opt.INPUT)
@opt.target_option(required=True)
@click.option(
    "--goal", type=opt.NumberRange(0, 1, min_open=True), metavar="ACCURACY", help="Accuracy to reach, such as 0.9."
)
@click.option(
    "--n-splits", type=opt.WholeNumber(min=2), default=10, show_default=True, help="Random splits of the labels."
)
@opt.reading_options
@opt.run_options("seed", "as_json")
@click.pass_context
def curve_command(
    ctx: click.Context,
    /,
    data: Path,
    target: str,
    goal: float | None,
    n_splits: int,
    reading: opt.Reading,
    run: opt.Run,
) -> None:
    """Estimate how many more labels DATA, a table, needs: learning curve and forecast.

    \b
    Examples:
      handful curve customers.csv --target segment
      handful curve customers.csv --target segment --goal 0.9
    """
    from handful.active.curve import learning_curve

    table = read_data(data, target, reading)
    with ui.progress_bar() as progress:
        curve = learning_curve(table, goal=goal, n_splits=n_splits, random_state=run.seed, progress=progress)
    if run.as_json:
        ui.emit_json({"data": str(data), "target": target, **_curve_facts(curve)})
    else:
        _show_curve(curve, goal)
        asked = f"{ui.shell_name(data)} --target {ui.shell_name(target)}"
        is_reached = curve.goal is not None and curve.goal.high == 0
        ui.suggest_command(f"handful fit {asked}" if is_reached else f"handful next {asked} -n 20 -o todo.csv")
    if curve.n_splits < n_splits:
        click.echo(f"handful: interrupted after {curve.n_splits:,} of {counted(n_splits, 'split')}.", err=True)
        ctx.exit(130)


def _curve_facts(curve: LearningCurve) -> dict[str, Any]:
    """Return what is printed as JSON, without sentences."""
    facts = asdict(curve)
    facts["has_forecast"] = facts.pop("refused") is None
    if facts["goal"] is not None:
        facts["goal"].pop("text")
    return facts


def _show_curve(curve: LearningCurve, goal: float | None) -> None:
    if curve.sizes:
        sizes = [f"{size:,}" for size in curve.sizes]
        table = ui.make_table("labels", *sizes, right=sizes)
        table.add_row("accuracy, %", *(ui.percent(mean, curve.n_labels).rstrip("%") for mean in curve.mean))
        ui.echo(table)
        if curve.n_random < curve.n_labels:
            ui.echo(f"Measured on {counted(curve.n_random, 'row')} chosen at random.")
    ui.echo()
    if (ahead := curve.forecast) is not None:
        n = ahead.n_labels[-1]
        ui.echo(
            f"Forecast with {n:,} labels: {ui.percent(ahead.score[-1], curve.n_labels)}, "
            f"90% interval {ui.interval(ahead.low[-1], ahead.high[-1])}"
        )
    else:
        ui.echo(str(curve.refused))
    if curve.goal is not None:
        ui.echo(curve.goal.text)
    elif goal is not None:
        ui.echo(f"No estimate of how many labels {goal:.0%} needs.")


# -- prevalence --------------------------------------------------------------------------------------------------------


@click.command("prevalence")
@click.argument("data", type=opt.INPUT)
@opt.target_option(required=True)
@click.option("--predictions", metavar="COLUMN", help="Column with a prediction for each row; else a model makes them.")
@click.option("--by", "group", metavar="COLUMN", help="Estimate within each value of this column as well.")
@opt.reading_options
@opt.run_options("seed", "as_json")
def prevalence_command(
    data: Path,
    target: str,
    predictions: str | None,
    group: str | None,
    reading: opt.Reading,
    run: opt.Run,
) -> None:
    """Estimate how frequent each class is among all rows of DATA, with an interval.

    The labeled rows must be a random sample; rows that `handful next` chose are left out. Predictions for all rows
    make the interval narrower than the labels alone.

    \b
    Examples:
      handful prevalence customers.csv --target segment
      handful prevalence customers.csv --target segment --by country
    """
    import polars as pl

    from handful.comparison.prevalence import FEWEST_LABELS, cross_predictions, prevalence
    from handful.data.checks import SELECTION
    from handful.data.table import table_frames

    names = next(iter(table_frames(data))).columns
    for name in (predictions, group):
        if name is not None:
            _check_column(data, name, names, target)
    own = {name: "skip" for name in (predictions, SELECTION) if name in names and name is not None}
    reading = replace(reading, columns={**own, **(reading.columns or {})})
    table = read_data(data, target, reading, needs_features=predictions is None)
    if len(table.labeled) < FEWEST_LABELS:
        raise DataError(
            f"{data}: {len(table.labeled)} labeled rows; prevalence needs {FEWEST_LABELS} random ones. Label more random rows."
        )
    if predictions is None:
        with ui.progress_bar() as progress:
            predicted: Any = cross_predictions(table, random_state=run.seed, progress=progress)
    else:
        predicted = table.cells[predictions].to_numpy()
        known = {str(name) for name in table.classes.tolist()}
        n_other = sum(str(cell) not in known for cell in predicted)
        if n_other == len(predicted):
            ui.notice(f"No cell of '{predictions}' is a label, so the intervals are those of the labels alone.")
        elif n_other:
            ui.notice(f"{counted(n_other, 'cell')} of '{predictions}' (of {len(predicted):,}) empty or not a label.")
    is_random = None
    if SELECTION in table.cells.columns:
        is_random = (table.cells[SELECTION].fill_null("") != "chosen").to_numpy()
    groups = None if group is None else table.cells[group].cast(pl.String).replace("", None).fill_null("(empty)")
    estimates = prevalence(
        table.labels,
        predicted,
        groups=None if groups is None else groups.to_list(),
        is_random=is_random,
        random_state=run.seed,
    )
    n_left_out = 0 if is_random is None else int((~is_random[table.labeled]).sum())
    if run.as_json:
        ui.emit_json(
            {
                "data": str(data),
                "target": target,
                "n_chosen_left_out": n_left_out,
                "classes": [{**asdict(estimate), "worth_labels": estimate.worth} for estimate in estimates],
            }
        )
        return
    _show_prevalence(estimates)
    if groups is not None:
        n_groups = groups.n_unique()
        n_small = n_groups - len({estimate.group for estimate in estimates if estimate.group is not None})
        if n_small:
            ui.echo(
                f"{n_small:,} of {n_groups:,} groups have fewer than {FEWEST_LABELS} random labels and are left out."
            )
    if n_left_out:
        ui.echo(f"{n_left_out:,} labeled rows that `handful next` chose were left out; only random rows count.")


def _check_column(data: Path, name: str, names: Sequence[str], target: str) -> None:
    if name not in names:
        raise DataError(f"{data}: no column '{name}'. The columns are {', '.join(names[:20])}.")
    if name == target:
        raise DataError(f"{data}: '{name}' is the label column. Name another column.")


def _show_prevalence(estimates: list[ClassPrevalence]) -> None:
    groups = ["group"] if any(estimate.group is not None for estimate in estimates) else []
    numbers = ("frequency", "95% interval", "labels alone", "as good as")
    table = ui.make_table(*groups, "class", *numbers, right=numbers)
    for estimate in estimates:
        table.add_row(
            *[ui.cell("" if estimate.group is None else estimate.group) for _ in groups],
            ui.cell(estimate.label),
            ui.percent(estimate.value, estimate.n_labeled),
            ui.interval(estimate.low, estimate.high),
            ui.interval(estimate.low_labels, estimate.high_labels),
            f"{estimate.worth:,.0f} labels",
        )
    ui.echo(table)
    n_labeled, n_rows = estimates[0].n_labeled, estimates[0].n_rows
    ui.echo(f"This holds if the {n_labeled:,} labeled rows are a random sample of the {n_rows:,} rows.")
