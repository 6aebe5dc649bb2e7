"""Numbers as people write them: amounts, percentages, ranges, quantities with a unit, dates and times of day."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    import polars as pl

Form: TypeAlias = Literal[
    "plain",
    "amount",
    "decimal comma",
    "mixed amount",
    "quantity",
    "quantity with decimal comma",
    "quantity in several units",
    "quantity in several units with decimal comma",
    "range",
    "date",
    "day first",
    "time",
]

MISSING = frozenset(
    {"", "?", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", ".", "missing", "unknown", "not available"}
    | {"k.a.", "k. a.", "keine angabe", "n.d.", "n. d.", "#nv", "#value!", "#wert!", "#div/0!", "#ref!"}
)
"""What stands in a column of numbers where there is none, in lower case."""

_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_CODE = re.compile(r"[+-]?0[0-9]+(\.[0-9]*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?0,")
_DAY_FIRST = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.")
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|MXN|CAD|AUD|NZD|SGD|HKD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|ZAR|KRW|ILS"
_CURRENCY = rf"(?:(?:US|C|A|R|NZ|HK|S)?\$|[€£¥₹₩₽₺₪₴]|{_CODES}|kr\.?|zł|Kč|Fr\.|Rs\.?)"
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "m": 1e6, "B": 1e9, "bn": 1e9}
_SCALED = re.compile(rf"([+-]?)({_CURRENCY})?\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*(k|K|M|mn|m|B|bn)\s*({_CURRENCY})?")
_EITHER = re.compile(rf"([+-]?)(?:{_CURRENCY})?\s*([+-]?)([0-9][0-9.,' \u00a0]*?)\s*(?:%|{_CURRENCY})?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:([.,' \u00a0])[0-9]{3}(?:\1[0-9]{3})*)?|[0-9]+")
_HAS_CURRENCY = re.compile(_CURRENCY)
_SAME_CURRENCY = {
    "USD": "$",
    "US$": "$",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "Rs": "INR",
    "Rs.": "INR",
    "Fr.": "CHF",
}
_THREE_AFTER_COMMA = re.compile(r"[0-9],[0-9]{3}(?![0-9,])")
_FEW_AFTER_COMMA = re.compile(r",[0-9]{1,2}(?![0-9,])")
_AMOUNT = re.compile(
    rf"\(?[+-]?{_CURRENCY}?\s*[+-]?([0-9]{{1,3}}(?:[,' \u00a0][0-9]{{3}})+|[0-9]+)?(\.[0-9]*)?\s*(?:%|{_CURRENCY})?\)?"
)
_NOT_BELOW_ONE = r"(?!0\.[0-9]{3}(?![.,]))"  # 0.125 has a decimal point
_COMMA = re.compile(
    rf"[+-]?{_CURRENCY}?\s*{_NOT_BELOW_ONE}([0-9]{{1,3}}(?:[.' \u00a0][0-9]{{3}})+|[0-9]+)(?:,([0-9]+))?\s*(?:%|{_CURRENCY})?"
)
_SIGNS = re.compile(rf"{_CURRENCY}|[%,'()\s\u00a0]")
_NUMBER = r"[+-]?(?:[0-9]{1,3}(?:[,' \u00a0][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
_COMMA_NUMBER = rf"[+-]?{_NOT_BELOW_ONE}(?:[0-9]{{1,3}}(?:[.' \u00a0][0-9]{{3}})+(?![0-9])|[0-9]+)(?:,[0-9]+)?"
_UNIT = r"(?:sq\.? ?|square )?[A-Za-zµ°][A-Za-zµ°²³/]*\.?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|\u2013|to|\.\.)\s*({_NUMBER})\s*([A-Za-z]*)")
_QUANTITY, _COMMA_QUANTITY = (
    re.compile(
        rf"(?P<bound><=?|>=?|≤|≥|~|under|over|about)?\s*(?:(?P<before>[A-Za-z]{{2,}})\.?:?\s+)?"
        rf"(?P<number>{number})(?P<more>\s*\+)?(?P<blank>\s*)(?P<after>{_UNIT})?(?:\s*\+)?"
    )
    for number in (_NUMBER, _COMMA_NUMBER)
)
_GROUPS = re.compile(r"[,'\s\u00a0]")
_UNITS: dict[str, tuple[str, float]] = {
    name: (kind, float(size))
    for kind, units in {
        "mass": "mg .001|g gr gram 1|kg kilo kilogram 1000|lb pound 453.59237|oz ounce 28.349523125",
        "length": "mm .001|cm .01|m meter metre 1|km 1000|in inch .0254|ft foot feet .3048|yd yard .9144|mi mile 1609.344",
        "time": "ms .001|s sec second 1|min minute 60|h hr hour 3600|d day 86400|wk week 604800"
        "|mo month 2629746|y yr year 31556952",
        "volume": "ml .001|cl .01|l liter litre 1",
        "memory": "kb 1|mb 1024|gb 1048576|tb 1073741824",
    }.items()
    for line in units.split("|")
    for *names, size in [line.split()]
    for name in names
}
"""Names of units in the singular, what they measure, and how large they are."""

_DEGREES = {"°c": (1.0, 0.0), "°f": (5 / 9, -160 / 9)}
"""Units that do not begin at the same point: what makes them degrees Celsius, a factor and an offset."""

_ATTACHED = frozenset(
    re.findall(
        r"\S+",
        "g kg mg lb lbs oz km m cm mm mi ft in h hr hrs min s sec ms wk wks mo mos yr yrs kb mb gb tb l ml °c °f",
    )
)
_MONTHS = {m: n for n, m in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), start=1)}
_TIME = r"(?:[T ,]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?\s*([AaPp][Mm])?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_DATES = (
    (re.compile(rf"([0-9]{{4}})[-/.]([0-9]{{1,2}})[-/.]([0-9]{{1,2}}){_TIME}"), "ymd"),
    (re.compile(rf"([0-9]{{1,2}})[-/.]([0-9]{{1,2}})[-/.]([0-9]{{4}}|[0-9]{{2}}){_TIME}"), "mdy"),
    (re.compile(rf"([0-9]{{1,2}})[- ]?([A-Za-z]{{3,9}})[- ,]*([0-9]{{4}}|[0-9]{{2}}){_TIME}"), "dmy"),
    (re.compile(rf"([A-Za-z]{{3,9}})\.? ([0-9]{{1,2}}),? ([0-9]{{4}}){_TIME}"), "mdy"),
    (re.compile(r"([A-Za-z]{3,9})[- ]([0-9]{4}|[0-9]{2})"), "my"),
)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?\s*([AaPp][Mm])?")
_EPOCH = date(1970, 1, 1).toordinal()
_PIVOT = 30  # two-digit years above it belong to the last century
_DATE_FORMS: tuple[Form, ...] = ("date", "day first")
_AMOUNT_FORMS: tuple[Form, ...] = ("plain", "amount", "decimal comma")
QUANTITY_FORMS: tuple[Form, ...] = ("quantity", "quantity with decimal comma")
"""Forms of numbers with one unit, or none."""

_SEVERAL_UNITS: tuple[Form, ...] = ("quantity in several units", "quantity in several units with decimal comma")
_WITH_COMMAS: dict[Form, Form] = {
    "plain": "decimal comma",
    "amount": "decimal comma",
    "quantity": "quantity with decimal comma",
    "quantity in several units": "quantity in several units with decimal comma",
}
"""Forms whose cells may also be written with decimal commas, and how they are called then."""

_CAPITAL_AT_END = re.compile(r".*[0-9]\s*[A-Z]")
_MOST = 0.8  # of the cells that one way of writing reads: the others are slips of the pen


def guess_form(cells: Iterable[str]) -> Form | None:
    """Tell in which form all cells of a column are numbers.

    Parameters
    ----------
    cells : iterable of str
        The different values of a column; those in `MISSING` are passed over.

    Returns
    -------
    str or None
        The first form that reads them all; None if none does, or there are no values.

    Notes
    -----
    Whole numbers with a leading zero are codes, not numbers. A column in which every comma has three digits after it
    is read as thousands (``1,234``), one in which any has not, or a zero before it, with decimal commas (``1,5``). Where
    both ways stand in one column (``$1,200`` beside ``950,50 €``), each cell is read by itself, and three digits after its
    only mark are thousands. The amounts of all currencies count alike. Numbers with a unit are read by the same rules and taken
    as they stand; where units differ (``5 kg`` beside ``300 g``), they are made comparable.
    Dates are read month first unless a day above 12 or dots speak for day first.

    Examples
    --------
    >>> guess_form(["$67,349", "$0"]), guess_form(["8.90%", "?"]), guess_form(["< 1 year", "10+ years"])
    ('amount', 'amount', 'quantity')
    >>> guess_form(["735-739", "670-674"]), guess_form(["1,5", "2"]), guess_form(["Oct-2016"])
    ('range', 'decimal comma', 'date')
    >>> guess_form(["$1,200", "950,50 EUR"]), guess_form(["$1.2M", "$300K"])
    ('mixed amount', 'amount')
    >>> guess_form(["4,958 lbs", "986.5 lbs"]), guess_form(["5 kg", "300 g"])
    ('quantity', 'quantity in several units')
    >>> guess_form(["red", "1"]) is None
    True
    """
    values = _filled(cells)
    if not values or any(map(_CODE.fullmatch, values)):
        return None
    for form in get_args(Form):
        parse = _PARSERS[form]
        if all(parse(cell) is not None for cell in values) and _is_apt(form, values):
            return form  # type: ignore[no-any-return]
    return None


def _is_apt(form: Form, values: list[str], *, any_units: bool = False) -> bool:
    """Tell whether a form that can read all values is also what they mean; units may differ if they are made one later."""
    if form == "amount":
        # 0,125 is no thousand; without any sign of it, a group of three digits is one.
        has_points = any("." in cell for cell in values)
        return has_points or not any(map(_DECIMAL_COMMA.match, values))
    if form == "decimal comma":
        # Prices have no three decimals: $1,200 beside 950,50 EUR was written by two hands.
        thousands = any(map(_HAS_CURRENCY.search, values)) and any(map(_THREE_AFTER_COMMA.search, values))
        return not (thousands and any(map(_FEW_AFTER_COMMA.search, values)))
    if form in ("quantity", "quantity with decimal comma", "range"):
        units = {_UNITS.get(unit, unit) for unit in map(_unit, values) if unit}
        return (any_units or len(units) <= 1) and (form != "quantity" or _is_apt("amount", values))
    if form in _SEVERAL_UNITS:
        # 12H and 3S are codes, unless units of more letters stand beside them.
        of_one_kind = len({_UNITS[_unit(cell)][0] for cell in values}) == 1
        are_codes = all(map(_CAPITAL_AT_END.fullmatch, values))
        return (any_units or (of_one_kind and not are_codes)) and (
            form != "quantity in several units" or _is_apt("amount", values)
        )
    # Dots are the way of countries that write the day first.
    return form != "date" or not any(map(_DAY_FIRST.match, values))


def commas_like_others(columns: Mapping[str, pl.Series], forms: Mapping[str, Form]) -> dict[str, Form]:
    """Tell which columns have decimal commas because the other columns of their table do.

    Parameters
    ----------
    columns : mapping of str to polars.Series
        Cells of columns of numbers.
    forms : mapping of str to str
        What `guess_form` told of each by itself.

    Returns
    -------
    dict of str to str
        Another form, for columns that can be read in both ways (``38,309`` and ``4.314``). None has one if no column must
        have decimal commas, or another cannot have them (``4.31``, ``1,234,567``).

    Examples
    --------
    >>> import polars as pl
    >>> table = {"kg": pl.Series(["38,309", "9,120"]), "cm": pl.Series(["56,9", "60"])}
    >>> commas_like_others(table, {"kg": "amount", "cm": "decimal comma"})
    {'kg': 'decimal comma'}
    """
    import polars as pl

    if not any(form in _WITH_COMMAS.values() for form in forms.values()):
        return {}
    found: dict[str, Form] = {}
    for name, form in forms.items():
        if form not in _WITH_COMMAS:
            continue
        cells = columns[name].drop_nulls().unique()
        if cells.dtype != pl.String:
            if cells.dtype.is_float() and (cells.fill_nan(0) % 1 != 0).any():
                return {}
            continue
        values, other = _filled(cells.to_list()), _WITH_COMMAS[form]
        if not all(_PARSERS[other](cell) is not None for cell in values):
            if any("." in cell or "," in cell for cell in values):
                return {}
            continue
        # Prices have no three decimals.
        is_price = any(map(_HAS_CURRENCY.search, values)) and any(map(_THREE_AFTER_COMMA.search, values))
        if not is_price and _differ(form, other, values):
            found[name] = other
    return found


def _filled(cells: Iterable[str]) -> list[str]:
    stripped = (cell.strip() for cell in cells)
    return [cell for cell in stripped if cell.lower() not in MISSING]


def form_of_new(cells: Iterable[str], learned: Form) -> tuple[Form, Form | None]:
    """Tell in which form new cells of a column are numbers, given the form that it had before.

    Parameters
    ----------
    cells : iterable of str
        The different values of the column; those in `MISSING` are passed over.
    learned : str
        What `guess_form` told of other rows of the column.

    Returns
    -------
    form : str
        Of dates the order, of other numbers the way of writing that reads most values; the learned one, where it reads as many.
    other : str or None
        A form that reads as many values, but as other numbers: the cells leave it open. None where they tell.

    Examples
    --------
    >>> form_of_new(["29.07.2019", "08.04.2023"], "date"), form_of_new(["03/04/2023"], "date")
    (('day first', None), ('date', 'day first'))
    >>> form_of_new(["55.125", "2.5"], "decimal comma"), form_of_new(["55.125"], "decimal comma")
    (('plain', None), ('decimal comma', 'plain'))
    """
    values = _filled(cells)
    forms = _DATE_FORMS if learned in _DATE_FORMS else _AMOUNT_FORMS
    if learned in QUANTITY_FORMS:
        forms = (*forms, *QUANTITY_FORMS)
    elif learned == "range":
        forms = (*forms, learned)
    elif learned in _SEVERAL_UNITS:
        forms = _SEVERAL_UNITS
    if learned == "time" or not values:
        return learned, None
    read = {form: [cell for cell in values if _PARSERS[form](cell) is not None] for form in forms}
    any_units = learned in (*QUANTITY_FORMS, *_SEVERAL_UNITS)
    counts = {form: len(found) for form, found in read.items() if _is_apt(form, found, any_units=any_units)}
    most = max(counts.values(), default=0)
    if forms not in (_DATE_FORMS, _SEVERAL_UNITS) and (learned == "mixed amount" or most < _MOST * len(values)):
        n_mixed = sum(_mixed(cell) is not None for cell in values)
        if n_mixed > most:
            return "mixed amount", None
    if not most:
        return learned, None
    able = [form for form in forms if counts.get(form) == most]
    form = learned if learned in able else able[0]
    other = next((other for other in able if _differ(form, other, values)), None)
    return (learned if learned == "mixed amount" and other else form), other


def _differ(form: Form, other: Form, values: list[str]) -> bool:
    return any(_PARSERS[form](cell) != _PARSERS[other](cell) for cell in values)


def _unit(cell: str) -> str:
    """Return the unit of a cell in the singular, empty if it has none."""
    ranged = _RANGE.fullmatch(cell)
    match = _QUANTITY.fullmatch(cell) or _COMMA_QUANTITY.fullmatch(cell)
    text = ranged[3] if ranged else (match["before"] or match["after"]) if match else ""
    return _singular(text or "")


def unit_of(cells: Iterable[str]) -> str:
    """Return the unit that quantities have in common.

    Parameters
    ----------
    cells : iterable of str
        The different values of a column in the form of a quantity.

    Returns
    -------
    str
        In the singular; empty if there is none. Of several units that measure the same it is the one that they are read in.

    Examples
    --------
    >>> unit_of(["150 lbs", "1 lb", "120"]), unit_of(["5 kg", "300 lb"]), unit_of(["5 kg", "3 bags"])
    ('lb', 'g', '')
    """
    units = {_UNITS.get(unit, unit): unit for unit in sorted(map(_unit, cells)) if unit}
    if len(units) == 1:
        return next(iter(units.values()))
    kinds = {_UNITS[unit][0] if unit in _UNITS else unit for unit in units.values()}
    return next((name for name, size in _UNITS.items() if {size[0]} == kinds and size[1] == 1), "")


def other_units(cells: Iterable[str], unit: str) -> dict[str, str]:
    """Return the units of quantities that are not the expected one, and what `to_number` makes of them.

    Parameters
    ----------
    cells : iterable of str
        The different values of a column in the form of a quantity.
    unit : str
        What `unit_of` told of other rows of the column.

    Returns
    -------
    dict of str to {"converted", "taken as they stand", "missing"}
        Missing are those that measure something else; what is not known is taken as it stands. If no number has a unit, there
        is an empty one.

    Examples
    --------
    >>> other_units(["70 kg", "150 lbs", "8 bags", "3 cm"], "lb")
    {'bag': 'taken as they stand', 'cm': 'missing', 'kg': 'converted'}
    >>> other_units(["68 °F"], "°c")
    {'°f': 'converted'}
    """
    found = {_unit(cell) for cell in cells if _quantity(cell) is not None or _comma_quantity(cell) is not None}
    found = found - {""} or found
    return {other: _treatment(other, unit) for other in sorted(found - {unit}) if _ratio(other, unit) != 1}


def _treatment(unit: str, wanted: str) -> str:
    if _ratio(unit, wanted) is not None or {unit, wanted} <= _DEGREES.keys():
        return "converted"
    return "missing" if unit in _UNITS and wanted in _UNITS else "taken as they stand"


def _ratio(unit: str, other: str) -> float | None:
    """How many of another unit one unit is; None if they do not measure the same, or are not known."""
    if unit not in _UNITS or other not in _UNITS or _UNITS[unit][0] != _UNITS[other][0]:
        return None
    return _UNITS[unit][1] / _UNITS[other][1]


def _singular(text: str) -> str:
    unit = text.lower().replace(".", "")
    if len(unit) > 2 and unit.endswith("s"):
        return "inch" if unit == "inches" else unit[:-1]
    return unit


def currencies(cells: Iterable[str]) -> list[str]:
    """Return the different signs of currencies in a column of amounts.

    Examples
    --------
    >>> currencies(["$1,200", "1200 EUR", "USD 5", "7"])
    ['$', 'EUR']
    """
    found = {match[0] for cell in cells if (match := _HAS_CURRENCY.search(cell))}
    return sorted({_SAME_CURRENCY.get(sign, sign) for sign in found})


def to_number(cell: str, form: Form, unit: str = "") -> float | None:
    """Return the number that a cell stands for in a form.

    Parameters
    ----------
    cell : str
        As written; of a range it is the middle, of a date the days since 1970, of a time of day the hours. ``< 1`` is
        one half, ``10+`` is ten.
    form : str
        What `guess_form` told of its column.
    unit : str
        Unit that a quantity is wanted in, as `unit_of` tells. A quantity without a unit, or in one that is not known, is taken
        as it stands.

    Returns
    -------
    float or None
        None if it cannot be read in that form, is missing, or measures something else than the unit.

    Examples
    --------
    >>> to_number("($1,250.50)", "amount"), to_number("735-739", "range"), to_number("1970-01-03", "date")
    (-1250.5, 737.0, 2.0)
    >>> to_number("2 kg", "quantity", "g")
    2000.0
    """
    cell = cell.strip()
    number = None if cell.lower() in MISSING else _PARSERS[form](cell)
    own = _unit(cell) if unit and number is not None else ""
    if number is None or not own:
        return number
    if _treatment(own, unit) == "missing":
        return None
    return _converted(number, own, unit) if form in QUANTITY_FORMS else number


def _converted(number: float, unit: str, wanted: str) -> float:
    """Return a quantity in another unit, or as it stands if it cannot be."""
    if {unit, wanted} <= _DEGREES.keys():
        (factor, offset), (other_factor, other_offset) = _DEGREES[unit], _DEGREES[wanted]
        return (factor * number + offset - other_offset) / other_factor
    return number * (_ratio(unit, wanted) or 1)


def as_written(number: float, form: Form) -> str:
    """Return a number in the way of its column: a day, a time of day, or four digits.

    Parameters
    ----------
    number : float
        What `to_number` returned, or a mean of such.
    form : str
        The form of the column.

    Returns
    -------
    str
        For people.

    Examples
    --------
    >>> as_written(19000.4, "date"), as_written(21.25, "time"), as_written(1250.5, "amount")
    ('2022-01-08', '21:15', '1250')
    """
    if form in ("date", "day first"):
        return date.fromordinal(max(round(number), 1 - _EPOCH) + _EPOCH).isoformat()
    if form == "time":
        return f"{int(number):02d}:{int(number % 1 * 60):02d}"
    return f"{number:.4g}"


def to_numbers(series: pl.Series, form: Form = "plain", unit: str = "") -> np.ndarray:
    """Return a column as numbers.

    Parameters
    ----------
    series : polars.Series
        Numbers, or text in the given form.
    form : str
        What `guess_form` told of the column.
    unit : str
        Unit that quantities are wanted in, see `to_number`.

    Returns
    -------
    ndarray of float64
        NaN where a cell is missing, cannot be read or is infinite.

    Examples
    --------
    >>> import polars as pl
    >>> to_numbers(pl.Series(["5%", "?", "7.5%"]), "amount").tolist()
    [5.0, nan, 7.5]
    """
    import polars as pl

    if series.dtype.is_temporal() and series.dtype != pl.Duration:
        series = series.cast(pl.String)
    if form in _SEVERAL_UNITS:
        series = series.cast(pl.String)  # a number without a unit may be anything there
    if form == "plain" or series.dtype != pl.String:
        if series.dtype == pl.String:
            series = series.str.strip_chars()
        cells = series.cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
    else:
        values, codes = np.unique(series.fill_null("").to_numpy().astype(object), return_inverse=True)
        numbers = [to_number(value, form, unit) for value in values]
        cells = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)[codes]
    return np.where(np.isfinite(cells), cells, np.nan)


def _plain(cell: str) -> float | None:
    return float(cell) if _PLAIN.fullmatch(cell) else None


def _amount(cell: str) -> float | None:
    if not _AMOUNT.fullmatch(cell):
        return _scaled(cell)
    bare = _SIGNS.sub("", cell)
    if not bare.strip("+-."):
        return None
    is_negative = cell.startswith("(") and cell.endswith(")")
    try:
        return -float(bare) if is_negative else float(bare)
    except ValueError:
        return None


def _scaled(cell: str) -> float | None:
    """Read $1.2M and 300K; without a currency, m is a unit."""
    match = _SCALED.fullmatch(cell)
    if not match or (match[4] not in "kK" and not (match[2] or match[5])):
        return None
    number = float(match[3]) * _THOUSANDS[match[4]]
    return -number if match[1] == "-" else number


def _mixed(cell: str) -> float | None:
    """Read a cell in which a point or a comma may stand for either thousands or decimals."""
    match = _EITHER.fullmatch(cell)
    if not match:
        return None
    digits = match[3].strip()
    last = max(digits.rfind("."), digits.rfind(","))
    whole, after = (digits, "") if last < 0 else (digits[:last], digits[last + 1 :])
    only = last >= 0 and "." not in whole and "," not in whole
    if last >= 0 and ((only and len(after) == 3 and whole != "0") or digits[last] in whole):
        whole, after = digits, ""  # groups of thousands
    if not _GROUPED.fullmatch(whole) or (after and not after.isdigit()):
        return None
    number = float(f"{re.sub(r'[^0-9]', '', whole)}.{after or 0}")
    return -number if "-" in match[1] + match[2] else number


def _decimal_comma(cell: str) -> float | None:
    match = _COMMA.fullmatch(cell)
    if not match:
        return None
    whole = re.sub(r"[.'\s\u00a0]", "", match[1])
    sign = -1.0 if cell.startswith("-") else 1.0
    return sign * float(f"{whole}.{match[2] or 0}")


def _quantity(cell: str) -> float | None:
    match = _read_quantity(_QUANTITY, cell)
    return None if match is None else _bounded(match, float(_GROUPS.sub("", match["number"])))


def _comma_quantity(cell: str) -> float | None:
    match = _read_quantity(_COMMA_QUANTITY, cell)
    return None if match is None else _bounded(match, _decimal_comma(match["number"]))


def _read_quantity(pattern: re.Pattern[str], cell: str) -> re.Match[str] | None:
    match = pattern.fullmatch(cell)
    if not match:
        return None
    before, after = match["before"], match["after"]
    if before and (after or before.lower() == "in" or _singular(before) not in _UNITS):
        return None  # Room 12 and No. 7 are names
    is_attached = after and not match["blank"] and not match["more"]
    return None if is_attached and after.lower() not in _ATTACHED else match


def _bounded(match: re.Match[str], number: float | None) -> float | None:
    return number / 2 if number is not None and match["bound"] in ("<", "under") else number


def _in_one_unit(cell: str, quantity: Callable[[str], float | None] = _quantity) -> float | None:
    """Read a quantity as so many grams, meters, seconds, liters or kilobytes."""
    number, unit = quantity(cell), _unit(cell)
    return None if number is None or unit not in _UNITS else number * _UNITS[unit][1]


def _range(cell: str) -> float | None:
    match = _RANGE.fullmatch(cell)
    if match:
        low, high = (float(_GROUPS.sub("", match[number])) for number in (1, 2))
        return (low + high) / 2 if low <= high else None
    return _quantity(cell)


def _date(cell: str, *, day_first: bool = False) -> float | None:
    for pattern, order in _DATES:
        match = pattern.fullmatch(cell)
        if match:
            return _days(match, "dmy" if day_first and order == "mdy" and match[1].isdigit() else order)
    return None


def _days(match: re.Match[str], order: str) -> float | None:
    cells = dict(zip(order, match.groups(), strict=False))
    month = cells["m"]
    try:
        number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
        day = date(_year(cells["y"]), number, int(cells.get("d", 1))).toordinal() - _EPOCH
    except (ValueError, KeyError):
        return None
    rest = match.groups()[len(order) :]
    if rest and rest[0] is not None:
        hours = _hours(rest[0], rest[1], rest[2], rest[3])
        return None if hours is None else day + hours / 24
    return float(day)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year > _PIVOT else 2000)


def _hours(hour: str, minute: str, second: str | None, half: str | None) -> float | None:
    h, m, s = int(hour), int(minute), float(second or 0)
    if half:
        h = h % 12 + 12 * (half.lower() == "pm")
    return h + m / 60 + s / 3600 if h < 24 and m < 60 and s < 61 else None


def _time(cell: str) -> float | None:
    match = _CLOCK.fullmatch(cell)
    return _hours(match[1], match[2], match[3], match[4]) if match else None


_PARSERS: dict[Form, Callable[[str], float | None]] = {
    "plain": _plain,
    "amount": _amount,
    "decimal comma": _decimal_comma,
    "mixed amount": _mixed,
    "quantity": _quantity,
    "quantity with decimal comma": _comma_quantity,
    "quantity in several units": _in_one_unit,
    "quantity in several units with decimal comma": lambda cell: _in_one_unit(cell, _comma_quantity),
    "range": _range,
    "date": _date,
    "day first": lambda cell: _date(cell, day_first=True),
    "time": _time,
}
