"""Mistakes that are visible at the start cost no file and no training."""

from __future__ import annotations

import json

import pytest
from cli_run import run

from handful.cli import main

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
        ("fit", "parser", made / "train.conllu", "--order", 1, "--max-iter", 1, "--tag", "xpos"),
        ("fit", "tagger", made / "tags.tsv", "--max-iter", 5),
        ("fit", "tagger", made / "names.tsv", "--max-iter", 5),
    ):
        with pytest.raises(SystemExit) as done:
            main([str(a) for a in command])
        assert done.value.code == 0
    return made


@pytest.mark.parametrize(
    "command",
    [
        "fit parser train.conllu -o train.conllu",
        "fit parser train.conllu --dev raw.txt -o raw.txt",
        "fit parser train.conllu -o new --checkpoint new",
        "fit tagger tags.tsv -o tags.tsv",
        "fit table table.csv --target y --method k-nn -o table.csv",
        "fit prototypes list.tsv raw.txt -o raw.txt",
        "clusters raw.txt -o raw.txt",
        "prototypes extract tags.tsv -o tags.tsv",
        "predict tags.handful raw.txt -o tags.handful",
        "predict tags.handful raw.txt -o hard.handful",
        "predict tags.handful raw.txt -o raw.txt",
        "condense tags.handful tags.tsv -o tags.tsv",
        "condense tags.handful tags.tsv -o tags.handful",
        "condense tags.handful tags.tsv raw.txt --mode bins --counts new -o ./new",
        "condense tags.handful tags.tsv raw.txt --mode bins --counts raw.txt",
    ],
)
def test_an_output_never_replaces_an_input(capsys, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    if not (folder / "hard.handful").exists():
        (folder / "hard.handful").hardlink_to(folder / "tags.handful")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, _err = run(capsys, *command.split())
    assert (code, out) == (2, "")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_text_is_not_replaced_by_its_tags(capsys, folder, tmp_path):
    text = tmp_path / "new.txt"
    text.write_text("the dog\n")
    assert run(capsys, "predict", folder / "tags.handful", text, "-o", text)[0] == 2
    assert text.read_text() == "the dog\n"


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ("fit parser train.conllu -o none/p.handful", "none/p.handful: "),
        ("fit parser train.conllu --resume raw.txt/c", "raw.txt/c: "),
        ("fit parser train.conllu --dev bare.conllu", "bare.conllu:6: "),
        ("fit parser train.conllu --dev coarse.conllu", "coarse.conllu:1: "),
        ("fit tagger tags.tsv -o none/t.handful", "none/t.handful: "),
        ("fit tagger tags.tsv --dev train.conllu", "train.conllu: "),
        ("fit tagger names.tsv --dev tags.tsv", "tags.tsv:1: "),
        ("condense tags.handful tags.tsv -o none/t.handful", "none/t.handful: "),
        ("condense tags.handful train.conllu", "train.conllu: "),
        ("condense train.handful train.conllu raw.txt --pos tags.handful --dev bare.conllu", "bare.conllu:6: "),
        ("clusters raw.txt -o none/c.paths", "none/c.paths: "),
    ],
)
def test_what_must_fail_fails_before_training(capsys, folder, monkeypatch, command, subject):
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
    assert err.startswith(f"handful: {subject}")


def test_a_cycle_is_told_with_its_line(capsys, tmp_path):
    path = tmp_path / "cycle.conllu"
    path.write_text(
        "# a comment\n" + TREE + "# b\n" + "1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + TREE.replace("\t3\tsubj", "\t1\tx")
    )
    code, _, _err = run(capsys, "fit", "parser", path)
    assert code == 1


@pytest.mark.parametrize(
    ("command", "code", "subject"),
    [
        ("condense names.handful names.tsv raw.txt --mode bins", 2, "--pos"),
        ("condense names.handful names.tsv raw.txt --mode bins --pos train.handful", 1, "train.handful"),
    ],
)
def test_raw_text_gets_its_tags_from_a_tagger(capsys, folder, monkeypatch, command, code, subject):
    monkeypatch.chdir(folder)
    ended, out, err = run(capsys, *command.split())
    assert (ended, out) == (code, "")
    assert err.startswith(f"handful: {subject}")


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
    "command",
    [
        "fit table table.csv --target y --method k-nn -o there",
        "fit tagger tags.tsv -o there",
        "fit parser train.conllu -o there",
        "fit prototypes list.tsv raw.txt -o there",
        "fit senses senses.tsv -o there",
        "predict tags.handful raw.txt -o there.tsv",
        "next table.csv --target y -o there.csv",
        "next tags.tsv --unlabeled raw.txt -o there.tsv",
        "check table.csv --target y -o there.csv",
        "merge table.csv todo.csv -o there.csv",
        "compare table.csv --target y --report there.html",
        "condense tags.handful tags.tsv -o there",
        "clusters raw.txt -o there",
        "prototypes extract tags.tsv -o there",
    ],
)
def test_a_file_that_exists_is_never_replaced_without_force(capsys, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    (folder / "senses.tsv").write_text("text\tword\tsense\n")
    for name in ("there", "there.tsv", "there.csv", "there.html", "todo.csv", "counts-1", "counts-2"):
        (folder / name).write_text("mine\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(capsys, *command.split(), force=False)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"handful: {command.split()[-1]}: exists already. Add --force")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_replaces_a_file(capsys, folder, tmp_path):
    output = tmp_path / "tagged.tsv"
    output.write_text("mine\n")
    assert (
        run(capsys, "predict", folder / "tags.handful", folder / "raw.txt", "-o", output, "--force", force=False)[0]
        == 0
    )
    assert output.read_text().startswith("token\t") or "the" in output.read_text()
    assert "mine" not in output.read_text()
