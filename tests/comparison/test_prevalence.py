from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from handful.cli import main
from handful.comparison.prevalence import _mid_p, cross_predictions, prevalence
from handful.data.labels import Labels
from handful.data.table import read_table
from handful.errors import DataError, ParameterError


def population(rng, n=4000, share=0.2, sensitivity=0.9, specificity=0.95, labeled=100):
    truth = rng.random(n) < share
    guess = np.where(truth, rng.random(n) < sensitivity, rng.random(n) < 1 - specificity)
    y = np.where(np.arange(n) < labeled, np.where(truth, "yes", "no"), None)
    return y, np.where(guess, "yes", "no")


def test_intervals_hold_and_are_narrower_than_those_of_the_labels():
    rng = np.random.default_rng(0)
    held, widths, alone = 0, [], []
    for _ in range(200):
        y, guess = population(rng)
        (yes,) = [share for share in prevalence(y, guess) if share.label == "yes"]
        held += yes.low <= 0.2 <= yes.high
        widths.append(yes.high - yes.low)
        alone.append(yes.high_labels - yes.low_labels)
    assert 182 <= held <= 198  # of 200 intervals of 95%: 4.2 standard errors
    assert np.mean(widths) < 0.75 * np.mean(alone)


def test_useless_predictions_cost_nothing():
    rng = np.random.default_rng(1)
    y, _ = population(rng)
    guess = rng.choice(["yes", "no"], len(y))
    for share in prevalence(y, guess):
        assert share.high - share.low <= share.high_labels - share.low_labels + 1e-12


def test_predictions_that_explain_the_labels_are_used_even_where_the_labels_alone_are_narrower():
    truth, guess = np.repeat(["yes", "no", "yes", "no"], [2, 3, 2, 43]), np.repeat(["yes", "no"], [5, 45])
    y = np.r_[truth.astype(object), [None] * 950]
    more = np.repeat(["yes", "no"], [190, 760])
    (yes,) = [share for share in prevalence(y, np.r_[guess, more]) if share.label == "yes"]
    assert yes.high - yes.low > yes.high_labels - yes.low_labels
    assert yes.value > 0.1  # two of five predictions are right, and 19.5% of rows have one


@pytest.mark.parametrize("hits", [0, 3, 20])
def test_the_interval_of_the_labels_is_mid_p(hits):
    y = ["yes"] * hits + ["no"] * (20 - hits) + [None] * 100
    low, high = _mid_p(hits, 20, 0.95)
    if 0 < hits < 20:
        (yes,) = [share for share in prevalence(y, ["no"] * 120) if share.label == "yes"]
        assert (yes.low_labels, yes.high_labels) == (low, high)
    # Exactly half of the probability of what was seen counts on either side.
    if hits > 0:
        assert binom.sf(hits, 20, low) + binom.pmf(hits, 20, low) / 2 == pytest.approx(0.025)
    if hits < 20:
        assert binom.cdf(hits, 20, high) - binom.pmf(hits, 20, high) / 2 == pytest.approx(0.025)


def test_intervals_of_rare_classes_hold_with_few_labels_and_poor_predictions():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        y, guess = population(rng, share=0.03, sensitivity=0.6, specificity=0.7, labeled=50)
        found = [share for share in prevalence(y, guess) if share.label == "yes"]
        held += not found or found[0].low <= 0.03 <= found[0].high
    assert held >= 182  # of 200


def test_predictions_need_no_column_to_learn_from(tmp_path, capsys):
    label = ["a", "b"] * 10 + [None] * 80
    pl.DataFrame({"id": range(100), "llm": ["a", "b"] * 50, "label": label}).write_csv(tmp_path / "t.csv")
    with pytest.raises(SystemExit) as ended:
        main(["prevalence", str(tmp_path / "t.csv"), "--target", "label", "--predictions", "llm", "--json"])
    assert ended.value.code == 0
    assert len(json.loads(capsys.readouterr().out)["classes"]) == 2


def test_chosen_rows_are_left_out():
    rng = np.random.default_rng(2)
    y, guess = population(rng, labeled=200)
    is_random = np.arange(len(y)) < 100
    half = np.where(is_random, y, None)
    assert [(s.value, s.low) for s in prevalence(y, guess, is_random=is_random)] == [
        (s.value, s.low) for s in prevalence(half, guess)
    ]


def test_groups_have_wider_intervals():
    rng = np.random.default_rng(3)
    y, guess = population(rng, labeled=400)
    groups = np.where(np.arange(len(y)) % 2, "a", "b")
    shares = prevalence(y, guess, groups=groups)
    assert [(s.group, s.label) for s in shares] == [(g, c) for g in (None, "a", "b") for c in ("no", "yes")]
    assert shares[3].high - shares[3].low > 1.3 * (shares[1].high - shares[1].low)


def test_too_few_labels_wrong_lengths_and_levels_are_refused():
    with pytest.raises(DataError, match="at least 10 rows"):
        prevalence(["a", "b", None], ["a", "b", "a"])
    with pytest.raises(DataError, match="3 labels but 2 predictions"):
        prevalence(["a", "b", None], ["a", "b"])
    with pytest.raises(ParameterError, match="level"):
        prevalence(["a"] * 10, ["a"] * 10, level=95)


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    truth = np.where(X[:, 0] > 0.5, "yes", "no")
    label = [name if row < 60 else None for row, name in enumerate(truth)]
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "llm": truth, "part": ["x", "y"] * 150, "label": label})
    frame.write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv", truth


def test_predictions_come_from_models_that_did_not_see_the_label(file):
    path, _ = file
    table = read_table(path, "label", columns={"llm": "skip", "part": "skip"})
    n_folds = len(table.labeled)
    before = cross_predictions(table, method="k-nn", n_folds=n_folds)
    for row in table.labeled[:5]:
        codes = table.codes.copy()
        codes[row] = 1 - codes[row]
        after = cross_predictions(table.with_labels(Labels(codes, table.classes)), method="k-nn", n_folds=n_folds)
        assert before[row] == after[row]
    assert set(before) == {"yes", "no"}


def test_the_command_prints_shares_as_json(file, capsys):
    path, truth = file
    with pytest.raises(SystemExit) as ended:
        main(["prevalence", str(path), "--target", "label", "--predictions", "llm", "--by", "part", "--json"])
    assert ended.value.code == 0
    content = json.loads(capsys.readouterr().out)
    yes = [c for c in content["classes"] if c["label"] == "yes"]
    assert [c["group"] for c in yes] == [None, "x", "y"]
    assert yes[0]["low"] <= (truth == "yes").mean() <= yes[0]["high"]
    assert (yes[0]["n_labeled"], yes[0]["n_rows"]) == (60, 300)


def test_empty_cells_are_a_group_with_a_name(file, capsys):
    path, _ = file
    pl.read_csv(path).with_columns(part=pl.col("part").replace("x", None)).write_csv(path)
    with pytest.raises(SystemExit) as ended:
        main(["prevalence", str(path), "--target", "label", "--predictions", "llm", "--by", "part", "--json"])
    assert ended.value.code == 0
    groups = {share["group"] for share in json.loads(capsys.readouterr().out)["classes"]}
    assert groups == {None, "(empty)", "y"}


def test_the_command_leaves_chosen_rows_out(file, capsys):
    path, _ = file
    frame = pl.read_csv(path).with_columns(next_selection=pl.Series(["chosen"] * 30 + ["random"] * 30 + [None] * 240))
    frame.write_csv(path)
    with pytest.raises(SystemExit):
        main(["prevalence", str(path), "--target", "label", "--predictions", "llm", "--json"])
    content = json.loads(capsys.readouterr().out)
    assert (content["n_chosen_left_out"], content["classes"][0]["n_labeled"]) == (30, 30)


def test_predictions_that_are_no_labels_are_counted(file, capsys):
    path, _ = file
    frame = pl.read_csv(path)
    llm = [None, "zebra", *frame["llm"].to_list()[2:]]
    frame.with_columns(llm=pl.Series(llm)).write_csv(path)
    with pytest.raises(SystemExit):
        main(["prevalence", str(path), "--target", "label", "--predictions", "llm"])
    assert "2 cells of 'llm' (of 300) empty or not a label." in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--predictions", "--by"])
@pytest.mark.parametrize("name", ["gpt", ""])
def test_a_column_that_is_not_there_is_one_sentence(file, capsys, option, name):
    path, _ = file
    with pytest.raises(SystemExit) as ended:
        main(["prevalence", str(path), "--target", "label", option, name])
    assert ended.value.code == 1
    assert f"no column '{name}'" in capsys.readouterr().err


def test_small_groups_are_left_out_and_shares_sum_to_one():
    rng = np.random.default_rng(4)
    y, guess = population(rng, labeled=200)
    groups = np.where(np.arange(len(y)) < 5, "tiny", "large")
    shares = prevalence(y, guess, groups=groups)
    assert {share.group for share in shares} == {None, "large"}
    for group in (None, "large"):
        assert sum(share.value for share in shares if share.group == group) == pytest.approx(1, abs=0.02)
        assert all(share.low <= share.value <= share.high for share in shares if share.group == group)


def test_predictions_of_other_names_leave_the_intervals_of_the_labels():
    y = np.array(["a", "b"] * 20 + [None] * 60, dtype=object)
    a, b = prevalence(y, np.array(["first", "second"] * 50))
    assert (a.low, a.high) == (a.low_labels, a.high_labels) == (b.low, b.high)
