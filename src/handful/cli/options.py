"""Options that commands share, each with one meaning, and options made from the parameters of a class."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click

from handful.params import Jobs, Range, admits, declared, describe

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_WIDTH = 80  # characters of a help text
_ELSEWHERE = ("n_jobs", "random_state")  # parameters that are called --jobs and --seed in every command


# -- types of values --------------------------------------------------------------------------------------------------


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
                self.fail(f"{part!r} is not NAME=KIND. Write age=numeric,city=categorical,id=skip.", param, ctx)
            kinds[name.strip()] = kind.strip()
        return kinds


class NameList(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Names, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        return value if isinstance(value, tuple) else tuple(n.strip() for n in str(value).split(",") if n.strip())


class Priors(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Frequencies of classes, as ``label=number,label=number``."""

    name = "LABEL=NUMBER,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        """Return a dictionary of label to frequency."""
        if isinstance(value, dict):
            return value
        priors = {}
        for part in str(value).split(","):
            name, _, number = part.rpartition("=")
            try:
                priors[name.strip()] = float(number)
            except ValueError:
                name = ""
            if not name:
                self.fail(f"{part!r} is not LABEL=NUMBER. Write no=0.9,yes=0.1.", param, ctx)
        return priors


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


# -- options from the parameters of a class ---------------------------------------------------------------------------


def parameters_of(
    cls: type, *, leave_out: Collection[str] = (), choices: Mapping[str, Sequence[str]] | None = None
) -> Callable[[Command], Command]:
    """Give a command an option for every parameter of a class that has a short written form, with the class's default.

    Parameters
    ----------
    cls : type
        A class whose ``__init__`` is annotated and whose docstring has a section ``Parameters``.
    leave_out : collection of str
        Parameters for which the command defines an option itself.
    choices : mapping of str to sequence of str, optional
        Legal values of a parameter whose annotation is a string.

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
    annotations = {**declared(cls), **{name: Literal[tuple(values)] for name, values in (choices or {}).items()}}
    options = {
        name: _option(name, annotation, start[name].default, texts.get(name, ""))
        for name, annotation in annotations.items()
        if name not in (*leave_out, *_ELSEWHERE) and _metavars(annotation)
    }

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            return command(*args, settings={name: values.pop(name) for name in options}, **values)

        decorated: Any = collected
        for option in reversed(options.values()):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


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


def _option(name: str, annotation: Any, default: Any, text: str) -> Callable[[Any], Any]:
    words = name.replace("_", "-")
    if _without_none(annotation) is bool:
        return click.option(f"--{words}/--no-{words}", name, default=default, show_default=True, help=help_line(text))
    limits = f" ({describe(_without_none(annotation))})" if _has_limits(annotation) else ""
    plain = help_line(text)
    plain += limits if len(plain) + len(limits) <= _WIDTH else ""
    return click.option(f"--{words}", name, type=Declared(annotation), default=default, show_default=True, help=plain)


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


def _has_limits(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return any(isinstance(bound, Range) for bound in get_args(annotation)[1:])
    return any(_has_limits(part) for part in get_args(annotation) if get_origin(annotation) is not Literal)


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


_RUN: dict[str, Callable[..., Any]] = {
    "output": partial(click.option, "--output", "-o", type=OUTPUT, help="File to write. Default: stdout."),
    "force": partial(click.option, "--force", is_flag=True, help="Replace files that exist."),
    "resume": partial(
        click.option,
        "--resume",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Keep progress in FOLDER; a stopped run goes on from there.",
    ),
    "jobs": partial(
        click.option,
        "--jobs",
        type=Declared(Jobs),
        default=-1,
        show_default=True,
        help="Number of parallel workers; -1 uses all cores.",
    ),
    "engine": partial(
        click.option, "--engine", metavar="ENGINE", help="Workers: 'dask', or the address of a Dask scheduler."
    ),
    "seed": partial(
        click.option, "--seed", type=WholeNumber(min=0), default=0, show_default=True, help="Seed of random numbers."
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
        What differs here, such as a more precise ``help``.
    """
    option: Callable[[Command], Command] = _RUN[name](**changes)
    return option


def run_options(*names: str, **changes: Mapping[str, Any]) -> Callable[[Command], Command]:
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
    chosen = [field.name for field in fields(Run) if field.name in wanted]
    assert len(chosen) == len(wanted), "run_options: a name that Run does not have"

    def decorate(command: Command) -> Command:
        @wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            return command(*args, run=Run(**{name: values.pop(name) for name in chosen}), **values)

        decorated: Any = collected
        for name in reversed(chosen):
            decorated = run_option(name, **changes.get(name, {}))(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read; see `reading_options`."""

    columns: dict[str, str] | None = None
    missing_labels: tuple[str, ...] = ()
    keep_labels: tuple[str, ...] = ()
    decimal: str | None = None
    dayfirst: bool | None = None


_READING = (
    click.option("--columns", type=Columns(), help="Kinds of columns: numeric, categorical, datetime, text or skip."),
    click.option(
        "--missing-label",
        "missing_labels",
        multiple=True,
        metavar="TEXT",
        help="Text in the label column that means 'no label'. Repeatable.",
    ),
    click.option(
        "--keep-label",
        "keep_labels",
        multiple=True,
        metavar="TEXT",
        help="Label that only looks like a missing one, such as unknown. Repeatable.",
    ),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign of numbers. Default: from the cells."),
    click.option(
        "--dayfirst/--monthfirst", default=None, help="Order of dates such as 01/02/2020. Default: from the cells."
    ),
)


def reading_options(command: Command) -> Command:
    """Give a command the options for reading a table; it gets them together as ``reading``, a `Reading`."""
    names = [field.name for field in fields(Reading)]

    @wraps(command)
    def collected(*args: Any, **values: Any) -> Any:
        return command(*args, reading=Reading(**{name: values.pop(name) for name in names}), **values)

    decorated: Any = collected
    for option in reversed(_READING):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


unlabeled_rows_option = click.option(
    "--unlabeled-rows",
    type=WholeNumber(min=1),
    default=5_000,
    show_default=True,
    help="Most unlabeled rows to learn from, chosen at random.",
)


class _Split(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """How raw text is split; ``blanks`` is a former name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the choice."""
        return super().convert("spaces" if value == "blanks" else value, param, ctx)


tokens_option = click.option(
    "--tokens",
    type=_Split(["spaces", "words"]),
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
    """Return the command in one line, with every option that is not at its default and files by their names."""
    import shlex

    words = ctx.command_path.split()
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if value is None:
            continue
        if isinstance(param, click.Argument):
            words += map(_word, value if isinstance(value, tuple) else (value,))
        elif value not in (param.get_default(ctx), ()):
            words += _option_words(param, value)
    return shlex.join(words)


def _option_words(param: click.Parameter, value: Any) -> list[str]:
    """Return an option with its value as on a command line."""
    name = max(param.opts, key=len)
    if value is True:
        return [name]
    if isinstance(value, dict):
        return [name, ",".join(f"{key}={kind}" for key, kind in value.items())]
    if isinstance(param.type, NameList):
        return [name, ",".join(value)]
    return [word for one in (value if isinstance(value, tuple) else (value,)) for word in (name, _word(one))]


def _word(value: Any) -> str:
    return value.name if isinstance(value, Path) and value.is_absolute() else str(value)
