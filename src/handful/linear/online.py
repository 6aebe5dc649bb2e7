"""Online training on structured hinge losses: passive-aggressive, and forward-backward splitting with an L1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from handful.errors import ParameterError, Step
from handful.kernels.chain_features import catch_up
from handful.linear.recorder import Recorder
from handful.linear.structure import Structure

_SILENT = Recorder()


@dataclass(eq=False)
class _State:
    """What the next pass needs: this is what a checkpoint holds."""

    weights: np.ndarray
    sums: np.ndarray
    n_steps: int = 0
    n_passes: int = 0


@dataclass(frozen=True, eq=False)
class Learned:
    """Result of `train_online`.

    Parameters
    ----------
    weights : ndarray
        Averaged weights.
    n_passes : int
        Passes made.
    loss : float
        Summed hinge loss of the last pass, each input before its own update.
    """

    weights: np.ndarray
    n_passes: int
    loss: float


@dataclass(frozen=True)
class OnlineRule:
    """How far a step goes.

    Parameters
    ----------
    algorithm : {"pa", "fobos"}
        ``pa``: each step is the smallest that makes up for the loss, at most `aggressiveness` (PA-I of Crammer et al.
        2006). ``fobos``: a subgradient step, then every weight is pulled towards zero (Duchi & Singer 2009).
    aggressiveness : float
        Longest step of ``pa``.
    l1 : float
        Penalty of ``fobos``: the objective is the summed hinge loss plus ``l1 * |w|_1``.
    rate : float
        Step size of ``fobos`` in the first pass; pass k has ``rate / sqrt(k)``.

    Examples
    --------
    >>> OnlineRule("fobos", l1=2.0, rate=0.4).of_pass(3, n_inputs=10)
    (0.2, 0.04)
    """

    algorithm: Literal["pa", "fobos"]
    aggressiveness: float = 1.0
    l1: float = 0.0
    rate: float = 0.1

    def of_pass(self, n_before: int, n_inputs: int) -> tuple[float, float]:
        """Return the longest step of a pass, and by how much a step pulls weights towards zero.

        Parameters
        ----------
        n_before : int
            Passes made.
        n_inputs : int
            Steps of a pass.

        Returns
        -------
        size, shrink : float
            Length of a step, and of the pull.
        """
        if self.algorithm == "pa":
            return self.aggressiveness, 0.0
        size = float(self.rate / np.sqrt(n_before + 1))
        return size, size * self.l1 / n_inputs

    def __str__(self) -> str:
        if self.algorithm == "pa":
            return f"steps up to {self.aggressiveness:g}"
        return f"rate {self.rate:g} and penalty {self.l1:g}"


def train_online(
    structure: Structure,
    outputs: np.ndarray,
    rule: OnlineRule,
    *,
    max_passes: int = 15,
    seed: int = 0,
    start: np.ndarray | None = None,
    recorder: Recorder = _SILENT,
) -> Learned:
    """Learn weights one input at a time, averaged over all steps.

    Parameters
    ----------
    structure : Structure
        The inputs.
    outputs : ndarray
        Right outputs of all inputs.
    rule : OnlineRule
        How far a step goes.
    max_passes : int
        Passes over the inputs.
    seed : int
        Seed of the order of inputs; each pass draws its own.
    start : ndarray of float64, optional
        First weights; zero by default.
    recorder : Recorder
        Gets the loss and the number of active features, and keeps the state, after every pass.

    Returns
    -------
    Learned
        Averaged weights.

    Notes
    -----
    The loss of an input is the highest score plus cost of any output, less the score of the right one (margin
    rescaling); the cost is the number of wrong labels.

    Truncation is lazy: a weight is shrunk for all steps since it was last read, which gives the same as shrinking all
    weights at each step, and its running sum for the average is closed form. Weights that are zero after the last step
    stay zero in the average, so that the model is as small as FOBOS made it.

    Examples
    --------
    >>> from handful.linear.multiclass import Multiclass
    >>> rows = Multiclass(np.array([[1.0, 0.0], [0.0, 1.0]]), 2)
    >>> learned = train_online(rows, np.array([0, 1]), OnlineRule("pa"), max_passes=3)
    >>> rows.argmax(learned.weights).tolist(), learned.loss
    ([0, 1], 0.0)
    """
    settings = "|".join([str(structure.n_features), rule.algorithm, repr(rule.aggressiveness), repr(rule.l1)])
    settings += f"|{rule.rate!r}|{seed}"
    state = _read_state(recorder, settings)
    if state is not None and state.n_passes > max_passes:
        raise ParameterError(
            f"train_online: the checkpoint has {state.n_passes} passes already, got {max_passes} to make. Raise the number of "
            "passes, or name a new file."
        )
    if state is None:
        first = np.zeros(structure.n_features) if start is None else np.array(start, dtype=np.float64)
        state = _State(first, np.zeros(structure.n_features))
    everything = np.arange(structure.n_features)
    loss = 0.0
    while state.n_passes < max_passes:
        steps = np.full(structure.n_features, state.n_steps)
        order = np.random.default_rng([seed, state.n_passes]).permutation(structure.n_inputs)
        with np.errstate(over="ignore", invalid="ignore"):  # reported below
            loss = _sweep(structure, order, outputs, state, steps, rule)
        state.n_steps += structure.n_inputs
        _, shrink = rule.of_pass(state.n_passes, structure.n_inputs)
        catch_up(everything, state.n_steps, shrink, state.weights, state.sums, steps)
        state.n_passes += 1
        if not np.isfinite(state.sums).all():
            raise ParameterError(
                f"train_online: the weights must stay finite, but with {rule} some grew without end. "
                "Lower these, or scale down the features."
            )
        if recorder.progress is not None:
            figures = {"loss": loss, "active": float(np.count_nonzero(state.weights))}
            recorder.progress(Step("train", state.n_passes, max_passes, figures))
        _write_state(recorder, settings, state)
    averaged = state.sums / max(state.n_steps, 1)
    averaged[state.weights == 0.0] = 0.0
    return Learned(averaged, state.n_passes, loss)


def _sweep(
    structure: Structure,
    order: np.ndarray,
    outputs: np.ndarray,
    state: _State,
    steps: np.ndarray,
    rule: OnlineRule,
) -> float:
    """Make one pass, input by input; return the summed loss."""
    loss = 0.0
    weights, sums, passive = state.weights, state.sums, rule.algorithm == "pa"
    size, shrink = rule.of_pass(state.n_passes, structure.n_inputs)
    for step, number in enumerate(structure.in_order(order), start=state.n_steps):
        gold = structure.take(number, outputs)
        if shrink:
            catch_up(structure.possible_features(number), step, shrink, weights, sums, steps)
        best, cost = structure.loss_augmented_argmax(number, weights, gold)
        if cost > 0.0:
            ids, amounts = _difference(
                structure.joint_features_at(number, gold), structure.joint_features_at(number, best)
            )
            hinge = max(cost - float(weights[ids] @ amounts), 0.0)
            loss += hinge
            length = float(amounts @ amounts)
            catch_up(ids, step, shrink, weights, sums, steps)
            weights[ids] += (min(size, hinge / length) if length else 0.0) * amounts if passive else size * amounts
    return loss


def _difference(
    right: tuple[np.ndarray, np.ndarray], wrong: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the features in which two outputs differ, and by how much."""
    ids, place = np.unique(np.concatenate([right[0], wrong[0]]), return_inverse=True)
    amounts = np.bincount(place, weights=np.concatenate([right[1], -wrong[1]]), minlength=len(ids))
    differs = amounts != 0.0
    return ids[differs], amounts[differs]


def _write_state(recorder: Recorder, settings: str, state: _State) -> None:
    numbers = np.array([state.n_steps, state.n_passes], dtype=np.int64)
    recorder.write(settings, {"numbers": numbers, "weights": state.weights, "sums": state.sums})


def _read_state(recorder: Recorder, settings: str) -> _State | None:
    state = recorder.read(settings, ("numbers", "weights", "sums"))
    return None if state is None else _State(state["weights"], state["sums"], *map(int, state["numbers"]))
