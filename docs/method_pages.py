"""Pages of methods for the manual, made from their cards."""

from __future__ import annotations

import inspect
from pathlib import Path

from handful.registry import Card, cards

KINDS = {
    "table": "Tables and texts",
    "sentences": "Sentences",
    "trees": "Trees",
    "text": "Raw text",
    "occurrences": "Word senses",
}
COSTS = {
    "instant": "Takes an instant",
    "quick": "Quick",
    "fair": "Takes its time",
    "slow": "Slow; tried only where it fits the time",
}


def write_method_pages(folder: Path) -> None:
    """Write one page for each kind of data, with what the card of every method says.

    Parameters
    ----------
    folder : Path
        Where the pages go.
    """
    folder.mkdir(exist_ok=True)
    for kind, title in KINDS.items():
        parts = [f"# {title}: methods\n", "Made from the cards of the catalogue; `handful methods` lists them.\n"]
        parts += [_section(card) for card in cards(kind)]  # type: ignore[arg-type]
        text = "\n".join(parts)
        page = folder / f"{kind}.md"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def _section(card: Card) -> str:
    lines = [f"## {card.name}\n", f"{card.summary}\n", _use_of(card)]
    facts = [f"* Learns from: {', '.join(card.learns_from)}."]
    if card.uses_unlabeled:
        facts.append(f"* Held against: {card.twin or 'itself, without the unlabeled data'}.")
    if card.grid:
        tried = "; ".join(f"`{name}` {', '.join(map(str, values))}" for name, values in card.grid.items())
        facts.append(f"* Values that are tried: {tried}.")
    if card.takes == "table":
        facts.append(f"* {COSTS[card.cost]}, compared to the others.")
    if card.paper:
        facts.append(f"* Paper: {card.paper} (see [the papers](../papers.md)).")
    if card.cls is not None and card.cls.__module__.startswith("handful"):
        facts.append(f"* Class: `{card.cls.__module__}.{card.cls.__qualname__}`.")
    return "\n".join([*lines, *facts, ""])


def _use_of(card: Card) -> str:
    """Return the paragraph of the docstring that tells when to use a method."""
    paragraphs = (inspect.getdoc(card.cls) or "").split("\n\n") if card.cls is not None else []
    use = next((p for p in paragraphs if p.startswith("Use it")), "")
    return use.replace("\n", " ") + "\n" if use else ""
