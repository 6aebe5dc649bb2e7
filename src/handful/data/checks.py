"""Columns that hold no information, and what is odd about columns and labels, as notices."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.columns import ColumnSpec
from handful.data.labels import Labels
from handful.errors import DataError, Notice, counted

if TYPE_CHECKING:
    import polars as pl

MAX_CLASSES = 1_000
"""Most classes that methods can learn."""

SELECTION = "next_selection"
"""Column that keeps whether a row was ``chosen`` by a query strategy or at ``random``; never a feature."""

RARE_SHARE = 0.1
"""A class with a smaller share of the labels than this part of an even share among two is rare."""

LOPSIDED = 0.8
"""Where one class has more of the labels than this share, methods are compared by balanced accuracy by default."""

_ENOUGH = 30  # labels that a column must predict before it is reported
_SURE = 0.995
_ID_NAME = re.compile(r"(.*[_\W])?(id|uid|uuid|guid)([_\W].*)?|.*[a-z0-9](ID|Id)|(.*[_\W])?(ID|Id)")
_FEWEST_IDS = 20
_NEARLY_ALL = 0.95
_MOST_NAMED = 3
_MANY_VALUES = 20  # distinct values of several words that may be text
_WORDY = 2.5  # words of such a value, on average
_OFTEN = 5
_WHY = {
    "empty-column": "empty",
    "constant-column": "it has one value in all rows",
    "identifier": "it looks like an identifier",
    "filled-only-if-labeled": "it is filled only where there is a label",
}


def skip_uninformative(
    values: pl.DataFrame, columns: Sequence[ColumnSpec], labels: Labels | None = None, *, identifiers: bool = True
) -> tuple[tuple[ColumnSpec, ...], list[Notice]]:
    """Skip the columns that hold no information, unless the user chose their kind.

    Parameters
    ----------
    values : polars.DataFrame
        Typed values, see `handful.data.columns.read_values`.
    columns : sequence of ColumnSpec
        All columns.
    labels : Labels, optional
        Labels of the rows.
    identifiers : bool, default=True
        Whether to look for identifiers.

    Returns
    -------
    columns : tuple of ColumnSpec
        Skipped are empty columns, those with one value in all rows, identifiers, and those filled only where there is a label.
    notices : list of Notice
        One for each, or one for many of the same reason.

    Examples
    --------
    >>> import polars as pl
    >>> values = pl.DataFrame({"x": [1.0, 2.0], "same": ["a", "a"]})
    >>> specs, notices = skip_uninformative(values, [ColumnSpec("x", "numeric"), ColumnSpec("same", "categorical")])
    >>> [spec.kind for spec in specs], str(notices[0])
    (['numeric', 'skip'], "Column 'same' is left out: it has one value in all rows.")
    """
    reasons: dict[str, list[ColumnSpec]] = {}
    for spec in columns:
        code = None if spec.kind == "skip" else _uninformative(values[spec.name], spec, labels, identifiers)
        if code is not None:
            reasons.setdefault(code, []).append(spec)
    notices = [notice for code, specs in reasons.items() if code != "selection" for notice in _left_out(code, specs)]
    skipped = {spec.name for specs in reasons.values() for spec in specs}
    return tuple(replace(spec, kind="skip") if spec.name in skipped else spec for spec in columns), notices


def _uninformative(cells: pl.Series, spec: ColumnSpec, labels: Labels | None, identifiers: bool) -> str | None:
    n_filled = cells.count()
    if n_filled == 0:
        return "empty-column"
    if spec.name == SELECTION:
        return "selection"
    if spec.set_by_user:
        return None
    if n_filled == len(cells) and cells.n_unique() == 1:
        return "constant-column"
    if identifiers and is_identifier(cells, spec):
        return "identifier"
    return "filled-only-if-labeled" if labels is not None and _is_filled_only_if_labeled(cells, labels) else None


def _left_out(code: str, specs: Sequence[ColumnSpec]) -> Iterator[Notice]:
    if len(specs) > _MOST_NAMED:
        names = ", ".join(repr(spec.name) for spec in specs[:_MOST_NAMED])
        yield Notice(code, f"{len(specs):,} columns ({names}, ...) are left out, each for one reason: {_WHY[code]}.")
        return
    for spec in specs:
        text = f"Column {spec.name!r} is left out: {_WHY[code]}."
        keep = None if code == "empty-column" else f"--columns {shlex.quote(f'{spec.name}={spec.kind}')}"
        yield Notice(code, text, spec.name, keep and f"columns={ {spec.name: spec.kind}!r}", keep)


def is_identifier(cells: pl.Series, spec: ColumnSpec) -> bool:
    """Whether a column only names its rows.

    At least 20 cells are filled and nearly all differ: categories, running numbers, or whole numbers of a column called an id.

    Examples
    --------
    >>> import polars as pl
    >>> spec = ColumnSpec("PassengerId", "numeric")
    >>> is_identifier(pl.Series(range(1, 31)), spec), is_identifier(pl.Series([5] * 30), spec)
    (True, False)
    """
    filled = cells.drop_nulls()
    n = len(filled)
    if spec.kind not in ("numeric", "categorical") or n < max(_FEWEST_IDS, 0.9 * len(cells)):
        return False
    n_values = filled.n_unique()
    if spec.kind == "categorical":
        return n_values >= _NEARLY_ALL * n
    if not (filled == filled.round()).all():
        return False
    if _ID_NAME.fullmatch(spec.name):
        return 2 * n_values > n
    return n_values == n and bool((filled.diff().drop_nulls() == 1).all())


def _is_filled_only_if_labeled(cells: pl.Series, labels: Labels) -> bool:
    filled, labeled = cells.is_not_null().to_numpy(), labels.codes >= 0
    if (~labeled).sum() < 10 or not labeled.any():
        return False
    return not filled[~labeled].any() and bool(filled[labeled].mean() > 0.5)


def check_table(values: pl.DataFrame, columns: Sequence[ColumnSpec], labels: Labels) -> list[Notice]:
    """Return what a user should look at before trusting a score.

    Parameters
    ----------
    values : polars.DataFrame
        Typed values.
    columns : sequence of ColumnSpec
        All columns.
    labels : Labels
        Labels of the rows.

    Returns
    -------
    list of Notice
        About columns that may be text, columns that give the label away, rows that are labeled and unlabeled, and labels.

    Examples
    --------
    >>> import polars as pl
    >>> values = pl.DataFrame({"outcome": ["paid", "due"] * 20, "size": [float(i) for i in range(40)]})
    >>> specs = [ColumnSpec("outcome", "categorical"), ColumnSpec("size", "numeric")]
    >>> [notice.code for notice in check_table(values, specs, Labels(np.arange(40) % 2, np.array(["a", "b"])))]
    ['gives-label-away']
    """
    used = [spec for spec in columns if spec.kind != "skip"]
    notices = [notice for spec in used for notice in _may_be_text(values[spec.name], spec)]
    for spec in used:
        notices += _gives_label_away(values[spec.name], spec, labels)
        if spec.set_by_user and _is_filled_only_if_labeled(values[spec.name], labels):
            text = f"Column {spec.name!r} is filled only where there is a label, so it cannot help with the other rows."
            notices.append(Notice("filled-only-if-labeled", text, spec.name, *_skip_fixes(spec)))
    return [*notices, *_copied_rows(values.select(spec.name for spec in used), labels.codes), *check_labels(labels)]


def _skip_fixes(spec: ColumnSpec) -> tuple[str, str]:
    return f"columns={ {spec.name: 'skip'}!r}", f"--columns {shlex.quote(f'{spec.name}=skip')}"


def _may_be_text(cells: pl.Series, spec: ColumnSpec) -> list[Notice]:
    if spec.kind != "categorical" or spec.set_by_user:
        return []
    distinct = cells.drop_nulls().unique()
    if len(distinct) < _MANY_VALUES or distinct.str.count_matches(r"\p{L}{2,}").sum() < _WORDY * len(distinct):
        return []
    text = f"Column {spec.name!r} is categorical ({counted(len(distinct), 'value')}), but may be text."
    fix = f"--columns {shlex.quote(f'{spec.name}=text')}"
    return [Notice("may-be-text", text, spec.name, f"columns={ {spec.name: 'text'}!r}", fix)]


def _gives_label_away(cells: pl.Series, spec: ColumnSpec, labels: Labels) -> list[Notice]:
    labeled = labels.labeled
    codes = labels.codes[labeled]
    counts = np.bincount(codes)
    if spec.kind == "text" or len(codes) < _ENOUGH or (counts > 0).sum() < 2 or counts[counts > 0].min() < 5:
        return []
    cells = cells[labeled]
    if spec.kind == "categorical":
        score = _best_by_value(cells.fill_null("").to_numpy(), codes)
    else:
        score = _best_by_intervals(cells.cast(float).fill_null(np.nan).to_numpy(), codes)
    if score < _SURE:
        return []
    part = "all" if score == 1 else f"{score:.1%} of the"
    text = f"Column {spec.name!r} alone predicts the label of {part} {len(codes):,} labeled rows. Was it known before the label?"
    return [Notice("gives-label-away", text, spec.name, *_skip_fixes(spec))]


def _best_by_value(names: np.ndarray, codes: np.ndarray) -> float:
    """Accuracy of the most frequent class of each value; 0 where values hardly repeat."""
    values, places = np.unique(names, return_inverse=True)  # objects: fixed width is that of the longest, in each row
    if 5 * len(values) > len(codes):
        return 0.0
    counts = np.zeros((len(values), int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (places, codes), 1)
    return float(counts.max(axis=1).sum() / len(codes))


def _best_by_intervals(numbers: np.ndarray, codes: np.ndarray) -> float:
    """Accuracy of as many intervals as there are classes; missing cells are one more."""
    known = ~np.isnan(numbers)
    n_missing = int((~known).sum())
    n_correct = int(np.bincount(codes[~known]).max()) if n_missing else 0
    if not known.any() or n_correct < _SURE * n_missing:
        return 0.0
    order = np.argsort(numbers[known], kind="stable")
    values, sorted_codes = numbers[known][order], codes[known][order]
    changes = np.flatnonzero(sorted_codes[1:] != sorted_codes[:-1]) + 1
    if len(changes) > len(np.unique(sorted_codes)) or (values[changes] == values[changes - 1]).any():
        return 0.0
    return (n_correct + len(values)) / len(codes)


def _copied_rows(values: pl.DataFrame, codes: np.ndarray) -> list[Notice]:
    if values.width < 2 or not (codes < 0).any() or not (codes >= 0).any():
        return []
    hashes = values.hash_rows(seed=0).to_numpy()
    # In a table of few possible rows, equal ones are not odd.
    if len(np.unique(hashes)) < 0.5 * len(hashes):
        return []
    n_copies = int(np.isin(hashes[codes < 0], hashes[codes >= 0]).sum())
    if n_copies < max(2, 0.01 * (codes < 0).sum()):
        return []
    text = (
        f"{n_copies:,} unlabeled rows are copies of labeled ones. If test rows are copies as well, scores are too high."
    )
    return [Notice("copied-rows", text)]


def check_labels(labels: Labels) -> list[Notice]:
    """Return what a user should look at in the labels.

    Examples
    --------
    >>> labels = Labels(np.array([0] * 8 + [1] * 8 + [2]), np.array(["cat", "dog", "dgo"]))
    >>> [notice.code for notice in check_labels(labels)]
    ['misspelled-label', 'rare-classes']
    """
    classes = labels.classes
    counts = np.bincount(labels.codes[labels.labeled], minlength=len(classes))
    notices = [*_differ_in_case(classes), *_misspelled(counts, classes)]
    if len(classes) and (counts == 1).all():
        text = f"Each of the {len(classes):,} classes has one label, so accuracy cannot be estimated. Two labels of each would do."
        notices.append(Notice("single-label-classes", text))
    rare = rare_classes(labels.codes, classes)
    if rare:
        named = ", ".join(f"{str(label)!r} ({counted(n, 'label')})" for label, n in list(rare.items())[:_MOST_NAMED])
        fix = None if is_lopsided(labels.codes) else "--metric balanced_accuracy"
        text = (
            f"Rare classes: {named} of {int(counts.sum()):,}. Accuracy hardly depends on them; balanced accuracy does."
        )
        notices.append(Notice("rare-classes", text, None, fix and 'metric="balanced_accuracy"', fix))
    return notices


def _differ_in_case(classes: Any) -> Iterator[Notice]:
    spellings: dict[str, list[str]] = {}
    for label in classes:
        spellings.setdefault(str(label).casefold(), []).append(str(label))
    for same in spellings.values():
        if len(same) > 1:
            text = f"Labels {' and '.join(map(repr, same))} differ in case alone and are {len(same)} classes."
            yield Notice("labels-differ-in-case", text)


def _misspelled(counts: np.ndarray, classes: Any) -> Iterator[Notice]:
    """Find labels that occur once and are written much like a frequent one; numbers in names are names."""
    frequent = [str(label) for label, n in zip(classes, counts, strict=True) if n >= _OFTEN]
    for label, n in zip(classes, counts, strict=True):
        name = str(label)
        near = get_close_matches(name, frequent, n=1, cutoff=0.6) if n == 1 and len(name) > 2 else []
        if near and re.sub(r"\d", "", name) != re.sub(r"\d", "", near[0]) and name.casefold() != near[0].casefold():
            yield Notice("misspelled-label", f"Label {name!r} occurs once. If {near[0]!r} is meant, correct it.")


def is_lopsided(codes: np.ndarray) -> bool:
    """Whether one class has nearly all labels; codes are -1 where unlabeled.

    Examples
    --------
    >>> is_lopsided(np.array([0] * 9 + [1])), is_lopsided(np.array([0, 1, -1]))
    (True, False)
    """
    counts = np.bincount(codes[codes >= 0], minlength=1)
    return bool(counts.max() > LOPSIDED * counts.sum())


def rare_classes(codes: np.ndarray, classes: Any) -> dict[Any, int]:
    """Return the number of labels of each class with less than a tenth of an even share (of two classes at least), rarest first.

    Examples
    --------
    >>> rare_classes(np.array([0] * 19 + [1]), ["fair", "fraud"])
    {'fraud': 1}
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    least = RARE_SHARE * 2 * counts.sum() / max(len(classes), 2)
    order = np.argsort(counts, kind="stable")
    return {classes[code]: int(counts[code]) for code in order if 0 < counts[code] < least}


def check_classes(labels: Labels | None, where: str) -> Labels:
    """Return the labels if a method can learn from them: at least two classes, and not more than a thousand.

    Raises
    ------
    DataError
        Otherwise.
    """
    n = 0 if labels is None else len(labels.classes)
    if labels is None or n == 0:
        raise DataError(f"{where}: no row has a label. Label some rows of at least two classes.")
    if n < 2:
        raise DataError(f"{where}: all labels are {str(labels.classes[0])[:60]!r}. Label rows of at least two classes.")
    if n > MAX_CLASSES:
        raise DataError(
            f"{where}: {n:,} classes, at most {MAX_CLASSES:,} are possible. Is it an identifier, or a number to predict as such?"
        )
    return labels
