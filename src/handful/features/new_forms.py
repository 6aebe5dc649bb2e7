"""How the numbers of new rows are written, given how those of the training rows were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from handful.core.number_forms import MISSING, QUANTITY_FORMS, Form, form_of_new, other_units, to_number

if TYPE_CHECKING:
    import polars as pl

_MAYBE_THOUSANDS = r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)$"
_COMMAS = ("decimal comma", "quantity with decimal comma", "quantity in several units with decimal comma")
_AMOUNTS = ("plain", "amount", "quantity", "quantity in several units", *_COMMAS)


class NewForms(NamedTuple):
    """Form of each numeric column of new rows.

    Attributes
    ----------
    forms : dict of str to str
        By name; see `handful.core.number_forms.guess_form`.
    is_open : bool
        Whether a column can be read in two ways, so that more rows may tell.
    notes : list of str
        A sentence for each column of dates whose order is open, and for each unit that the training rows do not have.
    """

    forms: dict[str, Form]
    is_open: bool
    notes: list[str]


def forms_of_new(frame: pl.DataFrame, learned: Mapping[str, Form], units: Mapping[str, str] | None = None) -> NewForms:
    """Tell how the numbers of new rows are written.

    Parameters
    ----------
    frame : polars.DataFrame
        New rows. Columns that are no text have their numbers already.
    learned : mapping of str to str
        Form of each numeric column in the training rows.
    units : mapping of str to str, optional
        Unit of columns whose quantities have one there.

    Returns
    -------
    NewForms
        What the cells of a column tell; where they leave it open, what was learned. If other columns show that points have
        become commas (or commas points), amounts that may be read in both ways follow them.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"day": ["29.07.2019", "08.04.2023"], "size": ["1,5", "2"], "pay": ["4.314", "2.100"]})
    >>> forms_of_new(rows, {"day": "date", "size": "plain", "pay": "plain"}).forms
    {'day': 'day first', 'size': 'decimal comma', 'pay': 'decimal comma'}
    """
    import polars as pl

    forms: dict[str, Form] = {}
    others: dict[str, Form] = {}
    turned: set[bool] = set()  # to commas, or to points
    for name, form in learned.items():
        cells = frame[name]
        if cells.dtype != pl.String:
            forms[name] = form
            if cells.dtype.is_float() and form in _COMMAS:
                turned.add(False)
            continue
        forms[name], other = _form(cells, form)
        if other is not None:
            others[name] = other
        elif forms[name] in _AMOUNTS and form in _AMOUNTS and (forms[name] in _COMMAS) != (form in _COMMAS):
            turned.add(forms[name] in _COMMAS)
    if len(turned) == 1:
        commas = turned.pop()
        for name, other in others.items():
            if forms[name] in _AMOUNTS and other in _AMOUNTS and (other in _COMMAS) == commas:
                forms[name] = other
    notes = [_told_order(frame[name]) for name in others if forms[name] == "date"]
    for name, unit in (units or {}).items():
        notes.extend(_told_units(frame[name], unit, learned[name]))
    return NewForms(forms, bool(others), notes)


def _form(cells: pl.Series, learned: Form) -> tuple[Form, Form | None]:
    import polars as pl

    values = cells.drop_nulls().unique().str.strip_chars()
    values = values.filter(~values.str.to_lowercase().is_in(list(MISSING)))
    if learned == "plain" and not values.cast(pl.Float64, strict=False).null_count():
        points = values.str.contains(".", literal=True).any()
        if not points or not values.str.contains(_MAYBE_THOUSANDS).all():
            return "plain", None
    return form_of_new(values.to_list(), learned)


def _told_units(cells: pl.Series, unit: str, learned: Form) -> Iterator[str]:
    """Tell of units that the training rows do not have, where these had one; where several, only of what is lost."""
    import polars as pl

    values = cells.drop_nulls().unique().cast(pl.String).str.strip_chars()
    units = other_units(values.filter(~values.str.to_lowercase().is_in(list(MISSING))).to_list(), unit)
    has = f"Column {cells.name!r} has numbers"
    several = learned not in QUANTITY_FORMS
    had = "in training it had several" if several else f"in training it had {_shown(unit)!r}"
    for other, treatment in units.items():
        if not other:
            yield f"{has} without a unit, {had}: they {'count as missing' if several else f'are taken as {_shown(unit)!r}'}."
        elif treatment == "missing":
            yield f"{has} in {_shown(other)!r}, which does not measure what {_shown(unit)!r} does: they count as missing."
        elif not several:
            doubt = ", so the answers may mean little" if treatment == "taken as they stand" else ""
            yield f"{has} in {_shown(other)!r}, {had}: they are {treatment}{doubt}."


def _shown(unit: str) -> str:
    return unit.upper() if unit.startswith("°") else unit


def _told_order(cells: pl.Series) -> str:
    texts = cells.drop_nulls().unique(maintain_order=True).to_list()
    shown = next(text for text in texts if to_number(text, "date") != to_number(text, "day first"))
    return (
        f"The dates of column {cells.name!r}, such as {shown}, do not tell whether the month or the day is first; "
        "they are read month first."
    )
