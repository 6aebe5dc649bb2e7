"""What a model file may hold, declared once next to each class.

A class that can be saved says in ``STATE`` how each fitted attribute looks: its type, shape, range, and what it points
into. The same declaration checks a file that is read, a model that is saved, and guides the fuzzer.

Sizes have names. ``Array("i4", "n", below="k")`` is a vector with one code for each of n rows, each below k; where
another attribute is ``Names("k")``, k is the number of labels, and all attributes must agree about n and k.

Examples
--------
>>> state = {"classes_": Names("k"), "codes_": Array("i4", "n", below="k")}
>>> check_state("Model", state, {"classes_": np.array(["a", "b"]), "codes_": np.array([0, 1, 0], dtype=np.int32)})
>>> check_state("Model", state, {"classes_": np.array(["a", "b"]), "codes_": np.array([0, 2], dtype=np.int32)})
Traceback (most recent call last):
...
handful.errors.DataError: Model: codes_ must hold numbers below 2, got 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from handful.data.records import is_rising as is_rising
from handful.errors import DataError

_LIMIT = 2**53  # of integers that are sizes or counts
_DEPTH = 12
_PLAIN = (str, bool, int, float, type(None), np.generic)


@dataclass
class Sizes:
    """Sizes that have been seen, by name, and where."""

    known: dict[str, int] = field(default_factory=dict)
    due: list[tuple[str, str, int]] = field(default_factory=list)

    def see(self, where: str, size: str | int, actual: int) -> None:
        """Note that an axis or a number must be of a size: a name, a number, ``n+1``, or ``k*`` (1 if k is 2)."""
        name = str(size)
        if not name.endswith("?") and not name.startswith("_") and actual < 1:
            raise DataError(f"{where} must not be empty.")
        name = name.removesuffix("?")
        if name.isidentifier() and not name.startswith("_"):
            self.known.setdefault(name, actual)
        if not name.startswith("_"):
            self.due.append((where, name, actual))

    def value(self, name: str) -> int:
        """Return a size by what `see` takes."""
        if name.isdigit():
            return int(name)
        if "+" in name:
            first, _, second = name.partition("+")
            return self.value(first) + self.value(second)
        if name.endswith("*"):
            size = self.value(name[:-1])
            return 1 if size == 2 else size
        if "^" in name:
            first, _, power = name.partition("^")
            return int(self.value(first) ** int(power))
        return self.known[name]

    def settle(self) -> None:
        """Refuse sizes that disagree."""
        for _, name, actual in self.due:
            first, plus, more = name.partition("+")
            if plus and first.isidentifier() and more.isdigit():
                self.known.setdefault(first, actual - int(more))
        for where, name, actual in self.due:
            if self.value(name) != actual:
                raise DataError(f"{where} must be of size {self.value(name)}, got {actual}.")


class Kind:
    """How a stored value may look."""

    required = True

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value of another type or shape, and note its sizes."""
        raise NotImplementedError

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse numbers that are out of range; sizes are known by now."""


@dataclass(frozen=True)
class Array(Kind):
    """An array of numbers.

    Parameters
    ----------
    dtypes : str
        What numpy calls them, with spaces between: ``"f8"``, ``"i4 i8"``.
    *shape : str or int
        Name or size of each axis: ``"n"`` must agree wherever it is named and be 1 at least, ``"n?"`` may be 0, ``"_"``
        may be anything, ``"n+1"`` is one more, ``"k*"`` is 1 for two classes (as scikit-learn stores weights).
    low, high : float, optional
        Smallest and largest number.
    below : str, optional
        Name of the size that numbers stay below: what they point into.
    rising : bool
        Whether each number is above the one before.
    finite : bool
        Whether all numbers are finite.
    sparse : bool
        Whether a CSR matrix will do as well.
    """

    dtypes: str
    shape: tuple[str | int, ...]
    low: float | None = None
    high: float | None = None
    below: str | None = None
    rising: bool = False
    finite: bool = True
    sparse: bool = False

    def __init__(self, dtypes: str, *shape: str | int, **rules: Any) -> None:
        object.__setattr__(self, "dtypes", dtypes)
        object.__setattr__(self, "shape", shape)
        for name, rule in rules.items():
            if name not in type(self).__dataclass_fields__:
                raise TypeError(f"Array: there is no rule named {name!r}.")
            object.__setattr__(self, name, rule)
        if self.below is not None and self.low is None:
            object.__setattr__(self, "low", 0)

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        matrix = self.sparse and hasattr(value, "indptr")
        if not matrix and type(value) is not np.ndarray:
            raise DataError(f"{where} must be an array, got {_told(value)}.")
        if value.dtype not in [np.dtype(name) for name in self.dtypes.split()]:
            raise DataError(f"{where} must be an array of {self.dtypes.replace(' ', ' or ')}, got {value.dtype}.")
        if len(value.shape) != len(self.shape):
            raise DataError(f"{where} must have {len(self.shape)} dimensions, got shape {value.shape}.")
        for size, actual in zip(self.shape, value.shape, strict=True):
            sizes.see(where, size, actual)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        numbers = value.data if hasattr(value, "indptr") else value
        if not numbers.size or numbers.dtype == bool:
            return
        if numbers.dtype.kind == "f" and self.finite and not np.isfinite(numbers).all():
            raise DataError(f"{where} must hold finite numbers alone.")
        if self.low is not None and not (least := numbers.min()) >= self.low:
            raise DataError(f"{where} must hold numbers of at least {self.low:g}, got {least}.")
        if self.high is not None and not (most := numbers.max()) <= self.high:
            raise DataError(f"{where} must hold numbers of at most {self.high:g}, got {most}.")
        if self.below is not None and not (most := numbers.max()) < (limit := sizes.value(self.below)):
            raise DataError(f"{where} must hold numbers below {limit}, got {most}.")
        if self.rising and not is_rising(numbers):
            raise DataError(f"{where} must hold rising numbers.")


@dataclass(frozen=True)
class Names(Kind):
    """A vector of labels, names or texts: strings, numbers, or a mixture of both."""

    size: str
    only_text: bool = False
    least: int = 0

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if (
            type(value) is not np.ndarray
            or value.ndim != 1
            or value.dtype.kind not in ("U" if self.only_text else "UOiufb")
        ):
            raise DataError(f"{where} must be a vector of labels, got {_told(value)}.")
        if value.dtype == object and not all(isinstance(item, _PLAIN) for item in value):
            raise DataError(f"{where} must hold plain labels alone.")
        if len(value) < self.least:
            raise DataError(f"{where} must hold {self.least} labels at least, got {len(value)}.")
        sizes.see(where, self.size, len(value))


@dataclass(frozen=True)
class Number(Kind):
    """A number, which may be a size.

    Parameters
    ----------
    kind : type
        int or float; whole numbers are floats as well.
    low, high : float, optional
        Smallest and largest.
    size : str, optional
        Name of the size that it is.
    below : str, optional
        Name of the size that it stays below.
    finite : bool
        Whether it is finite.
    """

    kind: type
    low: float | None = None
    high: float | None = None
    size: str | None = None
    below: str | None = None
    finite: bool = True

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        wanted: Any = Integral if self.kind is int else Real
        if not isinstance(value, wanted) or isinstance(value, bool | np.bool_):
            raise DataError(f"{where} must be {'an integer' if self.kind is int else 'a number'}, got {_told(value)}.")
        if self.finite and not abs(value) <= (_LIMIT if self.kind is int else np.finfo(float).max):
            raise DataError(f"{where} must be a finite number, got {_told(value)}.")
        if self.low is not None and not value >= self.low:
            raise DataError(f"{where} must be at least {self.low:g}, got {_told(value)}.")
        if self.high is not None and not value <= self.high:
            raise DataError(f"{where} must be at most {self.high:g}, got {_told(value)}.")
        if self.size is not None:
            sizes.see(where, self.size, int(value))

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        if self.below is not None and not 0 <= value < sizes.value(self.below):
            raise DataError(f"{where} must be below {sizes.value(self.below)}, got {_told(value)}.")


@dataclass(frozen=True)
class Flag(Kind):
    """True or False, or one of them alone."""

    only: bool | None = None

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, bool | np.bool_):
            raise DataError(f"{where} must be True or False, got {_told(value)}.")
        if self.only is not None and value != self.only:
            raise DataError(f"{where} must be {self.only}.")


@dataclass(frozen=True)
class Text(Kind):
    """A string, or one of a few."""

    choices: tuple[str, ...] = ()

    def __init__(self, *choices: str) -> None:
        object.__setattr__(self, "choices", choices)

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, str):
            raise DataError(f"{where} must be a string, got {_told(value)}.")
        if self.choices and value not in self.choices:
            raise DataError(f"{where} must be one of {', '.join(map(repr, self.choices))}, got {_told(value)}.")


@dataclass(frozen=True)
class Symbol(Kind):
    """A string, a number, True, False or None: a value of a nominal column."""

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, _PLAIN):
            raise DataError(f"{where} must hold strings and numbers alone, got {_told(value)}.")


@dataclass(frozen=True)
class Plain(Kind):
    """Strings, numbers, None and arrays of them, in lists and dictionaries: what is only shown, or checked by its user."""

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not _is_plain(value, _DEPTH):
            raise DataError(f"{where} must hold strings, numbers, lists and dictionaries alone.")


@dataclass(frozen=True)
class Maybe(Kind):
    """None, or something."""

    kind: Kind

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if value is not None:
            self.kind.form(where, value, sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        if value is not None:
            self.kind.content(where, value, sizes)


@dataclass(frozen=True)
class IfThere(Maybe):
    """An attribute that some models lack: those of earlier versions, or of other settings."""

    required = False


@dataclass(frozen=True)
class ListOf(Kind):
    """A list, of as many things as a size says."""

    kind: Kind
    size: str = "_"

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, list | tuple):
            raise DataError(f"{where} must be a list, got {_told(value)}.")
        sizes.see(where, self.size, len(value))
        for item in value:
            self.kind.form(where, item, sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        for item in value:
            self.kind.content(where, item, sizes)


@dataclass(frozen=True)
class Pair(Kind):
    """Two things that belong together."""

    first: Kind
    second: Kind

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise DataError(f"{where} must be a pair, got {_told(value)}.")
        self.first.form(where, value[0], sizes)
        self.second.form(where, value[1], sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        self.first.content(where, value[0], sizes)
        self.second.content(where, value[1], sizes)


@dataclass(frozen=True)
class DictOf(Kind):
    """A dictionary from strings to things of one kind."""

    kind: Kind
    size: str = "_"

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise DataError(f"{where} must be a dictionary with names, got {_told(value)}.")
        sizes.see(where, self.size, len(value))
        for item in value.values():
            self.kind.form(where, item, sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        for item in value.values():
            self.kind.content(where, item, sizes)


@dataclass(frozen=True)
class Record(Kind):
    """A dictionary with names that are known. Its sizes are its own, but for those that are `shared`."""

    fields: Mapping[str, Kind]
    shared: tuple[str, ...] = ()

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        if not isinstance(value, dict):
            raise DataError(f"{where} must be a dictionary, got {_told(value)}.")
        if unknown := value.keys() - self.fields.keys():
            raise DataError(f"{where} must have no {_told(next(iter(unknown)))}.")
        own = check_form(where, self.fields, value)
        for name in self.shared:
            sizes.see(f"{where}: {name}", name, own.known[name])
        check_content(where, self.fields, value, own)


@dataclass(frozen=True)
class Either(Kind):
    """One of several kinds: the first whose form fits."""

    kinds: tuple[Kind, ...] = ()

    def __init__(self, *kinds: Kind) -> None:
        object.__setattr__(self, "kinds", kinds)

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        self._fitting(where, value).form(where, value, sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.content`."""
        self._fitting(where, value).content(where, value, sizes)

    def _fitting(self, where: str, value: Any) -> Kind:
        for kind in self.kinds[:-1]:
            try:
                kind.form(where, value, Sizes())
            except DataError:
                continue
            return kind
        return self.kinds[-1]


@dataclass(frozen=True)
class Model(Kind):
    """A fitted model that can be asked.

    Parameters
    ----------
    *kinds : str
        Names of its class, one of them; any model if none is given.
    can : tuple of str
        Methods it must have.
    """

    kinds: tuple[str, ...] = ()
    can: tuple[str, ...] = ("predict",)

    def __init__(self, *kinds: str, can: tuple[str, ...] = ("predict",)) -> None:
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "can", can)

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """See `Kind.form`."""
        family = {base.__name__ for base in type(value).__mro__}
        if isinstance(value, type) or not all(callable(getattr(type(value), name, None)) for name in self.can):
            raise DataError(f"{where} must be a model, got {_told(value)}.")
        if self.kinds and not family & set(self.kinds):
            raise DataError(f"{where} must be a {' or '.join(self.kinds)}, got {_told(value)}.")
        fitted = getattr(value, "__sklearn_is_fitted__", None)
        if not (fitted() if callable(fitted) else is_fitted(vars(value))):
            raise DataError(f"{where} must be a fitted model.")


def stored(**attributes: Kind) -> Mapping[str, Kind]:
    """Declare attributes by their names: ``STATE = stored(classes_=Names("k"))``."""
    return attributes


def check_state(who: str, declared: Mapping[str, Kind], state: Mapping[str, Any]) -> None:
    """Refuse a state that breaks its declaration.

    Parameters
    ----------
    who : str
        Name of the class, for the message.
    declared : mapping of str to Kind
        How each attribute looks.
    state : mapping of str to value
        The attributes; others than those declared are no business of this function.

    Raises
    ------
    DataError
        On the first attribute that is missing or wrong.
    """
    check_content(who, declared, state, check_form(who, declared, state))


def check_form(who: str, declared: Mapping[str, Kind], state: Mapping[str, Any]) -> Sizes:
    """Check types and shapes, and return the sizes; see `check_state`."""
    sizes = Sizes()
    for name, kind in declared.items():
        if name in state:
            kind.form(f"{who}: {name}", state[name], sizes)
        elif kind.required:
            raise DataError(f"{who}: {name} is missing.")
    sizes.settle()
    return sizes


def check_content(who: str, declared: Mapping[str, Kind], state: Mapping[str, Any], sizes: Sizes) -> None:
    """Check numbers against sizes; see `check_state`."""
    for name, kind in declared.items():
        if name in state:
            kind.content(f"{who}: {name}", state[name], sizes)


def check_member(who: str, model: Any, n_columns: int, n_classes: int) -> None:
    """Refuse a model inside another one that is for other columns, or whose classes are no positions in its labels.

    Parameters
    ----------
    who : str
        Name of the outer class, for the message.
    model : estimator
        The inner model.
    n_columns, n_classes : int
        Columns that it gets, and labels of the outer model.
    """
    classes = np.asarray(model.classes_)
    if getattr(model, "n_features_in_", n_columns) != n_columns:
        raise DataError(f"{who}: its {type(model).__name__} must take {n_columns} columns.")
    fine = classes.ndim == 1 and classes.dtype.kind in "iu" and len(classes) and is_rising(classes)
    if not fine or not 0 <= classes[0] <= classes[-1] < n_classes:
        raise DataError(
            f"{who}: the classes of its {type(model).__name__} must be positions in its {n_classes} labels."
        )


def is_fitted(state: Mapping[str, Any]) -> bool:
    """Tell whether attributes are those of a fitted model.

    Examples
    --------
    >>> is_fitted({"C": 1.0}), is_fitted({"C": 1.0, "coef_": np.zeros(2)})
    (False, True)
    """
    return any(name.endswith("_") and not name.startswith("_") for name in state)


def suggested(value: Any) -> str:
    """Return the declaration that a value looks like, to be copied into ``STATE``.

    Examples
    --------
    >>> suggested(np.zeros((3, 2))), suggested(4)
    ("Array('f8', 'n', 'm')", 'Number(int, low=0)')
    """
    if hasattr(value, "indptr") or (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        axes = ", ".join(repr(name) for name in ("n", "m", "l")[: len(value.shape)])
        return f"Array({value.dtype.str[1:]!r}, {axes}{', sparse=True' if hasattr(value, 'indptr') else ''})"
    if isinstance(value, np.ndarray):
        return "Names('n')"
    if value is None:
        return "Maybe(...)"
    if isinstance(value, bool):
        return "Flag()"
    if isinstance(value, Real):
        return "Number(int, low=0)" if isinstance(value, Integral) else "Number(float)"
    if isinstance(value, str):
        return "Text()"
    if hasattr(value, "predict"):
        return f"Model({type(value).__name__!r})"
    if isinstance(value, Mapping):
        return f"Record({{{', '.join(f'{str(key)!r}: {suggested(item)}' for key, item in list(value.items())[:8])}}})"
    return f"ListOf({suggested(value[0])})" if isinstance(value, list | tuple) and value else "Plain()"


def _is_plain(value: Any, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, Mapping):
        return all(_is_plain(key, depth - 1) and _is_plain(item, depth - 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(item, depth - 1) for item in value)
    return isinstance(value, _PLAIN) or (isinstance(value, np.ndarray) and value.dtype.kind in "biufU")


def _told(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    text = repr(value) if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
