from __future__ import annotations

import os
import pickle
import signal

import pytest
from quick_start import run

from handful.data.files import atomic_writer
from handful.errors import FileError, FormatError, HandfulError, MissingExtraError, require
from handful.registry import method, spec_of, unregister


def test_format_errors_survive_the_way_between_processes():
    error = FormatError("a.tsv", 3, "expected 2 columns, got 1")
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == "a.tsv:3: expected 2 columns, got 1"
    assert isinstance(back, FormatError)
    assert isinstance(back, HandfulError)


def test_a_missing_extra_is_named_but_a_broken_module_is_not_hidden(tmp_path, monkeypatch):
    with pytest.raises(
        MissingExtraError,
        match=r"pip install 'handful\[dask\]' \(in the folder of handful: pip install '\.\[dask\]'\)\.",
    ):
        require("surely_not_installed", extra="dask", why="a test")
    (tmp_path / "broken_extra.py").write_text("import surely_not_installed")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed") as caught:
        require("broken_extra", extra="dask", why="a test")
    assert not isinstance(caught.value, MissingExtraError)


def test_an_interrupted_block_leaves_the_old_file(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def write_half() -> None:
        with atomic_writer(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without names")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path):
    script = (
        "import os, signal, sys\nfrom handful.data.files import atomic_writer\n"
        "with atomic_writer(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = run(tmp_path / "a.txt", code=script)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_where_files_must_have_names(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with atomic_writer(tmp_path / "a.txt") as file:
        file.write(b"whole")
        assert len(list(tmp_path.iterdir())) == 1
    assert (tmp_path / "a.txt").read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [tmp_path / "a.txt"]


def test_a_link_is_replaced_and_not_followed_and_what_is_no_file_is_left_alone(tmp_path):
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    with atomic_writer(link) as file:
        file.write(b"new")
    assert not link.is_symlink()
    assert (link.read_text(), real.read_text()) == ("new", "old")
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is no ordinary file"), atomic_writer("/dev/stdout"):
        pass
    with pytest.raises(FileError, match="is no ordinary file"), atomic_writer(pipe):
        pass
    assert pipe.is_fifo()


def test_a_name_belongs_to_one_class():
    @method("test-only", paper="liu2013", task="table", uses_unlabeled=True)
    class First:
        """Be first."""

    try:
        spec = spec_of(First)
        assert (spec.name, spec.task) == ("test-only", "table")
        assert (spec.summary, spec.paper) == ("Be first.", "liu2013")
        with pytest.raises(ValueError, match="'test-only' is taken by"):

            @method("test-only", paper=None, task="table")
            class Second:
                """Be second."""
    finally:
        unregister("test-only")
    assert spec_of(First) is None
