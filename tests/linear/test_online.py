"""Online learners against eager versions and exact optima."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.online import run
from scipy import optimize

from handful.errors import DataError, FileError, ParameterError
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import build_layout
from handful.linear.multiclass import Multiclass
from handful.linear.online import OnlineRule, train_online
from handful.linear.recorder import Recorder
from handful.preprocessing.extractor import Predicates


def table(seed, n=30, n_columns=6, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) * (rng.random((n, n_columns)) < 0.5)
    return X, rng.integers(0, n_labels, size=n), n_labels


@pytest.mark.parametrize("algorithm", ["pa", "fobos"])
@pytest.mark.parametrize("seed", range(3))
def test_lazy_equals_eager(algorithm, seed):
    X, y, n_labels = table(seed)
    orders = [np.random.default_rng([7, k]).permutation(len(X)) for k in range(4)]
    averaged, last = run(X, y, n_labels, algorithm, orders, aggressiveness=0.3, l1=2.0)
    found = train_online(
        Multiclass(X, n_labels), y, OnlineRule(algorithm, aggressiveness=0.3, l1=2.0), max_passes=4, seed=7
    ).weights.reshape(-1, n_labels)
    np.testing.assert_allclose(found, np.where(last == 0.0, 0.0, averaged), atol=1e-12)


def hinge_optimum(X, y, n_labels, l1):
    """Solve the L1-penalized multiclass hinge problem exactly, as a linear program."""
    n, d = X.shape
    size = d * n_labels
    cost = np.concatenate([np.full(2 * size, l1), np.ones(n)])
    rows, bounds = [], []
    for i in range(n):
        for label in range(n_labels):
            if label != y[i]:
                delta = np.zeros((d, n_labels))
                delta[:, label] += X[i]
                delta[:, y[i]] -= X[i]
                slack = np.zeros(n)
                slack[i] = -1.0
                rows.append(np.concatenate([delta.ravel(), -delta.ravel(), slack]))
                bounds.append(-1.0)
    solved = optimize.linprog(cost, A_ub=np.array(rows), b_ub=np.array(bounds), method="highs")
    return solved.fun


@pytest.mark.parametrize("seed", range(2))
def test_fobos_comes_to_the_exact_optimum(seed):
    X, y, n_labels = table(seed, n=20, n_columns=4)
    best = hinge_optimum(X, y, n_labels, 2.0)
    learned = train_online(Multiclass(X, n_labels), y, OnlineRule("fobos", l1=2.0, rate=0.2), max_passes=600)
    weights = learned.weights.reshape(-1, n_labels)
    scores = X @ weights + (np.arange(n_labels) != y[:, None])
    value = (scores.max(axis=1) - (X @ weights)[np.arange(len(y)), y]).sum() + 2.0 * np.abs(weights).sum()
    assert best <= value + 1e-9
    assert value < 1.02 * best


@pytest.mark.parametrize("algorithm", ["pa", "fobos"])
def test_resuming_gives_the_same_bits(tmp_path, algorithm):
    X, y, n_labels = table(3)
    options = {"rule": OnlineRule(algorithm, l1=0.5), "seed": 1}
    whole = train_online(Multiclass(X, n_labels), y, max_passes=6, **options)
    path = tmp_path / "run.npz"
    train_online(Multiclass(X, n_labels), y, max_passes=2, recorder=Recorder(checkpoint=path), **options)
    resumed = train_online(Multiclass(X, n_labels), y, max_passes=6, recorder=Recorder(checkpoint=path), **options)
    assert np.array_equal(whole.weights, resumed.weights)
    with pytest.raises(DataError, match="another training run"):
        train_online(
            Multiclass(X, n_labels), y, max_passes=6, recorder=Recorder(checkpoint=path), **(options | {"seed": 2})
        )
    with pytest.raises(ParameterError, match="has 6 passes already, got 3 to make"):
        train_online(Multiclass(X, n_labels), y, max_passes=3, recorder=Recorder(checkpoint=path), **options)


def test_a_checkpoint_that_was_cut_off_is_refused(tmp_path):
    X, y, n_labels = table(3)
    path = tmp_path / "run.npz"
    train_online(Multiclass(X, n_labels), y, OnlineRule("pa"), max_passes=1, recorder=Recorder(checkpoint=path))
    whole = path.read_bytes()
    for n_bytes in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(FileError, match=r"run\.npz: is not a checkpoint of a training run, or a damaged one"):
            train_online(Multiclass(X, n_labels), y, OnlineRule("pa"), max_passes=2, recorder=Recorder(checkpoint=path))


def test_weights_that_grow_without_end_are_refused_and_not_kept(tmp_path):
    X, y, n_labels = table(3)
    path = tmp_path / "run.npz"
    with pytest.raises(ParameterError, match=r"must stay finite, but with rate 1e\+308"):
        train_online(
            Multiclass(X, n_labels),
            y,
            OnlineRule("fobos", rate=1e308),
            max_passes=2,
            recorder=Recorder(checkpoint=path),
        )
    assert not path.exists()


@pytest.mark.parametrize("algorithm", ["pa", "fobos"])
@pytest.mark.parametrize("order", [1, 2])
def test_chains_learn_what_can_be_learned(algorithm, order):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 8, size=40)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(0, 6, size=offsets[-1])
    before = np.where(np.isin(np.arange(offsets[-1]), offsets[:-1]), -1, np.roll(words, 1))
    codes = ((words + (before == 2)) % 3).astype(np.int32)  # the label depends on the word and on the word before
    node = Predicates.of(np.stack([words, np.where(before == 2, words + 6, -1)], axis=1), offsets)
    edge = Predicates.of(words[:, None], offsets)
    layout = build_layout(12, 3, node, edge, codes, order=order, all_labels=True)
    chain = ChainStructure(layout, node, edge, order=order)
    learned = train_online(chain, codes, OnlineRule(algorithm, l1=0.01), max_passes=30)
    assert (chain.argmax(learned.weights) == codes).mean() > 0.99


@pytest.mark.parametrize("rule", [OnlineRule("pa"), OnlineRule("fobos", rate=1e-12, l1=1e-12)], ids=str)
def test_training_starts_where_it_is_told(rule):
    rows, outputs = Multiclass(np.eye(3), 3), np.arange(3)
    right = np.ravel(10.0 * np.eye(3))
    learned = train_online(rows, outputs, rule, max_passes=2, start=right)
    assert learned.loss == 0.0
    np.testing.assert_allclose(learned.weights, right, atol=1e-9)
