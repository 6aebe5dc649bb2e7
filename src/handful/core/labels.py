"""What counts as unlabeled outside, and integer codes inside.

Outside, a row without a label carries ``None``, ``NaN``, an empty string, or, where the labels are integers, scikit-learn's ``-1``.
Inside, labels are codes 0, 1, 2, ... and -1 is always "unlabeled".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import AmbiguousLabelsError, DataError

UNLABELED = -1


@dataclass(frozen=True, eq=False)
class Labels:
    """Encoded labels.

    Parameters
    ----------
    codes : ndarray of int32
        One code per row, -1 where the row is unlabeled.
    classes : ndarray
        Label of each code, sorted.

    Examples
    --------
    >>> labels = encode_labels(["b", None, "a"])
    >>> labels.codes.tolist(), labels.classes.tolist(), labels.labeled.tolist()
    ([1, -1, 0], ['a', 'b'], [0, 2])
    """

    codes: np.ndarray
    classes: np.ndarray

    @property
    def labeled(self) -> np.ndarray:
        """Row numbers that have a label."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> np.ndarray:
        """Row numbers that have none."""
        return np.flatnonzero(self.codes == UNLABELED)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Turn codes back into labels; every code must be a class."""
        return np.asarray(self.classes[codes])


def encode_labels(y: Any, *, who: str = "fit", min_classes: int = 1) -> Labels:
    """Encode labels, telling unlabeled rows apart.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: strings, integers, booleans or whole floats; ``None``, ``NaN`` and the empty string mark unlabeled rows, and
        so does -1 where the labels are integers.
    who : str
        Name of the caller, for errors.
    min_classes : int
        How many distinct labels there must be.

    Returns
    -------
    Labels
        Codes and classes.

    Raises
    ------
    AmbiguousLabelsError
        If the labels are exactly {-1, +1}: -1 may be a class or mean "unlabeled".
    DataError
        If `y` is not one-dimensional, mixes kinds of labels, or has too few classes.

    Examples
    --------
    >>> encode_labels([0, 1, -1]).codes.tolist()
    [0, 1, -1]
    >>> encode_labels([-1, 1, 1])
    Traceback (most recent call last):
    ...
    handful.core.errors.AmbiguousLabelsError: fit: labels must not be exactly {-1, +1}, because -1 also means \
"unlabeled". Rename the classes, for example with numpy.where(y == 1, "yes", "no").
    """
    values, present_rows, present = _present(y, who)
    if present.dtype.kind == "i" and len(present) and set(np.unique(present).tolist()) == {-1, 1}:
        raise AmbiguousLabelsError(
            f'{who}: labels must not be exactly {{-1, +1}}, because -1 also means "unlabeled". '
            'Rename the classes, for example with numpy.where(y == 1, "yes", "no").'
        )
    rows, labels = _without_mark(present_rows, present)
    classes, label_codes = np.unique(labels, return_inverse=True)
    if len(classes) < min_classes:
        raise DataError(_too_few(who, classes, len(values), min_classes))
    codes = np.full(len(values), UNLABELED, dtype=np.int32)
    codes[rows] = label_codes
    return Labels(codes, classes)


def code_of(classes: Iterable[Any]) -> dict[Any, int]:
    """Return the code of each class of a fitted model.

    Parameters
    ----------
    classes : array-like or iterable
        The classes, in the order of their codes.

    Returns
    -------
    dict of label to int
        Labels as Python has them, not as numpy does.

    Examples
    --------
    >>> code_of(np.array(["no", "yes"]))
    {'no': 0, 'yes': 1}
    """
    known = classes.tolist() if isinstance(classes, np.ndarray) else classes
    return {label: code for code, label in enumerate(known)}


def codes_among(labels: Any, classes: np.ndarray) -> np.ndarray:
    """Return the code of each label among the classes of a fitted model, -1 for a label that is none of them.

    Parameters
    ----------
    labels : array-like
        Labels, of the type of the classes.
    classes : ndarray
        The classes, sorted.

    Returns
    -------
    ndarray of int64
        One code per label.

    Examples
    --------
    >>> codes_among(["b", "c", "a"], np.array(["a", "b"])).tolist()
    [1, -1, 0]
    """
    given = np.asarray(labels)
    places = np.searchsorted(classes, given).clip(0, len(classes) - 1)
    return np.where(classes[places] == given, places, UNLABELED)


def labeled_part(y: Any, classes: Any, *, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Find the labeled rows of data whose classes are known already, such as a part held back for scoring.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels as in `encode_labels`; -1 is a label where it is among `classes`.
    classes : array-like
        The classes of the fitted model.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    rows : ndarray of int64
        Rows that have a label.
    labels : ndarray
        Their labels.

    Examples
    --------
    >>> rows, labels = labeled_part([1, 1, -1], [0, 1], who="score")
    >>> rows.tolist(), labels.tolist()
    ([0, 1], [1, 1])
    """
    _, rows, present = _present(y, who)
    if UNLABELED in np.asarray(classes).tolist():
        return rows, present
    return _without_mark(rows, present)


def _present(y: Any, who: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all values, the rows that are not missing, and their values in the one type they share."""
    values = _as_array(y, who)
    missing = np.array([_is_missing(v) for v in values], dtype=bool) if values.dtype == object else _missing(values)
    present = values[~missing]
    if values.dtype == object:
        present = _settle(present, who)
    elif values.dtype.kind == "U" and "nan" in values:
        raise DataError(
            f'{who}: the labels hold the text "nan", which numpy makes of a missing label among strings. '
            "Use an object array with None, or rename the class."
        )
    if present.dtype.kind == "f":
        present = _whole(present, who)
    return values, np.flatnonzero(~missing), present


def _without_mark(rows: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    keep = present != UNLABELED if present.dtype.kind == "i" else np.ones(len(present), dtype=bool)
    return rows[keep], present[keep]


def _as_array(y: Any, who: str) -> np.ndarray:
    if isinstance(y, np.ma.MaskedArray):
        y = y.tolist()  # masked entries become None
    if hasattr(y, "to_list") and not isinstance(y, np.ndarray):  # polars and pandas keep None and NA this way
        y = y.to_list()
    elif hasattr(y, "__array__"):
        y = np.asarray(y)
    values = y if isinstance(y, np.ndarray) else _as_objects(y, who)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"{who}: y must have one dimension, got shape {values.shape}.")
    if values.dtype.kind in "mMcV":
        raise DataError(f"{who}: labels must be strings, integers or booleans, got {values.dtype}.")
    return values


def _as_objects(y: Any, who: str) -> np.ndarray:
    if isinstance(y, str | bytes | dict | set | frozenset):
        raise DataError(f"{who}: y must be a sequence of labels, got a {type(y).__name__}.")
    try:
        labels = list(y)
    except TypeError:
        raise DataError(f"{who}: y must be a sequence of labels, got {type(y).__name__}.") from None
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, Real) and not isinstance(value, Integral) and value != value


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "U":
        return np.asarray(np.strings.str_len(np.strings.strip(values)) == 0)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _settle(present: np.ndarray, who: str) -> np.ndarray:
    """Give labels that came as Python objects the one type they share."""
    kinds = {_kind(v) for v in present}
    if len(kinds) > 1 and kinds != {"number", "integer"}:
        names = " and ".join(sorted(kinds))
        raise DataError(f"{who}: labels must all be of one kind, got {names}. Turn them into strings.")
    kind = next(iter(kinds), "string")
    if kind == "other":
        odd = type(present[0]).__name__
        raise DataError(f"{who}: labels must be strings, integers or booleans, got {odd}.")
    if kind == "string":
        return present.astype(str)
    if kind == "boolean":
        return present.astype(bool)
    try:
        return present.astype(np.int64 if kinds == {"integer"} else np.float64)
    except OverflowError:
        raise DataError(f"{who}: integer labels must fit into 64 bits. Turn them into strings.") from None


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Integral):
        return "integer"
    return "number" if isinstance(value, Real) else "other"


def _whole(present: np.ndarray, who: str) -> np.ndarray:
    if not np.isfinite(present).all():
        raise DataError(f"{who}: labels must not be infinite.")
    if (np.abs(present) > 2**53).any():  # beyond, neighboring integers are one and the same float
        raise DataError(f"{who}: whole numbers as labels must stay below 2**53 as floats. Turn them into strings.")
    if (present != np.round(present)).any():
        odd = present[present != np.round(present)][0]
        # "Unknown label type" is the phrase that scikit-learn's own checks look for.
        raise DataError(
            f"{who}: Unknown label type: labels must be classes, got the fraction {odd:g}. "
            "For a regression target use another library; for classes turn them into strings."
        )
    return present.astype(np.int64)


def _too_few(who: str, classes: np.ndarray, n_rows: int, min_classes: int) -> str:
    if len(classes) == 0:
        return f"{who}: at least one row must have a label, got {counted(n_rows, 'row')} without any."
    return f"{who}: labels must hold at least {min_classes} classes, got 1 class ({classes[0]})."
