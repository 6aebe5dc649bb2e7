"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from handful.cli.parameters import Declared
from handful.core.errors import FileError, ParameterError
from handful.core.params import Jobs

Command = TypeVar("Command", bound=Callable[..., Any])


class Columns(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Kinds of columns, as ``name=kind,name=kind``."""

    name = "NAME=KIND,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        """Return a dictionary of name to kind."""
        if isinstance(value, dict):
            return value
        kinds: dict[str, str] = {}
        for part in str(value).split(","):
            name, equals, kind = part.rpartition("=")
            if not equals or not name.strip() or not kind.strip():
                self.fail(
                    f"expected name=kind, got {part!r}, as in --columns age=numeric,city=nominal,id=skip.", param, ctx
                )
            kinds[name.strip()] = kind.strip()
        return kinds


class Names(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Names, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        return value if isinstance(value, tuple) else tuple(n.strip() for n in str(value).split(",") if n.strip())


class Number(click.FloatRange):
    """A number between two bounds, told in plain words where it is none."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; NaN, which no bound refuses, is none."""
        text = str(value).strip()
        if text.endswith("%"):
            try:
                share = float(text[:-1]) / 100
            except ValueError:
                share = None
            if share is not None:
                self.fail(f"{text!r} is a percentage. Write {share:g}.", param, ctx)
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{text!r} is not a valid number.", param, ctx)
        return number


class WholeNumber(click.IntRange):
    """A whole number between two bounds, told in plain words where it is none."""

    name = "integer"


@dataclass(frozen=True)
class Run:
    """What was given for the options that mean the same in every command; see `run_options`."""

    model: Path | None = None
    output: Path | None = None
    jobs: int = 1
    engine: str | None = None
    checkpoint: Path | None = None
    seed: int = 0
    as_json: bool = False


_RUN: dict[str, Callable[..., Any]] = {
    "model": partial(
        click.option,
        "--model",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File to save the model in; by default beside the data, with the ending .handful.",
    ),
    "output": partial(
        click.option,
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File to write; stdout by default.",
    ),
    "jobs": partial(
        click.option,
        "--jobs",
        type=Declared(Jobs),
        default=1,
        show_default=True,
        help="Threads or processes that work side by side; -1 uses every core.",
    ),
    "engine": partial(
        click.option,
        "--engine",
        metavar="ENGINE",
        help="Where the workers are: 'dask' for a local Dask cluster of --jobs processes, or the address "
        "tcp://HOST:PORT of a running Dask scheduler. The result does not depend on it.",
    ),
    "checkpoint": partial(
        click.option,
        "--checkpoint",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Keep what is done in this folder; a run that was stopped goes on from there.",
    ),
    "seed": partial(
        click.option, "--seed", type=WholeNumber(min=0), default=0, show_default=True, help="Seed of all chance."
    ),
    "as_json": partial(click.option, "--json", "as_json", is_flag=True, help="Print JSON on stdout."),
}


def run_option(name: str, **changes: Any) -> Callable[[Command], Command]:
    """Return one of the options that mean the same in every command, for a command that takes it by itself.

    Parameters
    ----------
    name : str
        A field of `Run`.
    **changes
        What differs here, such as ``default=-1`` or a longer ``help``.
    """
    option: Callable[[Command], Command] = _RUN[name](**changes)
    return option


def run_options(*names: str, **changes: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Give a command options that mean the same everywhere; it gets them together as ``run``, a `Run`.

    Parameters
    ----------
    *names : str
        Fields of `Run`.
    **changes : mapping
        What differs for a field, such as ``jobs={"default": -1}``.

    Examples
    --------
    >>> @click.command()
    ... @run_options("seed", "as_json", jobs={"default": -1})
    ... def fit(run):
    ...     return run.jobs, run.seed, run.as_json
    >>> fit.main(["--seed", "3"], standalone_mode=False)
    (-1, 3, False)
    """
    chosen = [field.name for field in fields(Run) if field.name in {*names, *changes}]
    assert len(chosen) == len({*names, *changes}), "run_options: a name that Run does not have"

    def decorate(command: Command) -> Command:
        @wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            return command(*args, run=Run(**{name: values.pop(name) for name in chosen}), **values)

        decorated: Any = collected
        for name in reversed(chosen):
            decorated = run_option(name, **changes.get(name, {}))(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def model_file(run: Run, data: Path) -> Path:
    """Return where a model goes: the file that was named, or one beside the data.

    Examples
    --------
    >>> model_file(Run(), Path("corpus/train.tsv.gz")).as_posix()
    'corpus/train.handful'
    >>> model_file(Run(), Path("sales.2023.csv")).as_posix()
    'sales.2023.handful'
    >>> model_file(Run(), Path("-")).as_posix()
    'stdin.handful'
    """
    from handful.corpora.opening import bare_stem, first_chunk

    if run.model is not None:
        return run.model
    where = data.parent / f"{'stdin' if str(data) == '-' else bare_stem(data)}.handful"
    if where == data and data.is_file():
        with open(data, "rb") as file:
            first_chunk(data, file)  # says that it is a model
    return where


def training_state(run: Run) -> Path | None:
    """Return the file in the folder of the checkpoint that training goes on from; the folder is made."""
    if run.checkpoint is None:
        return None
    try:
        run.checkpoint.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{run.checkpoint}: cannot be the folder of a checkpoint ({error.strerror}).") from None
    return run.checkpoint / "training.state"


@dataclass(frozen=True)
class Reading:
    """What was given about how the cells of a table are read; see `reading_options`."""

    columns: dict[str, str] | None = None
    unlabeled_mark: str | None = None
    keep_label: tuple[str, ...] = ()


_COLUMNS = click.option(
    "--columns",
    type=Columns(),
    help="Kinds of columns where the guess is wrong: numeric, nominal, text, or skip to leave one out.",
)
_UNLABELED_MARK = click.option(
    "--unlabeled-mark", metavar="TEXT", help="A label that means 'no label', beside the empty cell."
)
_KEEP_LABEL = click.option(
    "--keep-label",
    multiple=True,
    metavar="TEXT",
    help="A label that is one, though it looks like 'no label', such as unknown. May be given several times.",
)


def reading_options(command: Command) -> Command:
    """Give a command the options that say how cells are read; it gets them together as ``reading``, a `Reading`."""

    @wraps(command)
    def collected(*args: Any, columns: Any, unlabeled_mark: Any, keep_label: Any, **values: Any) -> Any:
        return command(*args, reading=Reading(columns, unlabeled_mark, keep_label), **values)

    decorated: Any = _COLUMNS(_UNLABELED_MARK(_KEEP_LABEL(collected)))
    return decorated  # type: ignore[no-any-return]


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read."""
    options = (
        _COLUMNS,
        _UNLABELED_MARK,
        _KEEP_LABEL,
        click.option(
            "--unlabeled-rows",
            type=WholeNumber(min=1),
            default=5_000,
            show_default=True,
            help="Unlabeled rows to learn from, at most; chosen at random.",
        ),
        run_option("seed"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Add the options that say where work on text in parts is done."""
    return run_option("jobs")(run_option("engine")(command))


checkpoint_option = run_option("checkpoint")


tokens_option = click.option(
    "--tokens",
    type=click.Choice(["blanks", "words"]),
    help="Where raw text is cut: at blanks alone, or into words and marks. By default as the training tokens are.",
)


def check_apart(output: Path | None, *others: Path | None) -> None:
    """Refuse an output that would replace another file of the same command.

    Parameters
    ----------
    output : Path or None
        File to be written, if any.
    *others : Path or None
        Files that the command reads, or writes besides.
    """
    for other in others:
        if output is None or other is None:
            continue
        same = os.path.realpath(other) == os.path.realpath(output)
        if same or (other.exists() and output.exists() and other.samefile(output)):
            raise ParameterError(f"{output}: must not replace {other}, which this command needs. Name another file.")


def check_output(output: Path | None, *others: Path | None) -> None:
    """Refuse, before any work is done, an output that would replace another file or cannot be written.

    Parameters
    ----------
    output, *others
        See `check_apart`.
    """
    check_apart(output, *others)
    if output is None:
        return
    target = Path(os.path.abspath(output))
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise FileError(f"{output}: is no ordinary file. Name a file to write to.")
    if not target.parent.is_dir():
        raise FileError(f"{output}: cannot be written (there is no folder {output.parent}).")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{output}: cannot be written (the folder {output.parent} is not yours to write in).")


def check_unfilled(output: Path | None) -> None:
    """Refuse to replace a file that somebody may have filled in.

    Parameters
    ----------
    output : Path or None
        Where labels are to be filled in.
    """
    if output is not None and output.exists():
        raise FileError(
            f"{output}: is there already, and may hold labels that were not merged. Name another file, or delete it first."
        )


def command_line(ctx: click.Context) -> str:
    """Return the command that was given, in one line, with every option that is not at its default."""
    import shlex

    words = ctx.command_path.split()
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if value is None:
            continue
        if isinstance(param, click.Argument):
            words += map(str, value if isinstance(value, tuple) else (value,))
        elif value not in (param.get_default(ctx), ()):
            words += _option_words(param, value)
    return shlex.join(words)


def _option_words(param: click.Parameter, value: Any) -> list[str]:
    """Return an option with its value as they stand on a command line."""
    name = max(param.opts, key=len)
    if value is True:
        return [name]
    if isinstance(value, dict):
        return [name, ",".join(f"{key}={kind}" for key, kind in value.items())]
    if isinstance(param.type, Names):
        return [name, ",".join(value)]
    return [word for one in (value if isinstance(value, tuple) else (value,)) for word in (name, str(one))]


def shell_name(path: Path) -> str:
    """Return the name of a file as it can be typed in a command.

    Examples
    --------
    >>> shell_name(Path("my rows.csv")), shell_name(Path("-rows.csv")), shell_name(Path("-"))
    ("'my rows.csv'", './-rows.csv', '-')
    """
    import shlex

    name = str(path)
    return shlex.quote(f"./{name}" if name.startswith("-") and name != "-" else name)


def dev_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores on development data under the names that a model remembers them by.

    Examples
    --------
    >>> dev_scores({"F1": 0.9})
    {'dev F1': 0.9}
    """
    return {f"dev {name}": value for name, value in scores.items()}
