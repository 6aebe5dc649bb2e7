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
            _check_json(name, value)
            plain[name] = value
    text = json.dumps({"values": plain, "scalars": scalars}).encode()
    target = io.BytesIO()
    np.savez(target, **{_JSON: np.frombuffer(text, dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
    content = target.getvalue()
    return hashlib.sha256(content).digest() + content


def unpack_arrays(data: bytes) -> dict[str, Any]:
    """Undo `pack_arrays`.

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
        If the bytes are not those that were packed.
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


def _check_json(name: str, value: Any) -> None:
    # Exact types only: what JSON would silently change (a tuple, a key that is a number) must not differ after a restart.
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is list:
            waiting.extend(item)
        elif type(item) is dict and all(type(key) is str for key in item):
            waiting.extend(item.values())
        elif type(item) not in (str, int, float, bool, type(None)):
            what = f"an array of {item.dtype}" if isinstance(item, np.ndarray) else f"a {type(item).__name__}"
            raise ParameterError(
                "map_reduce: with a checkpoint a summary must hold arrays of numbers or strings, and JSON values, "
                f"got {what} in {name!r}. Turn it into an array or a list."
            )


_LEAST_BYTES = 1 << 12  # smaller arrays stay as they are
_MOST_VALUES = 1 << 16
_MOST_GROUPS = 9  # of seven bits: 63


def few_values(array: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Take an array apart into its distinct values and their numbers, if that is smaller.

    Parameters
    ----------
    array : ndarray of numbers
        Any shape; entries of 4 or 8 bytes.

    Returns
    -------
    values, numbers : ndarray, or None
        ``values[numbers]`` is the array, to the last bit (zeros of both signs and NaN too); `numbers` has one byte an
        entry for up to 256 values, else two. None for small arrays, for more than 65,536 values, and where nothing
        would be gained.

    Notes
    -----
    Weights that many features share are the case it is made for. Cost: a sort of the array; one whose first 131,072
    entries have too many values is left alone at once.

    Examples
    --------
    >>> values, numbers = few_values(np.repeat([0.5, -1.0], 1000))
    >>> sorted(values.tolist()), numbers.dtype.name, bool((values[numbers] == np.repeat([0.5, -1.0], 1000)).all())
    ([-1.0, 0.5], 'uint8', True)
    >>> few_values(np.arange(5.0)) is None
    True
    """
    if array.dtype.itemsize not in (4, 8) or array.nbytes < _LEAST_BYTES:
        return None
    bits = np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}")
    if len(np.unique(bits[: 2 * _MOST_VALUES])) > _MOST_VALUES:
        return None
    values, numbers = np.unique(bits, return_inverse=True)
    if len(values) > _MOST_VALUES:
        return None
    small = numbers.astype(np.uint8 if len(values) <= 1 << 8 else np.uint16)
    if values.nbytes + small.nbytes >= array.nbytes:
        return None
    return values.view(array.dtype), small.reshape(array.shape)


def rising_bytes(array: np.ndarray) -> np.ndarray | None:
    """Write rising numbers as bytes, if they are such and many.

    Parameters
    ----------
    array : ndarray
        Any array.

    Returns
    -------
    ndarray of uint8, or None
        The first number and the differences, seven bits per byte, the lowest first; the eighth bit of a byte means that
        the number goes on. None unless the array is one row of int64, 512 of them at least, none
        negative, each above the one before.

    Notes
    -----
    Sorted keys of features are the case it is made for: one to three bytes per key instead of eight.

    Examples
    --------
    >>> keys = np.arange(1000) * 300
    >>> len(rising_bytes(keys)), bool((from_rising_bytes(rising_bytes(keys)) == keys).all())
    (1999, True)
    >>> rising_bytes(np.array([2, 1])) is None
    True
    """
    if array.dtype != np.int64 or array.ndim != 1 or array.nbytes < _LEAST_BYTES or array[0] < 0:
        return None
    if not (array[1:] > array[:-1]).all():
        return None
    steps = np.diff(array, prepend=0).astype(np.uint64)
    lengths = np.ones(len(steps), dtype=np.int64)
    for group in range(1, _MOST_GROUPS):
        lengths += steps >= np.uint64(1 << 7 * group)
    starts = np.cumsum(lengths) - lengths
    out = np.empty(int(lengths.sum()), dtype=np.uint8)
    for group in range(int(lengths.max())):
        here = lengths > group
        low = (steps[here] >> np.uint64(7 * group)) & np.uint64(127)
        out[starts[here] + group] = low.astype(np.uint8) | np.where(lengths[here] > group + 1, 128, 0).astype(np.uint8)
    return out


def from_rising_bytes(data: np.ndarray) -> np.ndarray:
    """Undo `rising_bytes`.

    Parameters
    ----------
    data : ndarray of uint8
        What `rising_bytes` gave.

    Returns
    -------
    ndarray of int64
        The numbers: rising, none negative.

    Raises
    ------
    ValueError
        If no rising numbers are written like that.
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
