"""How commands end when they are killed, when nobody reads on, when the disk is full, and when data tries to steer a terminal."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import pty
import signal
import time

import psutil
import pytest
from quick_start import Process, run

from handful.cli.ending import exit_code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("ending")
    lines = [f"the cat{number % 7000} sees a dog{number % 5000} in house{number % 9000}" for number in range(400_000)]
    (place / "long.txt").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture
def clusters(folder, tmp_path):
    """Start a run with two workers, and wait until they work."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = ("clusters", folder / "long.txt", "-o", tmp_path / "c.paths", "--jobs", 2)
    parent = Process(words, env={**os.environ, "TMPDIR": str(temporary)})
    try:
        yield parent, working_children(parent), temporary
    finally:
        parent.kill()
        parent.communicate()


def working_children(parent):
    process, patience = psutil.Process(parent.pid), time.monotonic() + 120
    while not (len(process.children()) > 1 and any(child.cpu_times().user > 0.5 for child in process.children())):
        assert parent.poll() is None, parent.communicate()
        assert time.monotonic() < patience, process.children()
        time.sleep(0.05)
    return process.children(recursive=True)


def test_sigterm_ends_workers_and_leaves_no_files(clusters):
    parent, children, temporary = clusters
    parent.send_signal(signal.SIGTERM)
    _, _err = parent.communicate(timeout=30)
    assert parent.returncode == 143
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert [path for path in temporary.rglob("*") if path.is_file()] == []


def test_workers_end_soon_after_their_parent_was_killed(clusters):
    parent, children, _ = clusters
    parent.kill()
    assert psutil.wait_procs(children, timeout=10)[1] == []
    # nobody holds the other end of its pipes open any more
    assert parent.communicate(timeout=10)[0] == b""


@pytest.mark.parametrize("way", ["callback of C", "end of an object", "event loop"])
def test_a_signal_is_not_lost_where_exceptions_are_dropped(way, capsys):
    def signalled(*_):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)

    class Ending:
        __del__ = signalled

    async def turn():
        asyncio.get_running_loop().call_soon(signalled)
        await asyncio.sleep(10)

    def command():
        if way == "callback of C":
            ctypes.CFUNCTYPE(None)(signalled)()
        elif way == "end of an object":
            Ending()
        else:
            asyncio.run(turn())
        time.sleep(10)

    assert exit_code(command, []) == 143
    assert capsys.readouterr().err == "handful: ended by SIGTERM.\n"


def test_a_reader_that_has_enough_is_no_failure(tmp_path):
    (tmp_path / "tags.tsv").write_text("the\tD\ndog\tN\n\n" * 4)
    (tmp_path / "text.txt").write_text("the dog\n" * 30_000)
    assert run("fit", "tagger", "tags.tsv", "--model", "t.handful", cwd=tmp_path).returncode == 0
    predict = Process(("predict", "t.handful", "text.txt"), cwd=tmp_path)
    assert predict.stdout.readline().startswith(b"# global.")
    predict.stdout.close()
    assert (predict.stderr.read(), predict.wait()) == (b"", 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_is_one_sentence(tmp_path):
    with open("/dev/full", "w") as full:
        done = run("methods", cwd=tmp_path, stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr.startswith("handful: the output cannot be written (No space left on device).")
    assert done.stderr.count("\n") == 1


def on_terminal(*command: str, cwd) -> bytes:
    """Run a command whose stdout and stderr are a terminal, and return what arrives there."""
    ours, theirs = pty.openpty()
    process = Process(command, cwd=cwd, stdout=theirs, stderr=theirs, env={**os.environ, "NO_COLOR": "1"})
    os.close(theirs)
    arrived = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        arrived += piece
    process.wait()
    os.close(ours)
    return arrived


STEER = "\x1b]0;mine\x07"


def test_control_characters_of_data_do_not_reach_a_terminal(tmp_path):
    (tmp_path / "list.tsv").write_text(f"D{STEER}\tthe a\nN\tdog\n")
    (tmp_path / "text.txt").write_text(f"the dog\na dog{STEER}\n" * 20)
    arrived = on_terminal("prototypes", "suggest", "list.tsv", "text.txt", cwd=tmp_path)
    assert STEER.encode() not in arrived
    assert rb"D\x1b]0;mine\x07" in arrived
    (tmp_path / "tags.tsv").write_text(f"the\tD\ndog{STEER}\tN\n\n" * 4)
    arrived = on_terminal("prototypes", "extract", "tags.tsv", cwd=tmp_path)
    assert STEER.encode() not in arrived
    assert rb"dog\x1b]0;mine\x07" in arrived
    arrived = on_terminal("similar", f"no{STEER}file", "--word", "x", cwd=tmp_path)
    assert STEER.encode() not in arrived
    assert rb"no\x1b]0;mine\x07file" in arrived


def test_names_of_columns_and_labels_do_not_steer_a_terminal(tmp_path):
    rows = "".join(f"{i % 7},{i % 3},{f'a{STEER}' if i % 2 else 'b'}\n" for i in range(20))
    (tmp_path / f"t{STEER}.csv").write_text(f"x{STEER},y,label\n{rows}")
    table, end = f"t{STEER}.csv", ("--target", "label")
    race = ("--methods", "k-nn", "--labels", "8", "--trials", "3", "--jobs", "1", "--resume", "kept")
    fit = ("fit", table, *end, "--method", "k-nn", "-o", f"m{STEER}")
    for command in (("compare", table, *end, *race), fit, ("inspect", f"m{STEER}"), ("predict", f"m{STEER}", table)):
        arrived = on_terminal(*command, cwd=tmp_path)
        assert STEER.encode() not in arrived, command
        assert rb"\x1b]0;m" in arrived, command  # long names are cut


def test_json_has_no_control_characters_and_stays_json(tmp_path, capsys):
    from handful.cli.console import emit_json

    value = {"label": "a\x1b[31m\x9b\x7f\u202e", "umlaut": "ä"}
    emit_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert "ä" in out
    assert all(character == "\n" or character.isprintable() for character in out)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b", "\\x9b"),
        ("\u202eevil", "\\u202eevil"),
        ("naïve 語", "naïve 語"),
    ],
)
def test_what_is_no_text_is_written_out(text, shown):
    from handful.cli.console import visible

    assert visible(text) == shown


def test_figures_of_a_bar_are_no_powers_of_ten(monkeypatch):
    import io

    from rich.console import Console

    from handful.cli import console
    from handful.errors import Step

    out = io.StringIO()
    monkeypatch.setattr(console, "console", lambda stderr: Console(file=out, force_terminal=True, width=120))
    with console.progress_bar() as progress:
        progress(Step("count", 1, 1, {"tokens": 3_121_102.0, "objective": 12.3456789}))
    assert "tokens 3,121,102" in out.getvalue()
    assert "objective 12.3457" in out.getvalue()
