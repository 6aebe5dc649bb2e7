"""Tables: kinds, missing labels, every file type, and a sentence for every malformed one."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import math

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handful.data import columns as kinds
from handful.data import csv as delimited
from handful.data.columns import ColumnSpec, infer_columns, read_values
from handful.data.table import Table, read_table
from handful.data.tabular import write_table
from handful.errors import DataError, FileError, FormatError, ParameterError

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture
def put(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def parquet(**columns):
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def labels_of(table):
    return [None if code < 0 else table.classes[code].item() for code in table.codes]


def specs_of(table):
    return infer_columns(table.cells.drop([] if table.target is None else table.target))[0]


def kinds_of(table):
    """Kinds of all columns, also of those that hold no information."""
    return {spec.name: spec.kind for spec in specs_of(table)}


def whole(table):
    """Values of all columns, also of those that hold no information."""
    return read_values(table.cells, specs_of(table))


def refused(path, message, error=FormatError, **options):
    with pytest.raises(error) as caught:
        read_table(path, **options)
    assert str(caught.value) == f"{path}{message}"


def test_numeric_nominal_and_text_columns_are_told_apart(put):
    rows = [
        "n,i,missing,code,color,review,empty,label",
        "1.5,1,NA,007,red,a very good film,,1",
        '-2e3,2,?,120, blue ,"bad, very bad, film",,',
        " 3 ,-3,4,008,,not my kind of thing,,2",
    ]
    table = read_table(put("\n".join(rows)), "label")
    assert kinds_of(table) == {
        "n": "numeric",
        "i": "numeric",
        "missing": "numeric",
        "code": "categorical",
        "color": "categorical",
        "review": "text",
        "empty": "numeric",
    }
    assert whole(table).select(pl.selectors.numeric()).to_numpy()[:, :2].tolist() == [
        [1.5, 1.0],
        [-2000.0, 2.0],
        [3.0, -3.0],
    ]
    assert [math.isnan(x) for x in whole(table).select(pl.selectors.numeric()).to_numpy()[:, 2]] == [True, True, False]
    assert whole(table)["color"].to_list() == ["red", "blue", None]
    assert labels_of(table) == [1, None, 2]
    assert (table.target, table.name, table.n_rows_read) == ("label", "a", 3)


def test_kinds_can_be_given(put):
    path = put("zip,x\n101,a\n102,b\n")
    table = read_table(path, columns={"zip": "categorical", "x": "text"})
    assert table.kinds == {"zip": "categorical", "x": "text"}
    assert table.values()["zip"].to_list() == ["101", "102"]
    assert read_table(put("zip\n007\n", "b.csv"), columns={"zip": "numeric"}).values().rows() == [(7.0,)]


LABELS = [
    (["1", "-1", ""], ["1", "-1", None]),
    (["1", "-2", ""], [1, -2, None]),
    (["1", "?", "2"], [1, None, 2]),
    (["a", "none", "b"], ["a", "none", "b"]),
    (["1", "2.0", ""], ["1", "2.0", None]),
    (["007", "1", "2"], ["007", "1", "2"]),
    (["1", "", "99999999999999999999"], ["1", None, "99999999999999999999"]),
    (["", "", ""], [None, None, None]),
    (["cat", "NaN", "nan"], ["cat", None, None]),
    ([" 1", "2 ", " "], [1, 2, None]),
    (["0", "-0", "1"], ["0", "-0", "1"]),
]


@pytest.mark.parametrize(("labels", "wanted"), LABELS)
def test_labels_stay_what_they_are_and_missing_ones_are_none(put, labels, wanted):
    path = put("x,y\n" + "".join(f"1,{label}\n" for label in labels))
    assert labels_of(read_table(path, "y")) == wanted
    assert labels_of(read_table(path, "y", max_unlabeled=10)) == wanted


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_quotes_and_line_ends(put, separator):
    text = f'a|"b"|c\r\n"x{separator}""y""\nz"|1,5|2\r\n\r\nu|v|3\r\n'.replace("|", separator)
    if separator == ",":
        text = text.replace("1,5", '"1,5"')
    table = read_table(put(text, "a.txt"), "c")
    assert whole(table)["a"].to_list() == [f'x{separator}"y"\nz', "u"]
    assert whole(table)["b"].to_list() == ["1,5", "v"]
    assert labels_of(table) == [2, 3]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_packed_tables_and_byte_order_marks(put, pack):
    assert list(kinds_of(read_table(put(pack("\ufeffx,y\n1,2\n".encode()))))) == ["x", "y"]
    assert list(kinds_of(read_table(put(pack(b'{"x": 1}\n'), "a.dat")))) == ["x"]
    assert list(kinds_of(read_table(put(pack(parquet(x=[1])), "a.dat")))) == ["x"]


def test_json_lines(put):
    lines = '{"x": 1, "y": "a", "b": true}\n\n{"x": 2.5, "z": null, "b": null}\n{"y": 3, "x": null}\n'
    table = read_table(put(lines, "a.jsonl"), "y")
    assert whole(table)["x"].to_list() == [1.0, 2.5, None]
    assert labels_of(table) == ["a", None, "3"]
    assert kinds_of(table) == {"x": "numeric", "b": "categorical", "z": "categorical"}
    assert whole(table)["b"].to_list() == ["true", None, None]
    assert list(map(repr, labels_of(read_table(put('{"y": 3.0}\n{"y": null}\n{"y": 4}\n', "b.jsonl"), "y")))) == [
        "3",
        "None",
        "4",
    ]
    assert list(map(repr, labels_of(read_table(put('{"y": 3.0}\n{"y": 1e10}\n', "c.jsonl"), "y")))) == [
        "3",
        "10000000000",
    ]


def test_parquet_types(put):
    day = datetime.date(2020, 1, 2)
    path = put(
        parquet(
            f=[1.0, math.nan],
            c=pl.Series(["u", None], dtype=pl.Categorical),
            d=[day, day],
            b=[True, False],
            t=[datetime.time(1)] * 2,
        ),
        "a.parquet",
    )
    table = read_table(path, "f")
    assert labels_of(table) == [1.0, None]
    assert kinds_of(table) == {"c": "categorical", "d": "datetime", "b": "categorical", "t": "datetime"}
    assert labels_of(read_table(path, "c")) == ["u", None]
    assert labels_of(read_table(path, "b")) == [True, False]
    assert labels_of(read_table(path, "d")) == ["2020-01-02"] * 2
    one = decimal.Decimal("1.50")
    with pytest.raises(FormatError, match="labels must be classes, got the fraction"):
        read_table(put(parquet(x=[1, 2], y=[one, None]), "c.parquet"), "y")
    assert list(
        map(repr, labels_of(read_table(put(parquet(x=[3.0, math.nan], y=[one * 2, None]), "d.parquet"), "y")))
    ) == ["3", "None"]
    refused(
        put(parquet(**{"x": [1], "": [2]}), "e.parquet"),
        ": expected a name for every column, got none for column 2. Name it.",
    )
    refused(put(parquet(x=[[1]]), "b.parquet"), ": expected plain values in column 'x', got List(Int64).")


def test_ragged_rows(put):
    refused(put("a,b\n1,2\n1\n"), ":3: expected 2 columns as in the header, got 1.")
    refused(put('a,b\n"1\n1",2\n1,2,3\n'), ":4: expected 2 columns as in the header, got 3.")


def test_headers(put):
    refused(put("a,b,a\n1,2,3\n"), ":1: expected each column name once, got 'a' again.")
    assert list(kinds_of(read_table(put("a,,b\n1,2,3\n")))) == ["a", "column2", "b"]
    for first in ("5,1,3", "0,1,2", "-5,1e5,nan", ".5,+1.,INF"):
        table = read_table(put(f"{first}\n1,2,3\n"))
        assert (list(kinds_of(table)), table.n_rows_read) == (["column1", "column2", "column3"], 2)
        assert str(table.notices[0]).startswith(
            "The first row looks like data, so the columns are named column1 to column3"
        )
    assert read_table(put("7\n1\n")).n_rows_read == 2
    assert list(kinds_of(read_table(put("5.1,setosa\n4.9,setosa\n6.2,virginica\n")))) == [
        "column1",
        "column2",
    ]
    assert list(kinds_of(read_table(put('"a","b"\n"1",1,x\n"2",2,y\n')))) == ["column1", "a", "b"], (
        "R names no row names"
    )
    for names in (["year", "2001", "2002"], ["nan", "x"], ["x", "0.5", "label"]):
        assert list(kinds_of(read_table(put(",".join(names) + "\n" + ",".join("123"[: len(names)]) + "\n")))) == names


def test_targets(put):
    path = put("size,Label\n1,2\n")
    refused(path, ": no column 'label'. Did you mean 'Label'?", target="label")
    refused(path, ": no column 'LABEL'. Did you mean 'Label'?", target="LABEL")
    refused(path, ": no column 'y'. The columns are 'size', 'Label'.", target="y")


def test_a_tie_of_separators_goes_to_the_tab_then_the_semicolon(put):
    for name in ("a.tsv", "a.tab", "a.txt", "a.TSV.gz"):
        table = read_table(put("length,cm\tlabel\n1,x\t1\n2,y\t2\n", name), "label")
        assert (list(kinds_of(table)), labels_of(table)) == (["length,cm"], [1, 2])
    assert list(kinds_of(read_table(put("a,b,c\td\n1,2,3\t4\n", "a.tsv")))) == ["a,b,c", "d"]
    assert list(kinds_of(read_table(put("a,b,c\td\n1,2,3\t4\n", "a.csv")))) == ["a", "b", "c\td"]
    assert list(kinds_of(read_table(put("a,b;c\n1;x\n", "a.csv")))) == ["a,b", "c"]
    assert list(kinds_of(read_table(put("a,b\n1,x\n", "a.tsv")))) == ["a", "b"]


def test_empty_lines_are_skipped(put):
    assert labels_of(read_table(put("label\na\n\nb\n"), "label")) == ["a", "b"]
    assert whole(read_table(put("x,y\n1,2\n\n3,4\n"))).rows() == [(1, 2), (3, 4)]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("values", [[1, None, 3], [None, 2, None], ["a", None, "b"]])
def test_a_table_of_one_column_keeps_its_missing_cells(tmp_path, name, values):
    write_table(tmp_path / name, Table(pl.DataFrame({"a": values}), ()))
    assert whole(read_table(tmp_path / name))["a"].to_list() == values


def test_more_columns_than_one_query_treats_keep_their_order(put, monkeypatch):
    monkeypatch.setattr(kinds, "_BLOCK", 2)
    table = read_table(put("a,b,y,c,d,e\nu,1,0,2,v,w w w\n"), "y")
    wanted = {"a": "categorical", "b": "numeric", "c": "numeric", "d": "categorical", "e": "text"}
    assert list(kinds_of(table).items()) == list(wanted.items())
    assert whole(table).rows() == [("u", 1, 2, "v", "w w w")]


def test_long_values_are_cut_in_messages(put):
    name = "n" * 1000
    refused(put(f"{name},{name}\n1,2\n"), f":1: expected each column name once, got '{'n' * 57}...' again.")


def test_no_rows_and_no_columns(put):
    refused(put("a,b\n"), ": no rows below the header. Add rows.")
    refused(put("a,b\n\n\n"), ": no rows below the header. Add rows.")
    refused(put(parquet(a=[]), "a.parquet"), ": no rows below the header. Add rows.")
    refused(put("\n\n"), ": no columns. Is the file empty?")
    refused(put(parquet(), "a.parquet"), ": no columns. Is the file empty?")
    refused(put("{}\n", "a.jsonl"), ": expected JSON objects with columns, got none.")
    refused(put("[1,2,3]", "a.json"), ": expected a JSON object, got '1'.")


def test_files_that_are_no_table(put, tmp_path):
    text = "expected a table with columns separated by commas, semicolons or tabs, got one column."
    refused(put("Rome fell.\nSo what?\n", "a.txt"), f":1: {text}")
    refused(put("Rome, fell.\nSo what?\n", "a.txt"), ":2: expected 2 columns as in the header, got 1.")
    assert list(kinds_of(read_table(put("x\n1\n")))) == ["x"]
    refused(put(""), ": the file is empty.")
    refused(put(b"a,b\n\0,1\n"), ": expected text, got a binary file (it holds NUL bytes).")
    refused(tmp_path / "none.csv", ": no such file.", FileError)
    refused(tmp_path, ": is a folder. Name a file to read.", FileError)
    hint = "Other letters of the file are UTF-8, so it has two encodings; write this line anew."
    mixed = "a,b\n1,\u00e9\n".encode() + b"x\xe9,1\n"
    refused(put(mixed), f":3: expected UTF-8, got byte 0xe9 at byte 2 of the line. {hint}")
    damaged = ": the Parquet data is damaged. Copy or write the file again."
    refused(put("a,b", "a.parquet"), damaged)
    refused(put("", "a.parquet"), ": the file is empty.")
    refused(put(parquet(a=[1])[:-9], "a.parquet"), damaged)


def test_quotes_that_are_not_closed(put):
    message = "expected a closing quote for a cell of this row, got the end of the file."
    refused(put('a,b\n1,"2\n3,4\n'), f":2: {message}")
    refused(put('a,b\n1,2\n3,"' + "5,6\n" * 2000), f":3: {message}")
    refused(put('a,b\n\n"x\n,""y""\n","z"",\n"",\n5,6\n'), f":3: {message}")
    refused(put('a"b;c\n1"2;"x\n'), f":2: {message}")
    refused(put('a,"b\n1,2\n'), f":1: {message}")
    refused(put('a,b\n"1"2,3\n'), """:2: expected cells with closed quotes, got an error (',' expected after '"').""")
    refused(
        put("a,b\n1,2\r3,4\n"),
        r":2: expected cells with closed quotes, got an error (a carriage return (\r) outside quotes).",
    )


def test_long_cells_are_read_up_to_a_bound(put, tmp_path):
    long = "x\n" * 100_000
    table = Table(pl.DataFrame({"a": [1], "b": [long]}), ())
    write_table(tmp_path / "long.csv", table)
    assert whole(read_table(tmp_path / "long.csv"))["b"].to_list() == [long.strip()]
    message = f"expected a closing quote for a cell of this row, got more than {delimited.MAX_CELL:,} characters."
    refused(put('a,b\n1,"' + ("x" * 2**16 + "\n") * 257), f":2: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n[1]\n', ":2: expected a JSON object, got '[1]'."),
        ('{"a": [1]}\n', ":1: expected a plain value in column 'a', got a list or an object."),
        ('{"a": 1, "a": 2}\n', ":1: expected each key once, got 'a' again."),
        ('{" ": 1}\n', ":1: expected a name for every column, got an empty one."),
        ('{"a": 1}\n{"a"}\n', ":2: expected JSON, got an error at column 5: Expecting ':' delimiter."),
        ('{"a": "\\ud800"}', r":1: expected whole characters, got half of a surrogate pair (\ud800 to \udfff)."),
    ],
)
def test_malformed_json_lines(put, text, message):
    refused(put(text, "a.jsonl"), message)


def test_tables_that_are_too_large(put, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_TABLE", 20)
    refused(put("a,b\n" + "1,2\n" * 9), ":1: expected a table of at most 20 characters, got more.")
    monkeypatch.undo()
    monkeypatch.setattr(delimited, "MAX_CELLS", 10)
    sparse = "".join(f'{{"c{i}": 1}}\n' for i in range(9))
    refused(put(sparse, "a.jsonl"), ":4: expected a table of at most 10 cells, got more.")
    refused(put("a,b\n" + "1,2\n" * 9), ": expected a table of at most 10 cells, got more.")
    refused(put(parquet(a=[1] * 11), "a.parquet"), ": expected a table of at most 10 cells, got more.")


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_batches_make_no_difference(put, monkeypatch, batch):
    monkeypatch.setattr(delimited, "BATCH", batch)
    monkeypatch.setattr(delimited, "BLOCK", 4 * batch)
    assert whole(read_table(put("a,b\n1,x\n2,y\n3,\n"))).rows() == [(1, "x"), (2, "y"), (3, None)]


def test_writing(tmp_path):
    table = Table(pl.DataFrame({"x": [1, 2]}), ())
    with pytest.raises(ParameterError, match=r"must end in \.parquet, .*\.csv, \.tsv, \.tab, got \.doc"):
        write_table(tmp_path / "a.doc", table)
    with pytest.raises(ParameterError, match="got no ending"):
        write_table(tmp_path / "a", table)
    with pytest.raises(DataError, match="the table must have columns, got none"):
        write_table(tmp_path / "a.csv", Table(pl.DataFrame(), ()))
    with pytest.raises(DataError, match="must not start with U\\+FEFF"):
        write_table(tmp_path / "a.csv", Table(pl.DataFrame({"\ufeffx": [1]}), ()))
    endless = Table(pl.DataFrame({"x": [1.5, math.inf, math.nan]}), ())
    with pytest.raises(DataError, match="JSON has no infinite numbers, got one in column 'x'"):
        write_table(tmp_path / "a.jsonl", endless)
    assert not (tmp_path / "a.jsonl").exists()
    for name in ("a.csv", "a.parquet"):
        write_table(tmp_path / name, endless)
        assert whole(read_table(tmp_path / name))["x"].to_list() == [1.5, None, None]


strings = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.none()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.xz"])
@unhurried
@given(
    st.lists(
        st.tuples(numbers, strings.map(lambda text: f"k{text}k") | st.none(), st.sampled_from([3, -2, 0, None])),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory, name, rows):
    schema = {"x": pl.Float64, "s, \n\"'": pl.String, "y": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    path = tmp_path_factory.mktemp("table") / name
    write_table(path, Table(frame, ()))
    again = read_table(path, "y", columns={"x": "numeric", "s, \n\"'": "categorical"})
    values = read_values(again.cells, [ColumnSpec("x", "numeric"), ColumnSpec("s, \n\"'", "categorical")])
    assert values["x"].to_list() == frame["x"].to_list()
    assert values["s, \n\"'"].to_list() == frame["s, \n\"'"].to_list()
    assert labels_of(again) == [row[2] for row in rows]
