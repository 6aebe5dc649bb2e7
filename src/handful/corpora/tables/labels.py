"""Which cells of a label column are labels, and which mean that there is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError
from handful.core.number_forms import MISSING, guess_form

if TYPE_CHECKING:
    import polars as pl

DOUBTFUL_MARKS = frozenset(
    {"none", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "\u2026", "todo", "to do", "tbd", "tba"}
)
"""Cells that mean "no label" unless they are as frequent as a class or rarer than empty cells: they may be names of classes too."""

_OF_LABELS = {"??", "???", "n.a.", "n. a.", "k.a", "unlabeled", "unlabelled", "not labeled", "not labelled", "no label"}
_UNKNOWN = {
    *("unbekannt", "nicht bekannt", "nicht angegeben", "ohne angabe", "fehlt", "fehlend"),
    *("inconnu", "inconnue", "non renseigné", "non disponible", "manquant", "manquante"),
    *("desconocido", "desconocida", "sin datos", "sin dato", "no disponible", "no informado", "s/d"),
    *("desconhecido", "desconhecida", "sem dados", "não informado", "sconosciuto", "sconosciuta", "non disponibile"),
    *("onbekend", "okänd", "ukendt", "ukjent", "nieznany", "nieznane", "brak danych", "bilinmiyor"),
    *("неизвестно", "нет данных", "н/д", "未知", "不明"),
}

SURE_MARKS = (MISSING - DOUBTFUL_MARKS - {""}) | _OF_LABELS | _UNKNOWN
"""Cells that mean "no label" wherever two other classes are left, in lower case."""

_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_TAIL = r"\.0+$"
_MINUS_ONE = re.compile(r"-1(\.0+)?")
_FEWEST_NUMBERS = 20
_FEWEST_ONCE = 8  # numbers of which hardly any comes again


class Labels(NamedTuple):
    """Labels of rows, None where there is none, and what to tell about them."""

    cells: pl.Series
    notes: tuple[str, ...] = ()


def judge_labels(
    series: pl.Series, marks: Sequence[str] = (), keep: Collection[str] = (), *, as_they_stand: bool = False
) -> Labels:
    """Tell labels from cells that mean "no label".

    Parameters
    ----------
    series : polars.Series
        Cells of the label column.
    marks : sequence of str
        Cells that mean "no label" in any case.
    keep : collection of str
        Cells that are labels in any case.
    as_they_stand : bool
        Whether all filled cells but ``NaN`` and the marks are labels.

    Returns
    -------
    Labels
        Labels that are all whole numbers are integers, unless -1 is one of them; others stay as they stand.

    Raises
    ------
    DataError
        If the labels are many different numbers: a quantity, not classes. If they are -1 and 1 without any empty cell, so
        that -1 may mean either.
    ParameterError
        If a cell is both to be a label and to mean "no label".

    Notes
    -----
    An empty cell and ``NaN`` are no labels. Other usual marks (``?``, ``NA``, ``unknown``, ``k.A.``, and -1 beside names) are
    none if at least two classes are left without them; ``None``, ``-`` and ``todo`` only if, besides, they are rarer or more
    frequent than every class, and no rarer than empty cells. Among whole numbers -1 is a class where other cells are empty,
    and means "no label" where none is.

    Examples
    --------
    >>> import polars as pl
    >>> judge_labels(pl.Series("y", ["a", "b", "N/A", "unknown"])).cells.to_list()
    ['a', 'b', None, None]
    >>> judge_labels(pl.Series("y", ["+", "-", "+", ""])).cells.to_list()
    ['+', '-', '+', None]
    >>> judge_labels(pl.Series("y", ["-1", "0", "1", ""])).cells.to_list(), judge_labels(pl.Series("y", [-1, 0, 1])).cells.to_list()
    (['-1', '0', '1', None], [None, 0, 1])
    """
    import polars as pl

    refuse_both(marks, keep)
    notes: list[str] = []
    cells = _plain(series)
    if marks:
        cells = cells.set(is_named(cells.cast(pl.String), marks), None)
    if not as_they_stand:
        n_empty, texts = cells.null_count(), cells.cast(pl.String)
        unlabeled = unlabeled_marks(cells, keep, n_empty=n_empty)
        if unlabeled:
            notes.append(note_of_marks(series.name, {mark: int((texts == mark).sum()) for mark in unlabeled}))
        doubtful = classes_beside_empty(cells, keep, n_empty=n_empty)
        if doubtful:
            counts = {mark: int((texts == mark).sum()) for mark in doubtful}
            notes.append(note_of_classes(series.name, counts, BESIDE_EMPTY))
        cells = cells.set(texts.is_in(unlabeled), None)
    cells = as_integers(cells)
    if not as_they_stand:
        cells, note = _minus_one(cells, keep)
        notes.extend(note)
        refuse_quantity(cells)
        notes.extend(_several_labels(cells))
    return Labels(cells, tuple(notes))


def _plain(series: pl.Series) -> pl.Series:
    import polars as pl

    if series.dtype.is_float() or series.dtype.is_decimal():
        return series.cast(pl.Float64).fill_nan(None)
    if series.dtype in (pl.Categorical, pl.Enum) or series.dtype.is_temporal():
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        series = series.str.strip_chars()
        series = series.set(series.is_in(["", "NaN", "nan"]), None)
    return series


def as_integers(cells: pl.Series) -> pl.Series:
    """Return labels that are all whole numbers as integers, and others as they stand.

    Whole numbers with a tail (``1.0``) are whole numbers where the same one stands without it, too.

    Examples
    --------
    >>> import polars as pl
    >>> as_integers(pl.Series(["1", None, "-2"])).to_list(), as_integers(pl.Series(["1", "b"])).to_list()
    ([1, None, -2], ['1', 'b'])
    >>> as_integers(pl.Series(["1", "1.0", "2"])).to_list(), as_integers(pl.Series(["1.0", "2.0"])).to_list()
    ([1, 1, 2], ['1.0', '2.0'])
    """
    import polars as pl

    numbers = whole_numbers(cells)
    if cells.dtype == pl.String and numbers.dtype.is_integer():
        with_tail = cells.str.contains(_TAIL).any()
        return cells if with_tail and numbers.n_unique() == cells.n_unique() else numbers
    return numbers


def whole_numbers(cells: pl.Series) -> pl.Series:
    """Return labels that are all whole numbers, with a tail (``1.0``) or without, as integers, and others as they stand.

    Examples
    --------
    >>> import polars as pl
    >>> whole_numbers(pl.Series(["-1.0", "2"])).to_list(), whole_numbers(pl.Series(["-1.0", "2.5"])).to_list()
    ([-1, 2], ['-1.0', '2.5'])
    """
    import polars as pl

    if cells.dtype == pl.String:
        whole = cells.str.replace(_TAIL, "")
        filled = whole.drop_nulls()
        return whole.cast(pl.Int64) if len(filled) and filled.str.contains(_INTEGER).all() else cells
    if cells.dtype.is_float() and ((cells == cells.round()) & (cells.abs() < 2**53)).all():
        return cells.cast(pl.Int64)
    return cells


def minus_ones(names: Collection[str]) -> list[str]:
    """Return those of the texts that are -1, with a tail (``-1.0``) or without.

    Examples
    --------
    >>> minus_ones(["-1.0", "1", "-1"])
    ['-1.0', '-1']
    """
    return [name for name in names if _MINUS_ONE.fullmatch(name)]


def is_named(texts: pl.Series, names: Collection[str]) -> pl.Series:
    """Tell which cells are among the names; -1 is found with a tail (``-1.0``) and without.

    Examples
    --------
    >>> import polars as pl
    >>> is_named(pl.Series(["a", "-1.0", "1.0"]), ["-1", "1"]).to_list()
    [False, True, False]
    """
    found = texts.is_in(list(names))
    return found | texts.str.contains(f"^{_MINUS_ONE.pattern}$") if minus_ones(names) else found


def _minus_one(cells: pl.Series, keep: Collection[str]) -> tuple[pl.Series, list[str]]:
    """Settle what -1 among whole numbers means, and what to tell about it."""
    import polars as pl

    numbers = whole_numbers(cells)
    n_cells = int((numbers == -1).sum()) if numbers.dtype.is_integer() else 0
    if not n_cells:
        return cells, []
    if means_no_label(numbers, keep, other_marks=cells.null_count() > 0):
        return as_integers(cells.set(numbers == -1, None)), [note_of_marks(cells.name, {"-1": n_cells})]
    if minus_ones(keep):
        return cells.cast(pl.String), []
    if cells.null_count():
        told = (
            f"-1 ({counted(n_cells, 'cell')}) of {cells.name!r} counts as a class, since unlabeled cells are empty. If it means "
            '"no label", say so with --unlabeled-mark -1 (unlabeled_marks=["-1"]).'
        )
        return cells.cast(pl.String), [told]
    raise DataError(
        f'column {cells.name!r}: labels are -1 and 1, and no cell is empty: -1 may be a class or mean "no label". '
        "Say which with --keep-label -1 or --unlabeled-mark -1."
    )


def means_no_label(cells: pl.Series, keep: Collection[str], *, other_marks: bool) -> bool:
    """Tell whether -1 among labels means "no label", as it does in scikit-learn.

    Parameters
    ----------
    cells : polars.Series
        Labels.
    keep : collection of str
        Cells that are labels in any case.
    other_marks : bool
        Whether there are cells without a label besides.

    Returns
    -------
    bool
        Whether the labels are whole numbers, -1 among them, no cell is without a label otherwise, and the others are not 1 alone.

    Examples
    --------
    >>> import polars as pl
    >>> means_no_label(pl.Series([0, 1, -1]), (), other_marks=False), means_no_label(pl.Series([0, 1, -1]), (), other_marks=True)
    (True, False)
    """
    if minus_ones(keep) or other_marks or not cells.dtype.is_integer():
        return False
    return bool((cells == -1).any()) and set(cells.unique()) - {None} != {-1, 1}


def unlabeled_marks(cells: pl.Series, keep: Collection[str] = (), *, n_empty: int = 0) -> list[str]:
    """Return the cells that mean "no label" by the rule of `judge_labels`.

    Parameters
    ----------
    cells : polars.Series
        Cells of the label column; missing ones do not count.
    keep : collection of str
        Cells that are labels in any case.
    n_empty : int
        How many cells are empty.

    Returns
    -------
    list of str
        As they stand in the column.

    Examples
    --------
    >>> import polars as pl
    >>> unlabeled_marks(pl.Series(["good", "none", "best", "good"])), unlabeled_marks(pl.Series(["a", "b", "-1"]))
    ([], ['-1'])
    >>> cells = pl.Series(["good", "none", "none", "best"])
    >>> unlabeled_marks(cells), unlabeled_marks(cells, n_empty=9)
    (['none'], [])
    """
    import polars as pl

    if cells.dtype != pl.String:
        return []
    counts: dict[str, int] = dict(cells.drop_nulls().value_counts().iter_rows())
    usual = _usual_marks(counts, keep)
    sizes = [count for cell, count in counts.items() if cell not in usual] or [0]

    def is_class(cell: str) -> bool:
        like_others = min(sizes) <= counts[cell] <= max(sizes)
        return cell.lower() in DOUBTFUL_MARKS and (like_others or counts[cell] < n_empty)

    marks = [cell for cell in usual if not is_class(cell)]
    return sorted(marks) if len(counts) - len(marks) >= 2 else []


def _usual_marks(cells: Collection[str], keep: Collection[str]) -> set[str]:
    """Return the cells that often mean "no label"; -1 does so beside names, but not beside numbers."""
    usual = {cell for cell in cells if cell.lower() in SURE_MARKS | DOUBTFUL_MARKS and cell not in keep}
    minus = minus_ones(cells)
    if minus and not minus_ones(keep) and guess_form([c for c in cells if c not in usual and c not in minus]) is None:
        usual.update(minus)
    return usual


def classes_beside_empty(cells: pl.Series, keep: Collection[str] = (), *, n_empty: int) -> list[str]:
    """Return the cells that would mean "no label" by the rule of `judge_labels` if there were not more empty ones.

    Parameters
    ----------
    cells, keep, n_empty
        As for `unlabeled_marks`.

    Returns
    -------
    list of str
        As they stand in the column.

    Examples
    --------
    >>> import polars as pl
    >>> cells = pl.Series(["good", "tbd", "tbd", "best"])
    >>> classes_beside_empty(cells, n_empty=9), classes_beside_empty(cells, n_empty=2)
    (['tbd'], [])
    """
    marks = unlabeled_marks(cells, keep, n_empty=n_empty)
    return [mark for mark in unlabeled_marks(cells, keep) if mark.lower() in DOUBTFUL_MARKS and mark not in marks]


def note_of_marks(name: str, counts: Mapping[str, int]) -> str:
    """Return what to tell about cells that count as unlabeled.

    Examples
    --------
    >>> note_of_marks("y", {"?": 3})
    "3 cells of 'y' count as unlabeled: '?' (3). If one of them is a class, say so with --keep-label '?' (keep_labels=['?'])."
    """
    total = sum(counts.values())
    marks = ", ".join(f"{mark!r} ({n:,})" for mark, n in counts.items())
    first = next(iter(counts))
    return (
        f"{counted(total, 'cell')} of {name!r} {'counts' if total == 1 else 'count'} as unlabeled: {marks}. "
        f"If one of them is a class, say so with --keep-label {first!r} (keep_labels=[{first!r}])."
    )


BESIDE_EMPTY = "unlabeled cells are empty"
COMPLETE = "labels are to be hidden and no cell is empty"


def note_of_classes(name: str, counts: Mapping[str, int], why: str) -> str:
    """Return what to tell about cells that often mean "no label" and count as classes.

    Examples
    --------
    >>> print(note_of_classes("y", {"none": 3}, BESIDE_EMPTY))
    'none' (3) of 'y' counts as a class, since unlabeled cells are empty. If it means "no label", say --unlabeled-mark 'none'.
    """
    marks = ", ".join(f"{mark!r} ({n:,})" for mark, n in counts.items())
    one = len(counts) == 1
    return (
        f"{marks} of {name!r} {'counts as a class' if one else 'count as classes'}, since {why}. "
        f'If {"it" if one else "one of them"} means "no label", say --unlabeled-mark {next(iter(counts))!r}.'
    )


def note_of_absent(name: str, cell: str, option: str, labels: Collection[str]) -> str:
    """Return what to tell about a cell that an option names and no row has.

    Parameters
    ----------
    name : str
        The label column.
    cell : str
        The cell.
    option : str
        The option.
    labels : collection of str
        Labels that there are, one of which may have been meant.

    Returns
    -------
    str
        One or two sentences.

    Examples
    --------
    >>> note_of_absent("y", "Unknown", "--keep-label", ["a", "unknown"])
    "No cell of 'y' is 'Unknown', which --keep-label names. Did you mean 'unknown'?"
    """
    alike = [label for label in labels if label.lower() == cell.strip().lower()]
    close = alike or get_close_matches(cell, labels, n=1)
    return f"No cell of {name!r} is {cell!r}, which {option} names." + (f" Did you mean {close[0]!r}?" if close else "")


def refuse_both(marks: Collection[str], keep: Collection[str]) -> None:
    """Raise if a cell is both to be a label and to mean "no label"."""
    both = [mark for mark in marks if mark in keep]
    if both:
        raise ParameterError(
            f"--keep-label and --unlabeled-mark (keep_labels, unlabeled_marks): {both[0]!r} must be in one of them, got it in both."
        )


def refuse_quantity(cells: pl.Series) -> None:
    """Raise if labels are many different numbers, as prices are.

    Parameters
    ----------
    cells : polars.Series
        Labels; missing ones do not count.

    Raises
    ------
    DataError
        If they are more than 20 different numbers that are no running numbers of classes and do not repeat often, or at
        least 8 of which hardly any comes again.

    Examples
    --------
    >>> import polars as pl
    >>> refuse_quantity(pl.Series("digit", [0, 1, 2, 3] * 10))
    """
    from handful.core.number_forms import to_numbers

    filled = cells.drop_nulls()
    values = filled.unique()
    if len(values) <= _FEWEST_NUMBERS and not _FEWEST_ONCE <= len(values) > 0.7 * len(filled):
        return
    form = "plain" if filled.dtype.is_numeric() else guess_form(values.cast(str).to_list())
    if form is None:
        return
    numbers = to_numbers(values, form)
    runs = (numbers == numbers.round()).all() and len(values) >= 0.8 * (numbers.max() - numbers.min() + 1)
    if runs or 5 * len(values) < len(filled):
        return
    raise DataError(
        f"column {cells.name!r}: labels must be classes, got {len(values):,} different numbers in {len(filled):,} labels, "
        "which looks like a quantity. Cut it into classes first (such as low and high), or write the numbers as names."
    )


_LISTED = re.compile(r"\[.*,.*\]", re.DOTALL)


def _several_labels(cells: pl.Series) -> list[str]:
    import polars as pl

    if cells.dtype != pl.String:
        return []
    values = cells.drop_nulls().unique().to_list()
    # Commas part labels only in cells that look like lists; elsewhere they may be part of a name.
    separators = ";|," if any(map(_LISTED.fullmatch, values)) else ";|"
    split = {value: [part.strip(" '\"[]") for part in re.split(f"[{separators}]", value)] for value in values}
    example = next((value for value, parts in split.items() if len(parts) > 1), None)
    if example is None or not _come_again(list(split.values())):
        return []
    return [
        f"Column {cells.name!r} seems to hold several labels in a cell, such as {example!r}; each combination counts as a "
        "class of its own. Make one column for each label if they should be told apart."
    ]


def _come_again(cells: Sequence[Sequence[str]]) -> bool:
    """Tell whether several cells have several parts, and parts of one cell stand in another or alone."""
    several = [parts for parts in cells if len(parts) > 1]
    alone = {parts[0] for parts in cells if len(parts) == 1}
    listed = [part for parts in several for part in parts]
    return len(several) > 1 and (len(listed) > len(set(listed)) or not alone.isdisjoint(listed))
