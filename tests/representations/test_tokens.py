from __future__ import annotations

import numpy as np
import pytest

from handful.errors import FileError, FormatError
from handful.representations import text_stream
from handful.representations.text_stream import Counting, text_parts


def read(parts, max_types=10**6, **options):
    return text_stream.read_tokens(parts, who="test", max_types=max_types, counting=Counting(**options))


def sentences_of(stream):
    word_of = {number: word for word, number in stream.index.items()}
    flat = [number for block in stream.blocks(3) for number in block.tolist()]
    sentences, current = [], []
    for number in flat:
        if number == text_stream.SENTENCE_END:
            sentences.append(current)
            current = []
        else:
            current.append(word_of[number])
    assert not current
    return sentences


@pytest.mark.parametrize("part_bytes", [1, 7, 20, 1000])
@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
def test_text_file_reads_like_lines(tmp_path, monkeypatch, part_bytes, chunk):
    monkeypatch.setattr(text_stream, "_CHUNK_BYTES", chunk)
    path = tmp_path / "a.txt"
    content = "one  two\tthree\r\n\n \nvier f\u00fcnf\u00a0sechs one\nlast"
    path.write_bytes(content.encode())
    stream = read(text_parts(path, part_bytes=part_bytes))
    assert sentences_of(stream) == [["one", "two", "three"], ["vier", "f\u00fcnf\u00a0sechs", "one"], ["last"]]
    assert stream.counts[stream.index["one"]] == 2
    assert (stream.n_tokens, stream.counts[0]) == (7, 3)


def test_forgetting_takes_the_rarest_and_keeps_the_totals():
    parts = [[["a"] * 5 + ["b"] * 3 + ["c", "d"]], [["e", "a", "b", "f", "g"]], [["c"]]]
    stream = read(parts, max_types=4)
    assert set(stream.index) <= {"a", "b", "c"}
    assert stream.counts[stream.index["a"]] == 6
    assert stream.n_tokens == 16
    numbering = stream.numbering(stream.vocabulary(1))
    assert sorted(numbering[numbering >= 0].tolist()) == list(range(len(stream.index)))


def test_vocabulary_goes_by_count_and_then_by_spelling():
    stream = read([[["b", "a", "c", "c"], ["d", "d"]]])
    assert stream.vocabulary(1) == ["c", "d", "a", "b"]
    assert stream.vocabulary(2) == ["c", "d"]


def test_trouble_with_files(tmp_path):
    with pytest.raises(FileError, match=r"missing\.txt: no such file"):
        text_parts(tmp_path / "missing.txt")
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(FormatError, match=r"empty\.txt: the file is empty"):
        text_parts(tmp_path / "empty.txt")
    (tmp_path / "latin.txt").write_bytes("gr\u00fcn\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin\.txt: expected UTF-8 text, got the token"):
        read(text_parts(tmp_path / "latin.txt"))
    (tmp_path / "packed.txt").write_bytes(b"\x1f\x8b\x08rest")
    with pytest.raises(FormatError, match=r"packed\.txt: expected plain text, got a compressed file"):
        text_parts(tmp_path / "packed.txt")
    (tmp_path / "binary.txt").write_bytes(b"text\n\0\n")
    with pytest.raises(FormatError, match=r"binary\.txt: expected text, got a binary file"):
        read(text_parts(tmp_path / "binary.txt"))


def test_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone two\n")
    assert sentences_of(read(text_parts(tmp_path / "a.txt"))) == [["one", "two"]]


def test_numbers_are_small():
    stream = read([[["a", "b"]]])
    assert next(stream.blocks()).dtype == np.int32
