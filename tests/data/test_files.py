"""Files of tables, of any kind."""

from __future__ import annotations

import datetime as dt
import io
import sys

import polars as pl
import pytest

from handful.data.csv import BLOCK
from handful.data.files import Source
from handful.data.formats import all_formats, format_for, format_of
from handful.data.table import as_table, read_table, table_frames
from handful.data.tabular import write_frames, write_table
from handful.errors import FileError, FormatError


@pytest.fixture
def put(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_separators_and_encodings(put, separator, encoding):
    rows = [["größe", "farbe", "label"], ["1.5", "rötlich", "a"], ["2", "blau", "b"]]
    source = Source(put("\r\n".join(separator.join(row) for row in rows).encode(encoding)))
    assert format_of(source).yields == "table"
    table = read_table(source, "label")
    assert table.kinds == {"größe": "numeric", "farbe": "categorical"}
    assert table.cells["farbe"].to_list() == ["rötlich", "blau"]
    assert ["Windows-1252" in str(notice) for notice in table.notices if notice.code == "file"] == [True] * (
        encoding == "cp1252"
    )


_FOREIGN = [
    ("koi8-r", "хорошо плохо Москва дом"),
    ("cp1251", "хорошо плохо Москва дом"),
    ("iso8859-7", "καλημέρα αθήνα"),
    ("shift_jis", "日本語 テキスト 東京"),
    ("euc_jp", "日本語 テキスト 東京"),
    ("gb18030", "中文文本 北京 上海"),
    ("big5", "中文 台北 天氣"),
    ("euc_kr", "서울 부산 날씨"),
    ("cp1256", "مرحبا العالم"),
    ("mac_roman", "café naïve schön"),
    ("cp850", "café naïve schön"),
]


@pytest.mark.parametrize(("encoding", "words"), _FOREIGN)
def test_text_in_an_encoding_that_cannot_be_told_is_refused(put, encoding, words):
    rows = "".join(f"{number},{word}\n" for number, word in enumerate(words.split()))
    with pytest.raises(FormatError, match="Save it as UTF-8"):
        read_table(put(f"x,word\n{rows}".encode(encoding)))


@pytest.mark.parametrize(
    "words",
    [
        "größer Fußgänger MÜLLER",
        "l\u2019été créée ÉCOLE \u2013 «où» 5€ „Straße“",
        "señor ¿qué? ñandú",
        "Århus blåbærsyltetøj",
    ],
)
def test_western_text_in_windows_1252_is_read(put, words):
    rows = "".join(f"{number},{word}\n" for number, word in enumerate(words.split()))
    assert read_table(put(f"x,word\n{rows}".encode("cp1252"))).cells["word"].to_list() == words.split()


def test_semicolons_with_decimal_commas_and_no_header(put):
    table = read_table(put("1,5;2,5;a\n2,5;3,5;b\n3,5;4,5;a\n"))
    assert list(table.kinds) == ["column1", "column2", "column3"]
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


@pytest.mark.parametrize("suffix", [s for f in all_formats() if f.yields == "table" for s in f.suffixes])
def test_every_kind_of_table_is_written_and_read_back(tmp_path, suffix):
    frame = pl.DataFrame({"x": [1.5, 2.0, None], "z": ["a", None, "ü"], "y": ["p", "q", None]})
    path = tmp_path / f"a{suffix}"
    write_table(path, as_table(frame, "y"))
    assert format_of(path) is format_for(path, "table")
    again = read_table(path, "y")
    assert again.kinds == {"x": "numeric", "z": "categorical"}
    assert again.values().equals(frame.select("x", "z"))
    write_frames(path, [frame[:1], frame[1:]])
    assert read_table(path, "y").values()["z"].to_list() == ["a", None, "ü"]


def test_a_workbook_may_have_notes_around_its_table(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("notes").write(0, 0, "made in spring")
        sheet = book.add_worksheet("data")
        for number, row in enumerate([["size", "label"], [1.5, "a"], [2, "b"]]):
            sheet.write_row(2 + number, 1, row)
    table = read_table(path, "label")
    assert table.cells.rows() == [(1.5, "a"), (2.0, "b")]
    assert "The workbook has 2 sheets; 'data', the largest, was read." in map(str, table.notices)
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
    assert read_table(source, "label").classes.tolist() == ["a", "b"]
    with pytest.raises(FileError, match="standard input: can be read only once"):
        source.open()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl"])
def test_a_file_is_opened_once(tmp_path, monkeypatch, name):
    path = tmp_path / name
    write_table(path, as_table(pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}), "y"))
    opened = []
    from handful.data import files as source_module

    real = source_module._open
    monkeypatch.setattr(source_module, "_open", lambda p: opened.append(p) or real(p))
    read_table(path, "y")
    assert len(opened) == 1


def test_what_is_called_a_workbook_must_be_one(put):
    with pytest.raises(FormatError, match=r"a\.xlsx: expected a workbook, as its name says"):
        read_table(put("x,label\n1,a\n", "a.xlsx"))


def test_a_workbook_of_one_far_cell_is_refused(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, "b")
    with pytest.raises(FormatError, match="span more than 50,000,000 cells"):
        read_table(path)


def test_numbers_and_dates_of_a_workbook_keep_their_type(tmp_path):
    pytest.importorskip("xlsxwriter")
    day = dt.date(2020, 2, 1)
    frame = pl.DataFrame(
        {
            "x": [55.125, 30.375, None],
            "n": [1, 2, 3],
            "d": [day] * 3,
            "t": [dt.time(6, 30)] * 3,
            "s": ["1,5", "2", None],
        }
    )
    frame.write_excel(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx", columns=dict.fromkeys("dt", "datetime"))
    assert table.cells.drop("s").equals(frame.drop("s"))
    assert table.values()["s"].to_list() == [1.5, 2.0, None]
    assert table.values()["d"].to_list() == [dt.datetime(2020, 2, 1)] * 3


@pytest.mark.parametrize("n", [60_000, 1_000_000])
def test_a_table_on_its_side_is_refused(put, n):
    names, cells = ",".join(f"c{i}" for i in range(n)), ",".join("0" for _ in range(n))
    with pytest.raises(FormatError, match=f"{n:,} columns, at most 50,000 are possible"):
        read_table(put(f"{names}\n" + f"{cells}\n" * 3))


@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet"])
def test_too_many_columns_of_other_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    frame = pl.DataFrame({f"c{i}": [0] for i in range(50_001)})
    if suffix == "json":
        path.write_text(frame.write_json())
    else:
        write_frames(path, [frame])
    with pytest.raises(FormatError, match="50,001 columns, at most 50,000 are possible"):
        read_table(path)


def test_deep_json_is_refused(put):
    for text in ('[{"x": ' + "[" * 100_000, '{"x": ' + "[" * 100_000 + "\n"):
        with pytest.raises(FormatError, match="expected"):
            read_table(put(text, "a.json"))


def test_a_header_that_is_named_is_a_header(put):
    path = put("kind,label\nkind,a\nother,b\n")
    assert read_table(path, "label").classes.tolist() == ["a", "b"]
    assert list(read_table(path, columns={"kind": "text"}).kinds) == ["kind", "label"]
