r"""Model files: arrays by safetensors, the rest JSON, in one file that can never run code.

Layout, all integers little-endian::

    8 bytes   b"HANDFUL\0"
    4 bytes   format version
    4 bytes   0, or 1 if what follows the checksum is packed (LZMA2, one raw stream)
    8 bytes   length of the JSON part
    8 bytes   length of the array part
    32 bytes  SHA-256 of the first 32 bytes and everything after this field
    JSON      {"kind", "state", "written_by"}
    arrays    a safetensors block

Reading compares the lengths with the size of the file before anything is allocated, then the checksum, and only then
looks at the content; packed content is unpacked up to the length that it should have. Which class a file may bring to
life is decided by the caller's table, never by the file.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any, ClassVar, Final, Self

import numpy as np

from handful.core.counted import counted
from handful.core.errors import FileError, HandfulError, ModelFileError
from handful.core.files import atomic_writer
from handful.core.params import check_params
from handful.core.registry import card_of
from handful.core.schema import IfThere, Kind, Names, Number, Plain, check_state, is_fitted, stored, suggested
from handful.core.state import Decoder, Encoder
from handful.core.version import __version__

MAGIC = b"HANDFUL\0"
FORMAT_VERSION = 4
_PACKED_VERSION = 4
_HEAD = struct.Struct("<8sIIQQ")
_CHECKSUM_BYTES = 32
_JSON_LIMIT = 1 << 30
DEFAULT_LIMIT = 16 << 30
_PACKING: Final[list[dict[str, int]]] = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 23}]
_BYTEWISE: Final = [_PACKING[0] | {"lc": 0, "pb": 0}]  # no byte looked at with those before it; read as the other
_TRIED_TWICE = 1 << 22  # more content is packed in one way only, for the sake of time
_MOST_PACKED = 1000  # times smaller: no model is, and a small file must not fill the memory

FindClass = Callable[[str], type | None]
_parameters: Callable[[type], Mapping[str, Parameter]] = lru_cache(maxsize=256)(lambda cls: signature(cls).parameters)


class Storable:
    """Mixin of a class whose fitted instances go into model files.

    The state is every public attribute: parameters, declared in the annotation of ``__init__``, and fitted attributes,
    declared in ``STATE`` (see `handful.core.schema`; subclasses add to what their bases declare). No others are written
    or read. A class that keeps derived things under a leading underscore rebuilds them in `_check_state`, which also
    refuses what a declaration cannot say.
    """

    STATE: ClassVar[Mapping[str, Kind]] = stored(
        n_features_in_=IfThere(Number(int, size="d")),
        feature_names_in_=IfThere(Names("d")),
        training_=IfThere(Plain()),  # how it was trained, in words
    )

    @classmethod
    def declared_state(cls) -> dict[str, Kind]:
        """Return how each attribute must look, by its name."""
        declared: dict[str, Kind] = {}
        for base in reversed(cls.__mro__):
            declared |= base.__dict__.get("STATE", {})
        return declared

    def _state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        if unknown := undeclared(cls, state):
            raise ModelFileError(f"it names an attribute {unknown[0][:60]!r}, which no {cls.__name__} has.")
        fitted = is_fitted(state)  # a model that is a parameter of another one may not be
        if fitted:
            check_state(cls.__name__, cls.declared_state(), state)
        model = cls.__new__(cls)
        # a file of an earlier version lacks parameters that came later: they have their defaults
        later = {name: p.default for name, p in _parameters(cls).items() if p.default is not p.empty}
        model.__dict__.update({**later, **state})
        if isinstance(jobs := model.__dict__.get("n_jobs"), int):
            model.__dict__["n_jobs"] = min(jobs, os.cpu_count() or 1)  # the file may be of a larger machine
        check_params(model)
        if fitted:
            model._check_state()
        return model

    def _check_state(self) -> None:
        """Refuse a state that no fit could have left; called after loading."""


def undeclared(cls: type[Storable], state: Mapping[str, Any]) -> list[str]:
    """Return the names in a state that are neither parameters of a class nor declared in its ``STATE``."""
    return sorted(state.keys() - cls.declared_state().keys() - _parameters(cls).keys())


def _declared_only(model: Storable) -> dict[str, Any]:
    cls, state = type(model), model._state()
    if unknown := undeclared(cls, state):
        lines = ", ".join(f"{name}={suggested(state[name])}" for name in unknown)
        raise ModelFileError(
            f"save: {cls.__name__}.{unknown[0]} is not declared. Write in the class, with names of sizes that tell what "
            f"points into what (see handful.core.schema): STATE = stored({lines})"
        )
    return state


def write_model(model: Storable, path: str | os.PathLike[str], *, packed: bool = False) -> None:
    """Write a model file; a crash on the way leaves the old file.

    Parameters
    ----------
    model : Storable
        A fitted, registered method.
    path : path-like
        Where to write.
    packed : bool
        Make the file smaller, where that is worth it; writing and reading then take longer.
    """
    card = card_of(type(model))
    if card is None or not isinstance(model, Storable):
        raise ModelFileError(
            f"save: {type(model).__name__} is not a method of handful, so it has no model file. Where columns are prepared before "
            "a method sees them, let handful do it: handful.fit(X, y, methods=[NAME]), or TableModel(NAME).fit(X, y), "
            "can be saved."
        )
    if not is_fitted(vars(model)):
        raise ModelFileError(f"save: {type(model).__name__} must be fitted before it is saved. Call fit first.")
    encoder = Encoder(packed)
    try:
        state = encoder.encode_state(_declared_only(model))
        content = {"kind": card.name, "state": state, "written_by": f"handful {__version__}"}
        text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
        arrays = encoder.array_block()
    except RecursionError:
        raise ModelFileError(f"save: {type(model).__name__} holds itself, which a model file cannot tell.") from None
    # Version 2 knows arrays of few values, version 3 rising numbers and classifiers of other packages; other files can be
    # read by all versions of handful. Version 4 is packed.
    parts, version, reserved = [text, arrays], encoder.version, 0
    if packed:
        small = _packed(text + arrays)
        if len(small) < len(text) + len(arrays) <= _MOST_PACKED * len(small):
            parts, version, reserved = [small], _PACKED_VERSION, 1
    head = _HEAD.pack(MAGIC, version, reserved, len(text), len(arrays))
    digest = hashlib.sha256(head)
    for part in parts:
        digest.update(part)
    with atomic_writer(path) as file:
        for block in (head, digest.digest(), *parts):
            file.write(block)


def read_model(path: str | os.PathLike[str], find_class: FindClass, *, max_bytes: int = DEFAULT_LIMIT) -> Any:
    """Read a model file.

    Parameters
    ----------
    path : path-like
        The file.
    find_class : callable
        Returns the class of a name out of a fixed table, or None.
    max_bytes : int
        Files larger than this are refused unread.

    Returns
    -------
    model
        The fitted model.

    Raises
    ------
    ModelFileError
        If the file is truncated, damaged, oversized, too new, or no model file.
    """
    kind, state, arrays = _read_parts(path, max_bytes)
    try:
        decoder = Decoder(arrays, find_class)
        model = decoder.model(kind, state)
        if not is_fitted(vars(model)):
            raise ModelFileError("it is not fitted.")
    except HandfulError as error:
        raise ModelFileError(f"{path}: does not hold a usable model ({error})") from None
    except MemoryError:
        raise ModelFileError(f"{path}: does not fit into memory, or its content is damaged.") from None
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise ModelFileError(f"{path}: does not hold a usable {kind} model; its content is damaged.") from None
    return model


def read_summary(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_LIMIT) -> dict[str, Any]:
    """Tell what a model file holds without bringing the model to life.

    Returns
    -------
    dict
        ``kind``, ``arrays`` (name to shape and type) and ``bytes``.
    """
    kind, _, arrays = _read_parts(path, max_bytes)
    shapes = {name: (list(array.shape), str(array.dtype)) for name, array in arrays.items()}
    return {"kind": kind, "arrays": shapes, "bytes": os.path.getsize(path)}


def _read_parts(path: str | os.PathLike[str], max_bytes: int) -> tuple[str, Any, dict[str, np.ndarray]]:
    text, block = _read_checked(path, max_bytes)
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        content = json.loads(text)
        kind, state = content["kind"], content["state"]
        arrays = load(block)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError, OverflowError, AttributeError):
        raise ModelFileError(f"{path}: is damaged; its content cannot be read.") from None
    if not isinstance(kind, str):
        raise ModelFileError(f"{path}: is damaged; its content cannot be read.")
    return kind, state, arrays


def _read_checked(path: str | os.PathLike[str], max_bytes: int) -> tuple[bytes, bytes]:
    start = _HEAD.size + _CHECKSUM_BYTES
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_HEAD.size)
            if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
                raise ModelFileError(f"{path}: is not a handful model file.")
            if len(head) < _HEAD.size or size < start:
                raise ModelFileError(f"{path}: is truncated; only {size} bytes are there.")
            _, version, reserved, text_bytes, array_bytes = _HEAD.unpack(head)
            if version > FORMAT_VERSION:
                raise ModelFileError(
                    f"{path}: has format version {version}, but this handful reads up to {FORMAT_VERSION}. Update handful."
                )
            packed = reserved == 1 and version >= _PACKED_VERSION
            if version < 1 or (reserved != 0 and not packed):
                raise ModelFileError(f"{path}: is damaged; its header is not one that handful writes.")
            n_bytes = text_bytes + array_bytes
            expected = size if packed else start + n_bytes
            if max(size, start + n_bytes) > max_bytes or text_bytes > _JSON_LIMIT:
                raise ModelFileError(
                    f"{path}: is larger than the limit of {max_bytes:,} bytes. If you trust it, raise max_bytes."
                )
            if size < expected:
                raise ModelFileError(f"{path}: is truncated; {expected} bytes are due and {size} are there.")
            if size > expected:
                raise ModelFileError(f"{path}: has {counted(size - expected, 'byte')} too many at its end.")
            checksum = file.read(_CHECKSUM_BYTES)
            parts = [file.read()] if packed else [file.read(text_bytes), file.read(array_bytes)]
    except FileNotFoundError:
        raise FileError(f"{path}: no such file.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    digest = hashlib.sha256(head)
    for part in parts:
        digest.update(part)
    if digest.digest() != checksum:
        raise ModelFileError(f"{path}: is damaged or was changed; its checksum does not match.")
    if packed:
        content = _unpacked(path, parts[0], n_bytes)
        return content[:text_bytes], content[text_bytes:]
    return parts[0], parts[1]


def _packed(content: bytes) -> bytes:
    """Pack what is written: doubles want one way, single bytes another."""
    ways = [_PACKING, _BYTEWISE] if len(content) <= _TRIED_TWICE else [_PACKING]
    return min((lzma.compress(content, lzma.FORMAT_RAW, filters=way) for way in ways), key=len)


def _unpacked(path: str | os.PathLike[str], body: bytes, n_bytes: int) -> bytes:
    """Return the content of a packed file, whose length is known."""
    if n_bytes > _MOST_PACKED * len(body):
        raise ModelFileError(f"{path}: is damaged; its header is not one that handful writes.")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_PACKING)
    try:
        content = unpacker.decompress(body, max_length=n_bytes)
        more = b"" if unpacker.eof else unpacker.decompress(b"", max_length=1)  # the mark of the end may still be due
    except lzma.LZMAError:
        content = more = b""
    if len(content) != n_bytes or more or not unpacker.eof or unpacker.unused_data:
        raise ModelFileError(f"{path}: is damaged; its content cannot be unpacked.")
    return content
