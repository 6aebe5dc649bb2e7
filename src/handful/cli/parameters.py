"""Options of a command, made from the ``__init__`` of the class that it fits.

Type, limits, choices and default come from the annotations (see `handful.core.params`), the help text from the
``Parameters`` section of the docstring. So Python and the command line use one word for one thing, and a new parameter
of a class is an option at once.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click

from handful.core.params import Range, admits, declared, describe

Command = TypeVar("Command", bound=Callable[..., Any])

_ELSEWHERE = ("n_jobs", "random_state")
"""Parameters that have an option of another name in every command: --jobs and --seed."""


class Declared(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A value as an annotation declares it.

    Parameters
    ----------
    annotation : type
        Such as ``Annotated[int, AtLeast(1)] | Literal["cv"] | None``.

    Examples
    --------
    >>> from handful.core.params import Count
    >>> kind = Declared(Count | Literal["cv"])
    >>> kind.convert("3", None, None), kind.convert("cv", None, None), kind.name
    (3, 'cv', 'INTEGER|cv')
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self.name = "|".join(_metavars(annotation))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in its own type, or say what must hold."""
        for candidate in _readings(value):
            if admits(self.annotation, candidate):
                return candidate
        return self.fail(f"must be {describe(_without_none(self.annotation))}, got {value!r}.", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands behind the option in its help."""
        return f"[{self.name}]" if get_origin(_without_none(self.annotation)) is Literal else self.name


def parameters_of(
    cls: type,
    *,
    leave_out: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    aliases: Mapping[str, str] | None = None,
    choices: Mapping[str, Sequence[str]] | None = None,
    into: str = "settings",
) -> Callable[[Command], Command]:
    """Give a command an option for every parameter of a class that can be written on a command line.

    Parameters
    ----------
    cls : type
        A class whose ``__init__`` is annotated and whose docstring has a section ``Parameters``.
    leave_out : collection of str
        Parameters that the command has its own way for.
    defaults : mapping of str to value, optional
        Where the command's default is another than the class's.
    aliases : mapping of str to str, optional
        A second name of the option of a parameter, such as ``{"max_iter": "--iterations"}``.
    choices : mapping of str to sequence of str, optional
        Values of a parameter that the annotation only calls a string, such as names of the catalogue.
    into : str
        Name of the parameter under which the command gets them all, as a dictionary.

    Returns
    -------
    decorator
        Of a command.

    Notes
    -----
    ``n_neighbors`` becomes ``--n-neighbors``, a switch becomes ``--name/--no-name``. What has no short written form
    (mappings, models) is left out, and so are ``n_jobs`` and ``random_state``: see `handful.cli.options.run_options`.

    Examples
    --------
    >>> from handful.core.params import Count
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
    own = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    start, texts, second = {**own, **(defaults or {})}, parameter_texts(cls), aliases or {}
    annotations = {**declared(cls), **{name: Literal[tuple(values)] for name, values in (choices or {}).items()}}
    options = {
        name: _option(name, second.get(name), annotation, start[name], texts.get(name, ""))
        for name, annotation in annotations.items()
        if name not in (*leave_out, *_ELSEWHERE) and _metavars(annotation)
    }

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            return command(*args, **{into: {name: values.pop(name) for name in options}}, **values)

        decorated: Any = collected
        for option in reversed(options.values()):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def parameter_texts(cls: type) -> dict[str, str]:
    """Return what the docstring of a class says of each parameter.

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


def _readings(value: Any) -> Iterator[Any]:
    """Yield what a word of the command line may stand for; a default is no word but a value."""
    if isinstance(value, str):
        for kind in (int, float):
            with suppress(ValueError):
                yield kind(value)
    yield value


def _option(name: str, alias: str | None, annotation: Any, default: Any, text: str) -> Callable[[Any], Any]:
    words = name.replace("_", "-")
    if annotation is bool:
        return click.option(f"--{words}/--no-{words}", name, default=default, show_default=True, help=text)
    limits = f" ({describe(_without_none(annotation))})" if _has_limits(annotation) else ""
    names = [f"--{words}", *([alias] if alias else []), name]
    return click.option(*names, type=Declared(annotation), default=default, show_default=True, help=text + limits)


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
