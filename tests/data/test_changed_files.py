"""Mutated files: a reader gives records or one of the house's errors, and nothing else."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import random
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from studio_client import fixed

from handful.comparison.trials import Trial, TrialLog, TrialResult
from handful.data.conll import read_conll, read_conllu
from handful.data.formats import detect, format_named
from handful.data.senses import read_key, read_sense_map, read_senseval
from handful.data.table import read_table
from handful.data.text import read_text
from handful.data.word_lists import read_prototypes
from handful.errors import FileError, FormatError, HandfulError
from handful.persistence.arrays import pack_arrays, unpack_arrays
from handful.studio.annotations import AnnotationLog

FILES = int(os.environ.get("HANDFUL_FUZZ_FILES", "300"))
SLOW = {"parquet": 10}  # how many times longer a file takes, which a process of its own reads first


def workbook():
    buffer = io.BytesIO()
    pl.DataFrame({"x": [1.5, None], "s": ["a", "b"], "y": [1, 0]}).write_excel(buffer)
    return buffer.getvalue()


def read_summary(path):
    """Read what a checkpoint keeps, as if its checksum were right."""
    content = path.read_bytes()[32:]
    try:
        unpack_arrays(hashlib.sha256(content).digest() + content)
    except ValueError as error:
        raise FileError(f"{path}: {' '.join(str(error).split())}") from None


def read_studio_journal(path):
    AnnotationLog(path, fixed("key")).close()


def read_run_journal(path):
    book = TrialLog(path, "key")
    book.close()
    if not book.results:
        raise FileError(f"{path}: is begun anew.")


def run_journal():
    outcome = TrialResult(Trial("k-nn", False, 0, 5), 0.5, [[1, 0], [0, 1]], {"k": 3})
    return "".join(json.dumps(line) + "\n" for line in ({"handful": "compare", "key": "key"}, asdict(outcome)))


def parquet():
    buffer = io.BytesIO()
    pl.DataFrame({"x": [1.5, None], "s": ["a", "b"], "y": [1, 0]}).write_parquet(buffer, compression="uncompressed")
    return buffer.getvalue()


CONLLU = (
    "# id = 1\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n1\tvamos\tir\tV\t_\t_\t0\troot\t_\tA=b\n"
    "2\tnos\tnos\tP\t_\t_\t1\tobj\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
XML = (
    '<?xml version="1.0" encoding="iso-8859-1" ?>\n<!DOCTYPE corpus SYSTEM "a.dtd">\n<corpus lang="e"><lexelt item="a.n">'
    '<instance id="1" docsrc="d"><answer instance="1" senseid="s%1"/><context>x &amp; &#233; <head sats="2">art</head> '
    '<sat id="2">for</sat></context></instance></lexelt></corpus>\n'
)
TEXT = "Mr. Low left New York."


def read_with_dtd(path):
    """Read a sample whose declarations are in another file."""
    sample = path.with_name("sample.xml")
    sample.write_text(
        '<corpus><lexelt item="a.n"><instance id="1"><context><head>art</head></context></instance></lexelt></corpus>'
    )
    return list(read_senseval(sample, dtd=path))


OTHERS = {
    "spans": json.dumps({"text": TEXT, "spans": [{"start": 13, "end": 21, "label": "LOC"}], "answer": "accept"}),
    "sense-table": "text\tword\tsense\tstart\nMoney in a bank\tbank\tshore\t11\nA bank\tbank\t\t\n",
    "clusters": "0010\tthe\t7\n0011\ta\t3\n",
}
READERS = {
    "conll": ("-DOCSTART- -X- O O\n\nEU\tNNP\tI-NP\tI-ORG\nrejects\tVBZ\tI-VP\tO\n\n", lambda p: list(read_conll(p))),
    "conllu": (CONLLU, lambda p: list(read_conllu(p))),
    "senseval": (XML, lambda p: list(read_senseval(p))),
    "dtd": ("<!-- x -->\n<!ENTITY a \"[a]\">\n<!ENTITY b '&#233;'>\n<!ELEMENT c (d)>", read_with_dtd),
    "key": ("art art.1 P art%1::\nart art.2 U\n", read_key),
    "sense map": ("a 2 b\nc\n", read_sense_map),
    "text": ("Rome fell .\n\nSo what é ?\n", lambda p: list(read_text(p))),
    "tsv prototypes": ("NN\tyear share\nVB\tbe\n", read_prototypes),
    "csv": ('x,color,y\n1.5,red,1\n2,"a, b",-1\n,,\n', lambda p: read_table(p, "y")),
    "jsonl": ('{"x": 1, "y": "a"}\n{"x": null, "y": "\\u00e9", "z": true}\n', lambda p: read_table(p, "y")),
    "json": ('[{"x": 1, "y": "a"},\n {"x": null, "y": "\\u00e9", "z": true}]\n', lambda p: read_table(p, "y")),
    "parquet": (parquet(), lambda p: read_table(p, "y")),
    "xlsx": (workbook(), lambda p: read_table(p, "y")),
    "checkpoint": (pack_arrays({"n": 3, "counts": np.arange(4.0)}), read_summary),
    "studio journal": (
        '{"kind":"handful studio","key":"key"}\n{"do":"label","set":{"labels":{"0":"cat"}}}\n',
        read_studio_journal,
    ),
    "run journal": (run_journal(), read_run_journal),
    "detect": (CONLLU, detect),
    **{name: (sample, lambda p, name=name: list(format_named(name).read(p))) for name, sample in OTHERS.items()},
}
PIECES = [
    *(
        b"\0",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\t",
        b" ",
        b",",
        b";",
        b'"',
        b"'",
    ),
    *(b"<", b">", b"&", b"%", b"#", b"[", b"{", b"}", b"-", b".", b"0", b"-1", b"99999999999999999999", b"\\ud800"),
    *("\u2028".encode(), "\u00a0".encode(), b"\xed\xa0\x80", b"<!ENTITY", b"]]>", b"<!--", b"</context>", b"utf-7"),
    *(b"<![CDATA[", b"<instance id='1'>", b"encoding", b"utf-16", b"rot13", b"null", b"nan", b"1e999", b"-DOCSTART-"),
]


def mutated(data, generator):
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        place = generator.randint(0, len(data))
        match generator.randrange(6):
            case 0 if data:
                data[place % len(data)] = generator.randrange(256)
            case 1:
                data[place:place] = generator.choice(PIECES)
            case 2:
                del data[place : place + generator.randint(1, 8)]
            case 3:
                other = generator.randint(0, len(data))
                data[place:place] = data[min(place, other) : max(place, other)]
            case 4:
                data[place : place + generator.randint(1, 8)] = generator.choice(PIECES)
            case _:
                if generator.random() < 0.2:
                    del data[place:]
    return bytes(data)


def outcome(read, path):
    try:
        read(path)
    except HandfulError as error:
        message = str(error)
    else:
        return "read"
    assert message.startswith((f"{path}:", f"{path.parent / 'sample.xml'}:"))  # the latter is read with a DTD
    assert "\n" not in message
    return "refused"


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_give_records_or_a_sentence(tmp_path, capfd, name):
    sample, read = READERS[name]
    sample = sample.encode() if isinstance(sample, str) else sample
    generator = random.Random(name)
    path = tmp_path / "file"
    path.write_bytes(sample)
    outcomes = {outcome(read, path)}
    for _ in range(FILES // SLOW.get(name, 1)):
        data = mutated(sample, generator)
        if generator.random() < 0.1:
            pack = generator.choice([gzip.compress, bz2.compress, lzma.compress])
            data = mutated(pack(data), generator) if generator.random() < 0.5 else pack(data)
        path.unlink(missing_ok=True)  # a new file each time: overwriting waits for the disk
        path.write_bytes(data)
        outcomes.add(outcome(read, path))
    assert outcomes == {"read", "refused"}
    assert capfd.readouterr().err == ""  # polars would tell of panics


def test_mutated_prototype_lists(tmp_path):
    sample = b'{"NN": ["year", "a\\u00e9"], "VB": ["be"]}'
    generator = random.Random("json")
    path = tmp_path / "a.json"
    outcomes = set()
    for _ in range(FILES):
        path.unlink(missing_ok=True)
        path.write_bytes(mutated(sample, generator))
        outcomes.add(outcome(read_prototypes, path))
    assert outcomes == {"read", "refused"}


def test_a_file_that_aborts_polars_is_refused(tmp_path):
    """A page that says to hold fewer than no values makes polars ask for memory without end."""
    path = tmp_path / "file.parquet"
    path.write_bytes(parquet().replace(b",\x15\x04", b",\x15!", 1))
    assert path.read_bytes() != parquet()
    with pytest.raises(FormatError, match="the Parquet data is damaged"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("sense-table", "text,word,sense,start\nA bank,bank,,²\n", "read"),
        ("jsonl", "\x1f\n\\ud800", "refused"),
        ("csv", "x\x01color,y\nred,1\nblue,2\n", "read"),
        ("sense-table", b"\xfe\xff", "read"),
        ("sense-table", b"\xfe\xfftext\tword\tsense\n\xdc bank\tbank\t\n", "refused"),
    ],
)
def test_what_longer_runs_found_is_read_or_refused(name, content, expected, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert outcome(READERS[name][1], path) == expected
