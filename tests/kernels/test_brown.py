from __future__ import annotations

import numpy as np
import pytest

from handful.kernels import brown
from handful.kernels.brown import file_pairs


def random_counts(seed, n_words, n_tokens):
    """Return occurrences and pairs of a random text, words numbered by decreasing count."""
    random = np.random.default_rng(seed)
    text = np.minimum(random.geometric(0.2, n_tokens) - 1, n_words - 1)
    order = np.argsort(-np.bincount(text, minlength=n_words), kind="stable")
    rank = np.empty(n_words, dtype=np.int64)
    rank[order] = np.arange(n_words)
    text = rank[text]
    occurrences = np.bincount(text, minlength=n_words)
    occurrences = occurrences[occurrences > 0]
    keys, count = np.unique(text[:-1] * n_words + text[1:], return_counts=True)
    return occurrences, keys // n_words, keys % n_words, count


def clustered(occurrences, first, second, count, n_clusters, stops=()):
    pairs = file_pairs(first, second, count, len(occurrences))
    tables = brown.start_tables(occurrences, pairs, n_clusters)
    done = n_clusters
    for stop in (*stops, len(occurrences)):
        brown.absorb(tables, pairs, occurrences, done, stop)
        done = stop
    return tables


def information(follows, occurrences):
    """Average mutual information times the number of pairs, without its constant part."""
    i, j = np.nonzero(follows)
    count = follows[i, j]
    return float(np.sum(count * np.log2(count / (occurrences[i] * occurrences[j]))))


def merged(follows, occurrences, i, j):
    keep = [k for k in range(len(follows)) if k != j]
    table, total = follows.copy(), occurrences.copy()
    table[i] += table[j]
    table[:, i] += table[:, j]
    total[i] += total[j]
    return table[np.ix_(keep, keep)], total[keep]


@pytest.mark.parametrize("seed", range(8))
def test_tables_after_many_merges_hold_what_counting_from_scratch_gives(seed):
    occurrences, first, second, count = random_counts(seed, 40, 700)
    tables = clustered(occurrences, first, second, count, 7)
    slot = brown.cluster_of_words(tables)
    follows = np.zeros((8, 8), dtype=np.int64)
    np.add.at(follows, (slot[first], slot[second]), count)
    assert (tables.follows == follows).all()
    assert (tables.precedes == follows.T).all()
    used = np.unique(slot)
    assert tables.occurrences[used].tolist() == [occurrences[slot == s].sum() for s in used]
    before = information(follows, tables.occurrences)
    margin = tables.links * np.log2(np.maximum(tables.occurrences, 1))
    for i in used:
        for j in used:
            if i < j:
                loss = before - information(*merged(follows, tables.occurrences, i, j))
                links = tables.links[i] + tables.links[j]
                ours = tables.shared[i, j] - margin[i] - margin[j] + links * tables.log_both[i, j]
                assert ours == pytest.approx(loss, abs=1e-8)


def test_stopping_on_the_way_changes_nothing():
    counts = random_counts(3, 60, 1500)
    whole = brown.cluster_of_words(clustered(*counts, 6))
    assert whole.tolist() == brown.cluster_of_words(clustered(*counts, 6, stops=(7, 15, 15, 20))).tolist()


def test_counts_beyond_the_table_of_logarithms_give_the_same_clusters():
    occurrences, first, second, count = random_counts(5, 50, 1200)
    small = clustered(occurrences, first, second, count, 6)
    large = clustered(occurrences * 100_000, first, second, count * 100_000, 6)
    assert brown.cluster_of_words(small).tolist() == brown.cluster_of_words(large).tolist()
    assert brown.join(small).tolist() == brown.join(large).tolist()


def test_words_that_never_meet_are_clustered_too():
    nothing = np.empty(0, dtype=np.int64)
    tables = clustered(np.array([3, 2, 2, 1]), nothing, nothing, nothing, 2)
    # Every loss is zero, so the two most frequent clusters are merged each time.
    assert brown.cluster_of_words(tables).tolist() == [0, 0, 0, 1]
    assert len(brown.join(tables)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_counts_in_the_millions_give_the_clusters_of_the_same_shares(seed):
    n_words = 40
    follows = (1_000 * np.random.default_rng(seed).random((n_words, n_words)) ** 3).astype(np.int64) + 1
    order = np.argsort(-follows.sum(axis=0), kind="stable")
    follows = follows[order][:, order]
    first, second = np.divmod(np.arange(n_words**2), n_words)

    def found(times):
        occurrences, count = times * follows.sum(axis=0), times * follows.ravel()
        tables = clustered(occurrences, first, second, count, 8)
        return brown.cluster_of_words(tables).tolist(), brown.join(tables).tolist()

    assert found(2**24) == found(1)
