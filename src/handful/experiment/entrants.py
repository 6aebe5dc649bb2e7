"""Who takes part in a race: methods, the plain ones they are held against, and their twins without unlabeled data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handful.core.registry import Card, Cost
from handful.experiment.trial import entry_name

FAVORITE = "team"


@dataclass(frozen=True)
class Entrant:
    """One who takes part in a race.

    Parameters
    ----------
    name : str
        Name in tables.
    method : str
        Name of the method.
    labels_only : bool
        Whether unlabeled data are kept from it.
    uses_unlabeled : bool
        Whether it learns from them.
    twin : str or None
        Name of the entrant that does the same from labels alone.
    ranked : bool
        False if it is there only as another's twin.
    plain : bool
        Whether it is a supervised method that others are held against.
    cost : {"instant", "quick", "fair", "slow"}
        What its card says about its time.
    favorite : bool
        Whether it is the best bet before anything is measured.
    candidate : bool
        Whether it may be recommended; a plain method that nobody named is only held against.
    """

    name: str
    method: str
    labels_only: bool = False
    uses_unlabeled: bool = False
    twin: str | None = None
    ranked: bool = True
    plain: bool = False
    cost: Cost = "quick"
    favorite: bool = False
    candidate: bool = True


def plain_methods(known: Mapping[str, Card]) -> list[str]:
    """Return the names of the supervised methods that others are held against."""
    return [name for name, card in known.items() if card.baseline and not card.uses_unlabeled]


def choose_entrants(
    known: Mapping[str, Card],
    chosen: Sequence[str] | None = None,
    favorite: str = FAVORITE,
    *,
    held_against: bool = True,
) -> tuple[Entrant, ...]:
    """Return those who take part, the cheapest first.

    Parameters
    ----------
    known : mapping of str to Card
        All methods that fit the data.
    chosen : sequence of str, optional
        Names of those that may be recommended; all by default.
    favorite : str
        The best bet before anything is measured.
    held_against : bool
        Whether plain methods take part in any case, for others to be held against.

    Returns
    -------
    tuple of Entrant
        The entrants; twins that are there only as such stand last.
    """
    plain = plain_methods(known)
    candidates = list(known if chosen is None else chosen)
    names = list(dict.fromkeys([*(plain if held_against else ()), *candidates]))
    entrants: dict[str, Entrant] = {}
    twins: dict[str, Entrant] = {}
    for name in sorted(names, key=lambda name: known[name].cost_rank):
        card = known[name]
        twin = None
        if card.uses_unlabeled:
            other = known.get(card.twin or "", card)
            alone = other.uses_unlabeled
            twin = entry_name(other.name, alone)
            twins[twin] = Entrant(twin, other.name, alone, ranked=False, cost=other.cost)
        entrants[name] = Entrant(
            name,
            name,
            uses_unlabeled=card.uses_unlabeled,
            twin=twin,
            plain=name in plain,
            cost=card.cost,
            favorite=name == favorite,
            candidate=name in candidates,
        )
    return (*entrants.values(), *(twin for name, twin in twins.items() if name not in entrants))
