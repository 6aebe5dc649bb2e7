from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import handful
from handful.errors import DataError, ModelFileError
from handful.models.confidence import Confidence, HeldOut, hold_out, label_margin, own_shares
from handful.models.table_model import TableModel


def noisy_rows(n: int, seed: int = 0, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that overlap: nobody can be right on more than some four fifths of the rows."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(n) < share).astype(np.int64)
    return rng.normal(size=(n, 2)) + 0.8 * codes[:, None], codes


@pytest.mark.parametrize("method", ["k-nn", "extra-trees", "condensed-nn", "ordinal-knn"])
def test_a_confidence_is_the_share_of_right_answers(method):
    X, codes = noisy_rows(2_300)
    few = np.where(np.arange(len(codes)) < 150, codes, -1)
    model = TableModel(method).fit(X, few)
    labels, before = model.predict_with_confidence(X[150:])
    right = labels == codes[150:]
    again, sure = model.calibrate(X, few).predict_with_confidence(X[150:])
    assert again.tolist() == labels.tolist()
    assert abs(sure.mean() - right.mean()) < 0.06 < before.mean() - right.mean()
    # Those that it is surer of are right more often: confidence is no constant, for a single neighbor either. The few rows
    # that a condensed model keeps tell less of it.
    upper = sure > np.median(sure)
    assert right[upper].mean() > right[~upper].mean() + (0.01 if method == "condensed-nn" else 0.05)


def test_shares_stay_shares_and_the_answer_stays_the_largest():
    rng = np.random.default_rng(0)
    own = rng.dirichlet(np.ones(4) * 0.3, size=200)
    own[0] = [1.0, 0.0, 0.0, 0.0]
    for slope, offset in ((0.1, -3.0), (2.0, 0.0), (0.0, 5.0)):
        found = Confidence(slope, offset).shares(own)
        assert np.allclose(found.sum(axis=1), 1.0)
        assert (found >= 0).all()
        assert (found.argmax(axis=1) == own.argmax(axis=1)).all()


def test_slope_and_offset_are_those_of_the_largest_posterior():
    rng = np.random.default_rng(1)
    share, right = rng.uniform(0.5, 0.99, 80), rng.random(80) < 0.7
    held = HeldOut(share, np.zeros(80), right, np.zeros(80, dtype=np.int64))
    found = Confidence.learn(held, np.zeros((3, 1)), np.array([0, 0, 1]), np.zeros(2))
    z = np.log(share / (1 - share))

    def loss(theta):  # written anew, without derivatives
        share = expit(theta[0] * z + theta[1])
        return -np.log(np.where(right, share, 1 - share)).sum() + 2 * (theta[0] - 1) ** 2 + theta[1] ** 2 / 2

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}).x
    assert np.allclose([found.slope, found.offset], best, atol=1e-3)
    sure = expit(found.slope * z + found.offset) >= 0.8
    assert found.counts == [sure.sum(), right[sure].sum(), 80]


def test_rows_of_a_class_count_as_much_as_it_is_frequent():
    # Right on the frequent class alone: picked class by class, half of the labels are wrong, but few of the rows are.
    codes = np.repeat([0, 1], 20)
    sure = np.linspace(0.6, 0.9, 40)
    held = HeldOut(sure, np.zeros(40), codes == 0, codes)
    rows = np.zeros((40, 1))
    even = Confidence.learn(held, rows, codes, np.array([0.5, 0.5]))
    skewed = Confidence.learn(held, rows, codes, np.array([0.95, 0.05]))
    shares = np.array([[0.8, 0.2]])
    assert even.shares(shares)[0, 0] < 0.65 < 0.85 < skewed.shares(shares)[0, 0]


def test_shares_of_those_that_tell_none():
    X, codes = noisy_rows(60)
    three = np.arange(60) % 3
    for machine, y in ((SVC(), codes), (LinearSVC(), codes), (SVC(), three)):
        fitted = machine.fit(X, y)
        shares = own_shares(fitted, X)
        assert np.allclose(shares.sum(axis=1), 1.0)
        assert (fitted.classes_[shares.argmax(axis=1)] == fitted.predict(X)).mean() > 0.95
    silent = KNeighborsClassifier(1).fit(X, codes)
    assert set(own_shares(silent, X).ravel()) == {0.0, 1.0}


def test_held_out_rows_were_not_learned_from():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 2)), rng.integers(2, size=60)  # nothing to learn
    held = hold_out(lambda: KNeighborsClassifier(1), X, codes, uses_unlabeled=False)
    assert len(held.right) == 60
    assert 0.3 < held.right.mean() < 0.7
    assert hold_out(lambda: KNeighborsClassifier(1), X[:3], np.array([0, 1, -1]), uses_unlabeled=False) is None


def test_nearness_without_a_row_of_another_class():
    far = label_margin(np.array([[0.0], [9.0]]), np.array([0, 0]), np.array([[0.0], [1.0]]), np.array([0, 0]))
    assert np.isfinite(far).all()


def test_confidence_is_stored_and_damaged_numbers_are_refused(tmp_path):
    X, codes = noisy_rows(80)
    model = TableModel("k-nn").fit(X, codes).calibrate(X, codes)
    handful.save(model, tmp_path / "m.handful")
    again = handful.load(tmp_path / "m.handful")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    model.confidence_["near"] = (X[:3], np.array([0, 1, 7]))
    handful.save(model, tmp_path / "bad.handful")
    with pytest.raises(ModelFileError, match="Confidence"):
        handful.load(tmp_path / "bad.handful")
    with pytest.raises(DataError):
        Confidence.from_state({"slope": float("nan"), "offset": 0.0, "near": None}, 2)


def test_few_labels_support_little_confidence(tmp_path):
    X, codes = noisy_rows(40)
    few = np.full(40, -1)
    few[[*np.flatnonzero(codes == 0)[:2], *np.flatnonzero(codes == 1)[:2]]] = [0, 0, 1, 1]
    model = TableModel("k-nn").fit(X, few)
    answers = model.predict(X)
    labels, sure = model.calibrate(X, few).predict_with_confidence(X)
    assert labels.tolist() == answers.tolist()
    assert sure.max() == pytest.approx(3 / 4)
    handful.save(model, tmp_path / "few.handful")
    assert handful.load(tmp_path / "few.handful").predict_with_confidence(X)[1].tolist() == sure.tolist()
    model.confidence_["few"] = [2]
    handful.save(model, tmp_path / "wrong.handful")
    with pytest.raises(ModelFileError):
        handful.load(tmp_path / "wrong.handful")


def test_a_nearest_neighbor_is_not_more_confident_than_the_labels_support():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.repeat([0, 1], 150)
    X[y == 1] += 20  # no label that is held out is wrong
    few = np.full(300, -1)
    few[[0, 1, 2, 3, 150, 151, 152, 153]] = y[[0, 1, 2, 3, 150, 151, 152, 153]]
    _, confidence = TableModel("k-nn").fit(X, few).calibrate(X, few).predict_with_confidence(X)
    assert confidence.max() <= 9 / 10


def test_a_condensed_model_stores_no_other_labeled_rows():
    X, codes = noisy_rows(120)
    model = TableModel("condensed-nn").fit(X, codes).calibrate(X, codes)
    n_kept = len(model.estimator_.stored_codes_)
    assert n_kept < len(codes) == model.n_labeled_
    rows, stored = model.confidence_["near"]
    assert rows.shape[0] == len(stored) == n_kept
