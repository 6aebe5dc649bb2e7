"""``handful fit``, and ``handful fit table``, which is meant where no kind of model is named."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import (
    echo,
    emit_json,
    file_size,
    interval,
    notice,
    percent,
    shell_name,
    show_notices,
    status_line,
    suggest_command,
    verbose,
)
from handful.cli.options import (
    INPUT,
    NumberRange,
    Priors,
    Reading,
    Run,
    WholeNumber,
    command_line,
    reading_options,
    run_options,
    target_option,
    unlabeled_rows_option,
)
from handful.cli.outputs import check_outputs, model_path
from handful.cli.witnesses import also_option, as_witnesses, check_alone, fit_also, witness_facts
from handful.errors import HandfulError, counted

if TYPE_CHECKING:
    from handful.comparison.trials import Limits, Snapshot
    from handful.data.table import Table
    from handful.models.table_model import TableModel

# Kind of model -> module, one-line help.
KINDS = {
    "table": ("fit_table", "Classifier of table rows (the default)."),
    "tagger": ("fit_text", "Tagger of sentences, from tagged sentences."),
    "prototypes": ("fit_text", "Tagger from prototypes (a few example words per label) and raw text."),
    "parser": ("fit_text", "Dependency parser, from trees."),
    "senses": ("fit_text", "Word senses, from labeled contexts."),
}
METRICS = ("auto", "accuracy", "balanced_accuracy", "f1_macro")
_ASKED = 2_000  # unlabeled rows of which the distribution of predictions is shown
_LEAST_SPREAD, _MOST_CLASSES = 20, 8  # fewer rows tell nothing of class frequencies; more classes fill the screen


class KindGroup(click.Group):
    """A group whose commands are kinds of models; anything else is an argument of the first kind."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kinds."""
        return list(KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one kind."""
        from handful.cli import with_common_options

        if cmd_name not in KINDS:
            return None
        command = getattr(import_module(f"handful.cli.{KINDS[cmd_name][0]}"), f"fit_{cmd_name}_command")
        assert isinstance(command, click.Command)
        return with_common_options(command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default kind before arguments that name none."""
        if args and args[0] not in KINDS and args[0] not in ctx.help_option_names:
            _refuse_misspelled(ctx, args[0])
            args = ["table", *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the kinds, and the options of the default kind."""
        with formatter.section("Kinds of models"):
            formatter.write_dl([(kind, text) for kind, (_, text) in KINDS.items()])
        command = self.get_command(ctx, "table")
        assert command is not None
        with formatter.section("Options of 'handful fit DATA' (other kinds: handful fit KIND --help)"):
            records = [param.get_help_record(ctx) for param in command.get_params(ctx)]
            formatter.write_dl([record for record in records if record])


def _refuse_misspelled(ctx: click.Context, word: str) -> None:
    from difflib import get_close_matches

    if Path(word).exists() or word.startswith("-"):
        return
    near = get_close_matches(word, KINDS, n=1)
    if near or word.replace("-", "_").isidentifier():  # a name without a point or a folder is hardly that of a file
        hint = f"Did you mean {near[0]!r}?" if near else f"Kinds are {', '.join(KINDS)}."
        ctx.fail(f"{word}: no such file and no such kind of model. {hint}")


@click.command("fit", cls=KindGroup, no_args_is_help=True, subcommand_metavar="[KIND] DATA [OPTIONS]")
def fit_command() -> None:
    """Train a model and save it.

    \b
    Examples:
      handful fit customers.csv --target segment
      handful fit customers.csv --target segment --method random-forest
      handful fit tagger train.tsv --unlabeled raw.txt
    """


# -- options and helpers of a search over methods, which compare uses too ---------------------------------------------

_SEARCH_OPTIONS = (
    click.option(
        "--minutes",
        type=NumberRange(min=0, min_open=True),
        default=2.0,
        show_default=True,
        help="Time limit of the whole command.",
    ),
    click.option("--trials", type=WholeNumber(min=1), help="Stop after this number of fits instead: reproducible."),
    click.option("--memory", type=NumberRange(min=0.35), metavar="GB", help="Memory limit, at least 0.35 GB."),
    click.option("--metric", type=click.Choice(METRICS), default="auto", show_default=True, help="Score to optimize."),
    click.option(
        "--text",
        metavar="words|lsa|vectors|FOLDER",
        default="auto",
        show_default=True,
        help="Features of text columns; FOLDER is an encoder.",
    ),
    click.option(
        "--with",
        "classes",
        metavar="MODULE:CLASS",
        multiple=True,
        help="Also try a classifier, such as sklearn.svm:SVC. Repeatable.",
    ),
)


def search_options(command: Any) -> Any:
    """Add the options of a search over methods."""
    for option in reversed(_SEARCH_OPTIONS):
        command = option(command)
    return command


def limits_of(given: dict[str, Any], run: Run, **more: Any) -> Limits:
    """Return the limits that options set; time counts from now."""
    from handful.comparison.trials import Limits

    limits = {"minutes": given["minutes"], "trials": given["trials"], "max_unlabeled": given["unlabeled_rows"]}
    return Limits(n_jobs=run.jobs, seed=run.seed, memory_gb=given["memory"], **limits, **more)


def with_methods(methods: Sequence[str] | None, classes: Sequence[str]) -> list[Any] | None:
    """Return methods by name and classifiers by module and class; None if nothing was named, which means all."""
    if methods is None and not classes:
        return None
    from handful.registry import method_names

    return [*(method_names("table") if methods is None else methods), *map(classifier_of, classes)]


def classifier_of(text: str) -> Any:
    """Return a new classifier by ``module:Class``, or self-training or tri-training around one."""
    outer, parenthesis, inner = text.partition("(")
    if parenthesis and inner.endswith(")"):
        from handful.models.adapters import put_around
        from handful.registry import AROUND

        if outer not in AROUND:
            raise click.UsageError(f"--with {text}: {outer!r} takes no classifier. Use {' or '.join(AROUND)}.")
        return put_around(outer, classifier_of(inner[:-1]))
    module, _, name = text.partition(":")
    if not module or not name:
        raise click.UsageError(f"--with {text}: not MODULE:CLASS. Write sklearn.svm:SVC.")
    try:
        named = getattr(import_module(module), name)
    except AttributeError:
        raise click.UsageError(f"--with {text}: {module} has no class {name!r}.") from None
    except Exception as error:  # whatever the code of the module raises
        raise click.UsageError(f"--with {text}: the module cannot be imported ({error}).") from None
    # Looked at before it is called: sys:exit would end the process.
    if not (isinstance(named, type) and callable(getattr(named, "fit", None)) and hasattr(named, "predict")):
        raise click.UsageError(f"--with {text}: not a class with fit and predict. Write sklearn.svm:SVC.")
    try:
        return named()
    except Exception as error:
        raise click.UsageError(f"--with {text}: it cannot be made without parameters ({error}).") from None


@contextmanager
def search_status() -> Iterator[Callable[[Snapshot], None]]:
    """Give a callback that shows how a search is going in one line on a terminal."""
    with status_line() as show:

        def watch(snapshot: Snapshot) -> None:
            if snapshot.message:
                show(snapshot.message)
            elif snapshot.scores:
                best, fits = snapshot.scores[0], counted(snapshot.n_trials, "fit")
                show(f"{snapshot.seconds:.0f} s, {fits}, best so far: {best.method} {percent(best.mean)}")

        yield watch


# -- fit table --------------------------------------------------------------------------------------------------------


@click.command("table")
@click.argument("data", type=INPUT)
@target_option(required=True)
@click.option("--method", default="auto", show_default=True, help="Method, sklearn.svm:SVC, or auto to search for one.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the method. Repeatable.")
@click.option("--class-priors", type=Priors(), help="True class frequencies, if known, such as no=0.9,yes=0.1.")
@also_option
@search_options
@reading_options
@unlabeled_rows_option
@run_options("jobs", "seed", "as_json", output={"help": "Model file. Default: DATA.handful next to DATA."})
@click.pass_context
def fit_table_command(ctx: click.Context, /, data: Path, reading: Reading, run: Run, **given: Any) -> None:
    """Train a classifier on DATA, a table, and save it.

    By default this is an ensemble; with more than 100 labels, the best of about eight candidates by cross-validation.

    \b
    Examples:
      handful fit customers.csv --target segment
      handful fit customers.csv --target segment --method random-forest --set n_estimators=500
    """
    from handful.cli.inputs import read_labeled_table
    from handful.persistence.model_file import save
    from handful.version import versions

    method, params = _method(given["method"]), _settings(given["settings"])
    _check_options(ctx, method, params)
    where = model_path(run, data)
    check_outputs(where, inputs=[data], force=run.force)
    also = given["also"] or ()
    if also:
        check_alone(ctx, given["target"], also)
        reading = as_witnesses(reading, also)
    problem = read_labeled_table(data, given["target"], reading, max_unlabeled=given["unlabeled_rows"], seed=run.seed)
    if also:
        model, interrupted = fit_also(problem, also, given["text"], run), False
    else:
        model, interrupted = _fit(problem, method, params, given, run)
    model.training_ |= {
        "data": data.name,
        "target": given["target"],
        "rows in the data": problem.n_rows_read,
        "command": command_line(ctx),
        **{name: version for name, version in versions().items() if name in ("handful", "scikit-learn")},
    }
    earlier = where
    if interrupted and where.exists():
        where = _free_name(where)
    save(model, where)
    show_notices(model.notices_)
    _suggest_priors(model, problem)
    facts = _facts(model, where, model.training_.get("estimate"))
    if run.as_json:
        emit_json({**facts, **(witness_facts(model) if also else {})})
    else:
        _show(facts, model, data, given["target"], also)
    if interrupted:
        kept = f" {earlier} was not replaced." if where != earlier else ""
        click.echo(f"handful: interrupted; the best model so far was saved as {where}.{kept}", err=True)
        ctx.exit(130)


def _check_options(ctx: click.Context, method: Any, params: dict[str, Any]) -> None:
    from click.core import ParameterSource

    if isinstance(method, str) and method == "auto":
        if params:
            raise click.UsageError("--set: parameters belong to one method. Add --method.")
        return
    if ctx.get_parameter_source("classes") is not ParameterSource.DEFAULT:
        raise click.UsageError("--with: adds a candidate to the search. Leave out --method, or name the class there.")
    if params:
        from handful.models.table_model import check_settings

        check_settings(method, params)


def _fit(table: Table, method: Any, params: dict[str, Any], given: dict[str, Any], run: Run) -> tuple[TableModel, bool]:
    """Return the fitted model, and whether the search was interrupted."""
    from handful.comparison.fit import fit_selected
    from handful.models.adapters import check_storable

    candidates = [classifier_of(text) for text in given["classes"]]
    for candidate in candidates:
        check_storable(candidate)
    try:
        with search_status() as watch:
            model, comparison = fit_selected(
                table,
                method,
                params=params or None,
                candidates=candidates,
                metric=given["metric"],
                text=given["text"],
                class_priors=given["class_priors"],
                limits=limits_of(given, run, watch=watch),
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one row
            model.predict(table.values()[:1])  # some look at their parameters only then
    except ValueError as error:
        if isinstance(error, HandfulError) or not given["settings"]:
            raise
        options = " ".join(f"--set {shell_name(setting)}" for setting in given["settings"])
        raise click.UsageError(f"{options}: does not suit the data ({' '.join(str(error).split())}).") from None
    return model, comparison is not None and comparison.state == "interrupted"


def _free_name(where: Path) -> Path:
    """Return a name next to that of a model, which no file has."""
    names = (where.with_name(f"{where.stem}.interrupted{n or ''}{where.suffix}") for n in count())
    return next(name for name in names if not name.exists())


def _facts(model: TableModel, where: Path, estimate: dict[str, Any] | None) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from handful.models.confidence import SURE_ENOUGH

    confidence = model.confidence_ or {}
    abstain = None
    if confidence.get("surest") is not None and confidence.get("few") is None:
        n_kept, n_correct, n_held = confidence["counts"]
        abstain = {"threshold": SURE_ENOUGH, "coverage": n_kept / n_held, "correct": n_correct / max(n_kept, 1)}
        abstain |= {"n_kept": n_kept, "n_correct": n_correct, "n_tested": n_held}
    return {
        "model": str(where),
        "method": model.method_name,
        "encoders": model.encoders,
        "params": dict(model.params or {}),
        "labeled": model.n_labeled_,
        "unlabeled": model.n_unlabeled_,
        "classes": [str(label) for label in model.classes_.tolist()],
        "bytes": where.stat().st_size,
        "estimate": estimate,
        "abstain": abstain,
    }


def _show(facts: dict[str, Any], model: TableModel, data: Path, target: str, also: Sequence[str]) -> None:
    where, n = Path(facts["model"]), facts["labeled"]
    params = ", ".join(f"{name}={value}" for name, value in facts["params"].items())
    encoders = f", embeddings of {', '.join(facts['encoders'])}" if facts["encoders"] else ""
    echo()
    echo(f"  Model      {facts['method']}{f' ({params})' if params else ''}{encoders}")
    if (estimate := facts["estimate"]) is not None:
        few = f"; {counted(n, 'label')} {'are few' if n < 100 else ''}".rstrip() if n < 100 else ""
        n_splits, n_folds = estimate.get("n_splits", 0), estimate.get("n_folds", 0)
        few = (f", stopped after {n_splits} of {n_folds} splits" if n_splits < n_folds else "") + few
        name = estimate["metric"].replace("_", " ").capitalize()
        echo(
            f"  {name:<10} {percent(estimate['value'], n)}, 95% interval {interval(estimate['low'], estimate['high'])} "
            f"(cross-validated{few})"
        )
        if "standard error" in model.training_["selection"]:
            echo(f"  Selected   {model.training_['selection']}")
    else:
        echo(f"  Accuracy   not estimated: {model.training_['selection'].partition('estimated: ')[2]}")
    if (abstain := facts["abstain"]) is not None:
        n_kept, n_correct = abstain["n_kept"], abstain["n_correct"]
        correct = f", {percent(abstain['correct'], n_kept)} of those correct ({n_correct:,} of {n_kept:,})"
        echo(
            f"  Abstain    --abstain {abstain['threshold']:g} keeps {percent(abstain['coverage'], n)} of rows"
            f"{correct if n_kept else ''}"
        )
    elif (model.confidence_ or {}).get("few") is not None:
        echo("  Abstain    too few labels to measure confidence; it is kept low")
    echo(f"  Saved      {where} ({file_size(where)})\n")
    if verbose():
        chosen = model.training_.get("selection", "")
        learned = f"{counted(n, 'label')}, {counted(facts['unlabeled'], 'unlabeled row')}"
        echo(f"Trained on {learned}. {chosen if chosen != 'named' else ''}\n".replace(" \n", "\n"))
    skipped = f" --columns {shell_name(','.join(f'{name}=skip' for name in also))}" if also else ""
    suggest_command(
        f"handful predict {shell_name(where)} NEW.csv -o predictions.csv",
        f"handful next {shell_name(data)} --target {shell_name(target)}{skipped} -n 10     # labels that help most",
    )


def _suggest_priors(model: TableModel, problem: Table) -> None:
    """Ask for class frequencies where labels look picked class by class, with the model's own estimate."""
    from handful.models.confidence import picked_by_class

    n_classes, spare = len(problem.classes), problem.unlabeled[:_ASKED]
    if model.shift_ is not None or len(spare) < _LEAST_SPREAD or n_classes > _MOST_CLASSES:
        return
    if not picked_by_class(problem.codes[problem.labeled], n_classes):
        return
    predictions, _ = model.predict_with_confidence(problem.values()[spare])
    spread = {str(name): max(float((predictions == name).mean()), 0.01) for name in model.classes_.tolist()}
    total = sum(spread.values())
    shares = {name: round(value / total, 2) for name, value in spread.items()}
    shares[max(shares, key=lambda name: shares[name])] += 1 - sum(shares.values())  # rounded shares add up to 1
    example = ",".join(f"{name}={share:.2f}" for name, share in shares.items())
    notice(
        "Classes have equal numbers of labels. If you know how frequent they are, say so; estimated from the predictions: "
        f"--class-priors {shell_name(example)}"
    )


def _method(text: str) -> Any:
    """Return the name of a method, or a classifier of another package."""
    from handful.registry import get_method

    if text == "auto":
        return text
    if ":" not in text:
        return get_method(text, "table").name
    from handful.models.adapters import check_storable

    made = classifier_of(text)
    check_storable(made)
    return made


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set: {part!r} is not NAME=VALUE. Write --set n_estimators=500.")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
    return params
