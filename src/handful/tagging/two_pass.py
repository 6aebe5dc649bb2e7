"""Files of taggers that read the first tags of the same words elsewhere in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from handful.data.chunks import spans
from handful.data.records import Explanation, Sentence
from handful.errors import DataError
from handful.params import AtLeast, Count
from handful.persistence.schema import Model, Names, stored
from handful.preprocessing.templates import Tokens
from handful.registry import method
from handful.tagging.base import Tagger, add_columns, check_sentences

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


@method("two-pass-tagger", task="sentences")
class TwoPassTagger(Tagger):
    """A tagger of earlier versions that tags a text twice. It can be loaded and used, but no longer trained.

    The second pass knows what the same words were tagged as elsewhere in the text (Krishnan and Manning 2006).

    Parameters
    ----------
    tagger : None
        Not used; the fitted taggers hold their settings.
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
    """

    STATE = stored(classes_=Names("k"), first_=Model("CRF"), second_=Model("CRF"))

    def __init__(self, tagger: Any = None, *, window: Count = 8, n_folds: Annotated[int, AtLeast(2)] = 4) -> None:
        self.tagger = tagger
        self.window = window
        self.n_folds = n_folds

    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences in the order of the text; what is predicted together is one text. See `Tagger.predict`."""
        sentences, _ = check_sentences(sentences, "TwoPassTagger")
        tags: list[list[str]] = self.second_.predict(self._widened(sentences))
        return tags

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Explain the tag of each token by the observations of the second pass; see `CRF.explain`."""
        explanations: list[Explanation] = self.second_.explain(*self._widened([sentence]))
        return explanations

    def _widened(self, sentences: Sequence[Tokens]) -> list[Sentence]:
        tokens = [s.tokens if isinstance(s, Sentence) else s for s in sentences]
        more = agreement_columns(tokens, self.first_.predict(sentences), self.window)
        return [add_columns(sentence, columns) for sentence, columns in zip(sentences, more, strict=True)]

    @property
    def columns_(self) -> list[str]:
        """Columns of a sentence that are read, ``word`` first."""
        columns: list[str] = self.first_.columns_
        return columns
