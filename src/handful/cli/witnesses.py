"""``--also``: columns of cheap labels in ``handful fit`` and ``handful check``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import (
    cell,
    echo,
    emit_json,
    interval,
    make_table,
    notice,
    percent,
    progress_bar,
    verbose,
    visible,
)
from handful.cli.options import NameList, Reading, Run, is_given
from handful.errors import ParameterError

if TYPE_CHECKING:
    from handful.comparison.witnesses import WitnessError
    from handful.data.table import Table
    from handful.models.table_model import TableModel

_SHOWN = 10  # errors without -v
_MOST_NAMES = 5
_ALONE = ("--method", "--with", "--set", "--metric", "--class-priors")  # options that --also excludes


def _no_repeats(ctx: click.Context, param: click.Parameter, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if value == ():
        raise click.UsageError("--also: no column. Name columns of cheap labels.")
    return None if value is None else tuple(dict.fromkeys(value))


also_option = click.option(
    "--also",
    type=NameList(),
    callback=_no_repeats,
    help="Columns of cheap labels, such as an LLM's; how they err is learned.",
)


def as_witnesses(reading: Reading, also: Sequence[str] | None) -> Reading:
    """Return how to read a table whose witness columns are no features."""
    return replace(reading, columns={**(reading.columns or {}), **dict.fromkeys(also or (), "skip")})


def check_alone(ctx: click.Context, target: str, also: Sequence[str]) -> None:
    """Refuse the label column, and options that have no meaning next to --also."""
    _check_target(target, also)
    for param in ctx.command.params:
        if is_given(ctx, param) and set(param.opts) & set(_ALONE):
            raise click.UsageError(f"{param.opts[0]}: not with --also, which fits the ensemble. Leave it out.")


def _check_target(target: str, also: Sequence[str]) -> None:
    if target in also:
        raise ParameterError(f"--also: {target!r} is the label column. Name other columns.")


def fit_also(table: Table, also: Sequence[str], text: str, run: Run) -> TableModel:
    """Fit with witnesses, and print what was learned about them."""
    from handful.comparison.witnesses import fit_with_witnesses

    with progress_bar():
        model, witnesses = fit_with_witnesses(table, also, text=text, random_state=run.seed)
    for witness in witnesses:
        n, names = int(witness.counts.sum()), [str(name) for name in table.classes.tolist()]
        own = witness.own_names(names)
        meaning = {name: code for code, name in enumerate(names)} | own
        agree = sum(int(witness.counts[meaning[v], at]) for at, v in enumerate(witness.values) if v in meaning)
        read_as = _read_as({value: names[code] for value, code in own.items()})
        said = f"'{witness.name}': agrees with {agree:,} of {n:,} labels{read_as}"
        n_rows = int(((witness.votes >= 0) & (table.codes < 0)).sum())
        notice(
            f"{said}; {n_rows:,} rows learned from it." if witness.is_used else f"{said}, like chance; it is ignored."
        )
    alone = model.training_.get("estimate_alone")
    if alone is not None:
        notice(f"Labels alone: {percent(alone['value'], alone['n'])} of held-out labels.")
    return model


def check_also(data: Path, target: str | None, also: Sequence[str], n: int, reading: Reading, run: Run) -> None:
    """Print where witnesses differ from the labels, for each the n most frequent ways."""
    from handful.cli.inputs import read_whole_table
    from handful.comparison.witnesses import witness_errors, witness_names

    if target is None:
        raise click.UsageError("--also: needs --target, the column of reliable labels.")
    if run.output is not None:
        raise click.UsageError("-o: not with --also. Use --json.")
    _check_target(target, also)
    table = read_whole_table(data, target, as_witnesses(reading, also), needs_features=False)
    errors, names = witness_errors(table, also), witness_names(table, also)
    if run.as_json:
        facts = {"errors": [asdict(error) for error in errors], "names": names}
        emit_json({"data": str(data), "target": target, **facts})
        return
    for name in also:
        _show(name, [error for error in errors if error.witness == name], names.get(name, {}), n)


def _read_as(names: Mapping[str, Any]) -> str:
    """Return what names of a witness are read as."""
    shown = [f"{visible(value)} = {visible(str(label))}" for value, label in list(names.items())[:_MOST_NAMES]]
    return f" (read as: {', '.join(shown)}{', …' if len(names) > _MOST_NAMES else ''})" if shown else ""


def _show(name: str, errors: list[WitnessError], names: Mapping[str, Any], n: int) -> None:
    total, parts = errors[0], errors[1 : n + 1]
    rate = percent(total.value, total.n_labeled)
    echo(
        f"{name}: {total.n:,} of {total.n_labeled:,} labels differ "
        f"({rate}, 95% interval {interval(total.low, total.high)}){_read_as(names)}",
        style="bold",
    )
    shown = parts if verbose() else parts[:_SHOWN]
    if shown:
        table = make_table("says", "people say", "rows", "", "95% interval", right=("rows", "", "95% interval"))
        for error in shown:
            ratio = f"{error.n:,} of {error.n_labeled:,}"
            values = percent(error.value, error.n_labeled), interval(error.low, error.high)
            table.add_row(cell(error.says), cell(error.label), ratio, *values)
        echo(table)
    if len(parts) > len(shown):
        echo(f"… {len(parts) - len(shown)} more: -v", style="dim")


def witness_facts(model: TableModel) -> dict[str, Any]:
    """Return what `fit --json` prints of witnesses."""
    return {"witnesses": model.training_.get("witnesses", []), "estimate_alone": model.training_.get("estimate_alone")}
