"""Run ``python -m papers``: `python -m papers liu2013 --quick`, `python -m papers data list`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import click

from handful.cli.ending import exit_code
from papers.claims import KEYS
from papers.commands import data_command, paper_command


class PaperGroup(click.Group):
    """A group in which every paper is a command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the papers, then the commands."""
        return [*KEYS, "data"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a paper, or `data`."""
        if cmd_name == "data":
            return data_command
        if cmd_name not in KEYS:
            return None
        return click.Command(
            cmd_name,
            callback=partial(paper_command.callback, cmd_name),
            params=paper_command.params[1:],
            help=paper_command.help,
            short_help=f"Rerun the experiments of {cmd_name}.",
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in self.list_commands(ctx):
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" The papers are: {', '.join(KEYS)}."
            ctx.fail(f"There is no paper '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=PaperGroup, context_settings={"help_option_names": ["-h", "--help"]})
def group() -> None:
    """Rerun the experiments of the five papers and compare with the printed values."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line of the papers.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments without the program's name.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    sys.exit(exit_code(partial(group.main, arguments, "papers", standalone_mode=False), arguments, debug=debug))


if __name__ == "__main__":
    main()
