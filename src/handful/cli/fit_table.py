"""``handful fit table``: the best method, or a named one, fitted to a table and saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output, command_line, table_options

if TYPE_CHECKING:
    from handful.experiment.problem import Problem


@click.command("table")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--target", required=True, metavar="COLUMN", help="Column of labels; rows whose cell is empty are unlabeled."
)
@click.option(
    "--method", default="auto", show_default=True, help="A method, or auto: the winner of a short comparison."
)
@click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to save it; by default beside the data, with the ending .handful.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method, not searched for."
)
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True), default=2.0, show_default=True, help="Time for auto."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Worker processes for auto; -1 uses every core.")
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    target: str,
    method: str,
    model: Path | None,
    settings: tuple[str, ...],
    minutes: float,
    jobs: int,
    columns: dict[str, str] | None,
    unlabeled_mark: str | None,
    unlabeled_rows: int,
    seed: int,
    as_json: bool,
) -> None:
    """Fit a classifier to DATA, a table (CSV, TSV, JSON lines, Parquet), and save it.

    The table is read in one pass; of unlabeled rows a sample is kept, so memory does not grow with the file.
    """
    from handful.experiment.compare import fit_model
    from handful.experiment.problem import read_problem
    from handful.experiment.tagged import model_path
    from handful.methods import get_card, save

    params = _settings(settings)
    if method != "auto":
        get_card(method, "table")  # says which one may have been meant, before anything is read
    elif params:
        raise click.UsageError("--set needs --method: parameters belong to one method.")
    where = model if model is not None else Path(model_path(data))
    check_output(where, data)
    marks = [] if unlabeled_mark is None else [unlabeled_mark]
    problem = read_problem(
        data, target, columns=columns, unlabeled_marks=marks, max_unlabeled=unlabeled_rows, seed=seed
    )
    notes = console(stderr=True)
    for note in problem.notes:
        notes.print(note, style="dim", markup=False)
    chosen, because = (method, "named") if method != "auto" else _winner(problem, minutes, jobs, seed)
    fitted = fit_model(problem, chosen, params=params or None, seed=seed)
    fitted.training_ = {
        "data": data.name,
        "target": target,
        "rows in the data": problem.n_rows_read,
        "chosen": because,
        "command": command_line(ctx),
        **_versions(),
    }
    save(fitted, where)
    facts = {
        "model": str(where),
        "method": chosen,
        "params": dict(fitted.params or {}),
        "labeled": fitted.n_labeled_,
        "unlabeled": fitted.n_unlabeled_,
        "classes": [str(label) for label in fitted.classes_.tolist()],
        "bytes": where.stat().st_size,
    }
    if as_json:
        emit_json(facts)
        return
    from handful.reports import words

    learned = f" and {fitted.n_unlabeled_:,} unlabeled rows" if fitted.n_unlabeled_ else ""
    tuned = f" ({words.settings(fitted.params)})" if fitted.params else ""
    out = console()
    out.print(
        f"{chosen}{tuned}, from {fitted.n_labeled_:,} labels{learned}, {len(fitted.classes_)} classes: {where} "
        f"({words.size(where.stat().st_size)})",
        markup=False,
        soft_wrap=True,
    )
    out.print(f"Next: handful predict {where} NEW.csv", markup=False, soft_wrap=True)


def _winner(problem: Problem, minutes: float, jobs: int, seed: int) -> tuple[str, str]:
    from handful.core.errors import DataError
    from handful.experiment.compare import compare_problem

    try:
        with progress_bar() as progress:
            found = compare_problem(problem, draws=5, minutes=minutes, n_jobs=jobs, seed=seed, progress=progress)
    except DataError as error:
        click.echo(f"handful: methods cannot be compared ({error}) k-nn is used.", err=True)
        return "k-nn", "the data does not allow a comparison"
    click.echo(f"handful: {found.verdict}", err=True)
    return found.ranking.verdict.use, found.verdict


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    import json

    found: dict[str, Any] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set expects name=value, got {part!r}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _versions() -> dict[str, str]:
    import sklearn

    from handful.core.version import __version__

    return {"handful": __version__, "scikit-learn": sklearn.__version__}
