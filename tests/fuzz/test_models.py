"""Changed model files load and answer, or are refused in a sentence; in child processes, since a file may break one."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from run_models import run
from subjects import classes_in, shares, subjects

from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, Number, check_state, stored
from handful.registry import all_methods

FILES = 150  # of each class; `make fuzz` tries 50,000


@pytest.mark.slow
def test_changed_files_are_answered_or_refused():
    lines = run(FILES)
    total = sum((Counter(line["outcomes"]) for line in lines), Counter())
    assert total["answered"] > FILES
    assert total["refused"] > total["answered"]
    assert {line["name"]: line["unclean"] for line in lines if line["unclean"]} == {}


@pytest.fixture(scope="module")
def models():
    return {name: model for name, (model, _) in subjects().items()}


def test_every_class_that_can_be_stored_is_tried(models):
    tried = set().union(*map(classes_in, models.values()))
    classes = {spec.cls.__name__ for spec in all_methods() if spec.cls is not None and issubclass(spec.cls, Storable)}
    assert classes - tried == set(), "add a small fitted model of the class to tests/fuzz/subjects.py"


def test_models_share_the_files_of_their_classes(models):
    found = shares(models.items())
    for cls in set().union(*map(classes_in, models.values())):
        assert sum(found[name] for name in models if cls in classes_in(models[name])) >= 1 - 1e-9


@pytest.mark.parametrize("offsets", [[0, 2**31 - 1, -(2**31), 3], [0, 5, 2, 3]])
def test_numbers_that_wrap_around_are_refused(offsets):
    import numpy as np

    from handful.errors import DataError, ModelFileError
    from handful.persistence.model_file import Decoder

    arrays = {
        "data": np.ones(3),
        "indices": np.zeros(3, dtype=np.int32),
        "indptr": np.array(offsets, dtype=np.int32),
    }
    coded = {"$": "csr_matrix", "shape": [3, 1], **{name: {"$": "array", "name": name} for name in arrays}}
    with pytest.raises(ModelFileError, match="indices point outside"):
        Decoder(arrays, lambda name: None).value(coded)
    text = {"t": np.zeros(3, dtype=np.uint8), "o": np.array([0, 2**63 - 1, -(2**63), 3])}
    with pytest.raises(ModelFileError, match="strings that are cut off"):
        Decoder(text, lambda name: None).value({"$": "strings", "text": "t", "offsets": "o", "shape": [3]})
    with pytest.raises(DataError, match="rising"):
        check_state("x", stored(keys=Array("i8", "n", rising=True)), {"keys": np.array([0, 2**63 - 1, -(2**63)])})


def test_no_neighbors_empty_arrays_and_names_of_methods_are_refused(tmp_path):
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    import handful
    from handful.errors import ModelFileError
    from handful.neighbors.kernel_pca import KernelPCAClassifier
    from handful.persistence.sklearn_models import estimator_from, estimator_state

    X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), ["low", "low", "high", "high"]
    model = KernelPCAClassifier().fit(X, y)
    model.n_neighbors_ = 0
    handful.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="n_neighbors_ must be at least 1, got 0"):
        handful.load(tmp_path / "model")
    state = estimator_state(LogisticRegression().fit(X, y))
    for name, value in (("coef_", np.zeros((0, 1))), ("classes_", np.zeros(0))):
        with pytest.raises(ValueError, match=f"{name} must (not be empty|hold 2 labels)"):
            estimator_from("LogisticRegression", {**state, name: value})
    assert "predict" not in vars(estimator_from("LogisticRegression", {**state, "predict": 1}))
    declared = KernelPCAClassifier.declared_state()
    assert isinstance(declared["n_neighbors_"], Number)
    with pytest.raises(ModelFileError, match="an attribute 'predict', which no KernelPCAClassifier has"):
        KernelPCAClassifier._from_state({**model._state(), "predict": 1})


def test_views_that_no_memory_or_no_single_number_holds_are_refused():
    import handful
    from handful.errors import DataError
    from handful.models.legacy import ShrunkBayes

    team = handful.load(Path(__file__).parents[1] / "models" / "0.2.0" / "table.team.handful").estimator_
    model = next(member for member in team.estimators_ if isinstance(member, ShrunkBayes))
    views = model.views_
    for name, value in (
        ("width", 2**50),
        ("scores", [1e300 * scores for scores in views["scores"]]),  # too large for single precision
        ("clips", views["clips"] * [1, 0, 1, 1]),
        ("clips", views["clips"] * [1, 1, 1, 1e-300]),
    ):
        with pytest.raises(
            DataError, match=r"every column must have its distributions|scores must hold numbers of at least"
        ):
            ShrunkBayes._from_state({**model._state(), "views_": {**views, name: value}})


@pytest.mark.parametrize(("name", "value"), [("scale", 1e-308), ("scale_2", -1.0), ("center_2", 1e308)])
def test_scales_of_an_ensemble_that_lead_to_infinity_are_refused(name, value):
    import numpy as np

    from handful.errors import DataError
    from handful.models.ensemble import Ensemble

    model = Ensemble(quick=True).fit(np.arange(24.0).reshape(12, 2) ** 2, ["a", "b"] * 6)
    Ensemble._from_state(model._state())
    with pytest.raises(DataError, match=f"{name} must hold numbers of at (least|most)"):
        Ensemble._from_state({**model._state(), "views_": {**model.views_, name: np.full(2, value)}})


def test_a_model_that_does_not_fit_into_memory_is_told(tmp_path, monkeypatch):
    import handful
    from handful.errors import ModelFileError
    from handful.tagging.frequent import FrequentTag

    def no_room(*_):
        raise MemoryError

    handful.save(FrequentTag().fit([["a"]], [["D"]]), tmp_path / "model")
    monkeypatch.setattr(FrequentTag, "_check_state", no_room)
    with pytest.raises(ModelFileError, match="model: does not fit into memory, or its content is damaged"):
        handful.load(tmp_path / "model")


def test_a_value_of_a_categorical_column_is_no_array():
    import numpy as np

    from handful.errors import DataError
    from handful.neighbors.ordinal import OrdinalKNN

    model = OrdinalKNN(categorical=[0]).fit([["red", 1.0], ["blue", 2.0]], ["a", "b"])
    assert model.categorical_values_ == [["red", "blue"]]
    with pytest.raises(DataError, match="categorical_values_ must be a string or a number, got an array"):
        OrdinalKNN._from_state({**model._state(), "categorical_values_": [["red", np.array(["blue"])]]})


def test_what_stands_inside_must_go_with_what_it_stands_in():
    import handful
    from handful.errors import DataError
    from handful.persistence.sklearn_models import estimator_from, estimator_state
    from handful.tagging.stacked import StackedTagger

    folder = Path(__file__).parents[1] / "models" / "0.1.0"
    state = estimator_state(handful.load(folder / "table.self-training.handful").estimator_)
    state["estimator_"].classes_ = state["estimator_"].classes_ + [0, *[2**40] * (len(state["classes_"]) - 1)]
    with pytest.raises(DataError, match="its estimator must be for the same columns and classes"):
        estimator_from("SelfTrainingClassifier", state)
    tagger = handful.load(folder / "tagger.stacked.handful")
    with pytest.raises(DataError, match="tag_weight and min_share are gone"):
        StackedTagger._from_state({**tagger._state(), "tag_weight": 100_000})


def test_columns_that_cannot_be_encoded_are_refused():
    import numpy as np

    from handful.errors import DataError
    from handful.preprocessing.table_encoder import TableEncoder

    with pytest.raises(DataError, match="the values of column 'x' must differ"):
        TableEncoder({"x": {"kind": "nominal", "values": ["red", "blue", "red"]}})
    words = {"kind": "text", "words": ["red"], "weights": np.array([1.0])}
    check_state("TableEncoder", {"columns": TableEncoder.STATE}, {"columns": {"x": words}})
    words["weights"] = np.array([1e308])  # has no square
    with pytest.raises(DataError, match="TableEncoder: columns must"):
        check_state("TableEncoder", {"columns": TableEncoder.STATE}, {"columns": {"x": words}})


def test_a_width_without_a_square_and_a_mark_without_a_label_are_refused():
    import numpy as np

    from handful.errors import DataError
    from handful.models.label_graph import LabelSpreading
    from handful.tagging.prototypes.ensemble import PrototypeEnsemble

    model = LabelSpreading().fit([[0.0], [1.0], [8.0], [9.0]], ["low", None, "high", None])
    with pytest.raises(DataError, match="width_ must be at most 1e"):
        LabelSpreading._from_state({**model._state(), "width_": 1e200})
    team = PrototypeEnsemble(boundary="histogram")
    team.classes_, team.members_, team.crf_, team.separators_ = np.array(["D", "N"]), [], None, []
    with pytest.raises(DataError, match="PrototypeEnsemble: the stored model is damaged"):
        team._check_state()


def test_answers_of_two_columns_and_a_most_frequent_class_that_is_none_are_refused():
    from sklearn.neighbors import KNeighborsClassifier

    from handful.errors import DataError
    from handful.neighbors.kernel_pca import CompositeKernelPCA
    from handful.persistence.sklearn_models import estimator_from, estimator_state

    neighbors = estimator_state(KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1]))
    assert estimator_from("KNeighborsClassifier", neighbors).predict([[0.9]]) == [1]
    with pytest.raises(DataError, match="outputs_2d_ must be False"):
        estimator_from("KNeighborsClassifier", {**neighbors, "outputs_2d_": True})
    model = CompositeKernelPCA().fit([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0]], ["a", None, "b"])
    assert CompositeKernelPCA._from_state(model._state()).predict([[0.0, 1.0]]) == ["a"]
    for other in ([], ["a"], "c", None):
        with pytest.raises(DataError, match="most_frequent_ must be one of the classes"):
            CompositeKernelPCA._from_state({**model._state(), "most_frequent_": other})


def test_what_tags_for_a_model_of_senses_is_a_tagger():
    import handful
    from handful.errors import DataError
    from handful.senses.classifier import SenseClassifier

    folder = Path(__file__).parents[1] / "models" / "0.1.0"
    model = handful.load(folder / "senses.with-tagger.handful")
    state, other = model._state(), handful.load(folder / "table.k-nn.handful")
    assert SenseClassifier._from_state(state).tagger is not None
    with pytest.raises(DataError, match="tagger must be a Tagger"):
        SenseClassifier._from_state({**state, "tagger": other})


def test_what_inspect_and_export_show_has_the_form_that_they_show():
    import numpy as np

    from handful.errors import DataError
    from handful.models.table_model import TableModel
    from handful.tagging.prototypes.tagger import PrototypeTagger

    X, y = np.array([[0.0], [1.0], [8.0], [9.0], [5.0]]), ["low", "low", "high", "high", None]
    model = TableModel("condensed-nn").fit(X, y)
    state = model._state()
    for wrong in (
        {"training_": 1},
        {"training_": {"estimate": {"value": "high"}}},
        {"rows_": np.zeros(4, dtype=np.int64)},
    ):
        TableModel._from_state(state)
        model.estimator_.kept_ = np.array([0, 2**40]) if "rows_" in wrong else model.estimator_.kept_
        with pytest.raises(DataError, match=r"must be (a dictionary|numbers|given by their numbers)"):
            TableModel._from_state({**state, **wrong})
    tagger = PrototypeTagger({"D": ["the"], "N": ["dog"]}, similarity=None, max_iter=2).fit([["the", "dog"]] * 3)
    with pytest.raises(DataError, match="a list of words, got 2 for 'D'"):
        PrototypeTagger._from_state({**tagger._state(), "prototypes": {"D": 2}})
