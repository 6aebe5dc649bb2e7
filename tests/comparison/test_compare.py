from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import handful
from handful.comparison.compare import compare, why_not_best
from handful.comparison.splits import LabelCount, Splits
from handful.comparison.tables import TableExperiment, labeled_table
from handful.comparison.trials import Limits, Trial, TrialResult
from handful.data.labels import Labels
from handful.errors import DataError, ParameterError
from handful.registry import METHODS, method, unregister
from handful.report.content import MethodScore

QUICK = (
    *("k-nn", "logistic-regression", "self-training", "label-spreading", "ordinal-knn", "kernel-pca"),
    *("condensed-nn", "semi-supervised-condensed-nn"),
)


@pytest.fixture(scope="module", autouse=True)
def quick_methods():
    """Leave out the forests and the ensemble, which take time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "table", {name: METHODS["table"][name] for name in QUICK})
        yield


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    limits = Limits(splits=5, trials=200)
    return compare(X, y, labels="5-per-class", methods=["self-training", "ordinal-knn"], limits=limits)


@pytest.fixture
def toy():
    """Register methods for the length of a test."""
    names = []

    def register(name: str, predict, uses_unlabeled=True):
        @method(name, paper=None, task="table", uses_unlabeled=uses_unlabeled)
        class Toy(ClassifierMixin, BaseEstimator):
            """Do as the test says."""

            def fit(self, X, y):
                self.classes_ = np.unique(y[y >= 0])
                self.seen_ = np.asarray(y)
                return self

            def predict(self, X):
                return predict(self, X)

            def __reduce__(self):
                return int, ()  # a class that is local to a function cannot be pickled

        METHODS["table"][name] = "handful.registry"
        names.append(name)

    yield register
    for name in names:
        unregister(name)
        del METHODS["table"][name]


def test_methods_that_use_unlabeled_rows_are_compared_with_their_controls(iris):
    by_name = {score.method: score for score in iris.scores}
    assert {"k-nn", "logistic-regression", "self-training", "ordinal-knn"} <= set(by_name)
    assert by_name["self-training"].control == "logistic-regression"
    assert by_name["ordinal-knn"].gain.other == "ordinal-knn (supervised)"
    assert by_name["k-nn"].gain is None
    assert all(score.low <= score.mean <= score.high for score in iris.scores)
    assert {curve.n_labels for curve in iris.report.curves} == {(3, 6, 15, 30)}


def test_the_result_has_a_frame_a_model_and_reports(iris, tmp_path):
    assert iris.frame["method"].to_list() == [score.method for score in iris.scores]
    X, y = load_iris(return_X_y=True)
    assert iris.best_estimator_.method == iris.best
    assert np.mean(iris.best_estimator_.predict(X) == y) > 0.9
    page = iris.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    told = json.loads(iris.to_json())
    assert told["selected"] == iris.best
    assert [row["method"] for row in told["methods"]] == [score.method for score in iris.scores]
    assert told["majority"]["score"] == pytest.approx(1 / 3)
    assert "<table" in iris._repr_html_()


def test_the_same_seed_gives_the_same_scores(iris):
    X, y = load_iris(return_X_y=True)
    limits = Limits(splits=5, trials=200)
    again = compare(X, y, labels="5-per-class", methods=["self-training", "ordinal-knn"], limits=limits)
    assert [(r.trial, r.score) for r in again.search.results] == [(r.trial, r.score) for r in iris.search.results]
    other = compare(X, y, labels="5-per-class", methods=["self-training"], limits=Limits(trials=5, seed=1))
    assert [r.score for r in other.search.results] != [r.score for r in iris.search.results[:5]]


@pytest.mark.parametrize("seed", range(3))
def test_on_noise_nothing_is_significant(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((150, 4)), rng.integers(0, 2, 150)
    methods = ["label-spreading", "ordinal-knn", "condensed-nn"]
    result = compare(X, y, labels=20, methods=methods, limits=Limits(trials=60, seed=seed))
    assert not any(score.is_better for score in result.scores)
    assert not result.report.unlabeled_help


def test_a_real_benefit_of_unlabeled_rows_is_significant(toy):
    def sees_more(self, X):
        return (X[:, 0] > 0).astype(int) if (self.seen_ < 0).any() else np.zeros(len(X), dtype=int)

    toy("seer", sees_more)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 30)), np.repeat([0, 1], 150)
    X[:, 0] = 2 * y - 1
    result = compare(X, y, labels=6, methods=["seer"], limits=Limits(trials=80))
    assert result.report.unlabeled_help
    assert result.best == "seer"
    assert result.selected.gain.other == "seer (supervised)"


def test_nothing_reads_a_label_that_was_hidden():
    X, y = load_iris(return_X_y=True)
    table = labeled_table(X, y)
    splits = Splits(table.codes, LabelCount.parse(15), 0)
    split = splits[0]
    labeled, _ = split.training(15, 1_000)
    shuffled = table.codes.copy()
    hidden = np.setdiff1d(np.arange(len(y)), np.concatenate([labeled, split.test]))
    shuffled[hidden] = np.random.default_rng(0).permutation(shuffled[hidden])
    swapped = table.codes.copy()
    swapped[split.test] = (swapped[split.test] + 1) % 3
    for name in ("self-training", "ordinal-knn", "label-spreading", "kernel-pca", "semi-supervised-condensed-nn"):
        confusions = []
        for codes in (table.codes, shuffled, swapped):
            experiment = TableExperiment(table.with_labels(Labels(codes, table.classes)), splits, "accuracy", 1_000, 0)
            confusions.append(np.array(experiment.run(Trial(name, False, 0, 15)).confusion))
        assert np.array_equal(confusions[0], confusions[1])
        # The tested labels count in the score alone: with others, the same predictions are in other rows.
        assert np.array_equal(confusions[0], confusions[2][[1, 2, 0]])


def test_scales_do_not_see_the_tested_rows():
    X, y = load_iris(return_X_y=True)
    splits = Splits(labeled_table(X, y).codes, LabelCount.parse(15), 0)
    far = X.copy()
    far[splits[0].test] *= 1_000
    here, there = (
        TableExperiment(labeled_table(rows, y), splits, "accuracy", 1_000, 0).matrices(0, 15)[0] for rows in (X, far)
    )
    assert np.array_equal(here, there)


def test_a_method_that_fails_is_named_and_the_others_go_on(toy):
    def fail(self, X):
        raise RuntimeError("no convergence")

    toy("failing", fail)
    X, y = load_iris(return_X_y=True)
    result = compare(X, y, labels=15, methods=["failing"], limits=Limits(splits=2, minutes=None))
    assert result.state == "finished"
    assert result.report.left_out["failing"] == "RuntimeError: no convergence"
    assert {"k-nn", "logistic-regression"} <= {score.method for score in result.scores}


def test_where_labels_are_missing_all_of_them_are_used(toy):
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    seen = []
    toy("curious", lambda self, X: seen.append(self.seen_) or np.full(len(X), self.classes_[0]))
    result = compare(X, few, methods=["curious"], limits=Limits(trials=12))
    assert result.experiment.design.n_labels == 38
    assert max((codes >= 0).sum() for codes in seen) == 38
    assert max((codes < 0).sum() for codes in seen) >= 100


def test_classes_count_alike_where_one_is_rare():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(np.arange(300) % 15 == 0, "fraud", "fair")
    X[y == "fraud"] += 1.5
    result = compare(X, y, labels="30%", methods=["k-nn"], limits=Limits(trials=12))
    assert result.experiment.metric == "balanced_accuracy"
    plain = compare(X, y, labels="30%", methods=["k-nn"], metric="accuracy", limits=Limits(trials=1))
    assert plain.search.results[0].score > result.search.results[0].score
    fair = compare(X, y, labels="30%", methods=["k-nn"], metric="f1_macro", limits=Limits(trials=1))
    assert fair.search.results[0].score != plain.search.results[0].score


def test_rows_come_in_many_forms(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(4)}).with_columns(
        kind=pl.Series(["a", "b", "c"] * 50), label=pl.Series([f"k{v}" for v in y])
    )
    frame.write_csv(tmp_path / "t.csv")
    settings = {"labels": 15, "methods": ["k-nn"], "limits": Limits(trials=6)}
    from_file = compare(tmp_path / "t.csv", "label", **settings)
    from_frame = handful.compare(frame, "label", **settings)
    from_pandas = handful.compare(frame.to_pandas(), "label", **settings)
    scores = [[r.score for r in result.search.results] for result in (from_file, from_frame, from_pandas)]
    assert scores[0] == scores[1] == scores[2]
    assert from_file.report.columns["kind"] == "categorical"
    sparse, dense = (compare(rows, y, **settings) for rows in (csr_matrix(X), X))
    assert [r.score for r in sparse.search.results] == [r.score for r in dense.search.results]
    texts = [f"word{label} other{number % 7}" for number, label in enumerate(y)]
    assert compare(texts, y, **settings).scores[0].mean > 0.9


def test_any_classifier_takes_part_here_and_in_workers():
    X, y = load_iris(return_X_y=True)
    result = compare(X, y, labels=15, methods=["self-training", SVC(C=3.0)], limits=Limits(trials=8, n_jobs=2))
    assert "SVC(C=3.0)" in {r.trial.method for r in result.search.results}
    assert all(r.error is None for r in result.search.results)


@pytest.mark.parametrize(
    ("settings", "limits", "message"),
    [
        ({"labels": None}, {}, "some rows must be unlabeled, got a label in all 150"),
        ({"labels": "2"}, {}, "between the number of classes"),
        ({"methods": ["ordinal-kn"]}, {}, "Did you mean 'ordinal-knn'"),
        ({"methods": [SVC]}, {}, r"Write SVC\(\)"),
        ({"methods": []}, {}, "at least one must be named, got none"),
        ({"metric": "auc"}, {}, "metric: must be one of auto"),
        ({"columns": {"x9": "text"}}, {}, "no column 'x9'"),
        ({}, {"splits": 1}, "splits must be at least 2"),
        ({}, {"trials": 0}, "trials must be at least 1"),
        ({}, {"minutes": 0}, "minutes must be a number above 0"),
        ({}, {"n_jobs": 0}, "n_jobs must be an integer of at least 1"),
    ],
)
def test_wrong_use_is_an_error_before_anything_runs(settings, limits, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        compare(X, y, **{"labels": 15, **settings, "limits": Limits(**limits)})


def test_text_columns_take_part():
    rng = np.random.default_rng(0)
    words = {"a": ["cheap", "bright", "flat", "small"], "b": ["garden", "quiet", "pool", "large"]}
    labels = rng.choice(["a", "b"], size=80)
    # More than a thousand columns, so that the rows are sparse.
    notes = [
        " ".join([*rng.choice(words[label], 4), *(f"w{n}" for n in rng.integers(10_000, size=12))]) for label in labels
    ]
    frame = pl.DataFrame(
        {"note": notes, "label": [str(label) if row % 2 else None for row, label in enumerate(labels)]}
    )
    methods = ["self-training", "ordinal-knn", "kernel-pca"]
    result = compare(frame, "label", methods=methods, limits=Limits(trials=20))
    assert result.experiment.columns == {"note": "text"}
    assert not result.search.left_out
    assert result.scores[0].mean > 0.5


def test_where_nothing_can_be_fitted_the_error_says_why(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(TableExperiment, "run", lambda self, trial: TrialResult(trial, None, error="of no use."))
    result = compare(X, y, labels="5-per-class", methods=["ordinal-knn"])
    with pytest.raises(DataError, match=r"no method could be scored: of no use\."):
        result.verdict  # noqa: B018


def test_a_model_no_better_than_the_majority_class_is_a_warning(iris):
    rng = np.random.default_rng(0)
    y = np.array(["kept"] * 35 + ["lost"] * 10 + [None] * 40, dtype=object)
    noise = rng.normal(size=(len(y), 2))
    result = compare(noise, y, methods=["k-nn"], metric="accuracy", limits=Limits(trials=6))
    assert result.report.majority.score == pytest.approx(35 / 45)
    assert "may be no better than guessing" in result.report.warnings[-1]
    assert not any("guessing" in warning for warning in iris.report.warnings)


def test_unlabeled_rows_that_harm_are_a_warning(iris):
    from handful.report.content import Difference

    harmed = [
        replace(s, gain=Difference("k-nn", -0.1, -0.2, -0.05, 0.01, 5)) if s.uses_unlabeled else s for s in iris.scores
    ]
    result = type(iris)(iris.experiment, iris.search, iris.state, "")
    result.__dict__["scores"] = tuple(harmed)
    assert len(result.report.warnings) == sum(score.uses_unlabeled for score in harmed) > 0
    assert not result.report.unlabeled_help


def test_methods_must_be_registered_or_classifiers():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError):
        compare(X, y, labels=15, methods=[3])


def test_a_tie_is_told():
    one, two = MethodScore("cheap", mean=0.5, is_selected=True), MethodScore("costly", mean=0.5)
    assert "costly" in why_not_best([one, two])
    assert why_not_best([one, replace(two, mean=0.4)]) == ""
