"""``--engine``, ``--jobs`` and ``--checkpoint`` of commands on text: the output stays the same to the byte."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from cli_run import run
from plain_text import write_text

from handful.cli import main
from handful.cli import predict as predict_sentences
from handful.data.conll import write_conll
from handful.parallel import open_engine
from papers.generated_english import make_tagged_sentences

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler():
    with open_engine("dask", 2) as client:
        yield client.scheduler.address


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("engines")
    sentences = [tree.sentence for tree in make_tagged_sentences(200, random_state=0)]
    write_conll(place / "train.tsv", sentences[:60], ("token", "pos"))
    write_conll(place / "new.tsv", sentences, ("token", "pos"))
    write_text(place / "new.txt", sentences)
    (place / "new.txt.gz").write_bytes(gzip.compress((place / "new.txt").read_bytes()))
    with pytest.raises(SystemExit):
        main(["fit", "tagger", str(place / "train.tsv"), "--max-iter", "3", "--jobs", "1"])
    return place


def test_tagging_side_by_side_writes_the_same_bytes(capsys, folder, scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_sentences, "_BATCH", 30)
    model = folder / "train.handful"
    for name in ("new.txt", "new.tsv", "new.txt.gz"):
        code, plain, told = run(capsys, "predict", model, folder / name, "--abstain", "0.5")
        assert code == 0
        assert plain.count("\n\n") == 200
        found = run(capsys, "predict", model, folder / name, "--abstain", "0.5", "--engine", scheduler)
        assert found == (0, plain, told)
    target = tmp_path / "out.tsv"
    assert run(capsys, "predict", model, folder / name, "--abstain", "0.5", "-o", target, "--engine", scheduler)[0] == 0
    assert target.read_bytes() == plain.encode()


@pytest.mark.parametrize(
    "words", [("clusters", "--n", 6), ("similar", "--word", "the", "--components", 20)], ids=["clusters", "similar"]
)
def test_counting_side_by_side_gives_the_same(capsys, folder, scheduler, tmp_path, words):
    plain = run(capsys, words[0], folder / "new.txt", *words[1:], "--json")
    assert plain[0] == 0
    workers = ("--engine", scheduler, "--resume", tmp_path / "kept")
    assert run(capsys, words[0], folder / "new.txt", *words[1:], "--json", *workers) == plain
    assert list((tmp_path / "kept").iterdir())


def test_a_file_that_is_cut_off_leaves_no_output(capsys, folder, scheduler, tmp_path):
    words = np.random.default_rng(0).integers(10**9, size=(10_000, 10)).astype(str)
    packed = gzip.compress("\n".join(map(" ".join, words)).encode())
    bad = tmp_path / "bad.txt.gz"
    bad.write_bytes(packed[: len(packed) * 3 // 4])
    settings = ("-o", tmp_path / "out", "--engine", scheduler)
    code, out, err = run(capsys, "predict", folder / "train.handful", bad, *settings)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_engines_are_for_taggers_and_must_be_known(capsys, folder, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "1,a\n2,b\n" * 6)
    assert run(capsys, "fit", "table", table, "--target", "y", "--method", "condensed-nn")[0] == 0
    code, _, err = run(capsys, "predict", tmp_path / "t.handful", table, "--engine", "dask")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = run(capsys, "similar", folder / "new.txt", "--word", "the", "--engine", "dusk")
    assert (code, err.count("\n")) == (2, 1)
    assert json.loads(run(capsys, "similar", folder / "new.txt", "--word", "the", "--components", 5, "--json")[1])
