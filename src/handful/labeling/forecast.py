"""How a learning curve goes on: a power law, a band around it, and a refusal where there is no such thing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.core.counted import counted

_POWERS = np.linspace(0.05, 2.0, 40)
_N_REPLICATES = 500
_LEAST_SIZES = 4
_MOST_FALL = 0.02
_OF_ROWS = 1.5  # times their binomial variance: labeled rows are drawn by chance to teach and to score
_UNLIKELY = 0.33
FACTOR = 2.0  # how far ahead of the labels at hand a forecast may look


@dataclass(frozen=True)
class PowerLaw:
    """Error against the number of labels: ``floor + scale * n ** -power``.

    Examples
    --------
    >>> round(PowerLaw(0.1, 1.0, 0.5).error(100.0), 3)
    0.2
    """

    floor: float
    scale: float
    power: float

    def error(self, n: float) -> float:
        """Return the error with `n` labels."""
        return float(self.floor + self.scale * n**-self.power)


def fit_power_law(sizes: np.ndarray, errors: np.ndarray) -> PowerLaw:
    """Fit a power law by least squares, with floor and scale not below 0.

    Parameters
    ----------
    sizes : ndarray
        Numbers of labels.
    errors : ndarray
        Mean error with each.

    Returns
    -------
    PowerLaw
        The best of forty powers between 0.05 and 2.

    Examples
    --------
    >>> law = fit_power_law(np.array([10.0, 20.0, 40.0, 80.0]), 0.1 + 2 / np.array([10.0, 20.0, 40.0, 80.0]))
    >>> round(law.floor, 3), round(law.scale, 2), round(law.power, 2)
    (0.1, 2.0, 1.0)
    """
    floors, scales, powers = _fits(sizes, errors[None, :])
    return PowerLaw(float(floors[0]), float(scales[0]), float(powers[0]))


def _fits(sizes: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit every line of errors; return floors, scales and powers."""
    best = np.full(len(errors), np.inf)
    kept = np.zeros((3, len(errors)))
    for power in _POWERS:
        x = sizes.astype(float) ** -power
        away = x - x.mean()
        scales = np.maximum((errors - errors.mean(axis=1, keepdims=True)) @ away / (away**2).sum(), 0.0)
        floors = errors.mean(axis=1) - scales * x.mean()
        below = floors < 0
        scales = np.where(below, np.maximum(errors @ x / (x**2).sum(), 0.0), scales)
        floors = np.where(below, 0.0, floors)
        loss = ((errors - floors[:, None] - scales[:, None] * x) ** 2).sum(axis=1)
        better = loss < best - 1e-15
        best = np.where(better, loss, best)
        kept[:, better] = np.vstack([floors, scales, np.full(len(errors), power)])[:, better]
    return kept[0], kept[1], kept[2]


@dataclass(frozen=True)
class Forecast:
    """Scores to expect with more labels.

    Parameters
    ----------
    n_labels : tuple of int
        Numbers of labels, from those at hand to twice as many.
    score, low, high : tuple of float
        Expected score with each, and the 90 % band.
    law : PowerLaw
        The curve of the labels at hand; less than its further rise is expected, see `forecast`.
    """

    n_labels: tuple[int, ...]
    score: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    law: PowerLaw


@dataclass(frozen=True)
class Goal:
    """Labels needed for a score.

    Parameters
    ----------
    score : float
        The score that was asked for.
    low, high : int or None
        How many more labels it takes, as a 90 % interval; None where that is beyond twice the labels at hand.
    text : str
        The same in words.
    chance : float
        How likely twice the labels at hand are enough: the share of resampled curves that reach the score.
    """

    score: float
    low: int | None
    high: int | None
    text: str
    chance: float


def refusal(sizes: np.ndarray, scores: np.ndarray) -> str | None:
    """Say why a learning curve allows no forecast, or None.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of labels.
    scores : ndarray of shape (n_draws, n_sizes)
        Score of each draw with each.

    Returns
    -------
    str or None
        A sentence.

    Examples
    --------
    >>> refusal(np.array([5, 10]), np.ones((3, 2)))
    'No forecast: a curve needs at least 4 sizes, and there are labels for 2.'
    """
    if len(sizes) < _LEAST_SIZES:
        return f"No forecast: a curve needs at least {_LEAST_SIZES} sizes, and there are labels for {len(sizes)}."
    mean = scores.mean(axis=0)
    for first in range(len(sizes) - 1):
        for second in range(first + 1, len(sizes)):
            fall = scores[:, first] - scores[:, second]
            noise = fall.std(ddof=1) / np.sqrt(len(fall))
            if fall.mean() > max(2 * noise, _MOST_FALL):
                return (
                    f"No forecast: the score falls from {mean[first]:.1%} with {counted(sizes[first], 'label')} to "
                    f"{mean[second]:.1%} with {sizes[second]}, and a curve that does not rise says nothing of the rest."
                )
    return None


def _replicates(sizes: np.ndarray, scores: np.ndarray, n_labels: int, ahead: np.ndarray, seed: int) -> np.ndarray:
    """Return scores with more labels, one line for each resample of the draws; see `forecast`."""
    rng = np.random.default_rng(seed)
    n_draws = len(scores)
    drawn = rng.integers(0, n_draws, (_N_REPLICATES, n_draws))
    laws = _fits(sizes, 1.0 - scores[drawn].mean(axis=1))
    errors = _errors(laws, sizes, ahead, rng.uniform(0.0, 1.0, _N_REPLICATES))
    last = float(np.clip(1.0 - scores[:, -1].mean(), 0.5 / n_labels, 1 - 0.5 / n_labels))
    shift = rng.normal(0.0, np.sqrt(_OF_ROWS * last * (1 - last) / n_labels), _N_REPLICATES)
    return np.asarray(1.0 - np.clip(errors + shift[:, None], 0.0, 1.0))


def _errors(laws: tuple[np.ndarray, ...], sizes: np.ndarray, ahead: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the errors of laws ahead, if only part of their fall beyond the largest size comes true."""
    floors, scales, powers = (values[:, None] for values in laws)
    now = floors + scales * float(sizes[-1]) ** -powers
    later = floors + scales * ahead[None, :].astype(float) ** -powers
    return np.asarray(now - part[:, None] * (now - later))


def forecast(sizes: np.ndarray, scores: np.ndarray, n_labels: int, seed: int = 0) -> Forecast:
    """Forecast the score with more labels.

    Parameters
    ----------
    sizes : ndarray of int
        Numbers of labels of the learning curve.
    scores : ndarray of shape (n_draws, n_sizes)
        Score of each draw with each.
    n_labels : int
        Labels at hand.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Forecast
        For six numbers of labels up to twice those at hand.

    Notes
    -----
    The band holds the middle 90 % of curves fitted to resampled draws. All draws share the labeled rows, which chance
    has drawn, to score and to teach, so each replicate is also shifted, by one and a half times their binomial variance.
    The method came out best on these rows, and a curve that chance bends up is carried on upwards: of the rise beyond the
    largest size, a share between none and all is taken to come true in each replicate, and half of it in the score.
    """
    ahead = np.unique(np.linspace(n_labels, FACTOR * n_labels, 6).astype(int))
    lines = _replicates(sizes, scores, n_labels, ahead, seed)
    low, high = np.quantile(lines, [0.05, 0.95], axis=0)
    law = fit_power_law(sizes, 1.0 - scores.mean(axis=0))
    whole = tuple(np.array([value]) for value in (law.floor, law.scale, law.power))
    score = (1.0 - _errors(whole, sizes, ahead, np.array([0.5]))[0]).tolist()
    return Forecast(tuple(ahead.tolist()), tuple(score), tuple(low.tolist()), tuple(high.tolist()), law)


def labels_needed(sizes: np.ndarray, scores: np.ndarray, n_labels: int, goal: float, seed: int = 0) -> Goal:
    """Tell how many more labels a score takes.

    Parameters
    ----------
    sizes, scores, n_labels, seed
        As for `forecast`.
    goal : float
        The score to reach.

    Returns
    -------
    Goal
        With the interval, in words too.
    """
    ahead = np.arange(n_labels, int(FACTOR * n_labels) + 1)
    reached = _replicates(sizes, scores, n_labels, ahead, seed) >= goal
    more = np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)
    low, high = np.quantile(more, [0.05, 0.95], method="higher")
    first, last = (None if np.isinf(value) else int(value) for value in (low, high))
    most, chance = int((FACTOR - 1) * n_labels), float(reached.any(axis=1).mean())
    if first is None:
        text = f"{goal:.0%} is out of reach of {counted(most, 'more label')}, as far as a forecast may look."
    elif last == 0:
        text = f"{goal:.0%} is reached already."
    elif last is None and first == 0:
        text = f"{goal:.0%} may be reached already, or take more than {counted(most, 'more label')}: {_how_likely(most, chance)}."
    elif last is None:
        text = (
            f"At least about {counted(first, 'more label')} for {goal:.0%}, perhaps more than {most}: "
            f"{_how_likely(most, chance)}."
        )
    elif first == 0:
        text = f"At most about {counted(last, 'more label')} for {goal:.0%}, perhaps none."
    else:
        text = f"About {first} to {counted(last, 'more label')} for {goal:.0%}."
    return Goal(goal, first, last, text, chance)


def _how_likely(most: int, chance: float) -> str:
    word = "unlikely" if chance < _UNLIKELY else "likely" if chance > 1 - _UNLIKELY else "open"
    return f"within {most} it is {word} ({chance:.0%})"
