"""A studio that is killed while labels come in keeps every one that it confirmed, and leaves no process or file behind."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
import time
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from cli_kills import leftovers
from quick_start import Process

pytest.importorskip("uvicorn")
KILLS = int(os.environ.get("HANDFUL_KILLS", "1"))  # of each kind


@contextmanager
def studio(folder):
    """Start a studio, and give its process and its link."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    words = ("studio", folder / "a.csv", "--target", "label", "--no-browser")
    process = Process(words, env={**os.environ, "TMPDIR": str(temporary)})
    try:
        yield process, re.search(r"http://\S+", process.stdout.readline().decode())[0]
    finally:
        process.kill()
        _, err = process.communicate(timeout=60)
        assert b"Traceback" not in err
        until = time.monotonic() + 10
        while (left := leftovers(process.pid, folder, temporary)) and time.monotonic() < until:
            time.sleep(0.05)
        assert left == []


def label(link, row, name):
    body = json.dumps({"items": [row], "label": name}).encode()
    origin = re.match(r"http://[^/]+", link)[0]
    urlopen(Request(f"{link}labels", body, {"content-type": "application/json", "origin": origin}), timeout=60).close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0), (signal.SIGKILL, -9)])
def test_labels_that_were_confirmed_survive_a_kill(tmp_path, number, code):
    n_rows, rng = 2_000, random.Random(int(number))
    rows = "\n".join(f"{i % 7},{'ab'[i % 2] if i < 8 else ''}" for i in range(n_rows))
    (tmp_path / "a.csv").write_text(f"x,label\n{rows}\n")
    confirmed = {}
    for _ in range(KILLS):
        with studio(tmp_path) as (process, link):
            killer = threading.Timer(rng.uniform(0.0, 0.5), process.send_signal, [number])
            for row in range(8 + len(confirmed), n_rows):
                name = rng.choice("ab")
                try:
                    label(link, row, name)
                except (URLError, ConnectionError):
                    break
                confirmed[row] = name
                if not killer.ident:
                    killer.start()
            assert process.wait(60) == code
    with studio(tmp_path) as (_, link):
        for row, name in confirmed.items():
            with urlopen(f"{link}items/{row}", timeout=60) as reply:
                assert json.load(reply)["label"] == name
    assert len(confirmed) >= KILLS
