"""Runs that are killed at any moment and begun again end with the very bytes of a run that nobody disturbed."""

from __future__ import annotations

import os

import click
import pytest
from cli_kills import COMMANDS, MODEL, finish, killed_runs, start

from handful.cli import group as cli
from handful.cli import main

RUNS = int(os.environ.get("HANDFUL_KILLS", "1"))  # with two kills each; HANDFUL_KILLS=10 is the long run


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_runs_end_with_the_same_bytes(name, data, tmp_path):
    n_done, n_struck, n_same = killed_runs(name, data, tmp_path, RUNS, 2)
    assert n_struck > 0
    assert n_same == n_done == RUNS


def test_every_command_with_a_checkpoint_is_killed():
    """Those with a journal are killed too."""

    def with_checkpoint(command, name):
        if isinstance(command, click.Group):
            for word in command.list_commands(None):
                yield from with_checkpoint(command.get_command(None, word), f"{name} {word}".strip())
        elif any("--resume" in option.opts for option in command.params):
            yield name

    assert set(with_checkpoint(cli, "")) <= set(COMMANDS)


@pytest.mark.slow
def test_two_runs_on_one_checkpoint_at_once_are_both_right(data, tmp_path):
    processes = [start(COMMANDS["clusters"](data, tmp_path)) for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    both = (tmp_path / MODEL).read_bytes()
    (tmp_path / MODEL).unlink()
    finish(*COMMANDS["clusters"](data, tmp_path))
    assert (tmp_path / MODEL).read_bytes() == both


def test_two_comparisons_share_a_journal_without_harm(tmp_path):
    from handful.comparison.trials import Trial, TrialLog, TrialResult

    path = tmp_path / "run.jsonl"
    first = TrialLog(path, "key")
    first.add(TrialResult(Trial("k-nn", False, 0, 5), 0.5))
    second = TrialLog(path, "key")  # has no file of its own, and takes nothing from the first
    second.add(TrialResult(Trial("k-nn", False, 1, 5), 0.7))
    second.close()
    first.add(TrialResult(Trial("k-nn", False, 2, 5), 0.6))
    first.close()
    third = TrialLog(path, "key")
    assert [trial.split for trial in third.results] == [0, 2]
    third.close()


def test_a_journal_that_cannot_be_written_is_told_and_done_without(tmp_path):
    from handful.comparison.trials import TrialLog

    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match=r"cannot be written .* cannot be resumed. Set HANDFUL_RUNS"):
        journal = TrialLog(tmp_path / "file" / "run.jsonl", "key")
    journal.close()


def test_model_files_hold_neither_paths_nor_times(tmp_path, monkeypatch):
    """The same data in two folders give the same bytes, by a relative name and by an absolute one."""
    found = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.csv").write_text(
            "x,y,label\n" + "".join(f"{i % 7},{i * i % 11},{'ab'[i % 2]}\n" for i in range(30))
        )
        monkeypatch.chdir(folder)
        data = "a.csv" if name == "one" else folder / "a.csv"
        with pytest.raises(SystemExit):
            main(["fit", str(data), "--target", "label", "--method", "k-nn", "-o", str(folder / "m.handful"), "-q"])
        found.append((folder / "m.handful").read_bytes())
    assert found[0] == found[1]
    assert str(tmp_path).encode() not in found[0]
