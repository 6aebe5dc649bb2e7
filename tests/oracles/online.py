"""Online learners on multiclass hinge losses, written out step by step with every weight touched at every step."""

from __future__ import annotations

import numpy as np


def run(X, y, n_labels, algorithm, orders, aggressiveness=1.0, l1=0.0, rate=0.1):
    """Return averaged and last weights, shape (columns, labels), over the given orders of rows, one a pass."""
    weights = np.zeros((X.shape[1], n_labels))
    total = np.zeros_like(weights)
    n_steps = 0
    for number, order in enumerate(orders):
        step = rate / np.sqrt(number + 1)
        for i in order:
            scores = X[i] @ weights + (np.arange(n_labels) != y[i])
            guess = int(scores.argmax())
            if guess != y[i]:
                delta = np.zeros_like(weights)
                delta[:, y[i]] += X[i]
                delta[:, guess] -= X[i]
                if algorithm == "pa":
                    loss = 1.0 - float((weights * delta).sum())
                    norm = float((delta**2).sum())
                    step_here = min(aggressiveness, max(loss, 0.0) / norm) if norm else 0.0
                else:
                    step_here = step
                weights = weights + step_here * delta
            if algorithm == "fobos":
                shrink = step * l1 / len(X)
                weights = np.sign(weights) * np.maximum(np.abs(weights) - shrink, 0.0)
            total += weights
            n_steps += 1
    return total / n_steps, weights
