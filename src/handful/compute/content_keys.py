"""What makes two parts the same part: their content, down to the bytes of the files they name."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from handful.core.errors import FileError, ParameterError

_CHUNK = 1 << 20


def part_identity(part: Any) -> str:
    r"""Return a text that is equal for equal parts only.

    Parameters
    ----------
    part : Any
        A file (a `pathlib.Path`, or a string that names a file), an object with a method ``identity()`` that returns a
        string, or data: strings, numbers, lists, dictionaries, arrays, sparse matrices, dataclasses, with any of these
        inside (a string inside stays a string).

    Returns
    -------
    str
        Equal parts have equal ones.

    Raises
    ------
    ParameterError
        If the part is of another kind.
    FileError
        If a file cannot be read.

    Notes
    -----
    A file is known by its name and the SHA-256 of its content, not by its time: copying and unpacking may keep an old
    time or give a new one. Hashing runs at some hundred megabytes a second, far faster than any counting. The folder does not
    count, so a corpus may move.

    Examples
    --------
    >>> part_identity([["Rome", "fell"]]) == part_identity([["Rome", "fell"]])
    True
    >>> part_identity(np.arange(3)) == part_identity(np.arange(4))
    False
    """
    if isinstance(part, str) and os.path.isfile(part):
        return file_identity(part)
    return json.dumps(part if _is_plain(part) else _described(part), default=_described)


def file_identity(path: str | os.PathLike[str], start: int = 0, stop: int | None = None) -> str:
    r"""Return the name of a file and the SHA-256 of its content, or of a stretch of it.

    Parameters
    ----------
    path : path-like
        The file.
    start, stop : int
        First byte, and the byte after the last; by default the whole file.

    Returns
    -------
    str
        Name, number of bytes and SHA-256.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\ntwo\n")
    >>> file_identity(target, 0, 4)
    'a.txt 4 2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806'
    """
    digest = hashlib.sha256()
    size = 0
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while data := file.read(_CHUNK if stop is None else min(_CHUNK, stop - start - size)):
                digest.update(data)
                size += len(data)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read ({error.strerror}).") from None
    return f"{os.path.basename(os.fspath(path))} {size} {digest.hexdigest()}"


def _is_plain(part: Any) -> bool:
    return part is None or isinstance(part, str | int | float | list | tuple | dict)


def _described(part: Any) -> Any:
    """Say what a part that JSON does not know consists of."""
    if callable(own := getattr(part, "identity", None)) and not isinstance(part, type):
        return [_name(part), str(own())]
    if isinstance(part, os.PathLike):
        return ["file", file_identity(part)]
    if isinstance(part, bytes):
        return ["bytes", hashlib.sha256(part).hexdigest()]
    if isinstance(part, np.ndarray | np.generic) and not part.dtype.hasobject:
        array = np.ascontiguousarray(part)
        digest = hashlib.sha256(array.reshape(-1).view(np.uint8).data if array.size else b"")
        return ["array", part.dtype.str, list(np.shape(part)), digest.hexdigest()]
    if isinstance(part, np.ndarray):
        return ["objects", list(part.shape), part.ravel().tolist()]
    if isinstance(part, Mapping):
        return dict(part)
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        return [_name(part), [getattr(part, field.name) for field in dataclasses.fields(part)]]
    if hasattr(part, "tocsr") and hasattr(part, "shape"):
        csr = part.tocsr()
        return ["sparse", list(csr.shape), csr.data, csr.indices, csr.indptr]
    raise ParameterError(
        f"map_reduce: with a checkpoint a part must be a file, plain data or have a method identity(), "
        f"got {type(part).__name__}. Give it a method that returns a string made from its content."
    )


def _name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"
