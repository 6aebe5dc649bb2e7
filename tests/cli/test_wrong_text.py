"""Wrong files and options for taggers and parsers: one sentence each, no traceback, no model written."""

from __future__ import annotations

import gzip
import json

import pytest
from cli_run import run

from handful.cli import main

RIGHT = "Rome\tNNP\nfell\tVBD\n.\t.\n\n" * 6
SPANS = "Rome\tB-LOC\nfell\tO\n.\tO\n\n" * 6
WORD = "1\tRome\t_\t_\tNNP\t_\t0\troot\t_\t_\n\n"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# Name of a file, and what it holds; each is no file of tagged sentences.
FILES = {
    "empty": ("a.tsv", ""),
    "blank lines": ("a.tsv", "\n\n\n"),
    "raw text": ("a.txt", "Rome fell, they say. Why? Nobody knows.\n"),
    "text of tokens": ("a.txt", "Rome fell in a day .\nSo what is that to you ?\n"),
    "two words a line": ("a.tsv", "".join(f"word{i} other{i}\n\n" for i in range(80))),
    "a table": ("a.csv", "x,y\n1,2\n3,4\n"),
    "a table in JSON lines": ("a.jsonl", lines({"x": 1, "y": 2}, {"x": 3, "y": 4})),
    "texts without spans": ("a.jsonl", lines({"text": "Rome fell."}, {"text": "So what?"})),
    "numbers in JSON": ("a.json", "[1, 2, 3]"),
    "half an object": ("a.jsonl", '{"text": "Rome", "spans": [\n'),
    "second line is no JSON": ("a.jsonl", lines({"text": "Rome", "spans": []}) + "{oops\n"),
    "second line is a list": ("a.jsonl", lines({"text": "Rome", "spans": []}, [1])),
    "one column": ("a.tsv", "Rome\nfell\n\nSo\nwhat\n\n"),
    "one tag": ("a.tsv", "Rome\tX\nfell\tX\n\n" * 3),
    "ragged": ("a.tsv", RIGHT + "Rome\tNNP\tB-LOC\nfell\tVBD\n\n"),
    "an empty tag": ("a.tsv", RIGHT + "Rome\t\nfell\tVBD\n\n"),
    "nine columns in CoNLL-U": ("a.conllu", WORD + WORD.replace("\t_\n", "\n")),
    "ids that do not count": ("a.conllu", WORD + WORD.replace("1\tRome", "3\tRome")),
    "a head that is not there": ("a.conllu", WORD + WORD.replace("\t0\t", "\t7\t")),
    "CoNLL-U without tags": ("a.conllu", WORD * 4),
    "comments alone": ("a.conllu", WORD + "# sent_id = 2\n"),
    "a span outside": ("a.jsonl", lines({"text": "Rome", "spans": [{"start": 0, "end": 9, "label": "X"}]})),
    "a span backwards": ("a.jsonl", lines({"text": "Rome", "spans": [{"start": 3, "end": 1, "label": "X"}]})),
    "a span of letters": ("a.jsonl", lines({"text": "Rome", "spans": [{"start": "a", "end": "b"}]})),
    "a span that is a number": ("a.jsonl", lines({"text": "Rome", "spans": [7]})),
    "doccano outside": ("a.jsonl", lines({"text": "Rome", "label": [[0, 9, "X"]]})),
    "doccano of two": ("a.jsonl", lines({"text": "Rome", "label": [[0, 4]]})),
    "tags too few": ("a.jsonl", lines({"tokens": ["Rome", "fell"], "tags": ["X"]})),
    "no tokens": ("a.jsonl", lines({"tokens": ["a"], "tags": ["X"]}, {"tokens": [], "tags": []})),
    "tokens that are numbers": ("a.jsonl", lines({"tokens": ["a"], "tags": ["X"]}, {"tokens": [1], "tags": ["X"]})),
    "no list of tokens": ("a.jsonl", lines({"tokens": ["a"], "tags": ["X"]}, {"words": "Rome"})),
    "a pair without slash": ("a.pos", "Rome/NNP fell/VBD ./.\n" * 9 + "Rome fell\n"),
    "a header without a token": ("a.tsv", "# global.columns = WORD TAG\nRome\tNNP\n\n"),
    "a header of one name twice": ("a.tsv", "# global.columns = TOKEN TAG TAG\nRome\tNNP\tX\n\n"),
    "a header of too many names": ("a.tsv", "# global.columns = TOKEN POS TAG\nRome\tNNP\n\n"),
    "Chinese": ("a.txt", "我们今天去北京。\n你好。\n"),
    "clusters": ("a.txt", "0110\tdogs\t5\n0111\tbark\t4\n10\tthe\t3\n"),
    "zero bytes": ("a.tsv", b"Rome\tNNP\0\n\n"),
    "another encoding": ("a.tsv", "Köln\tNNP\n\n".encode("latin-1")),
    "lone carriage returns": ("a.tsv", b"Rome\tNNP\rfell\tVBD\r\r"),
    "cut off": ("a.tsv.gz", gzip.compress(RIGHT.encode() * 50)[:-12]),
    "no archive": ("a.tsv.gz", b"\x1f\x8bRome"),
    "a damaged workbook": ("a.xlsx", b"PK\x03\x04 no workbook"),
    "a sentence without end": ("a.conllu", "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
}


def check(code, out, err):
    assert code in (1, 2)
    assert out == ""
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1, err


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_learned_from(capsys, tmp_path, name):
    file, content = FILES[name]
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run(capsys, "fit", "tagger", path, "--jobs", "1", "--max-iter", "2")
    check(code, out, err)
    assert list(tmp_path.glob("*.handful")) == []


OPTIONS = [
    "--tag nope",
    "--tag token",
    "--layout word,tag",
    "--layout token,pos,tag",
    "--layout token,token",
    "--layout token",
    "--method stacked --clusters right.tsv",
    "--method condensed",
    "--method stacked",
    "--unlabeled missing.txt",
    "--unlabeled table.csv",
    "--clusters right.tsv",
    "--clusters clusters.txt --unlabeled right.tsv",
    "--dev missing.tsv",
    "--dev table.csv",
    "--strength 0",
    "--strength -1",
    "--strength many",
    "--max-iter 0",
    "--n-clusters 1",
    "--templates none",
    "--encoding bio",
    "--outside-bias 99",
    "--penalty l3",
    "--method forest",
    "-o right.tsv",
    "-o nowhere/m.handful",
    "--resume a --method stacked",
]


@pytest.mark.parametrize("words", OPTIONS)
def test_options_that_cannot_be(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.tsv").write_text(RIGHT)
    (tmp_path / "table.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "clusters.txt").write_text("0\tRome\t3\n1\tfell\t2\n")
    code, out, err = run(capsys, "fit", "tagger", "right.tsv", "--jobs", "1", *words.split())
    check(code, out, err)
    assert list(tmp_path.glob("*.handful")) == []


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    (place / "spans.tsv").write_text(SPANS)
    with pytest.raises(SystemExit):
        main(["fit", "tagger", str(place / "spans.tsv"), "--jobs", "1", "--max-iter", "3"])
    return place / "spans.handful"
