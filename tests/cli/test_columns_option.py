"""What `--columns` says of a column holds in every command that reads a table."""

from __future__ import annotations

import json

import pytest

from handful.cli import main


@pytest.fixture
def table(tmp_path):
    """A table whose one column looks like an identifier."""
    path = tmp_path / "t.csv"
    rows = [f"{i},{'ab'[i >= 30] if i % 2 else ''}\n" for i in range(60)]
    path.write_text("id,label\n" + "".join(rows))
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


@pytest.mark.parametrize("command", [("next", "-n", 3), ("doubt",), ("budget", "--draws", 2)])
def test_a_column_that_the_user_keeps_is_used(capsys, table, command):
    name, *options = command
    code, _, err = run(capsys, name, table, "--target", "label", *options)
    assert (code, "no column to learn from" in err) == (1, True)
    code, out, err = run(capsys, name, table, "--target", "label", *options, "--columns", "id=numeric", "--json")
    assert code == 0, err
    assert json.loads(out)


def test_the_studio_uses_the_column_too(table):
    from handful.active.query import ActiveLearner
    from handful.cli.files import read_data
    from handful.cli.options import Reading

    learner = ActiveLearner(read_data(table, "label", Reading({"id": "numeric"})))
    assert learner.points.shape == (60, 1)
    assert learner.points.std() > 0


@pytest.mark.parametrize("command", ["next", "doubt", "budget", "fit", "compare"])
def test_other_kinds_are_refused_and_old_words_accepted(capsys, table, command):
    code, _, err = run(capsys, command, table, "--target", "label", "--columns", "id=number")
    assert code == 2
    assert "Choose one of numeric, categorical, datetime, text, skip" in err


def test_an_old_word_for_a_kind_is_accepted(capsys, table):
    words = [
        run(capsys, "next", table, "--target", "label", "--columns", f"id={kind}")[1]
        for kind in ("nominal", "categorical")
    ]
    assert words[0] == words[1]
    assert words[0]
