"""Counts of one shard after the other, and counts that are weighed and added without a file between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from handful.errors import DataError, ParameterError
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.counts import ShardReading, _Summarize
from handful.tagging.crf import CRF

TEXT = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]


@pytest.fixture
def tagger():
    return CRF(strength=0.1).fit(TEXT, [["D", "N", "V"]] * 3)


@pytest.mark.parametrize("marginals", [False, True])
def test_the_counts_of_a_shard_do_not_depend_on_those_before(tagger, marginals):
    space = tagger.feature_space(TEXT, marginals=marginals)
    used = _Summarize(space, ShardReading())
    used(TEXT)
    with pytest.raises(DataError):
        used([TEXT[0], [3]])
    for shard in (TEXT[:1], TEXT[1:]):
        found, alone = used(shard), _Summarize(space, ShardReading())(shard)
        assert found.keys() == alone.keys()
        assert all(np.array_equal(found[name], alone[name]) for name in found)


def test_threads_may_share_what_counts(tagger):
    space = tagger.feature_space(TEXT)
    shards, used = [TEXT[:1] * 50, TEXT[1:] * 50] * 20, _Summarize(space, ShardReading())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(used, shards))
    for one, shard in zip(found, shards, strict=True):
        assert np.array_equal(one["chosen"], _Summarize(space, ShardReading())(shard)["chosen"])


def test_a_text_of_half_the_weight_twice_is_the_text_once(tagger):
    features = CondensedFeatures(tagger, discount=0.1).fit(TEXT * 4)
    half = features.counts_.weighted(0.5)
    assert (half.size, half.fingerprint) == (features.counts_.size, features.counts_.fingerprint)
    again = CondensedFeatures(tagger, discount=0.1).fit_counts([half, half])
    assert np.array_equal(again.bins_, features.bins_)
    assert again.counts_.size == 2 * features.counts_.size
    less = CondensedFeatures(tagger, discount=0.1).fit_counts(half)
    assert len(less.kept_) <= len(features.kept_)


def test_weights_are_those_of_copies(tagger):
    one, other = (CondensedFeatures(tagger).fit(text).counts_ for text in (TEXT[:1] * 9, TEXT[1:] * 9))
    weighed = CondensedFeatures(tagger).fit_counts([one, other.weighted(2.0)])
    copied = CondensedFeatures(tagger).fit_counts([one, other, other])
    assert np.array_equal(weighed.counts_.chosen, copied.counts_.chosen)
    assert np.array_equal(weighed.counts_.basis, copied.counts_.basis)
    assert np.array_equal(weighed.bins_, copied.bins_)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_weights_that_are_none_are_refused(tagger, weight):
    with pytest.raises(ParameterError, match="number above 0"):
        CondensedFeatures(tagger).fit(TEXT).counts_.weighted(weight)
