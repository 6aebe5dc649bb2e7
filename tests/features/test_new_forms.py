from __future__ import annotations

import polars as pl
import pytest

from handful.core.number_forms import form_of_new
from handful.features.new_forms import forms_of_new
from handful.features.tables import TableEncoder, told_mostly_unreadable


@pytest.mark.parametrize(
    ("cells", "learned", "form", "other"),
    [
        (["29.07.2019", "08.04.2023"], "date", "day first", None),
        (["08.04.2023"], "date", "day first", None),  # dots are the way of countries that write the day first
        (["29/07/2019", "08/04/2023"], "date", "day first", None),
        (["07/29/2019", "08/04/2023"], "day first", "date", None),
        (["08/04/2023"], "date", "date", "day first"),
        (["08/04/2023"], "day first", "day first", "date"),
        (["2023-04-08", "?"], "day first", "day first", None),
        (["55.125", "2.5", "k.A."], "decimal comma", "plain", None),
        (["55.125", "1.200"], "decimal comma", "decimal comma", "plain"),
        (["55.125", "1.200"], "plain", "plain", "decimal comma"),
        (["55.125", "0.200"], "decimal comma", "plain", None),
        (["55,125", "2,5"], "plain", "decimal comma", None),
        (["55,125", "2,5"], "amount", "decimal comma", None),
        (["55,125"], "plain", "amount", "decimal comma"),
        (["0,125"], "plain", "decimal comma", None),
        (["1,234.50", "12"], "decimal comma", "amount", None),
        (["1.234,50", "12"], "amount", "decimal comma", None),
        (["12", "7"], "decimal comma", "decimal comma", None),
        (
            ["3,5", "4,25", "1,75", "2,5", "55,125", "1.5"],
            "decimal comma",
            "decimal comma",
            None,
        ),  # one slip of the pen
        (["3,5", "1.5"], "decimal comma", "mixed amount", None),
        (["55,125", "2,5"], "mixed amount", "decimal comma", None),
        (["1,200", "1"], "mixed amount", "mixed amount", "decimal comma"),
        (["12:30"], "time", "time", None),
        (["1,5", "2"], "quantity", "decimal comma", None),
        (["< 1 year", "2"], "quantity", "quantity", None),
        (["4,958 lbs", "3222 lbs"], "quantity", "quantity", "quantity with decimal comma"),
        (["4,958 lbs", "986.5 lbs"], "quantity", "quantity", None),
        (["3,5 kg"], "quantity", "quantity with decimal comma", None),
        (["3.5 kg", "2 kg"], "quantity with decimal comma", "quantity", None),
        (["5 kg"], "quantity in several units", "quantity in several units", None),
        (["5,5 kg"], "quantity in several units", "quantity in several units with decimal comma", None),
        (["5", "6"], "quantity in several units", "quantity in several units", None),
        (["5.125 kg", "3.5 cm"], "quantity in several units", "quantity in several units", None),
        (["red"], "date", "date", None),
        (["red"], "plain", "plain", None),
        ([], "plain", "plain", None),
    ],
)
def test_new_cells_tell_their_form_and_else_it_is_the_learned_one(cells, learned, form, other):
    assert form_of_new(cells, learned) == (form, other)


def test_open_columns_follow_those_in_which_points_became_commas():
    rows = pl.DataFrame({"a": ["1,5", "2,25"], "b": ["4.314", "2.100"], "c": ["1", "2"]})
    learned = {"a": "plain", "b": "plain", "c": "plain"}
    assert forms_of_new(rows, learned).forms == {"a": "decimal comma", "b": "decimal comma", "c": "plain"}
    # In a table of the same manner as before, nothing changes.
    same = {"a": "decimal comma", "b": "plain", "c": "plain"}
    assert forms_of_new(rows, same).forms == same
    points = rows.with_columns(a=pl.Series(["1.5", "2.25"]))
    assert forms_of_new(points, dict.fromkeys("abc", "decimal comma")).forms == {
        "a": "plain",
        "b": "plain",
        "c": "decimal comma",
    }


def test_numbers_that_have_a_type_are_numbers():
    frame = pl.DataFrame({"x": ["1,5", "2,5"]})
    encoder = TableEncoder.learn(frame, {"x": "numeric"})
    for typed in (pl.DataFrame({"x": [1.5, 55.125]}), pl.DataFrame({"x": [2, 3]})):
        read = encoder.reading(encoder.forms_of_new(typed).forms)
        assert read.transform(typed).ravel().tolist() == [(x - 2.0) / 0.5 for x in typed["x"]]
        assert read.unreadable(typed) == {}


def test_columns_that_are_hardly_numbers_are_told_first():
    encoder = TableEncoder.learn(pl.DataFrame({"x": [1.0, 3.0]}), {"x": "numeric"})
    rows = pl.DataFrame({"x": ["red", "blue", "1", "", "?"]})
    assert encoder.filled(rows) == {"x": 3}
    told = told_mostly_unreadable(encoder.unreadable(rows), encoder.filled(rows))
    assert told == ["most cells of 'x' (2 of 3 filled) cannot be read as numbers, so the answers mean little."]


def test_other_units_are_converted_and_told():
    encoder = TableEncoder.learn(pl.DataFrame({"w": ["100 lbs", "200 lbs"]}), {"w": "numeric"})
    again = TableEncoder(encoder.state())
    rows = pl.DataFrame({"w": ["100 kg", "150", "1 pound"]})
    told = again.forms_of_new(rows)
    assert told.notes == ["Column 'w' has numbers in 'kg', in training it had 'lb': they are converted."]
    numbers = again.reading(told.forms).transform(rows).ravel() * 50 + 150
    assert numbers.round(2).tolist() == [220.46, 150.0, 1.0]
    (note,) = again.forms_of_new(pl.DataFrame({"w": ["8 bags"]})).notes
    assert note.endswith("they are taken as they stand, so the answers may mean little.")


@pytest.mark.parametrize(
    ("learned", "new", "numbers"),
    [(["10 °C", "30 °C"], ["50°F", "32 °F"], [10.0, 0.0]), (["50 °F", "70 °F"], ["10°C", "0 °C"], [50.0, 32.0])],
)
def test_degrees_are_converted_though_they_begin_elsewhere(learned, new, numbers):
    encoder = TableEncoder.learn(pl.DataFrame({"t": learned}), {"t": "numeric"})
    rows = pl.DataFrame({"t": new})
    told = encoder.forms_of_new(rows)
    unit, other = learned[0][-2:], new[0][-2:]
    assert told.notes == [f"Column 't' has numbers in {other!r}, in training it had {unit!r}: they are converted."]
    (low, high) = (float(cell.split()[0]) for cell in learned)
    found = encoder.reading(told.forms).transform(rows).ravel() * (high - low) / 2 + (low + high) / 2
    assert found.round(6).tolist() == numbers


def test_units_that_measure_something_else_are_missing_and_told():
    encoder = TableEncoder.learn(pl.DataFrame({"w": ["1 kg", "3 kg"]}), {"w": "numeric"})
    rows = pl.DataFrame({"w": ["3 cm", "3000 g", "?", "red", "12d"]})
    told = encoder.forms_of_new(rows)
    assert told.notes == [
        "Column 'w' has numbers in 'cm', which does not measure what 'kg' does: they count as missing.",
        "Column 'w' has numbers in 'g', in training it had 'kg': they are converted.",
    ]
    read = encoder.reading(told.forms)
    assert read.transform(rows).ravel().tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert read.unreadable(rows) == {"w": 3}


@pytest.mark.parametrize("cells", [["2", "3"], [2, 3], [2.0, 3.5, None]])
def test_numbers_without_a_unit_are_told_where_training_rows_had_one(cells):
    encoder = TableEncoder.learn(pl.DataFrame({"w": ["1 kg", "3 kg"]}), {"w": "numeric"})
    rows = pl.DataFrame({"w": cells})
    told = encoder.forms_of_new(rows)
    assert told.notes == ["Column 'w' has numbers without a unit, in training it had 'kg': they are taken as 'kg'."]
    assert encoder.reading(told.forms).transform(rows).ravel()[:2].tolist() == [0.0, float(cells[1]) - 2]
    assert not encoder.forms_of_new(pl.DataFrame({"w": ["2 kg", "3"]})).notes, "as in training rows, perhaps"
    assert not encoder.forms_of_new(pl.DataFrame({"w": ["red", "?"]})).notes, "no numbers"


@pytest.mark.parametrize("cells", [["2", "3"], [2, 3], [2.0, 3.5, None]])
def test_numbers_without_a_unit_are_missing_where_training_rows_had_several(cells):
    encoder = TableEncoder.learn(pl.DataFrame({"w": ["1 kg", "3000 g"]}), {"w": "numeric"})
    rows = pl.DataFrame({"w": cells})
    told = encoder.forms_of_new(rows)
    assert told.notes == ["Column 'w' has numbers without a unit, in training it had several: they count as missing."]
    read = encoder.reading(told.forms)
    assert not read.transform(rows).any()
    assert read.unreadable(rows) == {"w": 2}


def test_of_several_units_only_those_of_another_kind_are_told():
    encoder = TableEncoder.learn(pl.DataFrame({"w": ["1 kg", "3000 g"]}), {"w": "numeric"})
    again = TableEncoder(encoder.state())
    rows = pl.DataFrame({"w": ["3 kg", "1,000 mm", "6.613868 lb", "2 bags"]})
    assert again.forms_of_new(rows).notes == [
        "Column 'w' has numbers in 'mm', which does not measure what 'g' does: they count as missing."
    ]
    assert again.transform(rows).ravel().round(3).tolist() == [1.0, 0.0, 1.0, 0.0]
