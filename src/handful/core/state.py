"""Fitted state as JSON plus named arrays, and back, for model files.

Only what `Encoder` can write is ever read: numbers, strings, lists, tuples, dictionaries, arrays, sparse matrices,
records of `core`, registered methods, a fixed list of scikit-learn estimators, and other ones of types that skops trusts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from handful.core.errors import ModelFileError
from handful.core.ragged import Ragged
from handful.core.registry import card_of
from handful.core.schema import is_rising
from handful.core.small_arrays import FEW_BYTES, few_values, from_rising_bytes, rising_bytes

_TAG = "$"
_NUMBER_KINDS = "biuf"
_INDEX_TYPES = (np.int32, np.int64)


class Encoder:
    """Turn state into JSON values, setting arrays aside.

    Parameters
    ----------
    packed : bool
        All will be packed, so that short arrays are written small, too.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode_state({"size": 2, "rows_": np.arange(2)})
    {'size': 2, 'rows_': {'$': 'array', 'name': '0'}}
    >>> encoder.arrays["0"].tolist()
    [0, 1]
    """

    def __init__(self, packed: bool = False) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._rising = {"least_bytes": FEW_BYTES} if packed else {}
        self.version = 1  # the earliest version of the format that can tell all that was encoded

    def array_block(self) -> bytes:
        """Return all arrays as one safetensors block."""
        from safetensors.numpy import save

        block: bytes = save(self.arrays)
        return block

    def encode_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Encode the attributes of one object."""
        return {name: self._encode(name, value) for name, value in state.items()}

    def _encode(self, where: str, value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic):
            return {_TAG: "scalar", "value": self._encode(where, np.asarray(value).reshape(1))}
        if isinstance(value, int):
            return value if abs(value) < 2**53 else {_TAG: "int", "value": hex(value)}
        if isinstance(value, float):
            return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}
        if isinstance(value, list):
            return [self._encode(where, item) for item in value]
        if isinstance(value, tuple):
            return {_TAG: "tuple", "items": [self._encode(where, item) for item in value]}
        if isinstance(value, Mapping):
            items = [[self._encode(where, key), self._encode(where, item)] for key, item in value.items()]
            return {_TAG: "dict", "items": items}
        if isinstance(value, np.ndarray):
            return self._array(where, value)
        if isinstance(value, Ragged):
            return {
                _TAG: "ragged",
                "values": self._array(where, value.values),
                "offsets": self._array(where, value.offsets),
            }
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # a random stream is of no use to a fitted model
        return self._object(where, value)

    def _array(self, where: str, array: np.ndarray) -> dict[str, Any]:
        if array.dtype.kind in _NUMBER_KINDS and array.dtype.itemsize <= 8:
            native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
            # ascontiguousarray gives a 0-d array one dimension
            native = native.reshape(array.shape)
            if (small := few_values(native)) is not None:
                self.version = max(self.version, 2)
                return {_TAG: "few values", "values": self._keep(small[0]), "numbers": self._keep(small[1])}
            if (steps := rising_bytes(native, **self._rising)) is not None:
                self.version = max(self.version, 3)
                return {_TAG: "rising", "name": self._keep(steps)}
            return {_TAG: "array", "name": self._keep(native)}
        if array.dtype.kind == "U":
            return self._strings(array)
        if array.dtype == object:
            flat = [self._encode(where, item) for item in array.ravel()]
            return {_TAG: "objects", "items": flat, "shape": list(array.shape)}
        raise ModelFileError(f"save: {where} has an array of type {array.dtype}, which a model file cannot hold.")

    def _strings(self, array: np.ndarray) -> dict[str, Any]:
        encoded = [text.encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return {
            _TAG: "strings",
            "text": self._keep(text),
            "offsets": self._keep(offsets),
            "shape": list(array.shape),
        }

    def _object(self, where: str, value: Any) -> dict[str, Any]:
        from scipy import sparse

        if sparse.issparse(value):
            csr = value.tocsr()
            csr.sort_indices()
            parts = {name: self._array(where, getattr(csr, name)) for name in ("data", "indices", "indptr")}
            form = "csr_array" if isinstance(value, sparse.sparray) else "csr_matrix"
            return {_TAG: form, "shape": list(csr.shape), **parts}
        card = card_of(type(value))
        if card is not None:
            return {_TAG: "method", "kind": card.name, "state": self.encode_state(value._state())}
        if hasattr(value, "get_params") and hasattr(value, "fit"):
            return self._estimator(value)
        raise ModelFileError(f"save: {where} is a {type(value).__name__}, which a model file cannot hold.")

    def _estimator(self, value: Any) -> dict[str, Any]:
        # Loaded on first use: most models hold no estimator of another library.
        from handful.core.estimators import estimator_state
        from handful.core.foreign import foreign_state
        from handful.core.forests import FORESTS, forest_state

        name, module = type(value).__name__, type(value).__module__
        if name in FORESTS and module.startswith(FORESTS[name][0]):
            return {_TAG: "forest", "kind": name, "state": self.encode_state(forest_state(value))}
        if (state := estimator_state(value)) is not None:
            return {_TAG: "sklearn", "kind": name, "state": self.encode_state(state)}
        self.version = max(self.version, 3)
        return {_TAG: "foreign", "block": self._keep(foreign_state(value))}

    def _keep(self, array: np.ndarray) -> str:
        name = str(len(self.arrays))
        self.arrays[name] = array
        return name


class Decoder:
    """Turn what `Encoder` wrote back into state.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays that were set aside.
    find_class : callable
        Returns the class of a registered method by its name, or None.

    Examples
    --------
    >>> Decoder({"0": np.arange(2)}, lambda name: None).value({"$": "array", "name": "0"}).tolist()
    [0, 1]
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], find_class: Callable[[str], type | None]) -> None:
        self._arrays = arrays
        self._find_class = find_class

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
        match coded[_TAG]:
            case "array":
                return self._arrays[coded["name"]]
            case "few values":
                return self._few_values(coded)
            case "rising":
                return from_rising_bytes(self._arrays[coded["name"]])
            case "strings":
                return self._strings(coded)
            case "objects":
                flat = np.empty(len(coded["items"]), dtype=object)
                for i, item in enumerate(coded["items"]):
                    flat[i] = self.value(item)
                return flat.reshape(coded["shape"])
            case "tuple":
                return tuple(self.value(item) for item in coded["items"])
            case "dict":
                return {self.value(key): self.value(item) for key, item in coded["items"]}
            case "ragged":
                return Ragged(self.value(coded["values"]), self.value(coded["offsets"]))
            case "scalar":
                return self.value(coded["value"])[0]
            case "int":
                return int(coded["value"], 16)
            case "float":
                return float(coded["value"])
            case "csr_array" | "csr_matrix":
                return self._sparse(coded)
            case "method":
                return self.model(coded["kind"], coded["state"])
            case "sklearn":
                return self._sklearn(coded)
            case "forest":
                return self._forest(coded)
            case "foreign":
                from handful.core.foreign import foreign_from

                return foreign_from(self._arrays[coded["block"]])
        raise ModelFileError("it holds a value of an unknown kind.")

    def _attributes(self, state: Mapping[str, Any]) -> dict[str, Any]:
        if any(not name.isidentifier() or name.startswith("__") for name in state):
            raise ModelFileError("it names an attribute that no model has.")
        return {name: self.value(item) for name, item in state.items()}

    def _few_values(self, coded: Mapping[str, Any]) -> np.ndarray:
        values, numbers = self._arrays[coded["values"]], self._arrays[coded["numbers"]]
        # Single values behind small numbers: memory is at most eight times the file.
        if values.ndim != 1 or values.dtype.kind not in _NUMBER_KINDS or numbers.dtype not in (np.uint8, np.uint16):
            raise ModelFileError("it holds an array of few values that is damaged.")
        array: np.ndarray = values[numbers]
        return array

    def _strings(self, coded: Mapping[str, Any]) -> np.ndarray:
        text, offsets = self._arrays[coded["text"]], self._arrays[coded["offsets"]]
        checked = Ragged(text, offsets)
        raw = checked.values.astype(np.uint8, casting="safe").tobytes()
        bounds = checked.offsets.tolist()
        words = [raw[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(bounds)]
        longest = max(map(len, words), default=1)
        # numpy pads every string to the longest: a hostile file must not turn a few bytes into a huge array
        if longest * max(len(words), 1) > 64 * (len(raw) + 64) + (1 << 26):
            raise ModelFileError("it holds strings of wildly different lengths.")
        return np.array(words, dtype=f"<U{max(longest, 1)}").reshape(coded["shape"])

    def _sparse(self, coded: Mapping[str, Any]) -> Any:
        from scipy import sparse

        data, indices, indptr = (self.value(coded[name]) for name in ("data", "indices", "indptr"))
        n_rows, n_columns = (int(size) for size in coded["shape"])
        # scipy compares differences, which wrap around: compiled code would then read outside the arrays.
        whole = (
            all(type(part) is np.ndarray and part.ndim == 1 for part in (data, indices, indptr))
            and data.dtype.kind in _NUMBER_KINDS
            and indices.dtype in _INDEX_TYPES
            and indptr.dtype in _INDEX_TYPES
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

    def _forest(self, coded: Mapping[str, Any]) -> Any:
        from handful.core.forests import FORESTS, forest_from

        if coded["kind"] not in FORESTS:
            raise ModelFileError("it holds a forest of a kind that is not admitted.")
        return forest_from(coded["kind"], self._attributes(coded["state"]))

    def _sklearn(self, coded: Mapping[str, Any]) -> Any:
        from handful.core.estimators import estimator_from

        return estimator_from(coded["kind"], self._attributes(coded["state"]))
