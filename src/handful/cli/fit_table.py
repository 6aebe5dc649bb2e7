"""``handful fit table``: the best method, or a named one, fitted to a table and saved."""

from __future__ import annotations

import shlex
import warnings
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, say
from handful.cli.earlier_model import check_earlier
from handful.cli.options import Run, check_output, command_line, model_file, run_options, shell_name, table_options
from handful.cli.race_options import classifier_of, race_options, session_of, with_methods
from handful.core.counted import counted
from handful.core.errors import HandfulError

if TYPE_CHECKING:
    from handful.experiment.problem import Problem
    from handful.methods.table_model import TableModel

_OF_RACES = ("classes", "minutes", "trials", "memory", "jobs")  # options that only races have a use for
_ASKED = 2_000  # unlabeled rows that are looked at for how answers are spread
_MOST_TOLD = 8
_ROUNDED = 0.005  # by which a percentage may be off its counts
_LEAST_SPREAD = 20  # unlabeled rows; fewer tell nothing of how frequent classes are


@click.command("table")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--target", required=True, metavar="COLUMN", help="Column of labels; rows whose cell is empty are unlabeled."
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="A method, such as extra-trees, tri-training(extra-trees) or sklearn.svm:SVC; or auto: the winner of a race.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method, not searched for."
)
@click.option(
    "--shares",
    metavar="LABEL=SHARE,...",
    help="How frequent the classes really are, if you know it, such as no=0.9,yes=0.1.",
)
@race_options
@table_options
@run_options("model", "as_json")
@click.pass_context
def command(ctx: click.Context, /, data: Path, run: Run, **given: Any) -> None:
    """Fit a classifier to DATA, a table (CSV, TSV, JSON lines, Parquet), and save it.

    By default methods race, until the best bet is clear or the time is up, and the winner is fitted to all rows. The
    table is read in one pass; of unlabeled rows a sample is kept, so memory does not grow with the file.
    """
    from handful.cli.tables import read_table_problem
    from handful.core.version import versions
    from handful.experiment.text_views import choose_view
    from handful.methods import save

    params = _settings(given["settings"])
    given["shares"] = _shares(given["shares"])
    method = _method(given["method"])
    if isinstance(method, str) and method == "auto" and params:
        raise click.UsageError("--set needs --method: parameters belong to one method.")
    if not isinstance(method, str) or method != "auto":
        _tell_unused(ctx)
    if params:
        from handful.methods.table_model import check_settings

        check_settings(method, params)
    where = model_file(run, data)
    check_output(where, data)
    problem = read_table_problem(data, given)
    replaced = check_earlier(where, "tables", given["target"])
    interrupted = False
    if isinstance(method, str) and method == "auto":
        model, interrupted = _winner(problem, given)
    else:
        text = choose_view(problem, given["text"]).of(given["method"])
        params = _with_balance(method, given["metric"]) | params
        model = _fitted(problem, method, params, text, given)
        model.training_ = {"chosen": "named"}
    model.training_ |= {
        "data": data.name,
        "target": given["target"],
        "rows in the data": problem.n_rows_read,
        "command": command_line(ctx),
        **{name: version for name, version in versions().items() if name in ("handful", "scikit-learn")},
    }
    earlier = where
    if interrupted and replaced:
        where = _free_name(where)
    save(model, where)
    if replaced and where == earlier:
        say(replaced, stderr=True)
    _tell_shares(model, problem)
    _tell(model, where, run.as_json)
    if interrupted:
        kept = f" in {where}; the earlier model stays in {earlier}" if where != earlier else ""
        click.echo(f"Interrupted: the best bet so far was fitted and saved{kept}.", err=True)
        ctx.exit(130)


def _tell_unused(ctx: click.Context) -> None:
    """Tell of options of a race where there is none, since the method is named."""
    from click.core import ParameterSource

    given = [name for name in _OF_RACES if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if "classes" in given:
        raise click.UsageError("--with and --method exclude each other: --with adds a classifier to a race.")
    if given:
        told = " and ".join(f"--{name}" for name in given)
        say(f"{told}: not used, for there is no race where --method names the method.", stderr=True)


def _fitted(problem: Problem, method: Any, params: dict[str, Any], text: Any, given: dict[str, Any]) -> TableModel:
    """Fit a method that was named; where its parameters are given and do not go with the data, say so."""
    from handful.experiment.fitting import fit_model

    try:
        model = fit_model(problem, method, params=params or None, text=text, shares=given["shares"], seed=given["seed"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one row
            model.predict(problem.frame[:1])  # some look at their parameters only then
    except ValueError as error:
        if isinstance(error, HandfulError) or not given["settings"]:
            raise
        told = " ".join(f"--set {shlex.quote(setting)}" for setting in given["settings"])
        raise click.UsageError(f"{told}: this does not go with the data ({' '.join(str(error).split())}).") from None
    return model


def _with_balance(method: Any, metric: str) -> dict[str, Any]:
    """Return what a metric changes of a method that was named: whether its answers lean to rare classes."""
    if metric in ("auto", "accuracy"):
        return {}
    from handful.experiment.compare import BALANCE  # the race, which a named method does without
    from handful.methods.table_model import card_for

    if "balance" in card_for(method).make(1, 0, {}).get_params(deep=False):
        return {"balance": BALANCE}
    say("--metric is not used: this method does not move its answers for it; the team does.", stderr=True)
    return {}


def _free_name(where: Path) -> Path:
    """Return a name beside that of a model, which no file has, for one that was made in haste."""
    names = (where.with_name(f"{where.stem}.interrupted{n or ''}{where.suffix}") for n in count())
    return next(name for name in names if not name.exists())


def _winner(problem: Problem, given: dict[str, Any]) -> tuple[TableModel, bool]:
    """Return the winner of a race, and whether the race was interrupted."""
    from handful.cli.live import live_ranking
    from handful.experiment.fitting import fit_winner
    from handful.methods.classifiers import check_storable

    methods = with_methods(None, given["classes"])
    for method in methods or []:
        if not isinstance(method, str):
            check_storable(method)
    with live_ranking() as watch:
        session = session_of(given, watch=watch)
        model, comparison = fit_winner(
            problem,
            methods=methods,
            metric=given["metric"],
            text=given["text"],
            shares=given["shares"],
            session=session,
        )
    if comparison is not None and comparison.arena.view.note:
        console(stderr=True).print(comparison.arena.view.note, style="dim", markup=False, soft_wrap=True)
    if comparison is not None and comparison.arena.metric != "accuracy":
        leaning = ", and answers lean to rare classes for it" if (model.params or {}).get("balance") else ""
        click.echo(
            f"Scores are {comparison.arena.metric}, which counts classes alike{leaning}; --metric says otherwise.",
            err=True,
        )
    click.echo(model.training_["chosen"], err=True)
    return model, comparison is not None and comparison.state == "interrupted"


def _tell(model: TableModel, where: Path, as_json: bool) -> None:
    from handful.reports import words

    n_bytes = where.stat().st_size
    if as_json:
        emit_json(
            {
                "model": str(where),
                "method": model.method_name,
                "encoders": model.encoders,
                "params": dict(model.params or {}),
                "labeled": model.n_labeled_,
                "unlabeled": model.n_unlabeled_,
                "classes": [str(label) for label in model.classes_.tolist()],
                "bytes": n_bytes,
                "chosen": model.training_["chosen"],
                "surest": None if model.confidence_ is None else model.confidence_["surest"],
            }
        )
        return
    read = f", with vectors of {', '.join(model.encoders)}" if model.encoders else ""
    learned = f" and {counted(model.n_unlabeled_, 'unlabeled row')}" if model.n_unlabeled_ else ""
    tuned = f" ({words.settings(model.params)})" if model.params else ""
    out = console()
    out.print(
        f"{model.method_name}{tuned}{read}, from {counted(model.n_labeled_, 'label')}{learned}, "
        f"{counted(len(model.classes_), 'class')}: {where} ({words.size(n_bytes)} on disk)",
        markup=False,
        soft_wrap=True,
    )
    if (told := _surest(model)) is not None:
        out.print(told, markup=False, soft_wrap=True)
    out.print(f"Next: handful predict {shell_name(where)} NEW.csv", markup=False, soft_wrap=True)


def _tell_shares(model: TableModel, problem: Problem) -> None:
    """Say how the answers are spread, where labels were picked class by class and nobody said how frequent classes are."""
    import numpy as np

    from handful.methods.class_shares import picked_by_class

    n_classes = len(problem.classes)
    spare = problem.unlabeled[:_ASKED]
    if model.shift_ is not None or len(spare) < _LEAST_SPREAD or n_classes > _MOST_TOLD:
        return
    if not picked_by_class(problem.codes[problem.labeled], n_classes):
        return
    answers, _ = model.predict_with_confidence(problem.frame[spare])
    spread = {str(name): float((answers == name).mean()) for name in model.classes_.tolist()}
    percents = _percents(spread)
    example = ",".join(f"{name}={percent / 100:.2f}" for name, percent in percents.items())
    told = ", ".join(f"{_told(percents[name], share)} are answered {name}" for name, share in spread.items())
    counts = np.bincount(problem.codes[problem.labeled]).tolist()
    console(stderr=True).print(
        f"Labels look picked class by class ({counts.count(max(counts))} of {n_classes} classes have {max(counts):,} each); if "
        f"so, they do not tell how frequent the classes are. Of the unlabeled rows, {told}. If you know it better, say so, in "
        f"place of this: --shares {shlex.quote(example)}",
        style="dim",
        markup=False,
        soft_wrap=True,
    )


def _percents(shares: dict[str, float]) -> dict[str, int]:
    """Round shares to whole percents of at least 1 that add up to 100: as many as are missing are rounded up, the nearest first."""
    percents = {name: max(int(100 * share), 1) for name, share in shares.items()}
    rest = {name: 100 * shares[name] - percent for name, percent in percents.items()}
    missing = 100 - sum(percents.values())
    for name in sorted(rest, key=rest.__getitem__, reverse=True)[: max(missing, 0)]:
        percents[name] += 1
    if missing < 0:  # classes that are hardly ever answered have 1 too
        percents[max(percents, key=percents.__getitem__)] += missing
    return percents


def _told(percent: int, share: float) -> str:
    return "hardly any" if 100 * share < 0.5 else f"{percent}%"


def _shares(text: str | None) -> dict[str, float] | None:
    """Read ``label=share,label=share``."""
    if text is None:
        return None
    shares = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        try:
            shares[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.UsageError(f"--shares expects LABEL=SHARE,..., such as no=0.9,yes=0.1; got {part!r}.")
    return shares


def _surest(model: TableModel) -> str | None:
    """Tell how many answers would be left with --abstain, and how many of them are right."""
    from handful.evaluation.significance import share_interval
    from handful.methods.confidence import SURE_ENOUGH

    if model.confidence_ is None:
        return None
    if (few := model.confidence_["few"]) is not None:
        most = (max(few) + 1) / (max(few) + len(few))
        return (
            f"Labels are too few to tell how often answers are right. Confidence is kept low: at most {most:.2f}, which is "
            "(n + 1) / (n + k) for n labels of the class and k classes."
        )
    share, right = model.confidence_["surest"]
    n_sure, n_right, n_held = model.confidence_["counts"]
    often = " (each was asked more than once)" if n_held > model.n_labeled_ else ""
    if not n_sure:
        return (
            f"None of {counted(n_held, 'answer')} to labeled rows that were held out{often} has a confidence of "
            f"{SURE_ENOUGH:g} or more."
        )
    is_weighted = max(abs(share - n_sure / n_held), abs(right - n_right / n_sure)) > _ROUNDED
    weighted = " Percentages count each class as often as it is answered for unlabeled rows." if is_weighted else ""
    # A row that was asked twice is still one row.
    low, high = share_interval(right, n_sure * min(model.n_labeled_ / n_held, 1.0))
    return (
        f"Confidence of {SURE_ENOUGH:g} or more (--abstain {SURE_ENOUGH:g}): {share:.0%} of the answers to labeled rows that "
        f"were held out{often} ({n_sure:,} of {n_held:,} answers), {right:.0%} of them right ({n_right:,} of {n_sure:,}, so "
        f"likely {low:.0%} to {high:.0%}).{weighted}"
    )


def _method(text: str) -> Any:
    """Return a name as it is, a classifier of another package made; says what is wrong before anything is read."""
    from handful.methods import get_card

    if text == "auto":
        return text
    if ":" not in text:
        return get_card(text, "table").name
    from handful.methods.classifiers import check_storable

    made = classifier_of(text)
    check_storable(made)
    return made


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    import json

    params: dict[str, Any] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set expects name=value, got {part!r}.")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
    return params
