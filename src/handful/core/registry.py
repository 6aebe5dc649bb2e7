"""The card of a method: what it is called, where it comes from, what it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

Takes = Literal["table", "sentences", "trees", "contexts", "text", "model"]
Paper = Literal["sogaard2011", "liu2013", "suzuki2011", "su2004", "haghighi2006"]
Supervision = Literal["labels", "unlabeled", "prototypes"]

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class Card:
    """What the catalogue knows of a method.

    Parameters
    ----------
    name : str
        Name on the command line and in model files.
    cls : type
        The class.
    paper : str or None
        Key of the paper that describes it.
    takes : str
        What it is fitted on: a table, sentences, trees, contexts of a word, raw text, or another model.
    learns_from : tuple of str
        Which supervision it can use.
    twin : str or None
        Name of the method that does the same from labels alone, for honest comparison.
    """

    name: str
    cls: type
    paper: Paper | None
    takes: Takes
    learns_from: tuple[Supervision, ...]
    twin: str | None = None

    @property
    def summary(self) -> str:
        """One sentence: the first line of the class's docstring."""
        return (self.cls.__doc__ or "").strip().splitlines()[0].strip()


_CARDS: dict[str, Card] = {}


def method(
    name: str,
    *,
    paper: Paper | None,
    takes: Takes,
    learns_from: tuple[Supervision, ...] = ("labels",),
    twin: str | None = None,
) -> Callable[[Class], Class]:
    """Register a class as a method of the house.

    Parameters
    ----------
    name, paper, takes, learns_from, twin
        See `Card`.

    Returns
    -------
    decorator
        Returns the class as it is, with its card registered.

    Examples
    --------
    >>> @method("example-method", paper=None, takes="table")
    ... class Example:
    ...     '''Do nothing, as an example.'''
    >>> card_of(Example).summary
    'Do nothing, as an example.'
    >>> forget("example-method")
    """

    def register(cls: Class) -> Class:
        known = _CARDS.get(name)
        if known is not None and (known.cls.__module__, known.cls.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"registry: the name {name!r} is taken by {known.cls.__qualname__}.")
        _CARDS[name] = Card(name, cls, paper, takes, learns_from, twin)
        return cls

    return register


def card_of(cls: type) -> Card | None:
    """Return the card of exactly this class, or None if it is no method."""
    return next((card for card in _CARDS.values() if card.cls is cls), None)


def card_named(name: str) -> Card | None:
    """Return the card of a name whose module has been imported, or None."""
    return _CARDS.get(name)


def forget(name: str) -> None:
    """Take a name out again; for classes that live as long as a test."""
    _CARDS.pop(name, None)
