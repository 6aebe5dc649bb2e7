"""Downloads against a server on this machine: what is good is stored, what is not leaves nothing behind."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from handful.data.files import open_bytes
from handful.errors import FileError, MissingDataError, ParameterError, Step
from papers import corpora as catalog
from papers.corpora import download, file_state, load

CONTENT = "".join(f"sentence number {i} .\n" for i in range(20_000)).encode()


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.failures = 0
        self.requests = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
        if self.path == "/absent":
            self.send_error(404)
            return
        if self.server.failures:
            self.server.failures -= 1
            self.send_error(503)
            return
        self.send_response(200)
        if self.path != "/no-length":
            self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        cut = len(self.server.content) // 2 if self.path == "/cut" else None
        self.wfile.write(self.server.content[:cut])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("HANDFUL_DATA", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_good_file_is_packed_and_stored_under_its_name(folder, server, small_corpus):
    entry = small_corpus(CONTENT, url=server.url("good"), path="sub/small.txt.gz")
    path = download("small")
    assert path == folder / "sub" / "small.txt.gz"
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert open_bytes(path).read() == CONTENT
    assert file_state(entry.files[0]) == "here"
    assert files_in(folder) == ["sub/small.txt.gz"]
    assert sum(len(sentence) for sentence in load("small")) == 80_000


def test_a_file_that_is_there_is_not_fetched_again(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("good"))
    download("small")
    assert download("small") == folder / "small.txt.gz"
    assert server.requests == 1


def test_a_damaged_file_is_replaced(folder, server, small_corpus):
    entry = small_corpus(CONTENT, url=server.url("good"))
    folder.mkdir()
    (folder / "small.txt.gz").write_bytes(b"half a file")
    download("small")
    assert file_state(entry.files[0]) == "here"


def test_progress_counts_the_bytes(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("good"))
    steps: list[Step] = []
    download("small", progress=steps.append)
    assert {(step.stage, step.total) for step in steps} == {("small", len(CONTENT))}
    done = [step.done for step in steps]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)
    assert len(done) > 3


def test_without_a_length_the_total_is_unknown(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("no-length"))
    steps: list[Step] = []
    download("small", progress=steps.append)
    assert {step.total for step in steps} == {None}
    assert files_in(folder) == ["small.txt.gz"]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_header_is_put_above_the_rows(folder, server, small_corpus, monkeypatch, end):
    server.content = b"1,2,a\n3,4,b" + end
    table = b"f1,f2,label\n1,2,a\n3,4,b\n"
    entry = small_corpus(server.content, url=server.url("good"), path="small.csv")
    file = replace(entry.files[0], sha256=hashlib.sha256(table).hexdigest(), content_sha256=None, header="f1,f2,label")
    monkeypatch.setattr(catalog, "_read", lambda: {"small": replace(entry, files=(file,))})
    assert download("small").read_bytes() == table
    assert file_state(file) == "here"


TROUBLE = {
    "good": ["does not have the checksum of the catalogue, so nothing was stored"],
    "cut": ["broke off, so nothing was stored"],
    "absent": ["127.0.0.1 answered 404 for http://127.0.0.1"],
}


@pytest.mark.parametrize("way", TROUBLE)
def test_trouble_is_one_sentence_and_leaves_nothing_behind(folder, server, small_corpus, capfd, way):
    small_corpus(CONTENT, url=server.url(way))
    if way == "good":
        server.content = CONTENT.replace(b"number", b"figure")
    with pytest.raises(FileError) as caught:
        download("small", retries=0)
    text = str(caught.value)
    assert text.startswith(f"{folder / 'small.txt.gz'}: ")
    assert "\n" not in text
    for part in [*TROUBLE[way], "Run `python -m papers data get small` again"]:
        assert part in text
    assert files_in(folder) == []
    assert [path.name for path in folder.iterdir()] == []
    assert capfd.readouterr() == ("", "")


def test_without_a_length_a_cut_file_fails_its_checksum(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("no-length"))
    server.content = CONTENT[:1000]
    with pytest.raises(FileError, match="does not have the checksum"):
        download("small", retries=0)
    assert files_in(folder) == []


def test_offline_says_to_check_the_network(folder, server, small_corpus):
    url = server.url("good")
    server.server_close()
    small_corpus(CONTENT, url=url)
    with pytest.raises(FileError, match=r"127\.0\.0\.1 cannot be reached\. Check the network connection\."):
        download("small", retries=0)
    assert files_in(folder) == []


def test_a_failed_download_leaves_the_old_file(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("cut"))
    folder.mkdir()
    (folder / "small.txt.gz").write_bytes(b"old")
    with pytest.raises(FileError, match="broke off"):
        download("small", retries=0)
    assert (folder / "small.txt.gz").read_bytes() == b"old"


def test_a_failure_that_passes_is_tried_again(folder, server, small_corpus, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    small_corpus(CONTENT, url=server.url("good"))
    server.failures = 2
    assert download("small").is_file()
    assert server.requests == 3


def test_a_folder_that_cannot_be_made_is_said(tmp_path, monkeypatch, server, small_corpus):
    (tmp_path / "file").write_text("no folder")
    small_corpus(CONTENT, url=server.url("good"))
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path / "file"))
    with pytest.raises(FileError, match="HANDFUL_DATA is no folder"):
        download("small")
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path / "file" / "inside"))
    with pytest.raises(FileError, match="Set HANDFUL_DATA to a folder that you may write to"):
        download("small")
    assert server.requests == 0


def test_a_folder_in_the_place_of_a_corpus_is_named(folder, server, small_corpus):
    small_corpus(CONTENT, url=server.url("good"))
    (folder / "small.txt.gz").mkdir(parents=True)
    for use in (download, load):
        with pytest.raises(FileError, match=r"small\.txt\.gz: is a folder, where the corpus 'small' has a file"):
            use("small")
    assert server.requests == 0


def test_a_full_disk_is_said(folder, server, small_corpus):
    def fill_up(step: Step) -> None:
        raise OSError(28, "No space left on device")

    small_corpus(CONTENT, url=server.url("good"))
    with pytest.raises(FileError, match=r"small\.txt\.gz: cannot be written \(No space left on device\)"):
        download("small", retries=0, progress=fill_up)
    assert files_in(folder) == []


def test_what_may_not_be_downloaded_must_be_supplied(folder, small_corpus):
    small_corpus(CONTENT)
    with pytest.raises(
        MissingDataError, match=r"It must be supplied: get it from us \(here\) under its licence \(MIT\)"
    ):
        download("small")
    folder.mkdir()
    (folder / "small.txt.gz").write_bytes(b"half")
    with pytest.raises(FileError, match=r"the file is damaged\. Supply it again, from here\."):
        download("small")
    (folder / "small.txt.gz").write_bytes(CONTENT)
    assert download("small") == folder / "small.txt.gz"


def test_unknown_and_replaced_corpora_are_refused(folder):
    with pytest.raises(ParameterError, match="Did you mean 'wine'"):
        download("vine")
    with pytest.raises(MissingDataError, match="Use a substitute"):
        download("bllip")


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["wine", "ionosphere"])
def test_the_rows_of_a_downloadable_table_have_the_checksum_of_its_source(data_folder, name):
    file = catalog.corpus(name).files[0]
    header, _, rows = (data_folder / file.path).read_bytes().partition(b"\n")
    assert header.decode() == file.header
    checksums = {hashlib.sha256(content).hexdigest() for content in (rows, rows.removesuffix(b"\n"))}
    assert file.url_sha256 in checksums
