"""What crosses the border between the driver and a worker: packed functions, parts, summaries and failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handful.core.errors import HandfulError, ParameterError, PartError
from handful.core.packed_arrays import pack_arrays


@dataclass(frozen=True)
class Failed:
    """An error on its way back from a worker, as text: not every exception survives pickling."""

    reason: str


def pack(value: Any) -> bytes:
    """Pickle a value, functions of a notebook included.

    Examples
    --------
    >>> unpack(pack(lambda x: x + 1))(1)
    2
    """
    from cloudpickle import dumps

    try:
        packed: bytes = dumps(value)
    except Exception as error:
        raise ParameterError(
            f"map_reduce: functions, parts and summaries must be picklable, got {type(value).__name__} ({reason(error)})."
        ) from error
    return packed


def unpack(data: bytes) -> Any:
    """Undo `pack`; only ever given what a driver and its workers send each other."""
    import pickle

    return pickle.loads(data)  # noqa: S301 (bytes that this run has written itself)


def run(summarize: Callable[[Any], Any], part: bytes, as_arrays: bool) -> bytes | Failed:
    """Summarize a packed part and pack the summary: as arrays for a checkpoint, else as it is.

    Examples
    --------
    >>> unpack(run(len, pack("four"), False))
    4
    >>> run(len, pack(4), False)
    Failed(reason="TypeError: object of type 'int' has no len()")
    """
    try:
        summary = summarize(unpack(part))
        return pack_arrays(summary) if as_arrays else pack(summary)
    except Exception as error:
        return Failed(reason(error))


def reason(error: BaseException) -> str:
    """Return what an error says, with its kind if it is not one of ours.

    Examples
    --------
    >>> reason(ValueError("too long"))
    'ValueError: too long'
    """
    return str(error) if isinstance(error, HandfulError) else f"{type(error).__name__}: {error}"


def failure(number: int, part: object, why: str) -> PartError:
    """Return the error of a part, in one line.

    Examples
    --------
    >>> failure(3, "c.txt", "no such file.")
    PartError("map_reduce: part 3 ('c.txt') failed: no such file.")
    """
    shown = repr(part)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return PartError(f"map_reduce: part {number} ({shown}) failed: {' '.join(why.split())}")
