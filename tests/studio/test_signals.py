"""A studio that is told to end, or killed, leaves no process behind and loses no action."""

from __future__ import annotations

import signal

import psutil
import pytest
from quick_start import Process

pytest.importorskip("uvicorn")


@pytest.fixture
def studio(tmp_path):
    rows = "\n".join(f"{i % 7},{'ab'[i % 2] if i < 8 else ''}" for i in range(40))
    (tmp_path / "a.csv").write_text(f"x,label\n{rows}\n")
    process = Process(("studio", tmp_path / "a.csv", "--target", "label", "--no-browser"))
    assert b"is open at http://127.0.0.1:" in process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_sigterm_ends_the_server_with_its_code(studio):
    children = psutil.Process(studio.pid).children(recursive=True)
    studio.send_signal(signal.SIGTERM)
    _, err = studio.communicate(timeout=60)
    assert studio.returncode == 143, err
    assert b"Traceback" not in err
    assert psutil.wait_procs(children, timeout=10)[1] == []


def test_workers_of_a_killed_server_end_soon(studio):
    children = psutil.Process(studio.pid).children(recursive=True)
    studio.kill()
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert studio.communicate(timeout=10)[0] is not None
