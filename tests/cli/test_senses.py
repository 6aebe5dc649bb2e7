from __future__ import annotations

import json
from xml.sax.saxutils import escape, quoteattr

import pytest
from cli_run import run
from plain_text import write_text

from handful.data.senses import read_occurrences
from papers.generated_english import make_sense_contexts


def as_xml(occurrences, with_answers):
    lines = ["<corpus lang='english'>"]
    for word in sorted({o.word for o in occurrences}):
        lines.append(f"<lexelt item={quoteattr(word)}>")
        for o in (o for o in occurrences if o.word == word):
            lines.append(f"<instance id={quoteattr(o.id)}>")
            if with_answers:
                lines += [f"<answer instance={quoteattr(o.id)} senseid={quoteattr(s)}/>" for s in o.senses]
            words = [f"<head>{escape(t)}</head>" if i == o.target else escape(t) for i, t in enumerate(o.tokens)]
            lines += [f"<context>{' '.join(words)}</context>", "</instance>"]
        lines.append("</lexelt>")
    return "\n".join([*lines, "</corpus>"])


@pytest.fixture
def sample(tmp_path):
    made = make_sense_contexts(n_labeled=40, n_unlabeled=0, random_state=0)
    train, test = made[::2], made[1::2]
    (tmp_path / "train.xml").write_text(as_xml(train, True))
    (tmp_path / "test.xml").write_text(as_xml(test, False))
    (tmp_path / "test.key").write_text("".join(f"{o.word} {o.id} {' '.join(o.senses)}\n" for o in test))
    raw = make_sense_contexts(n_labeled=1, n_unlabeled=20, random_state=1)
    write_text(tmp_path / "raw.txt", [list(o.tokens) for o in raw])
    return tmp_path


@pytest.mark.parametrize("unlabeled", [False, True])
def test_senses_are_learned_predicted_and_scored(capsys, sample, unlabeled):
    model, answers = sample / "senses.handful", sample / "answers.key"
    more = ["--unlabeled", sample / "raw.txt"] if unlabeled else []
    code, out, _ = run(capsys, "fit", "senses", sample / "train.xml", "-o", model, "--jobs", 1, "--json", *more)
    assert code == 0
    facts = json.loads(out)
    assert facts["method"] == ("composite-kernel-pca" if unlabeled else "auto")
    assert (facts["unlabeled"] > 0) == unlabeled
    assert run(capsys, "predict", model, sample / "test.xml", "-o", answers)[0] == 0
    code, out, _ = run(capsys, "score", answers, sample / "test.key", "--json")
    assert code == 0
    score = json.loads(out)["fine"]
    assert score["answered"] == score["instances"] == len((sample / "test.key").read_text().splitlines())
    assert score["recall"] > 0.4
    code, out, _ = run(capsys, "score", sample / "test.key", sample / "test.key")
    assert code == 0


def test_compare_is_named_with_what_it_reads(capsys, sample):
    sample.joinpath("train.xml").rename(sample / "my words.xml")
    words, text = sample / "my words.xml", sample / "raw.txt"
    fit = ("fit", "senses", words, "-o", sample / "m.handful", "--jobs", 1, "--method", "naive-bayes")
    code, out, err = run(capsys, *fit, "--unlabeled", text)
    assert code == 0, err
    made = make_sense_contexts(n_labeled=40, n_unlabeled=0, random_state=0)[::2]
    (sample / "key").write_text("".join(f"{o.word} {o.id} {o.senses[0]}\n" for o in made))
    words.write_text(as_xml(made, False))
    code, out, err = run(capsys, *fit, "--key", sample / "key")  # 'compare' could not read it
    assert code == 0, err
    assert "handful compare" not in out


def test_wrong_input_is_one_sentence(capsys, sample):
    for arguments in (
        ["fit", "senses", sample / "raw.txt", "-o", sample / "m"],
        ["fit", "senses", sample / "none.xml", "-o", sample / "m"],
        ["score", sample / "train.xml", sample / "test.key"],
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (1, "")
        assert err.count("\n") == 1
    assert not (sample / "m").exists()


def test_missing_senses_are_those_of_tables_and_some_must_be_there(capsys, tmp_path):
    made = make_sense_contexts(n_labeled=20, n_unlabeled=0, random_state=0)
    for name, missing in (("some", ("NaN", "?", "")), ("none", ("nan",) * len(made))):
        senses = [*missing, *(o.senses[0] for o in made[len(missing) :])]
        rows = [f"{' '.join(o.tokens)}\t{o.word}\t{o.target}\t{s}\n" for o, s in zip(made, senses, strict=True)]
        (tmp_path / f"{name}.tsv").write_text("text\tword\ttarget_index\tsense\n" + "".join(rows))
    read = list(read_occurrences(tmp_path / "some.tsv"))
    assert [bool(o.senses) for o in read] == [False] * 3 + [True] * (len(made) - 3)
    code, out, err = run(capsys, "fit", "senses", tmp_path / "none.tsv")
    assert (code, out) == (1, "")
    assert "none.tsv: no context has a sense" in err


def test_senses_of_a_table_from_ten_contexts_end_to_end(capsys, tmp_path):
    made = make_sense_contexts(n_labeled=40, n_unlabeled=0, random_state=0)
    for name, part in (("train", made[::4]), ("test", made[1::4])):
        rows = "".join(f"{' '.join(o.tokens)}\t{o.word}\t{o.target}\t{o.senses[0]}\n" for o in part)
        (tmp_path / f"{name}.tsv").write_text(f"text\tword\ttarget_index\tsense\n{rows}")
    model, answers = tmp_path / "m.handful", tmp_path / "answers.key"
    options = ("-o", model, "--jobs", 1, "--method", "kernel-pca")
    code, out, _ = run(capsys, "fit", "senses", tmp_path / "train.tsv", *options, "--neighbors", "cv")
    n_words = len({occurrence.word for occurrence in made})
    assert code == 0
    assert out.startswith(f"{tmp_path / 'train.tsv'}: {n_words} words, {len(made[::4])} contexts")
    assert [line.removeprefix("Next:").strip() for line in out.splitlines()[-2:]] == [
        f"handful predict {model} NEW.tsv",
        f"handful compare {tmp_path / 'train.tsv'}",
    ]
    assert run(capsys, "predict", model, tmp_path / "test.tsv", "-o", answers)[0] == 0
    code, out, _ = run(capsys, "predict", model, tmp_path / "test.tsv", "--json")
    told = [" ".join(json.loads(line).values()) for line in out.splitlines()]
    assert (code, told) == (0, answers.read_text().splitlines())
    code, out, _ = run(capsys, "score", answers, tmp_path / "test.tsv", "--json")
    score = json.loads(out)["fine"]
    assert (code, score["answered"]) == (0, len(made[1::4]))
    assert score["recall"] > 0.4
    code, _, err = run(capsys, "fit", "senses", tmp_path / "train.tsv", "--neighbors", "many")
    assert code == 2
    assert err.splitlines()[-1].startswith("handful: ")
    assert "--n-neighbors: must be" in err
