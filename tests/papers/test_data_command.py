"""``python -m papers data``: what it prints, where, and how it ends."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from papers import corpora as catalog
from papers.__main__ import main
from papers.corpora import Corpus, CorpusFile, all_corpora


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("HANDFUL_DATA", str(folder))
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main(["data", *arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


def supply(folder: Path) -> None:
    (folder / "ptb-wsj-pos-test.tsv.gz").write_bytes(gzip.compress(b"Rome\tNNP\nfell\tVBD\n\n"))


def damage(folder: Path) -> None:
    (folder / "wine.csv").write_text("f1,label\n1,1\n")


def test_list_shows_every_corpus_with_its_state(capsys, folder):
    supply(folder)
    damage(folder)
    code, out, err = run(capsys, "list", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["folder"] == str(folder)
    states = {row["name"]: row["state"] for row in told["corpora"]}
    assert list(states) == list(all_corpora())
    assert states["ptb-wsj-pos-test"] == "here"
    assert states["wine"] == "damaged"
    assert states["brown-pos"] == "missing"
    assert states["en_ewt-ud-dev"] == "can be downloaded"
    assert states["classifieds"] == "replaced"
    row = next(row for row in told["corpora"] if row["name"] == "brown-pos")
    assert row["counts"] == {"sentences": 57340, "tokens": 1161192, "labels": 472}
    assert row["files"][0]["path"] == "brown-pos.tsv.gz"
    code, out, err = run(capsys, "list")
    assert (code, err) == (0, "")
    for name, state in states.items():
        assert any(line.startswith(name) and line.rstrip().endswith(state) for line in out.splitlines())


def test_where_prints_the_folder_or_the_path(capsys, folder):
    supply(folder)
    assert run(capsys, "where") == (0, f"{folder}\n", "")
    path = folder / "ptb-wsj-pos-test.tsv.gz"
    assert run(capsys, "where", "ptb-wsj-pos-test") == (0, f"{path}\n", "")
    code, out, err = run(capsys, "where", "brown-pos")
    assert (code, out) == (1, "")
    assert err.startswith(f"handful: {folder / 'brown-pos.tsv.gz'}: the corpus 'brown-pos' is not in the data folder.")
    code, out, err = run(capsys, "where", "brown-poss")
    assert (code, out) == (2, "")
    assert "Did you mean 'brown-pos'?" in err


def test_get_downloads_and_names_what_must_be_supplied(capsys, folder, tmp_path, monkeypatch):
    content = b"Rome fell\n"
    (tmp_path / "raw.txt").write_bytes(content)
    checksum = hashlib.sha256(content).hexdigest()
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/raw.txt"
        file = CorpusFile("free.txt", size=10, sha256=checksum, url=url, url_sha256=checksum)
        free = Corpus("free", "free text", "us", "MIT", format="text", files=(file,))
        bound = Corpus("bound", "bound text", "them", "LDC", format="text", files=(CorpusFile("bound.txt"),))
        gone = Corpus("gone", "lost text", "them", "none")
        monkeypatch.setattr(catalog, "_read", lambda: {"free": free, "bound": bound, "gone": gone})
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        code, out, err = run(capsys, "get", "gone", "bound", "free")
        server.shutdown()
        thread.join()
    assert code == 1
    assert out == f"{folder / 'free.txt'}\n"
    assert (folder / "free.txt").read_bytes() == content
    first, second = err.splitlines()
    assert first == "handful: catalog: the corpus 'gone' is not available (license: none)."
    assert second.startswith(f"handful: {folder / 'bound.txt'}: ")
    assert "It must be supplied: get it from them under its licence (LDC) and put it there" in second
    assert run(capsys, "get", "free") == (0, f"{folder / 'free.txt'}\n", "")


def test_get_refuses_an_unknown_name_before_it_begins(capsys, folder):
    code, out, err = run(capsys, "get", "wine", "wein")
    assert (code, out) == (2, "")
    assert "there is no corpus 'wein'" in err
    assert list(folder.iterdir()) == []
    assert run(capsys, "get")[0] == 2


def test_check_reports_what_is_missing_without_failing(capsys, folder):
    supply(folder)
    code, out, err = run(capsys, "check")
    assert (code, err) == (0, "")
    assert "sentences: 1, tokens: 2, labels: 2" in out
    n_files = sum(1 for entry in all_corpora().values() if entry.files)
    assert f"1 here, {n_files - 1} missing, 0 damaged in {folder}" in out


def test_check_fails_on_a_damaged_file_and_names_it(capsys, folder):
    supply(folder)
    damage(folder)
    code, out, err = run(capsys, "check", "--json")
    assert code == 1
    assert err.startswith(f"handful: {folder / 'wine.csv'}: the checksum is not that of the catalogue.")
    told = json.loads(out)
    assert told["ok"] is False
    assert [row["name"] for row in told["corpora"] if row["state"] == "damaged"] == ["wine"]
    assert run(capsys, "check", "ptb-wsj-pos-test")[0] == 0


def test_check_fails_on_a_named_corpus_that_is_missing(capsys, folder):
    code, _, err = run(capsys, "check", "brown-pos", "--fast")
    assert code == 1
    assert "must be supplied" in err
    assert run(capsys, "check", "brown-poss")[0] == 2


def test_fast_does_not_count(capsys, folder):
    supply(folder)
    code, out, _ = run(capsys, "check", "--fast", "--json", "ptb-wsj-pos-test")
    assert code == 0
    assert json.loads(out)["corpora"][0] == {
        "name": "ptb-wsj-pos-test",
        "state": "here",
        "files": {"ptb-wsj-pos-test.tsv.gz": "here"},
        "counts": {},
        "expected": {},
        "problem": "",
    }


@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "wine"), ("check", "--json"), ("list",), ("list", "--json")]
)
def test_a_data_folder_that_is_none_is_an_error(capsys, tmp_path, monkeypatch, arguments):
    file = tmp_path / "file"
    file.write_text("no folder")
    for wrong in (file, tmp_path / "missing"):
        monkeypatch.setenv("HANDFUL_DATA", str(wrong))
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (1, "")
        assert err == f"handful: HANDFUL_DATA is no folder: {wrong}. Set it to the folder that has the corpora.\n"


def test_get_into_a_file_is_an_error(capsys, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv("HANDFUL_DATA", str(file))
    code, out, err = run(capsys, "get", "wine")
    assert (code, out) == (1, "")
    assert err.startswith(f"handful: HANDFUL_DATA is no folder: {file}.")


def test_where_and_get_print_json(capsys, folder):
    supply(folder)
    path = folder / "ptb-wsj-pos-test.tsv.gz"
    assert json.loads(run(capsys, "where", "--json")[1]) == {"name": None, "path": str(folder)}
    assert json.loads(run(capsys, "where", "ptb-wsj-pos-test", "--json")[1])["path"] == str(path)
    code, out, err = run(capsys, "get", "--json", "ptb-wsj-pos-test", "brown-pos")
    told = json.loads(out)
    assert (code, told["ok"]) == (1, False)
    assert told["corpora"][0] == {"name": "ptb-wsj-pos-test", "path": str(path), "problem": ""}
    assert told["corpora"][1]["path"] is None
    assert err == f"handful: {told['corpora'][1]['problem']}\n"
