"""What each column of a table is: numbers (in which form), names, or text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from handful.core.counted import counted
from handful.core.errors import FormatError
from handful.core.number_forms import MISSING, Form, commas_like_others, currencies, guess_form
from handful.core.records import Kind
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath

if TYPE_CHECKING:
    import polars as pl

NO_NAME = ("", "?", "na", "n/a", "#n/a", "nan", "null")
"""What stands in a column of names where there is none, in lower case; ``none`` and ``unknown`` may be names."""

_BLOCK = 256  # columns that one query treats; more queries cost time, fewer cost memory
_FEW_STRANGERS = 3  # different values that are no numbers, which a column of numbers may have
_STRANGE_SHARE = 0.2
_MANY_NUMBERS = 10  # different ones speak for numbers, even beside such cells
_DIGIT = r"[0-9]"
_LEADING_ZERO = r"^[+-]?0[0-9]+(\.[0-9]*)?$"
_CODE_NAME = re.compile(r"\b(zip|postal|postcode|plz|phone|telephone|fax)(\b|_)", re.IGNORECASE)
_ENOUGH_PADDED = 10
_MANY_NAMES = 100  # values of a column of names that are told apart
_ENOUGH_COMMENTS = 20
_SOME_COMMENTS = 2_000  # are enough to see whether their words come again
_MOST_DIFFERENT = 0.6  # words among all words of comments


class Column(NamedTuple):
    """A feature column with what it is."""

    cells: pl.Series
    kind: Kind
    form: Form = "plain"
    note: str = ""


def judge_columns(
    path: FilePath, frame: pl.DataFrame, wanted: Mapping[str, Kind], *, as_they_stand: bool = False
) -> list[Column]:
    """Tell what each column is.

    Parameters
    ----------
    path : path-like
        Where the cells came from, for errors.
    frame : polars.DataFrame
        Raw cells of the feature columns.
    wanted : mapping of str to kind
        Kinds that are given.
    as_they_stand : bool
        Whether ``?`` and the like are values in columns of names, and only plain numbers are numbers.

    Returns
    -------
    list of Column
        In the order of the frame. Plain numbers become numbers; numbers in another form stay text.
    """
    columns: list[Column] = []
    for start in range(0, frame.width, _BLOCK):
        block = frame[:, start : start + _BLOCK]
        columns.extend(_with_infinite(_judge_block(path, block, wanted, as_they_stand)))
    if not any("decimal comma" in column.form for column in columns):
        return columns
    numbers = {column.cells.name: column for column in columns if column.kind == "numeric"}
    written = {name: _as_written(column, frame[name]) for name, column in numbers.items()}
    others = commas_like_others(written, {name: column.form for name, column in numbers.items()})
    changed = {name: _with_commas(numbers[name], written[name], form) for name, form in others.items()}
    return [changed.get(column.cells.name, column) for column in columns]


def _with_infinite(columns: list[Column]) -> list[Column]:
    """Note how many numbers are infinite; whoever learns from a column takes them as missing."""
    import polars as pl

    floats = [column.cells for column in columns if column.kind == "numeric" and column.cells.dtype.is_float()]
    counts = pl.DataFrame(floats).select(pl.all().is_infinite().sum()).row(0, named=True) if floats else {}

    def noted(column: Column) -> Column:
        n = counts.get(column.cells.name) or 0
        told = f"Column {column.cells.name!r} has {counted(n, 'infinite number')}, which {_count(n)} as missing."
        return column._replace(note=f"{column.note} {told}".strip()) if n else column

    return [noted(column) for column in columns]


def _as_written(column: Column, raw: pl.Series) -> pl.Series:
    """Return the cells of a column of numbers as text, where the file has them so; those that are no numbers are missing."""
    import polars as pl

    return raw.str.strip_chars().set(column.cells.is_null(), None) if raw.dtype == pl.String else raw


def _with_commas(column: Column, written: pl.Series, form: Form) -> Column:
    """Read 4.314 as thousands or 38,309 as decimals, and tell so."""
    how = "decimal commas" if written.str.contains(",", literal=True).any() else "points between thousands"
    told = f"Column {written.name!r} is read with {how}, since other columns have decimal commas."
    return Column(written, "numeric", form, f"{column.note} {told}".strip())


def _judge_block(path: FilePath, frame: pl.DataFrame, wanted: Mapping[str, Kind], as_they_stand: bool) -> list[Column]:
    """Judge some hundred columns at once, since every query has a price."""
    import polars as pl
    import polars.selectors as cs

    texts = frame.select((~cs.numeric()).cast(pl.String).str.strip_chars(" \t"))
    texts = texts.select(pl.when(pl.all() != "").then(pl.all()))
    bare = texts.select(pl.all().str.strip_chars())
    bare = bare.select(pl.when(~pl.all().str.to_lowercase().is_in(list(MISSING))).then(pl.all()))
    named = (
        texts
        if as_they_stand
        else texts.select(pl.when(~pl.all().str.to_lowercase().is_in(list(NO_NAME))).then(pl.all()))
    )
    codes = _codes(bare)
    long = set(_where(named, _is_long(pl.all().drop_nulls())))
    long |= {name for name in _where(named, _is_brief(pl.all().drop_nulls())) if _are_comments(named[name])}
    columns = []
    for name in frame.columns:
        kind = wanted.get(name)
        if name not in texts.columns:
            column = _typed(frame[name], kind)
        elif kind == "numeric":
            column = _wanted_numbers(path, bare[name], as_they_stand)
        elif kind is not None:
            column = Column(named[name], kind)
        else:
            numbers = None if name in codes else _as_numbers(bare[name], as_they_stand)
            column = numbers or Column(named[name], "text" if name in long else "nominal")
        columns.append(column)
    return columns


def _codes(bare: pl.DataFrame) -> set[str]:
    """Return the columns of codes, which are names though they look like numbers."""
    import polars as pl

    zeros = _where(bare, pl.all().str.contains(_LEADING_ZERO).any())
    called = {name for name in bare.columns if _CODE_NAME.search(name)}
    return called | {name for name in zeros if not _is_padded(bare[name])}


def _typed(cells: pl.Series, kind: Kind | None) -> Column:
    """Return a column that the file says to be numbers, as what the user says it is."""
    return Column(cells, "numeric") if kind in (None, "numeric") else Column(cells.cast(str), kind)


def _wanted_numbers(path: FilePath, cells: pl.Series, plain_only: bool) -> Column:
    import polars as pl

    numbers = _as_numbers(cells, plain_only, least_numbers=1)
    if numbers is None:
        strange = cells.filter(cells.cast(pl.Float64, strict=False).is_null() & cells.is_not_null())
        worded = strange.filter(~strange.str.contains(_DIGIT))
        strange = worded if len(worded) else strange
        raise FormatError(path, None, f"expected numbers in column {shown(cells.name)}, got {shown(strange[0])}.")
    return numbers


def _is_padded(cells: pl.Series) -> bool:
    """Tell numbers that are filled up with zeros to one width, as 00202, from codes such as 02139."""
    values = cells.drop_nulls().unique()
    values = values.filter(values != "0")
    widths = values.str.len_chars().unique()
    if len(widths) != 1 or len(values) < _ENOUGH_PADDED or not values.str.contains(r"^[0-9]+$").all():
        return False
    return bool(widths[0] == 2 or values.str.starts_with("00").sum() >= 0.8 * len(values))


def _is_long(filled: pl.Expr) -> pl.Expr:
    """Three or more words on average, or two where names would be too many to tell apart; more than half of the cells differ.

    Most cells have letters: numbers of telephones are no text.
    """
    n_words = filled.str.count_matches(r"\S+").sum()
    wordy = (n_words >= 3 * filled.len()) | ((n_words >= 2 * filled.len()) & (filled.n_unique() > _MANY_NAMES))
    lettered = 2 * filled.str.contains(r"\p{L}").sum() > filled.len()
    return wordy & lettered & (2 * filled.n_unique() > filled.len())


def _is_brief(filled: pl.Expr) -> pl.Expr:
    """One or two words on average, with blanks between some; more than half of the cells differ."""
    n_words = filled.str.count_matches(r"\S+").sum()
    return (
        (filled.len() >= _ENOUGH_COMMENTS) & (2 * n_words >= 3 * filled.len()) & (2 * filled.n_unique() > filled.len())
    )


def _are_comments(cells: pl.Series) -> bool:
    """Tell short comments, such as ``too slow`` and ``slow again``, from names: their words come again, mostly in small letters."""
    filled = cells.drop_nulls().head(_SOME_COMMENTS)
    in_words = filled.str.to_lowercase().str.extract_all(r"\p{L}{2,}")
    words = in_words.explode().drop_nulls()
    n_later, n_capital = (int(filled.str.count_matches(rf"\s\p{{{kind}}}").sum()) for kind in ("L", "Lu"))
    come_again = words.n_unique() <= _MOST_DIFFERENT * len(words)
    differ = 2 * in_words.list.join(" ").n_unique() > len(filled)  # not in numbers alone, as units and rooms do
    return 2 * len(words) >= 3 * len(filled) and come_again and differ and 2 * n_capital <= n_later


def _where(frame: pl.DataFrame, condition: pl.Expr) -> list[str]:
    """Columns for which an expression of one value is true."""
    return [column.name for column in frame.select(condition).get_columns() if column[0]]


def _as_numbers(cells: pl.Series, plain_only: bool, least_numbers: int = _MANY_NUMBERS) -> Column | None:
    """Return a column of numbers, if it is one; with cells that are none, it has so many different numbers at least."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        numbers = cells.cast(dtype, strict=False)
        if numbers.null_count() == cells.null_count():
            return Column(numbers, "numeric")
    if plain_only:
        return None
    values = cells.drop_nulls().unique().to_list()
    form = guess_form(values)
    if form is not None:
        return Column(cells, "numeric", form, _several_currencies(cells.name, form, values))
    return _with_strangers(cells, least_numbers)


def _several_currencies(name: str, form: Form, values: list[str]) -> str:
    signs = currencies(values) if form in ("amount", "decimal comma", "mixed amount") else []
    if len(signs) < 2:
        return ""
    return (
        f"Column {name!r} has amounts in several currencies ({', '.join(signs)}), which are read as if they were one."
    )


def _with_strangers(cells: pl.Series, least_numbers: int) -> Column | None:
    """Return numbers among which a few cells say something else, such as ``varies``."""
    import polars as pl

    is_plain = cells.cast(pl.Float64, strict=False).is_not_null()
    for is_number in (is_plain, cells.str.contains(_DIGIT).fill_null(False)):
        numbers = cells.filter(is_number).unique()
        strange = cells.filter(~is_number & cells.is_not_null())
        few = strange.n_unique() <= _FEW_STRANGERS and len(strange) <= _STRANGE_SHARE * cells.count()
        form = "plain" if is_number is is_plain else guess_form(numbers.to_list())
        if few and form is not None and len(numbers) >= least_numbers:
            told = ", ".join(map(shown, strange.unique().sort().to_list()))
            saying = counted(len(strange), "cell", "that says/that say")
            note = f"Column {cells.name!r} is read as numbers; {saying} {told} {_count(len(strange))} as missing."
            kept = cells.set(~is_number, None)
            return Column(kept.cast(pl.Float64) if form == "plain" else kept, "numeric", form, note)
    return None


def _count(number: int) -> str:
    return "counts" if number == 1 else "count"
