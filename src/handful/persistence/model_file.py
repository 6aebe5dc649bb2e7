"""Fitted state as JSON plus named arrays, and back, for model files.

Only what `StateEncoder` can write is ever read: numbers, strings, lists, tuples, dictionaries, arrays, sparse matrices,
registered methods and a fixed list of scikit-learn estimators.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np

from handful.data.files import atomic_writer
from handful.errors import FileError, HandfulError, ModelFileError, counted
from handful.params import check_params
from handful.persistence.arrays import from_rising_bytes
from handful.persistence.schema import (
    DictOf,
    IfThere,
    Kind,
    Names,
    Number,
    Plain,
    check_state,
    is_fitted,
    is_rising,
    stored,
)
from handful.registry import find_class, spec_of
from handful.version import __version__

_TAG = "$"
_NUMBER_KINDS = "biuf"
_INDEX_TYPES = {np.dtype(np.int32), np.dtype(np.int64)}


class StateEncoder:
    """Turn state into JSON values and named arrays.

    Examples
    --------
    >>> encoder = StateEncoder()
    >>> encoder.encode_state({"size": 2, "rows_": np.arange(2)})
    {'size': 2, 'rows_': {'$': 'array', 'name': '0'}}
    >>> encoder.arrays["0"].tolist()
    [0, 1]
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def array_block(self) -> bytes:
        """Return all arrays as one safetensors block."""
        from safetensors.numpy import save

        block: bytes = save(self.arrays)
        return block

    def encode_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Encode the attributes of one object."""
        return {name: self._encode(name, value) for name, value in state.items()}

    def _encode(self, where: str, value: Any) -> Any:
        match value:
            case None | bool() | str():
                return value
            case np.generic():
                return {_TAG: "scalar", "value": self._array(where, np.asarray(value).reshape(1))}
            case int():
                return value if abs(value) < 2**53 else {_TAG: "int", "value": hex(value)}
            case float():
                return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}
            case list():
                return [self._encode(where, item) for item in value]
            case tuple():
                return {_TAG: "tuple", "items": [self._encode(where, item) for item in value]}
            case Mapping():
                items = [[self._encode(where, key), self._encode(where, item)] for key, item in value.items()]
                return {_TAG: "dict", "items": items}
        return self._array(where, value) if isinstance(value, np.ndarray) else self._object(where, value)

    def _array(self, where: str, array: np.ndarray) -> dict[str, Any]:
        if array.dtype.kind in _NUMBER_KINDS and array.dtype.itemsize <= 8:
            native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
            # ascontiguousarray gives a 0-d array one dimension
            return {_TAG: "array", "name": self._keep(native.reshape(array.shape))}
        if array.dtype.kind == "U":
            encoded = [text.encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
            offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
            text = self._keep(np.frombuffer(b"".join(encoded), dtype=np.uint8))
            return {_TAG: "strings", "text": text, "offsets": self._keep(offsets), "shape": list(array.shape)}
        if array.dtype == object:
            flat = [self._encode(where, item) for item in array.ravel()]
            return {_TAG: "objects", "items": flat, "shape": list(array.shape)}
        raise ModelFileError(f"save: {where} has an array of type {array.dtype}, which a model file cannot hold.")

    def _object(self, where: str, value: Any) -> Any:
        from scipy import sparse

        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # a random stream is of no use to a fitted model
        if sparse.issparse(value):
            csr = value.tocsr()
            csr.sort_indices()
            parts = {name: self._array(where, getattr(csr, name)) for name in ("data", "indices", "indptr")}
            form = "csr_array" if isinstance(value, sparse.sparray) else "csr_matrix"
            return {_TAG: form, "shape": list(csr.shape), **parts}
        spec = spec_of(type(value))
        if spec is not None:
            return {_TAG: "method", "kind": spec.name, "state": self.encode_state(value._state())}
        if hasattr(value, "get_params") and hasattr(value, "fit"):
            # Loaded on first use: most models hold no estimator of another library.
            from handful.persistence.sklearn_models import estimator_state

            state = self.encode_state(estimator_state(value))
            return {_TAG: "sklearn", "kind": type(value).__name__, "state": state}
        raise ModelFileError(f"save: {where} is a {type(value).__name__}, which a model file cannot hold.")

    def _keep(self, array: np.ndarray) -> str:
        name = str(len(self.arrays))
        self.arrays[name] = array
        return name


class Decoder:
    """Turn what `StateEncoder` wrote back into state.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays that were set aside.
    find_class : callable
        Returns the class of a registered method by its name, or None.
    max_bytes : int
        Limit on the bytes of arrays that are expanded while they are decoded.

    Examples
    --------
    >>> Decoder({"0": np.arange(2)}, lambda name: None).value({"$": "array", "name": "0"}).tolist()
    [0, 1]
    """

    def __init__(
        self, arrays: Mapping[str, np.ndarray], find_class: Callable[[str], type | None], max_bytes: int = 1 << 34
    ) -> None:
        self._arrays = arrays
        self._find_class = find_class
        self._max_bytes = self._bytes_left = max_bytes

    def model(self, kind: str, state: Mapping[str, Any]) -> Any:
        """Bring a registered method back to life."""
        cls = self._find_class(kind)
        if cls is None:
            raise ModelFileError(f"it is of the kind {kind[:60]!r}, which this handful does not know.")
        return cls._from_state(self._attributes(state))  # type: ignore[attr-defined]

    def value(self, coded: Any) -> Any:
        """Decode one value."""
        if isinstance(coded, list):
            return [self.value(item) for item in coded]
        if not isinstance(coded, dict):
            return coded
        if coded[_TAG] not in _READERS:
            raise ModelFileError("it holds a value of an unknown kind.")
        return _READERS[coded[_TAG]](self, coded)

    def _expand(self, n_bytes: int) -> None:
        """Count bytes about to be allocated: one stored array may be named many times."""
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise ModelFileError(f"its content is larger than the limit of {self._max_bytes:,} bytes.")

    def _attributes(self, state: Mapping[str, Any]) -> dict[str, Any]:
        if any(not name.isidentifier() or name.startswith("__") for name in state):
            raise ModelFileError("it names an attribute that no model has.")
        return {name: self.value(item) for name, item in state.items()}

    def _few_values(self, coded: Mapping[str, Any]) -> np.ndarray:
        values, numbers = self._arrays[coded["values"]], self._arrays[coded["numbers"]]
        if values.ndim != 1 or values.dtype.kind not in _NUMBER_KINDS or numbers.dtype not in (np.uint8, np.uint16):
            raise ModelFileError("it holds an array of few values that is damaged.")
        self._expand(numbers.size * values.dtype.itemsize)
        array: np.ndarray = values[numbers]
        return array

    def _rising(self, coded: Mapping[str, Any]) -> np.ndarray:
        steps = self._arrays[coded["name"]]
        self._expand(8 * steps.size)
        return from_rising_bytes(steps)

    def _strings(self, coded: Mapping[str, Any]) -> np.ndarray:
        text, offsets = self._arrays[coded["text"]], self._arrays[coded["offsets"]]
        is_whole = offsets.dtype == np.int64 and offsets[0] == 0 and offsets[-1] == len(text)
        if not is_whole or not is_rising(offsets, strictly=False):
            raise ModelFileError("it holds strings that are cut off.")
        raw = text.astype(np.uint8, casting="safe").tobytes()
        words = [raw[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(offsets.tolist())]
        longest = max(map(len, words), default=1)
        self._expand(len(raw) + 4 * longest * len(words))  # numpy pads every string to the longest
        return np.array(words, dtype=f"<U{max(longest, 1)}").reshape(coded["shape"])

    def _objects(self, coded: Mapping[str, Any]) -> np.ndarray:
        flat = np.empty(len(coded["items"]), dtype=object)
        for i, item in enumerate(coded["items"]):
            flat[i] = self.value(item)
        return flat.reshape(coded["shape"])

    def _sparse(self, coded: Mapping[str, Any]) -> Any:
        from scipy import sparse

        data, indices, indptr = (self.value(coded[name]) for name in ("data", "indices", "indptr"))
        n_rows, n_columns = (int(size) for size in coded["shape"])
        # scipy compares differences, which wrap around: compiled code would then read outside the arrays.
        whole = (
            all(type(part) is np.ndarray and part.ndim == 1 for part in (data, indices, indptr))
            and data.dtype.kind in _NUMBER_KINDS
            and {indices.dtype, indptr.dtype} <= _INDEX_TYPES
            and 0 <= n_columns < 2**53
            and len(indptr) == n_rows + 1
            and indptr[0] == 0
            and is_rising(indptr, strictly=False)
            and indptr[-1] == len(indices) == len(data)
            and (len(indices) == 0 or (indices.min() >= 0 and indices.max() < n_columns))
        )
        if not whole:
            raise ModelFileError("it holds a sparse matrix whose indices point outside.")
        build = sparse.csr_array if coded[_TAG] == "csr_array" else sparse.csr_matrix
        return build((data, indices, indptr), shape=(n_rows, n_columns))

    def _sklearn(self, coded: Mapping[str, Any]) -> Any:
        from handful.persistence.sklearn_models import estimator_from, forest_state

        state = self._attributes(coded["state"])
        return estimator_from(coded["kind"], forest_state(state) if coded[_TAG] == "forest" else state)

    def _skops(self, coded: Mapping[str, Any]) -> Any:
        raise ModelFileError("it holds an estimator stored by skops, which is no longer read; fit the model again.")


_READERS: dict[str, Callable[[Decoder, Mapping[str, Any]], Any]] = {
    "array": lambda decoder, coded: decoder._arrays[coded["name"]],
    "strings": Decoder._strings,
    "objects": Decoder._objects,
    "tuple": lambda decoder, coded: tuple(decoder.value(item) for item in coded["items"]),
    "dict": lambda decoder, coded: {decoder.value(key): decoder.value(item) for key, item in coded["items"]},
    "scalar": lambda decoder, coded: decoder.value(coded["value"])[0],
    "int": lambda decoder, coded: int(coded["value"], 16),
    "float": lambda decoder, coded: float(coded["value"]),
    "csr_array": Decoder._sparse,
    "csr_matrix": Decoder._sparse,
    "method": lambda decoder, coded: decoder.model(coded["kind"], coded["state"]),
    "sklearn": Decoder._sklearn,
    # Files of versions before 0.3 have these as well.
    "forest": Decoder._sklearn,
    "few values": Decoder._few_values,
    "rising": Decoder._rising,
    "foreign": Decoder._skops,
}


MAGIC = b"HANDFUL\0"
FORMAT_VERSION = 4
_COMPRESSED_VERSION = 4
_HEAD = struct.Struct("<8sIIQQ")
_CHECKSUM_BYTES = 32
_JSON_LIMIT = 1 << 30
DEFAULT_LIMIT = 16 << 30
_FILTERS: Final[list[dict[str, int]]] = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 23}]
_MOST_EXPANDED = 64  # times its stored size: arrays of few values grow 8 times, strings 4 times and by their padding
_FREE_BYTES = 1 << 26
_MOST_COMPRESSED = 1000  # times smaller: no model is, and a small file must not fill the memory

FindClass = Callable[[str], type | None]
_parameters: Callable[[type], Mapping[str, Parameter]] = lru_cache(maxsize=256)(lambda cls: signature(cls).parameters)


class Storable:
    """Mixin of a class whose fitted instances go into model files.

    The state is every public attribute: parameters, declared in the annotation of ``__init__``, and fitted attributes,
    declared in ``STATE`` (see `handful.persistence.schema`; subclasses add to what their bases declare). No others are written
    or read. A class that keeps derived things under a leading underscore rebuilds them in `_check_state`, which also
    refuses what a declaration cannot say.
    """

    STATE: ClassVar[Mapping[str, Kind]] = stored(
        n_features_in_=IfThere(Number(int, size="d")),
        feature_names_in_=IfThere(Names("d")),
        training_=IfThere(DictOf(Plain())),  # how it was trained
    )
    # Of files of earlier versions: attributes with another name today, and parameters that are gone, with their default.
    RENAMED: ClassVar[Mapping[str, str]] = {}
    DROPPED: ClassVar[Mapping[str, Any]] = {}

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
        for name, default in cls.DROPPED.items():
            if state.get(name, default) != default:
                raise ModelFileError(
                    f"it was trained with {name}={str(state[name])[:60]}, which is gone. Train it again."
                )
        state = {cls.RENAMED.get(name, name): state[name] for name in state if name not in cls.DROPPED}
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
        raise ModelFileError(
            f"save: {cls.__name__} does not declare {', '.join(unknown)}. "
            "Add each attribute to STATE of the class; see handful.persistence.schema."
        )
    return state


def save(model: Any, path: str | os.PathLike[str], *, compressed: bool = False) -> None:
    """Write a fitted model to a file; a crash on the way leaves the old file.

    Parameters
    ----------
    model : estimator
        A fitted method of handful.
    path : path-like
        Where to write.
    compressed : bool
        Make the file smaller; writing and reading then take longer.
    """
    spec = spec_of(type(model))
    if spec is None or not isinstance(model, Storable):
        raise ModelFileError(
            f"save: {type(model).__name__} is not a method of handful, so it has no model file. "
            "Let handful prepare the columns: handful.fit(X, y, method=NAME) or TableModel(NAME).fit(X, y) can be saved."
        )
    if not is_fitted(vars(model)):
        raise ModelFileError(f"save: {type(model).__name__} must be fitted before it is saved. Call fit first.")
    encoder = StateEncoder()
    try:
        state = encoder.encode_state(_declared_only(model))
        content = {"kind": spec.name, "state": state, "written_by": f"handful {__version__}"}
        text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
        arrays = encoder.array_block()
    except RecursionError:
        raise ModelFileError(f"save: {type(model).__name__} holds itself, so it cannot be saved.") from None
    parts, is_compressed = [text, arrays], 0
    if compressed:
        small = lzma.compress(text + arrays, lzma.FORMAT_RAW, filters=_FILTERS)
        if len(small) < len(text) + len(arrays) <= _MOST_COMPRESSED * len(small):
            parts, is_compressed = [small], 1
    head = _HEAD.pack(MAGIC, FORMAT_VERSION, is_compressed, len(text), len(arrays))
    with atomic_writer(path) as file:
        for block in (head, _checksum(head, parts), *parts):
            file.write(block)


def _checksum(head: bytes, parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256(head)
    for part in parts:
        digest.update(part)
    return digest.digest()


def load(path: str | os.PathLike[str], find: FindClass = find_class, *, max_bytes: int = DEFAULT_LIMIT) -> Any:
    """Read a fitted model from a file; a file can never run code.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.
    find : callable
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
        n_bytes = sum(array.nbytes for array in arrays.values())
        decoder = Decoder(arrays, find, min(max_bytes, _MOST_EXPANDED * n_bytes + _FREE_BYTES))
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
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_HEAD.size)
            text_bytes, array_bytes, is_compressed = _read_head(path, head, size, max_bytes)
            checksum = file.read(_CHECKSUM_BYTES)
            parts = [file.read()] if is_compressed else [file.read(text_bytes), file.read(array_bytes)]
    except FileNotFoundError:
        raise FileError(f"{path}: no such file.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    if _checksum(head, parts) != checksum:
        raise ModelFileError(f"{path}: is damaged or was changed; its checksum does not match.")
    if is_compressed:
        content = _decompressed(path, parts[0], text_bytes + array_bytes)
        return content[:text_bytes], content[text_bytes:]
    return parts[0], parts[1]


def _read_head(path: str | os.PathLike[str], head: bytes, size: int, max_bytes: int) -> tuple[int, int, bool]:
    """Return the bytes of JSON and arrays, and whether they are compressed; refuse files of another size."""
    start = _HEAD.size + _CHECKSUM_BYTES
    if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
        raise ModelFileError(f"{path}: is not a handful model file.")
    if len(head) < _HEAD.size or size < start:
        raise ModelFileError(f"{path}: is truncated; only {size} bytes are there.")
    _, version, is_compressed, text_bytes, array_bytes = _HEAD.unpack(head)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: has format version {version}, but this handful reads up to {FORMAT_VERSION}. Update handful."
        )
    if version < 1 or is_compressed not in ((0, 1) if version >= _COMPRESSED_VERSION else (0,)):
        raise ModelFileError(f"{path}: is damaged; its header is not one that handful writes.")
    whole = start + text_bytes + array_bytes
    if max(size, whole) > max_bytes or text_bytes > _JSON_LIMIT:
        raise ModelFileError(
            f"{path}: is larger than the limit of {max_bytes:,} bytes. If you trust it, raise max_bytes."
        )
    if size < whole and not is_compressed:
        raise ModelFileError(f"{path}: is truncated; {whole} bytes are due and {size} are there.")
    if size > whole and not is_compressed:
        raise ModelFileError(f"{path}: has {counted(size - whole, 'byte')} too many at its end.")
    return text_bytes, array_bytes, bool(is_compressed)


def _decompressed(path: str | os.PathLike[str], body: bytes, n_bytes: int) -> bytes:
    """Return the content of a compressed file, whose length is known."""
    if n_bytes > _MOST_COMPRESSED * len(body):
        raise ModelFileError(f"{path}: is damaged; its header is not one that handful writes.")
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS)
    try:
        content = decompressor.decompress(body, max_length=n_bytes)
        # the mark of the end may still be due
        more = b"" if decompressor.eof else decompressor.decompress(b"", max_length=1)
    except lzma.LZMAError:
        content = more = b""
    if len(content) != n_bytes or more or not decompressor.eof or decompressor.unused_data:
        raise ModelFileError(f"{path}: is damaged; its content cannot be decompressed.")
    return content
