"""The format of a file is told by its content."""

from __future__ import annotations

import gzip
import io

import polars as pl
import pytest

from handful.data.formats import detect
from handful.errors import FileError, FormatError


def parquet():
    buffer = io.BytesIO()
    pl.DataFrame({"x": [1]}).write_parquet(buffer)
    return buffer.getvalue()


WORD = "1\tRome\t_\t_\t_\t_\t0\troot\t_\t_\n"
CASES = {
    "CSV": ("a,b,label\n1,2,x\n3,4,y\n", "table"),
    "CSV of one row": ("a,b\n1,2", "table"),
    "CSV with a blank line at its end": ("size,color,label\n1.5,red,1\n2,blue,2\n\n", "table"),
    "CSV with blanks in it": ("a,b\nNew York,2\nRome,3\n\n\n", "table"),
    "one sentence": ("Rome\tNNP\nfell\tVBD\n\n", "conll"),
    "semicolons": ("a;b\n1,5;2\n", "table"),
    "TSV": ("a\tb\n1\t2\n", "table"),
    "quoted": ('a,b\n"x, y",2\n', "table"),
    "JSON lines": ('{"a": 1}\n{"a": 2}\n', "table"),
    "tabs": ("Rome\tNNP\nfell\tVBD\n\nSo\tRB\n\n", "conll"),
    "blanks": ("EU NNP I-ORG\nrejects VBZ O\n\nPeter NNP I-PER\n", "conll"),
    "document marks": ("-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n", "conll"),
    "comments": ("# sentence 1\nRome NNP\nfell VBD\n\n", "conll"),
    "one column": ("Rome\nfell\n\nSo\nwhat\n", "conll"),
    "CoNLL-U": (WORD + "\n", "conllu"),
    "CoNLL-U with comments": ("# sent_id = 1\n# text = Rome\n" + WORD.replace("1", "1-2", 1) + WORD + "\n", "conllu"),
    "text": ("Rome fell .\nSo what ?\n", "text"),
    "text with commas": ("Well , Rome fell .\nSo what ?\n", "text"),
    "text with blank lines": ("Rome fell .\n\nSo what is it ?\n", "text"),
    "one word": ("Rome", "text"),
    "XML": ('<?xml version="1.0"?>\n<corpus/>', "senseval"),
    "XML without declaration": ("\n<corpus lang='english'>", "senseval"),
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: b"\xef\xbb\xbf" + data])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", CASES)
def test_each_format_is_known(tmp_path, name, end, pack):
    text, wanted = CASES[name]
    path = tmp_path / "file"
    path.write_bytes(pack(text.replace("\n", end).encode()))
    assert detect(path) == wanted


def test_long_files_and_parquet_are_known(tmp_path):
    path = tmp_path / "file"
    path.write_text("Rome\tNNP\n" * 20 + "\n" + "fell\tVBD\n" * 20_000)
    assert detect(path) == "conll"
    path.write_text("a,b\n" + "é,2\n" * 50_000, encoding="utf-8")
    assert detect(path) == "table"
    path.write_bytes(parquet())
    assert detect(path) == "table"


def test_what_has_no_format(tmp_path):
    path = tmp_path / "file"
    for data, message in [
        (b"", "the file is empty"),
        (b"a\0b", "expected text, got a binary file"),
        ("Rome".encode("utf-16"), "expected UTF-8, got UTF-16"),
        (b"PK\x03\x04", "got a zip archive"),
        (b"a,b\r1,2\r", "old Mac"),
    ]:
        path.write_bytes(data)
        with pytest.raises(FormatError, match=message):
            detect(path)
    with pytest.raises(FileError, match="no such file"):
        detect(tmp_path / "none")
    with pytest.raises(FileError, match="is a folder"):
        detect(tmp_path)
