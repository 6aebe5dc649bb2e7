"""Credits, ties, proper names and coarse senses as the Senseval scorer counts them."""

from __future__ import annotations

import pytest

from handful.errors import DataError
from handful.senses.scoring import score_senses

KEY = {"1": ("a",), "2": ("a", "b"), "3": ("U",), "4": ("P", "c")}


def test_any_correct_sense_earns_the_whole_credit():
    score = score_senses(KEY, {"1": "a", "2": "b", "3": "U", "4": "P"})
    assert (score.precision, score.recall, score.n_answered) == (1.0, 1.0, 4)


def test_weight_is_shared_between_answers():
    score = score_senses(KEY, {"1": ["a", "b"], "2": ["a", "b"], "4": {"P": 3.0, "d": 1.0}})
    assert score.credits == {"1": 0.5, "2": 1.0, "3": 0.0, "4": 0.75}
    assert score.precision == pytest.approx(2.25 / 3)
    assert score.recall == pytest.approx(2.25 / 4)


def test_coarse_scoring_maps_key_and_answers():
    coarse = {"a": "top", "c": "top", "top": "top"}
    score = score_senses(KEY, {"1": "c", "2": "top", "3": "U", "4": "b"}, coarse)
    assert score.credits == {"1": 1.0, "2": 1.0, "3": 1.0, "4": 0.0}


def test_errors():
    with pytest.raises(DataError, match="must be in the key, got '9'"):
        score_senses(KEY, {"9": "a"})
    with pytest.raises(DataError, match="at least one instance"):
        score_senses({}, {})
    assert score_senses(KEY, {}).precision == 0.0
