"""``handful methods``: the catalogue."""

from __future__ import annotations

import click

from handful.cli.console import console, emit_json
from handful.cli.options import run_option


@click.command("methods")
@run_option("as_json")
def command(as_json: bool) -> None:
    """List the methods: name, what they take, what they learn from, where they come from."""
    from handful.methods import cards

    catalogue = list(cards())
    if as_json:
        emit_json(
            [
                {
                    "name": card.name,
                    "class": None if card.cls is None else f"{card.cls.__module__}.{card.cls.__qualname__}",
                    "takes": card.takes,
                    "learns_from": card.learns_from,
                    "twin": card.twin,
                    "paper": card.paper,
                    "cost": card.cost,
                    "baseline": card.baseline,
                    "tries": {name: list(values) for name, values in card.grid.items()},
                    "summary": card.summary,
                }
                for card in catalogue
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "takes", "learns from", "paper", "what it does"):
        table.add_column(heading)
    for card in catalogue:
        table.add_row(card.name, card.takes, ", ".join(card.learns_from), card.paper or "-", card.summary)
    console().print(table)
