"""The command line: one lazily loaded module per command, no logic of its own."""

from __future__ import annotations

import gc
import io
import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import click

from handful.cli.ending import ReaderLeft, exit_code
from handful.cli.later import put_off
from handful.core.version import __version__

# Name of a command to its one-line help; the module of the same name in this package is imported when it is used.
COMMANDS = {
    "budget": "Tell how many more labels are needed.",
    "clusters": "Cluster the words of a text.",
    "compare": "Compare methods on your data, few of it labeled.",
    "condense": "Make a tagger or parser small by its decisions on raw text.",
    "data": "Find, fetch and check the corpora.",
    "demo": "Show in a minute what handful does.",
    "doubt": "Find labels that are probably wrong.",
    "fit": "Fit a model and save it.",
    "inspect": "Show what is inside a model file.",
    "merge": "Put labels that came back into the table.",
    "methods": "List the methods.",
    "next": "Choose the rows to label next.",
    "paper": "Run the experiments of a paper again.",
    "predict": "Label new rows with a saved model.",
    "prototypes": "Find and check typical words for labels.",
    "score": "Score sense answers against a key.",
    "similar": "Name words that stand in the same contexts.",
    "studio": "Label, teach and watch in the browser.",
    "vectors": "Make and check encoders of texts.",
    "warmup": "Compile everything now instead of at the first use.",
    "why": "Tell why a row or token got its label.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"handful.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"There is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would make a failure of a reader that has enough."""
        try:
            outcome = super().invoke(ctx)
            sys.stdout.flush()  # here, where a full disk and a closed pipe can still be told
            return outcome
        except BrokenPipeError:
            raise ReaderLeft from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="handful")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def group(debug: bool) -> None:
    """Learn accurate, small, fast models from a handful of labels and a lot of unlabeled data."""


class _Note(logging.Handler):
    """Shows on a terminal that kernels are being compiled, or cannot be kept."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it in one line."""
        from handful.cli.console import say

        first = "The first use compiles, which takes some seconds; later ones do not. `handful warmup` compiles all at once."
        say(first if record.levelno == logging.INFO else f"handful: {record.getMessage()}.", stderr=True)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit code 0 on success, 2 on wrong use, 1 on failure with one line on stderr, 130 when interrupted, 143 when ended by
    SIGTERM; a traceback only with ``--debug``, which may stand anywhere.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments without the program's name; those of the process by default.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    arguments = [a for a in arguments[:end] if a != "--debug"] + arguments[end:]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter still gets the rest
    # Imports and compilation make many objects that stay; to look for waste among them every 700 takes a tenth of their time.
    gc.set_threshold(50_000)
    for module in ("scipy.stats", "pandas"):  # scikit-learn imports both at once, and seldom needs one
        put_off(module)
    compiling = logging.getLogger("handful.kernels")
    if sys.stderr is not None and sys.stderr.isatty() and not compiling.handlers:
        compiling.addHandler(_Note())
        compiling.setLevel(logging.INFO)
        compiling.propagate = False
    sys.exit(exit_code(partial(group.main, arguments, "handful", standalone_mode=False), arguments, debug=debug))
