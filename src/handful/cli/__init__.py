"""The command line: one lazily loaded module per group of commands, without logic."""

from __future__ import annotations

import gc
import io
import logging
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from handful.cli.console import begin, notice, show_held
from handful.cli.ending import ReaderLeft, check_memory_limit, exit_code, open_closed_streams
from handful.cli.options import LazyGroup
from handful.version import __version__

# Section of the help -> command -> module of this package, one-line help.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Tables": {
        "fit": ("fit_table", "Train a model and save it."),
        "predict": ("predict", "Predict labels of new rows or sentences."),
        "compare": ("compare", "Compare methods on your data."),
        "explain": ("models", "Explain the prediction of one row or sentence."),
    },
    "Labeling": {
        "next": ("label", "Choose the most informative rows to label next."),
        "merge": ("label", "Merge labels back into the data."),
        "check": ("check", "Find likely label errors."),
        "curve": ("check", "Estimate how many more labels are needed (learning curve)."),
        "prevalence": ("check", "Estimate how frequent each class is, with an interval."),
        "shots": ("label", "Choose rows for the prompt of a language model."),
        "studio": ("studio", "Label in the browser."),
    },
    "Text": {
        "clusters": ("text", "Cluster the words of a text (Brown clusters)."),
        "similar": ("text", "Find words that occur in similar contexts."),
        "prototypes": ("text", "Make and check lists of prototypes."),
        "score": ("text", "Score predicted word senses against a key."),
        "vectors": ("text", "Make and check text encoders (embeddings)."),
    },
    "Models": {
        "inspect": ("models", "Show what a model file contains."),
        "condense": ("condense", "Make a model smaller: a few rows of a table, or fewer weights."),
        "export": ("condense", "Write a model of tables as an HTML page that predicts."),
        "methods": ("models", "List the methods."),
        "demo": ("demo", "Run five short examples on bundled data."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
EXAMPLES = {
    "Tables": (
        "handful fit customers.csv --target segment",
        "handful predict customers.handful new.csv -o predictions.csv",
        "handful compare customers.csv --target segment --report report.html",
    ),
    "Labeling": (
        "handful next customers.csv --target segment -n 10 -o todo.csv",
        "handful merge customers.csv todo.csv",
        "handful check customers.csv --target segment",
    ),
    "Text": (
        "handful fit tagger train.tsv",
        "handful fit prototypes words.tsv raw.txt",
        "handful predict tagger.handful parser.handful text.txt -o trees.conllu",
    ),
    "Models": ("handful inspect customers.handful", "handful demo"),
}
# Former names, kept until 0.4, those of options by command; GONE_COMMANDS have no successor.
OLD_COMMANDS = {"doubt": "check", "budget": "curve", "why": "explain"}
GONE_COMMANDS = {"warmup": "Kernels compile at first use, so it is not needed any more"}
OLD_OPTIONS = {
    "": {"--checkpoint": "--resume", "--draws": "--n-splits", "--unlabeled-mark": "--missing-label"},
    "fit": {"--model": "--output", "--shares": "--class-priors", "--iterations": "--max-iter"},
    "fit parser": {"--tag": "--tags"},
    "fit senses": {"--neighbors": "--n-neighbors"},
    "condense": {"--way": "--mode", "--iterations": "--max-iter"},
    "fit tagger": {"-n": "--n-clusters"},
    "clusters": {"--n": "--n-clusters", "-n": "--n-clusters"},
    "similar": {"--k": "-n", "--components": "--n-components"},
    "inspect": {"--top": "-n"},
    "prototypes": {"--words": "-n"},
}


class Commands(LazyGroup):
    """All commands."""

    lazy = COMMANDS

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, also by its former name."""
        if args and args[0] in OLD_COMMANDS:
            notice(f"'{args[0]}' is now called '{OLD_COMMANDS[args[0]]}'.")
            args = [OLD_COMMANDS[args[0]], *args[1:]]
        if args and args[0] in GONE_COMMANDS:
            ctx.fail(f"{args[0]}: no such command. {GONE_COMMANDS[args[0]]}.")
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"{args[0]}: no such command.{f' Did you mean {near[0]!r}?' if near else ''}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would make a failure of a reader that has enough."""
        check_memory_limit()
        try:
            outcome = super().invoke(ctx)
            show_held()
            sys.stdout.flush()  # here, where a full disk and a closed pipe can still be reported
            return outcome
        except BrokenPipeError:
            raise ReaderLeft from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section with examples, without importing them."""
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])
                formatter.write_paragraph()
                for example in EXAMPLES[section]:
                    formatter.write_text(f"$ {example}")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="COMMAND ...",
)
@click.version_option(__version__, "-V", "--version", prog_name="handful")
def group() -> None:
    """Train models from few labels and unlabeled data."""


class _CompileNotice(logging.Handler):
    """Prints on a terminal that kernels are being compiled, or cannot be cached."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        first = "Compiling, a few seconds at first use."
        notice(first if record.levelno == logging.INFO else f"handful: {record.getMessage()}.")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit code 0 on success, 2 on wrong use, 1 on failure with one line on stderr, 130 when interrupted, 143 when ended by
    SIGTERM; a traceback only with ``--debug``.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments without the program's name; those of the process by default.
    """
    begin()
    open_closed_streams()
    arguments = _with_new_names(list(sys.argv[1:] if args is None else args))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter still gets the rest
    gc.set_threshold(50_000)  # imports and compilation make many objects that stay
    compiling = logging.getLogger("handful.kernels")
    if sys.stderr.isatty() and not compiling.handlers:
        compiling.addHandler(_CompileNotice())
        compiling.setLevel(logging.INFO)
        compiling.propagate = False
    debug = "--debug" in arguments[: arguments.index("--") if "--" in arguments else None]
    sys.exit(
        exit_code(
            partial(group.main, arguments, "handful", standalone_mode=False, obj=arguments), arguments, debug=debug
        )
    )


def _with_new_names(arguments: list[str]) -> list[str]:
    """Replace former names of options."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    names = {
        **OLD_OPTIONS[""],
        **OLD_OPTIONS.get(" ".join(arguments[:1]), {}),
        **OLD_OPTIONS.get(" ".join(arguments[:2]), {}),
    }
    renamed: list[str] = []
    for word in arguments[:end]:
        name, equals, value = word.partition("=")
        new = names.get(name, name)
        renamed += [new, value] if equals and new == "-n" else [f"{new}{equals}{value}"]
    return [*renamed, *arguments[end:]]
