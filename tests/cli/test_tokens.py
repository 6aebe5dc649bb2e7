"""Raw text is cut as the training tokens are."""

from __future__ import annotations

import json

import pytest
from cli_run import run

from handful.data.text import TokenStyle

LOG = [
    [("nginx:", "PROG"), ("read", "O"), ("/var/log/nginx.log", "PATH"), ("2-3", "NUM"), ("times", "O")],
    [
        ("kernel:", "PROG"),
        ("temperature", "O"),
        ("of", "O"),
        ("40-50", "NUM"),
        ("°C", "UNIT"),
        ("on", "O"),
        ("sda1", "O"),
    ],
    [("cron:", "PROG"), ("ran", "O"), ("/etc/cron.d/x", "PATH"), ("after", "O"), ("5", "NUM"), ("s", "UNIT")],
]
PROSE = [
    [("The", "D"), ("dog", "N"), ("barks", "V"), (".", "P")],
    [("Well", "A"), (",", "P"), ("it", "N"), ("sleeps", "V"), (".", "P")],
]


def tagged(path, sentences):
    path.write_text("".join("".join(f"{token}\t{tag}\n" for token, tag in s) + "\n" for s in sentences))
    return path


def tokens(out):
    return [line.split("\t")[0] for line in out.splitlines() if line and not line.startswith("#")]


@pytest.fixture
def logs(tmp_path):
    raw = tmp_path / "logjoin.txt"
    raw.write_text("".join(" ".join(token for token, _ in s) + "\n" for s in LOG * 4))
    return tagged(tmp_path / "log.tsv", LOG * 8), raw


def test_text_of_tokens_between_blanks_is_taken_as_it_is(capsys, logs, tmp_path):
    train, raw = logs
    assert run(capsys, "fit", "tagger", train, "--max-iter", "10")[0] == 0
    model = tmp_path / "log.handful"
    code, out, err = run(capsys, "predict", model, raw)
    assert code == 0
    assert tokens(out) == [token for s in LOG * 4 for token, _ in s]
    assert err.count("split at whitespace only, like the training tokens (--tokens words") == 1
    forced = run(capsys, "predict", model, raw, "--tokens", "words")
    assert {"2", "-", "3", "°"} <= set(tokens(forced[1]))
    assert "whitespace" not in forced[2]
    told = json.loads(run(capsys, "explain", model, raw, "--json")[1])
    assert len(told["explanations"]) == len(LOG[0])
    told = json.loads(run(capsys, "inspect", model, "--json")[1])
    assert told["how it was trained"]["tokens"]["cut_again"] > 0.3
    code, _, err = run(capsys, "predict", model, train, "--tokens", "spaces")
    assert code == 2


def test_text_with_marks_at_words_tells_what_it_cuts_more_than_training(capsys, tmp_path):
    sentences = [
        [
            ("web-2", "HOST"),
            ("reads", "O"),
            ("/var/x.log", "PATH"),
            (",", "O"),
            ("2-3", "NUM"),
            ("times", "O"),
            (".", "O"),
        ]
    ]
    train = tagged(tmp_path / "marks.tsv", sentences * 8)
    assert run(capsys, "fit", "tagger", train, "--max-iter", "10")[0] == 0
    raw = tmp_path / "prose.txt"
    raw.write_text("web-2 reads /var/x.log, 2-3 times.\nweb-2 reads /var/x.log, then stops.\n")
    code, out, err = run(capsys, "predict", tmp_path / "marks.handful", raw)
    assert code == 0
    assert "split into words and punctuation" in err
    assert "2-3" not in tokens(out)
    assert "split into" not in run(capsys, "predict", tmp_path / "marks.handful", raw, "--tokens", "words")[2]


def test_next_writes_tokens_as_training_has_them(capsys, logs, tmp_path):
    train, raw = logs
    raw.write_text("nginx: read /var/log/nginx.log 7-9 times\nkernel: temperature of 30-60 °C on sda1\n")
    todo = tmp_path / "todo.tsv"
    code, _, _ = run(capsys, "next", train, "--unlabeled", raw, "-n", "2", "-o", todo)
    assert code == 0
    assert {"7-9", "30-60", "°C", "nginx:"} <= set(tokens(todo.read_text()))
    other = tmp_path / "other.tsv"
    assert run(capsys, "next", train, "--unlabeled", raw, "-n", "2", "-o", other, "--tokens", "words")[0] == 0
    assert "7-9" not in tokens(other.read_text())
    code, _, _err = run(capsys, "next", train, "--target", "x", "--tokens", "words")
    assert code == 2


def test_prose_is_still_cut_into_words(capsys, tmp_path):
    train = tagged(tmp_path / "prose.tsv", PROSE * 5)
    raw = tmp_path / "prose.txt"
    raw.write_text("The dog sleeps. Well, it barks.\n")
    assert run(capsys, "fit", "tagger", train, "--max-iter", "10")[0] == 0
    model = tmp_path / "prose.handful"
    code, out, _err = run(capsys, "predict", model, raw)
    assert (code, tokens(out)) == (0, ["The", "dog", "sleeps", ".", "Well", ",", "it", "barks", "."])
    code, out, _ = run(capsys, "predict", model, raw, "--tokens", "spaces")
    assert (code, tokens(out)) == (0, ["The", "dog", "sleeps.", "Well,", "it", "barks."])


@pytest.mark.parametrize("training", [None, "none", {"tokens": 3}, {"tokens": {"marked": "x"}}])
def test_models_that_do_not_tell_their_tokens(training):
    class Model:
        training_ = training

    assert TokenStyle.remembered(Model()) is None


def test_a_table_is_no_sentences_for_any_command(capsys, logs, tmp_path):
    train, _ = logs
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n1,2\n3,4\n")
    assert run(capsys, "fit", "tagger", train, "--max-iter", "5")[0] == 0
    for command in ("predict", "explain"):
        code, _, _err = run(capsys, command, tmp_path / "log.handful", table)
        assert code == 1


FRENCH = [
    [("Le", "O"), ("prix", "O"), ("est", "O"), ("env.", "O"), ("30", "NUM"), ("euros", "O"), (".", "O")],
    [("Marie", "PER"), ("habite", "O"), ("av.", "O"), ("Foch", "LOC"), ("avec", "O"), ("son", "O"), (".", "O")],
    [("Jean", "PER"), ("perd", "O"), ("le", "O"), ("son", "O"), (".", "O")],
    [("Le", "O"), ("son.", "O"), ("Foch", "LOC"), ("dort", "O"), (".", "O")],
]


def test_abbreviations_of_the_training_sentences_end_no_sentence(capsys, tmp_path):
    train, raw = tagged(tmp_path / "fr.tsv", FRENCH * 5), tmp_path / "fr.txt"
    raw.write_text("Paul paie env. Quarante, et vit Av. Foch.\nIl perd le son. Paul dort.\n")
    assert run(capsys, "fit", "tagger", train, "--max-iter", "10", "--no-check")[0] == 0
    model = tmp_path / "fr.handful"
    assert json.loads(run(capsys, "inspect", model, "--json")[1])["how it was trained"]["tokens"]["abbreviations"] == [
        "env.",
        "av.",
    ]
    _, out, _ = run(capsys, "predict", model, raw)
    parts = [tokens(part) for part in out.strip().split("\n\n")]
    assert parts == [
        ["Paul", "paie", "env.", "Quarante", ",", "et", "vit", "Av.", "Foch", "."],
        ["Il", "perd", "le", "son", "."],  # a word that also stands without a point is no abbreviation
        ["Paul", "dort", "."],
    ]
    assert len(json.loads(run(capsys, "explain", model, raw, "--json")[1])["explanations"]) == len(parts[0])
    _, out, _ = run(capsys, "next", train, "--unlabeled", raw, "--json")
    assert len(json.loads(out)["sentences"]) == len(parts)


def test_files_without_abbreviations_are_of_earlier_versions():
    older = TokenStyle(0.0, 0.1, 0.1).as_dict()
    del older["abbreviations"]
    assert TokenStyle.remembered(type("Model", (), {"training_": {"tokens": older}})) == TokenStyle(0.0, 0.1, 0.1)
