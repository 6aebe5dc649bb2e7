"""Options that commands share, each with one meaning, and options made from the parameters of a class."""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from handful.cli import console
from handful.params import admits, declared, describe

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_WIDTH = 80  # characters of a help text
_ELSEWHERE = ("n_jobs", "random_state")  # parameters that are called --jobs and --seed in every command


# -- commands ---------------------------------------------------------------------------------------------------------


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is used."""

    lazy: Mapping[str, tuple[str, str]] = {}
    """Command -> module of this package, one-line help."""
    prefix = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in self.lazy:
            return None
        module = import_module(f"handful.cli.{self.lazy[cmd_name][0]}")
        command: click.Command = getattr(module, f"{self.prefix}{cmd_name}_command")
        return with_common_options(command)


def with_common_options(command: click.Command) -> click.Command:
    """Give a command, or each command of a group, the options -q, -v and --debug."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_common_options(inner)
    elif not any("--verbose" in param.opts for param in command.params):
        command.params += [
            _flag(["-q", "--quiet"], callback=_set_level, help="Print no notices."),
            _flag(["-v", "--verbose"], callback=_set_level, help="Print details."),
            _flag(["--debug"], help="Print a traceback on failure."),
        ]
    return command


_flag = partial(click.Option, is_flag=True, expose_value=False)


def _set_level(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    console.state.level += value if param.name == "verbose" else -value


# -- types of values --------------------------------------------------------------------------------------------------


class Pairs(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Values by name, as ``name=value,name=value``."""

    def __init__(self, name: str, kind: Callable[[str], Any], example: str) -> None:
        self.name, self.kind, self.example = name, kind, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Return a dictionary of name to value."""
        if isinstance(value, dict):
            return value
        pairs: dict[str, Any] = {}
        for part in str(value).split(","):
            name, _, text = map(str.strip, part.rpartition("="))
            try:
                pairs[name] = self.kind(text)
            except ValueError:
                name = ""
            if not name or not text:
                self.fail(f"{part!r} is not {self.name.partition(',')[0]}. Write {self.example}.", param, ctx)
        return pairs


class NameList(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Names, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        return value if isinstance(value, tuple) else tuple(n.strip() for n in str(value).split(",") if n.strip())


class NumberRange(click.FloatRange):
    """A number between two bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; NaN, which no bound refuses, is none."""
        text = str(value).strip()
        if text.endswith("%"):
            with suppress(ValueError):
                self.fail(f"{text!r} is a percentage. Write {float(text[:-1]) / 100:g}.", param, ctx)
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{text!r} is not a valid number.", param, ctx)
        return number


class WholeNumber(click.IntRange):
    """A whole number between two bounds."""

    name = "integer"


class Declared(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A value as an annotation declares it.

    Parameters
    ----------
    annotation : type
        Such as ``Annotated[int, AtLeast(1)] | Literal["cv"] | None``.

    Examples
    --------
    >>> from handful.params import Count
    >>> kind = Declared(Count | Literal["cv"])
    >>> kind.convert("3", None, None), kind.convert("cv", None, None), kind.name
    (3, 'cv', 'INTEGER|cv')
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self.name = "|".join(_metavars(annotation))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in its own type, or fail with what is legal."""
        for candidate in _readings(value):
            if admits(self.annotation, candidate):
                return candidate
        return self.fail(f"must be {describe(_without_none(self.annotation))}, got {value!r}.", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder of the value in the help."""
        return f"[{self.name}]" if get_origin(_without_none(self.annotation)) is Literal else self.name


def _readings(value: Any) -> Iterator[Any]:
    """Yield the values that a word of the command line may mean; a default is a value already."""
    if isinstance(value, str):
        for kind in (int, float):
            with suppress(ValueError):
                yield kind(value)
    yield value


def collect(name: str, make: Callable[..., Any], options: Mapping[str, Decorator]) -> Decorator:
    """Give a command options whose values it gets together, as one argument that `make` makes of them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            return command(*args, **{name: make(**{option: values.pop(option) for option in options})}, **values)

        decorated: Any = collected
        for option in reversed(list(options.values())):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


# -- options from the parameters of a class ---------------------------------------------------------------------------


def parameters_of(cls: type, *, leave_out: Collection[str] = ()) -> Decorator:
    """Give a command an option for every parameter of a class that has a short written form, with the class's default.

    Parameters
    ----------
    cls : type
        A class whose ``__init__`` is annotated and whose docstring has a section ``Parameters``.
    leave_out : collection of str
        Parameters for which the command defines an option itself.

    Returns
    -------
    decorator
        Of a command, which gets the values as the dictionary ``settings``.

    Notes
    -----
    ``n_neighbors`` becomes ``--n-neighbors``, a switch becomes ``--name/--no-name``. Mappings and models are left out, and
    so are ``n_jobs`` and ``random_state``: see `run_options`.

    Examples
    --------
    >>> from handful.params import Count
    >>> class Model:
    ...     '''A model.
    ...
    ...     Parameters
    ...     ----------
    ...     size : int, default=3
    ...         How large it is.
    ...     '''
    ...     def __init__(self, size: Count = 3): ...
    >>> @click.command()
    ... @parameters_of(Model)
    ... def fit(settings):
    ...     return settings
    >>> fit.main(["--size", "5"], standalone_mode=False)
    {'size': 5}
    """
    start, texts = inspect.signature(cls).parameters, parameter_texts(cls)
    options = {
        name: _option(name, annotation, start[name].default, texts.get(name, ""))
        for name, annotation in declared(cls).items()
        if name not in (*leave_out, *_ELSEWHERE) and _metavars(annotation)
    }
    return collect("settings", dict, options)


def parameter_texts(cls: type) -> dict[str, str]:
    """Return what the docstring of a class says about each parameter.

    Examples
    --------
    >>> parameter_texts(Declared)
    {'annotation': 'Such as Annotated[int, AtLeast(1)] | Literal["cv"] | None.'}
    """
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", inspect.getdoc(cls) or "", re.DOTALL | re.MULTILINE
    )
    texts: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.group(1) if section else ""):
        head, _, body = entry.partition("\n")
        plain = re.sub(r"`+", "", " ".join(textwrap.dedent(body).split()))
        texts.update(dict.fromkeys((name.strip() for name in head.partition(" : ")[0].split(",")), plain))
    return texts


def help_line(text: str) -> str:
    """Return the beginning of a text that fits in one line of help: a sentence, or else whole clauses.

    Examples
    --------
    >>> help_line("Number of clusters. More of them take longer.")
    'Number of clusters.'
    """
    first = re.split(r"(?<=\.) (?=[A-Z])", text, maxsplit=1)[0]
    while len(first) > _WIDTH:
        shorter = re.sub(r"[,;:(][^,;:(]*$", "", first)
        if shorter == first:
            shorter = first[: first.rindex(" ", 0, _WIDTH)]
        if shorter.count("(") > shorter.count(")"):
            shorter = shorter[: shorter.rindex("(")]
        first = f"{shorter.rstrip(' ,;:.')}."
    return first


def _option(name: str, annotation: Any, default: Any, text: str) -> Decorator:
    words = name.replace("_", "-")
    if _without_none(annotation) is bool:
        return click.option(f"--{words}/--no-{words}", name, default=default, show_default=True, help=help_line(text))
    kind = Declared(annotation)
    return click.option(f"--{words}", name, type=kind, default=default, show_default=True, help=help_line(text))


def _metavars(annotation: Any) -> list[str]:
    """Return the written forms that an annotation admits; none if it has no short one."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return [form for part in get_args(annotation) for form in _metavars(part)]
    if origin is Annotated:
        return _metavars(get_args(annotation)[0])
    if origin is Literal:
        return [str(choice) for choice in get_args(annotation)]
    return {int: ["INTEGER"], float: ["NUMBER"], str: ["TEXT"], bool: ["SWITCH"]}.get(annotation, [])


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    return Union[tuple(part for part in get_args(annotation) if part is not type(None))]  # noqa: UP007


# -- options that mean the same in every command ----------------------------------------------------------------------

INPUT = click.Path(path_type=Path)
OUTPUT = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True)
class Run:
    """Values of the options that mean the same in every command; see `run_options`."""

    output: Path | None = None
    force: bool = False
    resume: Path | None = None
    jobs: int = 1
    engine: str | None = None
    seed: int = 0
    as_json: bool = False


_FOLDER = click.Path(path_type=Path, file_okay=False)


def _check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    if value < 1 and value != -1:
        raise click.BadParameter(f"must be an integer of at least 1 or -1, got {value}.", ctx, param)
    return value


_RUN: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "output": (("--output", "-o"), {"type": OUTPUT, "help": "File to write. Default: stdout."}),
    "force": (("--force",), {"is_flag": True, "help": "Replace files that exist."}),
    "resume": (
        ("--resume",),
        {"type": _FOLDER, "metavar": "FOLDER", "help": "Keep progress in FOLDER; a stopped run goes on from there."},
    ),
    "jobs": (
        ("--jobs",),
        {
            "type": int,
            "callback": _check_jobs,
            "default": -1,
            "show_default": True,
            "help": "Number of parallel workers; -1 uses all cores.",
        },
    ),
    "engine": (("--engine",), {"metavar": "ENGINE", "help": "Workers: 'dask', or the address of a Dask scheduler."}),
    "seed": (
        ("--seed",),
        {"type": WholeNumber(min=0), "default": 0, "show_default": True, "help": "Seed of random numbers."},
    ),
    "as_json": (("--json", "as_json"), {"is_flag": True, "help": "Print JSON on stdout."}),
}


def run_option(name: str, **changes: Any) -> Decorator:
    """Return one of the options that mean the same in every command, for a command that takes it by itself.

    Parameters
    ----------
    name : str
        A field of `Run`.
    **changes
        What differs here, such as a more precise ``help``.
    """
    words, settings = _RUN[name]
    return click.option(*words, **{**settings, **changes})


def run_options(*names: str, **changes: Mapping[str, Any]) -> Decorator:
    """Give a command options that mean the same everywhere; it gets them together as ``run``, a `Run`.

    Parameters
    ----------
    *names : str
        Fields of `Run`; ``output`` brings ``force``.
    **changes : mapping
        What differs for a field, such as ``output={"help": "File of the model."}``.

    Examples
    --------
    >>> @click.command()
    ... @run_options("seed", "as_json", jobs={"default": 1})
    ... def fit(run):
    ...     return run.jobs, run.seed, run.as_json
    >>> fit.main(["--seed", "3"], standalone_mode=False)
    (1, 3, False)
    """
    wanted = {*names, *changes, *(["force"] if "output" in {*names, *changes} else [])}
    assert wanted <= _RUN.keys(), "run_options: a name that Run does not have"
    return collect("run", Run, {name: run_option(name, **changes.get(name, {})) for name in _RUN if name in wanted})


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read; see `reading_options`."""

    columns: dict[str, str] | None = None
    missing_labels: tuple[str, ...] = ()
    keep_labels: tuple[str, ...] = ()
    decimal: str | None = None
    dayfirst: bool | None = None


_KINDS = Pairs("NAME=KIND,...", str, "age=numeric,city=categorical,id=skip")
_DATES = "Order of dates such as 01/02/2020. Default: from the cells."
reading_options = collect(
    "reading",
    Reading,
    {
        "columns": click.option(
            "--columns", type=_KINDS, help="Kinds of columns: numeric, categorical, datetime, text or skip."
        ),
        "missing_labels": click.option(
            "--missing-label",
            "missing_labels",
            multiple=True,
            metavar="TEXT",
            help="Text in the label column that means 'no label'. Repeatable.",
        ),
        "keep_labels": click.option(
            "--keep-label",
            "keep_labels",
            multiple=True,
            metavar="TEXT",
            help="Label that only looks like a missing one, such as unknown. Repeatable.",
        ),
        "decimal": click.option(
            "--decimal", type=click.Choice([".", ","]), help="Decimal sign of numbers. Default: from the cells."
        ),
        "dayfirst": click.option("--dayfirst/--monthfirst", default=None, help=_DATES),
    },
)
"""Options for reading a table; a command gets them together as ``reading``, a `Reading`."""


def also_option(text: str) -> Decorator:
    """Return the option that names columns of cheap labels (witnesses)."""
    return click.option("--also", type=NameList(), default=(), callback=_no_repeats, help=text)


def _no_repeats(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if not value and is_given(ctx, param):
        raise click.UsageError("--also: no column. Name columns of cheap labels.")
    return tuple(dict.fromkeys(value))


def as_witnesses(reading: Reading, also: Sequence[str]) -> Reading:
    """Return how to read a table whose witness columns are no features."""
    return replace(reading, columns={**(reading.columns or {}), **dict.fromkeys(also, "skip")})


unlabeled_rows_option = click.option(
    "--unlabeled-rows",
    type=WholeNumber(min=1),
    default=5_000,
    show_default=True,
    help="Most unlabeled rows to learn from, chosen at random.",
)


tokens_option = click.option(
    "--tokens",
    type=click.Choice(["spaces", "words"]),
    help="Split raw text at whitespace only, or into words. Default: as in training.",
)


def target_option(
    *, required: bool = False, text: str = "Label column; rows with an empty cell are unlabeled."
) -> Decorator:
    """Return the option that names the label column."""
    return click.option("--target", metavar="COLUMN", required=required, help=text)


def number_option(text: str, default: int = 20) -> Decorator:
    """Return -n, how many rows, sentences or words to print."""
    return click.option("-n", "n", type=WholeNumber(min=1), default=default, show_default=True, help=text)


def is_given(ctx: click.Context, param: click.Parameter) -> bool:
    """Whether an option was typed."""
    from click.core import ParameterSource

    return ctx.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT


def command_line(ctx: click.Context) -> str:
    """Return the command in one line, files by their names."""
    import shlex

    words = ctx.find_root().obj or ctx.command_path.split()[1:]
    return shlex.join(["handful", *(Path(word).name if word.startswith("/") else word for word in words)])
