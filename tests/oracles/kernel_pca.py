"""Kernel PCA, its nearest-neighbor classifier and the composite, word for word after Su, Carpuat and Wu (2004)."""

from __future__ import annotations

import math

import numpy as np

SAME = 1e-7


def poly(a, b, degree):
    return sum(x * y for x, y in zip(a, b, strict=True)) ** degree


def centered_gram(rows, degree):
    n = len(rows)
    k = [[poly(rows[i], rows[j], degree) for j in range(n)] for i in range(n)]
    mean = [sum(k[i][j] for i in range(n)) / n for j in range(n)]
    grand = sum(mean) / n
    return k, [[k[i][j] - mean[i] - mean[j] + grand for j in range(n)] for i in range(n)]


def projector(rows, degree, n_components=None):
    """Return the eigenvalues and a function from a row to its principal components."""
    n = len(rows)
    k, centered = centered_gram(rows, degree)
    values, vectors = np.linalg.eigh(np.array(centered))
    order = [i for i in np.argsort(-values) if values[i] > 1e-10 * values.max() and values.max() > 1e-12]
    order = order[:n_components]
    alphas = [[vectors[i][pair] / math.sqrt(values[pair]) for i in range(n)] for pair in order]

    def project(x):
        raw = [poly(row, x, degree) for row in rows]
        mean_x = sum(raw) / n
        means = [sum(k[i]) / n for i in range(n)]
        grand = sum(means) / n
        return [sum(alpha[i] * (raw[i] - means[i] - mean_x + grand) for i in range(n)) for alpha in alphas]

    return [float(values[i]) for i in order], project


def distance(a, b):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def cosine(a, b):
    product = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / product if product > 1e-12 else 0.0


def nearest_label(projected, stored, labels):
    """Return the label of the nearest stored row, the first of equally near ones."""
    gaps = [distance(projected, other) for other in stored]
    return next(label for gap, label in zip(gaps, labels, strict=True) if gap <= min(gaps) + SAME)


def composite(x, rows, labels, degree, margin):
    """Return the answer and the branch for one row; None marks unlabeled rows."""
    known = [(row, label) for row, label in zip(rows, labels, strict=True) if label is not None]
    known_rows, known_labels = [row for row, _ in known], [label for _, label in known]
    frequent = max(sorted(set(known_labels)), key=known_labels.count)
    threshold = 1 - known_labels.count(frequent) / len(known_labels) + margin
    _, supervised = projector(known_rows, degree)
    stored = [supervised(row) for row in known_rows]
    first = nearest_label(supervised(x), stored, known_labels)
    similarity = min(1.0, max(0.0, max(cosine(supervised(x), other) for other in stored)))
    if similarity >= threshold or first != frequent:
        return first, "supervised", similarity - threshold
    _, semi = projector(rows, degree)
    return (
        nearest_label(semi(x), [semi(row) for row in known_rows], known_labels),
        "semi-supervised",
        similarity - threshold,
    )
