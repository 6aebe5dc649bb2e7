"""Arrays and JSON values as bytes that never run code: a SHA-256, then one ``.npz``; the format of all checkpoints."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np

from handful.core.errors import ParameterError

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
            told = json.loads(file[_JSON].tobytes())
            summary = dict(told["values"])
            for name in file.files:
                if name != _JSON:
                    summary[name.removeprefix(_ARRAY)] = file[name]
        for name in told["scalars"]:
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
