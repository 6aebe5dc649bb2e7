"""What people see: one line per name from data, options by their names, and no more lines than needed."""

from __future__ import annotations

import random

import pytest
from cli_run import run

from handful.persistence.model_file import save
from handful.tagging.frequent import FrequentTag

SPOOF = "RED\n\nSaved fake.handful"


@pytest.fixture
def rows(tmp_path):
    rng = random.Random(0)
    lines = [
        f"{rng.gauss(4 * (i % 2), 1):.2f},{rng.choice('uv')},{('ok', SPOOF)[i % 2] if i < 20 else ''}"
        for i in range(40)
    ]
    quoted = [line.replace(SPOOF, f'"{SPOOF}"') for line in lines]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *quoted]) + "\n")
    return tmp_path / "rows.csv"


@pytest.fixture
def model(capsys, rows):
    where = rows.parent / "rows.handful"
    assert run(capsys, "fit", rows, "--target", "y", "--method", "k-nn", "-o", where)[0] == 0
    return where


def test_a_label_of_several_lines_is_printed_in_one(capsys, rows, model):
    commands = (
        ("fit", rows, "--target", "y", "--method", "k-nn", "-o", model),
        ("explain", model, rows, "--row", 2),
        ("inspect", model),
        ("shots", rows, "--target", "y", "-n", 2),
        ("condense", model, rows, "--rows", 4, "--yes"),
    )
    for command in commands:
        code, out, err = run(capsys, *command)
        assert code == 0, command
        assert "RED" in out + err, command
        assert not any(line.startswith("Saved fake") for line in (out + err).splitlines()), command


def test_options_of_the_other_kind_of_model_are_refused(capsys, rows, model, tmp_path):
    tagged, tagger = tmp_path / "t.tsv", tmp_path / "t.handful"
    tagged.write_text("in\tO\nRome\tLOC\n\n" * 3)
    save(FrequentTag().fit([["in", "Rome"]], [["O", "LOC"]]), tagger)
    for files, option, value in (
        ((model, rows), "--mode", "bins"),
        ((model, rows), "--discount", 0.5),
        ((tagger, tagged), "--rows", 5),
        ((tagger, tagged), "--html", tmp_path / "x.html"),
    ):
        code, _, err = run(capsys, "condense", *files, option, value)
        assert (code, option in err) == (2, True), option
    assert not (tmp_path / "x.html").exists()


def test_cheap_labels_that_differ_are_listed_as_far_as_asked(capsys, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y,llm\n" + "".join(f"{i},{'pqr'[i % 3]},{'pqr'[(i + (i % 4 == 0)) % 3]}\n" for i in range(60)))
    lines = {}
    for n in (1, 3):
        code, out, _ = run(capsys, "check", data, "--target", "y", "--also", "llm", "-n", n)
        assert code == 0
        lines[n] = len(out.splitlines())
    assert lines[3] - lines[1] == 2


@pytest.mark.parametrize(
    ("given", "option"),
    [
        (("--class-priors", "ok=1"), "--class-priors: "),
        (("--columns", "a=odd"), "--columns: "),
        (("--method", "no-such"), "--method: "),
        (("--missing-label", "x", "--keep-label", "x"), "--missing-label and --keep-label: "),
        (("--also", "y"), "--also: "),
    ],
)
def test_a_sentence_about_an_option_begins_with_it(capsys, rows, given, option):
    code, _, err = run(capsys, "fit", rows, "--target", "y", *given)
    assert code == 2
    assert err.splitlines()[-1].startswith(f"handful: {option}")


def test_too_few_rows_and_crossing_arcs_name_the_option(capsys, rows, model, tmp_path):
    code, _, err = run(capsys, "condense", model, rows, "--rows", 1, "--yes")
    assert (code, "handful: --rows: " in err) == (2, True)
    code, _, err = run(capsys, "shots", rows, "--target", "y", "-n", 1)
    assert (code, "handful: -n: must be at least 2" in err) == (2, True)
    code, _, err = run(capsys, "shots", rows, "--target", "y", "--also", "y")
    assert (code, "handful: --also: " in err) == (2, True)
    (tmp_path / "t.conllu").write_text("1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n\n" * 3)
    code, _, err = run(capsys, "fit", "parser", tmp_path / "t.conllu", "--no-projective")
    assert (code, "--order: " in err, "=" in err.splitlines()[-1]) == (2, True, False)


def test_details_of_long_output_need_v(capsys, rows, model, tmp_path):
    small = tmp_path / "small.handful"
    assert run(capsys, "condense", model, rows, "--rows", 12, "--yes", "-o", small)[0] == 0
    short, long = (len(run(capsys, "inspect", small, *more)[1].splitlines()) for more in ((), ("-v",)))
    assert short <= 12 < long
    assert len(run(capsys, "methods")[1].splitlines()) <= 12 < len(run(capsys, "methods", "-v")[1].splitlines())
    tagged, tagger = tmp_path / "t.tsv", tmp_path / "t.handful"
    tagged.write_text("in\tO\nRome\tLOC\n" * 10 + "\n")
    save(FrequentTag().fit([["in", "Rome"]], [["O", "LOC"]]), tagger)
    assert len(run(capsys, "explain", tagger, tagged)[1].splitlines()) == 12
    assert len(run(capsys, "explain", tagger, tagged, "-v")[1].splitlines()) >= 20


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n"])
def test_a_file_of_empty_lines_is_empty(capsys, tmp_path, text):
    (tmp_path / "e.csv").write_text(text)
    code, _, err = run(capsys, "fit", tmp_path / "e.csv", "--target", "y")
    assert (code, "the file is empty" in err) == (1, True)


def test_a_list_that_nobody_filled_in_is_not_merged(capsys, rows):
    todo = rows.parent / "todo.csv"
    assert run(capsys, "next", rows, "--target", "y", "-n", 3, "-o", todo)[0] == 0
    code, out, _ = run(capsys, "merge", rows, todo)
    assert (code, out) == (1, "")
    assert not (rows.parent / "rows.merged.csv").exists()
