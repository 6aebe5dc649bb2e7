"""Every kind of trouble with a file has its own sentence, and no file can fill the memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handful.data import files as opening_lines
from handful.data.files import MAX_LINE, open_bytes, read_lines, read_whole, write_bytes, write_text_file
from handful.errors import DataError, FileError, FormatError

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def put(tmp_path):
    def write(data, name="file"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def refused(path, message, error=FormatError):
    with pytest.raises(error) as caught:
        list(read_lines(path))
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize("kind", PACK)
def test_packed_files_are_told_by_content_and_not_by_name(put, kind):
    assert list(read_lines(put(PACK[kind]("Rome\nfell é\n".encode()), "plain.txt"))) == [(1, "Rome"), (2, "fell é")]
    assert list(read_lines(put(b"Rome\n", f"not-packed.{kind}"))) == [(1, "Rome")]


@pytest.mark.parametrize("kind", PACK)
def test_packed_parts_in_a_row_are_one_file(put, kind):
    assert open_bytes(put(PACK[kind](b"one ") + PACK[kind](b"two"))).read() == b"one two"


@pytest.mark.parametrize("kind", PACK)
def test_cut_off_packed_data(put, kind):
    packed = PACK[kind](os.urandom(5000))
    refused(put(packed[:-9]), ": the compressed data is cut off. Copy or download the file again.")


@pytest.mark.parametrize("kind", PACK)
def test_damaged_packed_data(put, kind):
    packed = bytearray(PACK[kind](b"Rome fell. " * 50))
    packed[len(packed) // 2] ^= 0xFF
    path = put(bytes(packed))
    with pytest.raises(FormatError, match=r"the compressed data is (damaged|cut off)"):
        list(read_lines(path))


def test_a_missing_file(tmp_path):
    refused(tmp_path / "none", ": no such file.", FileError)


def test_a_folder(tmp_path):
    refused(tmp_path, ": is a folder. Name a file to read.", FileError)


def test_a_path_that_no_file_can_have():
    with pytest.raises(FileError, match="cannot be read"):
        open_bytes("a\0b")
    with pytest.raises(FileError, match="cannot be read"):
        open_bytes("a" * 5000)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(put):
    path = put(b"Rome")
    path.chmod(0)
    refused(path, ": cannot be read (Permission denied).", FileError)


@pytest.mark.parametrize("data", [b"", gzip.compress(b""), b"\xef\xbb\xbf"], ids=["nothing", "packed", "mark"])
def test_an_empty_file(put, data):
    refused(put(data), ": the file is empty.")


def test_a_binary_file(put):
    refused(put(b"Rome\n\x00\x01\x02"), ":2: expected text, got a binary file (it holds NUL bytes).")


def test_a_wrong_encoding(put):
    refused(
        put("Rome\ncaf\u00e9 x\n".encode("latin-1")),
        ":2: expected UTF-8, got byte 0xe9 at byte 4 of the line. "
        "Convert the file, for example with: iconv -f LATIN1 -t UTF-8 OLD > NEW",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"caf\xc3\xa9\n", b""), (b"Rome\n", b"\xc3\xa9\n"), (b"caf\xc3\xa9\n" + b"Rome\n" * 2**17, b"")],
    ids=["above", "below", "far above"],
)
def test_a_file_of_two_encodings_is_not_to_be_converted_as_a_whole(put, before, after):
    line = before.count(b"\n") + 1
    refused(
        put(before + b"caf\xe9 x\n" + after),
        f":{line}: expected UTF-8, got byte 0xe9 at byte 4 of the line. "
        "Other letters of the file are UTF-8, so it has two encodings; write this line anew.",
    )


def test_line_ends_of_old_macs_are_refused(put):
    hint = r"Convert the file, for example with: tr '\r' '\n' < OLD > NEW"
    message = rf":1: expected lines that end in \n or \r\n, got \r alone (old Mac). {hint}"
    refused(put(b"art 1 a\rart 2 b\r"), message)
    refused(put(b"art 1 a\rart 2 b"), message)
    assert list(read_lines(put(b"a\r"))) == [(1, "a")]
    assert list(read_lines(put(b"a\rb\nc"))) == [(1, "a\rb"), (2, "c")]


@pytest.mark.parametrize("name", ["UTF-16", "UTF-32"])
def test_wide_encodings(put, name):
    refused(
        put("Rome".encode(name)),
        f":1: expected UTF-8, got {name}. Convert the file, for example with: iconv -f {name} -t UTF-8 OLD > NEW",
    )


@pytest.mark.parametrize(("start", "what"), [(b"PK\x03\x04", "a zip archive"), (b"\x28\xb5\x2f\xfd", "a zstd file")])
def test_archives_are_named(put, start, what):
    path = put(start + b"rest")
    with pytest.raises(FormatError, match=f"expected text, got {what}. Unpack it first"):
        list(read_lines(path))


def test_the_line_of_trouble_is_right_in_later_chunks(put, monkeypatch):
    monkeypatch.setattr(opening_lines, "CHUNK", 7)
    refused(
        put(b"one\ntwo\nthree\nfour\nfi\xffve\n"),
        ":5: expected UTF-8, got byte 0xff at byte 3 of the line. "
        "Convert the file, for example with: iconv -f LATIN1 -t UTF-8 OLD > NEW",
    )


def test_a_line_without_end_is_refused_before_it_fills_the_memory(put):
    bomb = put(gzip.compress(b"x" * (MAX_LINE + 2 * 2**20), 1))
    refused(bomb, f":1: expected a line of at most {MAX_LINE:,} bytes, got a longer one.")


def test_small_files_are_read_whole_and_large_ones_refused(put):
    path = put(b"one\r\ntwo\n")
    assert read_whole(path) == "one\ntwo"
    with pytest.raises(FormatError, match="expected at most 5 characters, got more"):
        read_whole(path, 5)


@unhurried
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), st.integers(3, 9))
def test_lines_end_at_line_feeds_alone(tmp_path_factory, text, chunk):
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(text.encode())
    wanted = text.removeprefix("\ufeff").encode().decode()
    if not wanted or ("\r" in wanted[:-1] and "\n" not in wanted):
        return
    lines = [line.removesuffix("\r") for line in wanted.split("\n")]
    if wanted.endswith("\n"):
        lines.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening_lines, "CHUNK", chunk)
        assert list(read_lines(path)) == list(enumerate(lines, start=1))


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_what_is_written_is_packed_as_its_name_says(tmp_path, kind):
    path = tmp_path / f"a.txt.{kind}"
    with write_text_file(path) as file:
        file.write("Rome é\n")
    first = path.read_bytes()
    assert list(read_lines(path)) == [(1, "Rome é")]
    assert first == PACK[kind]("Rome é\n".encode())[:2] + first[2:]
    with write_text_file(path) as file:
        file.write("Rome é\n")
    assert path.read_bytes() == first


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(b"old")

    def fail():
        with write_bytes(path) as file:
            file.write(b"new")
            raise RuntimeError

    def write_half():
        with write_text_file(path) as file:
            file.write("half \ud800")

    with pytest.raises(RuntimeError):
        fail()
    with pytest.raises(DataError, match=re.escape(r"UTF-8 cannot hold the lone surrogate '\ud800'")):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
