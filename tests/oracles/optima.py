"""Exact optima of small penalized problems over chains, by general solvers and enumeration of every labeling."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import optimize


def feature_rows(observed, n_predicates, n_labels):
    """Return all labelings of one sentence, and for each its feature counts.

    Feature ``p * n_labels + y`` counts predicate p at a token labeled y; the last ``n_labels ** 2`` count label pairs.
    """
    outputs = list(product(range(n_labels), repeat=len(observed)))
    rows = np.zeros((len(outputs), n_predicates * n_labels + n_labels**2))
    for row, labels in zip(rows, outputs, strict=True):
        for t, y in enumerate(labels):
            for p in observed[t]:
                row[p * n_labels + y] += 1
            if t:
                row[n_predicates * n_labels + labels[t - 1] * n_labels + y] += 1
    return outputs, rows


def log_loss_value(problem, weights):
    """Return minus the log-likelihood and its gradient; the problem lists (rows of all labelings, row of the right one)."""
    value, gradient = 0.0, np.zeros_like(weights)
    for rows, right in problem:
        scores = rows @ weights
        top = scores.max()
        log_partition = top + np.log(np.exp(scores - top).sum())
        value += log_partition - scores[right]
        gradient += np.exp(scores - log_partition) @ rows - rows[right]
    return value, gradient


def log_loss_optimum(problem, n_features, l1):
    """Minimize the L1-penalized log loss: w = p - n with p, n >= 0 is smooth, so that a bounded solver can do it."""

    def split(both):
        value, gradient = log_loss_value(problem, both[:n_features] - both[n_features:])
        return value + l1 * both.sum(), np.concatenate([gradient, -gradient]) + l1

    solved = optimize.minimize(
        split,
        np.zeros(2 * n_features),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 2 * n_features,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 20000},
    )
    return solved.fun, solved.x[:n_features] - solved.x[n_features:]


def hinge_value(problem, costs, weights, l1):
    """Return the L1-penalized structured hinge loss; costs holds the number of wrong labels of each labeling."""
    lost = [
        (rows @ weights + cost).max() - rows[right] @ weights
        for (rows, right), cost in zip(problem, costs, strict=True)
    ]
    return float(np.sum(lost) + l1 * np.abs(weights).sum())


def hinge_optimum(problem, costs, n_features, l1):
    """Minimize `hinge_value` exactly: a linear program in p, n (w = p - n) and one slack a sentence."""
    above, below = [], []
    for number, ((rows, right), cost) in enumerate(zip(problem, costs, strict=True)):
        slack = np.zeros((len(rows), len(problem)))
        slack[:, number] = -1.0
        more = rows - rows[right]
        above.append(np.hstack([more, -more, slack]))
        below.append(-cost)
    aim = np.concatenate([np.full(2 * n_features, l1), np.ones(len(problem))])
    solved = optimize.linprog(aim, A_ub=np.vstack(above), b_ub=np.concatenate(below), method="highs")
    return solved.fun
