"""Sixty columns that can be read in more than one way: what is read, and which notice says so."""

from __future__ import annotations

import polars as pl
import pytest

from handful.data.columns import infer_columns, read_values

NUMBER, DATE = "ambiguous-number", "ambiguous-date"
# Cells, what they are read as (dates as ISO; None where they stay categories), and the notice.
COLUMNS = [
    (["850", "1.234", "12.500"], [850.0, 1.234, 12.5], NUMBER),
    (["850", "1,234", "12,500"], [850.0, 1234.0, 12500.0], NUMBER),
    (["1.234", "2.345"], [1.234, 2.345], NUMBER),
    (["1,234", "2,345"], [1234.0, 2345.0], NUMBER),
    (["0.125", "0.250"], [0.125, 0.25], None),
    (["0,125", "0,250"], [0.125, 0.25], None),
    (["1.234.567", "2.345.678"], [1234567.0, 2345678.0], None),
    (["1,234,567", "850"], [1234567.0, 850.0], None),
    (["1.234,5", "12,0"], [1234.5, 12.0], None),
    (["1,234.5", "12.0"], [1234.5, 12.0], None),
    (["1 234", "12 345"], [1234.0, 12345.0], None),
    (["1'234", "12'345"], [1234.0, 12345.0], None),
    (["1.234", "5.67"], [1.234, 5.67], None),
    (["1,234", "5,67"], [1.234, 5.67], None),
    (["-1.234", "1.500"], [-1.234, 1.5], NUMBER),
    (["-1,234", "1,500"], [-1234.0, 1500.0], NUMBER),
    (["1.234%", "2.500%"], [1.234, 2.5], NUMBER),
    (["1,234%", "2,500%"], [1234.0, 2500.0], NUMBER),
    (["$1,234", "$2,500"], [1234.0, 2500.0], None),
    (["$1.234", "$2.500"], [1.234, 2.5], NUMBER),
    (["€1.234", "€2.500"], [1.234, 2.5], NUMBER),
    (["1.234 €", "2.500 €"], [1.234, 2.5], NUMBER),
    (["1.234 €", "2.500,50 €"], [1234.0, 2500.5], None),
    (["$1,234", "$2,500.50"], [1234.0, 2500.5], None),
    (["100.000", "200.000"], [100.0, 200.0], NUMBER),
    (["100,000", "200,000"], [100000.0, 200000.0], NUMBER),
    (["1.000", "2.000"], [1.0, 2.0], NUMBER),
    (["1,000", "2,000"], [1000.0, 2000.0], NUMBER),
    (["999", "1.000"], [999.0, 1.0], NUMBER),
    (["999", "1,000"], [999.0, 1000.0], NUMBER),
    (["001.234", "002.345"], None, None),
    (["12.34", "1.234"], [12.34, 1.234], None),
    (["12,34", "1,234"], [12.34, 1.234], None),
    (["1e3", "1.234"], [1000.0, 1.234], NUMBER),
    (["(1.234)", "850"], [-1.234, 850.0], NUMBER),
    (["1.234-", "850"], None, None),
    (["01/02/2020", "03/04/2020"], "2020-01-02 2020-03-04", DATE),
    (["01/02/2020", "13/02/2020"], "2020-02-01 2020-02-13", None),
    (["01/02/2020", "02/13/2020"], "2020-01-02 2020-02-13", None),
    (["13/02/2020", "02/13/2020"], None, None),
    (["01.02.2020", "03.04.2020"], "2020-02-01 2020-04-03", None),
    (["01-02-2020", "03-04-2020"], "2020-01-02 2020-03-04", DATE),
    (["01/02/20", "03/04/20"], "2020-01-02 2020-03-04", DATE),
    (["2020-01-02", "2020-03-04"], "2020-01-02 2020-03-04", None),
    (["2020/01/02", "2020/03/04"], "2020-01-02 2020-03-04", None),
    (["20200102", "20200304"], [20200102.0, 20200304.0], None),
    (["1/2/2020 10:30", "3/4/2020 9:15"], "2020-01-02 2020-03-04", DATE),
    (["1/2/2020 1:00 PM", "2/3/2020 2:00 AM"], "2020-01-02 2020-02-03", DATE),
    (["01/01/2020", "02/02/2020"], "2020-01-01 2020-02-02", None),
    (["Jan 2 2020", "Feb 3 2020"], "2020-01-02 2020-02-03", None),
    (["2 Jan 2020", "3 Feb 2020"], "2020-01-02 2020-02-03", None),
    (["May-20", "Jun-20"], "2020-05-01 2020-06-01", None),
    (["10:30", "11:45"], "10:30:00 11:45:00", None),
    (["10:30:15", "11:45:59"], "10:30:15 11:45:59", None),
    (["1/2", "3/4"], None, None),
    (["01/2020", "02/2020"], None, None),
    (["2020", "2021"], [2020.0, 2021.0], None),
    (["1-2", "3-4"], None, None),
    (["12.05", "13.10"], [12.05, 13.1], None),
    (["12.05.", "13.10."], None, None),
    (["31/12/1999", "01/01/2000"], "1999-12-31 2000-01-01", None),
    (["12/31/1999", "01/01/2000"], "1999-12-31 2000-01-01", None),
    (["1,2", "3,4"], [1.2, 3.4], None),
    (["1.2", "3.4"], [1.2, 3.4], None),
    (["1.234", "1,234"], [1.234, 1234.0], NUMBER),
    (["1.2.2020", "3.4.2020"], "2020-02-01 2020-04-03", None),
    (["01/02/2020", "n/a"], "2020-01-02 None", DATE),
    (["1,234", "n/a"], [1234.0, None], NUMBER),
    (["yes", "1,234"], None, None),
    (["007", "008"], None, None),
    (["1.234", "abc"], None, None),
    (["10/11/12", "09/10/11"], "2012-10-11 2011-09-10", DATE),
]


def shown(values, kind):
    if kind == "categorical":
        return None
    if kind == "numeric":
        return values
    return " ".join(str(value and (value.time() if value.year == 1970 else value.date())) for value in values)


@pytest.mark.parametrize(("cells", "expected", "code"), COLUMNS)
def test_what_is_read_and_told(cells, expected, code):
    frame = pl.DataFrame({"a": cells})
    specs, notices = infer_columns(frame)
    assert shown(read_values(frame, specs)["a"].to_list(), specs[0].kind) == expected
    assert [notice.code for notice in notices] == ([code] if code else [])
    # The option that a notice names gives the other reading, in silence.
    if code:
        options = {"decimal": ","} if code == NUMBER else {"dayfirst": True}
        other, silent = infer_columns(frame, **options)
        assert shown(read_values(frame, other)["a"].to_list(), other[0].kind) != expected
        assert silent == []
