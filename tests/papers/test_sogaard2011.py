"""The part-of-speech experiment on made sentences and, where it is there, on a slice of the WSJ sample."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Sentence
from handful.errors import FormatError, MissingDataError
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from papers.claims import Settings, load_paper
from papers.sogaard2011 import plans
from papers.sogaard2011 import plans as texts
from papers.sogaard2011.plans import GRID, Options, Parts, PlainNN, answers, blocks, choose, fit, weigh

RNG = np.random.default_rng(0)
ROWS = np.array([[tag, f"{c}"] for tag in "NVD" for c in range(4)], dtype=object)[RNG.integers(0, 12, size=400)]
# the tag is right, but for one cluster in which it is systematically wrong
LABELS = np.array(["X" if (tag, c) == ("N", "3") else tag for tag, c in ROWS], dtype=object)


def made_parts():
    words = [["the", "dog", "runs"], ["a", "cat", "sees", "the", "dog"], ["dogs", "run"], ["the", "cat", "runs"]]
    tags = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "N", "V"]]
    part = words * 5, tags * 5
    return Parts("wsj", part, part, part)


def test_plain_nearest_neighbors_store_everything_and_let_all_ties_vote():
    model = PlainNN(1, "uniform", "all").fit(ROWS, LABELS)
    assert len(model.stored_codes_) == len(ROWS)
    assert (model.predict(ROWS) == LABELS).all()
    noisy = np.array(["a", "b", "b", "c"], dtype=object)
    assert PlainNN(1, "uniform", "all").fit(np.full((4, 1), "x", dtype=object), noisy).predict([["x"]]).tolist() == [
        "b"
    ]


def test_only_the_semi_supervised_classifier_sees_unlabeled_rows():
    U = np.array([["N", "3"]] * 5, dtype=object)
    assert isinstance(fit("cnn", GRID[0], ROWS, LABELS, U), CondensedNN)
    model = fit("scnn", GRID[0], ROWS, LABELS, U)
    assert isinstance(model, SemiSupervisedCondensedNN)
    assert model.transduction_[-5:].tolist() == ["X"] * 5
    assert weigh(U, 2).shape == (5, 3)


def test_the_choice_is_made_by_held_out_rows_alone():
    # with ties to the first stored row and 15 of them, the one odd cluster is outvoted; with all ties it is not
    good, bad = Options(1, "uniform", "all", 1), Options(300, "uniform", "first", 1)
    splits = list(blocks(len(ROWS), 4))
    assert sorted(np.concatenate([judge for _, judge in splits]).tolist()) == list(range(400))
    assert all(set(train).isdisjoint(judge) for train, judge in splits)
    assert choose("nn", ROWS, LABELS, ROWS[:0], splits, (bad, good)).options == good
    winners, shares = answers(fit("nn", good, ROWS, LABELS, ROWS[:0]), good, ROWS)
    assert (winners == LABELS).all()
    assert (shares == 1).all()


def test_the_experiment_measures_what_the_claims_ask(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(texts, "wsj_sample", made_parts)
    monkeypatch.setattr(texts, "brown_words", lambda: [["the", "dog", "sees", "cats"], ["a", "cat", "runs"]] * 20)
    found = plans.run(Settings(quick=True, figures=tmp_path))
    names = {claim.id for claim in load_paper("sogaard2011").claims}
    measured = {name for name in names if name.startswith("wsj-")}
    assert measured <= set(found.values)
    assert {name for name in names if name.startswith("ewt-")} <= set(found.not_run)
    assert found.values["wsj-base"] == found.values["wsj-nn"] == 100
    assert found.values["wsj-scnn-over-cnn"] == found.values["wsj-scnn"] - found.values["wsj-cnn"]
    assert found.values["wsj-tri-taken"] <= found.values["wsj-tri-agreed-taken"] == 140
    assert found.values["wsj-nn-points"] == sum(map(len, made_parts().labeled[0]))
    assert (tmp_path / "figure5-wsj.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_missing_corpora_are_not_run_with_the_reason(monkeypatch):
    def missing():
        raise MissingDataError("wsj-sample-pos: is not in the data folder.")

    for name in ("wsj_sample", "ewt", "wsj_sections"):
        monkeypatch.setattr(texts, name, missing)
    found = plans.run(Settings())
    assert not found.values
    reasons = {c.id: found.not_run.get(c.id) for c in load_paper("sogaard2011").claims}
    for quoted in ("ptb-suzuki", "ptb-spoustova"):
        assert "quotes" in reasons.pop(quoted)
    assert set(reasons.values()) == {"wsj-sample-pos: is not in the data folder."}


def test_section_19_is_cut_by_its_sentences(monkeypatch):
    def made(name):
        n = {"train": 3, "dev": 5_527, "test": 2}[name.rpartition("-")[2]]
        return [Sentence((str(number),), {"pos": ("CD",)}) for number in range(n)]

    monkeypatch.setattr(texts, "load", made)
    parts = texts.wsj_sections()
    assert [len(words) for words, _ in (parts.base, parts.labeled, parts.test)] == [3, 1_844, 2]
    assert parts.labeled[0][-1] == ("1843",)
    monkeypatch.setattr(texts, "load", lambda name: made("x-train"))
    with pytest.raises(MissingDataError, match=r"must have 5,527 sentences, .* got 3"):
        texts.wsj_sections()


def test_section_19_is_cut_by_the_list_of_files(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    made = [Sentence((str(number),), {"pos": ("CD",)}) for number in range(6)]
    monkeypatch.setattr(texts, "load", lambda name: made)
    files = tmp_path / "ptb-wsj-pos-dev.files.txt"
    files.write_text("wsj_1900 2\nwsj_1998.pos\t1\nwsj_2000 2\nwsj_2172 1\n")
    assert texts.wsj_sections().labeled[0] == [("0",), ("1",), ("2",)]
    assert texts.wsj_sections().test[0] == [s.tokens for s in made]
    files.write_text("wsj_1900 2\nwsj_2000 2\n")
    with pytest.raises(FormatError, match=r"files\.txt: must list the 6 sentences of ptb-wsj-pos-dev, got 4"):
        texts.wsj_sections()
    files.write_text("wsj_1900 2\n1998: 4\n")
    with pytest.raises(FormatError, match=r"files\.txt:2: must be a file and its sentences, .* got '1998: 4'"):
        texts.wsj_sections()


@pytest.mark.corpus
def test_the_sample_is_cut_in_file_order(data_folder):
    parts = texts.wsj_sample()
    sizes = [len(words) for words, _ in (parts.base, parts.labeled, parts.test)]
    assert sizes == [2348, 587, 979]
    assert parts.base[0][0][:2] == ("Pierre", "Vinken")
    assert parts.first(10).test[0] == parts.test[0][:10]
