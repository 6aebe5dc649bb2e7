from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from handful.preprocessing import texts as letters
from handful.preprocessing.texts import choose_places, count_places

HOSTILE = [
    "",
    " ",
    "a",
    "A a",
    "no no",
    "Straße\tstraße",
    "x\ny",
    "😀 😀😀",
    "İstanbul",
    "\ud800 lone",
    "co-op, co-op!",
    "no",
]


def texts(n, seed):
    rng = np.random.default_rng(seed)
    return [
        " ".join("".join(rng.choice(list("abcdé"), rng.integers(1, 7))) for _ in range(rng.integers(0, 9)))
        for _ in range(n)
    ]


@pytest.mark.parametrize("chunk", [10, 10_000_000])
def test_counts_are_those_of_scikit_learn(monkeypatch, chunk):
    monkeypatch.setattr(letters, "_CHUNK", chunk)
    for seed in range(20):
        some = texts(12, seed)
        judge = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=2)
        expected = judge.fit_transform(some).toarray()
        found = count_places(some, choose_places(some, 10**6)).toarray()
        assert sorted(found.T.tolist()) == sorted(expected.T.tolist())


def test_the_most_frequent_runs_are_kept():
    some = ["aa aa aa", "aa bb", "bb"]
    places = choose_places(some, 3)
    assert count_places(some, places).sum(axis=0).tolist() == [
        [4.0, 4.0, 4.0]
    ]  # " a", "aa", "a " of two letters and more
    assert len(choose_places(["only once"], 100)) > 0  # nothing stands in two texts


def test_hostile_texts():
    counts = count_places(HOSTILE, choose_places(HOSTILE, 100))
    assert counts.shape[0] == len(HOSTILE)
    assert counts[0].nnz == counts[1].nnz == 0
    assert counts[4].nnz > 0
    assert count_places([], np.zeros(0, dtype=np.int32)).shape == (0, 0)
    assert len(choose_places([], 10)) == 0
