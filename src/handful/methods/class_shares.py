"""How frequent the classes are among unlabeled rows, where labels were picked class by class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from handful.core.errors import ParameterError

PULL = 0.25
"""Weight of equal shares, so that few labels do not move the estimate far; chosen on tables with five labels per class."""

_MOST_ROWS = 700
_LEAST = 1e-3
_STEPS = 3
_KEPT = 0.1  # of the shares among the labels, in every step
_POWER = 0.5
_SUM_ERROR = 0.05  # of shares that were rounded
_LEAST_ANSWERED = 0.1  # of the even share of a class
_USUAL = 0.5  # log-odds of the class that stands for the usual state of affairs; chosen on development tables
_USUAL_WORDS = {
    *("no", "false", "none", "negative", "neg", "-", "absent", "inactive"),
    *("normal", "healthy", "benign", "control", "ham", "ok", "good", "legit", "legitimate"),
}
_USUAL_LETTERS = {"n": "y", "f": "t"}  # which are no and false beside these
_NEGATED = re.compile(r"(no|not|non)[ _-]")


def picked_by_class(codes: np.ndarray, n_classes: int) -> bool:
    """Tell whether labels look picked class by class, so that their counts say nothing about the classes.

    Parameters
    ----------
    codes : ndarray of int
        Class of each labeled row.
    n_classes : int
        Number of classes.

    Returns
    -------
    bool
        Whether at least half of the classes, and two, have the same, largest number of labels. Two of four do not tell it
        if the others have at least two labels less: that is often chance.

    Examples
    --------
    >>> picked_by_class(np.array([0, 0, 1, 1, 2]), 3), picked_by_class(np.array([0, 0, 0, 1]), 2)
    (True, False)
    >>> picked_by_class(np.repeat([0, 1, 2, 3], [14, 14, 9, 3]), 4)
    False
    """
    counts = np.bincount(codes, minlength=n_classes)
    counts = counts[counts > 0]
    largest = counts == counts.max()
    if len(counts) > 3 and (counts >= counts.max() - 1).sum() == 2:
        return False
    return bool(counts.max() >= 2 and largest.sum() >= 2 and largest.mean() >= 0.5)


def known_shift(shares: Mapping[Any, float], classes: Sequence[Any], counts: np.ndarray) -> np.ndarray:
    """Return how far answers should be moved where the shares of the classes are known.

    Parameters
    ----------
    shares : mapping of label to float
        Share of each class; labels may be given as they are written, and shares may be rounded.
    classes : sequence
        Labels of the classes.
    counts : ndarray of int
        Labels of each class.

    Returns
    -------
    ndarray of shape (n_classes,)
        What to add to the log-share of each class: by how much it is more frequent than among the labels.

    Examples
    --------
    >>> known_shift({"no": 0.9, "yes": 0.1}, ["no", "yes"], np.array([5, 5])).round(2).tolist()
    [0.59, -1.61]
    """
    given = {str(label): float(share) for label, share in shares.items()}
    names = [str(name) for name in classes]
    if set(given) != set(names):
        raise ParameterError(
            f"shares: every class must have its share, and nothing else; the classes are {', '.join(names)}, "
            f"got {', '.join(given)}."
        )
    values = np.array([given[name] for name in names])
    if not np.isfinite(values).all() or (values <= 0).any() or abs(values.sum() - 1) > _SUM_ERROR + 1e-9:
        raise ParameterError(
            f"shares: they must be above 0 and add up to 1, got {', '.join(map(str, given.values()))}."
        )
    return np.asarray(np.log(values / values.sum()) - np.log(counts / counts.sum()))


def balancing_shift(counts: np.ndarray, power: float) -> np.ndarray:
    """Return how far answers should be moved where rare classes count as much as frequent ones.

    Parameters
    ----------
    counts : ndarray of int
        Labels of each class.
    power : float
        0 moves nothing, 1 takes out all that the labels tell of how frequent classes are.

    Returns
    -------
    ndarray of shape (n_classes,)
        What to add to the log-share of each class.

    Examples
    --------
    >>> balancing_shift(np.array([8, 1]), 1.0).round(2).tolist()
    [0.0, 1.73]
    """
    often = counts + 0.5
    return np.asarray(power * np.log(often.max() / often))


def scarce_classes(counts: np.ndarray) -> np.ndarray:
    """Tell which classes have at most half as many labels as the others.

    Parameters
    ----------
    counts : ndarray of int
        Labels of each class.

    Returns
    -------
    ndarray of bool
        Whether a class is scarce: where labels are picked class by class, one gets few only if few rows could be found.

    Examples
    --------
    >>> scarce_classes(np.array([5, 5, 4, 2])).tolist()
    [False, False, False, True]
    """
    return np.asarray(2 * counts <= counts.max())


def usual_class(names: Sequence[Any]) -> int | None:
    """Tell which class stands for the usual state of affairs, by what the classes are called.

    Parameters
    ----------
    names : sequence
        Labels of the classes.

    Returns
    -------
    int or None
        Position of the class that is called "no", "negative", "normal" or the like, if there is one such class, or else of the
        lower number, where labels are two whole numbers from -1, 0 or 1 on. More numbers are rather codes, ratings or digits.

    Examples
    --------
    >>> usual_class(["yes", "no"]), usual_class([1, 0]), usual_class(["not spam", "spam"]), usual_class(["cat", "dog"])
    (1, 1, 0, None)
    >>> usual_class([0, 1, 2]) is None
    True
    """
    words = [str(name).strip().lower() for name in names]
    numbers = [_whole(word) for word in words]
    if all(number is not None for number in numbers):
        lowest = min(number for number in numbers if number is not None)
        return numbers.index(lowest) if lowest in (-1, 0, 1) and len(numbers) <= 2 else None
    usual = [
        place
        for place, word in enumerate(words)
        if word in _USUAL_WORDS or _NEGATED.match(word) or _USUAL_LETTERS.get(word) in words
    ]
    return usual[0] if len(usual) == 1 else None


def usual_shift(names: Sequence[Any]) -> np.ndarray:
    """Return how far answers should be moved for what the classes are called.

    Parameters
    ----------
    names : sequence
        Labels of the classes.

    Returns
    -------
    ndarray of shape (n_classes,)
        What to add to the log-share of each class.

    Notes
    -----
    People who write yes and no, or 1 and 0, nearly always mean by yes what is rarer.

    Examples
    --------
    >>> usual_shift(["no", "yes"]).tolist()
    [0.5, 0.0]
    """
    shift = np.zeros(len(names))
    usual = usual_class(names)
    if usual is not None:
        shift[usual] = _USUAL
    return shift


def shares_by_distance(labeled: np.ndarray, codes: np.ndarray, unlabeled: np.ndarray, n_classes: int) -> np.ndarray:
    """Estimate how frequent the classes are among unlabeled rows, without asking a classifier.

    Parameters
    ----------
    labeled : ndarray of shape (n_labeled, n_columns)
        Labeled rows.
    codes : ndarray of int, shape (n_labeled,)
        Their classes.
    unlabeled : ndarray of shape (n_unlabeled, n_columns)
        Unlabeled rows; at most 700 of them are looked at.
    n_classes : int
        Number of classes; each has a label.

    Returns
    -------
    ndarray of shape (n_classes,)
        Shares, which add up to 1.

    Notes
    -----
    The shares q are those for which a mixture of the classes is nearest to the unlabeled rows in energy distance
    (Kawakubo, du Plessis and Sugiyama 2016): they minimize ``2 q b - q A q``, where b holds the mean distance between the
    rows of a class and the unlabeled ones, and A the mean distances between rows of two classes, both divided by the mean
    distance of labeled rows. Added is `PULL` times the divergence of q from equal shares.

    Cost: the distances, O((n_labeled + 700) n_labeled n_columns).

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> shares = shares_by_distance(rows, np.array([0, 0, 1, 1]), np.array([[0.5]] * 8 + [[9.5]] * 2), 2)
    >>> bool(shares[0] > 0.65)
    True
    """
    from scipy.optimize import minimize
    from scipy.spatial.distance import cdist

    chosen = np.random.default_rng(0).permutation(len(unlabeled))[:_MOST_ROWS]
    between = cdist(labeled, labeled)
    scale = float(between.mean())
    if n_classes < 2 or not scale > 0:
        return np.full(n_classes, 1 / n_classes)
    to_unlabeled = cdist(labeled, unlabeled[chosen]).mean(axis=1) / scale
    members = np.eye(n_classes)[codes]
    counts = members.sum(axis=0)
    pairs = np.outer(counts, counts) - np.diag(counts)  # a row is not compared with itself
    distances = members.T @ (between / scale) @ members / np.maximum(pairs, 1)
    single = counts < 2
    distances[single, single] = np.mean(np.diag(distances)[~single]) if not single.all() else 0.0
    nearness = members.T @ to_unlabeled / counts

    def objective(logits: np.ndarray) -> tuple[float, np.ndarray]:
        shares = _softmax(logits)
        divergence = np.log(n_classes * np.maximum(shares, 1e-12))
        value = 2 * shares @ nearness - shares @ distances @ shares + PULL * shares @ divergence
        slope = 2 * nearness - 2 * distances @ shares + PULL * (divergence + 1)
        return float(value), shares * (slope - shares @ slope)

    best = minimize(objective, np.zeros(n_classes), jac=True, method="L-BFGS-B")
    shares = np.maximum(_softmax(best.x), _LEAST)
    return np.asarray(shares / shares.sum())


def shares_by_answers(odds: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Estimate how frequent the classes are among unlabeled rows from the answers to them.

    Parameters
    ----------
    odds : ndarray of shape (n_unlabeled, n_classes)
        Logarithms of the shares that each row was answered with.
    prior : ndarray of shape (n_classes,)
        Shares of the classes among the labels.

    Returns
    -------
    ndarray of shape (n_classes,)
        Shares, which add up to 1.

    Notes
    -----
    Three steps, each the mean of the answers under the shares so far, weighted by their margin: a class that is never
    answered with confidence is rare.

    Examples
    --------
    >>> odds = np.log([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2)
    >>> shares_by_answers(odds, np.array([0.5, 0.5])).round(2).tolist()
    [0.79, 0.21]
    """
    from scipy.special import softmax

    shares = prior.copy()
    for _ in range(_STEPS):
        answers = softmax(odds + _POWER * np.log(shares / prior), axis=1)
        top = np.sort(answers, axis=1)
        margin = top[:, -1] - top[:, -2] + 1e-9 if answers.shape[1] > 1 else np.ones(len(answers))
        shares = (1 - _KEPT) * (answers * margin[:, None]).sum(axis=0) / margin.sum() + _KEPT * prior
    return np.asarray(shares)


def agreed_shift(first: np.ndarray, second: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return how far answers should be moved for the shares of the classes, as far as two estimates of them agree.

    Parameters
    ----------
    first, second : ndarray of shape (n_classes,)
        Two estimates of the shares.
    prior : ndarray of shape (n_classes,)
        Shares of the classes among the labels.

    Returns
    -------
    ndarray of shape (n_classes,)
        What to add to the log-share of each class: the smaller of the two moves where both go in the same direction, else
        nothing.

    Notes
    -----
    Answers that are wrong about many rows are wrong about the shares of the classes in the same direction, and would be
    made worse by them; distances know nothing of the answers, but are noisy where labels are few.

    Examples
    --------
    >>> agreed_shift(np.array([0.8, 0.2]), np.array([0.6, 0.4]), np.array([0.5, 0.5])).round(2).tolist()
    [0.2, -0.2]
    >>> agreed_shift(np.array([0.8, 0.2]), np.array([0.4, 0.6]), np.array([0.5, 0.5])).tolist()
    [0.0, 0.0]
    """
    moves = np.log(np.array([first, second]) / prior)
    moves -= moves.mean(axis=1, keepdims=True)
    same = np.sign(moves[0]) == np.sign(moves[1])
    return np.asarray(np.where(same, np.sign(moves[0]) * np.abs(moves).min(axis=0), 0.0))


def keep_all_answered(odds: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return as much of a move as leaves every class some answers.

    Parameters
    ----------
    odds : ndarray of shape (n_rows, n_classes)
        Logarithms of the shares that each row was answered with.
    shift : ndarray of shape (n_classes,)
        What should be added to the log-share of each class.

    Returns
    -------
    ndarray of shape (n_classes,)
        All of `shift`, or so many quarters of it that no class loses more than half of its answers and has then less than a
        tenth of its even share: an estimate that leaves a class no rows at all is more likely wrong than right.

    Examples
    --------
    >>> odds = np.log([[0.6, 0.4]] * 5 + [[0.4, 0.6]] * 5)
    >>> keep_all_answered(odds, np.array([1.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    n_rows, n_classes = odds.shape
    before = np.bincount(odds.argmax(axis=1), minlength=n_classes) / n_rows
    least = np.minimum(_LEAST_ANSWERED / n_classes, before / 2)
    for quarters in (4, 3, 2, 1):
        moved = shift * quarters / 4
        if (np.bincount((odds + moved).argmax(axis=1), minlength=n_classes) / n_rows >= least).all():
            return moved
    return np.zeros(n_classes)


def _whole(word: str) -> int | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max())
    return np.asarray(raised / raised.sum())
