"""What is only there to be tested on changes scores and nothing else: relations that must hold, on every way of training."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

import handful
from handful.cli import main
from handful.comparison.compare import compare
from handful.comparison.splits import Splits
from handful.comparison.tables import TableExperiment, labeled_table
from handful.comparison.trials import Limits
from handful.data.records import Occurrence
from handful.models.table_model import TableModel
from handful.registry import METHODS, all_methods, method, unregister
from handful.senses.classifier import SenseClassifier
from handful.senses.features import make_contexts
from papers.claims import Settings
from papers.generated_english import make_tagged_sentences
from papers.sogaard2011 import plans
from papers.sogaard2011 import plans as texts
from papers.sogaard2011.plans import Parts
from papers.su2004.methods import compare_methods

SEEN: list[np.ndarray] = []


@pytest.fixture
def spy():
    @method("spy", paper=None, task="table", uses_unlabeled=True)
    class Spy(ClassifierMixin, BaseEstimator):
        """Remember the labels that it is given."""

        def fit(self, X, y):
            SEEN.append(np.asarray(y).copy())
            self.classes_ = np.unique(y[y >= 0])
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

        def __reduce__(self):
            return int, ()

    METHODS["table"]["spy"] = "handful.registry"
    SEEN.clear()
    yield
    unregister("spy")
    del METHODS["table"]["spy"]


def run(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code or 0


def test_a_comparison_never_shows_a_method_more_labels_than_it_says(spy):
    X, y = load_iris(return_X_y=True)
    compare(X, y, labels=15, methods=["spy"], limits=Limits(trials=24))
    assert SEEN
    assert max(int((codes >= 0).sum()) for codes in SEEN) == 15
    assert min(int((codes >= 0).sum()) for codes in SEEN) > 0


def rows(n: int = 60) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    truth = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + truth[:, None]
    given = np.arange(n) < 18
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), truth, given


def matrices(codes: np.ndarray, more: dict[str, np.ndarray] | None = None, frame=None):
    """Return what methods see of a split that is always the same, and the rows that were tested."""
    made, truth, is_labeled = rows()
    frame = (made if frame is None else frame).with_columns(**{name: pl.Series(c) for name, c in (more or {}).items()})
    splits = Splits(np.where(is_labeled, truth, -1), None, seed=0)
    labels = [str(code) if known else None for code, known in zip(codes, is_labeled, strict=True)]
    table = labeled_table(frame, labels, columns=dict.fromkeys(frame.columns, "numeric"))
    return TableExperiment(table, splits, "accuracy", 100, 0).matrices(0, splits.n_labels), splits[0].test


def test_labels_of_tested_rows_change_nothing_that_methods_see():
    _, truth, _ = rows()
    (train, codes, test, first), tested = matrices(truth)
    turned = truth.copy()
    turned[tested] = (truth[tested] + 1) % 3
    (train_2, codes_2, test_2, second), _ = matrices(turned)
    assert np.array_equal(train, train_2)
    assert np.array_equal(codes, codes_2)
    assert np.array_equal(test, test_2)
    assert (first != second).all()


def test_a_tested_row_is_no_part_of_what_is_learned():
    """Wild numbers in one tested row change that row alone: no scale was learned from it."""
    frame, truth, _ = rows()
    (train, _, test, _), tested = matrices(truth)
    wild = frame.with_columns(a=pl.Series(np.where(np.arange(60) == tested[0], 1e6, frame["a"].to_numpy())))
    (train_2, _, test_2, _), _ = matrices(truth, frame=wild)
    assert np.array_equal(train, train_2)
    assert np.array_equal(test[1:], test_2[1:])
    assert not np.array_equal(test[0], test_2[0])


def test_a_column_that_is_the_label_in_tested_rows_alone_is_constant_in_training():
    _, truth, _ = rows()
    _, tested = matrices(truth)
    leak = np.zeros(60)
    leak[tested] = truth[tested] + 1
    (train, _, _, _), _ = matrices(truth, {"leak": leak})
    assert np.ptp(train[:, -1]) == 0


@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples:UserWarning")  # that is the point
@pytest.mark.parametrize("spec", [spec.name for spec in all_methods("table")])
def test_poison_in_unlabeled_rows_changes_nothing_for_those_who_must_not_look_at_them(spec):
    """A column of theirs is dealt anew. Scales of columns are learned from all rows, and stay as they are."""
    frame, truth, given = rows()
    exact = (frame["b"].to_numpy() * 16).round() / 16  # so that sums do not depend on the order
    labels = [str(t) if g else None for t, g in zip(truth, given, strict=True)]
    dealt = exact.copy()
    dealt[~given] = np.random.default_rng(0).permutation(exact[~given])
    params = {"n_trees": 3} if spec == "ensemble" else None
    answers = [
        TableModel(spec, use_unlabeled=False, params=params)
        .fit(frame.with_columns(b=pl.Series(column)), labels)
        .predict_proba(frame)
        .tolist()
        for column in (exact, dealt)
    ]
    assert answers[0] == answers[1]


def test_a_column_that_tells_the_label_of_tested_rows_alone_is_of_no_use():
    """It is the same in all labeled rows, so it adds the same to the distance to each of them."""
    frame, truth, given = rows()
    labels = [str(t) if g else None for t, g in zip(truth, given, strict=True)]
    leak = frame.with_columns(leak=pl.Series(np.where(given, 0, truth + 1).astype(float)))
    plain = TableModel("k-nn", use_unlabeled=False).fit(frame, labels).predict(frame[18:])
    told = TableModel("k-nn", use_unlabeled=False).fit(leak, labels).predict(leak[18:])
    assert plain.tolist() == told.tolist()


def test_tags_of_the_test_part_change_scores_of_a_paper_and_no_choice(monkeypatch):
    words = [["the", "dog", "runs"], ["a", "cat", "sees", "the", "dog"], ["dogs", "run"], ["the", "cat", "runs"]]
    tags = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "N", "V"]]
    part = words * 5, tags * 5
    wrong = words * 5, [row[::-1] for row in tags] * 5
    monkeypatch.setattr(texts, "brown_words", lambda: [["the", "dog", "sees", "cats"], ["a", "cat", "runs"]] * 20)
    found = []
    for test in (part, wrong):
        monkeypatch.setattr(texts, "wsj_sample", lambda test=test: Parts("wsj", part, part, test))
        found.append(plans.run(Settings(quick=True)).values)
    learned = [name for name in found[0] if name.endswith("-points")]
    assert len(learned) > 5
    assert [found[0][name] for name in learned] == [found[1][name] for name in learned]
    assert found[0]["wsj-base"] != found[1]["wsj-base"]


def test_senses_of_tested_contexts_change_no_answer():
    rng = np.random.default_rng(0)
    topics = {"money": ["loan", "cash"], "river": ["water", "mud"]}

    def contexts(n: int, seed: int) -> list[Occurrence]:
        draw = np.random.default_rng(seed)
        senses = [("money", "river")[int(i)] for i in draw.integers(0, 2, n)]
        words = [[str(w) for w in draw.choice(topics[sense], 2)] for sense in senses]
        return [
            Occurrence("bank.n", f"{seed}.{i}", (*w, "bank"), 2, (sense,))
            for i, (w, sense) in enumerate(zip(words, senses, strict=True))
        ]

    train, test, extra = contexts(12, 1), contexts(20, 2), contexts(15, 3)
    other = [replace(o, senses=(str(rng.choice(["money", "river"])),)) for o in test]
    hidden = [replace(o, senses=("river",)) for o in extra]
    model = SenseClassifier(n_neighbors=3)
    first = compare_methods(*map(make_contexts, (train, test, extra)), model=model)
    second = compare_methods(*map(make_contexts, (train, other, hidden)), model=model)
    assert {name: found.answers for name, found in first.items()} == {name: f.answers for name, f in second.items()}


def test_tags_of_the_development_file_change_scores_and_no_model(tmp_path, capsys):
    sentences = make_tagged_sentences(60, random_state=3)

    def write(name: str, some, turn: int) -> None:
        tags = [t for tree in some for t in tree.sentence["pos"]]
        tags = tags[turn:] + tags[:turn]
        lines, at = [], 0
        for tree in some:
            for token in tree.sentence.tokens:
                lines.append(f"{token}\t{tags[at]}")
                at += 1
            lines.append("")
        (tmp_path / name).write_text("\n".join(lines) + "\n")

    write("train.tsv", sentences[:40], 0)
    write("dev.tsv", sentences[40:], 0)
    write("wrong.tsv", sentences[40:], 5)
    raw = tmp_path / "raw.txt"
    raw.write_text("\n".join(" ".join(tree.sentence.tokens) for tree in sentences) + "\n")
    train = str(tmp_path / "train.tsv")
    assert run(["fit", "tagger", train, "--model", str(tmp_path / "base.handful"), "--iterations", "10"]) == 0
    answers, scores = [], []
    for dev in ("dev.tsv", "wrong.tsv"):
        small = str(tmp_path / f"{dev}.handful")
        base = [
            "condense",
            str(tmp_path / "base.handful"),
            train,
            str(raw),
            "--mode",
            "bins",
            "--iterations",
            "10",
            "-o",
            small,
            "--json",
        ]
        capsys.readouterr()
        assert run([*base, "--dev", str(tmp_path / dev)]) == 0
        scores.append(json.loads(capsys.readouterr().out)["dev"]["after"])
        answers.append(handful.load(small).weights_.tobytes())
    assert answers[0] == answers[1]
    assert scores[0] != scores[1]
