from __future__ import annotations

import json
import os
import pty
import re
import signal
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from cli_run import run
from quick_start import Process

from handful.data.records import Occurrence
from handful.data.senses import write_sense_table
from handful.data.tagged import read_tagged
from handful.persistence.model_file import save
from handful.representations.brown import BrownClusters
from handful.senses.classifier import SenseClassifier
from handful.tagging.frequent import FrequentTag


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 40)
    points = np.array([[0, 0], [8, 0], [0, 8]])[codes] + rng.normal(size=(120, 2))
    lines = [
        f"{a:.3f};{b:.3f};{'' if i % 10 else 'pqr'[c]}" for i, ((a, b), c) in enumerate(zip(points, codes, strict=True))
    ]
    path = tmp_path / "points.csv"
    path.write_text("width;height;kind\n" + "\n".join(lines) + "\n")
    return path


def fill(path, answers):
    frame = pl.read_csv(path, separator=";", infer_schema_length=0)
    frame.with_columns(pl.Series("kind", answers(frame))).write_csv(path)


def truth(frame: pl.DataFrame) -> list[str]:
    return ["pqr"[(int(ticket.split()[1]) - 1) // 40] for ticket in frame["next_row"]]


def test_rows_go_out_and_labels_come_home(capsys, table):
    todo = table.parent / "todo.csv"
    code, out, _ = run(capsys, "next", table, "--target", "kind", "-n", 6, "-o", todo)
    assert code == 0
    assert f"handful merge {table} {todo}" in out
    frame = pl.read_csv(todo, separator=";", infer_schema_length=0)
    added = [f"next_{name}" for name in ("suggestion", "confidence", "reason", "selection", "row")]
    assert frame.columns == ["width", "height", "kind", *added]
    assert frame["kind"].null_count() == 6
    random = frame["next_selection"] == "random"
    assert random.sum() == 1
    random_rows = frame.filter(random)
    assert random_rows["next_suggestion"].null_count() == 1  # labeled without a suggestion
    frame = frame.filter(~random)
    assert frame["next_suggestion"].to_list() == truth(frame)
    fill(todo, truth)
    before = table.read_bytes()
    code, out, err = run(capsys, "merge", table, todo, "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert (facts["new"], facts["same"], facts["conflicts"], facts["not_in_data"]) == (6, 0, [], [])
    assert table.read_bytes() == before
    merged = (table.parent / "points.merged.csv").read_text().splitlines()
    merged, selection = zip(*(line.rsplit(";", 1) for line in merged), strict=True)
    lines = before.decode().splitlines()
    assert len(merged) == len(lines)
    assert sum(a != b for a, b in zip(lines, merged, strict=True)) == 6
    assert all(b.startswith(a) for a, b in zip(lines, merged, strict=True))
    assert selection[0] == "next_selection"
    assert [number for number, word in enumerate(selection) if word == "random"] == [
        int(ticket.split()[1]) for ticket in random_rows["next_row"]
    ]


def test_a_class_that_looks_like_no_label_goes_round_the_loop(capsys, table):
    table.write_text(table.read_text().replace(";r\n", ";unknown\n"))
    todo, keep = table.parent / "todo.csv", ("--target", "kind", "--keep-label", "unknown")
    code, _, err = run(capsys, "next", table, *keep[:2], "-n", 6)
    assert (code, err.count("'unknown' (4) in 'kind' is a class.")) == (0, 1)
    code, _, err = run(capsys, "next", table, *keep, "-n", 6, "-o", todo)
    assert (code, err) == (0, f"{table}: 120 rows, 12 labeled (p: 4, q: 4, unknown: 4)\n")
    assert "unknown" in pl.read_csv(todo, separator=";", infer_schema_length=0)["next_suggestion"].to_list()
    fill(todo, lambda frame: ["unknown" if kind == "r" else kind for kind in truth(frame)])
    code, out, _ = run(capsys, "merge", table, todo, "--json")
    assert (code, json.loads(out)["new"]) == (0, 6)
    merged = table.parent / "points.merged.csv"
    code, out, err = run(capsys, "check", merged, *keep, "--json")
    assert (code, json.loads(out)["n_checked"], "'unknown'" in err) == (0, 18, False)
    code, out, err = run(capsys, "curve", merged, *keep, "--n-splits", 2, "--json")
    assert (code, json.loads(out)["n_labels"], "'unknown'" in err) == (0, 18, False)
    _, out, _ = run(capsys, "check", merged, *keep[:2], "--missing-label", "unknown", "--json")
    assert json.loads(out)["n_checked"] < 18


def test_files_for_people_count_rows_as_the_screen_does_and_older_ones_are_merged_too(capsys, table):
    todo = table.parent / "todo.csv"
    _, out, _ = run(capsys, "next", table, "--target", "kind", "-n", 4, "-o", todo)
    shown = [int(line.split()[0]) for line in out.splitlines()[3:7]]
    frame = pl.read_csv(todo, separator=";", infer_schema_length=0)
    tickets = [ticket.split(maxsplit=2) for ticket in frame["next_row"]]
    assert [int(number) for _, number, _ in tickets] == shown
    older = pl.Series("next_row", [f"{int(number) - 1}-{mark.strip('()')}" for _, number, mark in tickets])
    changed = frame.with_columns(older, pl.lit("0").alias("width"), pl.lit("p").alias("kind"))
    changed.write_csv(todo, separator=";")
    assert run(capsys, "merge", table, todo, "--in-place")[0] == 0
    lines = table.read_text().splitlines()
    assert [number for number, line in enumerate(lines) if number in shown and line.split(";")[2] == "p"] == sorted(
        shown
    )


def test_merge_replaces_nothing_that_it_was_not_asked_to(capsys, table):
    todo, before = table.parent / "todo.csv", table.read_bytes()
    run(capsys, "next", table, "--target", "kind", "-n", 3, "-o", todo)
    offered = todo.read_bytes()
    for command in ("next", "check"):
        code, _, _ = run(capsys, command, table, "--target", "kind", "-o", todo, force=False)
        assert code == 1
    assert todo.read_bytes() == offered
    fill(todo, truth)
    assert run(capsys, "merge", table, todo)[0] == 0
    code, _, _ = run(capsys, "merge", table, todo, force=False)
    assert code == 1
    (table.parent / "mine.csv").write_text("kept\n")
    code, _, _ = run(capsys, "merge", table, todo, "-o", table.parent / "mine.csv", force=False)
    assert (code, (table.parent / "mine.csv").read_text()) == (1, "kept\n")
    code, _, _err = run(capsys, "merge", table, todo, "-o", table)
    assert code == 2
    assert table.read_bytes() == before
    assert run(capsys, "merge", table, todo, "--in-place")[0] == 0
    assert table.read_bytes() == (table.parent / "points.merged.csv").read_bytes()
    assert run(capsys, "merge", table, todo, "--in-place", "-o", "x.csv")[0] == 2


def test_disagreement_and_other_rows_are_told(capsys, table):
    ann, bob = table.parent / "ann.csv", table.parent / "bob.csv"
    for file in (ann, bob):
        run(capsys, "next", table, "--target", "kind", "-n", 3, "-o", file)
    fill(ann, truth)
    fill(bob, lambda frame: ["z", *truth(frame)[1:]])
    both = ("merge", table, ann, bob, "-o", table.parent / "both.csv")
    code, _out, err = run(capsys, *both)
    assert code == 0
    assert "stays unlabeled: labels differ:" in err
    conflict = json.loads(run(capsys, *both, "--json")[1])["conflicts"][0]
    assert f"Row {conflict['row']} " in err
    other = table.parent / "other.csv"
    other.write_text("width,height,kind\n99,99,p\n")
    code, _, err = run(capsys, "merge", table, other, "--target", "kind", "-o", table.parent / "c.csv")
    assert code == 1
    assert not (table.parent / "c.csv").exists()
    code, _, err = run(capsys, "merge", table, other)
    assert code == 2


def test_next_without_any_label_and_with_all(capsys, table):
    bare = table.parent / "bare.csv"
    bare.write_text("\n".join(line.rsplit(";", 1)[0] for line in table.read_text().splitlines()) + "\n")
    code, out, err = run(capsys, "next", bare, "--target", "label", "-n", 200, "--json")
    assert code == 0
    assert sorted(pick["row"] for pick in json.loads(out)["rows"]) == list(range(1, 121))
    assert "no column 'label'" in err
    assert "Only 120 rows unlabeled." in err
    full = table.parent / "full.csv"
    full.write_text("x,y\n1,a\n2,b\n")
    code, out, err = run(capsys, "next", full, "--target", "y")
    assert (code, out) == (1, "")
    assert "at least one row must be unlabeled" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--target", "kindd"], 2, "Did you mean 'kind'?"),
        ([], 2, "--target: missing."),
        (["--target", " "], 2, "--target: empty."),
        (["--target", "kind", "--columns", "width=skip,height=skip"], 1, "no column to learn from."),
        (["--target", "kind", "-o", "todo.doc"], 2, "todo.doc: not the name of a table."),
        (["--target", "kind", "--columns", "with=skip"], 2, "no column 'with'. Did you mean 'width'?"),
        (["--target", "kind", "-n", "0"], 2, "0 is not in the range"),
    ],
)
def test_wrong_use_of_next_is_told(capsys, table, arguments, code, message):
    found, _, err = run(capsys, "next", table, *arguments)
    assert found == code
    assert message in " ".join(err.split())


@pytest.mark.parametrize("verb", ["next", "curve", "check", "fit", "compare"])
def test_a_table_of_numbers_of_rows_says_what_is_missing(capsys, tmp_path, verb):
    path = tmp_path / "counted.csv"
    path.write_text("id,same,y\n" + "\n".join(f"{i},q,{'ab'[i % 2] if i < 16 else ''}" for i in range(20)) + "\n")
    code, _, err = run(capsys, verb, path, "--target", "y")
    assert code == 1
    assert "no column to learn from" in err
    assert "--columns id=numeric" in err


def test_as_many_classes_as_labels_need_no_warning(capsys, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("x,y\n" + "\n".join(f"{1.37 * i:.2f},c{i}" for i in range(30)) + "\n99,\n")
    code, out, _err = run(capsys, "next", path, "--target", "y")
    assert code == 0
    (row,) = json.loads(run(capsys, "next", path, "--target", "y", "--json")[1])["rows"]
    assert row["row"] == 31
    assert f"{row['suggestion']} " in out


def test_a_table_and_its_list_that_are_swapped_are_told(capsys, table):
    todo = table.parent / "todo.csv"
    run(capsys, "next", table, "--target", "kind", "-n", 3, "-o", todo)
    for more in ([], ["--target", "kind"]):
        code, _, err = run(capsys, "merge", todo, table, *more)
        assert code == 2
        assert f"Swap the files: handful merge {table} {todo}" in err


def test_a_table_that_went_out_already_is_refused(capsys, table):
    todo = table.parent / "todo.csv"
    run(capsys, "next", table, "--target", "kind", "-o", todo)
    code, _, err = run(capsys, "next", todo, "--target", "kind")
    assert code == 2
    assert "'next_row'" in err
    assert "4 rows, 0 labeled\n" not in err
    assert "labeled\n" in err


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.tsv"
    names, verbs = ["Rome", "Paris", "Oslo", "Lima"], ["fell", "grew", "slept"]
    lines = [f"in\tO\n{name}\tB-LOC\n{verb}\tO\n" for name in names for verb in verbs]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_sentences_go_out_and_come_home(capsys, corpus):
    raw, todo = corpus.parent / "raw.txt", corpus.parent / "todo.tsv"
    raw.write_text("in Rome fell\nin Bonn fell\nBonn was here\nin Lima they slept\n")
    code, out, _ = run(capsys, "next", corpus, "--unlabeled", raw, "-n", 2, "-o", todo, "--json")
    assert code == 0
    picks = json.loads(out)["sentences"]
    assert len(picks) == 2
    assert ["in", "Rome", "fell"] not in [pick["tokens"] for pick in picks]
    code, out, err = run(capsys, "merge", corpus, todo, "-o", corpus.parent / "both.tsv", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [told[key] for key in ("new", "same", "replaced", "left_empty", "conflicts")] == [2, 0, 0, 0, []]
    text = (corpus.parent / "both.tsv").read_text()
    assert text.startswith(corpus.read_text().rstrip("\n"))
    raw.write_text("in Rome fell\n")
    code, _, err = run(capsys, "next", corpus, "--unlabeled", raw)
    assert code == 1
    raw.write_text("Bonn fell\n")
    assert run(capsys, "next", corpus, "--unlabeled", raw, "--strategy", "margin")[0] == 2


@pytest.mark.parametrize("stage", [b"train", b"read raw sentences"])
def test_an_interruption_of_next_is_one_line_and_leaves_no_file(tmp_path, stage):
    rng = np.random.default_rng(0)
    train, raw, todo = (tmp_path / name for name in ("train.tsv", "raw.txt", "todo.tsv"))
    words = [f"word{number}" for number in range(3_000)]
    sentences = [[words[i] for i in rng.integers(0, 3_000, 25)] for _ in range(5_500)]
    tags = {word: ("O", "B-LOC", "B-PER")[rng.integers(3)] for word in words}
    train.write_text("\n\n".join("\n".join(f"{w}\t{tags[w]}" for w in line) for line in sentences[:500]) + "\n")
    raw.write_text("\n".join(" ".join(line) for line in sentences[500:]) + "\n")
    ours, theirs = pty.openpty()
    process = Process(("next", train, "--unlabeled", raw, "-o", todo), stderr=theirs)
    os.close(theirs)
    shown, struck = b"", False
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if stage in shown and not struck:
            process.send_signal(signal.SIGINT)
            struck = True
    out, _ = process.communicate()
    os.close(ours)
    lines = [line for line in re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown).split(b"\r") if line.strip()]
    assert (process.returncode, out) == (130, b"")
    assert lines[-1].strip() == b"handful: interrupted."
    assert not todo.exists()


def test_wrong_labels_are_doubted_and_corrected(capsys, table):
    lines = table.read_text().splitlines()
    full = [lines[0]] + [f"{line.rsplit(';', 1)[0]};{'pqr'[i // 40]}" for i, line in enumerate(lines[1:])]
    full[8] = full[8][:-1] + "q"
    table.write_text("\n".join(full) + "\n")
    fix = table.parent / "fix.csv"
    code, out, _ = run(capsys, "check", table, "--target", "kind", "-n", 3, "-o", fix, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["labels"][0]["row"] == 8
    assert (facts["labels"][0]["label"], facts["labels"][0]["suggestion"]) == ("q", "p")
    frame = pl.read_csv(fix, separator=";", infer_schema_length=0)
    fill(fix, lambda _: ["p", *frame["kind"].to_list()[1:]])
    out = run(capsys, "merge", table, fix, "-o", table.parent / "kept.csv", "--json")[1]
    assert [(c["row"], c["kept"]) for c in json.loads(out)["conflicts"]] == [(8, "q")]
    code, out, err = run(capsys, "merge", table, fix, "--prefer-new", "--in-place")
    assert (code, err) == (0, "")
    assert table.read_text().splitlines()[8][-1] == "p"
    code, out, _ = run(capsys, "check", table, "--target", "kind")
    assert code == 0


def test_wrong_tags_are_doubted(capsys, corpus):
    text = corpus.read_text()
    corpus.write_text(text.replace("Oslo\tB-LOC", "Oslo\tO", 1))
    code, out, _ = run(capsys, "check", corpus, "--json")
    assert code == 0
    doubt = json.loads(out)["tags"][0]
    assert (doubt["tokens"], doubt["suggestion"]) == (["Oslo"], ["B-LOC"])
    fix = corpus.parent / "fix.tsv"
    code, out, _ = run(capsys, "check", corpus, "-n", 1, "-o", fix)
    assert code == 0
    first = fix.read_text().splitlines()[0]
    assert re.fullmatch(r'# in doubt: token \d "Oslo": O, model says B-LOC \(\d+%\)', first)
    assert not any(token.startswith("#") for sentence in read_tagged(fix).sentences for token in sentence)
    fix.write_text(fix.read_text().replace("Oslo\tO", "Oslo\tB-LOC"))
    assert run(capsys, "merge", corpus, fix, "-o", corpus.parent / "kept.tsv")[0] == 0
    assert (corpus.parent / "kept.tsv").read_text().strip() == corpus.read_text().strip()
    code, out, _ = run(capsys, "merge", corpus, fix, "--prefer-new", "--in-place")
    assert code == 0
    assert corpus.read_text().strip() == text.strip()


def test_treebanks_are_checked_and_corrected_by_hand(capsys, tmp_path):
    data = tmp_path / "data.conllu"
    words = [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")]
    right = "".join(f"{n}\t{w}\t_\t{t}\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, (w, t) in enumerate(words, 1)) + "\n"
    data.write_text(right.replace("NOUN", "VERB") + right * 23)
    code, out, _ = run(capsys, "check", data, "-n", 1)
    assert (code, "dog" in out) == (0, True)
    for words in (("check", data, "-o", tmp_path / "fix.tsv"), ("merge", data, data.with_suffix(".x"))):
        data.with_suffix(".x").write_text(right)
        assert run(capsys, *words)[0] == 2


def test_nothing_in_doubt_is_no_error(capsys, tmp_path):
    data, fix = tmp_path / "data.tsv", tmp_path / "fix.tsv"
    data.write_text("in\tO\nRome\tB-LOC\n\nin\tO\nOslo\tB-LOC\n\n" * 6)
    code, out, err = run(capsys, "check", data, "-o", fix)
    assert (code, err) == (0, "")
    assert f"{fix} was not written: there is nothing to correct." in " ".join(out.split())
    assert not fix.exists()
    raw = tmp_path / "raw.txt"
    raw.write_text("In Rome it rained. Why?\nNobody knew.\n")
    code, _, err = run(capsys, "merge", data, raw)
    assert code == 2


def test_wrong_spans_are_doubted_and_corrected_in_columns(capsys, corpus):
    tagged = read_tagged(corpus)
    docs, fix = corpus.parent / "docs.jsonl", corpus.parent / "fix.tsv"
    lines = []
    for sentence, tags in zip(tagged.sentences, tagged.tags, strict=True):
        starts = np.cumsum([0, *(len(token) + 1 for token in sentence.tokens)]).tolist()
        spans = [
            {"start": start, "end": start + len(token), "label": tag[2:]}
            for start, token, tag in zip(starts, sentence.tokens, tags, strict=False)
            if tag != "O"
        ]
        lines.append({"text": " ".join(sentence.tokens), "spans": spans})
    wrong = next(line for line in lines if "Oslo" in line["text"])
    wrong["spans"] = []
    docs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, _, _ = run(capsys, "check", docs, "-n", 1, "-o", corpus.parent / "fix.jsonl")
    assert code == 2
    code, _, _ = run(capsys, "check", docs, "-n", 1, "-o", fix)
    assert code == 0
    assert '"Oslo": O, model says B-LOC' in fix.read_text()
    fix.write_text(fix.read_text().replace("Oslo\tO", "Oslo\tB-LOC"))
    code, _out, _ = run(capsys, "merge", docs, fix, "--prefer-new")
    assert code == 0
    assert read_tagged(corpus.parent / "docs.merged.tsv").tags == tagged.tags
    code, _, _err = run(capsys, "merge", corpus, docs)
    assert code == 2


def test_the_first_sentences_need_no_tagger(capsys, corpus):
    raw, todo = corpus.parent / "raw.txt", corpus.parent / "todo.tsv"
    raw.write_text("in Rome fell\nin Bonn fell\nBonn was here\nin Lima they slept\n")
    code, _, _ = run(capsys, "next", "--unlabeled", raw, "-n", 3, "-o", todo)
    assert code == 0
    assert len(todo.read_text().strip().split("\n\n")) == 3
    todo.write_text(todo.read_text().replace("?", "O", 3))
    code, _out, _ = run(capsys, "merge", corpus, todo, "-o", corpus.parent / "both.tsv")
    assert code == 0
    assert run(capsys, "next", "--unlabeled", raw, "--target", "kind")[0] == 2
    assert run(capsys, "next", "--target", "kind")[0] == 2


def test_the_budget_is_told_drawn_and_refused(capsys, table):
    lines = table.read_text().splitlines()
    full = [lines[0]] + [f"{line.rsplit(';', 1)[0]};{'pqr'[i // 40]}" for i, line in enumerate(lines[1:])]
    table.write_text("\n".join(full) + "\n")
    code, out, _ = run(
        capsys,
        "curve",
        table,
        "--target",
        "kind",
        "--goal",
        0.5,
        "--n-splits",
        3,
        "--json",
    )
    assert code == 0
    facts = json.loads(out)
    assert (facts["n_labels"], facts["n_splits"], facts["goal"]["score"]) == (120, 3, 0.5)
    assert facts["has_forecast"] == (facts["forecast"] is not None)
    assert len(facts["sizes"]) == len(facts["mean"]) == len(facts["low"]) == len(facts["high"])
    assert facts["mean"][-1] > 0.9
    code, out, _ = run(capsys, "curve", table, "--target", "kind", "--n-splits", 3)
    assert code == 0
    assert out.splitlines()[0].split()[1:] == [str(size) for size in facts["sizes"]]
    assert "handful next" in out
    few = [full[0], *full[1:120:8]]
    table.write_text("\n".join(few) + "\n")
    code, out, _ = run(capsys, "curve", table, "--target", "kind", "--n-splits", 3, "--goal", 0.9)
    assert code == 0
    assert "No forecast" in out
    table.write_text("\n".join(full[:6]) + "\n")
    code, _, err = run(capsys, "curve", table, "--target", "kind")
    assert code == 1
    assert "labels of at least 2 classes are needed" in err


def test_an_interrupted_budget_tells_how_many_draws_it_is_of(capsys, table, monkeypatch):
    lines = table.read_text().splitlines()
    full = [lines[0]] + [f"{line.rsplit(';', 1)[0]};{'pqr'[i // 40]}" for i, line in enumerate(lines[1:])]
    table.write_text("\n".join(full) + "\n")
    asked = []

    def interrupted(model, rows, codes, test, n_classes, seed):
        asked.append(len(test))
        if len(asked) == 20:
            raise KeyboardInterrupt
        return np.eye(n_classes)[np.zeros(len(test), dtype=int)]

    monkeypatch.setattr("handful.active.curve.class_proba", interrupted)
    code, out, err = run(capsys, "curve", table, "--target", "kind", "--n-splits", 50, "--json")
    facts = json.loads(out)
    assert code == 130
    assert facts["n_splits"] == 19 // len(facts["sizes"])
    assert f"interrupted after {facts['n_splits']} of 50 splits" in err
    code, out, err = run(capsys, "curve", table, "--target", "kind", "--n-splits", 2)
    assert (code, "handful: interrupted" in err) == (0, False)


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("of", ["labels", "tags"])
def test_interrupted_doubts_end_with_130(capsys, table, corpus, monkeypatch, of, options):
    from handful.active import label_errors

    name = "class_proba" if of == "labels" else "_trained"
    words = ("check", table, "--target", "kind") if of == "labels" else ("check", corpus)
    work, asked = getattr(label_errors, name), []

    def interrupted(*given):
        asked.append(given)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return work(*given)

    monkeypatch.setattr(label_errors, name, interrupted)
    code, out, err = run(capsys, *words, *options)
    assert code == 130, err
    assert "interrupted" in err
    assert "n_checked" in json.loads(out) if options else True
    assert run(capsys, *words, *options)[0] == 0  # it is not interrupted again


def test_why_tells_words_before_the_whole_text(capsys, tmp_path):
    hints = ("good fine great lovely,{},+", "bad poor awful dull,{},-")
    rows = tmp_path / "rows.csv"
    rows.write_text("text,stars,mood\n" + "".join(hints[i % 2].format(i % 3 + 0.5) + "\n" for i in range(40)))
    fit = ("fit", rows, "--target", "mood", "--method", "random-forest", "--columns", "text=text,stars=numeric")
    assert run(capsys, *fit)[0] == 0
    code, out, _ = run(capsys, "explain", tmp_path / "rows.handful", rows)
    told = [line.split(maxsplit=1)[1] for line in out.splitlines() if line.startswith(("  +", "  -"))]
    assert code == 0
    assert told[0].startswith("text: ")
    assert told[-1] == "text (whole text)"
    effects = [float(line.split()[0]) for line in out.splitlines() if line.startswith(("  +", "  -"))]
    assert all(effects)  # a word without an effect is not worth a line
    evidence = json.loads(run(capsys, "explain", tmp_path / "rows.handful", rows, "--json")[1])["explanations"][0][
        "evidence"
    ]
    assert len(evidence) >= len(effects)


def test_a_file_that_begins_with_a_dash_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "check", "-dash.csv", "--target", "kind")
    assert (code, "./-dash.csv" in err) == (2, False)
    (tmp_path / "-dash.csv").write_text("a,kind\n1,x\n")
    code, _, err = run(capsys, "check", "-dash.csv", "--target", "kind")
    assert (code, "./-dash.csv" in err) == (2, True)


def test_why_tells_of_rows_and_tokens(capsys, table, corpus):
    model = table.parent / "m.handful"
    assert run(capsys, "fit", "table", table, "--target", "kind", "--method", "k-nn", "-o", model)[0] == 0
    code, out, err = run(capsys, "explain", model, table, "--row", 2)
    assert (code, err) == (0, "")
    assert out.startswith("p (")
    code, out, _ = run(capsys, "explain", model, table, "--row", 50, "--json")
    facts = json.loads(out)
    assert facts["row"] == 50
    assert facts["explanations"][0]["label"] == "q"
    code, _, err = run(capsys, "explain", model, table, "--row", 500)
    assert code == 2
    tagger = table.parent / "t.handful"
    assert run(capsys, "fit", "tagger", corpus, "-o", tagger)[0] == 0
    code, out, _ = run(capsys, "explain", tagger, corpus, "--row", 3)
    assert code == 0
    assert "Rome: B-LOC" in out
    assert run(capsys, "explain", tagger, corpus, "--row", 99)[0] == 2
    save(FrequentTag().fit([["in", "Rome"], ["in", "Oslo"]], [["O", "LOC"], ["O", "LOC"]]), tagger)
    code, out, _ = run(capsys, "explain", tagger, corpus, "--row", 1)
    assert code == 0


def test_why_tells_of_senses_and_refuses_what_gives_no_labels(capsys, tmp_path):
    contexts, model = tmp_path / "contexts.tsv", tmp_path / "senses.handful"
    money = [f"the bank lent {word} money" for word in ("him", "her", "us", "them")]
    river = [f"the muddy bank of {word} river" for word in ("a", "the", "our", "their")]
    lines = [(number, text, sense) for sense, part in (("m", money), ("r", river)) for number, text in enumerate(part)]
    occurrences = [
        Occurrence("bank.n", f"{sense}{number}", tuple(text.split()), text.split().index("bank"), (sense,))
        for number, text, sense in lines
    ]
    save(SenseClassifier("naive-bayes").fit(occurrences), model)
    write_sense_table(contexts, occurrences)
    code, out, _ = run(capsys, "explain", model, contexts, "--row", 5)
    assert code == 0
    assert out.startswith("bank: r")
    code, _, _ = run(capsys, "explain", model, contexts, "--row", 50)
    assert code == 2
    save(BrownClusters(2).fit([["a", "b"], ["a", "c"]]), model)
    code, _, _err = run(capsys, "explain", model, contexts)
    assert code == 1


def test_files_to_fill_in_are_written_as_the_data_is(capsys, tmp_path):
    data, todo = tmp_path / "data.csv", tmp_path / "todo.csv"
    rows = [f"{i % 7},{i % 10};{'ab'[i % 2]};{'pq'[i % 2] if i < 12 else ''}" for i in range(40)]
    data.write_text("\n".join(["width;shape;kind", *rows]) + "\n")
    assert run(capsys, "next", data, "--target", "kind", "-n", 3, "-o", todo)[0] == 0
    head, first = (line.split(";") for line in todo.read_text().splitlines()[:2])
    assert head[:3] == ["width", "shape", "kind"]
    assert re.fullmatch(r"\d,\d", first[0])
    assert re.fullmatch(r"[01](\.\d+)?", first[head.index("next_confidence")])
    todo.write_text(todo.read_text().replace(f"{first[0]};{first[1]};;", f"{first[0]};{first[1]};P;"))
    code, out, _err = run(capsys, "merge", data, todo, "--json")
    assert (code, json.loads(out)["new"]) == (0, 1)


def test_labels_are_filled_in_and_merged_in_workbooks(capsys, table, tmp_path):
    pytest.importorskip("xlsxwriter")
    data, todo, merged = tmp_path / "rows.xlsx", tmp_path / "todo.xlsx", tmp_path / "merged.xlsx"
    cells = pl.read_csv(table, separator=";")
    cells.write_excel(data)
    code, out, err = run(capsys, "next", data, "--target", "kind", "-n", 3, "-o", todo)
    assert code == 0
    pl.read_excel(todo).with_columns(kind=pl.lit("p")).write_excel(todo)
    code, out, err = run(capsys, "merge", data, todo, "-o", merged, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["new"] == 3
    assert pl.read_excel(merged)["kind"].count() == cells["kind"].count() + 3
    before = data.read_bytes()
    code, _, err = run(capsys, "merge", data, todo, "--in-place")
    assert code == 2
    assert data.read_bytes() == before


def test_annotated_texts_are_merged_into_columns(capsys, tmp_path):
    data, todo = tmp_path / "texts.jsonl", tmp_path / "todo.tsv"
    data.write_text('{"text": "Rome fell.", "spans": [{"start": 0, "end": 4, "label": "LOC"}]}\n')
    todo.write_text("Bonn\tB-LOC\nrose\tO\n.\tO\n\n")
    assert run(capsys, "merge", data, todo)[0] == 0
    merged = (tmp_path / "texts.merged.tsv").read_text()
    assert merged == "Rome\tB-LOC\nfell\tO\n.\tO\n\nBonn\tB-LOC\nrose\tO\n.\tO\n\n"
    code, _, _err = run(capsys, "merge", data, todo, "--in-place")
    assert code == 2


def test_numbers_and_dates_of_a_workbook_stay_such(capsys, tmp_path):
    pytest.importorskip("xlsxwriter")
    data, todo, merged = tmp_path / "rows.xlsx", tmp_path / "todo.xlsx", tmp_path / "merged.xlsx"
    cells = pl.DataFrame(
        {
            "code": [f"0{4711 + i}" for i in range(30)],
            "amount": [None if i == 3 else 0.5 + i % 7 for i in range(30)],
            "day": [date(2026, 2, 1 + i % 20) for i in range(30)],
            "moment": [datetime(2026, 2, 1 + i % 20, 12, i) for i in range(30)],
            "size": ["n/a" if i == 5 else str(i) for i in range(30)],
            "kind": ["pq"[i % 2] if i < 12 else None for i in range(30)],
        }
    )
    cells.write_excel(data, autofit=False)
    types = [pl.String, pl.Float64, pl.Date, pl.Datetime("ms"), pl.String]
    assert run(capsys, "next", data, "--target", "kind", "-n", 3, "-o", todo)[0] == 0
    assert pl.read_excel(todo)["code", "amount", "day", "moment", "size"].dtypes == types
    pl.read_excel(todo).with_columns(kind=pl.lit("p")).write_excel(todo)
    code, _, err = run(capsys, "merge", data, todo, "-o", merged)
    assert (code, err) == (0, "")
    again = pl.read_excel(merged, infer_schema_length=None).drop("kind", "next_selection")
    assert again.dtypes == types
    assert again.equals(cells.drop("kind").cast({"moment": pl.Datetime("ms")}))
    assert run(capsys, "merge", data, todo)[0] == 0
    assert (
        (tmp_path / "rows.merged.csv")
        .read_text()
        .splitlines()[1]
        .startswith("04711,0.5,2026-02-01,2026-02-01 12:00:00,0")
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_merge_changes_nothing_but_labels(capsys, tmp_path, encoding):
    data, todo = tmp_path / "data.csv", tmp_path / "todo.csv"
    tastes = ['"a;b"', "süß"]
    rows = [f"{i % 7},{i % 10};{tastes[i % 2]};{'pq'[i % 2] if i < 12 else ''}" for i in range(40)]
    lines = ["breite;geschmack;kind", *rows]
    data.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    assert run(capsys, "next", data, "--target", "kind", "-n", 1, "-o", todo)[0] == 0
    written = todo.read_text(encoding="utf-8")
    names, cells = (line.split(";") for line in written.replace('"a;b"', "a").splitlines())
    number = int(cells[names.index("next_row")].split()[1])
    todo.write_text(written.replace(";;", ";p;", 1), encoding="utf-8")
    assert run(capsys, "merge", data, todo, "--in-place")[0] == 0
    lines[number] += "p"
    merged = data.read_text(encoding="utf-8").splitlines()  # UTF-8, whatever it was before
    assert [line.rsplit(";", 1)[0] for line in merged] == lines


def test_numbers_of_a_text_file_are_numbers_in_a_workbook(capsys, tmp_path):
    pytest.importorskip("xlsxwriter")
    data, todo = tmp_path / "data.csv", tmp_path / "todo.xlsx"
    rows = [
        f"{1 + i % 9}.{i:03},5;{i};0{i % 10}{i:02};4{i:016};2026-02-{1 + i % 28:02};{1 + i % 28}.2.2026;"
        f"{'pq'[i % 2] if i < 12 else ''}"
        for i in range(40)
    ]
    data.write_text("\n".join(["amount;n;zip;spec;day;tag;kind", *rows]) + "\n")
    assert run(capsys, "next", data, "--target", "kind", "-n", 28, "-o", todo)[0] == 0
    found = pl.read_excel(todo)
    types = [pl.Float64, pl.Int64, pl.String, pl.String, pl.String, pl.String]
    assert found["amount", "n", "zip", "spec", "day", "tag"].dtypes == types
    found.with_columns(kind=pl.lit("p")).write_excel(todo)
    code, out, _err = run(capsys, "merge", data, todo, "--json")
    assert (code, json.loads(out)["new"]) == (0, 28)
    number = found["n"][0]
    assert found["amount"][0] == 1000 * (1 + number % 9) + number + 0.5
    assert found["spec"][0] == f"4{number:016}"
