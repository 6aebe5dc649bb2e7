"""A second tagging pass that reads the first tags of the same words elsewhere in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from handful.data.chunks import spans
from handful.data.records import Explanation, Sentence
from handful.errors import DataError, ParameterError, Progress, Step
from handful.params import AtLeast, Count, check_params
from handful.persistence.schema import Model, Names, stored
from handful.preprocessing.templates import Tokens
from handful.registry import method
from handful.tagging.base import Tagger, add_columns, check_sentences, encode_tags
from handful.tagging.crf import CRF
from handful.tagging.recipes import train_two_pass
from handful.tagging.stacked import jackknife_tags

_WHO = "TwoPassTagger"
_TEMPLATES = ["same_near[0]", "same_near[-1]", "same_near[1]", "same_near[0]|same_far[0]"]
_NOWHERE = "-"


def agreement_columns(
    sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], window: int
) -> list[dict[str, tuple[str, ...]]]:
    """Return for every token the majority tag of the same word elsewhere in the text.

    Parameters
    ----------
    sentences : list of lists of str
        The tokens, in the order of the text; upper and lower case count as one.
    tags : list of lists of str
        Their tags. Tags of spans count as their type.
    window : int
        How many sentences to each side are near.

    Returns
    -------
    list of dict
        For each sentence ``same_near`` (other occurrences in it and the sentences nearby) and ``same_far`` (other
        occurrences in the whole text). A dash is no other occurrence; ties go to the tag that sorts first.

    Examples
    --------
    >>> words = [["Rome", "fell"], ["to", "Rome"], ["Rome", "won"]]
    >>> columns = agreement_columns(words, [["B-LOC", "O"], ["O", "B-LOC"], ["B-ORG", "O"]], window=1)
    >>> columns[2]
    {'same_near': ('LOC', '-'), 'same_far': ('LOC', '-')}
    """
    kinds = _kinds(tags)
    names = sorted(set().union(*kinds))
    if not names:  # nothing but empty sentences
        return [{"same_near": (), "same_far": ()} for _ in sentences]
    code = {name: number for number, name in enumerate(names)}
    words: dict[str, int] = {}
    cells = [
        (
            np.array([words.setdefault(token.lower(), len(words)) for token in sentence], dtype=np.int64),
            np.array([code[kind] for kind in row], dtype=np.int64),
        )
        for sentence, row in zip(sentences, kinds, strict=True)
    ]
    far = np.zeros((len(words), len(names)), dtype=np.int64)
    near = np.zeros_like(far)
    for number, cell in enumerate(cells):
        np.add.at(far, cell, 1)
        np.add.at(near, cell, int(number < window))
    labels = np.array([*names, _NOWHERE], dtype=object)
    columns = []
    for number, cell in enumerate(cells):
        for at, step in ((number + window, 1), (number - window - 1, -1)):
            if 0 <= at < len(cells):
                np.add.at(near, cells[at], step)
        columns.append({"same_near": _majority(near, *cell, labels), "same_far": _majority(far, *cell, labels)})
    return columns


def _majority(counts: np.ndarray, words: np.ndarray, codes: np.ndarray, labels: np.ndarray) -> tuple[str, ...]:
    """Return the most frequent label of each word without the one at its own place."""
    rows = counts[words]
    rows[np.arange(len(rows)), codes] -= 1
    best = np.where(rows.any(axis=1), rows.argmax(axis=1), len(labels) - 1)
    return tuple(labels[best].tolist())


def _kinds(tags: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the types of tags of spans, and other tags as they are."""
    try:
        chunks = [spans(row) for row in tags]
    except DataError:
        return [list(row) for row in tags]
    kinds = [["O"] * len(row) for row in tags]
    for row, several in zip(kinds, chunks, strict=True):
        for start, end, kind in several:
            row[start:end] = [kind] * (end - start)
    return kinds


@method("two-pass-tagger", paper=None, task="sentences", cost="slow", train=train_two_pass)
class TwoPassTagger(Tagger):
    """Tag a text twice: the second time knowing what the same words were tagged as elsewhere in it.

    Names come again in a text, and one place often resolves another: ``JAPAN`` in a headline, ``Japan`` two sentences
    later. Use it for whole texts or collections in their order; single sentences gain nothing.

    Parameters
    ----------
    tagger : CRF
        Settings of both passes.
    window : int, default=8
        How many sentences to each side are near.
    n_folds : int, default=4
        Number of blocks of training sentences, each tagged by a tagger of the others.

    Attributes
    ----------
    first_ : CRF
        Tagger of the first pass.
    second_ : CRF
        Tagger of the second pass; it also reads the columns of `agreement_columns`.

    See Also
    --------
    agreement_columns : The columns that the second pass reads.

    Notes
    -----
    After Krishnan and Manning (2006), with sentences nearby instead of documents, and upper and lower case as one.
    Sentences must come in the order of the text, in training and in prediction; what is predicted together is one text.
    Cost: `n_folds` + 2 trainings, two predictions.

    References
    ----------
    Krishnan, V., & Manning, C. D. (2006). An effective two-stage model for exploiting non-local dependencies in named
    entity recognition. COLING-ACL.

    Examples
    --------
    >>> text = [["Rome", "fell"], ["in", "Rome"], ["Bonn", "fell"], ["in", "Bonn"]]
    >>> tags = [["B-LOC", "O"], ["O", "B-LOC"]] * 2
    >>> model = TwoPassTagger(CRF("ner", strength=0.1), n_folds=2).fit(text, tags)
    >>> model.predict([["in", "Rome"], ["Rome", "fell"]])
    [['O', 'B-LOC'], ['B-LOC', 'O']]
    """

    STATE = stored(classes_=Names("k"), first_=Model("CRF"), second_=Model("CRF"))

    def __init__(self, tagger: Any, *, window: Count = 8, n_folds: Annotated[int, AtLeast(2)] = 4) -> None:
        self.tagger = tagger
        self.window = window
        self.n_folds = n_folds

    def fit(
        self, sentences: Sequence[Tokens], tags: Sequence[Sequence[str]], *, progress: Progress | None = None
    ) -> Self:
        """Learn from a tagged text.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, in the order of the text.
        tags : list of lists of str
            One tag per token.
        progress : callable, optional
            Called after each training.

        Returns
        -------
        TwoPassTagger
            Itself.
        """
        check_params(self)
        if not isinstance(self.tagger, CRF):
            raise ParameterError(f"{_WHO}: tagger must be a CRF, got {type(self.tagger).__name__}.")
        sentences, offsets = check_sentences(sentences, _WHO)
        if len(sentences) < self.n_folds:
            raise DataError(f"{_WHO}: n_folds must not exceed the sentences, {len(sentences)}, got {self.n_folds}.")
        _, self.classes_ = encode_tags(offsets, tags, _WHO)
        n_trainings = self.n_folds + 2
        held_out = jackknife_tags(
            self.tagger,
            sentences,
            tags,
            n_folds=self.n_folds,
            progress=lambda step: _report(progress, step.done, n_trainings),
        )
        self.first_ = clone(self.tagger).fit(sentences, tags)
        _report(progress, n_trainings - 1, n_trainings)
        templates = [*self.first_.templates_, *_TEMPLATES]
        second = clone(self.tagger).set_params(templates=templates)
        self.second_ = second.fit(self._widened(sentences, held_out), tags)
        _report(progress, n_trainings, n_trainings)
        return self

    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag a text.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, in the order of the text.

        Returns
        -------
        list of lists of str
            One tag per token.
        """
        check_is_fitted(self, "second_")
        sentences, _ = check_sentences(sentences, _WHO)
        tags: list[list[str]] = self.second_.predict(self._widened(sentences, self.first_.predict(sentences)))
        return tags

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Explain the tag of each token by the observations of the second pass; see `CRF.explain`.

        Parameters
        ----------
        sentence : list of str, or Sentence
            The tokens; what is elsewhere in its text is not known here.

        Returns
        -------
        list of Explanation
            One for each token.
        """
        check_is_fitted(self, "second_")
        (widened,) = self._widened([sentence], self.first_.predict([sentence]))
        explanations: list[Explanation] = self.second_.explain(widened)
        return explanations

    def _widened(self, sentences: Sequence[Tokens], tags: Sequence[Sequence[str]]) -> list[Sentence]:
        tokens = [s.tokens if isinstance(s, Sentence) else s for s in sentences]
        more = agreement_columns(tokens, tags, self.window)
        return [add_columns(sentence, columns) for sentence, columns in zip(sentences, more, strict=True)]

    @property
    def columns_(self) -> list[str]:
        """Columns of a sentence that are read, ``word`` first."""
        check_is_fitted(self, "second_")
        columns: list[str] = self.first_.columns_
        return columns

    def _state(self) -> dict[str, Any]:
        # The fitted first tagger has the parameters of the unfitted one.
        check_is_fitted(self, "second_")
        return super()._state() | {"tagger": None}

    def _check_state(self) -> None:
        self.tagger = clone(self.first_)
        check_params(self)


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(Step("train", done, total, {}))
