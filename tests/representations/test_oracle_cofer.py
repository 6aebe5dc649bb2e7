"""Condensed features equal the literal oracle, and the oracle keeps the identities of the definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import cofer
from oracles.enumerated_trees import all_trees, siblings
from sklearn.linear_model import LogisticRegression

from handful.representations.condensed_features import CondensedFeatures
from handful.tagging.crf import CRF

# -- problems ---------------------------------------------------------------------------------------------------------

TAGS = ("a", "b", "c")


def first(name):
    return name[0]


def table_features(x, label):
    return {("column", j, label): int(value) for j, value in enumerate(x) if value}


def random_table(seed, n_labels=3, n_rows=12, n_columns=5):
    """Rows of counts with a random best label for each."""
    rng = np.random.default_rng(seed)
    rows = [tuple(int(v) for v in row) for row in rng.poisson(0.8, size=(n_rows, n_columns))]
    answers = [int(k) for k in rng.integers(0, n_labels, size=n_rows)]
    inputs = list(enumerate(rows))
    outputs = cofer.flat_outputs(range(n_labels))
    return cofer.count_parts(
        inputs, lambda x: outputs, lambda x: (answers[x[0]],), lambda x, part: table_features(x[1], part)
    ), (np.array(rows), np.array(answers))


def word_at(words, i):
    return "<s>" if i < 0 else "</s>" if i >= len(words) else words[i]


def chain_features(words, part):
    """Templates u, u:word[0], u:word[-1], b and b:word[0]."""
    i, *labels = part
    label, pair = tuple(labels[-1:]), tuple(labels[-2:])
    found = Counter({("u", "", label): 1, ("u:word[0]", words[i], label): 1})
    found["u:word[-1]", word_at(words, i - 1), label] += 1
    if len(pair) == 2:
        found["b", "", pair] += 1
        found["b:word[0]", words[i], pair] += 1
    return found


def follows_iob2(before, label):
    return label != "I-X" or before in ("B-X", "I-X")


def random_sentences(rng, n, words="vwxyz", longest=4):
    return [tuple(str(w) for w in rng.choice(list(words), size=rng.integers(1, longest + 1))) for _ in range(n)]


def random_chain(seed, labels=TAGS, legal=None, n=8):
    """Count over sentences whose best labeling is that of random weights, found by enumeration."""
    rng = np.random.default_rng(seed)
    sentences = random_sentences(rng, n)
    weights = {}
    outputs = {k: cofer.chain_outputs(k, labels, legal) for k in range(1, 5)}
    for words in sentences:
        for part in cofer.all_parts(outputs[len(words)]):
            for name in chain_features(words, part):
                weights.setdefault(name, float(rng.normal()))
    counts = cofer.count_parts(
        sentences,
        lambda x: outputs[len(x)],
        lambda x: cofer.best_output(chain_features, weights, x, outputs[len(x)]),
        chain_features,
    )
    return counts, sentences, weights


# -- the oracle itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "even", "value", "coarse", "fine"),
    [
        (10, 4, log(9) - log(4), 1, 9),
        (1, 6, log(2) - log(6), -2, -11),
        (5, Fraction(9, 2), 0.0, 0, 0),
        (5, 4, 0.0, 0, 0),
        (3, 4, 0.0, 0, 0),
    ],
)
def test_oracle_gives_the_worked_figures(chosen, even, value, coarse, fine):
    assert cofer.discounted(chosen, even, 1) == pytest.approx(value, abs=1e-12)
    assert cofer.quantized(value, 1) == coarse
    assert cofer.quantized(value, 10) == fine


def test_oracle_clips_what_was_never_chosen_and_drops_what_was_never_seen():
    assert cofer.discounted(0, 2, 0) == pytest.approx(log(1e-6) - log(2))
    assert cofer.discounted(0, 2, 1) == pytest.approx(-log(2))
    assert cofer.discounted(0, 0, 1) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_labels", [2, 3])
def test_flat_oracle_equals_column_sums(seed, n_labels):
    counts, (rows, answers) = random_table(seed, n_labels)
    for (_, j, label), even in counts.even.items():
        assert counts.chosen["column", j, label] == rows[answers == label, j].sum()
        assert even == Fraction(int(rows[:, j].sum()), n_labels)
    assert len(counts.even) == n_labels * np.count_nonzero(rows.sum(axis=0))


@pytest.mark.parametrize("legal", [None, follows_iob2])
@pytest.mark.parametrize("seed", range(3))
def test_the_two_forms_of_the_potency_agree(seed, legal):
    labels = TAGS if legal is None else ("B-X", "I-X", "O")
    for counts in (random_table(seed)[0], random_chain(seed, labels, legal)[0]):
        assert len(counts.even) > 10
        for name, even in counts.even.items():
            assert counts.plus[name] - counts.minus[name] == counts.chosen[name] - even
            assert counts.plus[name] >= 0
            assert counts.minus[name] >= 0


@pytest.mark.parametrize("seed", range(3))
def test_chain_oracle_equals_the_closed_form(seed):
    """A of a label feature is r_bar times L for each token it is seen at, times 1 for the first of a sentence."""
    counts, sentences, _ = random_chain(seed)
    n_labels = len(TAGS)
    expected = Counter()
    for words in sentences:
        share = Fraction(len(words), n_labels + (len(words) - 1) * n_labels**2)
        for i, word in enumerate(words):
            for label in TAGS:
                expected["u:word[0]", word, (label,)] += share * (n_labels if i else 1)
                for before in TAGS if i else ():
                    expected["b", "", (before, label)] += share
    assert {k: v for k, v in counts.even.items() if k[0] in ("u:word[0]", "b")} == expected
    labels = [counts.chosen["u", "", (label,)] for label in TAGS]
    assert sum(labels) == sum(map(len, sentences))
    assert sum(counts.even["u", "", (label,)] for label in TAGS) == sum(labels)


def test_chain_parts_are_those_of_legal_labelings():
    labels = ("B-X", "I-X", "O")
    free = cofer.all_parts(cofer.chain_outputs(4, labels))
    legal = cofer.all_parts(cofer.chain_outputs(4, labels, follows_iob2))
    assert len(free) == 3 + 3 * 9
    # No I-X starts a sentence, so that of the eight legal pairs three are out of reach at the second word.
    assert [sum(part[0] == i for part in legal) for i in range(4)] == [2, 5, 8, 8]
    assert set(legal) < set(free)
    ends = {(None, "a"), ("a", "a"), ("a", "b"), ("b", "a"), ("a", "c")}
    dead_end = cofer.all_parts(cofer.chain_outputs(3, TAGS, lambda before, label: (before, label) in ends))
    assert set(dead_end) == {
        *[(0, "a")],
        *[(1, "a", "a"), (1, "a", "b")],
        *[(2, "a", "a"), (2, "a", "b"), (2, "a", "c"), (2, "b", "a")],
    }


def test_tree_parts_are_all_arcs():
    for n in (1, 2, 3, 4):
        for projective in (True, False):
            outputs = [cofer.tree_output(heads) for heads in all_trees(n, projective)]
            parts = cofer.all_parts(outputs)
            assert len(parts) == n * n
            assert cofer.even_share(outputs[0], parts) == Fraction(1, n)
    # Pairs of siblings: h with none before m, and with every s between h and m.
    parts = cofer.all_parts([tuple(siblings(heads)) for heads in all_trees(4)])
    between = [(h, s, m) for h in range(5) for m in range(1, 5) for s in range(1, 5) if min(h, m) < s < max(h, m)]
    assert set(parts) == {(h, h, m) for h in range(5) for m in range(1, 5) if h != m} | {p for p in between if p[0]}


def test_a_feature_of_every_part_has_no_potency():
    sentences = random_sentences(np.random.default_rng(0), 6)
    counts = cofer.count_parts(
        sentences,
        lambda x: cofer.chain_outputs(len(x), TAGS),
        lambda x: cofer.chain_output(("a",) * len(x)),
        lambda x, part: {"constant": 2},
    )
    assert counts.chosen["constant"] == counts.even["constant"] == 2 * sum(map(len, sentences))


@pytest.mark.parametrize("global_phi", [False, True])
@pytest.mark.parametrize("resolution", [1, 3, 0.5])
def test_oracle_scores_are_the_same_through_all_three_weights(resolution, global_phi):
    rng = np.random.default_rng(0)
    counts, sentences, _ = random_chain(1)
    bin_of = cofer.bins(cofer.potencies(counts, 0.5), resolution)
    sets = cofer.condensed_sets(bin_of, first)
    assert len(sets) > 4
    assert 0 < sum(map(len, sets.values())) < len(bin_of)
    weights = {("h", *key): float(rng.normal()) for key in sets}
    weights |= {("phi", kind): float(rng.normal()) for kind in (*{kind for kind, _ in sets}, None)}
    fold = cofer.folded(weights, bin_of, first, resolution, global_phi)
    original = cofer.unfolded(fold, bin_of, first)
    for words in sentences:
        for output in cofer.chain_outputs(len(words), TAGS)[:30]:
            amounts = cofer.vector(chain_features, words, output)
            merged = cofer.condensed_vector(amounts, bin_of, first, resolution, global_phi)
            through_h = sum(fold[key[1:]] * amount for key, amount in merged.items() if key[0] == "h")
            assert cofer.dot(weights, merged) == pytest.approx(through_h, abs=1e-9)
            assert cofer.dot(original, amounts) == pytest.approx(through_h, abs=1e-9)


def test_oracle_counts_of_two_shards_add_up():
    rng = np.random.default_rng(5)
    sentences = random_sentences(rng, 9)

    def count(some):
        return cofer.count_parts(
            some,
            lambda x: cofer.chain_outputs(len(x), TAGS),
            lambda x: cofer.chain_output(tuple(TAGS[ord(word) % 3] for word in x)),
            chain_features,
        )

    whole, shards = count(sentences), [count(sentences[:4]), count(sentences[4:])]
    for name, even in whole.even.items():
        assert even == sum(shard.even.get(name, 0) for shard in shards)
        assert whole.chosen[name] == sum(shard.chosen.get(name, 0) for shard in shards)


# -- the library against the oracle -----------------------------------------------------------------------------------


def flat_results(condensed, n_labels):
    """Return {("column", column, label): (V', V*)} of a classifier."""
    pairs = zip(condensed.potency_.tolist(), condensed.bins_.tolist(), strict=True)
    return {("column", f // n_labels, f % n_labels): pair for f, pair in enumerate(pairs)}


def chain_results(condensed):
    """Return {(template, observation, labels): (R, A, V', V*)} of a tagger."""
    records = condensed.features(range(len(condensed.bins_)))
    return {(f.type, f.name.partition("=")[2], tuple(f.labels)): (f.chosen, f.even, f.potency, f.bin) for f in records}


def check_bins(found, potency, resolution):
    """Compare {name: (V', V*)} with the oracle's V'; what the oracle does not know was never seen."""
    bins = cofer.bins(potency, resolution)
    assert {name for name, (_, b) in found.items() if b} == {name for name, b in bins.items() if b and name in found}
    for name, (value, b) in found.items():
        assert value == pytest.approx(potency.get(name, 0.0), abs=1e-9), name
        assert b == bins.get(name, 0), name


def random_rows(rng, n_rows, n_columns=6):
    rows = rng.poisson(0.7, size=(n_rows, n_columns))
    rows[:, -1] *= rng.random(n_rows) < 0.2
    return rows


def with_ones(rows):
    """Add the column that the intercept is the weight of."""
    return np.column_stack([rows, np.ones(len(rows), dtype=int)])


def flat_counts(rows, answers, n_labels):
    return cofer.count_parts(
        list(enumerate(rows.tolist())),
        lambda x: cofer.flat_outputs(range(n_labels)),
        lambda x: (int(answers[x[0]]),),
        lambda x, label: table_features(x[1], label),
    )


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize(("discount", "resolution"), [(1.0, 1.0), (0.5, 4.0), (3.0, 0.5), (0.0, 2.0)])
def test_flat_potency_equals_the_oracle(n_labels, discount, resolution):
    for seed in range(3):
        rng = np.random.default_rng([seed, n_labels])
        rows, unlabeled = random_rows(rng, 30), random_rows(rng, 25 + seed)
        unlabeled[:, 0] = 0
        base = LogisticRegression(C=10.0).fit(sp.csr_array(rows), rng.permutation(np.arange(30) % n_labels))
        counts = flat_counts(with_ones(unlabeled), base.predict(unlabeled), n_labels)
        potency = cofer.potencies(counts, discount)
        condensed = CondensedFeatures(base, discount, resolution).fit(sp.csr_array(unlabeled))
        found = flat_results(condensed, n_labels)
        assert len(found) == n_labels * (rows.shape[1] + 1)
        assert set(counts.even) < set(found)
        check_bins(found, potency, resolution)
        sets = cofer.condensed_sets(cofer.bins(potency, resolution), lambda name: name[1] == 6)  # the intercept
        assert condensed.n_condensed_ == len(sets)


TEMPLATES = ["u", "u:word[0]", "u:word[-1]", "b", "b:word[0]"]
STEPS = {("", "a"), ("a", "a"), ("a", "b"), ("b", "a"), ("a", "c")}  # c ends a sentence


def rules_of(kind):
    if kind == "iob2":
        return ("B-X", "I-X", "O"), follows_iob2
    if kind == "seen":
        return TAGS, lambda before, label: (before or "", label) in STEPS
    return TAGS, None


def tagging_problem(constraints, seed=0, **options):
    """Return a tagger, its sentences, unlabeled ones, the oracle's counts of those, and the known observations."""
    rng = np.random.default_rng(seed)
    outputs = {k: cofer.chain_outputs(k, *rules_of(constraints)) for k in range(1, 5)}
    train = random_sentences(rng, 40)
    gold = [outputs[len(words)][rng.integers(len(outputs[len(words)]))] for words in train]
    tags = [[part[-1] for part in output] for output in gold]
    base = CRF(TEMPLATES, strength=0.1, constraints=constraints, **options).fit([list(words) for words in train], tags)
    unlabeled = random_sentences(rng, 30, "xyzN")  # N is new; v and w do not come again
    answers = dict(zip(unlabeled, base.predict([list(words) for words in unlabeled]), strict=True))
    counts = cofer.count_parts(
        unlabeled, lambda x: outputs[len(x)], lambda x: cofer.chain_output(tuple(answers[x])), chain_features
    )
    known = {name[:2] for words, y in zip(train, gold, strict=True) for name in cofer.vector(chain_features, words, y)}
    return base, [list(words) for words in train], [list(words) for words in unlabeled], counts, known


@pytest.mark.parametrize("all_labels", [False, True])
@pytest.mark.parametrize("constraints", [None, "iob2", "seen"])
@pytest.mark.parametrize(("discount", "resolution"), [(1.0, 1.0), (0.25, 4.0)])
def test_chain_potency_equals_the_oracle(constraints, all_labels, discount, resolution):
    base, labeled, unlabeled, counts, known = tagging_problem(constraints, all_labels=all_labels)
    condensed = CondensedFeatures(base, discount, resolution).fit(unlabeled, labeled=labeled)
    found = chain_results(condensed)
    expected = {name for name in counts.even if name[:2] in known}
    assert expected <= set(found)
    for name, (chosen, even, _, _) in found.items():
        assert chosen == counts.chosen.get(name, 0), name
        assert even == pytest.approx(float(counts.even.get(name, 0)), abs=1e-9), name
    potency = {name: value for name, value in cofer.potencies(counts, discount).items() if name in expected}
    check_bins({name: row[2:] for name, row in found.items()}, potency, resolution)
    assert condensed.n_condensed_ == len(cofer.condensed_sets(cofer.bins(potency, resolution), first))


def test_a_difference_of_exactly_the_discount_is_dropped():
    """Rounding of A, a sum of fractions, must not carry a feature over the edge."""
    base, labeled, unlabeled, counts, _ = tagging_problem(None)
    fitted = CondensedFeatures(base).fit(unlabeled, labeled=labeled)
    names = [("u", "", (label,)) for label in TAGS]
    differences = [abs(counts.chosen[name] - counts.even[name]) for name in names]
    assert max(differences) > 1
    for name, difference in zip(names, differences, strict=True):
        assert chain_results(fitted.rebin(discount=float(difference)))[name][2:] == (0.0, 0)


def test_transform_gives_the_condensed_features_of_the_oracle():
    base, labeled, unlabeled, counts, known = tagging_problem("iob2")
    condensed = CondensedFeatures(base, 0.25, 3.0).fit(unlabeled, labeled=labeled)
    potency = {name: value for name, value in cofer.potencies(counts, 0.25).items() if name[:2] in known}
    bin_of = cofer.bins(potency, 3.0)
    types = condensed.type_names_
    keys = [("h", types[k], int(b)) for k, b in zip(condensed.condensed_types_, condensed.condensed_bins_, strict=True)]
    keys += [("phi", kind) for kind in types]
    found = condensed.transform(unlabeled).toarray()
    assert found.shape == (len(unlabeled), len(keys))
    for row, words, tags in zip(found, unlabeled, base.predict(unlabeled), strict=True):
        amounts = cofer.vector(chain_features, tuple(words), cofer.chain_output(tuple(tags)))
        expected = cofer.condensed_vector(amounts, bin_of, first, 3.0, False)
        np.testing.assert_allclose(row, [expected.get(key, 0.0) for key in keys], atol=1e-9)
        assert set(expected) <= set(keys)


@pytest.mark.parametrize("constraints", [None, "iob2", "seen"])
def test_a_folded_model_answers_as_the_condensed_weights_do(constraints):
    base, labeled, unlabeled, counts, known = tagging_problem(constraints)
    condensed = CondensedFeatures(base, 0.25, 3.0).fit(unlabeled, labeled=labeled)
    potency = {name: value for name, value in cofer.potencies(counts, 0.25).items() if name[:2] in known}
    bin_of = cofer.bins(potency, 3.0)
    types = condensed.type_names_
    keys = [("h", types[k], int(b)) for k, b in zip(condensed.condensed_types_, condensed.condensed_bins_, strict=True)]
    keys += [("phi", kind) for kind in types]
    weights = dict(zip(keys, np.random.default_rng(3).normal(size=len(keys)).tolist(), strict=True))
    answers = condensed.fold(np.array([weights[key] for key in keys])).predict(unlabeled)
    original = cofer.unfolded(cofer.folded(weights, bin_of, first, 3.0), bin_of, first)
    for words, tags in zip(unlabeled, answers, strict=True):
        outputs = cofer.chain_outputs(len(words), *rules_of(constraints))
        scores = [cofer.dot(original, cofer.vector(chain_features, tuple(words), y)) for y in outputs]
        mine = scores[outputs.index(cofer.chain_output(tuple(tags)))]
        assert mine == pytest.approx(max(scores), abs=1e-9)
