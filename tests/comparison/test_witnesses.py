from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from cli_run import run
from scipy.stats import binomtest

import handful
from handful.comparison.fit import fit_with_witnesses
from handful.data.table import as_table
from handful.errors import DataError, MissingColumnError
from handful.models.witnesses import _expectation_maximization, learn_witnesses, witness_errors, witness_names

CONFUSION = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.05, 0.05, 0.9]])


def simulated(n=3_000, n_gold=100, seed=0, confusion=CONFUSION):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(confusion), n)
    cells = np.array([rng.choice(confusion.shape[1], p=confusion[k]) for k in y])
    codes = np.where(np.arange(n) < n_gold, y, -1)
    return y, codes, [f"c{v}" for v in cells]


def test_the_confusion_is_close_to_the_true_one():
    _, codes, cells = simulated()
    (witness,), _ = learn_witnesses(codes, ["c0", "c1", "c2"], {"llm": cells})
    assert np.abs(witness.confusion - CONFUSION).max() < 0.1
    assert witness.is_used


def test_posteriors_hold_what_they_promise():
    y, codes, cells = simulated()
    _, posterior = learn_witnesses(codes, ["c0", "c1", "c2"], {"llm": cells})
    rest = codes < 0
    correct = posterior[rest].argmax(axis=1) == y[rest]
    assert correct.mean() == pytest.approx(posterior[rest].max(axis=1).mean(), abs=0.05)
    assert (posterior[~rest].argmax(axis=1) == codes[~rest]).all()
    assert posterior[~rest].max(axis=1).tolist() == [1.0] * 100


def test_two_witnesses_know_more_than_one():
    y, codes, cells = simulated()
    rng = np.random.default_rng(5)
    other = [f"c{rng.choice(3, p=CONFUSION[k])}" for k in y]
    rest = codes < 0

    def log_likelihood(columns):
        _, posterior = learn_witnesses(codes, ["c0", "c1", "c2"], columns)
        return np.log(posterior[np.flatnonzero(rest), y[rest]]).mean()

    assert log_likelihood({"a": cells, "b": other}) > log_likelihood({"a": cells}) + 0.1


def test_cells_may_have_names_of_their_own_and_be_empty():
    y, codes, cells = simulated(confusion=np.array([[0.9, 0.1], [0.1, 0.9]]))
    named = [None if row % 5 == 0 else {"c0": "spam", "c1": "fine"}[cell] for row, cell in enumerate(cells)]
    (witness,), posterior = learn_witnesses(codes, ["yes", "no"], {"llm": named})
    assert witness.is_used
    silent = (witness.votes < 0) & (codes < 0)
    assert not posterior[silent].any()
    said = (witness.votes >= 0) & (codes < 0)
    assert (posterior[said].argmax(axis=1) == y[said]).mean() > 0.85


@pytest.mark.parametrize("seed", range(10))
def test_chance_is_ignored(seed):
    _, codes, cells = simulated(seed=seed, confusion=np.full((3, 3), 1 / 3), n_gold=60)
    (witness,), posterior = learn_witnesses(codes, ["c0", "c1", "c2"], {"llm": cells})
    assert not witness.is_used
    assert not posterior[codes < 0].any()


@pytest.mark.parametrize("seed", range(5))
def test_numbers_of_chance_are_ignored(seed):
    _, codes, _ = simulated(n=60, n_gold=20, seed=seed)
    cells = np.random.default_rng(seed).normal(size=60).round(1).astype(str)
    (witness,), _ = learn_witnesses(codes, ["c0", "c1", "c2"], {"a": cells})
    assert not witness.is_used
    assert witness.own_names(["c0", "c1", "c2"]) == {}


def test_one_step_of_em_is_that_of_dawid_and_skene():
    codes, votes = np.array([0, 1, 1, -1, -1]), np.array([0, 1, 0, 0, 1])
    confusions, posterior = _expectation_maximization(codes, 2, [votes], [np.ones((2, 2))])
    # A fixed point: the M step of the posterior gives the confusion, the E step of the confusion the posterior.
    counts = np.array([[posterior[votes == v, k].sum() for v in (0, 1)] for k in (0, 1)]) + 1
    assert confusions[0] == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=1e-6)
    priors = (posterior.sum(axis=0) + 1) / (posterior.sum() + 2)
    expected = priors * confusions[0][:, votes[3]]
    assert posterior[3] == pytest.approx(expected / expected.sum(), abs=1e-6)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    llm = np.where(rng.random(400) < 0.85, y, np.where(y == "yes", "no", "yes"))
    coin = rng.choice(["yes", "no"], 400)
    label = [name if row < 24 else None for row, name in enumerate(y)]
    frame = pl.DataFrame({**dict(zip("abcd", X.T, strict=True)), "llm": llm, "coin": coin, "label": label})
    return frame, y


def test_witnesses_help_and_are_no_features(rows):
    frame, y = rows
    table = as_table(frame, "label")
    model, (llm, coin) = fit_with_witnesses(table, ["llm", "coin"])
    assert (llm.is_used, coin.is_used) == (True, False)
    assert set(model.column_kinds) == set("abcd")
    new = frame.drop("llm", "coin", "label")
    alone = handful.fit(frame.drop("llm", "coin"), "label", method="ensemble")
    assert (model.predict(new)[24:] == y[24:]).mean() > (alone.predict(new)[24:] == y[24:]).mean() + 0.02


def test_a_held_out_row_is_scored_without_its_witness(rows):
    frame, _ = rows
    # A witness that repeats the labels of the labeled rows, and is wrong elsewhere, must not look good.
    rng = np.random.default_rng(1)
    label = frame["label"].to_list()
    copy = [name if name is not None else rng.choice(["yes", "no"]) for name in label]
    X = rng.normal(size=(400, 4))
    table = as_table({**dict(zip("abcd", X.T, strict=True)), "llm": copy, "label": label}, "label")
    model, _ = fit_with_witnesses(table, ["llm"])
    assert model.training_["estimate"]["value"] < 0.85


def test_a_witness_that_makes_held_out_labels_less_likely_is_left_out(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], 600)
    X = rng.normal(size=(600, 3)) + 6 * (y[:, None] == ["a", "b", "c"])
    llm = np.where(rng.random(600) < 0.55, y, np.where(y == "a", "b", np.where(y == "b", "c", "a")))
    label = [name if row < 45 else None for row, name in enumerate(y)]
    frame = pl.DataFrame({**dict(zip("pqr", X.T, strict=True)), "llm": llm, "label": label})
    model, (witness,) = fit_with_witnesses(as_table(frame, "label"), ["llm"])
    assert witness.is_used
    assert (model.training_["witnesses"], model.method_name) == ([], "ensemble")
    assert model.training_["estimate"]["value"] == model.training_["estimate_alone"]["value"]
    alone = handful.fit(frame.drop("llm"), "label", method="ensemble")
    assert (model.predict(frame) == alone.predict(frame)).mean() > 0.99
    handful.save(model, tmp_path / "m.handful")
    assert handful.load(tmp_path / "m.handful").predict_proba(frame) == pytest.approx(
        model.predict_proba(frame), abs=1e-12
    )


def test_a_saved_model_predicts_alike_and_holds_no_cells_of_witnesses(rows, tmp_path):
    frame, _ = rows
    frame = frame.with_columns(llm=pl.col("llm").replace({"yes": "secretword"}))
    model, _ = fit_with_witnesses(as_table(frame, "label"), ["llm"])
    handful.save(model, tmp_path / "m.handful")
    again = handful.load(tmp_path / "m.handful")
    assert again.predict_proba(frame).max() <= 25 / 26 + 1e-9
    new = frame.drop("label")
    assert again.predict_proba(new) == pytest.approx(model.predict_proba(new), abs=1e-12)
    assert b"secretword" not in (tmp_path / "m.handful").read_bytes()
    assert again.method_name == "ensemble with llm"


def test_texts_learn_from_witnesses():
    rng = np.random.default_rng(0)
    words = {"sport": ["goal", "team", "match", "win", "coach"], "food": ["soup", "bread", "taste", "cook", "salt"]}
    y = rng.choice(["sport", "food"], 200)
    texts = [" ".join([rng.choice(words[k]), *rng.choice([f"word{n}" for n in range(60)], 8)]) for k in y]
    llm = np.where(rng.random(200) < 0.9, y, np.where(y == "food", "sport", "food"))
    label = [k if row < 16 else None for row, k in enumerate(y)]
    table = as_table({"text": texts, "llm": llm.tolist(), "label": label}, "label", columns={"text": "text"})
    model, _ = fit_with_witnesses(table, ["llm"], text="lsa")
    assert model.estimator_.views_ == ["rows", "rows", "words"]
    assert (model.predict(texts) == y).mean() > 0.95


def test_a_model_of_words_refuses_rows_without_words():
    y = ["a", "b"] * 40
    label = [name if row < 20 else None for row, name in enumerate(y)]
    table = as_table({"x": np.arange(80.0) % 2, "llm": y, "label": label}, "label")
    model, _ = fit_with_witnesses(table, ["llm"])
    model.estimator_.views_ = [*model.estimator_.views_[:-1], "words"]
    with pytest.raises(DataError, match="the rows have none"):
        model.predict_proba(pl.DataFrame({"x": [0.0]}))


def test_errors_have_exact_intervals():
    label = ["complaint"] * 80 + ["refund"] * 20 + [None] * 5
    llm = ["refund"] * 31 + ["complaint"] * 49 + ["refund"] * 19 + [None] + ["refund"] * 5
    table = as_table({"x": np.arange(105.0), "llm": llm, "label": label}, "label")
    total, error = witness_errors(table, ["llm"])
    assert (total.n, total.n_labeled) == (31, 99)
    assert (error.says, error.label, error.n, error.n_labeled) == ("refund", "complaint", 31, 80)
    exact = binomtest(31, 80).proportion_ci()
    assert (error.low, error.high) == pytest.approx((exact.low, exact.high))


def test_names_of_its_own_count_as_what_they_stand_for():
    label, llm = ["yes", "no"] * 20 + [None] * 5, ["spam", "fine"] * 20 + ["spam"] * 5
    llm[0], llm[2] = "fine", "unclear"
    table = as_table({"x": np.arange(45.0), "llm": llm, "other": ["no"] * 45, "label": label}, "label")
    assert witness_names(table, ["llm"])["llm"] == {"spam": "yes", "fine": "no", "unclear": "yes"}
    total, error = witness_errors(table, ["llm"])
    assert (total.n, error.says, error.label, error.n) == (1, "fine", "yes", 1)
    named = [{"spam": "yes", "fine": "no"}.get(cell, cell) for cell in llm]
    table = as_table({"x": np.arange(45.0), "llm": named, "label": label}, "label")
    assert witness_names(table, ["llm"]) == {}
    assert witness_errors(table, ["llm"])[0].n == 2


def test_errors_need_labels():
    table = as_table({"x": [1.0, 2.0], "llm": ["a", "b"], "label": [None, None]}, "label")
    with pytest.raises(DataError, match="no labels in 'label'"):
        witness_errors(table, ["llm"])


def test_columns_that_are_no_witnesses_are_refused(rows):
    frame, _ = rows
    table = as_table(frame, "label")
    with pytest.raises(MissingColumnError, match="llm"):
        fit_with_witnesses(table, ["llmm"])
    with pytest.raises(DataError, match="label column"):
        witness_errors(table, ["label"])
    silent = replace(table, cells=table.cells.with_columns(llm=pl.lit(None, dtype=pl.String)))
    with pytest.raises(DataError, match="empty in all labeled rows"):
        witness_errors(silent, ["llm"])


@pytest.fixture
def file(rows, tmp_path):
    rows[0].write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def test_the_command_says_what_it_ignores(file, capsys):
    code, out, err = run(capsys, "fit", file, "--target", "label", "--also", "llm,coin", "--json")
    facts = json.loads(out)
    assert (code, facts["witnesses"], facts["method"]) == (0, ["llm"], "ensemble with llm")
    assert facts["estimate"]["n"] == facts["estimate_alone"]["n"] == 24
    assert "'coin': agrees with" in err
    assert "ignored" in err


def test_the_next_command_keeps_witnesses_out(file, capsys):
    _, out, _ = run(capsys, "fit", file, "--target", "label", "--also", "llm,coin")
    suggested = shlex.split(next(line for line in out.splitlines() if "handful next" in line), comments=True)
    arguments = suggested[suggested.index("next") :]
    assert arguments[arguments.index("--columns") + 1] == "llm=skip,coin=skip"
    assert run(capsys, *arguments)[0] == 0


def test_a_chance_witness_alone_leaves_the_ensemble(file, capsys):
    code, out, _ = run(capsys, "fit", file, "--target", "label", "--also", "coin")
    assert (code, "not estimated: no column of --also is used" in out) == (0, True)
    code, out, _ = run(capsys, "fit", file, "--target", "label", "--also", "coin", "--json")
    facts = json.loads(out)
    assert (code, facts["witnesses"], facts["method"]) == (0, [], "ensemble")


def test_check_lists_errors(file, capsys):
    code, out, _ = run(capsys, "check", file, "--target", "label", "--also", "llm", "--json", force=False)
    errors = json.loads(out)["errors"]
    assert (code, errors[0]["label"], errors[0]["n_labeled"]) == (0, None, 24)
    code, out, _ = run(capsys, "check", file, "--target", "label", "--also", "llm,coin", force=False)
    assert code == 0
    assert "of 24 labels differ" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "--also", "gpt", "--target", "label"), "no column 'gpt'"),
        (("fit", "--also", "label", "--target", "label"), "label"),
        (("fit", "--also", "llm", "--target", "label", "--method", "k-nn"), "--method"),
        (("fit", "--also", "llm", "--target", "label", "--class-priors", "yes=0.5,no=0.5"), "--class-priors"),
        (("check", "--also", "llm"), "--target"),
        (("check", "--also", "gpt", "--target", "label"), "no column 'gpt'"),
        (("check", "--also", "label", "--target", "label"), "label column"),
    ],
)
def test_wrong_use_is_one_sentence(file, capsys, arguments, words):
    command, *options = arguments
    code, _, err = run(capsys, command, file, *options)
    assert code != 0
    assert words in err
    assert "Traceback" not in err


def test_check_needs_no_column_to_learn_from(tmp_path, capsys):
    frame = pl.DataFrame({"id": range(40), "llm": ["a", "b"] * 20, "label": ["a", "a"] * 10 + [None] * 20})
    frame.write_csv(tmp_path / "t.csv")
    code, out, _ = run(
        capsys, "check", tmp_path / "t.csv", "--target", "label", "--also", "llm,llm", "--json", force=False
    )
    assert code == 0
    assert [error["n"] for error in json.loads(out)["errors"]] == [10, 10]
    assert run(capsys, "check", tmp_path / "t.csv", "--target", "label", "--also", ",", force=False)[0] == 2
