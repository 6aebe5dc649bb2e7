"""Tagged sentences beside prototypes: a CRF of its own, and a weight between the two that tagged sentences choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.core.labels import code_of
from handful.core.progress import Progress, Step
from handful.features.columns import Tokens
from handful.tagging.base import add_columns
from handful.tagging.recipes import TaggerSetup

_COLUMN = "typical"
_TEMPLATES = [f"{_COLUMN}[0]", f"{_COLUMN}[-1]|{_COLUMN}[0]", f"{_COLUMN}[0]|{_COLUMN}[1]"]
_WEIGHTS = (0.7, 0.6, 0.85, 1.0)  # the CRF also reads what prototypes say, so that it is never the lesser voice
_EVEN = 0.02  # of every answer is shared out evenly before logarithms are compared: a sure error must not decide alone
_MOST_FOLDS = 10

Shares = Sequence[np.ndarray]


def learn_mixture(
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    guessed: Shares,
    classes: np.ndarray,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[Any, float]:
    """Learn a CRF from tagged sentences, and choose how much it counts beside what prototypes say.

    Parameters
    ----------
    sentences : list of lists of str
        The tokens.
    tags : list of lists of str
        One tag per token.
    guessed : list of ndarray
        What prototype taggers, which have not seen these tags, say of every token.
    classes : ndarray of str
        Labels of the columns of `guessed`.
    random_state : int
        Seed.
    progress : callable, optional
        Told of the trainings done.

    Returns
    -------
    crf : CRF
        Fitted. Its templates also read the labels that prototypes say.
    weight : float
        Share of the CRF in the mean with what prototypes say, 0.6 to 1.

    Notes
    -----
    Ten-fold cross-validation over the tagged sentences compares four weights. The highest mean logarithm of the right tag's
    probability wins: with ten sentences the number of right tags owes too much to chance, and so do weights below 0.6.

    Examples
    --------
    >>> sentences, tags = [["a", "cat"], ["the", "dog"]] * 3, [["D", "N"]] * 6
    >>> guessed = [np.array([[0.9, 0.1], [0.2, 0.8]])] * 6
    >>> crf, weight = learn_mixture(sentences, tags, guessed, np.array(["D", "N"]))
    >>> [rows.argmax(axis=1).tolist() for rows in mix(crf, weight, [["a", "dog"]], guessed[:1], np.array(["D", "N"]))]
    [[0, 1]]
    """
    setup = TaggerSetup(encoding="as-is", random_state=random_state)
    told = _with_guesses(sentences, guessed, classes)
    plain = setup.tuned_crf(told, tags, progress=progress).fit(told, tags)
    pattern = clone(plain).set_params(templates=[*plain.templates_, *_TEMPLATES])
    n_folds = min(_MOST_FOLDS, len(sentences))
    folds = [range(fold, len(sentences), n_folds) for fold in range(n_folds)]
    answers = []
    for number, asked in enumerate(folds):
        known = [i for i in range(len(sentences)) if i not in asked]
        if len({tag for i in known for tag in tags[i]}) == 1:  # nothing to be learned from
            answers += [guessed[i] for i in asked]
        else:
            learner = clone(pattern).fit([told[i] for i in known], [tags[i] for i in known])
            answers += _aligned(learner, [told[i] for i in asked], classes)
        if progress is not None:
            progress(Step("labels", number + 1, n_folds))
    codes = code_of(classes)
    right = np.array([codes[tag] for fold in folds for i in fold for tag in tags[i]])
    places = np.arange(len(right))
    by_crf = np.concatenate(answers)[places, right]
    by_prototypes = np.concatenate([guessed[i] for fold in folds for i in fold])[places, right]

    def quality(weight: float) -> float:
        given = weight * by_crf + (1.0 - weight) * by_prototypes
        return float(np.log((1.0 - _EVEN) * given + _EVEN / len(classes)).mean())

    return clone(pattern).fit(told, tags), max(_WEIGHTS, key=quality)


def mix(crf: Any, weight: float, sentences: Sequence[Tokens], guessed: Shares, classes: np.ndarray) -> list[np.ndarray]:
    """Return the mean of what a CRF and prototypes say; see `learn_mixture`."""
    if crf is None or weight == 0.0:
        return list(guessed)
    answers = _aligned(crf, _with_guesses(sentences, guessed, classes), classes)
    return [weight * own + (1.0 - weight) * shares for own, shares in zip(answers, guessed, strict=True)]


def _with_guesses(sentences: Sequence[Tokens], guessed: Shares, classes: np.ndarray) -> list[Any]:
    best = [classes[rows.argmax(axis=1)].tolist() for rows in guessed]
    return [add_columns(sentence, {_COLUMN: labels}) for sentence, labels in zip(sentences, best, strict=True)]


def _aligned(crf: Any, sentences: Sequence[Any], classes: np.ndarray) -> list[np.ndarray]:
    """Return what a CRF says, with a column for each of the classes."""
    codes = code_of(classes)
    places = [codes[label] for label in crf.classes_.tolist()]
    aligned = []
    for rows in crf.predict_proba(sentences):
        wide = np.zeros((len(rows), len(classes)))
        wide[:, places] = rows
        aligned.append(wide)
    return aligned
