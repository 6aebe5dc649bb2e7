from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, SVR

import handful
from handful.comparison.compare import named_methods
from handful.errors import DataError, ModelFileError, ParameterError
from handful.models.adapters import check_storable, classifier_spec, put_around
from handful.models.table_model import TableModel
from handful.neighbors.tri_training import TriTraining
from handful.registry import get_method


def rows(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 3
    return rng.normal(size=(n, 3)) + 4 * codes[:, None], codes, np.where(np.arange(n) < 24, codes, -1)


@pytest.mark.parametrize(
    "classifier",
    [
        SVC(C=10),
        make_pipeline(StandardScaler(), SVC()),
        put_around("tri-training", SVC()),
        "tri-training(extra-trees)",
        "self-training(random-forest)",
        "self-training(k-nn)",
    ],
    ids=str,
)
def test_any_classifier_is_fitted_saved_and_loaded(classifier, tmp_path):
    X, codes, few = rows()
    model = TableModel(classifier).fit(X, few).calibrate(X, few)
    assert np.mean(model.predict(X) == codes) > 0.9
    handful.save(model, tmp_path / "m.handful")
    again = handful.load(tmp_path / "m.handful")
    assert again.method_name == model.method_name
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert np.allclose(again.predict_proba(X), model.predict_proba(X))


def test_who_learns_from_unlabeled_rows():
    assert not classifier_spec(SVC()).uses_unlabeled
    assert not classifier_spec(make_pipeline(StandardScaler(), SVC())).uses_unlabeled
    for semi in (SelfTrainingClassifier(SVC()), TriTraining(SVC())):
        assert classifier_spec(semi).uses_unlabeled
        assert classifier_spec(make_pipeline(StandardScaler(), semi)).uses_unlabeled
    assert get_method("self-training(k-nn)").uses_unlabeled
    assert TableModel(put_around("tri-training", SVC())).fit(*rows()[::2]).n_unlabeled_ == 36


def test_self_training_needs_probabilities():
    with pytest.raises(ParameterError, match="SVC has no predict_proba"):
        put_around("self-training", SVC())


def test_names_tell_classifiers_apart():
    names, specs = named_methods(["k-nn", SVC(), SVC(C=10), SVC(), "tri-training(k-nn)"])
    assert names == ["k-nn", "SVC", "SVC(C=10)", "SVC 3", "tri-training(k-nn)"]
    assert set(specs) == set(names[1:])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SVC, r"Write SVC\(\)"),
        (SVR(), "names or scikit-learn classifiers are expected, got SVR"),
        (3, "names or scikit-learn classifiers are expected, got 3"),
        ("self-training(ensemble)", "learns from labels alone"),
        ("tri-training(k-nnn)", "Did you mean 'k-nn'"),
        ("qqqq", "named 'qqqq'. Run 'handful methods' to see all"),
        ("logistic", "Did you mean 'logistic-regression'"),
        ("Label", "Did you mean 'label-propagation' or 'label-spreading'"),
        ("bagging(k-nn)", "no method for tables named 'bagging"),
    ],
)
def test_what_is_no_classifier_is_told(given, message):
    with pytest.raises(ParameterError, match=message):
        named_methods([given])


def test_what_no_file_can_hold_is_refused_before_the_work():
    check_storable(SVC())
    check_storable(HistGradientBoostingClassifier(max_iter=2))
    with pytest.raises(ModelFileError, match="cannot hold this BaggingClassifier"):
        check_storable(BaggingClassifier())


def test_rows_and_names_in_every_form():
    X, codes, few = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=np.where(codes == 0, "red", "blue"))
    model = TableModel("k-nn").fit(frame, few)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "color"]
    assert model.n_features_in_ == 4
    assert model.get_feature_names_out().tolist() == ["a", "b", "c", "color=blue", "color=red"]
    first = model.explain(frame.iloc[:1])
    assert model.explain(frame.iloc[0]).label == first.label == model.explain(frame.iloc[0].to_dict()).label
    assert model.explain(frame.iloc[0].tolist()).label == first.label
    with pytest.raises(DataError, match="a value for each of the"):
        model.explain([1.0])
    sparse = TableModel("k-nn").fit(csr_matrix(X), few)
    assert sparse.predict(csr_matrix(X)).tolist() == sparse.predict(X).tolist()
    assert sparse.explain(X[0]).label == sparse.explain(list(X[0])).label == sparse.predict(X[:1])[0]
    texts = ["a good film, good indeed", "a bad film, bad indeed"] * 5
    reader = TableModel("k-nn").fit(texts, ["+", "-"] * 5)
    assert reader.predict(["good film indeed", "bad film indeed"]).tolist() == ["+", "-"]
    assert reader.explain("a good one, good indeed").label == "+"
    assert reader.explain(["a good one, good indeed"]).label == "+"
