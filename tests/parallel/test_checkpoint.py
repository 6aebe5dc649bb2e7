from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from handful.data.records import Sentence
from handful.errors import FileError, ParameterError, PartError
from handful.parallel import map_parts, map_reduce, part_identity
from handful.persistence.arrays import pack_arrays, unpack_arrays


class Counter:
    """Sums thirds, remembers which parts it was asked for, and fails on one of them."""

    def __init__(self, fails_on=None):
        self.asked = []
        self.fails_on = fails_on

    def __call__(self, part):
        self.asked.append(part)
        if part == self.fails_on:
            raise ValueError("stopped")
        return {"sum": np.array([part / 3, part / 7]), "words": [f"w{part}"], "n": np.int64(part)}


def add(a, b):
    a["sum"] += b["sum"]
    a["words"] += b["words"]
    a["n"] = a["n"] + b["n"]
    return a


def same(a, b):
    return (
        a["sum"].tobytes() == b["sum"].tobytes()
        and a["words"] == b["words"]
        and (type(a["n"]), a["n"]) == (type(b["n"]), b["n"])
    )


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    whole = map_reduce(Counter(), add, range(8))
    first, second, third = Counter(fails_on=5), Counter(), Counter()
    with pytest.raises(PartError, match=r"part 5 \(5\) failed: ValueError: stopped"):
        map_reduce(first, add, range(8), checkpoint=tmp_path / "new" / "folder")
    assert same(map_reduce(second, add, range(8), checkpoint=tmp_path / "new" / "folder"), whole)
    assert (first.asked, second.asked) == (list(range(6)), [5, 6, 7])
    assert same(map_reduce(third, add, range(9), checkpoint=tmp_path / "new" / "folder"), add(whole, Counter()(8)))
    assert third.asked == [8]


def test_summaries_behind_a_failing_part_are_kept(tmp_path):
    def summarize(part):
        import time

        with (tmp_path / "asked").open("a") as file:
            file.write(f"{part}\n")
        while part == 0 and len(list((tmp_path / "kept").glob("*.summary"))) < 3:
            time.sleep(0.02)
        if part == 0 and not (tmp_path / "repaired").exists():
            raise ValueError("broken")
        return {"n": part}

    def merge(a, b):
        return {"n": 10 * a["n"] + b["n"]}

    with pytest.raises(PartError, match="part 0"):
        map_reduce(summarize, merge, range(4), n_jobs=2, checkpoint=tmp_path / "kept")
    (tmp_path / "repaired").touch()
    assert map_reduce(summarize, merge, range(4), n_jobs=2, checkpoint=tmp_path / "kept") == {"n": 123}
    assert sorted((tmp_path / "asked").read_text().split()) == ["0", "0", "1", "2", "3"]


def test_another_fingerprint_is_another_run(tmp_path):
    for fingerprint, asked in (("a", [1, 2]), ("b", [1, 2]), ("a", []), ("", [1, 2])):
        counter = Counter()
        map_reduce(counter, add, [1, 2], checkpoint=tmp_path, fingerprint=fingerprint)
        assert counter.asked == asked


@pytest.mark.parametrize("kind", [Path, str])
def test_a_changed_file_is_counted_again(tmp_path, kind):
    files = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in files:
        path.write_text("one two")
    asked = []

    def count(part):
        asked.append(Path(part).name)
        return {"n": len(Path(part).read_text().split())}

    def run():
        asked.clear()
        parts = [kind(path) for path in files]
        return map_reduce(count, lambda a, b: {"n": a["n"] + b["n"]}, parts, checkpoint=tmp_path / "kept"), asked

    assert run() == ({"n": 4}, ["a.txt", "b.txt"])
    assert run() == ({"n": 4}, [])
    before = files[1].stat()
    files[1].write_text("one two"[:3] + "_two")  # neither size nor time tell
    os.utime(files[1], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run() == ({"n": 3}, ["b.txt"])


def test_damaged_summaries_are_never_used(tmp_path):
    parts = [1, 2]
    whole = map_reduce(Counter(), add, parts, checkpoint=tmp_path)
    for damage in (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"no zip at all"):
        for path in tmp_path.glob("*.summary"):
            path.write_bytes(damage(path.read_bytes()))
        counter = Counter()
        assert same(map_reduce(counter, add, parts, checkpoint=tmp_path), whole)
        assert counter.asked == parts


def test_every_changed_byte_is_noticed():
    data = pack_arrays({"sum": np.array([1 / 3, 2 / 3]), "words": ["a"]})
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 0x15
        with pytest.raises(ValueError, match="not a whole summary"):
            unpack_arrays(bytes(changed))


class Bomb:
    def __reduce__(self):
        return os.mkdir, (os.environ["HANDFUL_TEST_BOMB"],)


def test_reading_runs_no_code(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_TEST_BOMB", str(tmp_path / "gone off"))
    whole = map_reduce(Counter(), add, [1], checkpoint=tmp_path / "kept")
    (path,) = (tmp_path / "kept").glob("*.summary")
    target = io.BytesIO()
    text = np.frombuffer(b'{"values": {}, "scalars": []}', dtype=np.uint8)
    np.savez(target, json=text, array_sum=np.array([Bomb()], dtype=object))
    path.write_bytes(hashlib.sha256(target.getvalue()).digest() + target.getvalue())
    assert same(map_reduce(Counter(), add, [1], checkpoint=tmp_path / "kept"), whole)
    assert not (tmp_path / "gone off").exists()


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ([1], "must be a dictionary with names as keys, got list"),
        ({1: 2}, "must be a dictionary with names as keys, got dict"),
        ({"a": (1, 2)}, "got tuple in 'a'"),
        ({"a": [{"b": {1}}]}, "got list in 'a'"),
        ({"a": np.array([None])}, "got ndarray in 'a'"),
        ({"a": [np.arange(2)]}, "got list in 'a'"),
        ({"a": {1: 2}}, "got dict in 'a'"),
    ],
)
def test_other_summaries_are_refused_in_one_sentence(tmp_path, summary, message):
    with pytest.raises(ParameterError, match=message):
        map_reduce(lambda part: summary, add, [1], checkpoint=tmp_path)
    assert not list(tmp_path.iterdir())


def test_values_come_back_as_they_were():
    summary = {
        "json": np.arange(3, dtype=np.uint16),
        "file": np.zeros((0, 2), dtype=np.float32),
        "words": np.array(["a", "\u00fc"]),
        "flag": np.bool_(True),
        "third": 1 / 3,
        "big": 2**70,
        "none": None,
        "tree": {"a": [1, {"b": "\ud800"}], "": float("inf")},
    }
    found = unpack_arrays(pack_arrays(summary))
    assert found.keys() == summary.keys()
    for name, value in summary.items():
        assert type(found[name]) is type(value)
        if isinstance(value, np.ndarray):
            assert (found[name].dtype, found[name].tolist()) == (value.dtype, value.tolist())
        else:
            assert found[name] == value


@dataclass(frozen=True)
class Shard:
    name: str
    rows: np.ndarray


class Known:
    def __init__(self, text):
        self.text = text

    def identity(self):
        return self.text


def test_parts_are_known_by_their_content():
    kinds = [
        lambda n: Known(str(n)),
        lambda n: [Sentence(("a",) * n, {"pos": ("b",) * n})],
        lambda n: Shard("s", np.arange(n)),
        lambda n: sparse.csr_array(np.eye(n)),
        lambda n: (n, np.arange(n, dtype=np.int32)),
        lambda n: np.array(["a", n], dtype=object),
        lambda n: {"n": n},
        lambda n: bytes(n),
        lambda n: np.float32(n),
    ]
    found = [part_identity(kind(n)) for kind in kinds for n in (2, 3)]
    assert len(set(found)) == len(found)
    assert found == [part_identity(kind(n)) for kind in kinds for n in (2, 3)]
    assert part_identity(np.arange(2, dtype=np.int32)) != part_identity(np.arange(2, dtype=np.uint32))


def test_parts_and_folders_that_cannot_be_used_are_told(tmp_path):
    with pytest.raises(FileError, match=r"no.txt: cannot be read \(No such file"):
        map_reduce(Counter(), add, [tmp_path / "no.txt"], checkpoint=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="file: cannot be the folder of a checkpoint"):
        map_parts(Counter(), [1], checkpoint=tmp_path / "file")
    with pytest.raises(ParameterError, match="fingerprint must be"):
        map_parts(Counter(), [1], checkpoint=tmp_path, fingerprint=3)
