"""The card of a method: all that comparisons, the command line and model files need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar

from handful.core.params import admits, declared

Takes = Literal["table", "sentences", "trees", "occurrences", "text", "model"]
Paper = Literal["sogaard2011", "liu2013", "suzuki2011", "su2004", "haghighi2006"]
Supervision = Literal["labels", "unlabeled", "prototypes"]
Cost = Literal["instant", "quick", "fair", "slow"]
View = Literal["words", "lsa", "vectors"]
Resource = Literal["raw text", "clusters", "prototypes"]

COSTS: tuple[Cost, ...] = ("instant", "quick", "fair", "slow")
"""What one fit costs, from the cheapest on; comparisons try methods in this order."""

# Values worth trying for a parameter of this name, whichever method of tables has it.
_WORTH_TRYING: dict[str, tuple[Any, ...]] = {"n_neighbors": (1, 3, 5), "kernel": ("rbf",), "n_components": (10,)}

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class Card:
    """What the catalogue knows of a method.

    Parameters
    ----------
    name : str
        Name on the command line, in reports and in model files.
    takes : str
        What it is fitted on: a table, sentences, trees, occurrences of words, raw text, or another model.
    cls : type or None
        Class of the fitted model in model files; None where a recipe puts other methods together, or where the class is
        scikit-learn's.
    learns_from : tuple of str
        Which supervision it can use.
    twin : str or None
        Name of the method that does the same from labels alone, for honest comparison; None is itself, without the
        unlabeled data.
    paper : str or None
        Key of the paper that describes it.
    summary : str
        One sentence; the first line of the class's docstring by default.
    grid : mapping of str to tuple
        Values of parameters that are worth trying, the usual one first.
    cost : {"instant", "quick", "fair", "slow"}
        What a fit costs, compared to others.
    baseline : bool
        Whether it is one of the plain methods that others are held against.
    views : tuple of str
        For tables: as what text columns may come to it, the usual one first (see `handful.methods.table_model`).
    unit_rows : bool
        For occurrences: whether rows of features are divided by their length.
    resources : tuple of str
        For taggers: what it needs beside tagged sentences.
    build : callable or None
        For tables and occurrences, ``build(n_features, seed, params)`` returns a new estimator.
    train : callable or None
        For taggers, ``train(setup, sentences, tags, unlabeled)`` returns a fitted tagger; ``setup`` is a
        `handful.tagging.recipes.TaggerSetup`.

    Examples
    --------
    >>> card = Card("example", "table", learns_from=("labels", "unlabeled"), cost="quick")
    >>> card.uses_unlabeled, card.cost_rank
    (True, 1)
    """

    name: str
    takes: Takes
    cls: type | None = None
    learns_from: tuple[Supervision, ...] = ("labels",)
    twin: str | None = None
    paper: Paper | None = None
    summary: str = ""
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    cost: Cost = "fair"
    baseline: bool = False
    views: tuple[View, ...] = ("words", "lsa", "vectors")
    unit_rows: bool = False
    resources: tuple[Resource, ...] = ()
    build: Callable[[int, int, Mapping[str, Any]], Any] | None = None
    train: Callable[[Any, Any, Any, Any], Any] | None = None

    @property
    def uses_unlabeled(self) -> bool:
        """Whether it learns from unlabeled data."""
        return "unlabeled" in self.learns_from

    @property
    def cost_rank(self) -> int:
        """Place of its cost among `COSTS`."""
        return COSTS.index(self.cost)

    @property
    def usual(self) -> dict[str, Any]:
        """The usual value of every parameter in the grid."""
        return {name: values[0] for name, values in self.grid.items()}

    def make(self, n_features: int, seed: int = 0, params: Mapping[str, Any] | None = None) -> Any:
        """Return a new estimator for rows of so many columns."""
        if self.build is None:
            raise TypeError(f"{self.name} is not made for rows; it takes {self.takes}.")
        return self.build(n_features, seed, dict(params or {}))


_CARDS: dict[tuple[str, str], Card] = {}


def add_card(card: Card) -> Card:
    """Register a card; methods of one kind have different names.

    Parameters
    ----------
    card : Card
        The card.

    Returns
    -------
    Card
        The same.
    """
    known = _CARDS.get((card.takes, card.name))
    if known is not None and _home(known) != _home(card):
        raise ValueError(f"registry: the name {card.name!r} is taken by {'.'.join(_home(known))}.")
    _CARDS[card.takes, card.name] = card
    return card


def method(name: str, *, takes: Takes, **facts: Any) -> Callable[[Class], Class]:
    """Register a class as a method of the house.

    Parameters
    ----------
    name, takes, **facts
        See `Card`. For a table method the grid holds, by default, values worth trying of well-known parameters that it
        has, and `build` calls the class.

    Returns
    -------
    decorator
        Returns the class as it is, with its card registered.

    Examples
    --------
    >>> @method("example-method", takes="table")
    ... class Example:
    ...     '''Do nothing, as an example.'''
    >>> card_of(Example).summary
    'Do nothing, as an example.'
    >>> forget("example-method")
    """

    def register(cls: Class) -> Class:
        card = Card(name, takes, cls, **{"summary": _first_line(cls), **facts})
        if takes == "table":
            card = replace(card, build=card.build or _builder(cls), grid=card.grid or _grid(cls))
        add_card(card)
        return cls

    return register


def card_of(cls: type) -> Card | None:
    """Return the card of exactly this class, or None if it is no method."""
    return next((card for card in _CARDS.values() if card.cls is cls), None)


def name_of(model: Any) -> str:
    """Return the name of the method of a model, or of its class if it is none."""
    card = card_of(type(model))
    return str(getattr(model, "method_name", card.name if card else type(model).__name__))


def card_named(name: str, takes: Takes | None = None) -> Card | None:
    """Return the card of a name whose module has been imported, or None."""
    return next((card for card in _CARDS.values() if card.name == name and takes in (None, card.takes)), None)


def forget(name: str) -> None:
    """Take a name out again; for classes that live as long as a test."""
    for key in [key for key in _CARDS if key[1] == name]:
        del _CARDS[key]


def _home(card: Card) -> tuple[str, str]:
    made = card.cls or card.build or card.train
    return (getattr(made, "__module__", "?"), getattr(made, "__qualname__", card.name))


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0].strip()


def _grid(cls: type) -> dict[str, tuple[Any, ...]]:
    parameters, annotations = signature(cls).parameters, declared(cls)
    grid = {}
    for name, values in _WORTH_TRYING.items():
        if name in parameters:
            usual = parameters[name].default
            grid[name] = (usual, *(v for v in values if v != usual and admits(annotations[name], v)))
    return grid


def _builder(cls: type) -> Callable[[int, int, Mapping[str, Any]], Any]:
    def build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        settings = dict(params)
        parameter = signature(cls).parameters.get("random_state")
        if parameter is not None and parameter.kind is not Parameter.VAR_KEYWORD:
            settings.setdefault("random_state", seed)
        return cls(**settings)

    build.__qualname__, build.__module__ = cls.__qualname__, cls.__module__
    return build
