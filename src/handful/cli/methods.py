"""``handful methods``: the catalogue."""

from __future__ import annotations

import click

from handful.cli.console import console, emit_json


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(as_json: bool) -> None:
    """List the methods: name, what they take, what they learn from, where they come from.

    The last ones are scikit-learn's, which comparisons hold the others against; --json has the catalogue alone.
    """
    from handful.methods import cards
    from handful.methods.contenders import contenders

    found = list(cards())
    if as_json:
        emit_json(
            [
                {
                    "name": card.name,
                    "class": f"{card.cls.__module__.rsplit('.', 1)[0]}.{card.cls.__qualname__}",
                    "takes": card.takes,
                    "learns_from": card.learns_from,
                    "paper": card.paper,
                    "summary": card.summary,
                }
                for card in found
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "takes", "learns from", "paper", "what it does"):
        table.add_column(heading)
    for card in found:
        table.add_row(card.name, card.takes, ", ".join(card.learns_from), card.paper or "-", card.summary)
    for plain in (one for one in contenders().values() if one.baseline):
        learns_from = "labels, unlabeled" if plain.uses_unlabeled else "labels"
        table.add_row(plain.name, "table", learns_from, "-", plain.summary)
    console().print(table)
