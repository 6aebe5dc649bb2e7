from __future__ import annotations

import json

import pytest
from cli_run import run

from handful.data.conll import read_conllu
from handful.data.tagged import GENERATOR
from handful.persistence.model_file import load

SENTENCE = """\
# sent_id = {number}
# text = the dogs bark
1-2\tthedogs\t_\t_\t_\t_\t_\t_\t_\t_
1\tthe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t2:det\t_
2\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t3\tnsubj\t3:nsubj\t_
2.1\tdo\tdo\tAUX\tVBP\t_\t_\t_\t3:aux\t_
3\tbark\tbark\tVERB\tVBP\t_\t0\troot\t0:root\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

"""


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.conllu"
    path.write_text("".join(SENTENCE.format(number=k) for k in range(5)))
    return path


def test_fit_and_predict_give_the_file_back(capsys, treebank, tmp_path):
    model, parsed = tmp_path / "p.handful", tmp_path / "out.conllu"
    clusters = tmp_path / "clusters.txt"
    clusters.write_text("0110\tdogs\t5\n0111\tbark\t4\n")
    code, out, _ = run(
        capsys, "fit", "parser", treebank, "--dev", treebank, "-o", model, "--clusters", clusters, "--json"
    )
    facts = json.loads(out)
    assert code == 0
    assert (facts["sentences"], facts["dev"]["uas"], facts["dev"]["las"]) == (5, 1.0, 1.0)
    assert facts["dev"]["uas without punctuation"] == 1.0
    code, out, err = run(capsys, "predict", model, treebank, "-o", parsed)
    assert (code, out) == (0, "")
    assert parsed.read_text() == f"{GENERATOR}\n{treebank.read_text()}"
    assert "uas 100.0%" in err
    code, out, _ = run(capsys, "predict", model, treebank)
    assert out == f"{GENERATOR}\n{treebank.read_text()}"
    told = json.loads(run(capsys, "inspect", model, "--json")[1])
    assert told["kind"] == "dependency-parser"
    assert told["top features"]
    bare = tmp_path / "bare.conllu"
    lines = [line.split("\t") for line in treebank.read_text().splitlines()]
    bare.write_text("\n".join("\t".join([*c[:6], "_", "_", *c[8:]]) if len(c) > 1 else c[0] for c in lines) + "\n")
    code, _, err = run(capsys, "predict", model, bare, "-o", parsed)
    assert "uas" not in err
    assert [tree.heads for tree in read_conllu(parsed)] == [(2, 3, 0, 3)] * 5


def tagged_as(*tags):
    words = ("the", "dogs", "bark", ".")[: len(tags)]
    rows = enumerate(zip(words, tags, strict=True), 1)
    return "".join(f"{k}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n" for k, (word, tag) in rows) + "\n"


def test_words_with_tags_are_parsed_by_a_parser_of_one_column(capsys, treebank, tmp_path):
    penn = tmp_path / "penn.conllu"
    lines = [line.split("\t") for line in treebank.read_text().splitlines()]
    penn.write_text("\n".join("\t".join([*c[:3], "_", *c[4:]]) if len(c) > 1 else c[0] for c in lines) + "\n")
    model, tagged = tmp_path / "p.handful", tmp_path / "tagged.conllu"
    code, out, _ = run(capsys, "fit", "parser", penn, "--order", "1", "-o", model)
    assert code == 0
    assert "5 trees" in out
    tagged.write_text(tagged_as("O", "B-PER", "O"))
    code, _, err = run(capsys, "predict", model, tagged)
    assert code == 0
    assert "Most tags were not seen in training: the file has B-PER, O, training had ., DT, NNS." in " ".join(
        err.split()
    )
    tagged.write_text(tagged_as("O", "B-PER", "O", "."))
    code, _, err = run(capsys, "predict", model, tagged)
    assert "Most tags were not seen in training" in " ".join(err.split())
    tagged.write_text(tagged_as("DT", "NNS", "VBP"))
    code, out, err = run(capsys, "predict", model, tagged)
    assert (code, "not seen" in err) == (0, False)
    assert [line.split("\t")[6] for line in out.splitlines() if "\t" in line] == ["2", "3", "0"]


def test_a_treebank_with_two_columns_of_tags(capsys, treebank, tmp_path):
    model, one = tmp_path / "both.handful", tmp_path / "one.handful"
    code, out, _ = run(capsys, "fit", "parser", treebank, "--order", "1", "-o", model)
    assert code == 0
    code, out, _ = run(capsys, "fit", "parser", treebank, "--order", "1", "-o", one, "--tag", "upos")
    assert code == 0
    for path in (model, one):
        code, out, err = run(capsys, "predict", path, treebank)
        assert code == 0, err
        cells = [line.split("\t") for line in out.splitlines() if "\t" in line]
        assert [(c[3], c[6]) for c in cells if c[0] in ("1", "2", "3")][:3] == [
            ("DET", "2"),
            ("NOUN", "3"),
            ("VERB", "0"),
        ]
    two = tmp_path / "two.conllu"
    two.write_text(tagged_as("DT", "NNS", "VBP"))
    assert "has none in 'upos'. Tag it first" in run(capsys, "predict", model, two)[2]
    table = tmp_path / "table.csv"
    table.write_text("the dogs,1\na dog,2\n")
    code, _, err = run(capsys, "predict", model, table)
    assert code == 2


def test_wrong_use_is_told_in_one_line(capsys, treebank, tmp_path):
    code, _, err = run(capsys, "fit", "parser", treebank, "--order", "2", "--no-projective", "--max-iter", "1")
    assert code in (1, 2)
    run(capsys, "fit", "parser", treebank, "-o", tmp_path / "p.handful", "--max-iter", "1")
    text = tmp_path / "text.txt"
    text.write_text("the dogs bark .\nthe dogs , which bark\n")
    code, _, err = run(capsys, "predict", tmp_path / "p.handful", text)
    assert code != 0
    assert "Traceback" not in err


@pytest.mark.parametrize("option", ["--abstain", "--column", "--confidence"])
def test_options_that_a_parser_has_no_use_for_are_refused(capsys, treebank, tmp_path, option):
    model = tmp_path / "p.handful"
    assert run(capsys, "fit", "parser", treebank, "--order", "1", "--max-iter", "1", "-o", model)[0] == 0
    code, out, err = run(capsys, "predict", model, treebank, option, "1")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_words_that_are_hung_elsewhere_are_told(capsys, treebank, tmp_path):
    two = tmp_path / "two.conllu"
    two.write_text(treebank.read_text().replace("\t3\tpunct", "\t0\tpunct"))
    options = "--order", "1", "--max-iter", "1"
    code, _, err = run(capsys, "fit", "parser", two, *options)
    assert (code, "5 words got another head for training" in err) == (0, True)
    assert run(capsys, "fit", "parser", treebank, *options)[2] == ""


def test_steps_too_long_and_damaged_checkpoints_leave_no_model(capsys, treebank, tmp_path):
    model, checkpoint = tmp_path / "p.handful", tmp_path / "kept"
    options = "--order", "1", "-o", model
    code, _, err = run(capsys, "fit", "parser", treebank, *options, "--algorithm", "fobos", "--rate", "1e308")
    assert (code, err.count("\n")) == (2, 1)
    checkpoint.mkdir()
    (checkpoint / "training.state").write_bytes(b"PK\x03\x04 cut")
    code, _, err = run(capsys, "fit", "parser", treebank, *options, "--resume", checkpoint)
    assert code == 1
    assert not model.exists()


def test_plain_templates_make_a_smaller_parser(capsys, treebank, tmp_path):
    sizes = {}
    for options in [(), ("--templates", "plain"), ("--templates", "plain", "--no-rehang")]:
        model = tmp_path / f"{len(options)}.handful"
        code, out, err = run(capsys, "fit", "parser", treebank, *options, "-o", model, "--json")
        assert code == 0, err
        sizes[len(options)] = json.loads(out)["features"]
        parser = load(model)
        assert (parser.templates, parser.rehang) == ("plain" if options else "wide", len(options) < 3)
    assert sizes[0] > sizes[2] == sizes[3]
