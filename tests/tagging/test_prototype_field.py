"""The joint field against enumeration of all sentences and labelings."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import prototype_mrf as oracle
from scipy import sparse
from scipy.optimize import approx_fprime

from handful.tagging.prototypes.field import PrototypeField, TokenArrays
from handful.tagging.prototypes.tagger import PrototypeTagger

CLASSES = ["A", "B", "C"]
VOCABULARY = ["u", "v", "w", "x"]
PREDICATES = {"u": ["w=u", "s"], "v": ["w=v"], "w": ["w=w", "s", "p"], "x": ["w=x"]}
COLUMNS = ["w=u", "w=v", "w=w", "w=x", "s", "p"]
# u is locked to B; v may be A or C
LEGAL = {"u": {"B"}, "v": {"A", "C"}, "w": set(CLASSES), "x": set(CLASSES)}
SENTENCES = [
    ["w"],
    ["x", "w"],
    ["u", "w", "x"],
    ["w", "x", "w", "x"],
    ["x", "u", "v", "w"],
    ["u"],
    ["v", "u"],
    ["u", "u", "w"],
]
GIVEN = [[None], [None, None], [None, "A", None], [None] * 4, [None] * 4, [None], ["C", None], ["B", None, "A"]]


def make_field(order):
    table = np.zeros((len(VOCABULARY), len(COLUMNS)))
    for row, word in enumerate(VOCABULARY):
        table[row, [COLUMNS.index(p) for p in PREDICATES[word]]] = 1.0
    legal = np.array([[y in LEGAL[w] for y in CLASSES] for w in VOCABULARY])
    return PrototypeField(sparse.csr_array(table), legal, order)


def make_tokens(sentences=SENTENCES, given=GIVEN):
    words = [VOCABULARY.index(w) for s in sentences for w in s]
    fixed = [-1 if y is None else CLASSES.index(y) for s in given for y in s]
    offsets = np.cumsum([0, *map(len, sentences)])
    return TokenArrays(np.array(words, dtype=np.int32), offsets, np.array(fixed, dtype=np.int32))


def as_theta(field, weights, order):
    """Name every weight as the oracle names features."""
    emission, *edges = field.split(weights)
    theta = {("node", p, y): emission[i, j] for i, p in enumerate(COLUMNS) for j, y in enumerate(CLASSES)}
    first, last = oracle.START, oracle.STOP
    if order == 1:
        start, pair, stop = edges
        for i, a in enumerate(CLASSES):
            theta["edge", first, a], theta["edge", a, last] = start[i], stop[i]
            for j, b in enumerate(CLASSES):
                theta["edge", a, b] = pair[i, j]
        return theta
    start, start_pair, triple, stop_pair, stop = edges
    for i, a in enumerate(CLASSES):
        theta["edge", first, first, a], theta["edge", first, a, last] = start[i], stop[i]
        for j, b in enumerate(CLASSES):
            theta["edge", first, a, b], theta["edge", a, b, last] = start_pair[i, j], stop_pair[i, j]
            for k, c in enumerate(CLASSES):
                theta["edge", a, b, c] = triple[i, j, k]
    return theta


@pytest.mark.parametrize("order", [1, 2])
def test_likelihood_equals_enumeration(order):
    field = make_field(order)
    for seed in range(3):
        weights = np.random.default_rng(seed).normal(size=field.size)
        value, _, _ = field.objective(weights, make_tokens())
        theta = as_theta(field, weights, order)
        expected = oracle.log_likelihood(SENTENCES, GIVEN, VOCABULARY, CLASSES, LEGAL, order, PREDICATES, theta)
        assert value == pytest.approx(-expected, rel=1e-11)


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_equals_finite_differences(order):
    field, tokens = make_field(order), make_tokens()
    weights = np.random.default_rng(5).normal(size=field.size)
    _, gradient, _ = field.objective(weights, tokens)
    step = 1e-5
    for j in range(field.size):
        moved = weights.copy()
        moved[j] += step
        up = field.objective(moved, tokens)[0]
        moved[j] -= 2 * step
        down = field.objective(moved, tokens)[0]
        assert gradient[j] == pytest.approx((up - down) / (2 * step), abs=2e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_at_zero_weights_every_text_of_a_length_is_equally_likely(order):
    field = PrototypeField(sparse.csr_array(np.eye(7)), np.ones((7, 5), dtype=bool), order)
    words = np.random.default_rng(0).integers(0, 7, 301).astype(np.int32)
    tokens = TokenArrays(words, np.array([0, 300, 301]), np.full(301, -1, dtype=np.int32))
    assert field.objective(np.zeros(field.size), tokens)[0] == pytest.approx(301 * np.log(7.0), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_posteriors_and_best_labeling_equal_enumeration(order):
    field = make_field(order)
    weights = np.random.default_rng(2).normal(size=field.size) * 2
    theta = as_theta(field, weights, order)
    nothing = [[None] * len(s) for s in SENTENCES]
    tokens = make_tokens(given=nothing)
    marginals, best = field.marginals(weights, tokens), field.best(weights, tokens)
    for s, words in enumerate(SENTENCES):
        here = slice(tokens.offsets[s], tokens.offsets[s + 1])
        expected, labeling = oracle.marginals(words, CLASSES, LEGAL, order, PREDICATES, theta)
        np.testing.assert_allclose(marginals[here], expected, atol=1e-12)
        assert [CLASSES[y] for y in best[here]] == labeling


def test_blocks_and_threads_do_not_change_the_sums(monkeypatch):
    from handful.tagging.prototypes import field as module

    rng = np.random.default_rng(0)
    sentences = [
        # mostly free words, so that more than one batch of matrix products is needed
        [str(w) for w in rng.choice(VOCABULARY, size=n, p=[0.02, 0.08, 0.45, 0.45])]
        for n in rng.integers(1, 30, size=300)
    ]
    tokens = make_tokens(sentences, [[None] * len(s) for s in sentences])
    for order in (1, 2):
        field = make_field(order)
        weights = rng.normal(size=field.size)
        value, gradient, _ = field.objective(weights, tokens)
        other = field.objective(weights, tokens, n_jobs=3)
        assert value == other[0]
        assert (gradient == other[1]).all()
        with monkeypatch.context() as patch:
            patch.setattr(module, "_WIDTH", 7)
            narrow = field.objective(weights, tokens)
        assert narrow[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(narrow[1], gradient, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_a_sentence_of_a_thousand_tokens_and_large_weights(order):
    rng = np.random.default_rng(3)
    sentences = [[str(w) for w in rng.choice(VOCABULARY, size=1000)], ["w"]]
    tokens = make_tokens(sentences, [[None] * 1000, [None]])
    field = make_field(order)
    weights = np.clip(rng.normal(size=field.size) * 20, -25, 25)
    value, gradient, shares = field.objective(weights, tokens)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    direction = rng.normal(size=field.size)
    slope = approx_fprime(np.zeros(1), lambda s: field.objective(weights + s[0] * direction, tokens)[0], 1e-6)[0]
    assert gradient @ direction == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize("variance", [0.5, 0.1])
def test_a_fitted_tagger_minimizes_the_likelihood_with_a_gaussian_prior(variance):
    """At the end the gradient of -log p(x) + sum(w ** 2) / (2 * variance), by enumeration, is 0."""
    text = [["u", "w"], ["w", "x"], ["x", "w", "u"], ["w"], ["u", "x"]]
    lists = {"A": ["u"], "B": ["x"]}
    settings = {"order": 1, "spelling": False, "variance": variance, "max_iter": 500, "tol": 0.0}
    tagger = PrototypeTagger(lists, **settings).fit(text)
    classes, vocabulary = ["A", "B"], ["u", "w", "x"]
    predicates = {word: [f"word={word}"] for word in vocabulary}
    legal = {"u": {"A"}, "w": {"A", "B"}, "x": {"B"}}
    names = [("node", p, y) for p in tagger.predicates_ for y in classes]
    names += [("edge", oracle.START, y) for y in classes]
    names += [("edge", a, b) for a in classes for b in classes]
    names += [("edge", y, oracle.STOP) for y in classes]
    given = [[None] * len(sentence) for sentence in text]

    def objective(weights):
        theta = dict(zip(names, weights, strict=True))
        likelihood = oracle.log_likelihood(text, given, vocabulary, classes, legal, 1, predicates, theta)
        return -likelihood + float(weights @ weights) / (2 * variance)

    assert objective(tagger.weights_) == pytest.approx(tagger.objective_, rel=1e-9)
    np.testing.assert_allclose(approx_fprime(tagger.weights_, objective, 1e-6), 0.0, atol=5e-3)
