"""Feature bagging: the average of taggers that saw complementary halves of the templates."""

from __future__ import annotations

import numpy as np
import pytest

from handful.core.errors import ParameterError
from handful.core.store import read_model, write_model
from handful.features import Extractor
from handful.tagging import CRF
from handful.tagging.crf.bagging import template_halves

SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps", "."], ["dogs", "bark"], ["the", "man", "sleeps"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "."], ["N", "V"], ["D", "N", "V"]]
OBSERVED = ["word[0]", "word[-1]", "word.suffix2[0]", "word.suffix1[1]", "word[0]|word[1]"]


def test_halves_are_complementary_and_of_equal_size():
    extractor = Extractor(["u", *OBSERVED]).fit(SENTENCES)
    slot_of = np.repeat(np.arange(len(extractor.slots)), np.diff(extractor.starts))
    masks = list(template_halves(extractor, 3, seed=5))
    assert len(masks) == 6
    for one, other in zip(masks[::2], masks[1::2], strict=True):
        assert one[slot_of == 0].all()
        assert other[slot_of == 0].all()
        assert (one ^ other)[slot_of > 0].all()
        sizes = [len(set(slot_of[half].tolist())) - 1 for half in (one, other)]
        assert sizes == [3, 2]
        assert all(
            half[slot_of == slot].all() or not half[slot_of == slot].any() for half in (one, other) for slot in slot_of
        )
    assert len({mask.tobytes() for mask in masks}) > 2


def test_weights_are_the_mean_of_taggers_of_the_halves():
    options = {"strength": 0.5, "tol": 1e-12}
    bagged = CRF(["u", "b", *OBSERVED], bags=1, random_state=3, **options).fit(SENTENCES, TAGS)
    extractor = Extractor(["u", *OBSERVED]).fit(SENTENCES)
    parts = []
    for half in template_halves(extractor, 1, seed=3):
        left = {name.rpartition("=")[0] for name in extractor.names(np.flatnonzero(half))}
        parts.append(CRF(["u", "b", *(t for t in OBSERVED if t in left)], **options).fit(SENTENCES, TAGS))
    for label in bagged.classes_:
        one, other = (dict(part.top_features(label, 1000)) for part in parts)
        for name, weight in bagged.top_features(label, 1000):
            assert weight == pytest.approx((one.get(name, 0.0) + other.get(name, 0.0)) / 2, abs=1e-4), name
    one, other = (part.transitions() for part in parts)
    for pair, weight in bagged.transitions().items():
        assert weight == pytest.approx((one[pair] + other[pair]) / 2, abs=1e-4)


@pytest.mark.parametrize("algorithm", ["lbfgs", "pa", "fobos"])
def test_bags_are_repeatable_and_saved(algorithm, tmp_path):
    options = {"bags": 2, "algorithm": algorithm, "strength": 0.05}
    tagger = CRF(OBSERVED, **options).fit(SENTENCES, TAGS)
    assert tagger.predict(SENTENCES) == TAGS
    assert np.array_equal(tagger.weights_, CRF(OBSERVED, **options).fit(SENTENCES, TAGS).weights_)
    write_model(tagger, tmp_path / "model")
    again = read_model(tmp_path / "model", {"crf": CRF}.get)
    assert again.get_params()["bags"] == 2
    assert again.predict([["the", "cat", "barks"]]) == tagger.predict([["the", "cat", "barks"]])


def test_interrupted_bags_go_on_as_if_nothing_had_happened(tmp_path):
    options = {"bags": 2, "penalty": "l1", "strength": 0.1}
    whole = CRF(OBSERVED, **options).fit(SENTENCES, TAGS)
    seen = []

    class StopError(Exception):
        pass

    def stop(step):
        seen.append(step.done)
        if seen.count(12) == 2:
            raise StopError

    path = tmp_path / "run.npz"
    with pytest.raises(StopError):
        CRF(OBSERVED, **options).fit(SENTENCES, TAGS, progress=stop, checkpoint=path)
    assert {file.name for file in tmp_path.iterdir()} == {"run.npz.1", "run.npz.2"}
    resumed = CRF(OBSERVED, **options).fit(SENTENCES, TAGS, checkpoint=path)
    assert np.array_equal(whole.weights_, resumed.weights_)


def test_the_number_of_bags_is_checked():
    with pytest.raises(ParameterError, match="bags"):
        CRF(bags=-1).fit(SENTENCES, TAGS)


def test_a_file_from_before_there_were_bags_is_read(tmp_path, monkeypatch):
    tagger = CRF("pos", max_iter=3).fit([["a", "b"], ["b", "a"]], [["X", "Y"], ["Y", "X"]])
    state = tagger._state()
    del state["bags"]
    monkeypatch.setattr(CRF, "_state", lambda self: state)
    write_model(tagger, tmp_path / "model")
    again = read_model(tmp_path / "model", {"crf": CRF}.get)
    assert again.bags == 0
    assert again.predict([["a", "b"]]) == [["X", "Y"]]
