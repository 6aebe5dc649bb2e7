"""Chains by enumeration of every labeling: slow and literal."""

from __future__ import annotations

from itertools import product

import numpy as np


def score(node, edge, tri, labels):
    """Score of one labeling; edge[t] holds the pair scores into position t, tri one score for each three labels."""
    total = 0.0
    for t, y in enumerate(labels):
        total += node[t][y]
        if t >= 1:
            total += edge[t][labels[t - 1]][y]
        if t >= 2:
            total += tri[labels[t - 2]][labels[t - 1]][y]
    return total


def enumerate_chain(node, edge, tri=None):
    """Return log partition, node, edge and triple marginals, best labeling and its score."""
    length, n_labels = node.shape
    tri = np.zeros((n_labels,) * 3) if tri is None else tri
    outputs = list(product(range(n_labels), repeat=length))
    scores = np.array([score(node, edge, tri, y) for y in outputs])
    top = scores.max()
    log_partition = top + np.log(np.exp(scores - top).sum()) if np.isfinite(top) else -np.inf
    nodes = np.zeros((length, n_labels))
    edges = np.zeros((length, n_labels, n_labels))
    triples = np.zeros((n_labels,) * 3)
    for y, value in zip(outputs, scores, strict=True):
        p = np.exp(value - log_partition) if np.isfinite(value) else 0.0
        for t in range(length):
            nodes[t, y[t]] += p
            if t >= 1:
                edges[t, y[t - 1], y[t]] += p
            if t >= 2:
                triples[y[t - 2], y[t - 1], y[t]] += p
    return log_partition, nodes, edges, triples, outputs[int(scores.argmax())], float(scores.max())
