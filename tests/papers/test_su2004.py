"""The plan of Su, Carpuat and Wu 2004: toy claims without data, the rest with it."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Occurrence
from handful.neighbors.kernel_pca import KernelPCAClassifier
from papers.claims import Settings, load_paper, run_paper
from papers.su2004 import plans
from papers.su2004 import plans as senseval
from papers.su2004.methods import MethodAnswers
from papers.su2004.plans import PRINTED, Senseval, accuracies, branches, draw_figures, off_by, paired_test, turned


def answered(method: str, answers: str, sources: str = "") -> MethodAnswers:
    branch = {"1": "supervised", "2": "semi-supervised"}
    ids = [str(i) for i in range(len(answers))]
    return MethodAnswers(
        method, dict(zip(ids, answers, strict=True)), 0.0, {i: branch[s] for i, s in zip(ids, sources, strict=False)}
    )


@pytest.fixture
def data() -> Senseval:
    test = [Occurrence("go.v", str(i), ("go",), 0, (sense,)) for i, sense in enumerate("abbc")]
    return Senseval([Occurrence("go.v", "t", ("go",), 0, ("a", "U"))], test, {"b": "a"})


@pytest.fixture
def found() -> dict[str, MethodAnswers]:
    return {
        "naive-bayes": answered("naive-bayes", "cccc"),
        "maximum-entropy": answered("maximum-entropy", "abbc"),
        "linear-svm": answered("linear-svm", "aaaa"),
        "kernel-pca": answered("kernel-pca", "aaac"),
        "semi-supervised-kernel-pca": answered("semi-supervised-kernel-pca", "cbba"),
        "composite-kernel-pca": answered("composite-kernel-pca", "abac", "1211"),
    }


def test_without_data_the_toy_claims_stand_and_the_others_say_why_not(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    outcomes = run_paper("su2004", Settings())
    toy = {o.claim.id: o for o in outcomes if o.claim.id.startswith("toy-")}
    assert {name: o.state for name, o in toy.items() if o.state != "reproduced"} == {
        "toy-lead-as-defined": "not reproduced"
    }
    assert toy["toy-class-pca"].ours == 2
    assert toy["toy-class-kpca"].ours == 1
    others = [o for o in outcomes if o.claim.id not in toy]
    assert len(others) > 40
    assert {o.state for o in others} == {"not run"}
    assert all("senseval2-train" in o.because for o in others)


def test_a_wrong_digit_is_seen():
    right = turned(2)[0][:4]
    wrong = PRINTED[2].copy()
    wrong[1, 0] += 0.001
    assert off_by(right, PRINTED[2]) == 0
    assert off_by(right, wrong) == 1


def test_scores_by_hand(data, found):
    scores = accuracies(found, data, ["go.v"])
    assert (scores["fine-kernel-pca"], scores["coarse-kernel-pca"]) == (50.0, 100.0)
    assert (scores["fine-composite-kernel-pca"], scores["coarse-naive-bayes"]) == (75.0, 25.0)
    assert paired_test(found, data, ["go.v"], "kernel-pca", "maximum-entropy") == 0.5
    assert branches(found, data, ["go.v"]) == {
        "fallbacks": 25.0,
        "changed": 1,
        "better": 1,
        "worse": 0,
        "trusted-fine-kernel-pca": pytest.approx(200 / 3),
        "trusted-coarse-kernel-pca": 100.0,
        "trusted-fine-semi-supervised-kernel-pca": pytest.approx(100 / 3),
        "trusted-coarse-semi-supervised-kernel-pca": pytest.approx(100 / 3),
        "doubted-fine-kernel-pca": 0.0,
        "doubted-coarse-kernel-pca": 100.0,
        "doubted-fine-semi-supervised-kernel-pca": 100.0,
        "doubted-coarse-semi-supervised-kernel-pca": 100.0,
    }


def test_statements_follow_from_the_scores(data, found):
    values = plans._group(found, data, "verbs", ["go.v"])
    assert values["verbs-fine-over-naive-bayes"] == 25.0
    assert values["verbs-fine-composite-gain"] == 25.0
    assert values["verbs-trusted-fine-lead"] == pytest.approx(100 / 3)
    assert values["verbs-doubted-fine-lead"] == 100.0
    # better rivals give no confidence, however sure the difference
    assert values["verbs-surely-over-maximum-entropy"] == 0.0
    assert values["verbs-surely-over-naive-bayes"] == pytest.approx(0.0)
    assert plans._about(data, [*data.train] * 3, ["go.v"]) == {
        "largest-verbs-instances": 1.0,
        "largest-verbs-senses": 1.0,
        "largest-verbs-contexts": 4.0,
    }


def test_pictures_are_the_same_file_again(tmp_path):
    pytest.importorskip("matplotlib")
    first = [path.read_bytes() for path in draw_figures(tmp_path)]
    mine = tmp_path.parent / "mine"
    mine.write_text("not a picture")
    (tmp_path / "figure1.svg").unlink()
    (tmp_path / "figure1.svg").symlink_to(mine)
    assert [path.read_bytes() for path in draw_figures(tmp_path)] == first
    assert mine.read_text() == "not a picture"
    assert b"svg" in first[0]
    assert {path.stem for path in tmp_path.iterdir()} == {"table1", "table2", "table3", "figure1", "distances"}


@pytest.mark.corpus
def test_every_claim_is_measured(data_folder, monkeypatch):
    monkeypatch.setattr(senseval, "QUICK_WORDS", ("collaborate.v", "ferret.v", "spade.n"))
    monkeypatch.setattr(senseval, "QUICK_TEXTS", ("wsj-sample-pos",))
    monkeypatch.setattr(plans, "train_tagger", lambda quick: AllVerbs())
    outcomes = {o.claim.id: o for o in run_paper("su2004", Settings(quick=True))}
    # with so few words the semi-supervised branch may have nothing to answer
    missing = {name for name, o in outcomes.items() if o.state == "not run"}
    assert all("-doubted-" in name for name in missing)
    assert all("quick" in o.because for o in outcomes.values())
    percent = [o.ours for o in outcomes.values() if o.claim.metric == "accuracy %" and o.ours is not None]
    assert 0 <= min(percent) <= max(percent) <= 100
    assert outcomes["words-fine-kernel-pca"].ours > 30


@pytest.mark.corpus
def test_the_groups_are_those_of_the_papers(data_folder):
    groups = senseval.read_senseval().groups()
    assert [len(words) for words in groups.values()] == [16, 29, 73]
    assert set(groups["largest-verbs"]) < set(groups["verbs"]) < set(groups["words"])


class AllVerbs:
    """A tagger in no time, for a test of the wiring."""

    def predict(self, sentences):
        return [["NN" if token == "spade" else "VB" for token in tokens] for tokens in sentences]


def test_printed_numbers_are_those_of_the_paper():
    printed = {c.id: c.paper for c in load_paper("su2004").claims}
    table4 = [[41.4, 55.4, 54.9, 57.0, 57.4], [51.7, 64.2, 64.1, 66.6, 67.2]]
    methods = ("most-frequent", "naive-bayes", "maximum-entropy", "kernel-pca", "composite-kernel-pca")
    for group in ("largest-verbs", "verbs"):
        found = [[printed[f"{group}-{kind}-{m}"] for m in methods] for kind in ("fine", "coarse")]
        np.testing.assert_array_equal(found, table4)


def test_unlabeled_rows_change_no_neighbor_while_all_components_are_kept():
    rng = np.random.default_rng(0)
    rows, new = ((rng.random((n, 40)) < 0.3).astype(float) for n in (60, 30))
    labels = np.r_[rng.integers(0, 3, 20), np.full(40, -1)]
    squares = []
    for use_unlabeled in (False, True):
        model = KernelPCAClassifier(use_unlabeled=use_unlabeled).fit(rows, labels)
        squares.append(((model.project(new)[:, None] - model.project(rows[:20])) ** 2).sum(axis=2))
    shift = squares[1] - squares[0]
    np.testing.assert_allclose(shift, np.repeat(shift[:, :1], 20, axis=1), atol=1e-8)
    assert shift.min() > 0.1
