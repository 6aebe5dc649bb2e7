"""Arc labels and heads of punctuation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from handful.data.records import Sentence
from handful.errors import DataError
from handful.kernels.arcs import best_labels, choice_pass, choose_heads, keys_of_punctuation, label_pass
from handful.kernels.hashing import find_in_rows, make_key_table
from handful.kernels.tree_features import keys_of_tree
from handful.kernels.trees import siblings_of
from handful.linear.structure import rounded
from handful.parsing.encoding import TokenEncoder
from handful.parsing.templates import TemplateSet
from handful.persistence.schema import Array, IfThere, Names, Number, Record, stored

_PASSES = 5
_LONGEST_STEP = 0.1
_LEAST_COUNT = 2  # of a feature in the training trees


@dataclass(eq=False)
class ArcLabeler:
    """Chooses the label of each arc, given the tree.

    Parameters
    ----------
    encoder : TokenEncoder
        Codes of words and tags.
    templates : TemplateSet
        The templates.
    labels : sequence of str
        The labels, sorted.
    keys : ndarray of int64
        Keys of the features, rising.
    weights : ndarray of float64, shape (n_features, n_labels)
        Weights.
    root : int or None
        Label of words below the root and of no others, if there is one.

    Notes
    -----
    Trained by averaged passive-aggressive steps (PA-I) on correct trees. Features that occur once are left out. If one
    label is that of all words below the root and of no others, only these get it.
    """

    encoder: TokenEncoder
    templates: TemplateSet
    labels: list[str]
    keys: np.ndarray
    weights: np.ndarray
    root: int | None = None

    def __post_init__(self) -> None:
        self._others = self.weights if self.root is None else np.delete(self.weights, self.root, axis=1)
        self._spec = self.templates.compile(self.encoder.n_codes)
        self._table = make_key_table(self.keys)

    @classmethod
    def learn(
        cls,
        encoder: TokenEncoder,
        templates: TemplateSet,
        sentences: Sequence[Sentence],
        heads: np.ndarray,
        labels: Sequence[str],
        *,
        seed: int,
        rounding: float = 0.0,
    ) -> Self:
        """Learn from the heads and labels of all words."""
        names = sorted(set(labels))
        numbers = {name: code for code, name in enumerate(names)}
        gold = np.array([numbers[label] for label in labels], dtype=np.int64)
        new = cls(encoder, templates, names, np.empty(0, dtype=np.int64), np.empty((0, len(names))))
        keys, bounds = new._keys(sentences, heads)
        distinct, counts = np.unique(keys, return_counts=True)
        new.keys = distinct[counts >= _LEAST_COUNT]
        new._table = make_key_table(new.keys)
        ids, bounds = find_in_rows(new._table, keys, bounds)
        weights, sums = np.zeros((2, len(new.keys), len(names)))
        if len(names) > 1:
            for step, order in _orders(len(gold), _PASSES, seed):
                label_pass(ids, bounds, gold, order, _LONGEST_STEP, step, weights, sums)
            weights -= sums / max(_PASSES * len(gold), 1)
        weights = rounded(weights, rounding)
        used = weights.any(axis=1)
        below, elsewhere = np.unique(gold[heads == 0]), gold[heads != 0]
        root = int(below[0]) if len(below) == 1 and len(names) > 1 and below[0] not in elsewhere else None
        return cls(encoder, templates, names, new.keys[used], weights[used], root)

    def predict(self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None) -> list[str]:
        """Return the label of every word; `codes` are those of `encoder` for the sentences."""
        ids, bounds = find_in_rows(self._table, *self._keys(sentences, heads, codes))
        codes = best_labels(ids, bounds, self._others)
        if self.root is not None:
            codes += codes >= self.root
            codes[heads == 0] = self.root
        return [self.labels[code] for code in codes]

    STATE = Record(
        stored(
            templates=IfThere(TemplateSet.STATE),
            labels=Names("k", only_text=True),
            root=IfThere(Number(int, below="k")),
            keys=Array("i8", "n?", low=0),
            weights=Array("f8", "n?", "k", sparse=True),
        )
    )

    def state(self) -> dict[str, Any]:
        """Return what a model file needs."""
        return {
            "templates": self.templates.state(),
            "labels": np.array(self.labels),
            "root": self.root,
            "keys": self.keys,
            "weights": sparse.csr_array(self.weights),
        }

    @classmethod
    def from_state(cls, encoder: TokenEncoder, state: dict[str, Any]) -> Self:
        """Rebuild from a state."""
        weights = np.asarray(state["weights"].toarray(), dtype=np.float64)
        if "templates" in state:
            templates = TemplateSet.from_state(state["templates"])
        else:  # a file of an earlier version
            templates = TemplateSet.for_labels(clusters=encoder.clusters is not None, wide=False)
        keys, labels, root = state["keys"], state["labels"].tolist(), state.get("root")
        if root is not None and len(labels) < 2:
            raise DataError("ArcLabeler: a separate label for the root needs another one.")
        return cls(encoder, templates, labels, keys, weights, root)

    def _keys(
        self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        codes = self.encoder.encode(sentences) if codes is None else codes
        root, word, n_keys = 2, 0, 0
        keys, bounds = [np.empty(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
        for sentence in sentences:
            own_heads = heads[word : word + len(sentence)]
            some, ends = keys_of_tree(codes, root, *self._spec, own_heads, siblings_of(own_heads), True)
            keys.append(some)
            bounds.append(n_keys + ends[1:])
            root, word, n_keys = root + len(sentence) + 1, word + len(sentence), n_keys + len(some)
        return np.concatenate(keys), np.concatenate(bounds)


def _orders(rows: Any, n_passes: int, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of earlier steps and the order of rows in each pass."""
    for number in range(n_passes):
        order = np.random.default_rng([seed, number]).permutation(rows)
        yield number * len(order), order


_CLOSERS = {"``": "''", "-LRB-": "-RRB-", "-LSB-": "-RSB-", "-LCB-": "-RCB-"}
_CLOSERS |= {pair[0]: pair[1] for pair in ("()", "[]", "{}", "<>", '""')}
_CLOSERS |= {pair[0]: pair[1] for pair in ("\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb", "\uff08\uff09")}
_CLOSERS |= {pair[0]: pair[1] for pair in ("\u300c\u300d", "\u300e\u300f", "\u300a\u300b")}  # corner and angle brackets
_OPENERS = {closer: opener for opener, closer in _CLOSERS.items()}
_PUNCTUATION_PASSES, _LIMIT = 8, 0.05


class _Candidates(NamedTuple):
    """Candidate heads of punctuation: number of each word, root of its sentence, and the results of `keys_of_punctuation`."""

    words: np.ndarray
    roots: np.ndarray
    marks: np.ndarray
    starts: np.ndarray
    candidates: np.ndarray
    keys: np.ndarray
    bounds: np.ndarray


@dataclass(eq=False)
class PunctuationAttacher:
    """Chooses the head of each punctuation token, given the heads of all other words.

    Parameters
    ----------
    encoder : TokenEncoder
        Codes of words and tags.
    templates : TemplateSet
        The templates.
    keys : ndarray of int64
        Keys of the features, rising.
    weights : ndarray of float64
        Weights.
    stay : float
        Least gain in score for another head than the present one; the margin of training is 1.

    Notes
    -----
    The tree decides which phrase punctuation belongs to: the full stop has the head of the sentence, a comma that of its
    phrase, a bracket that of its content. Candidates are the nearest word on either side and those of its ancestors on
    the same side, so that no arcs cross. Trained by averaged passive-aggressive steps (PA-I) on correct trees.
    Punctuation with children, or below the root, keeps its head.
    """

    encoder: TokenEncoder
    templates: TemplateSet
    keys: np.ndarray
    weights: np.ndarray
    stay: float = 0.75

    def __post_init__(self) -> None:
        self._spec = self.templates.compile(self.encoder.n_codes)[1]
        self._table = make_key_table(self.keys)

    @classmethod
    def learn(cls, encoder: TokenEncoder, sentences: Sequence[Sentence], heads: np.ndarray, *, seed: int) -> Self:
        """Learn from the heads of all words."""
        new = cls(encoder, TemplateSet.for_punctuation(), np.empty(0, dtype=np.int64), np.empty(0))
        candidates = new._candidates(sentences, heads)
        new.keys = np.unique(candidates.keys)
        new._table = make_key_table(new.keys)
        ids, bounds = find_in_rows(new._table, candidates.keys, candidates.bounds)
        sizes = np.diff(candidates.starts)
        right = candidates.candidates == np.repeat(candidates.roots + heads[candidates.words], sizes)
        gold = np.full(len(sizes), -1)
        gold[np.repeat(np.arange(len(sizes)), sizes)[right]] = np.flatnonzero(right)
        some = np.flatnonzero((gold >= 0) & (sizes > 1))  # others have no choice, or another head
        weights, sums = np.zeros((2, len(new.keys)))
        for step, order in _orders(some, _PUNCTUATION_PASSES, seed):
            choice_pass(ids, bounds, candidates.starts, gold, order, _LIMIT, step, weights, sums)
        weights -= sums / max(_PUNCTUATION_PASSES * len(some), 1)
        used = weights != 0.0
        return cls(encoder, new.templates, new.keys[used], weights[used])

    def attach(self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None) -> np.ndarray:
        """Return the heads of all words, those of punctuation replaced; `codes` are those of `encoder` for the sentences."""
        candidates = self._candidates(sentences, heads, codes)
        ids, bounds = find_in_rows(self._table, candidates.keys, candidates.bounds)
        here = candidates.roots + heads[candidates.words]
        chosen = choose_heads(
            ids, bounds, candidates.marks, candidates.starts, candidates.candidates, self.weights, here, self.stay
        )
        out = heads.copy()
        out[candidates.words] = chosen - candidates.roots
        return out

    STATE = Record(stored(templates=TemplateSet.STATE, keys=Array("i8", "n?", low=0), weights=Array("f8", "n?")))

    def state(self) -> dict[str, Any]:
        """Return what a model file needs."""
        return {"templates": self.templates.state(), "keys": self.keys, "weights": self.weights}

    @classmethod
    def from_state(cls, encoder: TokenEncoder, state: dict[str, Any]) -> Self:
        """Rebuild from a state."""
        return cls(encoder, TemplateSet.from_state(state["templates"]), state["keys"], state["weights"])

    def _candidates(
        self, sentences: Sequence[Sentence], heads: np.ndarray, codes: np.ndarray | None = None
    ) -> _Candidates:
        codes = self.encoder.encode(sentences) if codes is None else codes
        root, word, n_candidates, n_keys = 2, 0, 0, 0
        nothing = np.empty(0, dtype=np.int64)
        choices = [
            _Candidates(nothing, nothing, nothing, np.zeros(1, dtype=np.int64), nothing, nothing, np.zeros(1, int))
        ]
        for sentence in sentences:
            own_heads, partners = heads[word : word + len(sentence)], partners_of(sentence.tokens)
            marks, starts, candidates, keys, bounds = keys_of_punctuation(codes, root, self._spec, own_heads, partners)
            words, roots = marks - root - 1 + word, np.full(len(marks), root)
            choices.append(
                _Candidates(words, roots, marks, starts[1:] + n_candidates, candidates, keys, bounds[1:] + n_keys)
            )
            root, word = root + len(sentence) + 1, word + len(sentence)
            n_candidates, n_keys = n_candidates + len(candidates), n_keys + len(keys)
        return _Candidates(*map(np.concatenate, zip(*choices, strict=True)))


def partners_of(tokens: Sequence[str]) -> np.ndarray:
    """Return for each bracket or quotation mark the position of its partner, counted from 1; 0 for other words.

    Examples
    --------
    >>> partners_of(["(", "so", ")", ")"]).tolist()
    [3, 0, 1, 0]
    """
    partners = np.zeros(len(tokens), dtype=np.int64)
    waiting: list[int] = []
    for place, token in enumerate(tokens, start=1):
        wanted = _OPENERS.get(token)
        opener = next((w for w in reversed(waiting) if tokens[w - 1] == wanted), 0) if wanted else 0
        if opener:
            partners[opener - 1], partners[place - 1] = place, opener
            del waiting[waiting.index(opener) :]
        elif token in _CLOSERS:
            waiting.append(place)
    return partners
