"""Mistakes that are visible at the start cost no file and no training."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from handful.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


TREE = "1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\tNN\t_\t3\tsubj\t_\t_\n3\tbarks\t_\tVERB\tVB\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("outputs")
    (made / "train.conllu").write_text(TREE * 3)
    (made / "tags.tsv").write_text("the\tD\ndog\tN\nbarks\tV\n\n" * 4)
    (made / "names.tsv").write_text("Rome\tNNP\tB-LOC\nfell\tVBD\tO\n\n" * 4)
    (made / "raw.txt").write_text("the dog barks\nthe dog\n")
    (made / "table.csv").write_text("x,y\n" + "1,a\n2,b\n" * 6)
    (made / "list.tsv").write_text("D\tthe\nN\tdog\n")
    for command in (
        ("fit", "parser", made / "train.conllu", "--order", 1, "--iterations", 1, "--tag", "xpos"),
        ("fit", "tagger", made / "tags.tsv", "--iterations", 5),
        ("fit", "tagger", made / "names.tsv", "--iterations", 5),
    ):
        with pytest.raises(SystemExit) as done:
            main([str(a) for a in command])
        assert done.value.code == 0
    return made


@pytest.mark.parametrize(
    "command",
    [
        "fit parser train.conllu --model train.conllu",
        "fit parser train.conllu --dev raw.txt --model raw.txt",
        "fit parser train.conllu --model new --checkpoint new",
        "fit tagger tags.tsv --model tags.tsv",
        "fit table table.csv --target y --method k-nn --model table.csv",
        "fit prototypes list.tsv raw.txt --model raw.txt",
        "clusters raw.txt -o raw.txt",
        "prototypes extract tags.tsv -o tags.tsv",
        "compare table.csv --target y --journal table.csv",
        "predict tags.handful raw.txt -o tags.handful",
        "predict tags.handful raw.txt -o hard.handful",
        "predict tags.handful raw.txt -o raw.txt",
        "condense tags.handful tags.tsv raw.txt -o tags.tsv",
        "condense tags.handful tags.tsv raw.txt -o tags.handful",
        "condense tags.handful tags.tsv raw.txt --counts new -o ./new",
        "condense tags.handful tags.tsv raw.txt --counts raw.txt",
    ],
)
def test_an_output_never_replaces_an_input(capsys, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    if not (folder / "hard.handful").exists():
        (folder / "hard.handful").hardlink_to(folder / "tags.handful")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(capsys, *command.split())
    assert (code, out) == (2, "")
    assert "must not replace" in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_text_is_not_replaced_by_its_tags(capsys, folder, tmp_path):
    text = tmp_path / "new.txt"
    text.write_text("the dog\n")
    assert run(capsys, "predict", folder / "tags.handful", text, "-o", text)[0] == 2
    assert text.read_text() == "the dog\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            "fit parser train.conllu --model none/p.handful",
            "none/p.handful: cannot be written (there is no folder none)",
        ),
        ("fit parser train.conllu --checkpoint raw.txt/c", "raw.txt/c: cannot be the folder of a checkpoint"),
        (
            "fit parser train.conllu --dev bare.conllu",
            "bare.conllu:6: expected heads that make a tree, but this word has",
        ),
        ("fit parser train.conllu --dev coarse.conllu", "coarse.conllu:1: expected tags in the column 'xpos'"),
        ("fit tagger tags.tsv --model none/t.handful", "none/t.handful: cannot be written"),
        ("fit tagger tags.tsv --dev train.conllu", "train.conllu: expected a column 'tag' beside the token, got lemma"),
        ("fit tagger names.tsv --dev tags.tsv", "tags.tsv:1: expected 3 columns"),
        ("condense tags.handful tags.tsv raw.txt -o none/t.handful", "none/t.handful: cannot be written"),
        ("condense tags.handful train.conllu raw.txt", "train.conllu: expected a column 'tag'"),
        ("condense train.handful train.conllu raw.txt --pos tags.handful --dev bare.conllu", "bare.conllu:6: expected"),
        ("clusters raw.txt -o none/c.paths", "none/c.paths: cannot be written"),
    ],
)
def test_what_must_fail_fails_before_training(capsys, folder, monkeypatch, command, says):
    (folder / "bare.conllu").write_text("# one\n" + TREE + TREE.replace("\t2\tdet", "\t_\t_"))
    (folder / "coarse.conllu").write_text(TREE.replace("DT", "_").replace("NN", "_").replace("VB", "_"))
    monkeypatch.chdir(folder)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("training began")

    for name in (
        "handful.parsing.DependencyParser.fit",
        "handful.tagging.CRF.fit",
        "handful.representations.CondensedFeatures.fit",
        "handful.representations.BrownClusters.fit_parts",
    ):
        monkeypatch.setattr(name, never)
    code, out, err = run(capsys, *command.split())
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert says in err


def test_a_cycle_is_told_with_its_line(capsys, tmp_path):
    path = tmp_path / "cycle.conllu"
    path.write_text(
        "# a comment\n" + TREE + "# b\n" + "1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + TREE.replace("\t3\tsubj", "\t1\tx")
    )
    code, _, err = run(capsys, "fit", "parser", path)
    assert code == 1
    assert "cycle.conllu:8: expected heads that make a tree, but this word is its own ancestor" in err


@pytest.mark.parametrize(
    ("command", "ends_with", "says"),
    [
        (
            "condense names.handful names.tsv raw.txt",
            2,
            "--pos is missing: name a tagger for each column of tags that the model reads (pos)",
        ),
        (
            "condense names.handful names.tsv raw.txt --pos train.handful",
            1,
            "train.handful: must be a tagger, got dependency-",
        ),
    ],
)
def test_raw_text_gets_its_tags_from_a_tagger(capsys, folder, monkeypatch, command, ends_with, says):
    monkeypatch.chdir(folder)
    code, out, err = run(capsys, *command.split())
    assert (code, out) == (ends_with, "")
    assert says in err


def test_json_lines_of_answers_go_to_stdout(capsys, folder):
    assert run(capsys, "fit", "table", folder / "table.csv", "--target", "y", "--method", "k-nn")[0] == 0
    code, out, _ = run(capsys, "predict", folder / "table.handful", folder / "table.csv", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["predicted"] for row in rows] == ["a", "b"] * 6

    code, out, _ = run(capsys, "predict", folder / "tags.handful", folder / "raw.txt", "--json")
    assert code == 0
    assert [json.loads(line)["tag"] for line in out.splitlines()] == [["D", "N", "V"], ["D", "N"]]

    code, _, err = run(
        capsys, "predict", folder / "tags.handful", folder / "raw.txt", "--json", "-o", folder / "new.tsv"
    )
    assert code == 2
    assert "--json" in err
    assert not (folder / "new.tsv").exists()


@pytest.mark.parametrize(
    ("name", "labeled", "model", "data"),
    [
        (
            "filled.csv",
            "x,y,next_suggestion,next_confidence,next_reason,next_row\n1,a,a,0.9,audit,3-ab\n",
            "table",
            "new.csv",
        ),
        ("labeled.csv", "x,y\n1,\n2,b\n", "table", "new.csv"),
        ("labeled.jsonl", '{"x": 1, "y": "a"}\n', "table", "new.csv"),
        ("hand.tsv", "a\tD\ncat\tN\n\n" * 3, "table", "new.csv"),
        ("hand.tsv", "a\tD\ncat\tN\n\n" * 3, "tags", "raw.txt"),
        ("one.tsv", "a\tD\ncat\tN\n", "tags", "raw.txt"),
        ("plus.conllup", "# global.columns = FORM TAG\na\tD\ncat\tN\n\n", "tags", "raw.txt"),
        ("texts.jsonl", '{"text": "a cat", "spans": [{"start": 2, "end": 5, "label": "PET"}]}\n', "tags", "raw.txt"),
        ("trees.conllu", TREE, "tags", "raw.txt"),
        ("trees.conllu", TREE, "train", "train.conllu"),
    ],
)
def test_answers_never_replace_labels(capsys, folder, monkeypatch, tmp_path, name, labeled, model, data):
    monkeypatch.chdir(folder)
    fit_table(capsys)
    output = tmp_path / name
    output.write_text(labeled)
    code, out, err = run(capsys, "predict", f"{model}.handful", data, "-o", output)
    assert (code, out) == (1, "")
    assert f"{name}: is there already, and may hold labels that were not merged. Name another file, or delete it" in err
    assert output.read_text() == labeled


@pytest.mark.parametrize(
    ("name", "model", "data"),
    [
        ("answers.csv", "table", "table.csv"),
        ("answers.jsonl", "table", "new.csv"),
        ("answers.tsv", "tags", "raw.txt"),
        ("again.tsv", "tags", "tags.tsv"),
        ("answers.jsonl", "tags", "raw.txt"),
        ("answers.conllu", "tags", "raw.txt"),
        ("answers.conllu", "train", "train.conllu"),
    ],
)
def test_answers_replace_earlier_answers(capsys, folder, monkeypatch, tmp_path, name, model, data):
    monkeypatch.chdir(folder)
    fit_table(capsys)
    output = tmp_path / name
    command = ("predict", f"{model}.handful", data, "-o", output)
    assert run(capsys, *command)[0] == 0
    first = output.read_bytes()
    code, _, err = run(capsys, *command)
    assert (code, output.read_bytes()) == (0, first), err
    output.write_text("x,y\n1,\n" if model == "table" else "A note of mine, no labels.\n")
    assert run(capsys, *command)[0] == 0
    assert output.read_bytes() == first


def fit_table(capsys):
    Path("new.csv").write_text("x\n1\n2\n")
    if not Path("table.handful").exists():
        assert run(capsys, "fit", "table.csv", "--target", "y", "--method", "k-nn")[0] == 0


def test_one_of_a_thing_is_told_in_the_singular(capsys, tmp_path):
    (tmp_path / "one.tsv").write_text("the\tD\ndog\tN\n")
    (tmp_path / "one.txt").write_text("the dog\n")
    (tmp_path / "rows.csv").write_text("a,label\n1,x\n2,x\n8,y\n9,y\n")
    (tmp_path / "new.csv").write_text("a\n1\n")
    tagger, model = tmp_path / "one.handful", tmp_path / "rows.handful"
    assert run(capsys, "fit", "tagger", tmp_path / "one.tsv", "--jobs", 1)[1].startswith("1 sentence, 2 tags, ")
    assert "2 tokens of 1 sentence tagged." in run(capsys, "predict", tagger, tmp_path / "one.txt")[2]
    assert "1 new sentence is there; it was chosen." in run(capsys, "next", "--unlabeled", tmp_path / "one.txt")[2]
    assert run(capsys, "fit", tmp_path / "rows.csv", "--target", "label", "--method", "k-nn")[0] == 0
    assert "1 row answered." in run(capsys, "predict", model, tmp_path / "new.csv")[2]
    _, _, err = run(capsys, "why", model, tmp_path / "new.csv", "--row", 3)
    assert "--row must be from 1 to 1, the number of rows, got 3." in err


@pytest.mark.parametrize(("name", "model"), [("sales.2023.csv", "sales.2023.handful"), ("a.b.csv.gz", "a.b.handful")])
def test_a_model_without_a_name_is_named_like_its_data_but_for_the_ending(capsys, tmp_path, name, model):
    data = tmp_path / name
    rows = "x,label\n" + "".join(f"{i * i},{'low' if i < 10 else 'high'}\n" for i in range(20))
    data.write_bytes(gzip.compress(rows.encode()) if name.endswith(".gz") else rows.encode())
    assert run(capsys, "fit", data, "--target", "label", "--method", "k-nn")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, model])


def test_a_merged_file_without_a_name_keeps_all_of_its_datas(capsys, tmp_path):
    data, labels = tmp_path / "sales.2023.csv", tmp_path / "labels.csv"
    data.write_text("x,label\n1,\n2,b\n3,\n")
    labels.write_text("x,label\n1,a\n")
    assert run(capsys, "merge", data, labels, "--target", "label")[0] == 0
    assert (tmp_path / "sales.2023.merged.csv").exists()


def test_a_model_file_of_no_use_ends_with_one_in_every_command(tmp_path, capsys):
    table, tags, raw = tmp_path / "t.csv", tmp_path / "tags.tsv", tmp_path / "raw.txt"
    table.write_text("x,y\n" + "\n".join(f"{i % 7},{'ab'[i % 2]}" for i in range(20)))
    tags.write_text("the\tDT\ncat\tNN\n\na\tDT\ndog\tNN\n\n")
    raw.write_text("the cat\n")
    model, torn = tmp_path / "t.handful", tmp_path / "torn.handful"
    assert run(capsys, "fit", table, "--target", "y", "--method", "k-nn", "--model", model)[0] == 0
    torn.write_bytes(model.read_bytes()[:50])
    for wrong in (torn, raw, tmp_path / "none.handful"):
        commands = (("condense", wrong, tags, raw), ("predict", wrong, raw), ("inspect", wrong), ("why", wrong, table))
        assert [run(capsys, *words)[0] for words in commands] == [1, 1, 1, 1]
    for words in (
        ("condense", model, tags, raw),
        ("predict", model, raw),
        ("predict", model, model, raw),
        ("prototypes", "check", tags, raw, "--tagger", model),
    ):
        assert run(capsys, *words)[0] == 1, words
