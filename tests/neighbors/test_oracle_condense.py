"""Condensation equals the literal oracle on small problems full of ties, in every kind of table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from oracles.condense import ask, condense, distance, inconsistent, semi_supervised_condense, voters, weights

from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN

VOTES = ["uniform", "distance", "gaussian", "rank", "dudani", "literal"]
TIES = ["first", "all"]
LABELS = np.array(["a", "b", "c"], dtype=object)
N_PROBLEMS = 200
NEAR = 1e-9  # a weighted share nearer than this to its threshold is decided by rounding: no problem for a comparison


# -- problems ---------------------------------------------------------------------------------------------------------


def grid_problem(seed, unlabeled=0.0):
    """Draw rows from a small grid, so that equal distances and identical rows are everywhere."""
    rng = np.random.default_rng(seed)
    n, d, high = int(rng.integers(4, 22)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    X = rng.integers(0, high, size=(n, d)).astype(np.float64)
    y = LABELS[rng.integers(0, int(rng.integers(2, 4)), size=n)]
    hidden = rng.random(n) < unlabeled
    hidden[int(rng.integers(0, n))] = False
    y[hidden] = None
    return X, y


def repeated_problem(seed, unlabeled=0.0):
    """Draw rows with replacement from a few points without structure: no equal distances but those of identical rows."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(2, 9)), int(rng.integers(1, 5)))) * 10
    points = points.astype(np.float32).astype(np.float64)  # the same numbers in both sizes
    X = points[rng.integers(0, len(points), size=int(rng.integers(5, 22)))]
    y = LABELS[rng.integers(0, 3, size=len(X))]
    y[1:][rng.random(len(X) - 1) < unlabeled] = None
    return X, y


def categorical_problem(seed, unlabeled=0.0):
    """Draw a table of a string column, a category column and, in every other problem, a number."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 22))
    table = pd.DataFrame(
        {
            "tag": np.array(["NN", "VB", "JJ"], dtype=object)[rng.integers(0, 3, size=n)],
            "cluster": pd.Categorical(np.array(["17", "17*", "4", "9"])[rng.integers(0, 4, size=n)]),
        }
    )
    if seed % 2:
        table["length"] = rng.integers(0, 3, size=n).astype(float)
    y = LABELS[rng.integers(0, 3, size=n)]
    y[1:][rng.random(n - 1) < unlabeled] = None
    return table, y


def queries(X, seed):
    rng = np.random.default_rng(seed + 1)
    return np.vstack([X[:3], rng.integers(0, 4, size=(4, X.shape[1]))]).astype(X.dtype)


def as_rows(X):
    if isinstance(X, pd.DataFrame):
        return [[v if isinstance(v, str) else float(v) for v in row] for row in X.itertuples(index=False)]
    return [[float(v) for v in row] for row in X]


def settings(seed):
    """Cycle through votes and ties; two of three problems use the uniform vote's exact shares."""
    vote = "uniform" if seed % 3 else VOTES[seed // 3 % len(VOTES)]
    return vote, TIES[seed % 2]


CONTAINERS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "fortran": np.asfortranarray,
}


def two_containers(seed):
    """Name float64 and, in turn, one of the others."""
    return ["float64", ["float32", "csr", "fortran"][seed % 3]]


def rounding_decides(vote, shares):
    return vote != "uniform" and any(abs(share - threshold) < NEAR for share, threshold in shares)


def answers(store, asked, k, vote, ties):
    return [ask(store, x, k, vote, ties) for x in asked]


def check_answers(model, Q, expected, message):
    tolerance = 1e-6 if getattr(Q, "dtype", None) == np.float32 else 1e-9
    assert model.predict(Q).tolist() == [label for label, _ in expected], message
    share = [[shares.get(c, 0.0) for c in model.classes_] for _, shares in expected]
    np.testing.assert_allclose(model.predict_proba(Q), share, atol=tolerance, err_msg=message)


# -- the oracle itself ------------------------------------------------------------------------------------------------


def test_oracle_distance_by_hand():
    assert distance([0, 0], [3, 4]) == 5
    assert distance(["NN", "17"], ["NN", "17*"]) == 1
    assert distance(["NN", "17"], ["VB", "4"]) == math.sqrt(2)
    assert distance(["NN", 3.0], ["VB", 1.0]) == math.sqrt(5)


def test_oracle_voters_by_hand():
    store = [([2], "a"), ([0], "b"), ([-2], "c"), ([3], "a"), ([0], "c")]
    assert voters(store, [0], 1) == [(0, "b")]
    assert voters(store, [0], 3) == [(0, "b"), (0, "c"), (2, "a")]
    assert voters(store, [0], 1, "all") == [(0, "b"), (0, "c")]
    assert voters(store, [0], 2, "all") == [(0, "b"), (0, "c"), (2, "a"), (2, "c")]
    assert voters(store, [0], 9, "all") == [(0, "b"), (0, "c"), (2, "a"), (2, "c"), (3, "a")]
    assert voters(store[:2], [0], 3) == [(0, "b"), (2, "a")]


def test_oracle_weights_by_hand():
    assert weights([1, 2, 4], "distance") == [1, 0.5, 0.25]
    assert weights([0, 0, 4], "distance") == [1, 1, 0]
    assert weights([1, 2, 3], "gaussian") == pytest.approx([1000 ** (-1 / 9), 1000 ** (-4 / 9), 0.001])
    assert weights([0, 0], "gaussian") == weights([0, 0], "literal") == weights([2, 2], "dudani") == [1, 1]
    assert weights([5, 6], "rank") == pytest.approx([0.001, 1000 ** (-9 / 4)])
    assert weights([5], "rank") == [1]
    assert weights([5, 5, 6], "rank", "all") == pytest.approx([0.001, 0.001, 1000 ** (-9 / 4)])
    assert weights([1, 2, 5], "dudani") == [1, 0.75, 0]
    assert weights([0, 2, 5], "literal") == [0, 2, 5]


def test_oracle_tied_vote_goes_to_the_nearest_label_among_the_tied():
    store = [([0], "c"), ([1], "b"), ([2], "a"), ([3], "a"), ([4], "b")]
    assert ask(store, [0], 5) == ("b", {"a": 0.4, "b": 0.4, "c": 0.2})


def test_oracle_condenses_a_line_by_hand():
    rows, labels = [[0], [1], [5], [4], [3], [2]], ["a", "a", "b", "b", "a", "b"]
    # 0 stored; 1 right; 5 wrong; 4 right; 3 is nearer to 5, wrong; 2 is nearest to 3 (a), wrong
    assert condense(rows, labels) == [0, 2, 4, 5]
    # second pass: 1 is as far from 0 as from 2 and 0 was stored first; 4 is as far from 5 as from 3, 5 stored first
    assert condense(rows, labels, max_passes=None) == [0, 2, 4, 5]
    assert inconsistent(rows, labels, [0, 2, 4, 5]) == []
    assert inconsistent(rows, labels, [0, 2]) == [4, 5]
    assert inconsistent(rows, labels, [2, 0]) == [4, 5]


def test_oracle_semi_supervised_by_hand():
    rows, labels = [[0], [1], [9], [2], [4.9], [8]], ["a", "a", "b", None, None, None]
    big, big_labels, kept, kept_labels = semi_supervised_condense(rows, labels, k=1)
    # The full set says "a" at 4.9, by row 1, which the condensed set lacks; the last pass therefore stores 4.9.
    assert (big, big_labels) == ([0, 2, 3, 4, 5], ["a", "b", "a", "a", "b"])
    assert (kept, kept_labels) == ([0, 2, 4], ["a", "b", "a"])


# -- CNN and WCNN -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("min_confidence", [0.0, 0.55])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_condensed_equals_oracle(k, min_confidence):
    compared = 0
    for seed in range(N_PROBLEMS):
        vote, ties = settings(seed)
        passes = [1, 1, 2, None][seed // 2 % 4]
        X, y = (repeated_problem if seed % 5 == 4 else grid_problem)(seed, unlabeled=0.2 * (seed % 4 == 3))
        rows, shares = as_rows(X), []
        expected = condense(rows, y, k, min_confidence, passes, vote, ties, shares=shares)
        if rounding_decides(vote, [(share, min_confidence) for share in shares]):
            continue
        compared += 1
        Q = queries(X, seed)
        asks = seed % 4 == 0
        answered = answers([(rows[i], y[i]) for i in expected], as_rows(Q), k, vote, ties) if asks else []
        for name in two_containers(seed):
            message = f"seed {seed}, {name}, {vote}, {ties}, passes {passes}"
            model = CondensedNN(
                n_neighbors=k, min_confidence=min_confidence, max_passes=passes, vote=vote, ties=ties
            ).fit(CONTAINERS[name](X), y)
            assert model.kept_.tolist() == expected, message
            if asks:
                check_answers(model, CONTAINERS[name](Q), answered, message)
    assert compared > 0.95 * N_PROBLEMS


@pytest.mark.parametrize("k", [1, 3, 5])
def test_condensed_categorical_equals_oracle(k):
    compared = 0
    for seed in range(N_PROBLEMS):
        vote, ties = settings(seed)
        min_confidence = [0.0, 0.55][seed // 2 % 2]
        X, y = categorical_problem(seed, unlabeled=0.2 * (seed % 4 == 3))
        rows, shares = as_rows(X), []
        expected = condense(rows, y, k, min_confidence, 1, vote, ties, shares=shares)
        if rounding_decides(vote, [(share, min_confidence) for share in shares]):
            continue
        compared += 1
        message = f"seed {seed}, {vote}, {ties}, {min_confidence}"
        model = CondensedNN(n_neighbors=k, min_confidence=min_confidence, vote=vote, ties=ties).fit(X, y)
        assert model.kept_.tolist() == expected, message
        if seed % 4 == 1:
            check_answers(model, X, answers([(rows[i], y[i]) for i in expected], rows, k, vote, ties), message)
    assert compared > 0.9 * N_PROBLEMS


@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("ties", TIES)
def test_every_vote_and_tie_rule_equals_oracle(vote, ties):
    kept_sets = 0
    for seed, k in itertools.product(range(1000, 1015), [2, 3, 4, 30]):
        X, y = grid_problem(seed)
        rows, shares = as_rows(X), []
        expected = condense(rows, y, k, 0.6, 1, vote, ties, shares=shares)
        if rounding_decides(vote, [(share, 0.6) for share in shares]):
            continue
        kept_sets += 1
        model = CondensedNN(n_neighbors=k, min_confidence=0.6, vote=vote, ties=ties).fit(X, y)
        assert model.kept_.tolist() == expected, f"seed {seed}, k {k}"
        Q = queries(X, seed)
        answered = answers([(rows[i], y[i]) for i in expected], as_rows(Q), k, vote, ties)
        check_answers(model, Q, answered, f"seed {seed}, k {k}")
    assert kept_sets > 40


def test_confidence_is_compared_strictly():
    # The third row is predicted right by one of two stored rows; 0.5 is not below 0.5.
    X, y = np.array([[0.0], [2.0], [0.5]]), ["a", "b", "a"]
    for min_confidence, expected in [(0.5, [0, 1]), (0.51, [0, 1, 2])]:
        assert condense(as_rows(X), y, 3, min_confidence) == expected
        assert CondensedNN(n_neighbors=3, min_confidence=min_confidence).fit(X, y).kept_.tolist() == expected


def test_masses_equal_up_to_rounding_are_tied():
    # Seen from 0, 0.1 and 0.7 say "a" and 0.8 says "b"; weighed by distance that is a tie, though 0.1 + 0.7 < 0.8 in
    # floating point, and it goes to the nearest label.
    X, y = np.array([[0.1], [0.8], [0.7]]), ["a", "b", "a"]
    store = list(zip(as_rows(X), y, strict=True))
    assert 0.1 + 0.7 < 0.8
    assert ask(store, [0.0], 3, "literal")[0] == "a"
    model = CondensedNN(n_neighbors=3, min_confidence=1.0, vote="literal").fit(X, y)
    assert model.kept_.tolist() == condense(as_rows(X), y, 3, 1.0, vote="literal") == [0, 1, 2]
    assert model.predict(np.array([[0.0]])).tolist() == ["a"]


def test_weakened_equals_plain_for_one_neighbor():
    for seed in range(40):
        X, y = grid_problem(seed)
        plain, weak = CondensedNN().fit(X, y), CondensedNN(min_confidence=0.55).fit(X, y)
        assert plain.kept_.tolist() == weak.kept_.tolist()


def test_first_labeled_row_is_always_stored_first():
    for seed in range(40):
        X, y = grid_problem(seed, unlabeled=0.4)
        first = next(i for i in range(len(y)) if y[i] is not None)
        for k in (1, 3):
            assert CondensedNN(n_neighbors=k).fit(X, y).kept_[0] == first


def test_until_convergence_is_consistent():
    for seed in range(N_PROBLEMS):
        X, y = (repeated_problem if seed % 2 else grid_problem)(seed)
        rows = as_rows(X)
        # Identical rows with different labels leave nobody consistent: give them the label of the first.
        y = np.array([y[rows.index(row)] for row in rows], dtype=object)
        for name in two_containers(seed):
            kept = CondensedNN(max_passes=None).fit(CONTAINERS[name](X), y).kept_.tolist()
            assert inconsistent(rows, y, kept) == [], f"seed {seed}, {name}"
            assert len(set(kept)) == len(kept)


def test_until_convergence_is_consistent_on_overlapping_clouds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    X = rng.normal(size=(300, 3)) + y[:, None]
    kept = CondensedNN(max_passes=None).fit(X, y).kept_.tolist()
    assert inconsistent(as_rows(X), y.tolist(), kept) == []
    assert kept == condense(as_rows(X), y.tolist(), max_passes=None)
    assert inconsistent(as_rows(X), y.tolist(), CondensedNN(max_passes=1).fit(X, y).kept_.tolist()) != []


@pytest.mark.parametrize(("k", "ties", "min_confidence"), [(1, "first", 0.0), (3, "first", 0.55), (2, "all", 0.55)])
def test_condensed_equals_oracle_on_more_rows(k, ties, min_confidence):
    rng = np.random.default_rng(k)
    X = rng.integers(0, 12, size=(1500, 3)).astype(float)
    y = LABELS[(X.sum(axis=1) + rng.integers(0, 3, size=1500) > 17).astype(int)]
    expected = condense(as_rows(X), y, k, min_confidence, 1, ties=ties)
    for name, convert in CONTAINERS.items():
        model = CondensedNN(n_neighbors=k, min_confidence=min_confidence, ties=ties).fit(convert(X), y)
        assert model.kept_.tolist() == expected, name


def test_shuffling_is_seeded_and_keeps_row_numbers():
    X, y = grid_problem(8)
    X = np.vstack([X, X + 0.5])
    y = np.concatenate([y, y])
    first, again = (CondensedNN(shuffle=True, random_state=3).fit(X, y) for _ in range(2))
    assert first.kept_.tolist() == again.kept_.tolist()
    starts = {int(CondensedNN(shuffle=True, random_state=s).fit(X, y).kept_[0]) for s in range(20)}
    assert len(starts) > 5
    # A row wrongly numbered would carry a wrong label and break consistency.
    plain = np.arange(12.0)[:, None]
    names = np.array(list("aaabbbaaabbb"))
    for s in range(20):
        kept = CondensedNN(shuffle=True, random_state=s, max_passes=None).fit(plain, names).kept_.tolist()
        assert inconsistent(as_rows(plain), names.tolist(), kept) == []


# -- SCNN -------------------------------------------------------------------------------------------------------------


def check_semi_supervised(X, y, k, seed, containers):
    vote, ties = settings(seed)
    final_pass = ["cnn", "wcnn"][seed // 2 % 2]
    pseudo = [0.9, 0.9, 0.6][seed % 3]
    rows, shares = as_rows(X), []
    big, _, kept, kept_labels = semi_supervised_condense(
        rows, y, k, 0.55, pseudo, final_pass, vote, ties, shares=shares
    )
    if rounding_decides(vote, shares):
        return False
    assert set(kept) <= set(big)
    store = [(rows[i], label) for i, label in zip(kept, kept_labels, strict=True)]
    asks = seed % 4 == 1
    answered = answers(store, rows, k, vote, ties) if asks else []
    for name in containers:
        message = f"seed {seed}, {name}, {vote}, {ties}, {final_pass}, {pseudo}"
        model = SemiSupervisedCondensedNN(
            n_neighbors=k, pseudo_label_confidence=pseudo, final_pass=final_pass, vote=vote, ties=ties
        ).fit(CONTAINERS[name](X), y)
        assert model.kept_.tolist() == kept, message
        assert model.kept_labels_.tolist() == kept_labels, message
        if asks:
            check_answers(model, CONTAINERS[name](X), answered, message)
    return True


@pytest.mark.parametrize("k", [1, 3, 5])
def test_semi_supervised_equals_oracle(k):
    compared = 0
    for seed in range(N_PROBLEMS):
        X, y = grid_problem(seed, unlabeled=[0.3, 0.6][seed % 2])
        compared += check_semi_supervised(X, y, k, seed, two_containers(seed))
    assert compared > 0.95 * N_PROBLEMS


@pytest.mark.parametrize("k", [1, 3, 5])
def test_semi_supervised_categorical_equals_oracle(k):
    compared = 0
    for seed in range(N_PROBLEMS):
        X, y = categorical_problem(seed, unlabeled=0.5)
        compared += check_semi_supervised(X, y, k, seed, ["float64"])
    assert compared > 0.9 * N_PROBLEMS


def test_pseudo_label_confidence_is_compared_strictly():
    # Nine of ten equally near rows say "a": a share of 0.9, which is not above 0.9.
    X = np.array([[1.0]] * 10 + [[0.0]])
    y = np.array(["a"] * 9 + ["b"] + [None], dtype=object)
    for confidence, accepted in [(0.9, False), (0.89, True)]:
        big = semi_supervised_condense(as_rows(X), y, 10, 0.0, confidence)[0]
        assert (10 in big) is accepted
    for ties in TIES:
        for confidence in (0.9, 0.89):
            expected = semi_supervised_condense(as_rows(X), y, 10, 0.99, confidence, "wcnn", ties=ties)[2]
            model = SemiSupervisedCondensedNN(
                n_neighbors=10, min_confidence=0.99, pseudo_label_confidence=confidence, final_pass="wcnn", ties=ties
            ).fit(X, y)
            assert model.kept_.tolist() == expected
            assert (10 in expected) is (confidence == 0.89)


def test_without_unlabeled_rows_it_is_cnn_over_wcnn():
    for seed, k in itertools.product(range(40), [1, 3, 5]):
        X, y = grid_problem(seed)
        weak = CondensedNN(n_neighbors=k, min_confidence=0.55).fit(X, y).kept_
        again = CondensedNN(n_neighbors=k).fit(X[weak], y[weak]).kept_
        model = SemiSupervisedCondensedNN(n_neighbors=k).fit(X, y)
        assert model.kept_.tolist() == weak[again].tolist()
        assert model.kept_labels_.tolist() == y[model.kept_].tolist()


# -- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [CONTAINERS["float64"], CONTAINERS["csr"]], ids=["float64", "csr"])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("k", [3, 50])
def test_edges(convert, ties, k):
    same = np.full((6, 2), 2.0)
    problems = {
        "one row": (np.array([[1.0, 2.0]]), ["a"]),
        "two rows": (np.array([[1.0, 2.0], [0.0, 0.0]]), ["a", "b"]),
        "one class": (np.array([[0.0], [3.0], [1.0], [9.0]]), ["a"] * 4),
        "identical rows, one class": (same, ["a"] * 6),
        "identical rows, two classes": (same, ["a", "b", "b", "b", "a", "b"]),
        "zeros": (np.zeros((4, 2)), ["a", "b", "a", "b"]),
        "more neighbors than rows": (np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]),
    }
    for name, (X, y) in problems.items():
        rows = as_rows(X)
        for vote in VOTES:
            for confidence in (0.0, 0.55):
                expected = condense(rows, y, k, confidence, None, vote, ties)
                model = CondensedNN(
                    n_neighbors=k, min_confidence=confidence, max_passes=None, vote=vote, ties=ties
                ).fit(convert(X), y)
                assert model.kept_.tolist() == expected, f"{name}, {vote}, {confidence}"
            expected = semi_supervised_condense(rows, y, k, vote=vote, ties=ties)[2]
            model = SemiSupervisedCondensedNN(n_neighbors=k, vote=vote, ties=ties).fit(convert(X), y)
            assert model.kept_.tolist() == expected, f"{name}, {vote}"


@pytest.mark.parametrize("method", [CondensedNN, SemiSupervisedCondensedNN])
def test_the_three_marks_of_unlabeled_rows_mean_the_same(method):
    for seed in range(10):
        X, y = grid_problem(seed, unlabeled=0.5)
        codes = {"a": 10, "b": 11, "c": 12}
        by_none = np.array([None if v is None else codes[v] for v in y], dtype=object)
        by_nan = np.array([np.nan if v is None else codes[v] for v in y], dtype=float)
        by_minus_one = np.array([-1 if v is None else codes[v] for v in y])
        kept = [method(n_neighbors=3).fit(X, marked).kept_.tolist() for marked in (by_none, by_nan, by_minus_one)]
        assert kept[0] == kept[1] == kept[2] == method(n_neighbors=3).fit(X, y).kept_.tolist()
