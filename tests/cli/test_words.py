"""Commands that work on raw text: clusters, similar, prototypes, fit prototypes."""

from __future__ import annotations

import gzip
import json

import pytest

from handful.cli import main
from handful.corpora.formats import write_conll, write_prototypes, write_text
from handful.corpora.make import APARTMENT_PROTOTYPES, make_apartment_ads, make_tagged_sentences
from handful.methods import load
from handful.representations import BrownClusters


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("words")
    sentences = [tree.sentence for tree in make_tagged_sentences(300, random_state=0)]
    write_text(place / "text.txt", sentences)
    (place / "text.txt.gz").write_bytes(gzip.compress((place / "text.txt").read_bytes()))
    write_conll(place / "tagged.tsv", sentences, ("token", "pos"), "\t")
    write_text(place / "ads.txt", make_apartment_ads(12, random_state=0))
    write_prototypes(place / "ads.tsv", APARTMENT_PROTOTYPES)
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


def test_clusters_are_the_same_from_plain_and_packed_text(capsys, folder, tmp_path):
    for name in ("text.txt", "text.txt.gz"):
        code, out, _ = run(capsys, "clusters", folder / name, "--n", 8, "-o", tmp_path / name, "--json")
        assert code == 0
        assert json.loads(out)["clusters"] == 8
    assert (tmp_path / "text.txt").read_bytes() == gzip.decompress((tmp_path / "text.txt.gz").read_bytes())
    assert len(set(BrownClusters.load(tmp_path / "text.txt").paths_.values())) == 8


def test_similar_words_are_named(capsys, folder):
    code, out, _ = run(capsys, "similar", folder / "text.txt", "--word", "the", "--k", 3, "--components", 20, "--json")
    assert code == 0
    near = json.loads(out)["the"]
    assert len(near) == 3
    assert all(-1.001 <= entry["similarity"] <= 1.001 for entry in near)
    code, out, _ = run(capsys, "similar", folder / "tagged.tsv", "--word", "the", "--components", 20)
    assert (code, out.startswith("the: ")) == (0, True)


def test_an_unknown_word_is_one_sentence(capsys, folder):
    code, out, err = run(capsys, "similar", folder / "text.txt", "--word", "teh", "--components", 20)
    assert (code, out) == (1, "")
    assert "'teh'" in err
    assert err.count("\n") == 1


def test_prototypes_from_tags_are_suggested_and_checked(capsys, folder, tmp_path):
    assert run(capsys, "prototypes", "extract", folder / "tagged.tsv", "-o", tmp_path / "list.tsv")[0] == 0
    code, out, _ = run(capsys, "prototypes", "suggest", tmp_path / "list.tsv", folder / "text.txt", "--json")
    assert code == 0
    assert "DT" in json.loads(out)["near"]
    code, out, _ = run(capsys, "prototypes", "check", tmp_path / "list.tsv", folder / "text.txt", "--json")
    report = json.loads(out)
    assert code == 0
    assert 0 < report["prototype_share"] < 1
    assert report["missing"] == {}
    code, out, _ = run(capsys, "prototypes", "check", tmp_path / "list.tsv", folder / "text.txt")
    assert (code, "are prototypes" in out) == (0, True)


def test_a_tagger_from_prototypes_is_saved_and_tags(capsys, folder, tmp_path):
    model = tmp_path / "ads.handful"
    code, out, _ = run(
        capsys, "fit", "prototypes", folder / "ads.tsv", folder / "ads.txt", "--model", model, "--order", 1,
        "--no-similarity", "--boundary", "BOUNDARY", "--iterations", 5, "--jobs", 1, "--json",
    )  # fmt: skip
    assert code == 0
    facts = json.loads(out)
    assert facts["iterations"] <= 5
    tagger = load(model)
    assert tagger.classes_.tolist() == facts["labels"]
    word = APARTMENT_PROTOTYPES["RENT"][0]
    assert tagger.predict([["near", word, "."]])[0][1] == "RENT"


@pytest.mark.parametrize("command", [["clusters"], ["similar", "--word", "x"]])
def test_a_table_is_no_text(capsys, tmp_path, command):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    code, _, err = run(capsys, command[0], tmp_path / "t.csv", *command[1:])
    assert code == 2
    assert "sentences are needed" in err
