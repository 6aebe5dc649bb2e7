from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from fakes_race import SETTING, FakeArena, LoudArena, entrants

from handful.experiment.race import Race
from handful.experiment.running import Runner
from handful.experiment.session import Session
from handful.experiment.trial import Outcome, Task
from handful.experiment.workers import Here, hire


def held(arena, race, **limits):
    runner = Runner(race, Session(**{"started": 0.0, **limits}), Here(arena), clock=arena.clock)
    return runner.run()


def new_race(names=("plain-a", "plain-b", "good", "bad"), **changes):
    settings = {"setting": SETTING, "n_labels": 20, "prove": False}
    made = changes.pop("entrants", None) or entrants(*names)
    return Race(made, **{**settings, **changes})


MEANS = {"plain-a": 0.70, "plain-b": 0.69, "good": 0.80, "bad": 0.40}


def test_everyone_is_tried_once_then_only_those_in_question():
    arena, race = FakeArena(MEANS), new_race()
    assert held(arena, race) == "finished"
    assert [task.entry for task in arena.log[:4]] == ["plain-a", "plain-b", "good", "bad"]
    counts = Counter(task.entry for task in arena.log)
    assert counts["bad"] <= 2
    assert counts["good"] >= 5
    assert counts["good"] > counts["bad"]
    assert race.ranking.ranks[0].name == "good"


def test_a_clear_leader_ends_the_race_early():
    arena, race = FakeArena(MEANS), new_race(draws=1_000)
    assert held(arena, race, minutes=1_000) == "finished"
    assert len(arena.log) < 40


def test_those_that_are_alike_get_more_draws_than_those_that_are_not():
    alike = FakeArena({"plain-a": 0.80, "plain-b": 0.797, "good": 0.795, "bad": 0.4}, spread=0.05)
    race = new_race(draws=20)
    held(alike, race)
    assert len(alike.log) > 20
    assert race.n_done("bad") < 5 <= race.n_done("good")


@pytest.mark.parametrize("minutes", [0.004, 0.02, 0.1, 0.5])
def test_the_time_is_kept_and_the_best_measured_is_recommended(minutes):
    arena = FakeArena(MEANS, seconds={"good": 2.0, "bad": 0.05})
    race = new_race()
    state = held(arena, race, minutes=minutes)
    assert arena.now <= 60 * minutes + 2.0  # a trial in this process is finished
    assert race.ranking.ranks[0].name in {task.entry for task in arena.log}
    if minutes < 0.05:
        assert state == "out of time"


def test_the_favorite_is_measured_before_all_but_one():
    made = entrants("plain-a", "plain-b", "good", "team", team={"favorite": True, "cost": "fair"})
    arena = FakeArena({**MEANS, "team": 0.8}, seconds={"team": 5.0})
    held(arena, new_race(entrants=made), minutes=0.1)
    assert [task.entry for task in arena.log[:4]] == ["plain-a", "team", "plain-b", "good"]
    assert arena.now <= 6 + 5.0


def test_slow_methods_begin_only_if_a_pilot_says_that_they_fit():
    made = entrants("plain-a", "slow", "endless", slow={"cost": "slow"}, endless={"cost": "slow"})
    arena = FakeArena({"plain-a": 0.7, "slow": 0.8, "endless": 0.9}, seconds={"slow": 3.0, "endless": 500.0})
    race = new_race(entrants=made)
    held(arena, race, minutes=1)
    assert {pilot.entry for pilot in arena.pilots} == {"slow", "endless"}
    assert "endless" not in {task.entry for task in arena.log}
    assert race.left_out["endless"].startswith("would take about 25 minutes, and ")
    assert race.ranking.ranks[0].name == "slow"
    assert arena.now < 60


def test_an_interrupt_gives_what_was_measured():
    class Stopped(FakeArena):
        def run(self, task):
            if len(self.log) == 3:
                raise KeyboardInterrupt
            return super().run(task)

    arena, race = Stopped(MEANS), new_race()
    assert held(arena, race) == "interrupted"
    assert race.ranking.ranks[0].name == "good"
    assert len(race.outcomes) == 3


def test_a_budget_of_trials_does_not_depend_on_the_clock():
    logs = []
    for factor in (1, 1_000):
        arena = FakeArena(dict.fromkeys(MEANS, 0.7), seconds=dict.fromkeys(MEANS, 0.1 * factor))
        race = new_race(prove=True)
        state = held(arena, race, trials=17, minutes=0.001)
        logs.append(arena.log)
        assert (state, len(arena.log)) == ("out of trials", 17)
    assert logs[0] == logs[1]


def test_a_race_goes_on_where_it_was_stopped():
    whole = FakeArena(MEANS, spread=0.05)
    first = new_race()
    held(whole, first, trials=200)
    again = FakeArena(MEANS, spread=0.05)
    half = new_race(outcomes=list(first.outcomes[:6]))
    held(again, half, trials=200)
    assert not set(again.log) & {outcome.task for outcome in first.outcomes[:6]}
    assert {o.task: o.score for o in half.outcomes} == {o.task: o.score for o in first.outcomes}


def test_with_a_budget_of_trials_it_goes_on_as_it_would_have_from_any_moment():
    """In the middle of a lap too: who is in question is asked when the lap is done, not earlier."""
    means = {"plain-a": 0.70, "plain-b": 0.69, "good": 0.72, "bad": 0.66}
    whole, first = FakeArena(means, spread=0.1), new_race(prove=True)
    held(whole, first, trials=40)
    for n_known in range(len(first.outcomes)):
        arena, race = FakeArena(means, spread=0.1), new_race(prove=True)
        known = {outcome.task: outcome for outcome in first.outcomes[:n_known]}
        limits = Session(started=0.0, trials=40)
        Runner(race, limits, Here(arena), clock=arena.clock, known=known).run()
        assert [o.task for o in race.outcomes] == [o.task for o in first.outcomes]
        assert len(arena.log) == len(first.outcomes) - n_known


def test_a_method_that_fails_is_left_out_with_its_reason():
    class Failing(FakeArena):
        def run(self, task):
            if task.method == "good":
                return Outcome(task, None, error="no such luck.")
            return super().run(task)

    arena, race = Failing(MEANS), new_race()
    held(arena, race)
    assert race.left_out == {"good": "no such luck."}
    assert race.ranking.ranks[0].name in ("plain-a", "plain-b")


TWINS = {
    "semi": {"uses_unlabeled": True, "twin": "semi (labels only)"},
    "weak": {"uses_unlabeled": True, "twin": "weak (labels only)"},
}


def twin_race(**changes):
    made = entrants("plain-a", "semi", "weak", **TWINS)
    from handful.experiment.entrants import Entrant

    made += [Entrant(f"{name} (labels only)", name, labels_only=True, ranked=False) for name in ("semi", "weak")]
    return new_race(entrants=made, **changes)


TWIN_MEANS = {"plain-a": 0.7, "semi": 0.8, "semi (labels only)": 0.72, "weak": 0.4, "weak (labels only)": 0.4}


def test_twins_run_only_while_their_contender_is_in_the_race():
    arena, race = FakeArena(TWIN_MEANS), twin_race(prove=True)
    held(arena, race)
    counts = Counter(task.entry for task in arena.log)
    assert counts["weak (labels only)"] == 0
    assert counts["semi (labels only)"] == counts["semi"]
    assert race.ranking.ranks[0].helped
    choosing, race = FakeArena(TWIN_MEANS), twin_race(prove=False)
    held(choosing, race)
    assert not any(task.labels_only for task in choosing.log)


def test_the_best_plain_method_goes_on_beside_the_leader_until_the_time_is_up():
    made = entrants("plain", "semi-a", "semi-b", **{name: {"uses_unlabeled": True} for name in ("semi-a", "semi-b")})
    arena = FakeArena({"plain": 0.74, "semi-a": 0.80, "semi-b": 0.798}, spread=0.05)
    race = new_race(entrants=made, prove=True, draws=100)
    assert held(arena, race, minutes=0.1) == "out of time"
    assert race.n_done("semi-a") > 10
    assert race.n_done("plain") >= race.n_done("semi-a") - 5
    alone = new_race(entrants=made, draws=100)
    held(FakeArena(arena.means, spread=0.05), alone, minutes=0.1)
    assert alone.n_done("plain") <= 5


def test_what_may_be_proven_gets_the_draws_it_needs():
    means = {**TWIN_MEANS, "semi": 0.76, "semi (labels only)": 0.70}
    arena, race = FakeArena(means, spread=0.04), twin_race(prove=True)
    held(arena, race)
    assert race.n_done("semi") == race.n_done("plain-a") == race.n_done("semi (labels only)")
    assert race.n_done("semi") >= 10


def test_other_numbers_of_labels_come_last_and_for_the_best_alone():
    arena, race = FakeArena(TWIN_MEANS), twin_race(prove=True, curve=(5, 10, 20))
    assert held(arena, race) == "finished"
    sizes = [task.n_labels for task in arena.log]
    first = next(i for i, size in enumerate(sizes) if size != 20)
    assert set(sizes[first:]) == {5, 10}
    assert {task.entry for task in arena.log[first:]} <= {"semi", "plain-a", "weak"}


def test_more_memory_than_there_is_leaves_a_method_out():
    made = entrants("plain-a", "slow", slow={"cost": "slow"})
    arena = FakeArena({"plain-a": 0.7, "slow": 0.8})
    race = new_race(entrants=made)
    held(arena, race, memory_gb=1e-7)
    assert race.left_out["slow"].startswith("needs about 1 MB")


def test_the_standing_is_told_while_it_changes():
    arena, race = FakeArena(MEANS), new_race()
    seen = []
    held(arena, race, watch=seen.append)
    assert seen[0].bets == ()
    assert seen[0].waiting == ("plain-a", "plain-b", "good", "bad")
    assert seen[1].bets[0].name == "plain-a"
    assert seen[-1].bets[0].name == "good"
    assert "bad" not in seen[-1].in_question


def test_the_quickest_and_the_favorite_are_measured_even_where_time_is_up_before_the_start():
    arena = FakeArena({"plain": 0.6, "team": 0.7, "other": 0.8})
    arena.now = 100.0
    race = Race(entrants("plain", "other", "team", team={"favorite": True}), SETTING, n_labels=20)
    session = Session(minutes=1, started=0.0)
    state = Runner(race, session, Here(arena), clock=arena.clock).run()
    assert state == "out of time"
    assert [task.entry for task in arena.log] == ["plain", "team"]
    assert race.bets[0].name == "team"


def test_that_a_worker_compiles_is_told_here(caplog):
    caplog.set_level("INFO", logger="handful.kernels")
    tasks = [Task("good", False, draw, 20) for draw in range(2)]
    with hire(LoudArena(MEANS), 2) as workers:
        for task in tasks:
            workers.submit(task, cheap=False)
        done = []
        while len(done) < len(tasks):
            done += workers.wait(60)
        for _ in range(20):  # the result may be here before the message was looked for
            workers._waiting.clear()
            workers._finished(0.01)
    assert caplog.messages == ["compiling what is used for the first time"]


FEW = replace(SETTING, n_test=8)


def test_time_that_is_left_goes_to_the_leaders_until_one_is_clear():
    means = {"plain-a": 0.70, "team": 0.70, "good": 0.70, "bad": 0.2}
    made = entrants(*means, team={"favorite": True})
    counts = {}
    for use_time in (False, True):
        race = new_race(entrants=made, setting=FEW, draws=10, use_time=use_time)
        assert held(FakeArena(means, spread=0.15), race, minutes=10) == "finished"
        counts[use_time] = {name: race.n_done(name) for name in means}
    assert max(counts[False].values()) == 5
    assert [counts[True][name] for name in ("plain-a", "team", "good")] == [10, 10, 10]
    assert counts[True]["bad"] == counts[False]["bad"]
    assert race.why_over.startswith("what may be the best had all its draws")
    clear = new_race(draws=1_000, use_time=True)
    assert held(FakeArena(MEANS), clear, minutes=10) == "finished"
    assert len(clear.outcomes) < 40
    assert clear.n_done(clear.ranking.baseline) >= 3  # or nothing could be said of the difference
    assert clear.why_over == "the ranking is clear, good is 99 % likely to be the best"


def test_a_race_whose_next_trial_does_not_fit_is_out_of_time():
    arena = FakeArena({"plain-a": 0.70, "good": 0.71}, seconds={"plain-a": 4.0, "good": 4.0})
    assert held(arena, new_race(("plain-a", "good")), minutes=0.5) == "out of time"
    assert arena.now <= 30
