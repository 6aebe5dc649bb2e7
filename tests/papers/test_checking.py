"""Checks of corpora find damage, and all counts of the data folder are met."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from handful.data.word_lists import read_clusters
from handful.errors import FormatError
from papers.corpora import all_corpora, check, corpus, find, load


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    return tmp_path


def test_a_whole_corpus_is_counted(folder, small_corpus):
    small_corpus(b"Rome fell\nSo what\n", counts={"sentences": 2, "tokens": 4})
    (folder / "small.txt.gz").write_bytes(b"Rome fell\nSo what\n")
    report = check("small")
    assert (report.state, report.problem) == ("here", "")
    assert report.counts == {"sentences": 2, "tokens": 4}
    assert report.files == {"small.txt.gz": "here"}
    assert check("small", counting=False).counts == {}


def test_a_wrong_count_is_damage(folder, small_corpus):
    small_corpus(b"Rome fell\nSo what\n", counts={"sentences": 3, "tokens": 4000})
    (folder / "small.txt.gz").write_bytes(b"Rome fell\nSo what\n")
    report = check("small")
    assert report.state == "damaged"
    assert "expected sentences 3, got 2 and tokens 4,000, got 4. Supply it again, from here." in report.problem
    assert check("small", counting=False).state == "here"


def test_a_wrong_checksum_is_damage_and_is_not_loaded(folder, small_corpus):
    small_corpus(b"Rome fell\n", counts={"sentences": 1})
    (folder / "small.txt.gz").write_bytes(b"Rome fall\n")
    report = check("small")
    assert (report.state, report.files, report.counts) == ("damaged", {"small.txt.gz": "damaged"}, {})
    assert report.problem.startswith(f"{folder / 'small.txt.gz'}: the checksum is not that of the catalogue.")


def test_an_absent_corpus_is_missing(folder):
    report = check("wine")
    assert (report.state, report.files) == ("missing", {"wine.csv": "missing"})
    assert "`python -m papers data get wine`" in report.problem
    assert check("bnc").state == "missing"


def test_a_supplied_file_is_loaded_even_without_a_checksum(folder):
    path = folder / "ptb-wsj-pos-dev.tsv.gz"
    path.write_text("Rome\tNNP\nfell\tVBD\n\n")
    assert check("ptb-wsj-pos-dev").counts == {"sentences": 1, "tokens": 2, "labels": 2}
    path.write_text("Rome\tNNP\nfell\n\n")
    report = check("ptb-wsj-pos-dev")
    assert report.state == "damaged"
    assert report.problem.startswith(f"{path}:2: expected 2 columns")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("01\tRome\n", ":1: expected 3 columns with tabs between (path, word, count), got 2."),
        ("01\tRome\t3\n0x\tfell\t2\n", ":2: expected a path of 0 and 1, got '0x'."),
        ("\tRome\t3\n", ":1: expected a path of 0 and 1, got ''."),
        ("01\tRome\t-3\n", ":1: expected a count, got '-3'."),
        ("01\tRome\t\u0663\n", ":1: expected a count, got '\u0663'."),
    ],
)
def test_a_malformed_cluster_line_is_named(tmp_path, text, message):
    path = tmp_path / "clusters.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=re.escape(f"{path}{message}")):
        list(read_clusters(path))


@pytest.mark.corpus
@pytest.mark.parametrize("name", [entry.name for entry in all_corpora().values() if entry.counts])
def test_every_count_of_the_catalogue_is_met(data_folder, name):
    entry = corpus(name)
    if not (data_folder / entry.files[0].path).exists():
        pytest.skip(f"{name} is not in the data folder")
    report = check(name)
    assert report.problem == ""
    assert set(report.files.values()) == {"here"}
    assert {what: report.counts[what] for what in entry.counts} == dict(entry.counts)


@pytest.mark.corpus
def test_the_counts_of_the_data_folder_s_own_tables_are_those_of_the_catalogue(data_folder):
    # The README rows begin with a file name and its counts: "3,914 sent / 94,084 tok", "846 rows x 18 features, 4 classes".
    units = {"sent": "sentences", "citations": "sentences", "tok": "tokens", "lexelts": "words"}
    units["lines"] = ""  # of a key or a map, not of what is loaded
    rows = 0
    for readme in data_folder.glob("README*.md"):
        for line in readme.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) < 3 or not re.search(r"\.(gz|csv|tsv|sensemap)`?$", cells[1]):
                continue
            entry = corpus(cells[1].strip("`"))
            said = {}
            for number, unit in re.findall(r"(\d[\d,]*) (\w+)", re.split("[(;]", cells[2])[0]):
                said[units.get(unit, unit)] = int(number.replace(",", ""))
            said.pop("", None)
            assert said, line
            for what, number in said.items():
                assert entry.counts.get(what, number) == number
            assert set(said) & set(entry.counts), line
            rows += 1
    assert rows == sum(1 for entry in all_corpora().values() if entry.counts)


@pytest.mark.corpus
def test_the_tables_have_the_classes_of_their_readme(data_folder):
    sizes = {
        "vehicle": {"bus": 218, "opel": 212, "saab": 217, "van": 199},
        "ionosphere": {"b": 126, "g": 225},
        "parkinsons": {"0": 48, "1": 147},
        "wine": {"1": 59, "2": 71, "3": 48},
    }
    for name, classes in sizes.items():
        table = load(name)
        assert Counter(map(str, table.classes[table.codes])) == classes
        assert len(table.columns) == corpus(name).counts["features"]


@pytest.mark.corpus
def test_the_senseval_sample_pairs_text_key_and_sense_map(data_folder):
    training, test = list(load("senseval2-train")), list(load("senseval2-test"))
    kinds = Counter(word.rpartition(".")[2] for word in {occurrence.word for occurrence in training})
    assert kinds == {"n": 29, "v": 29, "a": 15}
    assert sum(occurrence.word.endswith(".v") for occurrence in training) == 3566
    assert sum(occurrence.word.endswith(".v") for occurrence in test) == 1806
    assert all(occurrence.senses for occurrence in test)
    assert len(find("senseval2-sensemap").read_text().splitlines()) == 603
    for name, occurrences in (("senseval2-train", training), ("senseval2-test", test)):
        key = [line.split() for line in find(name, "key").read_text().splitlines()]
        assert len(key) == len(occurrences)
        assert {occurrence.id: occurrence.senses for occurrence in occurrences} == {
            row[1]: tuple(row[2:]) for row in key
        }
    senses = {sense for occurrence in training + test for sense in occurrence.senses}
    assert len(senses - load("senseval2-sensemap").keys() - {"P", "U"}) == 395
