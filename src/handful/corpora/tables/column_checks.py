"""Columns that can teach nothing, and what is odd about the others, so that a score may not mean what it seems to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.counted import counted
from handful.core.number_forms import Form, to_numbers
from handful.core.records import Kind, Table
from handful.corpora.tables.label_checks import label_suspicions

if TYPE_CHECKING:
    import polars as pl

_ENOUGH = 30  # labels that must agree before a column is said to give them away
_SURE = 0.995
_ID_NAME = re.compile(r"(.*[_\W])?(id|uid|uuid|guid)([_\W].*)?|.*[a-z0-9](ID|Id)|(.*[_\W])?(ID|Id)")
_NUMBER_NAME = re.compile(r"(.*[_\W])?(index|key|row|rownames|nr|no|number)|unnamed: 0")
_NEARLY_ALL = 0.95
_MOST_TOLD = 3
_MANY_VALUES = 20  # names of several words that may be texts
_WORDY = 2.5  # words of such a value, on average


def left_out(table: Table, chosen: Collection[str] = (), codes: np.ndarray | None = None) -> dict[str, str]:
    """Return the columns that can teach nothing.

    Parameters
    ----------
    table : Table
        Rows with kinds.
    chosen : collection of str
        Columns whose kind the user gave; these stay, unless they are empty.
    codes : ndarray of int, optional
        Class of each row, -1 where unlabeled.

    Returns
    -------
    dict of str to str
        Names, each with the reason.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"x": [1, 2], "same": ["a", "a"], "empty": [None, None]})
    >>> left_out(Table(rows, {"x": "numeric", "same": "nominal", "empty": "numeric"}))
    {'same': 'it has the same value in all rows', 'empty': 'it is empty'}
    """
    reasons = {}
    for name, kind in table.kinds.items():
        cells = table.frame[name]
        n_filled = int(cells.is_finite().sum()) if cells.dtype.is_float() else len(cells) - cells.null_count()
        if n_filled == 0:
            reasons[name] = "it is empty"
        elif name not in chosen:
            n_values = cells.drop_nulls().n_unique()
            if n_values == 1 and n_filled == len(cells):
                reasons[name] = "it has the same value in all rows"
            elif is_identifier(name, kind, cells, is_plain=name not in table.forms):
                reasons[name] = f"it looks like an identifier. Keep it with --columns {shlex.quote(f'{name}={kind}')}"
            elif codes is not None and only_where_labeled(cells, codes):
                keep = shlex.quote(f"{name}={kind}")
                reasons[name] = f"it is filled only where there is a label. Keep it with --columns {keep}"
    return reasons


def none_tells(target: str, reasons: Mapping[str, str]) -> str:
    """Say that no column is left to learn from, and why.

    Parameters
    ----------
    target : str
        The label column.
    reasons : mapping of str to str
        The columns that are left out, each with the reason; see `left_out`.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> none_tells("y", {"x": "it is empty"})
    "at least one column beside 'y' must tell rows apart, got none: 'x' is left out: it is empty."
    """
    told = "; ".join(f"{name!r} is left out: {why}" for name, why in list(reasons.items())[:_MOST_TOLD])
    return (
        f"at least one column beside {target!r} must tell rows apart, got none: {told or 'there is no other column'}."
    )


def is_identifier(name: str, kind: Kind, cells: pl.Series, *, is_plain: bool = True) -> bool:
    """Tell whether a column only names its rows.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "nominal", "text"}
        Its kind.
    cells : polars.Series
        Its cells.
    is_plain : bool
        Whether its numbers are written plainly; dates and amounts are no identifiers.

    Returns
    -------
    bool
        True for 20 or more filled cells that nearly all differ and are names, or whole numbers that run on in the order
        of the rows or whose column is called an id, a number or an index.

    Examples
    --------
    >>> import polars as pl
    >>> is_identifier("PassengerId", "numeric", pl.Series(range(1, 31))), is_identifier("x", "numeric", pl.Series([5] * 30))
    (True, False)
    """
    filled = cells.drop_nulls()
    n = len(filled)
    if kind == "text" or n < max(20, 0.9 * len(cells)) or not is_plain:
        return False
    n_values = filled.n_unique()
    is_called_id = _ID_NAME.fullmatch(name) is not None
    is_called_number = _NUMBER_NAME.fullmatch(name.lower()) is not None
    if kind == "nominal":
        return n_values >= _NEARLY_ALL * n
    if not filled.dtype.is_integer():
        return False
    if is_called_id or is_called_number:
        return n_values > (0.5 if is_called_id else _NEARLY_ALL) * n
    return n_values == n and bool((filled.diff().drop_nulls() == 1).all())


def suspicions(
    frame: pl.DataFrame,
    kinds: Mapping[str, Kind],
    codes: np.ndarray,
    classes: Any,
    forms: Mapping[str, Form] | None = None,
) -> list[str]:
    """Return a sentence for each thing that a user should look at before trusting a score.

    Parameters
    ----------
    frame : polars.DataFrame
        Feature columns.
    kinds : mapping of str to kind
        Kinds of those that are used.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    classes : sequence
        Label of each code.
    forms : mapping of str to str, optional
        Forms of numbers that are written as text.

    Returns
    -------
    list of str
        About columns filled only where labels are, columns that give the label away, rows that are on both sides, labels
        that differ in case alone, and rare classes.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"outcome": ["paid", "due"] * 20, "size": list(range(40))})
    >>> print(*suspicions(rows, {"outcome": "nominal", "size": "numeric"}, np.arange(40) % 2, ["a", "b"]))
    Column 'outcome' alone tells the label of all 40 labeled rows. Was it known before the label?
    If not, leave it out with --columns outcome=skip.
    """
    notes: list[str] = []
    for name, kind in kinds.items():
        cells = frame[name]
        if kind != "text":
            notes.extend(_given_away(name, kind, cells, codes, (forms or {}).get(name, "plain")))
        if only_where_labeled(cells, codes):
            notes.append(
                f"Column {name!r} is filled only where there is a label, so it cannot help with the other rows. "
                f"Leave it out with --columns {shlex.quote(f'{name}=skip')}."
            )
    notes.extend(_on_both_sides(frame.select(list(kinds)), codes))
    notes.extend(label_suspicions(codes, classes))
    return notes


def perhaps_texts(frame: pl.DataFrame, kinds: Mapping[str, Kind], chosen: Collection[str] = ()) -> list[str]:
    """Return a sentence for each column that is read as names, though many of its values are several words long.

    Parameters
    ----------
    frame : polars.DataFrame
        Feature columns.
    kinds : mapping of str to kind
        Kinds of those that are used.
    chosen : collection of str
        Columns whose kind the user gave, of which nothing is said.

    Returns
    -------
    list of str
        The sentences.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"note": [f"please call number {i % 30}" for i in range(90)]})
    >>> perhaps_texts(rows, {"note": "nominal"})
    ["Column 'note' is read as names (30 values); if it is text: --columns note=text."]
    """
    told = []
    for name, kind in kinds.items():
        if kind != "nominal" or name in chosen:
            continue
        values = frame[name].cast(str).drop_nulls().unique()
        n_words = values.str.count_matches(r"\p{L}{2,}").sum()
        if len(values) >= _MANY_VALUES and n_words >= _WORDY * len(values):
            text = shlex.quote(f"{name}=text")
            told.append(
                f"Column {name!r} is read as names ({counted(len(values), 'value')}); if it is text: --columns {text}."
            )
    return told


def only_where_labeled(cells: pl.Series, codes: np.ndarray) -> bool:
    """Tell whether a column is filled where there is a label and nowhere else.

    Parameters
    ----------
    cells : polars.Series
        The column.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.

    Returns
    -------
    bool
        False where fewer than ten rows are unlabeled.

    Examples
    --------
    >>> import polars as pl
    >>> only_where_labeled(pl.Series([1, 2, *[None] * 10]), np.array([0, 1, *[-1] * 10]))
    True
    """
    filled = cells.is_not_null().to_numpy()
    labeled = codes >= 0
    n_unlabeled = int((~labeled).sum())
    return bool(n_unlabeled >= 10 and labeled.any() and not filled[~labeled].any() and filled[labeled].mean() > 0.5)


def _given_away(name: str, kind: Kind, cells: pl.Series, codes: np.ndarray, form: Form) -> Iterator[str]:
    labeled = np.flatnonzero(codes >= 0)
    if len(labeled) < _ENOUGH or np.bincount(codes[labeled])[np.unique(codes[labeled])].min() < 5:
        return
    right = codes[labeled]
    if kind == "numeric":
        share = _best_runs(to_numbers(cells[labeled], form), right)
    else:
        share = _best_names(cells[labeled].cast(str).fill_null("").to_numpy(), right)
    if share >= _SURE:
        told = "all" if share == 1 else f"{share:.1%} of the"
        yield (
            f"Column {name!r} alone tells the label of {told} {len(labeled):,} labeled rows. Was it known before the label? "
            f"If not, leave it out with --columns {shlex.quote(f'{name}=skip')}."
        )


def _best_names(names: np.ndarray, right: np.ndarray) -> float:
    """Share of rows that the most frequent class of their name gets right; 0 where names hardly repeat."""
    values, places = np.unique(names.astype(str), return_inverse=True)
    if 5 * len(values) > len(right):
        return 0.0
    counts = np.zeros((len(values), int(right.max()) + 1), dtype=np.int64)
    np.add.at(counts, (places, right), 1)
    return float(counts.max(axis=1).sum() / len(right))


def _best_runs(numbers: np.ndarray, right: np.ndarray) -> float:
    """Share of rows that as many intervals as there are classes get right (missing cells are one more)."""
    known = ~np.isnan(numbers)
    if not known.any():
        return 0.0
    n_unknown = int((~known).sum())
    n_right = int(np.bincount(right[~known]).max()) if n_unknown else 0
    if n_right < _SURE * n_unknown:
        return 0.0
    order = np.argsort(numbers[known], kind="stable")
    values, codes = numbers[known][order], right[known][order]
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    if len(changes) > len(np.unique(codes)) or (values[changes] == values[changes - 1]).any():
        return 0.0
    return (n_right + len(values)) / len(right)


def _on_both_sides(frame: pl.DataFrame, codes: np.ndarray) -> Iterator[str]:
    if frame.width < 2 or not (codes < 0).any() or not (codes >= 0).any():
        return
    hashes = frame.hash_rows(seed=0).to_numpy()
    # In a table of few possible rows, equal ones are nothing odd.
    if len(np.unique(hashes)) < 0.5 * len(hashes):
        return
    copies = int(np.isin(hashes[codes < 0], hashes[codes >= 0]).sum())
    if copies >= max(2, 0.01 * (codes < 0).sum()):
        yield (
            f"{copies:,} unlabeled rows are copies of labeled ones. If the same happens between rows that are learned from "
            "and rows that are tested, scores flatter: drop the copies."
        )
