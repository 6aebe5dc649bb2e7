from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from handful.comparison.search import SuccessiveHalving, open_runner, run_search
from handful.comparison.statistics import Design
from handful.comparison.trials import Experiment, Limits, Trial, TrialLog, TrialResult
from handful.report.content import MethodScore

DESIGN = Design(0.25, 400, 5, 20)
MEANS = {"baseline-a": 0.70, "baseline-b": 0.69, "good": 0.80, "bad": 0.40}


class FakeExperiment(Experiment):
    """Methods with scores around a mean, which tests set."""

    def __init__(self, means, spread=0.02, seconds=0.0, stop_after=None, failing=()):
        super().__init__("fake", "accuracy", 0)
        self.means, self.spread, self.seconds = means, spread, seconds
        self.stop_after, self.failing = stop_after, failing
        self.log: list[Trial] = []

    design = DESIGN
    key = ("fake",)

    def _run(self, trial):
        if self.stop_after is not None and len(self.log) >= self.stop_after:
            raise KeyboardInterrupt
        self.log.append(trial)
        time.sleep(self.seconds)
        if trial.method in self.failing:
            raise RuntimeError("no convergence")
        noise = np.random.default_rng([trial.split, *trial.line.encode()]).normal(0, self.spread)
        return TrialResult(trial, float(np.clip(self.means[trial.line] + noise, 0, 1)), seconds=self.seconds)


def lines(*names, **changes):
    made = (MethodScore(name, supervised_baseline=name.startswith("baseline")) for name in names)
    return [replace(line, **changes.get(line.method, {})) for line in made]


def new_search(names=tuple(MEANS), n_splits=20, **settings):
    made = settings.pop("lines", None) or lines(*names)
    return SuccessiveHalving(made, DESIGN, n_splits, **settings)


def test_all_methods_get_one_repetition_and_the_better_half_goes_on():
    experiment, search = FakeExperiment(MEANS), new_search()
    assert run_search(experiment, search, Limits(minutes=None)) == "finished"
    counts = Counter(trial.line for trial in experiment.log)
    assert counts == {"good": 20, "baseline-a": 20, "baseline-b": 10, "bad": 5}
    assert [trial.split for trial in experiment.log[:8]] == [0] * 4 + [1] * 4
    scores = search.scores()
    assert scores[0].method == "good"
    assert scores[0].is_selected
    assert {score.method: score.is_baseline for score in scores}["baseline-a"]


def test_what_is_tested_is_never_eliminated():
    means = {"baseline": 0.3, "semi": 0.2, "ensemble": 0.1, "a": 0.9, "b": 0.9, "c": 0.8, "d": 0.7}
    made = lines(*means, semi={"uses_unlabeled": True})
    experiment, search = FakeExperiment(means), new_search(lines=made, preferred="ensemble")
    run_search(experiment, search, Limits(minutes=None))
    counts = Counter(trial.line for trial in experiment.log)
    assert counts["baseline"] == counts["semi"] == counts["ensemble"] == 20
    assert counts["d"] == 5


def test_supervised_controls_run_on_the_splits_of_remaining_methods():
    means = {"baseline": 0.7, "semi": 0.8, "semi (supervised)": 0.72, "weak": 0.4, "weak (supervised)": 0.4}
    made = lines(*means)
    for name in ("semi", "weak"):
        place = list(means).index(name)
        made[place] = replace(made[place], uses_unlabeled=True, control=f"{name} (supervised)")
        made[place + 1] = replace(made[place + 1], listed=False)
    experiment, search = FakeExperiment(means), new_search(lines=made)
    run_search(experiment, search, Limits(minutes=None))
    by_line = {line: {t.split for t in experiment.log if t.line == line} for line in means}
    assert by_line["semi (supervised)"] == by_line["semi"]
    assert not by_line["weak (supervised)"]
    first = search.scores()[0]
    assert (first.gain.other, first.gain.n_splits) == ("semi (supervised)", 20)
    assert first.gain.is_positive


def test_learning_curves_come_last_and_for_the_best_methods():
    experiment, search = FakeExperiment({**MEANS, "e": 0.5}), new_search((*MEANS, "e"), n_splits=5, sizes=(5, 10, 20))
    run_search(experiment, search, Limits(minutes=None))
    sizes = [trial.n_labels for trial in experiment.log]
    first = next(i for i, size in enumerate(sizes) if size != 20)
    assert set(sizes[first:]) == {5, 10}
    assert {trial.line for trial in experiment.log[first:]} == {"good", "baseline-a", "baseline-b"}


def test_a_method_that_fails_is_left_out_with_its_reason():
    experiment, search = FakeExperiment(MEANS, failing=("good",)), new_search()
    run_search(experiment, search, Limits(minutes=None))
    assert search.left_out == {"good": "RuntimeError: no convergence"}
    assert search.scores()[0].method == "baseline-a"
    assert "good" not in {score.method for score in search.scores()}


@pytest.mark.parametrize("n_trials", [1, 4, 7, 26])
def test_a_limit_of_trials_is_kept(n_trials):
    experiment, search = FakeExperiment(MEANS), new_search()
    assert run_search(experiment, search, Limits(trials=n_trials)) == "out of trials"
    assert len(experiment.log) == n_trials


@pytest.mark.parametrize("n_known", range(0, 30, 4))
def test_a_run_that_was_interrupted_resumes_from_its_log(tmp_path, n_known):
    whole = new_search()
    run_search(FakeExperiment(MEANS, spread=0.1), whole, Limits(trials=40))
    limits = Limits(trials=40, log=tmp_path / "log.jsonl")
    stopped = FakeExperiment(MEANS, spread=0.1, stop_after=n_known)
    assert run_search(stopped, new_search(), limits) == "interrupted"
    again, search = FakeExperiment(MEANS, spread=0.1), new_search()
    run_search(again, search, limits)
    assert len(again.log) == len(whole.results) - n_known
    assert [r.trial for r in search.results] == [r.trial for r in whole.results]
    assert [s.mean for s in search.scores()] == [s.mean for s in whole.scores()]


def test_workers_give_the_same_results_as_this_process():
    results = []
    for n_jobs in (1, 2):
        search = new_search(n_splits=10)
        run_search(FakeExperiment(MEANS, spread=0.1, seconds=0.02), search, Limits(trials=37, n_jobs=n_jobs))
        results.append({result.trial: result.score for result in search.results})
    assert results[0] == results[1]


def test_time_that_is_up_ends_the_search_and_a_late_start_still_scores_two_methods():
    experiment, search = FakeExperiment(MEANS, seconds=0.05), new_search(preferred="good")
    start = time.monotonic()
    assert run_search(experiment, search, Limits(minutes=0.4 / 60)) == "out of time"
    assert time.monotonic() - start < 2
    late, search = FakeExperiment(MEANS), new_search(preferred="good")
    assert run_search(late, search, Limits(minutes=1e-9)) == "out of time"
    assert [trial.line for trial in late.log] == ["baseline-a", "good"]


class SlowingExperiment(FakeExperiment):
    """The second split takes long."""

    def _run(self, trial):
        time.sleep(30.0 * trial.split)
        return super()._run(trial)


def test_a_trial_that_runs_at_the_deadline_is_killed_in_a_worker():
    with open_runner(SlowingExperiment(MEANS), 2) as run:
        assert len(list(run([Trial.of("good", 0, 20)]))) == 1
        run.__self__._ready.result()
        start = time.monotonic()
        assert list(run([Trial.of("good", 1, 20)], start + 0.5)) == []
    assert time.monotonic() - start < 15


class DyingExperiment(FakeExperiment):
    """One method ends its process."""

    def _run(self, trial):
        import os

        if trial.method == "bad":
            os._exit(1)
        return super()._run(trial)


def test_a_method_that_kills_its_process_is_left_out_and_no_other():
    experiment = DyingExperiment(MEANS)
    trials = [*(Trial.of(name, 0, 20) for name in MEANS), Trial.of("good", 1, 20)]
    with open_runner(experiment, 2) as run:
        run.__self__._ready.result()
        results = {result.trial: result.error for result in run(trials)}
    assert set(results) == set(trials)
    assert {trial.method for trial, error in results.items() if error} == {"bad"}


def test_snapshots_show_scores_and_what_is_left():
    seen = []
    run_search(FakeExperiment(MEANS), new_search(), Limits(minutes=None, watch=seen.append))
    assert seen[0].scores[0].method == "baseline-a"
    assert set(seen[0].waiting) == {"baseline-b", "good", "bad"}
    assert seen[-1].scores[0].method == "good"
    assert set(seen[-1].remaining) == {"baseline-a", "good"}
    assert [snapshot.n_trials for snapshot in seen] == list(range(1, len(seen) + 1))


def test_a_damaged_log_is_begun_anew(tmp_path):
    path, trial = tmp_path / "log.jsonl", Trial("k-nn", False, 0, 5)

    def results_in(key):
        log = TrialLog(path, key)
        log.close()
        return log.results

    log = TrialLog(path, "key")
    log.add(TrialResult(trial, 0.5))
    log.add(TrialResult(replace(trial, split=1), None, error="it failed."))
    log.close()
    path.write_bytes(path.read_bytes() + b'{"cut')
    assert results_in("key") == {trial: TrialResult(trial, 0.5)}  # failures are tried again
    assert results_in("another key") == {}
    path.write_text(json.dumps({"handful": "compare", "key": "key"}) + '\n{"trial": 3}\n')
    assert results_in("key") == {}
