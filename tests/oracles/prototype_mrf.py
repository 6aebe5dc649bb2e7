"""The joint field over words and labels by enumeration of all sentences and labelings: slow and literal."""

from __future__ import annotations

from itertools import product

import numpy as np

START, STOP = "<start>", "<stop>"


def features_of(words, labels, order, predicates):
    """Yield the features of a labeled sentence: one for each predicate of a word, one for each label sequence."""
    for word, label in zip(words, labels, strict=True):
        for predicate in predicates[word]:
            yield ("node", predicate, label)
    padded = [START] * order + list(labels) + [STOP]
    for end in range(order, len(padded)):
        yield ("edge", *padded[end - order : end + 1])


def score(words, labels, order, predicates, theta):
    """Return the unnormalized probability."""
    return np.exp(sum(theta.get(f, 0.0) for f in features_of(words, labels, order, predicates)))


def all_labelings(words, classes, legal):
    """Yield the labelings in which every word carries a legal label."""
    return product(*[[y for y in classes if y in legal[w]] for w in words])


def partition(length, vocabulary, classes, legal, order, predicates, theta):
    """Return Z_l: the sum over all sentences of a length and all labelings."""
    return sum(
        score(words, labels, order, predicates, theta)
        for words in product(vocabulary, repeat=length)
        for labels in all_labelings(words, classes, legal)
    )


def log_likelihood(sentences, given, vocabulary, classes, legal, order, predicates, theta):
    """Return the log-likelihood; `given` holds for each token its label, or None."""
    total = 0.0
    for words, known in zip(sentences, given, strict=True):
        numerator = sum(
            score(words, labels, order, predicates, theta)
            for labels in all_labelings(words, classes, legal)
            if all(k is None or k == y for k, y in zip(known, labels, strict=True))
        )
        total += np.log(numerator)
    lengths = [len(s) for s in sentences]
    sums = {n: partition(n, vocabulary, classes, legal, order, predicates, theta) for n in set(lengths)}
    return total - sum(np.log(sums[n]) for n in lengths)


def marginals(words, classes, legal, order, predicates, theta):
    """Return the posterior of each label at each position, and the best labeling."""
    sums = np.zeros((len(words), len(classes)))
    best, top = None, -np.inf
    for labels in all_labelings(words, classes, legal):
        value = score(words, labels, order, predicates, theta)
        for position, label in enumerate(labels):
            sums[position, classes.index(label)] += value
        if value > top:
            best, top = labels, value
    return sums / sums.sum(axis=1, keepdims=True), list(best)
