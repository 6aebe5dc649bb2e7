"""A model condensed from end to end: raw text counted, weights learned from labeled data, a small model returned."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.data.records import Tree
from handful.errors import DataError, ParameterError, Progress
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.potency import CondensingSettings

_WHO = "Condensing"
# Of a parser that keeps its weights, which have no scale of their own; see `CondensedFeatures.thinned`.
_SHARES, _STEP, _LOSS_OF_HEADS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0), 0.5, 0.001
# Much of what bins learn holds for the held-out trees alone: half of it did better on the development trees of EWT.
_TRUSTED = 0.5


class Condensing:
    """Condense a model by what it decides on raw text, and train it again on its labeled data.

    Use it for the whole way; `CondensedFeatures` has each step by itself.

    Parameters
    ----------
    base_model : fitted CRF, DependencyParser or linear classifier
        The model.
    inputs : sequence or matrix
        The labeled inputs that it was fitted to.
    outputs : sequence or None
        Their outputs; None for trees, which hold them.
    settings : CondensingSettings
        How.
    progress : callable, optional
        Receives the progress of the training of the second base model.

    Attributes
    ----------
    features : list of CondensedFeatures
        Those of the base model and, with held-out inputs, those of the second one.
    labeled, held, rest : tuple of inputs and outputs
        All labeled data, those that are held out, and the others; without held-out inputs all three are the same.

    Notes
    -----
    With held-out inputs the weights of bins are learned where neither counts nor base weights have seen the answers, and
    are then carried over to the base model that has seen all; see `CondensedFeatures.carry`. Held-out inputs with a tag
    that the others lack are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[2.0, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]), np.array(["a", "a", "b", "b"])
    >>> model = LogisticRegression(fit_intercept=False).fit(X, y)
    >>> from handful.representations.potency import CondensingSettings
    >>> condensing = Condensing(model, X, y, CondensingSettings(discount=0.5)).count(X)
    >>> condensing.train().predict([[1.0, 0.0, 3.0]]).tolist()
    ['a']
    """

    def __init__(
        self,
        base_model: Any,
        inputs: Any,
        outputs: Any = None,
        settings: CondensingSettings | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.settings = settings or CondensingSettings()
        every, n = self.settings.held_out, len(inputs) if isinstance(inputs, Sequence) else inputs.shape[0]
        self.labeled = inputs, outputs
        self.rest = self.held = inputs, outputs
        self._learned_from = [inputs]
        models = [base_model]
        if every is not None:
            if n < every:
                raise ParameterError(f"{_WHO}: held_out={every} needs as many labeled inputs at least, got {n}.")
            rest = [number for number in range(n) if number % every]
            second = clone(base_model)
            options = {"progress": progress} if hasattr(base_model, "feature_space") else {}
            self.rest = take(inputs, rest), None if outputs is None else take(outputs, rest)
            second.fit(*(part for part in self.rest if part is not None), **options)
            models.append(second)
            self._learned_from.append(self.rest[0])
            self.held = _answerable(second, inputs, outputs, range(0, n, every))
        self.features = [self.settings.features(model) for model in models]

    @property
    def n_counted(self) -> int:
        """Tokens (or rows) of raw text that were counted."""
        return self.features[0].counts_.size if hasattr(self.features[0], "counts_") else 0

    @property
    def n_known(self) -> int:
        """Pieces of text that were left out, because they had been counted before."""
        return self.features[0].counts_.n_known if hasattr(self.features[0], "counts_") else 0

    def count(self, unlabeled: Any, **options: Any) -> Condensing:
        """Count raw text, in addition to what was counted before.

        Parameters
        ----------
        unlabeled : list of sentences, path or list of paths of text files, or matrix
            The raw text.
        **options
            `prepare`, `n_jobs`, `engine`, `checkpoint` and `progress` of `CondensedFeatures.fit`.

        Returns
        -------
        Condensing
            Itself.
        """
        for features, inputs in zip(self.features, self._learned_from, strict=True):
            if hasattr(features, "counts_"):
                features.extend(unlabeled, **options)
            else:
                features.fit(unlabeled, labeled=inputs, **options)
        return self

    def read_counts(self, paths: Sequence[str | os.PathLike[str]]) -> Condensing:
        """Take counts from files that `save_counts` wrote, and leave out those that are not there.

        Parameters
        ----------
        paths : sequence of path-like
            One file per base model, as in `features`. One is missing where `save_counts` was stopped between two of them.

        Returns
        -------
        Condensing
            Itself.
        """
        for number, (path, features) in enumerate(zip(paths, self.features, strict=True)):
            if not os.path.exists(path):
                continue
            try:
                features.fit_counts(path)
            except DataError as error:
                which = f"held_out={self.settings.held_out} and these labeled inputs" if number else "this base model"
                raise ParameterError(f"{path}: must be counts made with {which}. Name a new file. ({error})") from None
        return self

    def check(self) -> None:
        """Refuse counts that do not go together, and settings that leave nothing to learn."""
        sizes = [f"{features.counts_.size:,}" for features in self.features]
        if len(set(sizes)) > 1:
            raise ParameterError(
                f"{_WHO}: both files of counts must be of the same text, got {' and '.join(sizes)} tokens. Name the text again, "
                "of which one has not counted all, or a new file."
            )
        if any(features.n_condensed_ == 0 for features in self.features):
            raise ParameterError(
                f"{_WHO}: discount={self.features[0].discount:g} drops every feature. Lower it, or count more raw text."
            )
        first = self.features[0]
        if self.settings.held_out is not None and not first.condensed_levels_.any():
            raise ParameterError(f"{_WHO}: base_step={first.base_step:g} rounds every weight to 0. Lower it.")

    def save_counts(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Write the counts of each base model to a separate file.

        Parameters
        ----------
        paths : sequence of path-like
            One file per base model, as in `features`.
        """
        for path, features in zip(paths, self.features, strict=len(paths) > 0):
            features.save_counts(path)

    def train(self, *, progress: Progress | None = None) -> Any:
        """Learn the weights of what was counted; with held-out inputs, of a parser.

        Parameters
        ----------
        progress : callable, optional
            Called after every iteration.

        Returns
        -------
        model
            Of the base model's kind; see `CondensedFeatures.retrain`.
        """
        settings = self.settings
        self.check()
        features, last = self.features[0], self.features[-1]
        model = last.retrain(*self.held, progress=progress, **settings.training(features.base_model))
        drop = 0.0 if settings.drop == "auto" else settings.drop
        if settings.held_out is not None:
            model = last.damped(model, _TRUSTED)
            drop = self._drop_of_parser(model, last) if settings.drop == "auto" else drop
            model = features.thinned(features.carry(model, last), drop, _STEP)
        elif drop > 0.0:
            model = features.without_small(model, drop)
        if model.n_active_condensed_ == 0:
            raise ParameterError(f"{_WHO}: strength={settings.strength:g} sets every weight to 0. Lower it.")
        return model

    def _drop_of_parser(self, model: Any, features: CondensedFeatures) -> float:
        """Return the last drop before heads are lost: by more than the limit, or not surely by less."""
        trees, chosen = self.held[0], _SHARES[0]
        first = _right_heads(features.thinned(model, chosen, _STEP), trees)
        for drop in _SHARES[1:]:
            lost = first - _right_heads(features.thinned(model, drop, _STEP), trees)
            error = float(lost.std() * np.sqrt(len(lost)))
            if lost.sum() + error > _LOSS_OF_HEADS * sum(map(len, trees)):
                break
            chosen = drop
        return chosen


def _right_heads(parser: Any, trees: Sequence[Tree]) -> np.ndarray:
    """Count the right heads of each tree."""
    heads, _ = parser.predict(trees)
    pairs = zip(heads, trees, strict=True)
    return np.array([sum(map(int.__eq__, predicted, tree.heads)) for predicted, tree in pairs], dtype=np.float64)


def take(items: Any, numbers: Sequence[int]) -> Any:
    """Return some items of a list, or rows of a matrix.

    Examples
    --------
    >>> take(["a", "b", "c"], [0, 2])
    ['a', 'c']
    """
    return [items[number] for number in numbers] if isinstance(items, Sequence) else items[list(numbers)]


def _answerable(model: Any, inputs: Any, outputs: Any, numbers: Sequence[int]) -> tuple[Any, Any]:
    """Return some inputs and outputs, without outputs that the model cannot give."""
    if outputs is None:
        return take(inputs, numbers), None
    knows: Callable[[Any], bool] = getattr(model, "knows", None) or set(model.classes_.tolist()).__contains__
    known = [number for number in numbers if knows(outputs[number])]
    if not known:
        raise ParameterError(
            f"{_WHO}: every labeled input that is held out has tags that the others lack. Hold out more."
        )
    return take(inputs, known), take(outputs, known)
