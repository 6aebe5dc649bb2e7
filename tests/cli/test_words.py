"""Commands that work on raw text: clusters, similar, prototypes, fit prototypes."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from cli_run import run
from plain_text import write_text

from handful.data.conll import write_conll
from handful.data.word_lists import write_prototypes
from handful.persistence.model_file import load
from handful.representations.brown import BrownClusters
from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads
from papers.generated_english import make_tagged_sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("words")
    sentences = [tree.sentence for tree in make_tagged_sentences(300, random_state=0)]
    write_text(place / "text.txt", sentences)
    (place / "text.txt.gz").write_bytes(gzip.compress((place / "text.txt").read_bytes()))
    write_conll(place / "tagged.tsv", sentences, ("token", "pos"))
    write_text(place / "ads.txt", make_apartment_ads(12, random_state=0))
    write_prototypes(place / "ads.tsv", APARTMENT_PROTOTYPES)
    return place


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
    assert "DT" in out
    assert "mistakes" not in out


def test_a_list_is_checked_against_a_model(capsys, folder, tmp_path):
    model = tmp_path / "tagger.handful"
    assert run(capsys, "prototypes", "extract", folder / "tagged.tsv", "-o", tmp_path / "list.tsv")[0] == 0
    fixed = ("--similarity", "none", "--spelling", "--max-iter", 5)
    fitting = ("-o", model, *fixed, "--jobs", 1)
    assert run(capsys, "fit", "prototypes", tmp_path / "list.tsv", folder / "text.txt", *fitting)[0] == 0
    check = ("prototypes", "check", tmp_path / "list.tsv", folder / "tagged.tsv", "--tagger", model)
    code, out, _ = run(capsys, *check, "--json")
    assert code == 0
    assert {"word", "count", "bits", "labels"} == set(json.loads(out)["unsure"][0])
    code, out, _ = run(capsys, *check)
    assert (code, "uncertain word" in out) == (0, True)


def test_another_model_cannot_check_a_list(capsys, folder, tmp_path):
    write_prototypes(tmp_path / "list.tsv", {"DT": ["the"]})
    model = tmp_path / "crf.handful"
    assert run(capsys, "fit", "tagger", folder / "tagged.tsv", "-o", model, "--max-iter", 1)[0] == 0
    code, _, _err = run(capsys, "prototypes", "check", tmp_path / "list.tsv", folder / "text.txt", "--tagger", model)
    assert code == 1


def test_a_model_is_replaced_only_with_force(capsys, folder, tmp_path):
    write_prototypes(tmp_path / "list.tsv", {"SIZE": ["br"], "RENT": ["$"]})
    tagged, typical = tmp_path / "tagged.handful", tmp_path / "typical.handful"
    from_tags = ("fit", "tagger", folder / "tagged.tsv", "--max-iter", 1, "-o")
    from_prototypes = (
        "fit",
        "prototypes",
        tmp_path / "list.tsv",
        folder / "ads.txt",
        "--similarity",
        "none",
    )
    from_prototypes = (*from_prototypes, "--max-iter", 1, "--jobs", 1, "-o")
    for command, model in ((from_tags, tagged), (from_prototypes, typical)):
        assert run(capsys, *command, model)[0] == 0
    for command, model in ((from_prototypes, tagged), (from_tags, typical), (from_prototypes, typical)):
        before = model.read_bytes()
        code, _, err = run(capsys, *command, model, force=False)
        assert (code, "--force" in err) == (1, True)
        assert model.read_bytes() == before
    assert run(capsys, *from_prototypes, tagged, force=True)[0] == 0
    assert type(load(tagged)) is type(load(typical))


def test_a_tagger_from_prototypes_is_saved_and_tags(capsys, folder, tmp_path):
    model = tmp_path / "ads.handful"
    code, out, _ = run(
        capsys, "fit", "prototypes", folder / "ads.tsv", folder / "ads.txt", "-o", model,
        "--similarity", "none", "--boundary", "BOUNDARY", "--max-iter", 5, "--jobs", 1, "--json",
    )  # fmt: skip
    assert code == 0
    facts = json.loads(out)
    assert facts["iterations"] <= 5
    tagger = load(model)
    assert tagger.classes_.tolist() == facts["labels"]
    word = APARTMENT_PROTOTYPES["RENT"][0]
    assert tagger.predict([["near", word, "."]])[0][1] == "RENT"


def test_words_that_are_not_in_the_text_are_named(capsys, folder, tmp_path):
    write_prototypes(tmp_path / "list.tsv", {"SIZE": ["br", "xyzzy"], "RENT": ["$", "br"]})
    fitting = ("fit", "prototypes", tmp_path / "list.tsv", folder / "ads.txt", "-o", tmp_path / "m", "--fields")
    more = ("--max-iter", 2, "--similarity-text", folder / "text.txt", "--jobs", 1)
    code, out, err = run(capsys, *fitting, *more, "--similarity", "nearby", "--no-spelling", "--sticky", 2)
    assert code == 0
    assert "Under several labels: br (SIZE, RENT)" in err
    assert "Not in the text: xyzzy" in err
    assert [member.order for member in load(tmp_path / "m").members_] == [1]
    linked = load(tmp_path / "m").links_.keys()
    # both texts teach similarity
    assert linked & set((folder / "ads.txt").read_text().split()) - {"br", "$"}
    assert linked & set((folder / "text.txt").read_text().split()) - set((folder / "ads.txt").read_text().split())
    write_prototypes(tmp_path / "list.tsv", {"SIZE": ["xyzzy"], "RENT": ["plugh"]})
    code, out, err = run(capsys, *fitting)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_fields_that_change_at_nearly_every_word_are_told(capsys, tmp_path):
    write_prototypes(tmp_path / "list.tsv", {"A": ["a"], "B": ["b"]})
    (tmp_path / "short.txt").write_text("a b a b\n" * 30)
    (tmp_path / "long.txt").write_text("a a a b b b\n" * 30)
    usual = ("--fields", "--no-spelling", "--similarity", "none", "--max-iter", 2, "--jobs", 1)
    told = {}
    for name in ("short", "long"):
        fitting = ("fit", "prototypes", tmp_path / "list.tsv", tmp_path / f"{name}.txt", "-o", tmp_path / name)
        code, _, told[name] = run(capsys, *fitting, *usual, "--sticky", 0)
        assert code == 0
    assert "--sticky 4" in told["short"]
    assert told["long"] == ""


@pytest.mark.parametrize("command", [["clusters"], ["similar", "--word", "x"]])
def test_a_table_is_no_text(capsys, tmp_path, command):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    code, _, _err = run(capsys, command[0], tmp_path / "t.csv", *command[1:])
    assert code == 1


def test_a_mistyped_boundary_and_a_list_with_commas_are_refused(capsys, folder, tmp_path):
    fixed = ("--similarity", "none", "--no-spelling", "--max-iter", 2, "--jobs", 1, "-o", tmp_path / "m")
    code, _, err = run(
        capsys, "fit", "prototypes", folder / "ads.tsv", folder / "ads.txt", *fixed, "--boundary", "BOUNDRY"
    )
    assert (code, err.count("\n")) == (2, 1)
    (tmp_path / "list.tsv").write_text("SIZE\tbr, ft, room\n")
    code, _, err = run(capsys, "fit", "prototypes", tmp_path / "list.tsv", folder / "ads.txt", *fixed)
    assert (code, err.count("\n")) == (1, 1)


def test_words_of_a_small_text_are_alike_by_default(capsys, tmp_path):
    words = {"D": ["the", "a", "this"], "N": ["dog", "cat", "bird", "house", "tree"], "V": ["sees", "likes", "finds"]}
    rng = np.random.default_rng(0)
    text, lists = tmp_path / "text.txt", tmp_path / "list.tsv"
    text.write_text("".join(" ".join(rng.choice(words[kind]) for kind in "DNVDN") + "\n" for _ in range(300)))
    lists.write_text("D\tthe\nN\tdog\nV\tsees\n")
    code, out, err = run(capsys, "similar", text, "--word", "dog", "--k", "4", "--json")
    assert (code, err) == (0, "")
    assert {near["word"] for near in json.loads(out)["dog"]} == {"cat", "bird", "house", "tree"}
    code, out, _ = run(capsys, "prototypes", "suggest", lists, text, "--json")
    near = {label: {word for word, *_ in like} for label, like in json.loads(out)["near"].items()}
    assert (code, near) == (0, {"D": {"a", "this"}, "N": {"cat", "bird", "house", "tree"}, "V": {"likes", "finds"}})
    code, out, err = run(capsys, "prototypes", "check", lists, text)
    assert (code, err) == (0, "")


def test_tagged_sentences_with_none_of_the_labels_are_refused(capsys, tmp_path):
    text, lists, tagged = tmp_path / "text.txt", tmp_path / "list.tsv", tmp_path / "tagged.tsv"
    text.write_text("one two\nthree four\n" * 10)
    lists.write_text("A\tone\nB\ttwo\n")
    tagged.write_text("Rome\tB-CITY\nfell\tO\n\n")
    code, _, err = run(capsys, "fit", "prototypes", lists, text, "--tagged", tagged, "-o", tmp_path / "m.handful")
    assert code == 2
    assert "has the tags B-CITY, O, the list A, B" in " ".join(err.split())
    assert not (tmp_path / "m.handful").exists()


def test_where_nothing_is_alike_a_note_says_what_to_try(capsys, tmp_path):
    text, lists = tmp_path / "text.txt", tmp_path / "list.tsv"
    text.write_text("one two\nthree four\nfive six\n" * 10)
    lists.write_text("A\tone\n")
    code, _, _ = run(capsys, "similar", text, "--word", "two", "--components", "6", "--n-context-words", "9")
    assert code == 0
    for verb in ("check", "suggest"):
        code, _, _err = run(capsys, "prototypes", verb, lists, text, "--similarity", "nearby")
        assert code == 0


def test_lists_in_which_no_label_has_a_word_of_its_own_are_refused(capsys, tmp_path):
    lists, text = tmp_path / "lists.tsv", tmp_path / "text.txt"
    lists.write_text("A\tbutter\nB\tbutter\n")
    text.write_text("melt the butter\n" * 20)
    code, _, err = run(capsys, "fit", "prototypes", lists, text)
    assert (code, "every word is under several labels" in err) == (1, True)
    assert not (tmp_path / "text.handful").exists()


def test_a_long_text_is_thinned_and_the_text_shows_that_labels_are_no_fields(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("handful.cli.fit_text.MOST_TEXT", 100)
    write_prototypes(tmp_path / "list.tsv", {"D": ["the"], "N": ["dog"]})
    (tmp_path / "text.txt").write_text("the dog saw the cat\n" * 60)
    fitting = ("fit", "prototypes", tmp_path / "list.tsv", tmp_path / "text.txt", "--outside", "O", "--max-iter", 5)
    code, out, err = run(capsys, *fitting, "--similarity", "none", "--jobs", 1, "--json")
    assert (code, err.count("1 of 4 sentences")) == (0, 1)
    facts = json.loads(out)
    assert (facts["sentences"], facts["fields"], facts["labels"]) == (15, False, ["D", "N", "O"])
