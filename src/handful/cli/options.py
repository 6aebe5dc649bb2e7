"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from handful.core.errors import FileError, ParameterError

Command = TypeVar("Command", bound=Callable[..., Any])


class Columns(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Kinds of columns, as ``name=kind,name=kind``."""

    name = "NAME=KIND,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        """Return a dictionary of name to kind."""
        if isinstance(value, dict):
            return value
        found: dict[str, str] = {}
        for part in str(value).split(","):
            name, equals, kind = part.rpartition("=")
            if not equals or not name.strip() or not kind.strip():
                self.fail(
                    f"expected name=kind, got {part!r}, as in --columns age=numeric,city=nominal,id=skip.", param, ctx
                )
            found[name.strip()] = kind.strip()
        return found


class Names(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Names, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        return value if isinstance(value, tuple) else tuple(n.strip() for n in str(value).split(",") if n.strip())


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read."""
    options = (
        click.option(
            "--columns",
            type=Columns(),
            help="Kinds of columns where the guess is wrong: numeric, nominal, text, or skip to leave one out.",
        ),
        click.option("--unlabeled-mark", metavar="TEXT", help="A label that means 'no label', beside the empty cell."),
        click.option(
            "--unlabeled-rows",
            type=click.IntRange(min=1),
            default=5_000,
            show_default=True,
            help="Unlabeled rows to learn from, at most; chosen at random.",
        ),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all chance."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Add the options that say where work on text in parts is done."""
    options = (
        click.option("--jobs", type=int, default=1, show_default=True, help="Worker processes; -1 for every core."),
        click.option(
            "--engine",
            metavar="ENGINE",
            help="Where the workers are: 'dask' for a local Dask cluster of --jobs processes, or the address "
            "tcp://HOST:PORT of a running Dask scheduler. The result does not depend on it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def checkpoint_option(command: Command) -> Command:
    """Add the option that names a folder for what was counted."""
    return click.option(
        "--checkpoint",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Keep what was counted in this folder; a run that was stopped goes on from there.",
    )(command)


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
    target = Path(os.path.realpath(output))
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise FileError(f"{output}: is no ordinary file. Name a file to write to.")
    if not target.parent.is_dir():
        raise FileError(f"{output}: cannot be written (there is no folder {output.parent}).")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{output}: cannot be written (the folder {output.parent} is not yours to write in).")


def command_line(ctx: click.Context) -> str:
    """Return the command that was given, in one line, with every option that is not at its default."""
    import shlex

    words = ctx.command_path.split()
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if isinstance(param, click.Argument):
            words += map(str, value) if isinstance(value, tuple) else [str(value)] if value is not None else []
        elif value is not None and value != param.get_default(ctx) and value != ():
            name = max(param.opts, key=len)
            if value is True:
                words.append(name)
            elif isinstance(value, dict):
                words += [name, ",".join(f"{key}={kind}" for key, kind in value.items())]
            elif isinstance(param.type, Names):
                words += [name, ",".join(value)]
            else:
                for one in value if isinstance(value, tuple) else (value,):
                    words += [name, str(one)]
    return shlex.join(words)
