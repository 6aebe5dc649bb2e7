"""Counting a text in shares, as an array of jobs does, and putting the shares together."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from cli_run import run

import handful.representations.counts as shards
from handful.representations.counts import FeatureCounts

N = 3


@pytest.fixture
def folder(capsys, tmp_path, monkeypatch):
    """A tagger of spans, whose chances are no whole numbers, and text in many small pieces, some of them twice."""
    monkeypatch.setattr(shards, "_PART_BYTES", 300)
    rng = np.random.default_rng(0)
    words = {"O": ["in", "to", "and", "saw"], "B-LOC": ["Rome", "Bonn", "Oslo"], "B-PER": ["Ann", "Tom"]}
    rows = []
    for _ in range(40):
        rows += [f"{rng.choice(words[tag])}\t{tag}" for tag in rng.choice(list(words), 3)] + [""]
    (tmp_path / "train.tsv").write_text("\n".join(rows) + "\n")
    every = [word for some in words.values() for word in some]
    lines = [" ".join(rng.choice(every, rng.integers(1, 9))) for _ in range(300)]
    (tmp_path / "a.txt").write_text("\n".join(lines[:200]) + "\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(("\n".join(lines[:60] + lines[200:]) + "\n").encode()))
    assert run(capsys, "fit", "tagger", tmp_path / "train.tsv", "--max-iter", "10", "--no-check")[0] == 0
    return tmp_path


def count(capsys, folder, name, *options):
    texts = folder / "a.txt", folder / "b.txt.gz"
    return run(capsys, "condense", folder / "train.handful", folder / "train.tsv", *texts,
               "--counts", folder / name, "-o", folder / f"{name}.handful", "--jobs", 1, "--mode", "bins", *options)  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--vocabulary", "all", "--min-count", 2)])
def test_merged_shares_are_one_run_to_the_last_bit(capsys, folder, options):
    assert count(capsys, folder, "whole", *options)[0] == 0
    files = [folder / f"part{i}" for i in range(1, N + 1)]
    for i in range(1, N + 1):
        code, out, err = count(capsys, folder, f"part{i}", *options, "--shard", f"{i}/{N}", "--json")
        assert (code, json.loads(out)["shard"]) == (0, f"{i}/{N}"), err
        assert not (folder / f"part{i}.handful").exists()
    code, out, err = run(capsys, "condense", "--merge", *reversed(files), "-o", folder / "merged")
    assert code == 0, err
    assert f"of {N} shares" in out
    assert (folder / "merged").read_bytes() == (folder / "whole").read_bytes()
    counts = FeatureCounts.load(folder / "merged")
    assert counts.n_shards_ > 2 * N
    assert counts.basis_rest.any()
    code, _, err = run(capsys, "condense", folder / "train.handful", folder / "train.tsv", *options, "--jobs", 1,
                       "--mode", "bins", "--counts", folder / "merged", "-o", folder / "merged.handful")  # fmt: skip
    assert code == 0, err
    weights = [handful_weights(folder / f"{name}.handful") for name in ("whole", "merged")]
    assert (weights[0] == weights[1]).all()


def handful_weights(path):
    import handful

    return handful.load(path).weights_


def test_more_shares_than_pieces_leave_some_empty(capsys, folder, monkeypatch):
    monkeypatch.setattr(shards, "_PART_BYTES", 1 << 20)
    assert count(capsys, folder, "whole")[0] == 0
    for i in range(1, N + 1):
        code, out, err = count(capsys, folder, f"part{i}", "--shard", f"{i}/{N}", "--json")
        assert code == 0, err
    assert json.loads(out)["tokens"] == 0
    parts = [folder / f"part{i}" for i in range(1, N + 1)]
    code, out, err = run(
        capsys, "condense", "--merge", *parts, parts[0], "-o", folder / "merged", "--json"
    )  # a file named twice
    assert (code, json.loads(out)["shards"]) == (0, N), err
    assert (folder / "merged").read_bytes() == (folder / "whole").read_bytes()


def test_a_share_that_fails_is_named_and_one_that_is_missing_too(capsys, folder):
    first, third = folder / "part1", folder / "part3"
    assert count(capsys, folder, "part1", "--shard", "1/3")[0] == 0
    assert count(capsys, folder, "part3", "--shard", "3/3")[0] == 0
    code, _, err = run(capsys, "condense", "--merge", first, third, "-o", folder / "merged")
    assert code == 2
    code, _, err = run(capsys, "condense", "--merge", first, first, "-o", folder / "merged")
    assert code == 2
    lines = (folder / "a.txt").read_bytes().split(b"\n")
    (folder / "a.txt").write_bytes(b"\n".join([*lines[:12], b"bad \xff\xfe", *lines[12:]]))
    failed = [i for i in range(1, 4) if count(capsys, folder, f"again{i}", "--shard", f"{i}/3")[0]]
    code, _, err = count(capsys, folder, "more", "--shard", f"{failed[0]}/3")
    assert (len(failed), code, f"shard {failed[0]}/3: " in err and "a.txt:13" in err) == (1, 1, True), err
    code, _, err = run(
        capsys, "condense", folder / "train.handful", folder / "train.tsv", "--mode", "bins", "--counts", first
    )
    assert code == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--shard", "4/3"), "must be I/N, with I from 1 to N"),
        (("--shard", "1/3", "--again"), "excludes --again"),
    ],
)
def test_wrong_use_is_told(capsys, folder, options, says):
    code, _, err = count(capsys, folder, "part", *options)
    assert (code, says in err) == (2, True), err


def test_shares_of_other_texts_or_of_a_whole_are_refused(capsys, folder):
    assert count(capsys, folder, "whole")[0] == 0
    assert count(capsys, folder, "part1", "--shard", "1/2")[0] == 0
    (folder / "copy").write_bytes((folder / "part1").read_bytes())
    for other, says in (("whole", "got those of a whole text"), ("copy", "share 1/2 must be named once")):
        code, _, err = run(capsys, "condense", "--merge", folder / "part1", folder / other, "-o", folder / "merged")
        assert (code, says in err) == (2, True), err
    (folder / "a.txt").write_text("Tom in Bonn\n" * 500)
    assert count(capsys, folder, "part2", "--shard", "2/2")[0] == 0
    code, _, err = run(capsys, "condense", "--merge", folder / "part1", folder / "part2", "-o", folder / "merged")
    assert (code, "same text" in err) == (2, True), err
    code, _, err = run(capsys, "condense", "--merge", folder / "part1", folder / "part2")
    assert (code, "-o: missing" in err) == (2, True), err


def test_progress_tells_tokens_a_second_and_how_many_pieces_there_are(folder):
    import handful
    from handful.representations.condensed_features import CondensedFeatures

    steps = []
    features = CondensedFeatures(handful.load(folder / "train.handful"))
    features.fit([folder / "a.txt", folder / "b.txt.gz"], progress=steps.append)
    counted = [step for step in steps if step.stage == "count"]
    assert [step.done for step in counted] == list(range(1, features.counts_.n_shards_ + 1))
    assert counted[-1].figures["tokens"] == features.counts_.size
    assert counted[0].figures["tokens/s"] > 0
    assert features.counts_.n_shards_ <= counted[-1].total <= 2 * features.counts_.n_shards_
