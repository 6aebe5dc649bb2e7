from __future__ import annotations

import json
import re
import time
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from threading import Timer

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC

import handful
from handful.core.errors import DataError, ParameterError
from handful.core.registry import forget, method
from handful.experiment.arena_tables import TableArena
from handful.experiment.compare import compare
from handful.experiment.fitting import fit_winner
from handful.experiment.problem import Problem, array_problem
from handful.experiment.session import Session
from handful.experiment.splits import Budget, Draws
from handful.experiment.trial import Outcome, Task
from handful.experiment.workers import WORKER_BYTES, Elsewhere, count_jobs
from handful.methods import CATALOGUE
from handful.reports.words import seconds, size

QUICK = (
    *("k-nn", "logistic-regression", "self-training", "label-spreading", "ordinal-knn", "kernel-pca"),
    *("condensed-nn", "semi-supervised-condensed-nn"),
)


@pytest.fixture(scope="module", autouse=True)
def quick_methods():
    """Leave out the forests and what is made of them: what is compared matters little here, and time does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CATALOGUE, "table", {name: CATALOGUE["table"][name] for name in QUICK})
        yield


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return compare(X, y, labels="5-per-class", methods=["self-training", "ordinal-knn"], draws=5, trials=200)


@pytest.fixture
def toy():
    """Register methods for the length of a test."""
    names = []

    def register(name: str, predict, learns_from=("labels", "unlabeled"), twin=None):
        @method(name, paper=None, takes="table", learns_from=learns_from, twin=twin)
        class Toy(ClassifierMixin, BaseEstimator):
            """Do as the test says."""

            def fit(self, X, y):
                self.classes_ = np.unique(y[y >= 0])
                self.seen_ = np.asarray(y)
                return self

            def predict(self, X):
                return predict(self, X)

            def __reduce__(self):
                return int, ()  # a class that is local to a function cannot be pickled, which is how models are weighed

        CATALOGUE["table"][name] = "handful.core.registry"
        names.append(name)

    yield register
    for name in names:
        forget(name)
        del CATALOGUE["table"][name]


def test_every_method_stands_beside_its_twin(iris):
    by_name = {rank.name: rank for rank in iris.ranking.ranks}
    assert {"k-nn", "logistic-regression", "self-training", "ordinal-knn"} <= set(by_name)
    assert by_name["self-training"].gain.twin == "logistic-regression"
    assert by_name["ordinal-knn"].gain.twin == "ordinal-knn (labels only)"
    assert by_name["k-nn"].gain is None
    assert all(rank.low <= rank.score <= rank.high for rank in iris.ranking.ranks)
    assert {curve.n_labels for curve in iris.content.curves} == {(3, 6, 15, 30)}
    assert iris.best in {curve.name for curve in iris.content.curves}


def test_the_result_has_a_frame_a_model_and_reports(iris, tmp_path):
    assert iris.frame.columns[:3] == ["name", "uses_unlabeled", "score"]
    assert iris.frame["name"].to_list() == [rank.name for rank in iris.ranking.ranks]
    X, y = load_iris(return_X_y=True)
    assert iris.best_estimator_.method == iris.best
    assert np.mean(iris.best_estimator_.predict(X) == y) > 0.9
    page = iris.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert iris.judgment.best_bet in iris.to_markdown()
    assert json.loads(iris.to_json())["use"] == iris.best
    assert "<table" in iris._repr_html_()
    assert iris.verdict in repr(iris)
    pytest.importorskip("matplotlib").use("agg")
    assert len(iris.plot().get_yticklabels()) == len(iris.ranking.ranks)


def test_the_best_bet_costs_what_its_line_in_the_table_says(iris):
    task = next(o for o in iris.outcomes if o.task.entry == iris.best)
    fewer = replace(task, task=replace(task.task, n_labels=iris.race.n_labels // 2), fit_seconds=1e-9, n_bytes=7)
    race = copy(iris.race)
    race.outcomes = [*iris.outcomes, fewer]
    found = type(iris)(iris.arena, race, iris.state, iris.command)
    row = next(row for row in found.content.rows if row.name == found.best)
    assert f"a fit takes {seconds(row.fit_seconds)} and the model {size(row.n_bytes)} of memory" in found.verdict


def test_the_same_seed_gives_the_same_scores(iris):
    X, y = load_iris(return_X_y=True)
    again = compare(X, y, labels="5-per-class", methods=["self-training", "ordinal-knn"], draws=5, trials=200)
    assert [o.task for o in again.outcomes] == [o.task for o in iris.outcomes]
    assert [r.score for r in again.ranking.ranks] == [r.score for r in iris.ranking.ranks]
    other = compare(X, y, labels="5-per-class", methods=["self-training"], trials=5, seed=1)
    assert [o.score for o in other.outcomes] != [o.score for o in iris.outcomes[: len(other.outcomes)]]


@pytest.mark.parametrize("seed", range(3))
def test_on_noise_no_method_is_declared_better(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((150, 4)), rng.integers(0, 2, 150)
    methods = ["label-spreading", "ordinal-knn", "condensed-nn"]
    found = compare(X, y, labels=20, trials=60, methods=methods, seed=seed)
    assert not any(rank.better for rank in found.ranking.ranks)
    assert not found.judgment.unlabeled_help
    assert found.judgment.proven.startswith("Not proven")


def test_where_unlabeled_rows_help_it_says_so(toy):
    def sees_more(self, X):
        return (X[:, 0] > 0).astype(int) if (self.seen_ < 0).any() else np.zeros(len(X), dtype=int)

    toy("seer", sees_more)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 30)), np.repeat([0, 1], 150)
    X[:, 0] = 2 * y - 1
    X[:, 1:] += 0.01 * X[:, :1]
    found = compare(np.c_[X[:, 1:], X[:, :1]][:, ::-1], y, labels=6, trials=80, methods=["seer"])
    assert found.judgment.unlabeled_help
    assert found.judgment.proven.startswith("Proven: unlabeled rows help, +")
    assert found.best == "seer"
    decisions = found.content.decisions
    assert (decisions.method, decisions.twin) == ("seer", "seer (labels only)")
    assert (decisions.n_better, decisions.n_worse) == (30, 0)


def test_nothing_reads_a_label_that_was_hidden():
    X, y = load_iris(return_X_y=True)
    problem = array_problem(X, y)
    draws = Draws(problem.codes, Budget.parse(15), 0)
    draw = draws[0]
    labeled, _ = draw.training(15, 1_000)
    rng = np.random.default_rng(0)
    shuffled = problem.codes.copy()
    hidden = np.setdiff1d(np.arange(len(y)), np.concatenate([labeled, draw.test]))
    shuffled[hidden] = rng.permutation(shuffled[hidden])
    swapped = problem.codes.copy()
    swapped[draw.test] = (swapped[draw.test] + 1) % 3
    for name in ("self-training", "ordinal-knn", "label-spreading", "kernel-pca", "semi-supervised-condensed-nn"):
        confusions = []
        for codes in (problem.codes, shuffled, swapped):
            other = Problem(problem.name, problem.frame, problem.kinds, codes, problem.classes, len(y))
            arena = TableArena(other, draws, "accuracy", 1_000, 0)
            confusions.append(np.array(arena.run(Task(name, False, 0, 15)).confusion))
        assert np.array_equal(confusions[0], confusions[1])
        # The tested labels count in the score alone: with other ones the same answers stand in other lines.
        assert np.array_equal(confusions[0], confusions[2][[1, 2, 0]])


def test_scales_do_not_see_the_tested_rows():
    X, y = load_iris(return_X_y=True)
    problem = array_problem(X, y)
    draws = Draws(problem.codes, Budget.parse(15), 0)
    far = X.copy()
    far[draws[0].test] *= 1_000
    here, there = (
        TableArena(array_problem(rows, y), draws, "accuracy", 1_000, 0).matrices(0, 15)[0] for rows in (X, far)
    )
    assert np.array_equal(here, there)


def test_a_new_method_joins_by_its_card_alone(toy):
    toy("first-class", lambda self, X: np.full(len(X), self.classes_[0]))
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, labels=15, methods=["first-class"], trials=40)
    assert found.ranking.rank_of("first-class").score == pytest.approx(1 / 3, abs=0.02)
    scores = [outcome.score for outcome in found.outcomes if outcome.task.method == "first-class"]
    assert scores == pytest.approx([1 / 3] * len(scores))


def test_a_method_that_fails_is_named_and_the_others_go_on(toy):
    def fail(self, X):
        raise RuntimeError("no such luck")

    toy("failing", fail)
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, labels=15, methods=["failing"], draws=2, minutes=None)
    assert found.state == "finished"
    assert found.content.left_out["failing"] == "RuntimeError: no such luck"
    assert {"k-nn", "logistic-regression"} <= {rank.name for rank in found.ranking.ranks}


def test_methods_are_told_apart_on_labels_that_are_given(toy):
    """Where labels are really missing, every label is used, and unlabeled rows are those of the table."""
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    seen = []
    toy("curious", lambda self, X: seen.append(self.seen_) or np.full(len(X), self.classes_[0]))
    found = compare(X, few, methods=["curious"], trials=12)
    assert found.race.n_labels == 38
    assert max((codes >= 0).sum() for codes in seen) == 38
    assert max((codes < 0).sum() for codes in seen) >= 100


def test_an_interrupt_keeps_what_is_done_and_a_rerun_goes_on(tmp_path, toy):
    X, y = load_iris(return_X_y=True)
    calls = []

    def stop(self, X):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return np.full(len(X), self.classes_[0])

    toy("tired", stop)
    settings = {"labels": 15, "methods": ["tired"], "draws": 6, "trials": 50, "journal": tmp_path / "run.jsonl"}
    first = compare(X, y, **settings)
    assert first.state == "interrupted"
    assert first.best in {o.task.method for o in first.outcomes}
    n_first = len(first.outcomes)
    done: list[int] = []
    second = compare(X, y, progress=lambda step: done.append(step.done), **settings)
    assert second.state == "out of trials"
    assert len(done) == len(second.outcomes) - n_first > 0
    assert [o.task for o in second.outcomes[:n_first]] == [o.task for o in first.outcomes]
    whole = compare(X, y, **{**settings, "journal": None})
    assert {o.task: o.score for o in second.outcomes} == {o.task: o.score for o in whole.outcomes}
    third = compare(X, y, **{**settings, "seed": 1, "trials": 3})  # another comparison in the same file begins anew
    assert len(third.outcomes) == 3


def test_a_damaged_journal_is_begun_anew(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "run.jsonl"
    path.write_text("no journal\n")
    settings = {"labels": 15, "methods": ["k-nn"], "trials": 6, "journal": path}
    found = compare(X, y, **settings)
    assert len(found.outcomes) == 6
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:5]) + '\n{"cut')
    again = compare(X, y, **settings)
    assert [o.score for o in again.outcomes] == [o.score for o in found.outcomes]


@pytest.mark.slow
def test_the_time_is_kept_and_workers_give_the_same():
    X, y = load_iris(return_X_y=True)
    settings = {"labels": 15, "methods": ["self-training"], "trials": 20}
    here = compare(X, y, **settings)
    there = compare(X, y, n_jobs=2, **settings)
    assert {o.task: o.score for o in here.outcomes} == {o.task: o.score for o in there.outcomes}
    start = time.monotonic()
    cut = compare(X, y, labels=15, draws=2_000, minutes=0.1, n_jobs=2)
    assert cut.ranking.ranks
    assert time.monotonic() - start < 30


def test_a_dry_run_tries_nothing():
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, labels=15, methods=["self-training"], dry_run=True)
    assert (found.state, found.outcomes) == ("planned", [])
    assert "self-training" in [entrant.name for entrant in found.race.entrants]
    assert "planned" in repr(found)


def test_the_winner_in_one_call():
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    model = handful.fit(X, few, methods=["self-training", "ordinal-knn"], trials=30)
    assert np.mean(model.predict(X) == y) > 0.85
    assert model.predict_proba(X).shape == (150, 3)
    assert model.training_["chosen"].startswith(f"Best bet: {model.method}, ")
    assert (model.n_labeled_, model.n_unlabeled_) in ((15, 135), (15, 0))


def test_the_winner_is_one_of_the_methods_that_were_named():
    X, y = load_wine(return_X_y=True)
    few = np.where(np.arange(len(y)) % 6 == 0, y, -1)
    for names in (["kernel-pca"], ["logistic-regression", "self-training"]):
        for trials in (1, 3):
            assert handful.fit(X, few, methods=names, trials=trials).method_name in names
    result = compare(X, few, methods=["self-training"], trials=12)
    assert result.best == "self-training"
    assert len(result.ranking.ranks) > 1


@pytest.mark.parametrize(
    ("y", "given", "message"),
    [
        (None, {}, "y must hold labels"),
        (["a"], {}, "X and y must be of one length"),
        (["a", "b"], {"minutes": 0}, "minutes must be a number above 0"),
        (["a", "b"], {"minute": 1}, "there is no limit named 'minute'"),
        (["a", "b"], {"metric": "luck"}, "metric must be one of"),
    ],
)
def test_errors_name_the_function_that_was_called(y, given, message):
    for call, name in ((handful.fit, "fit"), (compare, "compare")):
        with pytest.raises((DataError, ParameterError), match=f"^{name}: {message}"):
            call([[1.0], [2.0]], y, **given)


def test_one_label_per_class_is_fitted_without_a_race():
    X, y = load_iris(return_X_y=True)
    few = np.full(len(y), -1)
    few[[0, 50, 100]] = [0, 1, 2]
    model, race = fit_winner(array_problem(X, few))
    assert race is None
    assert "could not be compared" in model.training_["chosen"]
    assert set(model.predict(X)) <= {0, 1, 2}


def test_rare_classes_count_as_much_as_frequent_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(np.arange(300) % 15 == 0, "fraud", "fair")
    X[y == "fraud"] += 1.5
    found = compare(X, y, labels="30%", methods=["k-nn"], trials=12)
    assert found.content.metric.startswith("balanced accuracy")
    assert any("however rare" in note for note in found.content.notes)
    plain = compare(X, y, labels="30%", methods=["k-nn"], trials=1, metric="accuracy")
    assert plain.outcomes[0].score > found.outcomes[0].score


def test_rows_come_in_many_forms(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(4)}).with_columns(
        kind=pl.Series(["a", "b", "c"] * 50), label=pl.Series([f"k{v}" for v in y])
    )
    frame.write_csv(tmp_path / "t.csv")
    settings = {"labels": 15, "methods": ["k-nn"], "trials": 6}
    from_file = compare(tmp_path / "t.csv", "label", **settings)
    from_frame = handful.compare(frame, "label", **settings)
    from_pandas = handful.compare(frame.to_pandas(), "label", **settings)
    scores = [[o.score for o in found.outcomes] for found in (from_file, from_frame, from_pandas)]
    assert scores[0] == scores[1] == scores[2]
    assert from_file.content.columns["kind"] == "nominal"
    sparse = compare(csr_matrix(X), y, **settings)
    assert [o.score for o in sparse.outcomes] == [o.score for o in compare(X, y, **settings).outcomes]
    texts = [f"word{label} other{number % 7}" for number, label in enumerate(y)]
    assert compare(texts, y, **settings).ranking.ranks[0].score > 0.9


def test_f1_is_scored_on_demand():
    X, y = load_iris(return_X_y=True)
    rare = np.concatenate([np.arange(50), 50 + np.arange(10), 100 + np.arange(50)])
    plain, fair = (
        compare(X[rare], y[rare], labels=15, methods=["k-nn"], trials=6, metric=metric) for metric in ("accuracy", "f1")
    )
    assert fair.content.metric.startswith("F1")
    assert [o.score for o in plain.outcomes] != [o.score for o in fair.outcomes]


def test_any_classifier_takes_part_here_and_in_workers():
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, labels=15, methods=["self-training", SVC(C=3.0)], trials=8, n_jobs=2)
    assert "SVC(C=3.0)" in {outcome.task.method for outcome in found.outcomes}
    assert all(outcome.error is None for outcome in found.outcomes)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"labels": None}, ParameterError, "some rows must be unlabeled, got a label in all 150"),
        ({"labels": "2"}, ParameterError, "between the number of classes"),
        ({"labels": 15, "methods": ["ordinal-kn"]}, ParameterError, "Did you mean 'ordinal-knn'"),
        ({"labels": 15, "methods": [SVC]}, ParameterError, r"Write SVC\(\)"),
        ({"labels": 15, "draws": 1}, ParameterError, "at least 2 draws"),
        ({"labels": 15, "metric": "auc"}, ParameterError, "metric must be one of auto"),
        ({"labels": 15, "trials": 0}, ParameterError, "trials must be at least 1"),
        ({"labels": 15, "minuets": 1}, ParameterError, "Did you mean 'minutes'"),
        ({"labels": 15, "minutes": 0}, ParameterError, "minutes must be a number above 0"),
        ({"labels": 15, "columns": {"x9": "text"}}, ParameterError, "there is no column 'x9'"),
        ({"labels": 15, "columns": {"x0": "number"}}, ParameterError, "must be one of numeric, nominal, text, skip"),
        ({"labels": 15, "n_jobs": 0}, ParameterError, "n_jobs must be an integer of at least 1"),
    ],
)
def test_wrong_use_is_told_before_anything_runs(settings, error, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        compare(X, y, **settings)


def test_text_columns_take_part():
    rng = np.random.default_rng(0)
    words = {"a": ["cheap", "bright", "flat", "small"], "b": ["garden", "quiet", "pool", "large"]}
    labels = rng.choice(["a", "b"], size=80)
    # More than a thousand columns, so that the rows are sparse.
    notes = [
        " ".join([*rng.choice(words[label], 4), *(f"w{n}" for n in rng.integers(10_000, size=12))]) for label in labels
    ]
    frame = pl.DataFrame({"note": notes, "label": np.where(np.arange(80) % 2, labels, None)})
    found = compare(frame, "label", trials=20, methods=["self-training", "ordinal-knn", "kernel-pca"])
    assert found.problem.kinds == {"note": "text"}
    assert not found.content.left_out
    assert found.content.rows[0].score > 0.5
    assert "<svg" in found.to_html()


def test_an_empty_list_of_methods_is_refused():
    X, y = load_iris(return_X_y=True)
    for run in (compare, handful.fit):
        with pytest.raises(ParameterError, match="methods: at least one must be named, got none"):
            run(X, np.where(np.arange(150) % 5, -1, y), methods=[])


def test_where_nothing_can_be_fitted_it_says_why(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(TableArena, "run", lambda arena, task: Outcome(task, None, error="of no use."))
    found = compare(X, y, labels="5-per-class", methods=["ordinal-knn"])
    with pytest.raises(DataError, match=r"no method could be measured: of no use\."):
        found.verdict  # noqa: B018


def test_workers_are_stopped_only_when_all_trials_have_been_passed_on():
    class Pool:
        def shutdown(self, **options):
            self.seen = [future.running() for future in futures]

    futures, pool = [Future(), Future()], Pool()
    later = [Timer(0.05 * (n + 1), future.set_running_or_notify_cancel) for n, future in enumerate(futures)]
    for timer in later:
        timer.start()
    workers = Elsewhere.__new__(Elsewhere)
    workers._pool, workers._waiting, workers._folder = pool, dict.fromkeys(futures), None
    workers.close()
    assert pool.seen == [True, True]


def test_no_more_workers_than_the_memory_allows():
    assert count_jobs(4, memory=2 * WORKER_BYTES) == 2
    assert count_jobs(4, memory=1) == 1


def test_a_ranking_that_is_not_in_the_order_of_the_scores_says_why():
    from handful.evaluation.ranking import Rank, Ranking
    from handful.experiment.summary import _order

    team = Rank("team", 0.73, 0.5, 0.9, 0.74, 0.79, 0.2, 1)
    other = Rank("k-nn", 0.82, 0.6, 1.0, 0.82, 0.77, 0.1, 1)
    (told,) = _order(Ranking((team, other), baseline="k-nn", n_draws=1))
    assert "team: measured 74.0, expected 79.0" in told
    assert _order(Ranking((other, team), baseline="k-nn", n_draws=1)) == []


def test_scores_as_if_on_all_draws_say_so_where_methods_had_different_ones():
    from handful.evaluation.ranking import Rank, Ranking
    from handful.experiment.summary import _leveled

    often, same = (Rank(name, 0.82, 0.6, 1.0, 0.82, 0.8, 0.1, 7) for name in ("k-nn", "tree"))
    seldom = Rank("team", 0.706, 0.5, 0.9, 0.714, 0.75, 0.2, 2)
    (told,) = _leveled(Ranking((seldom, often), baseline="k-nn", n_draws=7))
    assert "(team: 2 draws gave 71.4, as if on all 70.6). Differences are over the draws that both had." in told
    (told,) = _leveled(Ranking((often, Rank("once", 0.5, 0.3, 0.7, 0.5, 0.5, 0.1, 1)), baseline="k-nn", n_draws=7))
    assert "gave" not in told
    assert _leveled(Ranking((often, same), baseline="k-nn", n_draws=7)) == []


def test_a_method_no_better_than_the_most_frequent_label_is_told_so():
    rng = np.random.default_rng(0)
    y = np.array(["kept"] * 35 + ["lost"] * 10 + [None] * 40, dtype=object)
    noise = rng.normal(size=(len(y), 2))
    found = compare(noise, y, methods=["k-nn"], metric="accuracy", draws=3, trials=6)
    told = "always answering 'kept', which 35 of 45 labels are, would score 77.8."
    assert found.content.warnings[-1] == f"The best bet may be no better than a blind guess: {told}"
    assert json.loads(found.to_json())["blind_guess"]["score"] == pytest.approx(35 / 45)
    assert told in found.to_markdown()
    assert "always answering" in found.to_html()
    model, _ = fit_winner(array_problem(noise, y), methods=["k-nn"], session=Session(trials=3))
    assert model.training_["chosen"].endswith(told)


def test_a_method_that_passes_the_most_frequent_label_has_it_beside_it(iris):
    assert iris.content.notes[-1] == "Always answering '0', which 50 of 150 labels are, would score 33.3."
    assert not any("blind guess" in warning for warning in iris.content.warnings)


def test_a_race_of_few_draws_judges_confidence_by_all_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = handful.fit(X, np.where(X[:, 0] > 0, "a", "b"), methods=["k-nn"], trials=1)
    n_sure, n_right, n_held = model.confidence_["counts"]
    assert n_held == 40, "one draw tests eight of them"
    assert n_right <= n_sure <= n_held


def few_wine(n=60):
    X, y = load_wine(return_X_y=True)
    kept = np.random.default_rng(0).permutation(len(y))[:n]
    return array_problem(X, [y[i] if i in kept else None for i in range(len(y))])


def test_fit_tells_how_the_race_ended_and_what_comes_then():
    told = []
    fit_winner(few_wine(), methods=["k-nn", "logistic-regression"], session=Session(watch=told.append))
    assert [standing.doing for standing in told[:-1]] == ["race"] * (len(told) - 1)
    first, second = re.fullmatch(r"(The race ended after \d+ s and \d+ trials: .*)\. (Now .*)", told[-1].doing).groups()
    assert first.endswith(("is 99 % likely to be the best", "and more of the same labels tell little"))
    assert re.fullmatch(r"Now (k-nn|logistic-regression) is fitted to all 60 labels, which takes about \d s\.", second)


def test_without_time_a_model_learns_how_sure_it_may_be_from_the_race_alone():
    hasty, race = fit_winner(few_wine(), methods=["k-nn", "logistic-regression"], session=Session(minutes=1e-4))
    assert race.state == "out of time"
    assert hasty.confidence_["counts"][2] == 12  # those of one draw
    slow, _ = fit_winner(few_wine(), methods=["k-nn", "logistic-regression"], session=Session(trials=2))
    assert slow.confidence_["counts"][2] == 60


def test_many_classes_of_one_label_each_make_a_small_model():
    rows = pl.DataFrame({"x": np.arange(150.0)})
    model = handful.fit(rows, [f"name {row}" for row in range(150)])
    assert model.method_name == "k-nn"
    assert "could not be compared" in model.training_["chosen"]
