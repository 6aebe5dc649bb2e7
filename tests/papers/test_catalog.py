"""The catalogue is complete and consistent, and names lead to files and records."""

from __future__ import annotations

import bz2
import gzip
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from handful.data.records import Sentence
from handful.errors import FileError, MissingDataError, ParameterError
from papers.corpora import all_corpora, corpus, corpus_state, data_folder, file_state, find, how_to_get, load

ENTRIES = list(all_corpora().values())
PAPERS = {"sogaard2011", "liu2013", "suzuki2011", "su2004", "haghighi2006"}
COUNTS = {
    "conll": {"sentences", "tokens", "labels"},
    "conllu": {"sentences", "tokens"},
    "text": {"sentences", "tokens"},
    "table": {"rows", "features", "classes"},
    "senseval": {"instances", "words", "answers"},
    "sense-map": {"senses"},
    "clusters": {"words", "clusters"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_is_complete_and_consistent(entry):
    assert entry.what
    assert entry.source
    assert entry.license
    assert set(entry.papers) <= PAPERS
    for other in entry.stands_for:
        assert entry.name in all_corpora()[other].stand_ins
    if entry.access == "replaced":
        assert entry.stand_ins
        return
    assert set(entry.counts) <= COUNTS[entry.format]
    assert entry.files[0].role == "data"
    assert (entry.format == "conll") == bool(entry.columns)
    assert entry.target is None or entry.format == "table" or entry.target in entry.columns
    for file in entry.files:
        path = PurePosixPath(file.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        for checksum in (file.sha256, file.content_sha256, file.url_sha256):
            assert checksum is None or re.fullmatch("[0-9a-f]{64}", checksum)
        assert (file.sha256 is None) == (file.size is None)
        assert (file.url is None) == (file.url_sha256 is None)
        assert file.url is None or file.url.startswith("https://")
        if file.url and file.path.endswith(".gz"):
            assert file.url_sha256 == file.content_sha256


def test_names_and_files_are_unique():
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    data = [file.path for entry in ENTRIES for file in entry.files if file.role == "data"]
    assert len(set(data)) == len(data)


def test_only_the_licensed_sections_lack_a_checksum():
    lacking = {entry.name for entry in ENTRIES if any(file.sha256 is None for file in entry.files)}
    assert lacking == {f"ptb-wsj-{kind}-{part}" for kind in ("pos", "dep") for part in ("train", "dev", "test")}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("brown-pos", "brown-pos"),
        ("brown-pos.tsv.gz", "brown-pos"),
        ("citations/citations-dev.tsv", "citations-dev"),
        ("citations-dev.tsv", "citations-dev"),
    ],
)
def test_a_corpus_answers_to_its_name_and_its_file(name, found):
    assert corpus(name).name == found


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("conll2003-eng-tran", "Did you mean 'conll2003-eng-train'?"),
        ("senseval-2-train", "Did you mean 'senseval2-train'?"),
        ("xyzzy", "Run `python -m papers data list` to see all."),
        ("", "Run `python -m papers data list` to see all."),
    ],
)
def test_an_unknown_name_says_what_may_have_been_meant(name, hint):
    with pytest.raises(ParameterError, match=re.escape(f"there is no corpus {name!r}. {hint}")):
        load(name)


def test_the_data_folder_is_the_variable_or_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("HANDFUL_DATA", "~/corpora")
    assert data_folder() == Path.home() / "corpora"
    monkeypatch.setenv("HANDFUL_DATA", "")
    assert data_folder().name == "handful"
    monkeypatch.delenv("HANDFUL_DATA")
    assert data_folder().name == "handful"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("en_ewt-ud-dev", ["`python -m papers data get en_ewt-ud-dev`", "HANDFUL_DATA"]),
        ("brown-pos", ["must be supplied", "brown.zip", "non-commercial", "HANDFUL_DATA"]),
        ("ptb-wsj-pos-train", ["LDC99T42", "must be supplied", "a substitute: wsj-sample-pos."]),
    ],
)
def test_a_missing_corpus_says_where_it_belongs_and_how_to_get_it(folder, name, parts):
    with pytest.raises(MissingDataError) as caught:
        load(name)
    text = str(caught.value)
    assert text.startswith(f"{folder / corpus(name).files[0].path}: the corpus {name!r} is not in the data folder.")
    assert "\n" not in text
    for part in parts:
        assert part in text


def test_a_missing_second_file_is_named(folder):
    (folder / "senseval2").mkdir()
    (folder / "senseval2" / "eng-lex-samp.evaluation.xml.gz").write_bytes(b"")
    with pytest.raises(MissingDataError, match=r"eng-lex-sample\.test\.key: the corpus 'senseval2-test' is not"):
        find("senseval2-test", "key")
    with pytest.raises(ParameterError, match="'senseval2-sensemap' has no file of the kind 'key'"):
        find("senseval2-sensemap", "key")


def test_a_replaced_corpus_names_its_stand_ins(folder):
    with pytest.raises(MissingDataError, match="Use a substitute: zh_gsd-ud1-train, zh_gsd-ud1-dev"):
        load("ctb")
    assert "\n" not in how_to_get(corpus("ctb"))


def test_supplied_sections_are_taken_up_by_name(folder):
    (folder / "ptb-wsj-pos-train.tsv.gz").write_bytes(gzip.compress(b"Rome\tNNP\nfell\tVBD\n\n"))
    (folder / "ptb-wsj-dep-dev.conllu.gz").write_bytes(
        b"1\tRome\t_\t_\tNNP\t_\t2\tdep\t_\t_\n2\tfell\t_\t_\tVBD\t_\t0\troot\t_\t_\n\n"
    )
    assert list(load("ptb-wsj-pos-train")) == [Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")})]
    assert [tree.heads for tree in load("ptb-wsj-dep-dev")] == [(2, 0)]
    assert corpus_state(corpus("ptb-wsj-pos-train")) == "here"
    assert corpus_state(corpus("ptb-wsj-pos-dev")) == "missing"


def test_either_checksum_makes_a_file_whole(folder, small_corpus):
    content = b"Rome fell\n"
    file = small_corpus(content).files[0]
    path = folder / file.path
    assert file_state(file) == "missing"
    path.write_bytes(gzip.compress(content, compresslevel=9))
    assert file_state(file) == "here"
    path.write_bytes(gzip.compress(content, compresslevel=1))
    assert file_state(file) == "here"
    path.write_bytes(content)
    assert file_state(file) == "here"
    for broken in (b"", b"Rome fell", gzip.compress(b"Rome rose\n"), gzip.compress(content)[:-4]):
        path.write_bytes(broken)
        assert file_state(file) == "damaged"


def test_the_room_imports_nothing_heavy():
    heavy = {"polars", "pooch", "requests", "numpy", "sklearn", "numba"}
    code = f"import sys, handful.data; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.corpus
def test_every_file_of_the_data_folder_is_in_the_catalogue(data_folder):
    named = {file.path for entry in ENTRIES for file in entry.files}
    found = {path.relative_to(data_folder).as_posix() for path in data_folder.rglob("*") if path.is_file()}
    assert {path for path in found if not re.fullmatch(r"README[^/]*\.md", path)} <= named


def test_another_file_under_a_corpus_s_name_is_not_loaded(folder, small_corpus):
    content = b"Rome fell\nSo what\n"
    small_corpus(content)
    path = folder / "small.txt.gz"
    for data in (content, gzip.compress(content, 1), bz2.compress(content)):
        path.write_bytes(data)
        assert len(list(load("small"))) == 2
    for data in (b"Rome fell\n", gzip.compress(b"Rome fell\n"), gzip.compress(content)[:-4]):
        path.write_bytes(data)
        message = (
            f"{path}: is not the file of the corpus 'small': expected 18 bytes or the same content, got {len(data)}"
        )
        with pytest.raises(FileError, match=f"{re.escape(message)} bytes. Run `python -m papers data check small`."):
            load("small")


def test_the_licence_is_named_beside_what_is_known_of_it(folder):
    assert "under its licence (CC BY 4.0; named from memory of the UCI repository, not verified)" in how_to_get(
        corpus("vehicle")
    )
