"""Arrays with few distinct values, for model files: each value once, and a small number for every entry."""

from __future__ import annotations

import numpy as np

_LEAST_BYTES = 1 << 12
_MOST_VALUES = 1 << 16


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
