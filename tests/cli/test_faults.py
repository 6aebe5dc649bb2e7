"""A full disk, folders that cannot be written, no home: told in one sentence, and nothing half done is left."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import quick_start


def run(words, *, room: int | None = None, cwd=None, code=None, **environment: str | None):
    """Run a command; no file that it writes may grow beyond `room` bytes, as if the disk were full."""
    env = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    return quick_start.run(*words, env=env, room=room, cwd=cwd, code=code)


COMPARE = ("--target", "label", "--methods", "k-nn", "--trials", 4, "--jobs", 1)
WRITING = {
    "a model": lambda data, out: ("fit", data / "table.csv", "--target", "label", "--method", "k-nn", "-o", out),
    "answers": lambda data, out: ("predict", data / "base.handful", data / "long.txt", "-o", out),
    "clusters": lambda data, out: ("clusters", data / "long.txt", "-o", out, "--n", 20),
    "a checkpoint": lambda data, out: ("clusters", data / "long.txt", "-o", out, "--n", 20, "--resume", out.parent),
    "training": lambda data, out: ("fit", "tagger", data / "tags.tsv", "-o", out, "--resume", out.parent),
    "counts": lambda data, out: (
        *("condense", data / "base.handful", data / "tags.tsv", data / "raw.txt"),
        *("--mode", "bins", "-o", out.with_name("model"), "--counts", out),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(name, data, tmp_path):
    done = run(WRITING[name](data, tmp_path / "out"), room=1_000)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"handful: {tmp_path}")
    assert last.endswith("cannot be written (File too large).")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a model", "answers", "clusters", "counts"])
def test_nothing_is_written_but_what_was_named(name, data, tmp_path):
    before = set(data.rglob("*"))
    places = [tmp_path / place for place in ("home", "temporary", "here", "named")]
    for place in places:
        place.mkdir()
    home, temporary, here, named = places
    done = run(WRITING[name](data, named / "out"), cwd=here, HOME=str(home), TMPDIR=str(temporary), XDG_CACHE_HOME=None)
    assert done.returncode == 0, done.stderr
    assert [path for place in (home, temporary, here) for path in place.rglob("*")] == []
    # counts for held-out sentences stand beside those that were named, as --help says
    assert {path.name for path in named.iterdir()} <= {"out", "model", "out-held-out"}
    assert set(data.rglob("*")) == before


def test_a_comparison_goes_on_without_its_journal_when_the_disk_is_full(data, tmp_path):
    done = run(("compare", data / "table.csv", *COMPARE, "--resume", tmp_path / "kept"), room=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cannot be written (File too large), so this run cannot be resumed") == 1
    assert "→ " in done.stdout  # the selected model


@pytest.mark.parametrize("home", [None, "/proc/nothing"])
def test_without_a_home_a_comparison_runs(home, data):
    cache = {"XDG_CACHE_HOME": None, "HANDFUL_RUNS": None, "HOME": home}
    done = run(("compare", data / "table.csv", *COMPARE, "--fresh"), **cache)
    assert done.returncode == 0, done.stderr
    assert ("cannot be written" in done.stderr) == (home is not None)  # without HOME the system knows one


def test_without_a_cache_for_compiled_kernels_commands_run(data):
    command = [sys.executable, "-m", "handful", "similar", data / "raw.txt", "--word", "the"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": "/proc/nothing"}  # read when numba is imported
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the: ")


def test_a_folder_that_cannot_be_written_is_told_before_any_work(data):
    done = run(("clusters", data / "long.txt", "-o", data / "raw.txt" / "out"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"handful: {data / 'raw.txt' / 'out'}: ")
    assert done.stderr.count("\n") == 1


def test_a_clock_that_goes_back_ends_no_race_early_and_lets_none_run_on(data, tmp_path):
    """Times are taken from clocks that cannot be set."""
    back = (
        "import itertools, time\nback = itertools.count()\ntime.time = lambda: 1e9 - 3600.0 * next(back)\n"
        "from handful.__main__ import main\nmain()"
    )
    fair = run(("compare", data / "table.csv", *COMPARE, "--json", "--resume", tmp_path / "a"))
    odd = run(("compare", data / "table.csv", *COMPARE, "--json", "--resume", tmp_path / "b"), code=back)
    assert (fair.returncode, odd.returncode) == (0, 0), odd.stderr
    assert odd.stdout.count('"n_draws"') == fair.stdout.count('"n_draws"')
    timed = run(("compare", data / "table.csv", *COMPARE[:4], "--minutes", 0.05, "--jobs", 1), code=back)
    assert timed.returncode == 0, timed.stderr
