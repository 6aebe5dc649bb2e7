"""Labels: which cells of a column are labels, and integer codes for them.

In data, a row without a label has ``None``, ``NaN``, an empty cell or, where labels are integers, -1 as in scikit-learn. Codes
are 0, 1, 2, ... and -1 always means unlabeled.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.columns import MISSING, infer_columns, read_values
from handful.errors import AmbiguousLabelsError, DataError, Notice, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

UNLABELED = -1


_ASKED = frozenset(
    {"unknown", "todo", "to do", "tbd", "tba", "-", "--", ".", "...", "none", "unlabeled", "unlabelled", "not labeled"}
    | {"no label", "missing", "nil", "??", "-1", "-1.0"}
)
"""Labels that may mean "no label", in lower case: a notice asks whether they do."""

MINUS_ONE = frozenset({"-1", "-1.0"})

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})(\.0+)?$"
_FEWEST_NUMBERS = 20
_FEWEST_ONCE = 8  # distinct numbers, most of which occur once
_LISTED = re.compile(r"\[.*,.*\]", re.DOTALL)


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
    y : Labels, or array-like of shape (n,)
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
    handful.errors.AmbiguousLabelsError: fit: labels must not be exactly {-1, +1}, because -1 also means \
"unlabeled". Rename the classes, for example with numpy.where(y == 1, "yes", "no").
    """
    labels = y if isinstance(y, Labels) else _encoded(y, who)
    if len(labels.classes) < min_classes:
        if not len(labels.classes):
            n_rows = counted(len(labels.codes), "row")
            raise DataError(f"{who}: at least one row must have a label, got {n_rows} without any.")
        raise DataError(f"{who}: labels must hold at least {min_classes} classes, got 1 class ({labels.classes[0]}).")
    return labels


def labels_of(y: Any, n: int, *, model_name: str) -> Labels:
    """Encode the labels of `n` rows; a column of labels is taken with scikit-learn's warning."""
    if y is None:
        raise DataError(f"{model_name}: fit requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected by {model_name}. Pass y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    labels = encode_labels(y, who=model_name)
    if len(labels.codes) != n:
        raise DataError(f"{model_name}: X and y must have the same number of rows, got {n} and {len(labels.codes)}.")
    return labels


def _encoded(y: Any, who: str) -> Labels:
    values, present_rows, present = _present(y, who)
    if present.dtype.kind == "i" and len(present) and set(np.unique(present).tolist()) == {-1, 1}:
        raise AmbiguousLabelsError(
            f'{who}: labels must not be exactly {{-1, +1}}, because -1 also means "unlabeled". '
            'Rename the classes, for example with numpy.where(y == 1, "yes", "no").'
        )
    rows, labels = _without_mark(present_rows, present)
    classes, label_codes = np.unique(labels, return_inverse=True)
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
    values = np.asarray(labels)
    places = np.searchsorted(classes, values).clip(0, len(classes) - 1)
    return np.where(classes[places] == values, places, UNLABELED)


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
    if isinstance(y, str | bytes | dict | set | frozenset) or not isinstance(y, Iterable):
        raise DataError(f"{who}: y must be a sequence of labels, got {type(y).__name__}.")
    if isinstance(y, np.ndarray):
        values = y
    else:
        labels = list(y)
        values = np.empty(len(labels), dtype=object)
        values[:] = labels
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"{who}: y must have one dimension, got shape {values.shape}.")
    if values.dtype.kind in "mMcV":
        raise DataError(f"{who}: labels must be strings, integers or booleans, got {values.dtype}.")
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


def read_labels(
    cells: pl.Series, missing_labels: Collection[str] = (), keep_labels: Collection[str] = ()
) -> tuple[Labels, list[Notice]]:
    """Read the cells of a label column.

    Parameters
    ----------
    cells : polars.Series
        The column.
    missing_labels : collection of str
        Cells that mean "no label" as well.
    keep_labels : collection of str
        Cells that are labels although they look missing, such as ``"NA"``, ``"?"`` or ``"-1"``.

    Returns
    -------
    labels : Labels
        Integers if all labels are whole numbers, unless -1 is one of the classes.
    notices : list of Notice
        Cells that may mean something else.

    Raises
    ------
    AmbiguousLabelsError
        If labels are -1 and 1, and no cell is empty: -1 may be a class or mean "no label".
    DataError
        If the labels are many different numbers: a quantity.
    ParameterError
        If a cell is in `missing_labels` and `keep_labels`.

    Notes
    -----
    Missing cells (see `handful.data.columns.MISSING`) are unlabeled. Among integers, -1 is unlabeled as in scikit-learn, unless
    other cells are empty. Labels that differ in composed letters (NFC) or invisible characters alone are one class.

    Examples
    --------
    >>> import polars as pl
    >>> labels, notices = read_labels(pl.Series("y", ["a", "b", "N/A", "unknown"]))
    >>> labels.classes.tolist(), labels.codes.tolist(), [notice.code for notice in notices]
    (['a', 'b', 'unknown'], [0, 1, -1, 2], ['filled-unlabeled', 'class-or-unlabeled'])
    >>> read_labels(pl.Series("y", [-1, 0, 1]))[0].codes.tolist()
    [-1, 0, 1]
    """
    import polars as pl

    both = [label for label in missing_labels if label in keep_labels]
    if both:
        raise ParameterError(f"missing_labels and keep_labels: {both[0]!r} is in both. Name it in one of them.")
    notices: list[Notice] = []
    if cells.dtype.is_float() or cells.dtype.is_decimal():
        cells = cells.cast(pl.Float64).fill_nan(None)
    elif not cells.dtype.is_integer() and cells.dtype != pl.Boolean:
        cells = cells.cast(pl.String).str.strip_chars()
        notices += _filled_unlabeled(cells.filter(cells.is_in(list(MISSING))), keep_labels)
        cells = cells.set(cells.is_in([cell for cell in MISSING if cell not in keep_labels]), None)
    notices += _absent(cells, missing_labels, "missing_labels", "--missing-label")
    notices += _absent(cells, keep_labels, "keep_labels", "--keep-label")
    cells = cells.set(_is_one_of(cells, missing_labels), None)
    cells, minus = _minus_one(cells, keep_labels)
    _refuse_quantity(cells)
    labels, spelled = merge_variants(encode_labels(cells.to_list(), who=f"column {cells.name!r}", min_classes=0))
    notices += [*minus, *spelled]
    if cells.dtype == pl.String:
        notices += [*_asked(cells, {*keep_labels, *(MINUS_ONE if minus else ())}), *_several_labels(cells)]
    return labels, notices


def _filled_unlabeled(cells: pl.Series, keep_labels: Collection[str]) -> list[Notice]:
    """Name the cells that are missing although they are filled."""
    counts = _counts(cells.filter((cells != "") & ~cells.is_in(list(keep_labels))))
    if not counts:
        return []
    first, total = next(iter(counts)), sum(counts.values())
    text = f"{counted(total, 'cell', 'is/are')} unlabeled in {cells.name!r}: {_listed(counts)}."
    return [Notice("filled-unlabeled", text, cells.name, f"keep_labels=[{first!r}]", f"--keep-label {first!r}")]


def _asked(cells: pl.Series, keep_labels: Collection[str]) -> list[Notice]:
    """Name the classes that may mean "no label"."""
    counts = _counts(cells.filter(cells.str.to_lowercase().is_in(list(_ASKED)) & ~cells.is_in(list(keep_labels))))
    if not counts:
        return []
    first = next(iter(counts))
    text = f"{_listed(counts)} in {cells.name!r} {'is a class' if len(counts) == 1 else 'are classes'}."
    fixes = f"missing_labels={list(counts)!r}", f"--missing-label {first!r}"
    return [Notice("class-or-unlabeled", text, cells.name, *fixes)]


def _counts(cells: pl.Series) -> dict[str, int]:
    counts = cells.drop_nulls().value_counts(name="n rows").iter_rows()
    return dict(sorted(counts, key=lambda pair: (-pair[1], pair[0])))


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{cell!r} ({n:,})" for cell, n in counts.items())


def _is_one_of(cells: pl.Series, names: Collection[str]) -> pl.Series:
    """Find the cells that are among some names; -1 is found with a tail (``-1.0``) and without."""
    import polars as pl

    texts = cells.cast(pl.String)
    is_one = texts.is_in(list(names))
    return is_one | texts.is_in(list(MINUS_ONE)) if MINUS_ONE & set(names) else is_one


def _absent(cells: pl.Series, names: Collection[str], parameter: str, option: str) -> list[Notice]:
    """Say which names are in no cell, and which cell may have been meant."""
    import polars as pl

    notices = []
    values = cells.cast(pl.String).drop_nulls().unique().sort().to_list() if names else []
    for name in names:
        if name.strip() and not _is_one_of(cells, [name]).any():
            alike = [value for value in values if value.lower() == name.strip().lower()] or get_close_matches(
                name, values, n=1
            )
            hint = f" Did you mean {alike[0]!r}?" if alike else ""
            text = f"No cell of {cells.name!r} is {name!r}.{hint}"
            notices.append(Notice("label-not-there", text, cells.name, parameter, option))
    return notices


def _minus_one(cells: pl.Series, keep_labels: Collection[str]) -> tuple[pl.Series, list[Notice]]:
    """Read labels that are all whole numbers as integers, and settle what -1 means among them."""
    import polars as pl

    numbers = whole_numbers(cells)
    if numbers is None:
        return cells, []
    # 1 and 1.0 are one label; where all labels have the tail, they keep it.
    has_tails = cells.dtype == pl.String and bool(cells.str.ends_with(".0").any())
    integers = cells if has_tails and numbers.n_unique() == cells.n_unique() else numbers
    n = int((numbers == -1).sum())
    if not n:
        return integers, []
    if MINUS_ONE & set(keep_labels):
        return cells.cast(pl.String), []
    if cells.null_count():
        text = f"-1 ({counted(n, 'cell')}) in {cells.name!r} is a class, since unlabeled cells are empty."
        return cells.cast(pl.String), [
            Notice("minus-one-class", text, cells.name, 'missing_labels=["-1"]', "--missing-label -1")
        ]
    if set(numbers.unique()) == {-1, 1}:
        raise AmbiguousLabelsError(
            f'column {cells.name!r}: labels are -1 and 1, and no cell is empty, so -1 may be a class or mean "no label". '
            'Say which with --keep-label -1 (keep_labels=["-1"]) or --missing-label -1 (missing_labels=["-1"]).'
        )
    text = f"{counted(n, 'cell', 'is/are')} unlabeled in {cells.name!r}: -1."
    fixes = 'keep_labels=["-1"]', "--keep-label -1"
    return integers.set(numbers == -1, None), [Notice("filled-unlabeled", text, cells.name, *fixes)]


def whole_numbers(cells: pl.Series) -> pl.Series | None:
    """Return labels that are all whole numbers as integers, else None."""
    import polars as pl

    if cells.dtype == pl.String:
        filled = cells.drop_nulls()
        return (
            cells.str.replace(r"\.0+$", "").cast(pl.Int64)
            if len(filled) and filled.str.contains(_WHOLE).all()
            else None
        )
    if cells.dtype.is_float():
        return cells.cast(pl.Int64) if ((cells == cells.round()) & (cells.abs() < 2**53)).all() else None
    return cells.cast(pl.Int64) if cells.dtype.is_integer() else None


def merge_variants(labels: Labels) -> tuple[Labels, list[Notice]]:
    r"""Make one class of labels that look alike: composed and decomposed letters (NFC), with and without invisible characters.

    Examples
    --------
    >>> labels, notices = merge_variants(encode_labels(["tea", "tea\u200b", "ale", "tea"]))
    >>> labels.classes.tolist(), labels.codes.tolist(), [notice.code for notice in notices]
    (['ale', 'tea'], [1, 1, 0, 1], ['label-variants'])
    """
    if labels.classes.dtype.kind != "U":
        return labels, []
    keys = [unicodedata.normalize("NFC", _INVISIBLE.sub("", label)).strip() for label in labels.classes.tolist()]
    if len(set(keys)) == len(keys):
        return labels, []
    counts = np.bincount(labels.codes[labels.labeled], minlength=len(keys))
    best: dict[str, int] = {}
    for code, key in enumerate(keys):
        if key not in best or counts[code] > counts[best[key]]:
            best[key] = code
    kept = np.array(sorted(best.values()))
    to = np.searchsorted(kept, [best[key] for key in keys])
    codes = np.where(labels.codes >= 0, to[labels.codes], UNLABELED).astype(np.int32)
    merged = sorted(key for key, n in Counter(keys).items() if n > 1)
    text = f"Variants of {', '.join(map(repr, merged[:5]))} that look alike are read as one class."
    return Labels(codes, labels.classes[kept]), [Notice("label-variants", text)]


def _refuse_quantity(cells: pl.Series) -> None:
    """Raise if labels are many different numbers, such as prices: not running numbers, and hardly repeated."""
    filled = cells.drop_nulls()
    values = filled.unique()
    if len(values) <= _FEWEST_NUMBERS and not _FEWEST_ONCE <= len(values) > 0.7 * len(filled):
        return
    (spec,), _ = infer_columns(values.to_frame())
    if spec.kind != "numeric":
        return
    numbers = read_values(values.to_frame(), [spec])[values.name].to_numpy()
    runs = (numbers == numbers.round()).all() and len(values) >= 0.8 * (numbers.max() - numbers.min() + 1)
    if not runs and 5 * len(values) >= len(filled):
        raise DataError(
            f"column {cells.name!r}: {len(values):,} different numbers in {len(filled):,} labels look like a quantity. "
            "Cut it into classes first (such as low and high), or write the numbers as names."
        )


def _several_labels(cells: pl.Series) -> list[Notice]:
    """Say that cells hold several labels, if parts of one cell are in others."""
    values = cells.drop_nulls().unique().sort().to_list()
    # Commas separate labels only in cells that look like lists; elsewhere they may be part of a name.
    separators = ";|," if any(map(_LISTED.fullmatch, values)) else ";|"
    parts = {value: [part.strip(" '\"[]") for part in re.split(f"[{separators}]", value)] for value in values}
    several = {value: names for value, names in parts.items() if len(names) > 1}
    alone = {names[0] for names in parts.values() if len(names) == 1}
    listed = [name for names in several.values() for name in names]
    if len(several) < 2 or (len(listed) == len(set(listed)) and alone.isdisjoint(listed)):
        return []
    text = f"Cells of {cells.name!r} seem to hold several labels, such as {next(iter(several))!r}; each combination is a class."
    return [Notice("several-labels", text, cells.name)]
