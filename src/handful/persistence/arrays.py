"""Arrays and JSON as bytes that never run code."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np

from handful.errors import ParameterError

_JSON = "json"
_ARRAY = "array_"
_DIGEST = hashlib.sha256().digest_size


def pack_arrays(summary: Any) -> bytes:
    """Turn a summary into bytes.

    Parameters
    ----------
    summary : dict of str to ndarray, numpy scalar or JSON value
        Arrays of any type but object; lists, dictionaries with string keys, strings, numbers, booleans and None.

    Returns
    -------
    bytes
        SHA-256 of the rest, then an ``.npz`` file.

    Raises
    ------
    ParameterError
        If the summary is anything else.

    Examples
    --------
    >>> unpack_arrays(pack_arrays({"counts": np.arange(3), "words": ["a", "b"]}))
    {'words': ['a', 'b'], 'counts': array([0, 1, 2])}
    """
    if type(summary) is not dict or not all(type(name) is str for name in summary):
        raise ParameterError(
            "map_reduce: with a checkpoint a summary must be a dictionary with names as keys, "
            f"got {type(summary).__name__}. Put what was counted into one."
        )
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    scalars = []
    for name, value in summary.items():
        if isinstance(value, np.ndarray | np.generic) and not np.ma.isMaskedArray(value) and not value.dtype.hasobject:
            arrays[_ARRAY + name] = np.asarray(value)
            if isinstance(value, np.generic):
                scalars.append(name)
        else:
            plain[name] = _json_value(name, value)
    text = json.dumps({"values": plain, "scalars": scalars}).encode()
    target = io.BytesIO()
    np.savez(target, **{_JSON: np.frombuffer(text, dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
    content = target.getvalue()
    return hashlib.sha256(content).digest() + content


def unpack_arrays(data: bytes) -> dict[str, Any]:
    """Read what `pack_arrays` wrote.

    Parameters
    ----------
    data : bytes
        What `pack_arrays` gave.

    Returns
    -------
    dict
        The summary; JSON values first, then arrays, each in their old order.

    Raises
    ------
    ValueError
        If the bytes are not those that were written.
    """
    content = memoryview(data)[_DIGEST:]
    if hashlib.sha256(content).digest() != data[:_DIGEST]:
        raise ValueError("not a whole summary")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            summarized = json.loads(file[_JSON].tobytes())
            summary = dict(summarized["values"])
            for name in file.files:
                if name != _JSON:
                    summary[name.removeprefix(_ARRAY)] = file[name]
        for name in summarized["scalars"]:
            summary[name] = summary[name][()]
    except Exception as error:  # zipfile, numpy and json have many ways to say that a foreign file is not theirs
        raise ValueError(f"not a summary: {error}") from None
    return summary


def _json_value(name: str, value: Any) -> Any:
    """Return a value if JSON gives it back unchanged, so that a restart counts the same."""
    try:
        if repr(json.loads(json.dumps(value))) == repr(value):
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    raise ParameterError(
        "map_reduce: with a checkpoint a summary must hold arrays of numbers or strings, and JSON values, "
        f"got {type(value).__name__} in {name!r}. Turn it into an array or a list."
    )


_MOST_GROUPS = 9  # of seven bits: 63


def from_rising_bytes(data: np.ndarray) -> np.ndarray:
    """Read rising numbers of model files before version 0.3.

    Parameters
    ----------
    data : ndarray of uint8
        The first number and the differences, seven bits per byte, the lowest first; the eighth bit of a byte means that
        the number goes on.

    Raises
    ------
    ValueError
        If no rising numbers are written like that.

    Examples
    --------
    >>> from_rising_bytes(np.array([3, 2, 0x80, 1], dtype=np.uint8)).tolist()
    [3, 5, 133]
    """
    if data.dtype != np.uint8 or data.ndim != 1 or not len(data) or data[-1] >= 128:
        raise ValueError("not rising numbers")
    ends = np.flatnonzero(data < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    if lengths.max() > _MOST_GROUPS:
        raise ValueError("not rising numbers")
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    parts = (data & 127).astype(np.int64) << (7 * places)
    steps = np.add.reduceat(parts, starts)
    numbers = np.cumsum(steps)
    # A sum that runs over turns negative, for no step has more than 63 bits.
    if (steps[1:] <= 0).any() or (numbers < 0).any():
        raise ValueError("not rising numbers")
    return np.asarray(numbers)
