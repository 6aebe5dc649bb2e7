"""``handful fit``: fit a model and save it; without a kind of model, one for a table."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

# Kind of model to its one-line help; `handful.cli.fit_<kind>` is imported when it is used.
KINDS = {
    "table": "A classifier of table rows (the default).",
    "prototypes": "A tagger from typical words and raw text.",
    "senses": "The senses of words, from tagged contexts.",
    "tagger": "A tagger of sentences, from tagged ones.",
    "parser": "A dependency parser, from trees.",
}


class KindGroup(click.Group):
    """A group whose commands are kinds of models; anything else is an argument of the first kind."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kinds."""
        return list(KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one kind."""
        if cmd_name not in KINDS:
            return None
        command = import_module(f"handful.cli.fit_{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default kind before arguments that name none."""
        if args and args[0] not in KINDS and args[0] not in ctx.help_option_names:
            _refuse_misspelled(ctx, args[0])
            args = ["table", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of kinds without importing them."""
        with formatter.section("Kinds of models"):
            formatter.write_dl(list(KINDS.items()))


def _refuse_misspelled(ctx: click.Context, word: str) -> None:
    from difflib import get_close_matches

    if Path(word).exists() or word.startswith("-"):
        return
    near = get_close_matches(word, KINDS, n=1)
    if near:
        ctx.fail(f"There is no kind of model and no file '{word}'. Did you mean '{near[0]}'?")
    if word.replace("-", "_").isidentifier():  # a name without a point or a folder is hardly that of a file
        ctx.fail(f"There is no kind of model and no file '{word}'. Kinds are {', '.join(KINDS)}.")


@click.command("fit", cls=KindGroup, no_args_is_help=True, subcommand_metavar="[KIND] DATA [OPTIONS]")
def command() -> None:
    """Fit a model and save it: 'handful fit data.csv --target label', or 'handful fit tagger train.tsv'.

    'handful fit KIND --help' tells the options of a kind.
    """
