"""Estimators of scikit-learn in model files."""

import json
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import handful
from handful.errors import HandfulError, ModelFileError
from handful.models.table_model import TableModel
from handful.persistence.model_file import Decoder, StateEncoder
from handful.persistence.sklearn_models import estimator_from, estimator_state
from handful.registry import find_class

CLASSIFIERS = [
    SVC(),
    SVC(kernel="linear", decision_function_shape="ovo"),
    LinearSVC(),
    SGDClassifier(random_state=0),
    GaussianNB(),
    DecisionTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(4, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5, random_state=0),
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline(MinMaxScaler(), PCA(2, whiten=True), LogisticRegression()),
    make_pipeline(RobustScaler(), Normalizer(), MaxAbsScaler(), TruncatedSVD(2, random_state=0), GaussianNB()),
]


def rows(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    return rng.normal(size=(60, 4)) + 2 * y[:, None], y


def there_and_back(model):
    encoder = StateEncoder()
    coded = json.loads(json.dumps(encoder.encode_state({"m": model})))
    return Decoder(encoder.arrays, find_class).value(coded["m"])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_predictions_are_the_same_after_saving(model, n_classes):
    X, y = rows(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    again = there_and_back(model)
    assert type(again) is type(model)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    for name in ("predict_proba", "decision_function"):
        if hasattr(model, name):
            assert np.allclose(getattr(again, name)(X), getattr(model, name)(X))


@pytest.mark.parametrize(
    "model",
    [
        StackingClassifier([("a", GaussianNB())], cv=2),
        VotingClassifier([("a", GaussianNB())]),
        DummyClassifier(),
        make_pipeline(KMeans(2), GaussianNB()),
        SVC(kernel=lambda a, b: a @ b.T),
        SVC(kernel="precomputed"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_others_are_refused_in_one_sentence_that_names_alternatives(model):
    X, y = rows(2)
    X = X @ X.T if getattr(model, "kernel", None) == "precomputed" else X
    with pytest.raises(ModelFileError, match=r"cannot hold this \w+; it holds linear models, SVMs"):
        StateEncoder().encode_state({"m": model.fit(X, y)})


def test_an_estimator_that_reads_a_path_can_neither_be_saved_nor_loaded(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    reader = CountVectorizer(input="filename").fit([str(secret)])
    with pytest.raises(ModelFileError, match="cannot hold this CountVectorizer"):
        StateEncoder().encode_state({"m": reader})
    state = {"input": "filename", "vocabulary_": {"secret": 0}}
    for kind in ("CountVectorizer", "StackingClassifier", "DummyClassifier"):
        with pytest.raises(ModelFileError, match="not admitted"):
            estimator_from(kind, state)
    pipeline = estimator_state(make_pipeline(StandardScaler(), GaussianNB()).fit(*rows(2)))
    assert estimator_from("Pipeline", {**pipeline, "memory": str(tmp_path)}).memory is None


def test_files_with_estimators_of_skops_are_refused():
    with pytest.raises(ModelFileError, match="stored by skops, which is no longer read"):
        Decoder({"0": np.zeros(3, dtype=np.uint8)}, find_class).value({"$": "foreign", "block": "0"})


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (SVC(), {"_n_support": np.array([2**30, 1], dtype=np.int32)}),
        (SVC(), {"_intercept_": np.zeros(0)}),
        (SVC(), {"kernel": "precomputed"}),
        (SVC(), {"_sparse": True}),
        (make_pipeline(StandardScaler(), GaussianNB()), {"steps": []}),
        (make_pipeline(StandardScaler(), GaussianNB()), {"steps": [["a", "passthrough"]]}),
    ],
)
def test_states_that_no_fit_leaves_are_refused(model, change):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = estimator_state(model.fit(*rows(2)))
    estimator_from(type(model).__name__, state)
    with pytest.raises((HandfulError, ValueError, TypeError)):
        estimator_from(type(model).__name__, {**state, **change})


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature", "sizes"])
def test_trees_that_point_outside_are_refused(field):
    model = HistGradientBoostingClassifier(max_iter=2)
    state = estimator_state(model.fit(*rows(2)))
    for value in (-9, 4, 2**31) if field == "feature" else (-9, 0, 1, 2**31):
        trees = {**state["trees"], field: np.full_like(state["trees"][field], value)}
        with pytest.raises(HandfulError):
            estimator_from(type(model).__name__, {**state, "trees": trees})


def test_the_limit_on_bytes_holds_for_what_the_file_expands_to(tmp_path):
    path = tmp_path / "m.handful"
    X, y = rows(2)
    handful.save(TableModel("k-nn").fit(X, y), path)
    size = path.stat().st_size
    handful.load(path, max_bytes=1 << 20)
    with pytest.raises(ModelFileError, match="larger than the limit"):
        handful.load(path, max_bytes=size - 1)
    # 100 references to one array of few values, each of which is decoded to 800 kB
    arrays = {"0": np.array([0.5, 1.0]), "1": np.zeros(100_000, dtype=np.uint8)}
    one = {"$": "few values", "values": "0", "numbers": "1"}
    assert len(Decoder(arrays, find_class, 100 * 800_000).value([one] * 100)) == 100
    with pytest.raises(ModelFileError, match="larger than the limit"):
        Decoder(arrays, find_class, 10_000_000).value([one] * 100)
    # a long string pads all others
    text = {"0": np.full(100_001, 97, dtype=np.uint8), "1": np.array([0, *range(100_001, 100_002)] + [100_001] * 5000)}
    with pytest.raises(ModelFileError, match="larger than the limit"):
        Decoder(text, find_class, 1 << 28).value({"$": "strings", "text": "0", "offsets": "1", "shape": [5001]})
