"""Records: sentences, trees, occurrences, ragged arrays, explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from handful.errors import DataError, counted

_NO_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens, with any number of named columns of the same length.

    Parameters
    ----------
    tokens : tuple of str
        The words.
    columns : mapping of str to tuple of str
        Further columns, such as ``pos`` or ``ner``; each as long as `tokens`.
    comments : tuple of str
        Lines before the sentence in its file (comments, starts of documents), without the line end.

    Examples
    --------
    >>> s = Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")})
    >>> len(s), s["pos"]
    (2, ('NNP', 'VBD'))
    """

    tokens: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_COLUMNS)
    comments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        if self.columns is not _NO_COLUMNS:
            columns = {name: tuple(column) for name, column in self.columns.items()}
            for name, column in columns.items():
                if len(column) != len(self.tokens):
                    raise DataError(
                        f"Sentence: column {name!r} must be as long as the tokens ({len(self.tokens)}), got {len(column)}."
                    )
            object.__setattr__(self, "columns", MappingProxyType(columns))

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        try:
            return self.columns[name]
        except KeyError:
            have = ", ".join(map(repr, self.columns)) or "none"
            raise DataError(f"Sentence: no column {name!r}; the columns are: {have}.") from None

    def __hash__(self) -> int:
        return hash((self.tokens, tuple(sorted(self.columns.items()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (self.tokens, dict(self.columns), self.comments)


@dataclass(frozen=True, slots=True)
class Tree:
    """A sentence with one head for each word.

    Parameters
    ----------
    sentence : Sentence
        The words; for CoNLL-U with the columns ``lemma``, ``upos``, ``xpos``, ``feats``, ``deps``, ``misc``.
    heads : tuple of int
        One-based position of each word's head; 0 is the root, -1 an unknown head.
    labels : tuple of str
        Relation of each word to its head; ``"_"`` where unknown.
    extras : tuple of (int, str)
        Lines that are no words (multiword ranges, empty nodes), each with the number of words before it.

    Examples
    --------
    >>> t = Tree(Sentence(("Rome", "fell")), heads=(2, 0), labels=("nsubj", "root"))
    >>> t.heads
    (2, 0)
    """

    sentence: Sentence
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    extras: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("heads", "labels", "extras"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n = len(self.sentence)
        if len(self.heads) != n or len(self.labels) != n:
            raise DataError(
                f"Tree: heads and labels must be as long as the sentence ({n}), "
                f"got {counted(len(self.heads), 'head')} and {counted(len(self.labels), 'label')}."
            )
        for position, head in enumerate(self.heads, start=1):
            if not -1 <= head <= n or head == position:
                raise DataError(
                    f"Tree: the head of word {position} must be another word of the sentence (1 to {n}), 0 or -1, got {head}."
                )

    def __len__(self) -> int:
        return len(self.sentence)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word in context, with its sense where that is known.

    Parameters
    ----------
    word : str
        Base form of the word, with its part of speech: ``"art.n"``.
    id : str
        Name of the instance, unique in its file.
    tokens : tuple of str
        The context.
    target : int
        Position of the word in `tokens`.
    senses : tuple of str
        Correct senses; empty if unlabeled. More than one where annotators left it open.
    satellites : tuple of int
        Positions of further tokens that belong to the word (the particle of a phrasal verb).
    source : str
        The document that it is from, if the file has it.

    Examples
    --------
    >>> Occurrence("art.n", "art.1", ("modern", "art"), 1, ("art%1:06:00::",)).tokens[1]
    'art'
    """

    word: str
    id: str
    tokens: tuple[str, ...]
    target: int
    senses: tuple[str, ...] = ()
    satellites: tuple[int, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("tokens", "senses", "satellites"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 0 <= self.target < len(self.tokens):
            raise DataError(
                f"Occurrence {self.id}: target must be a position in the context (0 to {len(self.tokens) - 1}), got {self.target}."
            )


WHOLE = " (whole text)"
"""End of evidence on a whole text, not on one of its words."""


@dataclass(frozen=True)
class Evidence:
    """One reason for a prediction, or against it.

    Parameters
    ----------
    what : str
        A cell, a word, or an observation.
    weight : float
        Support for the prediction; below 0 against it.
    """

    what: str
    weight: float


@dataclass(frozen=True)
class NearRow:
    """A training row with influence on a prediction.

    Parameters
    ----------
    row : int or None
        Its number in the table of the fit, if the model kept it.
    label : object
        Its label.
    distance : float
        Distance to the row that is predicted.
    cells : mapping of str to value
        Its cells, as far as the model kept them.
    lineage : tuple of int
        Rows that its label was spread from, up to a labeled one; empty for a labeled row.
    """

    row: int | None
    label: Any
    distance: float
    cells: Mapping[str, Any]
    lineage: tuple[int, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Reasons for the label of a row or a token.

    Parameters
    ----------
    label : object
        The prediction.
    confidence : float or None
        Probability of the prediction.
    runner_up : object
        The second most probable label; None if the model has none.
    evidence : tuple of Evidence
        Reasons for the prediction rather than the runner-up, the strongest first.
    how : str
        Meaning of the weights of the evidence.
    near : tuple of NearRow
        Nearest training rows, of models that vote among neighbors.
    subject : str
        The token of a sentence that is explained; empty for a row.
    links : tuple of str
        Prototypes that the token is linked to.
    prototype_of : tuple of str
        Labels that the token is a prototype of.

    Examples
    --------
    >>> Explanation("a", 0.9, "b", (Evidence("size = 3", 0.4),), "change of probability").evidence[0].what
    'size = 3'
    """

    label: Any
    confidence: float | None
    runner_up: Any
    evidence: tuple[Evidence, ...]
    how: str
    near: tuple[NearRow, ...] = ()
    subject: str = ""
    links: tuple[str, ...] = field(default=())
    prototype_of: tuple[str, ...] = ()


def is_rising(numbers: np.ndarray, *, strictly: bool = True) -> bool:
    """Return whether each number is above the one before; neighbors are compared, since differences may overflow.

    Examples
    --------
    >>> is_rising(np.array([0, 2**31 - 1, -(2**31)], dtype=np.int32))
    False
    """
    before, after = numbers[:-1], numbers[1:]
    return bool((after > before).all() if strictly else (after >= before).all())
