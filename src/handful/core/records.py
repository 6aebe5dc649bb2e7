"""The plain, frozen types that data is carried in between rooms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.core.number_forms import Form, to_numbers

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["numeric", "nominal", "text"]

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
        Lines that stood before the sentence in its file (comments, document marks), without the line end.

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
        Lines that are no words (multiword ranges, empty nodes), each with the number of words that stand before it.

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
        What the word is filed under, such as ``"art.n"``.
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
        The document it was taken from, if the file tells.

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


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with named columns, of which one may hold labels.

    Parameters
    ----------
    frame : polars.DataFrame
        All columns, the target among them.
    kinds : mapping of str to {"numeric", "nominal", "text"}
        What each feature column is.
    target : str or None
        Name of the label column.
    name : str
        What to call it.
    forms : mapping of str to str
        How numbers of a column are written, where that is not plainly (see `handful.core.number_forms`); such a column
        holds text.
    left_out : mapping of str to str
        Columns that can teach nothing, and why.
    notes : tuple of str
        What a user should know about how the table was read.

    Examples
    --------
    >>> import polars as pl
    >>> t = Table(pl.DataFrame({"x": [1.0, 2.0], "label": ["a", None]}), {"x": "numeric"}, "label")
    >>> t.labels.tolist(), t.n_rows
    (['a', None], 2)
    """

    frame: pl.DataFrame
    kinds: Mapping[str, Kind]
    target: str | None = None
    name: str = field(default="table")
    forms: Mapping[str, Form] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.height

    @property
    def features(self) -> list[str]:
        """Names of the feature columns, in file order."""
        return list(self.kinds)

    @property
    def labels(self) -> np.ndarray:
        """Labels as an object array; None where a row is unlabeled."""
        if self.target is None:
            return np.full(self.n_rows, None, dtype=object)
        return np.array([*self.frame[self.target].to_list(), None], dtype=object)[:-1]

    def numeric(self) -> np.ndarray:
        """Return the numeric columns as a float64 matrix; missing cells are NaN."""
        names = [name for name, kind in self.kinds.items() if kind == "numeric"]
        if not names:
            return np.empty((self.n_rows, 0))
        return np.column_stack([self._numbers(name) for name in names])

    def _numbers(self, name: str) -> np.ndarray:
        import polars as pl

        if name in self.forms:
            return to_numbers(self.frame[name], self.forms[name])
        return self.frame[name].cast(pl.Float64).to_numpy()
