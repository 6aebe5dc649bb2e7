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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from handful.data.records import is_rising as is_rising
from handful.errors import DataError

_LIMIT = 2**53  # of integers that are sizes or counts
_DEPTH = 12
_PLAIN = (str, bool, int, float, type(None), np.generic)


class Sizes:
    """Sizes by name, and where each must be kept to."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._due: list[tuple[str, str, int]] = []

    def see(self, where: str, size: str | int, actual: int) -> None:
        """Note that an axis or a number must be of a size: a name, a number, ``n+1``, or ``k*`` (1 if k is 2)."""
        name = str(size)
        if not name.endswith("?") and not name.startswith("_") and actual < 1:
            raise DataError(f"{where} must not be empty.")
        name = name.removesuffix("?")
        if name.startswith("_"):
            return
        if name.isidentifier():
            self.known.setdefault(name, actual)
        self._due.append((where, name, actual))

    def value(self, name: str) -> int:
        """Return a size by what `see` takes, or a power such as ``k^2``."""
        if name.isdigit():
            return int(name)
        if name.endswith("*"):
            size = self.value(name[:-1])
            return 1 if size == 2 else size
        first, sign, second = name.partition("+") if "+" in name else name.partition("^")
        if not sign:
            return self.known[name]
        return self.value(first) + int(second) if sign == "+" else int(self.value(first) ** int(second))

    def settle(self) -> None:
        """Refuse sizes that disagree."""
        for _, name, actual in self._due:
            first, plus, more = name.partition("+")
            if plus:
                self.known.setdefault(first, actual - int(more))
        for where, name, actual in self._due:
            if self.value(name) != actual:
                raise DataError(f"{where} must be of size {self.value(name)}, got {actual}.")


def _require(fine: Any, where: str, what: str, value: Any) -> None:
    if not fine:
        raise DataError(f"{where} must be {what}, got {_shown(value)}.")


class Kind:
    """How a stored value may look."""

    required = True

    def form(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value of another type or shape, and note its sizes."""
        self._check(where, value, sizes)
        for kind, part in self._parts(value):
            kind.form(where, part, sizes)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse numbers that are out of range; sizes are known by now."""
        for kind, part in self._parts(value):
            kind.content(where, part, sizes)

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value of another type or shape, without its parts."""

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        """Return what a value consists of, and how that may look."""
        return ()


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

    def __init__(
        self,
        dtypes: str,
        *shape: str | int,
        low: float | None = None,
        high: float | None = None,
        below: str | None = None,
        rising: bool = False,
        finite: bool = True,
        sparse: bool = False,
    ) -> None:
        self.dtypes, self.shape = dtypes.split(), shape
        self.low = 0 if below is not None and low is None else low
        self.high, self.below, self.rising, self.finite, self.sparse = high, below, rising, finite, sparse

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        matrix = self.sparse and hasattr(value, "indptr")
        _require(matrix or type(value) is np.ndarray, where, "an array", value)
        if value.dtype not in [np.dtype(name) for name in self.dtypes]:
            raise DataError(f"{where} must be an array of {' or '.join(self.dtypes)}, got {value.dtype}.")
        if len(value.shape) != len(self.shape):
            raise DataError(f"{where} must have {len(self.shape)} dimensions, got shape {value.shape}.")
        for size, actual in zip(self.shape, value.shape, strict=True):
            sizes.see(where, size, actual)

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse numbers that are out of range."""
        numbers = value.data if hasattr(value, "indptr") else value
        if not numbers.size or numbers.dtype == bool:
            return
        if numbers.dtype.kind == "f" and self.finite and not np.isfinite(numbers).all():
            raise DataError(f"{where} must hold finite numbers alone.")
        least, most = numbers.min(), numbers.max()
        if self.low is not None and not least >= self.low:
            raise DataError(f"{where} must hold numbers of at least {self.low:g}, got {least}.")
        if self.high is not None and not most <= self.high:
            raise DataError(f"{where} must hold numbers of at most {self.high:g}, got {most}.")
        if self.below is not None and not most < sizes.value(self.below):
            raise DataError(f"{where} must hold numbers below {sizes.value(self.below)}, got {most}.")
        if self.rising and not is_rising(numbers):
            raise DataError(f"{where} must hold rising numbers.")


@dataclass(frozen=True)
class Names(Kind):
    """A vector of labels, names or texts: strings, numbers, or a mixture of both."""

    size: str
    only_text: bool = False
    least: int = 0

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        kinds = "U" if self.only_text else "UOiufb"
        fine = type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in kinds
        _require(fine, where, "a vector of labels", value)
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

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        is_int = self.kind is int
        fine = isinstance(value, Integral if is_int else Real) and not isinstance(value, bool | np.bool_)
        _require(fine, where, "an integer" if is_int else "a number", value)
        limit = _LIMIT if is_int else np.finfo(float).max
        _require(not self.finite or abs(value) <= limit, where, "a finite number", value)
        _require(self.low is None or value >= self.low, where, f"at least {self.low}", value)
        _require(self.high is None or value <= self.high, where, f"at most {self.high}", value)
        if self.size is not None:
            sizes.see(where, self.size, int(value))

    def content(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a number that is not below its size."""
        if self.below is not None:
            limit = sizes.value(self.below)
            _require(0 <= value < limit, where, f"below {limit}", value)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False, or one of them alone."""

    only: bool | None = None

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, bool | np.bool_), where, "True or False", value)
        _require(self.only is None or value == self.only, where, str(self.only), value)


class Text(Kind):
    """A string, or one of a few."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, str), where, "a string", value)
        fine = not self.choices or value in self.choices
        _require(fine, where, f"one of {', '.join(map(repr, self.choices))}", value)


class Symbol(Kind):
    """A string, a number, True, False or None: a value of a categorical column."""

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, _PLAIN), where, "a string or a number", value)


class Plain(Kind):
    """Strings, numbers, None and arrays of them, in lists and dictionaries: what is only shown, or checked by its user."""

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        if not _is_plain(value, _DEPTH):
            raise DataError(f"{where} must hold strings, numbers, lists and dictionaries alone.")


class Training(Plain):
    """How a model of tables was trained, by name; estimates are dictionaries with a value."""

    _ESTIMATES = ("estimate", "estimate_alone", "model_estimate", "fidelity")
    _NUMBERS = ("value", "low", "high", "n")

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        super()._check(where, value, sizes)
        _require(isinstance(value, dict), where, "a dictionary", value)
        for name in self._ESTIMATES:
            estimate = value.get(name)
            if estimate is None:
                continue
            _require(isinstance(estimate, dict), f"{where}: {name}", "a dictionary", estimate)
            numbers = [estimate.get("value"), *(estimate[key] for key in self._NUMBERS if key in estimate)]
            _require(all(isinstance(number, Real) for number in numbers), f"{where}: {name}", "numbers", estimate)


@dataclass(frozen=True)
class Maybe(Kind):
    """None, or something."""

    kind: Kind

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        return () if value is None else [(self.kind, value)]


class IfThere(Maybe):
    """An attribute that some models lack: those of earlier versions, or of other settings."""

    required = False


@dataclass(frozen=True)
class ListOf(Kind):
    """A list, of as many things as a size says."""

    kind: Kind
    size: str = "_"

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, list | tuple), where, "a list", value)
        sizes.see(where, self.size, len(value))

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        return ((self.kind, item) for item in value)


@dataclass(frozen=True)
class Pair(Kind):
    """Two things that belong together."""

    first: Kind
    second: Kind

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, list | tuple) and len(value) == 2, where, "a pair", value)

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        return zip((self.first, self.second), value, strict=True)


@dataclass(frozen=True)
class DictOf(Kind):
    """A dictionary from strings to things of one kind."""

    kind: Kind
    size: str = "_"

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        fine = isinstance(value, dict) and all(isinstance(key, str) for key in value)
        _require(fine, where, "a dictionary with names", value)
        sizes.see(where, self.size, len(value))

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        return ((self.kind, item) for item in value.values())


@dataclass(frozen=True)
class Record(Kind):
    """A dictionary with known names. It has separate sizes, except for those that are `shared`."""

    fields: Mapping[str, Kind]
    shared: tuple[str, ...] = ()

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        _require(isinstance(value, dict), where, "a dictionary", value)
        if unknown := value.keys() - self.fields.keys():
            raise DataError(f"{where} must have no {_shown(next(iter(unknown)))}.")
        own = check_form(where, self.fields, value)
        for name in self.shared:
            sizes.see(f"{where}: {name}", name, own.known[name])
        check_content(where, self.fields, value, own)


class Either(Kind):
    """One of several kinds: the first whose form fits."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds

    def _parts(self, value: Any) -> Iterable[tuple[Kind, Any]]:
        for kind in self.kinds[:-1]:
            try:
                kind.form("", value, Sizes())
            except DataError:
                continue
            return [(kind, value)]
        return [(self.kinds[-1], value)]


class Model(Kind):
    """A fitted model.

    Parameters
    ----------
    *kinds : str
        Names of its class, one of them; any model if there is none.
    can : tuple of str
        Methods it must have.
    """

    def __init__(self, *kinds: str, can: tuple[str, ...] = ("predict",)) -> None:
        self.kinds, self.can = kinds, can

    def _check(self, where: str, value: Any, sizes: Sizes) -> None:
        family = {base.__name__ for base in type(value).__mro__}
        has_methods = all(callable(getattr(type(value), name, None)) for name in self.can)
        _require(has_methods and not isinstance(value, type), where, "a model", value)
        _require(not self.kinds or family & set(self.kinds), where, f"a {' or '.join(self.kinds)}", value)
        fitted = getattr(value, "__sklearn_is_fitted__", None)
        _require(fitted() if callable(fitted) else is_fitted(vars(value)), where, "a fitted model", value)


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


def _is_plain(value: Any, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, Mapping):
        return all(_is_plain(key, depth - 1) and _is_plain(item, depth - 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(item, depth - 1) for item in value)
    return isinstance(value, _PLAIN) or (isinstance(value, np.ndarray) and value.dtype.kind in "biufU")


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    text = repr(value) if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
