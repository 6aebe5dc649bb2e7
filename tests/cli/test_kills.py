"""Runs that are killed at any moment and begun again end with the very bytes of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from handful.corpora.make import make_tagged_sentences

HANDFUL = [sys.executable, "-m", "handful"]
KILLS = int(os.environ.get("HANDFUL_KILLS", "3"))  # HANDFUL_KILLS=30 is the long run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    trees = make_tagged_sentences(150, random_state=0)
    rows = [
        "\n".join(f"{w}\t{t}" for w, t in zip(x.sentence.tokens, x.sentence["pos"], strict=True)) for x in trees[:60]
    ]
    (folder / "tags.tsv").write_text("\n\n".join(rows) + "\n")
    text = "\n".join(" ".join(tree.sentence.tokens) for tree in trees)
    (folder / "raw.txt").write_text(text + "\n")
    long = "\n".join(f"the cat{i % 70} sees a dog{i % 50} in house{i % 90}" for i in range(60_000))
    (folder / "long.txt").write_text(long + "\n")
    table = "\n".join(f"{i % 7},{(i * i) % 11},{'ab'[i % 2] if i < 30 else ''}" for i in range(60))
    (folder / "table.csv").write_text(f"x,y,label\n{table}\n")
    run("fit", "tagger", folder / "tags.tsv", "--model", folder / "base.handful", "--iterations", 10)
    return folder


def run(*words: object, kill_after: float | None = None) -> float:
    """Run a command, to its end or until it is killed; return its seconds."""
    start = time.monotonic()
    process = subprocess.Popen([*HANDFUL, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, err = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    else:
        assert process.returncode == 0, err
    return time.monotonic() - start


COMMANDS = {
    "fit tagger": lambda data, out: (
        *("fit", "tagger", data / "tags.tsv", "--model", out / "model.handful"),
        *("--iterations", 200, "--checkpoint", out / "kept"),
    ),
    "clusters": lambda data, out: (
        *("clusters", data / "long.txt", "-o", out / "model.handful", "--n", 60, "--checkpoint", out / "kept"),
    ),
    "condense": lambda data, out: (
        *("condense", data / "base.handful", data / "tags.tsv", data / "raw.txt", "-o", out / "model.handful"),
        *("--counts", out / "counts", "--checkpoint", out / "kept"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_runs_end_with_the_same_bytes(name, data, tmp_path):
    whole, broken = tmp_path / "out", tmp_path / "broken"
    whole.mkdir()
    seconds = run(*COMMANDS[name](data, whole))
    expected = (whole / "model.handful").read_bytes()
    whole.rename(tmp_path / "whole")
    generator = random.Random(name)
    broken = tmp_path / "out"  # the file tells the command, so it must be the same
    broken.mkdir()
    for _ in range(KILLS):
        run(*COMMANDS[name](data, broken), kill_after=seconds * generator.uniform(0.1, 1.1))
    run(*COMMANDS[name](data, broken))
    assert (broken / "model.handful").read_bytes() == expected
    left = [path.name for path in Path(broken).iterdir() if path.suffix == ".part"]
    assert len(left) <= KILLS  # what a kill leaves half written never stands under the name of a finished file


@pytest.mark.slow
def test_two_runs_on_one_checkpoint_at_once_are_both_right(data, tmp_path):
    words = [*HANDFUL, *map(str, COMMANDS["clusters"](data, tmp_path))]
    processes = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    both = (tmp_path / "model.handful").read_bytes()
    (tmp_path / "model.handful").unlink()
    run(*COMMANDS["clusters"](data, tmp_path))
    assert (tmp_path / "model.handful").read_bytes() == both


def test_two_comparisons_share_a_journal_without_harm(tmp_path):
    from handful.experiment.journal import Journal
    from handful.experiment.trial import Outcome, Task

    path = tmp_path / "run.jsonl"
    first = Journal(path, "key")
    first.add(Outcome(Task("k-nn", False, 0, 5), 0.5))
    second = Journal(path, "key")  # has no file of its own, and takes nothing from the first
    second.add(Outcome(Task("k-nn", False, 1, 5), 0.7))
    second.close()
    first.add(Outcome(Task("k-nn", False, 2, 5), 0.6))
    first.close()
    third = Journal(path, "key")
    assert [task.draw for task in third.outcomes] == [0, 2]
    third.close()


def test_a_journal_that_cannot_be_written_is_told_and_done_without(tmp_path):
    from handful.experiment.journal import Journal

    (tmp_path / "file").write_text("")
    with pytest.warns(
        RuntimeWarning, match=r"cannot be written .* cannot go on if it is interrupted. Set HANDFUL_RUNS"
    ):
        journal = Journal(tmp_path / "file" / "run.jsonl", "key")
    journal.close()
