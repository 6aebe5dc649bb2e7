"""Columns of a table: the kind of each, decided once when the table is read, and cells as typed values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from handful.errors import DataError, Notice, counted

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["numeric", "categorical", "datetime", "text", "skip"]

ALIASES: Mapping[str, Kind] = {"nominal": "categorical", "date": "datetime", "time": "datetime"}
"""Other words for kinds, which options accept."""

MISSING = (
    *("", "?", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    *("-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "-NaN", "-nan"),
)
"""Cells that are missing: the strings that pandas reads so, and ``?``."""

TIME_OF_DAY = "%H:%M"
"""`ColumnSpec.date_format` of times without a date."""

_BLOCK = 256  # columns per polars query
_MOST_SHOWN = 5
_OTHER_VALUES = 3  # distinct values that are not numbers, in a numeric column
_OTHER_ROWS = 0.2  # share of rows that may have them
_ENOUGH_NUMBERS = 10  # distinct numbers next to such values
_LONGEST_VALUE = 40  # characters of a number or date
_MANY_VALUES = 100  # distinct values, too many for categories
# Scripts without spaces between words, where two characters count as a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_UNSPACED}]{{2}}|[^\s{_UNSPACED}]+"
_SOME_VALUES = 1_000  # distinct values that exclude a reading if they hardly fit it

_CURRENCY = r"(?:US|C|A|R|NZ|HK|S)?\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|kr\.?|zł|Fr\."
_GROUP_MARKS = {".": r"[,' \x{a0}\x{202f}]", ",": r"[.' \x{a0}\x{202f}]"}
_LEADING_ZERO = r"^[+-]?0[0-9]+(?:\.[0-9]*)?$"
_LONG_NUMBER = r"^[+-]?[0-9]{16,}$"
_UNIT = re.compile(r"[^\d.,%()+\s-]")
_THREE_DIGITS = r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$"

_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?\s*([AaPp][Mm])?"
_CLOCK_AT_END = rf"[T ,]+{_CLOCK}(?:\s*Z|\s*[+-][0-9]{{2}}:?[0-9]{{2}})?$"
_MONTH_FIRST, _DAY_FIRST = "%m-%d-%Y", "%d-%m-%Y"
_DATES = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$",
    _MONTH_FIRST: r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$",
    _DAY_FIRST: r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$",
    "%d-%b-%Y": r"^[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}$",
    "%b-%d-%Y": r"^[A-Za-z]{3}-[0-9]{1,2}-[0-9]{4}$",
    "%b-%Y": r"^[A-Za-z]{3}-[0-9]{4}$",
}
_WORDS = {".": "a decimal point", ",": "a decimal comma", _DAY_FIRST: "the day first", _MONTH_FIRST: "the month first"}
_OTHER = {".": ",", ",": ".", _DAY_FIRST: _MONTH_FIRST, _MONTH_FIRST: _DAY_FIRST}


@dataclass(frozen=True)
class ColumnSpec:
    """How a column is read.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "categorical", "datetime", "text", "skip"}
        What it holds; ``"skip"`` leaves it out.
    decimal : {".", ","}
        Decimal sign of numbers that are written as text.
    date_format : str, optional
        Order of year, month and day as in ``strptime``, with ``-`` for any separator; a time of day may follow.
    set_by_user : bool
        Whether the user chose the kind.
    """

    name: str
    kind: Kind
    decimal: Literal[".", ","] = "."
    date_format: str | None = None
    set_by_user: bool = False

    @property
    def reading(self) -> str:
        """Decimal sign, or order of dates."""
        return self.decimal if self.kind == "numeric" else self.date_format or "%Y-%m-%d"

    def with_reading(self, reading: str) -> ColumnSpec:
        """Return the same column with another decimal sign or order of dates."""
        field = "decimal" if self.kind == "numeric" else "date_format"
        return replace(self, **{field: reading})  # type: ignore[arg-type]


class _Judged(NamedTuple):
    """A column; `other` is a reading of the same cells as other values, which other columns may decide for."""

    spec: ColumnSpec
    other: str | None = None
    is_evidence: bool = False  # its cells allow no other decimal sign or order of dates
    is_written: bool = False  # as text, so that signs and orders matter
    example: tuple[str, str, str] = ("", "", "")  # a cell, and its two readings
    notices: tuple[Notice, ...] = ()


def infer_columns(
    frame: pl.DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    decimal: str | None = None,
    dayfirst: bool | None = None,
) -> tuple[tuple[ColumnSpec, ...], list[Notice]]:
    """Decide how each column of a table is read.

    Parameters
    ----------
    frame : polars.DataFrame
        Cells of the feature columns.
    columns : mapping of str to kind, optional
        Kinds that the user chose.
    decimal : {".", ","}, optional
        Decimal sign of all columns; by default it follows from the cells.
    dayfirst : bool, optional
        Whether ``01/02/2020`` is the first of February; by default it follows from the cells.

    Returns
    -------
    specs : tuple of ColumnSpec
        In the order of the frame.
    notices : list of Notice
        What can be read in two ways, and which cells count as missing.

    Raises
    ------
    DataError
        If a column cannot be read as the kind that the user chose.

    Notes
    -----
    A column is *numeric* if its cells are numbers, with or without thousands separators, percent or currency signs; *datetime* if
    they are dates or times of day; *text* if most cells differ and have several words; otherwise *categorical*. Whole
    numbers with a leading zero are codes, hence categorical. Up to three other values in a fifth of the rows count as missing.

    One rule holds for a file: columns that allow one reading only decide for those that allow two. Where none decides,
    decimal points and month first are taken, and a notice names both readings; where numbers have decimal commas, day first.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": ["1.234", "12.500"], "price": ["0,5", "2"], "day": ["01/02/2020", "03/02/2020"]})
    >>> specs, notices = infer_columns(frame)
    >>> [spec.kind for spec in specs], {spec.decimal for spec in specs[:2]}, specs[2].date_format
    (['numeric', 'numeric', 'datetime'], {','}, '%d-%m-%Y')
    >>> [notice.code for notice in notices]
    ['ambiguous-date']
    """
    wanted = {name: ALIASES.get(kind, kind) for name, kind in (columns or {}).items()}
    judged: list[_Judged] = []
    for start in range(0, frame.width, _BLOCK):
        judged += _judge_block(frame[:, start : start + _BLOCK], wanted, decimal, dayfirst)
    judged, open_numbers = _settle(judged, "numeric", None)
    commas = {column.spec.decimal for column in judged if column.is_evidence and column.spec.kind == "numeric"} == {","}
    judged, open_dates = _settle(judged, "datetime", _DAY_FIRST if commas else None)
    notices = [notice for column in judged for notice in column.notices]
    if open_numbers:
        notices.append(_ambiguous("number", open_numbers, "decimal point", "--decimal ,", 'decimal=","'))
    if open_dates and commas:
        how = "day first, since numbers have decimal commas"
        notices.append(_ambiguous("date", open_dates, how, "--monthfirst", "dayfirst=False"))
    elif open_dates:
        notices.append(_ambiguous("date", open_dates, "month first", "--dayfirst", "dayfirst=True"))
    return tuple(column.spec for column in judged), notices


def _settle(judged: list[_Judged], kind: Kind, default: str | None) -> tuple[list[_Judged], list[_Judged]]:
    """Give columns that can be read in two ways the reading that all others have; return them, and those left open.

    Prices that would then have three decimals are left open too: ``$1,234`` may stand next to ``0,5``.
    """
    readings = {
        column.spec.reading for column in judged if column.spec.kind == kind and column.is_evidence
    } & _OTHER.keys()
    reading = readings.pop() if len(readings) == 1 else None
    settled, left_open = [], []
    for column in judged:
        if column.spec.kind == kind and column.is_written and not column.is_evidence:
            column, is_open = _read_alike(column, reading, default)
            left_open += [column] if is_open else []
        settled.append(column)
    return settled, left_open


def _read_alike(column: _Judged, reading: str | None, default: str | None) -> tuple[_Judged, bool]:
    """Give a column the reading of the others, or the default; return whether it is left open."""
    taken = reading or default
    if taken is None:
        return column, column.other is not None
    cell, first, second = column.example
    changes = taken == column.other
    if changes and column.spec.kind == "numeric" and taken in cell and _UNIT.search(cell):
        return column, True
    if column.spec.kind == "numeric" or column.other is not None:
        example = (cell, second, first) if changes else column.example
        column = column._replace(spec=column.spec.with_reading(taken), example=example)
    return column, column.other is not None and reading is None


def _ambiguous(what: str, columns: Sequence[_Judged], how: str, cli_fix: str, python_fix: str) -> Notice:
    names = ", ".join(repr(column.spec.name) for column in columns[:_MOST_SHOWN])
    names += f" and {len(columns) - _MOST_SHOWN:,} more" if len(columns) > _MOST_SHOWN else ""
    cell, taken, other = columns[0].example
    text = f"{what.capitalize()}s such as {cell!r} in {names} can be read as {taken} or as {other}; taken is {taken} ({how})."
    return Notice(f"ambiguous-{what}", text, columns[0].spec.name, python_fix, cli_fix)


def _judge_block(
    frame: pl.DataFrame, wanted: Mapping[str, str], decimal: str | None, dayfirst: bool | None
) -> list[_Judged]:
    import polars as pl
    import polars.selectors as cs

    text = frame.select(without_missing(cs.string()))
    numbers = text.select(pl.all().cast(pl.Float64, strict=False))
    filled, plain = (dict(zip(f.columns, f.count().row(0), strict=True)) if f.width else {} for f in (text, numbers))
    odd = _where(text, pl.all().str.contains(rf"{_LEADING_ZERO}|{_LONG_NUMBER}").any())
    three = pl.all().str.contains(_THREE_DIGITS)
    with_points = _where(text, (pl.all().str.contains(".", literal=True) & ~three).any())
    odd |= _where(text, three.any()) - with_points  # points that may separate thousands
    judged = []
    for name in frame.columns:
        kind: Any = wanted.get(name)
        if kind in ("skip", "categorical", "text"):
            judged.append(_Judged(ColumnSpec(name, kind, set_by_user=True)))
        elif name not in filled:
            judged.append(_judge_typed(frame[name], kind))
        elif kind != "datetime" and decimal != "," and filled[name] == plain[name] and name not in odd:
            spec = ColumnSpec(name, "numeric", set_by_user=kind is not None)
            judged.append(_Judged(spec, None, name in with_points, True, notices=_infinite(numbers[name])))
        else:
            judged.append(_judge_text(text[name], kind, decimal, dayfirst))
    return judged


def _judge_typed(cells: pl.Series, kind: Kind | None) -> _Judged:
    """Judge a column that has a type already, as in Parquet."""
    import polars as pl

    date_format = None
    natural: Kind = "categorical"
    if cells.dtype.is_numeric() or cells.dtype in (pl.Duration, pl.Null):
        natural = "numeric"
    elif cells.dtype.is_temporal():
        natural = "datetime"
        date_format = TIME_OF_DAY if cells.dtype == pl.Time else None
    spec = ColumnSpec(cells.name, kind or natural, date_format=date_format, set_by_user=kind is not None)
    return _Judged(spec, notices=_infinite(cells))


def _infinite(cells: pl.Series) -> tuple[Notice, ...]:
    n = int(cells.is_infinite().sum()) if cells.dtype.is_float() else 0
    if not n:
        return ()
    text = f"Column {cells.name!r} has {counted(n, 'infinite number')}, read as missing."
    return (Notice("infinite-numbers", text, cells.name),)


def _judge_text(cells: pl.Series, kind: Kind | None, decimal: str | None, dayfirst: bool | None) -> _Judged:
    """Judge a column of text by its distinct values."""
    counts = cells.drop_nulls().to_frame().group_by(cells.name, maintain_order=True).len("\0rows")
    values, n_rows = counts[cells.name], counts["\0rows"]
    may_be_short = kind is not None or _may_be_numbers(values)
    judged = _as_numbers_or_dates(values, n_rows, kind, decimal, dayfirst) if may_be_short else None
    if judged is not None:
        return judged
    if kind is not None:
        word = {"numeric": "a number", "datetime": "a date or time"}[kind]
        parse = _parsed(values, ColumnSpec(cells.name, kind))
        strange = values.filter(parse.is_null())
        raise DataError(f"column {cells.name!r}: {_shown(strange)} is not {word}. Choose another kind for it.")
    words = _Judged(ColumnSpec(cells.name, "text" if _are_texts(cells) else "categorical"))
    if not may_be_short:
        return words
    notices = _mixed_signs(values) if decimal is None else _other_sign(values, n_rows, _OTHER[decimal])
    return words._replace(notices=notices)


def _as_numbers_or_dates(
    values: pl.Series, n_rows: pl.Series, kind: Kind | None, decimal: str | None, dayfirst: bool | None
) -> _Judged | None:
    """Judge a column as numbers, then as dates; None if its values are neither."""
    is_set = kind is not None
    if kind == "numeric" or (kind is None and not _are_codes(values)):
        signs = (".", ",") if decimal is None else (decimal,)
        judged = _judge_readings(values, n_rows, ColumnSpec(values.name, "numeric", set_by_user=is_set), signs)
        if judged is not None:
            return judged
    if kind not in (None, "datetime"):
        return None
    left_out = {None: None, True: _MONTH_FIRST, False: _DAY_FIRST}[dayfirst]
    orders = [order for order in (*_DATES, TIME_OF_DAY) if order != left_out]
    return _judge_readings(values, n_rows, ColumnSpec(values.name, "datetime", set_by_user=is_set), orders)


def _other_sign(values: pl.Series, n_rows: pl.Series, other: str) -> tuple[Notice, ...]:
    """Tell that cells would be numbers with the decimal sign that the user did not choose."""
    if _are_codes(values) or _judge_readings(values, n_rows, ColumnSpec(values.name, "numeric"), (other,)) is None:
        return ()
    text = f"Column {values.name!r} has {_WORDS[other]} and is not read as numbers."
    return (Notice("decimal-contradicted", text, values.name, f"decimal={other!r}", f"--decimal {other}"),)


def _may_be_numbers(values: pl.Series) -> bool:
    is_short = values.str.contains("[0-9]") & (values.str.len_chars() <= _LONGEST_VALUE)
    return bool(2 * is_short.sum() > len(values))


def _are_codes(values: pl.Series) -> bool:
    """Whether whole numbers are codes: with leading zeros, unless all are padded to one width, or too long for a number."""
    import polars as pl

    if values.str.contains(_LONG_NUMBER).any():
        return values.cast(pl.Float64, strict=False).n_unique() < values.n_unique()
    return bool(values.str.contains(_LEADING_ZERO).any()) and not _are_padded(values)


def _are_padded(values: pl.Series) -> bool:
    values = values.filter(values != "0")
    widths = values.str.len_chars().unique()
    if len(widths) != 1 or len(values) < _ENOUGH_NUMBERS or not values.str.contains(r"^[0-9]+$").all():
        return False
    return bool(widths[0] == 2 or values.str.starts_with("00").sum() >= 0.8 * len(values))


def _judge_readings(values: pl.Series, n_rows: pl.Series, spec: ColumnSpec, readings: Sequence[str]) -> _Judged | None:
    """Return the column by the reading that most values allow, or None if too many values allow none."""
    some = {reading: _parsed(values.head(_SOME_VALUES), spec.with_reading(reading)).count() for reading in readings}
    likely = [reading for reading in readings if 2 * some[reading] >= max(some.values()) > 0]
    if not likely:
        return None
    read = {reading: _parsed(values, spec.with_reading(reading)) for reading in likely}
    best = max(likely, key=lambda reading: read[reading].count())  # the first of equals
    is_read = read[best].is_not_null()
    n_read, others = int(is_read.sum()), values.filter(~is_read)
    n_others = int(n_rows.filter(~is_read).sum())
    enough = n_read >= (1 if spec.set_by_user else _ENOUGH_NUMBERS) or not len(others)
    if not n_read or not enough or len(others) > _OTHER_VALUES or n_others > _OTHER_ROWS * int(n_rows.sum()):
        return None
    spec = spec.with_reading(best)
    notices = list(_infinite(read[best].rename(spec.name)))
    if len(others):
        text = f"Column {spec.name!r} is {spec.kind}; {counted(n_others, 'cell')} ({_shown(others)}) read as missing."
        notices.append(Notice("unread-cells", text, spec.name))
    other = _OTHER.get(best)
    if other not in read or read[other].count() < n_read:
        evidence = best in _OTHER and (spec.kind == "datetime" or bool(values.str.contains("[.,]").any()))
        return _Judged(spec, None, evidence, True, notices=tuple(notices))
    differ = (read[best] != read[other]).fill_null(False)
    if not differ.any():
        return _Judged(spec, None, False, True, notices=tuple(notices))
    place = int(differ.arg_max() or 0)
    example = (values[place], _as_text(read[best][place]), _as_text(read[other][place]))
    return _Judged(spec, other, False, True, example, tuple(notices))


def _as_text(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:%d %B %Y}".lstrip("0")


def _shown(values: pl.Series) -> str:
    cut = [
        value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "..."
        for value in values.sort()[:_OTHER_VALUES]
    ]
    return ", ".join(map(repr, cut))


def _mixed_signs(values: pl.Series) -> tuple[Notice, ...]:
    """Say that numbers of a column have decimal points and decimal commas."""
    point, comma = (_parsed(values, ColumnSpec(values.name, "numeric", decimal=sign)).is_not_null() for sign in ".,")  # type: ignore[arg-type]
    if not (point | comma).all() or not len(values) or point.all() or comma.all():
        return ()
    text = f"Column {values.name!r} mixes decimal points and commas, so it is categorical."
    fix = f"{values.name}=numeric"
    return (Notice("mixed-decimal-signs", text, values.name, 'decimal=","', f"--decimal , --columns {fix!r}"),)


def _are_texts(cells: pl.Series) -> bool:
    """Whether a column of words is text: most cells differ, and have three words on average (two where there are many)."""
    filled = cells.drop_nulls()
    if not len(filled) or 2 * filled.n_unique() <= len(filled):
        return False
    n_words = int(filled.str.count_matches(_WORD).sum())
    is_long = n_words >= 3 * len(filled) or (n_words >= 2 * len(filled) and filled.n_unique() > _MANY_VALUES)
    return bool(is_long and 2 * filled.str.contains(r"\p{L}").sum() > len(filled))  # telephone numbers are not text


def _where(frame: pl.DataFrame, condition: pl.Expr) -> set[str]:
    """Columns for which an expression of one value is true."""
    return {column.name for column in frame.select(condition).get_columns() if column[0]} if frame.width else set()


def without_missing(cells: pl.Expr) -> pl.Expr:
    """Cells of text without whitespace around them, null where they mean a missing value."""
    import polars as pl

    stripped = cells.str.strip_chars()
    return pl.when(~stripped.is_in(list(MISSING))).then(stripped)


def read_values(frame: pl.DataFrame, columns: Sequence[ColumnSpec]) -> pl.DataFrame:
    """Read cells as typed values, by the specification of each column.

    Parameters
    ----------
    frame : polars.DataFrame
        Cells; columns that have a type already keep their values.
    columns : sequence of ColumnSpec
        Columns to read; skipped ones are left out.

    Returns
    -------
    polars.DataFrame
        Float64 for numeric columns (infinite numbers are null), Datetime for datetime columns (a time of day is on 1970-01-01),
        String for categorical and text columns. Cells that cannot be read are null.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"price": ["$1,234.50", "?"], "day": ["31/12/2020", "1 Jan"]})
    >>> read_values(frame, [ColumnSpec("price", "numeric"), ColumnSpec("day", "datetime", date_format="%d-%m-%Y")]).rows()
    [(1234.5, datetime.datetime(2020, 12, 31, 0, 0)), (None, None)]
    """
    import polars as pl

    used = [spec for spec in columns if spec.kind != "skip"]
    parts = [_read_block(frame, used[start : start + _BLOCK]) for start in range(0, len(used), _BLOCK)]
    return pl.DataFrame([column for part in parts for column in part])


def _read_block(frame: pl.DataFrame, columns: Sequence[ColumnSpec]) -> list[pl.Series]:
    import polars as pl
    import polars.selectors as cs

    cells = frame.select(spec.name for spec in columns).with_columns(without_missing(cs.string()))
    numbers = [spec.name for spec in columns if spec.kind == "numeric" and spec.decimal == "."]
    plain = cells.select((cs.by_name(numbers) & cs.string()).cast(pl.Float64, strict=False))
    values = []
    for spec in columns:
        column = cells[spec.name]
        if spec.kind in ("categorical", "text"):
            values.append(_words(column))
        elif column.dtype != pl.String:
            values.append(_typed(column, spec.kind))
        elif spec.name in plain.columns and plain[spec.name].null_count() == column.null_count():
            values.append(_finite(plain[spec.name]))
        else:
            distinct = column.drop_nulls().unique()
            parsed = _parsed(distinct, spec)
            values.append(_finite(column.replace_strict(distinct, parsed, default=None, return_dtype=parsed.dtype)))
    return values


def _words(cells: pl.Series) -> pl.Series:
    import polars as pl

    if cells.dtype == pl.String:
        return cells
    return cells.cast(pl.String).to_frame().select(without_missing(pl.all())).to_series()


def _typed(cells: pl.Series, kind: Kind) -> pl.Series:
    import polars as pl

    if kind == "datetime":
        if cells.dtype == pl.Time:
            return pl.Series(cells.name, [0] * len(cells)).cast(pl.Datetime("us")) + cells.cast(pl.Int64).cast(
                pl.Duration("ns")
            )
        if isinstance(cells.dtype, pl.Datetime) and cells.dtype.time_zone is not None:
            cells = cells.dt.replace_time_zone(None)
        return cells.cast(pl.Datetime("us"), strict=False)
    if cells.dtype == pl.Duration:
        return cells.dt.total_microseconds() / 1e6
    if cells.dtype.is_temporal():
        return cells.cast(pl.Datetime("us"), strict=False).dt.epoch("us") / 8.64e10
    return _finite(cells.cast(pl.Float64, strict=False))


def _finite(cells: pl.Series) -> pl.Series:
    return cells.set(~cells.is_finite(), None) if cells.dtype.is_float() else cells


def _parsed(values: pl.Series, spec: ColumnSpec) -> pl.Series:
    """Parse text as numbers or dates; null where it is neither."""
    import polars as pl

    parse = _number if spec.kind == "numeric" else _clock_time if spec.reading == TIME_OF_DAY else _date
    return values.to_frame("cell").select(parse(pl.col("cell"), spec.reading).alias(values.name)).to_series()


def _number(cells: pl.Expr, decimal: str) -> pl.Expr:
    import polars as pl

    point = {".": r"\.", ",": ","}[decimal]
    marks = _GROUP_MARKS[decimal]
    text = cells.str.strip_chars().str.replace(r"^\((.*)\)$", "-$1")
    bare = text.str.replace(rf"^([+-]?)\s*(?:{_CURRENCY})\s*", "$1").str.replace(rf"\s*(?:%|{_CURRENCY})$", "")
    whole = rf"[1-9][0-9]{{0,2}}(?:{marks}[0-9]{{3}})+|[0-9]+"
    is_number = bare.str.contains(rf"^[+-]?(?:{whole})?(?:{point}[0-9]*)?(?:[eE][+-]?[0-9]+)?$")
    is_number &= bare.str.contains("^[^eE]*[0-9]")
    is_number |= bare.str.contains(r"^(?i)[+-]?inf(?:inity)?$")
    plain = bare.str.replace_all(marks, "").str.replace(decimal, ".", literal=True)
    return pl.when(is_number).then(plain).cast(pl.Float64, strict=False)


def _date(cells: pl.Expr, order: str) -> pl.Expr:
    import polars as pl

    text = cells.str.strip_chars()
    day = text.str.replace(_CLOCK_AT_END, "").str.replace_all(r"[-/., ]+", "-")
    day = day.str.replace(r"^([0-9]{1,2})([A-Za-z])", "$1-$2").str.replace(r"([A-Za-z]{3})[A-Za-z]*-?", "$1-")
    if order.endswith("%Y"):  # two-digit years as POSIX reads them
        day = day.str.replace(r"^(.+-)([0-5][0-9]|6[0-8])$", "${1}20$2").str.replace(r"^(.+-)([0-9]{2})$", "${1}19$2")
    is_date = day.str.contains(_DATES[order])
    if order == _MONTH_FIRST:  # with dots, the day is first
        is_date &= ~text.str.contains(r"^[0-9]{1,2}\.[0-9]{1,2}\.")
    day = pl.when(is_date).then(day)
    if order == "%b-%Y":
        day, order = "1-" + day, "%d-%b-%Y"
    has_clock = text.str.contains(_CLOCK_AT_END)
    return day.str.to_date(order, strict=False).cast(pl.Datetime("us")) + pl.when(has_clock).then(
        _clock(text, _CLOCK_AT_END)
    ).otherwise(pl.duration(seconds=0))


def _clock_time(cells: pl.Expr, order: str) -> pl.Expr:
    import polars as pl

    return pl.lit(0).cast(pl.Datetime("us")) + _clock(cells.str.strip_chars(), f"^{_CLOCK}$")


def _clock(text: pl.Expr, pattern: str) -> pl.Expr:
    """Return the time since midnight, null where it is not a time of day."""
    import polars as pl

    hour, minute = (text.str.extract(pattern, group).cast(pl.Int64, strict=False) for group in (1, 2))
    second = text.str.extract(pattern, 3).cast(pl.Float64, strict=False).fill_null(0.0)
    half = text.str.extract(pattern, 4).str.to_lowercase()
    hour = pl.when(half.is_not_null()).then(hour % 12 + pl.when(half == "pm").then(12).otherwise(0)).otherwise(hour)
    is_time = (hour < 24) & (minute < 60) & (second < 61)
    return pl.when(is_time).then(pl.duration(hours=hour, minutes=minute, microseconds=(second * 1e6).cast(pl.Int64)))


def unread_cells(frame: pl.DataFrame, columns: Sequence[ColumnSpec]) -> dict[str, tuple[int, int]]:
    """Count the cells of numeric and datetime columns that are filled and cannot be read, and all filled ones.

    Parameters
    ----------
    frame : polars.DataFrame
        Cells.
    columns : sequence of ColumnSpec
        Columns that were settled with other rows.

    Returns
    -------
    dict of str to (int, int)
        Columns that have such cells.

    Raises
    ------
    DataError
        If the cells of a column contradict its specification: more of them can be read with the other decimal sign or
        order of dates.

    Examples
    --------
    >>> import polars as pl
    >>> unread_cells(pl.DataFrame({"x": ["1", "red", ""]}), [ColumnSpec("x", "numeric")])
    {'x': (1, 2)}
    """
    import polars as pl
    import polars.selectors as cs

    used = [spec for spec in columns if spec.kind in ("numeric", "datetime") and spec.name in frame.columns]
    cells = frame.select(spec.name for spec in used).with_columns(without_missing(cs.string()))
    values = read_values(cells, used)
    counts = {}
    for spec in used:
        column = cells[spec.name]
        n_filled = int(column.is_not_nan().sum()) if column.dtype.is_float() else column.count()
        n_read = values[spec.name].count()
        if n_read < n_filled:
            if column.dtype == pl.String:
                _refuse_contradiction(column, spec, n_read)
            counts[spec.name] = (n_filled - n_read, n_filled)
    return counts


def _refuse_contradiction(cells: pl.Series, spec: ColumnSpec, n_read: int) -> None:
    """Raise if another decimal sign or date format reads more cells than that of the specification."""
    others = [_OTHER[spec.decimal]] if spec.kind == "numeric" else [order for order in _DATES if order != spec.reading]
    counts = {other: read_values(cells.to_frame(), [spec.with_reading(other)])[spec.name].count() for other in others}
    best = max(counts, key=lambda other: counts[other])
    if counts[best] <= n_read:
        return
    distinct = cells.drop_nulls().unique(maintain_order=True)
    example = distinct.filter(_parsed(distinct, spec).is_null())[0]
    raise DataError(
        f"column {spec.name!r}: {example!r} has {_WORDS.get(best, best)}, but the model was trained on "
        f"{_WORDS.get(spec.reading, spec.reading)}. Write such cells as in the training data."
    )
