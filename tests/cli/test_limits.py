"""Limits are told in a sentence before any work is done, and nothing in data is markup or a formula."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from studio_client import fixed

import handful
from handful.cli import main
from handful.comparison.trials import TrialLog
from handful.data.files import read_lines
from handful.data.tabular import without_formulas
from handful.errors import DataError, FileError, FormatError
from handful.parsing.inputs import check_lengths
from handful.studio.annotations import AnnotationLog
from handful.tagging.crf import CRF


def run(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code or 0


def test_a_sentence_too_long_for_memory_is_refused_by_an_estimate():
    check_lengths([], 1)
    check_lengths([3, 40, 200], 2)
    with pytest.raises(
        DataError, match=r"got 1,000,000 words in sentence 2. They need about 100,000.0 GB; .* are free"
    ):
        check_lengths([3, 1_000_000], 1)
    with pytest.raises(DataError, match=r"Split the text into sentences"):
        check_lengths([100_000], 2)


def test_more_tags_than_memory_has_room_for_are_refused():
    words = [[f"w{i}" for i in range(100)] for _ in range(50)]
    tags = [[f"t{100 * number + i}" for i in range(100)] for number in range(50)]
    with pytest.raises(DataError, match=r"CRF: 5,000 different tags take about .* GB for their triples"):
        CRF(["word[0]"], order=2).fit(words, tags)


def test_a_sentence_too_long_to_be_explained_is_refused(tmp_path, capsys):
    words = ["the", "dog", "barks"]
    handful.save(CRF(["word[0]"], max_iter=2).fit([words] * 3, [["D", "N", "V"]] * 3), tmp_path / "m.handful")
    (tmp_path / "a.txt").write_text(" ".join(words * 4_000) + "\n")
    assert run(["explain", str(tmp_path / "m.handful"), str(tmp_path / "a.txt")]) == 1
    assert "12,000 tokens, at most 10,000" in capsys.readouterr().err


def test_a_small_packed_file_of_empty_lines_is_refused_soon(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"\n" * 3_000_000))
    with pytest.raises(FormatError, match="expected text, got more than 1,048,576 empty lines in a row"):
        for _ in read_lines(path):
            pass


@pytest.mark.parametrize(
    ("words", "content", "told"),
    [
        (("fit", "--target", "x"), '{"x":' * 100_000 + "1" + "}" * 100_000, "lists too deep or a number too long"),
        (("fit", "--target", "x"), "[" * 100_000 + "]" * 100_000, "expected a table"),
        (
            ("fit", "senses"),
            '<?xml version="1.0"?>\n<corpus lang="e">' + "<a>" * 200_000 + "</a>" * 200_000 + "</corpus>",
            "expected at most 100 elements inside one another",
        ),
        (
            ("fit", "--target", "y"),
            "x,y\n" + "".join(f"{i},c{i // 2}\n" for i in range(6_000)),
            "3,000 classes, at most 1,000",
        ),
        (("fit", "tagger"), "".join(f"w{i}\tt{i}\n" for i in range(3_000)), "as if they were words"),
    ],
    ids=["JSON lines", "JSON", "XML", "classes", "tags"],
)
def test_too_deep_and_too_many_are_refused_in_a_sentence(words, content, told, tmp_path, capsys):
    (tmp_path / "data").write_text(content)
    assert run([*words, str(tmp_path / "data"), "-o", str(tmp_path / "model")]) != 0
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
    assert not (tmp_path / "model").exists()


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
@pytest.mark.parametrize("name", ["x" * 300, "", ".", "/dev/zero", "/dev/full", "/proc/self/mem"])
@pytest.mark.parametrize(
    "words",
    [
        ("fit", "--target", "x"),
        ("fit", "tagger"),
        ("fit", "parser"),
        ("fit", "senses"),
        ("clusters",),
        ("condense", "RAW", "RAW"),
        ("inspect",),
        ("predict", "RAW"),
        ("merge", "RAW"),
        ("similar", "--word", "x"),
        ("compare", "--target", "x", "--fresh"),
        ("studio", "--no-browser"),
    ],
    ids=" ".join,
)
def test_names_that_are_no_data_files_are_refused_in_a_sentence(words, name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RAW").write_text("some text\n")
    assert run([*words, name]) in (1, 2)
    err = capsys.readouterr().err
    assert err.splitlines()[-1].startswith("handful: ")
    assert "unexpected" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["RAW"]


@pytest.mark.skipif(os.name == "nt", reason="a device of POSIX")
def test_a_journal_on_a_device_that_never_ends_is_not_read():
    with pytest.warns(RuntimeWarning, match=r"/dev/full: cannot be written \(is no ordinary file\)"):
        assert TrialLog("/dev/full", "key").results == {}
    with pytest.raises(FileError, match="/dev/full: is no ordinary file"):
        AnnotationLog("/dev/full", fixed("key"))


def test_formulas_are_texts_with_safe_csv(tmp_path, capsys):
    cells = ["=1+1", "+49 30", "@sum", "-3", "plain", "  =x"]
    frame = pl.DataFrame({"x": np.arange(6.0), "=name": cells, "label": ["a", "b"] * 3})
    assert without_formulas(frame).columns == ["x", "'=name", "label"]
    frame.write_csv(tmp_path / "a.csv")
    data, model = str(tmp_path / "a.csv"), str(tmp_path / "m.handful")
    assert run(["fit", data, "--target", "label", "--method", "k-nn", "-o", model]) == 0
    capsys.readouterr()
    assert run(["predict", model, data]) == 0
    assert "=1+1" in capsys.readouterr().out.replace("'=1+1", "")
    assert run(["predict", model, data, "--safe-csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["'=1+1", "'+49 30", "'@sum", "-3", "plain", "'  =x"]


def test_too_little_address_space_is_refused_before_any_work():
    command = f"ulimit -v 1900000; {sys.executable} -m handful methods"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("handful: ulimit -v: 1,900,000 kB")
