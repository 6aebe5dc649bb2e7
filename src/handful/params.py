"""Legal values of parameters, declared once in the annotation and checked at fit.

A class writes ``n_neighbors: Annotated[int, AtLeast(1)] | Literal["cv"] = 1`` in its ``__init__``; `check_params` reads
the same annotation for the check and for the sentence that says what was expected.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from handful.errors import ParameterError


@dataclass(frozen=True)
class Range:
    """Bounds of a number, for use inside ``Annotated``.

    Parameters
    ----------
    low, high : float or None
        The bounds; None is no bound.
    open_low, open_high : bool
        Whether the bound itself is excluded.

    Examples
    --------
    >>> Range(0, 1, open_low=True).admits(0)
    False
    >>> Range(0, 1).words()
    'between 0 and 1'
    """

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def admits(self, value: float) -> bool:
        """Tell whether a number lies inside."""
        if self.low is not None and not (value > self.low or (value == self.low and not self.open_low)):
            return False
        return self.high is None or value < self.high or (value == self.high and not self.open_high)

    def words(self) -> str:
        """Tell the bounds in words."""
        if None not in (self.low, self.high) and not (self.open_low or self.open_high):
            return f"between {self.low:g} and {self.high:g}"
        bounds = (
            ("above" if self.open_low else "of at least", self.low),
            ("below" if self.open_high else "at most", self.high),
        )
        return " and ".join(f"{words} {bound:g}" for words, bound in bounds if bound is not None)


def AtLeast(low: float) -> Range:  # noqa: N802  (reads like a type in an annotation)
    """Return the range from `low` on."""
    return Range(low)


def Above(low: float) -> Range:  # noqa: N802
    """Return the range above `low`."""
    return Range(low, open_low=True)


Share = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Above(0)]
Count = Annotated[int, AtLeast(1)]
Jobs = Count | Literal[-1] | None


@lru_cache(maxsize=256)
def declared(cls: type) -> Mapping[str, Any]:
    """Return the annotation of every parameter of a class's ``__init__``.

    Examples
    --------
    >>> class Model:
    ...     def __init__(self, size: Count = 1): ...
    >>> list(declared(Model))
    ['size']
    """
    init: Callable[..., Any] = cls.__init__  # type: ignore[misc]
    if init is object.__init__:  # a class without parameters
        return {}
    hints = get_type_hints(init, include_extras=True)
    return {name: hints.get(name, Any) for name in signature(init).parameters if name != "self"}


def check_params(model: object) -> None:
    """Check every parameter of a model against its annotation.

    Parameters
    ----------
    model : object
        Anything whose ``__init__`` annotates parameters that it stores under their own names.

    Raises
    ------
    ParameterError
        On the first illegal value, in the form ``Who: what must hold, got what.``

    Examples
    --------
    >>> class Model:
    ...     def __init__(self, size: Count | None = None):
    ...         self.size = size
    >>> check_params(Model(3))
    >>> check_params(Model(0))
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: Model: size must be an integer of at least 1 or None, got 0.
    """
    cls: type = type(model)
    for name, annotation in declared(cls).items():
        check_value(cls.__name__, name, annotation, getattr(model, name))


def check_value(who: str, name: str, annotation: Any, value: Any) -> None:
    """Check one value against an annotation; see `check_params`.

    Examples
    --------
    >>> check_value("fit", "vote", Literal["uniform", "rank"], "unifrom")
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: fit: vote must be 'uniform' or 'rank', got 'unifrom'. Did you mean 'uniform'?
    """
    if admits(annotation, value):
        return
    message = f"{who}: {name} must be {describe(annotation)}, got {_shown(value)}."
    if isinstance(value, str):
        near = difflib.get_close_matches(value, [c for c in choices(annotation) if isinstance(c, str)], n=1)
        if near:
            message += f" Did you mean {near[0]!r}?"
    raise ParameterError(message)


def choices(annotation: Any) -> tuple[Any, ...]:
    """Return the literal values that an annotation names.

    Examples
    --------
    >>> choices(Literal["a", "b"] | None)
    ('a', 'b')
    """
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(c for part in get_args(annotation) for c in choices(part))
    return ()


def admits(annotation: Any, value: Any) -> bool:
    """Tell whether a value is legal under an annotation.

    Examples
    --------
    >>> admits(Annotated[float, Range(0, 1)], 0.5), admits(int, True)
    (True, False)
    """
    origin = get_origin(annotation)
    if origin is not None:
        return _admits_composed(origin, get_args(annotation), value)
    if annotation in _PLAIN:
        return _PLAIN[annotation](value)
    return isinstance(value, annotation) if isinstance(annotation, type) else True


def _admits_composed(origin: Any, parts: tuple[Any, ...], value: Any) -> bool:
    if origin is Annotated:
        kind, *bounds = parts
        return admits(kind, value) and all(b.admits(value) for b in bounds if isinstance(b, Range))
    if origin in (Union, types.UnionType):
        return any(admits(part, value) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int | bool | None) and value in parts
    return callable(value) if origin is Callable else isinstance(value, origin)


# What values of the plain types are; True is no number here, and no parameter is "not a number".
_PLAIN: dict[Any, Callable[[Any], bool]] = {
    Any: lambda value: True,
    object: lambda value: True,
    None: lambda value: value is None,
    type(None): lambda value: value is None,
    bool: lambda value: isinstance(value, bool) or type(value).__name__ == "bool",
    int: lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    float: lambda value: not isinstance(value, bool) and isinstance(value, Real) and value == value,
}


def describe(annotation: Any) -> str:
    """Tell in words what an annotation admits.

    Examples
    --------
    >>> describe(Annotated[int, AtLeast(1)] | Literal["cv"])
    "an integer of at least 1 or 'cv'"
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, *bounds = get_args(annotation)
        words = [b.words() for b in bounds if isinstance(b, Range)]
        return " ".join([describe(kind), *words])
    if origin is Literal:
        return _either([repr(c) for c in get_args(annotation)])
    if origin in (Union, types.UnionType):
        return _either([describe(part) for part in get_args(annotation)])
    kind = origin or annotation
    return _WORDS.get(kind, f"a {getattr(kind, '__name__', str(kind))}")


_WORDS: dict[Any, str] = {
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "a string",
    None: "None",
    type(None): "None",
    Callable: "a function",
}


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
