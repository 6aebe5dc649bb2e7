"""Every corpus of the data folder through its reader: counts as published, and the same bytes when written."""

from __future__ import annotations

import re

import numpy as np
import pytest

from handful.data.conll import read_conll, read_conllu, write_conll, write_conllu
from handful.data.files import open_bytes
from handful.data.formats import detect
from handful.data.senses import read_key, read_sense_map, read_senseval
from handful.data.table import read_table
from handful.data.text import read_text

pytestmark = pytest.mark.corpus

CONLL = {
    "wsj-sample-pos.tsv.gz": (2, 3914, 94084),
    "brown-pos.tsv.gz": (2, 57340, 1161192),
    "conll2000-chunk-train.tsv.gz": (3, 8936, 211727),
    "conll2000-chunk-test.tsv.gz": (3, 2012, 47377),
    "conll2003-eng-train.tsv.gz": (4, 14041, 203621),
    "conll2003-eng-testa.tsv.gz": (4, 3250, 51362),
    "conll2003-eng-testb.tsv.gz": (4, 3453, 46435),
    "wikigold.tsv.gz": (2, 1696, 39007),
    "citations/citations-train.tsv": (2, 300, 10803),
    "citations/citations-dev.tsv": (2, 100, 3651),
    "citations/citations-test.tsv": (2, 100, 3502),
    "citations/citations-unlabeled.tsv": (1, 1000, 34767),
}
CONLLU = {
    "wsj-sample-dep.conllu.gz": (3914, 94084),
    "en_ewt-ud-train.conllu.gz": (12544, 204577),
    "en_ewt-ud-dev.conllu.gz": (2001, 25147),
    "en_ewt-ud-test.conllu.gz": (2077, 25094),
    "zh_gsd-ud1-train.conllu.gz": (3997, 98608),
    "zh_gsd-ud1-dev.conllu.gz": (500, 12663),
    "zh_gsd-ud1-test.conllu.gz": (500, 12012),
    "zh_gsd-ud-dev.conllu.gz": (500, 12665),
    "zh_gsd-ud-test.conllu.gz": (500, 12010),
}
TEXT = {
    "unlabeled-news-reuters21578.txt.gz": (125280, 2837818),
    "unlabeled-news-abc.txt.gz": (33070, 751052),
    "unlabeled-news-bbc.txt.gz": (40063, 921263),
    "unlabeled-movie-reviews.txt.gz": (64720, 1492681),
}
TABLES = {
    "vehicle.csv": (846, 18, {"bus": 218, "opel": 212, "saab": 217, "van": 199}),
    "ionosphere.csv": (351, 34, {"b": 126, "g": 225}),
    "parkinsons.csv": (195, 22, {0: 48, 1: 147}),
    "wine.csv": (178, 13, {1: 59, 2: 71, 3: 48}),
}


def content(path):
    with open_bytes(path) as file:
        return file.read()


def counted(records, counts):
    """Pass records on while counting them, so that none needs to be kept."""
    for record in records:
        counts[0] += 1
        counts[1] += len(record)
        yield record


@pytest.mark.parametrize("name", CONLL)
def test_columns(data_folder, tmp_path, name):
    n_columns, *wanted = CONLL[name]
    columns = ("token", "a", "b", "c")[:n_columns]
    path, again, counts = data_folder / name, tmp_path / "again", [0, 0]
    assert detect(path) == "conll"
    write_conll(again, counted(read_conll(path, columns), counts), columns)
    assert counts == wanted
    assert content(again) == content(path)


@pytest.mark.parametrize("name", CONLLU)
def test_trees(data_folder, tmp_path, name):
    path, again, counts = data_folder / name, tmp_path / "again", [0, 0]
    assert detect(path) == "conllu"
    write_conllu(again, counted(read_conllu(path), counts))
    assert counts == list(CONLLU[name])
    assert content(again) == content(path)


@pytest.mark.parametrize("name", TEXT)
def test_text(data_folder, name):
    path, counts = data_folder / name, [0, 0]
    assert detect(path) == "text"
    lines = [" ".join(sentence) for sentence in counted(read_text(path), counts)]
    assert counts == list(TEXT[name])
    assert "\n".join(lines).encode() == re.sub(rb"\n+", b"\n", content(path)).strip(b"\n")


@pytest.mark.parametrize("name", TABLES)
def test_tables(data_folder, name):
    n_rows, n_features, classes = TABLES[name]
    assert detect(data_folder / name) == "table"
    table = read_table(data_folder / name, "label")
    assert len(table) == n_rows
    assert set(table.kinds.values()) == {"numeric"}
    constant = ["f2"] if name == "ionosphere.csv" else []
    assert [spec.name for spec in table.columns if spec.kind == "skip"] == constant
    assert table.numeric().shape == (n_rows, n_features - len(constant))
    counts = np.bincount(table.codes[table.labeled])
    assert dict(zip(table.classes.tolist(), counts.tolist(), strict=True)) == classes


def test_lexical_sample(data_folder):
    folder = data_folder / "senseval2"
    train_path = folder / "eng-lex-sample.training.xml.gz"
    assert detect(train_path) == "senseval"
    train = list(read_senseval(train_path))
    assert (len(train), sum(len(o.senses) for o in train)) == (8611, 9430)
    assert len({o.word for o in train}) == 73
    assert sum(o.word.endswith(".v") for o in train) == 3566
    assert {o.id: o.senses for o in train} == read_key(folder / "eng-lex-sample.training.key")

    path, key = folder / "eng-lex-samp.evaluation.xml.gz", folder / "eng-lex-sample.test.key"
    assert not any(o.senses for o in read_senseval(path))
    test = list(read_senseval(path, key))
    assert {o.id: o.senses for o in test} == read_key(key)
    assert (len(test), sum(o.word.endswith(".v") for o in test)) == (4328, 1806)
    assert "[bquo]" in {token[:6] for o in test for token in o.tokens}

    coarse = read_sense_map(folder / "eng-lex-sample.sensemap")
    assert len(coarse) == 814
    gold = {sense for o in [*train, *test] for sense in o.senses} - {"P", "U"}
    assert len(gold - coarse.keys()) == 395
