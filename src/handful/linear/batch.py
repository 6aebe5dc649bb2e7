"""Batch training: smooth convex objectives with an L2 penalty by L-BFGS and with an L1 penalty by OWL-QN."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handful.errors import ParameterError, Step
from handful.linear.recorder import Recorder
from handful.linear.structure import Structure, feature_counts

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

_ARRAYS = ("weights", "gradient", "steps", "changes", "past")
_MOST = 1e100  # a penalty beyond overflows as soon as a weight moves
_PERIOD = 10
_MAX_TRIALS = 40
_SILENT = Recorder()
_DECREASE, _CURVATURE = 1e-4, 0.9


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of `minimize`.

    Parameters
    ----------
    weights : ndarray
        Where the search ended.
    value : float
        Penalized objective there.
    n_iter : int
        Iterations made.
    converged : bool
        Whether a stopping rule was met before `max_iter`.
    """

    weights: np.ndarray
    value: float
    n_iter: int
    converged: bool


@dataclass(eq=False)
class _State:
    """Everything an iteration needs of the ones before: this is what a checkpoint holds."""

    weights: np.ndarray
    value: float
    gradient: np.ndarray
    steps: np.ndarray
    changes: np.ndarray
    n_pairs: int
    n_iter: int
    past: np.ndarray
    converged: bool = False


def log_loss(structure: Structure, outputs: np.ndarray) -> Objective:
    """Return minus the log-likelihood of outputs, as a function of the weights.

    Parameters
    ----------
    structure : Structure
        The inputs.
    outputs : ndarray
        Their right outputs.

    Returns
    -------
    callable
        From weights to value and gradient; for `minimize`.

    Examples
    --------
    >>> from handful.linear.multiclass import Multiclass
    >>> value, gradient = log_loss(Multiclass(np.eye(2), 2), np.array([0, 1]))(np.zeros(4))
    >>> round(value, 6), gradient.tolist()
    (1.386294, [-0.5, 0.5, 0.5, -0.5])
    """
    observed = feature_counts(structure, outputs)

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_partition, expected = structure.expected_counts(weights)
        return log_partition - _dot(weights, observed), expected - observed

    return objective


def minimize(
    objective: Objective,
    start: np.ndarray,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    max_iter: int = 1000,
    tol: float = 1e-5,
    memory: int = 6,
    recorder: Recorder = _SILENT,
) -> Fitted:
    """Minimize ``objective(w) + l1 * |w|_1 + l2 * |w|_2^2``.

    Parameters
    ----------
    objective : callable
        Returns value and gradient of a convex smooth function, usually minus the log-likelihood.
    start : ndarray
        First weights.
    l1, l2 : float
        Strengths of the penalties. CRFsuite's ``c1`` and ``c2`` mean the same.
    max_iter : int
        Most iterations.
    tol : float
        Stop when ten iterations improved the value by less than this share, or when the norm of the gradient falls
        below this share of the norm of the weights.
    memory : int
        Past steps remembered.
    recorder : Recorder
        Gets the objective, the gradient norm and the number of active features after every iteration; keeps the state. A
        search that goes on from a checkpoint gives the same result, bit for bit, as an uninterrupted one.

    Returns
    -------
    Fitted
        Weights and how they were reached.

    Notes
    -----
    With ``l1 > 0`` this is OWL-QN (Andrew & Gao 2007): the pseudo-gradient replaces the gradient, the direction is
    cut to its signs, and the line search is projected onto the orthant of the start point. Otherwise L-BFGS with a line
    search for the weak Wolfe conditions by bisection (Lewis & Overton 2013).

    Examples
    --------
    >>> def square(w):
    ...     return float(((w - 3) ** 2).sum()), 2 * (w - 3)
    >>> minimize(square, np.zeros(1), tol=1e-12).weights.round(6).tolist()
    [3.0]
    >>> minimize(square, np.zeros(1), l1=2.0, tol=1e-12).weights.round(6).tolist()
    [2.0]
    >>> minimize(square, np.zeros(1), l1=6.0).weights.tolist()
    [0.0]
    """
    for penalty in (l1, l2):
        if not 0.0 <= penalty < _MOST:
            raise ParameterError(f"minimize: a penalty must be from 0 to below {_MOST:g}, got {penalty:g}. Lower it.")
    smooth = _with_square(objective, l2)
    settings = f"{len(start)}|{l1!r}|{l2!r}|{memory}"
    state = _read_state(recorder, settings) or _first_state(smooth, start.astype(np.float64), l1, memory)
    state.converged = state.converged or _small(state, l1, tol)
    while state.n_iter < max_iter and not state.converged:
        slope = _pseudo_gradient(state.weights, state.gradient, l1)
        direction = _direction(state, slope)
        if l1:
            direction[direction * slope >= 0.0] = 0.0
        if not _search(smooth, state, direction, slope, l1):
            if state.n_pairs == 0:
                state.converged = True
                break
            state.n_pairs = 0  # a stale curvature may spoil the direction; try once along the gradient
            continue
        state.n_iter += 1
        before = state.past[(state.n_iter - 1) % _PERIOD]
        improved = (before - state.value) / max(abs(state.value), 1e-300)
        state.past[(state.n_iter - 1) % _PERIOD] = state.value
        state.converged = improved < tol or _small(state, l1, tol)
        if recorder.progress is not None:
            norm = _norm(_pseudo_gradient(state.weights, state.gradient, l1))
            figures = {"objective": state.value, "gradient": norm, "active": float(np.count_nonzero(state.weights))}
            recorder.progress(Step("train", state.n_iter, max_iter, figures))
        if state.n_iter % recorder.every == 0 or state.converged:
            _write_state(recorder, settings, state)
    return Fitted(state.weights, state.value, state.n_iter, state.converged)


def _with_square(objective: Objective, l2: float) -> Objective:
    """Return an objective with the smooth part of the penalty."""

    def smooth(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(weights)
        return value + l2 * _dot(weights, weights), gradient + 2.0 * l2 * weights

    return smooth if l2 else objective


def _first_state(smooth: Objective, weights: np.ndarray, l1: float, memory: int) -> _State:
    value, gradient = smooth(weights)
    steps, changes = np.zeros((2, memory, len(weights)))
    past = np.full(_PERIOD, np.inf)
    return _State(weights, value + l1 * float(np.abs(weights).sum()), gradient, steps, changes, 0, 0, past)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    # Not BLAS: its threads cost more than they save here, and their number would show in the last bits.
    return float(np.einsum("i,i->", a, b))


def _norm(a: np.ndarray) -> float:
    return math.sqrt(_dot(a, a))


def _small(state: _State, l1: float, tol: float) -> bool:
    norm = _norm(_pseudo_gradient(state.weights, state.gradient, l1))
    return norm <= tol * max(1.0, _norm(state.weights))


def _pseudo_gradient(weights: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    if not l1:
        return gradient
    # Andrew & Gao, Eq. (4): the one-sided derivative that points downhill, or 0 where neither does.
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    result: np.ndarray = np.where(weights == 0.0, at_zero, gradient + l1 * np.sign(weights))
    return result


def _direction(state: _State, slope: np.ndarray) -> np.ndarray:
    """Return minus the approximate inverse Hessian times the slope (two-loop recursion)."""
    direction = -slope
    memory = len(state.steps)
    used = [(state.n_pairs - 1 - i) % memory for i in range(min(state.n_pairs, memory))]
    if not used:
        return direction / max(_norm(slope), 1e-300)
    alphas = {}
    for row in used:
        step, change = state.steps[row], state.changes[row]
        alphas[row] = _dot(step, direction) / _dot(step, change)
        direction -= alphas[row] * change
    newest = used[0]
    step, change = state.steps[newest], state.changes[newest]
    direction *= _dot(step, change) / _dot(change, change)
    for row in reversed(used):
        step, change = state.steps[row], state.changes[row]
        direction += (alphas[row] - _dot(change, direction) / _dot(step, change)) * step
    return direction


def _search(smooth: Objective, state: _State, direction: np.ndarray, slope: np.ndarray, l1: float) -> bool:
    """Move the state along a direction; False if no step makes it better."""
    descent = _dot(slope, direction)
    if descent >= 0.0:
        return False
    low, high, size = 0.0, np.inf, 1.0
    orthant = np.where(state.weights != 0.0, np.sign(state.weights), -np.sign(slope)) if l1 else None
    for _ in range(_MAX_TRIALS):
        weights = state.weights + size * direction
        if orthant is not None:
            weights[weights * orthant <= 0.0] = 0.0
        value, gradient = smooth(weights)
        moved = weights - state.weights
        if l1:
            value += l1 * float(np.abs(weights).sum())
            promised = _dot(slope, moved)
        else:
            promised = size * descent
        if not np.isfinite(value) or value > state.value + _DECREASE * promised:
            high = size
        elif orthant is None and _dot(gradient, direction) < _CURVATURE * descent:
            low = size
        else:
            _remember(state, moved, gradient - state.gradient)
            state.weights, state.value, state.gradient = weights, value, gradient
            return True
        size = (low + high) / 2.0 if np.isfinite(high) else 2.0 * low
    return False


def _remember(state: _State, step: np.ndarray, change: np.ndarray) -> None:
    curvature = _dot(step, change)
    if curvature > 1e-12 * _dot(change, change):
        row = state.n_pairs % len(state.steps)
        state.steps[row], state.changes[row] = step, change
        state.n_pairs += 1


def _write_state(recorder: Recorder, settings: str, state: _State) -> None:
    numbers = np.array([state.n_pairs, state.n_iter, state.converged], dtype=np.int64)
    arrays = {name: getattr(state, name) for name in _ARRAYS}
    recorder.write(settings, {"numbers": numbers, "value": np.array(state.value), **arrays})


def _read_state(recorder: Recorder, settings: str) -> _State | None:
    state = recorder.read(settings, ("numbers", "value", *_ARRAYS))
    if state is None:
        return None
    n_pairs, n_iter, converged = (int(n) for n in state.pop("numbers"))
    value = float(state.pop("value"))
    return _State(value=value, n_pairs=n_pairs, n_iter=n_iter, converged=bool(converged), **state)
