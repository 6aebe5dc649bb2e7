"""Attachment scores of dependency trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handful.data.records import Sentence, Tree
from handful.errors import DataError

_PENN_PUNCTUATION = frozenset({"``", "''", ":", ",", "."})


class ParseScores(tuple[float, float]):
    """Attachment scores; unpacks as ``uas, las = scores``.

    Attributes
    ----------
    uas, las : float
        Fraction of words with the correct head, and with the correct head and label.
    las_without_subtypes : float
        The same as `las` with labels up to their colon: ``nmod:poss`` counts as ``nmod``.
    exact : float
        Fraction of sentences with all heads correct.
    n_words, n_sentences : int
        Numbers of scored words and sentences.
    without_punctuation : ParseScores or None
        The same without punctuation: words with the universal tag PUNCT or, without universal tags, one of the Penn
        tags for quotes, colon, comma and full stop.

    Examples
    --------
    >>> gold = [Tree(Sentence(("Rome", "fell")), (2, 0), ("nsubj:pass", "root"))]
    >>> scores = score_trees(gold, [(2, 0)], [("nsubj", "root")])
    >>> tuple(scores), scores.las_without_subtypes
    ((1.0, 0.5), 1.0)
    """

    las_without_subtypes: float
    exact: float
    n_words: int
    n_sentences: int
    without_punctuation: ParseScores | None

    @property
    def uas(self) -> float:
        """Fraction of words with the correct head."""
        return self[0]

    @property
    def las(self) -> float:
        """Fraction of words with the correct head and label."""
        return self[1]

    def as_dict(self) -> dict[str, float]:
        """Return all scores by name; LAS without subtypes only where it differs from LAS."""
        names = ["uas", "las", "exact"]
        scores = {name: float(getattr(self, name)) for name in names}
        if self.las_without_subtypes != self.las:
            scores["las without subtypes"] = self.las_without_subtypes
        if self.without_punctuation is not None:
            bare = self.without_punctuation
            scores |= {f"{name} without punctuation": float(getattr(bare, name)) for name in names}
        return scores


def score_trees(
    gold: Sequence[Tree], heads: Sequence[Sequence[int]], labels: Sequence[Sequence[str]] | None = None
) -> ParseScores:
    """Compare predicted heads and labels with correct ones.

    Parameters
    ----------
    gold : sequence of Tree
        Correct trees.
    heads : sequence of sequences of int
        Predicted heads.
    labels : sequence of sequences of str, or None
        Predicted labels; with None, `ParseScores.las` is 0.

    Returns
    -------
    ParseScores
        With and without punctuation.

    Examples
    --------
    >>> uas, las = score_trees([Tree(Sentence(("Rome", "fell")), (2, 0), ("nsubj", "root"))], [(2, 0)])
    >>> uas, las
    (1.0, 0.0)
    """
    _check_scored(gold, heads)
    right = [np.array(tree.heads) == np.asarray(row) for tree, row in zip(gold, heads, strict=True)]
    predicted = [[""] * len(tree) for tree in gold] if labels is None else labels
    named = [r & _same(tree.labels, row) for r, tree, row in zip(right, gold, predicted, strict=True)]
    coarse = [r & _same(*map(_coarse, (t.labels, row))) for r, t, row in zip(right, gold, predicted, strict=True)]
    scores = _scores(right, named, coarse, [np.ones(len(r), dtype=bool) for r in right])
    scores.without_punctuation = _scores(right, named, coarse, [~punctuation(tree.sentence) for tree in gold])
    return scores


def _check_scored(gold: Sequence[Tree], heads: Sequence[Sequence[int]]) -> None:
    if not any(len(tree) for tree in gold):
        raise DataError("score_trees: at least one tree is needed to score, got none.")
    if [len(tree) for tree in gold] != [len(row) for row in heads]:
        raise DataError("score_trees: there must be one head for each word.")
    number = next((i for i, tree in enumerate(gold) if -1 in tree.heads), None)
    if number is not None:
        raise DataError(f"score_trees: the correct trees must have all heads, but tree {number} lacks some.")


def _same(labels: Sequence[str], others: Sequence[str]) -> np.ndarray:
    return np.array([a == b for a, b in zip(labels, others, strict=True)], dtype=bool)


def _coarse(labels: Sequence[str]) -> list[str]:
    return [label.partition(":")[0] for label in labels]


def _scores(right: list[Any], named: list[Any], coarse: list[Any], counted: list[Any]) -> ParseScores:
    n_words = max(sum(int(mask.sum()) for mask in counted), 1)
    heads, labels, without_subtypes = (
        sum(int(row[mask].sum()) for row, mask in zip(rows, counted, strict=True)) / n_words
        for rows in (right, named, coarse)
    )
    scores = ParseScores((heads, labels))
    scores.las_without_subtypes = without_subtypes
    whole = [bool(row[mask].all()) for row, mask in zip(right, counted, strict=True) if mask.any()]
    scores.exact = sum(whole) / max(len(whole), 1)
    scores.n_words, scores.n_sentences = sum(int(mask.sum()) for mask in counted), len(whole)
    scores.without_punctuation = None
    return scores


def punctuation(sentence: Sentence) -> np.ndarray:
    """Return which words are punctuation, by their tags.

    Examples
    --------
    >>> punctuation(Sentence(("So", "."), {"xpos": ("RB", ".")})).tolist()
    [False, True]
    """
    universal = sentence.columns.get("upos", ())
    if any(tag != "_" for tag in universal):
        return np.array([tag == "PUNCT" for tag in universal], dtype=bool)
    tags = sentence.columns.get("xpos", sentence.columns.get("pos", ("_",) * len(sentence)))
    return np.array([tag in _PENN_PUNCTUATION for tag in tags], dtype=bool)
