"""``handful fit``, and ``handful fit table``, which is meant where no kind of model is named."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, model_path, read_data
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
_PRIORS = opt.Pairs("LABEL=NUMBER,...", float, "no=0.9,yes=0.1")
METRICS = ("auto", "accuracy", "balanced_accuracy", "f1_macro")
_NOT_WITH_ALSO = ("--method", "--with", "--set", "--metric", "--class-priors")
_ASKED = 2_000  # unlabeled rows of which the distribution of predictions is shown
_MOST_NAMES = 5  # of a witness, that are printed with what they mean
_CHANCE = 0.01  # p-value from which labels may be a random draw
_LEAST_SPREAD, _MOST_CLASSES = 20, 8  # fewer rows tell nothing of class frequencies; more classes fill the screen


class KindGroup(opt.LazyGroup):
    """A group whose commands are kinds of models; anything else is an argument of the first kind."""

    lazy, prefix = KINDS, "fit_"

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
        type=opt.NumberRange(min=0, min_open=True),
        default=2.0,
        show_default=True,
        help="Time limit of the whole command.",
    ),
    click.option("--trials", type=opt.WholeNumber(min=1), help="Stop after this number of fits instead: reproducible."),
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


def limits_of(given: dict[str, Any], run: opt.Run, **more: Any) -> Limits:
    """Return the limits that options set; time counts from now."""
    from handful.comparison.trials import Limits

    limits = {"minutes": given["minutes"], "trials": given["trials"], "max_unlabeled": given["unlabeled_rows"]}
    return Limits(n_jobs=run.jobs, seed=run.seed, **limits, **more)


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
    with ui.status_line() as show:

        def watch(snapshot: Snapshot) -> None:
            if snapshot.message:
                show(snapshot.message)
            elif snapshot.scores:
                best, fits = snapshot.scores[0], counted(snapshot.n_trials, "fit")
                show(f"{snapshot.seconds:.0f} s, {fits}, best so far: {best.method} {ui.percent(best.mean)}")

        yield watch


# -- fit table --------------------------------------------------------------------------------------------------------


@click.command("table")
@click.argument("data", type=opt.INPUT)
@opt.target_option(required=True)
@click.option("--method", default="auto", show_default=True, help="Method, sklearn.svm:SVC, or auto to search for one.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the method. Repeatable.")
@click.option("--class-priors", type=_PRIORS, help="True class frequencies, if known, such as no=0.9,yes=0.1.")
@opt.also_option("Columns of cheap labels, such as an LLM's; how they err is learned.")
@search_options
@opt.reading_options
@opt.unlabeled_rows_option
@opt.run_options("jobs", "seed", "as_json", output={"help": "Model file. Default: DATA.handful next to DATA."})
@click.pass_context
def fit_table_command(ctx: click.Context, /, data: Path, reading: opt.Reading, run: opt.Run, **given: Any) -> None:
    """Train a classifier on DATA, a table, and save it.

    By default this is an ensemble; with more than 100 labels, the best of about eight candidates by cross-validation.

    \b
    Examples:
      handful fit customers.csv --target segment
      handful fit customers.csv --target segment --method random-forest --set n_estimators=500
    """
    from handful.persistence.model_file import save
    from handful.version import versions

    method, params, also = _method(given["method"]), _settings(given["settings"]), given["also"]
    _check_options(ctx, method, params, given)
    where = model_path(run, data)
    check_outputs(where, inputs=[data], force=run.force)
    table = read_data(
        data,
        given["target"],
        opt.as_witnesses(reading, also),
        max_unlabeled=given["unlabeled_rows"],
        seed=run.seed,
        needs_classes=True,
    )
    if also:
        model, interrupted = _fit_also(table, also, given["text"], run), False
    else:
        model, interrupted = _fit(table, method, params, given, run)
    model.training_ |= {
        "data": data.name,
        "target": given["target"],
        "rows in the data": table.n_rows_read,
        "command": opt.command_line(ctx),
        **{name: version for name, version in versions().items() if name in ("handful", "scikit-learn")},
    }
    save(model, where)
    ui.show_notices(model.notices_)
    _suggest_priors(model, table)
    facts = _facts(model, where)
    if also:
        facts |= {"witnesses": model.training_.get("witnesses", [])}
        facts |= {"estimate_alone": model.training_.get("estimate_alone")}
    if run.as_json:
        ui.emit_json(facts)
    else:
        _show(facts, model, data, given["target"], also)
    if interrupted:
        click.echo(f"handful: interrupted; the best model so far was saved as {where}.", err=True)
        ctx.exit(130)


def _check_options(ctx: click.Context, method: Any, params: dict[str, Any], given: dict[str, Any]) -> None:
    from handful.models.table_model import check_settings

    if given["also"]:
        if given["target"] in given["also"]:
            raise click.UsageError(f"--also: {given['target']!r} is the label column. Name other columns.")
        for param in ctx.command.params:
            if param.opts[0] in _NOT_WITH_ALSO and opt.is_given(ctx, param):
                raise click.UsageError(f"{param.opts[0]}: not with --also, which fits the ensemble. Leave it out.")
    if isinstance(method, str) and method == "auto":
        if params:
            raise click.UsageError("--set: parameters belong to one method. Add --method.")
    elif given["classes"]:
        raise click.UsageError("--with: adds a candidate to the search. Leave out --method, or name the class there.")
    elif params:
        check_settings(method, params)


def _fit(
    table: Table, method: Any, params: dict[str, Any], given: dict[str, Any], run: opt.Run
) -> tuple[TableModel, bool]:
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
        options = " ".join(f"--set {ui.shell_name(setting)}" for setting in given["settings"])
        raise click.UsageError(f"{options}: does not suit the data ({' '.join(str(error).split())}).") from None
    return model, comparison is not None and comparison.state == "interrupted"


def _fit_also(table: Table, also: Sequence[str], text: str, run: opt.Run) -> TableModel:
    """Fit with witnesses, and print what was learned about them."""
    from handful.comparison.fit import fit_with_witnesses

    with ui.progress_bar():
        model, witnesses = fit_with_witnesses(table, also, text=text, random_state=run.seed)
    for witness in witnesses:
        n, names = int(witness.counts.sum()), [str(name) for name in table.classes.tolist()]
        own = witness.own_names(names)
        meaning = {name: code for code, name in enumerate(names)} | own
        agree = sum(int(witness.counts[meaning[v], at]) for at, v in enumerate(witness.values) if v in meaning)
        meanings = read_as({value: names[code] for value, code in own.items()})
        n_rows = int(((witness.votes >= 0) & (table.codes < 0)).sum())
        used = ", like chance; it is ignored."
        if witness.name in model.training_.get("witnesses", ()):
            used = f"; {n_rows:,} rows learned from it."
        elif witness.is_used:
            used = "; it is ignored, since held-out labels are predicted less well with it."
        ui.notice(f"'{witness.name}': agrees with {agree:,} of {n:,} labels{meanings}{used}")
    alone = model.training_.get("estimate_alone")
    if alone is not None:
        ui.notice(f"Labels alone: {ui.percent(alone['value'], alone['n'])} of held-out labels.")
    return model


def read_as(names: Mapping[str, Any]) -> str:
    """Return what names of a witness are read as."""
    shown = [f"{ui.visible(value)} = {ui.visible(str(label))}" for value, label in list(names.items())[:_MOST_NAMES]]
    return f" (read as: {', '.join(shown)}{', …' if len(names) > _MOST_NAMES else ''})" if shown else ""


def _facts(model: TableModel, where: Path) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from handful.models.confidence import SURE_ENOUGH

    confidence = model.confidence_ or {}
    abstain = None
    if confidence.get("counts") is not None:
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
        "estimate": model.training_.get("estimate"),
        "abstain": abstain,
    }


def _show(facts: dict[str, Any], model: TableModel, data: Path, target: str, also: Sequence[str]) -> None:
    where, n = Path(facts["model"]), facts["labeled"]
    params = ", ".join(f"{name}={value}" for name, value in facts["params"].items())
    encoders = f", embeddings of {', '.join(facts['encoders'])}" if facts["encoders"] else ""
    ui.echo()
    ui.echo(f"  Model      {facts['method']}{f' ({params})' if params else ''}{encoders}")
    if (estimate := facts["estimate"]) is not None:
        n_splits, n_folds = estimate.get("n_splits", 0), estimate.get("n_folds", 0)
        stopped = f", stopped after {n_splits} of {n_folds} splits" if n_splits < n_folds else ""
        few = f"; {counted(n, 'label', 'is/are')} few" if n < 100 else ""
        name = estimate["metric"].replace("_", " ").capitalize()
        limits = f"95% interval {ui.interval(estimate['low'], estimate['high'])}"
        ui.echo(f"  {name:<10} {ui.percent(estimate['value'], n)}, {limits} (cross-validated{stopped}{few})")
    else:
        reason = model.training_.get("selection", "estimated: no column of --also is used. Fit without --also.")
        ui.echo(f"  Accuracy   not estimated: {reason.partition('estimated: ')[2] or 'too few labels'}")
    if (abstain := facts["abstain"]) is not None:
        n_kept, n_correct = abstain["n_kept"], abstain["n_correct"]
        correct = f", {ui.percent(abstain['correct'], n_kept)} of those correct ({n_correct:,} of {n_kept:,})"
        coverage = ui.percent(abstain["coverage"], n)
        ui.echo(f"  Abstain    --abstain {abstain['threshold']:g} keeps {coverage} of rows{correct if n_kept else ''}")
    elif (model.confidence_ or {}).get("few") is not None:
        ui.echo("  Abstain    too few labels to measure confidence; it is kept low")
    ui.echo(f"  Saved      {where} ({ui.file_size(where)})\n")
    if ui.verbose():
        chosen = model.training_.get("selection", "")
        learned = f"{counted(n, 'label')}, {counted(facts['unlabeled'], 'unlabeled row')}"
        ui.echo(f"Trained on {learned}. {chosen if chosen != 'named' else ''}\n".replace(" \n", "\n"))
    skipped = f" --columns {ui.shell_name(','.join(f'{name}=skip' for name in also))}" if also else ""
    ui.suggest_command(
        f"handful predict {ui.shell_name(where)} NEW.csv -o predictions.csv",
        f"handful next {ui.shell_name(data)} --target {ui.shell_name(target)}{skipped} -n 10     # labels that help most",
    )


def _suggest_priors(model: TableModel, table: Table) -> None:
    """Ask for class frequencies where labels look picked class by class, and predictions tell of other frequencies."""
    import numpy as np
    from scipy.stats import chisquare

    from handful.models.confidence import picked_by_class

    n_classes, spare = len(table.classes), table.unlabeled[:_ASKED]
    labels = table.codes[table.labeled]
    if model.shift_ is not None or len(spare) < _LEAST_SPREAD or not 1 < n_classes <= _MOST_CLASSES:
        return
    if not picked_by_class(labels, n_classes):
        return
    predictions, _ = model.predict_with_confidence(table.values()[spare])
    shares = np.array([max((predictions == name).mean(), 0.01) for name in table.classes.tolist()])
    shares /= shares.sum()
    if chisquare(np.bincount(labels, minlength=n_classes), len(labels) * shares).pvalue > _CHANCE:
        return
    shown = shares.round(2)
    shown[shown.argmax()] += 1 - shown.sum()  # rounded shares add up to 1
    example = ",".join(f"{name}={share:.2f}" for name, share in zip(table.classes.tolist(), shown, strict=True))
    ui.notice(
        "Classes have equal numbers of labels. If you know how frequent they are, say so; estimated from the predictions: "
        f"--class-priors {ui.shell_name(example)}"
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
