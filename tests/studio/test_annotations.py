"""The log: every action on disk, replayed to the same state, one process at a time."""

from __future__ import annotations

import json
import os
import random

import pytest
from quick_start import run
from studio_client import fixed

from handful.errors import DataError, FileError, FormatError
from handful.studio.annotations import MAPS, UNDO, AnnotationLog, Identity, State


def random_action(rng: random.Random, state: State) -> dict:
    if state.can_undo and rng.random() < 0.25:
        return dict(UNDO)
    name = rng.choice(MAPS)
    values = {str(rng.randrange(20)): rng.choice(["a", "b", "‮<script>", ["x", "y"], None]) for _ in range(3)}
    return {"do": "label", "set": {name: values}}


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_random_actions_replay_to_the_same_state(tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "data.csv.studio"
    snapshots = [{name: {} for name in MAPS}]  # an independent account of undo: the states themselves
    log = AnnotationLog(path, fixed("key"))
    for step in range(1000):
        action = random_action(rng, log.state)
        log.add(action)
        if action["do"] == "undo":
            snapshots.pop()
        else:
            now = {name: dict(values) for name, values in snapshots[-1].items()}
            for name, values in action["set"].items():
                now[name] = {k: v for k, v in {**now[name], **values}.items() if v is not None}
            snapshots.append(now)
        if step % 100 == 99:  # undo survives a restart
            log.close()
            log = AnnotationLog(path, fixed("key"))
        assert log.state.maps == snapshots[-1]
    assert log.state.n_actions == 1000
    log.close()


def test_undo_survives_a_restart(tmp_path):
    with AnnotationLog(tmp_path / "j", fixed("key")) as log:
        log.add({"do": "label", "set": {"labels": {"1": "a"}}})
        log.add({"do": "label", "set": {"labels": {"1": "b"}}})
    with AnnotationLog(tmp_path / "j", fixed("key")) as log:
        log.add(UNDO)
        assert log.state["labels"] == {"1": "a"}


def test_the_action_is_on_disk_before_it_counts(tmp_path, monkeypatch):
    log = AnnotationLog(tmp_path / "j", fixed("key"))
    seen = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda f: (seen.append(dict(log.state["labels"])), real(f)))
    log.add({"do": "label", "set": {"labels": {"1": "a"}}})
    assert seen == [{}]
    assert log.state["labels"] == {"1": "a"}
    log.close()


def test_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    log = AnnotationLog(tmp_path / "j", fixed("key"))
    before = (tmp_path / "j").read_bytes()

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(FileError, match="No space left"):
            log.add({"do": "label", "set": {"labels": {"1": "a"}}})
    assert log.state["labels"] == {}
    assert (tmp_path / "j").read_bytes() == before
    log.add({"do": "label", "set": {"labels": {"2": "b"}}})
    log.close()
    with AnnotationLog(tmp_path / "j", fixed("key")) as again:
        assert again.state["labels"] == {"2": "b"}


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_a_crash_cut_off_never_counted(tmp_path, cut):
    path = tmp_path / "j"
    with AnnotationLog(path, fixed("key")) as log:
        log.add({"do": "label", "set": {"labels": {"1": "a"}}})
        whole = path.read_bytes()
        log.add({"do": "label", "set": {"labels": {"2": "b"}}})
    path.write_bytes(path.read_bytes()[:-cut])
    with AnnotationLog(path, fixed("key")) as log:
        assert log.state["labels"] == {"1": "a"}
    assert path.read_bytes() == whole


def test_a_second_process_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "j"
    code = (
        "from handful.studio.annotations import AnnotationLog, Identity\n"
        f"AnnotationLog({str(path)!r}, Identity(lambda n: 'key', 0, lambda rows: []))"
    )
    with AnnotationLog(path, fixed("key")):
        done = run(code=code)
        assert "another process has it open" in done.stderr
    done = run(code=code)
    assert done.returncode == 0, done.stderr


def test_other_data_and_other_files_are_refused(tmp_path):
    AnnotationLog(tmp_path / "j", fixed("key")).close()
    with pytest.raises(FileError, match="changed since"):
        AnnotationLog(tmp_path / "j", fixed("other"))
    (tmp_path / "k").write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="k:1: "):
        AnnotationLog(tmp_path / "k", fixed("key"))
    assert (tmp_path / "k").read_text() == "a,b\n1,2\n"
    with (tmp_path / "j").open("a") as file:
        file.write(json.dumps({"do": "label", "set": {"passwords": {}}}) + "\n")
    with pytest.raises(FormatError, match="j:2: "):
        AnnotationLog(tmp_path / "j", fixed("key"))


@pytest.mark.parametrize(
    "action", [{}, {"do": "label"}, {"do": "label", "set": {}}, {"do": "label", "set": {"x": {}}}, {"do": "undo"}]
)
def test_what_is_no_action_is_not_written(tmp_path, action):
    with AnnotationLog(tmp_path / "j", fixed("key")) as log:
        before = (tmp_path / "j").read_bytes()
        with pytest.raises(DataError):
            log.add(action)
        assert (tmp_path / "j").read_bytes() == before


def letters(rows, target="t", names=None):
    """Data of a letter a row, known by content, or by other names."""
    names = names or rows
    return Identity(lambda n: f"{target} {rows[:n]}", len(rows), lambda some: [(names[i], rows[i]) for i in some])


@pytest.mark.parametrize(
    ("rows", "labels", "changed"),
    [
        ("abcde", {"1": "x", "2": "y"}, []),  # appended
        ("zcb", {"2": "x", "1": "y"}, []),  # sorted, another row at the front
        ("ab", {"1": "x"}, []),  # one is gone
        ("abd", {"1": "x", "2": "y"}, ["2"]),  # one was edited, the others are in their places
        ("dba", {"1": "x", "2": "y"}, ["2"]),
        ("bdd", {"0": "x"}, []),  # rows moved: which one was edited nobody knows
    ],
)
def test_rows_are_found_again_in_data_that_changed(tmp_path, rows, labels, changed):
    path = tmp_path / "a.studio"
    with AnnotationLog(path, letters("abc")) as log:
        log.add({"do": "label", "set": {"labels": {"1": "x"}, "notes": {"1": "why"}, "names": {"x": True}}})
        log.add({"do": "label", "set": {"labels": {"2": "y"}}})
    for _ in range(2):  # and once more, with what was written
        with AnnotationLog(path, letters(rows)) as log:
            assert log.state["labels"] == labels
            assert sorted(log.state["changed"]) == changed
            assert "why" in log.state["notes"].values()
            assert log.state["names"] == {"x": True}
    with AnnotationLog(path, letters(rows)) as log:
        assert not log.news
        log.add({"do": "label", "set": {"labels": {"0": "z"}}})


def test_rows_that_have_names_may_change_and_move(tmp_path):
    path = tmp_path / "a.studio"
    with AnnotationLog(path, letters("abc", names="123")) as log:
        log.add({"do": "label", "set": {"labels": {"1": "x", "2": "y"}}})
    with AnnotationLog(path, letters("cBa", names="321")) as log:
        assert log.state["labels"] == {"1": "x", "0": "y"}
        assert log.state["changed"] == {"1": True}
        assert "2 rows" in log.news


def test_a_log_of_another_target_is_refused(tmp_path):
    with AnnotationLog(tmp_path / "a", letters("abc")) as log:
        log.add({"do": "label", "set": {"labels": {"1": "x"}}})
    for other in (letters("abcd", target="u"), letters("xyz")):
        with pytest.raises(FileError, match="changed since"):
            AnnotationLog(tmp_path / "a", other)
