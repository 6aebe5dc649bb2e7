"""What each column is, and how its numbers and dates are read."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from handful.data.columns import ColumnSpec, infer_columns, read_values, unread_cells
from handful.data.table import as_table, read_table
from handful.errors import DataError, FormatError


def values_of(cells, **options):
    frame = pl.DataFrame({"a": cells})
    specs, notices = infer_columns(frame, **options)
    return specs[0], read_values(frame, specs)["a"].to_list() if specs[0].kind != "skip" else [], notices


NUMBERS = [
    (["$67,349.00", "$0", ""], [67349.0, 0.0, None]),
    (["8.90%", "10%"], [8.9, 10.0]),
    (["1,234", "12,345,678"], [1234.0, 12345678.0]),
    (["($1,000.50)", "€5"], [-1000.5, 5.0]),
    (["$1,200.0", "1200 EUR", "kr 300"], [1200.0, 1200.0, 300.0]),
    (["1,234", "0,5", "12,75"], [1.234, 0.5, 12.75]),
    (["0,125", "0,250"], [0.125, 0.25]),
    (["1.234,50", "-3,2", "7"], [1234.5, -3.2, 7.0]),
    (["0.125", "4.314"], [0.125, 4.314]),
    (["1234.567", "4.314"], [1234.567, 4.314]),
    (["1 234", "12 345"], [1234.0, 12345.0]),
    (["1e5", "2.5E-3", ".5", "5."], [1e5, 0.0025, 0.5, 5.0]),
]


@pytest.mark.parametrize(("cells", "numbers"), NUMBERS)
def test_numbers_as_people_write_them(cells, numbers):
    spec, values, notices = values_of(cells)
    assert spec.kind == "numeric"
    assert values == pytest.approx(numbers)
    assert notices == []


DAY = dt.timedelta(days=1)
DATES = [
    (["1970-01-02", "1969-12-31"], [1, -1]),
    (["1970/01/01 12:00:00", "1970.01.02T06:00"], [0.5, 1.25]),
    (["1970-01-01T12:00:00Z", "1970-01-02 06:00:00+02:00"], [0.5, 1.25]),
    (["16MAR75", "01JAN70"], [1900, 0]),
    (["Jan-1970", "Feb-70"], [0, 31]),
    (["2 January 1970", "1 Feb 1970"], [1, 31]),
    (["Jan 2, 1970", "February 1, 1970"], [1, 31]),
    (["01/31/1970", "02/01/1970"], [30, 31]),
    (["31/01/1970", "01/02/1970"], [30, 31]),
    (["01.02.1970"], [31]),
    (["31-01-70 6:00 PM"], [30.75]),
    (["10:30", "9:15 PM"], [10.5 / 24, 21.25 / 24]),
]


@pytest.mark.parametrize(("cells", "days"), DATES)
def test_dates_as_people_write_them(cells, days):
    spec, values, notices = values_of(cells)
    assert spec.kind == "datetime"
    assert [(value - dt.datetime(1970, 1, 1)) / DAY for value in values] == pytest.approx(days)
    assert notices == []


@pytest.mark.parametrize(
    "cells",
    [
        ["330XX", "12345"],
        ["A11", "A12"],
        ["5 kg", "7.5 kg"],
        ["36 months", "60 months"],
        ["735-739", "670-674"],
        ["2019-20", "2020-21"],
        ["red", "1"],
        ["007", "12"],
        ["1.2.3", "4,5"],
        ["192.168.1.1", "10.0.0.1"],
        ["2020-13-45", "2020-00-01"],
        ["25:00", "10:61"],
        ["$1.2M", "$300K"],
    ],
)
def test_what_only_looks_like_numbers_or_dates_is_categorical(cells):
    assert values_of(cells)[0].kind == "categorical"


AMBIGUOUS = [
    (["850", "1.234", "12.500"], "ambiguous-number", [850.0, 1.234, 12.5], [850.0, 1234.0, 12500.0]),
    (["850", "1,234", "12,500"], "ambiguous-number", [850.0, 1234.0, 12500.0], [850.0, 1.234, 12.5]),
    (["-38,309", "?"], "ambiguous-number", [-38309.0, None], [-38.309, None]),
    (["38,309%", "9"], "ambiguous-number", [38309.0, 9.0], [38.309, 9.0]),
]


@pytest.mark.parametrize(("cells", "code", "points", "commas"), AMBIGUOUS)
def test_numbers_that_can_be_read_two_ways_are_named(cells, code, points, commas):
    _, values, notices = values_of(cells)
    assert values == pytest.approx(points)
    assert [notice.code for notice in notices] == [code]
    assert (notices[0].column, notices[0].cli_fix, notices[0].python_fix) == ("a", "--decimal ,", 'decimal=","')
    assert values_of(cells, decimal=",")[1:] == (pytest.approx(commas), [])
    assert values_of(cells, decimal=".")[1:] == (pytest.approx(points), [])


def test_dates_that_can_be_read_two_ways_are_named():
    cells = ["01/02/2020", "01/12/2020"]
    _, values, notices = values_of(cells)
    assert [value.month for value in values] == [1, 1]
    assert (notices[0].code, notices[0].cli_fix) == ("ambiguous-date", "--dayfirst")
    assert "2 January 2020" in notices[0].text
    assert "1 February 2020" in notices[0].text
    assert [value.month for value in values_of(cells, dayfirst=True)[1]] == [2, 12]
    assert values_of(cells, dayfirst=True)[2] == []
    assert values_of(cells, dayfirst=False)[2] == []


def test_one_rule_holds_for_all_columns_of_a_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("menge;preis;tag\n850;1,5;01/02/2020\n1.234;2,25;01/12/2020\n12.500;3;03/04/2020\n")
    table = read_table(path)
    assert {spec.name: spec.decimal for spec in table.columns} == {"menge": ",", "preis": ",", "tag": "."}
    assert table.values()["menge"].to_list() == [850, 1234, 12500]
    assert [day.month for day in table.values()["tag"]] == [2, 12, 4]
    # That dates follow numbers is not sure.
    assert [(notice.code, notice.cli_fix) for notice in table.notices] == [("ambiguous-date", "--monthfirst")]
    clear = pl.DataFrame({"a": ["01/02/2020", "01/12/2020"], "b": ["31/01/2020", "01/12/2020"]})
    specs, notices = infer_columns(clear)
    assert [spec.date_format for spec in specs] == ["%d-%m-%Y"] * 2
    assert notices == []


def test_columns_that_disagree_leave_others_open():
    frame = pl.DataFrame({"a": ["1,5", "2"], "b": ["1.5", "2"], "c": ["38,309", "9,120"]})
    specs, notices = infer_columns(frame)
    assert [spec.decimal for spec in specs] == [",", ".", "."]
    assert [notice.code for notice in notices] == ["ambiguous-number"]
    prices = pl.DataFrame({"a": ["$38,309", "$9,120"], "size": ["56,9", "60"]})
    specs, notices = infer_columns(prices)
    assert read_values(prices, specs)["a"].to_list() == [38309.0, 9120.0], "prices hardly have three decimals"
    assert str(notices[0]).endswith("as 38,309 or as 38.309; taken is 38,309 (decimal point).")
    german = pl.DataFrame({"a": ["1.234 €", "9 €"], "size": ["56,9", "60"]})
    specs, notices = infer_columns(german)
    assert (read_values(german, specs)["a"].to_list(), notices) == ([1234.0, 9.0], [])


@pytest.mark.parametrize("cells", [["$1.459", "$2.500"], ["850", "1.234", "12.500"], ["1.234 €", "0 €"]])
def test_what_can_be_read_in_two_ways_names_both_the_one_taken_and_the_option(cells):
    _, values, (notice,) = values_of(cells)
    number = next(cell for cell in cells if "." in cell)
    point = f"{float(number.strip('$€ ')):.10g}"
    assert str(notice).startswith(f"Numbers such as {number!r} in 'a' can be read as {point} or as 1,")
    assert str(notice).endswith(f"taken is {point} (decimal point).")
    assert (notice.cli_fix, notice.python_fix) == ("--decimal ,", 'decimal=","')
    assert values_of(cells, decimal=",")[1] == [
        1000 * value if "." in cell else value for cell, value in zip(cells, values, strict=True)
    ]


def test_numbers_of_both_signs_are_categorical_and_named():
    spec, _, notices = values_of(["$1,200", "950,50 EUR", "-$3.5"])
    assert spec.kind == "categorical"
    assert [notice.code for notice in notices] == ["mixed-decimal-signs"]


def test_a_few_other_values_among_numbers_are_missing_and_named():
    hours = [*map(str, range(20)), "varies", "varies"]
    spec, values, notices = values_of(hours)
    assert (spec.kind, values[-2:]) == ("numeric", [None, None])
    assert [(notice.code, notice.column) for notice in notices] == [("unread-cells", "a")]
    assert values_of(["1", "2", "varies"])[0].kind == "categorical", "three cells say little"


def test_a_kind_that_the_user_chose_always_wins():
    assert values_of(["101", "102"], columns={"a": "categorical"})[1] == ["101", "102"]
    assert values_of(["101", "102"], columns={"a": "nominal"})[0] == ColumnSpec("a", "categorical", set_by_user=True)
    assert values_of(["007", "12"], columns={"a": "numeric"})[1] == [7.0, 12.0]
    assert values_of(["a b c", "d"], columns={"a": "text"})[0].kind == "text"
    with pytest.raises(DataError, match="column 'a': 'heavy' is not a number"):
        values_of(["3", "3", "heavy"], columns={"a": "numeric"})
    with pytest.raises(DataError, match="column 'a': 'soon' is not a date or time"):
        values_of(["soon"], columns={"a": "datetime"})


def test_codes_and_padded_numbers():
    assert values_of([f"{n:05d}" for n in range(2100, 99_000, 3_000)])[0].kind == "categorical"
    assert values_of([f"{n:05d}" for n in range(7, 700, 7)])[0].kind == "numeric"
    long = [str(10**30 + n) for n in range(30)]
    assert values_of(long)[0].kind == "categorical", "as numbers, all would be one value"


@pytest.mark.parametrize(("cells", "codes"), [(["1.5", "2.25", "13.75"], ["decimal-contradicted"]), (["a", "b"], [])])
def test_cells_that_contradict_the_decimal_sign_are_told(cells, codes):
    specs, notices = infer_columns(pl.DataFrame({"a": cells * 3}), decimal=",")
    assert [notice.code for notice in notices] == codes
    assert specs[0].kind == "categorical"


def test_missing_cells_are_those_of_pandas():
    cells = ["1", "?", "NA", " ", "None", "N/A", "null", "2"]
    assert values_of(cells)[1] == [1.0, *[None] * 6, 2.0]
    assert values_of(["a", "?", "NA", "none", "unknown"])[1] == ["a", None, None, "none", "unknown"]
    _, values, notices = values_of(["1", "inf", "-Infinity", "nan"])
    assert values == [1.0, None, None, None]
    assert [notice.code for notice in notices] == ["infinite-numbers"]


def test_columns_of_one_type_keep_their_values():
    day = dt.date(2020, 1, 2)
    frame = pl.DataFrame(
        {
            "c": ["u", None],
            "d": [day, None],
            "b": [True, None],
            "t": [dt.time(6), None],
            "s": [dt.timedelta(hours=1), None],
        },
        schema_overrides={"c": pl.Categorical},
    )
    specs, _ = infer_columns(frame)
    assert [spec.kind for spec in specs] == ["categorical", "datetime", "categorical", "datetime", "numeric"]
    assert read_values(frame, specs).row(0) == (
        "u",
        dt.datetime(2020, 1, 2),
        "true",
        dt.datetime(1970, 1, 1, 6),
        3600.0,
    )
    assert read_values(read_values(frame, specs), specs).equals(read_values(frame, specs)), "typed once"


def test_text_is_told_from_categories():
    n = range(150)
    frame = pl.DataFrame({"name": [f"maker{i % 30} model{i}" for i in n], "make": [f"maker{i % 30}" for i in n]})
    assert [spec.kind for spec in infer_columns(frame)[0]] == ["text", "categorical"]
    first, last = ["Ann", "Bo", "Cy", "Di"], ["Abel", "Bach", "Cole", "Dunn", "Esch", "Falk"]
    names = [f"{one} {other}" for one in first for other in last]
    frame = pl.DataFrame({"name": names, "code": [f"unit {i}" for i in range(24)]})
    assert [spec.kind for spec in infer_columns(frame)[0]] == ["categorical", "categorical"]
    assert values_of([f"+49 89 {63580 + 7 * i}" for i in range(40)])[0].kind == "categorical"


def test_text_of_languages_without_spaces_is_text():
    sentences = [f"这家酒店的服务非常好{chr(0x4E00 + n)}房间很干净" for n in range(30)]
    names = [f"王小{chr(0x4E00 + n)}" for n in range(30)]
    thai = [f"โรงแรมนี้บริการดีมาก {n}" for n in range(30)]
    kinds = [spec.kind for spec in infer_columns(pl.DataFrame({"text": sentences, "name": names, "thai": thai}))[0]]
    assert kinds == ["text", "categorical", "text"]


def test_new_cells_that_contradict_the_reading_are_refused():
    points = [ColumnSpec("a", "numeric")]
    with pytest.raises(DataError, match="'1,5' has a decimal comma, but the model was trained on a decimal point"):
        unread_cells(pl.DataFrame({"a": ["1,5", "2,25", "3"]}), points)
    assert unread_cells(pl.DataFrame({"a": ["1,5", "2.25", "3", ""]}), points) == {"a": (1, 3)}
    months = [ColumnSpec("a", "datetime", date_format="%m-%d-%Y")]
    with pytest.raises(DataError, match="has the day first"):
        unread_cells(pl.DataFrame({"a": ["31/01/2020", "01/02/2020"]}), months)
    with pytest.raises(DataError, match="has the day first"):
        unread_cells(pl.DataFrame({"a": ["31/01/2020"]}), [ColumnSpec("a", "datetime", date_format="%Y-%m-%d")])
    assert unread_cells(pl.DataFrame({"a": [1.0, float("nan"), None, float("inf")]}), points) == {"a": (1, 2)}


def test_the_order_of_columns_and_rows_does_not_matter():
    frame = pl.DataFrame({"a": ["38,309", "9,120"], "b": ["1,5", "2"], "c": ["01/02/2020", "13/02/2020"]})
    specs = {spec.name: spec for spec in infer_columns(frame)[0]}
    turned = {spec.name: spec for spec in infer_columns(frame.select("c", "a", "b").reverse())[0]}
    assert specs == turned


def test_a_file_says_which_column_cannot_be_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\nb,c\n")
    with pytest.raises(FormatError, match=r"a\.csv: column 'x': 'b' is not a number"):
        read_table(path, columns={"x": "numeric"})
    assert as_table({"x": ["1", "b"]}).kinds == {"x": "categorical"}
