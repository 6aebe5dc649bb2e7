"""Hostile changes of stored models, made from the declarations of their classes."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from handful.persistence.model_file import StateEncoder
from handful.persistence.schema import Array, DictOf, Either, Kind, ListOf, Maybe, Number, Record, Text
from handful.persistence.sklearn_models import ESTIMATORS
from handful.registry import find_class, spec_of

_NAMES = ("predict", "predict_proba", "fit", "__class__", "_check_state", "save", "x_", "classes_", "n_jobs", "")
_EDGES = (-1, 0, 1, 2, 7, -(2**31), 2**31 - 1, 2**31, -(2**63), 2**63 - 1, 2**62, 10**30)
_ODD_FLOATS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-308, 5e-324, 0.0, -0.0, 1e16)
_TYPES = ("i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "b1")

Path = tuple[Any, ...]
Place = tuple[Path, Any, Kind | None]  # the way to what holds a value, its key there, and how it is declared


class Subject:
    """A fitted model as it stands in a file: JSON and arrays, ready to be changed."""

    def __init__(self, model: Any) -> None:
        encoder = StateEncoder()
        self.kind = spec_of(type(model)).name if spec_of(type(model)) is not None else "feature-counts"
        self.state = encoder.encode_state(model._state())
        self.arrays = encoder.arrays
        self._text = json.dumps(self.state)
        self._places = list(places(self.state, declared_of(self.kind), ()))

    def changed(self, rng: random.Random) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return a copy with one or a few values changed."""
        state, arrays = json.loads(self._text), dict(self.arrays)
        chosen = rng.sample(self._places, min(rng.choice((1, 1, 1, 2, 3)), len(self._places)))

        def another() -> Any:
            path, key, _ = rng.choice(self._places)
            return holder_in(state, path)[key]

        for holder, key, kind in [(holder_in(state, path), key, kind) for path, key, kind in chosen]:
            try:
                press(holder, key, kind, arrays, another, rng)
            except (OverflowError, ValueError, TypeError, LookupError):
                continue  # a change that cannot be written down
        return state, arrays


def holder_in(state: dict[str, Any], path: Path) -> Any:
    """Return what a way through a state leads to."""
    holder: Any = state
    for key in path:
        holder = holder[key]
    return holder


def declared_of(kind: str) -> Mapping[str, Kind]:
    """Return what the class of a name declares."""
    if kind == "feature-counts":
        from handful.representations.counts import FeatureCounts

        return FeatureCounts.declared_state()
    cls = find_class(kind) if isinstance(kind, str) else None
    return cls.declared_state() if cls is not None else {}


def places(coded: dict[str, Any], declared: Mapping[str, Kind], path: Path) -> Iterator[Place]:
    """Yield every value of a state with its declaration; parameters have none."""
    for name, value in coded.items():
        kind = declared.get(name)
        yield path, name, kind
        yield from inside(value, kind, (*path, name))


def inside(value: Any, kind: Kind | None, path: Path) -> Iterator[Place]:
    """Yield the parts of a value."""
    while isinstance(kind, Maybe):
        kind = kind.kind
    if isinstance(value, list):
        part = kind.kind if isinstance(kind, ListOf) else None
        for position, item in enumerate(value[:50]):
            yield path, position, part
            yield from inside(item, part, (*path, position))
        return
    if not isinstance(value, dict):
        return
    match value.get("$"):
        case "dict":
            for position, (key, item) in enumerate(value["items"][:50]):
                part = kind.kind if isinstance(kind, DictOf) else None
                if isinstance(part, Either):
                    part = fitting(part, item)
                part = part or (kind.fields if isinstance(kind, Record) else {}).get(key)
                yield (*path, "items", position), 0, Text()
                yield (*path, "items", position), 1, part
                yield from inside(item, part, (*path, "items", position, 1))
        case "tuple":
            yield from inside(value["items"], kind, (*path, "items"))
        case "method":
            yield path, "kind", Text()
            yield from places(value["state"], declared_of(value["kind"]), (*path, "state"))
        case "sklearn":
            yield path, "kind", Text()
            yield from places(value["state"], ESTIMATORS[value["kind"]].state, (*path, "state"))
        case "csr_array" | "csr_matrix" | "strings" | "objects":
            for name in value:
                if name != "$":
                    yield path, name, Array("i8", "_")


def fitting(kind: Either, coded: Any) -> Kind | None:
    """Return the alternative that has all the names of a record."""
    names = {pair[0] for pair in coded["items"]} if isinstance(coded, dict) and coded.get("$") == "dict" else set()
    return next((k for k in kind.kinds if isinstance(k, Record) and names and names <= set(k.fields)), None)


def press(
    holder: Any,
    key: Any,
    kind: Kind | None,
    arrays: dict[str, np.ndarray],
    another: Callable[[], Any],
    rng: random.Random,
) -> None:
    """Change one value in place; `another` gives one from somewhere else in the state."""
    value = holder[key]
    draw = rng.random()
    if draw < 0.04:
        holder[key] = copy.deepcopy(another())
        return
    if draw < 0.07 and isinstance(holder, dict):
        name = rng.choice(_NAMES)
        holder[name] = holder.pop(key) if rng.random() < 0.5 else 0
        return
    if draw < 0.09 and isinstance(holder, dict):
        del holder[key]
        return
    if draw < 0.12:
        holder[key] = rng.choice((None, -1, 0, 1.5, "", "x", [], {"$": "dict", "items": []}, True))
        return
    name = array_name(value)
    if name is not None:
        holder[key] = renamed(value, name, keep(arrays, pressed_array(arrays[name], kind, arrays, rng)))
    elif isinstance(kind, Number) or isinstance(value, int | float) or number_in(value):
        holder[key] = odd_number(kind, arrays, rng)
    elif isinstance(value, str):
        choices = kind.choices if isinstance(kind, Text) else ()
        holder[key] = rng.choice((*choices, *_NAMES, value + "x", value * 50, "\x1b[31m", "\ud800", "numeric", "crf"))
    elif isinstance(value, list):
        holder[key] = pressed_list(value, rng)
    elif isinstance(value, dict) and "items" in value:
        value["items"] = pressed_list(value["items"], rng)


def array_name(value: Any) -> str | None:
    """Return the name of the array that a coded value is, or None."""
    if isinstance(value, str) and value.isdigit():
        return value
    return value["name"] if isinstance(value, dict) and value.get("$") == "array" else None


def renamed(value: Any, old: str, new: str) -> Any:
    return new if value == old else {"$": "array", "name": new}


def number_in(value: Any) -> bool:
    return isinstance(value, dict) and value.get("$") in ("int", "float", "scalar")


def keep(arrays: dict[str, np.ndarray], array: np.ndarray) -> str:
    name = str(len(arrays) + 1000)
    arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    return name


def sizes_of(arrays: dict[str, np.ndarray]) -> list[int]:
    return sorted({size for array in arrays.values() for size in array.shape})


def odd_number(kind: Kind | None, arrays: dict[str, np.ndarray], rng: random.Random) -> Any:
    edges: list[Any] = [*_EDGES, rng.choice(sizes_of(arrays)), rng.choice(sizes_of(arrays)) + 1]
    if isinstance(kind, Number):
        edges += [bound + step for bound in (kind.low, kind.high) if bound is not None for step in (-1, 0, 1)]
    number = rng.choice([*edges, *_ODD_FLOATS])
    if isinstance(number, float) and not math.isfinite(number):
        return {"$": "float", "value": str(number)}
    return {"$": "int", "value": hex(number)} if isinstance(number, int) and abs(number) >= 2**53 else number


def pressed_list(items: list[Any], rng: random.Random) -> list[Any]:
    items = list(items)
    match rng.randrange(5):
        case 0:
            return []
        case 1:
            return items[: rng.randrange(len(items) + 1)]
        case 2:
            return items + items[: rng.randrange(len(items) + 1)]
        case 3:
            rng.shuffle(items)
            return items
    if items:
        items[rng.randrange(len(items))] = rng.choice((None, -1, "", [], "x", 2**62))
    return items


def pressed_array(
    array: np.ndarray, kind: Kind | None, arrays: dict[str, np.ndarray], rng: random.Random
) -> np.ndarray:
    """Return an array of another type, shape or content, near the edges of what is declared."""
    while isinstance(kind, Maybe):
        kind = kind.kind
    with np.errstate(all="ignore"):
        match rng.randrange(8):
            case 0:
                return array.astype(rng.choice(_TYPES))
            case 1:
                return array[:0] if array.ndim else array
            case 2:
                return array[:-1] if rng.random() < 0.5 else np.concatenate([array, array[:1]])
            case 3:
                shape = rng.choice(
                    [(*array.shape, 1), (1, *array.shape), array.shape[::-1], (array.size,), (0, 3), (3, 0)]
                )
                return array.reshape(shape) if math.prod(shape) == array.size else np.zeros(shape, array.dtype)
            case 4 if array.ndim == 1 and len(array) > 2 and array.dtype.kind == "i":
                wrapped, limits = array.copy(), np.iinfo(array.dtype)
                place = rng.randrange(1, len(array) - 1)
                wrapped[place : place + 1] = rng.choice((limits.max, limits.min, -1))
                if len(array) > 3:
                    wrapped[place + 1 : place + 2] = limits.min
                return wrapped
            case 5:
                return array[::-1].copy()
    changed = array.copy()
    if not changed.size:
        return changed
    flat = changed.reshape(-1)
    odd: list[Any] = [*(_ODD_FLOATS if array.dtype.kind == "f" else _EDGES)]
    if array.dtype.kind in "iu":
        odd += [size + step for size in sizes_of(arrays) for step in (-1, 0, 1)]
    if isinstance(kind, Array):
        odd += [bound + step for bound in (kind.low, kind.high) if bound is not None for step in (-1, 1)]
    for _ in range(rng.choice((1, 1, 3, flat.size))):
        number = rng.choice(odd)
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            number = min(max(int(number), limits.min), limits.max)
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = number
    return changed
