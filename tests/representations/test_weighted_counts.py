"""Counts of one shard after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from handful.errors import DataError
from handful.representations.counts import ShardReading, _Summarize
from handful.tagging.crf import CRF

TEXT = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]


@pytest.fixture
def tagger():
    return CRF(strength=0.1).fit(TEXT, [["D", "N", "V"]] * 3)


def test_the_counts_of_a_shard_do_not_depend_on_those_before(tagger):
    space = tagger.feature_space(TEXT)
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
