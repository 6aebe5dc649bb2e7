"""Ordinal k-NN equals the literal oracle, step by step, on small problems full of ties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from oracles.ordinal import center_distances, confidence, distance_factor, majority, nearest, omega, transduce

from handful.errors import DataError
from handful.neighbors.ordinal import OrdinalKNN

LABELS = np.array(["a", "b", "c"], dtype=object)
N_PROBLEMS = 200
CLOSE = 1e-9  # distance factors that differ by less are tied up to rounding
CONTAINERS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
}


# -- problems ---------------------------------------------------------------------------------------------------------


def draw_labels(rng, n):
    """Hide most labels, but leave one of each class."""
    n_classes = int(rng.integers(2, 4))
    y = LABELS[rng.integers(0, n_classes, size=n)]
    y[:n_classes] = LABELS[:n_classes]
    hidden = rng.random(n) < 0.7
    hidden[:n_classes] = False
    y[hidden] = None
    order = rng.permutation(n)
    return y[order]


def grid_problem(seed):
    rng = np.random.default_rng(seed)
    n, d, high = int(rng.integers(5, 17)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    return rng.integers(0, high, size=(n, d)).astype(np.float64), draw_labels(rng, n)


def cloud_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    return rng.normal(size=(n, int(rng.integers(1, 5)))) * 2, draw_labels(rng, n)


def as_rows(X):
    return [[float(v) for v in row] for row in X]


def rounding_decides(steps, min_confidence):
    """Say whether a confidence, other than a whole 0 or 1, is so near to the threshold that rounding decides."""
    return any(abs(step.confidence - min_confidence) < CLOSE and step.confidence not in (0.0, 1.0) for step in steps)


def degenerate(step):
    """Say whether the row sits on all centers up to rounding: its factor is 0 or anything."""
    return step.spread < 1e-6


def check_story(model, X, y, steps, labeled, message, name="float64"):
    """Compare everything but the choice of rows."""
    tolerance = 1e-5 if name == "float32" else CLOSE
    assert model.order_.tolist() == [step.row for step in steps], message
    expected = y.copy()
    for step in steps:
        expected[step.row] = step.label
    assert model.transduction_.tolist() == expected.tolist(), message
    np.testing.assert_allclose(model.confidence_, [step.confidence for step in steps], atol=tolerance, err_msg=message)
    k = model.n_neighbors
    rng = np.random.default_rng(0)
    Q = np.vstack([X, rng.integers(0, 4, size=(3, X.shape[1]))])
    named = pd.DataFrame(Q, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else Q
    assert model.predict(named).tolist() == [majority(nearest(x, labeled, k)) for x in as_rows(Q)], message


def check_factors(model, steps, message, name="float64"):
    tolerance = 1e-5 if name == "float32" else CLOSE
    for step, factor in zip(steps, model.distance_factor_, strict=True):
        assert degenerate(step) or abs(factor - step.distance_factor) < tolerance, message


def check_ranking(model, steps, message, name="float64"):
    """Check that every step took the first of the rows with the smallest factor, up to rounding."""
    check_factors(model, steps, message, name)
    for step in steps:
        smallest = min(step.factors.values())
        assert step.row == min(i for i, factor in step.factors.items() if factor <= smallest + CLOSE), message


# -- the oracle itself ------------------------------------------------------------------------------------------------

CLASS_1 = [[2, 3], [1, 2], [2, 1], [3, 2]]
CLASS_2 = [[5, 4], [4, 3], [5, 2], [6, 3]]
WORKED = [
    (0.5, [0.9975, 0.0, 0.0, 0.0025], [0.0025, 0.9975, 0.0, 0.0], 1.11921, 1.80347, 0.38294),
    (1.0, [0.7556, 0.0620, 0.0138, 0.1686], [0.1771, 0.7936, 0.0240, 0.0053], 1.31836, 1.90978, 0.40840),
    (5.0, [0.2704, 0.2446, 0.2304, 0.2546], [0.2594, 0.2755, 0.2395, 0.2256], 2.02035, 2.63881, 0.43363),
]


@pytest.mark.parametrize(("sigma", "first", "second", "d1", "d2", "factor"), WORKED)
def test_oracle_worked_example(sigma, first, second, d1, d2, factor):
    x = [2.5, 4.0]
    labeled = [(row, 1) for row in CLASS_1] + [(row, 2) for row in CLASS_2]
    np.testing.assert_allclose(omega(x, CLASS_1, sigma), first, atol=5e-5)
    np.testing.assert_allclose(omega(x, CLASS_2, sigma), second, atol=5e-5)
    distances = center_distances(x, labeled, sigma)
    assert distances[1] == pytest.approx(d1, abs=5e-6)
    assert distances[2] == pytest.approx(d2, abs=5e-6)
    assert distance_factor(x, labeled, sigma) == pytest.approx(factor, abs=5e-6)


def test_oracle_confidence_by_hand():
    assert confidence([(1, "a"), (2, "b"), (3, "a")], "a") == 4 / 6
    assert confidence([(0, "b"), (2, "a"), (3, "a")], "a") == 1
    assert confidence([(0, "a"), (0, "b"), (0, "a")], "a") == 2 / 3
    assert majority([(1, "b"), (2, "a"), (3, "a"), (4, "b"), (0, "c")]) == "b"


def test_oracle_visits_every_row_once_and_stores_the_confident():
    rows, labels = [[0], [10], [1], [8], [4]], ["a", "b", None, None, None]
    steps, labeled = transduce(rows, labels)
    # factors 1/10, 2/10, 4/10; after row 2 is stored, its class reaches out to 1 and factors of the others change
    assert [step.row for step in steps] == [2, 3, 4]
    assert [step.label for step in steps] == ["a", "b", "a"]
    assert steps[0].distance_factor == 0.1
    assert len(labeled) == 5
    steps, labeled = transduce(rows, labels, k=2)
    assert [step.confidence for step in steps] == [0.1, 0.2, 0.4]
    assert len(labeled) == 2


# -- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "first", "second", "d1", "d2", "factor"), WORKED)
def test_worked_example(sigma, first, second, d1, d2, factor):
    X = np.array([*CLASS_1, *CLASS_2, [2.5, 4.0]])
    y = np.array(["1"] * 4 + ["2"] * 4 + [None], dtype=object)
    model = OrdinalKNN(sigma=sigma).fit(X, y)
    assert model.distance_factor_[0] == pytest.approx(factor, abs=5e-6)
    assert model.transduction_[8] == "1"


@pytest.mark.parametrize("k", [1, 3, 5])
def test_equals_oracle_on_grids(k):
    compared = 0
    for seed in range(N_PROBLEMS):
        X, y = grid_problem(seed)
        sigma, min_confidence = [1.0, 0.5, 5.0][seed % 3], [1.0, 0.0, 0.7, 0.55][seed // 3 % 4]
        replayed = {}
        for name in ["float64", ["float32", "csr", "frame"][seed % 3]]:
            message = f"seed {seed}, {name}, sigma {sigma}, confidence {min_confidence}"
            convert = CONTAINERS[name]
            model = OrdinalKNN(n_neighbors=k, sigma=sigma, min_confidence=min_confidence).fit(convert(X), y)
            hidden = [i for i in range(len(y)) if y[i] is None]
            assert sorted(model.order_.tolist()) == hidden, message
            order = tuple(model.order_.tolist())
            if order not in replayed:
                replayed[order] = transduce(as_rows(X), y, k, sigma, min_confidence, order=order)
            steps, labeled = replayed[order]
            if rounding_decides(steps, min_confidence):
                continue
            compared += 1
            check_ranking(model, steps, message, name)
            check_story(model, X, y, steps, labeled, message, name)
    assert compared > 0.9 * 2 * N_PROBLEMS


@pytest.mark.parametrize("k", [1, 3, 5])
def test_order_equals_oracle_without_ties(k):
    compared = 0
    for seed in range(60):
        X, y = cloud_problem(seed)
        sigma, min_confidence = [1.0, 0.5, 5.0][seed % 3], [1.0, 0.0, 0.55][seed // 3 % 3]
        steps, labeled = transduce(as_rows(X), y, k, sigma, min_confidence)
        if rounding_decides(steps, min_confidence) or any(
            np.diff(sorted(step.factors.values())[:2]).sum() < 1e-7 for step in steps if len(step.factors) > 1
        ):
            continue
        compared += 1
        for name in ("float64", "csr"):
            model = OrdinalKNN(n_neighbors=k, sigma=sigma, min_confidence=min_confidence).fit(CONTAINERS[name](X), y)
            check_story(model, X, y, steps, labeled, f"seed {seed}, {name}", name)
            check_ranking(model, steps, f"seed {seed}, {name}", name)
    assert compared > 50


def test_categorical_equals_oracle_on_indicators():
    """Two values of a categorical column are at distance 1, as are indicator vectors of length 1 / sqrt 2."""
    values = np.array(["NN", "VB", "JJ"], dtype=object)
    compared = 0
    for seed in range(N_PROBLEMS):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 3, size=(int(rng.integers(5, 15)), 3))
        y = draw_labels(rng, len(codes))
        frame = pd.DataFrame(
            {"a": values[codes[:, 0]], "b": pd.Categorical(values[codes[:, 1]]), "c": values[codes[:, 2]]}
        )
        rows = as_rows(np.hstack([np.eye(3)[codes[:, c]] for c in range(3)]) / np.sqrt(2))
        k, min_confidence = [1, 3, 5][seed % 3], [1.0, 0.0, 0.55][seed // 3 % 3]
        model = OrdinalKNN(n_neighbors=k, min_confidence=min_confidence).fit(frame, y)
        steps, labeled = transduce(rows, y, k, 1.0, min_confidence, order=model.order_)
        if rounding_decides(steps, min_confidence):
            continue
        compared += 1
        check_ranking(model, steps, f"seed {seed}")
        expected = y.copy()
        expected[[step.row for step in steps]] = [step.label for step in steps]
        assert model.transduction_.tolist() == expected.tolist(), f"seed {seed}"
        np.testing.assert_allclose(model.confidence_, [step.confidence for step in steps], err_msg=f"seed {seed}")
        assert model.predict(frame).tolist() == [majority(nearest(x, labeled, k)) for x in rows], f"seed {seed}"
    assert compared > 0.9 * N_PROBLEMS


def test_equals_oracle_on_more_rows():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, size=(60, 2)).astype(float)
    y = np.full(60, None, dtype=object)
    y[:6] = LABELS[[0, 1, 2, 0, 1, 2]]
    for name in CONTAINERS:
        model = OrdinalKNN(n_neighbors=3, min_confidence=0.55).fit(CONTAINERS[name](X), y)
        steps, labeled = transduce(as_rows(X), y, 3, 1.0, 0.55, order=model.order_)
        assert not rounding_decides(steps, 0.55)
        check_story(model, X, y, steps, labeled, name, name)
        check_ranking(model, steps, name, name)


def test_raw_features_do_not_underflow():
    compared = 0
    for seed in range(20):
        X, y = cloud_problem(seed)
        X = np.round(X * 1000)
        steps, labeled = transduce(as_rows(X), y)
        if any(np.diff(sorted(step.factors.values())[:2]).sum() < 1e-7 for step in steps if len(step.factors) > 1):
            continue
        compared += 1
        model = OrdinalKNN().fit(X, y)
        check_story(model, X, y, steps, labeled, f"seed {seed}")
        check_ranking(model, steps, f"seed {seed}")
    assert compared >= 10


def test_large_values_are_labeled_alike_until_distances_overflow():
    X, y = cloud_problem(4)
    plain = OrdinalKNN().fit(X, y)
    large = OrdinalKNN(sigma=2.0**450).fit(X * 2.0**450, y)
    assert large.order_.tolist() == plain.order_.tolist()
    assert large.transduction_.tolist() == plain.transduction_.tolist()
    np.testing.assert_allclose(large.distance_factor_, plain.distance_factor_, rtol=1e-9)
    for exponent in (500, 1000):
        with pytest.raises(DataError, match="too large"):
            OrdinalKNN(sigma=2.0**exponent).fit(X * 2.0**exponent, y)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_random_order_equals_oracle(k):
    compared = 0
    for seed in range(N_PROBLEMS):
        X, y = grid_problem(seed)
        min_confidence = [1.0, 0.0, 0.55][seed % 3]
        name = ["float64", "csr", "frame", "float32"][seed % 4]
        model = OrdinalKNN(n_neighbors=k, min_confidence=min_confidence, order="random", random_state=seed)
        model.fit(CONTAINERS[name](X), y)
        assert sorted(model.order_.tolist()) == [i for i in range(len(y)) if y[i] is None]
        steps, labeled = transduce(as_rows(X), y, k, 1.0, min_confidence, order=model.order_)
        if rounding_decides(steps, min_confidence):
            continue
        compared += 1
        check_story(model, X, y, steps, labeled, f"seed {seed}, {name}", name)
        check_factors(model, steps, f"seed {seed}, {name}", name)
    assert compared > 0.9 * N_PROBLEMS


def test_random_order_is_seeded_and_random():
    X = np.arange(24.0)[:, None]
    y = np.array(["a", "b"] + [None] * 22, dtype=object)
    orders = [tuple(OrdinalKNN(order="random", random_state=s).fit(X, y).order_.tolist()) for s in range(5)]
    again = [tuple(OrdinalKNN(order="random", random_state=s).fit(X, y).order_.tolist()) for s in range(5)]
    assert orders == again
    assert len(set(orders)) == 5
    assert tuple(range(2, 24)) not in orders


# -- ties and edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_exactly_tied_factors_go_by_row(convert):
    y = np.array(["a", None, "b", None], dtype=object)
    for middle in ([2.0, 8.0], [8.0, 2.0]):
        X = np.array([[0.0], [middle[0]], [10.0], [middle[1]]])
        model = OrdinalKNN().fit(convert(X), y)
        assert model.order_.tolist() == [1, 3]
        assert model.distance_factor_[0] == pytest.approx(0.2)


def test_equally_near_neighbors_go_to_the_row_stored_earlier():
    # 7 is as far from row 0, which became "a" during the fit, as from row 2, which was "b" from the start.
    model = OrdinalKNN().fit(np.array([[4.0], [0.0], [10.0]]), np.array([None, "a", "b"], dtype=object))
    assert model.transduction_.tolist() == ["a", "a", "b"]
    assert model.predict(np.array([[7.0]])).tolist() == ["b"]


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_one_class_goes_in_row_order(convert):
    X = np.array([[9.0], [0.0], [7.0], [3.0], [0.0]])
    y = np.array([None, "a", None, None, None], dtype=object)
    model = OrdinalKNN(n_neighbors=3).fit(convert(X), y)
    # The last row lies on the only labeled one: all distances are 0 and so is its factor; all others have factor 1.
    assert model.order_.tolist() == [4, 0, 2, 3]
    assert model.distance_factor_.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert model.confidence_.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert set(model.transduction_) == {"a"}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("k", [1, 3, 50])
def test_identical_rows(name, k):
    X = np.full((6, 2), 2.0)
    y = np.array([None, "b", None, "a", "a", None], dtype=object)
    model = OrdinalKNN(n_neighbors=k, min_confidence=0.0).fit(CONTAINERS[name](X), y)
    steps, labeled = transduce(as_rows(X), y, k, min_confidence=0.0)
    assert [step.row for step in steps] == [0, 2, 5]
    check_story(model, X, y, steps, labeled, f"{k}", name)
    assert model.distance_factor_.tolist() == [0.0, 0.0, 0.0]


def test_nothing_unlabeled_is_plain_nearest_neighbors():
    for seed in range(20):
        X, _ = grid_problem(seed)
        y = LABELS[np.random.default_rng(seed).integers(0, 2, size=len(X))]
        model = OrdinalKNN(n_neighbors=3).fit(X, y)
        check_story(model, X, y, *transduce(as_rows(X), y, 3), f"seed {seed}")


def test_one_labeled_row_and_more_neighbors_than_rows():
    X, y = np.array([[1.0, 2.0]]), np.array(["a"], dtype=object)
    assert OrdinalKNN(n_neighbors=5).fit(X, y).transduction_.tolist() == ["a"]
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array(["a", "b", None], dtype=object)
    model = OrdinalKNN(n_neighbors=50).fit(X, y)
    assert model.transduction_.tolist() == ["a", "b", "b"]
    assert model.confidence_.tolist() == [pytest.approx(2 / 5)]


def test_a_row_is_stored_when_its_confidence_reaches_the_threshold():
    # Row 2 is labeled "a" with confidence 2 / 4, exactly 0.5; stored, it speaks for 2.1, which is else nearer to "b".
    X, y = np.array([[0.0], [4.0], [2.0]]), np.array(["a", "b", None], dtype=object)
    for min_confidence, stored, said in [(0.5, True, "a"), (0.51, False, "b")]:
        steps, _ = transduce(as_rows(X), y, 2, 1.0, min_confidence)
        assert [(step.label, step.confidence, step.inserted) for step in steps] == [("a", 0.5, stored)]
        model = OrdinalKNN(n_neighbors=2, min_confidence=min_confidence).fit(X, y)
        assert model.transduction_.tolist() == ["a", "b", "a"]
        assert model.predict(np.array([[2.1]])).tolist() == [said]


def test_given_labels_never_change():
    # Row 1 lies amid the other class; its own label stays.
    X = np.array([[0.0], [0.1], [0.2], [9.0], [0.15]])
    y = np.array(["a", "b", "a", "b", None], dtype=object)
    model = OrdinalKNN(n_neighbors=3).fit(X, y)
    assert model.transduction_.tolist()[:4] == ["a", "b", "a", "b"]


def test_the_three_marks_of_unlabeled_rows_mean_the_same():
    codes = {"a": 10, "b": 11, "c": 12}
    for seed in range(10):
        X, y = grid_problem(seed)
        by_none = np.array([None if v is None else codes[v] for v in y], dtype=object)
        by_nan = np.array([np.nan if v is None else codes[v] for v in y], dtype=float)
        by_minus_one = np.array([-1 if v is None else codes[v] for v in y])
        models = [OrdinalKNN(n_neighbors=3).fit(X, marked) for marked in (y, by_none, by_nan, by_minus_one)]
        assert len({tuple(model.order_.tolist()) for model in models}) == 1
        first = [codes[v] for v in models[0].transduction_]
        assert all(model.transduction_.tolist() == first for model in models[1:])
