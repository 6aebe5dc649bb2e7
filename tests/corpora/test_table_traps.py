"""Tables as people have them: every trap with a little table of its own."""

from __future__ import annotations

import io
import sys

import numpy as np
import polars as pl
import pytest

from handful.core.errors import DataError, FileError, FormatError, ParameterError
from handful.core.number_forms import guess_form, to_number
from handful.core.records import Table
from handful.corpora.formats import all_formats, format_for, format_of
from handful.corpora.formats.text_blocks import BLOCK
from handful.corpora.opening import Source
from handful.corpora.tables import (
    judge_labels,
    left_out,
    rare_classes,
    read_rows,
    read_table,
    suspicions,
    table_frames,
    table_of,
    write_frames,
    write_table,
)
from handful.corpora.tables.label_checks import label_suspicions
from handful.features.tables import TableEncoder


@pytest.fixture
def put(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


FORMS = [
    (["$67,349", "$0", ""], "amount", [67349.0, 0.0, None]),
    (["8.90%", "10%"], "amount", [8.9, 10.0]),
    (["1,234", "12,345,678"], "amount", [1234.0, 12345678.0]),
    (["($1,000.50)", "€5"], "amount", [-1000.5, 5.0]),
    (["$1,200", "1200 EUR", "kr 300"], "amount", [1200.0, 1200.0, 300.0]),
    (["$1.2M", "$300K", "-$5"], "amount", [1.2e6, 3e5, -5.0]),
    (["$1,200", "1.200,50 €", "€ 950,50", "-$3.5"], "mixed amount", [1200.0, 1200.5, 950.5, -3.5]),
    (["1,234.50", "950,5", "1.234.567,25"], "mixed amount", [1234.5, 950.5, 1234567.25]),
    (["1,234", "0,5", "12,75"], "decimal comma", [1.234, 0.5, 12.75]),
    (["0,125", "0,250"], "decimal comma", [0.125, 0.25]),
    (["1.234,50", "-3,2", "7"], "decimal comma", [1234.5, -3.2, 7.0]),
    (["735-739", "670-674"], "range", [737.0, 672.0]),
    (["18-29", "30-44", "65+"], "range", [23.5, 37.0, 65.0]),
    ([" 36 months", " 60 months"], "quantity", [36.0, 60.0]),
    (["< 1 year", "1 year", "10+ years", "n/a"], "quantity", [0.5, 1.0, 10.0, None]),
    (["5 kg", "7.5 kg"], "quantity", [5.0, 7.5]),
    (["4,958 lbs", "3222 lb", "986.5 pounds", "1,204"], "quantity", [4958.0, 3222.0, 986.5, 1204.0]),
    (["3,696.5kg", "-12,345,678 kg"], "quantity", [3696.5, -12345678.0]),
    (["lbs 4,958", "lbs. 3,100.5"], "quantity", [4958.0, 3100.5]),
    (["1,200 sq ft", "900 sq. ft"], "quantity", [1200.0, 900.0]),
    (["3,5 kg", "1.234,5 kg"], "quantity with decimal comma", [3.5, 1234.5]),
    (["0,125 l"], "quantity with decimal comma", [0.125]),
    (["1,005 kg", "300 g"], "quantity in several units", [1_005_000.0, 300.0]),
    (["1,5 kg", "300 g"], "quantity in several units with decimal comma", [1500.0, 300.0]),
    (["90 min", "2 hours"], "quantity in several units", [5400.0, 7200.0]),
    (["1 h", "2 d"], "quantity in several units", [3600.0, 172_800.0]),
    (["2 H", "30 MIN"], "quantity in several units", [7200.0, 1800.0]),
    (["2 wks", "1 week", "1wk"], "quantity", [2.0, 1.0, 1.0]),
    (["12mo", "1 y", "1 yr"], "quantity in several units", [31_556_952.0] * 3),
    (["0.125", "1,5"], "mixed amount", [0.125, 1.5]),
    (["1,000-1,999", "2,000 - 2,999"], "range", [1499.5, 2499.5]),
    (["1970-01-02", "1969-12-31"], "date", [1.0, -1.0]),
    (["1970-01-01 12:00:00", "1970-01-02T06:00"], "date", [0.5, 1.25]),
    (["16MAR39", "01JAN70"], "date", [-11249.0, 0.0]),
    (["Jan-1970", "Feb-70"], "date", [0.0, 31.0]),
    (["01/31/1970", "02/01/1970"], "date", [30.0, 31.0]),
    (["31/01/1970", "01/02/1970"], "day first", [30.0, 31.0]),
    (["01.02.1970"], "day first", [31.0]),
    (["10:30", "9:15 PM"], "time", [10.5, 21.25]),
]


@pytest.mark.parametrize(("cells", "form", "numbers"), FORMS)
def test_numbers_as_people_write_them(cells, form, numbers):
    assert guess_form(cells) == form
    assert [to_number(cell, form) for cell in cells] == pytest.approx(numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["330XX", "12345"],
        ["A11", "A12"],
        ["3 dogs", "2 cats"],
        ["3 kg", "2 km"],
        ["12d", "13d"],
        ["5y", "3y"],
        ["12d", "3M"],
        ["3 M", "2 D"],
        ["12H", "3S"],
        ["Room 12", "Room 13"],
        ["1,2,3 kg", "4 kg"],
        ["12,34 kg", "1.5 kg"],
        ["2019-20", "2020-21"],
        ["red", "1"],
        ["007", "12"],
        ["1,2", "3,4,5"],
        ["1.2.3", "4,5"],
        ["?"],
    ],
)
def test_what_only_looks_like_numbers_stays_names(cells):
    assert guess_form(cells) is None


def test_marks_of_missing_cells(put):
    rows = "x,z,none\n1,a,none\n?,?,yes\nNA,NA,no\n , ,yes\nNone,N/A,no\n-,null,yes\n2,b,none\n"
    table = read_table(put(rows))
    assert table.kinds == {"x": "numeric", "z": "nominal", "none": "nominal"}
    assert table.frame["x"].to_list() == [1, None, None, None, None, None, 2]
    assert table.frame["z"].to_list() == ["a", None, None, None, None, None, "b"]
    assert table.frame["none"].to_list()[0] == "none", "may be a value in a column of names"
    raw = read_table(put(rows), as_they_stand=True)
    assert raw.frame["z"].to_list() == ["a", "?", "NA", None, "N/A", "null", "b"]


def test_a_few_strangers_among_numbers_are_missing_and_told(put):
    table = read_table(put("hours\n" + "".join(f"{i}\n" for i in range(20)) + "varies\nvaries\n"))
    assert table.kinds == {"hours": "numeric"}
    assert table.notes == ("Column 'hours' is read as numbers; 2 cells that say 'varies' count as missing.",)
    assert read_table(put("hours\n1\n2\nvaries\n")).kinds == {"hours": "nominal"}, "three cells tell nothing"
    table = read_table(put("weight\n" + "".join(f"{i}.5 kg\n" for i in range(20)) + "heavy\n"))
    assert (table.kinds, table.forms) == ({"weight": "numeric"}, {"weight": "quantity"})
    assert table.notes == ("Column 'weight' is read as numbers; 1 cell that says 'heavy' counts as missing.",)


def test_a_column_that_is_asked_for_as_numbers_may_have_a_few_strangers(put):
    few = read_table(put("size\n" + "3 kg\n" * 9 + "heavy\n"), kinds={"size": "numeric"})
    assert few.frame["size"].null_count() == 1
    with pytest.raises(FormatError, match="expected numbers in column 'size', got 'heavy'"):
        read_table(put("size\n" + "3 kg\n" * 3 + "heavy\n"), kinds={"size": "numeric"})


def test_codes_and_padded_numbers(put):
    zips = "zip\n" + "".join(f"{n:05d}\n" for n in range(2100, 99_000, 3_000))
    assert read_table(put(zips)).kinds == {"zip": "nominal"}
    code = zips.replace("zip", "code")
    assert read_table(put(code)).kinds == {"code": "nominal"}
    padded = "amount\n" + "".join(f"{n:05d}\n" for n in range(7, 700, 7))
    assert read_table(put(padded)).kinds == {"amount": "numeric"}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_separators_and_encodings(put, separator, encoding):
    rows = [["größe", "farbe", "label"], ["1.5", "rötlich", "a"], ["2", "blau", "b"]]
    source = Source(put("\r\n".join(separator.join(row) for row in rows).encode(encoding)))
    assert format_of(source).yields == "table"
    table = read_table(source, "label")
    assert table.kinds == {"größe": "numeric", "farbe": "nominal"}
    assert table.frame["farbe"].to_list() == ["rötlich", "blau"]
    assert [note for note in table.notes if "Windows-1252" in note] == list(table.notes)
    assert len(table.notes) == (encoding == "cp1252")


def test_semicolons_with_decimal_commas_and_no_header(put):
    table = read_table(put("1,5;2,5;a\n2,5;3,5;b\n3,5;4,5;a\n"))
    assert table.features == ["column1", "column2", "column3"]
    assert table.numeric().tolist() == [[1.5, 2.5], [2.5, 3.5], [3.5, 4.5]]


def test_polars_and_the_slow_way_read_the_same(put):
    plain = "a,b\n" + "".join(f'{i},"x, {i}"\n' for i in range(1_000))
    odd = plain.replace('999,"x, 999"', '999,x" 999')
    fast, slow = (pl.concat(list(table_frames(put(text, name)))) for text, name in ((plain, "f.csv"), (odd, "s.csv")))
    assert fast[:999].equals(slow[:999])
    assert slow["b"][999] == 'x" 999'
    long = put("a,b\n" + "1,2\n" * (BLOCK // 4 + 10) + "1,2,3\n", "long.csv")
    with pytest.raises(FormatError, match=f":{BLOCK // 4 + 12}: expected 2 columns as in the header, got 3"):
        list(table_frames(long))


LABELS = [
    (["a", "b", "NA", "n/a", "null", "?", "unknown", "", "-1"], ["a", "b", *[None] * 7]),
    (["+", "-", "+", "-"], ["+", "-", "+", "-"]),
    (["a", "a", "b", "b", "None", "None"], ["a", "a", "b", "b", "None", "None"]),
    (["a", "b", "None", "None", "None"], ["a", "b", None, None, None]),
    (["yes", "unknown", "yes"], ["yes", "unknown", "yes"]),
    (["0", "1", "-1"], [0, 1, None]),
    (["1", "2", "?"], [1, 2, None]),
    (["0.0", "1.0", "-1.0"], ["0.0", "1.0", None]),
    (["0", "1", "-1.0"], [0, 1, None]),
    (["0.5", "1.5", "-1.0"], ["0.5", "1.5", "-1.0"]),
    (["a", "b", "-1.0"], ["a", "b", None]),
    (["gut", "schlecht", "k.A.", "keine Angabe", "Unbekannt", "#NV"], ["gut", "schlecht", *[None] * 4]),
    (["oui", "non", "inconnu", "Non renseigné", "desconocido", "sin datos", "??"], ["oui", "non", *[None] * 5]),
    (["a", "b", "todo", "todo", "TBD", "TBD"], ["a", "b", *[None] * 4]),
    (["todo", "doing", "done", "done"], ["todo", "doing", "done", "done"]),
]


@pytest.mark.parametrize(("cells", "labels"), LABELS)
def test_labels_that_mean_none(cells, labels):
    judged = judge_labels(pl.Series("y", cells))
    assert judged.cells.to_list() == labels
    n_lost = sum(label is None and cell != "" for cell, label in zip(cells, labels, strict=True))
    assert [note.split(" cell")[0] for note in judged.notes] == ([str(n_lost)] if n_lost else [])


def test_minus_one_with_a_tail_is_read_from_a_file_as_without(put):
    path = put("x,y\n1,0.0\n2,1.0\n3,-1.0\n4,-1.0\n")
    table = read_rows(path, "y").table
    assert sorted(table.labels.tolist(), key=str) == ["0.0", "1.0", None, None]
    assert table.notes[0].startswith("2 cells of 'y' count as unlabeled: '-1.0' (2).")
    assert read_table(path, "y").labels.tolist() == ["0.0", "1.0", None, None]
    for kept in ("-1", "-1.0"):
        table = read_rows(path, "y", keep_labels=[kept]).table
        assert (table.labels.tolist(), table.notes) == (["0.0", "1.0", "-1.0", "-1.0"], ())
    empty = put("x,y\n1,0.0\n2,1.0\n3,-1.0\n4,\n", "e.csv")
    table = read_rows(empty, "y").table
    assert table.labels.tolist() == ["0.0", "1.0", "-1.0", None]
    assert ["-1 (1 cell) of 'y' counts as a class" in note for note in table.notes] == [True]
    for mark in ("-1", "-1.0"):
        table = read_rows(empty, "y", marks=[mark]).table
        assert (table.labels.tolist(), table.notes) == (["0.0", "1.0", None, None], ())
    with pytest.raises(FormatError, match="Say which with --keep-label -1"):
        read_rows(put("x,y\n1,1.0\n2,-1.0\n", "o.csv"), "y")


@pytest.mark.parametrize("way", ["rows", "whole"])
def test_marks_that_are_classes_beside_empty_cells_are_told(way, put):
    def read(cells):
        path = put("x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)), "t.csv")
        return read_rows(path, "y").table if way == "rows" else read_table(path, "y")

    table = read(["a", "b", "tbd", "tbd", "", "", ""])
    assert table.labels.tolist().count("tbd") == 2
    why = "'tbd' (2) of 'y' counts as a class, since unlabeled cells are empty."
    assert table.notes == (f"{why} If it means \"no label\", say --unlabeled-mark 'tbd'.",)
    several = read(["a", "b", "tbd", "tbd", "--", "--", "", "", ""]).notes
    assert several[0].startswith("'--' (2), 'tbd' (2) of 'y' count as classes")
    assert len(several) == 1
    assert read(["a", "b", "b", "tbd", "tbd", "", "", ""]).notes == ()  # as frequent as a class


@pytest.mark.parametrize("cells", [["0", "1", "-1", ""], ["1", "-1", ""], [-1, 2, None], ["0", "1", "-1", "?"]])
def test_minus_one_is_a_class_where_other_cells_are_empty(cells, put):
    judged = judge_labels(pl.Series("y", cells))
    assert "-1" in judged.cells.to_list()
    assert "counts as a class" in judged.notes[-1]
    assert None in judge_labels(pl.Series("y", cells), ["-1"]).cells.to_list()
    text = "x,y\n" + "".join(f"{i},{'' if cell is None else cell}\n" for i, cell in enumerate(cells))
    read = read_rows(put(text, "m.csv"), "y", limits=(100, 100)).table
    assert read.frame["y"].to_list() == judged.cells.to_list()


def test_minus_one_without_empty_cells_is_no_label_or_must_be_told():
    cells = pl.Series("y", ["0", "1", "-1"])
    assert judge_labels(cells, keep=["-1"]).cells.to_list() == ["0", "1", "-1"]
    with pytest.raises(DataError, match="Say which with --keep-label -1 or --unlabeled-mark -1"):
        judge_labels(pl.Series("y", [1, -1]))


def test_labels_can_be_kept_and_taken_as_they_stand():
    cells = pl.Series("y", ["a", "b", "unknown", "N/A"])
    assert judge_labels(cells, keep=["unknown"]).cells.to_list() == ["a", "b", "unknown", None]
    assert judge_labels(cells, as_they_stand=True).cells.to_list() == ["a", "b", "unknown", "N/A"]
    assert judge_labels(cells, ["a"]).cells.to_list() == [None, "b", "unknown", "N/A"], "one class would be left"


def test_a_quantity_is_no_class():
    prices = pl.Series("price", [f"{100 + 37 * i % 1_000}" for i in range(60)])
    with pytest.raises(DataError, match=r"column 'price': labels must be classes, got .* which looks like a quantity"):
        judge_labels(prices)
    with pytest.raises(DataError, match="looks like a quantity"):
        judge_labels(pl.Series("price", [f"${i * 1.5:.2f}" for i in range(40)]))
    assert judge_labels(pl.Series("y", list(range(40)))).cells.n_unique() == 40, "running numbers of classes"
    assert judge_labels(pl.Series("y", [i * 7 % 10 for i in range(60)])).cells.n_unique() == 10


def test_several_labels_in_a_cell_are_told():
    notes = judge_labels(pl.Series("y", ["a;b", "b;c", "a", "c"])).notes
    assert notes[0].startswith("Column 'y' seems to hold several labels in a cell, such as ")
    assert judge_labels(pl.Series("y", ["['a', 'b']", "['a']", "['b', 'c']"])).notes
    assert judge_labels(pl.Series("y", ["x;y", "u;v", "a", "b"])).notes == ()
    assert judge_labels(pl.Series("y", ["Loans, cards", "Loans, houses", "None of these"])).notes == ()


def test_columns_that_teach_nothing():
    n = 40
    frame = pl.DataFrame(
        {
            "id": [7 * i for i in range(n)],
            "row": list(range(n)),
            "code": [f"c{i}" for i in range(n)],
            "empty": [None] * n,
            "same": ["x"] * n,
            "year": [2000 + i % 20 for i in range(n)],
            "only": [None, *["x"] * (n - 1)],
        }
    )
    kinds = {"id": "numeric", "row": "numeric", "code": "nominal", "empty": "nominal", "same": "nominal"}
    table = Table(frame, {**kinds, "year": "numeric", "only": "nominal"})
    assert list(left_out(table)) == ["id", "row", "code", "empty", "same"]
    assert list(left_out(table, chosen=["id", "same", "empty"])) == ["row", "code", "empty"]


def test_suspicions():
    n = 60
    rng = np.random.default_rng(0)
    codes = np.where(np.arange(n) < 40, np.arange(n) % 2, -1)
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=n),
            "leak": ["paid" if i % 2 else "due" for i in range(n)],
            "amount": [0.0 if i % 2 else 5.0 + i for i in range(n)],
            "later": [f"{i % 5}" if i < 40 else None for i in range(n)],
        }
    )
    kinds = {"x": "numeric", "leak": "nominal", "amount": "numeric", "later": "nominal"}
    notes = suspicions(frame, kinds, codes, ["a", "b"])
    assert [note.split("'")[1] for note in notes] == ["leak", "amount", "later"]
    assert "is filled only where there is a label" in notes[2]
    blank = suspicions(frame.rename({"leak": "paid off"}), {"paid off": "nominal"}, codes, ["a", "b"])
    assert blank[0].endswith("leave it out with --columns 'paid off=skip'.")
    twice = pl.concat([frame[:40, ["x", "amount"]], frame[:20, ["x", "amount"]]])
    assert suspicions(twice, {"x": "numeric", "amount": "numeric"}, codes, ["a", "b"])[-1].startswith(
        "20 unlabeled rows are copies of labeled ones"
    )
    assert list(left_out(Table(frame, kinds), codes=codes)) == ["later"]
    assert left_out(Table(frame, kinds), ["later"], codes) == {}
    few = np.array([0, 1] * 5 + [-1] * 50)
    assert not [n for n in suspicions(frame, kinds, few, ["a", "b"]) if "alone" in n], "ten labels prove nothing"


def test_rare_classes_are_told():
    codes = np.array([0] * 198 + [1] * 2)
    assert rare_classes(codes, ["fair", "fraud"]) == {"fraud": 2}
    assert rare_classes(np.arange(50) % 10, list(range(10))) == {}
    frame = pl.DataFrame({"x": np.arange(200.0) % 7})
    assert "'fraud' (2 labels) of 200" in suspicions(frame, {"x": "numeric"}, codes, ["fair", "fraud"])[-1]


def test_marks_are_settled_over_the_whole_file(put):
    rows = "".join(f"{i},{'unknown' if i % 50 else 'ab'[i // 50 % 2]}\n" for i in range(2_000))
    found = read_rows(put(f"x,y\n{rows}"), "y", limits=(1_000, 30))
    labels = found.table.labels.tolist()
    assert (labels.count("a"), labels.count("b"), labels.count(None)) == (20, 20, 30)
    assert found.n_rows_read == 2_000
    assert "1,960 cells of 'y' count as unlabeled: 'unknown' (1,960)" in found.table.notes[1]
    kept = read_rows(put(f"x,y\n{rows}"), "y", keep_labels=["unknown"]).table
    assert kept.labels.tolist().count("unknown") == 1_960


def test_doubtful_marks_are_classes_where_every_row_is_said_to_have_a_label(put):
    rows = [*["none"] * 6, "a", "a", "b", "unknown"]
    text = "x,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(rows))
    assert read_rows(put(text), "y").table.labels.tolist() == [*[None] * 6, "a", "a", "b", None]
    full = read_rows(put(text), "y", complete=True).table
    assert full.labels.tolist() == [*["none"] * 6, "a", "a", "b", None]
    assert full.notes[0].startswith("1 cell of 'y' counts as unlabeled: 'unknown'")
    assert full.notes[1].startswith("'none' (6) of 'y' counts as a class")
    assert full.notes[1].endswith("--unlabeled-mark 'none'.")
    some = read_rows(put(text + "10,\n"), "y", complete=True).table
    assert some.labels.tolist() == [*[None] * 6, "a", "a", "b", None, None]


def test_labels_that_are_named_and_not_there_are_told(put):
    path = put("x,y\n1,a\n2,b\n3,other\n4,Unknown\n")
    table = read_rows(path, "y", marks=["Other", "other"], keep_labels=["unknown", "Unknown", "zzz"]).table
    assert table.labels.tolist() == ["a", "b", None, "Unknown"]
    assert table.notes == (
        "No cell of 'y' is 'Other', which --unlabeled-mark names.",
        "No cell of 'y' is 'unknown', which --keep-label names. Did you mean 'Unknown'?",
        "No cell of 'y' is 'zzz', which --keep-label names.",
    )
    lines = put('{"x": 1, "y": -1.0}\n{"x": 2, "y": 0.0}\n{"x": 3, "y": 1.0}\n', "n.jsonl")
    numbers = read_rows(lines, "y", keep_labels=["-1"]).table
    assert (numbers.labels.tolist(), numbers.notes) == (["-1", "0", "1"], ())


def test_a_label_cannot_be_kept_and_mean_none(put):
    told = "'a' must be in one of them, got it in both"
    with pytest.raises(ParameterError, match=told):
        read_rows(put("x,y\n1,a\n2,b\n"), "y", marks=["a"], keep_labels=["a"])
    with pytest.raises(ParameterError, match=told):
        judge_labels(pl.Series("y", ["a", "b"]), ["a"], ["a"])


@pytest.mark.parametrize("suffix", [s for f in all_formats() if f.yields == "table" for s in f.suffixes])
def test_every_kind_of_table_is_written_and_read_back(tmp_path, suffix):
    frame = pl.DataFrame({"x": [1.5, 2.0, None], "z": ["a", None, "ü"], "y": ["p", "q", None]})
    path = tmp_path / f"a{suffix}"
    write_table(path, Table(frame, {"x": "numeric", "z": "nominal"}, "y"))
    assert format_of(path) is format_for(path, "table")
    again = read_table(path, "y")
    assert again.kinds == {"x": "numeric", "z": "nominal"}
    assert again.frame.select("x", "z", "y").equals(frame)
    write_frames(path, [frame[:1], frame[1:]])
    assert read_table(path, "y").frame["z"].to_list() == ["a", None, "ü"]


def test_a_workbook_may_have_notes_around_its_table(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("notes").write(0, 0, "made in spring")
        sheet = book.add_worksheet("data")
        for number, row in enumerate([["size", "label"], [1.5, "a"], [2, "b"]]):
            sheet.write_row(2 + number, 1, row)
    table = read_table(path, "label")
    assert table.frame.rows() == [(1.5, "a"), (2.0, "b")]
    assert table.notes == ("The workbook has 2 sheets; 'data', the largest, was read.",)
    path.write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(FormatError, match="the workbook is damaged"):
        read_table(path)


class Stdin(io.TextIOWrapper):
    def __init__(self, data):
        super().__init__(io.BytesIO(data))


def test_the_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(b"x,label\n1,a\n2,b\n"))
    source = Source("-")
    assert format_of(source).yields == "table"
    assert read_table(source, "label").labels.tolist() == ["a", "b"]
    with pytest.raises(FileError, match="standard input: can be read only once"):
        source.open()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl"])
def test_a_file_is_opened_once(tmp_path, monkeypatch, name):
    path = tmp_path / name
    write_table(path, Table(pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}), {"x": "numeric"}, "y"))
    opened = []
    from handful.corpora.opening import source as source_module

    real = source_module._open
    monkeypatch.setattr(source_module, "_open", lambda p: opened.append(p) or real(p))
    read_table(path, "y")
    assert len(opened) == 1


def test_tables_of_weka(put):
    text = "% made by hand\n@RELATION 'a b'\n@attribute size REAL\n@attribute 'the color' {red, 'dark blue'}\n"
    text += "@attribute class {p,q}\n@data\n1.5, red, p\n% no row\n?, 'dark blue', q\n2,?,?\n"
    path = put(text, "a.arff")
    assert format_of(path).name == "arff"
    table = read_table(path, "class")
    assert table.kinds == {"size": "numeric", "the color": "nominal"}
    assert table.frame.rows() == [(1.5, "red", "p"), (None, "dark blue", "q"), (2.0, None, None)]
    for row, message in (("{0 1.5}", "got a sparse row"), ("1,red", "expected 3 cells, one for each attribute")):
        with pytest.raises(FormatError, match=f":11: .*{message}"):
            read_table(put(text + row + "\n", "a.arff"))


def test_labels_that_differ_in_case_alone_are_told():
    notes = suspicions(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), {"x": "numeric"}, np.array([0, 1, 2]), ["No", "no", "yes"])
    assert "The labels 'No' and 'no' differ in case alone and count as 2 classes." in notes


def test_names_of_two_words_that_hardly_ever_come_again_are_text():
    cells = [f"maker{i % 30} model{i}" for i in range(150)]
    frame = pl.DataFrame({"name": cells, "make": [c.split()[0] for c in cells], "label": ["a", "b"] * 75})
    table = table_of("cars.csv", frame, "label")
    assert table.kinds == {"name": "text", "make": "nominal"}


def test_amounts_in_several_currencies_are_told(put):
    table = read_table(put('price,kind\n"$1,200",a\n"950,50 EUR",b\n3 EUR,a\n'), "kind")
    assert table.kinds == {"price": "numeric"}
    assert table.forms == {"price": "mixed amount"}
    assert any("several currencies ($, EUR)" in note for note in table.notes)
    assert not read_table(put("price,kind\n$5,a\n7 USD,b\n"), "kind").notes


def test_a_misspelled_label_is_told_and_numbered_names_are_not():
    codes = np.array([0] * 8 + [1] * 8 + [2])
    rows = pl.DataFrame({"x": list(range(17))})
    notes = suspicions(rows, {"x": "numeric"}, codes, ["cat", "dog", "dgo"])
    assert notes[0].startswith("The label 'dgo' occurs once. If 'dog' was meant")
    assert not [
        n for n in suspicions(rows, {"x": "numeric"}, codes, ["kind 1", "kind 2", "kind 3"]) if "occurs once" in n
    ]


def test_few_labels_that_are_all_different_numbers_are_a_quantity():
    with pytest.raises(DataError, match="got 20 different numbers in 20 labels, which looks like a quantity"):
        judge_labels(pl.Series("y", [str(100 + 1.37 * i) for i in range(20)]))
    assert judge_labels(pl.Series("stars", [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0] * 2)).cells.n_unique() == 8
    assert judge_labels(pl.Series("number", list(range(1, 13)))).cells.n_unique() == 12


def test_points_are_thousands_where_other_columns_have_decimal_commas(put):
    path = put("Menge;Preis\n680;43,73\n4.314;1,5\n2.634;7,25\n482;3,1\n")
    table = read_table(path)
    assert table.forms["Menge"] == "decimal comma"
    assert "points between thousands" in table.notes[0]
    assert guess_form(["4.314", "680"]) == "plain"
    assert "Menge" not in read_table(put("Menge;Preis\n680;43,73\n4.31;1,5\n")).forms, "4.31 are no thousands"


@pytest.mark.parametrize(
    ("cells", "form", "numbers"),
    [
        (["38,309", "9,120"], "decimal comma", [38.309, 9.12]),
        (["-38,309", "?"], "decimal comma", [-38.309, None]),
        (["38,309%", "9"], "decimal comma", [38.309, 9.0]),
        (["4.314", "680"], "decimal comma", [4314.0, 680.0]),
        (["38,309 kg", "9 kg"], "quantity with decimal comma", [38.309, 9.0]),
        (["4.314 kg", "680 kg"], "quantity with decimal comma", [4314.0, 680.0]),
        (["1,250 kg", "300 g"], "quantity in several units with decimal comma", [1250.0, 300.0]),
        (["$38,309", "$9,120"], "amount", [38309.0, 9120.0]),  # prices have no three decimals
        (["0.125", "4.314"], None, [0.125, 4.314]),
        (["1234.567", "4.314"], None, [1234.567, 4.314]),
        (["1,234,567", "38,309"], "amount", [1234567.0, 38309.0]),
        (["12", "7"], None, [12, 7]),
    ],
)
def test_a_column_that_can_be_read_both_ways_follows_columns_that_must_have_decimal_commas(put, cells, form, numbers):
    table = read_table(put(f"a;size\n{cells[0]};56,9\n{cells[1]};60\n"))
    assert table.forms.get("a") == form
    read = [None if np.isnan(number) else number for number in table.numeric()[:, 0]]
    assert read == pytest.approx(numbers)
    assert len(table.notes) == (form is not None and "comma" in form)
    encoder = TableEncoder.learn(pl.DataFrame({"a": cells, "size": ["56,9", "60"]}), table.kinds)
    again = TableEncoder.learn(table.frame, table.kinds)
    assert encoder.state()["a"] == again.state()["a"]
    assert encoder.state()["a"].get("form") == form


def test_a_column_of_decimal_points_or_thousands_keeps_the_others_from_commas(put):
    rows = "a;b;size\n38,309;{};56,9\n9,120;7;60\n"
    for other in ("4.31", "0.125", "1,234,567", "4.5 kg"):
        assert read_table(put(rows.format(other))).forms["a"] == "amount", other
    frame = pl.DataFrame({"a": ["38,309", "9,120"], "b": [1.5, 2.0], "size": ["56,9", "60"]})
    kinds = dict.fromkeys("ab", "numeric") | {"size": "numeric"}
    assert TableEncoder.learn(frame, kinds).state()["a"]["form"] == "amount"
    whole = frame.with_columns(b=pl.Series([1.0, None]))
    assert TableEncoder.learn(whole, kinds).state()["a"]["form"] == "decimal comma"


def test_cells_that_are_no_numbers_stay_missing_where_a_column_follows_others(put):
    rows = "".join(f"{i},125;{i},5\n" for i in range(1, 21))
    table = read_table(put(f"a;size\n{rows}heavy;7\n"))
    assert table.forms["a"] == "decimal comma"
    assert table.frame["a"].null_count() == 1
    assert table.notes == (
        "Column 'a' is read as numbers; 1 cell that says 'heavy' counts as missing. "
        "Column 'a' is read with decimal commas, since other columns have decimal commas.",
    )


def test_what_is_called_a_workbook_must_be_one(put):
    with pytest.raises(FormatError, match=r"a\.xlsx: expected a workbook, as its name says"):
        read_table(put("x,label\n1,a\n", "a.xlsx"))


def test_telephone_numbers_are_no_text_and_words_for_nothing_are_nothing(put):
    notes = ["k. A.", "keine Angabe", "#NV", "-"]
    rows = [f"+49 89 {63580 + 7 * i};{notes[i % 4]};{i % 5};{'ab'[i % 2]}" for i in range(40)]
    table = read_table(put("\n".join(["Telefon;Notiz;Menge;Art", *rows]) + "\n"), "Art")
    assert table.kinds["Telefon"] == "nominal"
    assert left_out(table)["Notiz"] == "it is empty"
    assert left_out(table)["Telefon"].startswith("it looks like an identifier")


def test_infinite_numbers_are_told_and_teach_nothing(put):
    table = read_table(put("x,z,label\n1,inf,a\ninf,-inf,b\n-Infinity,inf,a\n2.5,inf,b\n", "a.csv"), "label")
    assert table.kinds == {"x": "numeric", "z": "numeric"}
    assert table.notes == (
        "Column 'x' has 2 infinite numbers, which count as missing.",
        "Column 'z' has 4 infinite numbers, which count as missing.",
    )
    assert left_out(table) == {"z": "it is empty"}


def test_short_comments_are_text_and_short_names_are_not(put):
    grades, things = ["too", "very", "really", "not so"], ["slow", "good food", "rude", "nice", "expensive", "cold"]
    comments = [f"{grade} {thing}" for grade in grades for thing in things]
    first, last = ["Ann", "Bo", "Cy", "Di"], ["Abel", "Bach", "Cole", "Dunn", "Esch", "Falk"]
    names = [f"{one} {other}" for one in first for other in last]
    codes = [f"unit {number}" for number in range(24)]
    rows = [f"{a},{b},{c},{'xy'[i % 2]}" for i, (a, b, c) in enumerate(zip(comments, names, codes, strict=True))]
    table = read_table(put("\n".join(["comment,name,code,label", *rows]) + "\n", "a.csv"), "label")
    assert table.kinds == {"comment": "text", "name": "nominal", "code": "nominal"}
    assert set(left_out(table)) == {"name", "code"}


def test_balanced_accuracy_is_advised_only_where_it_is_not_used_anyway():
    few = label_suspicions(np.array([0] * 55 + [1] * 5), ["fair", "fraud"])
    assert few == [
        "Rare: 'fraud' (5 labels) of 60. Plain accuracy would hardly notice them, so methods are compared by balanced accuracy, "
        "unless --metric says otherwise."
    ]
    some = label_suspicions(np.array([0] * 40 + [1] * 40 + [2]), ["cat", "dog", "bird"])
    assert some[-1].endswith('--metric "balanced accuracy".')


def test_classes_of_one_label_each_are_told():
    told = label_suspicions(np.arange(30), [f"class {letter}" for letter in range(30)])
    assert "Every one of the 30 classes has a single label, so none can be held out" in told[0]
    assert label_suspicions(np.array([0, 0, 1, -1]), ["a", "b"]) == []
