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
from handful.core.catalogue import CATALOGUE
from handful.core.records import Occurrence
from handful.core.registry import forget, method
from handful.corpora.make import make_tagged_sentences
from handful.experiment import compare
from handful.methods.table_model import TableModel
from handful.senses import SenseClassifier, compare_methods, make_contexts

SEEN: list[np.ndarray] = []


@pytest.fixture
def spy():
    @method("spy", paper=None, takes="table", learns_from=("labels", "unlabeled"))
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

    CATALOGUE["table"]["spy"] = "handful.core.registry"
    SEEN.clear()
    yield
    forget("spy")
    del CATALOGUE["table"]["spy"]


def run(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code or 0


def test_a_comparison_never_shows_a_method_more_labels_than_it_says(spy):
    X, y = load_iris(return_X_y=True)
    compare(X, y, labels=15, methods=["spy"], trials=24)
    assert SEEN
    assert max(int((codes >= 0).sum()) for codes in SEEN) == 15
    assert min(int((codes >= 0).sum()) for codes in SEEN) > 0


def rows(n: int = 60) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    truth = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + truth[:, None]
    given = np.arange(n) < 18
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), truth, given


def test_a_column_that_tells_the_label_of_tested_rows_alone_is_of_no_use():
    """It is the same in all labeled rows, so it adds the same to the distance to each of them."""
    frame, truth, given = rows()
    labels = [str(t) if g else None for t, g in zip(truth, given, strict=True)]
    leak = frame.with_columns(leak=pl.Series(np.where(given, 0, truth + 1).astype(float)))
    plain = TableModel("k-nn", use_unlabeled=False).fit(frame, labels).predict(frame[18:])
    told = TableModel("k-nn", use_unlabeled=False).fit(leak, labels).predict(leak[18:])
    assert plain.tolist() == told.tolist()


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
