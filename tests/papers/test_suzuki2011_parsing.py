"""The parsing half of Suzuki, Isozaki and Nagata 2011: its rows are claims, and a small run makes them all."""

from __future__ import annotations

import gzip

import pytest

from handful.data.conll import write_conllu
from handful.data.records import Sentence, Tree
from papers.claims import Settings, load_paper, run_paper
from papers.suzuki2011 import parsing, plans
from papers.suzuki2011.parsing import BASES, COARSE, Row, Task, Treebank

WANTED = {c.id for c in load_paper("suzuki2011").claims if c.id.startswith("parsing-")}


def _tree(subject: str, verb: str) -> Tree:
    sentence = Sentence(("the", subject, verb, "."), {"upos": ("_",) * 4, "xpos": ("DT", "NN", "VBD", ".")})
    return Tree(sentence, (2, 3, 0, 3), ("_",) * 4)


TREES = [_tree(subject, verb) for subject in ("dog", "cat", "bird") for verb in ("sang", "fell")]


def test_rows_of_the_table_are_claims_of_the_paper():
    rows = []
    for base, dev in (("sup", 90.0), ("icwr", 91.0)):
        rows += [
            Row(base, "base", dev, dev - 1, 900),
            Row(base, "coarse", dev, dev - 2, 30),
            Row(base, "fine", dev, dev, 300),
            Row(base, "kept", dev, dev + (base == "sup"), 90),
        ]
    found = parsing.claimed(rows)
    assert set(found) == WANTED
    assert found["parsing-cofer-coarse-active"] == 30
    assert found["parsing-cofer-over-sup"] == -1.0
    assert found["parsing-fine-over-sup"] == 1.0
    assert found["parsing-both-over-icwr"] == 1.0
    assert (found["parsing-kept-over-sup"], found["parsing-kept-over-icwr"]) == (2.0, 1.0)


def test_every_parser_is_trained_and_scored_without_punctuation(monkeypatch):
    monkeypatch.setattr(parsing, "COUNTING", parsing.COUNTING | {"discount": 0.5})
    stages = []
    news = [tree.sentence for tree in TREES] * 5
    task = Task(Treebank(TREES, TREES, TREES), news, {"dog": "0101", "cat": "0100"}, 2, progress=stages.append)
    rows = task.rows()
    assert [(r.base, r.way) for r in rows] == [(b, way) for b in BASES for way in ("base", "coarse", "fine", "kept")]
    assert all(0 <= r.dev <= 100 and r.dev == r.test and r.active > 0 for r in rows)
    assert rows[0].dev == pytest.approx(100.0)
    assert {"train sup", "count sup", f"retrain sup {COARSE:g}", "train icwr"} <= {step.stage for step in stages}


def test_parsers_read_tags_of_taggers_that_have_not_seen_them():
    # "run" is a verb with people in one tree alone; a tagger that has not seen that tree takes it for the noun it is elsewhere
    odd = Tree(
        Sentence(("the", "run", "fell", "."), {"upos": ("X",) * 4, "xpos": ("DT", "VB", "VBD", ".")}),
        (2, 3, 0, 3),
        ("_",) * 4,
    )
    plain = [_tree(subject, verb) for subject in ("dog", "cat", "bird", "run") for verb in ("sang", "fell", "ran")]
    found = parsing.tagged_unseen(Treebank([odd, *plain], plain[:2], plain[2:5]))
    assert found.train[0].sentence["xpos"] == ("DT", "NN", "VBD", ".")
    assert found.train[0].sentence["upos"] == ("_",) * 4
    assert found.train[0].heads == odd.heads
    assert [len(part) for part in found] == [13, 2, 3]
    assert {tree.sentence["xpos"] for tree in [*found.dev, *found.test]} == {("DT", "NN", "VBD", ".")}


def test_the_whole_treebank_is_taken_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    for number, part in enumerate(("train", "dev", "test"), start=1):
        plain = tmp_path / "plain.conllu"
        write_conllu(plain, TREES[:number])
        (tmp_path / f"ptb-wsj-dep-{part}.conllu.gz").write_bytes(gzip.compress(plain.read_bytes()))
    found = parsing.read_treebank()
    assert [len(part) for part in found] == [1, 2, 3]
    assert found.test[2].heads == (2, 3, 0, 3)


def test_the_reason_follows_the_data_that_was_used(monkeypatch, tmp_path):
    numbers = {"parsing-sup-test": 90.0, "parsing-icwr-test": 91.0, "parsing-cofer-fine-test": 92.0}
    monkeypatch.setattr(plans, "MEASURES", {"parsing": lambda settings: numbers})
    folder = tmp_path / "kept"
    told = {}
    for whole in (False, True):
        monkeypatch.setattr(plans, "whole_treebank", lambda whole=whole: whole)
        numbers = {name: value + whole for name, value in numbers.items()}
        found = {outcome.claim.id: outcome for outcome in run_paper("suzuki2011", Settings(checkpoint=folder))}
        assert found["parsing-sup-test"].ours == 90.0 + whole  # what the checkpoint has of other trees is not taken
        told[whole] = {name: found[name].because for name in numbers}
        assert found["ner-sup-test"].because == "not part of this run"
    for name in numbers:
        assert "of the freely available sample" in told[False][name]
        assert "sample" not in told[True][name]
        assert "sections (02-21, 22 and 23) with tags of a tagger" in told[True][name]
    assert ["news" in told[True][name] for name in numbers] == [False, False, True]
    assert ["clusters" in told[True][name] for name in numbers] == [False, True, False]


def test_every_reason_that_speaks_of_the_sample_can_be_changed():
    reasons = [claim.because for claim in load_paper("suzuki2011").claims if claim.id.startswith("parsing-")]
    assert sum(parsing.SAMPLE_BECAUSE in reason for reason in reasons) > 20
    assert not any("sample" in reason.replace(parsing.SAMPLE_BECAUSE, "") for reason in reasons)


def test_without_data_the_claims_say_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    found = plans.run(Settings(quick=True))
    assert "wsj-sample-dep" in found.not_run["parsing-sup-test"]
    assert set(found.not_run) >= WANTED
